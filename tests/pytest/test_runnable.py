"""Which models the runtime takes, as `size` says it, against the stock wheel: `runs` is never true of
a model that the wheel refuses and never false of one that it runs. Each model, and one-op models of
which the types were changed one by one; these also with the kernels of CMSIS-NN and ESP-NN, in the
runtime on 32-bit ARM."""

import json
import os
import subprocess

import pytest
from conftest import COMMAND, DATA, corpus_params

import arm_runtime
import micro_runtime
import support_ops
import tflite_file
from drawn import ONE_OF

OWN = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))]
ALL = [*OWN, *corpus_params("tflite/*.tflite")]
OPS = sorted({op for op, _ in support_ops.bases()})


# `make fuzz` takes all mutants.
THOROUGH = bool(os.environ.get("ARENAUT_THOROUGH"))
EVERY = 1 if THOROUGH else 8 * min(ONE_OF, 3)


@pytest.fixture
def runs_of(arenaut_json):
    def ask(*args):
        found = arenaut_json("size", *args, "--effort", 1)["runtime"]
        assert (found["runs"] is False) == ("refused" in found)
        return found
    return ask


@pytest.mark.parametrize("path", ALL)
def test_a_model_is_refused_where_the_wheel_refuses_it(path, runs_of):
    loads = micro_runtime.loads_in(path.read_bytes(), micro_runtime.ARENA)
    assert runs_of(path)["runs"] is loads is (path.name.split(".")[0] not in micro_runtime.REFUSED)


@pytest.mark.parametrize("path", [param for param in ALL if param.id in micro_runtime.REFUSED])
def test_no_arena_is_exact_or_fits_for_what_does_not_run(path, arenaut, arenaut_json):
    budget = ("--effort", 1, "--budget", "60M")
    found = arenaut_json("size", path, *budget, exit=1)
    assert found["budget"]["fits"] is None
    assert not found["runtime"]["exact"]
    for row in found["tensor_arena"]:
        assert not row["exact"] and row["fits"] is None
    for verb in ("size", "plan"):
        done = arenaut(verb, path, *budget, exit=1)
        assert "the runtime refuses this model" in done.stderr
        assert "the runtime refuses this model" in done.stdout


def check_types(tmp_path, kernels, mutants, runs):
    """Holds the answers of one call of `size` against those of the runtime."""
    files = [tmp_path / f"{number}.tflite" for number in range(len(mutants))]
    for path, data in zip(files, mutants):
        path.write_bytes(data)
    truth = dict(zip(map(str, files), runs(mutants)))
    done = subprocess.run([COMMAND, "size", "--jsonl", "--effort", "1", "--kernels", kernels, *files],
                          capture_output=True, text=True, check=False)  # some constants have wrong sizes
    said = {}
    for line in done.stdout.splitlines():
        found = json.loads(line)
        said[found["input"]["path"]] = found["runtime"]["runs"]
    wrong = [(support_ops.types_of(tmp_path.joinpath(path).read_bytes()), runs, truth[path])
             for path, runs in said.items()
             if (runs is True and truth[path] not in (support_ops.RAN, support_ops.NOT_ASKED))
             or (runs is False and truth[path] == support_ops.RAN)]
    assert not wrong
    return any(said.get(path) for path in truth if truth[path] == support_ops.RAN), set(truth.values())


def mutants_of(op):
    return [data for name, base in support_ops.bases() if name == op for data in support_ops.retyped(base)]


@pytest.mark.parametrize("op", OPS)
def test_types_are_known_as_the_wheel_takes_them(op, tmp_path):
    """What can be made of an op by other types, in one call."""
    some_run, truth = check_types(tmp_path, "reference", mutants_of(op)[::ONE_OF], support_ops.runs)
    assert some_run or support_ops.RAN not in truth


@pytest.mark.parametrize("op", OPS)
def test_an_op_with_unusual_operands_is_not_said_to_run(op, tmp_path):
    """Without one, with one too many, or a further one of another type, unless the wheel runs it."""
    bases = [base for name, base in support_ops.bases() if name == op][0 if THOROUGH else -1:]
    mutants = [data for base in bases for make in (support_ops.lacking, support_ops.overfull,
                                                   support_ops.retyped_further) for data in make(base)]
    check_types(tmp_path, "reference", mutants[::min(ONE_OF, 3)], support_ops.runs)


@pytest.mark.parametrize("kernels, op", [(kernels, op) for kernels, ops in arm_runtime.REPLACED.items() for op in ops])
def test_types_are_known_as_libraries_of_kernels_take_them(kernels, op, tmp_path):
    why = arm_runtime.missing(kernels)
    if why:
        pytest.skip(why)
    check_types(tmp_path, kernels, mutants_of(op)[::EVERY],
                lambda mutants: [support_ops.runs_on_arm(data, kernels) for data in mutants])


def test_an_op_of_ones_own_is_stated_by_a_kernel_set(arenaut, runs_of, tmp_path):
    model = DATA / "custom_op_planned.tflite"
    name = custom_name(model)
    assert f"{name} is not in tflite-micro" in runs_of(model)["refused"]
    kernels = tmp_path / "mine.json"
    kernels.write_text(json.dumps({"schema": "arenaut.kernels/1", "name": "mine",
                                   "base": "reference", "types": [{"op": name}]}))
    assert runs_of(model, "--kernels", kernels)["runs"] is True
    refused = {"op": name, "refused": ["float32", "uint8"], "runs": ["int16"]}
    kernels.write_text(json.dumps({"schema": "arenaut.kernels/1", "name": "mine",
                                   "base": "reference", "types": [refused]}))
    assert "has no kernel" in runs_of(model, "--kernels", kernels)["refused"]


def custom_name(path):
    table = tflite_file.unpack(path.read_bytes())
    return next(tflite_file.text(code.customCode) for code in table.operatorCodes
                if code.customCode)


def test_plans_of_other_runtimes_say_nothing(arenaut_json):
    found = arenaut_json("size", DATA / "float16_weights.tflite", "--target", "litert")
    assert found["runtime"].get("runs") is None


def test_a_header_stops_a_build_with_other_kernels(arenaut, tmp_path):
    """By the macros that the runtime's own makefiles define."""
    model = DATA / "mobilenet_v1_025_96_int8.tflite"
    for kernels, others in (("reference", ("CMSIS_NN", "ESP_NN")), ("cmsis-nn", ("ESP_NN",)),
                            ("esp-nn", ("CMSIS_NN",))):
        header = tmp_path / f"{kernels}.h"
        arenaut("plan", model, "--kernels", kernels, "-q", "-o", header)
        assert f"_KERNELS_{kernels.upper().replace('-', '_')} 1" in header.read_text()
        for macro in (None, "CMSIS_NN", "ESP_NN"):
            done = subprocess.run(["cc", "-fsyntax-only", "-x", "c", *([f"-D{macro}"] if macro else []),
                                   header], capture_output=True, text=True, check=False)
            assert (done.returncode != 0) == (macro in others), done.stderr
            if macro in others:
                assert f"planned for the kernels '{kernels}'" in done.stderr
