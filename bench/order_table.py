"""How good orders of ops are: on graphs of real networks in several modes, or on generated ones.

    build/venv/bin/python bench/order_table.py [--modes v0,v1-sgd] [--effort N] [NAME...]
    build/venv/bin/python bench/order_table.py --graphs FOLDER --gains [--modes v1] [NAME...]
    build/venv/bin/python bench/order_table.py --generated 10000 [--seeds 3] [--effort N]

The graphs are those of the corpus (ARENAUT_CORPUS, graphs/*.json), and two made from others there, or
those that bench/timm_graphs.py has put into FOLDER. With --gains, only the problems that another order
helps, and how many gain nothing.
bench/order_problems.py has the modes and the generators. Bytes alive at once, weights not counted,
in millions. `lpmf`, `bfs` and `dfs` are inductor's heuristics, `dfs_out` is ONNX Runtime's. `known`: what
an earlier program has found in up to a minute each (bench/order_known.json). Every proof passed the
checker; seconds are CPU time, of the search and of the checker.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys
import tempfile

import order_problems

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import corpus  # noqa: E402

KNOWN = json.loads((ROOT / "bench" / "order_known.json").read_text())
HEURISTICS = ("given", "lpmf", "bfs", "dfs", "dfs_out")
SLACK = 1e-6  # of figures that are equal as far as they are printed


def graph_rows(args):
    folder = args.graphs or corpus.FOLDER / "graphs"
    if not folder.is_dir():
        sys.exit(corpus.HINT)
    for name in order_problems.names(folder):
        if args.names and not any(part in name for part in args.names):
            continue
        graph = order_problems.load(folder, name)
        for mode in order_problems.modes(graph):
            if not args.modes or mode in args.modes.split(","):
                yield name, mode, order_problems.of_graph(graph, mode)


def generated_rows(args):
    for kind in order_problems.GENERATED:
        for seed in range(args.seeds):
            if not args.names or kind.__name__ in args.names:
                problem = order_problems.generated(kind, args.generated, seed)
                yield kind.__name__, str(seed), problem


def compared(name, mode, peak):
    """The known result, and whether ours is equal, better or worse as far as its digits tell."""
    known = KNOWN.get(name, {}).get(mode, {}).get("best")
    if known is None:
        return "", ""
    half = 0.5 * 10 ** -len(known.partition(".")[2])
    if abs(peak / 1e6 - float(known)) <= half + SLACK:
        return known, "equal"
    return known, "better" if peak / 1e6 < float(known) else "worse"


def proven(found):
    gap = found["peak"] / found["bound"] - 1 if found["bound"] else 0
    return "yes" if found["peak"] == found["bound"] else f"{100 * gap:.2f} %"


def print_row(name, mode, problem, found):
    known, how = compared(name, mode, found["peak"])
    figures = [found["ways"][heuristic] for heuristic in HEURISTICS] + [found["peak"], found["bound"]]
    cells = " | ".join(f"{bytes_ / 1e6:.2f}" for bytes_ in figures)
    print(f"| {name} | {mode} | {problem.n_ops} | {cells} | {proven(found)} | {known} "
          f"{how if how != 'equal' else ''} | {found['lines']} | {found['seconds']:.3f} | "
          f"{found['check_seconds']:.3f} |", flush=True)
    return how


def print_gains(rows):
    """The problems that another order helps, those that gain most first, and how many gain nothing."""
    helped = [row for row in rows if row[3]["peak"] < row[3]["ways"]["given"]]
    helped.sort(key=lambda row: row[3]["peak"] / row[3]["ways"]["given"])
    print("| graph | mode | ops | given | best | saved | proven | s |\n|---|---|--:|--:|--:|--:|---|--:|")
    for name, mode, problem, found in helped:
        given, best = found["ways"]["given"], found["peak"]
        print(f"| {name} | {mode} | {problem.n_ops} | {given / 1e6:.2f} | {best / 1e6:.2f} | "
              f"{100 * (1 - best / given):.1f} % | {proven(found)} | {found['seconds']:.2f} |")
    others = [row[3] for row in rows if row not in helped]
    hopeless = sum(found["peak"] == found["bound"] for found in others)
    print(f"\n{len(helped)} of {len(rows)} gain something; {hopeless} nothing, proven; "
          f"{len(others) - hopeless} nothing that was found")


def print_sums(found, hows):
    best = [row for row in found if row["peak"] == row["bound"]]
    close = [row for row in found if row["peak"] <= 1.01 * row["bound"]]
    seconds = [row["seconds"] for row in found]
    print(f"\n{len(best)} of {len(found)} proven, {len(close)} within 1 % of the bound; CPU "
          f"median {statistics.median(seconds):.3f} s, largest {max(seconds):.2f} s; the checker "
          f"took {max(row['check_seconds'] for row in found):.3f} s at most")
    counts = [f"{hows.count(how)} {how}" for how in ("equal", "better", "worse")]
    if any(hows):
        print("Beside known results: " + ", ".join(counts))
    for heuristic in HEURISTICS:
        ratios = [row["ways"][heuristic] / row["peak"] for row in found if row["peak"]]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"{heuristic}: {mean:.3f} times the best on average, {max(ratios):.2f} at most")


def solved(args):
    with tempfile.TemporaryDirectory() as folder:
        solver = order_problems.build_solver(pathlib.Path(folder))
        for name, mode, problem in (generated_rows if args.generated else graph_rows)(args):
            yield name, mode, problem, order_problems.solve(solver, problem, args.effort)


def print_table(args):
    found, hows = [], []
    print("| graph | mode | ops | " + " | ".join(HEURISTICS) + " | best | bound | proven | known | "
          "lines | s | check s |")
    print("|---|---|---|" + "---|" * (len(HEURISTICS) + 7))
    for row in solved(args):
        found.append(row[3])
        hows.append(print_row(*row))
    if found:
        print_sums(found, hows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modes")
    parser.add_argument("--graphs", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--effort", type=int, default=0)
    parser.add_argument("--generated", type=int, metavar="OPS")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--gains", action="store_true", help="only graphs that another order helps")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.gains:
        print_gains(list(solved(args)))
    else:
        print_table(args)


if __name__ == "__main__":
    main()
