"""Order problems: of the corpus's graphs in several modes, and generated ones.

A problem has ops, buffers with sizes, live-in (1) and live-out (2) bits, uses
(op, buffer), dependences (op, first) and rights (op, made, over), as in include/arenaut/order.h.

Modes of graphs: c0, views are copies; v0, views lie in their bases; v1, pointwise ops may write
over an operand as well; v3, operands of a concatenation are written where the joined tensor will be,
as well. Of training graphs, v0 and v1 give all gradients to the caller; v0-sgd and v1-sgd have an
op for each that updates its weight in place, last of all in the order given; wb has these ops make
new weights, which stay (with rights as in v1).
"""

import dataclasses
import json
import math
import os
import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

POINTWISE = set("""relu add sub mul div gelu silu sigmoid tanh hardswish hardtanh hardsigmoid clamp
    exp neg sqrt rsqrt pow where threshold_backward gelu_backward silu_backward hardswish_backward
    tanh_backward sigmoid_backward _softmax _log_softmax _softmax_backward_data
    _native_batch_norm_legit_no_training native_layer_norm _native_batch_norm_legit_functional
    leaky_relu hardtanh_backward masked_fill elu clone fill rsub abs log cos sin minimum
    native_batch_norm_backward native_layer_norm_backward""".split())
INFERENCE = ("c0", "v0", "v1", "v3")
TRAINING = ("v0", "v1", "v0-sgd", "v1-sgd", "wb")


@dataclasses.dataclass
class Problem:
    n_ops: int = 0
    sizes: list = dataclasses.field(default_factory=list)
    held: list = dataclasses.field(default_factory=list)
    uses: list = dataclasses.field(default_factory=list)
    dependences: list = dataclasses.field(default_factory=list)
    rights: list = dataclasses.field(default_factory=list)

    def buffer(self, size, held=0):
        self.sizes.append(size)
        self.held.append(held)
        return len(self.sizes) - 1

    def op(self):
        self.n_ops += 1
        return self.n_ops - 1

    def text(self):
        counts = [self.n_ops, len(self.sizes), len(self.uses), len(self.dependences), len(self.rights)]
        rows = [counts, self.sizes, self.held, *self.uses, *self.dependences, *self.rights]
        return "\n".join(" ".join(map(str, row)) for row in rows) + "\n"


def modes(graph):
    return TRAINING if graph["grad_of"] else INFERENCE


def joined_in_place(graph, root):
    """Which tensors are written where a concatenation wants them: each in the first one that joins
    it, where the operands lie one after another. Not where an op may write over the whole."""
    place, written_over = {}, {root[i] for op in graph["ops"] if op["op"] in POINTWISE
                               for i in op["inputs"] if i is not None}
    for op in graph["ops"]:
        if op["op"] != "cat":
            continue
        whole = graph["tensors"][op["outputs"][0]]
        parts = [graph["tensors"][i] for i in op["inputs"] if i is not None]
        axis = next((k for k, n in enumerate(whole["shape"])
                     if any(part["shape"][k] != n for part in parts)), None)
        if whole["id"] in written_over or axis is None or math.prod(whole["shape"][:axis]) != 1:
            continue
        for part in parts:
            if part["kind"] == "act" and root[part["id"]] == part["id"]:
                place.setdefault(part["id"], op["id"])
    return place


def of_graph(graph, mode):
    return _Builder(graph, mode).problem


