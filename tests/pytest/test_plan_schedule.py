"""Plan files and C headers of ops in another schedule than the file's say so, and check follows the schedule."""

import json
import re

import pytest
from conftest import DATA, ROOT
from test_recompute import program

FLAGS = {"side_by_side": ["--reorder", "on"], "side_by_side smallest": ["--smallest"],
         "moved within a peak": ["--reorder", "on", "--planner", "greedy-by-breadth"],
         "repeated": ["--recompute", "on"], "repeated and moved": ["--recompute", "on", "--reorder", "on"]}


@pytest.fixture(params=FLAGS)
def planned(request, arenaut, tmp_path):
    """A model, and plans of it as JSON and as a header."""
    if request.param.startswith("repeated"):
        model = tmp_path / "waiting.json"
        model.write_text(json.dumps(program()))
    else:
        model = DATA / ("pte/side_by_side.pte" if request.param.startswith("side") else "inception_int8.tflite")
    plan, header = tmp_path / "x.plan.json", tmp_path / "x.h"
    for output in (plan, header):
        arenaut("plan", model, *FLAGS[request.param], "-o", output)
    return model, plan, header


def schedule_of(document):
    return document.get("schedule") or document["rematerialization"]["runs"]


def test_a_plan_of_another_schedule_states_it_and_is_checked_with_it(arenaut, planned):
    import jsonschema
    model, plan, header = planned
    document = json.loads(plan.read_text())
    schema = json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text())
    jsonschema.validate(document, schema)
    assert schedule_of(document) != sorted(schedule_of(document))
    for flags in ([], ["--reorder", "on"], ["--recompute", "on", "--reorder", "on"]):
        assert "a replay of the ops" in arenaut("check", model, plan, *flags).stdout
    assert "another schedule than the file's" in header.read_text()


def test_a_plan_made_of_such_a_plan_states_it_too(arenaut, planned, tmp_path):
    model, plan, _ = planned
    again, header = tmp_path / "again.plan.json", tmp_path / "again.h"
    for output in (again, header):
        arenaut("plan", plan, "-o", output)
    assert schedule_of(json.loads(again.read_text())) == schedule_of(json.loads(plan.read_text()))
    arenaut("check", model, again)
    assert "another schedule than the file's" in header.read_text()


@pytest.mark.parametrize("ops, says", [
    (list(reversed(range(17))), "it reads or overwrites other values than before"),
    ([0] * 17, "not a permutation"), ([*range(16), 99], "not a permutation"), (list(range(17)), "wrong (overlap)"),
    ([3], "cannot be followed"), ([], "cannot be followed")])
def test_a_wrong_schedule_is_a_negative_answer(arenaut, tmp_path, ops, says):
    model, plan = DATA / "pte" / "side_by_side.pte", tmp_path / "x.plan.json"
    arenaut("plan", model, "--reorder", "on", "-o", plan)
    text, n = re.subn(r'"schedule": \[.*?\]', f'"schedule": {ops}', plan.read_text())
    plan.write_text(text)
    assert n == 1
    done = arenaut("check", model, plan, exit=1)
    assert says in done.stdout + done.stderr
    assert "--" not in done.stderr and (not done.stderr or f"{plan}: 'schedule': " in done.stderr)


def test_wrong_runs_of_a_certificate_are_named_as_such(arenaut, tmp_path):
    model, plan = tmp_path / "waiting.json", tmp_path / "x.plan.json"
    model.write_text(json.dumps(program()))
    arenaut("plan", model, *FLAGS["repeated"], "-o", plan)
    document = json.loads(plan.read_text())
    member = "rematerialization" if "rematerialization" in document else "schedule"
    runs = document[member]["runs"] if member == "rematerialization" else document[member]
    runs.reverse()
    plan.write_text(json.dumps(document))
    done = arenaut("check", model, plan, exit=1)
    assert "--" not in done.stderr and f"{plan}: '{member}': the schedule: " in done.stderr


