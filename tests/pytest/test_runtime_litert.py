"""Planned files in ai-edge-litert, which obeys no plan: it must load and run them as before."""

import json
import subprocess

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from conftest import COMMAND, DATA, SCRATCH, corpus_params

import micro_runtime
import random_ops
import scratch_ops
import tflite_file

# What LiteRT refuses in the original too: custom ops that only another program brings, an int8
# ADD_N, a quantized dimension out of range, indices that random inputs take out of range; and
# one during whose run it corrupts its own heap.
WITHOUT = {"custom_op_planned", "scratch_int8", "person_detect_vela",
           "mp_face_landmark_attention", "audio_preprocessor_int8", "person_detect",
           "litert_dynamic_shapes", "keyword_scrambled_8bit"}
MODELS = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
          if path.stem not in WITHOUT]
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


def with_a_plan(original):
    """Where nothing was to be gained: a plan that leaves every tensor to the runtime."""
    table = tflite_file.unpack(original)
    return tflite_file.with_plan(original, [tflite_file.ONLINE] * sum(
        len(graph.tensors) for graph in table.subgraphs))


@pytest.mark.parametrize("path", MODELS)
def test_planned_files_load_and_give_the_same_outputs(arenaut, tmp_path, path):
    output = tmp_path / "planned.tflite"
    arenaut("plan", path, "-o", output, "-f", "--scratch", SCRATCH)
    original = path.read_bytes()
    planned = output.read_bytes()
    if planned == original:
        planned = with_a_plan(original)
    assert planned != original
    assert run(planned, seed=3) == run(original, seed=3)


def keeps_temporaries(data):
    """Whether a kernel for this machine has a tensor of its own in the arena, whichever kernels are taken."""
    n_own = len(tflite_file.unpack(data).subgraphs[0].tensors)
    found = []
    for kernels in (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
        try:
            interpreter = Interpreter(model_content=data, num_threads=1, experimental_op_resolver_type=kernels)
            interpreter.allocate_tensors()
        except (RuntimeError, ValueError):  # no kernel for these types
            continue
        found += [tensor for tensor in interpreter.get_tensor_details()
                  if tensor["index"] >= n_own and np.prod(tensor["shape"]) > 0]
    return bool(found)


def test_no_plan_around_temporary_tensors_of_kernels_is_called_minimal(tmp_path):
    models = [random_ops.build(*rule, seed=1).data for rule in random_ops.RULES]
    models += [make(np.random.RandomState(1)).data for make in scratch_ops.SIZED.values()]
    models += [path.read_bytes() for path in sorted(DATA.glob("*.tflite")) if path.stem not in WITHOUT]
    paths = [tmp_path / f"{number}.tflite" for number in range(len(models))]
    for path, data in zip(paths, models):
        path.write_bytes(data)
    done = subprocess.run([COMMAND, "size", "--jsonl", "--target", "litert", *paths],
                          capture_output=True, text=True, check=False)
    status = [json.loads(line)["result"]["status"] for line in done.stdout.splitlines()]
    kept = [keeps_temporaries(data) for data in models]
    assert sum(kept) >= 20
    assert len(status) == len(models)
    assert not [number for number, word in enumerate(status) if kept[number] and word == "optimal"]
    assert sum(word == "optimal" for word in status) >= len(models) // 2
