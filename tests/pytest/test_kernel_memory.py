"""What the kernels of CMSIS-NN and ESP-NN ask for as scratch and keep, and with it the whole arena, as
Arenaut computes it against what was measured in the runtime (data/arena), and against the runtime
itself where that was built.

A size that is too small would say that a model fits where it does not.
"""

import csv
from functools import cache

import pytest
from conftest import DATA, ROOT, corpus_params

import arm_runtime
import measure_arena
import memory_ops
import micro_runtime
from single_ops import OneOp

SETS = ("cmsis-nn", "cmsis-nn-c", "cmsis-nn-mve", "esp-nn", "esp32-s3")
# With ADD_N and SignalRfft, whose scratch is not known of any kernels.
UNSIZED = {"scratch_int8", "audio_preprocessor_int8"}
# Bytes that the answer may be above the truth, never below. The compiler for bare metal, which
# cmsis-nn-mve was measured with, gives enums a byte: an op's options take up to eight less there.
SLACK = {name: 256 if name == "cmsis-nn-mve" else 64 for name in SETS}
# Rows that are longer than the axis that ESP-NN takes the scratch of a SOFTMAX from.
OPEN_CASES = {"softmax_int8_rule": ("esp-nn", "esp32-s3")}
MODELS = [*(pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))),
          *corpus_params("tflite/*.tflite")]


@cache
def table(name):
    lines = (ROOT / "data" / "arena" / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@pytest.fixture
def ask(arenaut_json):
    def whole_arena(path, kernels):
        found = arenaut_json("size", path, "--kernels", kernels, "--effort", 1)
        return next(row for row in found["tensor_arena"]
                    if row["of"] == "as it is" and row["target"] == "tflite-micro")
    return whole_arena


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("case", memory_ops.CASES)
def test_an_op_of_any_shape_takes_what_was_measured(ask, tmp_path, case, kernels):
    rows = [row for row in table(f"ops-{kernels}.csv") if row["case"] == case]
    assert [int(row["seed"]) for row in rows] == list(memory_ops.seeds(case))
    model = tmp_path / "op.tflite"
    for row in rows:
        model.write_bytes(memory_ops.build(case, int(row["seed"])))
        arena = ask(model, kernels)
        assert arena["exact"] == (kernels not in OPEN_CASES.get(case, ())), row
        if not arena["exact"]:
            continue
        assert arena["scratch"] == sum(map(int, row["scratch"].split())), row
        assert 0 <= arena["tail"] - int(row["tail"]) <= SLACK[kernels], row
        assert arena["head"] >= int(row["head"]), row


@pytest.mark.parametrize("kernels", SETS)
def test_ops_of_all_shapes_were_measured(kernels):
    assert {row["case"] for row in table(f"ops-{kernels}.csv")} == set(memory_ops.CASES)


def measured(path, kernels):
    name = path.name.split(".")[0]
    row = next(row for row in table(f"tflite-micro-arm-{kernels}.csv") if row["model"] == name)
    return {key: int(value) for key, value in row.items() if key != "model"}


@pytest.mark.parametrize("kernels", SETS)
def test_only_models_that_the_runtime_refuses_were_not_measured(kernels):
    rows = {row["model"] for row in table(f"tflite-micro-arm-{kernels}.csv")}
    assert not rows & micro_runtime.REFUSED
    if arm_runtime.missing(kernels) is None:
        assert not [param.id for param in MODELS if param.id in micro_runtime.REFUSED
                    and arm_runtime.load(kernels, *param.values, measure_arena.PLENTY)]


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("path", [param for param in MODELS if param.id not in micro_runtime.REFUSED])
def test_the_answer_is_the_least_arena(ask, path, kernels):
    truth, arena = measured(path, kernels), ask(path, kernels)
    assert arena["bytes"] - truth["arena"] <= SLACK[kernels]
    assert arena["exact"] == (path.name.split(".")[0] not in UNSIZED)
    if not arena["exact"]:
        return
    assert arena["head"] >= truth["head"]
    assert 0 <= arena["tail"] - truth["tail"] <= SLACK[kernels]
    assert arena["bytes"] >= truth["arena"]


@pytest.mark.parametrize("kernels", SETS)
def test_what_was_measured_is_what_the_runtime_says(kernels):
    """A few of each, since a run takes a while."""
    why = arm_runtime.missing(kernels)
    if why:
        pytest.skip(why)
    for row in table(f"ops-{kernels}.csv")[::40]:
        found = measure_arena.of_op(kernels, row["case"], int(row["seed"]))
        assert found == (int(row["head"]), int(row["tail"]), [*map(int, row["scratch"].split())])
    truth = measured(DATA / "resnet_int8.tflite", kernels)
    assert measure_arena.measure(kernels, DATA / "resnet_int8.tflite") == tuple(truth.values())


@pytest.mark.parametrize("kernels", ["esp-nn", "esp32-s3"])
@pytest.mark.parametrize("shape, scratch", [((3, 7), 28), ((2, 9, 4), 36), ((2, 4, 9), None),
                                            ((1, 1, 1, 10), None), ((10,), None)])
def test_a_row_that_does_not_fit_its_scratch_is_not_sized(ask, tmp_path, kernels, shape, scratch):
    """ESP-NN asks for four bytes for each place of axis 1, and writes four for each of the last."""
    one = OneOp("SOFTMAX", "INT8")
    model = tmp_path / "op.tflite"
    model.write_bytes(one.case("", [one.input(shape)], [one.output(shape)], beta=1.0).data)
    arena = ask(model, kernels)
    assert arena["exact"] == (scratch is not None)
    assert arena["scratch"] == (scratch or 0)


def test_what_becomes_another_kernel_keeps_its_arguments_apart(arenaut_json, tmp_path):
    """With MVE, one channel into several is a convolution, as its scratch shows; how that walks over
    an image of one row was not measured."""
    model = tmp_path / "op.tflite"
    for seed in range(20):
        model.write_bytes(memory_ops.build("depthwise_of_one_channel_int8", seed))
        plan = arenaut_json("plan", model, "--overlap", "on", "--kernels", "cmsis-nn-mve")
        assert not plan.get("separations")
