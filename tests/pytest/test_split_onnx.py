"""ONNX models in tiles: the stock ONNX Runtime computes the same bits where it runs the nodes
of the file; where it fuses nodes first, tiles may round otherwise than the whole. Tile by tile, whatever its
options, in less memory; a spoiled file is not the model any more."""

import json
import os
import resource
import subprocess
from collections import Counter

import numpy as np
import onnxruntime
import pytest
from conftest import COMMAND, DATA

import onnx_file
from random_images import Images, integer, ints, random_images, real, sandwich, text

THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))
LEVELS = onnxruntime.GraphOptimizationLevel
NETS = {1: 10, 2: 24, 3: 8}  # of signals, images and volumes


def run(path, feed, level=LEVELS.ORT_DISABLE_ALL, threads=1):
    """The tile rule is for up to eight threads."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def same_bits(a, b):
    return [each.tobytes() for each in a] == [each.tobytes() for each in b]


def are_close(a, b):
    """To rounding, of values of that size."""
    return all(np.allclose(x, y, rtol=1e-4, atol=1e-5 * (1 + np.abs(x).max())) for x, y in zip(a, b, strict=True))


def split(path, output, stage):
    """False where the stage is refused."""
    done = subprocess.run([COMMAND, "plan", path, "--split", stage, "-f", "-o", output],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "cannot be split so" in done.stderr, (path, stage, done)
    return done.returncode == 0


@pytest.mark.parametrize("axes", NETS)
def test_random_nets_compute_the_same(tmp_path, axes):
    compared, nets = Counter(), NETS[axes] * THOROUGH
    for seed in range(nets):
        net = random_images(seed, axes)
        path, output, feed = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.split.onnx", net.feed()
        path.write_bytes(net.bytes())
        wanted, threaded = run(path, feed), run(path, feed, threads=8)
        optimized = run(path, feed, LEVELS.ORT_ENABLE_ALL)
        for mode in ("rows", "kept") * 3:
            first = net.random.randint(len(net.nodes))
            last = min(len(net.nodes) - 1, first + net.random.randint(6))
            stage = f"{first}-{last}/{net.random.randint(2, 5)}:{mode}"
            if not split(path, output, stage):
                continue
            assert same_bits(run(output, feed), wanted), (seed, stage)
            assert same_bits(run(output, feed, threads=8), threaded), (seed, stage)
            found = run(output, feed, LEVELS.ORT_ENABLE_ALL)
            assert are_close(found, optimized), (seed, stage)
            compared["same bits, optimized"] += same_bits(found, optimized)
            compared[mode] += 1
    print(", ".join(f"{mode} {n}" for mode, n in compared.items()))
    assert compared["same bits, optimized"] > 0.8 * (compared["rows"] + compared["kept"])
    assert compared["rows"] > nets // 2 < compared["kept"]


def residuals(blocks, side, channels):
    """Inverted residuals, as MobileNetV2 has them: every second one halves the image, and has more channels."""
    nodes, constants, inputs, image = [], [], 3, onnx_file.typed("image", 1, 3, side, side)

    def convolve(source, filters, size, stride=1, groups=1):
        made, weights = f"made{len(nodes)}", f"weights{len(nodes)}"
        constants.append(onnx_file.constant(weights, np.zeros(filters + (size, size), np.float32)))
        nodes.append(onnx_file.node("Conv", [source, weights], [made], *(
            onnx_file.attribute(name, value) for name, value in
            (("pads", [size // 2] * 4), ("strides", [stride] * 2), ("group", groups)))))
        return made

    made = "image"
    for block in range(blocks):
        wide, outputs, stride = 6 * inputs, channels * (1 + block // 2), 1 + block % 2
        made = convolve(convolve(made, (wide, inputs), 1), (wide, 1), 3, stride, wide)
        made = convolve(made, (outputs, wide), 1)
        inputs, side = outputs, -(-side // stride)
    return onnx_file.model(onnx_file.graph(nodes, [image], [onnx_file.typed(made, 1, inputs, side, side)], constants))


def test_effort_is_spent_where_most_is_live(arenaut_json, tmp_path):
    """With as many tiles of each range as of any other it was spent before few ranges had many: 13,330,448 bytes."""
    path, tiled = tmp_path / "residuals.onnx", tmp_path / "tiled.onnx"
    path.write_bytes(residuals(30, 512, 16))
    split = arenaut_json("plan", path, "--split", "on", "-o", tiled)["split"]
    assert split["ways"][-1]["needs_at_least"] < 12_000_000
    assert split["macs"] <= 1.05 * split["macs_before"]  # one more tile of each stage had added 5.1 %


def test_a_stage_of_thousands_of_ops_needs_no_deep_stack(tmp_path):
    n, path, output = 8000, tmp_path / "deep.onnx", tmp_path / "tiled.onnx"
    image, tensors = (1, 2, 16, 16), [f"t{k}" for k in range(n + 1)]
    path.write_bytes(onnx_file.model(onnx_file.graph(
        [onnx_file.node("Relu", [tensors[k]], [tensors[k + 1]]) for k in range(n)],
        [onnx_file.typed("t0", *image)], [onnx_file.typed(tensors[n], *image)])))
    limit = 512 << 10
    done = subprocess.run([COMMAND, "plan", path, "--split", f"0-{n - 1}/2:kept", "-o", output], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)), check=False)
    assert done.returncode == 0, done.stderr
    assert f"were {n}" in done.stdout


def fields(data):
    at = 0
    while at < len(data):
        tag, at = number(data, at)
        value, end = number(data, at) if tag % 8 == 0 else (None, at + 4)
        if tag % 8 == 2:
            size, at = number(data, at)
            value, end = data[at:at + size], at + size
        yield tag // 8, value
        at = end


def number(data, at):
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def messages(data, wanted):
    return [value for field, value in fields(data) if field == wanted]


def names(node, wanted):
    return [name.decode() for name in messages(node, wanted) if name]


def graph_of(data):
    return messages(data, 7)[0]


def live_bytes(path, feed, folder):
    """At the most, by the sequence in which a session of default options ran the nodes, and the sizes that it
    met: each value is alive from its node to the last that reads it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS.ORT_DISABLE_ALL  # else nodes have other numbers than in the file
    options.enable_profiling, options.profile_file_prefix = True, str(folder / "profile")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    session.run(None, feed)
    with open(session.end_profiling()) as file:
        events = [event for event in json.load(file) if event.get("name", "").endswith("_kernel_time")]
    events.sort(key=lambda event: event["ts"])
    ran = [int(event["args"]["node_index"]) for event in events]
    sizes = dict(zip(ran, (sum(int(np.prod(shape)) * 4 for each in event["args"]["output_type_shape"]
                               for shape in each.values()) for event in events), strict=True))
    nodes = [(names(node, 1), names(node, 2)) for node in messages(graph_of(path.read_bytes()), 1)]
    last = {name: step for step, index in enumerate(ran) for name in nodes[index][0]}
    alive = peak = 0
    ends = Counter()
    for step, index in enumerate(ran):
        alive += sizes[index]
        peak = max(peak, alive)
        ends[max(last.get(name, len(ran)) for name in nodes[index][1])] += sizes[index]
        alive -= ends[step]
    return peak


