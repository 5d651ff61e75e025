"""The exact search by seeds: what a change earns, and not what luck does.

    build/venv/bin/python bench/exact_seeds.py [--effort STEPS] [--seeds N] [--together STEPS]
        [--without TECHNIQUE] FILE.csv ...

For each problem: the seeds with a proof, the mean of the steps and of the arena over the bound, and how many
times faster the longest path is on 2 and on 16 idle cores. --together: as many steps as runs learn from each
other; with more than --effort they never do otherwise.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"arena +(\d+) +bound +(\d+) +(\w+) .*? (\d+) steps .*? ([\d.]+) and +([\d.]+) times(.*)")


def build(folder):
    program = folder / "exact_bench"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-std=c11", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}",
                    f"-I{ROOT / 'build/generated'}", ROOT / "bench/exact_bench.c", ROOT / "build/libarenaut.a",
                    "-lm", "-lpthread", "-o", program], check=True)
    return program


def solve(program, options, path, seed):
    without = ["-x", options.without] if options.without else []
    done = subprocess.run([program, "-e", str(options.effort), "-t", str(options.together), "-s", str(seed), *without,
                           path], capture_output=True, text=True, check=True)
    arena, bound, quality, steps, two, many, rest = ROW.search(done.stdout).groups()
    assert not rest, done.stdout
    return quality == "optimal", int(steps), int(arena) / int(bound), float(two), float(many)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", type=int, default=8_000_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--together", type=int, default=0)
    parser.add_argument("--without")
    parser.add_argument("file", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    print("| problem | proven | steps, mean | arena / bound, mean | 2 cores | 16 cores |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        program = build(pathlib.Path(folder))
        for path in options.file:
            rows = [solve(program, options, path, seed) for seed in range(options.seeds)]
            proven, steps, ratio, two, many = (sum(column) for column in zip(*rows, strict=True))
            n = len(rows)
            print(f"| {path.stem} | {proven} of {n} | {steps / n:,.0f} | {ratio / n:.4f} | {two / n:.2f} | "
                  f"{many / n:.1f} |", flush=True)


if __name__ == "__main__":
    main()
