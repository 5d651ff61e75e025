"""One layout for several methods of .pte files: state of one name in memory of its own, written into the files, which
the stock runtime then runs in the same memories as PyTorch does."""

import functools
import itertools
import json
import subprocess

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import pte_runtime  # noqa: E402
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.exir.passes import MemoryPlanningPass as TheirPass  # noqa: E402
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass  # noqa: E402

WIDTH, LENGTH = 8, 16


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.register_buffer("k", torch.zeros(1, LENGTH, WIDTH))
        self.register_buffer("v", torch.zeros(1, LENGTH, WIDTH))
        self.query, self.key, self.value = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def attend(self, x, at):
        self.k[:, at] = self.key(x)
        self.v[:, at] = self.value(x)
        return torch.softmax(self.query(x) @ self.k.transpose(1, 2), -1) @ self.v


class Method(torch.nn.Module):
    """One of the methods that work on a cache."""

    def __init__(self, cache, run):
        super().__init__()
        self.cache, self.run = cache, run

    def forward(self, *inputs):
        return self.run(self.cache, *inputs)


def prefill(cache, x, at):
    return cache.attend(x, at)


def decode(cache, x, at):
    return torch.relu(cache.attend(x, at)) * 2 + x


def forget(cache, scale):
    """A third reader, which writes as well: only so does its file name the state."""
    cache.k.mul_(scale)
    cache.v.mul_(scale)
    return cache.k.sum(1) + cache.v.sum(1)


def look(cache, scale):
    return cache.k.sum(1) * scale


def inputs_of(run, seed=0):
    torch.manual_seed(seed)
    if run is prefill:
        return torch.randn(1, 4, WIDTH), torch.tensor([0, 1, 2, 3])
    return (torch.randn(1, 1, WIDTH), torch.tensor([4 + seed])) if run is decode else (torch.rand(1) + 0.5,)


@functools.cache  # each export takes a second, and most tests want those of the same methods
def exported(runs, share=False, first_values=False, k=0, **options):
    cache = Cache()
    cache.k += k
    programs = {run.__name__: torch.export.export(Method(cache, run), inputs_of(run), strict=True) for run in runs}
    first = {"passes": [InitializedMutableBufferPass(["k", "v"])]} if first_values else {}
    return to_edge(programs, compile_config=EdgeCompileConfig(_check_ir_validity=False)).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=TheirPass(share_mutable_buffers=share),
                                **{"emit_mutable_buffer_names": True, **options, **first})).buffer


def write(folder, runs, name=None, **options):
    path = folder / f"{name or runs[0].__name__}.pte"
    path.write_bytes(exported(tuple(runs), **options))
    return path


def figures(arenaut_json, *paths, **options):
    made = arenaut_json("plan", *paths, "--share", options.get("names", "auto"))
    return made["baseline"]["arena"], made["result"]["arena"], made["result"]["status"]


def memories(arenaut_json, *paths):
    return {row["method"]: sizes for row, sizes in
            ((rows[0], [row["planned"] for row in rows]) for rows in
             (list(group) for _, group in itertools.groupby(
                 arenaut_json("plan", *paths, "--share", "auto")["memories"], lambda row: row["method"])))}


SEQUENCE = [prefill, decode, decode, forget, decode]


def in_torch(runs=SEQUENCE):
    cache = Cache()
    return [Method(cache, run)(*inputs_of(run, k)).detach().clone() for k, run in enumerate(runs)]


def test_several_files_get_one_layout(arenaut, arenaut_json, tmp_path):
    paths = [write(tmp_path, [run]) for run in (prefill, decode, forget)]
    now, planned, status = figures(arenaut_json, *paths)
    sizes = memories(arenaut_json, *paths)
    assert status == "optimal" and planned == max(own for own, _ in sizes.values()) + 2 * 4 * LENGTH * WIDTH < now
    out = tmp_path / "out"
    arenaut("plan", *paths, "--share", "auto", "-o", out)
    written = [out / path.name for path in paths]
    for path in written:
        arenaut("check", path)
    arenaut("check", *written, "--share", "auto")
    assert figures(arenaut_json, *written) == (planned, planned, "optimal")
    # State at one place in a memory that has nothing else.
    for method in json.loads(arenaut("export", written[0], "--as", "program").stdout)["methods"]:
        assert len(method["given_pools"]) == 2


def test_copies_of_caches_are_the_exporters(arenaut_json, tmp_path):
    """Caches that are updated in place have no second copy in the files."""
    runs = (prefill, decode, forget)
    plain, updated = (figures(arenaut_json, *(write(tmp_path, [run], f"{run.__name__}{again}", run_reinplace_pass=again)
                                              for run in runs)) for again in (False, True))
    assert plain[1:] == (3200, "optimal") and updated[1:] == (2176, "optimal")


