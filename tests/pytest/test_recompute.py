"""Cheap ops that run again: models in the stock tflite-micro wheel compute the same in less memory, and
programs in JSON are read back."""

import json

import numpy as np
import pytest
from conftest import DATA, ROOT

import tflite_compare
import micro_runtime
import tflite_file


def waiting(seed, side=8):
    """What a cheap op makes of `a` waits, with `a` itself, below a convolution with many channels."""
    random = np.random.RandomState(seed)
    model = tflite_file.Model("waiting")
    graph = model.graph("main")

    def tensor(name, depth):
        return graph.tensor(name, [1, side, side, depth], "FLOAT32")

    def conv(source, depth, channels, name):
        weights = graph.constant("w", random.uniform(-1, 1, (channels, 1, 1, depth)).astype("f4"))
        bias = graph.constant("b", random.uniform(-1, 1, channels).astype("f4"))
        out = tensor(name, channels)
        graph.op("CONV_2D", [source, weights, bias], [out], padding=0, strideH=1, strideW=1,
                 dilationHFactor=1, dilationWFactor=1)
        return out

    x, gate, wide = tensor("x", 2), tensor("gate", 8), tensor("wide", 8)
    a = conv(x, 2, 8, "a")
    graph.op("LOGISTIC", [a], [gate])
    graph.op("MUL", [gate, a], [wide], fusedActivationFunction=0)
    narrow = conv(conv(wide, 8, 32, "c"), 32, 8, "d")
    for other in (gate, wide, a):
        out = tensor("s", 8)
        graph.op("ADD", [narrow, other], [out], fusedActivationFunction=0)
        narrow = out
    graph.io([x], [narrow])
    return model.bytes()


@pytest.mark.parametrize("flags", [[], ["--reorder", "on"], ["--inplace", "on"]])
def test_models_compute_the_same_in_less_memory(arenaut, arenaut_json, tmp_path, flags):
    path, output, back = (tmp_path / f"{name}.tflite" for name in ("model", "again", "back"))
    path.write_bytes(waiting(1))
    given = arenaut_json("plan", path, *flags)["result"]["arena"]
    document = arenaut_json("plan", path, "--recompute", "on", *flags, "-o", output)
    again = document["recompute"]
    assert document["result"]["arena"] < given and again["after"] < again["before"]
    assert again["added_ops"] == len(again["tensors"]) > 0
    assert again["added_bytes"] == sum(8 * 8 * 8 * 4 for _ in again["tensors"])
    assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes(), seeds=(1, 2), runs=2) is None
    head = micro_runtime.Machine(output.read_bytes()).arena()[0]
    assert head < micro_runtime.Machine(path.read_bytes()).arena()[0]
    assert arenaut("check", output).returncode == 0
    assert arenaut("strip", output, "-o", back).returncode == 0
    assert back.read_bytes() == path.read_bytes()


def test_the_cost_is_reported_and_can_be_limited(arenaut, arenaut_json, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(waiting(1))
    arena = arenaut_json("plan", path)["result"]["arena"]
    again = arenaut_json("plan", path, "--recompute", "on")
    said = arenaut("plan", path, "--recompute", "on").stdout
    assert f"{again['recompute']['added_ops']} ops are rematerialized" in said
    assert f"ops write {again['recompute']['added_bytes']:,} more" in said
    assert "recomputed: " in said
    for most in range(again["recompute"]["added_ops"]):
        limited = arenaut_json("plan", path, "--recompute", "on", "--max-ops", most)
        assert limited["recompute"]["added_ops"] <= most
        assert again["result"]["arena"] <= limited["result"]["arena"] <= arena
    nothing = arenaut("plan", path, "--recompute", "on", "--max-ops", 0).stdout
    assert "rematerialized: " not in nothing


def test_explain_says_what_it_would_save(arenaut, arenaut_json, tmp_path):
    import jsonschema
    schema = json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text())
    path, printed = tmp_path / "model.tflite", tmp_path / "plan.json"
    path.write_bytes(waiting(1))
    explained = "explain", path, "--effort", "100000"
    document, planned = arenaut_json(*explained), arenaut_json("plan", path, "--recompute", "on")
    remedy, = (each for each in document["remedies"] if each.get("flags") == "--recompute on")
    arena = planned["result"]["arena"]
    assert remedy["arena"] == arena < document["result"]["arena"]
    line, = (each for each in arenaut(*explained).stdout.splitlines() if "--recompute on" in each)
    assert f"{remedy['recompute']['added_ops']} ops more" in line
    for told in (document, planned, arenaut_json("size", "--recompute", "on", path)):
        printed.write_text(json.dumps(told))
        jsonschema.validate(told, schema)
        arenaut("check", printed)


