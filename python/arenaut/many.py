"""Many models at once: in the processes of this machine, or on any executor of a concurrent.futures
Executor, a Dask client or a pool like that of multiprocessing and Ray."""

from __future__ import annotations

import itertools
import json
import operator
import os
import platform
import select
import signal
import sys
import warnings
from collections import deque, namedtuple
from collections.abc import Iterable, Iterator, Mapping
from concurrent import futures
from typing import Any, NamedTuple

from arenaut import arrays, documents, records, watch
from arenaut.deferred import typed
from arenaut.errors import ArenautError, InputError
from arenaut.model import open as open_model
from arenaut.model_plan import ModelPlan
from arenaut.options import FILE, PLANNER, check_names
from arenaut.planning import plan
from arenaut.problem import Problem, separate, whole
from arenaut.records import VERSION



class Row(NamedTuple):
    """One planned input.

    Attributes
    ----------
    name : str
        Its path, or its number among problems.
    options : dict[str, Any]
        Those that are its own.
    now : int or None
        Bytes that its runtime needs today; None if that is not known.
    planned : int or None
        Bytes with our plan; None for a failed row, as the next and `seconds`.
    bound : int or None
        Bytes; no plan needs less.
    status : str
        "optimal", "feasible", or "failed".
    seconds : float or None
        How long planning took.
    error : str or None
        Why it failed; None if it did not.
    key : str or None
        A hash of its bytes and all options; None if it was not asked for.
    saved : str or None
        The file that was written, where `save_to` asked for one.
    outcome : str or None
        Why that is a copy of the model; None: it has the plan.
    attempts : int
        How often it was given to a worker: more than once if a worker was lost meanwhile.
    """

    name: str
    options: dict[str, Any]
    now: int | None
    planned: int | None
    bound: int | None
    status: str
    seconds: float | None
    error: str | None
    key: str | None = None
    saved: str | None = None
    outcome: str | None = None
    attempts: int = 1


#: An input on its way to a worker; `number`: in the work; `save_as`: where its plan goes, None: nowhere.
Job = namedtuple("Job", "number name item own options key attempts save_as")


def plan_many(work: Iterable[typed.Work], executor: typed.Executor | typed.DaskClient | typed.WorkerPool | None = None, *,
              save_to: typed.Path | None = None, resume: typed.Path | None = None, retries: int = 2,
              progress: bool | None = None, **options: typed.Unpack[typed.ModelOptions]) -> Results:
    """Plans many models or problems. Rows come as they are done; those that failed are among them.

    Parameters
    ----------
    work : iterable of Work
        Paths, Problems, or pairs of one and a dictionary of options of its own.
    executor : Executor or DaskClient or WorkerPool, optional
        Any concurrent.futures.Executor, a Dask Client, or a pool with apply_async
        (multiprocessing, ray.util.multiprocessing). None: a process for each processor. The workers open
        the files, so that on other machines these must be under the same paths.
    save_to : path_like, optional
        A folder in which the workers write each plan: a model with the plan inside, by its file's name,
        or NAME.plan.json where the format holds none, or it is a problem's.
    resume : path_like, optional
        The path of a file to which finished rows go; rows in there are not computed anew.
    retries : int, optional
        How often the job of a lost worker is tried once more; then it is a failed row. An executor of
        concurrent.futures that takes no more work then is replaced by processes of this machine, with a
        RuntimeWarning. In a pool of Ray a dead worker counts each time that it is given the job.
    progress : bool, optional
        False shows no bar. None: a bar shows work of over a second on a terminal or in a
        notebook. True: anywhere.
    **options : keywords of typed.ModelOptions
        Those of Model.plan, or of arenaut.plan for problems.

    Returns
    -------
    Results
        The rows, which come while one iterates over it.

    Raises
    ------
    InputError
        An item is neither a path nor a Problem, two would be saved under one name, the executor is
        none, `retries` or `progress` is of another type, or `resume` is a file of other things.
    TypeError
        There is no such option.
    """
    check_names(options, FILE + PLANNER)
    whole("retries", retries)
    if progress is not None and not isinstance(progress, bool):
        arrays.refuse("progress", None, progress, "True, False or None")
    jobs = [job_of(number, one, options, resume is not None)
            for number, one in enumerate(separate("work", work))]
    if save_to is not None:
        jobs = with_places(jobs, os.path.abspath(os.fspath(save_to)))
    return Results(jobs, executor, resume, retries, progress)


