"""Pages that are transcripts: their commands are run, and print what stands there.

A block of lines that begin with four spaces, the first with "$ ", is a session in one folder that
lasts for the page. ARENAUT_UPDATE=1 writes what the commands say now. The C++ is compiled against
the runtime's sources where these are at hand.
"""

import os
import re
import shutil
import subprocess

import pytest
from conftest import COMMAND, DATA, ROOT

from arm_runtime import HINT, SOURCES
from drawn import at_night

MODEL = DATA / "mobilenet_v1_025_96_int8.tflite"
PAGE = ROOT / "docs" / "tflite.md"
SESSION = re.compile(r"^    \$ .*\n(?:    .*\n|\n(?=\n*    ))*", re.M)


def said(line, folder):
    done = subprocess.run(["sh", "-c", line], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False, env={
                              **os.environ, "LC_ALL": "C",
                              "PATH": f"{COMMAND.resolve().parent}:{os.environ['PATH']}"})
    return "".join(f"    {text}".rstrip() + "\n"
                   for text in done.stdout.splitlines())


def played(session, folder):
    """The session with what its commands say now."""
    lines = re.findall(r"^    \$ (.*)\n", session, re.M)
    return "".join(f"    $ {line}\n{said(line, folder)}" for line in lines)


TRANSCRIPTS = {"tflite": 20, "start": 8, "how": 6, "check": 2, "iree": 2, "pools": 3, "recompute": 1}  # and their sessions
COPIES = {"mobilenet_v1_025_96_int8.tflite": "person.tflite", "resnet_int8.tflite": "resnet.tflite",
          "pte/kv_decoder.pte": "step.pte", "fragmented.csv": "buffers.csv"}


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_the_page_says_what_its_commands_say(name, tmp_path):
    for source, copy in COPIES.items():
        shutil.copy(DATA / source, tmp_path / copy)
    for folder in "tests", "examples":  # some pages say what is printed in a checkout
        (tmp_path / folder).symlink_to(ROOT / folder)
    path = PAGE.parent / f"{name}.md"
    page = path.read_text()
    copied = re.findall(r"^    cp tests/data/(\S+) (\S+)$", page, re.M)
    assert len(re.findall("^    [$] ", page, re.M)) >= TRANSCRIPTS[name] and all(COPIES[source] == copy for source, copy in copied)
    now = SESSION.sub(lambda found: played(found[0], tmp_path), page)
    if os.environ.get("ARENAUT_UPDATE"):
        path.write_text(now)
    assert now == path.read_text()


@pytest.mark.parametrize("name, flags", [("mobilenet", []), ("overlap", ["--overlap", "on"]),
                                         ("tiles", ["--overlap", "on", "--split", "on"])])
def test_the_pictures_are_those_of_the_command(arenaut, tmp_path, name, flags):
    drawn = tmp_path / f"{name}.svg"
    arenaut("view", MODEL, *flags, "--svg", "-o", drawn)
    path = PAGE.parent / drawn.name
    if os.environ.get("ARENAUT_UPDATE"):
        shutil.copy(drawn, path)
    assert drawn.read_text() == path.read_text()


def test_the_firmware_compiles(arenaut, tmp_path):
    if not SOURCES.is_dir():
        pytest.skip(f"{SOURCES} is not there: {HINT}")
    shutil.copy(MODEL, tmp_path / "person.tflite")
    arenaut("plan", tmp_path / "person.tflite", "--overlap", "on", "-o", tmp_path / "person.h")
    (tmp_path / "main.cc").write_text(re.search(r"```cpp\n(.*?)```", PAGE.read_text(), re.S)[1])
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-fsyntax-only",
                    "-DTF_LITE_STATIC_MEMORY",
                    *(f"-isystem{SOURCES / name}" for name in
                      ("tflite-micro", "flatbuffers/include", "gemmlowp", "ruy")),
                    tmp_path / "main.cc"], check=True)


STRUCTS = """
#include "tensorflow/lite/micro/micro_graph.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
using namespace tflite;
static_assert(sizeof(NodeAndRegistration) == NODE && sizeof(TfLiteTensor) == TENSOR && sizeof(TfLiteEvalTensor) == 12);
static_assert(sizeof(MicroMutableOpResolver<11>) - sizeof(MicroMutableOpResolver<10>) == 36);
"""


@pytest.mark.parametrize("compiler, flags, node, tensor", [
    ("arm-linux-gnueabihf-g++", ["-DTF_LITE_STATIC_MEMORY"], 32, 40), ("arm-linux-gnueabihf-g++", [], 44, 64),
    *map(at_night, [pytest.param("arm-none-eabi-g++", ["-DTF_LITE_STATIC_MEMORY"], 32, 32),
                    pytest.param("arm-none-eabi-g++", [], 44, 64)])])
def test_structs_of_the_tail_have_the_sizes_that_the_page_says(tmp_path, compiler, flags, node, tensor):
    if not SOURCES.is_dir():
        pytest.skip(f"{SOURCES} is not there: {HINT}")
    if not shutil.which(compiler):
        pytest.skip(f"not installed: {compiler}")
    (tmp_path / "structs.cc").write_text(STRUCTS)
    subprocess.run([compiler, "-std=c++17", "-fsyntax-only", *flags, f"-DNODE={node}", f"-DTENSOR={tensor}",
                    *(f"-isystem{SOURCES / name}" for name in ("tflite-micro", "flatbuffers/include", "gemmlowp")),
                    tmp_path / "structs.cc"], check=True)
    page = " ".join(PAGE.read_text().split())
    assert "44 bytes for each node instead of 32, and 64 instead of 40 for each input and output" in page
    assert "it is 32 of these" in page and "36 bytes for each kind of op" in page


def test_the_readme_begins_with_what_a_plan_prints(tmp_path):
    shutil.copy(MODEL, tmp_path / "model.tflite")
    line = "arenaut plan model.tflite -o planned.tflite"
    assert f"    $ build/{line}\n{said(line, tmp_path)}\n" in (ROOT / "README.md").read_text()
