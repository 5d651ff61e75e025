"""What can go wrong when kernels are handed memory, and what stands against it."""

import pytest
import torch

import arenaut.torch
from arenaut.torch import operators, plans
from arenaut.torch.learn import Learner
from arenaut.torch.operators import aten

SHAPES = [(1,), (7,), (64, 33), (3, 128, 257)]  # below, at and past vector and block sizes


def candidates():
    return sorted(operators.IN_PLACE)


def overload(name):
    _, packet, which = name.split(".")
    return getattr(getattr(aten, packet), which)


def arguments_of(op, x, y):
    """Tensor arguments are x and y; the rest is what the schema wants."""
    special = {"aten.gelu.out": {}, "aten._softmax.out": {"dim": -1, "half_to_float": False},
               "aten.pow.Tensor_Scalar_out": {"exponent": 3}, "aten.clamp.out":
               {"min": -0.5, "max": 0.5}, "aten.clamp_min.out": {"min": 0.1},
               "aten.clamp_max.out": {"max": 0.1}}.get(str(op), {})
    args, tensors = [], iter((x, y))
    for argument in op._schema.arguments:
        if not argument.is_out and not argument.kwarg_only and str(argument.type) == "Tensor":
            args.append(next(tensors))
        elif argument.name in special and not argument.kwarg_only:
            args.append(special[argument.name])
    return args


@pytest.mark.parametrize("name", candidates())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_operator_of_the_in_place_list_may_write_over_each_operand(name, dtype):
    op = overload(name)
    for shape in SHAPES:
        for layout in (lambda t: t, lambda t: t.mT.contiguous().mT if t.dim() > 1 else t):
            operands = [layout(torch.rand(shape, dtype=dtype) + 0.25) for _ in range(2)]
            if op is aten.logical_not.out:
                operands = [x > 0.75 for x in operands]
            used = len([a for a in arguments_of(op, *operands) if isinstance(a, torch.Tensor)])
            for over in range(used):
                copies = [x.clone() for x in operands]
                wanted = op(*arguments_of(op, *copies), out=torch.empty_like(copies[over]))
                # Two tensors at one address, in storages that know nothing of each other.
                memory = copies[over].contiguous() if copies[over].is_contiguous() \
                    else copies[over]
                alias = alias_of(memory)
                op(*arguments_of(op, *copies), out=alias)
                assert torch.equal(alias, wanted), (name, shape, over)


def alias_of(tensor):
    storage = torch._C._construct_storage_from_data_pointer(
        tensor.data_ptr(), torch.device("cpu"), tensor.untyped_storage().nbytes())
    return torch.empty(0, dtype=tensor.dtype).set_(storage, 0, tensor.shape, tensor.stride())


def test_matrix_products_are_wrong_in_place_and_not_on_the_list():
    x, y = torch.randn(1024, 1024), torch.randn(1024, 1024)  # small ones are copied first on some processors
    wanted, alias = x @ y, alias_of(x)
    torch.mm(x, y, out=alias)
    assert not torch.allclose(alias, wanted)
    assert not any(product in name for name in operators.IN_PLACE
                   for product in ("mm.", "bmm", "addmm", "matmul", "linear", "conv"))


def test_operators_whose_out_variant_only_copies_are_not_managed():
    for op in (aten.native_layer_norm.default, aten.convolution.default, aten.repeat.default,
               aten.full_like.default):
        assert operators.out_variant(op) is None
    for op in (aten.add.Tensor, aten.mm.default, aten.cat.default, aten.bmm.default):
        assert operators.out_variant(op) is not None


@pytest.mark.parametrize("kind", ["kept", "swapped"])
def test_a_tensor_cannot_grow_past_its_arena(kind):
    arena = plans.Arena(4096, 64)
    storages = (plans.SeparateStorages if kind == "kept" else plans.SharedStorage)(arena)
    tensor = storages.tensor(64, 16 * 4, (4, 4), (4, 1), torch.float32)
    assert tensor.data_ptr() == arena.address + 64
    assert not tensor.untyped_storage().resizable()
    with pytest.raises(RuntimeError, match="not resizable"):
        torch.add(torch.randn(64, 64), 1, out=tensor)


