"""Training steps within a budget, on PyTorch: what is counted is what was planned, and every bit is that of
the model by itself."""

import copy
import re
import sys
import warnings

import pytest
from conftest import ROOT

from drawn import some

torch = pytest.importorskip("torch", reason="torch is not installed: no step can be run")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

sys.path.insert(0, str(ROOT / "bench"))
import joint_graphs  # noqa: E402


@pytest.fixture(scope="module")
def training(package):
    import arenaut.torch
    return arenaut.torch


@pytest.fixture(autouse=True)
def forgotten():
    """What a test compiled is of no use to the next."""
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    torch._dynamo.reset()


# ---- networks ----

class Layers(nn.Module):
    """Linear layers with something behind each, and a loss."""

    def __init__(self, behind, n=5, width=32):
        super().__init__()
        self.layers, self.behind = nn.ModuleList(nn.Linear(width, width) for _ in range(n)), behind

    def forward(self, x):
        for layer in self.layers:
            x = self.behind(layer(x))
        return x.square().mean()


class Far(nn.Module):
    """A loss whose kernel takes more memory than its result needs."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(part for _ in range(5) for part in (nn.Linear(32, 32), nn.GELU())))

    def forward(self, x, y):
        return F.mse_loss(self.layers(x), y)


def image(batch, side, classes, whole=False):
    shape = (batch, side, side) if whole else (batch,)
    return torch.randn(batch, 3, side, side), torch.randint(classes, shape)


def words(batch, length, many, each=True):
    return torch.randint(many, (batch, length)), torch.randint(many if each else 2, (batch, length) if each else (batch,))


NETWORKS = {
    "mlp": (lambda: Layers(F.gelu), lambda: (torch.randn(512, 32),), "60%"),
    "far": (Far, lambda: (torch.randn(512, 32), torch.randn(512, 32)), "70%"),
    "resnet": (lambda: joint_graphs.ResNet((1, 1, 1, 1), 8, 10), lambda: image(8, 64, 10), "60%"),
    "unet": (lambda: joint_graphs.UNet((8, 16, 32)), lambda: image(2, 64, 2, whole=True), "60%"),
    "gpt": (lambda: joint_graphs.Language(97, 32, True, True, 32, 3, 4), lambda: words(8, 32, 97), "50%"),
    "bert": (lambda: joint_graphs.Language(97, 32, False, False, 32, 3, 4), lambda: words(8, 32, 97, False), "50%"),
    "vit": (lambda: joint_graphs.ViT(32, 3, 4, 8, 32, 10), lambda: image(8, 32, 10), "50%"),
    "dropout": (lambda: Layers(lambda x: F.dropout(torch.relu(x), 0.2)), lambda: (torch.randn(512, 32),), "80%"),
    "encoder": (lambda: Layers(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), n=3),
                lambda: (torch.randn(8, 64, 32),), "60%"),
    "in place": (lambda: Layers(lambda x: x.relu_()), lambda: (torch.randn(512, 32),), "80%"),
}


def trained(run, model, inputs, turns=3):
    """Losses, gradients, parameters and buffers of an ordinary loop."""
    torch.manual_seed(1)
    optimizer, found = torch.optim.AdamW(model.parameters(), lr=0.01), []
    for _ in range(turns):
        optimizer.zero_grad()
        loss = run(*inputs)
        loss.backward()
        optimizer.step()
        found += [loss.detach(), *(p.grad.clone() for p in model.parameters())]
    return [*found, *(t.detach().clone() for t in (*model.parameters(), *model.buffers()))]


def assert_same(one, other):
    assert len(one) == len(other)
    assert all(torch.equal(a, b) for a, b in zip(one, other))


def close(fitted):
    return abs(fitted.counted - fitted.planned) <= 0.01 * fitted.planned


# ---- tests ----

@pytest.mark.parametrize("name", some(NETWORKS))
def test_an_ordinary_loop_computes_the_same_bits_in_what_was_planned(training, name):
    make, inputs, memory = NETWORKS[name]
    model, inputs = make().train(), inputs()
    alone = copy.deepcopy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # which a step that is not as planned would give
        step = training.fit(model, memory=memory, inputs=inputs)
    fitted = step.fitted
    assert fitted.kept and close(fitted), fitted
    assert fitted.planned <= fitted.budget == step.budget < fitted.before
    assert fitted.added_ops > 0 and 0 <= fitted.least_time <= fitted.added_time < fitted.time
    assert fitted.floor <= fitted.planned
    assert_same(trained(step, model, inputs), trained(alone, alone, inputs))


def test_what_tracing_takes_apart_has_the_bits_of_the_trace(training):
    """Bilinear upsampling, which is another computation in every backend of torch.compile."""
    def network():
        layer = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1), nn.ELU(), nn.AvgPool2d(2), nn.Upsample(scale_factor=2, mode="bilinear"))
        return nn.Sequential(*(copy.deepcopy(layer) for _ in range(3)), nn.Flatten(0), nn.Softmax(0))

    model, inputs = network(), (torch.randn(2, 8, 16, 16),)
    alone = copy.deepcopy(model)
    step, traced = training.fit(model, memory="80%", inputs=inputs), torch.compile(alone, backend="aot_eager")
    assert step.fitted.added_ops > 0 and close(step.fitted)
    assert_same(trained(lambda x: step(x).square().sum(), model, inputs),
                trained(lambda x: traced(x).square().sum(), alone, inputs))


def test_the_example_of_the_page(training, capsys):
    """docs/training.md."""
    example = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(), re.DOTALL)[1]
    make, inputs, _ = NETWORKS["gpt"]
    model, (x, y) = make().train(), inputs()
    names = {"model": model, "x": x, "y": y, "batches": [inputs() for _ in range(3)]}
    before = [p.detach().clone() for p in model.parameters()]
    exec(example, names)
    assert len(example.splitlines()) <= 11
    assert re.search(r"[\d,]+ bytes planned, [\d,]+ counted", capsys.readouterr().out)
    assert not any(torch.equal(a, b) for a, b in zip(before, model.parameters()))


def peak_by_the_profiler(run, inputs):
    """The highest sum of what PyTorch's allocator handed out in a step: an independent count, with scratch."""
    run(*inputs).backward()
    with torch.profiler.profile(profile_memory=True) as seen:
        run(*inputs).backward()
    alive = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            alive += event.nbytes()
            peak = max(peak, alive)
    return peak


