"""Savings by rematerialization of cheap ops in training graphs, each a program of its own for the command.

    build/venv/bin/python bench/recompute_table.py [--max-ops N] [NAME...]

The graphs are those of the corpus (ARENAUT_CORPUS, graphs/*.json), with weights updated in place by an
op for each gradient, and pointwise ops that may write over an operand (mode v1-sgd of
bench/order_problems.py). Weights are not counted. Both columns are arenas of checked plans, in
millions of bytes: ops in their best order, and besides with cheap ops that run again.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import order_problems

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import corpus  # noqa: E402

NAMES = ("tv_mobilenet_v2_train_b32", "tv_efficientnet_b0_train_b32", "tv_vit_b_16_train_b32",
         "tv_swin_t_train_b32", "tv_googlenet_train_b32", "tv_mnasnet0_5_train_b32",
         "tv_resnet18_train_b32")
HELD = ("param", "buffer")


class Program:
    """A graph as arenaut.program/1."""

    def __init__(self, graph):
        self.graph = graph
        self.root = []
        for tensor in graph["tensors"]:
            of = tensor["is_view_of"]
            self.root.append(tensor["id"] if of is None else self.root[of])
        gradients = set(map(int, graph["grad_of"]))
        self.document = {
            "schema": "arenaut.program/1", "dialect": "traced",
            "tensors": [self.tensor(tensor) for tensor in graph["tensors"]],
            "inputs": [self.name(t["id"]) for t in graph["tensors"] if t["kind"] == "input"],
            "outputs": [self.name(t) for t in graph["outputs"] if t not in gradients],
            "ops": [self.op(op) for op in graph["ops"]] + [
                {"name": "sgd", "kind": "in_place", "inputs": [self.name(weight), self.name(int(gradient))],
                 "outputs": [self.name(weight)]} for gradient, weight in graph["grad_of"].items()]}

    @staticmethod
    def name(tensor):
        return f"t{tensor}"

    def tensor(self, tensor):
        root = self.graph["tensors"][self.root[tensor["id"]]]
        row = {"name": self.name(tensor["id"]), "bytes": tensor["bytes"]}
        if root["kind"] in HELD:
            row |= {"caller_owned": True}
        if tensor["kind"] in HELD:
            row |= {"class": "state"}
        elif tensor["kind"] != "input" and tensor["producer"] is None:
            row |= {"class": "constant"}
        if root["id"] != tensor["id"]:
            row |= {"view_of": self.name(root["id"]), "bytes": min(tensor["bytes"], root["bytes"])}
        return row

    def op(self, op):
        inputs = [i for i in op["inputs"] if i is not None]
        row = {"name": op["op"], "inputs": list(map(self.name, inputs)),
               "outputs": list(map(self.name, op["outputs"]))}
        roots = {self.root[i] for i in inputs}
        if op["outputs"] and all(self.root[i] in roots for i in op["outputs"]):
            row["kind"] = "view"
        elif op["op"] in order_problems.POINTWISE:
            made = self.graph["tensors"][op["outputs"][0]]
            row["in_place"] = [[0, k] for k, i in enumerate(inputs) if self.may_go(i, made)]
        return row

    def may_go(self, tensor, made):
        root = self.graph["tensors"][self.root[tensor]]
        return root["kind"] == "act" and root["bytes"] == made["bytes"] and self.root[made["id"]] == made["id"]


def plan(path, *flags):
    start = time.monotonic()
    done = subprocess.run([os.environ.get("ARENAUT", ROOT / "build" / "arenaut"), "plan", "--json",
                           "--target", "generic", "--reorder", "on", *flags, path],
                          text=True, capture_output=True, check=True)
    return json.loads(done.stdout), time.monotonic() - start


def row(folder, name, flags):
    path = pathlib.Path(folder) / f"{name}.program.json"
    graph = order_problems.load(corpus.FOLDER / "graphs", name)
    path.write_text(json.dumps(Program(graph).document))
    ordered, _ = plan(path)
    again, seconds = plan(path, "--recompute", "on", *flags)
    before, after = ordered["result"]["arena"], again["result"]["arena"]
    work = again["recompute"]
    more = 100 * work["added_bytes"] / work["bytes_before"] if work["added_ops"] else 0
    return (f"| {name} | {len(graph['ops'])} | {before / 1e6:.1f} | {after / 1e6:.1f} | "
            f"{100 * (1 - after / before):.1f} % | {work['added_ops']} | {more:.1f} % | {seconds:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-ops", type=int)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if not (corpus.FOLDER / "graphs").is_dir():
        sys.exit(corpus.HINT)
    flags = ["--max-ops", str(args.max_ops)] if args.max_ops is not None else []
    print("| graph | ops | best order | and recompute | less | ops more | bytes written more | s |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or NAMES:
            print(row(folder, name, flags), flush=True)


if __name__ == "__main__":
    main()
