"""What the runtime itself needs while it plans, which sets the least arena of small models."""

import re

import numpy as np
import pytest
from conftest import ROOT

import micro_runtime
from tflite_file import Model

SLACK = 160  # TRANSPOSE_CONV describes all arguments but its shape, which is counted too
SOURCE = (ROOT / "src" / "targets" / "tflite_micro_target.c").read_text()
WIDE = SOURCE[SOURCE.index("wide_layout = {"):]


def stated(what):
    return int(re.search(rf"\.{what}_note = (\d+)", WIDE)[1])


def small_tensors(constants, ops):
    """A model whose plan is far smaller than what planning it takes."""
    model = Model("many small tensors")
    graph = model.graph("main")
    first = last = graph.tensor("first", (1, 4), "FLOAT32")
    for op in range(ops):
        last = graph.op("TANH", [last], [graph.tensor(f"t{op}", (1, 4), "FLOAT32")])
    for constant in range(constants):
        graph.constant(f"c{constant}", np.float32([constant]))
    graph.io([first], [last])
    return model.bytes()


def head_while_planning(data):
    return micro_runtime.smallest_arena(data) - micro_runtime.Machine(data).arena()[1]


def test_each_tensor_costs_what_the_target_states():
    few, many = (head_while_planning(small_tensors(n, 20)) for n in (100, 300))
    assert (many - few) / 200 == stated("tensor")


def test_each_planned_buffer_costs_what_the_target_states():
    few, many = (head_while_planning(small_tensors(200, n)) for n in (40, 160))
    assert (many - few) / 120 - stated("tensor") == stated("buffer")


@pytest.mark.parametrize("constants, ops", [(0, 20), (200, 80)])
def test_little_else_is_needed(constants, ops):
    need = head_while_planning(small_tensors(constants, ops))
    counted = stated("tensor") * (constants + ops + 1) + stated("buffer") * (ops + 1)
    assert 0 <= need - counted <= 64


def wide_op(op, channels, bias):
    """One op with a scale for each of many channels, of which few bytes are results."""
    model = Model(f"wide {op}")
    graph = model.graph("main")
    shape = {"CONV_2D": (channels, 1, 1, 4), "DEPTHWISE_CONV_2D": (1, 1, 1, channels),
             "TRANSPOSE_CONV": (channels, 1, 1, 4), "FULLY_CONNECTED": (channels, 4)}[op]
    depth = 1 if op == "DEPTHWISE_CONV_2D" else 4
    sides = () if op == "FULLY_CONNECTED" else (1, 1)
    first = graph.tensor("first", (1, *sides, depth), "INT8", 0.5)
    weights = graph.constant("weights", np.ones(shape, np.int8), scale=np.full(channels, 0.01),
                             axis=3 if op == "DEPTHWISE_CONV_2D" else 0)
    inputs = [first, weights]
    if op == "TRANSPOSE_CONV":
        inputs = [graph.constant("shape", np.int32([1, 1, 1, channels])), weights, first]
    if bias:
        inputs.append(graph.constant("bias", np.zeros(channels, np.int32),
                                     scale=np.full(channels, 0.005)))
    last = graph.tensor("last", (1, *sides, channels), "INT8", 0.5)
    strides = {} if op == "FULLY_CONNECTED" else {"strideW": 1, "strideH": 1}
    if op == "DEPTHWISE_CONV_2D":
        strides["depthMultiplier"] = channels
    if op.endswith("CONV_2D"):
        strides |= {"dilationWFactor": 1, "dilationHFactor": 1}
    graph.op(op, inputs, [last], **strides)
    graph.io([first], [last])
    return model.bytes()


@pytest.mark.parametrize("bias", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("channels", [16, 300])
@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED",
                                "TRANSPOSE_CONV"])
def test_what_a_kernel_is_told_of_its_arguments_counts(arenaut_json, tmp_path, op, channels, bias):
    """The zero points of all channels, in the head while the op is prepared."""
    path = tmp_path / "wide.tflite"
    path.write_bytes(wide_op(op, channels, bias))
    arena = next(row for row in arenaut_json("size", path)["tensor_arena"]
                 if row["target"] == "tflite-micro-64")
    assert arena["exact"]
    assert 0 <= arena["bytes"] - micro_runtime.smallest_arena(path.read_bytes()) <= SLACK
