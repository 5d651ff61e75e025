"""Training graphs of the corpus (ARENAUT_CORPUS, graphs/*_train_*.json) as problems of rematerialization.

As bench/joint_graphs.py makes them of traced graphs: ops over storages, views contracted, weights and
inputs without bytes, gradients and what else the graph returns alive to the end, time modelled for an A100.
What draws random numbers runs once.
"""

import math
import pathlib
import sys

import joint_graphs
import order_problems

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import corpus  # noqa: E402

HELD = ("param", "buffer", "input")
RANDOM = ("native_dropout", "bernoulli", "rand", "randn", "rand_like", "randn_like")
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")


def elements(tensors):
    return sum(math.prod(tensor["shape"]) for tensor in tensors)


def operations(op, reads, makes):
    """Floating point operations, of products and convolutions; one per element else."""
    name = op["op"]
    if name == "convolution" or name == "convolution_backward":
        backward = name == "convolution_backward"
        image, weight = (reads[1], reads[2]) if backward else (reads[0], reads[1])
        made = reads[0] if backward else makes[0]
        large = image if op.get("attrs", {}).get("transposed") else made
        work = 2 * elements([large]) * elements([weight]) // weight["shape"][0]
        return work * sum(math.prod(made["shape"]) > 0 for made in makes[:2]) if backward else work
    if name in PRODUCTS:
        return 2 * elements([reads[-2]]) * reads[-1]["shape"][-1]
    if "scaled_dot_product" in name:
        query = reads[1 if "backward" in name else 0]
        return (10 if "backward" in name else 4) * elements([query]) * query["shape"][-2]
    return elements(makes)


class Step:
    def __init__(self, graph, flops, bandwidth, launch):
        self.graph, self.rates = graph, (flops, bandwidth, launch)
        self.names, self.cost, self.once, self.size, self.maker, self.held, self.reads = [], [], [], [], [], [], []
        self.storage = {}  # per tensor; None: it takes no bytes
        for tensor in graph["tensors"]:
            if tensor["producer"] is None:
                self.storage[tensor["id"]] = None
        for op in graph["ops"]:
            self.add(op)
        for tensor in graph["outputs"]:
            if self.storage[tensor] is not None:
                self.held[self.storage[tensor]] = 2

    def add(self, row):
        tensors = self.graph["tensors"]
        reads, makes = ([tensors[i] for i in row[side] if i is not None] for side in ("inputs", "outputs"))
        made = []
        for tensor in makes:
            of = tensor["is_view_of"]
            self.storage[tensor["id"]] = self.storage[of] if of is not None else None
            made += [tensor] if of is None and tensor["bytes"] else []
        if not made:
            return
        op = len(self.names)
        for tensor in made:
            self.storage[tensor["id"]] = len(self.size)
            self.size.append(tensor["bytes"])
            self.maker.append(op)
            self.held.append(0)
        self.names.append(row["name"])
        used = {self.storage[tensor["id"]] for tensor in reads} - {None}
        self.reads += [(op, s) for s in sorted(used)]
        flops, bandwidth, launch = self.rates
        seconds = max(operations(row, reads, makes) / flops,
                      sum(tensor["bytes"] for tensor in [*reads, *makes]) / bandwidth) + launch
        self.cost.append(math.ceil(seconds * 1e9))
        self.once.append(row["op"] in RANDOM)


def names():
    """Those of more than one example."""
    graphs = corpus.FOLDER / "graphs"
    there = [name for name in order_problems.names(graphs) if "_train_" in name] if graphs.is_dir() else []
    return [name for name in there if not name.endswith("_b1")]


def document(name):
    graph = order_problems.load(corpus.FOLDER / "graphs", name)
    step = Step(graph, *joint_graphs.A100)
    return {"name": name, "names": step.names, "cost": step.cost, "once": step.once, "size": step.size,
            "maker": step.maker, "held": step.held, "reads": step.reads}
