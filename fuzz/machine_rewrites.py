"""Random nets under random sets of flags: each file that `plan` writes passes `check`, needs no more than the one
before, and computes the same bits in the unmodified runtime.

    ARENAUT=build/arenaut build/venv/bin/python fuzz/machine_rewrites.py SECONDS [SEED [NETS]]

Runs for SECONDS of wall time, or for NETS nets if SECONDS is 0, net after net, in turn through tflite-micro, ONNX Runtime, PyTorch and ExecuTorch's
portable kernels. Ends with the counts, or with the first net and flags that went wrong, which stay in
build/fuzz/rewrites."""

import itertools
import json
import os
import random
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))

import tflite_compare  # noqa: E402
import exported_graphs  # noqa: E402
import numpy as np  # noqa: E402
import pte_runtime  # noqa: E402
import random_branches  # noqa: E402
import random_nets  # noqa: E402
import random_onnx  # noqa: E402
import random_torch  # noqa: E402
import tflite_file  # noqa: E402
from onnx_session import session  # noqa: E402

COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
FOLDER = ROOT / "build" / "fuzz" / "rewrites"
WRITTEN = (0, 1)  # 1: over a budget that was asked for


class Wrong(Exception):
    """A property does not hold; the message says which, with the flags."""


def command(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=600, check=False)


def flags(rng, runtime):
    """Each of the rewrites with even odds, and now and then one of the flags that bound them. Of a format that
    holds no plan, only rewritten ops are written."""
    chosen = {name for name in runtime.rewrites if rng.random() < 0.5}
    if not runtime.holds_plan and not chosen & {"reorder", "recompute"}:
        chosen.add("reorder")
    rare = [["--preserve-inputs"], ["--effort", str(rng.choice([1, 50, 5000]))], ["--align", "64"]]
    if chosen & {"split", "recompute"}:
        rare.append(["--max-ops", str(rng.randint(0, 8))])
    chosen = [word for name in sorted(chosen) for word in (f"--{name}", "on")]
    return chosen + [word for words in rare if rng.random() < 0.15 for word in words]


class Micro:
    """.tflite in tflite-micro: images that can be tiled, or tangled branches."""
    ending, holds_plan = ".tflite", True
    rewrites = ("split", "overlap", "inplace", "reorder", "recompute")

    def write(self, rng, path):
        seed = rng.randrange(2 ** 31)
        path.write_bytes(random_nets.random_net(seed)[0] if rng.random() < 0.6 else self.branches(seed))

    def branches(self, seed):
        model = tflite_file.Model("random branches")
        graph = model.graph("main")
        first = graph.tensor("x", [1, 8, 8, 2], "FLOAT32")
        graph.io([first], [random_branches.convolutions(graph, np.random.RandomState(seed), first, 14)])
        return model.bytes()

    def same(self, before, after):
        return tflite_compare.first_difference(before.read_bytes(), after.read_bytes(), seeds=(1, 2), runs=2) is None


class Onnx:
    """.onnx in ONNX Runtime."""
    ending, holds_plan = ".onnx", False
    rewrites = ("inplace", "reorder", "recompute")

    def write(self, rng, path):
        path.write_bytes(random_onnx.net(rng))

    def same(self, before, after):
        values = np.random.RandomState(1).uniform(-1, 1, (random_onnx.SIDE, random_onnx.SIDE)).astype("f4")
        first, second = (session(each).run(None, {"x": values}) for each in (before, after))
        return [each.tobytes() for each in first] == [each.tobytes() for each in second]


class Torch:
    """.pt2 in PyTorch, node by node."""
    ending, holds_plan = ".pt2", False
    rewrites = ("inplace", "reorder", "recompute")

    def write(self, rng, path):
        random_torch.save_pt2(random_torch.exported(rng, branches=False), path)

    def same(self, before, after):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first, second = (exported_graphs.run(each, random_torch.inputs(1))[0] for each in (before, after))
        return pte_runtime.same_bits(first, second)


class Portable:
    """.pte in ExecuTorch, several calls, states carried from call to call."""
    ending, holds_plan = ".pte", True
    rewrites = ("inplace", "reorder")

    def write(self, rng, path):
        random_torch.save_pte(random_torch.exported(rng, branches=rng.random() < 0.3), path)

    def same(self, before, after):
        first, second = (pte_runtime.Python(each.read_bytes()) for each in (before, after))
        return all(pte_runtime.same_bits(first.call(*random_torch.inputs(n)), second.call(*random_torch.inputs(n)))
                   for n in range(3))


RUNTIMES = (Micro(), Onnx(), Torch(), Portable())


def try_flags(runtime, path, words, counts):
    """Plans one file with these flags and compares the written file with it."""
    output = path.with_name("after" + runtime.ending)
    output.unlink(missing_ok=True)
    planned = command("plan", path, *words, "--json", "-o", output)
    if planned.returncode not in WRITTEN:
        raise Wrong(f"plan {words}: exit {planned.returncode}: {planned.stderr}")
    document = json.loads(planned.stdout)
    counts["plans"] += 1
    if not output.exists():
        return
    if output.read_bytes() == path.read_bytes():
        counts["copies"] += 1
        return
    demanding = {"--align", "--preserve-inputs"} & set(words)  # which the runtime's own plan may ignore
    if not demanding and document["result"]["arena"] > document["baseline"]["arena"]:
        raise Wrong(f"plan {words}: {document['result']['arena']} bytes, {document['baseline']['arena']} before")
    verdict = command("check", output)
    if verdict.returncode != 0:
        raise Wrong(f"check of plan {words}: {verdict.stdout}{verdict.stderr}")
    if not runtime.same(path, output):
        raise Wrong(f"plan {words}: other bits in the runtime")
    counts[runtime.ending] += 1


def run(seconds, seed, most):
    """Counts of plans, of files copied as they are, and of rewritten files run, by their ending. Ends after
    `seconds`, or if these are 0 after `most` nets."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    counts = Counter()
    end = time.monotonic() + seconds
    for number in itertools.count() if seconds else range(most):
        if seconds and time.monotonic() > end:
            break
        rng = random.Random(f"{seed} {number}")
        runtime = RUNTIMES[number % len(RUNTIMES)]
        path = FOLDER / f"before{runtime.ending}"
        runtime.write(rng, path)
        counts["nets"] += 1
        for _ in range(4):
            try:
                try_flags(runtime, path, flags(rng, runtime), counts)
            except Wrong as wrong:
                raise Wrong(f"net {number} of seed {seed}, {path}: {wrong}") from None
    return counts


if __name__ == "__main__":
    try:
        given = [*sys.argv[1:], *("1", "100")[len(sys.argv) - 2:]]
        made = run(float(given[0]), int(given[1]), int(given[2]))
    except Wrong as wrong:
        sys.exit(str(wrong))
    print(", ".join(f"{n} {name}" for name, n in sorted(made.items())) + "; nothing wrong")
