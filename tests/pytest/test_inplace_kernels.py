"""Which kernels of the stock wheel may write over an operand: the target's table, entry by entry.

Every entry is tried with all element types, shapes and operands of single_ops.py, on random
data, against the same op with its tensors apart. What is known to be unsafe is tried likewise
and must come out different, or else this test could not fail.
"""

import re
from collections import defaultdict

import pytest
from conftest import ROOT
from drawn import some

import single_ops

SOURCE = ROOT / "src" / "kernels" / "reference_kernels.c"
# Their output is their input's bytes: being different would be the mistake.
MOVES = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS", "CAST"}

CASES = defaultdict(list)
for _case in single_ops.safe_cases():
    CASES[_case.op].append(_case)
UNSAFE = list(single_ops.unsafe_cases())


def table():
    """The rows of the target's table: (op, input, output)."""
    block = SOURCE.read_text().split("in_place[] = {")[1].split("};")[0]
    return [(op, int(source), int(target)) for op, source, target in
            re.findall(r'\{"(\w+)", (\d+), (\d+)', block)]


def test_the_table_is_read_whole():
    block = SOURCE.read_text().split("in_place[] = {")[1].split("};")[0]
    assert len(table()) == block.count("{") - 1 > 20  # the last row is the end mark


@pytest.mark.parametrize("op, operand, output", some(pytest.param(*row) for row in table()))
def test_every_entry_of_the_table_is_safe_in_the_wheel(op, operand, output):
    cases = [case for case in CASES[op] if case.can_alias(operand, output)]
    assert cases, f"single_ops.py has no case of {op} whose operand {operand} can be aliased"
    corrupted = [str(case) for case in cases if not case.survives_alias(operand, output)]
    assert not corrupted


@pytest.mark.parametrize("op", sorted({row[0] for row in table()}))
def test_cases_of_an_op_could_show_a_difference(op):
    """At least one case per op must compute something: many values, other than its input."""
    def shows(case):
        values = case.inputs(0)
        output = case.run(case.apart(), values)[0]
        varied = len(set(output)) > (1 if op.startswith("LOGICAL") else 2)
        return varied and (op in MOVES or output != values[0].tobytes())

    assert any(shows(case) for case in CASES[op])


@pytest.mark.parametrize("case", UNSAFE, ids=str)
def test_kernels_known_to_be_unsafe_are_caught(case):
    assert case.can_alias(0, 0)
    assert not case.survives_alias(0, 0)
    assert (case.op, 0, 0) not in table()


@pytest.mark.parametrize("case", CASES["SignalPCAN"], ids=str)
def test_the_second_operand_of_pcan_is_unsafe(case):
    assert not case.survives_alias(1, 0)
    assert ("SignalPCAN", 1, 0) not in table()
