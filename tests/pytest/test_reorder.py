"""Reordered files in the stock tflite-micro wheel, which runs operators in the order of the file:
less memory, the same bits. And what is said where no order helps."""

import json
import os
import random

import numpy as np
import pytest
from conftest import DATA, ROOT

import tflite_compare
import micro_runtime
import random_branches
import tflite_file


# So many times as many random models: `make fuzz`.
THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))


def branches(seed, n_ops=14):
    model = tflite_file.Model("random branches")
    graph = model.graph("main")
    first = graph.tensor("x", [1, 8, 8, 2], "FLOAT32")
    total = random_branches.convolutions(graph, np.random.RandomState(seed), first, n_ops)
    graph.io([first], [total])
    return model.bytes()


def test_reordered_models_need_less_and_compute_the_same(arenaut, reschedule, tmp_path):
    reordered = 0
    for seed in range(20 * THOROUGH):
        path, output = tmp_path / f"{seed}.tflite", tmp_path / f"{seed}.reordered.tflite"
        path.write_bytes(branches(seed))
        order, _ = reschedule(path, output)
        if order is None:
            continue
        reordered += 1
        assert sorted(order["ops"]) == list(range(len(order["ops"])))
        assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes(), seeds=(1, 2),
                                        runs=2) is None
        head = micro_runtime.Machine(output.read_bytes()).arena()[0]
        assert head < micro_runtime.Machine(path.read_bytes()).arena()[0]
        assert arenaut("check", output).returncode == 0
        back = tmp_path / f"{seed}.back.tflite"
        assert arenaut("strip", output, "-o", back).returncode == 0
        assert back.read_bytes() == path.read_bytes()
    assert reordered >= 10 * THOROUGH


def joined(seed):
    """Branches that are wide in the middle; their narrow ends are joined along the outermost axis,
    some of them twice."""
    random = np.random.RandomState(seed)
    model = tflite_file.Model("random joins")
    graph = model.graph("main")
    first = graph.tensor("x", [1, 8, 8, 2], "FLOAT32")

    def conv(source, shape, depth):
        return random_branches.convolution(graph, random, source, shape, depth)

    def join(parts):
        sizes = [rows for _, rows in parts]
        out = graph.tensor("j", [sum(sizes), 8, 8, 2], "FLOAT32")
        graph.op("CONCATENATION", [part for part, _ in parts], [out], axis=0,
                 fusedActivationFunction=0)
        return out, sum(sizes)

    wide = [(conv(first, [1, 8, 8, depth], 2), depth)
            for depth in random.choice([3, 4, 16], random.randint(2, 6))]
    parts = [(conv(tensor, [1, 8, 8, 2], depth), 1) for tensor, depth in wide]
    inner, rows = join(parts[:2])
    whole = join([(inner, rows), *parts[2:]]) if len(parts) > 2 else (inner, rows)
    graph.io([first], [conv(whole[0], [whole[1], 8, 8, 1], 2)])
    return model.bytes()


def test_joins_in_place_are_chosen_with_the_order(arenaut, arenaut_json, tmp_path):
    """No more than with all of them in place, or with none, and the same bits."""
    moved = in_place = 0
    for seed in range(12 * THOROUGH):
        path, output = tmp_path / f"{seed}.tflite", tmp_path / f"{seed}.reordered.tflite"
        path.write_bytes(joined(seed))
        given = arenaut_json("plan", path, "--passes", "slices")["result"]["arena"]
        document = arenaut_json("plan", path, "--passes", "slices", "--reorder", "on", "-f", "-o",
                                output)
        order = document["order"]
        apart = arenaut_json("plan", path, "--reorder", "on")["result"]["arena"]
        assert order["proven"] and order["bound"] == order["best"] <= order["given"]
        assert document["result"]["arena"] <= min(given, apart)
        if document["result"]["arena"] >= document["baseline"]["arena"]:
            continue
        moved += order["ops"] is not None
        in_place += order["joins"]["in_place"]
        assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes(), seeds=(1, 2),
                                        runs=2) is None
        assert arenaut("check", output).returncode == 0
        back = tmp_path / f"{seed}.back.tflite"
        assert arenaut("strip", output, "-o", back).returncode == 0
        assert back.read_bytes() == path.read_bytes()
    assert moved >= 4 * THOROUGH and in_place >= THOROUGH


