"""More rights never give a worse plan: over all subsets of the flags that let the program change, what is to be
reserved with a flag more is no more than without it."""

from itertools import combinations

import pytest
from conftest import DATA, ROOT, corpus_params

from drawn import THOROUGH, some

CORPUS = ROOT.parent / "shared" / "corpus"
RIGHTS = ("inplace", "overlap", "reorder", "recompute", "split")
MODELS = [*sorted(DATA.glob("*.tflite")), *(CORPUS / "tflite" / f"{name}.tflite" for name in
                                          ("mlperf_kws_int8", "mww_alexa"))]
OTHERS = ["pt2/mlp_joint_grad.pt2", "pt2/kv_buffer.pt2", "pte/splitcat.pte", "pte/kvllama.pte",
          "onnx/light_squeezenet.onnx"]
if THOROUGH > 1:
    OTHERS += ["pt2/*.pt2", "pte/*.pte", "onnx/light_*.onnx"]
    MODELS = [*sorted(DATA.glob("*.tflite")), *sorted((CORPUS / "tflite").glob("*.tflite"))]


def assert_none_is_worse(arenaut_json, path):
    needs = {}
    for n in range(len(RIGHTS) + 1):
        for rights in combinations(RIGHTS, n):
            document = arenaut_json("plan", path, *(word for name in rights for word in (f"--{name}", "on")))
            runtime = document["runtime"]
            needs[frozenset(rights)] = (runtime["head"] + runtime["tail"] if "head" in runtime
                                        else document["result"]["arena"])
    worse = [(sorted(rights), name, needs[rights], needs[rights - {name}]) for rights in needs for name in rights
             if needs[rights] > needs[rights - {name}]]
    assert not worse


@pytest.mark.parametrize("path", some([pytest.param(path, id=path.stem) for path in MODELS]))
def test_a_right_more_never_needs_more(arenaut_json, path):
    if not path.is_file():
        pytest.skip(f"{path.name} is of the corpus, which is not here")
    assert_none_is_worse(arenaut_json, path)


@pytest.mark.parametrize("path", [param for name in OTHERS for param in corpus_params(name)])
def test_a_right_more_never_needs_more_in_other_formats(arenaut_json, path):
    assert_none_is_worse(arenaut_json, path)


@pytest.mark.parametrize("path", corpus_params("pt2/mlp_joint_grad.pt2"))
def test_tiles_that_are_not_made_change_no_order(arenaut_json, path):
    """Its state is updated, so nothing is split: the order is that without --split, which is better than the given."""
    orders = [arenaut_json("plan", path, "--reorder", "on", *flags)["order"] for flags in ([], ["--split", "on"])]
    assert orders[0] == orders[1] and orders[0]["best"] < orders[0]["given"]


HURRIED = ["tflite/mp_palm_detection_lite.tflite", "tflite/mp_face_landmark_attention.tflite",
           "tflite/torchaudio_conformer.tflite", "pte/mobilenetv2_100.pte"]


@pytest.mark.parametrize("milliseconds", (1, 20, 50))
@pytest.mark.parametrize("path", [DATA / "inception_int8.tflite",
                                  *(param for name in HURRIED for param in corpus_params(name))])
def test_with_little_time_no_plan_is_worse_than_the_runtimes(arenaut_json, path, milliseconds):
    for rights in ((), ("overlap",), RIGHTS):
        document = arenaut_json("plan", path, "--time", f"{milliseconds}ms", "-q",
                                *(word for name in rights for word in (f"--{name}", "on")))
        assert document["result"]["arena"] <= document["baseline"]["arena"], rights
