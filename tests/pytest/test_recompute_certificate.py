"""Certificates of rematerialization in plan files: read back, held against the model, and refused where
they are spoiled or claim more than is true."""

import copy
import json
import random

import pytest
from conftest import ROOT
from test_recompute import program

ARGUMENTS = ("--recompute", "on", "--fit", "4000")


@pytest.fixture(scope="module")
def planned(arenaut, tmp_path_factory):
    """A model and its plan, as a file and as it is printed."""
    folder = tmp_path_factory.mktemp("certificate")
    model, plan = folder / "waiting.json", folder / "waiting.plan.json"
    model.write_text(json.dumps(program()))
    arenaut("plan", model, *ARGUMENTS, "-o", plan)
    return model, plan


def test_a_certificate_is_read_back_and_checked(arenaut, arenaut_json, planned, tmp_path):
    import jsonschema
    model, plan = planned
    document = json.loads(plan.read_text())
    schema = json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text())
    jsonschema.validate(document, schema)
    certificate = document["rematerialization"]
    assert set(certificate["runs"]) == set(range(6)) and len(certificate["runs"]) > 6
    printed = arenaut_json("plan", model, *ARGUMENTS)
    assert printed["rematerialization"] == certificate
    assert printed["recompute"]["bound_nanoseconds"] == certificate["bound"]["value"] > 0
    said = arenaut_json("check", model, plan)["rematerialization"]
    assert said == {"budget": 4000, "floor": 3264,
                    "bound_nanoseconds": certificate["bound"]["value"],
                    "added_nanoseconds": certificate["added_nanoseconds"]}
    assert "proven: in 4,000 bytes" in arenaut("check", model, plan).stdout
    alone = arenaut("check", plan)
    assert "not checked" in alone.stderr and "no schedule" not in alone.stdout


def test_a_plan_of_a_plan_keeps_the_certificate(arenaut, planned, tmp_path):
    model, plan = planned
    again = tmp_path / "again.plan.json"
    arenaut("plan", plan, "-o", again)
    assert json.loads(again.read_text())["rematerialization"] == json.loads(plan.read_text())["rematerialization"]
    assert "proven: in 4,000 bytes" in arenaut("check", model, again).stdout


@pytest.mark.parametrize("flags", [["--recompute", "on"], ["--recompute", "on", "--reorder", "on"],
                                   ["--recompute", "on", "--fit", "90%", "--reorder", "on"],
                                   ["--recompute", "on", "--fit", "100%"],
                                   ["--recompute", "on", "--fit", "3300", "--device", "cpu"],
                                   ["--recompute", "on", "--fit", "3300", "--inplace", "on"]])
def test_proofs_with_other_flags_are_checked_too(arenaut, arenaut_json, planned, tmp_path, flags):
    plan = tmp_path / "x.plan.json"
    plan.write_text(arenaut("plan", planned[0], *flags, "--json").stdout)
    again = flags[-2:] if "--inplace" in flags else []
    assert arenaut_json("check", planned[0], plan, *again)["rematerialization"]["floor"] > 0


def test_that_nothing_fits_is_checked(arenaut, planned, tmp_path):
    plan = tmp_path / "x.plan.json"
    plan.write_text(arenaut("plan", planned[0], "--recompute", "on", "--fit", 3000, "--json", exit=1).stdout)
    assert "nothing fits 3,000 bytes" in arenaut("check", planned[0], plan).stdout


def test_given_times_have_to_be_given_again(arenaut, planned, tmp_path):
    plan, costs, others = (tmp_path / name for name in ("x.plan.json", "costs.csv", "others.csv"))
    costs.write_text("method,op,nanoseconds\n" + "".join(f"0,{op},{7 + op}\n" for op in (0, 1, 3, 4, 5)))
    others.write_text(costs.read_text().replace(",8", ",9"))
    plan.write_text(arenaut("plan", planned[0], *ARGUMENTS, "--costs", costs, "--json").stdout)
    assert "--costs" in arenaut("check", planned[0], plan, exit=2).stderr
    assert "proven" in arenaut("check", planned[0], plan, "--costs", costs).stdout
    assert "nanoseconds" in arenaut("check", planned[0], plan, "--costs", others, exit=1).stdout