def test_with_whatever_else_is_asked_for_models_compute_the_same(arenaut, arenaut_json, tmp_path):
    """Orders with results over operands, overlaps and splitting, drawn together."""
    changed = 0
    for seed in range(8 * THOROUGH):
        random = np.random.RandomState(1000 + seed)
        path, output = tmp_path / "model.tflite", tmp_path / "planned.tflite"
        path.write_bytes(branches(1000 + seed, random.randint(6, 14)))
        flags = [part for flag in ("--inplace", "--overlap", "--split") if random.randint(2)
                 for part in (flag, "on")]
        document = arenaut_json("plan", path, "--reorder", "on", *flags, "-f", "-o", output)
        changed += (document.get("order") or {}).get("ops") is not None
        assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes(), seeds=(1,),
                                        runs=2) is None, (seed, flags)
        assert arenaut("check", output).returncode == 0
    assert changed >= THOROUGH


@pytest.mark.parametrize("name", ["mobilenet_v1_025_96_int8", "resnet_int8", "hello_world_int8"])
def test_where_no_order_helps_that_is_proven(arenaut, name):
    done = arenaut("size", "--reorder", "on", DATA / f"{name}.tflite")
    assert "no other order helps (proven)" in done.stdout


def test_an_order_of_rewritten_ops_is_proven_for_these(arenaut, tmp_path):
    """The order in which ops stand decides which of them are rematerialized: in another one, less is enough."""
    sizes = {"x": 16, "a": 64, "b": 16}
    path = tmp_path / "p.program.json"
    path.write_text(json.dumps({"schema": "arenaut.program/1", "tensors": [
        {"name": name, "dtype": "int8", "dims": [size], "class": "input" if name == "x" else "intermediate"}
        for name, size in sizes.items()], "methods": [{"name": "main", "inputs": ["x"], "outputs": ["b"], "ops": [
            {"name": "F", "inputs": ["x"], "outputs": ["a"], "pure": True},
            {"name": "G", "inputs": ["a"], "outputs": ["b"], "pure": True}]}]}))
    for flags, words in (([], "(proven)"), (["--recompute", "on"], "(proven for the ops that there are now)")):
        assert f"no other order helps {words}" in arenaut("plan", path, "--reorder", "on", *flags).stdout


def test_programs_that_cannot_be_reordered_are_left_alone(arenaut, tmp_path):
    document = {"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
                "tensors": [{"name": name, "bytes": 64} for name in ("x", "a", "y")],
                "ops": [{"name": "FIRST", "inputs": ["x"], "outputs": ["a"]},
                        {"name": "AGAIN", "inputs": ["x"], "outputs": ["a"]},
                        {"name": "LAST", "inputs": ["a"], "outputs": ["y"]}]}
    path = tmp_path / "again.json"
    path.write_text(json.dumps(document))
    done = arenaut("plan", "--reorder", "on", path)
    assert done.returncode == 0
    assert "nothing is reordered" in done.stderr and "written more than once" in done.stderr
    said = "ops in another order (--reorder on): not tried here: not possible for this program"
    assert said in arenaut("explain", path).stdout


def test_programs_in_json_are_reordered(arenaut, arenaut_json, tmp_path):
    """Two branches, each of which is wide in the middle, side by side; one after the other less is
    alive."""
    sizes = {"x": 64, "a": 800, "b": 800, "c": 64, "d": 64, "y": 64}
    ops = [("WIDEN", ["x"], ["a"]), ("WIDEN", ["x"], ["b"]), ("NARROW", ["a"], ["c"]),
           ("NARROW", ["b"], ["d"]), ("JOIN", ["c", "d"], ["y"])]
    document = {"schema": "arenaut.program/1",
                "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
                "inputs": ["x"], "outputs": ["y"],
                "ops": [{"name": kind, "inputs": inputs, "outputs": outputs}
                        for kind, inputs, outputs in ops]}
    path = tmp_path / "branches.json"
    path.write_text(json.dumps(document))
    order = arenaut_json("plan", "--reorder", "on", path)["order"]
    assert order["given"] == 1664 and order["best"] == order["bound"] == 928
    assert order["ops"] in ([0, 2, 1, 3, 4], [1, 3, 0, 2, 4])


def joining_method(name):
    """Two operands, and four joins of one more each."""
    tensors = [{"name": f"{name}{i}", "dtype": "int8", "dims": [1, 8]} for i in range(6)]
    ops = [{"name": "Resize", "inputs": [f"{name}0"], "outputs": [f"{name}{i}"]} for i in range(1, 6)]
    last = f"{name}1"
    for i in range(4):
        tensors.append({"name": f"{name}w{i}", "dtype": "int8", "dims": [1, 8 * (i + 2)]})
        ops.append({"name": "Concat", "inputs": [last, f"{name}{i + 2}"], "outputs": [f"{name}w{i}"]})
        last = f"{name}w{i}"
    return tensors, {"name": name, "inputs": [f"{name}0"], "outputs": [last], "ops": ops}


