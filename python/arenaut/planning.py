"""Plans, and how they are made."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from arenaut import arrays, documents, records, show
from arenaut.deferred import typed
from arenaut.errors import RejectedError, error_of
from arenaut.library import C, check, text_of
from arenaut.options import PLANNER, check_names, planner_options, report_options, time_limit
from arenaut.problem import Problem, same_length
from arenaut.watch import Watch



def plan(sizes: typed.Numbers | Problem, first: typed.Numbers | None = None, end: typed.Numbers | None = None, *,
         align: int | typed.Numbers = 1, planner: str | None = None, effort: int | None = None,
         time: float | None = None, seed: int = 0, capacity: int | None = None, threads: int = 1,
         settings: Mapping[str, object] | None = None, progress: typed.Progress = None,
         **constraints: typed.Unpack[typed.Constraints]) -> Plan:
    """Places buffers in as little memory as can be, and has the plan checked.

    The same arguments give the same plan on every machine, but for `time`. Ctrl-C stops the search
    and keeps the best plan.

    Parameters
    ----------
    sizes : array_like of int, shape (n,) or Problem
        Bytes of each of n buffers: a list, a numpy array or anything that has a buffer, of one
        dimension and whole numbers; or a Problem, which has all of the next three as well.
    first : array_like of int, shape (n,), optional
        The step from which each is alive, n numbers.
    end : array_like of int, shape (n,), optional
        The step up to which, not included, each is alive, n numbers.
    align : int or array_like of int, shape (n,), optional
        Bytes, a power of two: one number for all, or n.
    planner : str, optional
        A name of `arenaut planners`; None tries several and proves bounds.
    effort : int, optional
        Search steps; None for 8,000,000.
    time : float, optional
        Seconds; alone it lifts the limit of effort.
    seed : int, optional
        Of random choices.
    capacity : int, optional
        Bytes: fit into so many, and stop there.
    threads : int, optional
        How many; they never change the answer.
    settings : mapping of str, object, optional
        Options of one planner, {name: value}.
    progress : Progress, optional
        Called as `progress(best, bound, seconds)` now and then, `best` None before the
        first plan; it stops the search by returning False. None: a line shows work of over a
        second on a terminal or in a notebook. True: anywhere. False: nothing does.
    **constraints : keywords of typed.Constraints
        All others of Problem, as pools, lifetimes, fixed and conflicts.

    Returns
    -------
    Plan
        The plan, whose columns are numpy arrays where `sizes` was one.

    Raises
    ------
    InputError
        An argument is not well formed; position, found and allowed say which and why.
    NoPlanError
        No plan exists, and witness says which buffers are too much at which step.
    StoppedError
        It was stopped before there was any plan.

    Examples
    --------
    >>> plan = arenaut.plan([100, 100, 50], [0, 1, 2], [2, 3, 4], align=16)
    >>> plan.arena, plan.status
    (212, 'optimal')
    """
    if isinstance(sizes, Problem):
        refuse_second("first" if first is not None else "end" if end is not None else
                      "align" if not (arrays.is_whole(align) and align == 1) else
                      next(iter(constraints), None))
        problem = sizes
    else:
        check_names(constraints, ("first", "end", "align", "progress", *PLANNER, *Problem._fill.__kwdefaults__))
        problem = Problem._unchecked(sizes, first, end, align=align, **constraints)
    watch = Watch(progress, time_limit(time))
    options, kept = planner_options(dict(planner=planner, effort=effort, time=time, seed=seed,
                                         capacity=capacity, threads=threads, settings=settings), watch)
    made, error = ctypes.POINTER(records.Plan)(), records.Error()
    try:
        with watch:
            status = C.arenaut_plan_make(problem._record, options, None, ctypes.byref(made), error)
        if watch.raised:
            raise watch.raised
        if status != records.OK:
            raise failure(status, error, made, problem)
        seconds = watch.elapsed
        check_record(problem, made.contents)
        return Plan._copy(problem, made.contents, seconds)
    finally:
        del kept
        C.arenaut_plan_free(made)


def refuse_second(name):
    """Of a constraint that was given beside a Problem, which has its own and does not change."""
    if name:
        raise TypeError(f"plan() of a Problem takes no '{name}': what constrains it is part of it")


def failure(status, error, made, problem):
    """The exception for a plan that could not be made."""
    about = {"position": error.at or None}
    if status == records.NO_PLAN and made:
        witness = made.contents.witness
        buffers = list(witness.buffers[:witness.n_buffers])
        names = problem.names
        about["witness"] = {
            "step": witness.step, "buffers": buffers, "names": [names[k] for k in buffers],
            "pool": None if witness.pool == records.NONE else problem.pools[witness.pool].name,
            "bytes_over": witness.bytes_over}
    return error_of(status, text_of(error.msg), **about)


def finding_of(finding):
    """The checker's finding, without numbers that do not apply."""
    found = {"rule": text_of(C.arenaut_rule_name(finding.rule)), "step": finding.step,
             "first": finding.first, "end": finding.end, "message": text_of(finding.msg)}
    for name in ("a", "b", "op", "method", "pool"):
        value = getattr(finding, name)
        found[name] = None if value == records.NONE else value
    return found


