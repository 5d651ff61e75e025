"""Latency of planned models on a Cortex-M55, in instructions: places alone, results over operands, tiled ops.

    build/venv/bin/python bench/latency_table.py MODEL.tflite…

Prints a Markdown table. Each model runs in tflite-micro with CMSIS-NN's kernels for vector instructions
(`make micro-runtime`), as it is and as the command plans it, and QEMU counts the instructions of `Invoke`. They are
not cycles: memories, caches and the two-beat vector unit of the real core are not modelled, so only ratios are given.
Bytes are head and tail as that runtime reports them. All outputs are compared with those of the original."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "models")]
import arm_runtime  # noqa: E402
import micro_runtime  # noqa: E402

COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
KERNELS = "cmsis-nn-mve"
WAYS = {"places alone": (), "overlap": ("--overlap", "on"), "split": ("--split", "on"),
        "split and overlap": ("--split", "on", "--overlap", "on")}


def measured(data, inputs):
    """Head and tail, instructions, and outputs of a run."""
    found = arm_runtime.called(data, inputs, KERNELS, counting=True)
    return found["head"] + found["tail"], found["instructions"], found["outputs"]


def rows(path, folder):
    original = path.read_bytes()
    inputs = micro_runtime.random_inputs(micro_runtime.Machine(original).inputs, 1)
    arena, instructions, outputs = measured(original, inputs)
    yield "as it is", f"{arena:,}", "1"
    for name, flags in WAYS.items():
        planned = folder / "planned.tflite"
        subprocess.run([COMMAND, "plan", path, "-q", "-f", "-o", planned, "--kernels", KERNELS, *flags], check=True)
        bytes_, executed, found = measured(planned.read_bytes(), inputs)
        if found != outputs:
            sys.exit(f"{path}: {name}: outputs differ")
        yield name, f"{bytes_:,}", f"{executed / instructions:.3f}"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite")
    print("| model | plan | arena | instructions |\n|---|---|--:|--:|")
    for path in options.parse_args().models:
        with tempfile.TemporaryDirectory() as folder:
            for cells in rows(path, Path(folder)):
                print(f"| {' | '.join([path.stem, *cells])} |", flush=True)


if __name__ == "__main__":
    main()
