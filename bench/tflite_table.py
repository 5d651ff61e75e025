"""The README's before/after table, from runs of build/arenaut.

    python bench/tflite_table.py [--all] [--runtime | --overlap] MODEL.tflite…

Prints Markdown: what the runtime's own planner needs today, what the planned file needs, the
proven lower bound and what is saved. Kernel scratch comes from data/scratch/tflite-micro.csv
where that file speaks of the model. Models that gain nothing are summed up in one line
unless --all is given. --runtime adds the head that the stock tflite-micro wheel reports
for the original and the planned file, and the fewest bytes of arena with which it loads each.
--overlap prints what plans need that keep values apart, that put results in place of operands, and
that let results reach into operands, of the models in which the last need least.
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
    """One model, planned without and with in-place ops."""

    def __init__(self, path, folder):
        self.path, self.planned = path, folder / path.name
        document = self.run("--inplace", "off", "-o", self.planned)
        result, baseline = document["result"], document["baseline"]
        self.today, self.arena, self.bound = (baseline["arena"], result["arena"],
                                              result["lower_bound"])
        self.proven = result["status"] == "optimal"
        self.inplace = self.run("--inplace", "on")["result"]["arena"]

    def overlap_cells(self):
        document = self.run("--overlap", "on")
        arena, proven = document["result"]["arena"], document["result"]["status"] == "optimal"
        return arena, [self.path.stem, number(self.today), number(self.arena),
                       number(self.inplace), number(arena) + ("" if proven else " (not proven)"),
                       saved(self.today, arena)]

    def run(self, *options):
        done = subprocess.run([COMMAND, "plan", self.path, "--scratch", SCRATCH, "--json",
                               *options], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def cells(self):
        return [self.path.stem, number(self.today), number(self.arena), number(self.bound),
                saved(self.today, self.arena), saved(self.today, self.inplace)]

    def runtime_cells(self):
        """What the wheel reports, or why it does not run the model."""
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


def print_overlap_table(rows):
    cells = [row.overlap_cells() + (row,) for row in rows]
    print_table(["model", "today", "apart", "in place", "overlap", "saved"],
                [line for arena, line, row in cells if arena < row.inplace])
    print(f"\n{sum(arena >= row.inplace for arena, _, row in cells)} more need what they need in "
          "place.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--runtime", action="store_true")
    parser.add_argument("--overlap", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [Row(path, Path(folder)) for path in options.models]
        if options.overlap:
            print_overlap_table(rows)
            return
        shown = [row for row in rows if options.all or row.inplace < row.today]
        head = ["model", "today", "planned", "bound", "saved", "saved, in place"]
        if options.runtime:
            head += ["head in the wheel", "smallest arena in the wheel"]
        print_table(head, [row.cells() + (row.runtime_cells() if options.runtime else [])
                           for row in shown])
    same = [row for row in rows if row not in shown]
    if same:
        proven = sum(row.proven for row in same)
        print(f"\n{len(same)} more need what they need today; for {proven} of them that is "
              "proven to be the minimum.")


if __name__ == "__main__":
    main()
