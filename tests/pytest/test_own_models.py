"""The models that the project ships, and what is shipped about them."""

import csv

import numpy as np
import pytest
from conftest import CORPUS, DATA, SCRATCH, corpus_params

import make_tflite
import measure_scratch
import micro_runtime
import tflite_file

# Not for the micro runtime, with the word that its refusal must hold.
NOT_RUNNABLE = {"custom_op_planned": "CUSTOM", "float16_weights": "DEQUANTIZE"}
OWN = sorted(make.__name__ for make in make_tflite.MODELS)


def shipped_scratch():
    """Rows (method, op, bytes) by model."""
    with open(SCRATCH, newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        found = {}
        for row in rows:
            sizes = found.setdefault(row["model"], [])
            if row["op"]:
                sizes.append((int(row["method"]), int(row["op"]), int(row["bytes"])))
        return found


@pytest.mark.parametrize("make", make_tflite.MODELS, ids=lambda make: make.__name__)
def test_shipped_models_have_the_bytes_that_the_script_makes(make):
    assert (DATA / f"{make.__name__}.tflite").read_bytes() == make()


def test_all_shipped_models_come_from_the_script():
    assert sorted(path.stem for path in DATA.glob("*.tflite")) == OWN


@pytest.mark.parametrize("name", OWN)
def test_runtime_takes_every_model_that_is_made_for_it(name):
    path = DATA / f"{name}.tflite"
    runs, why = micro_runtime.survives(path)
    assert runs == (name not in NOT_RUNNABLE), why
    assert NOT_RUNNABLE.get(name, "") in why


@pytest.mark.parametrize("name", [name for name in OWN if name not in NOT_RUNNABLE])
def test_outputs_follow_the_inputs(name):
    """A model whose output is always the same could not tell a wrong plan from a right one."""
    machine = micro_runtime.Machine((DATA / f"{name}.tflite").read_bytes())
    seen = {b"".join(out.tobytes() for out in
                     machine.run(micro_runtime.random_inputs(machine.inputs, seed)))
            for seed in range(6)}
    assert len(seen) >= 5


@pytest.mark.parametrize("name", [name for name in OWN if name not in NOT_RUNNABLE])
def test_shipped_scratch_is_what_the_wheel_asks_for(name):
    rows, failed = measure_scratch.measure((DATA / f"{name}.tflite").read_bytes())
    assert not failed
    assert shipped_scratch()[name] == [row[:3] for row in rows]


@pytest.mark.parametrize("path", corpus_params("tflite_csv/*.scratch.csv"))
def test_measured_scratch_agrees_with_a_native_build(path):
    """The corpus has the planner's input as a native build of the runtime logged it."""
    name = path.name.split(".")[0]
    rows, failed = measure_scratch.measure((CORPUS / "tflite" / f"{name}.tflite").read_bytes())
    with open(path, newline="") as file:
        logged = sorted((int(row["lower"]) - 1, int(row["size"]))
                        for row in csv.DictReader(file) if row["id"].startswith("scratch"))
    assert not failed
    assert sorted(row[1:3] for row in rows) == logged
    assert shipped_scratch()[name] == [row[:3] for row in rows]


def test_an_untrained_nets_softmax_would_abort_the_runtime(tmp_path):
    """Why the models are not made by a converter: see make_tflite.py."""
    table = tflite_file.unpack((DATA / "mobilenet_v1_025_96_int8.tflite").read_bytes())
    main = table.subgraphs[0]
    softmax = next(op for op in main.operators if tflite_file.op_name(table, op) == "SOFTMAX")
    quantization = main.tensors[int(softmax.inputs[0])].quantization
    path = tmp_path / "model.tflite"
    for value, runs in ((7.8e-9, False), (1.6e-8, True)):
        quantization.scale = np.float32([value])
        path.write_bytes(tflite_file.pack(table))
        survived, why = micro_runtime.survives(path)
        assert survived == runs, why
