"""`export --as c-array`: a model's bytes as C, compiled for this machine and for a Cortex-M."""

import shutil
import subprocess

import pytest
from conftest import DATA

MODEL = DATA / "mobilenet_v1_025_96_int8.tflite"

# Writes the array to standard output, if it lies where flatbuffers want it.
MAIN = """
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char planned_model[];
extern const size_t planned_model_size;
#ifdef __cplusplus
}
#endif
int main(void) {
    if ((uintptr_t)planned_model % 16) return 1;
    return fwrite(planned_model, 1, planned_model_size, stdout) != planned_model_size;
}
"""
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.fixture
def planned(arenaut, tmp_path):
    """A planned model and the C file that `export` makes of it."""
    arenaut("plan", MODEL, "-o", tmp_path / "planned.tflite")
    arenaut("export", tmp_path / "planned.tflite", "--as", "c-array", "-o", tmp_path / "planned.c")
    return (tmp_path / "planned.tflite").read_bytes(), tmp_path / "planned.c"


@pytest.mark.parametrize("compiler", ["gcc -std=c11 -x c", "g++ -std=c++11 -x c++"])
def test_a_program_finds_the_bytes_of_the_planned_file(planned, tmp_path, compiler):
    data, source = planned
    (tmp_path / "main.c").write_text(MAIN)
    subprocess.run([*compiler.split(), *WARNINGS, source, tmp_path / "main.c", "-o",
                    tmp_path / "main"], check=True)
    assert subprocess.run([tmp_path / "main"], capture_output=True, check=True).stdout == data


def test_a_cortex_m_has_the_bytes_in_flash(planned, tmp_path):
    if not shutil.which("arm-none-eabi-gcc"):
        pytest.skip("not installed: arm-none-eabi-gcc")
    data, source = planned
    built, image = tmp_path / "planned.o", tmp_path / "planned.bin"
    subprocess.run(["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-std=c11", *WARNINGS,
                    "-fdata-sections", "-c", source, "-o", built], check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", "-j", ".rodata.planned_model", built,
                    image], check=True)
    assert image.read_bytes() == data
    sections = subprocess.run(["arm-none-eabi-objdump", "-h", built], capture_output=True,
                              text=True, check=True).stdout
    row = next(line for line in sections.splitlines() if ".rodata.planned_model " in line)
    assert row.split()[-1] == "2**4"


def test_an_unplanned_model_is_written_as_it_is(arenaut):
    text = arenaut("export", MODEL, "--as", "c-array").stdout
    body = text.split("[] = {\n")[1].split("};")[0]
    assert bytes(int(number, 16) for number in body.replace("\n", "").split(",")[:-1]) == \
        MODEL.read_bytes()


def test_nothing_but_a_model_is_written(arenaut, tmp_path):
    done = arenaut("export", DATA / "fragmented.csv", "--as", "c-array", exit=3)
    assert "only one model file" in done.stderr
    done = arenaut("plan", MODEL, "-o", tmp_path / "planned.c", exit=2)
    assert "a C array is made of a model that holds its plan" in done.stderr
    assert not (tmp_path / "planned.c").exists()
