"""How much scratch the reference kernels ask for, as Arenaut computes it, against the wheel.

A size that is too small would let a plan be called optimal that is not.
"""

import csv

import numpy as np
import pytest
from conftest import CORPUS, DATA, SCRATCH, corpus_params

import measure_scratch
import scratch_ops

SEEDS = range(3)
UNSIZED = {"ADD_N", "SignalRfft", "TFLite_Detection_PostProcess"}


def computed(document):
    """Sizes of all requests by operator, from small to large."""
    sizes = {}
    for buffer in document["buffers"]:
        if buffer["class"] == "scratch":
            sizes.setdefault(buffer["op"], []).append(buffer["size"])
    return {op: sorted(of_op) for op, of_op in sizes.items()}


@pytest.mark.parametrize("case", scratch_ops.SIZED, ids="-".join)
def test_random_ops_ask_for_what_is_computed(arenaut_json, tmp_path, case):
    model = tmp_path / "op.tflite"
    for seed in SEEDS:
        data = scratch_ops.SIZED[case](np.random.RandomState(seed)).data
        rows, failed = measure_scratch.measure(data)
        assert not failed
        model.write_bytes(data)
        document = arenaut_json("plan", model)
        assert document["scratch"] == "given"
        assert computed(document) == {case[0]: sorted(row[2] for row in rows)}


def measured(model):
    """Requests by operator as the file of measured sizes has them; None if it has no such model."""
    with SCRATCH.open() as file:
        rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))
                if row["model"] == model]
    sizes = {}
    for row in rows:
        if row["op"]:
            sizes.setdefault(row["operator"], []).append(int(row["bytes"]))
    return {op: sorted(of_op) for op, of_op in sizes.items()} if rows else None


def models():
    """Those that were measured: others the wheel does not run."""
    own = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
           if measured(path.stem) is not None]
    unmeasured = [path.name.split(".")[0] for path in CORPUS.glob("tflite/*.tflite")
                  if measured(path.name.split(".")[0]) is None]
    return own + corpus_params("tflite/*.tflite", without=unmeasured)


@pytest.mark.parametrize("path", models())
def test_models_ask_for_what_is_computed(arenaut_json, path):
    expected = measured(path.name.split(".")[0])
    document = arenaut_json("plan", path)
    assert document["scratch"] == ("unknown" if UNSIZED & set(expected) else
                                   "given" if expected else "none")
    assert computed(document) == {op: sizes for op, sizes in expected.items()
                                  if op not in UNSIZED}


def test_a_scratch_file_comes_before_rules(arenaut_json, tmp_path):
    """It speaks of the whole model: ops without a row ask for nothing."""
    rows = tmp_path / "scratch.csv"
    rows.write_text("op,bytes\n1,4096\n")
    document = arenaut_json("plan", DATA / "svdf_int8.tflite", "--scratch", rows)
    assert document["scratch"] == "given"
    assert computed(document) == {"SVDF": [4096]}


def test_without_the_pass_scratch_is_unknown(arenaut_json):
    document = arenaut_json("plan", DATA / "svdf_int8.tflite", "--passes", "-scratch")
    assert document["scratch"] == "unknown"
    assert computed(document) == {}


def test_other_kernels_have_other_sizes(arenaut_json):
    """These are held against the runtime by test_kernel_memory.py."""
    model = DATA / "resnet_int8.tflite"
    assert arenaut_json("plan", model)["scratch"] == "none"
    assert arenaut_json("plan", model, "--kernels", "cmsis-nn")["scratch"] == "given"
    assert computed(arenaut_json("plan", model, "--kernels", "esp-nn")) == {"SOFTMAX": [48]}