@pytest.mark.parametrize("name", ["resnet_int8", "mobilenet_v1_025_96_int8"])
def test_where_nothing_waits_nothing_runs_again(arenaut, arenaut_json, name):
    document = arenaut_json("size", "--recompute", "on", DATA / f"{name}.tflite")
    assert document["recompute"]["added_ops"] == 0
    line, = (each for each in arenaut("explain", DATA / f"{name}.tflite").stdout.splitlines() if "--recompute on" in each)
    assert "saves nothing: no rematerialization of cheap ops lowers the peak (proven)" in line


def program(**more):
    sizes = {"x": 64, "a": 800, "b": 800, "v": 800, "c": 2400, "d": 64, "y": 64}
    ops = [("CONV", "out", ["x"], ["a"]), ("RELU", "out", ["a"], ["b"]),
           ("RESHAPE", "view", ["b"], ["v"]), ("CONV", "out", ["v"], ["c"]),
           ("CONV", "out", ["c"], ["d"]), ("JOIN", "out", ["d", "v", "a"], ["y"])]
    tensors = [{"name": name, "bytes": size} | ({"view_of": "b"} if name == "v" else {})
               for name, size in sizes.items()]
    return {"schema": "arenaut.program/1", "tensors": tensors, "inputs": ["x"], "outputs": ["y"],
            "ops": [{"name": name, "kind": kind, "inputs": inputs, "outputs": outputs}
                    for name, kind, inputs, outputs in ops], **more}


def test_programs_are_written_and_read_back(arenaut, arenaut_json, tmp_path):
    """A view goes with what it is a view of: both are made again."""
    path, output = tmp_path / "waiting.json", tmp_path / "again.program.json"
    path.write_text(json.dumps(program()))
    document = arenaut_json("plan", "--recompute", "on", path, "-o", output)
    assert document["result"]["arena"] == 4000 and document["recompute"]["before"] == 4064
    written = json.loads(output.read_text())
    names = [op["outputs"] for op in written["methods"][0]["ops"]]
    assert names == [["a"], ["b"], ["v"], ["c"], ["d"], ["b/2"], ["v/2"], ["y"]]
    assert written["methods"][0]["ops"][-1]["inputs"] == ["d", "v/2", "a"]
    view, = (t for t in written["tensors"] if t["name"] == "v/2")
    assert view["view_of"] == "b/2"
    assert arenaut("check", output).returncode == 0
    assert arenaut_json("plan", output)["result"]["arena"] == 4000


def test_programs_that_cannot_be_rewritten_are_left_alone(arenaut):
    done = arenaut("plan", "--recompute", "on", DATA / "if_while_float.tflite")
    assert done.returncode == 0
    assert "nothing is computed again" in done.stderr and "several methods" in done.stderr