@pytest.mark.parametrize(("axes", "side"), [(1, 9216), (2, 96), (3, 24)])
@pytest.mark.parametrize("mode", ["rows", "kept"])
def test_the_runtime_runs_tile_by_tile_by_itself(arenaut_json, tmp_path, mode, axes, side):
    """Order edges: whatever else a session may do, a tile's slices wait for the tile before."""
    net, data = sandwich(side, axes=axes)
    path, output, feed = tmp_path / "whole.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(data)
    document = arenaut_json("plan", path, "--split", f"0-4/6:{mode}", "-o", output)
    assert document["split"]["ops"] > 40
    whole, tiled = live_bytes(path, feed, tmp_path), live_bytes(output, feed, tmp_path)
    assert whole == 2 * 24 * side**axes * 4
    assert tiled < whole / (3 if axes < 3 else 2)
    assert same_bits(run(output, feed), run(path, feed))
    for level in (LEVELS.ORT_ENABLE_BASIC, LEVELS.ORT_ENABLE_ALL):
        assert same_bits(run(output, feed, level), run(path, feed, level))


def test_tiles_keep_the_order_of_their_edges(arenaut, tmp_path):
    net, data = sandwich()
    path, alone, both = (tmp_path / f"{name}.onnx" for name in ("whole", "alone", "both"))
    path.write_bytes(data)
    assert arenaut("plan", path, "--split", "0-4/6:rows", "-o", alone).returncode == 0
    done = arenaut("plan", path, "--split", "0-4/6:rows", "--reorder", "on", "-o", both)
    assert "nothing is reordered: the program was split, and order edges keep its tiles in their sequence" in done.stderr
    assert both.read_bytes() == alone.read_bytes()


