"""Which ExecuTorch kernels may write over an operand: the target's table, entry by entry.

Every entry is run in the stock wheel with many element types, shapes and operands, with its
tensors apart and with its result over the operand (tests/runner/pte_kernels.cpp). What is known
to be unsafe is run likewise and must come out different, or else this test could not fail.
"""

import re
from collections import Counter

import pytest
from conftest import ROOT
from drawn import ONE_OF, some

pytest.importorskip("executorch", reason="the stock wheels are not installed: make venv")
import pte_runtime  # noqa: E402

SOURCE = ROOT / "src" / "kernels" / "portable_kernels.c"
BYTES = {"float": 4, "half": 2, "bfloat16": 2, "double": 8, "int32": 4, "int64": 8, "uint8": 1,
         "int8": 1, "int16": 2, "bool": 1}
# (operand, result): both of one width, which is what the pass asks for.
WIDTHS = [(a, b) for a in BYTES for b in BYTES if BYTES[a] == BYTES[b]]
SHAPES = ("3x5", "2x3x4x5")
LARGE = "40000"  # enough for kernels that share the work between threads

# What follows the tensors, kernel by kernel; several lists are several ways to call it.
ARGUMENTS = {
    "aten::_log_softmax.out": ["I:-1 B:0", "I:0 B:0"],
    "aten::_softmax.out": ["I:-1 B:0", "I:0 B:0"],
    "aten::_to_copy.out": ["B:0 N"],
    "aten::add.Scalar_out": ["D:2 I:1"],
    "aten::add.out": ["I:1"],
    "aten::clamp.out": ["D:-1 D:1.5", "N D:1"],
    "aten::clone.out": ["N"],
    "aten::copy.out": ["B:0"],
    "aten::cumsum.out": ["I:0 N", "I:-1 N"],
    "aten::div.Scalar_mode_out": ["D:2 S:floor", "D:2 S:trunc"],
    "aten::div.out_mode": ["S:floor", "S:trunc"],
    "aten::elu.out": ["D:1 D:1 D:1"],
    "aten::gelu.out": ["S:none", "S:tanh"],
    "aten::hardtanh.out": ["D:-1 D:1"],
    "aten::leaky_relu.out": ["D:0.1"],
    "aten::logit.out": ["N", "D:0.1"],
    "aten::rsub.Scalar_out": ["D:2 I:1"],
    "aten::sub.Scalar_out": ["D:2 I:1"],
    "aten::sub.out": ["I:1"],
    "dim_order_ops::_clone_dim_order.out": ["B:0 N"],
    "dim_order_ops::_to_dim_order_copy.out": ["B:0 N"],
}
# Normalizations: results and parameters of other shapes than the operand's. Few channels and many, lines that are
# computed one element at a time (below 256) and several at once, with and without weights.
NORMS = {
    "aten::_native_batch_norm_legit_no_training.out": [
        ("2x3x4x5", "{0}:3 {0}:3 {0}:3 {0}:3 D:0.1 D:0.001", "{0}:0 {0}:0"),
        ("3x700", "N N {0}:700 {0}:700 D:0.1 D:0.001", "{0}:0 {0}:0"),
        ("1x2x90x90", "{0}:2 N {0}:2 {0}:2 D:0.1 D:0.001", "{0}:0 {0}:0")],
    "aten::_native_batch_norm_legit.no_stats_out": [
        ("2x3x4x5", "{0}:3 {0}:3 B:0 D:0.1 D:0.001", "{0}:3 {0}:3"),
        ("5x2x300", "N N B:0 D:0.1 D:0.001", "{0}:2 {0}:2")],
    "aten::native_group_norm.out": [
        ("2x6x4x5", "{0}:6 {0}:6 I:2 I:6 I:20 I:3 D:0.001", "{0}:2x3 {0}:2x3"),
        ("1x4x300", "N N I:1 I:4 I:300 I:2 D:0.001", "{0}:1x2 {0}:1x2")],
    "aten::native_layer_norm.out": [
        ("2x3x4x5", "L:5 {0}:5 {0}:5 D:0.001", "{0}:2x3x4x1 {0}:2x3x4x1"),
        ("2x3x4x5", "L:4,5 N N D:0.001", "{0}:2x3x1x1 {0}:2x3x1x1"),
        ("3x700", "L:700 {0}:700 {0}:700 D:0.001", "{0}:3x1 {0}:3x1"),
        ("3x700", "L:700 {0}:700 N D:0.001", "{0}:3x1 {0}:3x1")],
}
# Their result is their operand, byte for byte: being different would be the mistake.
MOVES = {"aten::alias_copy.out", "aten::clone.out", "aten::detach_copy.out",
         "aten::lift_fresh_copy.out", "aten::view_copy.out", "aten::squeeze_copy.dim_out",
         "aten::squeeze_copy.dims_out", "aten::unsqueeze_copy.out",
         "dim_order_ops::_clone_dim_order.out"}