def test_no_bound_is_made_up_for_joins_in_several_methods(arenaut, tmp_path):
    tensors, methods = zip(*(joining_method(name) for name in ("encode", "decode")))
    document = {"schema": "arenaut.program/1", "dialect": "onnx", "dialect_version": 17,
                "tensors": [tensor for some in tensors for tensor in some],
                "methods": list(methods)}
    path = tmp_path / "methods.json"
    path.write_text(json.dumps(document))
    done = arenaut("size", path, "--passes", "slices", "--reorder", "on")
    assert done.returncode == 0 and "of 8 joins in place" in done.stdout
    assert "no bound of all choices is known" in done.stdout and " 0 in any" not in done.stdout


def sized(arenaut, path, sizes, ops, *flags):
    """What `size` says of ops (operand, results), whose results are those of the model."""
    made = [name for _, results in ops for name in results]
    read = {operand for operand, _ in ops}
    document = {"schema": "arenaut.program/1", "inputs": sorted(read - set(made)),
                "outputs": [name for name in made if name not in read],
                "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
                "ops": [{"name": "RESIZE", "inputs": [operand], "outputs": results}
                        for operand, results in ops]}
    path.write_text(json.dumps(document))
    return arenaut("size", path, *flags).stdout


def test_an_order_that_spills_more_is_not_called_best(arenaut, tmp_path):
    """However the ops are ordered, 72 bytes are needed in all; how many of them have to be in the
    slower pool, and for how long, depends on the order."""
    path, sizes = tmp_path / "pools.json", {"x": 16, "y": 16, "a": 8, "b": 32, "c": 16}
    ops = [("y", ["b"]), ("x", ["a"]), ("y", ["c"])]
    pools = ("--pool", "fast=48", "--pool", "slow=1M")
    assert "64 byte-uses" in sized(arenaut, path, sizes, ops, *pools)
    ordered = sized(arenaut, path, sizes, ops, "--reorder", "on", *pools)
    assert "order " in ordered and "no other order helps" not in ordered
    alone = sized(arenaut, path, sizes, ops, "--reorder", "on")
    assert "no other order helps (proven)" in alone


def test_no_order_is_taken_that_uses_slower_pools_more(arenaut, tmp_path):
    """In the order in which least is alive, more of it is in the slower pool, and for longer."""
    path, sizes = tmp_path / "pools.json", {"x": 32, "a": 32, "b": 8, "c": 16, "d": 8}
    ops = [("x", ["a"]), ("x", ["b", "c"]), ("a", ["d"])]
    pools = ("--pool", "fast=48", "--pool", "slow=1M")
    assert "80 byte-uses" in sized(arenaut, path, sizes, ops, *pools)
    assert "80 byte-uses" in sized(arenaut, path, sizes, ops, "--reorder", "on", *pools)
    assert "instead of" in sized(arenaut, path, sizes, ops, "--reorder", "on")


def test_a_printed_order_is_read_again(arenaut, tmp_path):
    """The documents of plan and explain keep to the schema, and check takes them."""
    import jsonschema
    schema = json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text())
    path, printed = tmp_path / "model.tflite", tmp_path / "plan.json"
    joins = tmp_path / "joins.tflite"
    path.write_bytes(branches(1, 7))
    joins.write_bytes(joined(1))
    for arguments in (["plan", "--reorder", "on"], ["size", "--reorder", "on"], ["explain", "--effort", "100000"],
                      ["plan", "--split", "on", DATA / "resnet_int8.tflite"],
                      ["plan", "--passes", "slices", "--reorder", "on", joins]):
        model = [path] if isinstance(arguments[-1], str) else []
        printed.write_text(arenaut(*arguments, *model, "--json").stdout)
        jsonschema.validate(json.loads(printed.read_text()), schema)
        arenaut("check", printed)


