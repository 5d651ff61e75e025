"""Models of which several methods have ops, each reordered by itself: branches and loops in .tflite
files and ONNX models, in the stock runtimes. Less memory, the same bits."""

import numpy as np

import tflite_compare
import micro_runtime
import onnx_file
import tflite_file
from random_branches import convolutions, products
from test_reorder_onnx import session


def image(graph, name):
    return graph.tensor(name, [1, 8, 8, 2], "FLOAT32")


def flow(seed):
    """A branch, then a loop of two turns, each with random ops in it, before it and behind it."""
    random = np.random.RandomState(seed)
    model = tflite_file.Model("flow")
    main, cond, body, then, other = (model.graph(name) for name in
                                     ("main", "cond", "body", "then", "else"))
    x, flag = image(main, "x"), main.tensor("flag", [1], "BOOL")
    chosen = main.op("IF", [flag, convolutions(main, random, x, 5)], [image(main, "chosen")],
                     thenSubgraphIndex=3, elseSubgraphIndex=4)
    start = main.constant("start", np.array([0], np.int32))
    turns, looped = main.tensor("turns", [1], "INT32"), image(main, "looped")
    main.op("WHILE", [start, chosen], [turns, looped], condSubgraphIndex=1, bodySubgraphIndex=2)
    main.io([x, flag], [convolutions(main, random, looped, 5), turns])
    i, value = cond.tensor("i", [1], "INT32"), image(cond, "value")
    limit = cond.constant("limit", np.array([2], np.int32))
    cond.io([i, value], [cond.op("LESS", [i, limit], [cond.tensor("more", [1], "BOOL")])])
    i, value = body.tensor("i", [1], "INT32"), image(body, "value")
    one = body.constant("one", np.array([1], np.int32))
    following = body.op("ADD", [i, one], [body.tensor("next", [1], "INT32")],
                        fusedActivationFunction=0)
    body.io([i, value], [following, convolutions(body, random, value, 7)])
    for graph in (then, other):
        taken = image(graph, "taken")
        graph.io([taken], [convolutions(graph, random, taken, 7)])
    return model.bytes()


def outputs_of(data, values):
    from ai_edge_litert.interpreter import Interpreter
    model = Interpreter(model_content=data)
    model.allocate_tensors()
    for detail, value in zip(model.get_input_details(), values):
        model.set_tensor(detail["index"], value)
    model.invoke()
    return [model.get_tensor(detail["index"]).tobytes() for detail in model.get_output_details()]


def test_branches_and_loops_are_reordered_inside_and_around(arenaut, reschedule, tmp_path):
    reordered = inside = 0
    for seed in range(10):
        path, output = tmp_path / f"{seed}.tflite", tmp_path / f"{seed}.reordered.tflite"
        path.write_bytes(flow(seed))
        order, _ = reschedule(path, output)
        if order is None:
            continue
        reordered += 1
        n_main = len(tflite_file.unpack(path.read_bytes()).subgraphs[0].operators)
        inside += order["ops"][n_main:] != list(range(n_main, len(order["ops"])))
        assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes(), seeds=(1, 2),
                                        runs=2) is None
        head = micro_runtime.Machine(output.read_bytes()).arena()[0]
        assert head < micro_runtime.Machine(path.read_bytes()).arena()[0]
        for flag in (False, True):
            values = [np.random.RandomState(seed).uniform(-1, 1, (1, 8, 8, 2)).astype("f4"),
                      np.array([flag])]
            assert outputs_of(path.read_bytes(), values) == outputs_of(output.read_bytes(), values)
        assert arenaut("check", output).returncode == 0
        back = tmp_path / f"{seed}.back.tflite"
        assert arenaut("strip", output, "-o", back).returncode == 0
        assert back.read_bytes() == path.read_bytes()
    assert reordered >= 6 and inside >= 4


SIDE, N_OUTER = 8, 26  # nodes of the outermost graph, at most


def held(name, graph):
    """An attribute that is a graph."""
    return onnx_file.field(1, name) + onnx_file.field(6, graph) + onnx_file.field(20, 5)


def nested(seed):
    """A branch whose ways name a value of the graph around them, one of them with a branch of its
    own, then a loop of three turns."""
    random = np.random.RandomState(seed)
    flag, values = onnx_file.typed("flag", element=9), [onnx_file.typed(name, SIDE, 2) for name in ("x", "y")]

    def way(name, more=()):
        nodes, constants, made = products(random, name, "before", 6)
        nodes += [onnx_file.node("If", ["flag"], [name + "chosen"], *more)] if more else []
        nodes.append(onnx_file.node("Add", [made, name + "chosen" if more else "before"], [name]))
        return onnx_file.graph(nodes, [], [onnx_file.typed(name, SIDE, 2)], constants, name)

    inner = [held("then_branch", way("p")), held("else_branch", way("q"))]
    ways = [held("then_branch", way("a", inner)), held("else_branch", way("b"))]
    body_nodes, body_constants, carried = products(random, "l", "state", 6)
    body_nodes += [onnx_file.node("Identity", ["go"], ["on"]),
                   onnx_file.node("Tanh", [carried], ["following"])]
    body = onnx_file.graph(
        body_nodes, [onnx_file.typed("turn", element=7), onnx_file.typed("go", element=9), onnx_file.typed("state", SIDE, 2)],
        [onnx_file.typed("on", element=9), onnx_file.typed("following", SIDE, 2)], body_constants, "body")
    nodes, constants, made = products(random, "m", "x", 4)
    last_nodes, last_constants, last = products(random, "z", "looped", 4)
    nodes += [onnx_file.node("Relu", [made], ["before"]), onnx_file.node("If", ["flag"], ["chosen"], *ways),
              onnx_file.node("Loop", ["turns", "flag", "chosen"], ["looped"], held("body", body)),
              *last_nodes, onnx_file.node("Relu", [last], ["y"])]
    turns = onnx_file.field(2, 7) + onnx_file.field(8, "turns") + onnx_file.field(
        9, np.array(3, "<i8").tobytes())
    main = onnx_file.graph(nodes, [values[0], flag], values[1:],
                           [*constants, *last_constants, turns])
    for name in ("chosen", "looped"):
        main += onnx_file.field(13, onnx_file.typed(name, SIDE, 2))
    return onnx_file.model(main)


def results_of(path, feeds):
    return session(path).run(None, feeds)[0].tobytes()


def test_graphs_within_nodes_are_reordered_with_these(arenaut_json, reschedule, tmp_path):
    values = np.random.RandomState(1).uniform(-1, 1, (SIDE, 2)).astype("f4")
    reordered = inside = 0
    for seed in range(10):
        path, output = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.reordered.onnx"
        path.write_bytes(nested(seed))
        order, arena = reschedule(path, output)
        if order is None:
            assert output.read_bytes() == path.read_bytes()
            continue
        reordered += 1
        inside += order["ops"][N_OUTER:] != list(range(N_OUTER, len(order["ops"])))
        assert len(output.read_bytes()) == len(path.read_bytes())
        assert arenaut_json("plan", output)["result"]["arena"] == arena
        for flag in (False, True):
            feeds = {"x": values, "flag": np.array(flag)}
            assert results_of(path, feeds) == results_of(output, feeds)
        again = arenaut_json("plan", output, "--reorder", "on")["order"]
        assert again["given"] == again["bound"] == order["best"]
    assert reordered >= 5 and inside >= 4
