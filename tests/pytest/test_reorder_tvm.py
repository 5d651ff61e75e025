"""Reordered TVM graphs, played as the graph executor plays them: nodes in the order of the list, values
in the blocks that storage ids stand for. TVM itself is no package that could be installed."""

import hashlib
import json
import os
import subprocess

import numpy as np
from conftest import COMMAND
from drawn import drawn

SIDE = 16
THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))


def branches(seed, n_nodes=16):
    """Nodes that read random values that are there already, wide and narrow; every third one brings
    a parameter of its own, which stands in front of it."""
    random = np.random.RandomState(seed)
    nodes, shapes, rows, unread = [], [], [0], []

    def add(node, *widths):
        nodes.append(node)
        shapes.extend([SIDE, width] for width in widths)
        rows.append(len(shapes))
        return len(nodes) - 1

    def op(inputs, *widths):
        if len(nodes) % 3 == 0:
            inputs = [*inputs, [add({"op": "null", "name": f"p{len(nodes)}", "inputs": []}, 1), 0, 0]]
        attrs = {"func_name": f"fused_{len(nodes)}", "num_inputs": str(len(inputs)),
                 "num_outputs": str(len(widths)), "flatten_data": "0"}
        return add({"op": "tvm_op", "name": f"n{len(nodes)}", "attrs": attrs, "inputs": inputs},
                   *widths)

    made = [[add({"op": "null", "name": "x", "inputs": []}, 2), 0, 0]]
    for _ in range(n_nodes):
        source = made[random.randint(len(made))]
        if source in unread:
            unread.remove(source)
        widths = [int(random.choice([1, 2, 16, 96])) for _ in range(1 + (random.randint(4) == 0))]
        node = op([source], *widths)
        made += [[node, output, 0] for output in range(len(widths))]
        unread += [[node, output, 0] for output in range(len(widths))]
    narrow = [[op([source], 2), 0, 0] for source in unread]
    total = narrow[0]
    for value in narrow[1:]:
        total = [op([total, value], 2), 0, 0]
    n = len(shapes)
    return {"nodes": nodes,
            "arg_nodes": [i for i, node in enumerate(nodes) if node["op"] == "null"],
            "heads": [total],
            "attrs": {"dltype": ["list_str", ["float32"] * n],
                      "storage_id": ["list_int", list(range(n))],
                      "storage_scope": ["list_str", ["global"] * n],
                      "shape": ["list_shape", shapes]},
            "node_row_ptr": rows}


def play(graph):
    """What the heads hold in the end: each function's results stand for its name and operands. A value
    that was overwritten before it was read shows in all that is made of it."""
    storage, rows = graph["attrs"]["storage_id"][1], graph["node_row_ptr"]
    memory = {}

    def entry(reference):
        return memory[storage[rows[reference[0]] + reference[1]]]

    for i, node in enumerate(graph["nodes"]):
        if node["op"] == "null":
            memory[storage[rows[i]]] = f"{node['name']} {i in graph['arg_nodes']}"
            continue
        assert all(reference[0] < i for reference in node["inputs"])
        known = [node["attrs"]["func_name"], *map(entry, node["inputs"])]
        for output in range(rows[i + 1] - rows[i]):
            shape = graph["attrs"]["shape"][1][rows[i] + output]
            text = json.dumps([known, output, shape])
            memory[storage[rows[i] + output]] = hashlib.sha256(text.encode()).hexdigest()
    return [entry(head) for head in graph["heads"]]


def test_reordered_graphs_compute_the_same_in_less_memory(arenaut, arenaut_json, tmp_path):
    reordered = 0
    for seed in range(20 * THOROUGH):
        graph = branches(seed)
        path, output = tmp_path / f"{seed}.graph.json", tmp_path / f"{seed}.reordered.graph.json"
        path.write_text(json.dumps(graph, indent=seed % 3))
        given = arenaut_json("plan", path)["result"]["arena"]
        document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
        assert arenaut("check", output).returncode == 0
        written = json.loads(output.read_text())
        assert play(written) == play(graph)
        if document["order"]["ops"] is None:
            continue
        reordered += 1
        assert document["result"]["arena"] < given
        assert arenaut_json("plan", output)["result"]["arena"] == document["result"]["arena"]
        assert {node["name"] for node in written["nodes"]} == {node["name"] for node in graph["nodes"]}
    assert reordered >= 10 * THOROUGH


def in_turn(graph):
    """Narrow results in memory that is not planned, such as textures: a storage id for several of them, one
    after the other."""
    ids, scopes = graph["attrs"]["storage_id"][1], graph["attrs"]["storage_scope"][1]
    rows, last, free = graph["node_row_ptr"], {}, []
    for i, node in enumerate(graph["nodes"]):
        last.update({rows[source] + output: i for source, output, _ in node["inputs"]})
    last.update({rows[source] + output: len(rows) for source, output, _ in graph["heads"]})
    for i, node in enumerate(graph["nodes"]):
        made = range(rows[i], rows[i + 1])
        for entry in made:
            if node["op"] != "null" and graph["attrs"]["shape"][1][entry][1] <= 2:
                scopes[entry] = "global.texture"
                ids[entry] = free.pop() if free else ids[entry]
        ended = {rows[source] + output for source, output, _ in node["inputs"]} | set(made)
        free += [ids[entry] for entry in sorted(ended) if scopes[entry] != "global" and last.get(entry, i) <= i]
    return graph


