"""Latency of planned models on a Cortex-M55, in instructions: places alone, results over operands, tiled ops.

    build/venv/bin/python bench/latency_table.py [--kernels cmsis-nn] MODEL.tflite…

Prints a Markdown table. Each model runs in tflite-micro with CMSIS-NN's kernels for vector instructions, or with
`--kernels cmsis-nn` for DSP instructions (`make micro-runtime`), as it is and as the command plans it, and QEMU counts
the instructions of `Invoke`. They are not cycles: memories, caches and the two-beat vector unit of the real core are
not modelled, so only ratios are given. `dilated`: by examples/dilate_pointwise.py. Bytes are head and tail as that
runtime reports them. All outputs are compared with those of the original."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "models"), str(ROOT / "examples")]
import arm_runtime  # noqa: E402
import dilate_pointwise  # noqa: E402
import micro_runtime  # noqa: E402

COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
RUNNERS = {"cmsis-nn-mve": "cmsis-nn-mve", "cmsis-nn": "cmsis-nn-dsp"}  # of kernel sets
WAYS = {"places alone": (), "overlap": ("--overlap", "on"), "split": ("--split", "on"),
        "split and overlap": ("--split", "on", "--overlap", "on")}


def measured(data, inputs, kernels):
    """Head and tail, instructions, and outputs of a run."""
    found = arm_runtime.called(data, inputs, RUNNERS[kernels], counting=True)
    return found["head"] + found["tail"], found["instructions"], found["outputs"]


def plans(path, kernels, folder):
    """Names and files; those that were dilated as well, where that changes how a kernel walks."""
    dilated = folder / "dilated.tflite"
    dilated.write_bytes(dilate_pointwise.dilate(path.read_bytes())[0])
    for model, prefix in ((path, ""), (dilated, "dilated, ")):
        for name, flags in WAYS.items():
            if prefix and kernels == "cmsis-nn-mve":
                continue
            planned = folder / "planned.tflite"
            subprocess.run([COMMAND, "plan", model, "-q", "-f", "-o", planned, "--kernels", kernels, *flags], check=True)
            yield prefix + name, planned.read_bytes()


def rows(path, kernels, folder):
    original = path.read_bytes()
    inputs = micro_runtime.random_inputs(micro_runtime.Machine(original).inputs, 1)
    arena, instructions, outputs = measured(original, inputs, kernels)
    yield "as it is", f"{arena:,}", "1"
    for name, data in plans(path, kernels, folder):
        bytes_, executed, found = measured(data, inputs, kernels)
        if found != outputs:
            sys.exit(f"{path}: {name}: outputs differ")
        yield name, f"{bytes_:,}", f"{executed / instructions:.3f}"


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite")
    options.add_argument("--kernels", choices=RUNNERS, default="cmsis-nn-mve")
    chosen = options.parse_args()
    print("| model | plan | arena | instructions |\n|---|---|--:|--:|")
    for path in chosen.models:
        with tempfile.TemporaryDirectory() as folder:
            for cells in rows(path, chosen.kernels, Path(folder)):
                print(f"| {' | '.join([path.stem, *cells])} |", flush=True)


if __name__ == "__main__":
    main()
