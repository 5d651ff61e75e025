"""The structs that Python lays out by hand, against what the C compiler makes of the headers."""

import ctypes
import os
import subprocess
import sys

import pytest
from conftest import COMMAND, ROOT

LIBRARY = COMMAND.parent / "libarenaut.so"


@pytest.fixture(scope="module")
def records():
    """C names and ctypes classes. `whole` is False where only the front is declared."""
    if not LIBRARY.is_file():
        pytest.fail(f"{LIBRARY} is missing: run `make`")
    os.environ["ARENAUT_LIBRARY"] = str(LIBRARY)
    sys.path.insert(0, str(ROOT / "python"))
    from arenaut import iteration, library, planning, tape
    return [("arenaut_error", library.ErrorRecord, True),
            ("arenaut_interval", planning.Interval, True),
            ("arenaut_optional_id", planning.OptionalId, True),
            ("arenaut_optional_offset", planning.OptionalOffset, True),
            ("arenaut_buffer", planning.BufferRecord, True),
            ("arenaut_plan", planning.PlanRecord, False),
            ("arenaut_plan_options", planning.OptionsRecord, True),
            ("arenaut_value", iteration.ValueRecord, True),
            ("arenaut_iteration_options", iteration.OptionsRecord, True),
            ("arenaut_device", iteration.DeviceRecord, True),
            ("arenaut_source", iteration.SourceRecord, True),
            ("arenaut_value_hooks", iteration.HooksRecord, True),
            ("arenaut_iteration_config", iteration.ConfigRecord, True),
            ("arenaut_iteration_planner", iteration.PlannerRecord, True),
            ("arenaut_fault", iteration.FaultRecord, True),
            ("arenaut_iteration_figures", iteration.Figures, True),
            ("arenaut_tape_heap", tape.HeapRecord, True),
            ("arenaut_tape_options", tape.OptionsRecord, True),
            ("arenaut_tape_block", tape.Block, True),
            ("arenaut_tape_counts", tape.Counts, True)]


def test_structs_are_laid_out_as_in_the_headers(records, tmp_path):
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <arenaut/arenaut.h>",
             "int main(void) {"]
    expected = []
    for name, record, whole in records:
        for field, _ in record._fields_:
            expected.append((name, field, getattr(record, field).offset))
            lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
        if whole:
            expected.append((name, "its size", ctypes.sizeof(record)))
            lines.append(f'printf("%zu\\n", sizeof({name}));')
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text("\n".join([*lines, "return 0; }"]))
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-std=c11", f"-I{ROOT / 'include'}", source, "-o", program],
                   check=True, timeout=120)
    found = subprocess.run([program], capture_output=True, text=True, check=True,
                           timeout=60).stdout.split()
    wrong = [(*want, int(got)) for want, got in zip(expected, found) if want[2] != int(got)]
    assert not wrong and len(found) == len(expected), wrong


def test_the_finding_that_the_checker_fills_has_room(records, tmp_path):
    """It is handed over as plain bytes: 1024, whatever it holds."""
    source, program = tmp_path / "size.c", tmp_path / "size"
    source.write_text("#include <arenaut/check.h>\n_Static_assert(sizeof(arenaut_finding) <= 1024, "
                      "\"room\");\nint main(void) { return 0; }")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", f"-I{ROOT / 'include'}", source, "-o",
                    program], check=True, timeout=120)
