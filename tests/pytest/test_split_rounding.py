"""Tiles outside of the tile rule (--rounding allow): what is said to have the same bits has them, what is said not to
have them is close to the whole, and without the flag the refusal names it."""

import json
import re
import subprocess
import zipfile
from collections import Counter

import jsonschema
import numpy as np
import pytest
from conftest import COMMAND, ROOT
from drawn import THOROUGH, drawn, some
from random_images import Images, integer, ints, random_images, real, sandwich
from test_split_onnx import LEVELS, are_close, run, same_bits

NETS = {1: 5, 2: 10, 3: 4}  # of signals, images and volumes
NOT_THE_SAME = "not the same bits"


def plan(path, output, stage, *flags):
    done = subprocess.run([COMMAND, "plan", path, "--split", stage, *flags, "--json", "-f", "-o", output],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "cannot be split so" in done.stdout + done.stderr, done
    return done


def rounded(done):
    """Ops that are said to be rounded, in all places alike."""
    said = json.loads(done.stdout)["split"]["rounded_ops"]
    assert (NOT_THE_SAME in done.stderr) == (said > 0)
    assert ("the same bits in" in done.stderr) == (said == 0)
    return said


def ulps(wanted, found):
    """The largest difference, in units in the last place of the largest element."""
    return max(float(np.abs(a.astype("f8") - b).max() / np.spacing(np.abs(a).max())) for a, b in zip(wanted, found, strict=True))


@pytest.mark.parametrize("axes", NETS)
def test_random_onnx_nets(tmp_path, axes):
    count, most = Counter(), 0
    for seed in range(100, 100 + NETS[axes] * THOROUGH):
        net = random_images(seed, axes)
        path, output, feed = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.split.onnx", net.feed()
        path.write_bytes(net.bytes())
        wanted = run(path, feed)
        for mode in ("rows", "kept") * 3:
            first = net.random.randint(0, len(net.nodes))
            last = min(first + net.random.randint(0, 6), len(net.nodes) - 1)
            stage = f"{first}-{last}/{net.random.randint(2, 12)}:{mode}"
            strict, done = plan(path, output, stage), plan(path, output, stage, "--rounding", "allow")
            if done.returncode:
                count["refused"] += 1
                assert strict.returncode and "--rounding" not in done.stderr, (seed, stage, done.stderr)
                continue
            found = run(output, feed)
            if strict.returncode:
                count["allowed"] += 1
                assert "--rounding allow" in strict.stdout + strict.stderr, (seed, stage, strict)
            if rounded(done) == 0:
                count["the same bits"] += 1
                assert same_bits(found, wanted), (seed, stage)
            else:
                count["rounded"] += 1
                count["rounded, with the same bits"] += same_bits(found, wanted)
                assert are_close(found, wanted), (seed, stage)
                most = max(most, ulps(wanted, found))
    print(f"{axes} axes: {dict(count)}, at most {most:.0f} ulp of the largest")
    assert count["the same bits"] > 0


REDUCTIONS = {  # of images: attributes of version 17
    "GlobalAveragePool": [()],
    "GlobalMaxPool": [()],
    "ReduceMean": [(ints("axes", [2, 3]),), (ints("axes", [2**64 - 1, 2]), integer("keepdims", 0))],
    "ReduceMax": [(ints("axes", [3, 2]), integer("keepdims", 0))],
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_random_onnx_nets(tmp_path, name):
    """Of the averages of rows; of greatest elements the same number, if no zero of either sign is among them."""
    count, most = Counter(), 0
    for seed in range(200, 200 + 4 * THOROUGH):
        net = random_images(seed, 2)
        image = net.outputs[-1] = net.put("Sigmoid", [net.outputs[-1]], net.shapes[net.outputs[-1]])
        for attributes in REDUCTIONS[name]:
            flat = len(attributes) == 2
            net.outputs.append(net.put(name, [image], net.shapes[image][:2] + [1, 1] * (not flat), *attributes))
        path, output, feed = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.split.onnx", net.feed()
        path.write_bytes(net.bytes())
        wanted, last = run(path, feed), len(net.nodes) - 1
        for first in (last - len(REDUCTIONS[name]) - 1, last):
            for mode in ("rows", "kept"):
                done = plan(path, output, f"{first}-{last}/{net.random.randint(2, 7)}:{mode}", "--rounding", "allow")
                if done.returncode:
                    count["refused"] += 1
                    continue
                assert rounded(done) > 0 or max(net.shapes[image][2:]) == 1  # which is its own average
                for level in (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_ALL):
                    found = run(output, feed, level)
                    assert are_close(found, wanted), (seed, first)
                    most = max(most, ulps(wanted, found) if level == LEVELS.ORT_DISABLE_ALL else 0)
                count["run"] += 1
    print(f"{name}: {dict(count)}, at most {most:.0f} ulp of the largest")
    assert count["run"] > 4


def axes_of_node(net):
    """As exporters write them since version 18: a node of their own in front of the reduction."""
    return net.put("Constant", [], [2], ints("value_ints", [2, 3]))


def squeeze(net, image, form):
    """The image times factors by channel, computed from its averages, or from these and its greatest elements."""
    shape = net.shapes[image]
    channels, narrow = shape[1], net.random.randint(1, 5)
    if form.startswith("Gemm"):
        mean = net.put("ReduceMean", [image], shape[:2], ints("axes", [2, 3]), integer("keepdims", 0)) if form == "Gemm" else \
            net.put("ReduceMean", [image, axes_of_node(net)], shape[:2], integer("keepdims", 0))
        inner = net.put("Relu", [net.put("Gemm", [mean, net.constant([channels, narrow])], [shape[0], narrow])], [shape[0], narrow])
        outer = net.put("HardSigmoid", [net.put("Gemm", [inner, net.constant([narrow, channels])], shape[:2])], shape[:2])
        factors = net.put("Reshape", [outer, net.numbers(np.array([0, channels, 1, 1], "i8"))], [*shape[:2], 1, 1])
        return net.put("Mul", [image, factors], shape)
    pools = [net.put(name, [image], [*shape[:2], 1, 1]) for name in ("GlobalAveragePool", "GlobalMaxPool")[:1 + (form == "both")]]
    pooled = net.put("Add", pools, [*shape[:2], 1, 1]) if form == "both" else pools[0]
    inner = net.put("Conv", [pooled, net.constant([narrow, channels, 1, 1])], [shape[0], narrow, 1, 1])
    inner = net.put("Relu", [inner], [shape[0], narrow, 1, 1])
    outer = net.put("Conv", [inner, net.constant([channels, narrow, 1, 1])], [*shape[:2], 1, 1])
    return net.put("Mul", [net.put("Sigmoid", [outer], [*shape[:2], 1, 1]), image], shape)


@pytest.mark.parametrize("form", ["Conv", "Gemm", "Gemm of version 18", "both"])
def test_squeezes_of_random_onnx_nets(tmp_path, form):
    """In groups that begin before the pool and end behind the image that is scaled: once or twice, and read again."""
    count, most = Counter(), 0
    for seed in range(300, 300 + 5 * THOROUGH):
        net = random_images(seed, 2)
        last = net.outputs[-1]
        if max(net.shapes[last][2:]) < 3:
            continue
        begin = len(net.nodes)
        image = net.put("Sigmoid", [last], net.shapes[last])
        scaled = squeeze(net, image, form)
        if seed % 2:
            scaled = squeeze(net, net.put("Add", [scaled, image], net.shapes[image]), form)
        net.conv(scaled)
        net.outputs = [list(net.shapes)[-1]] + [image] * (seed % 3 == 0)
        path, output, feed = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.split.onnx", net.feed()
        path.write_bytes(net.bytes(18 if form.endswith("18") else 17))
        wanted, end = run(path, feed), len(net.nodes) - 1
        for mode in ("rows", "kept") * 2:
            stage = f"{net.random.randint(max(0, begin - 3), begin + 1)}-{end}/{net.random.randint(2, 7)}:{mode}"
            strict, done = plan(path, output, stage), plan(path, output, stage, "--rounding", "allow")
            assert strict.returncode
            if done.returncode:
                count["refused"] += 1
                continue
            assert rounded(done) > 0
            for level in (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_ALL):
                found = run(output, feed, level)
                assert are_close(found, wanted), (seed, stage)
                most = max(most, ulps(wanted, found) if level == LEVELS.ORT_DISABLE_ALL else 0)
            count["run"] += 1
    print(f"{form}: {dict(count)}, at most {most:.0f} ulp of the largest")
    assert count["run"] > 4


def with_norm(seed, groups, version=None, axes=2):
    """A normalized image (op 1, or 1 to 3), a factor for each channel of it, and a convolution; and the normalization in
    float64."""
    net = Images(seed)
    random, shape = net.random, [1 + seed % 2, 12, net.random.randint(9, 60), net.random.randint(5, 60), 7][:2 + axes]
    shape[2] *= 16 if axes == 1 else 1
    net.shapes["x"] = shape
    offset, epsilon = [0.0, 30.0, 0.5][seed % 3], [1e-5, 1e-3][seed % 2]
    image = net.put("Add", ["x", net.numbers(np.array([offset], "f4"))], shape)
    by_channel = not groups or version == 21
    scale, bias = (random.uniform(0.5, 2, 12 if by_channel else groups).astype("f4") for _ in range(2))
    norm = [real("epsilon", epsilon)] * (seed % 2)
    constants = [net.numbers(scale), net.numbers(bias)]
    if version:
        made = net.put("GroupNormalization", [image, *constants], shape, integer("num_groups", groups), *norm)
    elif groups:
        sides = [shape[0], groups, 12 // groups * int(np.prod(shape[2:]))]
        grouped = net.put("Reshape", [image, net.numbers(np.array([0, groups, -1], "i8"))], sides)
        made = net.put("InstanceNormalization", [grouped, *constants], sides, *norm)
        made = net.put("Reshape", [made, net.numbers(np.array(shape, "i8"))], shape)
    else:
        made = net.put("InstanceNormalization", [image, *constants], shape, *norm)
    scaled = net.put("Mul", [made, net.constant([12, *[1] * axes])], shape)
    relu = net.put("Relu", [scaled], shape)
    last = net.put("Conv", [relu, net.constant([5, 12, *[3] * axes])], [shape[0], 5, *shape[2:]], ints("pads", [1] * 2 * axes))
    net.outputs = [last, made]

    def exact(x):
        wide = (x + np.float32(offset)).astype("f8").reshape(shape[0], groups or 12, -1)
        apart = wide - wide.mean(2, keepdims=True)
        by = np.sqrt((apart ** 2).mean(2, keepdims=True) + np.float32(epsilon).astype("f8"))
        each = [np.repeat(numbers, 12 // len(numbers)).reshape(12, *[1] * axes) for numbers in (scale, bias)]
        return (apart / by).reshape(shape) * each[0] + each[1]

    return net, exact


@pytest.mark.parametrize("groups, version", [(None, None), (1, None), (3, None), (12, None), (1, 21), (3, 21), (12, 21), (4, 18)])
@pytest.mark.parametrize("axes", NETS)
def test_normalizations_of_random_onnx_nets(tmp_path, axes, groups, version):
    """In two passes: as exact as the whole, against float64."""
    most, count, worst_errors = 0, 0, [0.0, 0.0]
    for seed in range((8 if axes == 2 else 3) * THOROUGH):
        net, exact = with_norm(seed, groups, version, axes)
        path, output, feed = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.split.onnx", net.feed()
        path.write_bytes(net.bytes(version or 17))
        wanted, truth, last = run(path, feed), exact(feed["x"]), len(net.nodes) - 1
        refused = plan(path, output, f"1-{last}/3:rows")
        assert refused.returncode and "--rounding allow" in refused.stdout + refused.stderr
        for mode in ("rows", "kept"):
            done = plan(path, output, f"1-{last}/{net.random.randint(2, 8)}:{mode}", "--rounding", "allow")
            assert done.returncode == 0 and rounded(done) > 0, done
            for level in (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_ALL):
                found = run(output, feed, level)
                # The runtime's own GroupNormalization is far off where the mean is large beside the deviation.
                assert (version and seed % 3 == 1) or are_close(found, wanted), seed
                errors = [np.abs(each[1] - truth).max() for each in (wanted, found)]
                assert errors[1] <= 2 * errors[0] + 4 * np.spacing(np.abs(wanted[1]).max()), (seed, errors)
                worst_errors = [max(pair) for pair in zip(worst_errors, errors)]
            most, count = max(most, ulps(wanted, found)), count + 1
    print(f"{groups} groups, {version}: {count} tilings, at most {most:.0f} ulp of the largest; off by {worst_errors}, whole and tiles")


def image_of(rows):
    """A small image that op 0 normalizes."""
    net = Images(5)
    net.shapes["x"] = [1, 12, rows, 9]
    return net, net.put("InstanceNormalization", ["x", net.constant([12]), net.constant([12])], [1, 12, rows, 9])


def test_a_normalization_is_rounded_where_each_tile_has_all_rows(tmp_path):
    net, made = image_of(4)
    net.outputs = [net.put("Conv", [made, net.constant([5, 12, 7, 3])], [1, 5, 4, 9], ints("pads", [3, 1, 3, 1]))]
    path, output, feed = tmp_path / "a.onnx", tmp_path / "b.onnx", net.feed()
    path.write_bytes(net.bytes())
    done = plan(path, output, "0-1/2:rows", "--rounding", "allow")
    assert done.returncode == 0 and rounded(done) > 0 and "first of op 0 (InstanceNormalization)" in done.stderr, done
    assert are_close(run(output, feed), run(path, feed))


def refusal(path, output, stage):
    done = plan(path, output, stage, "--rounding", "allow")
    assert done.returncode == 2 and not output.exists(), done
    return done.stdout + done.stderr


def test_more_tiles_than_a_normalized_image_has_rows(tmp_path):
    net, made = image_of(3)
    net.outputs = [net.put("ConvTranspose", [made, net.constant([12, 5, 4, 4])], [1, 5, 12, 36], ints("strides", [4, 4]))]
    path, output = tmp_path / "a.onnx", tmp_path / "b.onnx"
    path.write_bytes(net.bytes())
    assert "an image that it normalizes has fewer rows than tiles" in refusal(path, output, "0-1/4:rows")
    assert plan(path, output, "0-1/3:rows", "--rounding", "allow").returncode == 0


def test_plan_files_say_so(tmp_path):
    """In JSON, also where one plan is made of another's problem; CSV has no place for it."""
    path, (_, content) = tmp_path / "a.onnx", sandwich(64, channels=32)
    path.write_bytes(content)
    schema = json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text())
    for flags, said in ([], 0), (["--rounding", "allow"], 1):
        files = [tmp_path / f"{said}{i}.plan.json" for i in range(2)]
        subprocess.run([COMMAND, "plan", path, "--split", "0-3/64:rows", *flags, "-o", files[0]], capture_output=True, check=True)
        subprocess.run([COMMAND, "plan", files[0], "-o", files[1]], capture_output=True, check=True)
        for each in files:
            document = json.loads(each.read_text())
            jsonschema.validate(document, schema)
            assert (document["result"].get("rounded_ops", 0) > 0) == bool(said), each
            explained = subprocess.run([COMMAND, "explain", each], capture_output=True, text=True, check=True).stdout
            assert (NOT_THE_SAME in explained) == bool(said)
            sheet = subprocess.run([COMMAND, "plan", each, "-o", tmp_path / f"{each.name}.csv"], capture_output=True, text=True, check=False)
            assert (sheet.returncode == 3 and "CSV cannot hold that a plan is not of the same bits" in sheet.stderr) == bool(said), sheet


def test_explanations_say_so(tmp_path):
    path, (_, content) = tmp_path / "a.onnx", sandwich(64, channels=32)
    path.write_bytes(content)
    for flags, said in ([], False), (["--rounding", "allow"], True):
        done = subprocess.run([COMMAND, "explain", path, "--split", "0-3/64:rows", "-q", *flags], capture_output=True, text=True,
                              check=True)
        assert (NOT_THE_SAME in done.stdout) == said


SAID = re.compile(r"not the same bits: tiles of (\d+) ops? may be rounded otherwise")


def page_data(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_pictures_pages_and_headers_say_so(tmp_path):
    path, (_, content) = tmp_path / "a.onnx", sandwich(64, channels=32)
    path.write_bytes(content)
    for flags, said in ([], False), (["--rounding", "allow"], True):
        command = [COMMAND, "view", path, "--split", "0-3/64:rows", *flags]
        shown = {kind: subprocess.run([*command, f"--{kind}"], capture_output=True, text=True, check=True).stdout
                 for kind in ("ascii", "svg", "html")}
        shown["header"] = (tmp_path / "plan.h").with_suffix(f".{said}.h")
        subprocess.run([*[COMMAND, "plan"], *command[2:], "-q", "-f", "-o", shown["header"]], capture_output=True, check=True)
        shown["header"] = shown["header"].read_text()
        for kind, text in shown.items():
            assert (len(SAID.findall(text)) >= 1) == said, (kind, flags)
        assert page_data(shown["html"])["plans"][0].get("rounded", 0) == (int(SAID.search(shown["svg"])[1]) if said else 0)


def test_each_choice_says_so(tmp_path):
    """Of the front: in JSON, in the table of explain, in pictures and in the page."""
    net, sides = Images(5), [1, 32, 128, 128]
    net.shapes["x"] = [1, 3, 128, 128]
    wide = net.put("Conv", ["x", net.constant([32, 3, 3, 3])], sides, ints("pads", [1, 1, 1, 1]))
    norm = net.put("InstanceNormalization", [wide, net.constant([32]), net.constant([32])], sides)
    net.outputs = [net.put("Conv", [net.put("Relu", [norm], sides), net.constant([3, 32, 3, 3])], net.shapes["x"],
                           ints("pads", [1, 1, 1, 1]))]
    path = tmp_path / "a.onnx"
    path.write_bytes(net.bytes())
    flags = [path, "--split", "on", "--rounding", "allow"]
    split = json.loads(subprocess.run([COMMAND, "size", *flags, "--json"], capture_output=True, text=True, check=True).stdout)["split"]
    ways = [way["rounded_ops"] for way in split["ways"]]
    assert ways[0] == 0 and max(ways) > 0 and ways[split["taken"]] == split["rounded_ops"]
    table = subprocess.run([COMMAND, "explain", *flags], capture_output=True, text=True, check=True).stdout
    assert "rounded ops" in table and NOT_THE_SAME in table
    svg, html = (subprocess.run([COMMAND, "view", *flags, f"--{kind}"], capture_output=True, text=True, check=True).stdout
                 for kind in ("svg", "html"))
    titles = re.findall(r"<title>(\d+) .*? multiplications more(.*?)</title>", svg)
    assert {int(number): bool(SAID.search(text)) for number, text in titles} == {i: n > 0 for i, n in enumerate(ways)}
    assert [way["rounded"] for way in page_data(html)["ways"]] == ways
    strict = subprocess.run([COMMAND, "explain", *flags[:-2]], capture_output=True, text=True, check=True).stdout
    assert "rounded" not in strict


def test_low_tiles_of_long_sums(tmp_path):
    """As few rows as are asked for, and other bits in fact: a kernel sums up in other parts."""
    path, output, (net, content) = tmp_path / "a.onnx", tmp_path / "b.onnx", sandwich(64, channels=32)
    path.write_bytes(content)
    feed = net.feed()
    wanted = run(path, feed)
    strict = plan(path, output, "0-3/64:rows")
    added = json.loads(strict.stdout)["split"]
    assert rounded(strict) == 0 and same_bits(run(output, feed), wanted)
    done = plan(path, output, "0-3/64:rows", "--rounding", "allow")
    assert rounded(done) > 0 and json.loads(done.stdout)["split"]["macs"] < added["macs"]
    found = run(output, feed)
    assert not same_bits(found, wanted) and are_close(found, wanted)
    print(f"at most {ulps(wanted, found):.0f} ulp of the largest")


def test_the_default_refuses(tmp_path):
    """Both spellings of it, and the words of the other one."""
    net = random_images(7, 2)
    path, output = tmp_path / "a.onnx", tmp_path / "b.onnx"
    path.write_bytes(net.bytes())
    for flags in ([], ["--rounding", "refuse"]):
        done = subprocess.run([COMMAND, "plan", path, "--split", "on", *flags, "-f", "-o", output], capture_output=True, text=True,
                              check=True)
        assert NOT_THE_SAME not in done.stdout + done.stderr


def test_plans_in_python_count_rounded_ops(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    import arenaut
    path, (_, content) = tmp_path / "a.onnx", sandwich(64, channels=32)
    path.write_bytes(content)
    model, low = arenaut.open(path), [(0, 3, 64, "rows")]
    allowed = model.plan(split=low, rounding="allow")
    assert allowed.rounded_ops > 0 and NOT_THE_SAME in repr(allowed) and NOT_THE_SAME not in repr(model.plan(split=low))
    assert model.plan(split=low).rounded_ops == model.plan().rounded_ops == 0
    assert model.plan(split=[(0, 3, 2, "kept")], rounding="allow").rounded_ops == 0
    with pytest.raises(arenaut.InputError, match="'refuse' or 'allow'"):
        model.plan(split=True, rounding=True)
    with pytest.raises(arenaut.InputError, match="nothing is tiled"):
        model.plan(rounding="allow")


# ---- PyTorch ----

torch = pytest.importorskip("torch", reason="torch is not installed: no graph can be run")

from test_split_pt2 import Net, UNet, _one_thread, save_module, settle  # noqa: E402, F401 (the fixture is for all)

from exported_graphs import nodes_of  # noqa: E402
from exported_graphs import run as run_graph  # noqa: E402


def worst(found, exact):
    return max(float((a.double() - b).abs().max()) for a, b in zip(found, exact))  # then what it was given


def held_against_the_whole(module, args, path, output, done):
    """The whole and the tiles against float64: tiles err as the whole does, since both are sums of the same numbers."""
    wanted, _ = run_graph(path, args)
    found, _ = run_graph(output, args)
    one, other = ([a.numpy() for a in each] for each in (wanted, found))
    if rounded(done) == 0:
        assert same_bits(one, other)
        return 0.0
    with torch.no_grad():
        exact = module.double()(*(each.double() for each in args))
    module.float()
    exact = exact if isinstance(exact, (list, tuple)) else [exact]
    largest = max(float(np.abs(each).max()) for each in one)
    whole, tiles = worst(wanted, exact), worst(found, exact)
    assert tiles <= 4 * whole + 8 * float(np.spacing(np.float32(largest))), (whole, tiles)
    return ulps(one, other)


@pytest.mark.parametrize("axes", [1, 2])
def test_random_graphs(tmp_path, axes):
    count, most = Counter(), 0.0
    for seed in range(60, 60 + drawn(10)):
        net = Net(seed, axes)
        path, output = tmp_path / f"{seed}.pt2", tmp_path / f"{seed}.split.pt2"
        save_module(net, (net.input,), path)
        n = len(nodes_of(path))
        for mode in ("rows", "kept") * 2:
            first = net.random.randint(0, n - 1)
            stage = f"{first}-{min(n - 1, first + net.random.randint(0, 4))}/{net.random.randint(2, 9)}:{mode}"
            strict, done = plan(path, output, stage), plan(path, output, stage, "--rounding", "allow")
            if done.returncode:
                count["refused"] += 1
                continue
            count["allowed"] += strict.returncode != 0
            if strict.returncode:
                assert "--rounding allow" in strict.stdout + strict.stderr, (seed, stage, strict)
            most = max(most, held_against_the_whole(net, (net.input,), path, output, done))
            count["run"] += 1
    print(f"{axes} axes: {dict(count)}, at most {most:.0f} ulp of the largest")
    assert count["allowed"] > 0


class Norms(Net):
    """Every third value normalized by statistics of the whole image, or nearly."""

    kinds = ("conv", "conv", "depthwise", "pool", "curve", "constant", "sum", "join", "up", "pad", *["of image"] * 5)

    def draw(self, of, shapes):
        drawn = super().draw(of, shapes)
        if drawn:
            return drawn
        channels, pick = shapes[of][1], self.random.choice
        affine, epsilon = pick([True, False]), pick([1e-5, 1e-3, 1e-6])
        groups = pick([n for n in (1, 2, 4, 8, 16, channels) if channels % n == 0])
        part = self.add(pick([lambda: torch.nn.GroupNorm(groups, channels, epsilon, affine),
                              lambda: self.make("InstanceNorm", channels, epsilon, affine=affine)])())
        for each in part.parameters():
            torch.nn.init.normal_(each)
        return lambda values: part(values[of])


@pytest.mark.parametrize("axes", [1, 2])
def test_random_graphs_with_norms(tmp_path, axes):
    count, most = Counter(), 0.0
    for seed in range(drawn(14 - 4 * axes)):
        net = Norms(seed, axes)
        path, output = tmp_path / f"{seed}.pt2", tmp_path / f"{seed}.split.pt2"
        save_module(net, (net.input,), path)
        names = [node["target"] for node in nodes_of(path)]
        norms = [k for k, name in enumerate(names) if "norm" in name and "batch" not in name]
        for first in norms:
            for mode in ("rows", "kept"):
                last = min(len(names) - 1, first + net.random.randint(0, 4))
                done = plan(path, output, f"{first}-{last}/{net.random.randint(2, 9)}:{mode}", "--rounding", "allow")
                if done.returncode:
                    assert "--rounding" not in done.stderr
                    count["refused"] += 1
                    continue
                count["run"] += 1
                assert rounded(done) > 0
                most = max(most, held_against_the_whole(net, (net.input,), path, output, done))
        done = plan(path, output, "on", "--rounding", "allow")
        if "split" in json.loads(done.stdout):
            count["found"] += 1
            most = max(most, held_against_the_whole(net, (net.input,), path, output, done))
    print(f"{dict(count)}, at most {most:.0f} ulp of the largest")
    assert count["run"] > drawn(10)


class Normalized(torch.nn.Module):
    """What diffusion models have between their convolutions."""

    def __init__(self, axes, norm):
        super().__init__()
        conv = getattr(torch.nn, f"Conv{axes}d")
        self.first, self.norm, self.last = conv(4, 24, 3, padding=1), norm, conv(24, 4, 3, padding=1)
        for each in self.norm.parameters():
            torch.nn.init.normal_(each)

    def forward(self, x):
        return self.last(torch.nn.functional.silu(self.norm(self.first(x) + 3)))


NORMS = {
    "one group": lambda axes: torch.nn.GroupNorm(1, 24),
    "groups": lambda axes: torch.nn.GroupNorm(6, 24, eps=1e-6),
    "groups, without constants": lambda axes: torch.nn.GroupNorm(6, 24, affine=False),
    "a group of each channel": lambda axes: torch.nn.GroupNorm(24, 24),
    "instances": lambda axes: getattr(torch.nn, f"InstanceNorm{axes}d")(24, affine=True),
    "instances, without constants": lambda axes: getattr(torch.nn, f"InstanceNorm{axes}d")(24),
}


@pytest.mark.parametrize("name", some(NORMS))
@pytest.mark.parametrize("axes", NETS)
def test_normalizations_of_graphs(tmp_path, axes, name):
    torch.manual_seed(6)
    module, most = Normalized(axes, NORMS[name](axes)).eval(), 0
    args = (torch.randn(2, 4, *{1: [3200], 2: [64, 57], 3: [24, 13, 9]}[axes]),)
    path, output = tmp_path / "a.pt2", tmp_path / "b.pt2"
    for decomposed in (False, True):
        exported = torch.export.export(module, args)
        if decomposed and "instances" in name:
            continue  # become a batch norm that trains, on another shape
        torch.export.save(exported.run_decompositions() if decomposed else exported, path)
        strict = plan(path, output, "2-3/3:rows")
        assert strict.returncode and "--rounding allow" in strict.stdout + strict.stderr
        for mode in ("rows", "kept"):
            done = plan(path, output, f"2-3/{3 if mode == 'rows' else 5}:{mode}", "--rounding", "allow")
            assert done.returncode == 0 and rounded(done) > 0, done
            most = max(most, held_against_the_whole(module, args, path, output, done))
    print(f"{name}, {axes} axes: at most {most:.0f} ulp of the largest")


class DividedOtherwise(Normalized):
    """Its native normalization has numbers of images, channels and places of its own."""

    def __init__(self, axes, *numbers):
        super().__init__(axes, torch.nn.Identity())
        self.numbers = numbers

    def forward(self, x):
        made = torch.ops.aten.native_group_norm(self.first(x) + 3, None, None, *self.numbers, 1e-5)[0]
        return self.last(torch.nn.functional.silu(made))


@pytest.mark.parametrize("axes, numbers", [
    (2, (1, 48, 24 * 19, 48)), (2, (1, 48, 24 * 19, 6)), (2, (48, 1, 24 * 19, 1)), (2, (2, 48, 12 * 19, 6)),
    (2, (48, 24, 19, 6)), (1, (1, 48, 320, 6))])
def test_native_normalizations_that_divide_elements_otherwise_stay_whole(tmp_path, axes, numbers):
    path, output = tmp_path / "a.pt2", tmp_path / "b.pt2"
    args = (torch.randn(2, 4, *{1: [320], 2: [24, 19]}[axes]),)
    save_module(DividedOtherwise(axes, *numbers).eval(), args, path)
    done = plan(path, output, "2-3/3:rows", "--rounding", "allow")
    assert done.returncode and "an op in it cannot be tiled" in done.stderr, done
    own = {1: (2, 24, 320, 6), 2: (2, 24, 24 * 19, 6)}[axes]
    module = DividedOtherwise(axes, *own).eval()
    save_module(module, args, path)
    done = plan(path, output, "2-3/3:rows", "--rounding", "allow")
    assert done.returncode == 0 and rounded(done) > 0, done
    held_against_the_whole(module, args, path, output, done)


def swap_constants(path, output):
    """The same archive, but the constants of its normalization are by keyword, and the last is the first."""
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as after:
        for entry in before.infolist():
            data = before.read(entry)
            if entry.filename.endswith("models/model.json"):
                model = json.loads(data)
                node, = [one for one in model["graph_module"]["graph"]["nodes"] if "norm" in one["target"]]
                constants = [one for one in node["inputs"] if one["name"] in ("weight", "bias")]
                rest = [one for one in node["inputs"] if one not in constants]
                node["inputs"] = [*rest[:2], *({**one, "kind": 2} for one in [*reversed(constants), *rest[2:]])]
                data = json.dumps(model).encode()
            after.writestr(entry, data)


def test_constants_by_keyword_in_another_order(tmp_path):
    torch.manual_seed(7)
    path, swapped, output = tmp_path / "a.pt2", tmp_path / "b.pt2", tmp_path / "c.pt2"
    module, args = Normalized(2, torch.nn.GroupNorm(4, 24)).eval(), (torch.randn(2, 4, 24, 19),)
    save_module(module, args, path)
    swap_constants(path, swapped)
    assert torch.equal(torch.export.load(swapped).module()(*args), module(*args))
    assert "an op in it cannot be tiled" in refusal(swapped, output, "2-3/3:rows")


class WithOne(Normalized):
    """Normalized with a factor of each channel alone, or a summand."""

    def __init__(self, name):
        super().__init__(2, torch.nn.Identity())
        self.given = name
        self.constant = torch.nn.Parameter(torch.randn(24))

    def forward(self, x):
        made = torch.nn.functional.group_norm(self.first(x) + 3, 4, **{self.given: self.constant})
        return self.last(torch.nn.functional.silu(made))


@pytest.mark.parametrize("name", ["weight", "bias"])
def test_normalizations_with_one_constant_stay_whole(tmp_path, name):
    path, output = tmp_path / "a.pt2", tmp_path / "b.pt2"
    save_module(WithOne(name).eval(), (torch.randn(2, 4, 24, 19),), path)
    assert "an op in it cannot be tiled" in refusal(path, output, "2-3/3:rows")


def test_groups_begin_with_a_normalization_of_graphs(tmp_path):
    path, output = tmp_path / "a.pt2", tmp_path / "b.pt2"
    save_module(Normalized(2, torch.nn.GroupNorm(4, 24)).eval(), (torch.randn(1, 4, 40, 40),), path)
    assert "which must be whole before" in refusal(path, output, "1-3/2:rows")


def tiled_by_leave_alone(module, args, path, output):
    """The first three operators, the last of which is a mean of images."""
    for mode in ("rows", "kept"):
        for pieces in (2, 5):
            strict = plan(path, output, f"0-2/{pieces}:{mode}")
            assert strict.returncode and "--rounding allow" in strict.stdout + strict.stderr
            done = plan(path, output, f"0-2/{pieces}:{mode}", "--rounding", "allow")
            assert done.returncode == 0 and rounded(done) > 0, done
            (_, before), (_, after) = run_graph(path, args), run_graph(output, args)
            assert after < 0.7 * before
            held_against_the_whole(module, args, path, output, done)


@pytest.mark.parametrize("side", [(64, 48), (37, 21)])
def test_global_averages_of_graphs(tmp_path, side):
    torch.manual_seed(4)
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 24, 3, padding=1), torch.nn.Hardtanh(), torch.nn.AdaptiveAvgPool2d(1),
                                 torch.nn.Flatten(), torch.nn.Linear(24, 10)).eval()
    path, output, args = tmp_path / "a.pt2", tmp_path / "b.pt2", (torch.randn(2, 3, *side),)
    save_module(module, args, path)
    tiled_by_leave_alone(module, args, path, output)
    reader = plan(path, output, "0-4/2:rows", "--rounding", "allow")
    assert reader.returncode == 0 and rounded(reader) > 0
    held_against_the_whole(module, args, path, output, reader)


class Squeezed(torch.nn.Module):
    """Random windows around one or two squeezes: factors by convolutions on one element, or by matrix products."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        pick, channels = np.random.RandomState(seed).choice, 8 + 8 * (seed % 3)
        def conv(before, after, size, stride=1, groups=1):
            return torch.nn.Conv2d(before, after, int(size), int(stride), int(size) // 2, groups=groups)
        self.first, self.each = conv(3, channels, pick([1, 3])), conv(channels, channels, pick([3, 5]), pick([1, 2]), channels)
        self.second, self.last = conv(channels, channels, pick([1, 3]), pick([1, 2])), conv(channels, 5, 3)
        make = torch.nn.Linear if seed % 2 else lambda before, after: torch.nn.Conv2d(before, after, 1)
        self.narrow = torch.nn.ModuleList(make(channels, 4) for _ in range(2))
        self.widen = torch.nn.ModuleList(make(4, channels) for _ in range(2))
        self.flat, self.twice = seed % 2 == 1, seed % 4 > 1

    def squeeze(self, x, which):
        mean = x.mean([2, 3]) if self.flat else torch.nn.functional.adaptive_avg_pool2d(x, 1)
        factors = torch.sigmoid(self.widen[which](torch.nn.functional.silu(self.narrow[which](mean))))
        return x * (factors[:, :, None, None] if self.flat else factors)

    def forward(self, x):
        x = self.squeeze(torch.nn.functional.silu(self.each(torch.relu(self.first(x)))), 0)
        x = torch.nn.functional.hardswish(self.second(x))
        return self.last(self.squeeze(x, 1) if self.twice else x)


def test_squeezes_of_random_graphs(tmp_path):
    count, most = Counter(), 0.0
    for seed in range(drawn(12)):
        module, random = Squeezed(seed).eval(), np.random.RandomState(seed)
        args = (torch.randn(1 + seed % 2, 3, random.randint(40, 70), random.choice([32, 48, 33])),)
        path, output = tmp_path / f"{seed}.pt2", tmp_path / f"{seed}.split.pt2"
        save_module(module, args, path)
        last = len(nodes_of(path)) - 1
        for mode in ("rows", "kept"):
            stage = f"{random.randint(0, 3)}-{last}/{random.randint(2, 7)}:{mode}"
            strict, done = plan(path, output, stage), plan(path, output, stage, "--rounding", "allow")
            assert strict.returncode
            if done.returncode:
                count[done.stderr.split("cannot be split so: ")[-1]] += 1
                continue
            assert rounded(done) > 0
            most = max(most, held_against_the_whole(module, args, path, output, done))
            count["run"] += 1
    print(f"{dict(count)}, at most {most:.0f} ulp of the largest")
    assert count["run"] > drawn(12)


class Mean(torch.nn.Module):
    def __init__(self, axes, keeps, dtype=None):
        super().__init__()
        self.conv, self.options = torch.nn.Conv2d(3, 24, 3, padding=1), (axes, keeps)
        self.dtype = dtype

    def forward(self, x):
        return torch.nn.functional.hardtanh(self.conv(x)).mean(*self.options, dtype=self.dtype)


@pytest.mark.parametrize("axes, keeps", [([2, 3], True), ([-1, -2], False), ([3, 2], True), ([2, -1], False)])
def test_means_of_images_of_graphs(tmp_path, axes, keeps):
    torch.manual_seed(4)
    module, args = Mean(axes, keeps).eval(), (torch.randn(2, 3, 61, 47),)
    path, output = tmp_path / "a.pt2", tmp_path / "b.pt2"
    save_module(module, args, path)
    tiled_by_leave_alone(module, args, path, output)


@pytest.mark.parametrize("axes, dtype", [([1], None), ([2], None), ([1, 2], None), ([1, 2, 3], None), ([2, 3], torch.float64)])
def test_other_means_of_graphs_are_not_tiled(tmp_path, axes, dtype):
    path, output = tmp_path / "a.pt2", tmp_path / "b.pt2"
    save_module(Mean(axes, True, dtype).eval(), (torch.randn(1, 3, 16, 16),), path)
    assert "cannot be tiled" in refusal(path, output, "0-2/2:rows")


def test_volumes_are_tiled_by_leave_alone(tmp_path):
    torch.manual_seed(3)
    module, args = settle(UNet(False, 8, 2, axes=3, channels=1)).eval(), (torch.randn(1, 1, 32, 24, 24),)
    path, output = tmp_path / "unet.pt2", tmp_path / "unet.split.pt2"
    save_module(module, args, path)
    strict = plan(path, output, "0-1/4:rows")
    assert strict.returncode and "--rounding allow" in strict.stdout + strict.stderr
    done = plan(path, output, "on", "--rounding", "allow")
    assert rounded(done) > 0
    (_, before), (_, after) = run_graph(path, args), run_graph(output, args)
    assert after < 0.8 * before
    print(f"at most {held_against_the_whole(module, args, path, output, done):.0f} ulp of the largest")


WINDOWS = {  # which no tile can have, whatever may be rounded
    "of a volume, wider than a tile": (torch.nn.AvgPool3d(3, 1, 1), (1, 2, 12, 6, 6)),
    "that overlap, transposed": (torch.nn.ConvTranspose2d(2, 3, 3, 2), (1, 2, 12, 6)),
    "that overlap, transposed, of a volume": (torch.nn.ConvTranspose3d(2, 3, 3, 2), (1, 2, 12, 6, 6)),
    "of a signal, transposed": (torch.nn.ConvTranspose1d(2, 3, 4, 2), (1, 2, 64)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_that_no_tile_can_have(tmp_path, name):
    module, sides = WINDOWS[name]
    path, output = tmp_path / "a.pt2", tmp_path / "b.pt2"
    save_module(module.eval(), (torch.randn(sides),), path)
    for mode in ("rows", "kept"):
        said = refusal(path, output, f"0-0/5:{mode}")
        assert "cannot be tiled" in said and "--rounding" not in said
    assert plan(path, output, "on", "--rounding", "allow").returncode == 0
