"""What the runtime itself needs while it plans, which sets the least arena of small models."""

import re

import numpy as np
import pytest
from conftest import ROOT

import micro_runtime
from tflite_file import Model

SOURCE = (ROOT / "src" / "targets" / "tflite_micro_64_target.c").read_text()


def stated(what):
    return int(re.search(rf"\.{what}_note = (\d+)", SOURCE)[1])


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
