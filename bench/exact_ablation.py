"""What each technique of the exact search earns: the same problems without it.

    build/venv/bin/python bench/exact_ablation.py [--effort STEPS] [--seeds N] [--jobs N] [TECHNIQUE ...]

A row for the whole search and one for each technique left out; a column for each set of problems, with how many
are proven, and the steps of all: MiniMalloc's eleven and the buffers of models (both of the corpus,
ARENAUT_CORPUS), rectangles cut into pieces, and boxes drawn at random, some with alignments.
"""

import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys
import tempfile

import exact_seeds

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import corpus  # noqa: E402

ALL = "none"
MODELS = ("onnx_csv", "pte_csv", "tflite_csv")


def cut(rng, pieces):
    """A rectangle cut again and again, across its longest piece: it can be packed without waste."""
    parts = [(0, 1000, 0, 1 << 20)]
    while len(parts) < pieces:
        parts.sort(key=lambda part: (part[1] - part[0]) / 1000 * (part[3] - part[2]))
        first, end, low, top = parts.pop()
        if end - first > 30 and (rng.random() < 0.5 or top - low < 4096):
            at = rng.randint(first + 10, end - 10)
            parts += [(first, at, low, top), (at, end, low, top)]
        else:
            at = low + (rng.randint(1, max(1, (top - low) // 1024 - 1)) << 10)
            parts += [(first, end, low, at), (first, end, at, top)]
    return [(first, end, top - low, 1) for first, end, low, top in parts if top > low]


def boxes(rng, n, aligns):
    rows = []
    for _ in range(n):
        first = rng.randrange(40)
        rows.append((first, first + rng.randint(1, rng.choice((5, 20))), rng.randint(1, 100), rng.choice(aligns)))
    return rows


def write(folder, name, rows):
    path = folder / f"{name}.csv"
    lines = [f"{i},{first},{end},{size},{align}" for i, (first, end, size, align) in enumerate(rows)]
    path.write_text("\n".join(["id,lower,upper,size,alignment", *lines]) + "\n")
    return path


def problems(folder):
    rng = random.Random(34)
    yield "A–K", sorted(corpus.FOLDER.glob("dsa/challenging/*.csv"))
    yield "models", [path for name in MODELS for path in sorted(corpus.FOLDER.glob(f"{name}/*.csv"))]
    yield "cut", [write(folder, f"cut{k}", cut(rng, rng.randint(200, 400))) for k in range(48)]
    yield "random", [write(folder, f"random{k}", boxes(rng, rng.randint(10, 40), (1, 16) if k % 2 else (1,)))
                     for k in range(48)]


def solve(program, options, technique, paths, seed):
    flags = ["-e", str(options.effort), "-s", str(seed)] + ([] if technique == ALL else ["-x", technique])
    flags += ["-t", str(options.effort)] if technique == "restarts" else []  # one tree, all along
    done = subprocess.run([program, *flags, *paths], capture_output=True, text=True, check=True)
    rows = [exact_seeds.ROW.search(line).groups() for line in done.stdout.splitlines()]
    assert len(rows) == len(paths) and not any(row[-1] for row in rows), done.stdout
    return [(quality == "optimal", int(steps), int(arena) / max(1, int(bound)))
            for arena, bound, quality, steps, _, _, _ in rows]


def cell(rows, seeds):
    proven, steps, ratio = (sum(column) / seeds for column in zip(*rows, strict=True))
    n = len(rows) // seeds
    return f"{proven:.4g} of {n} | {steps / 1e6:.3f} | {ratio / n:.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", type=int, default=2_000_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("technique", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = pathlib.Path(name)
        program = exact_seeds.build(folder)
        techniques = options.technique or subprocess.run([program, "-x", "list"], capture_output=True, text=True,
                                                         check=True).stdout.split()
        sets = [(title, paths) for title, paths in problems(folder) if paths]
        print("".join(f"| {title}: proven | million steps | arena / bound " for title, _ in [("without", 0), *sets])
              .replace("| without: proven | million steps | arena / bound", "| without") + "|")
        print("|---" + "|--:|--:|--:" * len(sets) + "|")
        for technique in [ALL, *techniques]:
            row = []
            for _, paths in sets:
                runs = pool.map(lambda seed, paths=paths, technique=technique:
                                solve(program, options, technique, paths, seed), range(options.seeds))
                row.append(cell([one for run in runs for one in run], options.seeds))
            print(f"| {technique} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
