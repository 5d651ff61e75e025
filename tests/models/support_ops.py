"""One-op models whose element types were changed, for asking which of them a runtime takes.

`bases` has one well-formed model per operator and element type; `retyped` changes the types of all
its tensors of one type together, or of a single argument, and fills constants with ones.
"""

import faulthandler
import functools
import itertools
import os

import numpy as np

import arm_runtime
import memory_ops
import micro_runtime
import random_ops
import single_ops
import tflite_file
from single_ops import OneOp

RAN, REFUSED, NOT_ASKED = 0, 1, 512  # the latter: a model that the caller cannot even feed
TYPES = ("FLOAT32", "INT8", "INT16", "INT32", "INT64", "UINT8", "BOOL", "FLOAT16", "INT4")
SHAPE = (1, 4, 4, 3)
FLAT = (4, 6)


def numbers(one, values, dtype=np.int32):
    return one.graph.constant("numbers", np.asarray(values, dtype))


def compared(op, dtype):
    one = OneOp(op, dtype)
    x, z = one.input(SHAPE), one.input(SHAPE)
    return one.case("types", [x, z], [one.graph.tensor("out", SHAPE, "BOOL")])


def reduced(op, dtype):
    one = OneOp(op, dtype, {"scale": 0.05} if dtype == "INT8" else None)
    return one.case("types", [one.input(SHAPE), numbers(one, [1, 2])], [one.output((1, 1, 1, 3))],
                    keepDims=True)


def of_numbers(op, dtype, operand, result, *values):
    """An op of one tensor and constants of int32; of one quantization, since it moves values."""
    one = OneOp(op, dtype, random_ops.same_scale(dtype))
    x = one.input(operand)
    return one.case("types", [x, *(numbers(one, v) for v in values)], [one.output(result)])


def add_n(dtype):
    one = OneOp("ADD_N", dtype)
    return one.case("types", [one.input(SHAPE), one.input(SHAPE)], [one.output(SHAPE)])


def select_v2(dtype):
    one = OneOp("SELECT_V2", dtype)
    condition = one.input(SHAPE, "BOOL")
    return one.case("types", [condition, one.input(SHAPE), one.input(SHAPE)], [one.output(SHAPE)])


def fill(dtype):
    one = OneOp("FILL", dtype, random_ops.same_scale(dtype))
    return one.case("types", [numbers(one, FLAT), one.input(())], [one.output(FLAT)])


def broadcast_args(dtype):
    one = OneOp("BROADCAST_ARGS", "INT32")
    return one.case("types", [one.input((4,)), one.input((4,))], [one.output((4,))])


def shape(dtype):
    one = OneOp("SHAPE", dtype)
    return one.case("types", [one.input(FLAT)], [one.graph.tensor("out", (2,), "INT32")])


def unpack(dtype):
    one = OneOp("UNPACK", dtype, random_ops.same_scale(dtype))
    x = one.input((2, 3))
    case = one.case("types", [x], [one.output((3,)), one.output((3,))])
    table = tflite_file.unpack(case.data)
    op = table.subgraphs[0].operators[0]
    op.builtinOptionsType = tflite_file.schema.BuiltinOptions.UnpackOptions
    op.builtinOptions = tflite_file.schema.UnpackOptionsT(num=2, axis=0)
    case.data = tflite_file.pack(table)
    return case


def embedding_lookup(dtype):
    one = OneOp("EMBEDDING_LOOKUP", dtype)
    x = one.input((2,), "INT32")
    return one.case("types", [x, one.filler((5, 3))], [one.output((2, 3))])


def l2_pool_2d(dtype):
    one = OneOp("L2_POOL_2D", dtype)
    case = one.case("types", [one.input(SHAPE)], [one.output((1, 3, 3, 3))])
    table = tflite_file.unpack(case.data)
    op = table.subgraphs[0].operators[0]
    op.builtinOptionsType = tflite_file.schema.BuiltinOptions.Pool2DOptions
    op.builtinOptions = tflite_file.schema.Pool2DOptionsT(
        padding=random_ops.VALID, strideH=1, strideW=1, filterHeight=2, filterWidth=2)
    case.data = tflite_file.pack(table)
    return case


MOVES = {  # operand, result, constants
    "GATHER": (FLAT, (2, 6), ([0, 2],)), "GATHER_ND": (FLAT, (2, 6), ([[0], [2]],)),
    "CUMSUM": (FLAT, FLAT, (1,)), "BROADCAST_TO": ((1, 6), FLAT, (FLAT,)),
    "REVERSE_V2": (FLAT, FLAT, ([1],)), "ZEROS_LIKE": (FLAT, FLAT, ()),
    "SPACE_TO_BATCH_ND": (SHAPE, (4, 2, 2, 3), ([2, 2], [[0, 0], [0, 0]])),
    "BATCH_TO_SPACE_ND": ((4, 2, 2, 3), SHAPE, ([2, 2], [[0, 0], [0, 0]])),
    "TILE": (FLAT, (4, 12), ([1, 2],)),
}


