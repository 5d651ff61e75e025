"""Models: files on their way through the library's pipeline, include/arenaut/pipeline.h."""

from __future__ import annotations

import ctypes
import os
from collections import namedtuple
from collections.abc import Iterable, Mapping

from arenaut import arrays, documents, records
from arenaut.deferred import typed
from arenaut.errors import InputError, RefusedError, RejectedError, error_of
from arenaut.library import C, borrowed, check, text_of, took
from arenaut.options import FILE, PLANNER, check_names, pipeline_options, time_limit
from arenaut.planning import STOPS, Plan, check_record, failure, finding_of, judge
from arenaut.problem import Problem
from arenaut.watch import Watch, now




class Pipeline:
    """One run of the pipeline, and all that its C side borrows."""

    def __init__(self, files, given, progress=False):
        self.watch = Watch(progress, time_limit(given.get("time")))
        self.files, self.given = files, given
        self.options, self.kept = pipeline_options(given, files[0][0], self.watch)
        self.notes = notes = []  # by a name of its own: with `self` it would wait for the garbage collector
        self.options.note = NOTE(lambda _, text: notes.append(text_of(text)))
        self.pointer = ctypes.POINTER(records.Pipeline)()

    def __del__(self):
        if getattr(self, "pointer", None):
            C.arenaut_pipeline_free(self.pointer)

    @property
    def record(self):
        """The same as the library has it, which lives as long as this object."""
        record = self.pointer.contents
        record.owner = self
        return record

    def call(self, stage, *arguments):
        """A stage before there is a plan to keep: Ctrl-C raises KeyboardInterrupt behind it."""
        error = records.Error()
        with self.watch:
            status = stage(self.pointer, *arguments, error)
        if self.watch.interrupted:
            raise KeyboardInterrupt
        self.check_raised()
        if status != records.OK:
            raise self.failure(status, error)

    def check_raised(self):
        if self.watch.raised:
            raised, self.watch.raised = self.watch.raised, None
            raise raised

    def failure(self, status, error):
        """The exception for the status of a stage, with the option that is to blame."""
        fault, message = self.record.fault, text_of(error.msg)
        sizes = tuple(text_of(fault.open[k]) for k in range(min(fault.n_open, records.MAX_OPEN_SIZES)))
        about = {"position": error.at or None, "open_sizes": sizes}
        if sizes:
            about["option"] = "dims"
            message += f", e.g. with dims={{'{sizes[0]}': 1}}"
        elif fault.option:
            about["option"] = NAMES.get(text_of(fault.option), text_of(fault.option))
        return error_of(status, f"{self.files[fault.file][0]}: {message}", **about)

    def read(self):
        """Options may be changed before."""
        check(C.arenaut_pipeline_new, self.options, None, ctypes.byref(self.pointer))
        self.borrowed = (records.PipelineFile * len(self.files))(*(
            (os.fsencode(name), borrowed(data), len(data)) for name, data in self.files))
        self.call(C.arenaut_pipeline_read, self.borrowed, len(self.files))
        return self

    def prepare(self):
        self.call(C.arenaut_pipeline_prepare)
        return self

    def plan(self):
        """From the prepared problem to a checked plan, beside the runtime's own."""
        return self._search(C.arenaut_pipeline_plan)

    def describe(self, or_better):
        """The same, but that a file which holds a right plan is described by that one, unless rights were
        given or refused."""
        if any(self.given.get(right) is not None for right in RIGHTS):
            return self.plan()
        return self._search(C.arenaut_pipeline_describe, or_better)

    def _search(self, stage, *arguments):
        error = records.Error()
        began = now()
        with self.watch:  # it watches the runtime's own planner as well
            status = C.arenaut_pipeline_find_baseline(self.pointer, error)
            if status == records.OK:
                status = stage(self.pointer, *arguments, error)
        self.seconds = now() - began
        self.check_raised()
        if status == records.NO_PLAN and self.record.plan:
            raise failure(status, error, self.record.plan, Problem._copy(self.record.problem.contents))
        if status != records.OK:
            raise self.failure(status, error)
        return self


