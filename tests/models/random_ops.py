"""One-op models of random shapes, one generator per rule of the reference kernels.

Each generator draws a shape and attributes that its kernel of the stock wheel takes, and returns
a Case of single_ops.py. `RULES` lists all (name, element type) combinations.
"""

import numpy as np

import tflite_file
from single_ops import OneOp, UNARY, UNARY_OPTIONS

SAME, VALID = 0, 1
RULES = {}  # (name, dtype): generator


def rule(*dtypes):
    """`name_of_the_op` becomes NAME_OF_THE_OP-DTYPE for each of these types."""
    def register(generator):
        for dtype in dtypes:
            RULES[generator.__name__.upper(), dtype] = generator
        return generator
    return register


def build(name, dtype, seed):
    return RULES[name, dtype](np.random.RandomState(seed), dtype)


def same_scale(dtype):
    """One quantization for all tensors, as kernels that only move values want it."""
    return {"INT8": {"scale": 0.05, "zero": 3}, "INT16": {"scale": 0.05}}.get(dtype, {})


def mover(op, dtype):
    return OneOp(op, dtype, same_scale(dtype))


def draw(r, low, high):
    return int(r.randint(low, high + 1))


def shape_of(r, rank, high=6):
    return tuple(draw(r, 1, high) for _ in range(rank))


def image(r):
    return draw(r, 1, 2), draw(r, 3, 9), draw(r, 3, 9), draw(r, 1, 6)


def text_of(**attributes):
    return "-".join(f"{key}{value}".replace(" ", "") for key, value in attributes.items())


def weights(one, r, shape):
    if one.dtype == "FLOAT32":
        return one.graph.constant("weights", r.uniform(-1, 1, shape).astype(np.float32))
    return one.graph.constant("weights", r.randint(-127, 128, shape).astype(np.int8), scale=0.01)


def numbers(one, name, values):
    return one.graph.constant(name, np.int32(values))


def bias(one, r, channels):
    """Of int8, since ESP-NN's kernels look at one even if there is none."""
    if one.dtype != "INT8":
        return []
    return [one.graph.constant("bias", r.randint(-50, 50, channels).astype(np.int32), scale=0.0005)]


