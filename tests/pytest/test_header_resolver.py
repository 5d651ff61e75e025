"""The ops that an exported header adds to the op resolver: those of the model, each once."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import DATA

import arm_runtime

# A resolver that has a function for whatever is added, and says what was.
MAIN = """
#include <cstdio>
#include "model.h"
#define ADD(op) struct adds_##op { void op() { std::puts(#op); } };
NAME_RESOLVER_OPS(ADD)
#undef ADD
int main() {
#define ADD(op) adds_##op().op();
    NAME_RESOLVER_OPS(ADD)
    std::printf("%u\\n", NAME_OP_KINDS);
}
"""


def added(arenaut, tmp_path, model, *options):
    """What the header of a model adds, and the count it gives."""
    arenaut("export", model, *options, "--as", "header", "-f", "-o", tmp_path / "model.h")
    name = re.search(r"#define (\w+)_OP_KINDS", (tmp_path / "model.h").read_text())[1]
    (tmp_path / "main.cpp").write_text(MAIN.replace("NAME", name))
    subprocess.run(["g++", "-Wall", "-Werror", tmp_path / "main.cpp", "-o", tmp_path / "main"], check=True)
    lines = subprocess.run([tmp_path / "main"], capture_output=True, check=True, text=True).stdout.split()
    return lines[:-1], int(lines[-1])


def kinds(arenaut, model):
    program = json.loads(arenaut("export", model, "--as", "program").stdout)
    return {op["name"] for method in program["methods"] for op in method["ops"]}


def plain(name):
    return name.upper().replace("_", "").replace("ADD", "", 1) if name.startswith("Add") else \
        name.replace("_", "")


@pytest.mark.parametrize("model", ["mobilenet_v1_025_96_int8", "if_while_float", "lstm_float", "resnet_int8"])
def test_each_op_is_added_once(arenaut, tmp_path, model):
    ops, count = added(arenaut, tmp_path, DATA / f"{model}.tflite")
    assert {plain(op) for op in ops} == {plain(op) for op in kinds(arenaut, DATA / f"{model}.tflite")}
    assert len(ops) == count


def test_a_split_model_needs_more_ops(arenaut, tmp_path):
    model, split = DATA / "resnet_int8.tflite", tmp_path / "split.tflite"
    arenaut("plan", model, "--split", "0-3/2:kept", "-o", split)
    before, after = (set(added(arenaut, tmp_path, m)[0]) for m in (model, split))
    assert after - before == {"AddConcatenation", "AddPad", "AddSlice"}


def test_custom_ops_are_named(arenaut, tmp_path):
    program = json.loads(arenaut("export", DATA / "resnet_int8.tflite", "--as", "program").stdout)
    for op in program["methods"][0]["ops"]:
        op["name"] = "conv_x" if op["name"] == "CONV_2D" else "SOFTMAX"
    (tmp_path / "custom.json").write_text(json.dumps(program))
    ops, count = added(arenaut, tmp_path, tmp_path / "custom.json", "--target", "tflite-micro")
    assert ops == ["AddSoftmax"] and count == 2
    assert "custom ones: conv_x." in (tmp_path / "model.h").read_text()


def test_the_resolver_of_the_runtime_has_them_all():
    """What we say it can add is what its source says."""
    source = arm_runtime.SOURCES / "tflite-micro/tensorflow/lite/micro/micro_mutable_op_resolver.h"
    if not source.exists():
        pytest.skip(f"{source} is not there: {arm_runtime.HINT}")
    theirs = set(re.findall(r"TfLiteStatus (Add\w+)\(", source.read_text())) - {"AddCustom", "AddBuiltin"}
    ours = (Path(__file__).parents[2] / "src/ops/ops.def").read_text()
    assert set(re.findall(r'"(Add\w+)"', ours)) == theirs


@pytest.mark.parametrize(("kernels", "macros", "compiles"), [
    ("reference", [], True), ("reference", ["CMSIS_NN"], False), ("reference", ["ESP_NN"], False),
    ("reference", ["CMSIS_NN", "MODEL_ANY_KERNELS"], True), ("cmsis-nn", ["CMSIS_NN"], True),
    ("cmsis-nn", ["ESP_NN"], False), ("esp-nn", ["ESP_NN"], True), ("esp-nn", ["CMSIS_NN"], False),
    ("reference", ["XTENSA"], False), ("cmsis-nn", ["CMSIS_NN", "ARC_MLI"], False), ("esp-nn", ["ESP_NN", "XTENSA"], False),
    ("reference", ["__XTENSA__"], True)])
def test_a_build_with_other_kernels_stops(arenaut, tmp_path, kernels, macros, compiles):
    arenaut("plan", DATA / "resnet_int8.tflite", "--kernels", kernels, "-q", "-o", tmp_path / "model.tflite")
    arenaut("export", tmp_path / "model.tflite", "--kernels", kernels, "--as", "header", "-o", tmp_path / "model.h")
    done = subprocess.run(["gcc", "-fsyntax-only", *(f"-D{name}" for name in macros), "-x", "c", tmp_path / "model.h"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == compiles, done.stderr
    assert compiles or f"planned for the kernels '{kernels}', but the build has others" in done.stderr
