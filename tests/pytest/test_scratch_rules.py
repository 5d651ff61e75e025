"""The target's list of ops that ask for kernel scratch, against what the wheel's kernels ask for.

An op that asks and is not listed would let a plan be called optimal that is not: the runtime
places that op's scratch by itself, on top.
"""

import re

import numpy as np
import pytest
from conftest import DATA, ROOT

import measure_scratch
import micro_runtime
import single_ops
import tflite_file

SOURCE = ROOT / "src" / "kernels" / "reference_kernels.c"


def rules():
    """By op: the input that decides and the types with which it asks; all types if empty."""
    block = SOURCE.read_text().split("scratch[] = {")[1].split("};")[0]
    return {op: (int(source), set(re.findall(r"TYPE\((\w+)\)", types)))
            for op, source, types in re.findall(r'\{"(\w+)", (\d+), ([^}]+)\}', block)}


def listed(table, op):
    name = tflite_file.op_name(table, op)
    if name not in rules():
        return False
    source, types = rules()[name]
    tensor = table.subgraphs[0].tensors[int(op.inputs[source])]
    return not types or tflite_file.TYPE_NAMES[tensor.type] in types


def reduction(op, dtype):
    one = single_ops.OneOp(op, dtype)
    axes = one.graph.constant("axes", np.int32([1]))
    return one.case("axis", [one.input((2, 6, 4)), axes], [one.output((2, 4))])


def more_cases():
    """Ops that single_ops.py has no use for: their outputs have another size."""
    for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
        for dtype in ("FLOAT32", "INT8"):
            yield reduction(op, dtype)
    yield reduction("REDUCE_ALL", "BOOL")
    one = single_ops.OneOp("TRANSPOSE_CONV", "FLOAT32")
    weights = one.graph.constant("weights", np.ones((2, 3, 3, 4), np.float32))
    shape = one.graph.constant("shape", np.int32([1, 8, 8, 2]))
    yield one.case("3x3", [shape, weights, one.input((1, 4, 4, 4))], [one.output((1, 8, 8, 2))],
                   padding=0, strideH=2, strideW=2)
    one = single_ops.OneOp("DEPTHWISE_CONV_2D", "INT8")
    weights = one.graph.constant("weights", np.ones((1, 3, 3, 4), np.int8), "INT4", 0.1)
    yield one.case("int4", [one.input((1, 8, 8, 4)), weights], [one.output((1, 8, 8, 4))],
                   padding=0, strideH=1, strideW=1, depthMultiplier=1)
    one = single_ops.OneOp("SignalRfft", "INT16", quantized={})
    yield one.case("512", [one.input((480,))], [one.output((514,))],
                   custom={"T": 7, "fft_length": 512})


def one_per_op_and_type():
    found = {}
    for cases in (single_ops.safe_cases(), single_ops.unsafe_cases(), more_cases()):
        for case in cases:
            found.setdefault((case.op, case.label.split("-")[0], "int4" in case.label), case)
    return found.values()


@pytest.mark.parametrize("case", one_per_op_and_type(), ids=str)
def test_an_op_is_listed_if_its_kernel_asks(case):
    table = tflite_file.unpack(case.data)
    asks = measure_scratch.Bench(table, 0, 0).larger_than(0) > 0
    assert asks == listed(table, table.subgraphs[0].operators[0])


@pytest.mark.parametrize("path", [path for path in sorted(DATA.glob("*.tflite")) if path.stem not in micro_runtime.REFUSED],
                         ids=lambda path: path.stem)
def test_the_ops_of_own_models_are_listed_if_their_kernels_ask(path):
    data = path.read_bytes()
    rows, failed = measure_scratch.measure(data)
    assert not failed
    table = tflite_file.unpack(data)
    asking = {(row[0], row[1]) for row in rows}
    for index, op in enumerate(table.subgraphs[0].operators):
        assert ((0, index) in asking) == listed(table, op), tflite_file.op_name(table, op)


def test_every_rule_is_tried():
    """All but the detection box decoder, which no model here has."""
    tried = {case.op for case in one_per_op_and_type()}
    for path in DATA.glob("*.tflite"):
        table = tflite_file.unpack(path.read_bytes())
        tried |= {tflite_file.op_name(table, op) for op in table.subgraphs[0].operators}
    assert set(rules()) - tried == {"TFLite_Detection_PostProcess"}
