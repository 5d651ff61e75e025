"""Makes CMSIS-NN take 1x1 convolutions pixel by pixel, so that results may lie over their operands.

    python examples/dilate_pointwise.py MODEL.tflite OUT.tflite [OP…]

CMSIS-NN's kernel for 1x1 convolutions of int8 goes through the whole image once for each two output
channels, so that its result cannot reach into its input. A filter of one tap computes the same
whatever its dilation is, but CMSIS-NN gives one with a dilation to its general kernel, which reads
two pixels (four with vector instructions) and then writes them. So this sets the dilation of these
convolutions, of all or of the ops with these numbers, to 2: same results to the last bit, no op and
no byte of weights more. It takes scratch for four bytes of each input channel, and 7 to 8 % more instructions in
a MobileNet (docs/results.md). Then plan the result:

    arenaut plan OUT.tflite --kernels cmsis-nn --overlap on -f -o PLANNED.tflite

The file grows by 44 bytes for each; all that was in it stays where it is, aligned as it was. Needs
the package ai-edge-litert, for the schema.
"""

import struct
import sys
from pathlib import Path

from ai_edge_litert import schema_py_generated as schema

BUILTIN_OPTIONS = 4  # its slot in the table Operator
# Conv2DOptions, by slot: where each lies behind the head of the table, and the table's bytes.
PLACES, SIZE = (20, 4, 8, 21, 12, 16, 22), 24  # padding, strides, activation, dilations, bias type


def options_table(options, at):
    """A table for these options, dilated, with its list of places, to lie at this multiple of 4."""
    places = struct.pack("<9H2x", 4 + 2 * len(PLACES), SIZE, *PLACES)
    values = struct.pack("<5i3bx", len(places), options.StrideW(), options.StrideH(), 2, 2,
                         options.Padding(), options.FusedActivationFunction(),
                         options.QuantizedBiasType())
    return at + len(places), places + values


def is_pointwise(model, graph, op):
    """Whether this is a convolution of one group of 1x1 filters on int8."""
    code = model.OperatorCodes(op.OpcodeIndex())
    kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
    if kind != schema.BuiltinOperator.CONV_2D:
        return False
    image, weights = graph.Tensors(op.Inputs(0)), graph.Tensors(op.Inputs(1))
    return (image.Type() == schema.TensorType.INT8 and image.ShapeLength() == 4
            and weights.ShapeLength() == 4 and weights.Shape(1) == weights.Shape(2) == 1
            and weights.Shape(3) == image.Shape(3))


def dilate(data, wanted=()):
    """The file with these convolutions dilated, and the numbers of their ops."""
    model, file, changed = schema.Model.GetRootAs(data, 0), bytearray(data), []
    graph = model.Subgraphs(0)
    for number in range(graph.OperatorsLength()):
        op = graph.Operators(number)
        if (wanted and number not in wanted) or not is_pointwise(model, graph, op):
            continue
        file += bytes(-len(file) % 4)
        options = schema.Conv2DOptions()
        options.Init(op.BuiltinOptions().Bytes, op.BuiltinOptions().Pos)
        table, added = options_table(options, len(file))
        file += added
        field = op._tab.Pos + op._tab.Offset(4 + 2 * BUILTIN_OPTIONS)
        struct.pack_into("<I", file, field, table - field)
        changed.append(number)
    return bytes(file), changed


def main(source, target, *ops):
    data, changed = dilate(Path(source).read_bytes(), [int(op) for op in ops])
    Path(target).write_bytes(data)
    print(f"{target}: {len(changed)} convolutions dilated: {', '.join(map(str, changed))}")


if __name__ == "__main__":
    sys.exit(__doc__ if len(sys.argv) < 3 else main(*sys.argv[1:]))
