"""The PyTorch client. Most of its tests need the preloaded library, and so a process of their
own: one for all of them. What it does without is tested here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COMMAND, ROOT

from drawn import some

torch = pytest.importorskip("torch", reason="torch is not installed; nothing to test")
SHIM = Path(os.environ.get("ARENAUT_REPLAY", COMMAND.parent / "libarenaut-replay.so"))


def run(arguments, preload):
    if preload and not SHIM.is_file():
        pytest.fail(f"{SHIM} is missing: run `make`, or name it in ARENAUT_REPLAY")
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"),
                       ARENAUT_LIBRARY=str(COMMAND.parent / "libarenaut.so"),
                       ARENAUT_BUILD=str(COMMAND.parent))
    environment.update({"LD_PRELOAD": str(SHIM)} if preload else {})
    return subprocess.run([sys.executable, *map(str, arguments)], env=environment, text=True,
                          capture_output=True, timeout=900, check=False)


def test_with_the_library_preloaded():
    done = run(["-m", "pytest", "-q", "-rs", ROOT / "tests" / "preloaded"], True)
    print(done.stdout)  # shown if it fails, and with -s: the names and the skips
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


WITHOUT = """
import torch, arenaut, arenaut.torch

class Small(torch.nn.Module):
    def forward(self, x, y):
        return torch.tanh(torch.mm(x, y) + 1) * 2

inputs = torch.randn(8, 8), torch.randn(8, 8)
planned = arenaut.torch.compile(Small(), inputs)
for _ in range(3):
    planned.poison()
    assert torch.equal(planned(*inputs), Small()(*inputs))
figures = planned.figures()
assert figures.recorded == 0 and figures.arena == figures.lower_bound == 256, figures
try:
    arenaut.torch.compile(Small(), inputs, record=True)
except ValueError as refused:
    print(refused)
plan = arenaut.plan([100, 100, 100], [0, 2, 1], [2, 3, 3], align=64, same_base=[None, None, 0])
print(plan.arena, plan.bound, plan.status)
try:
    arenaut.plan([1], [3], [2])
except arenaut.ArenautError as error:
    print("error:", error.status)
"""


def test_without_it_managed_tensors_are_planned_all_the_same():
    done = run(["-W", "ignore", "-c", WITHOUT], False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "LD_PRELOAD" in lines[0]
    assert lines[1] == "228 228 optimal" or lines[1].endswith("optimal"), lines
    assert lines[2] == "error: 3"


@pytest.mark.parametrize("model", some(["mobilenetv3", "bert4"]))
def test_the_benchmark_runs_and_its_peaks_are_in_order(model):
    done = run([ROOT / "bench" / "torch_compare.py", "--small", "--json", "--seconds", "1",
                model], False)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)
    rows = found["rows"]
    assert found["arena"] == found["bound"], found
    assert rows["ours"]["difference"] <= 1e-6, found
    assert rows["ours"]["peak"] <= 1.05 * rows["frozen"]["peak"] + 65536, found
    assert rows["ours"]["peak"] < rows["static"]["peak"], found
    assert found["strayed"] == found["fallbacks"] == 0, found
