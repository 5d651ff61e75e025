"""Plans of models, and their way into files and pickles."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

from arenaut import arrays, documents, records
from arenaut.deferred import typed
from arenaut.figures import Order, Recomputed, TensorArena
from arenaut.library import C, check, text_of, took
from arenaut.planning import STOPS, Plan, check_record, judge
from arenaut.problem import NOTHING_STATED, Problem

RUN = dict(records.Planner._fields_)["run"]


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

    model: typed.Model
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
        problem = Problem._copy(record.problem.contents, documents.stated_by(record.result))
        made = cls._copy(problem, record.plan.contents, pipeline.seconds)
        figures, kernels = record.figures, C.arenaut_result_kernels_name(record.result)
        made._set(model=model, options=options, _pipeline=pipeline,
                  now=figures.now if record.baseline.plan else None, planned=figures.planned,
                  minimum=figures.bound, needed=figures.needed,
                  scratch_unknown=record.result.scratch == records.SCRATCH_UNKNOWN,
                  kernels=text_of(kernels))
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
        kernels, unmeasured = documents.stated_by(self._pipeline.record.result)[:2]
        stated = (kernels, unmeasured, *NOTHING_STATED[2:]) if baseline.in_place else NOTHING_STATED
        return Plan._copy(Problem._copy(baseline.problem.contents, stated), baseline.plan.contents)

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
