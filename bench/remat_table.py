"""How close the fastest training steps within a budget come to their proven bounds.

    build/venv/bin/python bench/remat_table.py [NAME...] [--budgets 80,70,60,50,40,30]

Joint graphs as bench/joint_graphs.py traces them, files that it wrote (NAME.json), and training graphs of
the corpus of up to 2,000 ops (bench/corpus_steps.py). Time is modelled. Each cell: time added, the bound on
it, in percent of the step; the gap, with a star where it is above the goal: 0.5 at budgets from 40 % on, 1
below; processor seconds. Budgets are percent of the bytes alive at once where each op runs once. The last
line counts graphs without a star, budgets that are proven impossible aside.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import corpus_steps

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRACED = ("resnet50", "unet", "gpt2", "vit", "bert")
MOST_OPS = 2000


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
    if name not in TRACED:
        return corpus_steps.document(name)
    import joint_graphs
    return joint_graphs.Contracted(joint_graphs.capture(name), *joint_graphs.A100).document(name)


def is_impossible(found):
    return found["floor"] > found["budget"]


def gap(found):
    return 100 * (found["added"] - found["bound"]) / found["base"]


def is_close(found):
    goal = 0.5 if found["percent"] >= 40 else 1
    return is_impossible(found) or (found["fits"] and gap(found) <= goal)


def cell(found):
    added, bound = (100 * found[key] / found["base"] for key in ("added", "bound"))
    star = "" if is_close(found) else "*"
    if is_impossible(found):
        return f"impossible (floor {100 * found['floor'] / found['before']:.1f} %)"
    if not found["fits"]:
        return f"none{star} / {bound:.2f} ({found['seconds']:.1f} s)"
    return f"{added:.2f} / {bound:.2f}, {gap(found):.2f}{star} ({found['seconds']:.1f} s)"


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
        n_close, n_graphs, seconds = 0, 0, []
        for name in args.names or [*TRACED, *corpus_steps.names()]:
            problem = load(name)
            if not args.names and len(problem["cost"]) > MOST_OPS:
                continue
            done = subprocess.run([solver, *budgets], input=text(problem), text=True, capture_output=True)
            if done.returncode:
                sys.exit(done.stderr)
            found = [json.loads(line) for line in done.stdout.splitlines()]
            print(f"| {problem['name']} | {len(problem['cost'])} | " + " | ".join(map(cell, found)) + " |",
                  flush=True)
            n_graphs += 1
            n_close += all(map(is_close, found))
            seconds += [each["seconds"] for each in found]
    print(f"\n{n_close} of {n_graphs} graphs are within the goal at every budget; "
          f"at most {max(seconds):.1f} processor seconds for one of them")


if __name__ == "__main__":
    main()
