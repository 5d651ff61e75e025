"""ONNX models without the onnx package: protocol buffers, field by field."""


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
