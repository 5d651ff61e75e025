"""Running a program on planned memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from arenaut import tape as tapes
from arenaut.torch.build import Builder
from arenaut.torch.learn import Learner
from arenaut.torch.plans import Plan
from arenaut.torch.record import Misbehaved, Recording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Unpack

    from arenaut.typed import TorchOptions


def children_of(spec):
    """Of a tree of arguments, as PyTorch 2.13 has it, or as those before."""
    return spec.children() if hasattr(spec, "children") else spec.children_specs


@dataclass(frozen=True)
class Options:
    """How a program is run.

    Attributes
    ----------
    outputs : str
        "apart", each result in memory of its own that belongs to the caller; or "arena":
        results are planned with all else, and valid until the next run.
    record : bool or None
        Whether what kernels allocate is planned too; None: if the library was preloaded.
    smallest_block : int or None
        Requests below so many bytes are left to the heap. None: 1024; or 0 where
        sizes vary, since what is small in one run need not be so in the next.
    keep_arena : bool
        Whether the arena stays between runs.
    fold_constants : bool
        Work done beforehand on weights, as freezing does it.
    fold_batch_norms : bool
        The same of batch norms.
    pointwise_as_product : bool
        1x1 convolutions of one image as matrix products, without scratch.
    most_shapes : int
        So many combinations of input shapes are remembered.
    """

    outputs: str = "apart"
    record: bool | None = None
    smallest_block: int | None = None
    keep_arena: bool = True
    fold_constants: bool = True
    fold_batch_norms: bool = True
    pointwise_as_product: bool = True
    most_shapes: int = 64

    def __post_init__(self):
        if self.outputs not in ("apart", "arena"):
            raise ValueError(f"outputs are 'apart' or in the 'arena', not {self.outputs!r}")
        if self.outputs == "arena" and not self.keep_arena:
            raise ValueError("results in the arena need an arena that is kept: keep_arena=True")
        if self.record is None:
            object.__setattr__(self, "record", tapes.available)
        if self.record and not tapes.available:
            raise ValueError("recording needs libarenaut-replay.so in LD_PRELOAD: run the program by "
                             "`python -m arenaut.preload`, or call arenaut.preload.ensure() first")


class Bound:
    """What is remembered of one combination of shapes; the function is made when first needed."""

    def __init__(self, learned, plan):
        self.learned, self.plan, self.function = learned, plan, None


class Planned:
    """A program that runs on planned memory. Call it as the module was called; one thread at a
    time. Made by `compile` and `load`."""

    def __init__(self, exported: torch.export.ExportedProgram, options: Options) -> None:
        self.options = options
        if exported.dialect == "TRAINING":  # as torch.export.export leaves it
            exported = exported.run_decompositions({})
        self.in_spec = exported.call_spec.in_spec
        self.program = Builder(exported, options).build()
        if options.smallest_block is None:
            varies = any(map(has_symbols, self.program.input_metas))
            self.options = replace(options, smallest_block=0 if varies else 1024)
        # Arguments that are all positional, and no containers, need no flattening: their number.
        positional, named = children_of(self.in_spec)
        plain = all(spec.is_leaf() for spec in children_of(positional))
        self.n_plain = positional.num_children if plain and not named.num_children else None
        self.demoted = set()   # steps whose kernels do not keep to the memory they are given
        self.plans = []
        self.bound = {}        # shapes -> Bound
        self.runs = self.unplanned_runs = self.strayed = 0
        self.running = False

    # --- a call ---

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        flat = args if len(args) == self.n_plain and not kwargs else self.flatten(args, kwargs)
        key = key_of(flat)
        bound = self.bound.get(key)
        self.enter(flat, bound)
        try:
            with torch.no_grad():
                results = self.run(flat, key, bound) if bound else self.first_run(flat, key)
                return self.finish(flat, results)
        finally:
            self.running = False

    def flatten(self, args, kwargs):
        flat, spec = pytree.tree_flatten((args, kwargs))
        if spec != self.in_spec:
            raise ValueError(f"the program was exported for other arguments:\n  found    {spec}\n"
                             f"  expected {self.in_spec}")
        return flat

    def enter(self, flat, bound):
        if self.running:
            raise RuntimeError("this program is running already: one run at a time")
        if bound is None:
            check_inputs(self.program.input_metas, flat)
        elif self.options.outputs == "arena" and bound.plan.base:
            refuse_own_results(flat, bound.plan)
        self.running = True
        self.runs += 1

    def run(self, flat, key, bound):
        if bound.function is None:
            bound.function = bound.plan.bind(self.program, bound.learned, self.demoted)
        plan = bound.plan
        tape = plan.begin()
        try:
            if tape:
                tape.play()
            try:
                results = bound.function(*flat)
            finally:
                as_recorded = tape.stop() if tape else True
        except BaseException:
            plan.abort()
            raise
        if as_recorded:
            plan.end()
            return results
        # Blocks may have lived longer than planned, and lain where tensors were written: what
        # was computed is not to be trusted.
        plan.abort()
        del results
        self.strayed += 1
        return self.first_run(flat, key, record=True)

    def finish(self, flat, results):
        outputs, news = results[:len(self.program.outputs)], results[len(self.program.outputs):]
        for (target, _), value in zip(self.program.mutated, news):
            (flat[target] if isinstance(target, int) else target).copy_(value)
        if self.options.outputs == "arena":
            # What the caller does to the tensor, rather than to its elements, is the caller's.
            outputs = [r.detach() if isinstance(r, torch.Tensor) else r for r in outputs]
        return self.container(outputs)

    def container(self, outputs):
        spec = self.program.out_spec
        if spec.is_leaf():
            return outputs[0]
        return outputs if spec.type is list else pytree.tree_unflatten(outputs, spec)

    # --- new shapes ---

    def first_run(self, flat, key, record=False):
        """Without a plan, or with one that must grow. `record` says that no plan that there is
        will do as it is."""
        self.unplanned_runs += 1
        learned = Learner(self.program, self.demoted).run(flat)
        plan = None if record else next((p for p in self.plans if p.serves(learned)), None)
        results = learned.results
        if plan is None:
            learned, plan, results = self.record(learned, flat)
        learned.results = None
        self.remember(key, Bound(learned, plan))
        return results

    def remember(self, key, bound):
        self.bound.pop(key, None)
        while len(self.bound) >= self.options.most_shapes:
            del self.bound[next(iter(self.bound))]
        self.bound[key] = bound
        self.plans = [p for p in self.plans if any(b.plan is p for b in self.bound.values())]

    def record(self, learned, flat):
        """A run to plan by. Kernels that misbehave are given up, one by one."""
        while True:
            try:
                recording = Recording(self.program, learned, self.demoted, flat, self.options)
                break
            except Misbehaved as found:
                self.demoted.add(found.step)
                self.bound.clear()
                self.plans.clear()
                learned = Learner(self.program, self.demoted).run(flat)
        older = next((p for p in self.plans if p.can_grow_to(recording)), None)
        plan = Plan(recording, self.program, self.options, older)
        for bound in self.bound.values():
            if older and bound.plan is older:
                bound.plan, bound.function = plan, None
        self.plans.append(plan)
        return learned, plan, recording.results

    # --- what there is to know ---

    def release_outputs(self) -> None:
        """Gives up the results of the last run with `outputs="arena"`, as the next run would: they
        are not to be read any more. Others belong to the caller."""
        for plan in self.plans:
            plan.release_outputs()

    def poison(self):
        """Fills the arenas with bytes that no result may show; for tests."""
        for plan in self.plans:
            plan.poison()

    def figures(self) -> Figures:
        """What is managed and what is not, of the shapes that were run last."""
        if not self.bound:
            return Figures()
        bound = list(self.bound.values())[-1]
        plan, made = bound.plan, bound.learned.made
        counts = plan.tape.counts() if plan.tape else tapes.Counts()
        return Figures(
            arena=plan.size, lower_bound=plan.iteration.lower_bound,
            managed=len(plan.managed), managed_bytes=sum(plan.sizes),
            in_place=sum(o is not None for o in plan.over),
            managed_outputs=plan.iteration.figures().managed_outputs,
            outputs_are_held=plan.iteration.outputs_are_held,
            recorded=len(plan.planned), largest_block=plan.largest, served=counts.served,
            fallbacks=counts.fallbacks,
            unmanaged={op: tuple(entry) for op, entry in sorted(made.items())},
            folded_bytes=self.program.folded_bytes, runs=self.runs,
            unplanned_runs=self.unplanned_runs, strayed=self.strayed)


@dataclass(frozen=True)
class Figures:
    """Counts and bytes. `managed_outputs` are results in the arena, which are held until the next
    run or `release_outputs`. `unmanaged` has for each operator how often it occurs and how many
    bytes its results have. Recorded blocks lie in the arena too, but kernels ask for them;
    `largest_block` is the operator that asks for most, and how much."""

    arena: int = 0
    lower_bound: int = 0
    managed: int = 0
    managed_bytes: int = 0
    in_place: int = 0
    managed_outputs: int = 0
    outputs_are_held: bool = False
    recorded: int = 0
    largest_block: tuple | None = None
    served: int = 0
    fallbacks: int = 0
    unmanaged: dict = field(default_factory=dict)
    folded_bytes: int = 0
    runs: int = 0
    unplanned_runs: int = 0
    strayed: int = 0


def has_symbols(meta):
    return isinstance(meta, torch.SymInt) or (
        isinstance(meta, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in meta.shape))


def key_of(flat):
    return tuple([(x.shape, x.stride(), x.dtype, x.device) if isinstance(x, torch.Tensor) else x
                  for x in flat])


def refuse_own_results(flat, plan):
    start, end = plan.base, plan.base + plan.size
    for number, given in enumerate(flat):
        if isinstance(given, torch.Tensor) and start <= given.data_ptr() < end:
            raise ValueError(f"input {number} is a result of an earlier run, whose memory this "
                             "run uses anew: clone it, or have outputs='apart'")


def check_inputs(metas, flat):
    """Sizes that the program was not exported for are refused, rather than believed."""
    symbols = {}
    for number, (meta, given) in enumerate(zip(metas, flat)):
        if not isinstance(meta, torch.Tensor):
            if isinstance(meta, (int, float, bool, str)) and meta != given:
                raise ValueError(f"input {number} is {given!r}: the program was exported for "
                                 f"{meta!r}")
            continue
        if not isinstance(given, torch.Tensor) or given.dtype != meta.dtype \
                or given.device.type != "cpu":
            raise ValueError(f"input {number} must be a {meta.dtype} tensor on the CPU")
        if given.dim() != meta.dim() or not all(
                fits(size, wanted, symbols) for size, wanted in zip(given.shape, meta.shape)):
            raise ValueError(f"input {number} has the shape {tuple(given.shape)}; the program was "
                             f"exported for {tuple(meta.shape)}")


def fits(size, wanted, symbols):
    """A fixed size must be met, and a symbol must mean the same wherever it stands and lie in
    the range that it was exported with."""
    if not isinstance(wanted, torch.SymInt):
        return size == wanted
    if not wanted.node.expr.is_symbol:
        return True  # follows from others: shapes inside the program are checked by its kernels
    limits = wanted.node.shape_env.var_to_range.get(wanted.node.expr)
    allowed = limits is None or bool(limits.lower <= size <= limits.upper)
    return allowed and symbols.setdefault(wanted.node.expr, size) == size


def compile(module: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, *,
            dynamic_shapes: Any = None, **options: Unpack[TorchOptions]) -> Planned:
    """Exports a module for these example arguments, and makes it run on planned memory.

    Parameters
    ----------
    module : torch.nn.Module
        In the mode that it is to run in, e.g. `module.eval()`.
    args : Sequence[Any]
        Example inputs: a tuple of tensors on the CPU, of the shapes to export for.
    kwargs : mapping of str, Any, optional
        Those that are given by name.
    dynamic_shapes : Any, optional
        Sizes that vary, as of torch.export.export.
    **options : Unpack[TorchOptions]
        Outputs, record, smallest_block, keep_arena, fold_constants, fold_batch_norms,
        pointwise_as_product, most_shapes: as of Options.

    Returns
    -------
    Planned
        A Planned, to be called as the module was.

    Raises
    ------
    ValueError
        An option does not hold here, e.g. `record` without the preloaded library.
    """
    exported = torch.export.export(module, tuple(args), kwargs, dynamic_shapes=dynamic_shapes)
    return Planned(exported, Options(**options))


def load(exported: torch.export.ExportedProgram, **options: Unpack[TorchOptions]) -> Planned:
    """Makes a torch.export program run on planned memory.

    Parameters
    ----------
    exported : torch.export.ExportedProgram
        An ExportedProgram.
    **options : Unpack[TorchOptions]
        As of compile.
    """
    return Planned(exported, Options(**options))
