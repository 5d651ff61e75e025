"""Memory planning inside tinygrad.

    import arenaut.tinygrad
    arenaut.tinygrad.install()                # from now on its arenas are planned here
    arenaut.tinygrad.install(place=False)     # or: its own plans, and each is checked

tinygrad's planner works out which buffers are alive when and then places them as they come. Only the
placing is taken over: its own function runs, with another allocator, so that its decisions about
lanes of copies, held buffers and devices stay as they are. docs/hosts.md has the savings.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
import json
import types
import warnings
from collections import namedtuple

import tinygrad.engine.jit
import tinygrad.schedule
import tinygrad.schedule.memory
from tinygrad.uop.ops import Ops

import arenaut

#: Search steps for each lane: far more than networks need, and a fraction of a second.
EFFORT = 20_000
#: tinygrad's releases, by the text of its planner: a release's number stays until the next one.
KNOWN = {"a1643952c1d0dbb7999ca3480a94a9f1cf13a8e28f2e5dd990ea3b7dfa8b03ab": "0.14.0"}
#: Who has the planner under a name of its own.
USERS = (tinygrad.schedule.memory, tinygrad.schedule, tinygrad.engine.jit)
ALIGN = 256  # of every buffer, as tinygrad has it


class Lane(namedtuple("Lane", "buffers stock arena bound")):
    """One arena of one call of tinygrad's planner: a device's buffers, or those that copies touch there.

    Attributes
    ----------
    buffers : int
        How many there are.
    stock : int
        Bytes as tinygrad places them.
    arena : int
        Bytes as they are placed now; with `place=False`, the same.
    bound : int
        Bytes; no placement needs fewer.
    """

    __slots__ = ()


def install(*, place: bool = True, effort: int = EFFORT, report=None) -> bool:
    """Takes over the placing in tinygrad's memory planner, for all that is scheduled from now on.

    Parameters
    ----------
    place : bool, optional
        False leaves every buffer where tinygrad puts it, and checks that: the plan against the
        lifetimes, and the kernels in their order against what lies in each byte.
    effort : int, optional
        Search steps for each lane.
    report
        Called with a list of Lane for each schedule.

    Returns
    -------
    bool
        Whether it was done. A tinygrad whose planner is another one is left as it is, with a warning.

    Raises
    ------
    RejectedError
        Later, from scheduling, if a plan of tinygrad's is wrong.
    """
    uninstall()
    why = refusal()
    if why:
        warnings.warn(f"arenaut.tinygrad: {why}; tinygrad plans by itself", RuntimeWarning, stacklevel=2)
        return False
    stock = tinygrad.schedule.memory.memory_plan_rewrite
    planner = Planner(stock, place, effort, report)
    for user in USERS:
        user.memory_plan_rewrite = planner
    return True


def uninstall() -> None:
    """Gives tinygrad its own planner back, where that was replaced."""
    for user in USERS:
        if isinstance(user.memory_plan_rewrite, Planner):
            user.memory_plan_rewrite = user.memory_plan_rewrite.stock


def refusal():
    """Why this tinygrad cannot be planned for; None if it can."""
    stock = tinygrad.schedule.memory.memory_plan_rewrite
    if any(user.memory_plan_rewrite is not stock for user in USERS) or not inspect.isfunction(stock):
        return "somebody else has replaced tinygrad's memory planner"
    text = inspect.getsource(tinygrad.schedule.memory).encode()
    if hashlib.sha256(text).hexdigest() not in KNOWN:
        return (f"the memory planner of tinygrad {importlib.metadata.version('tinygrad')} as installed "
                f"is not that of {' or '.join(KNOWN.values())}")
    return None


class Planner:
    """Stands for tinygrad's memory_plan_rewrite."""

    def __init__(self, stock, place, effort, report):
        self.stock, self.place, self.effort, self.report = stock, place, effort, report

    def __call__(self, linear, held_bufs=None):
        lanes = []

        def recorder(*given, **options):
            lanes.append(Recorder(tinygrad.schedule.memory.TLSFAllocator(*given, **options)))
            return lanes[-1]

        theirs = self.run(recorder, linear, held_bufs)
        if not self.place:
            replay(linear, theirs)
        offsets = [self.offsets_of(lane) for lane in lanes]
        if self.report and lanes:
            self.report([lane.figures(where) for lane, where in zip(lanes, offsets)])
        if all(where == lane.offsets for lane, where in zip(lanes, offsets)):
            return theirs
        players = map(Player, lanes, offsets)
        return self.run(lambda *given, **options: next(players), linear, held_bufs)

    def run(self, allocator, linear, held_bufs, **names):
        """Their function, with another allocator: a copy of it over other globals."""
        scope = {**vars(tinygrad.schedule.memory), "TLSFAllocator": allocator, **names}
        return types.FunctionType(self.stock.__code__, scope)(linear, held_bufs)

    def offsets_of(self, lane):
        """Ours, or theirs where ours are no better. Both have been checked."""
        arenaut.Plan(lane.problem(), lane.offsets)
        if not self.place:
            return lane.offsets
        arena, offsets = placed(tuple(lane.sizes), tuple(lane.first), tuple(lane.end), self.effort)
        return list(offsets) if arena < lane.arena_of(lane.offsets) else lane.offsets


