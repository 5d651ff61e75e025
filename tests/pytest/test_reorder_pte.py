"""Reordered .pte files in the stock ExecuTorch runtime, which runs instructions in the order of the
list: less memory, and every instruction leaves the bytes that it left before."""

import json
import os

import pytest
from conftest import DATA, corpus_params

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import make_pte  # noqa: E402
import pte_runtime  # noqa: E402
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, naive  # noqa: E402
from executorch.exir.passes import MemoryPlanningPass  # noqa: E402
from test_runtime_executorch import NO_KERNELS, NO_WEIGHTS, OVERLAPPING, STATE  # noqa: E402
from torch import nn  # noqa: E402


THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))


class Branches(nn.Module):
    """Wide branches of a narrow value, all of them before any is narrow again; state that is read
    before it changes, and a view in each branch."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        widths = torch.randint(8, 96, (5,)).tolist()
        self.wide = nn.ModuleList(nn.Linear(4, width) for width in widths)
        self.narrow = nn.ModuleList(nn.Linear(width, 4) for width in widths)
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x):
        old = self.count + 1
        self.count.add_(x.sum(0))
        wide = [layer(x).relu().reshape(-1) for layer in self.wide]
        narrow = [layer(value.reshape(-1, layer.in_features))
                  for layer, value in zip(self.narrow, wide)]
        return sum(narrow) + old


class Sized(Branches):
    """The same for any number of rows: sizes are numbers that instructions write and read."""

    def forward(self, x):
        rows = x.shape[0]
        wide = [layer(x).relu().reshape(rows * layer.out_features) for layer in self.wide]
        narrow = [layer(value.reshape(rows, layer.in_features))
                  for layer, value in zip(self.narrow, wide)]
        return sum(narrow)


def exported(module, **more):
    recipe = make_pte.Recipe({"forward": (module.eval(), (make_pte.values((3, 4)),))}, **more)
    with make_pte.quiet():
        return recipe.bytes()


def made(call, order=None):
    """What each instruction left, by the number that it had before."""
    left = {}
    for instruction, value in call["made"]:
        left.setdefault(order[instruction] if order else instruction, []).append(value)
    return left


def by_method(arenaut, path, order):
    """The order of each method's own instructions."""
    orders, first = {}, 0
    for method in json.loads(arenaut("export", path, "--as", "program").stdout)["methods"]:
        end = first + len(method.get("ops", []))
        orders[method["name"]] = [number - first for number in order[first:end]]
        first = end
    return orders


def same_runs(path, output, orders, methods=("forward",), modes=("keep",)):
    """Every instruction of every call, and the results."""
    one, other = (pte_runtime.run(each, methods, modes=modes) for each in (path, output))
    for before, after in zip(one["calls"], other["calls"], strict=True):
        assert before["outputs"] == after["outputs"]
        assert made(before) == made(after, orders[after["method"]])
    return one["sizes"], other["sizes"]


@pytest.mark.parametrize("seed", range(3 * THOROUGH))
def test_reordered_programs_need_less_and_compute_the_same(arenaut, arenaut_json, tmp_path, seed):
    path, output = tmp_path / "branches.pte", tmp_path / "reordered.pte"
    path.write_bytes(exported(Branches(seed)))
    given = arenaut_json("plan", path)["result"]["arena"]
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    order = document["order"]
    assert order["proven"] and order["best"] < order["given"]
    assert document["result"]["arena"] < given
    before, after = same_runs(path, output, by_method(arenaut, path, order["ops"]))
    assert sum(after["forward"]) == document["result"]["arena"] < sum(before["forward"])
    assert len(output.read_bytes()) <= len(path.read_bytes()) + 4096
    arenaut("check", output)


def test_a_reordered_file_is_not_reordered_again(arenaut_json, tmp_path):
    path, output, again = (tmp_path / name for name in ("1.pte", "2.pte", "3.pte"))
    path.write_bytes(exported(Branches(1)))
    first = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    second = arenaut_json("plan", output, "--reorder", "on", "-o", again)
    assert second["order"]["given"] == second["order"]["bound"] == first["order"]["best"]
    assert again.read_bytes() == output.read_bytes()


