"""Graphs that bench/timm_graphs.py traces for bench/order_table.py, of networks like those of timm."""

import json
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

torch = pytest.importorskip("torch")

import order_problems  # noqa: E402
import order_table  # noqa: E402
import timm_graphs  # noqa: E402


class Branches(torch.nn.Module):
    """Two branches, each wide and then narrow: today both are widened first."""

    def __init__(self):
        super().__init__()
        self.widen = torch.nn.ModuleList(torch.nn.Conv2d(4, 64, 1) for _ in range(2))
        self.narrow = torch.nn.ModuleList(torch.nn.Conv2d(64, 1, 1) for _ in range(2))
        self.norm = torch.nn.BatchNorm2d(2)

    def forward(self, image):
        wide = [widen(image) for widen in self.widen]
        narrow = [narrow(x) for narrow, x in zip(self.narrow, wide)]
        first, second = self.norm(torch.cat(narrow, 1)).chunk(2, 1)
        return first.flatten(1) + second.flatten(1)


@pytest.fixture(scope="module")
def graph():
    with torch.device("meta"):
        network = Branches().eval()
    return timm_graphs.graph_of("branches", network, (4, 16, 16))


def of_kind(graph, kind):
    return [tensor for tensor in graph["tensors"] if tensor["kind"] == kind]


def test_weights_and_the_image_are_inputs_and_results_are_what_ops_make(graph):
    assert [tensor["shape"] for tensor in of_kind(graph, "input")] == [[1, 4, 16, 16]]
    assert len(of_kind(graph, "param")) == 8 + 5  # of convolutions, and of the norm with its counter
    assert all(tensor["producer"] is not None for tensor in of_kind(graph, "act"))
    assert [graph["tensors"][i]["shape"] for i in graph["outputs"]] == [[1, 256]]
    assert [op["op"] for op in graph["ops"]] == ["convolution"] * 4 + [
        "cat", "_native_batch_norm_legit_no_training", "split", "view", "view", "add"]


def test_views_lie_in_what_they_view(graph):
    tensors = graph["tensors"]
    split = next(op for op in graph["ops"] if op["op"] == "split")
    assert {tensors[i]["is_view_of"] for i in split["outputs"]} == {split["inputs"][0]}
    views = [tensor for tensor in tensors if tensor["is_view_of"] is not None]
    assert {graph["ops"][view["producer"]]["op"] for view in views} == {"split", "view"}


def test_the_table_shows_what_the_best_order_of_a_traced_graph_saves(
        graph, tmp_path, capsys, monkeypatch):
    """Alive at most: the image, a wide tensor and what either branch has come to."""
    one_after_the_other = 4 * 256 * (4 + 64 + 1)
    chain = {**graph, "ops": graph["ops"][:1], "outputs": graph["ops"][0]["outputs"]}
    chain["tensors"] = [t for t in graph["tensors"] if t["producer"] in (None, 0)]
    (tmp_path / "branches.json").write_text(json.dumps(graph))
    (tmp_path / "chain.json").write_text(json.dumps(chain))
    assert order_problems.names(tmp_path) == ["branches", "chain"]
    monkeypatch.setattr(sys, "argv", ["order_table.py", "--graphs", str(tmp_path), "--gains",
                                      "--modes", "v0"])
    order_table.main()
    rows = capsys.readouterr().out.splitlines()
    today, best = 4 * 256 * (4 + 64 + 64), one_after_the_other
    assert [row for row in rows if "branches" in row] == [
        f"| branches | v0 | 10 | {today / 1e6:.2f} | {best / 1e6:.2f} | {100 * (1 - best / today):.1f} % "
        f"| yes | {rows[2].split('|')[-2].strip()} |"]
    assert rows[-1] == "1 of 2 gain something; 1 nothing, proven; 0 nothing that was found"