@pytest.mark.parametrize("name", ["side_by_side", "two_methods", "xnnpack_mixed"])
@pytest.mark.parametrize("member, forged", [("planned", 16), ("planned", -16), ("planned", 4096), ("now", 16), ("id", 1)])
def test_memories_beside_a_plan_are_those_of_the_model(arenaut, tmp_path, name, member, forged):
    model, plan = DATA / "pte" / f"{name}.pte", tmp_path / "x.plan.json"
    arenaut("plan", model, "-o", plan)
    arenaut("check", model, plan)
    document = json.loads(plan.read_text())
    document["memories"][0][member] += forged
    plan.write_text(json.dumps(document))
    done = arenaut("check", model, plan, exit=3 if "two" not in name and forged < 0 else 1)
    assert "memor" in done.stdout + done.stderr or "wrong (arena)" in done.stdout


def test_an_arena_between_the_plan_and_its_memory_is_wrong(arenaut, tmp_path):
    """A delegate may read behind the last buffer: the memory is larger by that."""
    model, plan = DATA / "pte" / "xnnpack_mixed.pte", tmp_path / "x.plan.json"
    arenaut("plan", model, "-o", plan)
    document = json.loads(plan.read_text())
    for place in (document["result"], document["pools"][0]):
        place["arena"] -= 16
        place["lower_bound"] = min(place["lower_bound"], place["arena"])
    plan.write_text(json.dumps(document))
    assert "wrong (arena)" in arenaut("check", plan, exit=1).stdout


def test_a_plan_in_the_files_schedule_states_none(arenaut, tmp_path):
    plan, header = tmp_path / "x.plan.json", tmp_path / "x.h"
    for output in (plan, header):
        arenaut("plan", DATA / "hello_world_int8.tflite", "--reorder", "on", "-o", output)
    assert "schedule" not in plan.read_text() and "schedule" not in header.read_text()


@pytest.mark.parametrize("name", ["inception_int8.tflite", "pte/side_by_side.pte"])
def test_a_plan_in_the_files_schedule_is_right_whatever_flags_would_move(arenaut, tmp_path, name):
    plan = tmp_path / "x.plan.json"
    arenaut("plan", DATA / name, "-o", plan)
    for flags in (["--reorder", "on"], ["--reorder", "on", "--recompute", "on"]):
        assert "a replay of the ops" in arenaut("check", DATA / name, plan, *flags).stdout


def test_a_model_that_can_be_read_once_is_no_other(arenaut, tmp_path):
    """The schedule of the file is taken, and the file is not opened again for it."""
    model, plan = DATA / "pte" / "side_by_side.pte", tmp_path / "x.plan.json"
    arenaut("plan", model, "-o", plan)
    with model.open("rb") as stream:
        assert "a replay of the ops" in arenaut("check", "-", plan, "--reorder", "on", stdin=stream).stdout


REWRITTEN = {"tiles": ("resnet_int8.tflite", ["--split", "on"]),
             "tiles that are moved": ("resnet_int8.tflite", ["--split", "on", "--reorder", "on"]),
             "tiles that reach into operands": ("resnet_int8.tflite", ["--split", "on", "--reorder", "on", "--overlap",
                                                                       "on", "--kernels", "cmsis-nn"]),
             "copies": ("pt2/parts.pt2", ["--reorder", "on"])}


@pytest.fixture(params=REWRITTEN)
def rewritten(request, arenaut, tmp_path):
    name, flags = REWRITTEN[request.param]
    plan = tmp_path / "x.plan.json"
    arenaut("plan", DATA / name, *flags, "-o", plan)
    return DATA / name, plan, request.param


def test_a_plan_of_tiles_or_copies_states_them_and_is_checked_with_them(arenaut, rewritten, tmp_path):
    import jsonschema
    model, plan, kind = rewritten
    document, again, header = json.loads(plan.read_text()), tmp_path / "again.plan.json", tmp_path / "x.h"
    jsonschema.validate(document, json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text()))
    assert ("tiles" in document, "copies" in document) == ("tiles" in kind, kind == "copies")
    assert ("schedule" in document) == (kind not in ("tiles", "copies"))
    for output in (again, header):
        arenaut("plan", plan, "-o", output)
    for stating in (plan, again):
        for flags in ([], ["--split", "on"], ["--reorder", "on"]):
            assert "a replay of the ops" in arenaut("check", model, stating, *flags).stdout
    assert ("of ops that are tiled" in header.read_text()) == ("tiles" in kind)
    assert ("another schedule than the file's" in header.read_text()) == (kind == "copies")