#: Options that no field of the library's tells from those that were not given, where they are off.
RIGHTS = "inplace", "overlap", "split", "reorder", "recompute"
NOTE = dict(records.PipelineOptions._fields_)["note"]
#: Options by the names of the command's flags, which the pipeline knows.
NAMES = {"dim": "dims", "pin": "pins", "pool": "pools"}


class TensorArena(namedtuple("TensorArena", "tensors scratch notes head tail total exact op")):
    """Parts of a micro runtime's arena besides the plan, in bytes.

    Attributes
    ----------
    tensors : int
        Bytes of the head: planned, with kernels' scratch as far as it is known.
    scratch : int
        Bytes of that: the scratch of the op that asks for most.
    notes : int
        Bytes of the head: the runtime's own data while it plans.
    head : int
        Bytes, the larger of the two.
    tail : int
        Bytes of persistent data: of the interpreter, and of kernels.
    total : int
        Bytes to reserve: head and tail.
    exact : bool
        False: kernels ask for memory of which it is not known how much; then it is the least.
    op : int
        The first op that keeps something of that kind; None without.
    """

    __slots__ = ()

    @classmethod
    def _of(cls, arena):
        *bytes_of, op = (getattr(arena, name) for name in cls._fields)
        return cls(*bytes_of, None if op == records.NONE else op)

    tensors: int
    scratch: int
    notes: int
    head: int
    tail: int
    total: int
    exact: bool
    op: int | None


class Size(namedtuple("Size", "now planned bound needed status reserve")):
    """How big an arena is.

    Attributes
    ----------
    now : int
        Bytes that the file's runtime needs today; None if that is not known.
    planned : int
        Bytes with our plan.
    bound : int
        Bytes; no plan needs less.
    needed : int
        Bytes, the smaller of the first two, where nothing was asked for that the runtime does
        not do.
    status : str
        "optimal", which is proven, or "feasible".
    reserve : int
        Bytes to reserve for `planned` and all that a micro runtime keeps beside it (see
        ModelPlan.tensor_arena); None for other runtimes.
    """

    __slots__ = ()
    now: int | None
    planned: int
    bound: int
    needed: int
    status: typed.Status
    reserve: int | None


class Trace(namedtuple("Trace", "events requests held asked most_asked reserved most_reserved caching "
                                "caching_expandable")):
    """A program's requests to its allocator, and the memory that the allocator took from the system.

    A step is a request: buffer k of the problem is the k-th.

    Attributes
    ----------
    events : int
        How many the file has.
    requests : int
        Blocks that were handed out.
    held : int
        Of those, how many were never given back.
    asked : array of int64, shape (steps,)
        Bytes in the blocks that are out, at each step.
    most_asked : int
        Bytes, the most of these.
    reserved : array of int64, shape (steps,), or None
        Bytes that the allocator held, the most from each step to the next; None where
        the file says nothing of it.
    most_reserved : int or None
        Bytes, the most of these; None likewise.
    caching : int
        Bytes that PyTorch's caching allocator would reserve for these requests; None where
        it could not serve them.
    caching_expandable : int
        Bytes, the same with expandable segments.
    """

    __slots__ = ()
    events: int
    requests: int
    held: int
    asked: typed.Column
    most_asked: int
    reserved: typed.Column | None
    most_reserved: int | None
    caching: int | None
    caching_expandable: int | None

    @classmethod
    def _of(cls, record, problem):
        asked, reserved = (arrays.copied(pointer, record.n_requests, "Q") if pointer else None
                           for pointer in (record.asked, record.reserved))
        return cls(record.n_events, record.n_requests, record.n_held, asked or arrays.filled(0, 0, "Q"),
                   record.most_asked.bytes, reserved, record.most_reserved.bytes if record.reserved else None,
                   caching_reserve(problem, False), caching_reserve(problem, True))


def caching_reserve(problem, expandable):
    """Memory that PyTorch's caching allocator takes from the system; None for traces that it cannot serve."""
    found, error = ctypes.c_uint64(), records.Error()
    status = C.arenaut_caching_reserve(problem, expandable, None, ctypes.byref(found), error)
    if status not in (records.OK, records.REFUSED):
        raise error_of(status, text_of(error.msg))
    return found.value if status == records.OK else None


