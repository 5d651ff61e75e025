"""Models: programs and problems out of files, and all that is asked of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from arenaut import arrays, documents, records
from arenaut.deferred import typed
from arenaut.errors import InputError, RefusedError, RejectedError
from arenaut.figures import Size, Trace
from arenaut.library import C, check, text_of, took
from arenaut.model_plan import ModelPlan
from arenaut.options import FILE, PLANNER, check_names
from arenaut.pipeline import Pipeline
from arenaut.planning import finding_of, judge
from arenaut.problem import Problem


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
        record = self._prepared({}).record
        return Problem._copy(record.problem.contents, documents.stated_by(record.result))

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
        """Holds the plan in the file against the model, and that of a plan's file against its problem.

        A bound that a plan's file states, or that there is no plan, is not proven anew; the command's
        `check` does so.

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
