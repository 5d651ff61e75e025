"""A program with partitions for Ethos-U, as the compiler for that processor makes them (make_ethos_u.py): values between
the partitions are planned like any others; what a partition keeps is said."""

import importlib.util

import pytest
from conftest import DATA

FILE = DATA / "ethos_u.pte"
#: Floats of the image between the two partitions, and the first one's result in int8.
IMAGE, BYTES = 4 * 1024, 1024


def test_values_between_partitions_are_planned(arenaut, arenaut_json, tmp_path):
    """Two floats of the image today; with results over operands one, beside what the partition gave."""
    assert arenaut_json("plan", FILE)["result"]["arena"] == 2 * IMAGE
    planned = arenaut_json("plan", FILE, "--inplace", "on")
    assert (planned["baseline"]["arena"], planned["result"]["arena"]) == (2 * IMAGE, IMAGE + BYTES)
    arenaut("plan", FILE, "--inplace", "on", "-o", tmp_path / "small.pte")
    assert "ok" in arenaut("check", tmp_path / "small.pte", "--inplace", "on").stdout
    before, after = FILE.read_bytes(), (tmp_path / "small.pte").read_bytes()
    assert before.count(b"vela_bin_stream") == after.count(b"vela_bin_stream") == 2


def test_explain_says_what_a_partition_keeps(arenaut):
    said = arenaut("explain", FILE).stdout
    assert "opaque 2 of 7 ops, from op 1 EthosUBackend on" in said
    assert "in 4 of the 8 buffers that are planned" in said
    assert "EthosUBackend keeps scratch from the method's temporary allocator, with copies of its arguments" in said
    assert "XnnpackBackend" not in said


def test_the_pass_plans_between_partitions(ours):
    """In the export itself, as the command does."""
    for package in ("ethosu", "tosa_serializer"):
        if not importlib.util.find_spec(package):
            pytest.skip(f"not installed: {package} (tests/models/make_ethos_u.py has the packages)")
    import make_ethos_u
    sizes = []
    for inplace in (None, "safe"):
        program = make_ethos_u.exported(ours.MemoryPlanningPass(inplace=inplace))
        [plan] = program.executorch_program.execution_plan
        sizes.append(sum(plan.non_const_buffer_sizes))
        assert [delegate.id for delegate in plan.delegates] == ["EthosUBackend"] * 2
    assert sizes == [2 * IMAGE, IMAGE + BYTES]