class Recomputed(namedtuple("Recomputed", "before after added_ops added_bytes time added_time least_time floor fits")):
    """The result of rematerialization: bytes that are alive at once, and the work.

    Attributes
    ----------
    before : int
        Bytes, if each op runs once.
    after : int
        Bytes, if those that were found run again.
    added_ops : int
        Runs that were added; 0: no plan needs less then.
    added_bytes : int
        Bytes that they write.
    time : int
        Nanoseconds of all ops, each once.
    added_time : int
        Nanoseconds that the schedule that was found adds.
    least_time : int
        Nanoseconds that no schedule with as few bytes adds less than; proven, and checked. 0 if
        `floor` is above `fit`, so that there is none.
    floor : int
        Bytes: a lower bound of the arena under any rematerialization, without `fit` of cheap ops
        alone; proven, and checked. 0: nothing is proven.
    fits : bool
        `fit` is kept, by this schedule or without any.
    """

    __slots__ = ()
    before: int
    after: int
    added_ops: int
    added_bytes: int
    time: int
    added_time: int
    least_time: int
    floor: int
    fits: bool


class Order(namedtuple("Order", "given best bound ops between_jumps joins views held",
                       defaults=(False, None, None, 0))):
    """Schedules of a model's ops, and their peaks: the most bytes that are alive at once.

    Attributes
    ----------
    given : int
        Bytes, in the order of the file.
    best : int
        Bytes, in the best order that was found.
    bound : int
        Bytes; no order has less; where it is `best`, that is proven, and checked.
    ops : tuple of int, or None
        Numbers of the file's ops in the order in which they run now, and again those that
        run again; None: in that of the file, because no other is better, or none needs a smaller
        arena; or ops are tiled: tiles have no numbers in the file.
    between_jumps : bool
        Some methods jump; all this is said of orders in which no op goes past
        a jump.
    joins : tuple of (int, int), or None
        Where the joins that are written in place were chosen with the order
        (`passes="slices"`): how many are, of how many that could be; else None.
    views : tuple of (int, int), or None
        Where views of parts could be copies, so that what they are parts of need not
        wait for their readers: how many are, of how many that could be; else None.
    held : int
        Ops that keep their order among one another, since it is not known whether they
        only compute; all this is said of orders that keep it.
    """

    __slots__ = ()
    given: int
    best: int
    bound: int
    ops: tuple[int, ...] | None
    between_jumps: bool
    joins: tuple[int, int] | None
    views: tuple[int, int] | None
    held: int

    def __repr__(self) -> str:
        """All but the numbers of the ops, of which there may be thousands."""
        ops = None if self.ops is None else f"<{len(self.ops):,} ops>"
        return "Order(" + ", ".join(f"{name}={value}" for name, value in {**self._asdict(), "ops": ops}.items()) + ")"


def open(path: typed.Path | Iterable[typed.Path], **options: typed.Unpack[typed.ModelOptions]) -> Model:
    """Reads a model, or a bare problem.

    Parameters
    ----------
    path : path_like or iterable of Path
        Of a file of any format that `arenaut formats` lists; or several paths, which are one
        program, with `share` naming the shared buffers.
    **options : keywords of typed.ModelOptions
        Those of Model.plan. They hold for all that is asked of the model later, e.g.
        dims={"batch": 1} for sizes that it leaves open, target="litert", scratch="scratch.csv".

    Returns
    -------
    Model
        Which has read the file; it is planned when that is asked for.

    Raises
    ------
    InputError
        The file is not well formed; position is the byte or line.
    UnsupportedError
        It holds something that is not supported.
    OSError
        It cannot be read.
    TypeError
        There is no such option.
    """
    if isinstance(path, (bytes, bytearray, memoryview)) or hasattr(path, "read") or \
            not hasattr(path, "__iter__") and not is_path(path):
        arrays.refuse("path", None, path, "a path, or a list of paths; Model.parse takes bytes")
    paths = [path] if is_path(path) else list(path)
    if not paths:
        raise InputError("there is no file to read")
    files = []
    for position, one in enumerate(paths):
        if not is_path(one):  # the number of an open file would be closed as well
            arrays.refuse("path", position, one, "paths; Model.parse takes bytes")
        with io_open(one, "rb") as file:
            files.append((os.fsdecode(one), file.read()))
    return Model(files, options)


