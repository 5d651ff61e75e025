"""Reordered torch.export archives, loaded and run by PyTorch: the same bits, and the graph in the order
that was found."""

import json
import random
import zipfile

import pytest

from conftest import DATA

torch = pytest.importorskip("torch", reason="torch is not installed: no graph can be run")

from exported_graphs import assert_same, run  # noqa: E402


class Branches(torch.nn.Module):
    """Wide branches of a narrow value, all of them before any is narrow again."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        widths = torch.randint(8, 96, (5,)).tolist()
        self.wide = torch.nn.ModuleList(torch.nn.Linear(4, width) for width in widths)
        self.narrow = torch.nn.ModuleList(torch.nn.Linear(width, 4) for width in widths)
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x):
        old = self.count + 1
        self.count.add_(x.sum(0))
        wide = [layer(x).relu() for layer in self.wide]
        narrow = [layer(value) for layer, value in zip(self.narrow, wide)]
        return sum(narrow) + old


class Sized(Branches):
    """The same with sizes that are computed between."""

    def forward(self, x):
        n = x.shape[0]
        wide = [layer(x).reshape(n * layer.out_features) for layer in self.wide]
        narrow = [layer(value.reshape(n, layer.in_features))
                  for layer, value in zip(self.narrow, wide)]
        return sum(narrow)


def order_of(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        name, = (each for each in archive.namelist() if each.endswith("models/model.json"))
        nodes = json.loads(archive.read(name))["graph_module"]["graph"]["nodes"]
    return [node["outputs"] for node in nodes]


def run_twice(path, x):
    """The second time with the state that the first one left."""
    module = torch.export.load(path).module()
    return [module(x), module(x)]


@pytest.mark.parametrize("seed", range(3))
def test_reordered_graphs_load_and_compute_the_same(arenaut, arenaut_json, tmp_path, seed):
    x = torch.randn(3, 4)
    path, output = tmp_path / "branches.pt2", tmp_path / "reordered.pt2"
    torch.export.save(torch.export.export(Branches(seed).eval(), (x,)), path)
    given = arenaut_json("plan", path)["result"]["arena"]
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    order = document["order"]
    assert order["proven"] and order["best"] < order["given"]
    assert document["result"]["arena"] < given
    assert order_of(output) != order_of(path)
    assert sorted(map(str, order_of(output))) == sorted(map(str, order_of(path)))
    assert output.stat().st_size == path.stat().st_size
    assert arenaut_json("plan", output)["result"]["arena"] == document["result"]["arena"]
    for a, b in zip(run_twice(path, x), run_twice(output, x)):
        assert torch.equal(a, b)


def test_sizes_are_computed_before_they_are_used(arenaut, arenaut_json, tmp_path):
    x = torch.randn(3, 4)
    path, output = tmp_path / "sized.pt2", tmp_path / "reordered.pt2"
    batch = {0: torch.export.Dim("batch", min=2, max=64)}
    torch.export.save(torch.export.export(Sized(1).eval(), (x,), dynamic_shapes=(batch,)), path)
    assert "as_name" in json.dumps(order_of(path)) or "sym_size" in json.dumps(order_of(path))
    document = arenaut_json("plan", path, "--reorder", "on", "--dim", "*=64", "-o", output)
    assert document["order"] is not None
    for a, b in zip(run_twice(path, x), run_twice(output, x)):
        assert torch.equal(a, b)


class Draws(torch.nn.Module):
    """Two draws of random numbers, the second of which had better come first."""

    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def forward(self, x):
        wide = x.repeat(1, 16)
        t = wide.sum(1, keepdim=True).repeat(1, 16 * 64).reshape(64, 16, 64).sum(2)
        return self.draw(t - 100) + torch.nn.functional.dropout(wide, 0.5, True).sum(1, keepdim=True)


@pytest.mark.parametrize("draw", [
    lambda t: torch.nn.functional.scaled_dot_product_attention(t, t, t, dropout_p=0.5),
    lambda t: torch.nn.functional.rrelu(t, training=True),
    lambda t: torch._standard_gamma(t.abs())], ids=["attention", "rrelu", "gamma"])
def test_random_numbers_are_drawn_in_their_sequence(arenaut, tmp_path, draw):
    x = torch.randn(64, 16)
    path, output, made = tmp_path / "draws.pt2", tmp_path / "reordered.pt2", []
    torch.export.save(torch.export.export(Draws(draw).train(), (x,)), path)
    arenaut("plan", path, "--reorder", "on", "-o", output)
    for each in (path, output):
        torch.manual_seed(0)
        made.append(torch.export.load(each).module()(x))
    assert torch.equal(*made)


class Out(torch.nn.Module):
    """Results in parts of tensors that are there already, of out variants by either kind of name."""

    def forward(self, x):
        both, place = torch.zeros(2, 4), torch.zeros(4, dtype=torch.int64)
        wide = x.repeat(1, 2000)
        again = wide.sum().repeat(8000)
        torch.add(x[:, 0], again.sum(), out=both[0])
        torch.max(again.reshape(4, 2000) * x[:, :1], 1, out=(both[1], place))
        return wide.sum(1) + both.sum(0)


@torch.library.custom_op("test_reorder_pt2::bump", mutates_args={"t"})
def bump(t: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    t.mul_(by)
    return by + 1


@bump.register_fake
def _(t, by):
    return torch.empty_like(by)


class Custom(torch.nn.Module):
    """An operator of another library that updates an operand, with a result that nothing reads."""

    def forward(self, x):
        y = x + 1
        wide = x.repeat(1, 2000)
        bump(y, wide.sum().repeat(8000).sum())
        return wide.sum(1, keepdim=True) + y


class Observed(torch.nn.Module):
    """Operators that update operands beside their result, the update being all that is read."""

    def forward(self, x):
        low, high, scale, on = torch.full((1,), 1e9), torch.full((1,), -1e9), torch.ones(1), torch.ones(1, dtype=torch.int64)
        noise = torch.zeros(4, 4)
        wide = x.repeat(1, 2000)
        again = wide.sum().repeat(8000).reshape(4, 2000)
        torch.fused_moving_avg_obs_fake_quant(again + x[:, :1], on, on, low, high, scale, on.clone(), 0.5, 0, 255, -1)
        torch.ops.aten.rrelu_with_noise(x - again.sum(), noise, 0.25, 0.25, True)
        return wide.sum(1) + noise.sum() * 0.1 + low + high + scale


class Normalized(torch.nn.Module):
    def forward(self, x):
        mean, var = torch.zeros(4), torch.ones(4)
        wide = x.repeat(1, 2000)
        again = wide.sum().repeat(8000).reshape(2000, 4)
        torch.ops.aten._batch_norm_with_update(again + x[0], torch.ones(4), torch.ones(4), mean, var, 0.5, 1e-5)
        return wide.sum(1) + mean + var


@pytest.mark.parametrize("model", [Out, Custom, Observed, Normalized])
def test_operands_are_read_after_they_are_written(arenaut, tmp_path, model):
    x = torch.randn(4, 4)
    path, output = tmp_path / "writes.pt2", tmp_path / "reordered.pt2"
    torch.export.save(torch.export.export(model().eval(), (x,)), path)
    arenaut("plan", path, "--reorder", "on", "-o", output)
    assert torch.equal(run_twice(output, x)[0], run_twice(path, x)[0])


class Part(torch.nn.Module):
    """A part that is read before another one is written, perhaps the same; where it lies is told by data, or by a size."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self, x, at):
        n = at.item() if self.rows is None else x.shape[0] - self.rows
        torch._check(n >= 0)
        torch._check(n <= 4)
        y = torch.zeros(8, 4000)
        part = y.narrow(0, n, 4) * 2
        y[4:8].add_(x[:4].repeat(1, 1000))
        return (part * y.sum()).sum()


