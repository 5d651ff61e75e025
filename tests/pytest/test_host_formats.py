"""What compilers dump: the shipped files are what the scripts make, and what is said of them is what the compilers did."""

import csv
import json
import os
import subprocess

import pytest

from conftest import DATA, ROOT


def make(script, out):
    """By the compilers in build/venv-hosts, at the versions that the files ship of."""
    python = ROOT / "build" / "venv-hosts" / "bin" / "python"
    if not python.is_file():
        pytest.fail("build/venv-hosts is missing: make venv-hosts")
    done = subprocess.run([python, ROOT / "tests" / "models" / script, out], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr


def assert_shipped(folder, made):
    shipped = sorted((DATA / folder).iterdir())
    assert [path.name for path in shipped] == sorted(path.name for path in made.iterdir())
    for path in shipped:
        assert path.read_bytes() == (made / path.name).read_bytes(), path.name


def test_the_dumps_of_xla_have_the_bytes_that_the_script_makes(tmp_path):
    make("make_xla.py", tmp_path)
    assert_shipped("xla", tmp_path)


def test_the_programs_of_iree_have_the_bytes_that_the_script_makes(tmp_path):
    make("make_iree.py", tmp_path)
    assert_shipped("iree", tmp_path)


def sizes(arenaut, *arguments):
    document = json.loads(arenaut(*arguments, "--json").stdout)
    return {pool["name"]: int(pool["arena"]) for pool in document["pools"]}, document


def test_slabs_have_the_sizes_that_iree_gave_them(arenaut):
    with open(DATA / "iree" / "compiled.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    for row in rows:
        pools, document = sizes(arenaut, "plan", DATA / "iree" / row["file"], "--planner", "iree")
        assert pools[row["slab"]] == int(row["bytes"]), row
        assert document["baseline"]["planner"] == "iree"


@pytest.mark.parametrize("name", ["chain", "cnn", "cnn_train", "scan", "transformer"])
def test_no_plan_needs_more_than_xla_did(arenaut, name):
    path = DATA / "xla" / f"{name}.hlo.pb"
    pools, document = sizes(arenaut, "plan", path)
    assert sum(pools.values()) <= int(document["baseline"]["arena"])
    assert {"parameters", "outputs"} <= set(pools)
    assert "ok: " in arenaut("check", path).stdout


def test_a_model_can_be_planned_as_iree_would(arenaut):
    _, document = sizes(arenaut, "plan", DATA / "onnx" / "control.onnx", "--dim", "N=4", "--target", "iree")
    assert document["baseline"]["planner"] == "iree"
    assert all(buffer["align"] % 64 == 0 for buffer in document["buffers"])


def test_open_sizes_are_given_values(arenaut):
    path = DATA / "iree" / "dynamic_batch.mlir"
    assert "sizes that can be given a value: dynamic.arg0.0" in arenaut("size", path, exit=3).stderr
    for values in ("dynamic.arg0.0=4", "*=4", "dynamic.arg0.0=1..4", "dynamic.arg0.0=2,4"):
        pools, document = sizes(arenaut, "plan", path, "--dim", values)
        assert pools == {"dynamic": 4 * (15488 + 25600)} and document["result"]["status"] == "optimal"
    assert "--dim x: no size is called so" in arenaut("size", path, "--dim", "x=1", exit=2).stderr


def test_sizes_are_given_to_files_that_have_such(arenaut):
    said = arenaut("size", DATA / "fragmented.csv", "--dim", "n=4", exit=2).stderr
    assert "--dim n: the file has no symbolic dimension that could be bound" in said
