"""Memory planning inside ExecuTorch's export.

    from arenaut.executorch import MemoryPlanningPass
    program = to_edge(exported).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass()))

The pass emits each method as the file will hold it, plans that as `arenaut plan` does, and replays the
program over the places that it then has: a rejection by the replay raises, as an ArenautError.

`plan` is the algorithm by itself, for a MemoryPlanningAlgorithmSuite of ExecuTorch's. Every plan has
been held against its buffers and their lifetimes: what ExecuTorch's verifier does not look at (storage
inside other storage, control flow, arenas other than the first) raises here. The program itself is not
replayed then; `arenaut check` of the exported file does that.

Control flow: ExecuTorch plans the graphs of branches and loop bodies first, and then keeps the bottom
of the arena for all of them in turn, although a branch's results stay where the branch left them, for
the next condition to write over. Here each condition and loop has a region of its own, which is placed
like any other value, from there to the last read of what stays in it.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from executorch.exir import memory
from executorch.exir.memory_planning import (MemoryAlgoResult, MemoryPlanningAlgorithmSuite,
                                             SpecAllocResult, collect_specs_from_nodes,
                                             get_node_tensor_specs, greedy)
from executorch.exir.passes import MemoryPlanningPass as TheirPass
from executorch.exir.schema import DeviceType
from executorch.exir.tensor import TensorSpec
from torch.utils._pytree import tree_leaves

import arenaut
from arenaut.executorch_program import Emitted, replan
from arenaut.executorch_state import refuse_wrong_write_back
from arenaut.executorch_tiles import TilePass as TilePass

#: Search steps, for each graph: far more than networks need, and less time than ExecuTorch's own.
EFFORT = 20_000


def plan(alignment: int, specs: Iterable[TensorSpec], graph_module: torch.fx.GraphModule,
         graph_signature: Any = None, extra_padding: int = 0) -> MemoryAlgoResult:
    """An algorithm for `MemoryPlanningAlgorithmSuite([arenaut.executorch.plan])`.

    Parameters
    ----------
    alignment : int
        Of every value, in bytes.
    specs : iterable of TensorSpec
        The TensorSpecs to place, with their lifetimes: first and last node.
    graph_module : torch.fx.GraphModule
        Whose values they are. The graphs below it have been planned.
    graph_signature : Any, optional
        Of the exported program.
    extra_padding : int, optional
        Bytes behind each arena.

    Returns
    -------
    MemoryAlgoResult
        A MemoryAlgoResult: the place of each spec, and of those in the graphs below, which move with
        their regions.

    Raises
    ------
    RejectedError, NoPlanError
        The specs contradict each other.
    InputError
        A spec lies in one that is not there, or a graph is called from two places.
    """
    return planned(list(specs), alignment, graph_module, graph_signature, extra_padding, None, EFFORT)


plan.__name__ = "arenaut"  # the suite keeps results by the names of algorithms


def planned(specs, alignment, graph_module, signature, padding, target, effort):
    extend_lifetimes(graph_module)
    for spec in specs:
        spec.realign(alignment)
    reserve = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
    regions = regions_of(graph_module, signature, reserve)
    banks = Banks(specs, alignment, regions, target, padding)
    problem = problem_of(specs, regions, banks)
    ours = problem.plan(effort=effort, progress=False)
    result = result_of(specs, regions, ours, banks, padding)
    if ours.status != "optimal" and target is None and not any(reserve[2:]):
        # Not proven: then the greedy one must not be better. It has no word against our checker.
        theirs = greedy(alignment, specs, graph_module, None, padding)
        if sum(theirs.bufsizes) < sum(result.bufsizes) and agrees(theirs, specs, regions, problem, banks):
            return theirs
    return result


def extend_lifetimes(graph_module):
    """Extends each lifetime to all nodes that touch its spec. ExecuTorch leaves out nodes that work in place,
    also where they are arguments, so its lifetimes end at the first of them, and those of what the spec lies in.
    Its views of such a node's result are bound to a spec that the node no longer has, and that has no place."""
    for node in graph_module.graph.nodes:
        spec, base = node.meta.get("spec"), node.args[0].meta.get("spec") if node.target is memory.view else None
        while getattr(base, "_base", None) is not None:  # a view's spec asks its base as if that were no view
            base = base._base
        if base is not None and getattr(spec, "_base", base) is not base:
            spec._base = base
    for step, node in enumerate(graph_module.graph.nodes):
        for touched in [node, *node.all_input_nodes]:
            for spec in get_node_tensor_specs(touched) if touched.op != "get_attr" else ():
                while spec is not None:
                    first, last = spec.lifetime
                    spec.lifetime = [step if first is None else min(first, step),
                                     step if last is None else max(last, step)]
                    spec = spec.storage_base