def test_the_allocator_sees_less(training):
    make, inputs, _ = NETWORKS["mlp"]
    model, inputs = make(), inputs()
    alone = peak_by_the_profiler(model, inputs)
    step = training.fit(model, memory="60%", inputs=inputs)
    assert peak_by_the_profiler(step, inputs) < 0.75 * alone


def test_a_batch_norm_updates_its_statistics_once(training):
    model, inputs = joint_graphs.ResNet((1, 1, 1, 1), 8, 10).train(), image(8, 64, 10)
    step = training.fit(model, memory="50%", inputs=inputs)
    before = [buffer.clone() for buffer in model.buffers()]
    step(*inputs).backward()
    counts = [buffer for buffer in model.buffers() if buffer.dtype == torch.int64]
    assert counts and all(count == 1 for count in counts)
    assert step.fitted.added_ops > 10
    assert not all(torch.equal(a, b) for a, b in zip(before, model.buffers()))


class Moving(nn.Module):
    """Behind each layer a buffer is added, cheaply, that the step then changes."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(5))
        self.register_buffer("shift", torch.ones(32))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x)) + self.shift.view(1, 32)
        self.shift.mul_(1.5)
        return x.square().mean()


def test_readers_of_an_updated_buffer_are_not_rematerialized(training):
    from arenaut.torch.traced import capture
    model, inputs = Moving(), (torch.randn(512, 32),)
    alone, found = copy.deepcopy(model), capture(model, inputs)
    plan = found.model.plan(recompute=True, fit=found.model.plan().arena * 3 // 4, align=1)
    ops = plan._schedule()
    again = [found.rows[op]["name"] for op in set(ops) if ops.count(op) > 1 and not found.is_view(op)]
    assert again and "aten::add.Tensor" not in again
    step = training.fit(model, memory="75%", inputs=inputs)
    assert step.fitted.added_ops > 0 and close(step.fitted)
    assert_same(trained(step, model, inputs), trained(alone, alone, inputs))


def test_fitting_leaves_no_trace(training):
    model, inputs = joint_graphs.ResNet((1, 1, 1, 1), 8, 10).train(), image(8, 64, 10)
    model.body.append(nn.Dropout(0.5))
    kept = [t.clone() for t in (*model.parameters(), *model.buffers(), *inputs, torch.get_rng_state())]
    training.fit(model, memory="70%", inputs=inputs)
    assert_same(kept, [*model.parameters(), *model.buffers(), *inputs, torch.get_rng_state()])
    assert all(p.grad is None for p in model.parameters())


def test_below_the_floor_the_floor_is_said(training, package):
    make, inputs, _ = NETWORKS["gpt"]
    model, inputs = make(), inputs()
    floor = training.curve(model, inputs, budgets=["100%"]).floor
    with pytest.raises(package.NoPlanError, match=rf"at least {floor:,} are needed by any rematerialization \(proven\)") as raised:
        training.fit(model, memory=floor - 1, inputs=inputs)
    assert raised.value.floor == floor


@pytest.mark.parametrize("memory, bytes", [(5000, 5000), ("8GB", 8 * 10**9), ("8G", 8 << 30), ("1.5 GiB", 3 << 29),
                                           ("300 b", 300), ("60%", 600), ("12.5 %", 125), ("2kb", 2000)])
def test_memory_has_units(training, memory, bytes):
    from arenaut.torch.budget import bytes_of
    assert bytes_of(memory, 1000) == bytes


@pytest.mark.parametrize("memory", [0, -1, True, None, 0.5, "", "8", "8X", "0%", "%", "-5%", "8GBs", "0GB"])
def test_other_memory_is_refused(training, package, memory):
    from arenaut.torch.budget import bytes_of
    if memory == "8":
        assert bytes_of(memory, 1000) == 8
        return
    with pytest.raises(package.InputError, match="memory="):
        bytes_of(memory, 1000)


def test_inputs_are_a_tuple_or_have_names(training, package):
    model, x = Layers(F.gelu), torch.randn(512, 32)
    step = training.fit(model, memory="70%", inputs={"x": x})
    assert torch.equal(step(x=x), model(x))
    with pytest.raises(package.InputError, match="tuple"):
        training.fit(model, memory="70%", inputs=x)


def test_other_sizes_are_planned_when_they_come(training):
    """More of them than torch.compile allows by itself."""
    model = Layers(F.gelu)
    step = training.fit(model, memory="70%", inputs=(torch.randn(512, 32),))
    budget = step.budget
    for rows in range(502, 512):
        x = torch.randn(rows, 32)
        loss = step(x)
        assert torch.equal(loss, model(x))
        loss.backward()
        assert step.fitted.planned <= budget == step.fitted.budget and close(step.fitted)
    before = dict(step.kinds)
    step(x).backward()
    assert step.kinds == before


def test_without_gradients_the_model_runs_by_itself(training):
    model, x = Layers(F.gelu), torch.randn(512, 32)
    step = training.fit(model, memory="70%", inputs=(x,))
    with torch.no_grad():
        assert torch.equal(step(x), model(x))
    assert len(step.kinds) == 1


def test_other_results_than_a_loss(training):
    """Logits in a dict: the loss is the caller's."""
    class Logits(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(*(part for _ in range(6) for part in (nn.Linear(32, 32), nn.Tanh(), nn.GELU())))

        def forward(self, x):
            return {"logits": self.layers(x), "name": "some"}

    model, x = Logits(), torch.randn(512, 32)
    alone = copy.deepcopy(model)
    step = training.fit(model, memory="70%", inputs=(x,))
    assert step.fitted.added_ops > 0 and close(step.fitted)
    assert step(x)["name"] == "some"
    assert_same(trained(lambda x: step(x)["logits"].square().mean(), model, (x,)),
                trained(lambda x: alone(x)["logits"].square().mean(), alone, (x,)))


def test_two_forward_passes_before_their_backward_pass(training):
    model, x = Layers(F.gelu), torch.randn(512, 32)
    alone = copy.deepcopy(model)
    step = training.fit(model, memory="70%", inputs=(x,))
    for run in step, alone:
        (run(x) + run(2 * x)).backward()
        run(x).backward()
    assert_same([p.grad for p in model.parameters()], [p.grad for p in alone.parameters()])


def test_autocast(training):
    model, x = Layers(F.gelu), torch.randn(2048, 32)
    alone = copy.deepcopy(model)
    with torch.autocast("cpu", torch.bfloat16):
        step = training.fit(model, memory="85%", inputs=(x,))
        assert step.fitted.added_ops > 0 and close(step.fitted)
        losses = step(x), alone(x)
    assert len(step.kinds) == 1
    for loss in losses:
        loss.backward()
    assert torch.equal(*losses)
    assert_same([p.grad for p in model.parameters()], [p.grad for p in alone.parameters()])
    step(x[:256]).backward()  # of another kind, and without
    assert len(step.kinds) == 2 and step.fitted.counted < step.budget


def test_checkpoint_in_a_model_is_planned_anew(training):
    from torch.utils.checkpoint import checkpoint
    model = Layers(lambda x: checkpoint(torch.relu, x, use_reentrant=False))
    alone, x = copy.deepcopy(model), torch.randn(512, 32)
    step = training.fit(model, memory="80%", inputs=(x,))
    assert close(step.fitted)
    assert_same(trained(step, model, (x,)), trained(alone, alone, (x,)))


def written(x):
    y = x.detach().clone()
    torch.ops.arenaut_test.double(y)
    return x + y


def doubled():
    if not hasattr(torch.ops.arenaut_test, "double"):
        @torch.library.custom_op("arenaut_test::double", mutates_args=("x",))
        def double(x: torch.Tensor) -> None:
            x.mul_(2)
    return written


@pytest.mark.parametrize("behind, why", [
    (lambda: print, "graph break.*print.*test_training.py"),
    (lambda: lambda x: x if x.sum() > 0 else -x, "graph break"),
    (lambda: lambda x: x[x[:, 0] > 0].sum() + x, "the size .* varies"),
    (doubled, "operators that hold graphs.*test_training.py"),
])
def test_unsupported_steps_are_refused_by_name(training, package, behind, why):
    with pytest.raises(package.RefusedError, match=why):
        training.fit(Layers(behind()), memory="80%", inputs=(torch.randn(512, 32),))


def test_sizes_that_vary_are_refused(training, package):
    model, x = Layers(F.gelu), torch.randn(512, 32)
    step = training.fit(model, memory="80%", inputs=(x,))
    y = torch.randn(256, 32)
    torch._dynamo.mark_dynamic(y, 0)
    with pytest.raises(package.RefusedError, match="varies"):
        step(y)


def test_a_model_without_gradients_is_refused(training, package):
    model = Layers(F.gelu).requires_grad_(False)
    with pytest.raises(package.RefusedError, match="no backward pass"):
        training.fit(model, memory="80%", inputs=(torch.randn(512, 32),))
    with pytest.raises(package.RefusedError, match="no backward pass"):
        training.curve(model, (torch.randn(512, 32),))


def test_a_step_that_is_not_as_planned_says_so_and_runs_by_itself(training, monkeypatch):
    """An operator whose kernel takes more each time, of which no size can be learned."""
    from arenaut.torch import meter
    model, x = Layers(F.gelu), torch.randn(512, 32)
    alone, calls = copy.deepcopy(model), []
    dispatch = meter.Meter.__torch_dispatch__

    def greedy(self, operator, types, args=(), kwargs=None):
        calls.append(operator)
        self.peak = max(self.peak, self.alive + 100000 + len(calls))
        return dispatch(self, operator, types, args, kwargs)

    monkeypatch.setattr(meter.Meter, "__torch_dispatch__", greedy)
    with pytest.warns(RuntimeWarning, match=r"needed [\d,]+ bytes where [\d,]+ were planned"):
        step = training.fit(model, memory="70%", inputs=(x,))
    assert not step.fitted.kept and "default partition" in str(step)
    assert_same(trained(step, model, (x,)), trained(alone, alone, (x,)))


# ---- as on a GPU ----

def test_workspaces_of_kernels_are_planned_and_counted(training, monkeypatch):
    """On a GPU the allocator says it; here it is made up, once counted in a step, once by running operators alone."""
    from arenaut.torch import meter, probe, training as steps
    run, count, counts = meter.run, steps.Compiled.count, []
    monkeypatch.setattr(meter, "run", lambda operator, args, kwargs: (
        run(operator, args, kwargs)[0], 300000 if operator is torch.ops.aten.gelu.default else 0))
    monkeypatch.setattr(steps.Compiled, "count", lambda self, *given: counts.append(count(self, *given)))
    model, x = Layers(F.gelu), torch.randn(512, 32)
    step = training.fit(model, memory="70%", inputs=(x,))
    assert step.fitted.kept and step.fitted.counted == step.fitted.planned <= step.budget and len(counts) == 2
    monkeypatch.setattr(probe, "ON", {"cpu"})
    counts.clear()
    state = torch.get_rng_state()
    again = training.fit(model, memory=step.budget, inputs=(x,))
    assert again.fitted.counted == step.fitted.counted and again.fitted.floor == step.fitted.floor and len(counts) == 1
    assert torch.equal(torch.get_rng_state(), state)


def test_batch_norms_that_choose_their_kernels_have_the_same_bits(training, monkeypatch):
    """What runs in place of cuDNN's, which is nowhere but on a GPU, is PyTorch's own kernel here."""
    from arenaut.torch import norms
    from arenaut.torch.traced import capture
    monkeypatch.setattr(norms, "is_of_cudnn", lambda operands: True)
    make, inputs, _ = NETWORKS["resnet"]
    model, inputs = make().train(), inputs()
    alone = copy.deepcopy(model)
    targets = [node.target for node in capture(model, inputs).ops if node is not None]
    assert targets.count(norms.CHOOSING) == targets.count(norms.CHOOSING_BACKWARD) == 17
    assert norms.NATIVE not in targets and norms.NATIVE_BACKWARD not in targets
    step = training.fit(model, memory="50%", inputs=inputs)
    assert step.fitted.kept and close(step.fitted) and step.fitted.added_ops > 10
    assert_same(trained(step, model, inputs), trained(alone, alone, inputs))


# ---- the curve, and times ----

def test_the_curve(training):
    make, inputs, _ = NETWORKS["vit"]
    model, inputs = make(), inputs()
    curve = training.curve(model, inputs, device=(10**9, 10**9))
    assert curve.points[0].added_ops == 0 and curve.points[0].planned == curve.before
    assert len(curve.points) >= 5
    for point in curve.points:
        assert point.least_time <= point.added_time and curve.floor <= point.planned <= point.budget
    assert f"nothing fits below {curve.floor:,} bytes" in str(curve)
    assert all(p.grad is None for p in model.parameters())


def test_times_are_measured_and_used(training, arenaut_json, tmp_path):
    model, inputs = joint_graphs.ResNet((1, 1, 1, 1), 8, 10).train(), image(8, 64, 10)
    costs, path = tmp_path / "times.csv", tmp_path / "step.program.json"
    text = training.profile(model, inputs, costs, repeats=1)
    assert text == costs.read_text() and text.startswith("method,op,nanoseconds\nmain,0,")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    assert all(method == "main" and int(time) >= 0 for method, _, time in rows)
    assert training.joint(model, inputs, path).format == "program-json"
    document = arenaut_json("plan", path, "--recompute", "on", "--fit", "1G", "--costs", costs)
    assert document["recompute"]["nanoseconds"] == sum(int(time) for *_, time in rows)
    step = training.fit(model, memory="70%", inputs=inputs, costs=costs)
    assert step.fitted.time == sum(int(time) for *_, time in rows) and close(step.fitted)


def test_bad_costs_are_refused(training, package, tmp_path):
    costs = tmp_path / "times.csv"
    for row in "main,99999,1", "main,0,-1", "other,0,1":
        costs.write_text(f"method,op,nanoseconds\n{row}\n")
        with pytest.raises(package.InputError, match="line 2"):
            training.curve(Layers(F.gelu), (torch.randn(512, 32),), costs=costs)