@pytest.fixture(scope="module")
def joint():
    """The program of examples/executorch that gives all methods the same memories."""
    return pte_runtime.build("joint", ROOT / "examples/executorch")


def in_runtime(joint, paths, runs=SEQUENCE):
    calls = "".join(" ".join([run.__name__, *(repr(number) for one in inputs_of(run, k) for number in one.flatten().tolist())])
                    + "\n" for k, run in enumerate(runs))
    done = subprocess.run([joint, *paths], input=calls, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    sizes = [int(line.split()[2]) for line in lines if line.startswith("memory")]
    return sizes, [torch.tensor([float(number) for number in line.split()]) for line in lines[len(sizes):]]


def assert_like_torch(outputs, runs=SEQUENCE):
    for mine, theirs in zip(outputs, in_torch(runs), strict=True):
        torch.testing.assert_close(mine, theirs.flatten(), atol=1e-5, rtol=1e-5)


def test_the_stock_runtime_runs_several_files_in_the_same_memories(arenaut, arenaut_json, joint, tmp_path):
    paths = [write(tmp_path, [run]) for run in (prefill, decode, forget)]
    _, planned, _ = figures(arenaut_json, *paths)
    arenaut("plan", *paths, "--share", "auto", "-o", tmp_path / "out")
    sizes, outputs = in_runtime(joint, [tmp_path / "out" / path.name for path in paths])
    assert sum(sizes) == planned
    assert_like_torch(outputs)
    with pytest.raises(AssertionError):  # as they were, each has a cache of its own
        assert_like_torch(in_runtime(joint, paths)[1])


@pytest.mark.parametrize("share", [False, True])
def test_one_file_with_several_methods(arenaut, arenaut_json, joint, tmp_path, share):
    path = write(tmp_path, [prefill, decode, forget] + [look] * share, share=share)
    now, planned, status = figures(arenaut_json, path)
    assert status == "optimal" and planned <= now
    out = tmp_path / "out.pte"
    arenaut("plan", path, "--share", "auto", "-o", out)
    arenaut("check", out)
    arenaut("check", out, "--share", "auto")
    runs = SEQUENCE + [look] * share
    sizes, outputs = in_runtime(joint, [out], runs)
    assert sum(sizes) == planned
    assert_like_torch(outputs, runs)
    python = pte_runtime.Python(out.read_bytes())  # the wheel's bindings do so by themselves
    assert_like_torch([python.call(*inputs_of(run, k), method=run.__name__)[0].flatten() for k, run in enumerate(runs)], runs)


def test_first_values_are_compared(arenaut, joint, tmp_path):
    paths = [write(tmp_path, [run], first_values=True) for run in (prefill, decode)]
    wrong = write(tmp_path, [forget], k=1, first_values=True)
    arenaut("plan", *paths, "--share", "auto", "-o", tmp_path / "out")
    runs = [prefill, decode]
    assert_like_torch(in_runtime(joint, [tmp_path / "out" / path.name for path in paths], runs)[1], runs)
    told = arenaut("plan", *paths, wrong, "--share", "auto", exit=3).stderr
    assert "'cache.k' is to be shared, but has another initial value in 'forget'" in told


def test_only_the_names_that_are_asked_for(arenaut, arenaut_json, tmp_path):
    paths = [write(tmp_path, [run]) for run in (prefill, decode)]
    both, one = figures(arenaut_json, *paths), figures(arenaut_json, *paths, names="cache.k")
    assert both[1] < one[1] < both[0] == one[0]
    many = write(tmp_path, [prefill, decode], name="many")
    assert figures(arenaut_json, many, names="cache.k")[1] == one[1]


def test_missing_names_are_told_with_their_cure(arenaut, tmp_path):
    named, unnamed = write(tmp_path, [prefill]), write(tmp_path, [decode], emit_mutable_buffer_names=False)
    reader = write(tmp_path, [look])
    for paths, names, message in (([unnamed, named], "auto", "no buffers of these files can be shared"),
                                  ([named, reader], "auto", "no buffers of these files can be shared"),
                                  ([named, unnamed], "cache.k", "'cache.k' cannot be shared"),
                                  ([named], "cache.k", "'cache.k' is not the name of a buffer of several methods")):
        told = arenaut("plan", *paths, "--share", names, exit=2).stderr
        assert message in told
        assert "emit_mutable_buffer_names=True" in told and "share_mutable_buffers=True" in told


def test_methods_that_are_apart_are_not_joint(arenaut, tmp_path):
    paths = [write(tmp_path, [run]) for run in (prefill, decode)]
    told = arenaut("check", *paths, "--share", "auto", exit=1).stdout
    assert "memory 1 holds shared state and tensors of one method" in told
    out = tmp_path / "out"
    arenaut("plan", *paths, "--share", "auto", "-o", out)
    told = arenaut("check", out / "prefill.pte", paths[1], "--share", "auto", exit=1).stdout
    assert "wrong (pool)" in told
    # One of them from another layout, where the state lies elsewhere.
    arenaut("plan", paths[0], write(tmp_path, [forget], name="forget"), "--share", "cache.v", "-o", tmp_path / "other")
    assert "wrong" in arenaut("check", tmp_path / "other" / "prefill.pte", out / "decode.pte", "--share", "auto", exit=1).stdout


def test_a_planned_layout_stays(arenaut, arenaut_json, tmp_path):
    paths = [write(tmp_path, [run]) for run in (prefill, decode)]
    first, second = tmp_path / "first", tmp_path / "second"
    arenaut("plan", *paths, "--share", "auto", "-o", first)
    again = arenaut("plan", *(first / path.name for path in paths), "--share", "auto", "-o", second).stdout
    assert "needs no more" in again
    assert all((first / path.name).read_bytes() == (second / path.name).read_bytes() for path in paths)


def test_files_of_one_name_are_refused_before_anything_is_written(arenaut, tmp_path):
    (tmp_path / "a").mkdir()
    paths = [write(tmp_path, [prefill], name="x"), write(tmp_path / "a", [decode], name="x")]
    assert "same name" in arenaut("plan", *paths, "--share", "auto", "-o", tmp_path / "out", exit=2).stderr
    assert not (tmp_path / "out").exists()


def test_methods_of_one_file_may_begin_otherwise_where_each_has_a_state_of_its_own(arenaut, arenaut_json, tmp_path):
    other = Cache()
    other.v += 1
    programs = {run.__name__: torch.export.export(Method(cache, run), inputs_of(run), strict=True)
                for run, cache in ((prefill, Cache()), (decode, other))}
    path = tmp_path / "apart.pte"
    path.write_bytes(to_edge(programs, compile_config=EdgeCompileConfig(_check_ir_validity=False)).to_executorch(
        ExecutorchBackendConfig(emit_mutable_buffer_names=True, passes=[InitializedMutableBufferPass(["k", "v"])])).buffer)
    arenaut("check", path)
    arenaut("plan", path)
    assert "'cache.v' has another initial value" in arenaut("plan", path, "--share", "auto", exit=3).stderr
    assert "planned" in arenaut("plan", path, "--share", "cache.k").stdout


def test_state_that_is_not_shared_is_left_alone_by_other_methods(arenaut, joint, tmp_path):
    paths = [write(tmp_path, [run]) for run in (prefill, decode)]
    arenaut("plan", *paths, "--share", "cache.k", "-o", tmp_path / "out")
    first, second = Cache(), Cache()
    second.k = first.k
    runs = [prefill, decode, prefill, decode]
    modules = {prefill: Method(first, prefill), decode: Method(second, decode)}
    _, outputs = in_runtime(joint, [tmp_path / "out" / path.name for path in paths], runs)
    for k, run in enumerate(runs):
        torch.testing.assert_close(outputs[k], modules[run](*inputs_of(run, k)).flatten(), atol=1e-5, rtol=1e-5)


def test_python_writes_the_same_files(arenaut, package, tmp_path):
    paths = [write(tmp_path, [run]) for run in (prefill, decode)]
    arenaut("plan", *paths, "--share", "auto", "-o", tmp_path / "out")
    (tmp_path / "python").mkdir()
    package.open(paths, share=True).plan().save(tmp_path / "python")
    for path in paths:
        assert (tmp_path / "python" / path.name).read_bytes() == (tmp_path / "out" / path.name).read_bytes()


def test_the_script_of_the_docs(arenaut, arenaut_json, joint, ours, tmp_path):
    """docs/executorch.md, "In the order of an export script"; but for the partitioner."""
    cache, runs = Cache(), [prefill, decode, decode]
    programs = {run.__name__: torch.export.export(Method(cache, run), inputs_of(run), strict=True) for run in runs[:2]}
    edge = to_edge(programs, compile_config=EdgeCompileConfig(_check_ir_validity=False,
                                                              preserve_ops=[torch.ops.aten.linear.default]))
    path = tmp_path / "both.pte"
    path.write_bytes(edge.to_executorch(ExecutorchBackendConfig(
        memory_planning_pass=ours.MemoryPlanningPass(inplace="safe", reorder=True, share_mutable_buffers=True),
        emit_mutable_buffer_names=True)).buffer)
    arenaut("check", path)
    arenaut("check", path, "--share", "auto")
    now, planned, _ = figures(arenaut_json, path)
    sizes, outputs = in_runtime(joint, [path], runs)
    assert planned <= now == sum(sizes)
    assert_like_torch(outputs, runs)
