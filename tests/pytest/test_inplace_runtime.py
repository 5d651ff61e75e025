"""Plans with in-place ops in the stock wheel: intermediate tensors op by op, then outputs."""

import pytest
from conftest import DATA, SCRATCH, corpus_params
from drawn import some

import tflite_compare
import micro_runtime

# (today, planned without, planned with in-place ops)
FIGURES = {
    "elementwise_float": (12288, 12288, 8192),
    "litert_call_once_mul": (48, 48, 32),
    "litert_multi_subgraphs_while": (128, 128, 112),
    "torchaudio_conformer": (38069408, 38069408, 22257408),
}
OWN = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
       if path.stem not in micro_runtime.REFUSED | {"foreign_plan_float"}]
CORPUS = [param for param in corpus_params("tflite/*.tflite") if param.id in FIGURES
          or param.id in ("audio_preprocessor_int8", "mlperf_resnet8_int8", "oww_embedding",
                          "tinyengine_detection", "mlperf_vww96_int8")
          or param.id.startswith("corpus/")]


@pytest.fixture(scope="module")
def planned(arenaut_json, tmp_path_factory):
    done = {}

    def plan(path):
        if path not in done:
            output = tmp_path_factory.mktemp(path.stem) / "planned.tflite"
            document = arenaut_json("plan", path, "-o", output, "--inplace", "on",
                                    "--scratch", SCRATCH)
            data = output.read_bytes()
            done[path] = document, data, data != path.read_bytes()
        return done[path]

    return plan


@pytest.mark.parametrize("path", some(OWN) + some(CORPUS))
def test_every_op_leaves_the_same_tensors(planned, path):
    """A corrupted intermediate can leave a final output as it was, so each op is looked at."""
    document, data, written = planned(path)
    if not written:
        assert document["result"]["arena"] == document["baseline"]["arena"]
        return
    every = 9 if path.stem == "torchaudio_conformer" else 1  # 138 ops, half a second each
    assert tflite_compare.first_wrong_op(path.read_bytes(), data, every=every) is None


@pytest.mark.parametrize("path", OWN + CORPUS)
def test_outputs_are_the_same_over_several_runs(planned, path):
    _, data, written = planned(path)
    seeds = (1,) if path.stem == "torchaudio_conformer" else (1, 2, 3)
    assert not written or tflite_compare.first_difference(path.read_bytes(), data, seeds) is None


@pytest.mark.parametrize("path", OWN + CORPUS)
def test_the_runtime_reports_the_planned_arena(planned, path):
    document, data, written = planned(path)
    if written:
        assert micro_runtime.Machine(data).arena()[0] == document["result"]["arena"]
    assert document["result"]["arena"] <= document["baseline"]["arena"]


@pytest.mark.parametrize("path", [p for p in OWN + CORPUS if p.id in FIGURES])
def test_figures(arenaut_json, planned, path):
    without = arenaut_json("size", path, "--scratch", SCRATCH)["result"]["arena"]
    document = planned(path)[0]
    assert (document["baseline"]["arena"], without, document["result"]["arena"]) == \
        FIGURES[path.stem]
