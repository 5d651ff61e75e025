"""Views of parts that become copies in torch.export archives: PyTorch loads what was written, computes the
same bits, and what was waiting for late readers of a part is gone."""

import pytest

from conftest import DATA

torch = pytest.importorskip("torch", reason="torch is not installed: no graph can be run")

from exported_graphs import assert_same, model_of, nodes_of, run, save  # noqa: E402
from torch import nn  # noqa: E402

REORDER = ("--reorder", "on")


class Cross(nn.Module):
    """Cross-stage partial blocks: half of the channels goes past what the other half goes through."""

    def __init__(self, seed, blocks=3):
        super().__init__()
        torch.manual_seed(seed)
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.wide = nn.ModuleList(nn.Conv2d(16, 16, 1) for _ in range(blocks))
        self.widths = torch.randint(24, 48, (blocks,)).tolist()
        self.up = nn.ModuleList(nn.Conv2d(8, width, 1) for width in self.widths)
        self.down = nn.ModuleList(nn.Conv2d(width, 8, 3, padding=1) for width in self.widths)

    def parts(self, x):
        return x.split([8, 8], 1)

    def forward(self, x):
        x = self.stem(x)
        for wide, up, down in zip(self.wide, self.up, self.down):
            past, through = self.parts(wide(x))
            x = torch.cat([down(up(through).relu()), past], 1)
        return x.mean((2, 3))


class Halves(Cross):
    def parts(self, x):
        return x[:, :8], x[:, 8:]


class Singles(Cross):
    """Each half is one of two images, side by side."""

    def parts(self, x):
        past, through = x.reshape(1, 2, 8, 12, 12)[0].unbind(0)
        return past.unsqueeze(0), through.unsqueeze(0)


class Updated(Cross):
    """A view of what is updated afterwards must stay one."""

    def parts(self, x):
        past, through = x[:, :8], x[:, 8:]
        x.mul_(2)
        return past, through


class Returned(Cross):
    def forward(self, x):
        past, through = self.parts(self.wide[0](self.stem(x)))
        return self.down[0](self.up[0](through).relu()), past


def exported(model, tmp_path, images=1):
    x = torch.randn(images, 3, 12, 12)
    path = tmp_path / "model.pt2"
    save(torch.export.export(model.eval(), (x,)), path)
    return path, x


def copies_in(path):
    return [node["target"] for node in nodes_of(path) if "_copy." in node["target"]]


@pytest.mark.parametrize("model", [Cross, Halves])
@pytest.mark.parametrize("seed", range(3))
def test_views_that_are_read_late_are_copied(arenaut, arenaut_json, tmp_path, model, seed):
    path, x = exported(model(seed), tmp_path)
    output = tmp_path / "less.pt2"
    document = arenaut_json("plan", path, *REORDER, "-o", output)
    order = document["order"]
    assert order["proven"] and order["best"] < order["given"]
    assert len(copies_in(output)) == order["views"]["copied"] > 0
    assert arenaut_json("plan", output)["result"]["arena"] == document["result"]["arena"]
    assert arenaut_json("plan", path)["result"]["arena"] > document["result"]["arena"]
    assert arenaut_json("plan", output, *REORDER)["order"]["best"] == order["best"]
    before, after = run(path, (x,)), run(output, (x,))
    assert_same(before[0], after[0])
    assert after[1] < before[1]
    assert_same([torch.export.load(path).module()(x)], [torch.export.load(output).module()(x)])


def test_the_file_says_of_copies_what_torch_makes(arenaut, arenaut_json, tmp_path):
    path, x = exported(Halves(0), tmp_path)
    output = tmp_path / "less.pt2"
    arenaut_json("plan", path, *REORDER, "-o", output)
    program = torch.export.load(output)

    class Held(torch.fx.Interpreter):
        def run_node(self, node):
            made = super().run_node(node)
            if "_copy" in str(node.target):
                said = node.meta["val"]
                assert made.stride() == said.stride() and made.storage_offset() == said.storage_offset() == 0
                seen.append(node.name)
            return made

    seen = []
    with torch.no_grad():
        Held(program.graph_module).run(*program.state_dict.values(), x)
    assert len(seen) == len(copies_in(output)) > 0
    old, new = model_of(path), model_of(output)
    assert old["graph_module"]["graph"]["tensor_values"].keys() == new["graph_module"]["graph"]["tensor_values"].keys()


@pytest.mark.parametrize("model,images", [(Updated, 1), (Returned, 1), (Cross, 2), (Singles, 1)])
def test_other_views_stay_names(arenaut_json, tmp_path, model, images):
    """What is updated later, what is a result, what does not lie densely, and what has views of its own."""
    path, x = exported(model(0, blocks=1), tmp_path, images)
    output = tmp_path / "less.pt2"
    document = arenaut_json("plan", path, *REORDER, "-o", output)
    assert "views" not in document["order"]
    if output.exists():
        assert not copies_in(output)
        assert_same(run(path, (x,))[0], run(output, (x,))[0])


def test_up_to_three_views_are_looked_at_in_each_choice(arenaut, arenaut_json, tmp_path):
    """tests/models/make_pt2.py has the model: of three, one is better a copy."""
    output = tmp_path / "less.pt2"
    order = arenaut_json("plan", DATA / "pt2" / "parts.pt2", *REORDER, "-o", output)["order"]
    assert order["views"] == {"copied": 1, "of": 3} and order["proven"] and order["ops"] is None
    assert copies_in(output) == ["torch.ops.aten.split_with_sizes_copy.default"]
    assert "1 of 3 views are copies" in arenaut("size", DATA / "pt2" / "parts.pt2", *REORDER).stdout
    explained = arenaut("explain", DATA / "pt2" / "parts.pt2").stdout
    assert "ops in another order, or views as copies (--reorder on): arena 82,944, saves 30,720 (-27.0 %)" in explained


class OtherWritten(nn.Module):
    """A part of one buffer is read before a write to another one, which may be the same memory, and behind it."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("read", torch.randn(8, 8))
        self.register_buffer("written", torch.randn(8, 8))

    def forward(self, x):
        part = self.read[1:2]
        whole = torch.cat([part, x])
        first = whole[:8]
        self.written.mul_(2)
        return torch.cat([x, first])[:8], part * 1


def test_a_view_of_a_buffer_stays_one_before_a_write_to_another(arenaut, tmp_path):
    path, output, x = tmp_path / "before.pt2", tmp_path / "less.pt2", torch.randn(8, 8)
    save(torch.export.export(OtherWritten(), (x,)), path)
    arenaut("plan", path, *REORDER, "--passes", "reinplace,inplace,slices", "-o", output)
    assert len(copies_in(output)) == 1
    assert_same(run(path, (x,))[0], run(output, (x,))[0])
