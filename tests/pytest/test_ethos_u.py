"""A program with partitions for Ethos-U, as the compiler for that processor makes them (make_ethos_u.py): values between
the partitions are planned like any others; what a partition keeps is said."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import COMMAND, DATA, ROOT
from drawn import NIGHT

FILE = DATA / "ethos_u.pte"
REQUIREMENTS = ROOT / "tests" / "requirements-ethos-u.txt"
PLANNED = """
import make_ethos_u
from arenaut.executorch import MemoryPlanningPass
for inplace in (None, "safe"):
    [plan] = make_ethos_u.exported(MemoryPlanningPass(inplace=inplace)).executorch_program.execution_plan
    print(sum(plan.non_const_buffer_sizes), *(delegate.id for delegate in plan.delegates))
"""
#: Floats of the image between the two partitions, and the first one's result in int8.
IMAGE, BYTES = 4 * 1024, 1024


def test_values_between_partitions_are_planned(arenaut, arenaut_json, tmp_path):
    """Two floats of the image today; with results over operands one, beside what the partition gave."""
    assert arenaut_json("plan", FILE)["result"]["arena"] == 2 * IMAGE
    planned = arenaut_json("plan", FILE, "--inplace", "on")
    assert (planned["baseline"]["arena"], planned["result"]["arena"]) == (2 * IMAGE, IMAGE + BYTES)
    arenaut("plan", FILE, "--inplace", "on", "-o", tmp_path / "small.pte")
    assert "ok" in arenaut("check", tmp_path / "small.pte", "--inplace", "on").stdout
    before, after = FILE.read_bytes(), (tmp_path / "small.pte").read_bytes()
    assert before.count(b"vela_bin_stream") == after.count(b"vela_bin_stream") == 2


def test_explain_says_what_a_partition_keeps(arenaut):
    said = arenaut("explain", FILE).stdout
    assert "opaque 2 of 7 ops, from op 1 EthosUBackend on" in said
    assert "in 4 of the 8 buffers that are planned" in said
    assert "EthosUBackend keeps scratch from the method's temporary allocator, with copies of its arguments" in said
    assert "XnnpackBackend" not in said


@pytest.fixture(scope="module")
def compiler():
    """The folder of the compiler's packages; kept, until their list changes."""
    pytest.importorskip("executorch", reason="the stock wheels are not installed: make venv")
    folder = ROOT / "build" / "ethos-u"
    ready = folder / REQUIREMENTS.name
    if not ready.is_file() or ready.read_text() != REQUIREMENTS.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-deps",
                               "--no-compile", "--target", folder, "-r", REQUIREMENTS], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            pytest.skip(f"not installed: {REQUIREMENTS.name}: {done.stderr[-300:]}")
        shutil.copyfile(REQUIREMENTS, ready)
    return folder


@NIGHT
def test_the_pass_plans_between_partitions(compiler):
    """In the export itself, as the command does."""
    path = os.pathsep.join(map(str, (compiler, ROOT / "tests" / "models", ROOT / "python")))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PLANNED], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": path, "ARENAUT_LIBRARY": str(COMMAND.parent / "libarenaut.so")})
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line for line in done.stdout.splitlines() if "EthosUBackend" in line]  # the compiler prints others
    assert lines == [f"{size} EthosUBackend EthosUBackend" for size in (2 * IMAGE, IMAGE + BYTES)]
