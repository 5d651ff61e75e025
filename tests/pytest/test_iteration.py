"""Python's iteration planner: the whole protocol, in memory that this test looks after."""

import ctypes
import gc
import os
import random
import sys

import pytest
from conftest import COMMAND, ROOT

sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("ARENAUT_LIBRARY", str(COMMAND.parent / "libarenaut.so"))

from arenaut import ArenautError, InputError, records  # noqa: E402
from arenaut.iteration import (  # noqa: E402
    BORROWED, EXTERNAL, NO_GROUP, NO_OFFSET, OUTPUT, SCALAR, UNMANAGED, Iteration, Storage, Value)


class Memory:
    """Blocks at aligned addresses, as long as they are not given back; none beyond `most` bytes."""

    def __init__(self, most=None):
        self.blocks, self.taken, self.most = {}, 0, most

    def take(self, size, align):
        if self.most is not None and size > self.most:
            return None
        block = (ctypes.c_char * (size + align))()
        address = ctypes.addressof(block)
        address += -address % align
        self.blocks[address] = block
        self.taken += 1
        return address

    def give(self, address):
        del self.blocks[address]


@pytest.fixture
def memory():
    made = Memory()
    yield made
    gc.collect()
    assert not made.blocks


def chain(sizes, kinds=None):
    """Value k is alive from step k to step k + 1."""
    return [Value(size, k, k + 1, kind=(kinds or {}).get(k, 1)) for k, size in enumerate(sizes)]


def write(address, size, byte):
    ctypes.memset(address, byte, size)


def read(address, size):
    return ctypes.string_at(address, size)


def run(it, sizes):
    """Resizes and writes every value; returns what was left in each."""
    it.allocate()
    for value, size in enumerate(sizes):
        data = it.resize(value, size)
        if size:
            write(data, size, value + 1)
    it.deallocate()


def test_known_sizes_need_no_first_run(memory):
    it = Iteration(chain([64, 128, 64]), memory.take, memory.give, keep=False)
    assert it.plan_number == 1 and it.arena == it.lower_bound == 192
    assert it.effort <= 10000
    arena = it.allocate()
    assert arena in memory.blocks and it.in_arena(arena) and it.buffer == arena
    assert {it.offset(0), it.offset(2)} == {it.offset(0)} and it.offset(1) != it.offset(0)
    it.deallocate()
    assert not memory.blocks
    with pytest.raises(ArenautError, match="not under way"):
        it.deallocate()


@pytest.mark.parametrize("outputs", ["apart", "arena"])
@pytest.mark.parametrize("keep", [False, True])
def test_outputs_are_held_until_they_are_released(memory, outputs, keep):
    default = Memory()
    it = Iteration([Value(None, 0, 1), Value(None, 1, 2, kind=OUTPUT), Value(None, 1, 2, kind=OUTPUT)],
                   memory.take, memory.give, keep, outputs=outputs,
                   default=(default.take, default.give))
    for number in range(4):
        run(it, [100, 200 + 100 * (number == 2), 0])
        assert it.outputs_are_held and it.is_held(1) and not it.is_held(0)
        assert it.is_managed_output(1) == (number in (1, 3))
        address, size = it.output(1)
        assert read(address, size) == bytes([2]) * (300 if number == 2 else 200)
        assert it.output(2)[1] == 0
        if number in (1, 3):
            assert it.in_output_buffer(address) == (outputs == "apart")
            assert it.in_arena(address) == (outputs == "arena")
        with pytest.raises(ArenautError, match="outputs of the last run are held"):
            it.allocate()
        if number % 2:
            it.release_output(1)
            with pytest.raises(ArenautError, match="no output that is held"):
                it.output(1)
        it.release_outputs()
        assert not it.outputs_are_held and not default.blocks
        assert keep or not memory.blocks
    figures = it.figures()
    assert figures.managed == 1 and figures.managed_outputs == 2 and figures.overflows == 1
    it.disable_managed_outputs()
    it.allocate()
    it.deallocate()
    assert not it.outputs_are_held and it.storage(1) is None
    del it
    gc.collect()


def test_an_output_of_its_own_memory_can_be_taken(memory):
    default = Memory()
    it = Iteration([Value(None, 0, 1, kind=OUTPUT)], memory.take, memory.give,
                   default=(default.take, default.give))
    run(it, [100])
    address, size = it.take(0)
    assert size == 100 and read(address, size) == bytes([1]) * 100 and list(default.blocks) == [address]
    assert not it.outputs_are_held
    default.give(address)


def test_what_is_not_managed_is_given_up_by_hooks(memory):
    diary = []
    values = [Value(None, 0, 1, kind=kind, returned=returned) for kind, returned in
              ((EXTERNAL, False), (UNMANAGED, False), (BORROWED, False), (BORROWED, True), (SCALAR, False))]
    it = Iteration(values, memory.take, memory.give,
                   **{name: lambda v, name=name: diary.append((name, v))
                      for name in ("release", "forget", "retain")})
    it.allocate()
    it.deallocate()
    assert diary == [("retain", 3), ("release", 1), ("forget", 2)]
    diary.clear()
    it.allocate()
    it.abort()
    assert diary == [("release", 1), ("forget", 2), ("forget", 3)]
    assert it.figures().unmanaged_non_scalars == 2 and it.offset(1) == NO_OFFSET


