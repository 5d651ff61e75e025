"""A planned MLIR function as arenaut.program/1, for `arenaut check`.

    python mlir_program.py planned.mlir > planned.program.json && arenaut check planned.program.json

Reads the output of a static memory planner in the text: an arena (`memref.alloc` of bytes), views of it at
constant offsets (`memref.view`), and ops with `ins` and `outs`, or `memref.copy`. Every write makes a
tensor of its own at the place of its destination, so that the checker can tell old bytes from new ones.
Other uses of a view are refused by name: a plan that was not examined is not right."""

import json
import re
import sys

BITS = {"f64": 64, "i64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i16": 16, "i8": 8, "i1": 8}
CONSTANT = re.compile(r"(%[\w.#]+) = arith\.constant (\d+) : index")
ARENA = re.compile(r"(%[\w.#]+) = memref\.alloc\(\).*: memref<(\d+)xi8>")
VIEW = re.compile(r"(%[\w.#]+) = memref\.view (%[\w.#]+)\[(%[\w.#]+)\]\[\] : .* to memref<([\dx]+)x(\w+)>")
OPERANDS = re.compile(r"\b(ins|outs)\(([^:)]*):")
COPY = re.compile(r"memref\.copy (%[\w.#]+), (%[\w.#]+)")
PLAIN = re.compile(r"memref\.dealloc|return|func\.func|//|$|[}]")
NAME = re.compile(r"%[\w.#]+")


class Function:
    def __init__(self):
        self.constants, self.arenas, self.views = {}, {}, {}
        self.tensors, self.ops, self.held = [], [], {}

    def line(self, number, text):
        if found := CONSTANT.match(text):
            self.constants[found[1]] = int(found[2])
        elif found := ARENA.match(text):
            self.arenas[found[1]] = len(self.arenas)
        elif found := VIEW.match(text):
            self.view(*found.groups())
        elif found := COPY.match(text):
            self.op(number, "memref.copy", [found[1]], [found[2]])
        elif groups := dict(OPERANDS.findall(text)):
            self.op(number, text.split()[0], NAME.findall(groups.get("ins", "")),
                    NAME.findall(groups.get("outs", "")))
        elif not PLAIN.match(text) and set(NAME.findall(text)) & {*self.views, *self.arenas}:
            sys.exit(f"line {number}: {text.split()[0]}: its reads and writes are not known")

    def view(self, name, arena, offset, dims, kind):
        size = BITS[kind] // 8
        for dim in dims.split("x"):
            size *= int(dim)
        self.views[name] = {"bytes": size, "given": {"pool": self.arenas[arena],
                                                     "offset": self.constants[offset]}}

    def op(self, number, name, reads, writes):
        """An op may also read its destination, as a matmul does that adds up."""
        reads = [one for one in dict.fromkeys(reads) if one in self.views]
        writes = [one for one in dict.fromkeys(writes) if one in self.views]
        updated = [one for one in writes if one in self.held and one not in reads and name != "linalg.fill"]
        inputs = [self.tensor(one) for one in reads + updated]
        outputs = [self.tensor(one, f" of line {number}") for one in writes]
        over = [[writes.index(one), (reads + updated).index(one)] for one in writes if one in reads + updated]
        self.ops.append({"name": f"{name}, line {number}", "inputs": inputs, "outputs": outputs,
                         "in_place": over})

    def tensor(self, view, written=""):
        if written or view not in self.held:
            self.held[view] = len(self.tensors)
            self.tensors.append({"name": view + written, **self.views[view]})
        return self.held[view]


def main(path):
    function = Function()
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            function.line(number, text.strip())
    json.dump({"schema": "arenaut.program/1", "given": "foreign", "given_note": "MLIR",
               "tensors": function.tensors, "ops": function.ops}, sys.stdout, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
