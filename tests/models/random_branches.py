"""Ops on random values that are there already, widening and narrowing, and the sum of what nobody has
read: they stand as they come, and a good order is another one."""

import onnx_file


def convolution(graph, random, source, shape, depth):
    """1 x 1, in a graph of tflite_file, of a tensor with so many channels."""
    weights = graph.constant("w", random.uniform(-1, 1, (shape[3], 1, 1, depth)).astype("f4"))
    bias = graph.constant("b", random.uniform(-1, 1, shape[3]).astype("f4"))
    out = graph.tensor("t", shape, "FLOAT32")
    graph.op("CONV_2D", [source, weights, bias], [out], padding=0, strideH=1, strideW=1,
             dilationHFactor=1, dilationWFactor=1)
    return out


def _summed(random, first, n_ops, widths, widened, add):
    """The sum of all ends; `widened` makes a value of another width, `add` a sum of two."""
    made, unread = [(first, 2)], []
    for _ in range(n_ops):
        source = made[random.randint(len(made))]
        if source in unread:
            unread.remove(source)
        width = int(random.choice(widths))
        made.append((widened(source, width), width))
        unread.append(made[-1])
    total, *others = [widened(source, 2) for source in unread]
    for other in others:
        total = add(total, other)
    return total


def convolutions(graph, random, first, n_ops):
    """In a graph of tflite_file; the sum, of two channels as `first` is."""
    def widened(source, channels):
        return convolution(graph, random, source[0], [1, 8, 8, channels], source[1])

    def add(total, other):
        return graph.op("ADD", [total, other], [graph.tensor("s", [1, 8, 8, 2], "FLOAT32")],
                        fusedActivationFunction=0)

    return _summed(random, first, n_ops, [1, 2, 8, 24], widened, add)


def products(random, prefix, first, n_nodes):
    """Of matrices, for ONNX: nodes, constants, and the sum's name."""
    nodes, constants = [], []

    def added(operator, operands, name):
        nodes.append(onnx_file.node(operator, operands, [name]))
        return name

    def widened(source, width):
        value, depth = source
        name = f"{prefix}{len(nodes)}"
        constants.append(onnx_file.constant(f"w{name}", random.uniform(-1, 1, (depth, width))))
        return added("MatMul", [value, f"w{name}"], name)

    def add(total, other):
        return added("Add", [total, other], f"{prefix}sum{len(nodes)}")

    return nodes, constants, _summed(random, first, n_nodes, [1, 2, 16, 96], widened, add)
