"""Split files in the stock tflite-micro wheel: stock ops, less memory, the same bits.

What a split model computes is compared where it has a tensor of the original: the results of
its stages and all that comes behind them, with the plan inside, op by op.
"""

import pytest
from conftest import DATA, SCRATCH, corpus_params

import compare
import micro_runtime
import tflite_file

# (today, split): what the runtime's own planner needs for the model, and what is planned.
FIGURES = {
    "mobilenet_v1_025_96_int8": (73728, 46080),
    "inception_int8": (41472, 24832),
    "mlperf_vww96_int8": (73728, 46080),
    "mlperf_vww96_float": (294912, 184320),
    "person_detect": (55296, 36864),
    "mcunet_vww": (161472, 96000),
    "mcunetv2_large": (2451840, 752640),
    "mlperf_resnet8_int8": (49152, 32768),
    "mlperf_resnet_large_int8": (122880, 68032),
    "mobilenet_v2_int8_nchw": (2451840, 405424),
    "oww_embedding": (663552, 148992),
    "tinyengine_detection": (337024, 307200),
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


def first_wrong_tensor(original, changed, seed=1, most=40):
    """Compares each tensor that both models make, when the changed one runs as far as there,
    with the original run with no memory shared. None, or (op of the changed one, tensor)."""
    whole = micro_runtime.Machine(original, keep_all=True)
    values = micro_runtime.random_inputs(whole.inputs, seed)
    whole.run(values)
    before, after = tflite_file.unpack(original), tflite_file.unpack(changed)
    names = [tflite_file.text(t.name) for t in before.subgraphs[0].tensors]
    prefixes = tflite_file.Prefixes(changed)
    compared = 0
    for index, op in enumerate(after.subgraphs[0].operators):
        made = tflite_file.items(op.outputs)[0]
        same = (made < len(names)
                and names[made] == tflite_file.text(after.subgraphs[0].tensors[made].name))
        if not same or compared == most:
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
    assert (document["baseline"]["arena"], document["result"]["arena"]) == FIGURES[path.stem]
    assert document["split"]["stages"]


@pytest.mark.parametrize("path", SPLIT)
def test_the_runtime_needs_what_is_planned(split, path):
    model = split(path)
    head, tail = micro_runtime.Machine(model.data).arena()
    assert head == model.document["result"]["arena"]
    assert head + tail < sum(micro_runtime.Machine(model.original).arena())


@pytest.mark.parametrize("path", SPLIT)
def test_outputs_are_the_same(split, path):
    model = split(path)
    seeds = (1, 2, 3) if path in [p.values[0] for p in QUICK] else (1,)
    assert compare.first_difference(model.original, model.data, seeds=seeds, runs=1) is None


@pytest.mark.parametrize("path", QUICK)
def test_tensors_behind_the_stages_are_the_same(split, path):
    assert first_wrong_tensor(split(path).original, split(path).data) is None


@pytest.mark.parametrize("path", SPLIT)
def test_strip_gives_the_original_back(arenaut, split, tmp_path, path):
    back = tmp_path / "back.tflite"
    arenaut("strip", split(path).path, "-o", back)
    assert back.read_bytes() == split(path).original
