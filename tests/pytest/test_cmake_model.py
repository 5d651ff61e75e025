"""examples/cmake_model: a build plans its model, notices when the model changes, and fails where nothing fits."""

import shutil
import subprocess

import pytest
from conftest import COMMAND, DATA, ROOT

MODEL = DATA / "mobilenet_v1_025_96_int8.tflite"


@pytest.fixture
def build(tmp_path):
    """Configures, builds, and gives what was printed, with the program's own lines or None where the build failed."""
    def run(fit):
        configured = subprocess.run(["cmake", "-S", ROOT / "examples" / "cmake_model", "-B", tmp_path / "out",
                                     f"-DMODEL={tmp_path / 'm.tflite'}", f"-DFIT={fit}", f"-DARENAUT_COMMAND={COMMAND.resolve()}"],
                                    capture_output=True, text=True, check=False)
        assert configured.returncode == 0, configured.stderr
        done = subprocess.run(["cmake", "--build", tmp_path / "out"], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stdout + done.stderr, None
        program = subprocess.run([tmp_path / "out" / "firmware"], capture_output=True, text=True, check=True)
        return done.stdout + done.stderr, program.stdout.splitlines()

    shutil.copy(MODEL, tmp_path / "m.tflite")
    return run


def test_the_program_has_model_arena_and_ops(build, arenaut, arenaut_json, tmp_path):
    _, (said, *ops) = build("96K")
    planned = tmp_path / "out" / "firmware.planned" / "model.tflite"
    arenaut("check", planned, "--kernels", "cmsis-nn")
    [row] = [row for row in arenaut_json("size", planned, "--kernels", "cmsis-nn")["tensor_arena"]
             if (row["of"], row["target"]) == ("as it is", "tflite-micro")]
    assert said == (f"a model of {planned.stat().st_size} bytes that begins with TFL3, "
                    f"an arena of {row['bytes']}")
    assert "AddConv2D" in ops and len(ops) == 6
    assert "planning" not in build("96K")[0]
    shutil.copy(DATA / "resnet_int8.tflite", tmp_path / "m.tflite")
    printed, _ = build("96K")
    assert "planning the memory of model" in printed


def test_a_model_that_does_not_fit_fails_the_build(build, tmp_path):
    printed, program = build("20K")
    assert program is None and "nothing is known to fit into 20,480 bytes: the least to reserve is" in printed
    assert not (tmp_path / "out" / "firmware.planned" / "model.c").exists()


SYSTEM = """#include <string.h>
#include "planned/string.h"
int main(void) { return (int)strlen("") + STRING_TENSOR_ARENA_BYTES == 0; }
"""


@pytest.fixture
def project(tmp_path):
    """Configures a project around calls, and builds it where that works: what was printed, and whether all went well."""
    def run(*calls):
        shutil.copy(MODEL, tmp_path / "string.tflite")
        (tmp_path / "main.c").write_text(SYSTEM)
        lines = ["cmake_minimum_required(VERSION 3.22)", "project(p C)", f"include({ROOT / 'cmake' / 'arenaut-model.cmake'})",
                 "add_executable(p main.c)", *calls]
        (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
        printed = ""
        for command in (["-S", tmp_path, "-B", tmp_path / "b", f"-DARENAUT_COMMAND={COMMAND.resolve()}"], ["--build", tmp_path / "b"]):
            done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False)
            printed += done.stdout + done.stderr
            if done.returncode:
                return " ".join(printed.split()), False
        return printed, True
    return run


def test_a_header_hides_none_of_the_systems(project, arenaut, tmp_path):
    printed, works = project("arenaut_plan_model(p string.tflite FLAGS --target=tflite-micro)")
    assert works, printed
    arenaut("check", tmp_path / "b" / "p.planned" / "string.tflite")


def test_flags_of_the_runtime_reach_the_header(project, tmp_path):
    (tmp_path / "scratch.csv").write_text("method,op,bytes\n0,0,100000\n")
    call = f"arenaut_plan_model(p string.tflite FLAGS --scratch={tmp_path}/scratch.csv)"
    assert project(call)[1]
    header = tmp_path / "b" / "p.planned" / "planned" / "string.h"
    with_scratch = header.read_text()
    assert project("arenaut_plan_model(p string.tflite)")[1]
    assert header.read_text() != with_scratch


@pytest.mark.parametrize(("calls", "reason"), [
    (["arenaut_plan_model(p string.tflite FIT)"], "FIT has no value"),
    (["arenaut_plan_model(p string.tflite FIT KERNELS cmsis-nn)"], "FIT has no value"),
    (['arenaut_plan_model(p string.tflite FIT "")'], "FIT has no value"),
    (["arenaut_plan_model(p string.tflite FIT ${UNSET} FLAGS --inplace=on)"], "FIT has no value"),
    (["arenaut_plan_model(p string.tflite FLAGS --kernels=cmsis-nn)"], "kernels are KERNELS NAME"),
    (["arenaut_plan_model(p string.tflite FLAGS --kernels cmsis-nn)"], "kernels are KERNELS NAME"),
    (["arenaut_plan_model(p string.tflite FLAGS --target tflite-micro)"], "in FLAGS it is --target=NAME"),
    (["arenaut_plan_model(p string.tflite)", "arenaut_plan_model(p other/string.tflite)"], "has a model string already"),
])
def test_a_call_that_would_be_misread_is_refused(project, calls, reason):
    printed, works = project(*calls)
    assert not works and reason in printed, printed
