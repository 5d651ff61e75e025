"""Split files in ai-edge-litert: the same bits out of its reference kernels and out of XNNPACK's,
which compute piece by piece what they computed whole."""

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from conftest import DATA, SCRATCH, corpus_params

import micro_runtime
import tflite_file
from drawn import some

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


def run(data, kernels, values=None):
    """On random values, unless some are given."""
    interpreter = Interpreter(model_content=data, num_threads=1,
                              experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    inputs = interpreter.get_input_details()
    values = values or micro_runtime.random_inputs(
        [(tuple(detail["shape"]), detail["dtype"]) for detail in inputs], 3)
    for detail, value in zip(inputs, values):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [np.array(interpreter.get_tensor(detail["index"])).tobytes()
            for detail in interpreter.get_output_details()]


def text_of(stage):
    return f"{stage['first_op']}-{stage['last_op']}/{stage['pieces']}:{stage['mode']}"


@pytest.mark.parametrize("path", some(MODELS))
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


@pytest.mark.parametrize("kind", ["MAXIMUM", "MINIMUM"])
def test_no_tile_of_extremes_is_one_element(arenaut, tmp_path, kind):
    """XNNPACK takes one element for a number, its operands in the other order, and so the other of 0 and -0."""
    model, sides = tflite_file.Model("extremes"), [1, 9, 64, 1]
    graph = model.graph("main")
    one = graph.constant("one", np.ones(1, np.float32))
    inputs = [graph.tensor(name, sides, "FLOAT32") for name in "xy"]
    images = [graph.op("MAX_POOL_2D", [graph.op("MUL", [each, one], [graph.tensor("wide", sides, "FLOAT32")])],
                       [graph.tensor("column", [1, 9, 1, 1], "FLOAT32")], padding=1, strideH=1, strideW=1,
                       filterHeight=1, filterWidth=64) for each in inputs]
    graph.io(inputs, [graph.op(kind, images, [graph.tensor("z", [1, 9, 1, 1], "FLOAT32")])])
    path, output = tmp_path / "model.tflite", tmp_path / "tiled.tflite"
    path.write_bytes(model.bytes())
    zeros = np.float32([0, 0, -0.0, -0.0, 0, 0, -0.0, -0.0, 0]), np.float32([0, -0.0] * 4 + [0])
    values = [np.repeat(each, 64).reshape(sides) for each in zeros]
    for stage in ("0-4/9:rows", "0-4/4:kept"):
        arenaut("plan", path, "--split", stage, "-f", "-o", output)
        for kernels in KERNELS.values():
            assert run(output.read_bytes(), kernels, values) == run(path.read_bytes(), kernels, values), stage


def with_signature(data):
    """The same model with names for what goes in and comes out, and metadata of another's."""
    schema = tflite_file.schema
    table = tflite_file.unpack(data)
    graph = table.subgraphs[0]

    def maps(name, tensors):
        made = [schema.TensorMapT() for _ in tensors]
        for k, tensor in enumerate(tensors):
            made[k].name, made[k].tensorIndex = f"{name}{k}", int(tensor)
        return made

    signature = schema.SignatureDefT()
    signature.signatureKey = "classify"
    signature.inputs, signature.outputs = maps("in", graph.inputs), maps("out", graph.outputs)
    note = schema.MetadataT()
    note.name, note.buffer = "author", len(table.buffers)
    table.buffers.append(tflite_file.AlignedBuffer(data=np.frombuffer(b"somebody", np.uint8)))
    table.signatureDefs, table.metadata = [signature], [note]
    return tflite_file.pack(table)


def run_signature(data):
    interpreter = Interpreter(model_content=data, num_threads=1)
    runner = interpreter.get_signature_runner("classify")
    detail = runner.get_input_details()["in0"]
    value = micro_runtime.random_inputs([(tuple(detail["shape"]), detail["dtype"])], 5)[0]
    return runner(in0=value)["out0"].tobytes()


def author_of(data):
    table = tflite_file.unpack(data)
    note = next(m for m in table.metadata if tflite_file.text(m.name) == "author")
    return bytes(table.buffers[note.buffer].data)


def test_signatures_and_metadata_stay_right(arenaut, tmp_path):
    """They name tensors and buffers by number; numbers that became free are given to new ones."""
    path, split = tmp_path / "model.tflite", tmp_path / "split.tflite"
    path.write_bytes(with_signature((DATA / "resnet_int8.tflite").read_bytes()))
    for stages, flags in (("0-3/3:cropped", ()), ("0-3/4:kept+calls", ("--compact",))):
        arenaut("plan", path, "--split", stages, *flags, "-f", "-o", split)
        assert split.read_bytes() != path.read_bytes()
        assert run_signature(split.read_bytes()) == run_signature(path.read_bytes())
        assert author_of(split.read_bytes()) == b"somebody"
