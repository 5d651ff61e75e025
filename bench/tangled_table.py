"""Rematerialization and reordering of tangled training graphs: each alone, and searched together.

    build/venv/bin/python bench/tangled_table.py [--budgets 70,50,30] [NAME...]

Steps of randomly wired networks at batch 32, whose backward pass is derived here from forward graphs of the
corpus (ARENAUT_CORPUS, graphs/*.json); NASNet's; and those of two plain networks. Weights are updated in
place by an op for each gradient, and pointwise ops may write over an operand (mode v1-sgd of
bench/order_problems.py). Weights are not counted; time is modelled for an A100. Each plan has passed
`arenaut check`. `least`: the arena in percent of that of the step as given, without a budget, where cheap ops
alone are repeated; with --reorder on alone, whether the order is proven to be best. Then, as within budgets
in percent of the arena as given: the time added / the bound on it, in percent of the step, and processor
seconds of the command.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import order_problems
import recompute_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import corpus  # noqa: E402

ARENAUT = os.environ.get("ARENAUT", ROOT / "build" / "arenaut")
NAMES = ("nasnetalarge_train_b32", "randwire_cifar_s0", "randwire_small_s0", "tv_googlenet_train_b32",
         "tv_resnet50_train_b32")
WAYS = {"reorder": ("--reorder", "on"), "recompute": ("--recompute", "on"),
        "both": ("--recompute", "on", "--reorder", "on")}


class Step:
    """Forward and backward pass of a graph of convolutions, sums, relu and a mean."""

    def __init__(self, graph):
        self.tensors = [dict(tensor) for tensor in graph["tensors"]]
        self.ops, self.gradients, self.weights = [], {}, {}
        for op in graph["ops"]:
            weight = self.weight(op) if op["op"] in ("convolution", "linear") else []
            self.add(op["op"], op["inputs"] + weight, op["outputs"])
        self.partial = {graph["outputs"][0]: [self.like(graph["outputs"][0], "input")]}
        for op in reversed(graph["ops"]):
            self.add_backward(op)
        self.graph = {"tensors": self.tensors, "ops": self.ops, "inputs": graph["inputs"],
                      "outputs": [*graph["outputs"], *self.gradients], "grad_of": self.gradients}

    def tensor(self, kind, shape):
        self.tensors.append({"id": len(self.tensors), "bytes": 4 * math.prod(shape), "producer": None,
                             "is_view_of": None, "kind": kind, "shape": shape})
        return len(self.tensors) - 1

    def like(self, tensor, kind="act"):
        return self.tensor(kind, self.tensors[tensor]["shape"])

    def add(self, name, inputs, outputs):
        for output in outputs:
            self.tensors[output]["producer"] = len(self.ops)
        self.ops.append({"id": len(self.ops), "op": name, "inputs": inputs, "outputs": outputs})

    def weight(self, op):
        """Kernels are as wide as keeps the size of the image."""
        attrs = op.get("attrs", {"groups": 1, "padding": [0, 0]})
        inside, outside = (self.tensors[op[side][0]]["shape"][1] for side in ("inputs", "outputs"))
        kernel = [2 * pad + 1 for pad in attrs["padding"]]
        shape = [outside, inside // attrs["groups"], *kernel]
        self.weights[op["id"]] = self.tensor("param", shape)
        return [self.weights[op["id"]]]

    def gradient(self, tensor):
        """The sum of those that its readers have given."""
        first, *others = self.partial[tensor]
        for other in others:
            total = self.like(tensor)
            self.add("add", [first, other], [total])
            first = total
        return first

    def add_backward(self, op):
        name, made = op["op"], op["outputs"][0]
        gradient, reads = self.gradient(made), op["inputs"]
        if name == "add":
            given = [gradient] * len(reads)
        else:
            given = [self.like(reads[0])]
            operands = {"relu": [made], "mean": []}.get(name, [reads[0], self.weights.get(op["id"])])
            outputs = list(given)
            if op["id"] in self.weights:
                weight = self.weights[op["id"]]
                outputs.append(self.like(weight))
                self.gradients[outputs[1]] = weight
            self.add({"relu": "threshold_backward", "mean": "div"}.get(name, f"{name}_backward"),
                     [gradient, *operands], outputs)
        for tensor, part in zip(reads, given):
            self.partial.setdefault(tensor, []).append(part)


def load(name):
    graph = order_problems.load(corpus.FOLDER / "graphs", name)
    if graph["grad_of"]:
        return graph
    return Step(order_problems.resized(graph, name, order_problems.batch_of_32)).graph


def write_program(folder, graph):
    document = recompute_table.Program(graph).document
    for row, tensor in zip(document["tensors"], graph["tensors"]):
        row["dims"] = tensor["shape"]
    path = folder / "step.program.json"
    path.write_text(json.dumps(document))
    return path


class Planned:
    """A plan in which ops are rewritten, if one was found, and accepted by the checker."""

    def __init__(self, program, *flags):
        path, file = program.with_name("step.plan.json"), ("--target", "generic", program)
        path.unlink(missing_ok=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([ARENAUT, "plan", *file, "--json", "-o", path, *flags], text=True, capture_output=True)
        self.seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if done.returncode > 1:
            sys.exit(done.stderr)
        self.document, self.fits = json.loads(done.stdout), done.returncode == 0
        self.arena = self.document["result"]["arena"]
        if self.fits:
            subprocess.run([ARENAUT, "check", *file[:2], program, path], check=True, stdout=subprocess.DEVNULL)

    def work(self):
        """Time added, and the least that must be."""
        work = self.document["recompute"]
        added, bound = (100 * work[key] / work["nanoseconds"] for key in ("added_nanoseconds", "bound_nanoseconds"))
        return f"{added:.2f} / {bound:.2f}"

    def least_cell(self, given):
        order, work = self.document.get("order"), self.document.get("recompute")
        cell = f"{100 * self.arena / given:.2f} %"
        if not work:
            return f"{cell}{', proven' if order['proven'] else ''} ({self.seconds:.1f} s)"
        return f"{cell}, {self.work()} ({self.seconds:.1f} s)"

    def cell(self):
        return f"{self.work() if self.fits else 'none'} ({self.seconds:.1f} s)"


def cells(program, given, budgets, way):
    flags = WAYS[way]
    least = Planned(program, *flags)
    yield least.least_cell(given)
    for budget in budgets:
        size = given * budget // 100
        if way == "reorder":
            yield "0" if least.arena <= size else "none"
        else:
            yield Planned(program, *flags, "--fit", str(size)).cell()


def rows(folder, name, budgets):
    graph = load(name)
    program = write_program(folder, graph)
    given = Planned(program).arena
    for way in WAYS:
        row = [name, len(graph["ops"]), f"{given / 1e6:,.1f}", way, *cells(program, given, budgets, way)]
        yield "| " + " | ".join(map(str, row)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budgets", default="70,50,30")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if not (corpus.FOLDER / "graphs").is_dir():
        sys.exit(corpus.HINT)
    budgets = [int(budget) for budget in args.budgets.split(",")]
    heads = ["graph", "ops", "as given", "", "least", *(f"{budget} %" for budget in budgets)]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or NAMES:
            for row in rows(pathlib.Path(folder), name, budgets):
                print(row, flush=True)


if __name__ == "__main__":
    main()
