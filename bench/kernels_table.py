"""Savings per kernel set, from runs of build/arenaut.

    python bench/kernels_table.py MODEL.tflite…

Prints a Markdown table: for each model and kernel set the whole arena of a 32-bit microcontroller as the runtime
plans it today, and the savings of plans whose values lie apart, whose results overlap operands, and that split ops as
well. Models that save nothing with any set are left out. "≥": kernels of the model keep data of unknown size, or
the stock runtime refuses the model."""

import argparse
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
SETS = ("reference", "cmsis-nn", "cmsis-nn-mve", "esp-nn")
LEVERS = ((), ("--overlap", "on"), ("--overlap", "on", "--split", "on"))


def tensor_arena(path, kernels, flags):
    """The arena today and as planned, and whether they are exact."""
    done = subprocess.run([COMMAND, "size", path, "--kernels", kernels, *flags, "--json"],
                          check=True, capture_output=True, text=True)
    now, planned = json.loads(done.stdout)["tensor_arena"][:2]
    return now["bytes"], planned["bytes"], now["exact"]


def row(path, kernels):
    figures = [tensor_arena(path, kernels, flags) for flags in LEVERS]
    today, _, exact = figures[0]
    saved = [max(0, today - planned) for _, planned, _ in figures]
    cells = [path.stem, kernels, ("" if exact else "≥ ") + f"{today:,}",
             *(f"−{100 * bytes_ / today:.1f} %" if bytes_ else "0" for bytes_ in saved)]
    return any(saved), f"| {' | '.join(cells)} |"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite")
    print("| model | kernels | arena today | apart | overlap | overlap and split |")
    print("|---|---|--:|--:|--:|--:|")
    for path in options.parse_args().models:
        rows = [row(path, kernels) for kernels in SETS]
        if any(gains for gains, _ in rows):
            print("\n".join(text for _, text in rows))


if __name__ == "__main__":
    main()
