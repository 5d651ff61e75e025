"""MiniMalloc's hard problems, and solved CSVs held against its own validator, where a checkout of it is at hand:
MINIMALLOC names its folder, and Debian's libabsl-dev must be installed."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import COMMAND, DATA, ROOT, corpus_params

SOURCE = os.environ.get("MINIMALLOC")
PROBLEMS = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.csv"))
            if not path.stem.endswith(".trace")]
PROBLEMS += corpus_params("dsa/challenging/*.csv")


@pytest.fixture(scope="module")
def validator(tmp_path_factory):
    if not SOURCE:
        pytest.skip("MINIMALLOC names no checkout of MiniMalloc: its validator is not asked")
    program = tmp_path_factory.mktemp("minimalloc") / "validate"
    libraries = subprocess.run(["pkg-config", "--libs", "absl_statusor", "absl_status"],
                               capture_output=True, text=True, check=True).stdout.split()
    source = Path(SOURCE) / "src"
    subprocess.run(["c++", "-O1", "-std=c++17", f"-I{source}",
                    ROOT / "tests/runner/minimalloc_validate.cpp", source / "validator.cc",
                    source / "minimalloc.cc", "-o", program, *libraries], check=True)
    return program


@pytest.mark.parametrize("problem", PROBLEMS)
def test_it_accepts_what_we_solve_and_nothing_else(problem, validator, tmp_path):
    solved = tmp_path / problem.name
    subprocess.run([COMMAND, "plan", "-q", problem, "-o", solved], check=True)
    ran = subprocess.run([validator, solved], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    header, *rows = solved.read_text().splitlines()
    squashed = tmp_path / f"squashed-{problem.name}"
    squashed.write_text("\n".join([header] + [row.rsplit(",", 1)[0] + ",0" for row in rows]))
    assert subprocess.run([validator, squashed], capture_output=True,
                          check=False).returncode == 1


@pytest.mark.parametrize("problem", corpus_params("dsa/challenging/*.csv"))
def test_all_hard_problems_but_one_are_proven_by_default(problem, tmp_path):
    plan = tmp_path / "plan.json"
    subprocess.run([COMMAND, "plan", "-q", problem, "-o", plan], check=True)
    subprocess.run([COMMAND, "check", problem, plan], check=True, capture_output=True)
    assert json.loads(plan.read_text())["result"]["status"] == ("feasible" if problem.stem[0] == "J" else "optimal")
