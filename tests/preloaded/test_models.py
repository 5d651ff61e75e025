"""Eight networks, against eager, with the arena full of wrong bytes before each run."""

import pytest
import torch
from drawn import some
from torch.utils import _pytree as pytree
from torch_zoo import SMALL

import arenaut.torch

#: Folding batch norms rounds differently; nothing else does.
TOLERANCE = {"resnet18": 1e-6, "mobilenetv3": 1e-6}


@pytest.fixture(scope="module", params=some(sorted(SMALL)))
def model(request):
    module, inputs = SMALL[request.param]()
    exported = torch.export.export(module, inputs).run_decompositions({})
    return request.param, module, inputs, exported


def differs(found, wanted):
    found, shape = pytree.tree_flatten(found)
    wanted, expected = pytree.tree_flatten(wanted)
    assert shape == expected
    assert all(a.shape == b.shape and a.stride() == b.stride() and a.dtype == b.dtype
               for a, b in zip(found, wanted))
    return max(float((a - b).abs().max()) for a, b in zip(found, wanted))


def other(inputs):
    """The same shapes, other contents."""
    return tuple(x.flip(-1) * 0.5 if x.is_floating_point() else x.flip(-1) for x in inputs)


@pytest.mark.parametrize("outputs", ["arena", "apart"])
def test_results_are_eager_s_and_the_arena_is_minimal(model, outputs):
    name, module, inputs, exported = model
    planned = arenaut.torch.load(exported, outputs=outputs)
    with torch.no_grad():
        pairs = [(given, module(*given)) for given in (inputs, other(inputs))]
    for given, wanted in pairs * 2:
        planned.poison()
        assert differs(planned(*given), wanted) <= TOLERANCE.get(name, 0.0)
    figures = planned.figures()
    assert figures.arena == figures.lower_bound
    assert figures.managed > 0 and figures.in_place > 0
    assert figures.strayed == figures.fallbacks == 0
    assert figures.unplanned_runs == 1 and figures.runs == 4


@pytest.mark.parametrize("name", some(sorted(TOLERANCE)))
def test_nothing_folded_is_eager_s_to_the_bit(name):
    module, inputs = SMALL[name]()
    planned = arenaut.torch.compile(module, inputs, fold_batch_norms=False, fold_constants=False,
                                    pointwise_as_product=False)
    with torch.no_grad():
        wanted = module(*inputs)
    for _ in range(3):
        planned.poison()
        assert differs(planned(*inputs), wanted) == 0.0


@pytest.mark.parametrize("name", some(["bert4", "resnet18"]))
def test_an_arena_that_is_given_up_after_each_run(name):
    module, inputs = SMALL[name]()
    planned = arenaut.torch.compile(module, inputs, keep_arena=False)
    with torch.no_grad():
        wanted = module(*inputs)
    for _ in range(4):
        assert differs(planned(*inputs), wanted) <= TOLERANCE.get(name, 0.0)
    assert planned.figures().strayed == 0
    assert all(not plan.shelf.arenas for plan in planned.plans)
