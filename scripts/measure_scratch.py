"""Measures the kernel scratch of each op of .tflite models, in the unmodified tflite-micro wheel.

    python scripts/measure_scratch.py MODEL.tflite… [-o FILE]      default: standard output

Writes one CSV for all the models, as `arenaut plan --scratch` reads it: model,method,op,bytes
and the operator's name, one row per request of a kernel, sizes as the runtime's planner rounds
them (16 bytes). A model that asks for nothing has one row with empty cells. The repo's own
is data/scratch/tflite-micro.csv: tests/data and well-known public models.

How. The runtime does not tell what its kernels ask for, but it tells the arena's head, and it
obeys offsets. So each op is cut into a model of its own, with its tensors laid on top of one
another at one offset, and below them as many gaps of G bytes as a kernel may make requests.
The walls between gaps are tensors that are both input and output of the model, so they are
alive while the op runs. A request of at most G bytes then always finds a gap; a larger one
has to go above the op's tensors. What the head exceeds them by is F(G), the sum of all
requests larger than G: a falling staircase, whose steps are found by bisection.
"""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))

import micro_runtime  # noqa: E402
import tflite_file  # noqa: E402

BLOCK = 16
REQUESTS = 12  # the most that one kernel may make (kMaxScratchBuffersPerOp)
# These need other subgraphs, or a variable that another op made; none asks for scratch.
NOT_CUT = {"IF", "WHILE", "CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"}


def rounded(size):
    return -(-size // BLOCK) * BLOCK


class Bench:
    """One op, alone in a model with gaps below its tensors."""

    def __init__(self, table, subgraph, op):
        data, _, _ = tflite_file.cut_op(table, subgraph, op)
        self.table = tflite_file.unpack(data)
        main = self.table.subgraphs[0]
        self.planned = [not tensor.isVariable and not tflite_file.is_constant(self.table, tensor)
                        and tflite_file.tensor_bytes(tensor) > 0 for tensor in main.tensors]
        self.largest = max((rounded(tflite_file.tensor_bytes(tensor))
                            for tensor, planned in zip(main.tensors, self.planned) if planned),
                           default=0)
        if self.largest == 0:
            raise micro_runtime.Refused("no tensor of this op is planned")
        walls = []
        for wall in range(REQUESTS):
            main.tensors.append(tflite_file.schema.TensorT(
                name=f"wall {wall}", shape=np.int32([BLOCK]), type=tflite_file.TYPES["INT8"]))
            walls.append(len(main.tensors) - 1)
        main.inputs = np.int32(tflite_file.items(main.inputs) + walls)
        main.outputs = np.int32(tflite_file.items(main.outputs) + walls)

    def larger_than(self, gap):
        """The sum of all requests larger than `gap`, a multiple of 16."""
        floor = REQUESTS * (gap + BLOCK)
        offsets = [floor if planned else tflite_file.ONLINE for planned in self.planned]
        offsets += [(wall + 1) * (gap + BLOCK) - BLOCK for wall in range(REQUESTS)]
        data = tflite_file.pack(tflite_file.set_plan(self.table, offsets))
        head, _ = micro_runtime.Machine(data, micro_runtime.ARENA + floor).arena()
        return head - floor - self.largest

    def requests(self):
        """Sizes of all requests, from large to small."""
        sizes, sum_above = [], 0
        while sum_above < self.larger_than(0):
            # The smallest gap that leaves only what is already known above it.
            low, high = 0, self.larger_than(0) // BLOCK
            while low < high:
                middle = (low + high) // 2
                if self.larger_than(middle * BLOCK) <= sum_above:
                    high = middle
                else:
                    low = middle + 1
            size = low * BLOCK
            step = self.larger_than(size - BLOCK) - sum_above
            if step % size:
                raise AssertionError(f"{step} bytes are no multiple of a request of {size}")
            sizes += [size] * (step // size)
            sum_above += step
        return sizes


def measure(data):
    """Rows (subgraph, op, bytes, operator), and the ops that could not be measured: the same
    with the reason instead of bytes."""
    table = tflite_file.unpack(data)
    rows, failed = [], []
    for g, graph in enumerate(table.subgraphs):
        for o, op in enumerate(graph.operators or []):
            name = tflite_file.op_name(table, op)
            if name in NOT_CUT:
                continue
            try:
                rows += [(g, o, size, name) for size in Bench(table, g, o).requests()]
            except micro_runtime.Refused as why:
                failed.append((g, o, str(why).splitlines()[-1], name))
    return rows, failed


HEADER = f"""\
# Kernel scratch, measured op by op by scripts/measure_scratch.py.
# Kernels: the reference kernels of the tflite-micro wheel {version('tflite_micro')}.
# Other kernel libraries, and other versions, ask for other sizes.
model,method,op,bytes,operator
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    options = parser.parse_args()
    text, left_out = HEADER, 0
    for path in options.models:
        rows, failed = measure(path.read_bytes())
        for subgraph, op, why, name in failed[:1]:
            print(f"{path}: left out: this wheel does not run {len(failed)} of its ops, first "
                  f"op {op} of subgraph {subgraph}, {name}: {why}", file=sys.stderr)
        left_out += bool(failed)
        if not failed:
            name = path.name.split(".")[0]
            text += "".join(f"{name},{','.join(map(str, row))}\n"
                            for row in rows or [("", "", "", "")])
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text)
    return 1 if left_out == len(options.models) else 0


if __name__ == "__main__":
    sys.exit(main())
