"""Reordered ONNX models in the stock ONNX Runtime: the same bits, less memory at once, and the
nodes in the order of the file, where the session is told to keep it."""

import os

import numpy as np
import pytest

import onnx_file
import random_branches
from onnx_session import executed, session

SIDE = 8
THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))


def branches(seed, n_nodes=14):
    nodes, constants, total = random_branches.products(np.random.RandomState(seed), "v", "x", n_nodes)
    nodes.append(onnx_file.node("Relu", [total], ["y"]))
    ends = onnx_file.typed("x", SIDE, 2), onnx_file.typed("y", SIDE, 2)
    return onnx_file.model(onnx_file.graph(nodes, ends[:1], ends[1:], constants))


def test_reordered_models_compute_the_same_and_run_in_the_order_of_the_file(
        arenaut_json, reschedule, tmp_path):
    feeds = {"x": np.random.RandomState(1).uniform(-1, 1, (SIDE, 2)).astype("f4")}
    reordered = 0
    for seed in range(12 * THOROUGH):
        path, output = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.reordered.onnx"
        path.write_bytes(branches(seed))
        order, arena = reschedule(path, output)
        if order is None:
            assert output.read_bytes() == path.read_bytes()
            continue
        reordered += 1
        assert len(output.read_bytes()) == len(path.read_bytes())
        assert arenaut_json("plan", output)["result"]["arena"] == arena
        first, second = (session(each).run(None, feeds)[0] for each in (path, output))
        assert first.tobytes() == second.tobytes()
        ran = executed(output, feeds, tmp_path)
        assert ran == sorted(ran) and len(ran) == len(order["ops"])
        again = arenaut_json("plan", output, "--reorder", "on")["order"]
        assert again["given"] == again["bound"] == order["best"]
    assert reordered >= 6 * THOROUGH


def test_without_an_order_there_is_nothing_to_write(arenaut, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(branches(0))
    done = arenaut("plan", path, "-o", tmp_path / "planned.onnx", exit=2)
    assert "--reorder on" in done.stderr
    assert not (tmp_path / "planned.onnx").exists()


def calls_and_others(path):
    """Two calls of a function, each before another node."""
    body = [onnx_file.node("Relu", ["a"], ["b"]), onnx_file.node("Neg", ["b"], ["c"])]
    function = (onnx_file.field(1, "Twice") + onnx_file.field(4, "a") + onnx_file.field(5, "c") +
                b"".join(onnx_file.field(7, each) for each in body) +
                onnx_file.field(10, "local") + onnx_file.field(9, onnx_file.field(2, 17)))
    nodes = [onnx_file.node("Twice", ["x"], ["p"]) + onnx_file.field(7, "local"),
             onnx_file.node("Exp", ["x"], ["q"]),
             onnx_file.node("Twice", ["x"], ["r"]) + onnx_file.field(7, "local"),
             onnx_file.node("Abs", ["x"], ["s"]), onnx_file.node("Sum", ["p", "q", "r", "s"], ["y"])]
    main = onnx_file.graph(nodes, [onnx_file.typed("x", 4)], [onnx_file.typed("y", 4)])
    path.write_bytes(onnx_file.model(main) + onnx_file.field(25, function) +
                     onnx_file.field(8, onnx_file.field(1, "local") + onnx_file.field(2, 1)))


def test_models_of_functions_stay_as_they_are(arenaut, tmp_path):
    """A node that calls a function stands for several ops. Where these run does not depend on where
    it stands: ONNX Runtime inlines them, behind all other nodes."""
    path = tmp_path / "function.onnx"
    calls_and_others(path)
    done = arenaut("plan", path, "--reorder", "on")
    assert "nothing is reordered" in done.stderr and "several ops" in done.stderr
    ran = executed(path, {"x": np.ones(4, "f4")}, tmp_path)
    exp, absolute, total, first_of_bodies = 1, 3, 4, 5
    assert ran[:2] == [exp, absolute] and ran[-1] == total and min(ran[2:-1]) >= first_of_bodies


@pytest.mark.parametrize("end", [0.3, 0.7, 0.99])
def test_cut_off_models_are_refused(arenaut, tmp_path, end):
    bytes_ = branches(1)
    path = tmp_path / "cut.onnx"
    path.write_bytes(bytes_[:int(len(bytes_) * end)])
    arenaut("plan", path, "--reorder", "on", "-o", tmp_path / "out.onnx", exit=3)


def joins(seed):
    """Rows that are made of the input, some wide on the way, and joined; then what was joined is
    joined with others."""
    random = np.random.RandomState(seed)
    rows_first = onnx_file.field(1, "axis") + onnx_file.field(3, 0) + onnx_file.field(20, 2)
    nodes, constants, rows, n_rows = [], [], [], random.randint(3, 7)
    for i in range(n_rows):
        wide = int(random.choice([2, 4, 24]))
        for name, shape in ((f"w{i}", (2, wide)), (f"v{i}", (wide, 2))):
            constants.append(onnx_file.constant(name, random.uniform(-1, 1, shape)))
        nodes += [onnx_file.node("MatMul", ["x", f"w{i}"], [f"a{i}"]),
                  onnx_file.node("MatMul", [f"a{i}", f"v{i}"], [f"b{i}"])]
        rows.append(f"b{i}")
    while len(rows) > 1:
        n = int(random.randint(2, len(rows) + 1))
        nodes.append(onnx_file.node("Concat", rows[:n], [f"j{len(rows)}"], rows_first))
        rows = [f"j{len(rows)}"] + rows[n:]
    nodes.append(onnx_file.node("Relu", rows, ["y"]))
    ends = onnx_file.typed("x", SIDE, 2), onnx_file.typed("y", SIDE * n_rows, 2)
    return onnx_file.model(onnx_file.graph(nodes, ends[:1], ends[1:], constants))


def test_a_runtime_that_joins_nothing_in_place_needs_no_more(arenaut, arenaut_json, tmp_path):
    """The order is the best one with joins in place, which ONNX Runtime does not know."""
    written = 0
    for seed in range(10, 10 + 10 * THOROUGH):
        path, output = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.reordered.onnx"
        path.write_bytes(joins(seed))
        arenaut("plan", path, "--passes", "slices", "--reorder", "on", "-o", output)
        before, after = (arenaut_json("size", file)["baseline"]["arena"]
                         for file in (path, output))
        assert after <= before
        written += after < before
    assert written >= THOROUGH