def dynamic_update_slice(dtype):
    one = OneOp("DYNAMIC_UPDATE_SLICE", dtype, random_ops.same_scale(dtype))
    return one.case("types", [one.input(FLAT), one.input((2, 2)), numbers(one, [1, 1])],
                    [one.output(FLAT)])


def own_cases():
    for dtype in ("FLOAT32", "INT8"):
        for op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
            yield compared(op, dtype)
        for op in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN"):
            yield reduced(op, dtype)
        for op, (operand, result, values) in MOVES.items():
            yield of_numbers(op, dtype, operand, result, *values)
        for make in (add_n, select_v2, fill, unpack, embedding_lookup, l2_pool_2d, shape,
                     dynamic_update_slice):
            yield make(dtype)
        for op in ("QUANTIZE", "DEQUANTIZE"):
            one = OneOp(op, dtype, {"scale": 0.05, "zero": 0})
            yield one.case("types", [one.input(FLAT)], [one.output(FLAT, "FLOAT32" if
                           op == "DEQUANTIZE" else "INT8", scale=0.05)])
    yield reduced("REDUCE_ALL", "BOOL")
    yield broadcast_args("INT32")
    for op in ("RELU_N1_TO_1", "RELU_0_TO_1", "GELU", "SIGN", "WHERE"):  # no kernel anywhere
        one = OneOp(op)
        yield one.case("types", [one.input(FLAT)], [one.output(FLAT)])


def inherited_cases():
    yield from single_ops.safe_cases()
    yield from single_ops.unsafe_cases()
    yield from (random_ops.build(name, dtype, 1) for name, dtype in random_ops.RULES)
    yield from (CaseOf(memory_ops.build(name, 1)) for name in memory_ops.CASES)


class CaseOf:
    def __init__(self, data):
        self.data = data
        table = tflite_file.unpack(data)
        self.op = tflite_file.op_name(table, table.subgraphs[0].operators[0])


@functools.cache
def bases():
    """The first model of each operator, types of operands and ranks."""
    found = {}
    for case in itertools.chain(own_cases(), inherited_cases()):
        found.setdefault((case.op, types_of(case.data)), case.data)
    return [(op, data) for (op, _), data in found.items()]


def arguments(table):
    op = table.subgraphs[0].operators[0]
    return [*tflite_file.items(op.inputs), *tflite_file.items(op.outputs)]


def types_of(data):
    """Of the first three operands and the first result; None where there is none."""
    table = tflite_file.unpack(data)
    graph = table.subgraphs[0]
    op = graph.operators[0]
    inputs = [*tflite_file.items(op.inputs), -1, -1, -1][:3]
    names = [None if t < 0 else tflite_file.TYPE_NAMES[graph.tensors[t].type]
             for t in (*inputs, op.outputs[0])]
    return tuple(names)


def quantize_as(table, tensor, dtype, is_result):
    """The scale and the zero point that kernels insist on, for the new type."""
    graph, scales = table.subgraphs[0], tensor.quantization.scale
    op = tflite_file.op_name(table, graph.operators[0])
    scale, zero = single_ops.FIXED_OUTPUT.get((op, dtype), (None, None)) if is_result else (None, None)
    if dtype == "INT16":
        zero = 0
        first = tflite_file.TYPE_NAMES[graph.tensors[graph.operators[0].inputs[0]].type]
        if (op, first, is_result) == ("SOFTMAX", "INT8", True):
            scale, zero = 1 / 65536, -32768
    if scale is not None:
        tensor.quantization.scale = np.full(len(scales), scale, np.float32)
    if zero is not None:
        tensor.quantization.zeroPoint = np.full(len(scales), zero, np.int64)


def change(table, number, dtype):
    """Gives a tensor another type, with the zero point that kernels want of it; a constant keeps its
    numbers."""
    graph = table.subgraphs[0]
    tensor = graph.tensors[number]
    before, tensor.type = tflite_file.TYPE_NAMES[tensor.type], tflite_file.TYPES[dtype]
    if tensor.quantization is not None and tensor.quantization.scale is not None:
        quantize_as(table, tensor, dtype, number in graph.operators[0].outputs)
    if not tflite_file.is_constant(table, tensor):
        return
    shape = tuple(tensor.shape) if tensor.shape is not None else ()
    values = np.ones(shape, np.int8)
    if before != "INT4":
        raw = np.asarray(table.buffers[tensor.buffer].data, np.uint8).tobytes()
        values = np.frombuffer(raw, tflite_file.NUMPY[before]).reshape(shape)
    data = (tflite_file.pack_int4(np.clip(values, -7, 7).astype(np.int8)) if dtype == "INT4"
            else values.astype(tflite_file.NUMPY[dtype]))
    table.buffers.append(tflite_file.AlignedBuffer(data=data))
    tensor.buffer = len(table.buffers) - 1