@pytest.mark.parametrize("flags", [[], ["--reorder", "on"]])
def test_a_percentage_is_of_the_arena_in_which_each_op_runs_once(arenaut, arenaut_json, tmp_path, flags):
    path = tmp_path / "waiting.json"
    path.write_text(json.dumps(program()))
    once = arenaut_json("plan", path)["result"]["arena"]
    for share, bytes in (("100%", once), ("99%", once * 99 // 100), ("81.25%", once * 8125 // 10000)):
        shared, given = (arenaut_json("plan", path, "--recompute", "on", "--fit", fit, *flags)
                         for fit in (share, bytes))
        assert shared["result"]["arena"] <= bytes
        assert shared["buffers"] == given["buffers"] and shared["recompute"] == given["recompute"]
    impossible = arenaut("plan", path, "--recompute", "on", "--fit", "50%", *flags, exit=1)
    assert f"nothing fits {once // 2:,} bytes" in impossible.stderr and "(proven)" in impossible.stderr


def narrow_gradients():
    """Repetitions lower the peak to 1,280 bytes, and another order of what there is then to 1,216."""
    sizes = {"x": 128, "a": 128, "b": 128, "c": 384, "d": 128, "e": 384, "f": 384, "loss": 64, "dc": 384,
             "dd": 128, "df": 384, "de": 384, "da": 128, "db": 128}
    ops = [("RELU", "x", "a"), ("RELU", "x", "b"), ("CONV", "x", "c"), ("RELU", "b", "d"), ("ADD", "x a", "e"),
           ("RELU", "e", "f"), ("LOSS", "c d f", "loss"), ("GRADIENT", "loss c", "dc"), ("GRADIENT", "loss d", "dd"),
           ("GRADIENT", "loss f", "df"), ("GRADIENT", "df e", "de"), ("GRADIENT", "de", "da"),
           ("GRADIENT", "dd b", "db")]
    return {"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["loss"],
            "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
            "ops": [{"name": name, "inputs": reads.split(), "outputs": [made], "pure": True} for name, reads, made in ops]}


def test_the_peak_that_is_told_is_that_of_the_order_that_is_planned(arenaut, arenaut_json, tmp_path):
    path = tmp_path / "narrow.json"
    path.write_text(json.dumps(narrow_gradients()))
    flags = ("plan", path, "--recompute", "on", "--reorder", "on")
    told = arenaut_json(*flags)
    assert told["recompute"]["added_ops"] > 0
    assert told["recompute"]["after"] == told["peak"]["live_bytes"] == told["result"]["arena"] == 1216
    said = arenaut(*flags).stdout
    assert "peak of 1,216 live bytes instead of" in said and "of cheap ops, no rematerialization to at most 1,216 live bytes" in said


def waiting_branches():
    """t2 and t3 are alive together with t0 in the order of the file, and t3 need not be."""
    sizes, ops = [64, 64, 32, 128, 32], [("Neg", [0], [1, 2]), ("CONV_2D", [2], [3]), ("Neg", [2, 0], [4])]
    return {"schema": "arenaut.program/1", "inputs": [0], "outputs": [4],
            "tensors": [{"name": f"t{i}", "bytes": size} for i, size in enumerate(sizes)],
            "ops": [{"name": name, "inputs": inputs, "outputs": outputs, "pure": True} for name, inputs, outputs in ops]}


def test_where_another_order_does_as_well_that_is_said(arenaut, arenaut_json, tmp_path):
    """The sequence that was found repeats nothing: the plan in that order is as small."""
    path = tmp_path / "branches.json"
    path.write_text(json.dumps(waiting_branches()))
    told = arenaut_json("plan", path, "--recompute", "on", "--reorder", "on")
    assert told["result"]["arena"] == told["recompute"]["floor"] < told["recompute"]["before"]
    said = "no rematerialization of cheap ops lowers the peak of the best order (proven)"
    assert said in arenaut("plan", path, "--recompute", "on", "--reorder", "on").stdout
    line, = (each for each in arenaut("explain", path, "--reorder", "on").stdout.splitlines() if "--recompute on" in each)
    assert "saves nothing: " in line and "no smaller arena was found" not in line
