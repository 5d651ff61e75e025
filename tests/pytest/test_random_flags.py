"""Any set of flags on random programs and nets: no command ends with a bug of its own, each file that is written
is right by itself, and computes what it did."""

import json
import random
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import COMMAND, ROOT

import random_onnx
import random_programs
from drawn import drawn
from onnx_session import session

MAY_END = (0, 1, 2, 3)


def command(*words):
    return subprocess.run([str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("seed", range(drawn(10)))
def test_random_programs(tmp_path, seed):
    rng = random.Random(seed)
    written = 0
    for number in range(24):
        path, output = tmp_path / f"{number}.program.json", tmp_path / f"{number}.planned.program.json"
        path.write_text(json.dumps(random_programs.program(rng)))
        words = random_programs.flags(rng) if number % 4 else []
        planned = command("plan", path, *words, "--force", "-o", output)
        assert planned.returncode in MAY_END, (words, planned.stderr, path.read_text())
        if output.exists():
            written += 1
            verdict = command("check", output)  # without the flags that it was made with
            assert verdict.returncode == 0, (words, verdict.stdout, verdict.stderr, path.read_text())
    assert written >= 8


@pytest.mark.parametrize("seed", range(drawn(10)))
def test_random_nets(tmp_path, seed):
    rng = random.Random(seed)
    feeds = {"x": np.random.RandomState(seed).uniform(-1, 1, (random_onnx.SIDE, random_onnx.SIDE)).astype("f4")}
    rewritten = 0
    for number in range(10):
        path, output = tmp_path / f"{number}.onnx", tmp_path / f"{number}.again.onnx"
        path.write_bytes(random_onnx.net(rng))
        chosen = rng.choice([["reorder"], ["recompute"], ["recompute", "reorder"], ["recompute", "reorder"]])
        words = [word for name in (*chosen, *rng.choice([[], ["inplace"]])) for word in (f"--{name}", "on")]
        planned = command("plan", path, *words, "--force", "-o", output)
        assert planned.returncode == 0, (words, planned.stderr)
        if not output.exists() or output.read_bytes() == path.read_bytes():
            continue
        rewritten += 1
        first, second = (session(each).run(None, feeds) for each in (path, output))
        assert [each.tobytes() for each in first] == [each.tobytes() for each in second], words
    assert rewritten >= 1


def test_rewritten_files_in_four_runtimes():
    """The machine of `make fuzz` for a few nets of each runtime, in a process of its own."""
    done = subprocess.run([sys.executable, ROOT / "fuzz" / "machine_rewrites.py", "0", "7", str(max(8, drawn(32)))],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = {name: int(n) for n, name in re.findall(r"(\d+) (\S+?)[,;]", done.stdout)}
    assert all(counts.get(ending, 0) > 0 for ending in (".tflite", ".onnx", ".pt2", ".pte")), counts
