"""Planned files in ai-edge-litert, which obeys no plan: it must load and run them as before."""

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter
from conftest import DATA, SCRATCH, corpus_params

import micro_runtime

# Custom ops that only another program brings; a quantization that LiteRT refuses in the
# original too; and what is only large.
WITHOUT = {"person_detect_vela", "mp_face_landmark_attention", "audio_preprocessor_int8",
           "person_detect", "litert_dynamic_shapes"}
MODELS = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
          if path.stem != "custom_op_planned"]
MODELS += corpus_params("tflite/*.tflite", without=WITHOUT)


def run(data, seed, runs=2):
    """All outputs of some runs as bytes, state carried from one to the next."""
    interpreter = Interpreter(model_content=data, num_threads=1)
    interpreter.allocate_tensors()
    inputs, found = interpreter.get_input_details(), []
    for step in range(runs):
        values = micro_runtime.random_inputs(
            [(tuple(detail["shape"]), detail["dtype"]) for detail in inputs], seed + step)
        for detail, value in zip(inputs, values):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        found += [np.array(interpreter.get_tensor(detail["index"])).tobytes()
                  for detail in interpreter.get_output_details()]
    return found


@pytest.mark.parametrize("path", MODELS)
def test_planned_files_load_and_give_the_same_outputs(arenaut, tmp_path, path):
    output = tmp_path / "planned.tflite"
    arenaut("plan", path, "-o", output, "-f", "--scratch", SCRATCH)
    if not output.exists():
        pytest.skip("nothing better than today: nothing was written")
    original = path.read_bytes()
    assert output.read_bytes() != original
    assert run(output.read_bytes(), seed=3) == run(original, seed=3)
