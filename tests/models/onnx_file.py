"""ONNX models without the onnx package: protocol buffers, field by field."""

import struct


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, content):
    """A protocol buffer's field: a number, text, or a message that is bytes already."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def typed(name, *dims, element=1):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def node(operator, inputs, outputs, *attributes):
    """A node; attributes are messages."""
    return (b"".join(field(1, name) for name in inputs) +
            b"".join(field(2, name) for name in outputs) + field(4, operator) +
            b"".join(field(5, attribute) for attribute in attributes))


def attribute(name, value):
    """A number, text, or a list of whole numbers."""
    if isinstance(value, float):
        return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value % 2 ** 64) + field(20, 2)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    return field(1, name) + b"".join(field(8, number) for number in value) + field(20, 7)


def constant(name, array):
    """An initializer that holds a NumPy array: of float32, but for one of int64."""
    whole = array.dtype == "int64"
    return (b"".join(field(1, side) for side in array.shape) + field(2, 7 if whole else 1) +
            field(8, name) + field(9, array.astype("<i8" if whole else "<f4").tobytes()))


def graph(nodes, inputs, outputs, constants=(), name="main"):
    return (b"".join(field(1, each) for each in nodes) + field(2, name) +
            b"".join(field(5, each) for each in constants) +
            b"".join(field(11, each) for each in inputs) +
            b"".join(field(12, each) for each in outputs))


def model(main, opset=17):
    return field(1, 8) + field(7, main) + field(8, field(2, opset))