def test_a_swapped_storage_is_learned_and_put_back(memory):
    it = Iteration(chain([64, 64, 64]), memory.take, memory.give)
    own = ctypes.addressof(it.storage(1))
    mine = (ctypes.c_char * 500)()
    arena = it.allocate()
    lent = Storage(ctypes.addressof(mine), 500)
    it.swap(1, lent)
    assert it.storage(1).bytes == 500
    it.deallocate()
    assert ctypes.addressof(it.storage(1)) == own and it.size(1) == 512
    arena = it.allocate()
    with pytest.raises(ArenautError, match="give it memory of its own"):
        it.swap(1, Storage(arena, 64))
    with pytest.raises(ArenautError, match="bytes of the arena that value 1 has"):
        it.swap(0, it.storage(1))  # which is yet to be written
    it.deallocate()


def test_storage_groups_can_be_asked_for(memory):
    it = Iteration(chain([64, 128, 192]), memory.take, memory.give, groups=True)
    assert it.groups() == [(192, [0, 2]), (128, [1])] and it.group(2) == 0 and it.arena == 320
    by_offsets = Iteration(chain([64, 128, 192]), memory.take, memory.give)
    assert by_offsets.groups() == [] and by_offsets.group(0) == NO_GROUP


def test_one_giant_run_is_forgotten(memory):
    default = Memory()
    it = Iteration([Value(None, 0, 1)], memory.take, memory.give, default=(default.take, default.give))
    for size in (100, 1 << 20, 100, 100):
        run(it, [size])
    assert it.arena == 1 << 20
    it.forget()
    assert it.arena == 0 and not memory.blocks
    run(it, [100])
    run(it, [100])
    assert it.arena == 128


def test_a_buffer_that_cannot_be_had(memory):
    small = Memory(most=100)
    with pytest.raises(ArenautError, match="no memory for a planned buffer of 192 bytes"):
        Iteration(chain([64, 128]), small.take, small.give).allocate()
    it = Iteration(chain([64, 128]), small.take, small.give, default=(memory.take, memory.give))
    for number in (1, 2):
        assert it.allocate() is None
        assert it.resize(0, 64) in memory.blocks
        it.deallocate()
        assert it.figures().runs_without_buffer == number


def test_exceptions_of_a_source_or_hook_are_raised(memory):
    def fail(*arguments):
        raise KeyboardInterrupt("in between")

    it = Iteration(chain([64]), fail, memory.give)
    with pytest.raises(KeyboardInterrupt):
        it.allocate()
    it = Iteration([Value(None, 0, 1, kind=UNMANAGED)], memory.take, memory.give, release=fail)
    it.allocate()
    with pytest.raises(KeyboardInterrupt):
        it.deallocate()
    it.allocate()  # it had come to its end
    with pytest.raises(KeyboardInterrupt):
        it.abort()


def test_callbacks_of_an_iteration_cannot_call_it(memory):
    seen = []

    def meddle(value):
        with pytest.raises(ArenautError, match="is at work"):
            it.deallocate()
        seen.append(it.plan_number)

    it = Iteration([Value(64, 0, 1), Value(None, 0, 1, kind=UNMANAGED)], memory.take, memory.give,
                   release=meddle)
    it.allocate()
    it.deallocate()
    assert seen == [1]


def test_who_has_time_may_search(memory):
    """Lives that one pass does not place in the least memory."""
    numbers = random.Random(3)
    values = [Value(numbers.randrange(64, 6400, 64), first := numbers.randrange(40),
                    first + numbers.randrange(12)) for _ in range(120)]
    live = Iteration(values, memory.take, memory.give)
    offline = Iteration(values, memory.take, memory.give,
                        options=records.PlanOptions(planner=b"auto", effort=200000))
    assert offline.lower_bound <= offline.arena <= live.arena
    assert live.effort <= 10000 + 8 * len(values)


def test_words_that_are_wrong(memory):
    with pytest.raises(ValueError, match="'apart', in the 'arena' or None"):
        Iteration([], memory.take, memory.give, outputs="elsewhere")


@pytest.mark.parametrize("wrong", [{"last": 2**32}, {"first": -1}, {"over": 2**32}, {"storage": 2**32}, {"kind": 257}, {"size": 2**64},
                                   {"size": -1}, {"last": 1.5}])
def test_numbers_that_c_cannot_hold_are_refused(memory, wrong):
    """They were cut down to 32 bits: a value that lived to step 2**32 had another one in its place."""
    value = Value(**({"size": 64, "first": 0, "last": 1} | wrong))
    with pytest.raises((InputError, ctypes.ArgumentError), match="allowed: whole numbers"):
        Iteration([Value(64, 0, 1), value], memory.take, memory.give)


def test_numbers_of_values_and_options_are_held_against_c(memory):
    it = Iteration(chain([64, 128]), memory.take, memory.give)
    for call in (lambda: it.learn(2**32, 4096), lambda: it.offset(2**32 + 1), lambda: it.output(-1)):
        with pytest.raises(ctypes.ArgumentError, match="allowed: whole numbers from 0 to 4294967295"):
            call()
    for option in ({"slack": -1}, {"align": 2**64 + 64}):
        with pytest.raises(InputError, match=f"{next(iter(option))} is "):
            Iteration(chain([64]), memory.take, memory.give, **option)
    with pytest.raises(ArenautError, match="value 0 ends at step 0, before it begins at 1"):
        Iteration([Value(64, 1, 0)], memory.take, memory.give)