def judge(call, *arguments):
    """Calls a checker; RejectedError with its finding."""
    finding, error = records.Finding(), records.Error()
    status = call(*arguments, finding, error)
    if status == records.REJECTED:
        raise RejectedError(text_of(error.msg), status, finding=finding_of(finding))
    if status != records.OK:
        raise error_of(status, text_of(error.msg))


def check_record(problem, record):
    judge(C.arenaut_check_plan, problem._record, record, None)


class Plan:
    """Where each buffer lies. `Plan(problem, offsets)` is a plan made elsewhere, which is checked.

    Plans do not change: columns are numpy arrays that can only be read if the problem's were numpy arrays,
    else a new `array.array` at each access. Plans can be pickled, and used by several threads at once.

    Parameters
    ----------
    problem : Problem
        Whose n buffers are placed.
    offsets : array_like of int, shape (n,)
        Bytes from the start of each buffer's pool, n numbers.
    pools : array_like of int or None, shape (n,), optional
        Of each buffer the number of its pool; None: all are in the first.

    Attributes
    ----------
    problem : Problem
        Whose plan it is.
    offsets : array of int64, shape (n,)
        Bytes from the start of each buffer's pool, n numbers of 64 bits.
    pools : array of uint32, shape (n,)
        Of each buffer the number of its pool; 2**32 - 1 for one that needs no memory.
    arena : int
        Bytes of all pools.
    bound : int
        Bytes; no plan has a smaller arena.
    arenas : tuple of int
        Bytes of each pool.
    bounds : tuple of int
        Bytes that no plan has less of in each pool.
    spill : int
        Byte-uses in slower pools.
    spill_bound : int
        No plan has fewer.
    status : str
        "optimal", which is proven, or "feasible".
    stopped_by : str
        "proof", "effort", "time", "interrupt" or "end" (nothing more to try, or it keeps the capacity).
    planner : str
        The planner that made it.
    effort : int
        Search steps that it took.
    seconds : float or None
        Seconds that it took; None of a plan made elsewhere.

    Raises
    ------
    RejectedError
        The plan is wrong, and finding is the counter-example.
    InputError
        A column is not well formed.
    """

    problem: Problem
    arena: int
    bound: int
    arenas: tuple[int, ...]
    bounds: tuple[int, ...]
    spill: int
    spill_bound: int
    status: typed.Status
    stopped_by: typed.StoppedBy
    planner: str
    effort: int
    seconds: float | None

    def __init__(self, problem: Problem, offsets: typed.Numbers, pools: typed.OptionalNumbers | None = None) -> None:
        n = len(problem)
        where = arrays.column(offsets, "Q", "offsets")
        which = arrays.filled(0, n, "I") if pools is None else arrays.column(pools, "I", "pools", records.NONE, named=True)
        zeros = (0,) * len(problem.pools)
        self._set(problem=problem, _offsets=same_length("offsets", where, n), _pools=same_length("pools", which, n),
                  planner="given", effort=0, seconds=None, arenas=zeros, bounds=zeros, arena=0, bound=0,
                  spill=0, spill_bound=0, status="feasible", stopped_by="end")
        self._measure()
        self.check()

    def _set(self, **values):
        """The only constructor: a checked plan stays as it was."""
        vars(self).update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"'{name}' of a plan cannot be set: it was checked as it is; Plan(problem, offsets, pools) "
                             "checks another")

    @property
    def offsets(self) -> typed.Column:
        """Bytes from the start of each buffer's pool, n numbers of 64 bits."""
        return arrays.read_only(self._offsets)

    @property
    def pools(self) -> typed.Column:
        """Of each buffer the number of its pool; 2**32 - 1 for one that needs no memory."""
        return arrays.read_only(self._pools)

    def _measure(self):
        """Arenas and spill from the places; a bound where there is one pool."""
        record = self._record
        check(C.arenaut_plan_measure, record, self.problem._record)
        self._figures(record)
        if len(self.problem.pools) == 1:
            bound = min(self.problem.bound, self.arena)
            self._set(bound=bound, bounds=(bound,))
            if bound == self.arena:
                self._set(status="optimal", stopped_by="proof")

    def _figures(self, record):
        n = record.n_pools
        self._set(arenas=tuple(record.arena[:n]), bounds=tuple(record.lower_bound[:n]), arena=record.total,
                  bound=record.total_bound, spill=record.spill, spill_bound=record.spill_bound,
                  status=text_of(C.arenaut_quality_name(record.quality)),
                  stopped_by=text_of(C.arenaut_stop_name(record.stopped_by)))

    @classmethod
    def _copy(cls, problem, record, seconds=None):
        """Of a plan that the library owns."""
        made = cls.__new__(cls)
        like = arrays.is_numpy(problem.sizes)
        made._set(problem=problem, _offsets=arrays.copied(record.offset, record.n_buffers, "Q", like),
                  _pools=arrays.copied(record.pool, record.n_buffers, "I", like),
                  planner=text_of(record.planner), effort=record.effort, seconds=seconds)
        made._figures(record)
        return made

    @property
    def _record(self):
        """The same as the library has it; its arrays are ours."""
        n = len(self.arenas)
        record = records.Plan(
            n_buffers=len(self.problem), n_pools=n,
            pool=arrays.pointer(self._pools, ctypes.c_uint32),
            offset=arrays.pointer(self._offsets, ctypes.c_uint64),
            arena=(ctypes.c_uint64 * n)(*self.arenas),
            lower_bound=(ctypes.c_uint64 * n)(*self.bounds), total=self.arena,
            total_bound=self.bound, spill=self.spill, spill_bound=self.spill_bound,
            quality=QUALITIES.index(self.status), stopped_by=STOPS.index(self.stopped_by),
            effort=self.effort, planner=self.planner.encode())
        record.witness.pool = records.NONE
        return record

    def __repr__(self) -> str:
        proof = "minimal" if self.status == "optimal" else f"at least {self.bound:,} are needed"
        return f"<Plan: {len(self.problem)} buffers in {self.arena:,} bytes, {proof}>"

    def _result(self):
        return documents.result_of(self.problem, self._record)

    def check(self) -> None:
        """Holds the plan against its problem once more.

        Raises
        ------
        RejectedError
            It is wrong, and finding is the counter-example.
        """
        check_record(self.problem, self._record)

    def report(self, name: str, **options: typed.Unpack[typed.ReportOptions]) -> documents.Text:
        """One of the command's reports as text.

        Parameters
        ----------
        name : str
            "explain", "ascii", "svg", "html", "header", "dot", "perfetto" or another that `arenaut export --help` lists.
        **options : keywords of typed.ReportOptions
            `width` (columns), `top` (rows), `color`, `unicode` (True or False); of pictures
            `steps`, a pair: the first, and the one up to which they show; and
            `compare`, {name: plan}: plans to show beside this one; and of "html" `replan`:
            the page has the planner in it.

        Returns
        -------
        str
            The report.

        Raises
        ------
        InputError
            There is no report of that name.
        TypeError
            There is no such option.
        """
        report = documents.named("report", name)
        return documents.Text(documents.emit(report, self._result(), report_options(options)).decode())

    def explain(self, width: int = 80) -> documents.Text:
        """Why the arena is as large as it is.

        Parameters
        ----------
        width : int, optional
            Columns of the text; None: those of the terminal.

        Returns
        -------
        str
            The report of the command.
        """
        return self.report("explain", width=width)

    def to_json(self) -> str:
        """The plan and its problem as arenaut.plan/1 (docs/formats.md).

        Returns
        -------
        str
            JSON.
        """
        return documents.emit(documents.named("format", "plan-json"), self._result()).decode()

    def to_csv(self) -> str:
        """A row for each buffer, with its offset.

        Returns
        -------
        str
            CSV, with a head.
        """
        return documents.emit(documents.named("format", "csv"), self._result()).decode()

    def save(self, path: typed.Path) -> None:
        """Writes the format of the file's name. All or nothing, and checked once more.

        Parameters
        ----------
        path : path_like
            Of .json, .csv, .svg (the picture), .html (the page to search and zoom in) or .h.

        Raises
        ------
        RejectedError
            The plan is wrong.
        InputError
            No format has that extension.
        OSError
            The file cannot be written; the old file stays.
        """
        self.check()
        documents.write_file(path, documents.emit(documents.kind_for(path), self._result()))

    def view(self, path: typed.Path | None = None) -> None:
        """Shows the picture in the notebook or the browser, or prints it, or writes it.

        Parameters
        ----------
        path : path_like, optional
            The file to write, .html or .svg; None: it is shown.
        """
        show.view(self, path)

    def _repr_svg_(self) -> str:
        return str(self.report("svg"))

    def _repr_html_(self) -> str:
        return show.html(self)


QUALITIES = ["optimal", "feasible", "infeasible"]
STOPS = ["proof", "effort", "time", "interrupt", "end"]
