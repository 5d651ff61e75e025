"""What tiling is measured with: the tile rules against the runtimes, on a few shapes; the models, and the table."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import COMMAND, ROOT, import_example
from drawn import NIGHT

onnxruntime = pytest.importorskip("onnxruntime")
torch = pytest.importorskip("torch")

sys.path.insert(0, str(ROOT / "bench"))
measure_tiles = import_example("measure_tiles")
import tiling_models  # noqa: E402
import tiling_table  # noqa: E402

ORT = {(level, threads): measure_tiles.OnnxRuntime(level, threads)
       for level in measure_tiles.LEVELS for threads in (1, 2)}


@pytest.mark.parametrize(("runtime", "calls", "axes"), [
    pytest.param(ORT["DISABLE_ALL", 1], 6, 2, id="onnxruntime-off"),
    pytest.param(ORT["ENABLE_ALL", 2], 6, 2, id="onnxruntime-all"),
    pytest.param(ORT["DISABLE_ALL", 2], 5, 1, id="onnxruntime-signals"),
    pytest.param(ORT["ENABLE_ALL", 1], 4, 3, id="onnxruntime-volumes"),
    pytest.param(measure_tiles.PyTorch(2), 3, 2, id="pytorch"),
    pytest.param(measure_tiles.PyTorch(1), 5, 1, id="pytorch-signals")])
def test_tiles_within_the_rule_have_the_bits_of_the_whole(runtime, calls, axes):
    kinds = [kind for kind in measure_tiles.KINDS if axes == 2 or kind != "DEPTH_TO_SPACE"]
    found = {kind: measure_tiles.measure(runtime, kind, calls, 3, axes) for kind in kinds}
    assert not [wrong for count in found.values() for wrong in count.wrong]
    assert all(count.tiles > 25 for count in found.values())
    assert sum(count.within for count in found.values()) > 500
    assert found["CONV"].differ > 0  # outside of the rule bits differ: the comparison sees it


def test_tiles_of_portable_kernels_have_the_bits_of_the_whole():
    pytest.importorskip("executorch")
    count = measure_tiles.measure(measure_tiles.ExecuTorch(), "CONV", 1, seed=1)
    assert count.within == count.tiles > 10 and not count.wrong


def test_a_rule_that_promises_too_much_is_found(monkeypatch):
    every = [("onnxruntime", "CONV", "ANY", 0, "ROWS", 1)]
    monkeypatch.setattr(measure_tiles, "rules", lambda: every)
    assert measure_tiles.measure(ORT["DISABLE_ALL", 1], "CONV", 6, seed=3).wrong


def test_every_kind_has_rules_for_every_runtime():
    rules = measure_tiles.rules()
    for runtime in ("onnxruntime", "pytorch", "executorch"):
        assert {rule[1] for rule in rules if rule[0] == runtime} == set(measure_tiles.KINDS)
    assert {rule[2] for rule in rules} <= set(measure_tiles.CONDITIONS)
    assert {rule[4] for rule in rules} <= set(measure_tiles.UNITS)


def shares(places, count):
    """What MLAS gives each thread: of a convolution, and of a plain product."""
    stride = -(-places // count)
    stride = stride if count == 1 else -(-stride // 16) * 16
    blocks = -(-places // 16)
    ends = [min(places, 16 * sum(divmod(blocks, count)[0] + (k < blocks % count) for k in range(n + 1)))
            for n in range(min(count, blocks))]
    return ([min(stride, places - first) for first in range(0, places, stride)],
            [end - first for first, end in zip([0, *ends], ends)])


@pytest.mark.parametrize(("threads", "enough"), [(1, 65), (2, 145), (4, 401), (8, 1297), (16, 4625)])
def test_a_share_is_what_mlas_gives_each_thread(threads, enough):
    """The rule never promises more than the shares of any number of threads; from `enough` places on, all are allowed."""
    for places in range(65, 2 * enough):
        smallest = min(min(map(min, shares(places, count))) for count in range(1, threads + 1))
        promised = measure_tiles.least_share(places, threads) > 64
        assert not promised or smallest > 64
        assert promised or places < enough


def one_op(call, path):
    """A model of this call alone."""
    values, file = measure_tiles.Values(call, 1), measure_tiles.onnx_file
    constants = [file.constant("w", values.weights), file.constant("b", values.bias)] if call.filters else []
    graph = file.graph(measure_tiles.onnx_nodes(call, call.pad, call.pad), [file.typed("x", *values.image.shape)],
                       [file.typed("y", 1, call.made, call.rows, call.columns)], constants)
    path.write_bytes(file.model(graph))


def run_on_eight_threads(path, image):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 8
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, {"x": image})[0]


@pytest.mark.parametrize("call", [
    pytest.param(measure_tiles.Call("CONV", "spatial", 16, 256, 64, filters=16, kernel=3, pad=1), id="144-products"),
    pytest.param(measure_tiles.Call("CONV", "spatial", 8, 256, 11, filters=16, kernel=3, pad=1), id="72-products"),
    pytest.param(measure_tiles.Call("CONV", "grouped", 32, 256, 64, filters=16, kernel=3, pad=1, groups=2), id="grouped"),
    pytest.param(measure_tiles.Call("AVERAGE_POOL", "AveragePool", 8, 32, 8, kernel=2, stride=2), id="pool")])
def test_tiles_that_the_rule_refuses_get_more_rows(call, tmp_path):
    """Tiles of the greatest and of the first refused height, with as many threads as the planner reckons with."""
    one_op(call, tmp_path / "one.onnx")
    refused = next(pieces for pieces in range(2, call.rows)
                   if not measure_tiles.same_by_rule("onnxruntime", call, 0, call.rows // pieces, threads=8))
    assert refused > 2
    image = np.random.default_rng(5).standard_normal((1, call.channels, call.height, call.width), dtype=np.float32)
    whole = run_on_eight_threads(tmp_path / "one.onnx", image)
    for pieces in (2, refused):
        done = subprocess.run([COMMAND, "plan", tmp_path / "one.onnx", "--split", f"0-0/{pieces}:rows", "-q", "-f", "-o",
                               tmp_path / "tiled.onnx"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert np.array_equal(run_on_eight_threads(tmp_path / "tiled.onnx", image).view("u4"), whole.view("u4"))


@pytest.mark.parametrize(("name", "size"), [("srvgg", 16), ("unet_bilinear", 32), ("vae_decoder", 8), ("unet_1d", 256),
                                              ("unet_3d", 16)])
def test_models_compute_in_onnx_what_they_do_in_pytorch(name, size, tmp_path):
    onnx, pt2 = tiling_models.write(tmp_path, name, size)
    value = tiling_models.image(name, size)
    session = tiling_table.session(str(onnx), "off", True)
    [made] = session.run(None, {session.get_inputs()[0].name: value.numpy()})
    [*wanted] = torch.export.load(pt2).module()(value)
    np.testing.assert_allclose(made[0], wanted[0], atol=1e-3 * float(wanted[0].std()))
    assert 0.1 < float(wanted[0].std()) < 100  # neither vanished nor grown


def test_windows_cover_an_image_once_and_have_one_size():
    for side, tile, overlap in ((64, 16, 0), (64, 16, 16), (60, 16, 4), (20, 32, 8)):
        covered = []
        for low, first, end in tiling_table.windows(side, tile, overlap):
            assert 0 <= low <= first < end <= low + min(side, tile + 2 * overlap) <= side
            covered += range(first, end)
        assert covered == list(range(side))


def test_differences_are_counted(tmp_path):
    one = np.linspace(1, 2, 5, dtype=np.float32)
    other = one.copy()
    other[4] = np.nextafter(other[4], np.float32(3))
    for name, array in (("one", one), ("same", one), ("other", other)):
        np.savez(tmp_path / f"{name}.npz", array)
    assert tiling_table.difference(tmp_path / "one.npz", tmp_path / "same.npz") == "the same bits"
    assert tiling_table.difference(tmp_path / "one.npz", tmp_path / "other.npz").startswith(
        "20 % differ, median 1 ulp, at most 1 ulp (1e-07 relative), ≤ 1 ulp of the largest, 2e-07 absolute")


@NIGHT
def test_the_table_of_whole_and_tiled_models_is_made(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "tiling_table.py", "srvgg:48", "--levels", "off", "--manual"],
        env=os.environ | {"ARENAUT": str(COMMAND)}, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()[2:] if line.startswith("| ")]
    assert [row[2] for row in rows] == ["whole", "tiled", "tiled, without reuse", "by a script, overlap 0", "by a script, overlap 16"]
    assert all(float(cell.replace(",", "")) > 0 for row in rows for cell in row[3:5])
    assert rows[1][7] == "the same bits"
    seams = [float(re.search(r"wrong by (\S+) % of the range", row[7])[1]) for row in rows[3:]]
    assert seams[0] > 1 > seams[1]  # in percent: seams where nothing overlaps