def test_tiles_without_edges_would_not_wait(arenaut, tmp_path):
    """The same file without the edges: the slices of all tiles begin where they are, and nothing is gained."""
    net, data = sandwich()
    path, output = tmp_path / "whole.onnx", tmp_path / "tiled.onnx"
    path.write_bytes(data)
    arenaut("plan", path, "--split", "0-4/6:kept", "-o", output)
    feed = net.feed()
    with_edges = live_bytes(output, feed, tmp_path)
    output.write_bytes(without_edges(output.read_bytes()))
    assert same_bits(run(output, feed), run(path, feed))
    assert live_bytes(output, feed, tmp_path) > 2 * with_edges


def without_edges(data):
    """Slices are of the image, not of an alias, and begin at the constant that stands first in the sum."""
    graph = graph_of(data)
    first = {}
    for node in messages(graph, 1):
        if messages(node, 4)[0] in (b"Add", b"Reshape"):
            first[names(node, 2)[0]] = names(node, 1)[0]
    kept = b""
    for field, value in fields(graph):
        if field == 1 and messages(value, 4)[0] in (b"Add", b"GatherND", b"ArgMax", b"Max", b"Squeeze", b"Reshape"):
            continue
        if field == 1 and messages(value, 4) == [b"Slice"]:
            inputs = [first.get(each, each) for each in names(value, 1)]
            value = onnx_file.node("Slice", inputs, names(value, 2))
        kept += onnx_file.field(field, value)
    return onnx_file.model(kept, 17)


def known_ranks(path, folder):
    """Values of the file, but for numbers, of which the runtime infers how many sizes they have when it loads it."""
    data = path.read_bytes()
    graph, probe = graph_of(data), folder / "probe.onnx"
    results = {messages(value, 1)[0].decode() for value in messages(graph, 12)}
    inner = {name for node in messages(graph, 1) for name in names(node, 2)} - results
    images = b"".join(onnx_file.field(12, onnx_file.field(1, name) + onnx_file.field(2, onnx_file.field(1, onnx_file.field(1, 1))))
                      for name in sorted(inner) if not name.startswith("number__tile"))
    probe.write_bytes(onnx_file.model(graph + images))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(probe), options, providers=["CPUExecutionProvider"])
    return {each.name for each in session.get_outputs() if each.shape}


@pytest.mark.parametrize("mode", ["rows", "kept"])
def test_the_runtime_knows_no_shapes_of_tiles(arenaut, tmp_path, mode):
    """It would keep a buffer of each size for all tiles, from the first to the last; and for each tile whose rank it
    knows look through all buffers that are free: 4,725 nodes took 8 seconds to load, and 25,897 did not in 28 minutes."""
    net, _ = sandwich()
    last = list(net.shapes)[-1]
    sizes = [1, 24, 2 * net.shapes[last][2], 2 * net.shapes[last][3]]
    net.put("Resize", [last, "", "", net.numbers(np.array(sizes, "i8"))], sizes, onnx_file.attribute("mode", "nearest"),
            onnx_file.attribute("coordinate_transformation_mode", "asymmetric"), onnx_file.attribute("nearest_mode", "floor"))
    net.put("Relu", [list(net.shapes)[-1]], sizes)
    net.outputs = [list(net.shapes)[-1]]
    path, output, feed = tmp_path / "whole.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(net.bytes())
    arenaut("plan", path, "--split", f"0-6/3:{mode}", "-o", output)
    assert "value5" in known_ranks(path, tmp_path)
    assert not [name for name in known_ranks(output, tmp_path) if "__tile_" in name]
    assert same_bits(run(output, feed), run(path, feed))


def test_models_that_the_runtime_optimized_can_be_tiled(arenaut, tmp_path):
    """A Mul is fused into weights, by another rounding: first that, then tiles."""
    net, _ = sandwich()
    middle = list(net.shapes)[-1]
    net.put("Mul", [middle, net.constant([24, 1, 1])], net.shapes[middle])
    net.conv(list(net.shapes)[-1])
    last = list(net.shapes)[-1]
    net.put("BatchNormalization", [last] + [net.constant([net.shapes[last][1]], 0.1, 1) for _ in range(4)],
            net.shapes[last])
    net.outputs = [list(net.shapes)[-1]]
    path, optimized, output = (tmp_path / name for name in ("whole.onnx", "optimized.onnx", "tiled.onnx"))
    feed = net.feed()
    path.write_bytes(net.bytes())
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(optimized)
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    assert b"BatchNormalization" in path.read_bytes() and b"BatchNormalization" not in optimized.read_bytes()
    arenaut("plan", optimized, "--split", "0-3/6:kept", "-o", output)
    assert same_bits(run(output, feed), run(path, feed, LEVELS.ORT_ENABLE_BASIC))


