"""examples/micro_planner in the unmodified micro runtime on 32-bit ARM: tensors and scratch lie where a plan says,
the head is as small as that plan and never larger than with the runtime's own planner, and outputs are the same."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DATA, ROOT

sys.path.insert(0, str(ROOT / "tests" / "models"))
import arm_runtime
import micro_runtime

EXAMPLE = ROOT / "examples" / "micro_planner"
ARENA = 8 << 20
CORPUS = Path(os.environ.get("ARENAUT_CORPUS", ROOT.parent / "shared" / "corpus")) / "tflite"
#: Models whose kernels ask for scratch, in which the runtime's own planner loses something.
LARGE = ["person_detect.tflite", "mlperf_resnet8_int8.tflite", "mlperf_vww96_int8.tflite", "micro_speech_lstm.tflite",
         "trained_lstm_int8.tflite"]
SMALL = sorted(path.name for path in DATA.glob("*.tflite")
               if path.stem not in {*micro_runtime.REFUSED, "foreign_plan_float"})  # with another's plan


def run(kernels, *arguments):
    return subprocess.run(arm_runtime.command(kernels, *arguments), capture_output=True, text=True, check=False,
                          timeout=300)


@pytest.fixture(scope="module", autouse=True)
def _runner():
    why = arm_runtime.missing()
    if why:
        pytest.skip(why)
    if "--requests" not in run("reference", "--help").stderr:
        pytest.skip(f"{arm_runtime.RUNNERS['reference']} is older than --requests: {arm_runtime.HINT}")


def requests_of(kernels, model, path):
    """The answer with the runtime's own planner, and its requests as a problem in CSV."""
    done = run(kernels, "--requests", model, ARENA)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    first = lines.index("id,lower,upper,size,alignment")
    path.write_text("".join(f"{line}\n" for line in lines[first:] if line[:1].isdigit() or line.startswith("id")))
    return json.loads(done.stdout)


def planned(arenaut, kernels, model, tmp_path):
    """Answers of the runtime's own planner and of ours, and the arena of the plan."""
    theirs = requests_of(kernels, model, tmp_path / "requests.csv")
    done = arenaut("plan", tmp_path / "requests.csv", "-f", "-o", tmp_path / "planned.csv", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    ours = run(kernels, "--places", tmp_path / "planned.csv", model, ARENA)
    assert ours.returncode == 0, ours.stderr
    return theirs, json.loads(ours.stdout), result


@pytest.mark.parametrize("name", SMALL)
def test_the_same_outputs_in_no_more_memory(arenaut, name, tmp_path):
    theirs, ours, result = planned(arenaut, "reference", DATA / name, tmp_path)
    assert ours["outputs"] == theirs["outputs"] and ours["head"] <= theirs["head"]
    assert ours["tail"] < theirs["tail"]  # the planner itself is smaller, too
    assert ours["head"] >= int(result["arena"])
    if name in ("mobilenet_v1_025_96_int8.tflite", "inception_int8.tflite"):
        assert ours["head"] == int(result["arena"]) < theirs["head"]


@pytest.mark.parametrize("name", LARGE)
def test_with_the_scratch_of_kernels(arenaut, name, tmp_path):
    if not (CORPUS / name).is_file():
        pytest.skip(f"{CORPUS / name} is not there (ARENAUT_CORPUS)")
    theirs, ours, result = planned(arenaut, "reference", CORPUS / name, tmp_path)
    assert ours["outputs"] == theirs["outputs"] and ours["head"] <= theirs["head"]
    assert result["status"] == "optimal" and ours["head"] == int(result["arena"])


def test_a_plan_for_something_else_is_refused(arenaut, tmp_path):
    model = DATA / "inception_int8.tflite"
    planned(arenaut, "reference", model, tmp_path)
    lines = (tmp_path / "planned.csv").read_text().splitlines(keepends=True)
    for wrong, text in ((lines[:-1], "more are asked for"), ([*lines, lines[-1]], "buffers were asked for"),
                        ([lines[0], lines[2], lines[1], *lines[3:]], "buffer 0: ")):
        (tmp_path / "wrong.csv").write_text("".join(wrong))
        done = run("reference", "--places", tmp_path / "wrong.csv", model, ARENA)
        assert done.returncode == 1 and text in done.stderr
    other = run("reference", "--places", tmp_path / "planned.csv", DATA / "resnet_int8.tflite", ARENA)
    assert other.returncode == 1 and "the plan is for" in other.stderr


def test_a_model_with_a_plan_of_its_own_is_refused(arenaut, tmp_path):
    model = DATA / "inception_int8.tflite"
    planned(arenaut, "reference", model, tmp_path)
    assert arenaut("plan", model, "-o", tmp_path / "inside.tflite").returncode == 0
    done = run("reference", "--places", tmp_path / "planned.csv", tmp_path / "inside.tflite", ARENA)
    assert done.returncode == 1 and "a plan of its own" in done.stderr


def test_too_small_an_arena_is_refused(arenaut, tmp_path):
    model = DATA / "inception_int8.tflite"
    _, ours, _ = planned(arenaut, "reference", model, tmp_path)
    done = run("reference", "--places", tmp_path / "planned.csv", model, ours["head"] + ours["tail"] - 64)
    assert done.returncode == 1


def test_the_header_of_a_plan_compiles(arenaut, tmp_path):
    compiler = shutil.which("arm-linux-gnueabihf-g++")
    if not compiler or not (arm_runtime.SOURCES / "tflite-micro").is_dir():
        pytest.skip(f"needs arm-linux-gnueabihf-g++, and the runtime's sources: {arm_runtime.HINT}")
    planned(arenaut, "reference", DATA / "inception_int8.tflite", tmp_path)
    text = subprocess.run(["awk", "-f", EXAMPLE / "plan_header.awk", tmp_path / "planned.csv"],
                          capture_output=True, text=True, check=True).stdout
    (tmp_path / "memory_plan.h").write_text(text)
    (tmp_path / "main.cpp").write_text('#include "memory_plan.h"\n'
                                       "static_assert(sizeof kPlannedBuffers / 16 == 25, \"\");\n"
                                       "arenaut::PlannedMemory planned(&kMemoryPlan);\n")
    sources = [f"-I{arm_runtime.SOURCES / part}" for part in ("tflite-micro", "flatbuffers/include", "gemmlowp")]
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-fno-rtti",
                    "-DTF_LITE_STATIC_MEMORY", f"-I{EXAMPLE}", *sources, "-fsyntax-only", tmp_path / "main.cpp"],
                   check=True)
    bad = subprocess.run(["awk", "-f", EXAMPLE / "plan_header.awk", tmp_path / "requests.csv"], capture_output=True,
                         text=True, check=False)
    assert bad.returncode == 1 and "no column" in bad.stderr and "kMemoryPlan" not in bad.stdout
