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
    assert "not checked" in alone.stderr and "proven" not in alone.stdout


@pytest.mark.parametrize("flags", [["--recompute", "on"], ["--recompute", "on", "--reorder", "on"],
                                   ["--recompute", "on", "--fit", "90%", "--reorder", "on"],
                                   ["--recompute", "on", "--fit", "100%"],
                                   ["--recompute", "on", "--fit", "3300", "--device", "cpu"],
                                   ["--recompute", "on", "--fit", "3300", "--inplace", "on"]])
def test_what_is_proven_with_other_flags_is_checked_too(arenaut, arenaut_json, planned, tmp_path, flags):
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


def spoil_cases(change):
    def spoiled(certificate):
        certificate["bound"]["cases"] = change(certificate["bound"]["cases"])
    return spoiled


SPOILED = {
    "a larger bound": spoil(["bound", "value"], lambda value: value + 1),
    "a larger floor": spoil(["floor", "value"], lambda value: value + 1),
    "a larger budget": spoil(["budget"], lambda value: value + 1),
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
    "no case behind the first": spoil_cases(lambda cases: cases[:2]),
    "a case too many": spoil_cases(lambda cases: [*cases, cases[-1]]),
    "no cases told apart": spoil_cases(lambda cases: cases[-1:]),
    "cases of one storage twice": spoil_cases(lambda cases: [cases[0], *cases, cases[-1]]),
    "cases of an unknown storage": spoil_cases(lambda cases: [{"storage": 4000}, *cases[1:]]),
    "another device": spoil(["device", "bytes"], lambda rate: rate * 2),
    "a schedule without copies": spoil(["runs"], lambda runs: [0, 1, 2, 3, 4, 5]),
    "a schedule without an op": spoil(["runs"], lambda runs: runs[1:]),
    "a schedule with an unknown op": spoil(["runs"], lambda runs: [*runs, 77]),
    "a schedule in an impossible order": spoil(["runs"], lambda runs: runs[::-1]),
}


@pytest.mark.parametrize("what", SPOILED)
def test_what_is_spoiled_is_refused(arenaut, planned, tmp_path, what):
    model, plan = planned
    document = json.loads(plan.read_text())
    SPOILED[what](document["rematerialization"])
    spoiled = tmp_path / "x.plan.json"
    spoiled.write_text(json.dumps(document))
    done = arenaut("check", model, spoiled, exit=1)
    assert "proven:" not in done.stdout and (done.stdout + done.stderr).strip()


@pytest.mark.parametrize("member", ["budget", "device", "bound", "floor", "runs"])
def test_what_is_left_out_is_an_error(arenaut, planned, tmp_path, member):
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
