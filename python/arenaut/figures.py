"""Figures of models and their plans: sizes, parts of arenas, measurements of traces, results of rewrites."""

from __future__ import annotations

import ctypes
from collections import namedtuple

from arenaut import arrays, records
from arenaut.deferred import typed
from arenaut.errors import error_of
from arenaut.library import C, text_of


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