def test_wrong_tiles_and_copies_are_a_negative_answer(arenaut, rewritten, tmp_path):
    model, plan, kind = rewritten
    document, forged = json.loads(plan.read_text()), tmp_path / "forged.plan.json"
    wrong = [("copies", [0]), ("copies", []), ("copies", [99])] if kind == "copies" else [
        ("tiles", [{**document["tiles"][0], key: value}]) for key, value in
        [("last_op", 99), ("pieces", 4), ("pieces", 4000000000), ("mode", "channels"), ("first_op", 1)]]
    for member, value in [*wrong, ("schedule", []), ("schedule", document.get("schedule", [0, 0])[1:])]:
        forged.write_text(json.dumps(document | {member: value}))
        done = arenaut("check", model, forged, exit=1)
        assert "--" not in done.stderr and (not done.stderr or str(forged) in done.stderr), done.stderr


@pytest.mark.parametrize("member", ["tiles", "copies"])
@pytest.mark.parametrize("name, flags", [("hello_world_int8.tflite", []), ("pte/side_by_side.pte", ["--reorder", "on"]),
                                         ("json/branches.program.json", ["--reorder", "on"])])
def test_an_empty_list_means_none_beside_any_model(arenaut, tmp_path, name, flags, member):
    plan = tmp_path / "x.plan.json"
    arenaut("plan", DATA / name, *flags, "-o", plan)
    plan.write_text(json.dumps({**json.loads(plan.read_text()), member: []}))
    assert "a replay of the ops" in arenaut("check", DATA / name, plan).stdout
    again = arenaut("export", plan, "--as", "json").stdout
    assert member not in json.loads(again)


def chain_with_a_join():
    """The operands of the join live longest: in place, the whole does."""
    rows = [1, 3, 5, 5, 2, 5, 8]
    return {"schema": "arenaut.program/1", "inputs": [0], "outputs": [6],
            "tensors": [{"name": f"t{k}", "dtype": "uint8", "dims": [n, 4], "bytes": 4 * n} for k, n in enumerate(rows)],
            "ops": [*({"name": "Conv", "inputs": [k], "outputs": [k + 1], "pure": True} for k in range(5)),
                    {"name": "Concat", "inputs": [1, 5], "outputs": [6], "pure": True}]}


@pytest.mark.parametrize("flags, joins", [([], [6]), (["--reorder", "on"], []), (["--recompute", "on"], [6]),
                                          (["--recompute", "on", "--reorder", "on"], [])])
def test_a_plan_states_which_joins_are_in_place(arenaut, tmp_path, flags, joins):
    import jsonschema
    model, plan, again, header = (tmp_path / name for name in ("joined.json", "x.plan.json", "again.plan.json", "x.h"))
    model.write_text(json.dumps(chain_with_a_join()))
    arenaut("plan", model, "--passes", "slices", *flags, "-o", plan)
    for output in (again, header):
        arenaut("plan", plan, "-o", output)
    document = json.loads(plan.read_text())
    jsonschema.validate(document, json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text()))
    assert document["joins"] == json.loads(again.read_text())["joins"] == joins
    assert ("joins that are written in place" in header.read_text()) == bool(joins)
    for stating in (plan, again):
        for flags in ([], ["--passes", "slices"], ["--reorder", "on"], ["--passes", "slices", "--reorder", "on"]):
            assert "a replay of the ops" in arenaut("check", model, stating, *flags).stdout
    for wrong in ([5], [99], [*joins, 6], [] if joins else [6]):
        plan.write_text(json.dumps({**document, "joins": wrong}))
        done = arenaut("check", model, plan, exit=1)
        assert str(plan) in done.stderr


def test_a_plan_without_the_pass_states_no_joins(arenaut, tmp_path):
    model, plan = tmp_path / "joined.json", tmp_path / "x.plan.json"
    model.write_text(json.dumps(chain_with_a_join()))
    arenaut("plan", model, "-o", plan)
    document = json.loads(plan.read_text())
    assert "joins" not in document
    for flags in ([], ["--reorder", "on"], ["--recompute", "on"]):
        assert "a replay of the ops" in arenaut("check", model, plan, "--passes", "slices", *flags).stdout
    document["buffers"][1]["offset"] = document["buffers"][2]["offset"]
    plan.write_text(json.dumps(document))
    assert "wrong (overlap)" in arenaut("check", model, plan, "--passes", "slices", exit=1).stdout


