"""Nodes that run again in ONNX models: the stock ONNX Runtime computes the same bits, and runs each of them
where it stands, where the session is told to keep them."""

import numpy as np
import onnxruntime
import pytest
from conftest import DATA

import onnx_file
from onnx_session import executed, session

BOTH = ["--recompute", "on", "--reorder", "on"]
SIDE = 8


def waiting(seed):
    """What cheap nodes make of `a` waits below products with many columns, by turns."""
    random = np.random.RandomState(seed)
    nodes, weights = [onnx_file.node("MatMul", ["x", "x"], ["a"])], []
    cheap, total = [], "a"
    for i in range(random.randint(1, 4)):
        operator = random.choice(["Sigmoid", "Tanh", "Relu", "Softplus", "Exp"])
        nodes.append(onnx_file.node(str(operator), ["a"], [f"cheap_{i}"]))
        cheap.append(f"cheap_{i}")
    for i in range(random.randint(1, 4)):
        columns = 8 * int(random.randint(4, 12))
        for name, shape in ((f"w_{i}", (SIDE, columns)), (f"v_{i}", (columns, SIDE))):
            weights.append(onnx_file.constant(name, random.uniform(-0.2, 0.2, shape)))
        read = [total, cheap[i % len(cheap)]]
        nodes += [onnx_file.node("Add", read, [f"sum_{i}"]), onnx_file.node("MatMul", [f"sum_{i}", f"w_{i}"], [f"wide_{i}"]),
                  onnx_file.node("MatMul", [f"wide_{i}", f"v_{i}"], [f"total_{i}"])]
        total = f"total_{i}"
    for i, name in enumerate(cheap):
        nodes.append(onnx_file.node("Mul", [total, name], [f"end_{i}"]))
        total = f"end_{i}"
    nodes.append(onnx_file.node("Add", [total, "a"], ["y"]))
    ends = onnx_file.typed("x", SIDE, SIDE), onnx_file.typed("y", SIDE, SIDE)
    return onnx_file.model(onnx_file.graph(nodes, ends[:1], ends[1:], weights))


@pytest.mark.parametrize("flags", [BOTH[:2], BOTH, BOTH + ["--inplace", "on"]])
def test_models_compute_the_same_in_less_memory(arenaut, arenaut_json, tmp_path, flags):
    feeds = {"x": np.random.RandomState(1).uniform(-1, 1, (SIDE, SIDE)).astype("f4")}
    written = 0
    for seed in range(16):
        path, output = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.again.onnx"
        path.write_bytes(waiting(seed))
        document = arenaut_json("plan", path, *flags, "-o", output)
        if not document["recompute"]["added_ops"]:
            continue
        written += 1
        assert document["result"]["arena"] < arenaut_json("plan", path, *flags[4:])["result"]["arena"]
        assert arenaut_json("plan", output, *flags[4:])["result"]["arena"] == document["result"]["arena"]
        first, second = (session(each).run(None, feeds)[0] for each in (path, output))
        assert first.tobytes() == second.tobytes()
        before, after = executed(path, feeds, tmp_path), executed(output, feeds, tmp_path)
        assert len(after) == len(before) + document["recompute"]["added_ops"]
        assert after == sorted(after)
    assert written >= 6


def test_copies_have_names_of_their_own(arenaut, arenaut_json, tmp_path):
    """tests/models/make_onnx.py has the model, in which a value is called as its first copy would be."""
    path, output = DATA / "onnx" / "waiting.onnx", tmp_path / "again.onnx"
    document = arenaut_json("plan", path, *BOTH, "-o", output)
    assert document["recompute"]["added_ops"] == 1
    data = output.read_bytes()
    assert data.count(b"b__again_3") == 3  # who makes it, who reads it, and what is said of it
    assert data.count(b"gate__again_2") == 1
    x = np.random.RandomState(0).randn(8, 8).astype("f4")
    first, second = (session(each).run(None, {"x": x})[0] for each in (path, output))
    assert first.tobytes() == second.tobytes()


def kept(folder, output, **settings):
    """Whether both nodes are still there once the session has rewritten the model."""
    merged = folder / "merged.onnx"
    level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session(output, graph_optimization_level=level, optimized_model_filepath=str(merged), log_severity_level=3,
            **settings)
    return merged.read_bytes().count(b"Sigmoid") == 2


def test_by_default_the_runtime_makes_one_node_of_what_is_the_same(arenaut, tmp_path):
    """Why docs/recompute.md says how to keep them."""
    output = tmp_path / "again.onnx"
    arenaut("plan", DATA / "onnx" / "waiting.onnx", *BOTH, "-o", output)
    assert len(executed(output, {"x": np.ones((8, 8), "f4")}, tmp_path)) == 10
    assert not kept(tmp_path, output)
    assert kept(tmp_path, output, without=["CommonSubexpressionElimination"])
