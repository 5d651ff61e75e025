"""The example for bare metal, on a Cortex-M3 that QEMU plays."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["arm-none-eabi-gcc", "qemu-system-arm"]


def test_two_methods_share_an_arena_and_their_state_on_a_cortex_m3(tmp_path):
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    ran = subprocess.run(
        ["sh", ROOT / "examples/bare_metal/run.sh", os.environ["ARENAUT"], tmp_path],
        capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = ran.stdout.splitlines()
    assert [line for line in said if line.startswith("WRONG")] == []
    assert sum(line.startswith("ok") for line in said) == 8
    assert said[-1].startswith("runtime ") and said[-1].endswith(" 0 of data")
