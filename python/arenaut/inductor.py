"""Memory planning inside PyTorch's inductor, where its `memory_planning` is on.

    import arenaut.inductor
    torch._inductor.config.memory_planning = True
    arenaut.inductor.install()                # pools are planned here
    arenaut.inductor.install(place=False)     # or: its own pools, and each is checked

Inductor works out which buffers are alive when and which share a pool; only the places within each pool
are ours. docs/hosts.md has the savings, and the cases without any.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import warnings
from collections import namedtuple

import sympy
import torch
from torch._inductor.codegen import memory_planning as theirs
from torch._inductor.utils import align
from torch._inductor.virtualized import V
from torch.utils._sympy.functions import FloorDiv
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import bound_sympy

import arenaut

#: Search steps for each pool: far more than networks need, and a fraction of a second.
EFFORT = 20_000
#: PyTorch's releases, by the text of inductor's planner.
KNOWN = {"d627473f530b79907c5baec0b590a694796e5a4553f7e671207d4c1425cb4ba9": "2.13.0"}
ALIGN = 64  # of every buffer, as inductor has it
#: Compiled code is cached by this text as well, so that ours, theirs and what was checked are apart.
TAGS = {True: "+arenaut", False: "+checked"}


class Pool(namedtuple("Pool", "name buffers stock arena bound symbolic")):
    """One pool of one compiled graph.

    Attributes
    ----------
    name : str
        Its name in the compiled code.
    buffers : int
        How many share it.
    stock : int
        Bytes as inductor places them.
    arena : int
        Bytes as they are placed now.
    bound : int
        Bytes; no placement needs fewer.
    symbolic : bool
        Sizes vary, and these are the bytes for the largest.
    """

    __slots__ = ()


def install(*, place: bool = True, effort: int = EFFORT, report=None) -> bool:
    """Takes over the placing in inductor's pools, for all that is compiled from now on with
    `torch._inductor.config.memory_planning`.

    Parameters
    ----------
    place : bool, optional
        False leaves every buffer where inductor puts it, and checks that.
    effort : int, optional
        Search steps for each pool.
    report
        Called with a list of Pool for each compiled graph.

    Returns
    -------
    bool
        Whether it was done. A PyTorch with another planner is left as it is, with a warning.

    Raises
    ------
    RejectedError
        Later, from compiling, if a plan of inductor's is wrong.
    """
    uninstall()
    why = refusal()
    if why:
        warnings.warn(f"arenaut.inductor: {why}; inductor plans by itself", RuntimeWarning, stacklevel=2)
        return False
    planner = type("Planner", (Planner,), {"place": place, "effort": effort, "report": staticmethod(report)
                                           if report else None})
    theirs.MemoryPlanner = planner
    torch.compiler.config.cache_key_tag += TAGS[place]
    return True


def uninstall() -> None:
    """Gives inductor its own planner back, where that was replaced."""
    if issubclass(theirs.MemoryPlanner, Planner):
        config = torch.compiler.config
        config.cache_key_tag = config.cache_key_tag.removesuffix(TAGS[theirs.MemoryPlanner.place])
        theirs.MemoryPlanner = STOCK


def refusal():
    """Why this PyTorch cannot be planned for; None if it can."""
    if theirs.MemoryPlanner is not STOCK:
        return "somebody else has replaced inductor's memory planner"
    if hashlib.sha256(inspect.getsource(theirs).encode()).hexdigest() not in KNOWN:
        return (f"the memory planner of PyTorch {torch.__version__} as installed is not that of "
                f"{' or '.join(KNOWN.values())}")
    return None


STOCK = theirs.MemoryPlanner


class Planner(STOCK):
    """Stands for inductor's MemoryPlanner."""

    place, effort, report = True, EFFORT, None

    def allocate_groups(self):
        super().allocate_groups()
        members = {}
        for group in self.buffer_groups:
            members.setdefault(group.allocation.pool, []).append(group.allocation)
        figures = [self.planned(pool, blocks) for pool, blocks in members.items()]
        if self.report:
            self.report([one for one in figures if one])

    def planned(self, pool, blocks):
        """Gives the blocks of a pool better places, if there are any. None: sizes without an end."""
        sizes = [upper(block.get_symbolic_size()) for block in blocks]
        offsets, stock = [upper(block.offset) for block in blocks], upper(pool.root.get_symbolic_size())
        if None in (*sizes, *offsets, stock):
            return None
        # What is needed for no time at all has bytes of its own here.
        problem = arenaut.Problem(
            sizes, [block.live_range.begin for block in blocks],
            [max(block.live_range.end, block.live_range.begin + 1) for block in blocks], align=ALIGN,
            names=[block.node.get_name() for block in blocks])
        symbolic = any(not sympy.sympify(block.get_symbolic_size()).is_Integer for block in blocks)
        if not symbolic:
            arenaut.Plan(momentary(problem, blocks), offsets)
        arena = stock
        if self.place:
            ours = problem.plan(effort=self.effort, progress=False)
            if ours.arena < stock:
                arena = ours.arena
                move(pool, blocks, ours)
        return Pool(pool.name, len(blocks), stock, arena, problem.bound, symbolic)


