"""One-op models of random shapes for what kernels ask for beside their tensors, scratch and what
they keep: each generator takes the ways that libraries of kernels tell apart (1x1, one row, groups,
3x3, one channel, many channels, weights of four bits, weights that are no constants …).

`CASES` are those of random_ops.py and scratch_ops.py whose ops CMSIS-NN replaces, as ESP-NN does
with some of them, and more.
"""

import numpy as np

import random_ops
import scratch_ops
from random_ops import SAME, VALID, draw, numbers
from single_ops import OneOp

REPLACED = {"ADD", "AVERAGE_POOL_2D", "BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D",
            "FULLY_CONNECTED", "MAX_POOL_2D", "MAXIMUM", "MINIMUM", "MUL", "PAD", "PADV2",
            "SOFTMAX", "SVDF", "TRANSPOSE", "TRANSPOSE_CONV", "UNIDIRECTIONAL_SEQUENCE_LSTM"}
REFUSED = ("scratch", "TRANSPOSE_CONV", "INT16")  # CMSIS-NN's looks at a bias, even if there is none
CASES = {}  # name: generator


def case(generator):
    CASES[generator.__name__] = generator
    return generator


def weights_of(one, r, shape, axis=0):
    """Often with a scale for each channel."""
    scale = [0.01] * shape[axis] if draw(r, 0, 1) else 0.01
    return one.graph.constant("weights", np.ones(shape, np.int8), scale=scale, axis=axis)


def pick(r, *values):
    return values[draw(r, 0, len(values) - 1)]


def strides(r, high=3):
    return {"strideH": draw(r, 1, high), "strideW": draw(r, 1, high)}


