"""Measures what .tflite models need in tflite-micro on 32-bit ARM, with the runtime built from its
sources (make micro-runtime) and run under QEMU.

    python scripts/measure_arena.py RUNNER MODEL.tflite… [-o FILE]     default: standard output

Writes one CSV: bytes of head and tail as the runtime reports them once it has planned, and the
fewest bytes of arena, to a multiple of 16, in which it still loads the model. Models that it does
not run are left out. The repo's own is data/arena/tflite-micro-arm.csv: tests/data and well-known
public models.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

BLOCK = 16
PLENTY = 256 << 20
HEADER = """\
# Arenas of the plain interpreter and its reference kernels on 32-bit ARM, by scripts/measure_arena.py.
# Runtime: tflite-micro 90b983c2, as scripts/micro_runtime.sh builds it.
model,head,tail,arena
"""


def load(runner, model, arena):
    """What the runtime reports, or None where it refuses."""
    done = subprocess.run(["qemu-arm-static", runner, "--load-only", model, str(arena)],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure(runner, model):
    """(head, tail, the least arena), or None."""
    found = load(runner, model, PLENTY)
    if not found:
        return None
    low = found["used"] // BLOCK
    high = 2 * low + 1024
    while low < high:
        middle = (low + high) // 2
        if load(runner, model, middle * BLOCK):
            high = middle
        else:
            low = middle + 1
    return found["head"], found["tail"], low * BLOCK


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner", type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    options = parser.parse_args()
    text = HEADER
    for path in sorted(options.models, key=lambda path: path.name):
        found = measure(options.runner, path)
        if found:
            text += f"{path.name.split('.')[0]},{','.join(map(str, found))}\n"
        else:
            print(f"{path}: left out: this runtime does not take it", file=sys.stderr)
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