@pytest.mark.parametrize("rows", [None, 4])
def test_parts_at_places_that_vary_may_be_any(arenaut_json, tmp_path, rows):
    path, varying = tmp_path / "part.pt2", None if rows is None else ({0: torch.export.Dim("n", min=4, max=8)}, None)
    torch.export.save(torch.export.export(Part(rows), (torch.randn(6, 4), torch.tensor(4)), dynamic_shapes=varying), path)
    made = arenaut_json("plan", path, "--reorder", "on")
    assert made["order"]["best"] == made["result"]["arena"] == 4 * 4000 * (8 + 4 + 4)


class Halves(torch.nn.Module):
    """One half is read, and the other is updated: which may come first is known of the lowered graph alone."""

    def forward(self, x):
        whole = torch.zeros(8, 4000)
        read = whole.narrow(0, 0, 4) * 2
        whole[4:] += x.repeat(1, 1000)
        return (read * whole.sum()).sum()


def test_the_peak_that_is_said_is_of_the_order_that_is_written(arenaut, arenaut_json, tmp_path):
    path, output = tmp_path / "halves.pt2", tmp_path / "reordered.pt2"
    torch.export.save(torch.export.export(Halves(), (torch.randn(4, 4),)), path)
    order = arenaut_json("plan", path, "--reorder", "on", "-o", output)["order"]
    assert order["best"] < order["given"]
    assert arenaut_json("plan", output, "--reorder", "on")["order"]["given"] == order["best"]


