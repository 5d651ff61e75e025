"""Memory planning inside ExecuTorch's export.

    from arenaut.executorch import MemoryPlanningPass
    program = to_edge(exported).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass()))

`plan` is the algorithm by itself, for a MemoryPlanningAlgorithmSuite of ExecuTorch's. Every plan has
been checked: what ExecuTorch's verifier does not look at (storage inside other storage, control
flow, arenas other than the first) raises here, as an ArenautError.

A result of `cond` or `while_loop` stays where the branch left it, in a region that ExecuTorch hands
to the next branch as well. The pass keeps such regions apart; with `plan` alone they are not.
"""

from __future__ import annotations

import torch
from executorch.exir.memory_planning import (MemoryAlgoResult, MemoryPlanningAlgorithmSuite,
                                             SpecAllocResult, get_cond_nodes, get_while_nodes, greedy)
from executorch.exir.passes import MemoryPlanningPass as TheirPass

import arenaut

#: Search steps, for each graph: far more than networks need, and less time than ExecuTorch's own.
EFFORT = 20_000


def plan(alignment, specs, graph_module, graph_signature=None, extra_padding=0):
    """An algorithm for MemoryPlanningAlgorithmSuite([arenaut.executorch.plan]): the places of `specs`,
    TensorSpecs with lifetimes, as a MemoryAlgoResult. RejectedError and NoPlanError where the specs
    contradict each other."""
    return planned(list(specs), alignment, graph_module, extra_padding, reserve_of(graph_module),
                   None, EFFORT)


plan.__name__ = "arenaut"  # the suite keeps results by the names of algorithms


def planned(specs, alignment, graph_module, padding, reserve, target, effort):
    for spec in specs:
        spec.realign(alignment)
    banks = Banks(specs, alignment, reserve, target, padding)
    problem = problem_of(specs, alignment, banks)
    ours = problem.plan(effort=effort, progress=False)
    result = result_of(specs, ours, banks, padding)
    if ours.status != "optimal" and target is None and not any(reserve[2:]):
        # Not proven: then the greedy one must not be better. It has no word against our checker.
        theirs = greedy(alignment, specs, graph_module, None, padding)
        if sum(theirs.bufsizes) < sum(result.bufsizes) and agrees(theirs, specs, problem, banks):
            result = theirs
    # Arenas that only the graphs below use are arenas of this one as well.
    result.bufsizes = maxima(result.bufsizes, reserve)
    return result


def agrees(theirs, specs, problem, banks):
    """Whether a plan of theirs passes our checker."""
    places = [theirs.spec_dict[spec] for spec in specs]
    try:
        arenaut.Plan(problem, [place.mem_offset for place in places],
                     [banks.ids.index(place.mem_id) for place in places])
    except arenaut.RejectedError:
        return False
    return True


def reserve_of(graph_module):
    """Bytes at the bottom of each arena that the graphs of control flow use."""
    return list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])


class Banks:
    """The arenas that there are, by ExecuTorch's numbers: those of a TargetMemoryMap, fastest first,
    and one without a limit for every other number that some spec is bound to."""

    def __init__(self, specs, alignment, reserve, target, padding):
        banks = target.banks if target else []
        bound = {spec.mem_id for spec in specs if spec.mem_id is not None}
        if not banks:
            bound.add(1)
        self.free = [bank.mem_id for bank in banks] or [1]
        self.ids = [bank.mem_id for bank in banks] + sorted(bound - {b.mem_id for b in banks})
        self.reserve = [reserve[k] if k < len(reserve) else 0 for k in self.ids]
        self.align = max([alignment, *(bank.alignment or 1 for bank in banks)])
        capacity = {bank.mem_id: max(0, bank.size - padding) for bank in banks}
        self.names = {bank.mem_id: bank.name for bank in banks}
        self.pools = [arenaut.Pool(self.name(k), capacity.get(k)) for k in self.ids]

    def name(self, mem_id):
        return self.names.get(mem_id, f"mem_id {mem_id}")

    def of(self, spec):
        """Where a spec may lie."""
        return [self.name(k) for k in (self.free if spec.mem_id is None else [spec.mem_id])]


