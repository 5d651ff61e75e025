"""Plans that other compilers made, held against the checker: the examples of docs/check.md."""

import json
import re
import subprocess
import sys

import pytest
from conftest import DATA, ROOT

EXAMPLES = ROOT / "examples" / "check"
MLIR = EXAMPLES / "planned.mlir"


def plan(**changes):
    """The smallest plan there is: two buffers that are alive at once."""
    second = {"name": "b", "size": 100, "first": 1, "end": 3, "offset": 128, **changes}
    return {"schema": "arenaut.plan/1", "result": {"status": "feasible"},
            "buffers": [{"name": "a", "size": 100, "first": 0, "end": 2, "offset": 0}, second]}


@pytest.mark.parametrize(("changes", "code", "says"), [
    ({}, 0, "ok: 2 buffers in 228 bytes"),
    ({"offset": 64}, 1, "share bytes [64, 100) of pool 0"),
    ({"offset": None}, 1, "buffer 'b' of 100 bytes has no place"),
    ({"align": 256}, 1, "alignment"),
    ({"size": -1}, 3, "size"),
    ({"ofset": 1}, 3, "did you mean 'offset'"),
])
def test_exit_codes_for_plans(arenaut, tmp_path, changes, code, says):
    path = tmp_path / "dump.plan.json"
    path.write_text(json.dumps(plan(**changes)))
    done = arenaut("check", path, exit=code)
    assert says in done.stdout + done.stderr


def test_a_plan_that_is_cut_off(arenaut, tmp_path):
    path = tmp_path / "dump.plan.json"
    path.write_text(json.dumps(plan())[:-20])
    assert "line 1" in arenaut("check", "--from", "plan-json", path, exit=3).stderr


def test_an_offset_without_a_pool_says_nothing_where_there_are_two(arenaut, tmp_path):
    path = tmp_path / "dump.plan.json"
    path.write_text(json.dumps({**plan(), "pools": [{"name": "fast"}, {"name": "slow"}]}))
    assert "has no place" in arenaut("check", path, exit=1).stdout


