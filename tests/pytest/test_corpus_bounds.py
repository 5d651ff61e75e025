"""Every corpus model, run by the wheel or not: planned = the bound of its published lifetimes."""

import csv

import pytest
from conftest import CORPUS, SCRATCH, corpus_params

# Its one custom op may have its arguments on top of one another; the bound does not know that.
WITHOUT = {"person_detect_vela"}


def most_alive(path):
    """The largest sum of sizes alive at one step, from half-open lifetimes."""
    changes = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            for step, sign in ((row["lower"], 1), (row["upper"], -1)):
                changes[int(step)] = changes.get(int(step), 0) + sign * int(row["size"])
    alive = most = 0
    for step in sorted(changes):
        alive += changes[step]
        most = max(most, alive)
    return most


@pytest.mark.parametrize("path", corpus_params("tflite/*.tflite", without=WITHOUT))
def test_the_plan_is_as_small_as_the_lifetimes_allow(arenaut_json, path):
    document = arenaut_json("size", path, "--scratch", SCRATCH)
    with_scratch = CORPUS / "tflite_csv" / f"{path.stem}.scratch.csv"
    lifetimes = with_scratch if with_scratch.is_file() else \
        CORPUS / "tflite_csv" / f"{path.stem}.csv"
    assert document["result"]["arena"] == most_alive(lifetimes)
    assert document["result"]["lower_bound"] == most_alive(lifetimes)
    assert document["scratch"] != "unknown"
    assert document["result"]["status"] == "optimal"