class _Builder:
    def __init__(self, graph, mode):
        self.graph, self.mode, self.problem = graph, mode, Problem()
        self.in_place = mode in ("v1", "v3", "v1-sgd", "wb")
        self.root = []
        for tensor in graph["tensors"]:
            of = tensor["is_view_of"]
            self.root.append(tensor["id"] if of is None or self.is_copied(of) else self.root[of])
        self.buffers = {}  # of a root: its buffers
        self.slices = joined_in_place(graph, self.root) if mode == "v3" else {}
        for tensor in graph["tensors"]:
            self.add_tensor(tensor)
        self.updates = mode.endswith("sgd") or mode == "wb"
        self.hold_outputs()
        self.readers = {}
        for op in graph["ops"]:
            self.add_op(op)
        if self.updates:
            for gradient, weight in graph["grad_of"].items():
                self.add_update(int(gradient), weight)

    def is_copied(self, of):
        """Views of weights lie in them in every mode."""
        return self.mode == "c0" and self.graph["tensors"][self.root[of]]["kind"] == "act"

    def add_tensor(self, tensor):
        if self.root[tensor["id"]] != tensor["id"] or tensor["kind"] in ("param", "buffer"):
            return
        held = 1 if tensor["kind"] == "input" else 0
        producer = self.graph["ops"][tensor["producer"]] if tensor["producer"] is not None else None
        parts, left = [], tensor["bytes"]
        for part in producer["inputs"] if producer and producer["op"] == "cat" else []:
            if self.slices.get(part) == producer["id"] and self.buffers[part][0] not in parts:
                parts += self.buffers[part]
                left -= self.graph["tensors"][part]["bytes"]
        if left > 0 or not parts:
            parts.append(self.problem.buffer(left, held))
        self.buffers[tensor["id"]] = parts

    def hold_outputs(self):
        gradients = set(map(int, self.graph["grad_of"])) if self.updates else set()
        for output in self.graph["outputs"]:
            if output not in gradients:
                for buffer in self.buffers.get(self.root[output], ()):
                    self.problem.held[buffer] |= 2

    def use(self, op, tensor):
        for buffer in self.buffers.get(self.root[tensor], ()):
            self.problem.uses.append((op, buffer))

    def add_op(self, row):
        op = self.problem.op()
        inputs = [i for i in row["inputs"] if i is not None]
        for i in inputs:
            self.use(op, i)
            self.readers.setdefault(self.root[i], []).append(op)
            if self.graph["tensors"][i]["producer"] is not None:
                self.problem.dependences.append((op, self.graph["tensors"][i]["producer"]))
        for i in row["outputs"]:
            self.use(op, i)
        if self.in_place and row["op"] in POINTWISE:
            self.permit(op, row["outputs"][0], inputs)

    def permit(self, op, output, inputs):
        made = self.buffers.get(self.root[output], ())
        for i in inputs:
            over = self.buffers.get(self.root[i], ())
            if (self.graph["tensors"][self.root[i]]["kind"] == "act" and made != over
                    and len(made) == len(over) == 1
                    and self.problem.sizes[made[0]] == self.problem.sizes[over[0]]):
                self.problem.rights.append((op, made[0], over[0]))

    def add_update(self, gradient, weight):
        op = self.problem.op()
        self.use(op, gradient)
        producer = self.graph["tensors"][gradient]["producer"]
        if producer is not None:
            self.problem.dependences.append((op, producer))
        if self.mode == "wb":
            made = self.problem.buffer(self.graph["tensors"][weight]["bytes"], 2)
            self.problem.uses.append((op, made))
            over = self.buffers.get(self.root[gradient], ())
            if len(over) == 1 and self.problem.sizes[over[0]] == self.problem.sizes[made]:
                self.problem.rights.append((op, made, over[0]))
            return
        for reader in self.readers.get(self.root[weight], ()):
            self.problem.dependences.append((op, reader))


# ---- graphs of the corpus, and others made from them ----

def resized(graph, name, resize):
    """The same graph with tensors of other shapes."""
    tensors = [tensor | {"shape": resize(graph, tensor)} for tensor in graph["tensors"]]
    for tensor, old in zip(tensors, graph["tensors"]):
        elements = max(1, math.prod(old["shape"]))
        tensor["bytes"] = old["bytes"] // elements * math.prod(tensor["shape"])
    return graph | {"name": name, "tensors": tensors}


def other_vocabulary(graph, tensor):
    """roberta has another one than xlmr, and nothing else is different."""
    return [50265 if n == 250002 else n for n in tensor["shape"]]


def batch_of_32(graph, tensor):
    """Of one example: the first dimension is the batch, but for weights and sums over the batch;
    the last one where a matrix is turned over."""
    shape, op = tensor["shape"], None
    if tensor["producer"] is not None:
        op = graph["ops"][tensor["producer"]]
    if op is None and tensor["kind"] != "input":
        return shape
    if len(shape) == 2 and shape[1] == 1 and op and op["op"] in ("t", "permute", "transpose"):
        return [shape[0], 32]
    return [32, *shape[1:]] if shape and shape[0] == 1 and (not op or op["op"] != "sum") else shape


REMADE = {"roberta_base_train_b1": ("xlmr_base_train_b1", other_vocabulary),
          "tv_vgg16_train_b32": ("tv_vgg16_train_b1", batch_of_32)}