def test_each_method_is_reordered_by_itself(arenaut, arenaut_json, tmp_path):
    """What is alive is counted in both, since each has memories of its own."""
    path, output = tmp_path / "methods.pte", tmp_path / "reordered.pte"
    inputs = (make_pte.values((3, 4)),)
    recipe = make_pte.Recipe({name: (Branches(seed).eval(), inputs)
                              for seed, name in enumerate(("first", "second"))})
    with make_pte.quiet():
        path.write_bytes(recipe.bytes())
    given = arenaut_json("plan", path)["result"]["arena"]
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    order = document["order"]
    assert order["proven"] and order["best"] < order["given"]
    orders = by_method(arenaut, path, order["ops"])
    assert all(orders[name] != sorted(orders[name]) for name in ("first", "second"))
    methods = ("first", "second", "first")
    before, after = same_runs(path, output, orders, methods)
    assert sum(map(sum, after.values())) == document["result"]["arena"] < given
    assert all(sum(after[name]) < sum(before[name]) for name in orders)
    arenaut("check", output)


def test_methods_whose_state_the_plan_brings_together(arenaut, arenaut_json, tmp_path):
    """State that is each method's own in the file lies in a memory for all of them in the new one."""
    path, output = tmp_path / "methods.pte", tmp_path / "reordered.pte"
    inputs = (make_pte.values((3, 4)),)
    recipe = make_pte.Recipe({name: (Branches(seed).eval(), inputs)
                              for seed, name in enumerate(("first", "second"))},
                             config={"emit_mutable_buffer_names": True})
    with make_pte.quiet():
        path.write_bytes(recipe.bytes())
    document = arenaut_json("plan", path, "--share", "auto", "--reorder", "on", "-o", output)
    order = document["order"]
    assert order["best"] < order["given"]
    before, after = same_runs(path, output, by_method(arenaut, path, order["ops"]), ("first", "second"))
    assert all(sizes[1] == 16 for sizes in after.values()) and len(before["first"]) == 1
    arenaut("check", output, "--share", "auto")


def test_loops_are_known_with_other_ops_behind_their_query(arenaut_json, tmp_path):
    """In another order what a loop builds begins with the query of its count all the same."""
    from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary
    path, output = DATA / "pte" / "map_rows.pte", tmp_path / "moved.pte"
    file = deserialize_pte_binary(path.read_bytes())
    method = file.program.execution_plan[0]
    instructions = method.chains[0].instructions
    query = next(i for i, one in enumerate(instructions)
                 if method.operators[one.instr_args.op_index].name == "aten::sym_size")
    instructions.insert(query + 1, instructions[0])
    jump = next(one.instr_args for one in instructions if hasattr(one.instr_args, "destination_instruction"))
    jump.destination_instruction += 1
    output.write_bytes(bytes(serialize_pte_binary(file)))
    before, after = (arenaut_json("plan", each) for each in (path, output))
    state = [[row["name"] for row in each["buffers"] if row["class"] == "state"] for each in (before, after)]
    assert state == [[], []]
    assert after["result"]["arena"] == before["result"]["arena"]


class Ways(nn.Module):
    """Wide values side by side, in both ways of a branch and behind it."""

    def forward(self, flag, x, *matrices):
        def side_by_side(x, *matrices):
            wide = [torch.relu(x @ each) for each in matrices]
            return x + sum(value.sum(1, keepdim=True) for value in wide)

        def other(x, *matrices):
            wide = [torch.sigmoid(x @ each) for each in matrices]
            return x * sum(value.sum(1, keepdim=True) for value in wide)

        chosen = torch.cond(flag, side_by_side, other, (x, *matrices))
        return side_by_side(chosen + 1, *matrices)


