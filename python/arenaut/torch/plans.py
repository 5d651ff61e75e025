"""Plans of a program: an arena with places for managed tensors and recorded blocks, and the
functions that are bound to it, one for each combination of shapes."""

import ctypes

import torch

from arenaut import records
from arenaut import tape as tapes
from arenaut.iteration import Iteration
from arenaut.torch.emit import Emitter

ALIGN = 64


class Arena:
    """Memory that stays for as long as any tensor lies in it."""

    def __init__(self, size, align):
        if tapes.available:
            self.address = tapes.hook_arena(size, align)
            if not self.address:
                raise MemoryError(f"no memory for an arena of {size} bytes")
        else:
            self.memory = torch.empty(size + align, dtype=torch.uint8)
            start = self.memory.data_ptr()
            self.address = start + -start % align
        self.size = size

    def __del__(self):
        if tapes.available and getattr(self, "address", None):
            tapes.hook_arena_free(self.address)

    def bytes(self):
        """As a buffer that keeps the arena."""
        buffer = (ctypes.c_char * self.size).from_address(self.address)
        buffer.arena = self
        return buffer


class Shelf:
    """The arenas of one plan, where the iteration planner takes them from and puts them back."""

    def __init__(self):
        self.arenas = {}

    def take(self, size, align):
        arena = Arena(size, align)
        self.arenas[arena.address] = arena
        return arena.address

    def give(self, address):
        del self.arenas[address]


class SeparateStorages:
    """Each tensor in a storage of exactly its own bytes, which cannot be resized: whatever
    would write past its place is an error rather than a silent overrun. For an arena that
    stays."""

    def __init__(self, arena):
        self.buffer = arena.bytes()

    def tensor(self, offset, size, shape, strides, dtype):
        flat = torch.frombuffer(self.buffer, dtype=dtype, count=size // dtype.itemsize,
                                offset=offset)
        return flat.as_strided(shape, strides)

    def move(self, arena):
        raise AssertionError("an arena that is kept does not move")


class SharedStorage:
    """All tensors in one storage, so that a new arena takes one swap, whatever their number."""

    def __init__(self, arena):
        self.storage = self.storage_at(arena)

    @staticmethod
    def storage_at(arena):
        return torch._C._construct_storage_from_data_pointer(arena.address, torch.device("cpu"),
                                                             arena.size)

    def tensor(self, offset, size, shape, strides, dtype):
        return torch.empty(0, dtype=dtype).set_(self.storage, offset // dtype.itemsize, shape,
                                                strides)

    def move(self, arena):
        self.storage._swap_data_ptr_(self.storage_at(arena))


class Plan:
    """One arena for one flow: which values are managed, what is allocated between, who may be
    written over whom. `merged` with another recording of the same flow it serves both."""

    def __init__(self, recording, program, options, older=None):
        self.largest = recording.largest(program)
        self.options, self.flow = options, recording.flow()
        self.managed, self.stays = recording.managed, recording.stays
        self.blocks = recording.watch.blocks
        self.tape = recording.tape
        self.sizes, self.over = recording.sizes, recording.over
        if older:
            self.sizes = list(map(max, recording.sizes, older.sizes))
            self.over = [a if a == b else None for a, b in zip(recording.over, older.over)]
        blocks = [b.size for b in (self.tape.blocks() if self.tape else [])]
        self.shelf = Shelf()
        values, self.planned = recording.values(self.sizes, blocks, self.over)
        # One plan serves many runs, so it is searched for as long as offline.
        self.iteration = Iteration(values, self.shelf.take, self.shelf.give, options.keep_arena,
                                   align=max([ALIGN] + [b.align for b in recording.blocks]),
                                   outputs="arena" if options.outputs == "arena" else None,
                                   options=records.PlanOptions())
        self.size = self.iteration.arena
        self.base, self.storages = None, None
        self.open()

    def open(self):
        """Finds the places, and binds the tape to them."""
        address = self.iteration.allocate()
        try:
            places = [self.iteration.offset(v)
                      for v in range(len(self.managed) + len(self.planned))]
            self.offsets = dict(zip(self.managed, places))
            at = dict(zip(self.planned, places[len(self.managed):]))
            self.block_offsets = {name: at[block] for name, block in self.blocks.items()
                                  if block in at}
            if self.tape:
                offsets = [0] * len(self.tape.blocks())
                for block, place in zip(self.planned, places[len(self.managed):]):
                    offsets[block] = place
                self.tape.place(offsets, self.size)
            self.move(address)
        finally:
            self.iteration.abort()  # it was no run: there is nothing to hold

    def move(self, address):
        """The arena is somewhere else than it was."""
        self.base = address
        if not address:  # nothing is planned, so there is no arena
            return
        arena = self.shelf.arenas[address]
        if self.storages is None:
            kind = SeparateStorages if self.options.keep_arena else SharedStorage
            self.storages = kind(arena)
        else:
            self.storages.move(arena)
        if self.tape:
            self.tape.bind(address)

    def begin(self):
        """Results of the run before are valid until now."""
        self.release_outputs()
        address = self.iteration.allocate()
        if address != self.base or not self.options.keep_arena:
            self.move(address)
        return self.tape if self.base else None

    def end(self):
        """Results in the arena are held from now on."""
        self.iteration.deallocate()

    def abort(self):
        """After a run that went wrong: nothing is held."""
        self.iteration.abort()

    def release_outputs(self):
        self.iteration.release_outputs()

    def serves(self, learned):
        """Whether values of these sizes fit the places, and nothing is written over anything
        that these shapes do not allow."""
        managed, _ = learned.managed(self.options.outputs == "apart")
        return (managed == self.managed
                and all(learned.roots[name].bytes <= size
                        for name, size in zip(managed, self.sizes))
                and all(mine is None or mine in learned.in_place.get(name, ())
                        for name, mine in zip(managed, self.over)))

    def can_grow_to(self, recording):
        """Whether one plan can serve both: only sizes differ. Then the recording's tape has the
        larger ones."""
        return self.flow == recording.flow() and (
            recording.tape is None or recording.tape.absorb(self.tape))

    def bind(self, program, learned, demoted):
        """A function for these shapes."""
        _, fresh = learned.managed(self.options.outputs == "apart")

        def tensor_of(name):
            root = learned.roots[name]
            if root.bytes == 0:
                return torch.empty_strided(*root.tensor[:2], dtype=root.tensor[2])
            return self.storages.tensor(self.offsets[name], root.bytes, *root.tensor)

        def result_of(value):
            name, shape, strides, start = learned.layouts[value]
            root = learned.roots[name]
            dtype = root.tensor[2]
            whole = self.storages.tensor(self.block_offsets[name], root.bytes,
                                         (root.bytes // dtype.itemsize,), (1,), dtype)
            return whole.as_strided(shape, strides, start)

        stays = self.stays & self.block_offsets.keys()
        return Emitter(program, learned, demoted, tensor_of, fresh, stays, result_of).function()

    def poison(self):
        """Fills the arena with bytes that no result should show."""
        if self.base and self.options.keep_arena:
            ctypes.memset(self.base, 0x7F, self.size)