def test_a_plan_of_older_versions_states_no_joins(arenaut, tmp_path):
    model, plan = tmp_path / "joined.json", tmp_path / "x.plan.json"
    model.write_text(json.dumps(chain_with_a_join()))
    arenaut("plan", model, "--passes", "slices", "-o", plan)
    document = json.loads(plan.read_text())
    del document["joins"]
    plan.write_text(json.dumps(document))
    arenaut("check", model, plan, "--passes", "slices")
    assert "was it made with other flags?" in arenaut("check", model, plan, exit=1).stderr


@pytest.mark.parametrize("flags", [["--split", "on"], ["--split", "on", "--reorder", "on"]])
def test_a_plan_of_whole_ops_is_right_whatever_flags_would_tile(arenaut, tmp_path, flags):
    model, plan = DATA / "resnet_int8.tflite", tmp_path / "x.plan.json"
    arenaut("plan", model, "-o", plan)
    assert "a replay of the ops" in arenaut("check", model, plan, *flags).stdout


def test_a_plan_that_moves_ops_within_a_peak_says_so(arenaut):
    """Orders with the same peak have plans of different sizes."""
    done = arenaut("plan", DATA / "inception_int8.tflite", *FLAGS["moved within a peak"])
    assert "no other order has a lower peak of live bytes (proven); ops were moved all the same" in done.stdout
    assert "moved" not in arenaut("plan", DATA / "inception_int8.tflite", "--reorder", "on").stdout


def chain_with_a_branch():
    """The last op may as well run first, which no repetition is needed for."""
    return {"schema": "arenaut.program/1", "inputs": [0], "outputs": [3],
            "tensors": [{"name": f"t{i}", "bytes": size} for i, size in enumerate([60, 80, 70, 20])],
            "ops": [{"name": "Conv", "inputs": [source], "outputs": [i + 1], "pure": True} for i, source in enumerate([0, 1, 0])]}


def test_the_runs_of_a_certificate_are_not_moved_by_flags(arenaut, tmp_path):
    model, plan = tmp_path / "branch.json", tmp_path / "x.plan.json"
    model.write_text(json.dumps(chain_with_a_branch()))
    arenaut("plan", model, "--recompute", "on", "-o", plan)
    for flags in ([], ["--reorder", "on"], ["--recompute", "on", "--reorder", "on"]):
        assert "a replay of the ops" in arenaut("check", model, plan, *flags).stdout


def test_a_schedule_beside_a_certificate_is_refused(arenaut, tmp_path):
    """Of two schedules one alone would be checked."""
    model, plan = tmp_path / "branch.json", tmp_path / "x.plan.json"
    model.write_text(json.dumps(chain_with_a_branch()))
    arenaut("plan", model, "--recompute", "on", "-o", plan)
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "schedule": [2, 0, 1]}))
    assert "stated beside 'rematerialization'" in arenaut("check", model, plan, exit=3).stderr


