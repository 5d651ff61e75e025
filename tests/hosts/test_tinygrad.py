"""tinygrad with its buffers placed here: run by tests/pytest/test_hosts.py in build/venv-hosts, where
tinygrad is. Kernels are few, since each takes tinygrad a good part of a second."""

import inspect
import os
import runpy
import warnings
from pathlib import Path

os.environ["DEV"] = "CPU"

import pytest
import tinygrad.engine.jit
import tinygrad.schedule.memory as memory
from tinygrad import Context, Tensor, TinyJit, nn
from tinygrad.uop.ops import Ops

import arenaut
import arenaut.tinygrad as plugin


@pytest.fixture(autouse=True)
def stock():
    """tinygrad's own planner, before and after."""
    yield memory.memory_plan_rewrite
    plugin.uninstall()


def branches(x):
    """Three values of different sizes, alive at once in turn, so that time order leaves holes."""
    a = (x * 2).contiguous()
    b = (x[:, :64] + 1).contiguous()
    c = (a[:, 64:].sum(1, keepdim=True) + b).contiguous()
    d = (a.cat(c, dim=1) * 3).contiguous()
    return (d.sum(1, keepdim=True) * c).realize()


def bits(run, count=3):
    """What so many calls of a compiled step compute, to the bit."""
    Tensor.manual_seed(3)
    x, step = Tensor.rand(16, 128).realize(), TinyJit(run)
    return [bytes(step(x).data()) for _ in range(count)]


def largest(seen):
    """The lanes of the largest schedule."""
    return max(seen, key=lambda lanes: sum(lane.stock for lane in lanes))


def attention(width=32):
    """A small transformer's layer, scheduled and not compiled."""
    x = Tensor.empty(1, 64, width)
    q, k, v = (nn.Linear(width, width)(x).reshape(1, 64, 4, -1).transpose(1, 2) for _ in range(3))
    y = q.scaled_dot_product_attention(k, v).transpose(1, 2).reshape(1, 64, width)
    y = x + nn.Linear(width, width)(y)
    return y + nn.Linear(4 * width, width)(nn.Linear(width, 4 * width)(nn.LayerNorm(width)(y)).gelu())


def test_a_compiled_step_computes_the_same_in_arenas_that_are_minimal(stock):
    seen, alone = [], bits(branches)
    assert plugin.install(report=seen.append)
    assert bits(branches) == alone
    assert seen and all(lane.arena == lane.bound <= lane.stock for lanes in seen for lane in lanes)
    plugin.uninstall()
    assert all(user.memory_plan_rewrite is stock for user in plugin.USERS)


def test_memory_that_tinygrad_leaves_unused_is_used():
    seen = []
    plugin.install(report=seen.append)
    Tensor.linear_with_vars(attention())
    [lane] = largest(seen)
    assert lane.arena == lane.bound < lane.stock


def training():
    """The weights after three compiled steps, to the bit."""
    Tensor.manual_seed(5)
    layers = [nn.Linear(8, 16), Tensor.relu, nn.Linear(16, 4)]
    optimizer = nn.optim.SGD(nn.state.get_parameters(layers), lr=0.1, momentum=0.9)
    x, y = Tensor.rand(4, 8).realize(), Tensor([0, 1, 2, 3]).realize()

    @TinyJit
    def step():
        with Context(TRAINING=1):
            optimizer.zero_grad()
            loss = x.sequential(layers).sparse_categorical_crossentropy(y).backward()
            return loss.realize(*optimizer.schedule_step())

    losses = [bytes(step().data()) for _ in range(3)]
    return losses + [bytes(weight.data()) for weight in nn.state.get_parameters(layers)]


def test_training_ends_with_the_same_weights():
    alone = training()
    assert plugin.install(place=False)
    assert training() == alone
    assert plugin.install()
    assert training() == alone


def unplanned(*tensors):
    with Context(NO_MEMORY_PLANNER=1):
        return Tensor.linear_with_vars(*tensors)[0]


def copies(planner):
    """A value that goes to and fro between two devices."""
    x = Tensor.empty(64, device="CPU")
    for turn in range(8):
        x = (x + turn + 1).contiguous().to(f"CPU:{1 - turn % 2}").contiguous()
    linear = unplanned((x + 1).contiguous())
    return linear, planner(linear, {linear.src[0].src[2], linear.src[-1].src[1]})


