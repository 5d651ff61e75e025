"""Every operator whose outputs may reach into operands has loops in the checker: a kernel set of a user, whatever order
of reads and writes it states, ends in a plan or in words about its rule, never in a bug."""

import json
import re
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
ROWS = re.findall(r'TFLITE\("([A-Z0-9_]+)",(.*)\)', (REPO / "src/ops/ops.def").read_text())
FAMILIES = {name: columns.split(",")[6].strip() for name, columns in ROWS if columns.split(",")[6].strip() != "NONE"}
ORDERS = ("raster", "any", "block:4", "block-reread:4", "rows")


def program(operator, operands):
    names = ["first", *operands, "y"]
    return {"schema": "arenaut.program/1", "inputs": ["first", *operands[1:]], "outputs": ["y"],
            "tensors": [{"name": name, "dtype": "int8", "dims": [4, 16]} for name in names],
            "ops": [{"name": "RELU", "inputs": ["first"], "outputs": ["x"]},
                    {"name": operator, "inputs": operands, "outputs": ["y"]}]}


def kernels(operator, order):
    rules = [{"op": operator, "order": order, "evidence": "measured"}]
    return {"schema": "arenaut.kernels/1", "name": "mine", "version": "1", "summary": "of a test", "base": "reference",
            "rules": rules}


def test_there_are_operators():
    assert len(FAMILIES) > 60


@pytest.mark.parametrize("order", ORDERS)
def test_no_order_of_an_operator_is_a_bug(arenaut, tmp_path, order):
    overlaps = 0
    for operator, family in FAMILIES.items():
        several = family in ("BINARY", "CONCATENATION", "PACK")
        path, rules = tmp_path / "m.program.json", tmp_path / "mine.kernels.json"
        path.write_text(json.dumps(program(operator, ["x", "z"] if several else ["x"])))
        rules.write_text(json.dumps(kernels(operator, order)))
        done = arenaut("size", path, "--target", "tflite-micro", "--kernels", rules, "--overlap", "on", "--json")
        assert done.returncode == 0, (operator, order, done.stderr)
        overlaps += json.loads(done.stdout)["result"]["arena"] < 3 * 64
    assert overlaps > 0 or order == "rows"