@functools.lru_cache(maxsize=256)
def placed(sizes, first, end, effort):
    """What is scheduled once is mostly scheduled again: each step of a training that is not compiled."""
    plan = arenaut.plan(list(sizes), list(first), list(end), align=ALIGN, effort=effort, progress=False)
    return plan.arena, tuple(plan.offsets.tolist())


class Recorder:
    """An allocator that answers as theirs does, and remembers what was asked. Steps are calls."""

    def __init__(self, allocator):
        self.allocator, self.step, self.open = allocator, 0, {}
        self.sizes, self.first, self.end, self.offsets = [], [], [], []

    def alloc(self, size):
        offset = self.allocator.alloc(size)
        self.open.setdefault(offset, []).append(len(self.sizes))
        self.sizes.append(size)
        self.first.append(self.step)
        self.end.append(None)
        self.offsets.append(offset)
        self.step += 1
        return offset

    def free(self, offset):
        self.end[self.open[offset].pop(0)] = self.step
        self.step += 1
        self.allocator.free(offset)

    def problem(self):
        return arenaut.Problem(self.sizes, self.first, self.end, align=ALIGN)

    def arena_of(self, offsets):
        return max(offset + size for offset, size in zip(offsets, self.sizes))

    def figures(self, offsets):
        return Lane(len(self.sizes), self.arena_of(self.offsets), self.arena_of(offsets),
                    self.problem().bound)


class Player:
    """An allocator that gives out offsets that were planned for just these calls."""

    def __init__(self, lane, offsets):
        self.rest = iter(zip(lane.sizes, offsets))

    def alloc(self, size):
        planned, offset = next(self.rest)
        if size != planned:
            raise arenaut.InputError(f"tinygrad asks for {size} bytes, and for {planned} before")
        return offset

    def free(self, offset):
        pass


def replay(before, after):
    """Runs a schedule over a shadow of its arenas: each kernel must read what was written for it."""
    text = program_of(before, after)
    if text:
        arenaut.Model.parse(text, "schedule.program.json").check()


def program_of(before, after):
    """A schedule as arenaut.program/1, for `arenaut check`; None if it has no arena.

    Nothing of the planner is believed. The buffers are those of the schedule before planning; where
    they lie is what the kernels are handed after it.
    """
    program = Program()
    for number, (kernel, placed_kernel) in enumerate(zip(before.src, after.src, strict=True)):
        program.add(number, kernel, list(buffers_of(kernel.src[1:], placed_kernel.src[1:])))
    return program.text() if program.tensors else None


