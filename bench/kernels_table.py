"""Savings per kernel set, from runs of build/arenaut.

    build/venv/bin/python bench/kernels_table.py MODEL.tflite… [--kernels NAME…]

Prints a Markdown table: for each model and kernel set the whole arena of a 32-bit microcontroller as the runtime
plans it today, and the savings of plans whose values lie apart, whose results overlap operands, and that split ops as
well. `cmsis-nn, dilated` is the model in which examples/dilate_pointwise.py dilated the 1x1 convolutions, beside the
model as it is. Models that save nothing with any set are left out. "≥": kernels of the model keep data of unknown size, or
the stock runtime refuses the model."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import dilate_pointwise  # noqa: E402

COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
DILATED = ", dilated"
SETS = ("reference", "cmsis-nn", "cmsis-nn" + DILATED, "cmsis-nn-mve", "esp-nn")
LEVERS = ((), ("--overlap", "on"), ("--overlap", "on", "--split", "on"))


def tensor_arena(path, kernels, flags):
    """The arena today and as planned, and whether they are exact."""
    done = subprocess.run([COMMAND, "size", path, "--kernels", kernels, *flags, "--json"],
                          check=True, capture_output=True, text=True)
    now, planned = json.loads(done.stdout)["tensor_arena"][:2]
    return now["bytes"], planned["bytes"], now["exact"]


def row(path, kernels):
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(dilate_pointwise.dilate(path.read_bytes())[0])
        file.flush()
        name = kernels.removesuffix(DILATED)
        planned = path if name == kernels else file.name
        figures = [tensor_arena(planned, name, flags) for flags in LEVERS]
        today, _, exact = tensor_arena(path, name, LEVERS[0])
    saved = [max(0, today - planned) for _, planned, _ in figures]
    cells = [path.stem, kernels, ("" if exact else "≥ ") + f"{today:,}",
             *(f"−{100 * bytes_ / today:.1f} %" if bytes_ else "0" for bytes_ in saved)]
    return any(saved), f"| {' | '.join(cells)} |"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite")
    options.add_argument("--kernels", nargs="+", choices=SETS, default=SETS)
    print("| model | kernels | arena today | apart | overlap | overlap and split |")
    print("|---|---|--:|--:|--:|--:|")
    chosen = options.parse_args()
    for path in chosen.models:
        rows = [row(path, kernels) for kernels in chosen.kernels]
        if any(gains for gains, _ in rows):
            print("\n".join(text for _, text in rows))


if __name__ == "__main__":
    main()
