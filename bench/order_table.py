"""What the best order of ops saves on graphs of real networks, next to simple ways to make one.

    build/venv/bin/python bench/order_table.py [--modes c0,v0,v1] [NAME...]

The graphs are those of the corpus (ARENAUT_CORPUS, graphs/*.json). Modes: c0, views are copies;
v0, views lie in what they view; v1, pointwise ops may write over an operand as well. Bytes alive at
once, weights not counted, in millions; `inductor` is the best of given, lpmf, bfs and dfs. Seconds
are those of the whole command, reading and planning included.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import corpus  # noqa: E402

POINTWISE = set("""relu add sub mul div gelu silu sigmoid tanh hardswish hardtanh hardsigmoid clamp
    exp neg sqrt rsqrt pow where threshold_backward gelu_backward silu_backward hardswish_backward
    tanh_backward sigmoid_backward _softmax _log_softmax _softmax_backward_data
    _native_batch_norm_legit_no_training native_layer_norm _native_batch_norm_legit_functional
    leaky_relu hardtanh_backward masked_fill elu""".split())


def program(graph, mode):
    """The graph as program JSON. Weights and buffers are constants."""
    tensors, views = graph["tensors"], mode != "c0"
    kinds = {"input": "input", "param": "constant", "buffer": "constant", "act": "intermediate"}

    def size(t):
        """A view that repeats elements is as large as what it views."""
        of = t["is_view_of"] if views else None
        return t["bytes"] if of is None else min(t["bytes"], size(tensors[of]))

    def row(t):
        of = t["is_view_of"] if views else None
        made = {"name": f"t{t['id']}", "bytes": size(t), "class": kinds[t["kind"]]}
        return made | ({"view_of": f"t{of}"} if of is not None else {})

    def op(o):
        inputs = [i for i in o["inputs"] if i is not None]
        made = {"name": o["op"], "inputs": [f"t{i}" for i in inputs],
                "outputs": [f"t{i}" for i in o["outputs"]]}
        first = o["outputs"][0]
        if views and tensors[first]["is_view_of"] is not None:
            made["kind"] = "view"
        elif mode == "v1" and o["op"] in POINTWISE:
            made["in_place"] = [[0, k] for k, i in enumerate(inputs)
                                if tensors[i]["kind"] == "act"
                                and tensors[i]["bytes"] == tensors[first]["bytes"]]
        return made

    return {"schema": "arenaut.program/1", "dialect": "aten", "tensors": [row(t) for t in tensors],
            "inputs": [f"t{i}" for i in graph["inputs"] if tensors[i]["kind"] == "input"],
            "outputs": [f"t{i}" for i in graph["outputs"]], "ops": [op(o) for o in graph["ops"]]}


def measure(command, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([command, "size", "--reorder", "on", "--json", path], text=True,
                          capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0 or '"order"' not in done.stdout:
        return None, (done.stderr or done.stdout).strip()
    return json.loads(done.stdout)["order"], after.ru_utime - before.ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes", default="c0,v0,v1")
    parser.add_argument("--arenaut", default=ROOT / "build" / "arenaut")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    paths = sorted((corpus.FOLDER / "graphs").glob("*.json"))
    proven = count = 0
    print("| graph | mode | ops | given | inductor | dfs_out | best | bound | proven | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for path in paths:
        if args.names and not any(name in path.stem for name in args.names):
            continue
        graph = json.loads(path.read_text())
        for mode in args.modes.split(","):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(program(graph, mode), file)
                file.flush()
                order, seconds = measure(args.arenaut, file.name)
            if order is None:
                print(f"| {path.stem} | {mode} | {seconds} |")
                continue
            ways = order["ways"]
            inductor = min(ways[way] for way in ("given", "lpmf", "bfs", "dfs"))
            figures = [order["given"], inductor, ways["dfs_out"], order["best"], order["bound"]]
            cells = " | ".join(f"{bytes_ / 1e6:.2f}" for bytes_ in figures)
            count, proven = count + 1, proven + order["proven"]
            print(f"| {path.stem} | {mode} | {len(graph['ops'])} | {cells} | "
                  f"{'yes' if order['proven'] else 'no'} | {seconds:.2f} |", flush=True)
    print(f"\n{proven} of {count} proven")


if __name__ == "__main__":
    main()