def buffers_of(arguments, placed_arguments):
    """The position, the buffer and the place of each argument that was put into an arena."""
    for number, (old, new) in enumerate(zip(arguments, placed_arguments, strict=True)):
        if old is new:
            continue
        if old.op in (Ops.MSELECT, Ops.MSTACK):
            yield from ((number, *rest) for _, *rest in buffers_of(old.src, new.src))
        else:
            yield number, old, view_of(new)


@functools.lru_cache(maxsize=4096)
def view_of(argument):
    """The arena and the offset in it that an argument is a view of."""
    view = argument.contiguous_view()
    if view is None or view[0].op is not Ops.BUFFER:
        raise arenaut.UnsupportedError(f"a kernel is handed {argument.op}, which is no place in an arena")
    return view[0], view[1] * view[0].dtype.itemsize


def slots_of(body):
    """The numbers of the arguments that a kernel reads and of those that it writes; None if it does
    not say."""
    if body.op is Ops.COPY:
        return {1}, {0}
    if body.op is Ops.PROGRAM:
        return set(body.arg.ins), set(body.arg.outs)
    if body.op is not Ops.SINK:
        return None
    nodes = body.toposort()
    stores = [node for node in nodes if node.op is Ops.STORE]
    written = {slot for store in stores for slot in params_of(store.src[0].buf_uop)}
    if any(node.op is Ops.AFTER for node in nodes):  # it may read what it has written itself
        return params_of(body) - written, written
    return {slot for store in stores for value in (*store.src[0].src[1:], *store.src[1:])
            for slot in params_of(value)}, written


def params_of(value):
    """The numbers of the arguments that a value of a kernel is computed from."""
    return {node.arg.slot for node in value.toposort() if node.op is Ops.PARAM}


class Program:
    """A schedule as arenaut.program/1: each time that a buffer is written, it becomes a tensor, at the
    buffer's place."""

    def __init__(self):
        self.tensors, self.ops = [], []
        self.buffers, self.bases = {}, {}  # numbers; where arenas begin, one behind the other
        self.bytes = 0
        self.held = {}  # of each buffer, the tensor that it holds

    def text(self):
        return json.dumps({"schema": "arenaut.program/1", "given": "foreign", "given_note": "tinygrad",
                           "tensors": self.tensors, "ops": self.ops}).encode()

    def add(self, number, kernel, arguments):
        reads, writes = slots_of(kernel.src[0]) or (None, None)
        before = dict(self.held)
        read = {buffer: self.tensor(buffer, place) for slot, buffer, place in arguments
                if (slot in reads if reads is not None else buffer in before)}
        written = {buffer: self.tensor(buffer, place, f" of kernel {number}")
                   for slot, buffer, place in arguments
                   if (slot in writes if writes is not None else buffer not in before)}
        inputs, outputs = list(read), list(written)
        self.ops.append({
            "name": f"kernel {number}", "inputs": list(read.values()), "outputs": list(written.values()),
            "in_place": [[outputs.index(one), inputs.index(one)] for one in outputs if one in read]})

    def tensor(self, buffer, place, written=""):
        """The number of the tensor that a buffer holds, and from now on if it is written."""
        if written or buffer not in self.held:
            arena, offset = place
            number = self.buffers.setdefault(buffer, len(self.buffers))
            self.held[buffer] = len(self.tensors)
            self.tensors.append({
                "name": f"buffer {number}{written}", "bytes": bytes_of(buffer),
                "given": {"pool": 0, "offset": self.base(arena) + offset}})
        return self.held[buffer]

    def base(self, arena):
        if arena not in self.bases:
            self.bases[arena] = self.bytes
            self.bytes += bytes_of(arena)
        return self.bases[arena]


def bytes_of(buffer):
    return buffer.max_numel() * buffer.dtype.itemsize