def agrees(theirs, specs, regions, problem, banks):
    """Whether a plan of theirs, which has all regions at the bottom, passes our checker."""
    places = [theirs.spec_dict[spec] for spec in specs]
    try:
        arenaut.Plan(problem, [place.mem_offset for place in places] + [0] * len(regions),
                     [banks.ids.index(place.mem_id) for place in places]
                     + [banks.ids.index(region.mem_id) for region in regions])
    except arenaut.RejectedError:
        return False
    return True


class Region:
    """Memory of the graphs that a node of control flow calls, of one arena: bytes, alive from the node
    `first` to the node `last`, and the values that lie in there, at their places within it."""

    def __init__(self, mem_id, size, first, last, inner):
        self.mem_id, self.size, self.first, self.last = mem_id, size, first, last
        self.inner = [(spec, spec.mem_offset) for spec in inner if spec.mem_id == mem_id]


def regions_of(graph_module, signature, reserve):
    """The regions below a graph. ExecuTorch says with `reserve` how much it keeps for them, which is
    nothing where another device's values are planned."""
    regions, seen = [], set()
    for step, node in enumerate(graph_module.graph.nodes if any(reserve) else ()):
        refuse_view(graph_module, node)
        graphs = called_by(graph_module, node)
        if seen & set(graphs):
            raise arenaut.InputError(f"{node}: calls a graph that another node calls as well")
        seen |= set(graphs)
        inner = list(specs_of(graphs, node, signature))
        sizes = itertools.zip_longest(*(graph.meta["non_const_buffer_sizes"] for graph in graphs),
                                      fillvalue=0)
        regions += [Region(mem_id, max(size), step, last_read(node, step), inner)
                    for mem_id, size in enumerate(sizes) if any(size)]
    for mem_id, size in enumerate(reserve):
        if size > max((one.size for one in regions if one.mem_id == mem_id), default=0):
            raise arenaut.InputError(f"{size} bytes of arena {mem_id} are for graphs that no node calls")
    return regions


def refuse_view(graph_module, node):
    """ExecuTorch gives a view of a condition's result the place that it had chosen for the result, but
    at run time the result is where the branch left it, and that place is not written."""
    origin = node
    while origin.target in (memory.view, operator.getitem):
        origin = origin.args[0]
    if node.target is memory.view and origin.target not in COPIED and called_by(graph_module, origin):
        raise arenaut.InputError(f"{node} is a view of a result of {origin}, which ExecuTorch moves "
                                 "without its views; ExecutorchBackendConfig(remove_view_copy=False) "
                                 "copies instead")


def called_by(graph_module, node):
    """The graphs that a node of control flow calls."""
    named = [getattr(graph_module, argument.target, None) for argument in node.args
             if isinstance(argument, torch.fx.Node) and argument.op == "get_attr"]
    return [graph for graph in named if isinstance(graph, torch.fx.GraphModule)]


COPIED = (torch.ops.higher_order.map_impl, torch.ops.higher_order.scan)


def last_read(node, step):
    """Where what lies in a node's region is read last. A condition's results stay there, by whatever
    other names, and ExecuTorch's lifetimes know them; those of map and scan are copied out."""
    if node.target in COPIED:
        return step
    results = tree_leaves(node.meta["spec"])  # tensors, and numbers, which have no place
    return max([step, *(spec.lifetime[1] for spec in results if isinstance(spec, TensorSpec))])


def specs_of(graphs, node, signature):
    """The specs that were placed in the graphs that a node calls, and in the graphs below those."""
    for graph in graphs:
        yield from collect_specs_from_nodes(graph.graph.nodes, signature, do_assertion=False,
                                            ignore_graph_input=node.target not in COPIED)
        for below in graph.graph.nodes:
            yield from specs_of(called_by(graph, below), below, signature)


