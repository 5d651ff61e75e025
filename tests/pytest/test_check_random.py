"""Random plans of somebody else's, right ones and wrong ones, held against `arenaut check` and against a few lines of
Python that read the rules byte by byte: both must say the same, by the exit code."""

import itertools
import json
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import COMMAND

ROUNDS = int(os.environ.get("ARENAUT_THOROUGH", "1"))


def check(*arguments):
    return subprocess.run([str(COMMAND), "check", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False)


def verdicts(tmp_path, cases):
    """Exit codes of `check` for each list of documents, of which each is a file."""
    def verdict(number):
        paths = []
        for name, document in cases[number]:
            paths.append(tmp_path / f"{number}.{name}")
            paths[-1].write_text(json.dumps(document))
        return check("--quiet", *paths).returncode
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(verdict, range(len(cases))))


# ---- plans against lifetimes ----

def up(number, align):
    return -(-number // align) * align


def lives_of(rng):
    """One life, or two with a gap."""
    cuts = sorted(rng.sample(range(12), rng.choice([2, 2, 4])))
    return [list(pair) for pair in zip(cuts[::2], cuts[1::2])]


def meet(a, b):
    return any(x[0] < y[1] and y[0] < x[1] for x in a["lifetimes"] for y in b["lifetimes"])


def shares_bytes(a, b):
    return (a["pool"] == b["pool"] and a["offset"] < b["offset"] + b["size"] and b["offset"] < a["offset"] + a["size"])


def first_fit(buffers, edges):
    for number, one in enumerate(buffers):
        others = [other for k, other in enumerate(buffers[:number]) if other["pool"] == one["pool"]
                  and (meet(one, other) or [k, number] in edges)]
        places = sorted({0, *(up(other["offset"] + other["size"], one["align"]) for other in others)})
        one["offset"] = next(at for at in places if not any(shares_bytes({**one, "offset": at}, other)
                                                            for other in others))


def random_plan(rng):
    """A right plan: two pools, alignments, lives with gaps, pairs that must not share. Pools end where their last
    buffer does, and what lies behind that in the second one is reserved."""
    buffers = [{"name": f"b{k}", "size": rng.randint(1, 200), "align": rng.choice([1, 1, 8, 64]),
                "lifetimes": lives_of(rng), "pool": rng.randrange(2)} for k in range(rng.randint(2, 9))]
    edges = [list(pair) for pair in itertools.combinations(range(len(buffers)), 2) if rng.random() < 0.1]
    first_fit(buffers, edges)
    ends = [max([b["offset"] + b["size"] for b in buffers if b["pool"] == pool], default=0) for pool in range(2)]
    return {"schema": "arenaut.plan/1", "result": {"status": "feasible"},
            "pools": [{"name": "fast", "capacity": max(ends[0], 1)}, {"name": "slow"}], "edges": edges,
            "reserved": [{"pool": "slow", "first": ends[1], "end": ends[1] + 64}], "buffers": buffers}


def spoil(rng, plan):
    """Changes one thing, which may be wrong or not."""
    one = rng.choice(plan["buffers"])
    how = rng.randrange(7)
    if how == 0:
        one["offset"] = rng.randrange(300)
    elif how == 1:
        one["offset"] = rng.choice(plan["buffers"])["offset"]
    elif how == 2:
        one["offset"] += rng.choice([1, 2, 8, 64])
    elif how == 3:
        one["pool"] = 1 - one["pool"]
    elif how == 4:
        one["size"] += rng.randint(1, 30)
    elif how == 5:
        one["lifetimes"] = lives_of(rng)
    else:
        one["align"] *= rng.choice([2, 4])


def is_right(plan):
    capacity, reserved = plan["pools"][0]["capacity"], plan["reserved"][0]
    for one in plan["buffers"]:
        end = one["offset"] + one["size"]
        if one["offset"] % one["align"] or (one["pool"] == 0 and end > capacity):
            return False
        if one["pool"] == 1 and one["offset"] < reserved["end"] and end > reserved["first"]:
            return False
    return not any(shares_bytes(a, b) and (meet(a, b) or [i, k] in plan["edges"])
                   for (i, a), (k, b) in itertools.combinations(enumerate(plan["buffers"]), 2))


def test_plans(tmp_path):
    rng, cases = random.Random(18), []
    for _ in range(250 * ROUNDS):
        cases.append(random_plan(rng))
        assert is_right(cases[-1])
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            spoil(rng, cases[-1])
    expected = [0 if is_right(plan) else 1 for plan in cases]
    assert 60 * ROUNDS < sum(expected) < 190 * ROUNDS
    assert verdicts(tmp_path, [[("plan.json", plan)] for plan in cases]) == expected


def test_plans_for_other_lifetimes(tmp_path):
    """Who placed believed that buffers live shorter than who knows their lives says."""
    rng, cases, expected = random.Random(19), [], []
    for _ in range(80 * ROUNDS):
        plan = random_plan(rng)
        known = [{**one, "lifetimes": lives_of(rng) if rng.random() < 0.5 else one["lifetimes"]}
                 for one in plan["buffers"]]
        problem = {"schema": "arenaut.problem/1", "pools": plan["pools"], "edges": plan["edges"],
                   "reserved": plan["reserved"],
                   "buffers": [{key: one[key] for key in ("name", "size", "align", "lifetimes")} for one in known]}
        cases.append([("problem.json", problem), ("plan.json", plan)])
        expected.append(0 if is_right({**plan, "buffers": known}) else 1)
    assert 15 * ROUNDS < sum(expected) < 70 * ROUNDS
    assert verdicts(tmp_path, cases) == expected


# ---- programs, replayed ----

def random_program(rng):
    """Ops that read what was made before, tensors anywhere in two small memories."""
    tensors, ops = [], []
    for number in range(rng.randint(2, 7)):
        made = len(tensors)
        inputs = sorted(rng.sample(range(made), min(made, rng.randint(0, 2))))
        outputs = list(range(made, made + rng.choice([1, 1, 1, 2])))
        for one in outputs:
            tensors.append({"name": f"t{one}", "bytes": rng.randint(1, 24),
                            "given": {"pool": int(rng.random() < 0.1), "offset": 8 * rng.randrange(3 + 2 * made)}})
        op = {"name": f"op{number}", "inputs": inputs, "outputs": outputs}
        if inputs and rng.random() < 0.25:
            old, new = tensors[inputs[-1]], tensors[outputs[0]]
            new.update(bytes=old["bytes"], given=dict(old["given"]))
            op["in_place"] = [[0, len(inputs) - 1]]
        ops.append(op)
    return {"schema": "arenaut.program/1", "given": "foreign", "tensors": tensors, "ops": ops}


def bytes_of(tensor):
    pool, at = tensor["given"]["pool"], tensor["given"]["offset"]
    return {(pool, byte) for byte in range(at, at + tensor["bytes"])}


def computes(program):
    """Runs the ops over a memory that knows of each byte whose it is."""
    memory, tensors = {}, program["tensors"]
    for op in program["ops"]:
        if any(memory.get(byte) != one for one in op["inputs"] for byte in bytes_of(tensors[one])):
            return False
        for position, one in enumerate(op["outputs"]):
            over = {op["inputs"][k] for out, k in op.get("in_place", ()) if out == position}
            others = [two for two in {*op["inputs"], *op["outputs"]} - over if two != one]
            if any(bytes_of(tensors[one]) & bytes_of(tensors[two]) for two in others):
                return False
        for one in op["outputs"]:
            memory.update(dict.fromkeys(bytes_of(tensors[one]), one))
    return True


def test_programs(tmp_path):
    rng = random.Random(20)
    cases = [random_program(rng) for _ in range(300 * ROUNDS)]
    expected = [0 if computes(one) else 1 for one in cases]
    assert 80 * ROUNDS < sum(expected) < 250 * ROUNDS
    found = verdicts(tmp_path, [[("program.json", one)] for one in cases])
    for one, said, right in zip(cases, found, expected):
        assert said == right, json.dumps(one)


# ---- what is no dump ----

def changed(rng, document):
    """One value somewhere in it becomes another, or is not there."""
    place, key = None, None
    value = document
    while isinstance(value, (dict, list)) and value and (place is None or rng.random() < 0.8):
        place, key = value, rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        value = place[key]
    if rng.random() < 0.2:
        del place[key]
    else:
        place[key] = rng.choice([None, True, -1, 2**63 - 1, 2**63, 2**64, 10**30, 1.5, 1e300, "", "x", "-1", [], {},
                                 [[]], [-1, 2**62], "arenaut.plan/2"])


@pytest.mark.parametrize("make, name", [(random_plan, "plan.json"), (random_program, "program.json")])
def test_hostile_values_and_cuts(tmp_path, make, name):
    """Whatever stands there: right, wrong or not well formed; never a mistake of the checker's own."""
    rng, codes = random.Random(21), set()
    for number in range(120 * ROUNDS):
        document = make(rng)
        for _ in range(rng.randint(1, 2)):
            changed(rng, document)
        text = json.dumps(document)
        path = tmp_path / f"{number}.{name}"
        path.write_text(text if number % 4 else text[:rng.randrange(len(text))])
        done = check(path)
        codes.add(done.returncode)
        assert done.returncode in (0, 1, 3), (text, done.stderr)
        assert done.stdout or done.stderr
    assert {0, 3} <= codes