def momentary(problem, blocks):
    """The problem as inductor sees it: what is needed for no time at all may lie over anything."""
    sizes = [size if block.live_range.end > block.live_range.begin else 0
             for size, block in zip(problem.sizes.tolist(), blocks)]
    lives = [life[0] for life in problem.lifetimes]
    return arenaut.Problem(sizes, [a for a, _ in lives], [b for _, b in lives], align=ALIGN,
                           names=problem.names)


def upper(size):
    """The most that an expression over sizes can be; None if there is no end to it, or PyTorch cannot tell."""
    if size is None:
        return None
    size = sympy.sympify(size)
    if not size.is_Integer:
        size = size.replace(align, rounded_up)  # inductor's own, which PyTorch's bounds do not know
        try:
            size = bound_sympy(size, V.graph.sizevars.shape_env.var_to_range).upper
        except KeyError:  # another such function
            return None
    return None if size in (int_oo, sympy.oo) else int(size)


def rounded_up(size):
    return FloorDiv(size + ALIGN - 1, ALIGN) * ALIGN


def move(pool, blocks, plan):
    for block, offset in zip(blocks, plan.offsets.tolist()):
        block.offset = sympy.Integer(offset)
    pool.root = Placed(blocks, plan.arena)


class Placed(theirs.AllocationTreeNode):
    """The blocks of a pool at places that no tree of halves has to give."""

    def __init__(self, blocks, arena):
        self.allocations, self.arena = blocks, arena

    def get_live_ranges(self):
        return theirs.LiveRanges([block.live_range for block in self.allocations])

    def get_size_hint(self):
        return self.arena

    def get_symbolic_size(self):
        return sympy.Integer(self.arena)


def program_of(text: str | bytes) -> arenaut.Model:
    """The graph that `reorder_for_peak_memory_debug` writes, as a model to plan and reorder.

    Each node is an op, with the buffers that it allocates. What it updates in place, or only names
    anew, has no bytes there. Inputs count where the graph may free them.

    Raises
    ------
    InputError
        It is not such a graph: a key is missing, or a buffer is named that is not there.
    """
    try:
        graph = json.loads(text)
        nodes, buffers = graph["nodes"], {one["name"]: one for one in graph["buffers"]}
        made = {name for node in nodes for name in node["buffer_names"]}
        document = {
            "schema": "arenaut.program/1",
            "tensors": [{"name": name, "bytes": one["size_alloc"]} for name, one in buffers.items()],
            "inputs": [name for name, one in buffers.items() if one["is_input"]],
            "outputs": [name for name, one in buffers.items() if one["is_output"] and name in made],
            "ops": [{"name": node["name"], "outputs": [n for n in node["buffer_names"] if n in buffers],
                     "inputs": sorted({dep for name in node["buffer_names"] if name in buffers
                                       for dep in buffers[name]["deps"] if dep in buffers})}
                    for node in nodes]}
    except (ValueError, KeyError, TypeError) as wrong:
        raise arenaut.InputError(f"not a graph of reorder_for_peak_memory_debug: {wrong!r}") from wrong
    return arenaut.Model.parse(json.dumps(document).encode(), "graph.program.json")
