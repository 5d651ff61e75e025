"""Random ONNX nets of elementwise nodes, norms, products and joins, with results that are read inside and values
that nobody reads: what their rewritten files compute ONNX Runtime can tell."""

import numpy as np

import onnx_file

SIDE = 8
ALONE = ("Relu", "Sigmoid", "Tanh", "Erf", "Neg", "Exp", "Identity", "Gelu", "Softplus")
PAIRS = ("Add", "Mul", "Sub")


class Net:
    """One net under construction; every value is a matrix with SIDE rows."""

    def __init__(self, random):
        self.random = random
        self.nodes, self.constants, self.widths = [], [], {"x": SIDE}

    def node(self, operator, operands, width):
        name = self.random.choice([f"v{len(self.widths)}", f"a b/{len(self.widths)}", f"v{len(self.widths)}__again_2"])
        self.nodes.append(onnx_file.node(operator, operands, [name]))
        self.widths[name] = width

    def constant(self, *shape):
        numbers = np.random.RandomState(self.random.randrange(2 ** 31)).uniform(0.1, 1.0, shape)
        self.constants.append(onnx_file.constant(f"w{len(self.constants)}", numbers))
        return f"w{len(self.constants) - 1}"

    def pick(self):
        names = list(self.widths)
        return names[-1] if self.random.random() < 0.5 else self.random.choice(names)

    def add(self):
        kind, source = self.random.random(), self.pick()
        width = self.widths[source]
        if kind < 0.45:
            self.node(self.random.choice(ALONE), [source], width)
        elif kind < 0.7:
            other = self.random.choice([name for name in self.widths if self.widths[name] == width])
            other = other if self.random.random() < 0.8 else self.constant(SIDE, width)
            self.node(self.random.choice(PAIRS), [source, other], width)
        elif kind < 0.85:
            statistics = [self.constant(width) for _ in range(4)]
            self.node("BatchNormalization", [source, *statistics], width)
        else:
            wide = self.random.choice([SIDE, 4 * SIDE])
            self.node("MatMul", [source, self.constant(width, wide)], wide)
            self.node("MatMul", [list(self.widths)[-1], self.constant(wide, SIDE)], SIDE)

    def read_late(self):
        """Values that have waited all the time, which cheap nodes may have made."""
        for name in list(self.widths)[1:]:
            last = list(self.widths)[-1]
            if name != last and self.widths[name] == self.widths[last] and self.random.random() < 0.3:
                self.node(self.random.choice(PAIRS), [last, name], self.widths[last])

    def bytes(self):
        made = [name for name in self.widths if name != "x"]
        results = {made[-1], *(name for name in made if self.random.random() < 0.3)}
        ends = [onnx_file.typed(name, SIDE, self.widths[name]) for name in made if name in results]
        graph = onnx_file.graph(self.nodes, [onnx_file.typed("x", SIDE, SIDE)], ends, self.constants)
        return onnx_file.model(graph, opset=20)


def net(random):
    made = Net(random)
    for _ in range(random.randint(2, 14)):
        made.add()
    made.read_late()
    return made.bytes()
