"""Several files that never run at the same time: what they need together counts the state of each, which the others
must leave alone. The same programs as methods of one say what the least is."""

import json
import random
import re

import pytest


def method(name, states, widths):
    """A chain of ops that reads each state and writes it anew."""
    tensors = [{"name": f"{name}{i}", "bytes": width, "method": name} for i, width in enumerate(widths)]
    ops = [{"name": "ADD", "inputs": [f"{name}{i}"], "outputs": [f"{name}{i + 1}"]} for i in range(len(widths) - 1)]
    for k, (size, align) in enumerate(states):
        tensors.append({"name": f"{name}s{k}", "bytes": size, "align": align, "class": "state", "method": name})
        ops[k % len(ops)]["inputs"].append(f"{name}s{k}")
        ops.append({"name": "COPY", "kind": "in_place", "inputs": [f"{name}s{k}", f"{name}0"], "outputs": []})
    return tensors, {"name": name, "inputs": [f"{name}0"], "outputs": [f"{name}{len(widths) - 1}"], "ops": ops}


def write(path, *parts):
    path.write_text(json.dumps({"schema": "arenaut.program/1", "tensors": [t for tensors, _ in parts for t in tensors],
                                "methods": [one for _, one in parts]}))
    return path


def together(arenaut, *paths):
    line = re.search(r"^together +([0-9,]+) bytes.*$", arenaut("plan", *paths).stdout, re.M)
    return int(line[1].replace(",", "")), "state" in line[0]


def test_states_are_counted(arenaut, arenaut_json, tmp_path):
    parts = [method(name, [(64, 1)], [64, 64]) for name in "ab"]
    paths = [write(tmp_path / f"{i}.program.json", part) for i, part in enumerate(parts)]
    least = arenaut_json("plan", write(tmp_path / "both.program.json", *parts))["result"]
    assert least["status"] == "optimal" and together(arenaut, *paths) == (least["arena"], True) == (256, True)
    arenaut("plan", *paths, "--budget", "256")
    assert "needs 256 bytes" in arenaut("plan", *paths, "--budget", "255", exit=1).stderr


def test_without_state_they_need_as_much_as_the_largest(arenaut, tmp_path):
    paths = [write(tmp_path / f"{name}.program.json", method(name, [], [64, size])) for name, size in (("a", 32), ("b", 500))]
    assert together(arenaut, *paths) == (564, False)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_never_less_than_the_least(arenaut, arenaut_json, tmp_path, seed):
    rng = random.Random(seed)
    parts = [method(name, [(rng.randint(1, 90), rng.choice([1, 1, 16, 64])) for _ in range(rng.randint(0, 2))],
                    [rng.randint(1, 300) for _ in range(rng.randint(2, 5))]) for name in "abc"]
    paths = [write(tmp_path / f"{i}.program.json", part) for i, part in enumerate(parts)]
    least = arenaut_json("plan", write(tmp_path / "all.program.json", *parts))["result"]["lower_bound"]
    found, _ = together(arenaut, *paths)
    slack = sum(max([1, *(t.get("align", 1) for t in tensors)]) * 4 for tensors, _ in parts)
    assert least <= found <= least + slack