def test_sizes_that_inputs_leave_open_are_stated_in_the_tiled_file(arenaut, arenaut_json, tmp_path):
    net, data = sandwich(sizes=[1, 3, "height", "width"])
    path, output, feed = tmp_path / "open.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(data)
    done = arenaut("plan", path, "--split", "on", "-o", output, exit=3)
    assert "the sizes 'height', 'width' are open" in done.stderr and not output.exists()
    arenaut_json("plan", path, "--split", "0-4/6:rows", "--dim", "height=96", "--dim", "width=96", "-o", output)
    assert same_bits(run(output, feed), run(path, feed))
    searched = tmp_path / "searched.onnx"
    found = arenaut_json("plan", path, "--split", "on", "--dim", "height=96", "--dim", "width=96", "-o", searched)
    assert found["split"]["stages"]
    assert same_bits(run(searched, feed), run(path, feed))
    with pytest.raises(Exception, match="Got invalid dimensions for input"):
        run(output, {"x": np.zeros((1, 3, 80, 96), "f4")})
    done = arenaut("plan", path, "--split", "0-4/6:rows", "--dim", "height=64..96", "--dim", "width=96", "-o",
                   tmp_path / "range.onnx", exit=2)
    assert "tiles have fixed sizes" in done.stderr


def test_the_unit_tests_have_this_model():
    assert (DATA / "onnx" / "images.onnx").read_bytes() == sandwich(64, channels=4)[1]


def test_old_models_are_refused_with_the_reason(arenaut, tmp_path):
    path = tmp_path / "old.onnx"
    path.write_bytes(sandwich(opset=11)[1])
    done = arenaut("plan", path, "--split", "0-4/6:rows", "-o", tmp_path / "tiled.onnx", exit=2)
    assert "version 13 of ONNX's operators" in done.stderr
    done = arenaut("plan", path, "--split", "on", "-o", tmp_path / "tiled.onnx")
    assert "nothing is split: tiles are made of version 13" in done.stderr


@pytest.mark.parametrize(("stage", "why"), [
    ("0-4/4:channels", "rows, not channels"),
    ("0-4/4:kept+calls", "no calls"),
    ("0-9/2:rows", "5 ops, numbered from 0"),
])
def test_stages_are_refused_with_the_reason(arenaut, tmp_path, stage, why):
    path = tmp_path / "model.onnx"
    path.write_bytes(sandwich()[1])
    done = arenaut("plan", path, "--split", stage, "-o", tmp_path / "tiled.onnx", exit=2)
    assert why in done.stderr and not (tmp_path / "tiled.onnx").exists()


def test_names_in_the_file_are_not_taken(arenaut, tmp_path):
    net, data = sandwich(named={"value0": "x__tile_1", "value1": "value2__tile_1", "constant0": "number__tile_1"})
    path, output, feed = tmp_path / "model.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(data)
    arenaut("plan", path, "--split", "1-3/6:rows", "-o", output)
    assert same_bits(run(output, feed), run(path, feed))
    assert output.read_bytes().count(b"value2__tile_1") == data.count(b"value2__tile_1")


EACH_ROW = {  # ops on images whose rows do not depend on each other: attributes for so many dimensions, and sizes of the result
    "Softmax": [(lambda rank: [integer("axis", 1)], list), (lambda rank: [integer("axis", 1 - rank + 2**64)], list)],
    "Softmax of columns": [(lambda rank: [], list)],
    "LogSoftmax": [(lambda rank: [integer("axis", 1)], list)],
    "LayerNormalization": [(lambda rank: [], list), (lambda rank: [integer("axis", 3), real("epsilon", 0.1)], list)],
    "ReduceMean": [(lambda rank: [ints("axes", [1])], lambda shape: [shape[0], 1, *shape[2:]])],
    "ReduceMax": [(lambda rank: [ints("axes", [1 - rank + 2**64])], lambda shape: [shape[0], 1, *shape[2:]])],
}