# The arena, outputs, sizes, and ops with operands and results; what no op makes is an input.
EXCHANGED = {
    "two runs of an op": (27007, [3, 7, 10], [5000, 6007, 1000, 6000, 7000, 1000, 6000, 2000, 5000, 6000, 1000], [
        ("RELU", [0, 1], [2]), ("Neg", [0, 1, 2], [3]), ("Relu", [0, 3], [4, 5]), ("Conv", [2, 4], [6]),
        ("Conv", [3, 5], [7]), ("Relu", [7], [8]), ("Add", [0, 1, 7], [9, 10])]),
    "runs of two ops": (16000, [7, 8, 10], [1000, 3000, 1000, 1000, 6000, 8000, 3000, 1000, 1000, 3000, 3000], [
        ("Relu", [0], [1]), ("Add", [0], [2]), ("Relu", [1, 2], [3]), ("Neg", [3], [4]), ("Neg", [4], [5]),
        ("Conv", [3], [6, 7]), ("Relu", [5], [8]), ("Add", [0, 5, 6], [9]), ("Add", [4, 9], [10])]),
    "a reader and a later run": (27000, [8, 9, 11, 12], [5000, 1000, 1000, 6000, 6000, 7000, 7000, 3000, 1000, 6000, 2000, 6000, 7000], [
        ("RELU", [0], [1]), ("RELU", [1], [2]), ("Add", [2], [3]), ("Add", [2], [4]), ("Neg", [3], [5]),
        ("Neg", [4, 5], [6]), ("Add", [2], [7]), ("Conv", [0, 3], [8]), ("Conv", [6, 7], [9]), ("RELU", [7], [10]),
        ("Add", [5], [11]), ("Relu", [3, 10], [12])]),
    "for a smaller arena": (10000, [6, 7, 8, 9], [1000, 5000, 2000, 6007, 3000, 1000, 1000, 1000, 1000, 1000], [
        ("Relu", [0], [1]), ("RELU", [1], [2]), ("Neg", [2], [3]), ("Add", [2], [4, 5]), ("Neg", [3], [6]),
        ("Relu", [1, 5], [7, 8]), ("Relu", [0, 4], [9])]),
    "twice for a smaller arena": (13014, [4, 9, 10, 11], [1000, 1000, 3000, 3007, 6007, 1000, 1000, 8000, 1000, 1000, 1000, 1000], [
        ("RELU", [0], [1, 2]), ("Add", [1], [3]), ("Neg", [2, 3], [4]), ("RELU", [3], [5]), ("RELU", [5], [6]),
        ("Neg", [6], [7]), ("Add", [0, 7], [8]), ("Conv", [5], [9]), ("Add", [8], [10, 11])])}


@pytest.mark.parametrize("name", EXCHANGED)
def test_runs_that_are_exchanged_are_a_sequence_of_the_files_ops(arenaut, arenaut_json, tmp_path, name):
    """In the best order of the rematerialized program, readers have another run's results than the sequence says, or
    copies come in another order: the program is made anew of the sequence."""
    arena, outputs, sizes, ops = EXCHANGED[name]
    made = {t for op in ops for t in op[2]}
    model, plan = tmp_path / "exchanged.json", tmp_path / "x.plan.json"
    model.write_text(json.dumps({
        "schema": "arenaut.program/1", "inputs": [t for t in range(len(sizes)) if t not in made], "outputs": outputs,
        "tensors": [{"name": f"t{k}", "bytes": size} for k, size in enumerate(sizes)],
        "ops": [{"name": name, "inputs": inputs, "outputs": outputs, "pure": True} for name, inputs, outputs in ops]}))
    document = arenaut_json("plan", model, "--recompute", "on", "--reorder", "on", "-o", plan)
    assert document["result"]["arena"] == arena
    assert len(schedule_of(json.loads(plan.read_text()))) > len(ops)
    assert "a replay of the ops" in arenaut("check", model, plan).stdout


@pytest.mark.parametrize("name, flags", [("pt2/chain.pt2", ["--inplace", "on"]), ("json/overlap.program.json", ["--overlap", "on"])])
def test_rights_of_no_named_kernels_are_followed_too(arenaut, tmp_path, name, flags):
    """Formats whose runtimes have no kernel set here state none beside a plan that overlaps."""
    plan = tmp_path / "x.plan.json"
    arenaut("plan", DATA / name, *flags, "-o", plan)
    assert "kernels" not in json.loads(plan.read_text())["result"]
    assert "a replay of the ops" in arenaut("check", DATA / name, plan).stdout
    assert "wrong (overlap)" in arenaut("check", DATA / name, plan, flags[0], "off", exit=1).stdout


def test_a_plan_that_the_file_holds_was_stopped_by_no_proof(arenaut, tmp_path):
    plan = tmp_path / "x.plan.json"
    arenaut("plan", DATA / "pte" / "map_rows.pte", "--fit", "100K", "-o", plan)
    result = json.loads(plan.read_text())["result"]
    assert (result["planner"], result["status"], result["stopped_by"]) == ("file", "feasible", "end")
