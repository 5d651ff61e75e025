"""What shares memory: the passes' answer from the file alone, against PyTorch, which runs each
graph and is asked for every value's storage."""

import json
import re
import subprocess
import zipfile

import pytest

from conftest import COMMAND, DATA, corpus_params

torch = pytest.importorskip("torch", reason="torch is not installed: no graph can be run")
MODELS = ["apart", "branches", "cache", "cache_functional", "chain", "count", "custom_functional", "custom_returns", "decode",
          "gradients", "norm", "norm_functional", "sizes", "waiting"]


@pytest.fixture(scope="module")
def programs():
    import make_pt2

    return dict(make_pt2.programs())


class Recorder(torch.fx.Interpreter):
    """Runs a graph, and keeps all that it computes, so that no address is used twice."""

    def __init__(self, module):
        super().__init__(module, garbage_collect_values=False)
        self.values = {}

    def run_node(self, node):
        value = super().run_node(node)
        if isinstance(value, torch.Tensor) and value.numel() > 0:
            self.values[node.name] = value
        return value


def storages_in_torch(program):
    args, kwargs = program.example_inputs
    recorder = Recorder(program.graph_module)
    recorder.run(*program._graph_module_flat_inputs(args, kwargs))
    return {name: value.untyped_storage().data_ptr() for name, value in recorder.values.items()}


def storages_in_plan(arenaut, path):
    """Undoing export's wrapping of updates would leave out copies that PyTorch makes."""
    done = arenaut("plan", path, "-q", "--passes=-undo-functionalization", "--dump-after", "views")
    tensors = [t for t in json.loads(done.stderr)["tensors"] if t["method"] == "forward"]
    return {t["name"]: t.get("view_of", t["name"]) for t in tensors}


@pytest.mark.parametrize("name", MODELS)
def test_views_are_those_that_torch_makes(name, programs, arenaut):
    theirs = storages_in_torch(programs[name])
    ours = storages_in_plan(arenaut, DATA / "pt2" / f"{name}.pt2")
    common = sorted(theirs.keys() & ours.keys())
    assert len(common) >= 3
    for i, a in enumerate(common):
        for b in common[:i]:
            assert (theirs[a] == theirs[b]) == (ours[a] == ours[b]), f"{a} and {b}"


@pytest.mark.parametrize("path", corpus_params("pt2/vit_tiny.pt2"))
def test_in_place_needs_no_fixed_batch(arenaut_json, path):
    """Its batch varies: what is in place at the largest is so at any."""
    for batch in ((), ("--dim", "s77=64")):
        document = arenaut_json("plan", path, "--inplace", "on", *batch)
        assert document["baseline"]["arena"] == 87146496
        assert document["result"]["arena"] == 58097664


THEIRS = rb'\n  File \"/usr/lib/python3/site-packages/torch/fx/experimental/proxy_tensor.py\", line 1738, in wrapped'


def sources_of(path):
    done = subprocess.run([COMMAND, "export", path, "--as", "program"], capture_output=True, check=True)
    return [op.get("source") for method in json.loads(done.stdout)["methods"] for op in method["ops"]]


def test_the_source_of_an_op_is_the_last_line_outside_of_pytorch(tmp_path):
    """Graphs of a forward and a backward pass are traced by PyTorch's own code, which ends all their stack traces."""
    path, traced = DATA / "pt2" / "apart.pt2", tmp_path / "traced.pt2"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(traced, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name.endswith("model.json"):
                assert text.count(b'"stack_trace": "') > 2
                text = re.sub(rb'("stack_trace": "(?:[^"\\]|\\.)*)"', lambda found: found[1] + THEIRS + b'"', text)
            new.writestr(name, text)
    assert sources_of(traced) == sources_of(path)
