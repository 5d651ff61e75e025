"""Measures what .tflite models need in tflite-micro on 32-bit ARM, with the runtime built from its
sources (make micro-runtime) and run under QEMU.

    python scripts/measure_arena.py KERNELS MODEL.tflite… [-o FILE]    default: standard output

KERNELS: reference, cmsis-nn, cmsis-nn-c, cmsis-nn-mve, esp-nn or esp32-s3, which the runtime is
built with. Writes one CSV: bytes of head and tail as the runtime reports them once it has planned,
and the fewest bytes of arena, to a multiple of 16, in which it still loads the model. Models that it
does not run are left out. The repo's own are data/arena/tflite-micro-arm*.csv: tests/data and well-known public models.

    python scripts/measure_arena.py KERNELS --ops [-o FILE]

The same of one-op models of random shapes (tests/models/memory_ops.py): head and tail, and what the
kernel asks for as scratch, request by request. data/arena/ops-KERNELS.csv.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))

import arm_runtime  # noqa: E402
import memory_ops  # noqa: E402

BLOCK = 16
PLENTY = 256 << 20
RUNTIME = "tflite-micro 90b983c2"
LIBRARY = {"reference": "", "cmsis-nn": ", CMSIS-NN 99f736a6",
           "esp-nn": ", ESP-NN d45b843c, esp-tflite-micro 99f49e14"}
LIBRARY |= {"cmsis-nn-c": LIBRARY["cmsis-nn"], "cmsis-nn-mve": LIBRARY["cmsis-nn"],
            "esp32-s3": LIBRARY["esp-nn"]}
HEADER = """\
# {what} with the kernels {kernels}, by scripts/measure_arena.py.
# Runtime: {runtime}, as scripts/micro_runtime.sh builds it.
"""


def measure(kernels, model):
    """(head, tail, the least arena), or None."""
    found = arm_runtime.load(kernels, model, PLENTY)
    if not found:
        return None
    low = found["used"] // BLOCK
    high = 2 * low + 1024
    while low < high:
        middle = (low + high) // 2
        if arm_runtime.load(kernels, model, middle * BLOCK):
            high = middle
        else:
            low = middle + 1
    return found["head"], found["tail"], low * BLOCK


def of_models(kernels, models):
    yield "model,head,tail,arena"
    for path in sorted(models, key=lambda path: path.name):
        found = measure(kernels, path)
        if found:
            yield f"{path.name.split('.')[0]},{','.join(map(str, found))}"
        else:
            print(f"{path}: left out: this runtime does not take it", file=sys.stderr)


def of_op(kernels, name, seed):
    """(head, tail, requests for scratch) of a one-op model, or None."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "op.tflite")
        model.write_bytes(memory_ops.build(name, seed))
        found = arm_runtime.load(kernels, "--trace", model, PLENTY)
    return found and (found["head"], found["tail"], found["ops"][0]["scratch"])


def of_ops(kernels):
    yield "case,seed,head,tail,scratch"
    for name in memory_ops.CASES:
        for seed in memory_ops.seeds(name):
            found = of_op(kernels, name, seed)
            if not found:
                raise SystemExit(f"{name}, {seed}: this runtime does not take it")
            head, tail, scratch = found
            yield f"{name},{seed},{head},{tail},{' '.join(map(str, scratch))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", choices=arm_runtime.RUNNERS)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--ops", action="store_true")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows = of_ops(options.kernels) if options.ops else of_models(options.kernels, options.models)
    what = "Ops of random shapes" if options.ops else "Arenas of the plain interpreter"
    text = HEADER.format(what=what, kernels=options.kernels,
                         runtime=RUNTIME + LIBRARY[options.kernels])
    text += "".join(f"{row}\n" for row in rows)
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