def is_path(value):
    return isinstance(value, (str, os.PathLike))


io_open = __builtins__["open"] if isinstance(__builtins__, dict) else __builtins__.open


class Model:
    """A program, or a bare problem, out of a file: see arenaut.open.

    Models do not change, can be pickled (with the bytes of their file), and used by several threads at once.

    Parameters
    ----------
    files : iterable of (str, bytes)
        The name and the bytes of each file.
    options : mapping of str, Any, optional
        Those of Model.plan, for all that is asked of the model.

    Attributes
    ----------
    format : str
        The name of the files' format.
    notes : tuple of str
        Remarks of the reader.
    path : str
        The name of the file, or of the first.
    problem : Problem
        What is planned, with n buffers.
    program : dict
        The program as arenaut.program/1.
    trace : Trace or None
        The recording of a trace.
    """

    __slots__ = ("_files", "_options", "format", "notes")
    format: str
    notes: tuple[str, ...]

    def __init__(self, files: Iterable[tuple[str, bytes]],
                 options: Mapping[str, typed.Any] | None = None) -> None:
        if is_path(files):
            arrays.refuse("files", None, files, "pairs of a name and bytes; arenaut.open takes paths")
        self._files, self._options = list(files), dict(options or {})
        check_names(self._options, FILE + PLANNER)
        pipeline = self._pipeline({}).read()
        record = pipeline.record
        self.format = text_of(record.document.format.contents.name)
        self.notes = tuple(pipeline.notes)

    @classmethod
    def parse(cls, data: bytes, name: str = "input", **options: typed.Unpack[typed.ModelOptions]) -> Model:
        """A model from bytes in memory.

        Parameters
        ----------
        data : bytes_like
            All of the file.
        name : str, optional
            Of the file, for messages; its ending may say the format.
        **options : keywords of typed.ModelOptions
            As of arenaut.open.
        """
        return cls([(name, bytes(memoryview(data)))], options)

    def __reduce__(self):
        return Model, (self._files, self._options)

    def __repr__(self) -> str:
        return f"<Model: {' + '.join(name for name, _ in self._files)}, {self.format}>"

    @property
    def path(self) -> str:
        """The name of the file, or of the first."""
        return self._files[0][0]

    def _pipeline(self, options, progress=False):
        return Pipeline(self._files, {**self._options, **options}, progress)

    def _prepared(self, options):
        return self._pipeline(options).read().prepare()

    @property
    def problem(self) -> Problem:
        """The buffers that a plan has to place."""
        return Problem._copy(self._prepared({}).record.problem.contents)

    @property
    def program(self) -> dict[str, typed.Any] | None:
        """Methods, tensors and ops, as arenaut.program/1 has them (docs/formats.md).

        None for a bare problem."""
        pipeline = self._prepared({})
        if not pipeline.record.document.program:
            return None
        import json  # a large module, for this alone
        return json.loads(documents.emit(documents.named("format", "program-json"),
                                         pipeline.record.result))

    @property
    def trace(self) -> Trace | None:
        """Measurements of the recording of an allocator's trace (docs/traces.md).

        None for all other files."""
        record = self._prepared({}).record
        trace = record.document.trace
        return Trace._of(trace.contents, record.problem) if trace else None

    def plan(self, *, progress: typed.Progress = None, **options: typed.Unpack[typed.ModelOptions]) -> ModelPlan:
        """Plans the model's memory anew, and has the plan checked and the program replayed.

        The memory that the file makes its runtime use is `today` of the plan.

        Parameters
        ----------
        progress : Progress, optional
            As of arenaut.plan.
        **options : keywords of typed.ModelOptions
            The planner's, as of arenaut.plan (planner, effort, time, seed, capacity, threads,
            settings), and about the model:
            `format`, `target`, `kernels`: names of `arenaut formats`, `targets`, `kernels`.
            `unmeasured`: True: rules of the kernels that were only read count too.
            `method`: only this entry method.
            `passes`: names to add, "-name" to leave out.
            `share`: True, or the names that several files share: one layout for all.
            `dims`: {size: 8 or (1, 8) or [1, 4, 8]}: a value, a range, several.
            `shapes`: {tensor: sizes}, or a path to CSV.
            `scratch`: a path to CSV with the kernels' working memory, `scratch_model` this
            model's name in there.
            `inplace`: True, False or "only"; `inplace_ops`: {op: input or (input, output)}.
            `overlap`: True: results may overlap operands, as far as the kernels allow.
            `split`: True: ops may be tiled; or tile groups as (first op, last op, pieces,
            "channels", "rows" or "kept"). `max_ops`, `max_macs`: limits of that, in ops and
            in percent of multiplications. `rounding`: "allow": tiles may round otherwise than
            the whole, not the same bits: `rounded_ops` of the plan counts them. `budget`: bytes
            to be reserved: the stages that add least and fit are taken.
            `reorder`: True: ops may run in another order.
            `recompute`: True: cheap ops are rematerialized for late readers; `max_ops`: how many.
            With `fit`, bytes, any op may be: the schedule that adds least time and fits. Times
            are those of `costs`, a path to CSV, or modelled for `device`: "a100", "h100",
            "cpu", or its (operations, bytes) in a second.
            `compact`: True: the written file has no unreferenced bytes.
            `preserve_inputs`: True: inputs keep their bytes.
            `alloc_io`: False: inputs and outputs are not in the arena.
            `align`: bytes, of all; `tensor_align`, `op_align`: {name: bytes}.
            `pools`: as of Problem; `pins`: {tensor: pool or (pool, offset)}.

        Returns
        -------
        ModelPlan
            Which has been checked.

        Raises
        ------
        InputError
            An option does not suit the model; option and open_sizes say which.
        NoPlanError
            No plan exists, and witness says which buffers are too much at which step.
        RefusedError
            The planner does not support the request.
        TypeError
            There is no such option.
        KeyboardInterrupt
            Ctrl-C before there was a plan; later it ends the search, and the best
            plan is returned.
        """
        return ModelPlan._made(self, options, self._pipeline(options, progress).read().prepare().plan())

    def _described(self, options, progress, or_better):
        made = self._pipeline(options, progress).read().prepare().describe(or_better)
        return ModelPlan._made(self, options, made)

    def size(self, *, progress: typed.Progress = None, **options: typed.Unpack[typed.ModelOptions]) -> Size:
        """How big the arena is today, and how big it must be.

        A file that holds a plan is described by it, with the sharing that it allows, unless a new one with the
        same rights needs less; `inplace`, `overlap`, `split`, `reorder` or `recompute`, True or False, plan anew.

        Parameters
        ----------
        progress : Progress, optional
            As of arenaut.plan.
        **options : keywords of typed.ModelOptions
            As of plan.

        Returns
        -------
        Size
            In bytes.
        """
        made = self._described(options, progress, or_better=True)
        whole = made.tensor_arena
        return Size(made.now, made.planned, made.minimum, made.needed, made.status,
                    whole.total if whole else None)

    def explain(self, *, width: int = 80, progress: typed.Progress = None,
                **options: typed.Unpack[typed.ModelOptions]) -> documents.Text:
        """Why the arena is as large as it is.

        A file that holds a plan is explained by it, as size describes it.

        Parameters
        ----------
        width : int, optional
            Columns of the text; None: those of the terminal.
        progress : Progress, optional
            As of arenaut.plan.
        **options : keywords of typed.ModelOptions
            As of plan.

        Returns
        -------
        str
            The report of the command.
        """
        return self._described(options, progress, or_better=False).explain(width)

    def check(self, **options: typed.Unpack[typed.ModelOptions]) -> None:
        """Holds the plan in the file against the model.

        Parameters
        ----------
        **options : keywords of typed.ModelOptions
            Those of plan.

        Raises
        ------
        RejectedError
            The plan is wrong, and finding is the counter-example.
        RefusedError
            The file holds no plan.
        """
        pipeline = self._pipeline(options)
        pipeline.options.judge_given = True
        document = pipeline.read().record.document
        if document.program and C.arenaut_pipeline_states_places(pipeline.pointer):
            judge(C.arenaut_pipeline_check_stated, pipeline.pointer, records.StatedPlaces())
        elif document.program:
            pipeline.prepare().call(C.arenaut_pipeline_find_baseline)
            self._judge(pipeline.record.baseline)
        elif document.plan:
            judge(C.arenaut_check_plan, document.problem, document.plan, None)
        else:
            self._judge(records.Baseline())

    def strip(self, path: typed.Path) -> None:
        """Writes the model without the plan that arenaut put into it. All or nothing.

        Parameters
        ----------
        path : path_like
            The file to write.

        Raises
        ------
        RefusedError
            The file holds no plan, or another tool's, which cannot be made again.
        """
        strip = self._pipeline({}).read().record.document.format.contents.strip
        if not strip:
            raise RefusedError(f"{self.path}: a plan cannot be taken out of the format {self.format}",
                               records.REFUSED)
        (_, data), = self._files
        documents.write_file(path, took(lambda sink: check(strip, data, len(data), sink, None)))

    def _judge(self, baseline):
        if not baseline.plan or not baseline.from_file:
            raise RefusedError(f"{self.path}: the file holds no plan", records.REFUSED)
        if baseline.overlaps:
            raise RejectedError(text_of(baseline.finding.msg), records.REJECTED,
                                finding=finding_of(baseline.finding))