@pytest.mark.parametrize("name", ["cache", "chain", "gradients", "norm", "norm_functional",
                                  "custom_functional", "custom_returns"])
def test_shipped_graphs_keep_their_meaning(arenaut, tmp_path, name):
    output = tmp_path / f"{name}.pt2"
    arenaut("plan", DATA / "pt2" / f"{name}.pt2", "--reorder", "on", "-o", output)
    arenaut("size", output)
    assert sorted(map(str, order_of(output))) == sorted(map(str, order_of(DATA / "pt2" / f"{name}.pt2")))


def test_weights_are_not_moved(arenaut, tmp_path):
    path, output = tmp_path / "branches.pt2", tmp_path / "reordered.pt2"
    torch.export.save(torch.export.export(Branches(0).eval(), (torch.randn(3, 4),)), path)
    arenaut("plan", path, "--reorder", "on", "-o", output)
    with zipfile.ZipFile(path) as a, zipfile.ZipFile(output) as b:
        assert a.namelist() == b.namelist()
        for one, other in zip(a.infolist(), b.infolist()):
            assert one.header_offset == other.header_offset
            assert one.filename.endswith("model.json") or a.read(one) == b.read(other)


# ---- whether an order is worth writing ----

class Tangle(torch.nn.Module):
    """Wide values of narrow ones, some with a second operand, at random."""

    def __init__(self, seed):
        super().__init__()
        self.seed = seed

    def forward(self, x):
        chance, values = random.Random(self.seed), [x]
        for _ in range(chance.randint(4, 9)):
            value = chance.choice(values[-4:])
            value = torch.sin(value.sum(1, keepdim=True).repeat(1, chance.randint(1, 40)))
            if chance.random() < .5:
                value = value * chance.choice(values).sum(1, keepdim=True)
            values.append(value)
        return sum(value.sum(1, keepdim=True) for value in values[1:])


def tangle(tmp_path, seed):
    path, inputs = tmp_path / "tangle.pt2", (torch.randn(16, 4),)
    torch.export.save(torch.export.export(Tangle(seed), inputs), path)
    return path, inputs


@pytest.mark.parametrize("seed", [16, 28])
def test_an_order_is_judged_by_bytes_alive_which_is_what_pytorch_needs(arenaut, arenaut_json, tmp_path, seed):
    """A planner that PyTorch has not, that of ExecuTorch, would do worse in these orders."""
    path, inputs = tangle(tmp_path, seed)
    output = tmp_path / "reordered.pt2"
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    assert document["order"]["proven"] and document["order"]["best"] < document["order"]["given"]
    assert order_of(output) != order_of(path)
    (before, peak), (after, less) = run(path, inputs), run(output, inputs)
    assert_same(before, after)
    assert less < peak


def test_by_force_an_order_is_written_that_the_planner_of_its_runtime_does_worse_with(arenaut, package, tmp_path):
    path, inputs = tangle(tmp_path, 46)
    output, flags = tmp_path / "reordered.pt2", ("--reorder", "on", "--target", "onnxruntime")
    done = arenaut("plan", path, *flags, "-o", output)
    assert "the runtime needs less for the file as it is, and -f writes the new order" in done.stdout
    assert output.read_bytes() == path.read_bytes()
    model = package.open(path, target="onnxruntime").plan(reorder=True)
    with pytest.raises(package.RefusedError):
        model.save(tmp_path / "refused.pt2")
    model.save(tmp_path / "forced.pt2", force=True)
    arenaut("plan", path, *flags, "-f", "-o", output)
    assert output.read_bytes() == (tmp_path / "forced.pt2").read_bytes() != path.read_bytes()
    assert_same(run(path, inputs)[0], run(output, inputs)[0])


# ---- graphs within nodes ----

def wide(x, seed):
    """Branches of a narrow value that are wide first, all of them before any is narrow again."""
    widths = [8 + (seed * 37 + k * 23) % 56 for k in range(4)]
    values = [torch.sin(x.repeat(1, width)) for width in widths]
    return sum(value.sum(1, keepdim=True) * x for value in values)