def test_a_tensor_in_a_storage_of_its_own_cannot_reach_its_neighbour():
    arena = plans.Arena(4096, 64)
    storages = plans.SeparateStorages(arena)
    tensor = storages.tensor(0, 64, (16,), (1,), torch.float32)
    neighbour = storages.tensor(64, 64, (16,), (1,), torch.float32).fill_(7)
    with pytest.raises(RuntimeError, match="not resizable"):
        torch.add(torch.ones(17), 1, out=tensor)
    assert bool((neighbour == 7).all())


def test_an_arena_outlives_whoever_made_it():
    arena = plans.Arena(1 << 20, 64)
    tensor = plans.SeparateStorages(arena).tensor(0, 4096, (1024,), (1,), torch.float32)
    del arena
    tensor.fill_(3)
    assert float(tensor.sum()) == 3072


class Restride(torch.nn.Module):
    """Pools in channels-last, where the kernel insists on strides of its own."""

    def forward(self, x):
        return torch.nn.functional.adaptive_avg_pool2d(x + 1, 3) * 2


def test_a_kernel_that_changes_strides_is_given_up():
    x = torch.randn(1, 8, 16, 16).to(memory_format=torch.channels_last)
    planned = arenaut.torch.compile(Restride(), (x,))
    wanted = Restride()(x)
    for _ in range(3):
        planned.poison()
        assert torch.equal(planned(x), wanted)


def test_a_kernel_that_is_seen_to_misbehave_is_called_without_memory():
    """The watch, made to see a tensor that looks other than it should."""
    x = torch.randn(8, 8)
    planned = arenaut.torch.compile(Tower(), (x,))
    victim = next(k for k, s in enumerate(planned.program.steps) if s.op.startswith("aten.exp"))
    step = planned.program.steps[victim]

    def restriding(*args, out=None):
        result = torch.exp(*args)
        return result if out is None else out.resize_(64).view(64).copy_(result.view(64))

    step.fn, step.plain = restriding, torch.exp
    for _ in range(3):
        planned.poison()
        assert torch.equal(planned(x), Tower()(x))
    assert planned.demoted == {victim}
    assert "aten.exp.out" in planned.figures().unmanaged


class Tower(torch.nn.Module):
    def forward(self, x):
        return torch.mm(torch.exp(x) + 1, x).sigmoid().sum(0)


def test_an_operand_that_is_read_later_is_not_written_over():
    class Shared(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            return torch.exp(y), y * 2

    x = torch.randn(100)
    planned = arenaut.torch.compile(Shared(), (x,), outputs="arena")
    for _ in range(3):
        planned.poison()
        found, wanted = planned(x), Shared()(x)
        assert all(torch.equal(a, b) for a, b in zip(found, wanted))


def test_a_broadcast_operand_is_not_written_over():
    class Broad(torch.nn.Module):
        def forward(self, x, y):
            return ((x + 1) * (y + 1)).sum(1)

    x, y = torch.randn(64, 1), torch.randn(64, 64)
    planned = arenaut.torch.compile(Broad(), (x, y))
    for _ in range(3):
        planned.poison()
        assert torch.equal(planned(x, y), Broad()(x, y))


def test_two_operands_in_one_storage_at_different_places_are_not_written_over():
    class Halves(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            return (y + y.flip(0).t()).sum(), (y[:32] * y[32:]).sum()

    x = torch.randn(64, 64)
    planned = arenaut.torch.compile(Halves(), (x,))
    for _ in range(3):
        planned.poison()
        assert all(torch.equal(a, b) for a, b in zip(planned(x), Halves()(x)))


def test_inputs_and_weights_are_never_written():
    class Chain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(32))

        def forward(self, x):
            return torch.tanh(torch.exp(self.weight) + torch.relu(x))

    module, x = Chain(), torch.randn(32)
    before = x.clone(), module.weight.detach().clone()
    planned = arenaut.torch.compile(module, (x,))
    for _ in range(3):
        planned(x)
    assert torch.equal(x, before[0]) and torch.equal(module.weight, before[1])


def test_learning_counts_a_reshape_that_copies_as_memory():
    class Copies(torch.nn.Module):
        def forward(self, x):
            return (x + 1).t().reshape(-1) * 2

    x = torch.randn(33, 65)
    planned = arenaut.torch.compile(Copies(), (x,))
    for _ in range(3):
        planned.poison()
        assert torch.equal(planned(x), Copies()(x))
    assert isinstance(Learner(planned.program, set()).run((x,)).roots, dict)
