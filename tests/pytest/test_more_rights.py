"""More rights never give a worse plan: over all subsets of the flags that let the program change, what is to be
reserved with a flag more is no more than without it."""

import os
from itertools import combinations

import pytest
from conftest import DATA, ROOT

CORPUS = ROOT.parent / "shared" / "corpus"
THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))
RIGHTS = ("inplace", "overlap", "reorder", "recompute", "split")
MODELS = [*sorted(DATA.glob("*.tflite")), *(CORPUS / "tflite" / f"{name}.tflite" for name in
                                          ("mlperf_kws_int8", "mww_alexa"))]
if THOROUGH > 1:
    MODELS = [*sorted(DATA.glob("*.tflite")), *sorted((CORPUS / "tflite").glob("*.tflite"))]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_right_more_never_needs_more(arenaut_json, path):
    if not path.is_file():
        pytest.skip(f"{path.name} is of the corpus, which is not here")
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
