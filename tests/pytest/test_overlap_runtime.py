"""Plans in which results slide under their operands, in the stock wheel: every op's results.

A final output hides much, so each model is cut after each of its ops and compared there. That
these tests would notice is shown on each model as well: with every distance one step of the
alignment too small, some result must come out different.
"""

import copy

import pytest
from conftest import DATA, SCRATCH, corpus_params

import tflite_compare
import micro_runtime
import overlap_plans
import tflite_file
from drawn import THOROUGH, some

WITHOUT = {*micro_runtime.REFUSED, "foreign_plan_float"}  # which has another tool's plan
MODELS = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
          if path.stem not in WITHOUT] + corpus_params("tflite/*.tflite", without=WITHOUT)

# `make fuzz` looks at every op; here large models are cut after every so many.
STRIDE = {} if THOROUGH > 1 else {
    "mcunetv2_large": 32, "mobilenet_v2_int8_nchw": 8, "oww_embedding": 2,
    "tinyengine_detection": 4, "torchaudio_conformer": 24}

# Bytes of the head: (today, in place only, with overlap), each proven minimal.
FIGURES = {
    "dtln_noise_suppression": (1424, 1424, 1296),
    "keyword_scrambled": (672, 672, 608),
    "mcunet_vww": (161472, 161472, 84672),
    "micro_speech_quantized": (5968, 5968, 4176),
    "mlperf_kws_int8": (16000, 16000, 9792),
    "mlperf_resnet8_int8": (49152, 49152, 33312),
    "mlperf_strww_int8": (6656, 6656, 3840),
    "mlperf_vww96_float": (294912, 221184, 147488),
    "mlperf_vww96_int8": (73728, 55296, 36880),
    "mobilenet_v2_int8_nchw": (2451840, 2451840, 1247616),
    "mww_alexa": (3648, 3200, 3136),
    "oww_embedding": (663552, 454656, 227904),
    "person_detect": (55296, 55296, 36880),
    "tinyengine_detection": (337024, 337024, 245760),
    "torchaudio_conformer": (38069408, 22257408, 20113488),
}


@pytest.fixture(scope="module")
def planned(arenaut_json, tmp_path_factory):
    """The plan with overlap and the bytes that the runtime gets; each model once."""
    done = {}

    def plan(path):
        if path not in done:
            output = tmp_path_factory.mktemp(path.stem) / "planned.tflite"
            document = arenaut_json("plan", path, "-o", output, "--overlap", "on", "--inplace",
                                    "on", "--scratch", SCRATCH)
            data = output.read_bytes()
            done[path] = document, data, data != path.read_bytes()
        return done[path]

    return plan


def separations(path, document):
    return overlap_plans.separations_of(path.read_bytes(), document)


@pytest.mark.parametrize("path", MODELS)
def test_the_runtime_reports_the_planned_arena(planned, path):
    document, data, written = planned(path)
    assert document["result"]["status"] == "optimal"
    if not written:
        assert document["result"]["arena"] == document["baseline"]["arena"]
        return
    head, tail = micro_runtime.Machine(data).arena()
    assert head == document["result"]["arena"] < document["baseline"]["arena"]
    assert tail == micro_runtime.Machine(path.read_bytes()).arena()[1]


@pytest.mark.parametrize("path", some(MODELS))
def test_every_op_leaves_the_same_tensors(planned, path):
    _, data, written = planned(path)
    if written:
        every = STRIDE.get(path.stem, 1)
        assert tflite_compare.first_wrong_op(path.read_bytes(), data, every=every) is None


@pytest.mark.parametrize("path", some(MODELS))
def test_outputs_are_the_same_over_several_runs(planned, path):
    _, data, written = planned(path)
    seeds = (1,) if path.stem in STRIDE else (1, 2, 3)
    assert not written or tflite_compare.first_difference(path.read_bytes(), data, seeds) is None


@pytest.mark.parametrize("path", MODELS)
def test_the_file_holds_the_offsets_of_the_plan(planned, path):
    """… so that what the next test makes of buffers and tensors is right."""
    document, data, written = planned(path)
    if written:
        assert overlap_plans.offsets_of(data, document) == tflite_file.plan_of(data)


def closer_plan(arenaut_json, folder, document, data):
    """What is best with each distance a step too small. Where that needs no less memory, no
    tensors need have come closer than they may."""
    (folder / "short.json").write_text(overlap_plans.one_step_short(copy.deepcopy(document)))
    short = arenaut_json("plan", folder / "short.json")
    return short["result"]["arena"], overlap_plans.offsets_of(data, short)


def closer_pairs(data, document):
    """Plans with all tensors apart but one pair, which is a step too close."""
    sizes = [tflite_file.tensor_bytes(tensor) for graph in tflite_file.unpack(data).subgraphs
             for tensor in graph.tensors]
    for pair in overlap_plans.separations_of(data, document):
        delta = tflite_file.rounded(pair.distance) - tflite_file.ALIGN
        if -sizes[pair.upper] < delta < sizes[pair.lower]:
            yield overlap_plans.placed(data, pair, delta)


@pytest.mark.parametrize("path", some(MODELS))
def test_one_step_less_shows(arenaut_json, planned, tmp_path, path):
    document, data, written = planned(path)
    if not written or not document.get("separations"):
        return
    def shows(offsets):
        wrong = tflite_file.with_plan(path.read_bytes(), offsets)
        return tflite_compare.first_wrong_op(path.read_bytes(), wrong,
                                      every=STRIDE.get(path.stem, 1)) is not None

    arena, short = closer_plan(arenaut_json, tmp_path, document, data)
    if not shows(short):
        assert arena == document["result"]["arena"]
        pairs = list(closer_pairs(data, document))
        assert not pairs or any(map(shows, pairs))


@pytest.mark.parametrize("path", [p for p in MODELS if p.id in FIGURES])
def test_figures(arenaut_json, planned, path):
    document = planned(path)[0]
    in_place = arenaut_json("size", path, "--inplace", "on", "--scratch", SCRATCH)
    assert (document["baseline"]["arena"], in_place["result"]["arena"],
            document["result"]["arena"]) == FIGURES[path.stem]
