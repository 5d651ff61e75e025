"""One-op models of random shapes whose kernels ask for scratch, one generator per op and types.

Each generator draws a shape and attributes that its kernel of the stock wheel takes, and returns
a Case of single_ops.py. `SIZED` lists all (op, label) combinations.
"""

import numpy as np

import random_ops
from random_ops import SAME, draw, numbers, shape_of
from single_ops import OneOp

SIZED = {}  # (op, label): generator
RELU = 1


def sized(op, *dtypes):
    def register(generator):
        for dtype in dtypes:
            SIZED[op, dtype] = lambda r, dtype=dtype: generator(OneOp(op, dtype), r)
        return generator
    return register


def reduction(one, r):
    """Any axes, counted from either end, or a single one that is no list."""
    shape = shape_of(r, draw(r, 1, 4))
    axes = sorted(r.choice(len(shape), draw(r, 1, len(shape)), replace=False).tolist())
    keep = bool(draw(r, 0, 1))
    result = [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes]
    stated = [axis - len(shape) * draw(r, 0, 1) for axis in axes]
    if len(axes) == 1 and draw(r, 0, 1):
        stated = stated[0]
    return one.case("random", [one.input(shape), numbers(one, "axes", stated)],
                    [one.output(tuple(result))], keepDims=keep)


sized("MEAN", "FLOAT32", "INT8", "INT16")(reduction)
sized("SUM", "FLOAT32", "INT8", "INT16")(reduction)
sized("REDUCE_MAX", "FLOAT32", "INT8")(reduction)
sized("REDUCE_MIN", "FLOAT32", "INT8")(reduction)
sized("REDUCE_ALL", "BOOL")(reduction)

SIZED["MIRROR_PAD", "FLOAT32"] = lambda r: random_ops.mirror_pad(r, "FLOAT32")
SIZED["MIRROR_PAD", "INT8"] = lambda r: random_ops.mirror_pad(r, "INT8")
SIZED["TRANSPOSE_CONV", "INT8"] = lambda r: random_ops.transpose_conv(r, "INT8")


@sized("TRANSPOSE_CONV", "INT16")
def transpose_conv(one, r):
    h, w, c, outer = (draw(r, 1, 5) for _ in range(4))
    kernel, stride = draw(r, 1, 3), draw(r, 1, 2)
    shape = (1, h * stride, w * stride, outer)
    filters = one.graph.constant("weights", np.ones((outer, kernel, kernel, c), np.int8),
                                 scale=0.01)
    kind = (np.int64, np.int16)[draw(r, 0, 1)]
    bias = one.graph.constant("bias", np.ones(outer, kind), scale=0.0005)
    operands = [numbers(one, "shape", shape), filters, one.input((1, h, w, c))]
    return one.case("random", operands + [bias] * draw(r, 0, 1), [one.output(shape)],
                    padding=SAME, strideH=stride, strideW=stride)


def int4(one, shape):
    return one.graph.constant("weights", np.ones(shape, np.int8), "INT4", 0.1)


@sized("CONV_2D", "INT8")
def conv_2d(one, r):
    h, w, c, outer, kernel = (draw(r, 1, 5) for _ in range(5))
    return one.case("int4", [one.input((1, h, w, c)), int4(one, (outer, kernel, kernel, c))],
                    [one.output((1, h, w, outer))], padding=SAME, strideH=1, strideW=1)


@sized("DEPTHWISE_CONV_2D", "INT8")
def depthwise_conv_2d(one, r):
    h, w, c, multiplier, kernel = (draw(r, 1, 5) for _ in range(5))
    outer = c * multiplier
    return one.case("int4", [one.input((1, h, w, c)), int4(one, (1, kernel, kernel, outer))],
                    [one.output((1, h, w, outer))], padding=SAME, strideH=1, strideW=1,
                    depthMultiplier=multiplier)


@sized("FULLY_CONNECTED", "INT8")
def fully_connected(one, r):
    rows, depth, units = (draw(r, 1, 20) for _ in range(3))
    return one.case("int4", [one.input((rows, depth)), int4(one, (units, depth)), -1],
                    [one.output((rows, units))])


@sized("SVDF", "FLOAT32", "INT8")
def svdf(one, r):
    batch, depth, rank, units, memory = (draw(r, 1, 9) for _ in range(5))
    graph, filters = one.graph, rank * units
    if one.dtype == "INT8":
        features = graph.constant("features", np.ones((filters, depth), np.int8), scale=0.01)
        times = graph.constant("times", np.ones((filters, memory), np.int16), scale=0.001)
        bias = graph.constant("bias", np.ones(units, np.int32), scale=0.00001)
        state = graph.tensor("state", (batch, memory * filters), "INT16", 0.01, variable=True)
    else:
        features, times, bias = (graph.constant(name, np.ones(shape, np.float32)) for name, shape
                                 in (("features", (filters, depth)), ("times", (filters, memory)),
                                     ("bias", (units,))))
        state = graph.tensor("state", (batch, memory * filters), "FLOAT32", variable=True)
    return one.case("random", [one.input((batch, depth)), features, times, bias, state],
                    [one.output((batch, units))], rank=rank,
                    fusedActivationFunction=RELU if one.dtype == "INT8" else 0)


@sized("UNIDIRECTIONAL_SEQUENCE_LSTM", "FLOAT32", "INT8")
def lstm(one, r):
    batch, steps, depth, units = (draw(r, 1, 9) for _ in range(4))
    time_major, graph, quantized = bool(draw(r, 0, 1)), one.graph, one.dtype == "INT8"

    def constant(name, shape, dtype, scale):
        return graph.constant(name, np.ones(shape, dtype if quantized else np.float32),
                              **({"scale": scale} if quantized else {}))

    sides = (steps, batch) if time_major else (batch, steps)
    x = one.input((*sides, depth))
    from_x = [constant(f"x{i}", (units, depth), np.int8, 0.01) for i in range(4)]
    from_h = [constant(f"h{i}", (units, units), np.int8, 0.01) for i in range(4)]
    bias = [constant(f"bias{i}", (units,), np.int32, 0.0005) for i in range(4)]
    y = one.output((*sides, units))
    hidden = graph.tensor("hidden", (batch, units), one.dtype, variable=True,
                          **one.quantization(output=True))
    cell = graph.tensor("cell", (batch, units), "INT16" if quantized else "FLOAT32", variable=True,
                        **({"scale": 2.0 ** -11} if quantized else {}))
    left_out = [-1] * 3
    return one.case("random", [x, *from_x, *from_h, *left_out, *bias, -1, -1, hidden, cell,
                               *left_out, -1], [y],
                    fusedActivationFunction=4, cellClip=0.0, projClip=0.0, timeMajor=time_major)
