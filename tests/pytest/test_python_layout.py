"""The structs of the Python package, against what the C compiler makes of the headers."""

import ctypes
import os
import re
import subprocess
import sys

import pytest
from conftest import COMMAND, ROOT

LIBRARY = COMMAND.parent / "libarenaut.so"


@pytest.fixture(scope="module")
def records():
    """C names and ctypes classes: those that a script writes, and those written by hand."""
    if not LIBRARY.is_file():
        pytest.fail(f"{LIBRARY} is missing: run `make`")
    os.environ["ARENAUT_LIBRARY"] = str(LIBRARY)
    sys.path.insert(0, str(ROOT / "python"))
    from arenaut import iteration, records, tape
    written = [(c_name(name), record) for name, record in vars(records).items()
               if isinstance(record, type) and issubclass(record, ctypes.Structure)
               and record is not ctypes.Structure]
    assert len(written) > 30
    return [*written,
            ("arenaut_value", iteration.ValueRecord),
            ("arenaut_iteration_options", iteration.OptionsRecord),
            ("arenaut_device", iteration.DeviceRecord),
            ("arenaut_source", iteration.SourceRecord),
            ("arenaut_value_hooks", iteration.HooksRecord),
            ("arenaut_iteration_config", iteration.ConfigRecord),
            ("arenaut_iteration_planner", iteration.PlannerRecord),
            ("arenaut_fault", iteration.FaultRecord),
            ("arenaut_iteration_figures", iteration.Figures),
            ("arenaut_tape_heap", tape.HeapRecord),
            ("arenaut_tape_options", tape.OptionsRecord),
            ("arenaut_tape_block", tape.Block),
            ("arenaut_tape_counts", tape.Counts)]


def c_name(name):
    """"PlanOptions" is arenaut_plan_options."""
    return "arenaut" + re.sub("([A-Z])", lambda letter: "_" + letter[0].lower(), name)


def test_the_written_records_are_those_of_the_headers():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "python_records.py", "--check"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_structs_are_laid_out_as_in_the_headers(records, tmp_path):
    """CC may be a compiler for another system, whose layout is that of ctypes there: no record has a type of C that
    is another one on a 64-bit system."""
    lines = ["#include <stddef.h>", "#include <arenaut/arenaut.h>"]
    for name, record in records:
        lines += [f'_Static_assert(offsetof({name}, {field}) == {getattr(record, field).offset}, "");'
                  for field, _ in record._fields_]
        lines.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(record)}, "");')
    source = tmp_path / "layout.c"
    source.write_text("\n".join([*lines, ""]))
    compiler = os.environ.get("CC", "cc")
    done = subprocess.run([compiler, "-std=c11", "-fsyntax-only", f"-I{ROOT / 'include'}", source],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_no_record_or_function_has_a_type_that_is_another_one_on_windows():
    for path in sorted((ROOT / "python" / "arenaut").glob("*.py")):
        assert not re.search(r"\bc_u?long\b|\bc_wchar|\bc_longdouble\b", path.read_text()), path