def names(folder):
    there = {path.stem for path in folder.glob("*.json")}
    return sorted(there | {name for name, (of, _) in REMADE.items() if of in there})


def load(folder, name):
    of, resize = REMADE.get(name, (name, None))
    graph = json.loads((folder / f"{of}.json").read_text())
    return resized(graph, name, resize) if resize else graph


# ---- solvers ----

def build_solver(folder):
    """order_solve, linked with the library that `make` has built."""
    solver = folder / "order_solve"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-std=c11", f"-I{ROOT / 'include'}",
                    ROOT / "bench" / "order_solve.c", ROOT / "build" / "libarenaut.a",
                    "-o", solver], check=True)
    return solver


def solve(solver, problem, effort=0):
    """The output of `order_solve`."""
    done = subprocess.run([solver, str(effort)], input=problem.text(), text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


# ---- generated ----

def _made(sizes_and_sources, held=()):
    """Ops that make one buffer each of their operands."""
    problem = Problem()
    for size, sources in sizes_and_sources:
        op = problem.op()
        problem.uses.append((op, problem.buffer(size)))
        for source in sorted(set(sources)):
            problem.uses.append((op, source))
            problem.dependences.append((op, source))
    for buffer in held:
        problem.held[buffer] |= 2
    return problem


def _size(rng):
    return int(2 ** rng.uniform(4, 14))


def cells(n, rng):
    """Cells in a row, as in searched nets: each of 6 to 12 branches from the two cells before."""
    rows, before = [(_size(rng), ())], [0, 0]
    while len(rows) < n:
        ends, begin = [], len(rows)
        for _ in range(rng.randint(6, 12)):
            at = rng.choice(before + list(range(begin, len(rows)))[-4:])
            for _ in range(rng.randint(1, 5)):
                rows.append((_size(rng), (at,)))
                at = len(rows) - 1
            ends.append(at)
        rows.append((_size(rng), ends))
        before = [before[1], len(rows) - 1]
    return _made(rows)


def tangle(n, rng):
    """Each op reads up to three of the forty before it."""
    return _made([(_size(rng), {rng.randint(max(0, i - 40), i - 1)
                                for _ in range(rng.randint(1, 3))} if i else ())
                  for i in range(n)])


def tree(n, rng):
    """Each result is read once, by some later op."""
    readers = [[] for _ in range(n)]
    for i in range(n - 1):
        readers[min(n - 1, i + 1 + int(rng.expovariate(0.05)))].append(i)
    return _made([(_size(rng), readers[i]) for i in range(n)])


def branches(n, rng):
    """Chains of up to forty ops side by side from one input, joined in a tree of sums."""
    rows, ends = [(_size(rng), ())], []
    while len(rows) < n - len(ends):
        at = 0
        for _ in range(rng.randint(2, 40)):
            rows.append((_size(rng), (at,)))
            at = len(rows) - 1
        ends.append(at)
    while len(ends) > 1:
        rows.append((_size(rng), (ends.pop(0), ends.pop(0))))
        ends.append(len(rows) - 1)
    return _made(rows)


def training(n, rng):
    """Layers with skips forward; backward, which reads the results of each layer and gives a gradient,
    with which the weight is updated at the end."""
    layers = n // 4
    rows = [(_size(rng), ())]
    reads = []
    for i in range(layers):
        reads.append({i, rng.randint(max(0, i - 6), i)} if rng.random() < 0.3 else {i})
        rows.append((_size(rng), reads[i]))
    partial = {layers: [len(rows)]}
    rows.append((rows[layers][0], (layers,)))
    gradients = []
    for i in reversed(range(layers)):
        of_result = partial[i + 1]
        gradients.append(len(rows))
        rows.append((_size(rng), [*of_result, *reads[i]]))
        for source in sorted(reads[i]):
            partial.setdefault(source, []).append(len(rows))
            rows.append((rows[source][0], [*of_result, i + 1]))
    problem = _made(rows)
    for gradient in gradients:
        update = problem.op()
        problem.uses.append((update, gradient))
        problem.dependences.append((update, gradient))
    return problem


GENERATED = (cells, tangle, tree, branches, training)


def generated(kind, n, seed):
    return kind(n, random.Random(f"{kind.__name__} {n} {seed}"))
