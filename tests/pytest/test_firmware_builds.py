"""The Zephyr module and the ESP-IDF component: in their real builds where ZEPHYR_BASE or IDF_PATH names one (boards of
this machine), and everywhere in a project that stands in for the part of such a build that they meet."""

import os
import subprocess

import pytest
from conftest import COMMAND, DATA, ROOT

MODEL = DATA / "mobilenet_v1_025_96_int8.tflite"
SAID = "a model of 297776 bytes that begins with TFL3, an arena of 82256"
DEFINES = [f"-DMODEL={MODEL}", f"-DARENAUT_COMMAND={COMMAND.resolve()}"]


def cmake(source, build, *defines):
    """Configures and builds: what was printed, and whether all went well."""
    printed = ""
    for command in (["-S", source, "-B", build, *DEFINES, *defines], ["--build", build]):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False)
        printed += done.stdout + done.stderr
        if done.returncode:
            return printed, False
    return printed, True


def build_and_run(source, build, program, *defines):
    printed, works = cmake(source, build, "-GNinja", *defines)
    assert works, printed[-4000:]
    # A firmware does not end by itself.
    lines = subprocess.run(["timeout", "5", build / program], capture_output=True, text=True, check=False).stdout.splitlines()
    assert SAID in lines and "AddConv2D" in lines
    printed, works = cmake(source, build, "-DFIT=20K")
    assert not works and "nothing is known to fit into 20,480 bytes" in printed


@pytest.mark.skipif("ZEPHYR_BASE" not in os.environ, reason="set ZEPHYR_BASE=FOLDER to Zephyr's sources")
def test_zephyr_builds_and_runs_the_example(tmp_path):
    build_and_run(ROOT / "examples" / "zephyr_model", tmp_path, "zephyr/zephyr.exe",
                  f"-DBOARD={os.environ.get('BOARD', 'native_sim/native/64')}", f"-DZEPHYR_MODULES={ROOT}")


@pytest.mark.skipif("IDF_PATH" not in os.environ, reason="set IDF_PATH=FOLDER to ESP-IDF's sources")
def test_esp_idf_builds_and_runs_the_example(tmp_path):
    build_and_run(ROOT / "examples" / "esp_idf_model", tmp_path, "esp_idf_model.elf",
                  "-DIDF_TARGET=linux", "-DPYTHON_DEPS_CHECKED=1", f"-DSDKCONFIG={tmp_path / 'sdkconfig'}")


STAND_IN = """cmake_minimum_required(VERSION 3.20)
project(stand_in C)
file(WRITE ${{CMAKE_BINARY_DIR}}/main.c "#include \\"planned/{name}.h\\"\\nint main(void) {{ return 0; }}\\n")
set(CONFIG_ARENAUT y)
{config}
{module}
add_executable(app ${{CMAKE_BINARY_DIR}}/main.c)
arenaut_plan_model(app {model} {words})
"""
MODULES = {"zephyr": f"add_subdirectory({ROOT}/zephyr module)",
           "esp_idf": f"include({ROOT}/integrations/esp_idf/arenaut/project_include.cmake)"}


@pytest.fixture(params=MODULES)
def stand_in(request, tmp_path):
    def build(config, words=""):
        (tmp_path / "CMakeLists.txt").write_text(STAND_IN.format(
            name=MODEL.stem, module=MODULES[request.param], model=MODEL, config=config, words=words))
        printed, works = cmake(tmp_path, tmp_path / "b")
        header = tmp_path / "b" / "app.planned" / "planned" / f"{MODEL.stem}.h"
        return printed, header.read_text() if works else None
    return build


def test_kernels_are_those_of_the_configuration(stand_in):
    assert '_KERNELS "cmsis-nn-mve"' in stand_in("set(CONFIG_ARENAUT_KERNELS cmsis-nn-mve)")[1]
    assert '_KERNELS "esp-nn"' in stand_in("set(CONFIG_ARENAUT_KERNELS cmsis-nn-mve)", "KERNELS esp-nn")[1]


def test_kernels_that_nobody_knows_are_refused(stand_in):
    printed, header = stand_in('set(CONFIG_ARENAUT_KERNELS "")')
    assert header is None and "neither KERNELS nor CONFIG_ARENAUT_KERNELS says which kernels run" in " ".join(printed.split())


def test_a_file_with_kernels_has_the_model_planned_anew(stand_in, arenaut, tmp_path):
    kernels = tmp_path / "kernels.json"
    kernels.write_text(arenaut("kernels", "cmsis-nn", "--json").stdout)
    first, header = stand_in(f"set(CONFIG_ARENAUT_KERNELS {kernels})")
    assert header and "planning the memory" in first
    assert "planning the memory" not in stand_in(f"set(CONFIG_ARENAUT_KERNELS {kernels})")[0]
    kernels.touch()
    assert "planning the memory" in stand_in(f"set(CONFIG_ARENAUT_KERNELS {kernels})")[0]