@pytest.mark.parametrize("name", EACH_ROW)
def test_sums_within_each_row(tmp_path, name):
    """Along channels or columns: the same bits, in tiles of one row, too, and on one column."""
    operator, least, run_so_far = name.split()[0], 4 if name in ("Softmax of columns", "LayerNormalization") else 3, 0
    for seed in range(12 * THOROUGH):
        net = Images(seed)
        rank, random = max(least, 3 + seed % 3), net.random
        shape = [1 + seed % 2, random.choice([2, 5, 64, 150]), random.randint(5, 40),
                 *(int(random.choice([1, 3, 17, 30])) for _ in range(rank - 3))]
        attributes, made = EACH_ROW[name][seed % len(EACH_ROW[name])]
        net.shapes["x"] = [int(side) for side in shape]
        image = net.put("Sigmoid", ["x"], net.shapes["x"])
        of_layer = [net.constant(net.shapes["x"][3:])] * 2 if operator == "LayerNormalization" else []
        sums = net.put(operator, [image, *of_layer], made(net.shapes["x"]), *attributes(rank))
        net.outputs = [net.put("Mul", [image, net.put("Abs", [sums], net.shapes[sums])], net.shapes["x"])]
        path, output, feed = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.split.onnx", net.feed()
        path.write_bytes(net.bytes())
        wanted = [run(path, feed, level, threads) for level, threads in ((LEVELS.ORT_DISABLE_ALL, 1), (LEVELS.ORT_ENABLE_ALL, 2))]
        for stage in f"0-3/{random.randint(2, 6)}:rows", f"1-3/{net.shapes['x'][2]}:kept":
            assert split(path, output, stage), (seed, stage)
            found = [run(output, feed, level, threads) for level, threads in ((LEVELS.ORT_DISABLE_ALL, 1), (LEVELS.ORT_ENABLE_ALL, 2))]
            assert same_bits(found[0], wanted[0]) and same_bits(found[1], wanted[1]), (seed, stage)
            run_so_far += 1
    print(f"{name}: {run_so_far} tilings")


@pytest.mark.parametrize("name, axes", [("Softmax", [2]), ("Softmax", [0]), ("LayerNormalization", [2]), ("ReduceMean", [2]),
                                        ("ReduceMax", [1, 2]), ("ReduceMean", [0])])
def test_sums_of_several_rows_are_refused(tmp_path, name, axes):
    net, shape, reduces = Images(2), [2, 6, 12, 9], name.startswith("Reduce")
    net.shapes["x"] = shape
    image = net.put("Sigmoid", ["x"], shape)
    made = [1 if reduces and axis in axes else side for axis, side in enumerate(shape)]
    layer = [net.constant(shape[2:])] * 2 if name == "LayerNormalization" else []
    sums = net.put(name, [image, *layer], made, ints("axes", axes) if reduces else integer("axis", axes[0]))
    net.outputs = [net.put("Abs", [sums], made)]
    path, output = tmp_path / "a.onnx", tmp_path / "b.onnx"
    path.write_bytes(net.bytes())
    run(path, net.feed())
    assert not split(path, output, "0-1/2:rows")


def test_attention_by_place_is_tiled(tmp_path):
    """The mean and the greatest of the channels of each place, of version 18 of the operators, whose axes are operands."""
    net, sides = Images(4), [1, 24, 80, 60]
    net.shapes["x"] = [1, 3, 80, 60]
    wide = net.put("Relu", [net.put("Conv", ["x", net.constant([24, 3, 3, 3])], sides, ints("pads", [1, 1, 1, 1]))], sides)
    axes = net.numbers(np.array([1], "i8"))
    both = [net.put(name, [wide, axes], [1, 1, 80, 60]) for name in ("ReduceMean", "ReduceMax")]
    joined = net.put("Concat", both, [1, 2, 80, 60], integer("axis", 1))
    gate = net.put("Sigmoid", [net.put("Conv", [joined, net.constant([1, 2, 7, 7])], [1, 1, 80, 60], ints("pads", [3, 3, 3, 3]))],
                   [1, 1, 80, 60])
    net.outputs = [net.put("MaxPool", [net.put("Mul", [wide, gate], sides)], [1, 24, 20, 15], ints("kernel_shape", [4, 4]),
                           ints("strides", [4, 4]))]
    path, output, feed = tmp_path / "a.onnx", tmp_path / "b.onnx", net.feed()
    path.write_bytes(net.bytes(18))
    for stage in "0-8/3:rows", "0-8/4:kept":
        assert split(path, output, stage)
        assert same_bits(run(output, feed), run(path, feed))


