"""The tape and the preloaded hook: include/arenaut/tape.h and hook.h."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import (POINTER, Structure, byref, c_bool, c_int64, c_size_t, c_uint,
                    c_uint32, c_uint64, c_void_p)

from arenaut import arrays, library
from arenaut.library import check, declare
from arenaut.records import Error as ErrorRecord


ERROR = POINTER(ErrorRecord)
ALIGNED, MALLOC = 1, 2


class HeapRecord(Structure):
    _fields_ = [("allocate", c_void_p), ("release", c_void_p), ("context", c_void_p)]


class OptionsRecord(Structure):
    _fields_ = [("heap", HeapRecord), ("align", c_uint64), ("min_size", c_uint64),
                ("exact", c_bool), ("strict", c_bool)]


class Block(Structure):
    """arenaut_tape_block: the record of one request."""

    _fields_ = [("size", c_uint64), ("align", c_uint64), ("first", c_int64), ("end", c_int64),
                ("released", c_bool), ("kept", c_bool)]


class Counts(Structure):
    """arenaut_tape_counts."""

    _fields_ = [("blocks", c_uint32), ("planned", c_uint32), ("kept", c_uint32),
                ("runs", c_uint64), ("astray", c_uint64), ("served", c_uint64),
                ("heap", c_uint64), ("fallbacks", c_uint64), ("last_astray", c_bool)]


tape_new = declare("arenaut_tape_new", POINTER(OptionsRecord), c_void_p, POINTER(c_void_p), ERROR)
tape_record = declare("arenaut_tape_record", c_void_p, ERROR)
tape_end = declare("arenaut_tape_end", c_void_p, ERROR)
tape_tick = declare("arenaut_tape_tick", c_void_p, returns=c_int64)
tape_block_count = declare("arenaut_tape_block_count", c_void_p, returns=c_uint32)
tape_block_at = declare("arenaut_tape_block_at", c_void_p, c_uint32, POINTER(Block),
                        returns=c_bool)
tape_find = declare("arenaut_tape_find", c_void_p, c_void_p, returns=c_uint32)
tape_keep = declare("arenaut_tape_keep", c_void_p, c_uint32, ERROR)
tape_absorb = declare("arenaut_tape_absorb", c_void_p, c_void_p, ERROR)
tape_place = declare("arenaut_tape_place", c_void_p, POINTER(c_uint64), c_uint64, ERROR)
tape_plan = declare("arenaut_tape_plan", c_void_p, c_void_p, ERROR)
tape_arena = declare("arenaut_tape_arena", c_void_p, POINTER(c_uint64), returns=c_uint64)
tape_bound = declare("arenaut_tape_bound", c_void_p, returns=c_uint64)
tape_count = declare("arenaut_tape_count", c_void_p, POINTER(Counts), returns=None)

NONE = 0xFFFFFFFF

#: Whether libarenaut-replay.so was preloaded, without which nothing can be recorded.
available = library.preloaded() is not None

if available:
    hook_allocator = declare("arenaut_hook_allocator", returns=c_void_p)
    hook_options = declare("arenaut_hook_options", POINTER(OptionsRecord), returns=None)
    hook_enter = declare("arenaut_hook_enter", c_void_p, c_uint)
    hook_leave = declare("arenaut_hook_leave", returns=None)
    hook_play = declare("arenaut_hook_play", c_void_p, c_uint, ERROR)
    hook_end = declare("arenaut_hook_end", c_void_p, returns=c_bool)
    hook_arena = declare("arenaut_hook_arena", c_size_t, c_size_t, returns=c_void_p)
    hook_arena_free = declare("arenaut_hook_arena_free", c_void_p, returns=None)
    hook_bind = declare("arenaut_hook_bind", c_void_p, c_void_p, ERROR)
    hook_retire = declare("arenaut_hook_retire", c_void_p, returns=None)


class Tape:
    """The allocations of this thread in one run, recorded and then played back.

    Parameters
    ----------
    what : int, optional
        The requests that count: ALIGNED, those of tensors; ALIGNED | MALLOC, all.
    align : int, optional
        Bytes, a power of two, of every block.
    min_size : int, optional
        Bytes; smaller requests are left to the heap.
    exact : bool, optional
        Whether sizes must be the recorded ones, too.
    strict : bool, optional
        Whether a request that was not recorded fails; else the heap answers it.

    Raises
    ------
    ImportError
        The library was not preloaded (arenaut.preload).
    """

    def __init__(self, what: int = ALIGNED, align: int = 64, min_size: int = 0, exact: bool = False,
                 strict: bool = False) -> None:
        if not available:
            raise ImportError("a tape needs libarenaut-replay.so in LD_PRELOAD: run the program by "
                              "`python -m arenaut.preload`, or call arenaut.preload.ensure() first")
        options = OptionsRecord(align=arrays.whole("align", align, "Q"),
                                min_size=arrays.whole("min_size", min_size, "Q"), exact=exact, strict=strict)
        hook_options(byref(options))
        handle = c_void_p()
        check(tape_new, byref(options), hook_allocator(), byref(handle))
        self.handle, self.what = handle, arrays.whole("what", what, "I")
        self.owned_arena = None
        self.placed = False

    def __del__(self):
        if getattr(self, "handle", None):
            hook_retire(self.handle)
            if self.owned_arena:
                hook_arena_free(self.owned_arena)

    def record(self) -> None:
        check(tape_record, self.handle)
        self.placed = False
        if hook_enter(self.handle, self.what) != library.OK:
            tape_end(self.handle, None)
            raise library.ArenautError("this thread records or plays a tape already", 2)

    def pause(self) -> None:
        """Requests until `resume` go to the heap."""
        hook_leave()

    def resume(self) -> None:
        hook_enter(self.handle, self.what)

    def play(self) -> None:
        """Begins a run that is played. Call `stop` at its end in any case."""
        if hook_play(self.handle, self.what, None) != library.OK:
            check(hook_play, self.handle, self.what)

    def stop(self) -> bool:
        """Ends a run that was played; whether it was the recorded one."""
        return hook_end(self.handle)

    def end(self) -> None:
        """Ends a recording, or a run that was played: in strict mode an ArenautError says what
        differed."""
        hook_leave()
        check(tape_end, self.handle)

    def tick(self) -> int:
        return tape_tick(self.handle)

    def blocks(self) -> list[Block]:
        found = []
        for k in range(tape_block_count(self.handle)):
            block = Block()
            tape_block_at(self.handle, k, byref(block))
            found.append(block)
        return found

    def find(self, address: int) -> int | None:
        """The number of the live block that begins at `address`; None if there is none."""
        block = tape_find(self.handle, address)
        return None if block == NONE else block

    def keep(self, block: int) -> None:
        check(tape_keep, self.handle, arrays.whole("block", block, "I"))

    def absorb(self, other: Tape) -> bool:
        """Takes over larger sizes of the same flow; False if `other` is another flow."""
        taken = tape_absorb(self.handle, other.handle, None) == library.OK
        self.placed = self.placed and not taken
        return taken

    def place(self, offsets: Sequence[int], size: int) -> None:
        """Takes the places of another planner, one for each block; they are checked."""
        column, n = arrays.column(offsets, "Q", "offsets"), tape_block_count(self.handle)
        if len(column) != n:
            arrays.refuse("offsets", None, f"a list of {len(column)}", f"one offset for each of {n} blocks")
        check(tape_place, self.handle, arrays.pointer(column, c_uint64), arrays.whole("size", size, "Q"))
        self.placed = True

    def bind(self, arena: int) -> None:
        check(hook_bind, self.handle, arena)

    def plan(self) -> int:
        """Plans the blocks alone and takes memory for them; the bytes of the arena."""
        check(tape_plan, self.handle, None)
        self.placed = True
        align = c_uint64()
        size = tape_arena(self.handle, byref(align))
        self.owned_arena = hook_arena(size, align.value)
        if not self.owned_arena:
            raise MemoryError(f"no memory for an arena of {size} bytes")
        self.bind(self.owned_arena)
        return size

    def bound(self) -> int:
        """Bytes that no plan of these blocks needs less of.

        Raises
        ------
        ArenautError
            There is no plan yet, which the bound comes with.
        """
        if not self.placed:
            raise library.ArenautError("the tape has no plan yet, nor a bound: call plan() first", 2)
        return tape_bound(self.handle)

    def counts(self) -> Counts:
        counts = Counts()
        tape_count(self.handle, byref(counts))
        return counts
