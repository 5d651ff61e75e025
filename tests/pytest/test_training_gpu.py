"""Training steps within a budget on a GPU: the same bits, in the bytes that were planned, by the allocator's count."""

import copy
import os
import warnings

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: no step can be run")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU that PyTorch can use", allow_module_level=True)
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without which cuBLAS may compute other bits each time

from test_training import NETWORKS, Layers, assert_same, close, joint_graphs, trained, training  # noqa: E402, F401
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def deterministic():
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(False)
    torch._dynamo.reset()


class Attention(nn.Module):
    """Attention with dropout in it, whose kernels draw their own random numbers."""

    def __init__(self, chance):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 192) for _ in range(4))
        self.chance = chance

    def forward(self, x):
        for layer in self.layers:
            q, k, v = layer(x).view(*x.shape[:2], 3, 4, 16).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.chance, is_causal=True)
            x = F.dropout(F.gelu(x + y.transpose(1, 2).reshape(x.shape)), self.chance)
        return x.float().square().mean()


def on_gpu(make, inputs):
    return make().cuda().train(), tuple(one.cuda() for one in inputs())


def peak_of(run, model, inputs):
    """Bytes that were asked of the allocator in a step behind one that was made before."""
    for _ in range(2):
        model.zero_grad()
        torch.cuda.synchronize()
        before = torch.cuda.memory_stats()["requested_bytes.all.current"]
        torch.cuda.reset_peak_memory_stats()
        run(*inputs).backward()
    return torch.cuda.memory_stats()["requested_bytes.all.peak"] - before


def assert_fits(training, model, inputs, memory, autocast=None):  # noqa: F811
    """Within a budget, with the bits of eager mode, or, where torch.compile with any backend has others, of that."""
    def called(run):
        def call(*arguments):
            with torch.autocast("cuda", autocast or torch.bfloat16, enabled=autocast is not None):
                return run(*arguments)
        return call

    alone, traced = copy.deepcopy(model), copy.deepcopy(model)
    curve = called(lambda *arguments: training.curve(model, arguments, budgets=[memory, "80%", "90%", "95%"]))(*inputs)
    budget = next(point.budget for point in curve.points if point.added_ops)
    step = called(lambda *arguments: training.fit(model, budget, arguments))(*inputs)
    assert step.fitted.kept and close(step.fitted) and step.fitted.added_ops > 0, step.fitted
    ours = trained(called(step), model, inputs)
    eager = trained(called(alone), alone, inputs)
    if not all(torch.equal(one, other) for one, other in zip(ours, eager)):
        assert_same(ours, trained(called(torch.compile(traced, backend="aot_eager")), traced, inputs))
        warnings.warn("eager mode has other bits than torch.compile", UserWarning, stacklevel=2)
    return step


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("autocast", [None, torch.bfloat16, torch.float16])
def test_an_ordinary_loop_computes_the_same_bits(training, name, autocast):  # noqa: F811
    if name == "encoder" and not autocast:
        pytest.skip("its attention needs more inside its kernels than all the rest of so small a step")
    make, inputs, memory = NETWORKS[name]
    assert_fits(training, *on_gpu(make, inputs), "80%" if autocast else memory, autocast)


@pytest.mark.parametrize("autocast", [None, torch.bfloat16])
@pytest.mark.parametrize("chance", [0.0, 0.1])
def test_attention_with_dropout_is_not_drawn_anew(training, chance, autocast):  # noqa: F811
    model, inputs = on_gpu(lambda: Attention(chance), lambda: (torch.randn(16, 64, 64),))
    assert_fits(training, model, inputs, "80%", autocast)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_a_mask_applied_again_makes_the_bits_that_dropout_made(training, dtype):  # noqa: F811
    from arenaut.torch.traced import APPLY, scale_of
    x, wrong = torch.randn(10000, device="cuda", dtype=dtype), []
    for percent in range(1, 100):
        chance = percent / 100
        made, mask = torch.ops.aten.native_dropout(x, chance, True)
        if not torch.equal(made, APPLY(x, mask, scale_of(chance, x))):
            wrong.append(chance)
    assert not wrong


def test_the_allocator_hands_out_what_was_planned(training):  # noqa: F811
    make = lambda: joint_graphs.Language(97, 256, True, True, 256, 6, 4)  # noqa: E731
    model, inputs = on_gpu(make, lambda: (torch.randint(97, (64, 256)), torch.randint(97, (64, 256))))
    before = peak_of(model, model, inputs)
    step = training.fit(model, "60%", inputs)
    assert abs(peak_of(step, model, inputs) - step.fitted.planned) < 0.05 * step.fitted.planned
    assert step.fitted.planned < 0.65 * before


def test_workspaces_of_convolutions_are_planned(training):  # noqa: F811
    model, inputs = on_gpu(joint_graphs.UNet, lambda: (torch.randn(4, 3, 256, 256), torch.randint(2, (4, 256, 256))))
    step = training.fit(model, "50%", inputs)
    assert step.fitted.kept and abs(peak_of(step, model, inputs) - step.fitted.planned) < 0.1 * step.fitted.planned


def test_a_step_that_runs_out_of_memory_fits(training):  # noqa: F811
    make = lambda: joint_graphs.Language(97, 256, True, True, 256, 6, 4)  # noqa: E731
    model, inputs = on_gpu(make, lambda: (torch.randint(97, (256, 256)), torch.randint(97, (256, 256))))
    need = peak_of(model, model, inputs)
    model.zero_grad()
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    try:
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 0.7 * need) / total)
        with pytest.raises(torch.OutOfMemoryError):
            model(*inputs).backward()
        model.zero_grad()
        torch.cuda.empty_cache()
        step = training.fit(model, int(0.5 * need), inputs)
        for _ in range(3):
            model.zero_grad()
            step(*inputs).backward()
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