def settle(table, number):
    """A result is quantized by the types of all arguments, once these are as they will be."""
    tensor = table.subgraphs[0].tensors[number]
    if tensor.quantization is not None and tensor.quantization.scale is not None:
        quantize_as(table, tensor, tflite_file.TYPE_NAMES[tensor.type], True)


def retyped(data):
    """The model itself, and with each of TYPES for its first operand's fellows, or one argument."""
    yield data
    table = tflite_file.unpack(data)
    graph = table.subgraphs[0]
    tensors = list(dict.fromkeys(t for t in arguments(table) if t >= 0))
    own = [tflite_file.TYPE_NAMES[graph.tensors[t].type] for t in tensors]
    groups = [[t for t, name in zip(tensors, own) if name == kind] for kind in dict.fromkeys(own)]
    groups += [[t] for t in [*tensors[:2], graph.operators[0].outputs[0]]]
    result = graph.operators[0].outputs[0]
    stated = {*arguments(table)[:min(3, len(graph.operators[0].inputs))], result}
    groups += [[t for t in tensors if t in stated and t != tensors[1]]] if len(tensors) > 2 else []
    groups = [group for group in groups if stated & set(group)]  # of others rules say nothing
    seen = {data}
    for group in groups:
        for dtype in TYPES:
            table = tflite_file.unpack(data)
            for tensor in group:
                change(table, tensor, dtype)
            settle(table, result)
            changed = tflite_file.pack(table)
            if changed not in seen:
                seen.add(changed)
                yield changed


def with_arguments(data, inputs, outputs):
    table = tflite_file.unpack(data)
    op = table.subgraphs[0].operators[0]
    op.inputs, op.outputs = inputs, outputs
    return tflite_file.pack(table)


def lacking(data):
    """The model without one operand, or without the last ones; with one that is left out behind them."""
    op = tflite_file.unpack(data).subgraphs[0].operators[0]
    inputs, outputs = list(tflite_file.items(op.inputs)), list(tflite_file.items(op.outputs))
    for k, tensor in enumerate(inputs):
        if tensor >= 0:
            yield with_arguments(data, [*inputs[:k], -1, *inputs[k + 1:]], outputs)
        yield with_arguments(data, inputs[:k], outputs)
    yield with_arguments(data, [*inputs, -1], outputs)


def overfull(data):
    """The model with a tensor for each operand that it leaves out, one at a time; a bias is none, since it
    runs with one of the right scale."""
    op = tflite_file.unpack(data).subgraphs[0].operators[0]
    inputs, outputs = list(tflite_file.items(op.inputs)), list(tflite_file.items(op.outputs))
    for k, tensor in enumerate(inputs):
        if tensor < 0 and k > 2:
            yield with_arguments(data, [*inputs[:k], inputs[1], *inputs[k + 1:]], outputs)


def retyped_further(data):
    """The model with another type for one of its operands past the third."""
    table = tflite_file.unpack(data)
    inputs = list(tflite_file.items(table.subgraphs[0].operators[0].inputs))
    for tensor in inputs[3:]:
        for dtype in TYPES if tensor >= 0 else ():
            table = tflite_file.unpack(data)
            change(table, tensor, dtype)
            yield tflite_file.pack(table)


def run_and_answer(models, answers):
    """In a process that forks, whose crash is an answer, too: a byte for each model, until one ends it."""
    faulthandler.disable()
    try:
        for data in models:
            try:
                machine = micro_runtime.Machine(data, 1 << 20)
                machine.run([np.ones(s, d) for s, d in machine.inputs])
                os.write(answers, bytes([RAN]))
            except micro_runtime.Refused:
                os.write(answers, bytes([REFUSED]))
        os._exit(0)
    finally:
        os._exit(2)


def runs(models):
    """How the wheel loads each model and runs it: RAN, REFUSED, or the status of a process that failed."""
    found = []
    while len(found) < len(models):
        answers, end = os.pipe()
        child = os.fork()
        if child == 0:
            run_and_answer(models[len(found):], end)
        os.close(end)
        with os.fdopen(answers, "rb") as stream:
            found += stream.read()
        status = os.waitpid(child, 0)[1]
        found += [status] if status != 0 else []
    return found


def runs_on_arm(data, kernels):
    """The status of a process that does so in the runtime that is built with a library's kernels."""
    graph = tflite_file.unpack(data).subgraphs[0]
    inputs = [graph.tensors[t] for t in graph.inputs]
    dtypes = [tflite_file.NUMPY.get(tflite_file.TYPE_NAMES[tensor.type]) for tensor in inputs]
    if None in dtypes:
        return NOT_ASKED
    values = [np.ones(tensor.shape if tensor.shape is not None else (), dtype)
              for tensor, dtype in zip(inputs, dtypes)]
    return arm_runtime.invoke(data, values, kernels).returncode