def lives_of(before, after):
    """Of each buffer in an arena that a copy touches: its place, its first and its last call."""
    found, copied = {}, set()
    for step, (call, placed) in enumerate(zip(before.src, after.src)):
        for _, buffer, place in plugin.buffers_of(call.src[1:], placed.src[1:]):
            _, (first, _) = found.get(buffer, (place, (step, step)))
            found[buffer] = place, (first, step)
            if call.src[0].op is Ops.COPY:
                copied.add(place[0])
    return [(place, life) for place, life in found.values() if place[0] in copied]


@pytest.mark.parametrize("place", [False, True])
def test_lanes_of_copies_are_apart_and_keep_buffers_twice_as_long(place):
    seen = []
    planner = plugin.Planner(memory.memory_plan_rewrite, place, plugin.EFFORT, seen.append)
    lives = lives_of(*copies(planner))
    assert len(seen[-1]) > 1
    shared = 0
    for where, (first, last) in lives:
        later = [begin for other, (begin, _) in lives if other == where and begin > last]
        shared += len(later)
        assert all(begin >= last + 1 + (last - first + 1) for begin in later)
    assert shared


def test_its_own_plans_pass():
    assert plugin.install(place=False)
    Tensor.linear_with_vars(attention())


class Forgetful(memory.TLSFAllocator):
    """Gives the same bytes to everybody."""

    def alloc(self, req_size, align=1):
        return 0

    def free(self, start):
        pass


@pytest.mark.parametrize("place", [False, True])
def test_a_wrong_placement_of_tinygrad_is_never_used(monkeypatch, place):
    monkeypatch.setattr(memory, "TLSFAllocator", Forgetful)
    plugin.install(place=place)
    with pytest.raises(arenaut.RejectedError):
        Tensor.linear_with_vars(attention())


def test_a_buffer_that_outlives_its_schedule_is_found_by_replaying_the_kernels():
    """The kind of mistake that once gave wrong gradients: a planner that does not know that a buffer is
    held puts it into an arena, where the next call reads what others have left."""
    x, state = Tensor.empty(64), Tensor.empty(64)
    linear = unplanned(((x + state).contiguous() * 2).contiguous())
    planner = plugin.Planner(memory.memory_plan_rewrite, False, plugin.EFFORT, None)
    with pytest.raises(arenaut.RejectedError, match="nothing has written"):
        planner(linear, set())
    inputs = {plugin.view_of(one)[0] for one in linear.src[0].src[2:]}
    planner(linear, inputs)


def test_buffers_over_others_are_found_by_replaying_the_kernels():
    x = Tensor.empty(64)
    a, b = (x + 1).contiguous(), (x * 2).contiguous()
    linear = unplanned((a.flip(0) - b).contiguous())
    held = {argument for call in (linear.src[0], linear.src[-1]) for argument in call.src[1:]}
    held -= set(linear.src[-1].src[2:])
    planner = plugin.Planner(memory.memory_plan_rewrite, False, plugin.EFFORT, None)
    plugin.replay(linear, planner(linear, held))
    with pytest.raises(arenaut.RejectedError, match="reads .buffer 0 of kernel 0., but bytes .0, 256. of pool 0 hold"):
        plugin.replay(linear, planner.run(Forgetful, linear, held))


def test_another_planner_is_left_alone_with_a_warning(monkeypatch, stock):
    monkeypatch.setattr(plugin, "KNOWN", {"0": "0.1.0"})
    with pytest.warns(RuntimeWarning, match=r"tinygrad 0\.14\.0 as installed is not that of 0\.1\.0"):
        assert not plugin.install()
    assert memory.memory_plan_rewrite is stock
    monkeypatch.undo()
    monkeypatch.setattr(tinygrad.engine.jit, "memory_plan_rewrite", lambda linear, held=None: linear)
    with pytest.warns(RuntimeWarning, match="somebody else has replaced"):
        assert not plugin.install(place=False)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plugin.install()


def test_the_example_writes_each_schedule_that_has_an_arena(monkeypatch, tmp_path, stock):
    for user in plugin.USERS:
        monkeypatch.setattr(user, "memory_plan_rewrite", stock)  # as it is to be afterwards
    script = tmp_path / "script.py"
    script.write_text(f"from tinygrad import Tensor, TinyJit\n{inspect.getsource(branches)}\n"
                      "step, x = TinyJit(branches), Tensor.ones(16, 128).contiguous().realize()\n"
                      "for _ in range(3): step(x)\n")
    example = Path(__file__).parents[2] / "examples" / "check" / "tinygrad_schedules.py"
    runpy.run_path(str(example))["main"](tmp_path / "schedules", script)
    written = sorted((tmp_path / "schedules").glob("*.program.json"))
    assert written
    for path in written:
        arenaut.open(path).check()
