"""What `size` says of the whole arena, against the runtimes: the wheel on 64 bits, and what was
measured on 32-bit ARM (data/arena), which is measured again where that runtime was built."""

import csv
import subprocess
from functools import cache

import pytest
from conftest import DATA, ROOT, SCRATCH, corpus_params

import arm_runtime
import measure_arena
import micro_runtime

MEASURED = ROOT / "data" / "arena" / "tflite-micro-arm.csv"
RUNNER = arm_runtime.RUNNERS["reference"]
SLACK = 64  # bytes that the answer may be above the truth, never below
OWN = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))]
TAKEN = [param for param in [*OWN, *corpus_params("tflite/*.tflite")] if param.id not in micro_runtime.REFUSED]


@cache
def measured():
    lines = [line for line in MEASURED.read_text().splitlines() if not line.startswith("#")]
    return {row["model"]: {k: int(v) for k, v in row.items() if k != "model"}
            for row in csv.DictReader(lines)}


@pytest.fixture
def arena_of(arenaut_json):
    """The answer for the file as it is, on a target."""
    def ask(path, target):
        found = arenaut_json("size", path, "--scratch", SCRATCH, "--effort", 1)
        return next(row for row in found["tensor_arena"]
                    if row["of"] == "as it is" and row["target"] == target)
    return ask


@pytest.mark.parametrize("path", TAKEN)
def test_the_answer_is_the_least_arena_of_the_wheel(path, arena_of):
    data = path.read_bytes()
    arena = arena_of(path, "tflite-micro-64")
    assert arena["exact"]
    assert micro_runtime.loads_in(data, arena["bytes"])
    assert not micro_runtime.loads_in(data, arena["bytes"] - SLACK)


@pytest.mark.parametrize("path", TAKEN)
def test_the_answer_is_the_least_arena_on_32_bit_arm(path, arena_of):
    truth = measured()[path.name.split(".")[0]]
    arena = arena_of(path, "tflite-micro")
    assert arena["exact"]
    assert 0 <= arena["bytes"] - truth["arena"] <= SLACK
    assert 0 <= arena["tail"] - truth["tail"] <= SLACK
    assert arena["head"] >= truth["head"]


@pytest.mark.parametrize("path", [param for param in OWN if param in TAKEN])
def test_what_was_measured_is_what_the_runtime_says(path):
    if not RUNNER.is_file():
        pytest.skip("32-bit ARM runtime is not built: `make micro-runtime`")
    truth = measured()[path.stem]
    assert measure_arena.measure("reference", path) == (truth["head"], truth["tail"], truth["arena"])


def test_the_table_is_what_the_runtime_says():
    """Options and data of every builtin operator, as the kernels begin with them."""
    if not RUNNER.is_file():
        pytest.skip("32-bit ARM runtime is not built: `make micro-runtime`")
    done = subprocess.run(["qemu-arm-static", RUNNER, "--sizes"], capture_output=True, text=True,
                          check=True)
    source = (ROOT / "src" / "kernels" / "reference_memory.c").read_text()
    for row in csv.reader(done.stdout.splitlines()):
        if row[0] == "op" and row[1] != "EMBEDDING_LOOKUP":  # its data comes later
            assert f'{{"{row[1]}", 0, 0, {{{row[2]}, ' in source, row[1]
            assert f"{{{row[3]}, " in source.split(f'{{"{row[1]}", 0, 0, ')[1].split("\n")[0]


@pytest.mark.parametrize("name", ["mobilenet_v1_025_96_int8", "resnet_int8", "inception_int8"])
def test_a_planned_file_needs_what_was_foretold(name, arenaut, arenaut_json, arena_of, tmp_path):
    """With overlap; on both kinds of machine."""
    planned = tmp_path / "planned.tflite"
    before = arenaut_json("size", DATA / f"{name}.tflite", "--overlap", "on")["tensor_arena"]
    arenaut("plan", DATA / f"{name}.tflite", "--overlap", "on", "-o", planned)
    data = planned.read_bytes()
    foretold = {row["target"]: row["bytes"] for row in before if row["of"] == "planned"}
    for target in foretold:
        assert arena_of(planned, target)["bytes"] == foretold[target]
    assert micro_runtime.loads_in(data, foretold["tflite-micro-64"])
    assert not micro_runtime.loads_in(data, foretold["tflite-micro-64"] - SLACK)
    if RUNNER.is_file():
        least = measure_arena.measure("reference", planned)[2]
        assert 0 <= foretold["tflite-micro"] - least <= SLACK


def test_a_lower_bound_leaves_nothing_to_spare_in_two_memories(arenaut):
    for name, head in (("scratch_int8", "40K"), ("custom_op_planned", "40K")):
        done = arenaut("size", DATA / f"{name}.tflite", "--pool", f"head={head}", "--pool", "tail=30K", exit=1)
        assert "to spare" not in done.stdout and done.stdout.count("unknown") >= 2


def test_what_is_unknown_counts_against_no_unlimited_memory(arenaut, arenaut_json):
    unlimited = ("--pool", "head=unlimited", "--pool", "tail=unlimited")
    path = DATA / "scratch_int8.tflite"
    assert not arenaut("size", path, *unlimited).stderr
    assert arenaut_json("size", path, *unlimited)["two_memories"]["fits"] is None
    assert "is not known" in arenaut("size", path, *unlimited[:3], "tail=30K", exit=1).stderr


def test_explain_calls_a_lower_bound_of_the_tail_one(arenaut, arenaut_json):
    path = DATA / "custom_op_planned.tflite"
    said = arenaut("explain", path).stdout
    assert "tail   at least 364 bytes" in said and "1 struct of 32 bytes" in said
    assert "tflite-micro: at least 4,464 bytes" in said and "to reserve at least 9,600" in said
    found = arenaut_json("explain", path)
    assert found["tail"]["exact"] is False
    assert {r["exact"] for r in found["remedies"] if "reserve" in r} == {False}
    assert arenaut_json("explain", DATA / "resnet_int8.tflite")["tail"]["exact"] is True


@pytest.mark.parametrize("name", ["custom_op_planned", "hello_world_int8"])
def test_check_judges_two_memories(arenaut, name):
    done = arenaut("check", DATA / f"{name}.tflite", "--pool", "head=100", "--pool", "tail=10K", exit=1)
    assert "over the 100 of its memory" in done.stderr