def test_ops_move_between_jumps(arenaut, arenaut_json, tmp_path):
    path, output = tmp_path / "ways.pte", tmp_path / "reordered.pte"
    matrices = [make_pte.values((4, width), width) for width in (40, 72, 24, 56)]
    inputs = (torch.tensor(True), make_pte.values((6, 4)), *matrices)
    with make_pte.quiet():
        path.write_bytes(make_pte.Recipe({"forward": (Ways(), inputs)}).bytes())
    given = arenaut_json("plan", path)["result"]["arena"]
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    order = document["order"]
    assert order["between_jumps"] and order["proven"] and order["best"] < order["given"]
    assert document["result"]["arena"] < given
    assert "proven to be the least of orders between its jumps" in arenaut(
        "size", "--reorder", "on", path).stdout
    one, other = (pte_runtime.Python(each.read_bytes()) for each in (path, output))
    for seed, flag in enumerate((True, False, True)):
        values = (torch.tensor(flag), make_pte.values((6, 4), seed), *matrices)
        assert pte_runtime.same_bits(one.call(*values), other.call(*values))
    arenaut("check", output)
    again = arenaut_json("plan", output, "--reorder", "on")["order"]
    assert again["given"] == again["bound"] == order["best"]


def test_sizes_are_computed_before_they_are_used(arenaut_json, tmp_path):
    path, output = tmp_path / "sized.pte", tmp_path / "reordered.pte"
    batch = {"forward": ({0: torch.export.Dim("rows", min=2, max=12)},)}
    path.write_bytes(exported(Sized(1), dynamic=batch))
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    assert document["order"] is not None
    one, other = (pte_runtime.Python(each.read_bytes()) for each in (path, output))
    for rows in (2, 5, 12):
        inputs = make_pte.values((rows, 4), rows)
        assert pte_runtime.same_bits(one.call(inputs), other.call(inputs))


ALL = [pytest.param(path, id=path.stem) for path in sorted((DATA / "pte").glob("*.pte"))] + \
    corpus_params("pte/*.pte")
RUNNABLE = [param for param in ALL if param.id not in NO_KERNELS | NO_WEIGHTS | OVERLAPPING]


@pytest.mark.parametrize("path", RUNNABLE)
def test_real_programs_keep_their_meaning(arenaut, arenaut_json, tmp_path, path):
    output = tmp_path / path.name
    document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
    assert document["result"]["arena"] <= arenaut_json("plan", path)["result"]["arena"]
    arenaut("check", output)
    order = document.get("order")
    if order and order["ops"]:  # else it is a plan like others, which are run elsewhere
        same_runs(path, output, by_method(arenaut, path, order["ops"]), *STATE.get(path.stem, (("forward",), ())))


class Delegated(nn.Module):
    """One delegate of two results behind a value of their size that is dead by then."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)

    def forward(self, x):
        first = self.first(x.cumsum(2).cumsum(3))
        narrow = [first.cumsum(2), self.second(first).cumsum(2)]
        wide = [value.repeat(1, 3, 1, 1) for value in narrow]
        return torch.cat([value.cumsum(1).sum(1) for value in wide])


def test_results_of_delegates_that_would_read_as_views_are_refused(arenaut, arenaut_json, tmp_path):
    suite = MemoryPlanningAlgorithmSuite([naive])
    planning = MemoryPlanningPass(memory_planning_algo=suite)
    recipe = make_pte.Recipe({"forward": (Delegated().eval(), (make_pte.values((1, 4, 8, 8)),))},
                             partition=True, config={"memory_planning_pass": planning})
    before, after = tmp_path / "before.pte", tmp_path / "after.pte"
    with make_pte.quiet():
        before.write_bytes(recipe.bytes())
    buffers = arenaut_json("plan", before)["buffers"]
    dead = next(one for one in buffers if one["op"] == "aten::cumsum.out")
    first = next(one for one in buffers if one["op"] == "XnnpackBackend")
    assert (first["size"], first["first"]) == (dead["size"], dead["end"])
    pins = [word for one in (dead, first) for word in ("--pin", f"{one['name']}=arena:1024")]
    done = arenaut("plan", before, *pins, "--reorder", "on", "-o", after, exit=3)
    assert "a result of op 2 (XnnpackBackend) would lie where a value of its size" in done.stderr
    assert not after.exists()
    arenaut("plan", before, *pins, "-o", after)
    same_runs(before, after, {"forward": None})
    ways = arenaut_json("plan", before, *pins, "--smallest", "-o", after, "--force")["fit"]["ways"]
    assert all(("planned" in way) == ("--reorder" not in way["levers"]) for way in ways)
    same_runs(before, after, {"forward": None})