def leaves(bound):
    """The cases that a flow shows, or the bound, if that is the only one."""
    return [case for case in bound.get("cases", [bound]) if "storage" not in case]


def spoil(path, change):
    def spoiled(certificate):
        at = certificate
        for key in path[:-1]:
            at = at[key]
        key = path[-1]
        for place in [at] if key in at else leaves(at):
            if place[key] != []:
                place[key] = change(place[key])
    return spoiled


SPOILED = {
    "a larger bound": spoil(["bound", "value"], lambda value: value + 1),
    "a larger floor": spoil(["floor", "value"], lambda value: value + 1),
    "a larger budget": spoil(["budget"], lambda value: 2 * value),
    "less time added": spoil(["added_nanoseconds"], lambda value: value - 1),
    "another base": spoil(["nanoseconds"], lambda value: value + 1),
    "a dearer byte": spoil(["bound", "byte_price"], lambda value: value * 2),
    "a cheaper byte": spoil(["bound", "byte_price"], lambda value: value // 2),
    "cheaper time": spoil(["bound", "time_price"], lambda value: value // 2),
    "free time": spoil(["bound", "time_price"], lambda value: 0),
    "time with a price": spoil(["floor", "time_price"], lambda value: 1),
    "another op": spoil(["bound", "op"], lambda value: value - 1),
    "no such op": spoil(["bound", "op"], lambda value: 4000),
    "another op of the floor": spoil(["floor", "op"], lambda value: value - 1),
    "less flow": spoil(["bound", "flow"], lambda flow: flow[:-1]),
    "more flow": spoil(["bound", "flow"], lambda flow: flow + flow),
    "flow without a read": spoil(["bound", "flow"], lambda flow: [[flow[0][0], 5, flow[0][2]]]),
    "flow of no op": spoil(["bound", "flow"], lambda flow: [[999, 999, 1]]),
    "less flow of the floor": spoil(["floor", "flow"], lambda flow: flow[1:]),
    "another device": spoil(["device", "bytes"], lambda rate: rate * 2),
    "a schedule without copies": spoil(["runs"], lambda runs: [0, 1, 2, 3, 4, 5]),
    "a schedule without an op": spoil(["runs"], lambda runs: runs[1:]),
    "a schedule with an unknown op": spoil(["runs"], lambda runs: [*runs, 77]),
    "a schedule in an impossible order": spoil(["runs"], lambda runs: runs[::-1]),
}


@pytest.mark.parametrize("what", SPOILED)
def test_forged_certificates_are_refused(arenaut, planned, tmp_path, what):
    model, plan = planned
    document = json.loads(plan.read_text())
    SPOILED[what](document["rematerialization"])
    spoiled = tmp_path / "x.plan.json"
    spoiled.write_text(json.dumps(document))
    done = arenaut("check", model, spoiled, exit=1)
    assert "proven:" not in done.stdout and (done.stdout + done.stderr).strip()


@pytest.mark.parametrize("member", ["budget", "device", "bound", "floor", "runs"])
def test_missing_members_are_errors(arenaut, planned, tmp_path, member):
    document = json.loads(planned[1].read_text())
    del document["rematerialization"][member]
    broken = tmp_path / "x.plan.json"
    broken.write_text(json.dumps(document))
    assert member in arenaut("check", planned[0], broken, exit=3).stderr


def test_no_random_forgery_is_accepted(arenaut, planned, tmp_path):
    """Numbers of a certificate are changed at random, and claim more than the least."""
    model, plan = planned
    document = json.loads(plan.read_text())
    forged = tmp_path / "x.plan.json"
    random_numbers = random.Random(1)
    for _ in range(60):
        other = copy.deepcopy(document)
        bound = other["rematerialization"]["bound"]
        bound["value"] = other["rematerialization"]["added_nanoseconds"] + 1
        for _ in range(random_numbers.randrange(4)):
            case = random_numbers.choice([case for case in leaves(bound) if case["flow"]])
            entry = random_numbers.choice(case["flow"])
            entry[2] = random_numbers.choice([entry[2] * 2, entry[2] + 1, 2**random_numbers.randrange(62)])
            case["byte_price"] = random_numbers.choice([case["byte_price"], 2**random_numbers.randrange(40)])
            case["time_price"] = random_numbers.choice([case["time_price"], 1, 2**random_numbers.randrange(40)])
        forged.write_text(json.dumps(other))
        assert "proven:" not in arenaut("check", model, forged, exit=1).stdout


def unet_step(layers):
    """Forward ops with skips between layers of one size, and backward ops that read their results."""
    sizes = [1000 * (1 + (8 >> min(i, layers - 1 - i, 3))) + 8 * (37 * i % 100) for i in range(layers)]
    reads = [[f"a{i - 1}" if i else "x", *([f"a{layers - 1 - i}"] if 2 * i > layers else [])] for i in range(layers)]
    tensors = [{"name": "x", "bytes": 8, "caller_owned": True}]
    tensors += [{"name": f"{kind}{i}", "bytes": size} for kind in "ag" for i, size in enumerate(sizes)]
    ops = [{"name": "F", "kind": "out", "inputs": reads[i], "outputs": [f"a{i}"]} for i in range(layers)]
    last = f"a{layers - 1}"
    for i in reversed(range(layers)):
        behind = [f"g{j}" for j in range(i + 1, layers) if f"a{i}" in reads[j]]
        inputs = [last, *(name for name in reads[i] if name != "x"), f"a{i}", *behind]
        ops.append({"name": "B", "kind": "out", "inputs": list(dict.fromkeys(inputs)), "outputs": [f"g{i}"]})
        last = f"g{i}"
    return {"schema": "arenaut.program/1", "tensors": tensors, "inputs": ["x"], "outputs": [last], "ops": ops}


@pytest.fixture(scope="module")
def linked(arenaut, tmp_path_factory):
    """A model, and its plan, whose bound looks at several moments."""
    folder = tmp_path_factory.mktemp("linked")
    model, plan = folder / "unet.json", folder / "unet.plan.json"
    model.write_text(json.dumps(unet_step(11)))
    arenaut("plan", model, "--recompute", "on", "--fit", "70%", "-o", plan)
    return model, plan


def test_a_bound_of_several_moments_is_read_back_and_checked(arenaut, arenaut_json, linked):
    import jsonschema
    document = json.loads(linked[1].read_text())
    jsonschema.validate(document, json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text()))
    bound = document["rematerialization"]["bound"]
    assert len(leaves(bound)) % (1 + len(bound["later"])) == 0
    handed = [op for case in leaves(bound) for op, storage, flow in case["flow"] if op in bound["later"]]
    assert handed
    assert arenaut_json("check", *linked)["rematerialization"]["bound_nanoseconds"] == bound["value"]
    assert "proven" in arenaut("check", *linked).stdout


def with_cases(change):
    return lambda bound: bound.update(cases=change(bound["cases"]))


LINKED_SPOILED = {
    "no case behind the first": with_cases(lambda cases: cases[:2]),
    "a case too many": with_cases(lambda cases: [*cases, cases[-1]]),
    "no cases told apart": lambda bound: bound.update(cases=leaves(bound)[-1 - len(bound["later"]):]),
    "cases of one storage twice": with_cases(lambda cases: [cases[0], *cases, cases[-1]]),
    "cases of an unknown storage": with_cases(lambda cases: [{"storage": 4000}, *cases[1:]]),
    "one nanosecond more": lambda bound: bound.update(value=bound["value"] + 30000),
    "no later moment": lambda bound: bound.pop("later"),
    "another later op": lambda bound: bound.update(later=[op - 1 for op in bound["later"]]),
    "no such later op": lambda bound: bound.update(later=[4000, *bound["later"][1:]]),
    "moments back to front": lambda bound: bound.update(op=bound["later"][-1], later=[bound["op"]] * len(bound["later"])),
    "the same moment twice": lambda bound: bound.update(later=[bound["op"]] * len(bound["later"])),
    "another moment": lambda bound: leaves(bound)[1].update(moment=0),
    "no line for a moment": lambda bound: bound["cases"].remove(leaves(bound)[-1]),
    "times of two prices": lambda bound: leaves(bound)[1].update(time_price=leaves(bound)[1]["time_price"] * 2),
    "nothing counts": lambda bound: [case.update(unit=2**40) for case in leaves(bound)],
    "units of no bytes": lambda bound: leaves(bound)[0].update(unit=0),
    "a storage in both cases at another moment": lambda bound: bound["cases"][0].update(moment=3),
    "more than is handed on": lambda bound: [entry.__setitem__(2, 2 * entry[2]) for case in leaves(bound)
                                             for entry in case["flow"] if entry[0] in bound["later"]],
    "nothing is handed on": lambda bound: [case.update(flow=[entry for entry in case["flow"]
                                                             if entry[0] not in bound["later"]])
                                           for case in leaves(bound)],
}


@pytest.mark.parametrize("what", LINKED_SPOILED)
def test_forged_certificates_of_several_moments_are_refused(arenaut, linked, tmp_path, what):
    document = json.loads(linked[1].read_text())
    LINKED_SPOILED[what](document["rematerialization"]["bound"])
    spoiled = tmp_path / "x.plan.json"
    spoiled.write_text(json.dumps(document))
    done = arenaut("check", linked[0], spoiled, exit=1)
    assert "proven:" not in done.stdout and (done.stdout + done.stderr).strip()


def test_a_line_is_of_a_storage_or_of_a_flow(arenaut, linked, tmp_path):
    document = json.loads(linked[1].read_text())
    document["rematerialization"]["bound"]["cases"][0]["flow"] = [[1, 1, 1]]
    spoiled = tmp_path / "x.plan.json"
    spoiled.write_text(json.dumps(document))
    assert "not both" in arenaut("check", linked[0], spoiled, exit=3).stderr


def test_a_floor_has_one_moment(arenaut, linked, tmp_path):
    document = json.loads(linked[1].read_text())
    document["rematerialization"]["floor"]["later"] = [2**31]
    spoiled = tmp_path / "x.plan.json"
    spoiled.write_text(json.dumps(document))
    assert "one moment" in arenaut("check", linked[0], spoiled, exit=1).stdout


def test_later_ops_are_few(arenaut, linked, tmp_path):
    document = json.loads(linked[1].read_text())
    document["rematerialization"]["bound"]["later"] = [1, 2, 3, 4]
    spoiled = tmp_path / "x.plan.json"
    spoiled.write_text(json.dumps(document))
    assert "later" in arenaut("check", linked[0], spoiled, exit=3).stderr


def test_times_are_the_same_where_nothing_is_tiled(arenaut, arenaut_json, tmp_path):
    """Shapes that tiling works out, and that the file does not state, are no reason for other times."""
    path, plan = tmp_path / "shapeless.program.json", tmp_path / "shapeless.plan.json"
    path.write_text(json.dumps({
        "schema": "arenaut.program/1", "dialect": "onnx", "inputs": [0], "outputs": [2],
        "tensors": [{"name": name, "bytes": size} for name, size in (("x", 256), ("a", 4000), ("y", 4000))],
        "ops": [{"name": "Sigmoid", "inputs": [0], "outputs": [1]}, {"name": "Neg", "inputs": [1], "outputs": [2]}]}))
    flags = ("--recompute", "on", "--split", "on")
    told = arenaut_json("plan", path, *flags, "-o", plan)
    assert "nothing is split" in arenaut("plan", path, *flags).stderr
    assert told["rematerialization"] == arenaut_json("plan", path, "--recompute", "on")["rematerialization"]
    arenaut("check", path, plan)
