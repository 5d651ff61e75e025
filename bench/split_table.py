"""Effects of splitting on models: memory, ops, bytes and time, from runs of build/arenaut.

    python bench/split_table.py [--runtime] MODEL.tflite…

Prints Markdown. Heads of the arena, in bytes: with the runtime's own planner today, planned, with
results over their operands, split, and both. Then the cost of both together: ops, multiplications,
bytes of the file, and the stages. --runtime runs the original and that model in the stock
tflite-micro wheel: head and tail as it reports them, whether each output has the same bits, and
the CPU time of a run as a ratio, the least of runs by turns. Models that cannot be split, or gain
nothing, are named below.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
SCRATCH = ROOT / "data" / "scratch" / "tflite-micro.csv"
RUNS = 9  # of each model, by turns
WAYS = ([], ["--overlap", "on"], ["--split", "on"], ["--split", "on", "--overlap", "on"])


class Row:
    def __init__(self, path, folder):
        self.path, self.changed = path, folder / path.name
        plans = [self.plan(*way) for way in WAYS[:-1]]
        both = self.plan(*WAYS[-1], "-o", self.changed)
        self.today = both["baseline"]["arena"]
        self.heads = [plan["result"]["arena"] for plan in [*plans, both]]
        self.split = both.get("split")

    def plan(self, *options):
        done = subprocess.run([COMMAND, "plan", self.path, "--scratch", SCRATCH, "--json", *options],
                              check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def cells(self):
        grown = self.changed.stat().st_size - self.path.stat().st_size
        macs = 100 * (self.split["macs"] / max(1, self.split["macs_before"]) - 1)
        stages = ", ".join(f"{s['first_op']}-{s['last_op']}/{s['pieces']}:{s['mode']}"
                           for s in self.split["stages"])
        return [self.path.stem, number(self.today), *map(number, self.heads),
                f"{self.split['ops_before']} → {self.split['ops']}", f"+{macs:.1f} %",
                f"+{number(grown)}", stages]

    def runtime_cells(self):
        sys.path.insert(0, str(ROOT / "tests" / "models"))
        import tflite_compare
        import micro_runtime
        original, changed = self.path.read_bytes(), self.changed.read_bytes()
        try:
            machines = [micro_runtime.Machine(data) for data in (original, changed)]
        except micro_runtime.Refused:
            return ["not run by it", "", ""]
        same = tflite_compare.first_difference(original, changed, seeds=(1,), runs=1) is None
        totals = " → ".join(number(sum(machine.arena())) for machine in machines)
        return [totals, "the same" if same else "DIFFERENT", f"{ratio(machines):.2f}"]


def ratio(machines):
    """How much longer a run of the second takes than one of the first."""
    import micro_runtime
    values = micro_runtime.random_inputs(machines[0].inputs, 1)
    seconds = [[], []]
    for _ in range(RUNS):
        for machine, times in zip(machines, seconds):
            start = time.process_time()
            machine.run(values)
            times.append(time.process_time() - start)
    return min(seconds[1]) / min(seconds[0])


def number(value):
    return f"{value:,}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--runtime", action="store_true")
    options = parser.parse_args()
    head = ["model", "today", "planned", "overlap", "split", "both", "ops", "multiplications",
            "file", "stages"]
    if options.runtime:
        head += ["head + tail in the wheel", "outputs", "time"]
    whole = []
    print("| " + " | ".join(head) + " |")
    print("|---" + "|--:" * 8 + "|---" + "|--:|---|--:" * options.runtime + "|")
    for path in options.models:
        with tempfile.TemporaryDirectory() as folder:
            row = Row(path, Path(folder))
            if row.split:
                cells = row.cells() + (row.runtime_cells() if options.runtime else [])
                print("| " + " | ".join(cells) + " |", flush=True)
            else:
                whole.append(path.stem)
    if whole:
        print(f"\nNothing is split in {len(whole)} more: {', '.join(whole)}.")


if __name__ == "__main__":
    main()
