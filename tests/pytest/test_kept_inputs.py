"""--preserve-inputs in the stock wheel: an input that is kept serves the next call as well.

The runtime knows nothing of inputs that are to be kept. It places scratch by itself, as low as it
can, and to it an input that has been read is free.
"""

import json

import pytest
from conftest import DATA

import tflite_compare
import micro_runtime

# Ops of the first two ask for scratch.
MODELS = ("scratch_int8", "svdf_int8", "resnet_int8", "mobilenet_v1_025_96_int8")
FLAGS = ((), ("--overlap", "on"), ("--overlap", "on", "--inplace", "on"))


def answers_alike(data, seed):
    """Whether a second call that is given nothing answers as the first."""
    machine = micro_runtime.Machine(data)
    first = tflite_compare.bits(machine.run(micro_runtime.random_inputs(machine.inputs, seed)))
    return tflite_compare.bits(machine.run([])) == first


@pytest.mark.parametrize("flags", FLAGS, ids="-".join)
@pytest.mark.parametrize("name", MODELS)
def test_a_kept_input_serves_the_next_call(arenaut_json, tmp_path, name, flags):
    model, planned = DATA / f"{name}.tflite", tmp_path / "planned.tflite"
    document = arenaut_json("plan", model, "-f", "-o", planned, "--preserve-inputs", *flags)
    data = planned.read_bytes()
    if data == model.read_bytes():
        assert document["result"]["arena"] >= document["baseline"]["arena"]
        return
    assert micro_runtime.Machine(data).arena()[0] == document["result"]["arena"]
    if name != "svdf_int8":  # which has state
        assert all(answers_alike(data, seed) for seed in range(3))


def test_inputs_that_are_not_kept_are_overwritten(arenaut_json, tmp_path):
    """… in each of these models, so that the test above would notice."""
    for name in ("scratch_int8", "resnet_int8"):
        planned = tmp_path / f"{name}.tflite"
        arenaut_json("plan", DATA / f"{name}.tflite", "-f", "-o", planned, "--overlap", "on")
        assert not answers_alike(planned.read_bytes(), 1)


def test_a_kept_input_stays_where_it_is_wanted(arenaut_json, tmp_path):
    """Scratch goes around a pinned input, which is not put above all else."""
    document = {"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
                "tensors": [{"name": "x", "bytes": 32}, {"name": "a", "bytes": 64},
                            {"name": "y", "bytes": 32},
                            {"name": "own", "bytes": 16, "class": "scratch"}],
                "ops": [{"name": "FIRST", "inputs": ["x"], "outputs": ["a"]},
                        {"name": "LAST", "inputs": ["a"], "outputs": ["y"], "scratch": ["own"]}]}
    path = tmp_path / "pinned.json"
    path.write_text(json.dumps(document))
    flags = (path, "--target", "tflite-micro", "--preserve-inputs")
    for offset in (128, 256):
        plan = arenaut_json("plan", *flags, "--pin", f"x=arena:{offset}")
        assert plan["buffers"][0]["offset"] == offset
    lifted = arenaut_json("plan", *flags)
    assert lifted["buffers"][0]["offset"] + 32 == lifted["result"]["arena"] == 144
