"""Split files in the stock tflite-micro wheel: stock ops, less memory, the same bits.

What a split model computes is compared where it has a tensor of the original: the results of
its stages and all that comes behind them, with the plan inside, op by op.
"""

import functools
import json
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import COMMAND, DATA, SCRATCH, corpus_params

import arm_runtime
import tflite_compare
import micro_runtime
import tflite_file
from drawn import THOROUGH, some

# (today, split, over): what the runtime's own planner needs for the model, what is planned, and
# what is planned if results may lie over operands, too.
FIGURES = {
    "mobilenet_v1_025_96_int8": (73728, 46080, 29968),
    "inception_int8": (41472, 21792, 21328),
    "mlperf_vww96_int8": (73728, 46080, 29968),
    "mlperf_vww96_float": (294912, 167616, 117520),
    "person_detect": (55296, 36864, 24784),
    "mcunet_vww": (161472, 96000, 76800),
    "mcunetv2_large": (2451840, 752640, 602112),
    "mlperf_resnet8_int8": (49152, 22208, 25184),
    "mlperf_resnet_large_int8": (122880, 46592, 45792),
    "mobilenet_v2_int8_nchw": (2451840, 301056, 290112),
    "oww_embedding": (663552, 99424, 92032),
    "tinyengine_detection": (337024, 291680, 245760),
}
OWN = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
       if path.stem in FIGURES]
SPLIT = OWN + [p for p in corpus_params("tflite/*.tflite") if p.id in FIGURES]
QUICK = [p for p in SPLIT if p.id not in ("mcunetv2_large", "mobilenet_v2_int8_nchw")]


class Split:
    def __init__(self, run, path, folder, *options):
        self.original = path.read_bytes()
        self.path = folder / f"{path.stem}.tflite"
        self.document = run("plan", path, "-o", self.path, *options)
        self.data = self.path.read_bytes()


@pytest.fixture(scope="module")
def split(arenaut_json, tmp_path_factory):
    """Splits and plans a model; each model once."""
    done = {}

    def make(path):
        if path not in done:
            done[path] = Split(arenaut_json, path, tmp_path_factory.mktemp(path.stem),
                               "--split", "on", "--scratch", SCRATCH)
        return done[path]

    return make


def first_wrong_tensor(original, changed, seed=1, most=40, but=()):
    """Compares each tensor that both models make, but those of these names, when the changed one
    runs as far as there, with the original run with no memory shared. None, or (op of the changed
    one, tensor)."""
    whole = micro_runtime.Machine(original, keep_all=True)
    values = micro_runtime.random_inputs(whole.inputs, seed)
    whole.run(values)
    before, after = tflite_file.unpack(original), tflite_file.unpack(changed)
    names = [tflite_file.text(t.name) for t in before.subgraphs[0].tensors]
    prefixes = tflite_file.Prefixes(changed)
    compared = 0
    for index, op in enumerate(after.subgraphs[0].operators):
        outputs = tflite_file.items(op.outputs)
        if not outputs or tflite_compare.holds_resource(after, outputs):
            continue
        made = outputs[0]
        same = (made < len(names)
                and names[made] == tflite_file.text(after.subgraphs[0].tensors[made].name))
        if not same or compared == most or names[made] in but:
            continue
        compared += 1
        part = micro_runtime.Machine(prefixes.first(index + 1))
        if part.run(values)[0].tobytes() != whole.tensor(made).tobytes():
            return index, names[made]
    assert compared > 0
    return None


@pytest.mark.parametrize("path", SPLIT)
def test_figures(split, path):
    document = split(path).document
    assert (document["baseline"]["arena"], document["result"]["arena"]) == FIGURES[path.stem][:2]
    assert document["split"]["stages"]


@pytest.mark.parametrize("path", some(SPLIT))
def test_figures_with_results_over_operands(arenaut_json, tmp_path, path):
    document = Split(arenaut_json, path, tmp_path, "--split", "on", "--overlap", "on",
                     "--scratch", SCRATCH).document
    assert document["result"]["arena"] == FIGURES[path.stem][2]