def mlir(arenaut, tmp_path, text, code=0):
    source, program = tmp_path / "planned.mlir", tmp_path / "planned.program.json"
    source.write_text(text)
    done = subprocess.run([sys.executable, EXAMPLES / "mlir_program.py", source], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        return done.stderr
    program.write_text(done.stdout)
    return arenaut("check", program, exit=code).stdout


@pytest.mark.parametrize(("old", "new", "says"), [
    ("%d = memref.view %arena[%c1024]", "%d = memref.view %arena[%c0]",
     "reads '%a of line 13', but bytes [0, 1024) of pool 0 hold '%d of line 16'"),
    ("%b = memref.view %arena[%c1024]", "%b = memref.view %arena[%c0]", "share bytes [0, 1024)"),
    ("constant 1024 : index", "constant 1000 : index", "share bytes [1000, 1024)"),
    ("  linalg.fill ins(%zero : f32) outs(%a : memref<16x16xf32>)\n  linalg.matmul ins(%x, %x :",
     "  linalg.matmul ins(%d, %x :", "reads '%d', but nothing has written"),
])
def test_a_planned_function_of_mlir(arenaut, tmp_path, old, new, says):
    text = MLIR.read_text()
    assert "ok: 5 tensors in 3,072 bytes" in mlir(arenaut, tmp_path, text)
    assert old in text
    assert says in mlir(arenaut, tmp_path, text.replace(old, new), 1)


def test_mlir_that_the_reader_does_not_know_is_refused(arenaut, tmp_path):
    text = MLIR.read_text().replace("  return", "  vendor.call %a\n  return")
    assert mlir(arenaut, tmp_path, text) == "line 19: vendor.call: its reads and writes are not known\n"


GUIDE = (ROOT / "docs" / "check.md").read_text()


def test_the_files_of_the_guide(arenaut, tmp_path):
    program, made = re.findall(r"```json\n(.*?)```", GUIDE, re.S)
    problem = {"schema": "arenaut.problem/1", "buffers": [
        {key: value for key, value in buffer.items() if key != "offset"} for buffer in json.loads(made)["buffers"]]}
    for name, text in [("dump.program.json", program), ("dump.plan.json", made), ("plan.json", made),
                       ("problem.json", json.dumps(problem))]:
        (tmp_path / name).write_text(text)
    commands = re.findall(r"^    arenaut (check .*?) +#", GUIDE, re.M)
    assert len(commands) == 3
    for command in commands:
        assert " ok: 2 " in arenaut(*command.split(), cwd=tmp_path).stdout
    assert "no plan" in arenaut("check", "problem.json", cwd=tmp_path, exit=1).stderr


def test_what_the_guide_says_of_a_function_of_mlir(arenaut, tmp_path):
    right, wrong = re.findall(r"^    (planned\.program\.json  .*?)\n\n", GUIDE, re.M | re.S)
    text = MLIR.read_text()
    assert mlir(arenaut, tmp_path, text).endswith(right + "\n")
    said = mlir(arenaut, tmp_path, text.replace("%d = memref.view %arena[%c1024]", "%d = memref.view %arena[%c0]"), 1)
    assert said.endswith(" ".join(wrong.split("\n    ")) + "\n")


ALIGNED = {"pools": [{"name": "arena", "align": 16}]}, {}
PINNED = ({"pools": [{"name": "fast", "capacity": 100}, {"name": "slow"}]}, {"allowed_pools": ["slow"]})
BARE = {"name": "a", "size": 10, "first": 0, "end": 2}


@pytest.mark.parametrize("problem, buffer, place, pools", [
    (*ALIGNED, {"offset": 0}, {}), (*PINNED, {"pool": 1, "offset": 0}, {"pools": [{"name": "fast"}, {"name": "slow"}]})])
def test_what_a_plan_does_not_state_is_measured_by_the_problem(arenaut, tmp_path, problem, buffer, place, pools):
    """Who placed the buffers may know less of the pools than who states the problem."""
    given, plan = tmp_path / "a.problem.json", tmp_path / "a.plan.json"
    given.write_text(json.dumps({"schema": "arenaut.problem/1", **problem, "buffers": [{**BARE, **buffer}]}))
    document = {"schema": "arenaut.plan/1", "result": {"status": "feasible"}, **pools, "buffers": [{**BARE, **place}]}
    plan.write_text(json.dumps(document))
    assert "ok: 1 buffer " in arenaut("check", given, plan).stdout
    document["result"]["arena"] = 9  # what is stated is held against the problem
    plan.write_text(json.dumps(document))
    assert "wrong (arena)" in arenaut("check", given, plan, exit=1).stdout


def test_places_in_a_csv_are_measured_by_the_problem(arenaut, tmp_path):
    given, plan = tmp_path / "a.problem.json", tmp_path / "a.csv"
    given.write_text(json.dumps({"schema": "arenaut.problem/1", **ALIGNED[0], "buffers": [BARE]}))
    plan.write_text("id,lower,upper,size,offset\na,0,2,10,0\n")
    assert "ok: 1 buffer in 16 bytes" in arenaut("check", given, plan).stdout


# ---- what a plan's file says of all other plans ----

SPLIT_UP = DATA / "fragmented.csv"  # 10 bytes are the least, and 9 the most that is alive at once


def restated(arenaut, folder, change, *flags, exit=0):
    document = json.loads(arenaut("plan", SPLIT_UP, "--json", *flags, exit=exit).stdout)
    change(document)
    path = folder / "stated.plan.json"
    path.write_text(json.dumps(document))
    return path


def state_bound(document, bound):
    for part in (document["result"], *document["pools"]):
        part["lower_bound"] = bound
        part["status"] = "optimal" if part["arena"] == bound else "feasible"


def test_a_bound_that_a_plan_states_is_proven_anew(arenaut, arenaut_json, tmp_path):
    path = restated(arenaut, tmp_path, lambda _: None)
    assert re.search(r"  proven: no plan needs less than 10 bytes \(search, \d+ branches\)\n", arenaut("check", SPLIT_UP, path).stdout)
    bound = arenaut_json("check", path)["bound"]
    assert bound["bytes"] == 10 and bound["proof"]["kind"] == "search" and bound["proof"]["checked"] is True
    path = restated(arenaut, tmp_path, lambda document: state_bound(document, 9))
    assert "proven: no plan needs less than 9 bytes (load at step 0)" in arenaut("check", SPLIT_UP, path).stdout


def test_a_bound_above_another_plan_is_wrong(arenaut, tmp_path):
    path = restated(arenaut, tmp_path, lambda document: state_bound(document, 26), "--planner", "naive")
    for arguments in ([path], [SPLIT_UP, path]):
        said = arenaut("check", *arguments, exit=1).stdout
        assert "wrong (bound): the plan states that none needs less than 26 bytes, but there is one of 10\n" in said


def test_bounds_of_single_pools_and_of_the_spill_are_looked_at(arenaut, tmp_path):
    """Also where nothing is said of the total."""
    def said(change, **options):
        def alone(document):
            del document["result"]["lower_bound"]
            document["result"]["status"] = "feasible"
            change(document)
        return arenaut("check", restated(arenaut, tmp_path, alone, "--planner", "naive"), **options)

    wrong = said(lambda document: document["pools"][0].update(lower_bound=26), exit=1).stdout
    assert "wrong (bound): the plan states that none needs less than 26 bytes in pool 0, but there is one of 10\n" in wrong
    assert "proven" not in said(lambda document: document["pools"][0].update(lower_bound=9)).stdout
    assert "expected one of optimal" in said(lambda document: document["pools"][0].update(status="optimum"), exit=3).stderr

    # The second pool of an optimal first one; and a spill that need not be.
    buffers = [{**BARE, "allowed_pools": [k], "pool": k, "offset": offset, "first": t, "end": t + 1}
               for k, offset, t in ((0, 0, 0), (1, 0, 0), (1, 10, 1))]
    for b in buffers:
        b.pop("name", None)
    pools = [{"name": "a", "lower_bound": 10}, {"name": "b", "lower_bound": 20}]
    path = tmp_path / "two.plan.json"
    document = {"schema": "arenaut.plan/1", "pools": pools, "buffers": buffers,
                "result": {"status": "feasible", "lower_bound": 20}}
    path.write_text(json.dumps(document))
    assert "none needs less than 20 bytes in pool 1, but there is one of 10\n" in arenaut("check", path, exit=1).stdout
    for b in buffers:
        del b["allowed_pools"]
    document["result"] = {"status": "feasible", "spill_bound": 20}
    path.write_text(json.dumps(document))
    assert "none spills less than 20 byte-uses, but there is one with 0\n" in arenaut("check", path, exit=1).stdout


def test_a_bound_above_the_arena_is_wrong_beside_memories_too(arenaut, tmp_path):
    model, path = DATA / "pte" / "kv_decoder.pte", tmp_path / "kv.plan.json"
    document = json.loads(arenaut("plan", model, "--json").stdout)
    document["result"]["lower_bound"] += 1
    path.write_text(json.dumps(document))
    for arguments in ([path], [model, path]):
        assert "wrong (bound): the lower bound is stated as" in arenaut("check", *arguments, exit=1).stdout


def test_a_bound_is_of_the_flags_that_the_plan_was_made_with(arenaut, tmp_path):
    """With more rights other plans need less, which makes a right plan no wrong one."""
    model, path = DATA / "mobilenet_v1_025_96_int8.tflite", tmp_path / "plain.plan.json"
    arenaut("plan", model, "-q", "-o", path)
    assert "  proven: no plan for this order of ops needs less than 55,296 bytes" in arenaut("check", model, path).stdout
    said = arenaut("check", model, path, "--overlap", "on").stdout
    assert "not proven: no plan for this order of ops needs less than 55,296 bytes (the plan was made with other flags)" in said


def test_that_there_is_no_plan_takes_a_proof(arenaut, tmp_path):
    """No more than 9 bytes are alive at once, so there is no witness."""
    path = restated(arenaut, tmp_path, lambda _: None, "--capacity", 9, exit=1)
    assert "witness" not in path.read_text()
    assert "ok: it is proven that there is no plan (search, " in arenaut("check", path).stdout
    assert "ok: it is proven" in arenaut("check", SPLIT_UP, path, "--pool", "arena=9").stdout
    path = restated(arenaut, tmp_path, lambda document: document["pools"][0].update(capacity=10), "--capacity", 9, exit=1)
    assert "wrong (witness): the plan is called infeasible, but there is one of 10 bytes" in arenaut("check", path, exit=1).stdout


def test_a_bound_that_no_certificate_covers_is_not_called_proven(arenaut, tmp_path):
    given, plan = tmp_path / "a.problem.json", tmp_path / "a.plan.json"
    given.write_text(json.dumps({"schema": "arenaut.problem/1", "buffers": [BARE],
                                 "pools": [{"name": "fast", "capacity": 9}, {"name": "slow"}]}))
    plan.write_text(arenaut("plan", given, "--json").stdout)
    said = "not proven: no plan that spills no more needs less than 10 bytes (by search: no certificate covers pools)"
    assert said in arenaut("check", given, plan).stdout
    document = json.loads(plan.read_text())
    document["pools"][0]["capacity"] = 20
    plan.write_text(json.dumps(document))
    assert "none spills less than 10 byte-uses, but there is one with 0" in arenaut("check", plan, exit=1).stdout


def test_a_file_without_a_plan_is_not_described_as_one_of_no_bytes(arenaut, arenaut_json, tmp_path):
    path = restated(arenaut, tmp_path, lambda _: None, "--capacity", 9, exit=1)
    for verb in (["size"], ["view"], ["explain"], ["export", "--as", "header"], ["export", "--as", "csv"]):
        done = arenaut(verb[0], path, *verb[1:], exit=1)
        assert "there is no plan" in done.stdout + done.stderr and "_BYTES 0u" not in done.stdout
    roomy = restated(arenaut, tmp_path, lambda document: document["pools"][0].update(capacity=10), "--capacity", 9, exit=1)
    assert arenaut_json("size", roomy)["result"]["arena"] == 10