UNSAFE = [
    "aten::flip.out float:3x5 L:0 -> float:3x5 @ 0",
    "aten::roll.out float:3x5 L:1 L:0 -> float:3x5 @ 0",
    "aten::tril.out float:3x5 I:0 -> float:3x5 @ 0",
    "aten::transpose_copy.int_out float:4x4 I:0 I:1 -> float:4x4 @ 0",
    "aten::permute_copy.out float:4x4 L:1,0 -> float:4x4 @ 0",
    "aten::mm.out float:4x4 float:4x4 -> float:4x4 @ 0",
    "aten::mm.out float:4x4 float:4x4 -> float:4x4 @ 1",
    "aten::bmm.out float:2x4x4 float:2x4x4 -> float:2x4x4 @ 0",
    "aten::avg_pool2d.out float:1x2x5x5 L:3,3 L:1,1 L:1,1 B:0 B:1 N -> float:1x2x5x5 @ 0",
]


def table():
    """The rows of the target's table: (kernel, operand, whether shapes may differ)."""
    block = SOURCE.read_text().split("in_place[] = {")[1].split("};")[0]
    return [(kernel, int(operand), shape == "true") for kernel, operand, shape in
            re.findall(r'\{"([\w:.]+)", (\d+), 0, (true|false)\}', block)]


def more_arguments(kernel):
    if kernel in ARGUMENTS:
        return ARGUMENTS[kernel]
    overload = kernel.split(".")[1]
    if "bitwise" in kernel and "Scalar" in overload:
        return ["I:3", "I:1"]
    return ["D:2"] if "Scalar" in overload else [""]


def operand_count(kernel):
    """How many tensors a kernel takes: as many as the table has rows of it, or more."""
    if kernel == "aten::masked_fill.Scalar_out":
        return 2
    if kernel in ("aten::where.self_out", "aten::clamp.Tensor_out"):
        return 3
    return 2 if (kernel, 1, False) in table() and kernel != "aten::pow.Scalar_out" else 1


def call(kernel, tensors, arguments, result, over):
    if kernel == "aten::pow.Scalar_out":
        tensors = ["D:2", *tensors]
        arguments = ""
    return f"{kernel} {' '.join(tensors)} {arguments} -> {result} @ {over}"


def other_types(kernel, position, count, own):
    """Types of the operands besides the one that is overwritten."""
    if kernel == "aten::where.self_out":
        sets = [["bool", own, own]]
    elif kernel == "aten::masked_fill.Scalar_out":
        sets = [[own, "bool"]] if position == 0 else [[kind, own] for kind in BYTES
                                                      if BYTES[kind] == 1]
    elif count == 1:
        sets = [[own]]
    else:
        sets = [[other] * count for other in {own: 0, "float": 0, "int64": 0}]
    for types in sets:
        types[0 if kernel == "aten::pow.Scalar_out" else position] = own
    return sets


def elementwise_calls(kernel, operand):
    count = operand_count(kernel)
    for arguments in more_arguments(kernel):
        for own, result in WIDTHS:
            shapes = (*SHAPES, LARGE) if own == result == "float" else SHAPES[:1 + (count == 1)]
            for shape in shapes:
                for types in other_types(kernel, operand, count, own):
                    tensors = [f"{kind}:{shape}" for kind in types]
                    yield call(kernel, tensors, arguments, f"{result}:{shape}", operand)
            if count == 1:
                continue
            # The other ones may be broadcast, or be the same tensor.
            for short in ("1x5", "3x1", "5"):
                tensors = [f"{kind}:{short}" for kind in other_types(kernel, operand, count,
                                                                     own)[0]]
                tensors[operand] = tensors[operand].split(":")[0] + ":3x5"
                yield call(kernel, tensors, arguments, f"{result}:3x5", operand)
            if count == 2 and (kernel, 1 - operand, False) in table():
                tensors = [f"{own}:3x5"] * 2
                yield call(kernel, tensors, arguments, f"{result}:3x5", "0 1")


def norm_calls(kernel):
    for kind in BYTES:
        for shape, arguments, more in NORMS[kernel]:
            yield f"{kernel} {kind}:{shape} {arguments.format(kind)} -> {kind}:{shape} {more.format(kind)} @ 0"


def calls_of(kernel, operand, any_shape):
    if kernel in NORMS:
        return norm_calls(kernel)
    return view_calls(kernel) if any_shape else elementwise_calls(kernel, operand)


def view_calls(kernel):
    for kind in BYTES:
        if kernel == "aten::view_copy.out":
            yield f"{kernel} {kind}:3x4 L:2,6 -> {kind}:2x6 @ 0"
        elif kernel == "aten::unsqueeze_copy.out":
            yield f"{kernel} {kind}:3x4 I:1 -> {kind}:3x1x4 @ 0"
        elif kernel == "aten::squeeze_copy.dim_out":
            yield f"{kernel} {kind}:3x1x4 I:1 -> {kind}:3x4 @ 0"
        elif kernel == "aten::squeeze_copy.dims_out":
            yield f"{kernel} {kind}:3x1x4x1 L:1,3 -> {kind}:3x4 @ 0"
        else:
            yield f"{kernel} {kind}:3x4 {more_arguments(kernel)[0]} -> {kind}:3x4 @ 0"