@pytest.mark.parametrize("path", SPLIT)
def test_the_runtime_needs_what_is_planned(arenaut, split, tmp_path, path):
    """And no more in all than for the model that is planned and not split."""
    model, whole = split(path), tmp_path / "whole.tflite"
    arenaut("plan", path, "--scratch", SCRATCH, "-o", whole)
    head, tail = micro_runtime.Machine(model.data).arena()
    assert head == model.document["result"]["arena"]
    planned = sum(micro_runtime.Machine(whole.read_bytes()).arena())
    assert head + tail < planned <= sum(micro_runtime.Machine(model.original).arena())


@pytest.mark.parametrize("path", SPLIT)
def test_outputs_are_the_same(split, path):
    model = split(path)
    seeds = (1, 2, 3) if path in [p.values[0] for p in QUICK] else (1,)
    assert tflite_compare.first_difference(model.original, model.data, seeds=seeds, runs=1) is None


@pytest.mark.parametrize("path", some(QUICK))
def test_tensors_behind_the_stages_are_the_same(split, path):
    assert first_wrong_tensor(split(path).original, split(path).data) is None


@pytest.mark.parametrize("name, fast", [("resnet_int8", 4992), ("resnet_int8", 9984), ("inception_int8", 6537)])
def test_no_way_spills_more_than_the_model_as_it_is(arenaut_json, name, fast):
    """The fewest bytes in all would: they lie in the slower pool."""
    pools = ("--pool", f"fast={fast}", "--pool", "slow=4M", "--effort", "50000")
    whole, split = (arenaut_json("plan", DATA / f"{name}.tflite", *pools, "--split", on)["result"]
                    for on in ("off", "on"))
    assert (split["spill"], split["arena"]) <= (whole["spill"], whole["arena"])


def test_a_budget_is_kept_by_what_adds_least(arenaut_json):
    """What fits without splitting is not split; with less to spend, more and more ops are added."""
    added = []
    for budget in (60_000, 38_000, 36_000, 33_000):
        document = arenaut_json("plan", DATA / "inception_int8.tflite", "--split", "on", "--budget",
                                budget)
        assert document["budget"]["needed"] <= budget
        added.append(document["split"]["ops"] - 24 if "split" in document else 0)
    assert added == sorted(added) and added[0] == 0 and len(set(added)) > 2


@functools.cache  # tests on the same models compare the same plans
def planned_arena(arenaut_json, path, *options):
    """All that a 32-bit microcontroller has to reserve for the plan."""
    rows = arenaut_json("size", path, "--scratch", SCRATCH, *options)["tensor_arena"]
    return next(row["bytes"] for row in rows if row["of"] == "planned")


@pytest.mark.parametrize("path", some(SPLIT))
def test_together_with_overlap_it_needs_no_more_than_either_alone(arenaut_json, path):
    split, overlap = ("--split", "on"), ("--overlap", "on")
    both = planned_arena(arenaut_json, path, *split, *overlap)
    alone = [planned_arena(arenaut_json, path, *options) for options in (split, overlap, ())]
    assert both <= min(alone) and alone[0] <= alone[2]


@pytest.mark.parametrize("path", some(QUICK))
def test_split_ops_with_results_over_their_operands_compute_the_same(arenaut_json, tmp_path, path):
    model = Split(arenaut_json, path, tmp_path, "--split", "on", "--overlap", "on",
                  "--scratch", SCRATCH)
    assert micro_runtime.Machine(model.data).arena()[0] == model.document["result"]["arena"]
    assert tflite_compare.first_difference(model.original, model.data, seeds=(1, 2), runs=1) is None
    assert first_wrong_tensor(model.original, model.data) is None


NO_ARM = arm_runtime.missing("reference")


@pytest.mark.skipif(NO_ARM is not None, reason=str(NO_ARM))
@pytest.mark.parametrize("options", [(), ("--overlap", "on")], ids=["split", "split-overlap"])
@pytest.mark.parametrize("path", some(QUICK))
def test_split_models_compute_the_same_on_32_bit_arm(arenaut_json, tmp_path, path, options):
    model = Split(arenaut_json, path, tmp_path, "--split", "on", "--scratch", SCRATCH, *options)
    values = micro_runtime.random_inputs(micro_runtime.Machine(model.original).inputs, 1)
    found = arm_runtime.run(model.data, values, "reference")
    assert found == arm_runtime.run(model.original, values, "reference")