def problem_of(specs, alignment, banks):
    numbers = {spec: k for k, spec in enumerate(specs)}
    ends = [spec.lifetime[1] for spec in specs if spec.lifetime[1] is not None]
    last = max(ends, default=0)
    # ExecuTorch counts nodes, the last one included; what no node touches lives throughout.
    first = [spec.lifetime[0] or 0 for spec in specs]
    end = [(last if spec.lifetime[1] is None else spec.lifetime[1]) + 1 for spec in specs]
    hosts = [host_of(spec, numbers) for spec in specs]
    return arenaut.Problem(
        [spec.allocated_memory for spec in specs], first, end, align=banks.align,
        pools=banks.pools, names=[name_of(spec, k) for k, spec in enumerate(specs)],
        allowed=[banks.of(spec) if host is None else None for spec, host in zip(specs, hosts)],
        inside=hosts if any(host is not None for host in hosts) else None,
        inside_delta=([0 if host is None else spec.storage_base_offset
                       for spec, host in zip(specs, hosts)]
                      if any(host is not None for host in hosts) else None),
        reserved=[(k, 0, size) for k, size in enumerate(banks.reserve) if size])


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


def result_of(specs, ours, banks, padding):
    """MemoryAlgoResult; sizes by number, of which ExecuTorch keeps the first for constants."""
    places = {}
    for spec, offset, pool in zip(specs, ours.offsets.tolist(), ours.pools.tolist()):
        unplaced = pool >= len(banks.ids)
        mem_id = (spec.mem_id or banks.free[0]) if unplaced else banks.ids[pool]
        places[spec] = SpecAllocResult(mem_id, 0, offset)
    sizes = [0] * (max(banks.ids) + 1)
    used = set(ours.pools.tolist())
    for k, mem_id in enumerate(banks.ids):
        sizes[mem_id] = max(ours.arenas[k], banks.reserve[k]) + (padding if k in used else 0)
    return MemoryAlgoResult(places, sizes)


class MemoryPlanningPass(TheirPass):
    """For ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass()).

    target: a TargetMemoryMap of ExecuTorch's, whose banks are filled fastest first; NoPlanError says
    what does not fit. effort: search steps for each graph. All else is as of ExecuTorch's own pass:
    alignment, alloc_graph_input, alloc_graph_output, alloc_mutable_buffers, share_mutable_buffers.
    """

    def __init__(self, target=None, effort: int = EFFORT, **theirs):
        super().__init__(memory_planning_algo=MemoryPlanningAlgorithmSuite([self.algorithm]), **theirs)
        self.target, self.effort = target, effort
        self.apart, self.sizes = {}, {}

    def run(self, graph_module, graph_signature=None):
        self.apart, self.sizes = regions_apart(graph_module), {}
        return super().run(graph_module, graph_signature)

    def algorithm(self, alignment, specs, graph_module, graph_signature=None, extra_padding=0):
        reserve = reserve_of(graph_module)
        for other in self.apart.get(graph_module, ()):
            reserve = maxima(reserve, self.sizes.get(other, []))
        made = planned(list(specs), alignment, graph_module, extra_padding, reserve, self.target,
                       self.effort)
        self.sizes[graph_module] = made.bufsizes
        return made


def maxima(one, other):
    n = max(len(one), len(other))
    one, other = (list(sizes) + [0] * (n - len(sizes)) for sizes in (one, other))
    return list(map(max, one, other))


def regions_apart(graph_module):
    """Of the graphs that control flow calls, those whose regions it may not share, each with the
    graphs below it: a result of theirs is still read when it runs, or the other way round."""
    apart = {}
    for module in graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            nodes = list(module.graph.nodes)
            order = {node: k for k, node in enumerate(nodes)}
            flows = [*get_cond_nodes(module), *get_while_nodes(module)]
            for one in flows:
                for other in flows:
                    if one is not other and order[one] < order[other] <= last_read(one, order):
                        keep_apart(called_by(module, one), called_by(module, other), apart)
    return apart


def last_read(node, order):
    """Where the results of a node are read last, also by other names."""
    last = order[node]
    for user in node.users:
        last = max(last, order[user])
        if user.op == "output":
            return len(order)
        if "getitem" in str(user.target):
            last = max(last, last_read(user, order))
    return last


def called_by(module, node):
    """The graphs that a node of control flow calls, and those that they call in turn."""
    called = [getattr(module, argument.target) for argument in node.args
              if isinstance(argument, torch.fx.Node) and argument.op == "get_attr"
              and isinstance(getattr(module, argument.target, None), torch.fx.GraphModule)]
    return [below for graph in called for below in graph.modules()
            if isinstance(below, torch.fx.GraphModule)]


def keep_apart(ones, others, apart):
    for one in ones:
        for other in others:
            apart.setdefault(one, set()).add(other)
            apart.setdefault(other, set()).add(one)