def move_beside(net, number, path):
    """A constant's numbers, into a file that the model leads to."""
    constant = net.constants[number]
    entries = messages(constant, 9)
    path.write_bytes(b"\0" * 64 + entries[0])
    pairs = {"location": path.name, "offset": "64", "length": str(len(entries[0]))}
    header = b"".join(onnx_file.field(key, value) for key, value in fields(constant) if key != 9)
    net.constants[number] = header + b"".join(
        onnx_file.field(13, onnx_file.field(1, key) + onnx_file.field(2, value)) for key, value in pairs.items()
    ) + onnx_file.field(14, 1)


def test_weights_beside_the_file_stay_there(arenaut, tmp_path):
    """Of the second convolution, in a file that the tiled model leads to as well."""
    net, data = sandwich()
    whole, path, output = (tmp_path / name for name in ("whole.onnx", "beside.onnx", "tiled.onnx"))
    feed = net.feed()
    whole.write_bytes(data)
    move_beside(net, 1, tmp_path / "weights.bin")
    path.write_bytes(net.bytes())
    arenaut("plan", path, "--split", "0-4/6:kept", "-o", output)
    assert output.stat().st_size < path.stat().st_size + 20000
    assert same_bits(run(output, feed), run(whole, feed))


def test_weights_beside_the_file_are_named_where_it_moves(arenaut, tmp_path):
    """A model is told once which files it needs in its new folder; with them it runs there as it did."""
    net, data = sandwich()
    (tmp_path / "model").mkdir()
    (tmp_path / "out").mkdir()
    whole, path, beside, output = (tmp_path / name for name in ("whole.onnx", "model/m.onnx", "model/tiled.onnx", "out/tiled.onnx"))
    feed = net.feed()
    whole.write_bytes(data)
    move_beside(net, 1, tmp_path / "model/weights.bin")
    path.write_bytes(net.bytes())
    said = "has weights in 'weights.bin', which runtimes look for in its folder, as in that of m.onnx"
    assert "has weights" not in arenaut("plan", path, "--split", "0-4/6:kept", "-o", beside).stderr
    assert arenaut("plan", path, "--split", "0-4/6:kept", "-o", output).stderr.count(f"{output}: {said}") == 1
    assert arenaut("plan", path, "--reorder", "on", "-f", "-o", output).stderr.count(said) == 1  # as it is, copied
    assert "has weights" not in arenaut("plan", path, "--split", "0-4/6:kept", "-q", "-f", "-o", output).stderr
    assert "has weights" not in arenaut("plan", whole, "--split", "0-4/6:kept", "-f", "-o", tmp_path / "out/whole.onnx").stderr
    with pytest.raises(Exception, match="weights.bin"):
        run(output, feed)
    (tmp_path / "model/weights.bin").rename(tmp_path / "out/weights.bin")
    assert same_bits(run(output, feed), run(whole, feed))
    move_beside(net, 0, tmp_path / "model/more.bin")
    path.write_bytes(net.bytes())
    assert "in 'more.bin' and other files, which" in arenaut("plan", path, "--split", "0-4/6:kept", "-f", "-o", output).stderr


def test_weights_need_not_be_there_to_tile_a_model(arenaut, tmp_path):
    """Sizes are in the model; the runtime says itself which file it misses."""
    net, _ = sandwich()
    path, output = tmp_path / "beside.onnx", tmp_path / "tiled.onnx"
    move_beside(net, 1, tmp_path / "weights.bin")
    path.write_bytes(net.bytes())
    arenaut("plan", path, "--split", "0-4/6:kept", "-o", output)
    tiled = output.read_bytes()
    (tmp_path / "weights.bin").unlink()
    arenaut("plan", path, "--split", "0-4/6:kept", "-f", "-o", output)
    assert output.read_bytes() == tiled
    with pytest.raises(Exception, match="weights.bin"):
        run(output, net.feed())


