"""Random program JSON, right and contradictory alike: views of what an op itself reads, rights in place, scratch,
states, known and unknown operators, with and without a dialect. And random flags of `arenaut plan` for it."""

OPERATORS = {
    None: ("RELU", "ADD", "CONV_2D", "SOFTMAX", "LOGISTIC", "Neg", "aten::relu", "CONCAT", "RANDOM", "MATMUL", "Gelu"),
    "aten": ("aten::relu", "aten::add.Tensor", "aten::sigmoid", "aten::cat", "aten::rand_like", "aten::clone",
             "aten::gelu", "my::op"),
    "onnx": ("Relu", "Add", "Neg", "Concat", "Gelu", "RandomNormalLike", "Sigmoid", "Mul"),
}
KINDS = ("out",) * 6 + ("functional", "view", "in_place")
REWRITES = ("reorder", "recompute", "inplace", "overlap", "split")


class Program:
    """One program under construction."""

    def __init__(self, random):
        self.random = random
        self.dialect = random.choice([None, None, "aten", "onnx"])
        self.tensors, self.ops, self.readable = [], [], []
        self.readable = [self.tensor(bytes=random.choice([64, 128, 256]))]
        if random.random() < 0.3:
            self.readable.append(self.tensor(bytes=64, **{"class": "state"}))

    def tensor(self, **fields):
        self.tensors.append({"name": f"t{len(self.tensors)}", **fields})
        return len(self.tensors) - 1

    def view(self, of):
        """A part of what `of` is, or is a part of."""
        storage = self.tensors[of].get("view_of", of)
        size = self.tensors[storage]["bytes"]
        length = self.random.choice([size, max(1, size // 2)])
        return self.tensor(bytes=length, view_of=storage, view_offset=self.random.choice([0, size - length]))

    def result(self, kind, operands):
        """What lies in an operand's memory is a contradiction if the op only writes it; a few are made."""
        if kind == "in_place" or kind == "view" or self.random.random() < 0.02:
            return self.view(operands[0])
        return self.tensor(bytes=self.random.choice([32, 64, 64, 128, 512, 1000]))

    def op(self):
        random = self.random
        operands = [self.readable[-1] if random.random() < 0.6 else random.choice(self.readable)
                    for _ in range(random.randint(1, 3))]
        kind = random.choice(KINDS)
        made = [self.result(kind, operands) for _ in range(1 if kind != "out" else random.choice([1, 1, 1, 2]))]
        op = {"name": random.choice(OPERATORS[self.dialect]), "inputs": operands, "outputs": made}
        if kind != "out":
            op["kind"] = kind
        if random.random() < 0.3:
            op["in_place"] = [[0, 0]]
        if random.random() < 0.15:
            op["scratch"] = [self.tensor(bytes=random.choice([16, 100, 1000]), **{"class": "scratch"})]
        if random.random() < 0.1 and self.ops:
            op["after"] = [random.randrange(len(self.ops))]
        if not self.dialect and random.random() < 0.5:
            op["pure"] = True
        self.ops.append(op)
        self.readable += made


def program(random):
    made = Program(random)
    for _ in range(random.randint(1, 14)):
        made.op()
    results = {made.readable[-1], *(t for t in made.readable[1:] if random.random() < 0.15)}
    document = {"schema": "arenaut.program/1", "tensors": made.tensors, "inputs": [0], "outputs": sorted(results),
                "ops": made.ops}
    return document if made.dialect is None else {**document, "dialect": made.dialect}


def flags(random):
    """Any of the flags that change a plan or a program, together."""
    chosen = [word for name in REWRITES if random.random() < 0.5 for word in (f"--{name}", "on")]
    rare = (["--pool", f"a={random.choice([100, 256, 500, 1000])}", "--pool", "b=100K"], ["--preserve-inputs"],
            ["--no-alloc-io"], ["--max-ops", str(random.randint(0, 3))], ["--align", "64"],
            ["--effort", str(random.choice([1, 10, 1000]))], ["--budget", str(random.choice([200, 600, 2000]))])
    return chosen + [word for words in rare if random.random() < 0.2 for word in words]
