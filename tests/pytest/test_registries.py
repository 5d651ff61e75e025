"""Which ops a runtime has, as the kernel sets say it, against the runtimes' own registries: the wheels of ExecuTorch and
LiteRT, and the sources of the kernels that CMSIS-NN and ESP-NN replace."""

import re

import pytest
from conftest import CORPUS, DATA

from arm_runtime import HINT, REPLACED, SOURCES

FOLDERS = {"cmsis-nn": SOURCES / "tflite-micro/tensorflow/lite/micro/kernels/cmsis_nn",
           "esp-nn": SOURCES / "esp-tflite-micro/tensorflow/lite/micro/kernels/esp_nn"}
REFERENCE = SOURCES / "tflite-micro/tensorflow/lite/micro/kernels"


def types_of(arenaut_json, name):
    return arenaut_json("kernels", name)["types"]


# ---- ExecuTorch ----


def test_portable_kernels_are_those_of_the_wheel(arenaut_json):
    runtime = pytest.importorskip("executorch.extension.pybindings.portable_lib",
                                  reason="the stock wheels are not installed: make venv")
    assert {rule["op"] for rule in types_of(arenaut_json, "portable")} == set(runtime._get_operator_names())


def refusal(arenaut_json, *args):
    runtime = arenaut_json("size", *args, "--effort", 1)["runtime"]
    return runtime.get("runs"), runtime.get("refused", "")


def test_a_program_that_executorch_refuses_says_why(arenaut_json):
    """Ops in place that nothing has a kernel of, as test_runtime_executorch.py has seen."""
    path = CORPUS / "pte/elemchain_reinplace.pte" if CORPUS else None
    if path is None or not path.exists():
        pytest.skip("set ARENAUT_CORPUS=FOLDER")
    runs, reason = refusal(arenaut_json, path)
    assert runs is False and re.search(r"op \d+ aten::\w+_\S* is not in executorch", reason)


@pytest.mark.parametrize("path", sorted((DATA / "pte").glob("*.pte")), ids=lambda path: path.stem)
def test_programs_that_run_are_not_refused(arenaut_json, path):
    assert refusal(arenaut_json, path) == (None, "")


def test_graphs_before_lowering_say_nothing(arenaut_json):
    for path in sorted((DATA / "pt2").glob("*.pt2"))[:3]:
        assert refusal(arenaut_json, path) == (None, "")


# ---- LiteRT ----


def test_ops_that_litert_has_no_kernel_of_are_those_of_the_wheel(arenaut_json):
    """One op in a model of its own, by every number of the schema and every version there may be."""
    interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="the stock wheels are not installed: make venv")
    import single_ops
    import tflite_file
    table = tflite_file.unpack(next(case for case in single_ops.safe_cases() if case.op == "ABS").data)
    code = table.operatorCodes[0]
    table.subgraphs[0].operators[0].builtinOptionsType, table.subgraphs[0].operators[0].builtinOptions = 0, None

    def is_missing(number):
        code.builtinCode, code.deprecatedBuiltinCode = number, min(number, 127)
        for code.version in range(1, 16):
            try:
                interpreter.Interpreter(model_content=tflite_file.pack(table))
                return False
            except (RuntimeError, ValueError) as error:
                if "Didn't find op" not in str(error):
                    return False
        return True

    numbers = vars(tflite_file.schema.BuiltinOperator)
    not_ops = {"DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"}
    missing = {name for name, number in numbers.items()
               if isinstance(number, int) and name not in not_ops and is_missing(number)}
    assert missing == {rule["op"] for rule in types_of(arenaut_json, "litert")}


# ---- the kernels that a library replaces ----


def registered(text):
    """The ops that a source registers kernels for; those for one type alone are of the same ops."""
    return {name for name in re.findall(r"TFLMRegistration\*? Register_(\w+)\(\)", text)
            if not re.search(r"_INT\d+(?:_INT\d+)?$|_INT4$|_INT8REF$|_INT\w+REF$", name)}


def switched(text):
    """The types between which kernels choose, and those that a check before lets pass."""
    return set(re.findall(r"kTfLite((?:Float|U?Int|Bool)\d+)", text))


@pytest.mark.parametrize("kernels", FOLDERS)
def test_replaced_kernels_take_the_types_of_those_they_replace(arenaut_json, kernels):
    """Kernels of which a set has no types of its own take the same ones; test_runnable.py runs them all."""
    if not FOLDERS[kernels].exists():
        pytest.skip(f"{SOURCES} is not there: {HINT}")
    replaced = set()
    for path in sorted(FOLDERS[kernels].glob("*.cc")):
        text, reference = path.read_text(), (REFERENCE / path.name).read_text()
        replaced |= registered(text)
        assert registered(text) <= registered(reference)
        common = REFERENCE / f"{path.stem}_common.cc"
        ours = switched(reference + (common.read_text() if common.exists() else ""))
        assert switched(text) - {"Int32"} <= ours and ours - {"Int32", "Int64"} <= switched(text), path.name
    assert replaced == set(REPLACED[kernels])
    stated = arenaut_json("kernels", kernels)
    assert {rule["op"] for rule in stated["rules"] + stated["types"]} <= replaced
    assert replaced <= {rule["op"] for rule in types_of(arenaut_json, "reference")}
