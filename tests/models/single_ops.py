"""One-op models, for asking a kernel whether its output may lie on top of an input.

Each case is one operator with one choice of element type, shape and operands. `apart` runs it
with every tensor at a place of its own, `aliased` with one output at the offset of one input.
A kernel that reads an element after it has written there gives itself away by other bytes.
"""

import zlib
from dataclasses import dataclass

import numpy as np
from flatbuffers import flexbuffers

import micro_runtime
import tflite_file
from tflite_file import Model

SHAPES = ((1, 4, 4, 3), (1, 7, 5, 3), (2, 3, 16, 4), (1, 96))

# Quantization of outputs that the kernels insist on, by operator and type.
FIXED_OUTPUT = {
    ("LOGISTIC", "INT8"): (1 / 256, -128), ("LOGISTIC", "INT16"): (1 / 32768, 0),
    ("TANH", "INT8"): (1 / 128, 0), ("TANH", "INT16"): (1 / 32768, 0),
    ("SOFTMAX", "INT8"): (1 / 256, -128), ("SOFTMAX", "INT16"): (1 / 32768, 0),
    ("LOG_SOFTMAX", "INT8"): (16 / 256, 127), ("L2_NORMALIZATION", "INT8"): (1 / 128, 0),
}


@dataclass
class Case:
    """`operands` are the tensors of the op's input list, -1 where left out."""
    op: str
    label: str
    data: bytes
    operands: list
    outputs: list
    positive: bool = False  # random inputs must be above zero
    quiet: bool = False     # … must be far from the ends of their type

    def __str__(self):
        return f"{self.op}-{self.label}"

    def inputs(self, seed):
        machine = micro_runtime.Machine(self.data)
        values = micro_runtime.random_inputs(machine.inputs,
                                             zlib.crc32(str(self).encode()) % 10000 + seed)
        if self.positive:
            values = [np.abs(v.astype(np.float64)).clip(1, 1000).astype(v.dtype) for v in values]
        return [v // 64 for v in values] if self.quiet else values

    def run(self, offsets, inputs):
        """All outputs as bytes, with the tensors at these offsets."""
        machine = micro_runtime.Machine(tflite_file.with_plan(self.data, offsets))
        return [output.tobytes() for output in machine.run(inputs)]

    def apart(self):
        return tflite_file.apart(self.data)

    def aliased(self, operand, output):
        offsets = self.apart()
        offsets[self.outputs[output]] = offsets[self.operands[operand]]
        return offsets

    def can_alias(self, operand, output):
        """Whether a planner would ask: a planned operand of as many bytes as the output."""
        table = tflite_file.unpack(self.data)
        tensors = table.subgraphs[0].tensors
        source = self.operands[operand] if operand < len(self.operands) else -1
        return (source >= 0 and output < len(self.outputs)
                and not tflite_file.is_constant(table, tensors[source])
                and tflite_file.tensor_bytes(tensors[source])
                == tflite_file.tensor_bytes(tensors[self.outputs[output]]))

    def survives_alias(self, operand, output, seeds=3):
        """True if every output of every run has the bytes that it has without the alias."""
        apart, aliased = self.apart(), self.aliased(operand, output)
        return all(self.run(apart, values) == self.run(aliased, values)
                   for values in map(self.inputs, range(seeds)))


class OneOp:
    """Builds a Case: tensors first, then `case`. `quantized` (scale and zero) replaces the usual
    quantization, for ops that want one for all their tensors, or none."""

    def __init__(self, op, dtype="FLOAT32", quantized=None):
        self.op, self.dtype, self.quantized = op, dtype, quantized
        self.model = Model(op)
        self.graph = self.model.graph("main")
        self.inputs = []

    def quantization(self, output=False):
        if self.quantized is not None or self.dtype not in ("INT8", "INT16"):
            return self.quantized or {}
        if output and (self.op, self.dtype) in FIXED_OUTPUT:
            scale, zero = FIXED_OUTPUT[self.op, self.dtype]
            return {"scale": scale, "zero": zero}
        zero = 0 if self.dtype == "INT16" else -4 if output else 3
        if self.op == "RSQRT" and not output:
            zero = -128  # its operand must stand for a number above zero
        return {"scale": 0.06 if output else 0.05, "zero": zero}

    def input(self, shape, dtype=None):
        quantization = self.quantization() if dtype in (None, self.dtype) else {}
        tensor = self.graph.tensor(f"in{len(self.inputs)}", shape, dtype or self.dtype,
                                   **quantization)
        self.inputs.append(tensor)
        return tensor

    def output(self, shape, dtype=None, **quantization):
        if not quantization and dtype in (None, self.dtype):
            quantization = self.quantization(output=True)
        return self.graph.tensor("out", shape, dtype or self.dtype, **quantization)

    def filler(self, shape, seed=5):
        """A constant of the op's own type, without zeros."""
        random = np.random.RandomState(seed)
        dtype = tflite_file.NUMPY[self.dtype]
        if self.dtype == "FLOAT32":
            values = random.uniform(0.5, 3, shape)
        else:
            values = random.randint(0, 2, shape) if self.dtype == "BOOL" \
                else random.randint(5, 100, shape)
        return self.graph.constant("filler", np.asarray(values, dtype), **self.quantization())

    def case(self, label, operands, outputs, positive=False, custom=None, quiet=False,
             **options):
        self.graph.op(self.op, operands, outputs, **options)
        if custom is not None:
            packed = bytes(flexbuffers.Dumps(custom))
            self.graph.table.operators[0].customOptions = np.frombuffer(packed, np.uint8)
        self.graph.io(self.inputs, outputs)
        return Case(self.op, f"{self.dtype.lower()}-{label}", self.model.bytes(), operands,
                    outputs, positive, quiet)


def sized(shape):
    return "x".join(map(str, shape))


# Ops of one operand whose output has its shape, with the types that the wheel's kernels take.
UNARY = {
    "ABS": ("FLOAT32", "INT8"), "NEG": ("FLOAT32",), "SQRT": ("FLOAT32",),
    "SQUARE": ("FLOAT32",), "RSQRT": ("FLOAT32", "INT8"), "LOG": ("FLOAT32",),
    "SIN": ("FLOAT32",), "COS": ("FLOAT32",), "EXP": ("FLOAT32",),
    "FLOOR": ("FLOAT32",), "CEIL": ("FLOAT32",), "ROUND": ("FLOAT32",),
    "RELU": ("FLOAT32", "INT8"), "RELU6": ("FLOAT32", "INT8"),
    "TANH": ("FLOAT32", "INT8", "INT16"), "LOGISTIC": ("FLOAT32", "INT8", "INT16"),
    "ELU": ("FLOAT32", "INT8"), "HARD_SWISH": ("FLOAT32", "INT8"),
    "LEAKY_RELU": ("FLOAT32", "INT8", "INT16"), "SOFTMAX": ("FLOAT32", "INT8", "INT16"),
    "LOG_SOFTMAX": ("FLOAT32", "INT8"), "L2_NORMALIZATION": ("FLOAT32", "INT8"),
    "LOGICAL_NOT": ("BOOL",), "QUANTIZE": ("INT8", "INT16"),
}
UNARY_OPTIONS = {"LEAKY_RELU": {"alpha": 0.2}, "SOFTMAX": {"beta": 1.0}}

# Ops of two operands, which broadcast.
BINARY = {
    "ADD": ("FLOAT32", "INT8", "INT16", "INT32"), "SUB": ("FLOAT32", "INT8", "INT16"),
    "MUL": ("FLOAT32", "INT8", "INT16", "INT32"), "DIV": ("FLOAT32", "INT8"),
    "MINIMUM": ("FLOAT32", "INT8", "INT16", "INT32"),
    "MAXIMUM": ("FLOAT32", "INT8", "INT16", "INT32"),
    "SQUARED_DIFFERENCE": ("FLOAT32", "INT8", "INT32"), "FLOOR_DIV": ("FLOAT32",),
    "FLOOR_MOD": ("FLOAT32",), "LOGICAL_AND": ("BOOL",), "LOGICAL_OR": ("BOOL",),
}


def unary_cases():
    for op, dtypes in UNARY.items():
        for dtype in dtypes:
            for shape in SHAPES:
                one = OneOp(op, dtype)
                x, y = one.input(shape), one.output(shape)
                yield one.case(sized(shape), [x], [y], op in ("LOG", "SQRT", "RSQRT"),
                               **UNARY_OPTIONS.get(op, {}))


def binary_cases():
    """With a whole tensor, a row, one number, or the very same tensor as the other operand."""
    for op, dtypes in BINARY.items():
        for dtype in dtypes:
            for shape in SHAPES:
                for other in ("tensor", "row", "number", "itself"):
                    for first in (True, False):
                        one = OneOp(op, dtype)
                        x = one.input(shape)
                        z = (one.input(shape) if other == "tensor" else
                             one.filler(shape[-1:]) if other == "row" else
                             one.filler((1,)) if other == "number" else x)
                        operands = [x, z] if first else [z, x]
                        label = f"{sized(shape)}-{'with' if first else 'of'}-{other}"
                        yield one.case(label, operands, [one.output(shape)],
                                       positive=op in ("DIV", "FLOOR_DIV", "FLOOR_MOD"))


def other_safe_cases():
    for shape in SHAPES:
        for dtype in ("FLOAT32", "INT8"):
            one = OneOp("PRELU", dtype)
            yield one.case(sized(shape), [one.input(shape), one.filler(shape[-1:])],
                           [one.output(shape)])
        for source, target in (("INT32", "FLOAT32"), ("FLOAT32", "INT32"), ("INT8", "BOOL"),
                               ("BOOL", "INT8"), ("UINT32", "INT32"), ("INT32", "UINT32")):
            one = OneOp("CAST", source)
            x = one.graph.tensor("in", shape, source)
            one.inputs.append(x)
            y = one.graph.tensor("out", shape, target)
            yield one.case(f"to-{target.lower()}-{sized(shape)}", [x], [y])
        flat = (tflite_file.elements(shape),)
        for op, new_shape, operand in (("RESHAPE", flat, flat), ("SQUEEZE", None, None),
                                       ("EXPAND_DIMS", (1, *shape), [0])):
            one = OneOp(op, "INT16", {"scale": 0.05})
            if op == "SQUEEZE":
                new_shape = tuple(n for n in shape if n != 1)
            x, y = one.input(shape), one.output(new_shape)
            extra = [] if operand is None else [one.graph.constant("shape", np.int32(operand))]
            yield one.case(sized(shape), [x, *extra], [y])


def signal_cases():
    random = np.random.RandomState(4)
    for n in (480, 32):
        one = OneOp("SignalWindow", "INT16", quantized={})
        window = one.graph.constant("window", random.randint(0, 4096, n).astype(np.int16))
        yield one.case(str(n), [one.input((1, n)), window], [one.output((1, n))],
                       custom={"shift": 12})
        one = OneOp("SignalFftAutoScale", "INT16", quantized={})
        yield one.case(str(n), [one.input((n,))],
                       [one.output((n,)), one.graph.tensor("bits", (), "INT32")], custom={},
                       quiet=True)
    for n in (40, 9):
        one = OneOp("SignalFilterBankSpectralSubtraction", "UINT32")
        options = dict(alternate_one_minus_smoothing=15401, alternate_smoothing=983,
                       clamping=False, min_signal_remaining=819, num_channels=n,
                       one_minus_smoothing=15975, smoothing=409, smoothing_bits=10,
                       spectral_subtraction_bits=14)
        yield one.case(str(n), [one.input((n,))], [one.output((n,)), one.output((n,))],
                       positive=True, custom=options)
        one = OneOp("SignalPCAN", "UINT32")
        gains = one.graph.constant("gains", np.arange(125, dtype=np.int16) * 200)
        yield one.case(str(n), [one.input((n,)), one.input((n,)), gains], [one.output((n,))],
                       positive=True, custom={"snr_shift": 6})


def unsafe_cases():
    """Kernels that read an element after they have written elsewhere: never to be aliased."""
    for dtype in ("FLOAT32", "INT8"):
        random = np.random.RandomState(6)

        def weights(one, shape, dtype=dtype, random=random):
            if dtype == "FLOAT32":
                return one.graph.constant("weights", random.uniform(-1, 1, shape)
                                          .astype(np.float32))
            return one.graph.constant("weights", random.randint(-127, 128, shape)
                                      .astype(np.int8), scale=0.01)

        one = OneOp("CONV_2D", dtype)
        yield one.case("3x3", [one.input((1, 8, 8, 4)), weights(one, (4, 3, 3, 4)), -1],
                       [one.output((1, 8, 8, 4))], padding=0, strideH=1, strideW=1)
        one = OneOp("CONV_2D", dtype)
        yield one.case("1x1", [one.input((1, 8, 8, 4)), weights(one, (4, 1, 1, 4)), -1],
                       [one.output((1, 8, 8, 4))], padding=0, strideH=1, strideW=1)
        one = OneOp("DEPTHWISE_CONV_2D", dtype)  # a bias of -1 crashes this one in the wheel
        yield one.case("3x3", [one.input((1, 8, 8, 4)), weights(one, (1, 3, 3, 4))],
                       [one.output((1, 8, 8, 4))], padding=0, strideH=1, strideW=1,
                       depthMultiplier=1)
        one = OneOp("FULLY_CONNECTED", dtype)
        yield one.case("24", [one.input((2, 24)), weights(one, (24, 24)), -1],
                       [one.output((2, 24))])
        for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            one = OneOp(op, dtype, {"scale": 0.05} if dtype == "INT8" else {})  # only moves
            yield one.case("3x3", [one.input((1, 8, 8, 4))], [one.output((1, 8, 8, 4))],
                           padding=0, strideH=1, strideW=1, filterHeight=3, filterWidth=3)
        one = OneOp("TRANSPOSE", dtype)
        order = one.graph.constant("order", np.int32([0, 2, 1, 3]))
        yield one.case("5x6", [one.input((1, 5, 6, 3)), order], [one.output((1, 6, 5, 3))])
        one = OneOp("DEPTH_TO_SPACE", dtype)
        yield one.case("2", [one.input((1, 3, 3, 8))], [one.output((1, 6, 6, 2))], blockSize=2)


def safe_cases():
    """Everything of which some operand may be overwritten; SignalPCAN's second may not."""
    yield from unary_cases()
    yield from binary_cases()
    yield from other_safe_cases()
    yield from signal_cases()
