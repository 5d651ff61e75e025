"""Ops of operators that nobody knows: they keep their order, what is said of orders says so, and a program can state
that an op only computes."""

import json
from itertools import permutations

import pytest
from conftest import DATA

NET = [("wide", ["x"], "a"), ("wide", ["x"], "c"), ("narrow", ["a"], "b"), ("narrow", ["c"], "d"),
       ("ADD", ["b", "d"], "y")]
BYTES = {"x": 64, "a": 6400, "b": 64, "c": 6400, "d": 64, "y": 64}


def write(path, **facts):
    tensors = [{"name": name, "bytes": size} for name, size in BYTES.items()]
    ops = [{"name": name, "inputs": inputs, "outputs": [output], **(facts if name != "ADD" else {})}
           for name, inputs, output in NET]
    path.write_text(json.dumps({"schema": "arenaut.program/1", "tensors": tensors, "inputs": ["x"], "outputs": ["y"],
                                "ops": ops}))
    return path


def least_alive():
    """In any order in which each op runs behind those whose results it reads."""
    least = None
    for order in permutations(NET):
        made, peak, right = {"x"}, 0, True
        for at, (_, inputs, output) in enumerate(order):
            right = right and made.issuperset(inputs)
            made.add(output)
            later = {name for _, names, _ in order[at:] for name in names} | {"y"}
            peak = max(peak, sum(BYTES[name] for name in made if name in later or name == output))
        least = min(peak, least or peak) if right else least
    return least


def test_ops_that_only_compute_move(arenaut, arenaut_json, tmp_path):
    path, output = write(tmp_path / "pure.program.json", pure=True), tmp_path / "planned.program.json"
    document = arenaut_json("plan", path, "--reorder", "on", "-f", "-o", output)
    assert document["order"]["proven"] and document["order"]["best"] == least_alive()
    assert "held" not in document["order"] and document["result"]["arena"] == least_alive()
    assert arenaut("check", output).returncode == 0
    (method,) = json.loads(output.read_text())["methods"]
    assert [op.get("pure") for op in method["ops"]] == [True] * 4 + [None]


@pytest.mark.parametrize("name", ["wide", ""])
def test_reports_of_orders_name_the_ops_that_are_held(arenaut, arenaut_json, tmp_path, name):
    path = write(tmp_path / "unknown.program.json")
    path.write_text(path.read_text().replace('"wide"', json.dumps(name)))
    order = arenaut_json("plan", path, "--reorder", "on")["order"]
    assert order["held"] == 4 and order["best"] == order["given"]
    said = arenaut("plan", path, "--reorder", "on").stdout
    assert "no other order of the ops that may move helps (proven)" in said and "keep 4 ops in file order" in said
    assert "no other order of the ops that may move helps" in arenaut("explain", path).stdout


def test_one_unknown_op_waits_for_nobody(arenaut_json, tmp_path):
    path = write(tmp_path / "one.program.json", pure=True)
    document = json.loads(path.read_text())
    del document["ops"][0]["pure"]
    path.write_text(json.dumps(document))
    order = arenaut_json("plan", path, "--reorder", "on")["order"]
    assert order["proven"] and order["best"] == least_alive() and "held" not in order


@pytest.mark.parametrize(("fields", "right"), [
    ({"dims": [1000, 1000]}, False), ({"dims": [None, 4]}, False), ({}, False), ({"dtype": "float32"}, True),
    ({"dtype": "float32", "dims": []}, True), ({"bytes": 4, "dims": [2]}, True), ({"bytes": 4, "dtype": "int8"}, True)])
def test_a_type_and_dimensions_belong_together(arenaut, tmp_path, fields, right):
    path = tmp_path / "sizes.program.json"
    path.write_text(json.dumps({"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
                                "tensors": [{"name": "x", **fields}, {"name": "y", "bytes": 8}],
                                "ops": [{"name": "RELU", "inputs": ["x"], "outputs": ["y"]}]}))
    done = arenaut("plan", path, exit=0 if right else 3)
    assert right or "a tensor needs 'bytes', or 'dtype' and 'dims'" in done.stderr


def test_a_model_without_a_plan_is_not_wrong(arenaut, arenaut_json, tmp_path):
    model, copy = DATA / "resnet_int8.tflite", tmp_path / "copy.tflite"
    done = arenaut("check", model)
    assert done.returncode == 0 and "no plan in the file: its runtime plans at load" in done.stdout
    assert arenaut_json("check", model)["ok"] is None
    copy.write_bytes(model.read_bytes())
    arenaut("check", model, copy, exit=1)
    arenaut("check", model, "--budget", "1K", exit=1)
    arenaut("check", model, "--budget", "1M")
