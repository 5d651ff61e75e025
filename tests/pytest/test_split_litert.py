"""Split files in ai-edge-litert: the same bits out of its reference kernels and out of XNNPACK's,
which compute piece by piece what they computed whole."""

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from conftest import DATA, SCRATCH, corpus_params

import micro_runtime

# Those in which something is split, and that LiteRT takes.
SPLIT = {"inception_int8", "resnet_int8", "mobilenet_v1_025_96_int8", "mlperf_vww96_float",
         "mlperf_vww96_int8", "mlperf_resnet8_int8", "mlperf_resnet_large_int8", "mcunet_vww",
         "mcunetv2_large", "mobilenet_v2_int8_nchw", "oww_embedding", "tinyengine_detection",
         "mp_face_detection_short", "mp_face_landmark", "mp_hand_landmark_lite",
         "mp_palm_detection_lite", "mp_pose_detection"}
MODELS = [p for p in [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))]
          + corpus_params("tflite/*.tflite") if p.id in SPLIT]
# AUTO hands to XNNPACK what that can do.
KERNELS = {"xnnpack": OpResolverType.AUTO, "reference": OpResolverType.BUILTIN_REF}


def run(data, kernels, seed=3):
    interpreter = Interpreter(model_content=data, num_threads=1,
                              experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    inputs = interpreter.get_input_details()
    values = micro_runtime.random_inputs(
        [(tuple(detail["shape"]), detail["dtype"]) for detail in inputs], seed)
    for detail, value in zip(inputs, values):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [np.array(interpreter.get_tensor(detail["index"])).tobytes()
            for detail in interpreter.get_output_details()]


def text_of(stage):
    return f"{stage['first_op']}-{stage['last_op']}/{stage['pieces']}:{stage['mode']}"


@pytest.mark.parametrize("path", MODELS)
def test_split_files_compute_the_same(arenaut_json, tmp_path, path):
    """LiteRT keeps subgraphs that are called from XNNPACK, and runs them by kernels of its own,
    which round otherwise: bands that would be calls stand in the file one by one there."""
    document = arenaut_json("plan", path, "--split", "on", "--scratch", SCRATCH,
                            "-o", tmp_path / "split.tflite")
    stages = ",".join(map(text_of, document["split"]["stages"]))
    arenaut_json("plan", path, "--split", stages.replace("+calls", ""), "--scratch", SCRATCH,
                 "-o", tmp_path / "apart.tflite")
    original = path.read_bytes()
    for name, file in (("reference", "split"), ("reference", "apart"), ("xnnpack", "apart")):
        split = (tmp_path / f"{file}.tflite").read_bytes()
        assert run(split, KERNELS[name]) == run(original, KERNELS[name]), (name, file)