class ModelPlan(Plan):
    """The plan of a model.

    Attributes
    ----------
    model : Model
        Whose plan it is, besides all that Plan has.
    now : int
        Bytes that the file's runtime needs today; None if that is not known.
    planned : int
        Bytes with this plan: `arena`, but for files that state memories of their own.
    needed : int
        Bytes: the smaller of the two.
    minimum : int
        Bytes; no plan needs less.
    scratch_unknown : bool
        Some kernels ask for memory that no file tells.
    kernels : str
        The kernel set of which the plan is right, where results lie over operands; with others
        results may be wrong. None: for any kernels.
    options : dict
        Those that it was made with.
    """

    model: Model
    now: int | None
    planned: int
    needed: int
    minimum: int
    scratch_unknown: bool
    kernels: str | None
    options: dict[str, typed.Any]

    @classmethod
    def _made(cls, model, options, pipeline):
        record = pipeline.record
        made = cls._copy(Problem._copy(record.problem.contents), record.plan.contents,
                         pipeline.seconds)
        figures, kernels = record.figures, C.arenaut_result_kernels(record.result)
        made._set(model=model, options=options, _pipeline=pipeline,
                  now=figures.now if record.baseline.plan else None, planned=figures.planned,
                  minimum=figures.bound, needed=figures.needed,
                  scratch_unknown=record.result.scratch == records.SCRATCH_UNKNOWN,
                  kernels=text_of(kernels.contents.name) if kernels else None)
        return made

    def _schedule(self):
        """The file's ops in the order in which they run now, and again those that run again; None: as there."""
        rewrite = self._pipeline.record.rewrite
        if not rewrite or rewrite.contents.n_stages:
            return None
        ops = tuple(rewrite.contents.ops[:rewrite.contents.n_ops])
        return None if ops == tuple(range(len(ops))) else ops

    @property
    def order(self) -> Order | None:
        """Schedules of the ops.

        None if `reorder` was not asked for, or if the ops must stay where they are."""
        found = self._pipeline.record.ordering
        if not found.known:
            return None
        joins = (found.n_in_place, found.n_joins) if found.n_joins else None
        views = (found.n_copied, found.n_views) if found.n_views else None
        return Order(found.given, found.best, found.bound, self._schedule(), bool(found.between_jumps), joins,
                     views, found.n_held)

    @property
    def stages(self) -> tuple[tuple[int, int, int, str], ...]:
        """The tile groups that `split` led to, as it takes them: (first op, last op, tiles, mode).

        None if no tiles need less, or were not asked for."""
        rewrite = self._pipeline.record.rewrite
        made = rewrite.contents.stages[:rewrite.contents.n_stages] if rewrite else ()
        return tuple((stage.first_op, stage.first_op + stage.n_ops - 1, stage.pieces,
                      text_of(C.arenaut_split_mode_name(stage.mode))) for stage in made)

    @property
    def rounded_ops(self) -> int:
        """The number of ops of which a tile may be rounded otherwise than the whole: not the same bits.

        0 if all tiles are within the tile rule, or none are made."""
        return C.arenaut_result_rounded(self._pipeline.record.result)

    @property
    def recomputed(self) -> Recomputed | None:
        """The result of rematerialization.

        None if `recompute` was not asked for, or if ops can run only once."""
        found = self._pipeline.record.recomputed
        if not found.known:
            return None
        return Recomputed(found.before, found.after, found.n_ops, found.bytes, found.base, found.added, found.bound,
                          found.floor, found.fits)

    def __repr__(self) -> str:
        now = "" if self.now is None else f", today {self.now:,}"
        proof = "minimal" if self.status == "optimal" else f"at least {self.minimum:,} are needed"
        given = f" with the kernels '{self.kernels}'" if self.kernels else ""
        rounded = ", not the same bits" if self._is_program and self.rounded_ops else ""
        return f"<Plan of {os.path.basename(self.model.path)}: {self.planned:,} bytes, {proof}{given}{now}{rounded}>"

    def _result(self):
        return self._pipeline.record.result

    @property
    def _is_program(self):
        return bool(self._pipeline.record.document.program)

    @property
    def tensor_arena(self) -> TensorArena | None:
        """Parts of a micro runtime's arena with this plan.

        None for other runtimes, for several pools and for several files."""
        if not self._lives_in_arena:
            return None
        record, arena = self._pipeline.record, records.TensorArena()
        check(C.arenaut_tensor_arena_find, record.result, self.planned, record.target, None, arena)
        return TensorArena._of(arena)

    @property
    def _lives_in_arena(self):
        record = self._pipeline.record
        return (self._is_program and record.target and record.target.contents.layout
                and record.problem.contents.n_pools == 1 and len(self.model._files) == 1)

    @property
    def today(self) -> Plan | None:
        """The plan of the file's runtime, in its own problem; None if that is not known, or wrong."""
        baseline = self._pipeline.record.baseline
        if not baseline.plan or baseline.overlaps:
            return None
        return Plan._copy(Problem._copy(baseline.problem.contents), baseline.plan.contents)

    def _outcome(self, force):
        outcome = ctypes.c_int()
        self._pipeline.call(C.arenaut_pipeline_outcome, True, force, outcome)
        return outcome.value

    @property
    def outcome(self) -> str | None:
        """None if the plan may be written into the model, else why not."""
        outcome = self._outcome(False) if self._is_program else records.OUTCOME_WRITE
        return None if outcome == records.OUTCOME_WRITE else text_of(C.arenaut_outcome_text(outcome))

    def check(self) -> None:
        """Holds the plan against its problem, and replays the program, once more.

        The replay's tensors lie as the plan says.

        Raises
        ------
        RejectedError
            It is wrong, and finding is the counter-example.
        """
        record = self._record
        # The arenas may have room behind all buffers, which the runtime asks for.
        check(C.arenaut_plan_measure, record, self.problem._record)
        record.quality = records.FEASIBLE
        record.total_bound = min(record.total_bound, record.total)
        for k in range(record.n_pools):
            record.lower_bound[k] = min(record.lower_bound[k], record.arena[k])
        check_record(self.problem, record)
        if self._is_program:
            judge(C.arenaut_pipeline_replay, self._pipeline.pointer, record)

    def save(self, path: typed.Path, *, force: bool = False) -> None:
        """Writes the model with the plan inside, or another format by the file's name.

        The others are .json, .csv, .svg, .html and .h. All or nothing.

        Parameters
        ----------
        path : path_like
            The file to write; of several ExecuTorch files, a folder that is there, into which they go
            under their names.
        force : bool, optional
            Replaces another tool's plan.

        Raises
        ------
        RefusedError
            It would make nothing smaller, or the runtime would not obey it.
        InputError
            No format has that extension.
        OSError
            The file cannot be written; the old file stays.
        """
        if len(self.model._files) > 1 and os.path.isdir(path):
            made = [self._in_model(force, k) for k in range(len(self.model._files))]
            for (name, _), data in zip(self.model._files, made):
                documents.write_file(os.path.join(os.fspath(path), os.path.basename(name)), data)
            return
        kind = documents.kind_for(path)
        of_model = isinstance(kind, records.Format) and text_of(kind.name) == self.model.format
        if not of_model or not self._is_program:
            data = documents.emit(kind, self._result())
        else:
            data = self._in_model(force)
        documents.write_file(path, data)

    def _in_model(self, force=False, file=0):
        """The bytes of the model, or of one of its files, with the plan inside."""
        return took(lambda sink: self._pipeline.call(C.arenaut_pipeline_write_file, file, force, sink))

    def __reduce__(self):
        return remade, (self.model, self.options, self.offsets, self.pools, self.status,
                        self.stopped_by, self.planner, self.effort, self.seconds, self.bounds,
                        self.bound, self.spill_bound)


