"""Models whose metadata says that constants are stored compressed: a runtime built with compression,
as the wheel is, unpacks them into scratch that no table counts."""

import flatbuffers
import numpy as np
import pytest
from conftest import DATA

import micro_runtime
import tflite_file
from single_ops import OneOp

NAME = b"COMPRESSION_METADATA"
SIDE = 16


def table(builder, n, **slots):
    """A table of `n` slots; its fields' values, or what lies behind them, by `slotK`."""
    builder.StartObject(n)
    for slot, (kind, value) in slots.items():
        number = int(slot[4:])
        if kind == "offset":
            builder.PrependUOffsetTRelativeSlot(number, value, 0)
        else:
            getattr(builder, f"Prepend{kind}Slot")(number, value, 0)
    return builder.EndObject()


def vector(builder, tables):
    builder.StartVector(4, len(tables), 4)
    for each in reversed(tables):
        builder.PrependUOffsetTRelative(each)
    return builder.EndVector()


def compression(tensors, values):
    """The metadata's flatbuffer for subgraph 0: these tensors by tables of one bit an element."""
    builder = flatbuffers.Builder()
    listed = [table(builder, 3, slot0=("Int32", tensor), slot1=("Uint32", values),
                    slot2=("Uint8", 1)) for tensor in tensors]
    graph = table(builder, 1, slot0=("offset", vector(builder, listed)))
    builder.Finish(table(builder, 2, slot0=("Uint32", 1),
                         slot1=("offset", vector(builder, [graph]))))
    return bytes(builder.Output())


def with_metadata(model, data):
    entry = tflite_file.schema.MetadataT(name=NAME.decode(), buffer=model.buffer(
        np.frombuffer(data, np.uint8)))
    model.table.metadata = [entry]
    return model.bytes()


def conv(listed=True, tensor=None):
    """Two 3x3 convolutions of four channels, the second with compressed weights: an element is a
    bit of a byte, an index into two values for each output channel."""
    one = OneOp("CONV_2D", "INT8")
    graph, channels = one.graph, 4
    shape = (channels, 3, 3, channels)
    x = one.input((1, SIDE, SIDE, channels))
    middle, y = (graph.tensor(name, (1, SIDE, SIDE, channels), "INT8", 0.05) for name in "my")
    plain = graph.constant("plain", np.ones(shape, np.int8), scale=0.01)
    bits = np.zeros(-(-int(np.prod(shape)) // 8), np.uint8)
    packed = graph.tensor("packed", shape, "INT8", [0.01] * channels,
                          buffer=one.model.buffer(bits))
    values = one.model.buffer(np.ones(2 * channels, np.int8))
    options = {"padding": 0, "strideH": 1, "strideW": 1}
    graph.op("CONV_2D", [x, plain, -1], [middle], **options)
    graph.op("CONV_2D", [middle, packed, -1], [y], **options)
    graph.io([x], [y])
    if not listed:
        return one.model.bytes()
    return with_metadata(one.model, compression([packed if tensor is None else tensor], values))


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "compressed.tflite"
    path.write_bytes(conv())
    return path


def test_the_wheel_asks_for_memory_that_nothing_counts(model, arenaut_json):
    head, _ = micro_runtime.Machine(model.read_bytes()).arena()
    assert head > arenaut_json("plan", model)["result"]["arena"]


@pytest.mark.parametrize("verb", ["size", "plan", "explain"])
def test_the_answer_names_the_tensor(verb, model, arenaut):
    said = arenaut(verb, model).stdout
    assert "tensor 'packed' is compressed" in said
    assert "unknown" in said
    assert "proven minimal" not in said


def test_no_total_is_whole(model, arenaut_json):
    found = arenaut_json("size", model)
    assert found["scratch"] == "unknown"
    assert not any(row["exact"] for row in found["tensor_arena"])


def test_ops_that_read_it_keep_their_arguments_apart(model, arenaut_json, tmp_path):
    """The first convolution's result may reach into its operand, the second's may not."""
    plain = tmp_path / "plain.tflite"
    plain.write_bytes(conv(listed=False))
    size = {}
    for path in (model, plain):
        document = arenaut_json("plan", path, "--overlap", "on")
        size[path] = {(s["lower"], s["upper"]) for s in document.get("separations", [])}
    assert len(size[model]) + 1 == len(size[plain])


def test_it_is_not_split(model, arenaut, tmp_path):
    plain = tmp_path / "plain.tflite"
    plain.write_bytes(conv(listed=False))
    stage = "--split", "0-1/4:rows"
    assert "split    0-1/4:rows" in arenaut("size", plain, *stage).stdout
    assert "an op in it cannot be tiled" in arenaut("size", model, *stage, exit=2).stderr


def test_a_tensor_that_is_not_there_is_told(tmp_path, arenaut):
    path = tmp_path / "wrong.tflite"
    path.write_bytes(conv(tensor=99))
    assert "metadata 'COMPRESSION_METADATA': tensor 99 of subgraph 0; that has 5" in arenaut(
        "size", path, exit=3).stderr


@pytest.mark.parametrize("cut", [1, 4, 9, 20, 40])
def test_metadata_that_is_no_flatbuffer_is_told(cut, tmp_path, arenaut):
    model = tflite_file.Model("cut")
    table_of_file = tflite_file.unpack(conv())
    model.table = table_of_file
    entry = table_of_file.metadata[0]
    whole = bytes(np.asarray(table_of_file.buffers[entry.buffer].data, np.uint8))
    table_of_file.buffers[entry.buffer].data = np.frombuffer(whole[:cut], np.uint8)
    path = tmp_path / "cut.tflite"
    path.write_bytes(tflite_file.pack(table_of_file))
    assert "COMPRESSION_METADATA" in arenaut("size", path, exit=3).stderr


def test_models_without_it_are_as_before(arenaut_json):
    assert arenaut_json("size", DATA / "resnet_int8.tflite")["scratch"] == "none"