class Window:
    """Filter, stride, dilation and padding that leave at least one output pixel."""

    def __init__(self, r, size, dilations=True):
        self.filter = draw(r, 1, 3), draw(r, 1, 3)
        self.stride = draw(r, 1, 3), draw(r, 1, 3)
        self.dilation = (draw(r, 1, 2), draw(r, 1, 2)) if dilations else (1, 1)
        reach = [(k - 1) * d + 1 for k, d in zip(self.filter, self.dilation)]
        fits = all(n >= k for n, k in zip(size, reach))
        self.padding = draw(r, SAME, VALID) if fits else SAME
        self.output = tuple(-(-(n if self.padding == SAME else n - k + 1) // s)
                            for n, k, s in zip(size, reach, self.stride))

    def options(self):
        return dict(padding=self.padding, strideH=self.stride[0], strideW=self.stride[1])

    def dilated(self):
        return self.options() | dict(dilationHFactor=self.dilation[0],
                                     dilationWFactor=self.dilation[1])

    def __str__(self):
        return text_of(k=self.filter, s=self.stride, d=self.dilation,
                       p="SV"[self.padding])


def conv(r, dtype, groups):
    n, h, w, _ = image(r)
    inner, outer = draw(r, 1, 4), draw(r, 1, 4)
    window = Window(r, (h, w))
    one = OneOp("CONV_2D", dtype)
    x = one.input((n, h, w, groups * inner))
    filters = weights(one, r, (groups * outer, *window.filter, inner))
    y = one.output((n, *window.output, groups * outer))
    return one.case(f"{n}x{h}x{w}x{groups * inner}-{groups * outer}-g{groups}-{window}",
                    [x, filters, *(bias(one, r, groups * outer) or [-1])], [y],
                    **window.dilated())


@rule("FLOAT32", "INT8", "INT16")
def conv_2d(r, dtype):
    return conv(r, dtype, 1)


@rule("FLOAT32", "INT8")
def conv_2d_of_groups(r, dtype):
    return conv(r, dtype, draw(r, 2, 3))


@rule("FLOAT32", "INT8", "INT16")
def depthwise_conv_2d(r, dtype):
    n, h, w, c = image(r)
    multiplier, window = draw(r, 1, 3), Window(r, (h, w))
    one = OneOp("DEPTHWISE_CONV_2D", dtype)
    x, filters = one.input((n, h, w, c)), weights(one, r, (1, *window.filter, c * multiplier))
    y = one.output((n, *window.output, c * multiplier))
    return one.case(f"{n}x{h}x{w}x{c}-m{multiplier}-{window}",
                    [x, filters, *bias(one, r, c * multiplier)], [y],
                    depthMultiplier=multiplier, **window.dilated())


def pool(op, r, dtype):
    n, h, w, c = image(r)
    window = Window(r, (h, w), dilations=False)
    one = mover(op, dtype)
    x, y = one.input((n, h, w, c)), one.output((n, *window.output, c))
    return one.case(f"{n}x{h}x{w}x{c}-{window}", [x], [y], filterHeight=window.filter[0],
                    filterWidth=window.filter[1], **window.options())


@rule("FLOAT32", "INT8", "INT16")
def average_pool_2d(r, dtype):
    return pool("AVERAGE_POOL_2D", r, dtype)


@rule("FLOAT32", "INT8", "INT16")
def max_pool_2d(r, dtype):
    return pool("MAX_POOL_2D", r, dtype)


@rule("FLOAT32", "INT8", "INT16")
def fully_connected(r, dtype):
    rows, depth, units = draw(r, 1, 6), draw(r, 1, 12), draw(r, 1, 12)
    one = OneOp("FULLY_CONNECTED", dtype)
    x, filters = one.input((rows, depth)), weights(one, r, (units, depth))
    return one.case(f"{rows}x{depth}-{units}", [x, filters, -1], [one.output((rows, units))])


@rule("INT8")
def transpose_conv(r, dtype):
    n, h, w, c = 1, draw(r, 2, 5), draw(r, 2, 5), draw(r, 1, 4)
    stride, kernel, outer = draw(r, 1, 2), draw(r, 1, 3), draw(r, 1, 4)
    one = OneOp("TRANSPOSE_CONV", dtype)
    shape = (n, h * stride, w * stride, outer)
    x, filters = one.input((n, h, w, c)), weights(one, r, (outer, kernel, kernel, c))
    bias = one.graph.constant("bias", r.randint(-50, 50, outer).astype(np.int32), scale=0.0005)
    return one.case(f"{h}x{w}x{c}-{outer}-k{kernel}-s{stride}",
                    [numbers(one, "shape", shape), filters, x, bias], [one.output(shape)],
                    padding=SAME, strideH=stride, strideW=stride)


# Of what is below zero these kernels make no numbers, or none that differ.
POSITIVE = ("LOG", "SQRT", "RSQRT", "DIV", "FLOOR_DIV", "FLOOR_MOD")


def unary(op):
    def generate(r, dtype):
        shape = shape_of(r, draw(r, 1, 4))
        one = OneOp(op, dtype)
        x, y = one.input(shape), one.output(shape)
        return one.case("x".join(map(str, shape)), [x], [y], positive=op in POSITIVE,
                        **UNARY_OPTIONS.get(op, {}))
    return generate


for _op in ("ABS", "RELU", "RELU6", "TANH", "LOGISTIC", "ELU", "HARD_SWISH", "LEAKY_RELU",
            "SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION", "QUANTIZE", "NEG", "SQUARE", "SQRT",
            "RSQRT", "EXP", "LOG", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "LOGICAL_NOT"):
    for _dtype in UNARY[_op]:
        RULES[_op, _dtype] = unary(_op)
for _op in ("ABS", "RELU", "RELU6"):
    RULES[_op, "INT16"] = unary(_op)


def between(op, sources, targets):
    """Ops whose output is of another type, as wide or not."""
    def generate(r, dtype):
        target = targets[dtype][draw(r, 0, len(targets[dtype]) - 1)]
        shape = shape_of(r, draw(r, 1, 4))
        one = OneOp(op, dtype)
        x = one.input(shape)
        quantized = {"INT8": {"scale": 0.06, "zero": -4}, "INT16": {"scale": 0.06},
                     "INT32": {"scale": 0.06}}.get(target, {}) if op != "CAST" else {}
        if op == "SOFTMAX":
            quantized = {"scale": 1 / 65536, "zero": -32768}
        y = one.graph.tensor("out", shape, target, **quantized)
        return one.case(f"to-{target.lower()}-{'x'.join(map(str, shape))}", [x], [y],
                        **UNARY_OPTIONS.get(op, {}))
    for dtype in sources:
        RULES[f"{op}_TO_OTHERS", dtype] = generate


between("QUANTIZE", ("FLOAT32", "INT8", "INT16"),
        {"FLOAT32": ("INT8", "INT16"), "INT8": ("INT8", "INT16", "INT32"),
         "INT16": ("INT8", "INT16", "INT32")})
between("DEQUANTIZE", ("INT8", "INT16"), {"INT8": ("FLOAT32",), "INT16": ("FLOAT32",)})
between("CAST", ("FLOAT32", "INT8", "INT16"),
        {"FLOAT32": ("INT8", "INT16"), "INT8": ("FLOAT32", "INT16"), "INT16": ("FLOAT32",)})
between("SOFTMAX", ("INT8",), {"INT8": ("INT16",)})


def narrowed(r, shape):
    """What broadcasts to `shape`: some of its sides are one, some leading ones left out."""
    other = [n if r.rand() < 0.5 else 1 for n in shape]
    return tuple(other[draw(r, 0, len(shape) - 1):])


COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")


def binary(op, broadcast=False):
    def generate(r, dtype):
        shape = shape_of(r, draw(r, 1, 4))
        other = narrowed(r, shape) if broadcast else shape
        one = OneOp(op, dtype)
        operands = [one.input(shape), one.input(other)]
        if broadcast and r.rand() < 0.5:
            operands.reverse()
        label = "x".join(map(str, shape)) + "-with-" + "x".join(map(str, other))
        y = one.output(shape, "BOOL") if op in COMPARISONS else one.output(shape)
        return one.case(f"{label}{'-second' if operands[0] else ''}", operands, [y],
                        positive=op in POSITIVE)
    return generate


for _op, _dtypes in {"ADD": ("FLOAT32", "INT8", "INT16"), "SUB": ("FLOAT32", "INT8", "INT16"),
                     "MUL": ("FLOAT32", "INT8", "INT16"),
                     "MINIMUM": ("FLOAT32", "INT8", "INT16"),
                     "MAXIMUM": ("FLOAT32", "INT8", "INT16"), "PRELU": ("FLOAT32", "INT8"),
                     "DIV": ("FLOAT32", "INT8"), "SQUARED_DIFFERENCE": ("FLOAT32", "INT8"),
                     "FLOOR_DIV": ("FLOAT32",), "FLOOR_MOD": ("FLOAT32",),
                     "LOGICAL_AND": ("BOOL",), "LOGICAL_OR": ("BOOL",),
                     **dict.fromkeys(COMPARISONS, ("FLOAT32", "INT8"))}.items():
    for _dtype in _dtypes:
        RULES[_op, _dtype] = binary(_op)
        RULES[f"{_op}_BROADCAST", _dtype] = binary(_op, broadcast=True)


@rule("FLOAT32", "INT8", "INT16")
def pad(r, dtype):
    shape = shape_of(r, 4, 5)
    paddings = r.randint(0, 3, (4, 2))
    one = mover("PAD", dtype)
    x = one.input(shape)
    y = one.output(tuple(int(n) for n in shape + paddings.sum(axis=1)))
    return one.case(text_of(x=shape, p=paddings.reshape(-1).tolist()),
                    [x, numbers(one, "paddings", paddings)], [y])


@rule("FLOAT32", "INT8", "INT16")
def padv2(r, dtype):
    shape = shape_of(r, 4, 5)
    paddings = r.randint(0, 3, (4, 2))
    one = mover("PADV2", dtype)
    x, value = one.input(shape), one.filler((1,))
    y = one.output(tuple(int(n) for n in shape + paddings.sum(axis=1)))
    return one.case(text_of(x=shape, p=paddings.reshape(-1).tolist()),
                    [x, numbers(one, "paddings", paddings), value], [y])


@rule("FLOAT32", "INT8")
def mirror_pad(r, dtype):
    mode = draw(r, 0, 1)  # REFLECT, SYMMETRIC
    shape = tuple(draw(r, 2, 5) for _ in range(draw(r, 1, 3)))
    paddings = [[draw(r, 0, n - 1 + mode), draw(r, 0, n - 1 + mode)] for n in shape]
    one = mover("MIRROR_PAD", dtype)
    x, y = one.input(shape), one.output(tuple(n + sum(p) for n, p in zip(shape, paddings)))
    return one.case(text_of(x=shape, p=sum(paddings, []), m=mode),
                    [x, numbers(one, "paddings", paddings)], [y], mode=mode)


@rule("FLOAT32", "INT8", "INT16")
def concatenation(r, dtype):
    shape, axis = list(shape_of(r, 4, 4)), draw(r, 0, 3)
    parts = [draw(r, 1, 4) for _ in range(draw(r, 2, 4))]
    one = mover("CONCATENATION", dtype)
    inputs = [one.input((*shape[:axis], n, *shape[axis + 1:])) for n in parts]
    y = one.output((*shape[:axis], sum(parts), *shape[axis + 1:]))
    return one.case(text_of(x=shape, a=axis, n=parts), inputs, [y], axis=axis)


@rule("FLOAT32", "INT8", "INT16")
def pack(r, dtype):
    shape = shape_of(r, draw(r, 1, 3), 5)
    axis, count = draw(r, 0, len(shape)), draw(r, 2, 4)
    one = mover("PACK", dtype)
    inputs = [one.input(shape) for _ in range(count)]
    y = one.output((*shape[:axis], count, *shape[axis:]))
    return one.case(text_of(x=shape, a=axis, n=count), inputs, [y], axis=axis,
                    valuesCount=count)


def outputs_of(one, shapes):
    return [one.graph.tensor(f"out{j}", shape, one.dtype, **one.quantization(output=True))
            for j, shape in enumerate(shapes)]


@rule("FLOAT32", "INT8", "INT16")
def split(r, dtype):
    shape, axis, count = list(shape_of(r, 4, 4)), draw(r, 0, 3), draw(r, 2, 4)
    part = tuple(shape)
    shape[axis] *= count
    one = mover("SPLIT", dtype)
    x = one.input(shape)
    return one.case(text_of(x=shape, a=axis, n=count), [numbers(one, "axis", axis), x],
                    outputs_of(one, [part] * count), numSplits=count)


@rule("FLOAT32", "INT8", "INT16")
def split_v(r, dtype):
    shape, axis = list(shape_of(r, 4, 4)), draw(r, 0, 3)
    sizes = [draw(r, 1, 4) for _ in range(draw(r, 2, 4))]
    parts = [(*shape[:axis], n, *shape[axis + 1:]) for n in sizes]
    shape[axis] = sum(sizes)
    one = mover("SPLIT_V", dtype)
    x = one.input(shape)
    return one.case(text_of(x=shape, a=axis, n=sizes),
                    [x, numbers(one, "sizes", sizes), numbers(one, "axis", axis)],
                    outputs_of(one, parts), numSplits=len(sizes))


@rule("FLOAT32", "INT8", "INT16")
def slice(r, dtype):  # the op's name
    shape = shape_of(r, draw(r, 1, 4))
    begin = [draw(r, 0, n - 1) for n in shape]
    size = [draw(r, 1, n - b) for n, b in zip(shape, begin)]
    one = mover("SLICE", dtype)
    x = one.input(shape)
    return one.case(text_of(x=shape, b=begin, n=size),
                    [x, numbers(one, "begin", begin), numbers(one, "size", size)],
                    [one.output(tuple(size))])


@rule("FLOAT32", "INT8", "INT16")
def strided_slice(r, dtype):
    shape = shape_of(r, draw(r, 1, 4))
    begin, end, strides, output = [], [], [], []
    for n in shape:
        if r.rand() < 0.25 and n > 1:  # backwards, down to where -1 would mean the end
            b, s = draw(r, 1, n - 1), -draw(r, 1, 2)
            e = draw(r, 0, b - 1)
        else:
            b, s = draw(r, 0, n - 1), draw(r, 1, 3)
            e = draw(r, b + 1, n)
        begin, end, strides = begin + [b], end + [e], strides + [s]
        output.append(-(-(e - b) // s))
    one = mover("STRIDED_SLICE", dtype)
    x = one.input(shape)
    return one.case(text_of(x=shape, b=begin, e=end, s=strides),
                    [x, *(numbers(one, name, values) for name, values in
                          (("begin", begin), ("end", end), ("strides", strides)))],
                    [one.output(tuple(output))])


@rule("FLOAT32", "INT8", "INT16")
def transpose(r, dtype):
    shape = shape_of(r, draw(r, 2, 4))
    order = r.permutation(len(shape)).tolist()
    one = mover("TRANSPOSE", dtype)
    x = one.input(shape)
    return one.case(text_of(x=shape, o=order), [x, numbers(one, "order", order)],
                    [one.output(tuple(shape[i] for i in order))])


@rule("FLOAT32", "INT8")
def depth_to_space(r, dtype):
    n, h, w, c = shape_of(r, 4, 3)
    block = draw(r, 2, 3)
    one = mover("DEPTH_TO_SPACE", dtype)
    x, y = one.input((n, h, w, c * block ** 2)), one.output((n, h * block, w * block, c))
    return one.case(text_of(x=(n, h, w, c), b=block), [x], [y], blockSize=block)


@rule("FLOAT32", "INT8")
def space_to_depth(r, dtype):
    n, h, w, c = shape_of(r, 4, 3)
    block = draw(r, 2, 3)
    one = mover("SPACE_TO_DEPTH", dtype)
    x, y = one.input((n, h * block, w * block, c)), one.output((n, h, w, c * block ** 2))
    return one.case(text_of(x=(n, h, w, c), b=block), [x], [y], blockSize=block)


def resize(op, r, dtype):
    n, h, w, c = image(r)
    size = draw(r, 1, 12), draw(r, 1, 12)
    align, half = ((False, False), (True, False), (False, True))[draw(r, 0, 2)]
    one = mover(op, dtype)
    x, y = one.input((n, h, w, c)), one.output((n, *size, c))
    return one.case(text_of(x=(n, h, w, c), n=size, a=int(align), h=int(half)),
                    [x, numbers(one, "size", size)], [y], alignCorners=align,
                    halfPixelCenters=half)


@rule("FLOAT32", "INT8")
def resize_bilinear(r, dtype):
    return resize("RESIZE_BILINEAR", r, dtype)


@rule("FLOAT32", "INT8", "INT16")
def resize_nearest_neighbor(r, dtype):
    return resize("RESIZE_NEAREST_NEIGHBOR", r, dtype)


@rule("FLOAT32")
def mean(r, dtype):
    """Over height and width, each output after the last of what it is made of."""
    n, h, w, c = image(r)
    one = OneOp("MEAN", dtype)
    return one.case(text_of(x=(n, h, w, c)), [one.input((n, h, w, c)), numbers(one, "axes", [1, 2])],
                    [one.output((n, 1, 1, c))], keepDims=True)


def batch_matmul(r, dtype, adj_x, adj_y):
    batch = shape_of(r, draw(r, 0, 2), 3)
    rows, depth, columns = draw(r, 1, 5), draw(r, 1, 5), draw(r, 1, 5)
    left, right = (rows, depth)[::-1 if adj_x else 1], (depth, columns)[::-1 if adj_y else 1]
    one = OneOp("BATCH_MATMUL", dtype)
    operands = [one.input((*batch, *left)), one.input((*batch, *right))]
    return one.case(text_of(b=batch, n=(rows, depth, columns), x=int(adj_x), y=int(adj_y)),
                    operands, [one.output((*batch, rows, columns))], adjX=adj_x, adjY=adj_y)


@rule("FLOAT32", "INT8")
def batch_matmul_plain(r, dtype):
    return batch_matmul(r, dtype, False, bool(draw(r, 0, 1)))


@rule("FLOAT32", "INT8")
def batch_matmul_transposed(r, dtype):
    return batch_matmul(r, dtype, True, bool(draw(r, 0, 1)))


def arg(op, r, dtype):
    shape = shape_of(r, draw(r, 1, 4))
    axis = draw(r, 0, len(shape) - 1)
    one = OneOp(op, dtype)
    x = one.input(shape)
    y = one.graph.tensor("out", (*shape[:axis], *shape[axis + 1:]), "INT32")
    return one.case(text_of(x=shape, a=axis), [x, numbers(one, "axis", axis)], [y],
                    outputType=tflite_file.TYPES["INT32"])


@rule("FLOAT32", "INT8")
def arg_max(r, dtype):
    return arg("ARG_MAX", r, dtype)


@rule("FLOAT32", "INT8")
def arg_min(r, dtype):
    return arg("ARG_MIN", r, dtype)