def test_values_that_take_over_memory_left_alone_keep_their_sequence(arenaut_json, tmp_path):
    reordered = 0
    for seed in range(20 * THOROUGH):
        graph = in_turn(branches(seed))
        ordering = arenaut_json_of(arenaut_json, tmp_path, graph)["order"]
        written = json.loads((tmp_path / "out.graph.json").read_text())
        assert play(written) == play(graph)
        reordered += ordering["ops"] is not None
    assert reordered >= 5 * THOROUGH


def test_what_the_player_finds():
    """It is no proof of anything unless it sees a value that is overwritten too early."""
    graph = branches(1)
    spoiled = json.loads(json.dumps(graph))
    ids = spoiled["attrs"]["storage_id"][1]
    ids[1:] = [1] * len(ids[1:])
    assert play(spoiled) != play(graph)


def test_control_dependences_are_kept(arenaut, arenaut_json, tmp_path):
    """What a node states to run after comes before it, and is named by its new number."""
    graph = branches(3)
    ops = [i for i, node in enumerate(graph["nodes"]) if node["op"] == "tvm_op"]
    free = arenaut_json_of(arenaut_json, tmp_path, graph)["order"]["ops"]
    late, early = (ops[i] for i in (free[-8], free[4]))
    if late > early:  # against today's order
        late, early = early, late
    graph["nodes"][early]["control_deps"] = [late]
    arenaut_json_of(arenaut_json, tmp_path, graph)
    written = json.loads((tmp_path / "out.graph.json").read_text())
    names = [node["name"] for node in written["nodes"]]
    at = names.index(graph["nodes"][early]["name"])
    first = names.index(graph["nodes"][late]["name"])
    assert written["nodes"][at]["control_deps"] == [first] and first < at
    assert play(written) == play(graph)


def arenaut_json_of(arenaut_json, folder, graph):
    """The plan of a graph in the best order, which goes to out.graph.json."""
    path = folder / "in.graph.json"
    path.write_text(json.dumps(graph))
    return arenaut_json("plan", path, "--reorder", "on", "-f", "-o", folder / "out.graph.json")


def drawn_graph(seed):
    """A few nodes with any storage ids, some of them of textures; nodes that do nothing have that of their operand."""
    random = np.random.RandomState(seed)
    n = random.randint(4, 9)
    nodes, ids, textures = [], [], random.randint(2, size=n)
    for i in range(n):
        if i < 2:
            nodes.append({"op": "null", "name": f"x{i}", "inputs": []})
            ids.append(random.randint(n))
            continue
        inputs = [[int(k), 0, 0] for k in random.choice(i, random.randint(1, 3), replace=False)]
        nop = random.randint(5) == 0
        nodes.append({"op": "tvm_op", "name": f"n{i}", "inputs": inputs[:1] if nop else inputs,
                      "attrs": {"func_name": "__nop" if nop else "f", "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}})
        ids.append(ids[inputs[0][0]] if nop else random.randint(n))
    ids = [int(each) for each in ids]
    return {"nodes": nodes, "arg_nodes": [0, 1], "heads": [[n - 1, 0, 0]], "node_row_ptr": list(range(n + 1)),
            "attrs": {"dltype": ["list_str", ["float32"] * n], "storage_id": ["list_int", ids], "shape": ["list_shape", [[4]] * n],
                      "storage_scope": ["list_str", ["global.texture" if textures[each] else "global" for each in ids]]}}


def reads_what_was_written(graph):
    """No value is overwritten before its last reader, and no result lies over an operand of its node."""
    ids, memory, value = graph["attrs"]["storage_id"][1], {}, {}
    for i in graph["arg_nodes"]:
        if ids[i] in memory:
            return False
        memory[ids[i]] = value[i] = i
    for i, node in enumerate(graph["nodes"]):
        operands = [source for source, _, _ in node["inputs"]]
        if operands and node["attrs"]["func_name"] == "__nop":
            value[i] = value[operands[0]]
        elif operands:
            if any(memory[ids[each]] != value[each] or ids[each] == ids[i] for each in operands):
                return False
            memory[ids[i]] = value[i] = i
    return all(memory[ids[head]] == value[head] for head, _, _ in graph["heads"])


def test_any_storage_ids_are_right_or_wrong_as_a_run_shows(tmp_path):
    counts, path = {True: 0, False: 0}, tmp_path / "drawn.graph.json"
    for seed in range(drawn(400)):
        graph = drawn_graph(seed)
        path.write_text(json.dumps(graph))
        done = subprocess.run([COMMAND, "check", path], capture_output=True, text=True, check=False)
        right = reads_what_was_written(graph)
        assert (done.returncode == 0) == right, (seed, done.stdout, done.stderr)
        counts[right] += 1
    assert min(counts.values()) > drawn(400) // 20, counts