class Banks:
    """The arenas that there are, by ExecuTorch's numbers: those of a TargetMemoryMap, fastest first,
    and one without a limit for every other number that some spec is bound to."""

    def __init__(self, specs, alignment, regions, target, padding):
        if target and any(spec.device != DeviceType.CPU for spec in specs):
            raise arenaut.InputError("some values are another device's, and the banks of a TargetMemoryMap are the "
                                     "processor's: each device would fill them anew")
        banks = target.banks if target else []
        bound = {one.mem_id for one in [*specs, *regions] if one.mem_id is not None}
        if not banks:
            bound.add(1)
        self.free = [bank.mem_id for bank in banks] or [1]
        self.ids = [bank.mem_id for bank in banks] + sorted(bound - {b.mem_id for b in banks})
        self.align = max([alignment, *(bank.alignment or 1 for bank in banks)])
        capacity = {bank.mem_id: max(0, bank.size - padding) for bank in banks}
        self.names = {bank.mem_id: bank.name for bank in banks}
        self.pools = [arenaut.Pool(self.name(k), capacity.get(k)) for k in self.ids]

    def name(self, mem_id):
        return self.names.get(mem_id, f"mem_id {mem_id}")

    def of(self, one):
        """Where a spec or a region may lie."""
        return [self.name(k) for k in (self.free if one.mem_id is None else [one.mem_id])]


def problem_of(specs, regions, banks):
    numbers = {spec: k for k, spec in enumerate(specs)}
    ends = [spec.lifetime[1] for spec in specs if spec.lifetime[1] is not None]
    last = max(ends, default=0)
    # ExecuTorch counts nodes, the last one included; values that no node touches live throughout.
    first = [spec.lifetime[0] or 0 for spec in specs]
    end = [(last if spec.lifetime[1] is None else spec.lifetime[1]) + 1 for spec in specs]
    hosts = [host_of(spec, numbers) for spec in specs] + [None] * len(regions)
    nested = any(host is not None for host in hosts)
    return arenaut.Problem(
        [spec.allocated_memory for spec in specs] + [region.size for region in regions],
        first + [region.first for region in regions], end + [region.last + 1 for region in regions],
        align=banks.align, pools=banks.pools,
        names=([name_of(spec, k) for k, spec in enumerate(specs)]
               + [f"region of node {region.first}" for region in regions]),
        allowed=[banks.of(one) if host is None else None
                 for one, host in zip([*specs, *regions], hosts)],
        inside=hosts if nested else None,
        inside_delta=([0 if host is None else spec.storage_base_offset
                       for spec, host in itertools.zip_longest(specs, hosts)] if nested else None))


def host_of(spec, numbers):
    """The number of the spec that this one lies in."""
    if spec.storage_base is None:
        return None
    if spec.storage_base not in numbers:
        raise arenaut.InputError(f"{spec} lies in a storage that is not planned with it")
    return numbers[spec.storage_base]


def name_of(spec, number):
    shape = "x".join(map(str, spec.shape))
    return f"spec {number} ({str(spec.dtype).removeprefix('torch.')} {shape})"


def result_of(specs, regions, ours, banks, padding):
    """MemoryAlgoResult; sizes by number, of which ExecuTorch keeps the first for constants."""
    places, offsets = {}, ours.offsets.tolist()
    for spec, offset, pool in zip(specs, offsets, ours.pools.tolist()):
        unplaced = pool >= len(banks.ids)
        mem_id = (spec.mem_id or banks.free[0]) if unplaced else banks.ids[pool]
        places[spec] = SpecAllocResult(mem_id, 0, offset)
    for region, base in zip(regions, offsets[len(specs):]):
        for spec, within in region.inner:
            places[spec] = SpecAllocResult(region.mem_id, 0, base + within)
    sizes = [0] * (max(banks.ids) + 1)
    used = set(ours.pools.tolist())
    for k, mem_id in enumerate(banks.ids):
        sizes[mem_id] = ours.arenas[k] + (padding if k in used else 0)
    return MemoryAlgoResult(places, sizes)