def test_explain_says_what_another_order_saves(arenaut, arenaut_json, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(branches(1, 7))
    arena = arenaut_json("plan", path, "--reorder", "on")["result"]["arena"]
    explained = "explain", path, "--effort", "100000"
    document = arenaut_json(*explained)
    remedy, = (each for each in document["remedies"] if each.get("flags") == "--reorder on")
    assert remedy["arena"] == arena < document["result"]["arena"]
    assert remedy["order"]["proven"] and remedy["order"]["best"] < remedy["order"]["given"]
    line, = (each for each in arenaut(*explained).stdout.splitlines() if "--reorder on" in each)
    assert f"head {arena:,}, to reserve {remedy['reserve']:,}, saves {remedy['saves']:,}" in line
    chain = arenaut("explain", DATA / "resnet_int8.tflite").stdout
    assert "saves nothing: no other order helps (proven)" in chain


def test_training_graphs_say_what_an_order_saves(arenaut, arenaut_json, tmp_path):
    """A loss and gradients that are results: their order counts as well."""
    document = arenaut_json("size", "--reorder", "on", DATA / "pt2" / "gradients.pt2")
    assert document["order"]["proven"] and document["order"]["ops"] is None
    assert "order (--reorder on)" in arenaut("explain", DATA / "pt2" / "gradients.pt2").stdout
    updates = {"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["loss"],
               "tensors": [{"name": name, "bytes": size, **more} for name, size, more in (
                   ("x", 64, {}), ("loss", 64, {}), ("w", 512, {"class": "state"}),
                   ("v", 512, {"class": "state"}), ("gw", 512, {}), ("gv", 512, {}))],
               "ops": [{"name": "LOSS", "inputs": ["x", "w", "v"], "outputs": ["loss"]},
                       {"name": "GRAD", "inputs": ["loss", "x"], "outputs": ["gw"]},
                       {"name": "GRAD", "inputs": ["loss", "x"], "outputs": ["gv"]},
                       {"name": "SGD", "kind": "in_place", "inputs": ["w", "gw"], "outputs": ["w"]},
                       {"name": "SGD", "kind": "in_place", "inputs": ["v", "gv"], "outputs": ["v"]}]}
    path = tmp_path / "training.program.json"
    path.write_text(json.dumps(updates))
    order = arenaut_json("plan", "--reorder", "on", path)["order"]
    assert order["given"] - order["best"] == 512 and order["bound"] == order["best"]
    assert order["ops"][0] == 0


def tangle(n_ops, near, sizes, seed):
    """Each op reads up to three of the results before it: nearly any may run at any time."""
    draw = random.Random(seed)
    tensors, ops = [{"name": "x", "bytes": 8, "caller_owned": True}], []
    for op in range(n_ops):
        tensors.append({"name": f"t{op}", "bytes": 16 << draw.randrange(sizes)})
        reads = {op - 1 - draw.randrange(min(op, near)) for _ in range(1 + draw.randrange(3))} if op else ()
        ops.append({"name": "F", "kind": "out", "inputs": [f"t{each}" for each in sorted(reads)] or ["x"], "outputs": [f"t{op}"]})
    return {"schema": "arenaut.program/1", "tensors": tensors, "inputs": ["x"], "outputs": [f"t{n_ops - 1}"], "ops": ops}


def test_schedules_of_windows_alone_are_laid_out_beside_annealed_ones(arenaut, arenaut_json, tmp_path):
    """Annealed ones scatter ops, and were laid out in 11,968 bytes, with a peak of 10,608."""
    path, planned = tmp_path / "tangle.json", tmp_path / "planned.json"
    path.write_text(json.dumps(tangle(1100, 40, 8, 2)))
    found = arenaut_json("plan", path, "--reorder", "on", "-o", planned)
    assert found["result"]["arena"] <= 10_700
    assert found["order"]["bound"] == 10_096
    assert arenaut("check", planned).returncode == 0


def test_no_plan_is_said_of_the_order_alone(arenaut, tmp_path):
    """The schedules that are laid out do not fit, but one that needs more bytes at once does."""
    sizes = dict(t0=12, t1=20, t2=12, t3=12, t4=8, t5=20, t7=16, t8=8)
    ops = [
        {"name": "CONV_2D", "inputs": ["t0", "t1"], "outputs": ["t2"]},
        {"name": "CONV_2D", "inputs": ["t0"], "outputs": ["t3"], "in_place": [[0, 0]], "scratch": ["t4"]},
        {"name": "ADD", "inputs": ["t0", "t2", "t3"], "outputs": ["t5"], "in_place": [[0, 0]]},
        {"name": "RELU", "inputs": ["t6"], "outputs": ["t7"], "in_place": [[0, 0]], "scratch": ["t8"]},
    ]
    program = {"schema": "arenaut.program/1", "inputs": ["t0", "t1"], "outputs": ["t5"], "ops": ops,
               "tensors": [*({"name": name, "bytes": size} for name, size in sizes.items()),
                           {"name": "t6", "bytes": 20, "view_of": "t1"}]}
    words = ["--inplace", "on", "--overlap", "on", "--pool", "a=62"]

    def said(order, *more, exit):
        path = tmp_path / "x.program.json"
        path.write_text(json.dumps({**program, "ops": [ops[i] for i in order]}))
        return arenaut("plan", path, *words, *more, exit=exit).stderr

    said([3, 0, 1, 2], exit=0)
    assert ": there is no plan: at op" in said([0, 1, 2, 3], exit=1)
    assert ": there is no plan for these ops in this order: at op" in said([0, 1, 2, 3], "--reorder", "on", exit=1)