def sweep(path: typed.Path, over: Mapping[str, Any], executor: typed.Executor | typed.DaskClient | typed.WorkerPool | None = None, *,
          resume: typed.Path | None = None, retries: int = 2, progress: bool | None = None,
          **options: typed.Unpack[typed.ModelOptions]) -> Results:
    """Plans one model once for each combination of options.

    Parameters
    ----------
    path : path_like
        Of the model.
    over : mapping of str, Any
        The values of each option: {"dims": {"seq": [128, 256]}, "align": [16, 64]} are four
        combinations.
    executor : Executor or DaskClient or WorkerPool, optional
        This and the next three are as of plan_many.
    resume : path_like, optional
        A file of finished rows.
    retries : int, optional
        Of the job of a lost worker.
    progress : bool, optional
        False shows no bar.
    **options : keywords of typed.ModelOptions
        Those of Model.plan, the same for all.

    Returns
    -------
    Results
        The rows, one for each combination. `fits`, `shared` and `deciding` state their meaning
        together, and a notebook shows the picture.
    """
    axes = []
    check_names(entries("over", over), FILE + PLANNER)
    for name, values in over.items():
        if name == "dims":
            entries("over['dims']", values)
            axes += [[("dims", (size, one)) for one in separate(f"dims[{size!r}]", ones)]
                     for size, ones in values.items()]
        else:
            axes.append([(name, one) for one in separate(name, values)])
    points = []
    for combination in itertools.product(*axes):
        own: dict[str, Any] = {}
        for name, value in combination:
            if name == "dims":
                own.setdefault("dims", {}).update([value])
            else:
                own[name] = value
        points.append((path, own))
    return plan_many(points, executor, resume=resume, retries=retries, progress=progress, **options)


def entries(name, values):
    """The names in a dictionary."""
    if not hasattr(values, "items"):
        arrays.refuse(name, None, values, "a dictionary")
    return list(values)


def job_of(number, one, options, hashed):
    item, own = one if isinstance(one, tuple) and len(one) == 2 else (one, {})
    if not isinstance(own, dict):
        arrays.refuse("work", number, own, "a dictionary of options, beside a path or a Problem")
    merged = {**options, **own}
    if "dims" in options and "dims" in own:
        merged["dims"] = {**options["dims"], **own["dims"]}
    if isinstance(item, Problem):
        name = f"problem {number}"
    elif isinstance(item, (str, os.PathLike)):
        name = os.fspath(item)
    else:
        arrays.refuse("work", number, item, "a path or a Problem, or a pair of one and options")
    return Job(number, name, item, own, merged, key_of(item, merged) if hashed else None, 0, None)


def with_places(jobs, folder):
    """The jobs with the files in which their plans go, each of its own."""
    os.makedirs(folder, exist_ok=True)
    seen = {}
    for number, job in enumerate(jobs):
        name = os.path.basename(job.name).replace(" ", "-") if isinstance(job.item, Problem) else os.path.basename(job.name)
        if name in seen:
            arrays.refuse("work", number, job.name, f"inputs of different names where save_to is given; work[{seen[name]}] "
                          "has the same")
        seen[name] = number
        jobs[number] = job._replace(save_as=os.path.join(folder, name))
    return jobs


def key_of(item, options):
    """A hash of all that the answer depends on; None for a file that cannot be read."""
    import hashlib
    try:
        data = item.to_json().encode() if isinstance(item, Problem) else read(item)
        beside = [read(path) for path in map(options.get, SIDE_FILES) if is_file(path)]
    except OSError:
        return None
    given = json.dumps(options, sort_keys=True, default=str)
    parts = [given.encode(), VERSION.encode(), data, *beside]
    return hashlib.sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).hexdigest()


#: Options that may be the path of a file, whose bytes count then.
SIDE_FILES = ("shapes", "scratch", "kernels")