@pytest.mark.parametrize("path", QUICK)
def test_a_compact_file_computes_the_same(arenaut_json, split, tmp_path, path):
    model = Split(arenaut_json, path, tmp_path, "--split", "on", "--compact", "--scratch", SCRATCH)
    assert len(model.data) <= len(split(path).data)
    assert micro_runtime.Machine(model.data).arena() == micro_runtime.Machine(split(path).data).arena()
    assert tflite_compare.first_difference(model.original, model.data, seeds=(1,), runs=1) is None


@pytest.mark.parametrize("path", SPLIT)
def test_strip_gives_the_original_back(arenaut, split, tmp_path, path):
    back = tmp_path / "back.tflite"
    arenaut("strip", split(path).path, "-o", back)
    assert back.read_bytes() == split(path).original


def random_model(seed, heights=(12, 30), widest=12):
    """A chain of convolutions, pools and paddings with random forms, and its number of ops."""
    random = np.random.RandomState(seed)
    dtype = ("INT8", "FLOAT32")[seed % 2]
    numpy = tflite_file.NUMPY[dtype]
    model = tflite_file.Model("random chain")
    graph = model.graph("main")
    shape = [1, random.randint(*heights), random.randint(12, 30), random.randint(1, 5)]
    # Joins and paddings want one scale; zero points are anywhere, so that padding shows.
    scale, zero = (0.05, int(random.randint(-40, 40))) if dtype == "INT8" else (None, 0)
    tensor = first = graph.tensor("x", shape, dtype, scale, zero)

    def weights(*dims):
        if dtype == "INT8":
            return graph.constant("w", random.randint(-90, 90, dims).astype(np.int8), scale=0.01)
        return graph.constant("w", random.uniform(-1, 1, dims).astype(numpy))

    def bias(n):
        if dtype == "INT8":
            return graph.constant("b", random.randint(-900, 900, n).astype(np.int32), scale=0.0005)
        return graph.constant("b", random.uniform(-1, 1, n).astype(numpy))

    n_ops = random.randint(2, 6)
    for _ in range(n_ops):
        kind = random.choice(["CONV_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D",
                              "AVERAGE_POOL_2D", "PAD"])
        height, width, channels = shape[1:]
        if kind == "PAD":
            pads = np.zeros((4, 2), np.int32)
            pads[1:4] = random.randint(0, 3, (3, 2))
            shape = [a + int(b) for a, b in zip(shape, pads.sum(1))]
            inputs, options = [tensor, graph.constant("p", pads)], {}
        else:
            filters, strides = random.randint(1, 5, 2), random.randint(1, 4, 2)
            same = min(height - filters[0], width - filters[1]) < 0 or random.rand() < 0.7
            for axis in (0, 1):
                size = shape[1 + axis] if same else shape[1 + axis] - filters[axis] + 1
                shape[1 + axis] = int(-(-size // strides[axis]))
            options = {"padding": 0 if same else 1, "strideH": int(strides[0]),
                       "strideW": int(strides[1])}
            inputs = [tensor]
            if kind == "CONV_2D":
                shape[3] = int(random.randint(1, widest))
                inputs += [weights(shape[3], *filters, channels), bias(shape[3])]
                options |= {"dilationHFactor": 1, "dilationWFactor": 1}
            elif kind == "DEPTHWISE_CONV_2D":
                inputs += [weights(1, *filters, channels), bias(channels)]
                options |= {"depthMultiplier": 1, "dilationHFactor": 1, "dilationWFactor": 1}
            else:
                options |= {"filterHeight": int(filters[0]), "filterWidth": int(filters[1])}
        made = graph.tensor("t", shape, dtype, scale, zero)
        graph.op(kind, inputs, [made], **options)
        shape, tensor = list(shape), made
    graph.io([first], [tensor])
    return model.bytes(), n_ops


def random_stage(random, n_ops):
    first = random.randint(0, n_ops)
    last = random.randint(first, n_ops)
    mode = random.choice(["channels", "fitted", "fitted-over", "rows", "kept", "cropped",
                          "kept-cropped"])
    return f"{first}-{last}/{random.randint(2, 5)}:{mode}"


def test_random_models_compute_the_same(tmp_path):
    """Stages anywhere, in every mode: what is not refused computes the same bits."""
    compared = 0
    for seed in range(60 * THOROUGH):
        data, n_ops = random_model(seed)
        path, output = tmp_path / f"{seed}.tflite", tmp_path / f"{seed}.split.tflite"
        path.write_bytes(data)
        random = np.random.RandomState(1000 + seed)
        for stage in sorted({random_stage(random, n_ops) for _ in range(16)}):
            done = subprocess.run([COMMAND, "plan", path, "--split", stage, "-f", "-o", output],
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 0 or "cannot be split so" in done.stderr, (seed, stage, done)
            if done.returncode == 0 and output.read_bytes() != data:
                compared += 1
                assert tflite_compare.first_difference(data, output.read_bytes(), seeds=(1,),
                                                runs=1) is None, (seed, stage)
    assert compared > 30 * THOROUGH


def weights_of(table):
    """Of the convolutions that mix channels."""
    graph = table.subgraphs[0]
    return [graph.tensors[op.inputs[1]] for op in graph.operators
            if tflite_file.op_name(table, op) == "CONV_2D"]


def edged_model(bad):
    """A convolution with padding around its image, one row of its weights `bad`, and a pool."""
    random = np.random.RandomState(3)
    model = tflite_file.Model("edged")
    graph = model.graph("main")
    image = graph.tensor("image", [1, 24, 16, 2], "FLOAT32")
    weights = random.uniform(-1, 1, (6, 3, 3, 2)).astype(np.float32)
    weights[0, 0] = bad
    wide = graph.tensor("wide", [1, 24, 16, 6], "FLOAT32")
    graph.op("CONV_2D", [image, graph.constant("w", weights),
                         graph.constant("b", np.ones(6, np.float32))], [wide],
             padding=0, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1)
    pooled = graph.tensor("pooled", [1, 12, 8, 6], "FLOAT32")
    graph.op("MAX_POOL_2D", [wide], [pooled], padding=1, strideH=2, strideW=2, filterHeight=2,
             filterWidth=2)
    graph.io([image], [pooled])
    return model.bytes()


@pytest.mark.parametrize("mode", ["rows", "kept", "cropped", "channels"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_weights_that_are_infinite_or_no_numbers(arenaut, tmp_path, bad, mode):
    """Times a zero of padding they are no number, where the kernel's own padding is left out."""
    path, output = tmp_path / "edged.tflite", tmp_path / "split.tflite"
    path.write_bytes(edged_model(bad))
    arenaut("plan", path, "--split", f"0-1/3:{mode}", "-o", output)
    assert output.read_bytes() != path.read_bytes()
    assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes()) is None


def make_sparse(_, weights):
    schema = tflite_file.schema
    sizes = [schema.DimensionMetadataT() for _ in weights.shape]
    for size, n in zip(sizes, weights.shape):
        size.denseSize = int(n)
    weights.sparsity = schema.SparsityParametersT()
    weights.sparsity.traversalOrder = np.arange(len(sizes), dtype=np.int32)
    weights.sparsity.dimMetadata = sizes


def scale_by_inputs(_, weights):
    weights.quantization.quantizedDimension = 3


def lengthen(table, weights):
    buffer = table.buffers[weights.buffer]
    buffer.data = np.concatenate([np.asarray(buffer.data), np.zeros(16, np.uint8)])


@pytest.mark.parametrize("spoil", [make_sparse, scale_by_inputs, lengthen])
def test_constants_of_which_no_part_can_be_stored_are_not_divided(arenaut, arenaut_json, tmp_path,
                                                                  spoil):
    """A stage that cannot be written is no way to split; rows need no part of the weights."""
    table = tflite_file.unpack((DATA / "mobilenet_v1_025_96_int8.tflite").read_bytes())
    for weights in weights_of(table):
        spoil(table, weights)
    path = tmp_path / "spoiled.tflite"
    path.write_bytes(tflite_file.pack(table))
    refused = arenaut("plan", path, "--split", "2-3/2:channels", exit=2).stderr
    assert "ops 2 to 3 cannot be split so: no parts of the convolution's weights" in refused
    document = arenaut_json("plan", path, "--split", "on", "-o", tmp_path / "split.tflite")
    assert all(s["mode"] != "channels" for s in document.get("split", {}).get("stages", []))
    arenaut("plan", path, "--split", "2-3/2:rows", "-o", tmp_path / "rows.tflite")


def stages_text(stages):
    return ",".join(f"{s['first_op']}-{s['last_op']}/{s['pieces']}:{s['mode']}" for s in stages)


def least_said_and_planned(arenaut_json, model, rights):
    """The splits of `explain`, and what a plan of each reserves."""
    split = arenaut_json("explain", model, "--split", "on", *rights).get("split", {})
    for way in split.get("ways", []):
        stages = ["--split", stages_text(way["stages"])] if way["stages"] else []
        document = arenaut_json("size", model, *stages, *rights)
        yield way, next(row["bytes"] for row in document["tensor_arena"] if row["of"] == "planned"), document


RIGHTS = {"apart": [], "inplace": ["--inplace", "on"], "overlap": ["--overlap", "on"]}


@pytest.mark.parametrize("name, rights", some([
    pytest.param(name, rights, id=f"{name}-{rights}")
    for name in ("mobilenet_v1_025_96_int8", "resnet_int8", "inception_int8") for rights in RIGHTS]))
def test_each_way_to_split_needs_what_is_said_at_least(arenaut_json, name, rights):
    """The table of `explain`: each next way needs less, and no plan of one needs less than it says."""
    ways = list(least_said_and_planned(arenaut_json, DATA / f"{name}.tflite", RIGHTS[rights]))
    assert ways[0][0]["stages"] == [] and len(ways) > 1
    needs = [way["needs_at_least"] for way, _, _ in ways]
    assert needs == sorted(needs, reverse=True) and len(set(needs)) == len(needs)
    for way, reserved, document in ways:
        assert way["needs_at_least"] <= reserved
        assert rights == "overlap" or reserved <= 1.05 * way["needs_at_least"]
        if way["stages"]:
            assert document["split"]["ops"] - document["split"]["ops_before"] == way["added_ops"]


def test_with_overlap_the_way_with_fewer_pieces_may_be_the_best(arenaut_json):
    """Its join reads four pieces up: the one that may begin first lies first within the result."""
    document = arenaut_json("plan", DATA / "inception_int8.tflite", "--split", "on", "--overlap", "on")
    assert document["runtime"]["head"] + document["runtime"]["tail"] <= 29152


def test_the_report_says_which_way_was_taken(arenaut, arenaut_json):
    """With a budget, the first that fits; of the ways that explain lists."""
    model = DATA / "inception_int8.tflite"
    for budget in (38_000, 34_500, 33_000):
        split = arenaut_json("plan", model, "--split", "on", "--budget", budget)["split"]
        ways, taken = split["ways"], split["taken"]
        assert split["stages"] == ways[taken]["stages"]
        fit = [way for way in ways if way["needs_at_least"] <= budget]
        assert ways[taken] == min(fit, key=lambda way: (way["added_ops"], way["added_macs"]))
        said = f"split {taken} of {len(ways) - 1}: adds the least of those that fit in {budget:,}"
        assert said in arenaut("plan", model, "--split", "on", "--budget", budget).stdout
    said = arenaut("plan", model, "--split", "on").stdout
    assert f"split {len(ways) - 1} of {len(ways) - 1}: reserves the least memory" in said
    assert " (taken) " in arenaut("explain", model, "--split", "on").stdout


def test_the_picture_has_every_way_to_split(arenaut, arenaut_json, tmp_path):
    """Twice: bytes against ops, and against multiplications; what needs more stands higher, what
    adds more farther right. A program that was not split has none."""
    model, picture = DATA / "inception_int8.tflite", tmp_path / "x.svg"
    split = arenaut_json("size", model, "--split", "on")["split"]
    arenaut("view", model, "--split", "on", "--svg", "-o", picture)
    circles = [item for item in ElementTree.parse(picture).iter() if item.tag.endswith("circle")]
    assert len(circles) == 2 * len(split["ways"])
    for circle, way in zip(circles, [way for way in split["ways"] for _ in range(2)]):
        assert f"{way['needs_at_least']:,} bytes, {way['added_ops']} ops" in circle[0].text
    heights = [float(circle.get("cy")) for circle in circles]
    assert heights == sorted(heights) and len(set(heights)) > 5
    for plot, added in ((circles[::2], "added_ops"), (circles[1::2], "added_macs")):
        order = sorted(range(len(plot)), key=lambda i: split["ways"][i][added])
        places = [float(plot[i].get("cx")) for i in order]
        assert places == sorted(places)
    assert [i // 2 for i, circle in enumerate(circles) if "output" in circle.get("class")] == [
        split["taken"]] * 2
    whole = tmp_path / "whole.svg"
    arenaut("view", model, "--svg", "-o", whole)
    assert "<circle" not in whole.read_text()


def test_explain_tries_splitting(arenaut, arenaut_json):
    model = DATA / "resnet_int8.tflite"
    remedies = arenaut_json("explain", model)["remedies"]
    split = next(remedy for remedy in remedies if remedy.get("flags") == "--split on")
    assert split["arena"] == arenaut_json("size", model, "--split", "on")["result"]["arena"]
    assert "\nsplits " in arenaut("explain", model, "--split", "on").stdout
    assert "\nsplits " not in arenaut("explain", model).stdout


@pytest.mark.parametrize("given", [(), ("--split", "on"), ("--overlap", "on")],
                         ids=["alone", "split", "overlap"])
@pytest.mark.parametrize("path", some(p for p in SPLIT if "resnet" in p.id))
def test_splitting_is_chosen_by_the_savings_of_the_remedy(arenaut_json, path, given):
    """All that has to be reserved, of which the arena is a part: it may grow as the rest falls."""
    known = ("--scratch", SCRATCH)
    now = planned_arena(arenaut_json, path, *given)
    remedies = [remedy for remedy in arenaut_json("explain", path, *given, *known)["remedies"]
                if "flags" in remedy]
    assert {"--split on", "--overlap on"} - {" ".join(given)} <= {r["flags"] for r in remedies}
    for remedy in remedies:
        reserve = planned_arena(arenaut_json, path, *given, *remedy["flags"].split())
        assert (remedy["reserve"], remedy["saves"]) == (reserve, max(0, now - reserve))


def test_explain_says_what_a_float_input_costs(arenaut, tmp_path):
    """True only of inputs that nothing but one QUANTIZE reads."""
    program = {"schema": "arenaut.program/1", "tensors": [
        {"name": name, "dtype": dtype, "dims": [1, 10, 10, 3], "class": cls, "method": "main"}
        for name, dtype, cls in (("image", "float32", "input"), ("q", "int8", "intermediate"),
                                 ("r", "int8", "output"))],
        "methods": [{"name": "main", "inputs": ["image"], "outputs": ["r"], "ops": [
            {"name": "QUANTIZE", "inputs": ["image"], "outputs": ["q"]},
            {"name": "RELU", "inputs": ["q"], "outputs": ["r"]}]}]}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(program))
    said = "input image is only quantised: a model that takes int8 there needs 900 bytes less"
    assert said in arenaut("explain", path).stdout
    program["methods"][0]["ops"][1]["inputs"].append("image")
    path.write_text(json.dumps(program))
    assert "only quantised" not in arenaut("explain", path).stdout


@pytest.mark.parametrize("name", ["hello_world_int8.tflite", "pt2/windows.pt2"])
def test_that_no_tiles_help_is_said(name):
    done = subprocess.run([COMMAND, "size", DATA / name, "--split", "on"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "nothing is split: none of the tiles that were tried lowers the peak of live bytes" in done.stderr


def test_a_choice_of_tiles_for_which_no_plan_is_found_ends_no_search(arenaut):
    """It was an error of the whole, although another choice fits."""
    done = arenaut("plan", DATA / "inception_int8.tflite", "--overlap", "on", "--split", "on",
                   "--capacity", "20K", "--effort", 20000)
    assert " ok: " in done.stdout
