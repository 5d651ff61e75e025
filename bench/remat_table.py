"""How close the fastest training steps within a budget come to their proven bounds.

    build/venv/bin/python bench/remat_table.py [NAME...] [--budgets 80,70,60,50,40,30]

Joint graphs as bench/joint_graphs.py traces them, and files that it wrote (NAME.json). Time is modelled.
Each cell: time added, the bound on it, in percent of the step; the gap; processor seconds. Budgets are
percent of the bytes alive at once where each op runs once.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build(folder):
    """remat_solve, linked with the library that `make` has built."""
    solver = pathlib.Path(folder) / "remat_solve"
    subprocess.run(["cc", "-O2", "-I", ROOT / "include", "-o", solver, ROOT / "bench" / "remat_solve.c",
                    ROOT / "build" / "libarenaut.a", "-lm", "-lpthread"], check=True)
    return solver


def text(problem):
    reads = problem["reads"]
    rows = [[len(problem["cost"]), len(problem["size"]), len(reads)], problem["cost"],
            [int(once) for once in problem["once"]], problem["size"],
            [-1 if maker is None else maker for maker in problem["maker"]], problem["held"],
            [number for read in reads for number in read]]
    return "\n".join(" ".join(map(str, row)) for row in rows)


def load(name):
    if name.endswith(".json"):
        return json.loads(pathlib.Path(name).read_text())
    import joint_graphs
    return joint_graphs.Contracted(joint_graphs.capture(name), *joint_graphs.A100).document(name)


def cell(found):
    added, bound = (100 * found[key] / found["base"] for key in ("added", "bound"))
    if found["floor"] > found["budget"]:
        return f"impossible (floor {100 * found['floor'] / found['before']:.1f} %)"
    if not found["fits"]:
        return f"none / {bound:.2f} ({found['seconds']:.2f} s)"
    return f"{added:.2f} / {bound:.2f}, {added - bound:.2f} ({found['seconds']:.2f} s)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--budgets", default="80,70,60,50,40,30")
    args = parser.parse_args()
    budgets = args.budgets.split(",")
    print("| graph | ops | " + " | ".join(f"{budget} %" for budget in budgets) + " |")
    print("|---" * (2 + len(budgets)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        solver = build(folder)
        for name in args.names or ("resnet50", "unet", "gpt2", "vit", "bert"):
            problem = load(name)
            done = subprocess.run([solver, *budgets], input=text(problem), text=True, capture_output=True)
            if done.returncode:
                sys.exit(done.stderr)
            cells = [cell(json.loads(line)) for line in done.stdout.splitlines()]
            print(f"| {problem['name']} | {len(problem['cost'])} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
