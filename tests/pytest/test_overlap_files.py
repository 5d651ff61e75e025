"""Plans whose results reach into operands, in files: read back they are right for the kernels that
the mark names, planning again changes nothing, and what was there before can be had back. That the
runtime computes the same is shown elsewhere."""

import json

import pytest

from conftest import DATA, corpus_params

OWN = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))]


@pytest.mark.parametrize("path", OWN + corpus_params("tflite/*.tflite"))
def test_an_overlapped_plan_is_the_same_when_read_back(arenaut, tmp_path, path):
    planned, again, back = (tmp_path / f"{name}.tflite" for name in ("planned", "again", "back"))
    plan = json.loads(arenaut("plan", path, "--overlap", "on", "--json").stdout)
    said = arenaut("plan", path, "--overlap", "on", "-o", planned).stdout
    if planned.read_bytes() == path.read_bytes():  # and this is said with the reason
        assert "(a copy of the input: " in said
        return
    size = json.loads(arenaut("size", planned, "--json").stdout)
    assert size["baseline_plan"] == {"from_file": True, "wrong": None}
    assert size["baseline"]["arena"] == plan["result"]["arena"] < plan["baseline"]["arena"]
    assert json.loads(arenaut("check", planned, "--json").stdout)["kernels"] == "reference"
    arenaut("plan", planned, "--overlap", "on", "-o", again)
    assert again.read_bytes() == planned.read_bytes()
    arenaut("strip", planned, "-o", back)
    assert back.read_bytes() == path.read_bytes()