def test_the_table_is_read_whole():
    block = SOURCE.read_text().split("in_place[] = {")[1].split("};")[0]
    assert len(table()) == block.count("{") - 1 > 100  # the last row is the end mark
    assert len(set(table())) == len(table())


@pytest.fixture(scope="module")
def answers():
    """{(kernel, operand): [(call, answer)…]}, of all that is tried of the table, in one go."""
    calls = [(row, text) for row in table()[::ONE_OF]
             for text in calls_of(*row)]
    found = {}
    for (row, text), answer in zip(calls, pte_runtime.ask_kernels([text for _, text in calls])):
        found.setdefault(row[:2], []).append((text, answer))
    return found


@pytest.mark.parametrize("kernel, operand", some(pytest.param(*row[:2]) for row in table()))
def test_every_entry_of_the_table_is_safe_in_the_wheel(answers, kernel, operand):
    found = Counter(answer for _, answer in answers[kernel, operand])
    assert not [text for text, answer in answers[kernel, operand] if answer == "differs"]
    assert "unknown" not in found
    if kernel in MOVES:
        assert found["trivial"] > 5
    else:
        assert found["same"] >= 2  # a result that is not the operand as it was


@pytest.mark.parametrize("text", UNSAFE, ids=lambda text: text.split()[0])
def test_kernels_known_to_be_unsafe_are_caught(text):
    assert pte_runtime.ask_kernels([text]) == ["differs"]
    assert text.split()[0] not in [row[0] for row in table()]


# Kernels that compute by blocks or vectors, beside those of the table.
BLOCKS = [
    "aten::mm.out {0}:20x33 {0}:33x18 -> {0}:20x18", "aten::bmm.out {0}:2x20x33 {0}:2x33x18 -> {0}:2x20x18",
    "aten::addmm.out {0}:18 {0}:20x33 {0}:33x18 I:1 I:1 -> {0}:20x18",
    "aten::linear.out {0}:20x33 {0}:18x33 {0}:18 -> {0}:20x18",
    "aten::convolution.out {0}:1x4x9x9 {0}:6x4x3x3 {0}:6 L:1,1 L:1,1 L:1,1 B:0 L:0,0 I:1 -> {0}:1x6x9x9",
    "aten::max_pool2d_with_indices.out {0}:1x4x9x9 L:3,3 L:2,2 L:1,1 L:1,1 B:0 -> {0}:1x4x5x5 int64:1x4x5x5",
    "aten::avg_pool2d.out {0}:1x4x9x9 L:3,3 L:1,1 L:1,1 B:0 B:1 N -> {0}:1x4x9x9",
    "aten::mean.out {0}:4x99 L:1 B:0 N -> {0}:4", "aten::sum.IntList_out {0}:4x99 L:1 B:0 N -> {0}:4",
    "aten::amax.out {0}:4x99 L:1 B:0 -> {0}:4", "aten::glu.out {0}:4x98 I:1 -> {0}:4x49",
    "aten::permute_copy.out {0}:9x17 L:1,0 -> {0}:17x9", "aten::slice_copy.Tensor_out {0}:9x17 I:1 I:1 I:9 I:2 -> {0}:9x4",
    "aten::constant_pad_nd.out {0}:9x17 L:1,2 D:1 -> {0}:9x20", "aten::embedding.out {0}:9x17 int64:1 I:-1 B:0 B:0 -> {0}:1x17",
]


TENSOR = r"\b([a-z]+\d*):\d"


def test_no_kernel_needs_more_alignment_than_its_elements():
    """So the target has no table of alignments by operator: 16 bytes, which every tensor of a plan has, are more."""
    calls = [text for kernel, operand, any_shape in table() for text in calls_of(kernel, operand, any_shape)]
    once = {(text.split()[0], *re.findall(TENSOR, text)): text.split(" @ ")[0] for text in calls}
    calls = [*once.values(), *(text.format(kind) for text in BLOCKS for kind in ("float", "half", "double", "int8"))]
    aside = [f"{text} @ +{max(map(BYTES.get, re.findall(TENSOR, text)))}" for text in calls]
    found = dict(zip(aside, pte_runtime.ask_kernels(aside)))
    assert not [text for text, answer in found.items() if answer == "differs"]
    # A kernel that faults looks like one that refuses its arguments: aligned it must refuse them, too.
    refused = [text.split(" @ ")[0] + " @ +0" for text, answer in found.items() if answer == "refused"]
    assert not [text for text, answer in zip(refused, pte_runtime.ask_kernels(refused)) if answer != "refused"]
    assert {text.split()[0] for text, answer in found.items() if answer == "same"} >= {row[0] for row in table()} | {
        text.split()[0] for text in BLOCKS}
