"""The before/after tables of docs/results.md, from runs of build/arenaut.

    python bench/tflite_table.py [--all] [--runtime | --overlap] MODEL.tflite…

Prints Markdown, in bytes: the head of the arena with the runtime's own planner today, with a plan
that keeps values apart, and with one that puts results in place of operands; then the whole
arena of a 32-bit microcontroller, with the runtime's own data and its needs while it plans, today and
with the smallest of these plans. A dagger marks models that the runtime refuses (`runs` of --json). Kernel scratch comes from data/scratch/tflite-micro.csv where that
file speaks of the model. Models whose whole arena does not shrink are summed up in one line unless
--all is given. --runtime adds the head that the stock tflite-micro wheel reports for the original
and the planned file, and the fewest bytes of arena with which it loads each. --overlap adds plans
that let results reach into operands, and has the models in which these need least.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
SCRATCH = ROOT / "data" / "scratch" / "tflite-micro.csv"


class Row:
    """One model, planned with values apart, with in-place ops and, if asked for, with overlap."""

    def __init__(self, path, folder, overlap):
        self.path, self.planned = path, folder / path.name
        document = self.run("plan", "--inplace", "off", "-o", self.planned)
        self.today, self.arena = document["baseline"]["arena"], document["result"]["arena"]
        plans = [document, self.run("plan", "--inplace", "on")]
        if overlap:
            plans.append(self.run("plan", "--overlap", "on"))
        self.heads = [plan["result"]["arena"] for plan in plans]
        self.proven = all(plan["result"]["status"] == "optimal" for plan in plans)
        best = min(range(len(plans)), key=lambda i: self.heads[i])
        flags = ([], ["--inplace", "on"], ["--overlap", "on"])[best]
        now, self.whole = self.run("size", *flags)["tensor_arena"][:2]
        self.whole_today, self.whole = now["bytes"], self.whole["bytes"]
        self.exact = now["exact"]
        self.refused = document["runtime"]["runs"] is False

    def run(self, verb, *options):
        done = subprocess.run([COMMAND, verb, self.path, "--scratch", SCRATCH, "--json",
                               *options], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def cells(self):
        least = "" if self.exact else "≥ "
        return [self.path.stem + " †" * self.refused, number(self.today), *map(number, self.heads),
                least + number(self.whole_today), least + number(self.whole),
                saved(self.whole_today, self.whole)]

    def runtime_cells(self):
        """The wheel's report, or the reason why it does not run the model."""
        sys.path.insert(0, str(ROOT / "tests" / "models"))
        import micro_runtime
        original = self.path.read_bytes()
        changed = self.planned.read_bytes()
        try:
            heads = [micro_runtime.Machine(data).arena()[0] for data in (original, changed)]
        except micro_runtime.Refused:
            return ["not run by it", ""]
        least = [micro_runtime.smallest_arena(data) for data in (original, changed)]
        return [" → ".join(map(number, heads)), " → ".join(map(number, least))]


def number(value):
    return f"{value:,}"


def saved(before, after):
    return f"−{100 * (before - after) / before:.1f} %" if after < before else "0"


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---" + "|--:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--runtime", action="store_true")
    parser.add_argument("--overlap", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [Row(path, Path(folder), options.overlap) for path in options.models]
        shown = [row for row in rows if options.all or row.whole < row.whole_today and (
            not options.overlap or row.heads[-1] < min(row.heads[:-1]))]
        head = ["model", "head today", "apart", "in place", *["overlap"] * options.overlap,
                "arena today", "then", "saved"]
        if options.runtime:
            head += ["head in the wheel", "smallest arena in the wheel"]
        print_table(head, [row.cells() + (row.runtime_cells() if options.runtime else [])
                           for row in shown])
    if any(row.refused for row in shown):
        print("\n†: the stock runtime refuses this model, so that no arena is enough.")
    same = [row for row in rows if row not in shown]
    if same:
        print(f"\n{len(same)} more gain nothing.")
    print(f"{sum(row.proven for row in rows)} of {len(rows)} are proven minimal.")


if __name__ == "__main__":
    main()
