"""Arenas and times beside ExecuTorch's own planner, on .pte files.

    python bench/executorch_compare.py MODEL.pte…     default: the corpus, where it is at hand

Theirs: executorch.exir.memory_planning.greedy, in process, on the buffers that it was given
when the file was exported; they are at hand as CSV files beside the corpus (their own
lifetimes, one file per graph, the reserve for the bodies of conditionals not counted). Files
without such a CSV have their column empty. Ours: the whole command, started anew each time,
from the file alone; user time as well, since the machine may be busy. Medians of several
runs in one session on one machine. A peer that is not installed is reported, not skipped.
"""

import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
sys.path.insert(0, str(ROOT / "scripts"))
from corpus import FOLDER as CORPUS  # noqa: E402

RUNS = 3 if os.environ.get("BENCH_QUICK") else 11


def spent(action):
    """(result, milliseconds, user milliseconds of it and of its children)."""
    def user():
        return sum(resource.getrusage(who).ru_utime
                   for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    started, used = time.perf_counter(), user()
    result = action()
    return result, (time.perf_counter() - started) * 1e3, (user() - used) * 1e3


def median(action):
    runs = [spent(action) for _ in range(RUNS)]
    return runs[0][0], statistics.median(r[1] for r in runs), statistics.median(r[2] for r in runs)


def ours(path):
    def command():
        return subprocess.run([COMMAND, "plan", path, "--json"], check=True, capture_output=True,
                              text=True).stdout
    text, wall, user = median(command)
    document = json.loads(text)
    return document["baseline"]["arena"], document["result"], wall, user


def lifetimes(path):
    """Rows of the graph that the file's arena was planned for; None if there is no CSV, or
    several graphs, whose lifetimes are on different axes."""
    files = sorted((CORPUS / "pte_csv").glob(f"{path.stem}.csv"))
    if not files or list((CORPUS / "pte_csv").glob(f"{path.stem}.plan*.csv")):
        return None
    with open(files[0], newline="") as file:
        return list(csv.DictReader(file))


def specs_of(rows, tensor_spec, torch):
    """TensorSpecs as the exporter had them; shapes are not asked for, only bytes."""
    specs = []
    for row in rows:
        spec = tensor_spec(torch.uint8, torch.Size([int(row["nbytes"])]))
        spec.lifetime = [int(row["et_start"]), int(row["et_end"])]
        spec.realign(int(row["alignment"]))
        specs.append(spec)
    return specs


def theirs(path):
    """(arena, milliseconds) of greedy, or None where there is nothing to run it on."""
    rows = lifetimes(path)
    if not rows or any(row["storage_base"] for row in rows):
        return None
    import torch
    from executorch.exir.memory_planning import greedy
    from executorch.exir.tensor import TensorSpec
    module = torch.fx.symbolic_trace(torch.nn.Identity())

    times = []
    for _ in range(RUNS):
        # Made anew each time, outside the clock: planning marks them.
        specs = specs_of(rows, TensorSpec, torch)
        started = time.perf_counter()
        sizes = greedy(16, specs, module, None, 0).bufsizes
        times.append((time.perf_counter() - started) * 1e3)
    return sum(sizes), statistics.median(times)


def main():
    models = [Path(name) for name in sys.argv[1:]] or sorted((CORPUS / "pte").glob("*.pte"))
    if not models:
        print("MODELS MISSING: no corpus at hand; name .pte files.\n")
        return 1
    try:
        import executorch.exir.memory_planning as _  # noqa: F401
        peer = True
    except ImportError as why:
        peer = False
        print(f"PEER MISSING: executorch is not installed ({why}); its columns are empty.\n")
    print("| file | in the file | greedy | its time, ms | arenaut | bound | whole command, ms |"
          " user, ms |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for path in models:
        today, result, wall, user = ours(path)
        own = theirs(path) if peer else None
        cells = [f"{own[0]:,}", f"{own[1]:.1f}"] if own else ["", ""]
        print(f"| {path.stem} | {today:,} | {' | '.join(cells)} | {result['arena']:,} | "
              f"{result['lower_bound']:,} | {wall:.1f} | {user:.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
