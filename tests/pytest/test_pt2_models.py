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


class Twice(torch.nn.Module):
    def forward(self, x):
        return (x * 2).sum()


class Rows(torch.nn.Module):
    """Of which memory between them belongs to the result as well."""

    def forward(self, x):
        n = x.shape[0]
        rows = torch.empty_strided((n, n), (2 * n, 1)).fill_(1.0)
        return (rows * x[:, :1]).sum()


@pytest.mark.parametrize("module, given", [
    (Twice(), lambda n: torch.randn(n, 20)[:, ::2]),
    (Twice(), lambda n: torch.randn(n, 3, 4, 5).to(memory_format=torch.channels_last)),
    (Twice(), lambda n: torch.randn(6, n).t()),
    (Rows(), lambda n: torch.randn(n, 8)),
], ids=["every second column", "channels last", "transposed", "rows apart"])
def test_each_size_needs_what_an_export_at_it_does(arenaut_json, tmp_path, module, given):
    export, most = torch.export.export, 16
    path, fixed = tmp_path / "varies.pt2", tmp_path / "fixed.pt2"
    batch = torch.export.Dim("n", min=2, max=most)
    varies = export(module, (given(5),), dynamic_shapes=({0: batch},))
    torch.export.save(varies, path)
    (symbol,) = varies.range_constraints
    for n in (2, 3, 7, most):
        torch.export.save(export(module, (given(n),)), fixed)
        wanted = arenaut_json("size", fixed)["result"]["arena"]
        assert arenaut_json("size", path, "--dim", f"{symbol}={n}")["result"]["arena"] == wanted
    assert arenaut_json("size", path)["result"]["arena"] == wanted


THEIRS = rb'\n  File \"/usr/lib/python3/site-packages/torch/fx/experimental/proxy_tensor.py\", line 1738, in wrapped'


def sources_of(path):
    done = subprocess.run([COMMAND, "export", path, "--as", "program"], capture_output=True, check=True)
    return [op.get("source") for method in json.loads(done.stdout)["methods"] for op in method["ops"]]


def rewritten(path, copy, pattern, change):
    """A copy of an archive with texts of the model's metadata changed."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name.endswith("model.json"):
                text, n = re.subn(pattern, change, text)
                assert n > 2
            new.writestr(name, text)
    return copy


def test_the_source_of_an_op_is_the_last_line_outside_of_pytorch(tmp_path):
    """Graphs of a forward and a backward pass are traced by PyTorch's own code, which ends all their stack traces."""
    path = DATA / "pt2" / "apart.pt2"
    traced = rewritten(path, tmp_path / "traced.pt2", rb'("stack_trace": "(?:[^"\\]|\\.)*)"', lambda found: found[1] + THEIRS + b'"')
    assert sources_of(traced) == sources_of(path)


def test_a_stack_trace_is_read_in_time_in_proportion_to_its_length(tmp_path):
    trace = b'"' + b'File \\"/a' * 500_000 + b'"'
    path = rewritten(DATA / "pt2" / "chain.pt2", tmp_path / "long.pt2", rb'("stack_trace": )"(?:[^"\\]|\\.)*"', lambda found: found[1] + trace)
    subprocess.run([COMMAND, "export", path, "--as", "program"], capture_output=True, check=True, timeout=20)


@pytest.mark.parametrize("modules, module", [
    ("L__self__,,Net;L__self__a,a.0.b,Linear", "a.0.b"), ("L__self___orig_mod,_orig_mod.a,Net", "_orig_mod.a"),
    ("L__self__act,act@1,ReLU", "act"), ("wrapped,wrapped:70,Net", "wrapped"), ("L__self__,,Net", None), ("", None), (";", None),
    ("a,b", None),
    ("L__self__,,Net;getattr(L__self__net, '0'),net.0,Linear", "net.0"), ("L['self'].a[0, (1, 2)],a.b,Linear", "a.b"),
    ("L__self__,@1,Net", None), ("k),a,Net", "a"), ("(k,a,Net", None), (",".join(3 * ["_empty_nn_module_stack_from_metadata_hook"]), None)])
def test_the_source_of_an_op_names_its_innermost_module(tmp_path, modules, module):
    path = DATA / "pt2" / "chain.pt2"
    changed = rewritten(path, tmp_path / "changed.pt2", rb'("nn_module_stack": )"(?:[^"\\]|\\.)*"',
                        lambda found: found[1] + b'"' + modules.encode() + b'"')
    ends = {source.partition(" in ")[1:] for source in sources_of(changed) if source}
    assert ends == {(" in ", module) if module else ("", "")}
