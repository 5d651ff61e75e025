"""The example that measures kernels, on its library of two kernels."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "measure_kernels"
RULES = EXAMPLE / "toy.kernels.json"


def need(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def run(*command, status=0):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout


def measure(*arguments, status=0):
    return run(sys.executable, EXAMPLE / "measure.py", *arguments, status=status)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    program = tmp_path_factory.mktemp("toy") / "toy"
    run("gcc", "-g", "-O2", "-Wall", "-Wextra", "-Werror", EXAMPLE / "toy_calls.c", "-o", program)
    return program


@pytest.fixture(scope="module")
def found(toy):
    need("valgrind")
    calls = toy.parent / "found.jsonl"
    measure("trace", "-o", calls, toy)
    return calls


def rows(table):
    """calls, equal and wrong of each rule."""
    return [[int(number) for number in line.split()[2:5]] for line in table.splitlines()[1:3]]


def test_traced_calls_bear_out_the_rules(found, tmp_path):
    new = tmp_path / "measured.kernels.json"
    for calls, equal, wrong in rows(measure("confirm", RULES, found, "-o", new)):
        assert calls > 10
        assert equal == calls
        assert wrong == 0
    assert [rule["evidence"] for rule in json.loads(new.read_text())["rules"]] == ["measured"] * 2
    assert "measured" in run(os.environ["ARENAUT"], "kernels", new)


def test_a_rule_that_allows_too_much_is_found(found, tmp_path):
    rules = json.loads(RULES.read_text())
    rules["rules"][0]["order"] = "block:8"
    bold = tmp_path / "bold.kernels.json"
    bold.write_text(json.dumps(rules))
    said = measure("confirm", bold, found, status=1)
    assert rows(said)[0][2] > 0 and rows(said)[1][2] == 0
    assert "is needed, for\n{'op': 'CONV_2D'" in said


def test_rules_without_calls_stay_read(found, tmp_path):
    rules = json.loads(RULES.read_text())
    rules["rules"].append({"op": "ADD", "order": "raster", "evidence": "measured"})
    more, new = tmp_path / "more.kernels.json", tmp_path / "new.kernels.json"
    more.write_text(json.dumps(rules))
    measure("confirm", more, found, "-o", new)
    assert json.loads(new.read_text())["rules"][2]["evidence"] == "read"


def test_a_scan_finds_what_a_trace_does(toy, tmp_path):
    scanned = tmp_path / "scanned.jsonl"
    scanned.write_text(run(toy, "scan"))
    for calls, equal, wrong in rows(measure("confirm", RULES, scanned)):
        assert calls > 5
        assert calls - equal <= 1
        assert wrong == 0


def test_a_cortex_m_finds_the_same(found, tmp_path):
    need("arm-none-eabi-gcc", "qemu-system-arm", "gcc")
    program, calls = tmp_path / "toy.elf", tmp_path / "found.jsonl"
    script = EXAMPLE / "cortex_m.sh"
    run(script, "build", "cortex-m55", program, "-O3", EXAMPLE / "toy_calls.c")
    run(script, "trace", "cortex-m55", program, calls)
    assert calls.read_text() == found.read_text()