def is_file(path):
    return isinstance(path, (str, os.PathLike)) and os.path.isfile(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def plan_one(job):
    """The row of a job; runs in a worker. An error of the input is an answer as well."""
    try:
        options = {name: value for name, value in job.options.items() if name != "progress"}
        made = (plan(job.item, **options, progress=False) if isinstance(job.item, Problem)
                else open_model(job.item, **options).plan(progress=False))
        return row_of(job, made, save(made, job.save_as) if job.save_as else (None, None))
    except FileNotFoundError as error:
        return failed(job, f"FileNotFoundError: {error} (looked for in {os.getcwd()} of {platform.node()})")
    except (ArenautError, OSError, TypeError) as error:
        return failed(job, f"{type(error).__name__}: {error}")


#: Outcomes with which a plan does not go into its model, whatever it needs.
ELSEWHERE = (records.OUTCOME_NOT_OBEYED, records.OUTCOME_IO_ELSEWHERE, records.OUTCOME_POOLS)


def save(made, path):
    """Writes a plan, into its model where that can hold it, as the command does into a folder; the path of the file, and
    why it is a copy of the model."""
    outcome = made._outcome(False) if isinstance(made, ModelPlan) and made._is_program else records.OUTCOME_NOT_OBEYED
    why = None
    if outcome in ELSEWHERE:
        path, data = f"{path}.plan.json", made.to_json().encode()
    elif outcome == records.OUTCOME_WRITE:
        data = made._in_model()
    else:
        data, why = made.model._files[0][1], made.outcome
    documents.write_file(path, data)
    return path, why


def row_of(job, made, saved):
    now = getattr(made, "now", None)
    return Row(job.name, job.own, now, getattr(made, "planned", made.arena), made.bound, made.status,
               made.seconds, None, job.key, *saved, job.attempts + 1)


def failed(job, error):
    return Row(job.name, job.own, None, None, None, "failed", None, error, job.key, attempts=job.attempts + 1)


class Results:
    """The rows of plan_many and sweep, as they are done.

    Iterate over them, or ask for all, which waits for the rest. These functions make it; nobody else does.

    Attributes
    ----------
    rows : list of Row
        All of them, in the order of the work.
    totals : dict
        Numbers of rows, and bytes of all together.
    shared : int
        Bytes of one arena that any of them can use.
    deciding : Row
        The one that needs most.
    """

    def __init__(self, jobs, executor, resume, retries, progress):
        self._jobs, self._retries = jobs, retries
        self._executor = executor
        self._resume = None if resume is None else os.fspath(resume)
        self._shows = progress is True or (progress is None and watch.can_show())
        self._done: list[Row] = []
        self._numbers: list[int] = []  # in the work, of those
        self._stream = self._run()

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Row]:
        position = 0
        while True:
            if position == len(self._done):
                number, row = next(self._stream, (None, None))
                if row is None:
                    return
                self._numbers.append(number)
                self._done.append(row)
            yield self._done[position]
            position += 1

    def __repr__(self) -> str:
        bad = sum(row.error is not None for row in self._done)
        again = sum(row.attempts > 1 for row in self._done)
        return (f"<Results: {len(self._done)} of {len(self)} done, {bad} failed"
                + (f", {again} tried again>" if again else ">"))

    @property
    def rows(self) -> list[Row]:
        """All rows, in the order of the work."""
        done = list(self)
        return [row for _, row in sorted(zip(self._numbers, done), key=operator.itemgetter(0))]

    @property
    def totals(self) -> typed.Totals:
        """Sums over all rows; `now` counts only where it is known, with `planned_of_those` beside."""
        fine = [row for row in self if row.error is None]
        known = [row for row in fine if row.now is not None]
        return {"files": len(self), "failed": sum(row.error is not None for row in self),
                "retried": sum(row.attempts > 1 for row in self),
                "minimal": sum(row.status == "optimal" for row in fine),
                "now": sum(row.now for row in known),
                "planned_of_those": sum(row.planned for row in known),
                "planned": sum(row.planned for row in fine), "bound": sum(row.bound for row in fine)}

    def fits(self, capacity: int) -> list[Row]:
        """The rows whose plan fits.

        Parameters
        ----------
        capacity : int
            Bytes.

        Returns
        -------
        list of Row
            In the order of the work.
        """
        whole("capacity", capacity)
        return [row for row in self.rows if row.error is None and row.planned <= capacity]

    @property
    def deciding(self) -> Row | None:
        """The row that needs most, and so decides how large an arena must be that all can share."""
        return max((row for row in self.rows if row.error is None), key=lambda row: row.planned,
                   default=None)

    @property
    def shared(self) -> int:
        """Bytes of one arena in which any of them can run, one at a time."""
        return self.deciding.planned if self.deciding else 0

    def _repr_svg_(self) -> str:
        from arenaut import chart
        return chart.svg(self)

    def save(self, path: typed.Path) -> None:
        """Writes the picture (.svg) or the table (.csv). All or nothing.

        Parameters
        ----------
        path : path_like
            The file to write.

        Raises
        ------
        InputError
            The file's name says neither.
        OSError
            It cannot be written; the old file stays.
        """
        kind = os.path.splitext(os.fspath(path))[1]
        if kind not in (".svg", ".csv"):
            arrays.refuse("path", None, os.fspath(path), "a name that ends in .svg or .csv")
        text = self._repr_svg_() if kind == ".svg" else self.to_csv()
        documents.write_file(path, text.encode())

    def _records(self):
        names = sorted({name for row in self.rows for name in flat(row.options)})
        for row in self.rows:
            own = flat(row.options)
            yield {"name": row.name, **{name: own.get(name) for name in names}, "now": row.now,
                   "planned": row.planned, "bound": row.bound, "status": row.status,
                   "seconds": row.seconds, "error": row.error}

    def to_csv(self) -> str:
        """A row for each input.

        Returns
        -------
        str
            CSV, with a head.
        """
        import csv
        import io
        records = list(self._records())
        text = io.StringIO()
        if records:
            writer = csv.DictWriter(text, records[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)
        return text.getvalue()

    def table(self) -> Any:
        """A data frame of polars or pandas, whichever is installed; else CSV.

        Returns
        -------
        polars.DataFrame, pandas.DataFrame or str
            With a row for each input.
        """
        try:
            import polars
            return polars.DataFrame(list(self._records()), infer_schema_length=None)
        except ImportError:
            pass
        try:
            import pandas
        except ImportError:
            return self.to_csv()
        return pandas.DataFrame(list(self._records()))

    def _run(self):
        todo = deque()
        known = self._known()
        for job in self._jobs:
            row = known.get(job.key)
            if row and (not job.save_as or is_file(row["saved"])):
                yield job.number, Row(job.name, job.own, **row)
            else:
                todo.append(job)
        bar, done = None, len(self._jobs) - len(todo)
        runner = Runner(self._executor, self._retries)
        began = watch.now()
        try:
            for number, row in runner.run(todo):
                done += 1
                self._keep(row)
                if self._shows and (bar or watch.now() - began >= watch.FIRST_SHOWN):
                    bar = bar or watch.bar(len(self))
                    bar.show(f"{done} of {len(self)}", done)
                yield number, row
        finally:
            runner.close()
            if bar:
                bar.close()

    def _known(self):
        """The rows of an earlier run, by key. A last line that was cut off is none."""
        known = {}
        if self._resume and os.path.exists(self._resume):
            for number, line in enumerate(read(self._resume).split(b"\n"), 1):
                if not (line.startswith(KEY) or KEY.startswith(line)):
                    raise InputError(f"{self._resume}: line {number} is none that plan_many writes; `resume` is a "
                                     "file for its rows alone", position=number)
                try:
                    row = json.loads(line)
                    known[row["key"]] = {name: row[name] for name in ("key", *KEPT)}
                except (ValueError, KeyError):  # cut off
                    continue
        return known

    def _keep(self, row):
        """Only what succeeded: a failure may be another one tomorrow."""
        if self._resume and row.key and row.error is None:
            with open(self._resume, "a+b") as file:
                file.seek(0, os.SEEK_END)
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # after one that was cut off
                        file.write(b"\n")
                kept = {"key": row.key, **{name: getattr(row, name) for name in KEPT}}  # KEY comes first
                file.write(json.dumps(kept).encode() + b"\n")


KEPT = ("now", "planned", "bound", "status", "seconds", "error", "saved", "outcome")
#: How each line of a file of finished rows begins.
KEY = b'{"key": "'


def flat(options):
    """Options as columns: dims by the names of the sizes."""
    columns = {name: value for name, value in options.items() if name != "dims"}
    return {**columns, **{f"dims.{name}": value for name, value in options.get("dims", {}).items()}}


class PoolExecutor:
    """Pools with apply_async, those of multiprocessing and Ray, as executors."""

    def __init__(self, pool):
        self.pool = pool

    def submit(self, function, argument):
        future = futures.Future()
        self.pool.apply_async(function, (argument,), callback=future.set_result,
                              error_callback=future.set_exception)
        return future


def context():
    """Processes that begin afresh: a copy of a process with threads, as numpy and torch have them, may
    wait for a lock that nobody gives back."""
    import multiprocessing
    ways = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")


def leave_interrupts():
    """Ctrl-C on a terminal reaches all processes: the one that gave out the work answers, and ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class OwnProcesses:
    """The processes of a plan_many that was given no executor: one for each processor."""

    def __init__(self, workers):
        if sys.platform == "win32":
            workers = min(workers, 61)  # it waits for no more at once
        self.pool = futures.ProcessPoolExecutor(workers, context(), leave_interrupts)
        # Before 3.11.5 Python waits until somebody takes work that is too long for a pipe, also where nobody
        # is left: `drain` takes it, by an end of its own, as the pool's are closed by other threads, and a
        # second close may be that of another file, which has got the number in between.
        waits = sys.version_info < (3, 11, 5) and os.name != "nt"
        self.pipe = os.dup(self.pool._call_queue._reader.fileno()) if waits else None

    def submit(self, function, *arguments):
        return self.pool.submit(function, *arguments)

    def end(self, at_once):
        """Waits for all processes to end. At once: what they are at is lost."""
        if at_once:
            # All that are left: Python waits for one that began just while its pool broke, and never tells
            # it to end.
            for process in list((self.pool._processes or {}).values()):
                process.kill()
            self.drain()
        self.pool.shutdown(wait=True)  # what is cancelled would never count as done for who waits
        if self.pipe is not None:
            os.close(self.pipe)

    def drain(self):
        manager = self.pool._executor_manager_thread
        while self.pipe is not None and manager and manager.is_alive():
            if select.select([self.pipe], [], [], 0.02)[0]:
                os.read(self.pipe, 1 << 16)


class Runner:
    """Hands jobs to an executor, and again to a new one where a worker was lost. No more are out at
    once than keep all workers busy, and those that were out then are tried alone: it was one of
    them."""

    def __init__(self, executor, retries):
        self.retries, self.owned = retries, executor is None
        self.out = {}  # jobs by their futures
        self.workers = os.cpu_count() or 1
        self.executor = self.adapted(executor)
        # More where the way is long, and lost workers are the engine's own matter.
        self.most = self.workers * (2 if self.owned else 32)

    def adapted(self, executor):
        if executor is None:
            return OwnProcesses(self.workers)
        if hasattr(executor, "get_executor"):  # a Dask client, which tries again by itself
            self.workers = max(1, sum(executor.nthreads().values()))
            return executor.get_executor(retries=self.retries, pure=False)
        if hasattr(executor, "apply_async"):
            return PoolExecutor(executor)
        if not hasattr(executor, "submit"):
            raise InputError(f"executor is {executor!r}; allowed: a concurrent.futures.Executor, a "
                             "Dask client, or a pool with apply_async")
        self.workers = getattr(executor, "_max_workers", self.workers)
        return executor

    def run(self, todo):
        suspects: list[Job] = []  # tried alone, those first that were so already; then in the order of the work
        while todo or suspects or self.out:
            if suspects and not self.out:
                suspects.sort(key=lambda job: (job.attempts < 2, job.number))
                self.submit(suspects.pop(0))
            while not suspects and todo and len(self.out) < self.most:
                self.submit(todo.popleft())
            done = futures.wait(self.out, return_when=futures.FIRST_COMPLETED).done
            for future in [one for one in self.out if one in done]:  # `done` is a set
                job = self.out.pop(future)
                try:
                    yield job.number, future.result()
                except Exception as lost:  # of the worker: plan_one answers for what is wrong with a job
                    if job.attempts < self.retries:
                        # At once where it was alone: engines that give out work in turn have another worker then.
                        suspects.append(job._replace(attempts=job.attempts + 1))
                    else:
                        yield job.number, failed(job, f"{type(lost).__name__}: {lost}" if str(lost) else
                                                 f"{type(lost).__name__}: its worker was lost")

    def submit(self, job):
        try:
            future = self.executor.submit(plan_one, job)
        except (futures.BrokenExecutor, OSError, EOFError) as error:
            # A pool that breaks while it starts a worker closes the files that this one is given.
            if not (self.owned or isinstance(error, futures.BrokenExecutor)):
                raise
            if self.owned:
                self.executor.end(at_once=True)
            else:
                warnings.warn("the executor has lost a worker and takes no more work: the rest is planned in "
                              "processes of this machine", RuntimeWarning, stacklevel=2)
            self.owned, self.workers = True, os.cpu_count() or 1
            self.most = 2 * self.workers
            self.executor = self.adapted(None)
            future = self.executor.submit(plan_one, job)
        self.out[future] = job

    def close(self):
        if self.owned:
            self.executor.end(at_once=self.out or self.executor.pool._broken)  # nobody waits for what is at work


