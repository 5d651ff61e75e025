"""Results over operands in the micro runtime on 32-bit ARM: other compilers, another C library.

A plan may be right on x86-64 and wrong here: runs that a kernel copies by memcpy come out whole
there even where they overlap, and do not here. So every rule and every model is tried here too,
each against the same build without a plan; and so are the kernels of CMSIS-NN and ESP-NN with
their sets.
"""

from itertools import product

import arm_runtime
import micro_runtime
import overlap_plans
import pytest
import random_ops
import tflite_file
from conftest import DATA, SCRATCH, corpus_params, import_example
from drawn import THOROUGH, some

dilate_pointwise = import_example("dilate_pointwise")


def skipped_without(kernels):
    why = arm_runtime.missing(kernels)
    return pytest.mark.skipif(why is not None, reason=str(why))


def needs(kernels):
    return pytest.param(kernels, marks=skipped_without(kernels))


SETS = ("reference", "cmsis-nn", "esp-nn")
MODELS = [pytest.param(DATA / f"{name}.tflite", id=name) for name in
          ("inception_int8", "mobilenet_v1_025_96_int8", "resnet_int8", "svdf_int8")] + [
    param for param in corpus_params("tflite/*.tflite")
    if param.id.startswith("corpus/") or param.id in (
        "dtln_noise_suppression", "keyword_scrambled", "mcunet_vww", "micro_speech_lstm",
        "micro_speech_quantized", "mlperf_kws_int8", "mlperf_resnet8_int8", "mlperf_strww_int8",
        "mlperf_vww96_float", "mlperf_vww96_int8", "mobilenet_v2_int8_nchw", "mww_alexa",
        "oww_embedding", "person_detect", "tinyengine_detection", "trained_lstm_int8")]
# `make fuzz` looks at every op; here models are cut after every so many, and after the last.
STRIDE, STRIDE_OF_LARGE = (1, {}) if THOROUGH > 1 else (8, {"mobilenet_v2_int8_nchw": 28})


def overlapped(arenaut, path, folder, kernels):
    scratch = ["--scratch", SCRATCH] if kernels == "reference" else []
    arenaut("plan", path, "-o", folder / "planned.tflite", "--overlap", "on", "--inplace", "on",
            "--kernels", kernels, *scratch, "-f")
    return (folder / "planned.tflite").read_bytes()


def check_every_op(arenaut, tmp_path, path, kernels):
    original, planned = path.read_bytes(), overlapped(arenaut, path, tmp_path, kernels)
    values = micro_runtime.random_inputs(micro_runtime.Machine(original).inputs, 1)
    expected = arm_runtime.every_result(original, values, kernels)
    prefixes = tflite_file.Prefixes(planned)
    every = STRIDE_OF_LARGE.get(path.stem, STRIDE)
    for n in {*range(1, len(expected) + 1, every), len(expected)}:
        found = arm_runtime.run(prefixes.first(n), values, kernels)
        assert found == expected[n - 1], f"op {n - 1}"


@pytest.mark.parametrize("path, kernels", some(
    pytest.param(*model.values, kernels, id=f"{model.id}-{kernels}", marks=[*model.marks, skipped_without(kernels)])
    for model, kernels in product(MODELS, SETS)))
def test_every_op_leaves_the_same_tensors(arenaut, tmp_path, path, kernels):
    check_every_op(arenaut, tmp_path, path, kernels)


POINTWISE = [pytest.param(DATA / "mobilenet_v1_025_96_int8.tflite", id="mobilenet_v1_025_96_int8"), *(
    param for param in corpus_params("tflite/*.tflite") if param.id.startswith("corpus/") or param.id in (
        "mlperf_kws_int8", "mlperf_resnet8_int8", "mlperf_vww96_int8", "person_detect"))]


@skipped_without("cmsis-nn")
@pytest.mark.parametrize("path", POINTWISE)
def test_1x1_convolutions_that_are_dilated_compute_the_same(arenaut, tmp_path, path):
    original = path.read_bytes()
    data, changed = dilate_pointwise.dilate(original)
    values = micro_runtime.random_inputs(micro_runtime.Machine(original).inputs, 1)
    dilated = tmp_path / "dilated.tflite"
    dilated.write_bytes(data)
    assert changed
    assert arm_runtime.every_result(data, values, "cmsis-nn") == arm_runtime.every_result(
        original, values, "cmsis-nn")
    check_every_op(arenaut, tmp_path, dilated, "cmsis-nn")


REACHING = ("--overlap", "on")


