"""The Zephyr module and the ESP-IDF component: in their real builds where ZEPHYR_BASE or IDF_PATH names one (boards of
this machine), and everywhere in what stands in for the part of such a build that they meet (tests/firmware)."""

import os
import re
import shutil
import subprocess
import sys

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


FIRMWARE = ROOT / "tests" / "firmware"
ZEPHYR = [f"-DZephyr_DIR={FIRMWARE / 'zephyr'}", f"-DEXTRA_ZEPHYR_MODULES={ROOT}", f"-DPYTHON={sys.executable}"]
M55 = ["-DBOARD_CONFIG=TENSORFLOW_LITE_MICRO_CMSIS_NN_KERNELS=y;ARMV8_1_M_MVEI=y",
       f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'cmake' / 'cortex-m55.cmake'}",
       f"-DSTARTUP={ROOT / 'examples' / 'measure_kernels' / 'cortex_m_start.c'}"]
QEMU = ["qemu-system-arm", *"-M mps3-an547 -display none -monitor none -serial none".split(),
        "-semihosting-config", "enable=on,target=native", "-kernel"]
TOOLS = ["arm-none-eabi-gcc", "qemu-system-arm"]
FOR_M55 = pytest.param(M55, QEMU, "cmsis-nn-mve", marks=pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason=f"not installed: {', '.join(TOOLS)}"))


@pytest.mark.parametrize("board, under, kernels", [([], [], "reference"), FOR_M55], ids=["host", "cortex-m55"])
def test_zephyrs_example_is_built_where_its_package_is_played(tmp_path, board, under, kernels):
    printed, works = cmake(ROOT / "examples" / "zephyr_model", tmp_path, *ZEPHYR, *board)
    assert works, printed[-4000:]
    header = (tmp_path / "app.planned" / "planned" / "model.h").read_text()
    assert f'define MODEL_KERNELS "{kernels}"' in header
    lines = subprocess.run([*under, tmp_path / "zephyr" / "zephyr.elf"], capture_output=True, text=True, timeout=60,
                           check=True).stdout.splitlines()
    arena, = re.findall(r"_TENSOR_ARENA_BYTES (\d+)u", header)
    assert "AddConv2D" in lines and f"{SAID.rpartition(' ')[0]} {arena}" in lines
    printed, works = cmake(ROOT / "examples" / "zephyr_model", tmp_path, *ZEPHYR, *board, "-DFIT=20K")
    assert not works and "nothing is known to fit into 20,480 bytes" in printed


def test_esp_idfs_example_is_built_where_its_build_is_played(tmp_path, monkeypatch):
    monkeypatch.setenv("IDF_PATH", str(FIRMWARE / "esp_idf"))
    source = ROOT / "examples" / "esp_idf_model"

    def build(chip, *words):
        return cmake(source, tmp_path / chip, f"-DIDF_TARGET={chip}", f"-DPYTHON={sys.executable}", *words)

    printed, works = build("linux")
    assert works, printed[-4000:]
    ran = subprocess.run([tmp_path / "linux" / "esp_idf_model.elf"], capture_output=True, text=True, check=True)
    assert SAID in ran.stdout.splitlines()
    printed, works = build("linux", "-DFIT=20K")
    assert not works and "nothing is known to fit into 20,480 bytes" in printed
    assert build("esp32s3", "-DFIT=112K")[1]
    header = tmp_path / "esp32s3" / "esp-idf" / "main" / "__idf_main.planned" / "planned" / "model.h"
    assert 'define MODEL_KERNELS "esp32-s3"' in header.read_text()
    printed, works = build("esp32p4")
    assert not works and "neither KERNELS nor CONFIG_ARENAUT_KERNELS says which kernels run" in " ".join(printed.split())


@pytest.mark.parametrize("file, options, kernels", [
    ("zephyr/Kconfig", ["ARENAUT=y"], "reference"),
    ("zephyr/Kconfig", ["ARENAUT=y", "TENSORFLOW_LITE_MICRO_CMSIS_NN_KERNELS=y"], "cmsis-nn"),
    ("zephyr/Kconfig", ["ARENAUT=y", "ARMV8_1_M_MVEI=y"], "reference"),
    ("zephyr/Kconfig", [], None),
    *[("integrations/esp_idf/arenaut/Kconfig", [f"IDF_TARGET_{chip}=y"], kernels) for chip, kernels in
      [("ESP32", "esp-nn"), ("ESP32S2", "esp-nn"), ("ESP32S3", "esp32-s3"), ("ESP32C6", "esp-nn"), ("ESP32P4", "")]]])
def test_kernels_follow_the_configuration(file, options, kernels):
    found = subprocess.run([sys.executable, FIRMWARE / "kconfig.py", ROOT / file, *options], capture_output=True,
                           text=True, check=True).stdout
    line = f'set(CONFIG_ARENAUT_KERNELS "{kernels}")'
    assert line in found.splitlines() if kernels is not None else "ARENAUT_KERNELS" not in found


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
