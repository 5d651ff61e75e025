"""What docs/stability.md promises of the library's ABI: its SONAME, the symbols that it exports, and
the sizes of all public structs are those of tests/abi. ARENAUT_UPDATE=1 renews the records; where
one shrinks or changes, the version has to be raised (docs/stability.md)."""

import os
import re
import subprocess
import sys

import pytest
from conftest import COMMAND, ROOT
from measure_structure import public_functions, unused_functions

RECORDS = ROOT / "tests" / "abi"
LIBRARY = COMMAND.parent / "libarenaut.so"


def compare(name, lines):
    record = RECORDS / name
    text = "".join(f"{line}\n" for line in lines)
    if os.environ.get("ARENAUT_UPDATE"):
        record.write_text(text)
    assert text == record.read_text(), "the ABI is another one: see docs/stability.md"


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def test_the_name_that_programs_are_linked_against():
    found = re.search(r"\(SONAME\).*\[(.*)\]", output("readelf", "-d", LIBRARY))
    version = re.search(r'ARENAUT_VERSION "(\d+)\.(\d+)',
                        (ROOT / "include/arenaut/version.h").read_text())
    major, minor = version.groups()
    assert found[1] == f"libarenaut.so.{major}" + (f".{minor}" if major == "0" else "")


def test_exported_symbols():
    symbols = [line.split() for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()]
    compare("symbols.txt", sorted(fields[2] for fields in symbols))


def test_exported_functions_are_declared_in_public_headers_and_used_outside_of_the_library():
    symbols = (RECORDS / "symbols.txt").read_text().split()
    assert not set(symbols) - set(public_functions())
    assert unused_functions() == {}


def test_names_that_a_static_link_brings_in():
    names = [line.split()[-1] for line in output("nm", "-g", "--defined-only",
                                                 COMMAND.parent / "libarenaut.a").splitlines()
             if len(line.split()) == 3]
    assert not [name for name in names if not name.startswith(("arenaut_", "arn_"))]


@pytest.mark.skipif(sys.maxsize < 2**32, reason="the record is of 64-bit machines")
def test_sizes_of_public_structs(tmp_path):
    headers = sorted((ROOT / "include" / "arenaut").glob("*.h"))
    names = sorted({name for header in headers
                    for name in re.findall(r"^typedef struct (\w+) \{", header.read_text(), re.M)})
    source = tmp_path / "sizes.c"
    source.write_text("#include <stdio.h>\n"
                      + "".join(f"#include <arenaut/{header.name}>\n" for header in headers)
                      + "int main(void) {\n"
                      + "".join(f'    printf("{name} %zu\\n", sizeof({name}));\n' for name in names)
                      + "    return 0;\n}\n")
    program = tmp_path / "sizes"
    output(os.environ.get("CC", "cc"), "-std=c11", f"-I{ROOT / 'include'}", source, "-o", program)
    compare("sizes.txt", output(program).splitlines())