@pytest.mark.parametrize("levers", [REACHING, (*REACHING, "--split", "on")], ids=["overlap", "overlap-split"])
@pytest.mark.parametrize("kernels", [needs("cmsis-nn"), needs("cmsis-nn-c"), needs("cmsis-nn-mve")])
@pytest.mark.parametrize("path", POINTWISE)
def test_cmsis_nn_saves_half_of_what_the_reference_kernels_save(arenaut, arenaut_json, tmp_path, path,
                                                                kernels, levers):
    """Of the whole arena of the original model, without MVE by dilated 1x1 convolutions; they run in
    the arena that they are said to need."""
    def arena(model, of):
        rows = arenaut_json("size", model, "--kernels", of, *levers)["tensor_arena"]
        assert rows[0]["exact"] and rows[1]["exact"]
        return rows[0]["bytes"], rows[1]["bytes"]

    original, model, planned = path.read_bytes(), tmp_path / "m.tflite", tmp_path / "planned.tflite"
    model.write_bytes(original if kernels == "cmsis-nn-mve" else dilate_pointwise.dilate(original)[0])
    arenaut("plan", model, "-f", "-o", planned, "--kernels", kernels, *levers)
    (before, after), (today, _), (_, least) = arena(path, "reference"), arena(path, kernels), arena(model, kernels)
    assert 2 * (today - least) >= before - after > 0
    values = micro_runtime.random_inputs(micro_runtime.Machine(original).inputs, 1)
    assert arm_runtime.run(planned.read_bytes(), values, kernels, arena=least) == arm_runtime.run(
        original, values, kernels)


class Placement:
    """A case, how far the command lets its tensors overlap, and what it gives with all apart."""

    def __init__(self, case, arenaut_json, folder, kernels="reference"):
        self.case, self.kernels, path = case, kernels, folder / "one.tflite"
        path.write_bytes(case.data)
        document = arenaut_json("plan", path, "--overlap", "on", "--kernels", kernels)
        self.separations = overlap_plans.separations_of(case.data, document)
        self.inputs = case.inputs(0)
        self.expected = self.run(case.apart()) if self.separations else None

    def run(self, offsets):
        data = tflite_file.with_plan(self.case.data, offsets)
        return arm_runtime.run(data, self.inputs, self.kernels)

    def survives(self, separation, closer=0):
        """Whether all is as with tensors apart, so many elements closer than the distance."""
        element, delta = overlap_plans.nearest(self.case.data, separation)
        offsets = overlap_plans.placed(self.case.data, separation, delta - closer * element)
        return self.run(offsets) == self.expected


# Of a library only ops that run its own kernels; `make fuzz` tries the runtime's in its build, too.
@pytest.mark.parametrize("name, dtype, kernels", some(
    pytest.param(name, dtype, kernels, id=f"{name}-{dtype}-{kernels}", marks=skipped_without(kernels))
    for kernels in SETS for name, dtype in sorted(random_ops.RULES)
    if THOROUGH > 1 or name.startswith(arm_runtime.REPLACED.get(kernels, ""))))
def test_a_distance_is_enough(arenaut_json, tmp_path, name, dtype, kernels):
    for seed in range(100, 100 + THOROUGH):
        placement = Placement(random_ops.build(name, dtype, seed), arenaut_json, tmp_path, kernels)
        for separation in placement.separations:
            assert placement.survives(separation), (placement.case, separation)


@skipped_without("reference")
def test_a_run_that_is_copied_over_a_part_of_itself_is_wrong_here(arenaut_json, tmp_path):
    """… and right in the wheel, whose memcpy takes care: what is seen there alone proves nothing
    of kernels that copy."""
    one = random_ops.mover("STRIDED_SLICE", "INT8")
    operands = [one.input((600,)), *(random_ops.numbers(one, name, [value]) for name, value in
                                     (("begin", 20), ("end", 600), ("strides", 1)))]
    case = one.case("600-from-20", operands, [one.output((580,))])
    placement = Placement(case, arenaut_json, tmp_path)
    (separation,) = placement.separations
    assert separation.distance == 560 and placement.survives(separation)
    closer = overlap_plans.placed(case.data, separation, -24)
    assert case.run(closer, placement.inputs) == case.run(case.apart(), placement.inputs)
    assert arm_runtime.run(tflite_file.with_plan(case.data, closer),
                           placement.inputs) != placement.expected


@pytest.mark.parametrize("kernels", [needs("cmsis-nn")])
def test_a_plan_for_other_kernels_is_wrong_and_check_says_so(arenaut, tmp_path, kernels):
    path = DATA / "mobilenet_v1_025_96_int8.tflite"
    original, planned = path.read_bytes(), overlapped(arenaut, path, tmp_path, "reference")
    values = micro_runtime.random_inputs(micro_runtime.Machine(original).inputs, 1)
    assert arm_runtime.run(planned, values, kernels) != arm_runtime.run(original, values, kernels)
    said = arenaut("check", tmp_path / "planned.tflite", "--kernels", kernels, exit=1).stdout
    assert "which nothing allows" in said