class Flow(torch.nn.Module):
    """Two branches, one of them with a branch in it, and a loop, each with branches to be ordered."""

    def forward(self, x, flag, n):
        def way(value, other):
            inner = torch.cond(flag, lambda v: wide(v, 1) + other, lambda v: wide(v, 2) - other, (value,))
            return wide(value, 3) + inner

        def step(i, value):
            return i + 1, wide(value, 4).tanh()

        y = wide(x, 5)
        y = torch.cond(y.sum() > 0, way, lambda v, other: wide(v, 6) * other, (y, x))
        _, y = torch._higher_order_ops.while_loop(lambda i, v: i < n, step, (torch.tensor(0), y))
        return wide(y, 7) + x


class SizedFlow(torch.nn.Module):
    """Sizes that are computed around a branch, and within; the branch is given views."""

    def forward(self, x, flag):
        n = x.shape[0]
        a, b = (wide(x, seed).reshape(n) for seed in (8, 9))

        def way(u, v):
            rows = u.shape[0]
            return wide(u.reshape(rows, 1), 10) + v.reshape(rows * 1, 1).repeat(1, 3).sum(1, keepdim=True)

        c = torch.cond(flag, way, lambda u, v: wide(v.reshape(-1, 1), 11), (a, b))
        return wide(c.reshape(n, 1), 12) + a.reshape(n, 1)


def graphs_of(path):
    """The order of the nodes in each graph, the outermost first."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        name, = (each for each in archive.namelist() if each.endswith("models/model.json"))
        graphs = [json.loads(archive.read(name))["graph_module"]["graph"]]
    for graph in graphs:
        graphs += [each["arg"]["as_graph"]["graph"] for node in graph["nodes"]
                   for each in node["inputs"] if "as_graph" in each["arg"]]
    return [[str(node["outputs"]) for node in graph["nodes"]] for graph in graphs]


def save_flow(path, model, inputs, **more):
    torch.export.save(torch.export.export(model, inputs, **more), path)


def test_graphs_within_nodes_are_reordered_with_these(arenaut, arenaut_json, tmp_path):
    path, output = tmp_path / "flow.pt2", tmp_path / "reordered.pt2"
    save_flow(path, Flow(), (torch.randn(8, 1), torch.tensor(True), torch.tensor(3)))
    given = arenaut_json("plan", path)["result"]["arena"]
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    assert document["order"]["proven"] and document["result"]["arena"] < given
    assert output.stat().st_size == path.stat().st_size
    assert arenaut_json("plan", output)["result"]["arena"] == document["result"]["arena"]
    before, after = graphs_of(path), graphs_of(output)
    assert list(map(sorted, before)) == list(map(sorted, after)) and len(before) == 7
    moved = [a != b for a, b in zip(before, after)]
    assert moved[0] and sum(moved) >= 5, moved
    one, other = torch.export.load(path).module(), torch.export.load(output).module()
    for flag in (True, False):
        for n in (0, 3):
            for sign in (1, -1):
                x = sign * torch.rand(8, 1)
                assert torch.equal(one(x, torch.tensor(flag), torch.tensor(n)),
                                   other(x, torch.tensor(flag), torch.tensor(n)))


def test_sizes_around_and_within_branches_are_computed_before_they_are_used(arenaut, arenaut_json, tmp_path):
    path, output = tmp_path / "sized.pt2", tmp_path / "reordered.pt2"
    batch = ({0: torch.export.Dim("batch", min=2, max=64)}, None)
    save_flow(path, SizedFlow(), (torch.randn(8, 1), torch.tensor(True)), dynamic_shapes=batch)
    document = arenaut_json("plan", path, "--reorder", "on", "--dim", "*=64", "-o", output)
    assert document["order"]["best"] < document["order"]["given"]
    assert graphs_of(output) != graphs_of(path)
    one, other = torch.export.load(path).module(), torch.export.load(output).module()
    for flag in (True, False):
        for rows in (2, 5, 64):
            x = torch.randn(rows, 1)
            assert torch.equal(one(x, torch.tensor(flag)), other(x, torch.tensor(flag)))


@pytest.mark.parametrize("name", ["apart", "branches", "loop", "scan"])
def test_shipped_graphs_within_nodes_keep_their_meaning(arenaut, tmp_path, name):
    output = tmp_path / f"{name}.pt2"
    arenaut("plan", DATA / "pt2" / f"{name}.pt2", "--reorder", "on", "-o", output)
    before, after = graphs_of(DATA / "pt2" / f"{name}.pt2"), graphs_of(output)
    assert list(map(sorted, before)) == list(map(sorted, after)) and len(before) > 1