def of_stride(n, stride):
    return -(-n // stride)


def conv(one, r, image, filters, inner=None, **dilations):
    """With SAME padding; `filters`: their number, height and width."""
    n, h, w, c = image
    stride = strides(r)
    outer, *sides = filters
    result = (n, of_stride(h, stride["strideH"]), of_stride(w, stride["strideW"]), outer)
    x, y = one.input(image), one.output(result)
    filter_tensor = weights_of(one, r, (outer, *sides, inner or c))
    return one.case("random", [x, filter_tensor, -1], [y], padding=SAME, **stride, **dilations)


@case
def conv_pointwise_int8(r):
    image = (draw(r, 1, 2), draw(r, 1, 6), draw(r, 1, 6), draw(r, 1, 20))
    return conv(OneOp("CONV_2D", "INT8"), r, image, (draw(r, 1, 20), 1, 1))


@case
def conv_square_int8(r):
    side = draw(r, 2, 5)
    image = (1, draw(r, 1, 9), draw(r, 1, 9), draw(r, 1, 30))
    return conv(OneOp("CONV_2D", "INT8"), r, image, (draw(r, 1, 6), side, side))


@case
def conv_of_one_row_int8(r):
    image = (draw(r, 1, 2), 1, draw(r, 1, 24), pick(r, 1, 2, 3, 4, 8))
    dilation = {"dilationWFactor": pick(r, 1, 1, 1, 2)}
    return conv(OneOp("CONV_2D", "INT8"), r, image, (draw(r, 1, 6), 1, draw(r, 2, 9)), **dilation)


@case
def conv_of_groups_int8(r):
    groups, inner, side = draw(r, 2, 4), draw(r, 1, 4), draw(r, 1, 3)
    image = (1, draw(r, 1, 6), draw(r, 1, 6), groups * inner)
    return conv(OneOp("CONV_2D", "INT8"), r, image, (groups * draw(r, 1, 3), side, side), inner)


@case
def conv_int16(r):
    image = (1, draw(r, 1, 6), draw(r, 1, 6), draw(r, 1, 12))
    return conv(OneOp("CONV_2D", "INT16"), r, image, (draw(r, 1, 6), draw(r, 1, 3), draw(r, 1, 3)))


def depthwise(one, r, batch, c, multiplier, sides, dtype=None, most=8):
    h, w, stride = draw(r, 1, most), draw(r, 1, most), strides(r)
    shape = (1, *sides, c * multiplier)
    filters = scratch_ops.int4(one, shape) if dtype else weights_of(one, r, shape, axis=3)
    result = (batch, of_stride(h, stride["strideH"]), of_stride(w, stride["strideW"]),
              c * multiplier)
    return one.case("random", [one.input((batch, h, w, c)), filters], [one.output(result)],
                    padding=SAME, depthMultiplier=multiplier, **stride,
                    dilationHFactor=pick(r, 1, 1, 1, 2), dilationWFactor=pick(r, 1, 1, 1, 2))


@case
def depthwise_square_int8(r):
    side = pick(r, 3, 3, 3, 5)
    return depthwise(OneOp("DEPTHWISE_CONV_2D", "INT8"), r, pick(r, 1, 1, 1, 2), draw(r, 1, 200), 1,
                     (side, side))


@case
def depthwise_any_int8(r):
    return depthwise(OneOp("DEPTHWISE_CONV_2D", "INT8"), r, 1, draw(r, 1, 6), pick(r, 1, 1, 2),
                     (draw(r, 1, 4), draw(r, 1, 4)))


@case
def depthwise_of_one_channel_int8(r):
    one = OneOp("DEPTHWISE_CONV_2D", "INT8")
    return depthwise(one, r, 1, 1, draw(r, 2, 20), (draw(r, 2, 4), draw(r, 1, 4)))


@case
def depthwise_small_weights(r):
    one = OneOp("DEPTHWISE_CONV_2D", "INT8")
    return depthwise(one, r, pick(r, 1, 1, 2), draw(r, 1, 9), 1, (draw(r, 1, 3), 3), "INT4")


@case
def depthwise_int16(r):
    return depthwise(OneOp("DEPTHWISE_CONV_2D", "INT16"), r, 1, draw(r, 1, 9), 1, (3, draw(r, 1, 3)))


def inside(one, r, c, sides, outer, weights, **options):
    """With VALID padding, of images large and small."""
    stride, dilation = strides(r), pick(r, 1, 1, 2)
    image, result = [], []
    for taps, step in zip(sides, (stride["strideH"], stride["strideW"])):
        reach = (taps - 1) * dilation + 1
        size = reach + pick(r, draw(r, 0, 6), draw(r, 0, 40))
        image.append(size)
        result.append((size - reach) // step + 1)
    return one.case("random", [one.input((1, *image, c)), weights],
                    [one.output((1, *result, outer))], padding=VALID, dilationHFactor=dilation,
                    dilationWFactor=dilation, **stride, **options)


@case
def conv_inside_int8(r):
    one, c, outer = OneOp("CONV_2D", "INT8"), draw(r, 1, 20), draw(r, 1, 9)
    sides = (draw(r, 1, 4), draw(r, 1, 4))
    return inside(one, r, c, sides, outer, weights_of(one, r, (outer, *sides, c)))


@case
def depthwise_inside_int8(r):
    one, c = OneOp("DEPTHWISE_CONV_2D", "INT8"), pick(r, 3, 5, 8, 16, 24, 32)
    multiplier, sides = pick(r, 1, 1, 1, 2, 4), pick(r, (3, 3), (3, 3), (1, 3), (4, 4))
    outer = c * multiplier
    return inside(one, r, c, sides, outer, weights_of(one, r, (1, *sides, outer), axis=3),
                  depthMultiplier=multiplier)


@case
def depthwise_of_many_channels_int8(r):
    """Of large images, too."""
    side = pick(r, 3, 3, 5)
    one, batch, c = OneOp("DEPTHWISE_CONV_2D", "INT8"), pick(r, 1, 2), 8 * draw(r, 1, 6)
    return depthwise(one, r, batch, c, pick(r, 1, 1, 1, 3, 4), (side, side), most=pick(r, 8, 60))


@case
def softmax_of_rows_int8(r):
    """No row is longer than axis 1, which ESP-NN takes it for."""
    one, n = OneOp("SOFTMAX", "INT8"), draw(r, 1, 40)
    shape = pick(r, (draw(r, 1, 4), n), (draw(r, 1, 3), n, draw(r, 1, n)))
    return one.case("random", [one.input(shape)], [one.output(shape)], beta=1.0)


@case
def connected_of_images_int8(r):
    """More than two dimensions, and depths that four divides or not."""
    one, rows, depth, units = OneOp("FULLY_CONNECTED", "INT8"), draw(r, 1, 5), draw(r, 1, 16), draw(r, 1, 9)
    depth *= pick(r, 1, 4)
    return one.case("random", [one.input((1, rows, depth)), weights_of(one, r, (units, depth)), -1],
                    [one.output((1, rows, units))], keepNumDims=True)


@case
def connected_by_results_int8(r):
    """Weights that an op makes; a bias that is given, made or left out."""
    one, rows, depth, units = OneOp("FULLY_CONNECTED", "INT8"), draw(r, 1, 5), draw(r, 1, 16), draw(r, 1, 9)
    bias = pick(r, -1, one.graph.constant("bias", np.ones(units, np.int32), scale=0.0025))
    return one.case("random", [one.input((rows, depth)), one.input((units, depth)), bias],
                    [one.output((rows, units))])


@case
def connected_with_bias_int8(r):
    one, rows, depth, units = OneOp("FULLY_CONNECTED", "INT8"), draw(r, 1, 5), draw(r, 1, 16), draw(r, 1, 30)
    bias = one.graph.constant("bias", np.ones(units, np.int32), scale=0.0005)
    return one.case("random", [one.input((rows, depth)), weights_of(one, r, (units, depth)), bias],
                    [one.output((rows, units))])


@case
def transpose_conv_of_many_channels_int8(r):
    one, c, outer = OneOp("TRANSPOSE_CONV", "INT8"), draw(r, 12, 24), draw(r, 1, 6)
    h, w, kernel, stride = draw(r, 1, 5), draw(r, 1, 5), draw(r, 1, 4), strides(r, 3)
    shape = (1, h * stride["strideH"], w * stride["strideW"], outer)
    return one.case("random", [numbers(one, "shape", shape),
                               weights_of(one, r, (outer, kernel, pick(r, kernel, 2), c)),
                               one.input((1, h, w, c))], [one.output(shape)], padding=SAME, **stride)


@case
def transpose_conv_int16(r):
    one, c, outer = OneOp("TRANSPOSE_CONV", "INT16"), draw(r, 1, 4), draw(r, 1, 6)
    h, w, kernel, stride = draw(r, 1, 5), draw(r, 1, 5), draw(r, 1, 3), strides(r, 2)
    shape = (1, h * stride["strideH"], w * stride["strideW"], outer)
    bias = one.graph.constant("bias", np.ones(outer, pick(r, np.int64, np.int16)), scale=0.0005)
    return one.case("random", [numbers(one, "shape", shape),
                               weights_of(one, r, (outer, kernel, kernel, c)),
                               one.input((1, h, w, c)), bias], [one.output(shape)], padding=SAME,
                    **stride)


@case
def softmax_int16(r):
    one = OneOp("SOFTMAX", "INT16")
    shape = (draw(r, 1, 4), draw(r, 1, 9))
    return one.case("random", [one.input(shape)], [one.output(shape)], beta=1.0)


def add_known():
    for table, label in ((random_ops.RULES, "rule"), (scratch_ops.SIZED, "scratch")):
        for (op, dtype), generator in table.items():
            name = next((kept for kept in sorted(REPLACED, key=len, reverse=True)
                         if op.startswith(kept)), None)
            if name is None or (label, op, dtype) == REFUSED:
                continue
            known = (lambda r, g=generator, t=dtype: g(r, t)) if label == "rule" else generator
            CASES[f"{op.lower()}_{dtype.lower()}_{label}"] = known


add_known()


def seeds(name):
    """Ways through a dispatch want several shapes; else one shows what an op keeps."""
    return range(1 if name.endswith("_rule") and not name.startswith("depthwise") else 6)


def build(name, seed):
    return CASES[name](np.random.RandomState(seed)).data