def remade(model, options, *made):
    """A plan out of a pickle: the pipeline runs anew, at the end with a planner that knows the answer, and
    checks it. Before, rewrites are chosen by plans of their own."""
    offsets, pools, status, stopped_by, planner, effort, seconds, bounds, bound, spill_bound = made

    def run(_, planning):
        plan = planning.contents.plan.contents
        if planning.contents.problem.contents.n_buffers != len(offsets):
            planning.contents.err.contents.msg = b"it was pickled with another rewrite, which was not found again"
            return records.REFUSED
        ctypes.memmove(plan.offset, arrays.address(offsets), 8 * len(offsets))
        ctypes.memmove(plan.pool, arrays.address(pools), 4 * len(pools))
        # The bounds may count room behind all buffers, which the pipeline adds again.
        measured = C.arenaut_plan_measure(plan, planning.contents.problem, planning.contents.err)
        for k, of_pool in enumerate(bounds):
            plan.lower_bound[k] = min(of_pool, plan.arena[k])
        plan.total_bound, plan.spill_bound = min(bound, plan.total), spill_bound
        plan.effort, plan.stopped_by = effort, STOPS.index(stopped_by)
        return measured

    known = records.Planner(name=planner.encode(), handles=2**32 - 1, run=RUN(run))
    pipeline = model._pipeline(options).read().prepare()
    pipeline.record.options.plan.custom = ctypes.pointer(known)
    plan = ModelPlan._made(model, options, pipeline.plan())
    plan._set(status=status, seconds=seconds)
    return plan


