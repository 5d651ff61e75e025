"""What the reader takes from an operator's options and from small constants, against the schema's
own Python classes: every operator of every model at hand."""

import json

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from conftest import DATA, corpus_params

PADDING = {0: "SAME", 1: "VALID"}
MIRROR = {0: "REFLECT", 1: "SYMMETRIC"}


def fields(*names):
    """Attributes that are called as in the schema, but for its capitals."""
    return {name: name.replace("_", "") for name in names}


STRIDES = {"strides": ("strideh", "stridew"), "padding": ("padding", PADDING)}
DILATIONS = {"dilations": ("dilationhfactor", "dilationwfactor")}
RESIZE = fields("align_corners", "half_pixel_centers")

# Options by their class (whose object has a T behind), with what the reader makes of them.
EXPECTED = {
    "Conv2DOptions": {**STRIDES, **DILATIONS},
    "DepthwiseConv2DOptions": {**STRIDES, **DILATIONS, **fields("depth_multiplier")},
    "Pool2DOptions": {**STRIDES, "filter": ("filterheight", "filterwidth")},
    "SVDFOptions": fields("rank"),
    "FullyConnectedOptions": fields("keep_num_dims"),
    "ConcatenationOptions": fields("axis"),
    "ResizeBilinearOptions": RESIZE,
    "ResizeNearestNeighborOptions": RESIZE,
    "SpaceToDepthOptions": fields("block_size"),
    "DepthToSpaceOptions": fields("block_size"),
    "GatherOptions": fields("axis", "batch_dims"),
    "ReducerOptions": fields("keep_dims"),
    "StridedSliceOptions": fields("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                  "shrink_axis_mask", "offset"),
    "SplitOptions": fields("num_splits"),
    "SplitVOptions": fields("num_splits"),
    "TransposeConvOptions": STRIDES,
    "PackOptions": fields("values_count", "axis"),
    "UnpackOptions": fields("num", "axis"),
    "UnidirectionalSequenceLSTMOptions": fields("time_major"),
    "MirrorPadOptions": {"mode": ("mode", MIRROR)},
    "VarHandleOptions": fields("shared_name"),
    "BatchMatMulOptions": fields("adj_x", "adj_y"),
}


def attribute(found, source):
    """The value of one attribute, as the program's JSON writes it."""
    if isinstance(source, str):
        value = found[source]
        return value.decode() if isinstance(value, bytes) else int(value)
    name, second = source
    return second[found[name]] if isinstance(second, dict) else [found[name], found[second]]


def expected_attributes(operator):
    options = operator.builtinOptions
    if options is None:
        return {}
    found = {name.lower(): value for name, value in vars(options).items()}
    return {name: attribute(found, source)
            for name, source in EXPECTED.get(type(options).__name__[:-1], {}).items()}


def contents(data, model, tensor):
    """The bytes of a constant inside the flatbuffer, or behind it."""
    buffer = model.buffers[tensor.buffer]
    if buffer.data is not None:
        return bytes(bytearray(buffer.data))
    return data[buffer.offset:buffer.offset + buffer.size] if buffer.offset > 1 else b""


def expected_values(data, model, tensor):
    widths = {schema.TensorType.INT32: "<i4", schema.TensorType.INT64: "<i8"}
    found = contents(data, model, tensor) if tensor.type in widths else b""
    if not found or tensor.isVariable:
        return None
    values = np.frombuffer(found, widths[tensor.type]).tolist()
    return values if len(values) <= 64 else None


def read(arenaut, path):
    """The program that the reader makes, before any pass: `tuples`, the first, has no work here."""
    text = arenaut("export", path, "--as", "csv", "--dump-after", "tuples").stderr
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]  # notes may stand around it


def numbers_or_text(attribute):
    """A list of one number is that number, as the schema has it."""
    numbers = attribute.get("numbers", ())
    return attribute.get("text") or (numbers[0] if len(numbers) == 1 else numbers)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem)
                                  for path in sorted(DATA.glob("*.tflite"))] +
                         corpus_params("tflite/*.tflite"))
def test_attributes_and_values_are_those_of_the_schema(arenaut, path):
    data = path.read_bytes()
    model = schema.ModelT.InitFromPackedBuf(data, 0)
    program = read(arenaut, path)
    ops = [op for graph in model.subgraphs for op in graph.operators or []]
    tensors = [tensor for graph in model.subgraphs for tensor in graph.tensors]
    read_ops = [op for method in program["methods"] for op in method["ops"]]
    assert len(read_ops) == len(ops) and len(program["tensors"]) == len(tensors)
    for mine, theirs in zip(read_ops, ops):
        found = {a["name"]: numbers_or_text(a) for a in mine.get("attributes", ())}
        assert found == expected_attributes(theirs), mine
    for mine, theirs in zip(program["tensors"], tensors):
        assert mine.get("values") == expected_values(data, model, theirs), mine
