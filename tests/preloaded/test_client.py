"""The client's own behaviour: shapes, results, refusals, memory."""

import gc
import threading

import pytest
import torch

import arenaut.torch
from arenaut import ArenautError


class Net(torch.nn.Module):
    """A little of everything: managed, unmanaged, views, in place."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 32)
        self.norm = torch.nn.LayerNorm(32)

    def forward(self, x):
        y = torch.nn.functional.gelu(self.norm(self.fc(x)))
        return (y.transpose(0, 1) * 2).reshape(-1, x.shape[0]).sum(0)


def same(planned, module, *inputs):
    planned.poison()
    with torch.no_grad():
        assert torch.equal(planned(*inputs), module(*inputs))


# --- shapes ---

@pytest.fixture
def dynamic():
    torch.manual_seed(1)
    module = Net().eval()
    batch = torch.export.Dim("batch", min=2, max=4096)
    return module, arenaut.torch.compile(module, (torch.randn(64, 16),),
                                         dynamic_shapes=({0: batch},))


def test_smaller_shapes_are_served_by_the_plan_that_there_is(dynamic):
    module, planned = dynamic
    for batch in (64, 64, 32, 32, 64, 48, 2, 48, 64):
        same(planned, module, torch.randn(batch, 16))
    assert len(planned.plans) == 1
    assert planned.figures().strayed == 0
    assert planned.unplanned_runs == 4  # one for each combination of shapes


def test_larger_shapes_renew_the_plan_and_all_are_served_by_it(dynamic):
    module, planned = dynamic
    for batch in (64, 128, 64, 128, 500, 128, 64, 500):
        same(planned, module, torch.randn(batch, 16))
    assert len(planned.plans) == 1
    assert planned.unplanned_runs == 3
    assert planned.figures().arena == planned.figures().lower_bound


def test_shapes_that_kernels_treat_differently_get_a_plan_of_their_own():
    module = Net().eval()
    batch = torch.export.Dim("batch", min=2, max=4096)
    planned = arenaut.torch.compile(module, (torch.randn(64, 16),),
                                    dynamic_shapes=({0: batch},), smallest_block=4096)
    # Blocks of 4 KiB and more only: small batches ask for fewer of them.
    for b in (512, 512, 4, 4, 512, 4, 512):
        same(planned, module, torch.randn(b, 16))
    assert planned.figures().strayed <= 1 and len(planned.plans) <= 2


def test_shapes_that_were_not_exported_are_refused(dynamic):
    _, planned = dynamic
    for wrong in (torch.randn(64, 17), torch.randn(1, 16), torch.randn(5000, 16),
                  torch.randn(64), torch.randn(64, 16, dtype=torch.float64)):
        with pytest.raises(ValueError, match="input 0"):
            planned(wrong)
    with pytest.raises(ValueError, match="other arguments"):
        planned(torch.randn(64, 16), torch.randn(1))
    planned(torch.randn(64, 16))


def test_a_tensor_of_another_device_is_refused_though_its_shape_is_known(dynamic):
    module, planned = dynamic
    for _ in range(2):
        same(planned, module, torch.randn(64, 16))
        with pytest.raises(ValueError, match="input 0 must be a torch.float32 tensor on the CPU"):
            planned(torch.empty(64, 16, device="meta"))


def test_one_symbol_means_one_size():
    class Add(torch.nn.Module):
        def forward(self, x, y):
            return (x + y) * 2

    batch = torch.export.Dim("batch", min=2, max=64)
    planned = arenaut.torch.compile(Add(), (torch.randn(8, 3), torch.randn(8, 3)),
                                    dynamic_shapes=({0: batch}, {0: batch}))
    same(planned, Add(), torch.randn(5, 3), torch.randn(5, 3))
    with pytest.raises(ValueError, match="input 1"):
        planned(torch.randn(5, 3), torch.randn(6, 3))


def test_only_so_many_shapes_are_remembered():
    batch = torch.export.Dim("batch", min=2, max=4096)
    module = Net().eval()
    planned = arenaut.torch.compile(module, (torch.randn(64, 16),), most_shapes=3,
                                    dynamic_shapes=({0: batch},))
    for size in range(2, 12):
        same(planned, module, torch.randn(size, 16))
    assert len(planned.bound) == 3


def test_strides_of_inputs_may_vary():
    module = Net().eval()
    planned = arenaut.torch.compile(module, (torch.randn(64, 16),))
    for x in (torch.randn(64, 16), torch.randn(16, 64).t(), torch.randn(64, 32)[:, ::2]) * 3:
        same(planned, module, x)


# --- results ---

class Shaped(torch.nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape

    def forward(self, x):
        a, b = torch.exp(x), torch.nn.functional.layer_norm(x, (8,))
        return self.shape(a, b, x)


RESULTS = {
    "tensor": lambda a, b, x: a,
    "tuple": lambda a, b, x: (a, b),
    "list": lambda a, b, x: [a, b],
    "dict": lambda a, b, x: {"a": a, "b": b},
    "none": lambda a, b, x: None,
    "some none": lambda a, b, x: (a, None),
    "twice": lambda a, b, x: (a, a, b, b),
    "input": lambda a, b, x: (x, a),
    "view": lambda a, b, x: (a.t(), b[:, 1:], a),
    "number": lambda a, b, x: (a, x.shape[0]),
}


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_results_come_in_the_shape_of_the_module_s(name):
    module, x = Shaped(RESULTS[name]), torch.randn(8, 8)
    exported = torch.export.export(module, (x,)).run_decompositions({})
    wanted, shape = torch.utils._pytree.tree_flatten(module(x))
    for outputs in ("arena", "apart"):
        planned = arenaut.torch.load(exported, outputs=outputs)
        for _ in range(3):
            planned.poison()
            found, same_shape = torch.utils._pytree.tree_flatten(planned(x))
            assert same_shape == shape
            for a, b in zip(found, wanted):
                assert torch.equal(a, b) if isinstance(b, torch.Tensor) else a == b


@pytest.mark.parametrize("shape", [lambda a, b, x: [[a], b], lambda a, b, x: {"a": (a, b)},
                                   lambda a, b, x: ((a, b), x)])
def test_lists_of_lists_are_refused(shape):
    with pytest.raises(ValueError, match="output [01] is itself a"):
        arenaut.torch.compile(Shaped(shape), (torch.randn(8, 8),))


def test_results_apart_belong_to_the_caller():
    module, x = Shaped(RESULTS["tuple"]), torch.randn(8, 8)
    planned = arenaut.torch.compile(module, (x,))
    found = [planned(x * k) for k in range(5)]
    planned.poison()
    for k, results in enumerate(found):
        assert all(torch.equal(a, b) for a, b in zip(results, module(x * k)))


def test_results_in_the_arena_are_valid_until_the_next_run_and_outlive_the_client():
    module, x = Shaped(RESULTS["tuple"]), torch.randn(512, 8)
    planned = arenaut.torch.compile(module, (x,), outputs="arena")
    for _ in range(2):
        planned(x)
    found = planned(x)
    again = planned(x * 2)
    assert [a.data_ptr() for a in found] == [a.data_ptr() for a in again]
    del planned
    gc.collect()
    noise = [torch.randn(512, 8) for _ in range(50)]
    assert all(torch.equal(a, b) for a, b in zip(again, module(x * 2)))
    del noise, found, again


def test_results_in_the_arena_are_held_until_they_are_released():
    module, x = Shaped(RESULTS["tuple"]), torch.randn(512, 8)
    planned = arenaut.torch.compile(module, (x,), outputs="arena")
    for _ in range(2):
        found = planned(x)
    assert planned.figures().managed_outputs == len({t.data_ptr() for t in found}) > 0
    assert planned.figures().outputs_are_held
    planned.release_outputs()
    assert not planned.figures().outputs_are_held
    same_results = planned(x)  # a run gives up what the one before left, if nobody did
    assert planned.figures().outputs_are_held
    assert all(torch.equal(a, b) for a, b in zip(same_results, module(x)))
    apart = arenaut.torch.compile(module, (x,))
    for _ in range(2):
        apart(x)
    assert apart.figures().managed_outputs == 0 and not apart.figures().outputs_are_held


def test_nothing_is_held_after_an_error():
    class Picky(torch.nn.Module):
        def forward(self, x):
            torch.ops.aten._assert_async.msg((x.sum() >= 0), "a negative sum")
            return torch.tanh(x) * 2

    x = torch.ones(64)
    planned = arenaut.torch.compile(Picky(), (x,), outputs="arena")
    for _ in range(2):
        planned(x)
    with pytest.raises(RuntimeError, match="a negative sum"):
        planned(-x)
    assert not planned.figures().outputs_are_held
    assert torch.equal(planned(x), torch.tanh(x) * 2)


def test_results_of_the_arena_are_no_inputs():
    class Step(torch.nn.Module):
        def forward(self, x):
            return torch.tanh(x) * 2

    x = torch.randn(64)
    planned = arenaut.torch.compile(Step(), (x,), outputs="arena")
    for _ in range(2):
        y = planned(x)
    with pytest.raises(ValueError, match="input 0 is a result"):
        planned(y)
    assert torch.equal(planned(y.clone()), Step()(Step()(x)))


def test_buffers_and_inputs_that_the_module_mutates_are_written_back():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(4))

        def forward(self, x, scratch):
            self.total.add_(x)
            scratch.mul_(2)
            return self.total * scratch

    module, reference = Counter(), Counter()
    planned = arenaut.torch.compile(module, (torch.ones(4), torch.ones(4)))
    mine, theirs = torch.ones(4), torch.ones(4)
    for k in range(5):
        planned.poison()
        x = torch.full((4,), float(k))
        assert torch.equal(planned(x, mine), reference(x, theirs))
        assert torch.equal(mine, theirs)
    assert torch.equal(module.total, reference.total)


# --- what is said ---

def test_unmanaged_operators_are_named_and_counted_with_their_bytes():
    module, x = Net().eval(), torch.randn(64, 16)
    planned = arenaut.torch.compile(module, (x,))
    planned(x)
    unmanaged = planned.figures().unmanaged
    assert unmanaged["aten.layer_norm.default"] == (1, 64 * 32 * 4)
    assert "aten.gelu.out" not in unmanaged
    assert planned.figures().largest_block[1] >= 64 * 32 * 4


def test_options_that_make_no_sense_are_refused():
    x = torch.randn(64, 16)
    for options in ({"outputs": "elsewhere"}, {"outputs": "arena", "keep_arena": False}):
        with pytest.raises(ValueError):
            arenaut.torch.compile(Net(), (x,), **options)
    with pytest.raises(TypeError):
        arenaut.torch.compile(Net(), (x,), colour="red")


def test_sizes_that_depend_on_data_are_left_to_the_kernels():
    class Where(torch.nn.Module):
        def forward(self, x):
            return torch.nonzero(x > 0).sum() + (x * 2).relu().sum().long()

    planned = arenaut.torch.compile(Where(), (torch.randn(100),))
    for seed in range(6):
        torch.manual_seed(seed)
        same(planned, Where(), torch.randn(100))
    assert "aten.nonzero.default" in planned.figures().unmanaged


# --- what goes wrong ---

def test_a_run_that_allocates_otherwise_is_done_again_on_the_heap():
    module, x = Net().eval(), torch.randn(256, 16)
    planned = arenaut.torch.compile(module, (x,))
    for _ in range(2):
        same(planned, module, x)
    bound = next(iter(planned.bound.values()))
    original = bound.function

    def with_one_more(*args):
        torch.empty(1 << 16)
        return original(*args)

    bound.function = with_one_more
    same(planned, module, x)
    assert planned.strayed == 1
    for _ in range(2):
        same(planned, module, x)
    assert planned.strayed == 1


def test_an_error_inside_a_run_leaves_everything_usable():
    module, x = Net().eval(), torch.randn(256, 16)
    planned = arenaut.torch.compile(module, (x,))
    for _ in range(2):
        same(planned, module, x)
    bound = next(iter(planned.bound.values()))
    original = bound.function

    def failing(*args):
        held = torch.empty(2048, 16)
        raise RuntimeError(f"no more of this ({len(held)})")

    bound.function = failing
    with pytest.raises(RuntimeError, match="no more of this"):
        planned(x)
    bound.function = original
    for _ in range(3):
        same(planned, module, x)


def test_one_run_at_a_time():
    module, x = Net().eval(), torch.randn(64, 16)
    planned = arenaut.torch.compile(module, (x,))
    for _ in range(2):
        planned(x)
    bound = next(iter(planned.bound.values()))
    original = bound.function
    seen = []

    def meanwhile(*args):
        def call():
            try:
                planned(x)
            except RuntimeError as refused:
                seen.append(str(refused))
        other = threading.Thread(target=call)
        other.start()
        other.join()
        return original(*args)

    bound.function = meanwhile
    planned(x)
    assert len(seen) == 1 and "one run at a time" in seen[0]


def test_programs_of_several_threads_do_not_mind_one_another():
    errors = []

    def work(seed):
        try:
            x, mine = inputs[seed], planned[seed]
            with torch.no_grad():
                wanted = module(x)
            for _ in range(30):
                assert torch.equal(mine(x), wanted)
            assert mine.figures().strayed == 0
        except Exception as problem:  # seen by the main thread
            errors.append(problem)

    module, inputs = Net().eval(), torch.randn(4, 300, 16)
    exported = torch.export.export(module, (inputs[0],))
    planned = [arenaut.torch.load(exported) for _ in inputs]
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_a_program_with_control_flow_is_refused_by_name():
    class Branch(torch.nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))

    with pytest.raises(ValueError, match="control flow"):
        arenaut.torch.compile(Branch(), (torch.randn(4),))


def test_errors_of_the_library_carry_their_status():
    with pytest.raises(ArenautError) as raised:
        arenaut.plan([8], [0], [1], planner="nobody")
    assert raised.value.status == 2 and "nobody" in str(raised.value)
