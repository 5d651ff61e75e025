"""Nodes that run again in torch.export archives: PyTorch loads what was written, computes the same bits, and
needs less memory while it does."""

import json
import random as random_numbers
import subprocess
import warnings
import zipfile

import pytest

from conftest import COMMAND, DATA

torch = pytest.importorskip("torch", reason="torch is not installed: no graph can be run")

from drawn import some  # noqa: E402
from exported_graphs import assert_same, model_of, names_in, nodes_of, run, save  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

BOTH = ["--recompute", "on", "--reorder", "on"]
WAYS = [["--recompute", "on"], BOTH]


# ---- models ----

class Waiting(nn.Module):
    """What cheap nodes make of `a` waits, one of them with a view of it, one with other results, below a layer
    with many channels."""

    def __init__(self, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.wide, self.narrow = nn.Linear(16, 256), nn.Linear(256, 16)
        self.register_buffer("count", torch.zeros(16))

    def forward(self, x):
        a = x @ x.t() @ x
        self.count.add_(a.sum(0))
        b, view = a.relu(), a.sigmoid().view(16, 4, 4)
        norm, mean, _ = torch.native_layer_norm(a, (16,), None, None, 1e-5)
        c = self.narrow(self.wide(b + view.flatten(1) + norm).relu())
        return c + a + view.flatten(1), (c * norm + mean).relu() + self.count + b


class Feed(nn.Module):
    """Three layers of a transformer's feed-forward part, with their loss."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16), nn.Tanh())
                                    for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x.pow(2).mean()


class Block(nn.Module):
    def __init__(self, channels, wide):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.SiLU(),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False), nn.BatchNorm2d(wide),
            nn.SiLU(), nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return x + self.layers(x)


class Mobile(nn.Module):
    """A small MobileNet with its loss."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.SiLU())
        self.blocks = nn.Sequential(*(Block(8, 32) for _ in range(3)))
        self.head = nn.Linear(8, 10)

    def forward(self, x, y):
        h = self.blocks(self.stem(x)).mean((2, 3))
        return nn.functional.cross_entropy(self.head(h), y)


def save_joint(path, model=Mobile):
    """Forward and backward pass at batch 8."""
    from torch.export.experimental import _export_forward_backward
    torch.manual_seed(0)
    inputs = torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))
    if model is not Mobile:
        inputs = (torch.randn(32, 16),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(_export_forward_backward(torch.export.export(model().train(), inputs)), path)
    return inputs


# ---- tests ----

@pytest.mark.parametrize("flags", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_graphs_load_and_compute_the_same_in_less_memory(arenaut, arenaut_json, tmp_path, flags, seed):
    x = torch.randn(16, 16)
    path, output = tmp_path / "waiting.pt2", tmp_path / "again.pt2"
    save(torch.export.export(Waiting(seed).eval(), (x,)), path)
    document = arenaut_json("plan", path, *flags, "-o", output)
    again = document["recompute"]
    assert again["added_ops"] > 0
    assert arenaut_json("plan", output)["result"]["arena"] == document["result"]["arena"]
    assert arenaut_json("plan", path)["result"]["arena"] > document["result"]["arena"]
    assert len(nodes_of(output)) == len(nodes_of(path)) + again["added_ops"]
    one, other = torch.export.load(path).module(), torch.export.load(output).module()
    for _ in range(2):  # the second time with the state that the first one left
        assert_same(one(x), other(x))
    before, after = run(path, (x,)), run(output, (x,))
    assert_same(before[0], after[0])
    assert after[1] < before[1]


@pytest.mark.parametrize("flags", some(WAYS))
def test_a_training_step_needs_less(arenaut, arenaut_json, tmp_path, flags):
    """docs/recompute.md has these figures."""
    path, output = tmp_path / "joint.pt2", tmp_path / "again.pt2"
    inputs = save_joint(path)
    document = arenaut_json("plan", path, *flags, "-o", output)
    (before, peak), (after, less) = run(path, inputs), run(output, inputs)
    assert_same(before, after)
    arenas = [each["result"]["arena"] for each in (arenaut_json("plan", path), document)]
    print(f"{' '.join(flags)}: {document['recompute']['added_ops']} of {len(nodes_of(path))} nodes run again; "
          f"arena {arenas[0]:,} before, {arenas[1]:,} after; in PyTorch {peak:,} before, {less:,} after")
    assert less < 0.8 * peak
    assert document["recompute"]["after"] < document["recompute"]["before"]


@pytest.mark.parametrize("flags", WAYS)
def test_every_node_that_runs_is_needed(arenaut, arenaut_json, tmp_path, flags):
    """What nobody reads before it is made again is not made before, though the file made it there."""
    path, output = tmp_path / "joint.pt2", tmp_path / "again.pt2"
    inputs = save_joint(path, Feed)
    document = arenaut_json("plan", path, *flags, "-o", output)
    assert document["recompute"]["added_ops"] > 0
    graph = model_of(output)["graph_module"]["graph"]
    needed = set(names_in(graph["outputs"]))
    for node in reversed(graph["nodes"]):
        assert needed & set(names_in(node["outputs"])), node["outputs"]
        needed.update(names_in([each["arg"] for each in node["inputs"]]))
    (before, peak), (after, less) = run(path, inputs), run(output, inputs)
    assert_same(before, after)
    assert less < peak and less <= document["result"]["arena"]


def test_values_have_names_of_their_own_and_are_described(arenaut, tmp_path):
    path, output = tmp_path / "joint.pt2", tmp_path / "again.pt2"
    save_joint(path)
    arenaut("plan", path, *BOTH, "-o", output)
    before, after = model_of(path)["graph_module"], model_of(output)["graph_module"]
    old, new = before["graph"], after["graph"]
    made = [name for node in new["nodes"] for name in names_in(node["outputs"])]
    assert len(made) == len(set(made))
    added = set(made) - {name for node in old["nodes"] for name in names_in(node["outputs"])}
    assert added == set(new["tensor_values"]) - set(old["tensor_values"])
    assert added and all("__again_" in name for name in added)
    for name in added:
        assert new["tensor_values"][name] == old["tensor_values"][name.split("__again_")[0]]
    names = [node["name"] for node in new["nodes"]]
    assert len(names) == len(set(names))
    known = {name for each in new["inputs"] for name in names_in(each)}
    for node in new["nodes"]:
        read = {name for each in node["inputs"] for name in names_in(each["arg"])}
        assert read <= known
        known.update(names_in(node["outputs"]))
    assert {k: v for k, v in old.items() if k not in ("nodes", "tensor_values")} == {
        k: v for k, v in new.items() if k not in ("nodes", "tensor_values")}
    assert before["signature"] == after["signature"]


def test_names_that_are_taken_are_not_given_again(arenaut, arenaut_json, tmp_path):
    """A file that was written once is written again, with some of its names taken elsewhere."""
    path, output, taken, last = (tmp_path / f"{name}.pt2" for name in ("model", "again", "taken", "last"))
    x = torch.randn(16, 16)
    save(torch.export.export(Waiting().eval(), (x,)), path)
    arenaut("plan", path, *BOTH, "-o", output)
    fresh = sorted({name for node in nodes_of(output) for name in names_in(node["outputs"])
                    if "__again_" in name})
    take_names(path, taken, fresh)
    document = arenaut_json("plan", taken, *BOTH, "-o", last)
    assert document["recompute"]["added_ops"] > 0
    given = {name for node in nodes_of(last) for name in names_in(node["outputs"])}
    assert not given & set(fresh)
    assert {name.replace("__again_3", "__again_2") for name in given if "__again_" in name} == set(fresh)
    assert_same(run(path, (x,))[0], run(last, (x,))[0])


def take_names(path, output, names):
    """The archive with a model that says something of these names where no tensors are."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(output, "w") as new:
        for entry in old.namelist():
            content = old.read(entry)
            if entry.endswith("models/model.json"):
                model = json.loads(content)
                model["graph_module"]["metadata"] = dict.fromkeys(names, "taken")
                content = json.dumps(model)
            new.writestr(entry, content)


def data_places(path):
    """Where the bytes of entries begin."""
    data, places = path.read_bytes(), {}
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            at = entry.header_offset
            places[entry.filename] = at + 30 + sum(
                int.from_bytes(data[at + k:at + k + 2], "little") for k in (26, 28))
    return places


def model_first(path, output):
    """An archive as PyTorch writes them, with the model in front of the weights."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(archive.namelist(), key=lambda name: not name.endswith("model.json"))
        writer = torch._C.PyTorchFileWriter(str(output))
        for name in names:
            content = archive.read(name)
            part = name.split("/", 1)[1]
            if not part.startswith(".data") and part not in ("byteorder", "version"):
                writer.write_record(part, content, len(content))
        writer.write_end_of_file()


@pytest.mark.parametrize("moved", [False, True])
def test_weights_stay_aligned(arenaut, tmp_path, moved):
    path, output = tmp_path / "model.pt2", tmp_path / "again.pt2"
    save(torch.export.export(Waiting().eval(), (torch.randn(16, 16),)), path)
    if moved:
        model_first(path, tmp_path / "first.pt2")
        path = tmp_path / "first.pt2"
    arenaut("plan", path, *BOTH, "-o", output)
    before, after = data_places(path), data_places(output)
    assert before.keys() == after.keys()
    model, = (name for name in before if name.endswith("model.json"))
    grown = output.stat().st_size - path.stat().st_size
    assert grown > 0 and grown % 64 == 0
    behind = [name for name in before if before[name] > before[model]]
    assert any("weights" in name for name in behind) == moved
    for name in before:
        assert after[name] == before[name] + (grown if name in behind else 0)
    with zipfile.ZipFile(path) as one, zipfile.ZipFile(output) as other:
        assert other.testzip() is None
        assert one.read(model) != other.read(model)
        assert all(one.read(name) == other.read(name) for name in before if name != model)
    x = torch.randn(16, 16)
    assert_same(run(path, (x,))[0], run(output, (x,))[0])


def test_archives_of_other_writers_are_written(arenaut, tmp_path):
    """Sizes behind the bytes, and with 64 bits."""
    path, output = tmp_path / "model.pt2", tmp_path / "again.pt2"
    x = torch.randn(16, 16)
    save(torch.export.export(Waiting().eval(), (x,)), tmp_path / "torch.pt2")

    class Pipe:
        def __init__(self, file):
            self.write, self.flush = file.write, file.flush

    with zipfile.ZipFile(tmp_path / "torch.pt2") as old, open(path, "wb") as file:
        with zipfile.ZipFile(Pipe(file), "w") as new:
            for name in old.namelist():
                with new.open(zipfile.ZipInfo(name), "w", force_zip64=True) as entry:
                    entry.write(old.read(name))
    arenaut("plan", path, *BOTH, "-o", output)
    assert len(nodes_of(output)) > len(nodes_of(path))
    with zipfile.ZipFile(output) as archive:
        assert archive.testzip() is None
    assert_same(run(tmp_path / "torch.pt2", (x,))[0], run(output, (x,))[0])


def test_the_same_file_gives_the_same_bytes(arenaut, tmp_path):
    path, one, other = (tmp_path / f"{name}.pt2" for name in ("model", "one", "other"))
    save(torch.export.export(Waiting().eval(), (torch.randn(16, 16),)), path)
    for output in (one, other):
        arenaut("plan", path, *BOTH, "-o", output)
    assert one.read_bytes() == other.read_bytes()


def test_where_nothing_waits_the_file_is_copied(arenaut, tmp_path):
    output = tmp_path / "chain.pt2"
    done = arenaut("plan", DATA / "pt2" / "chain.pt2", "--recompute", "on", "-o", output)
    assert "a copy of the input" in done.stdout
    assert output.read_bytes() == (DATA / "pt2" / "chain.pt2").read_bytes()


def test_what_else_could_be_asked_for_is_said(arenaut, tmp_path):
    done = arenaut("plan", DATA / "pt2" / "chain.pt2", "-o", tmp_path / "chain.pt2", exit=2)
    assert "--reorder on" in done.stderr and "--recompute on" in done.stderr
    assert not (tmp_path / "chain.pt2").exists()


def test_damaged_files_leave_nothing_behind(tmp_path):
    """Of the archive any byte is changed; of the model, whose sum would show that, any part of its text."""
    data = (DATA / "pt2" / "waiting.pt2").read_bytes()
    with zipfile.ZipFile(DATA / "pt2" / "waiting.pt2") as archive:
        content = archive.read("waiting/models/model.json")
    random, written = random_numbers.Random(1), 0
    for turn in range(120):
        path, output = tmp_path / f"{turn}.pt2", tmp_path / f"{turn}.again.pt2"
        damaged = bytearray(data if turn % 2 else content)
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(damaged))
            damaged[at] = random.choice([random.randrange(256), damaged[random.randrange(len(damaged))]])
        if turn % 2:
            path.write_bytes(damaged)
        else:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("waiting/models/model.json", bytes(damaged))
        done = subprocess.run([COMMAND, "plan", path, *BOTH, "-o", output], capture_output=True, text=True,
                              check=False)
        assert done.returncode in (0, 3), done.stderr
        assert output.exists() == (done.returncode == 0), done.stderr
        written += done.returncode == 0
    assert written > 5


class Normalised(nn.Module):
    """Convolutions with batch norms that keep running statistics, and activations in place."""

    def __init__(self, layers=5):
        super().__init__()
        torch.manual_seed(0)
        sides = [3] + [8] * layers
        self.body = nn.Sequential(*(
            nn.Sequential(nn.Conv2d(a, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU6(inplace=True))
            for a, b in zip(sides, sides[1:])))

    def forward(self, x):
        return self.body(x).pow(2).mean()


def save_normalised(path):
    from torch.export.experimental import _export_forward_backward
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = torch.export.export(Normalised().train(), (torch.randn(2, 3, 16, 16),))
        save(_export_forward_backward(graph), path)


def test_batch_norms_with_statistics_and_activations_in_place_run_again(arenaut, arenaut_json, tmp_path):
    """Two tensors of one result each, which only go together; statistics are updated once."""
    path, output = tmp_path / "joint.pt2", tmp_path / "again.pt2"
    save_normalised(path)
    before = arenaut_json("plan", path)["result"]["arena"]
    after = arenaut_json("plan", path, "--recompute", "on", "-o", output)["result"]["arena"]
    assert after < 0.7 * before
    program = torch.export.load(path)
    inputs = [spec.arg.name for spec in program.graph_signature.input_specs if spec.target is None]
    assert len(inputs) == 1
    x = torch.randn(2, 3, 16, 16)
    assert_same(run_joint(path, x), run_joint(output, x))


def run_joint(path, x):
    """All results of the graph: loss, gradients, new statistics."""
    program = torch.export.load(path)
    values = [x if spec.target is None else program.state_dict[spec.target]
              for spec in program.graph_signature.input_specs]
    with torch.no_grad():
        return program.graph_module(*[value.clone() for value in values])


@pytest.mark.parametrize("share", [90, 75])
def test_a_budget_is_kept_at_the_least_time(arenaut, arenaut_json, tmp_path, share):
    path, output = tmp_path / "joint.pt2", tmp_path / "fits.pt2"
    save_normalised(path)
    fit = arenaut_json("plan", path)["result"]["arena"] * share // 100
    document = arenaut_json("plan", path, "--recompute", "on", "--fit", fit, "-o", output)
    found = document["recompute"]
    assert document["result"]["arena"] <= fit
    assert (share == 90 or found["bound_nanoseconds"] > 0) and found["bound_nanoseconds"] <= found["added_nanoseconds"] < found["nanoseconds"]
    assert found["floor"] <= fit
    x = torch.randn(2, 3, 16, 16)
    assert_same(run_joint(path, x), run_joint(output, x))


def test_below_the_floor_nothing_is_written(arenaut, arenaut_json, tmp_path):
    path, output = tmp_path / "joint.pt2", tmp_path / "fits.pt2"
    save_normalised(path)
    floor = arenaut_json("plan", path, "--recompute", "on", "--fit", "1G")["recompute"]["floor"]
    done = arenaut("plan", path, "--recompute", "on", "--fit", floor - 1, "-o", output, exit=1)
    assert f"any rematerialization needs at least {floor:,} (proven)" in done.stderr
    assert not output.exists()


def test_costs_are_those_of_a_file_or_of_a_device(arenaut, arenaut_json, tmp_path):
    path, costs = tmp_path / "joint.pt2", tmp_path / "costs.csv"
    save_normalised(path)
    fit = arenaut_json("plan", path)["result"]["arena"] * 3 // 4
    flags = ["plan", path, "--recompute", "on", "--fit", fit]
    times = [arenaut_json(*flags, "--device", device)["recompute"]["nanoseconds"]
             for device in ("a100", "cpu", "1e9:1e9")]
    assert times[2] == max(times) and len(set(times)) == 3
    assert "for 1e9:1e9" in arenaut(*flags, "--device", "1e9:1e9").stdout
    costs.write_text("method,op,nanoseconds\n# the first\nforward,0,1000000000\n,1,7\n")
    assert arenaut_json(*flags, "--costs", costs)["recompute"]["nanoseconds"] > 1000000000
    for row, word in (("forward,99999,1", "'op' is '99999'; allowed: whole numbers below "), ("other,0,1", "no method"),
                      ("forward,0,-1", "'nanoseconds' is '-1'"), ("forward,0,", "'nanoseconds' is ''"), ("forward,0", "a row has"),
                      (f"forward,0,{2**62}", f"'{2**62}'; allowed: whole numbers below {2**62}"),
                      ("forward,3,1\n,3,2", "line 3: a second row for op '3'")):
        costs.write_text(f"method,op,nanoseconds\n{row}\n")
        done = arenaut(*flags, "--costs", costs, "-o", tmp_path / "no.pt2", exit=3)
        assert word in done.stderr and f"line {2 + row.count(chr(10))}" in done.stderr
    assert not (tmp_path / "no.pt2").exists()
    assert "FLOPS:BYTES" in arenaut(*flags, "--device", "abacus", exit=2).stderr
    assert "nothing for the format pt2" in arenaut("plan", path, "--fit", fit, exit=3).stderr


class OtherWritten(nn.Module):
    """What a cheap node makes of one buffer waits while another one, which may be the same memory, is written."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("read", torch.randn(8, 8))
        self.register_buffer("written", torch.randn(8, 8))

    def forward(self, x):
        a = self.read.relu()
        self.written.add_(x)
        return a.repeat(1, 200).sum(1, keepdim=True), a * 0.5, a + 1


@pytest.mark.parametrize("flags", WAYS)
def test_no_reader_of_a_buffer_runs_again_behind_a_write_to_another(arenaut, tmp_path, flags):
    path, output, x = tmp_path / "before.pt2", tmp_path / "after.pt2", torch.randn(8, 8)
    save(torch.export.export(OtherWritten(), (x,)), path)
    arenaut("plan", path, *flags, "-o", output)
    assert_same(run(path, (x,))[0], run(output, (x,))[0])


class Unread(nn.Module):
    """Nodes that nothing reads, and that no op of a lowered program stands for, beside one that waits."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("mean", torch.rand(8, 8))
        self.register_buffer("scale", torch.rand(8, 8))

    def forward(self, x):
        first, second = x.split(4)
        noisy = second + functional.rrelu(second, training=True)
        scaled = self.scale * self.scale * 0.5
        scaled.t()
        functional.batch_norm(first, self.mean[0], self.scale[:, 0].abs(), None, None, True)
        self.mean.relu()
        return noisy, first * 1.0, scaled.t().relu()


@pytest.mark.parametrize("flags", WAYS)
def test_nodes_that_nothing_reads_stay_behind_those_that_they_read(arenaut, tmp_path, flags):
    path, output, x, found = tmp_path / "before.pt2", tmp_path / "after.pt2", torch.randn(8, 8), []
    save(torch.export.export(Unread(), (x,)), path)
    arenaut("plan", path, *flags, "-o", output)
    for each in (path, output):
        torch.manual_seed(1)
        found.append(run(each, (x,))[0])
    assert_same(*found)