RUN = dict(records.Planner._fields_)["run"]


def one_arena(plans: Iterable[ModelPlan]) -> TensorArena:
    """One arena for the interpreters of several models, of which one runs at a time.

    It has the largest head, and all tails, in the order of the plans.

    Parameters
    ----------
    plans : iterable of ModelPlan
        Of one runtime, which lives in its arena (tflite-micro).

    Returns
    -------
    TensorArena
        The parts in bytes; `total` is to be reserved.

    Raises
    ------
    ValueError
        There is none, or another runtime, or (InputError) it is no plan.

    Examples
    --------
    >>> small = [arenaut.open(path).plan(overlap=True) for path in ("wake.tflite", "words.tflite")]
    >>> arenaut.one_arena(small).total
    """
    arena, target = records.TensorArena(), None
    for position, plan in enumerate(plans):
        if not isinstance(plan, ModelPlan):
            arrays.refuse("plans", position, plan, "plans of models, as Model.plan makes them")
        if not plan._lives_in_arena:
            raise ValueError(f"{plan.model.path}: its runtime has no interpreters that share an arena")
        record = plan._pipeline.record
        name = record.target.contents.name
        if target not in (None, name):
            raise ValueError(f"{plan.model.path}: all models have to be for one runtime")
        target = name
        check(C.arenaut_tensor_arena_add, record.result, plan.planned, record.target, None, arena)
    if target is None:
        raise ValueError("one_arena takes at least one plan")
    return TensorArena._of(arena)