def test_a_model_of_over_2_gib_is_refused_and_nothing_is_written(arenaut, tmp_path):
    """Most of it a hole, which nothing reads."""
    net, data = sandwich()
    path, output, size = tmp_path / "large.onnx", tmp_path / "tiled.onnx", 2 << 30
    graph = messages(data, 7)[0]
    weights = (onnx_file.field(1, size // 4) + onnx_file.field(2, 1) + onnx_file.field(8, "large") +
               onnx_file.varint(9 << 3 | 2) + onnx_file.varint(size))
    initializer = onnx_file.varint(5 << 3 | 2) + onnx_file.varint(len(weights) + size) + weights
    with open(path, "wb") as file:
        file.write(b"".join(onnx_file.field(number, value) for number, value in fields(data) if number != 7))
        file.write(onnx_file.varint(7 << 3 | 2) + onnx_file.varint(len(graph) + len(initializer) + size))
        file.write(graph + initializer)
        file.truncate(file.tell() + size)
    done = arenaut("plan", path, "--split", "0-4/6:kept", "-o", output, exit=3)
    assert "large.onnx: the tiled model would have more than 2 GiB" in done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["large.onnx"]


def test_constants_that_nodes_make_are_read_by_all_tiles(arenaut, tmp_path):
    """Exporters write bounds as nodes, amid the others."""
    net, _ = sandwich()
    for name in ("constant2", "constant3"):
        at = [number for number, each in enumerate(net.constants) if messages(each, 8) == [name.encode()]][0]
        value = onnx_file.field(1, "value") + onnx_file.field(5, net.constants.pop(at)) + onnx_file.field(20, 4)
        net.nodes.insert(2, onnx_file.node("Constant", [], [name], value))
    path, output, feed = tmp_path / "model.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(net.bytes())
    for mode in ("rows", "kept"):
        arenaut("plan", path, "--split", f"0-6/6:{mode}", "-f", "-o", output)
        assert same_bits(run(output, feed), run(path, feed))
        assert output.read_bytes().count(b"Constant") == 2


def padded_pool(kind, rule, size, stride, pad, side=128):
    """Nothing but negative numbers around zeros, in front of a pool."""
    net = Images(1)
    net.shapes = {"x": [1, 3, side, side]}
    bias = net.constant([24], -9, -8)
    image = net.put("Conv", ["x", net.constant([24, 3, 1, 1]), bias], [1, 24, side, side], ints("kernel_shape", [1, 1]))
    padded = side + 2 * pad
    image = net.put("Pad", [image, net.numbers(np.array([0, 0, pad, pad] * 2, "i8"))], [1, 24, padded, padded])
    made = -(-padded // stride) if rule.startswith("SAME") else (padded - size) // stride + 1
    image = net.put(kind, [image], [1, 24, made, made], ints("kernel_shape", [size, size]),
                    ints("strides", [stride, stride]), text("auto_pad", rule))
    net.outputs = [image]
    return net


@pytest.mark.parametrize("kind, rule, size, stride, pad", [
    ("MaxPool", "VALID", 2, 2, 1), ("MaxPool", "SAME_UPPER", 2, 2, 1), ("MaxPool", "VALID", 2, 2, 2),
    ("MaxPool", "VALID", 3, 2, 1), ("MaxPool", "NOTSET", 3, 2, 1), ("AveragePool", "VALID", 2, 2, 2)])
def test_zeros_around_the_operand_of_a_pool_are_the_same_at_every_level(tmp_path, kind, rule, size, stride, pad):
    """The runtime moves the padding into some pools, where it counts no more, or refuses the file."""
    net = padded_pool(kind, rule, size, stride, pad)
    path, output, feed = tmp_path / "model.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(net.bytes())
    tiled = [stage for stage in ("on", "0-1/4:rows", "0-2/4:rows", "0-2/4:kept", "1-2/4:rows", "2-2/4:rows", "0-0/4:rows")
             if split(path, output, stage)]
    assert "0-0/4:rows" in tiled
    for stage in tiled:
        split(path, output, stage)
        for level in (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_BASIC, LEVELS.ORT_ENABLE_ALL):
            assert are_close(run(output, feed, level), run(path, feed, level)), (stage, level)


@pytest.mark.parametrize("kind, size, stride, dilation, made", [
    ("Conv", 1, 4, 1, 16), ("Conv", 2, 5, 1, 13), ("MaxPool", 2, 1, 2, 63)])
@pytest.mark.parametrize("rule", ["SAME_UPPER", "SAME_LOWER"])
def test_windows_that_the_runtime_pads_otherwise_are_left_whole(tmp_path, kind, size, stride, dilation, made, rule):
    """Where a stride is longer than the window it cuts the image in front, and a pool's padding knows no dilation: tiles
    were of other values, and of other sizes."""
    net = Images(1)
    net.shapes = {"x": [1, 2, 64, 64]}
    image = net.put("Relu", ["x"], [1, 2, 64, 64])
    weights = [net.constant([2, 2, size, size])] if kind == "Conv" else []
    dilations = [ints("dilations", [dilation, dilation])] if dilation > 1 else []
    net.outputs = [net.put(kind, [image, *weights], [1, 2, made, made], ints("kernel_shape", [size, size]),
                           ints("strides", [stride, stride]), *dilations, text("auto_pad", rule))]
    path, output, feed = tmp_path / "model.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(net.bytes())
    assert run(path, feed)[0].shape == (1, 2, made, made)
    for stage in ("0-1/4:rows", "0-1/4:kept", "1-1/3:rows"):
        assert not split(path, output, stage), stage


def test_an_average_of_padding_whose_last_window_would_begin_behind_it_is_tiled(tmp_path):
    """Rounding up adds no window there; the checker took it for unknown: exit code 5."""
    net = Images(1)
    net.shapes = {"x": [1, 2, 63, 64]}
    net.outputs = [net.put("AveragePool", ["x"], [1, 2, 21, 63], ints("kernel_shape", [1, 2]), ints("strides", [3, 1]),
                           integer("ceil_mode", 1), integer("count_include_pad", 1))]
    path, output, feed = tmp_path / "model.onnx", tmp_path / "tiled.onnx", net.feed()
    path.write_bytes(net.bytes())
    for mode in ("rows", "kept"):
        assert split(path, output, f"0-0/4:{mode}")
        assert same_bits(run(output, feed), run(path, feed))


@pytest.mark.parametrize("kind", ["Max", "Min"])
def test_the_sign_of_zero_keeps_extremes_whole(tmp_path, kind):
    """The last elements of a tensor are computed otherwise than those in vectors: 0 or -0 by where they lie."""
    net = Images(1)
    net.shapes = {"x": [1, 1, 15, 23]}
    net.outputs = [net.put(kind, ["x", net.put("Neg", ["x"], [1, 1, 15, 23])], [1, 1, 15, 23])]
    path, output, feed = tmp_path / "model.onnx", tmp_path / "tiled.onnx", {"x": np.zeros((1, 1, 15, 23), np.float32)}
    path.write_bytes(net.bytes())
    assert len(set(np.signbit(run(path, feed)[0]).flat)) == 2
    assert not split(path, output, "0-1/3:rows")
    done = subprocess.run([COMMAND, "plan", path, "--split", "0-1/3:rows", "--rounding", "allow", "-f", "-o", output], check=True)
    assert done.returncode == 0 and are_close(run(output, feed), run(path, feed))


def zeros_of_both_signs(shape):
    return np.where(np.random.RandomState(5).rand(*shape) < 0.5, np.float32(0), np.float32(-0.0))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_no_tile_of_a_greatest_element_is_one_window(tmp_path, axes):
    """A window that is all of its image is seen by another kernel, which takes the other of 0 and -0."""
    net, window = Images(1, axes), [[5], [3, 3], [3, 3, 2]][axes - 1]
    net.shapes = {"x": [1, 5, 11 + window[0], *window[1:]]}
    net.outputs = [net.put("MaxPool", ["x"], [1, 5, 12, *[1] * (axes - 1)], ints("kernel_shape", window))]
    path, output, feed = tmp_path / "model.onnx", tmp_path / "tiled.onnx", {"x": zeros_of_both_signs(net.shapes["x"])}
    path.write_bytes(net.bytes())
    for stage in ("0-0/12:rows", "0-0/5:rows", "0-0/12:kept"):
        assert split(path, output, stage)
        assert same_bits(run(output, feed), run(path, feed)), stage


@pytest.mark.parametrize("kind", ["Max", "Min"])
@pytest.mark.parametrize(("number", "tiled"), [(0.5, True), (-2, True), (0, False), (-0.0, False)])
def test_extremes_of_a_number_that_is_not_zero_are_tiled(tmp_path, kind, number, tiled):
    """Where an element is that number both are the same bits: it does not matter which is taken."""
    for first in (True, False):
        net = Images(1)
        net.shapes = {"x": [1, 3, 15, 23]}
        given = [net.numbers(np.array(number, "f4")), "x"]
        net.outputs = [net.put(kind, given if first else given[::-1], net.shapes["x"])]
        path, output = tmp_path / "model.onnx", tmp_path / "tiled.onnx"
        path.write_bytes(net.bytes())
        assert split(path, output, "0-0/4:rows") == tiled
        feed = zeros_of_both_signs(net.shapes["x"])
        feed.flat[::5], feed.flat[::7] = number, -3
        assert not tiled or same_bits(run(output, {"x": feed}), run(path, {"x": feed}))