class MemoryPlanningPass(TheirPass):
    """For `ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass())`.

    Parameters
    ----------
    target : Any, optional
        A TargetMemoryMap of ExecuTorch's, whose banks are filled fastest first. Arenas that it does
        not name have only the tensors that another pass put there.
    effort : int, optional
        Search steps for each graph.
    inplace : {'safe'} or mapping of str, int, optional
        "safe": results may be written over operands that are dead, where the stock
        kernels are known to allow it; {"my::scale.out": 0}: operators with the number of an operand, for
        kernels of one's own, beside those. The file is right for such kernels only: `arenaut check` of it
        must be told of them.
    reorder : bool, optional
        True: ops may run in another order. The nodes of the graph are moved.
    overlap : bool, optional
        True: results may be written over operands as with `inplace="safe"`, and reach into them from below
        as far as the loops of the stock kernels of convolutions and pools allow. `arenaut check` of the file must
        be told (`--overlap on`).
    kernels : str, optional
        "cortex-m", or "cortex-m-mve" for vector instructions, if the application links that library of
        ExecuTorch's: its operators then count for `inplace` and `overlap`. "qnn-direct" on a Hexagon
        processor: arguments of QnnBackend lie in blocks of 64 bytes. None: "portable" alone.
    op_align : mapping of str, int, optional
        {"my::dma.out": 64}: operators and delegates with the alignment, in bytes, of all that they are
        given or give. Of offsets, not of addresses: the application aligns the memories themselves to as much, and
        constants and tensors of the caller's are not covered.
    **theirs : Any
        As of ExecuTorch's own pass: alignment, alloc_graph_input, alloc_graph_output,
        alloc_mutable_buffers, share_mutable_buffers. There is no `tile`: `TilePass` runs before.

    Raises
    ------
    NoPlanError
        From the export; it names the tensors that do not fit into the banks.
    RejectedError
        From the export: an op would read bytes that another has written over. It names the operator,
        the values and the bytes.
    InputError
        From the export, as of `plan`; or the program would leave wrong values in its state; or no method has
        an operator that `op_align` names.
    UnsupportedError
        From the export: the program has instructions that the replay does not know.
    """

    def __init__(self, target: Any = None, effort: int = EFFORT,
                 inplace: Literal["safe"] | Mapping[str, int] | None = None, reorder: bool = False,
                 op_align: Mapping[str, int] | None = None, *, overlap: bool = False, kernels: str | None = None,
                 **theirs: Any) -> None:
        if "tile" in theirs:
            raise arenaut.InputError("tile: no option of this pass, since where memory is planned each node has its out "
                                     "variant already; arenaut.executorch.TilePass makes tiles before: "
                                     "edge.transform([TilePass()]).to_executorch(…)")
        super().__init__(memory_planning_algo=MemoryPlanningAlgorithmSuite([self.algorithm]), **theirs)
        if inplace not in (None, "safe") and not isinstance(inplace, Mapping):
            raise arenaut.InputError(f"inplace: {inplace!r}; 'safe', or operators with the numbers of their operands")
        self.target, self.effort, self.reorder = target, effort, reorder
        self.methods, self.ops = [], set()
        self.rights = {} if overlap and inplace is None else {"inplace": inplace is not None}
        if isinstance(inplace, Mapping):
            self.rights["inplace_ops"] = dict(inplace)
        if overlap:
            self.rights["overlap"] = True
        if kernels:
            self.rights["kernels"] = kernels
        if op_align:
            self.rights["op_align"] = dict(op_align)

    def run(self, graph_module: torch.fx.GraphModule, graph_signature: Any = None) -> Any:
        """Plans a method, unless its state in ExecuTorch's program differs from the graph (InputError)."""
        refuse_wrong_write_back(graph_module, graph_signature)
        planned_by_graph = super().run(graph_module, graph_signature)
        self.ops |= replan(graph_module, graph_signature, self.reorder, effort=self.effort, align=self.alignment,
                           **self.rights)
        self.methods.append((graph_module, graph_signature))
        return planned_by_graph

    def run_multimethod(self) -> None:
        """Gives state that methods share its places, and replays them once more with these. Warns where the runtime
        decides whether state lasts. InputError: `op_align` names an operator that no method has."""
        super().run_multimethod()
        methods, self.methods = self.methods, []
        kept = {name for _, signature in methods for name in getattr(signature, "buffers_to_mutate", {}).values()}
        if kept and len(methods) > 1 and self.alloc_mutable_buffers and not self.share_mutable_buffers:
            warnings.warn(f"{', '.join(map(repr, sorted(kept)))}: state of a method lasts where each method has memory of "
                          "its own, not where all have one (Python's Runtime, share_memory_arenas); "
                          "MemoryPlanningPass(share_mutable_buffers=True) puts it apart", stacklevel=2)
        ops, self.ops = self.ops, set()
        for name in self.rights.get("op_align", ()) if methods else ():
            if name not in ops:
                raise arenaut.InputError(f"op_align: no method has an op '{name}'; allowed are the names in the file: "
                                         f"{', '.join(sorted(ops))}")
        for graph_module, signature in methods if self.share_mutable_buffers else ():
            Emitted(graph_module, signature).check(**self.rights)

    def algorithm(self, alignment, specs, graph_module, graph_signature=None, extra_padding=0):
        return planned(list(specs), alignment, graph_module, graph_signature, extra_padding, self.target,
                       self.effort)
