"""How far results reach into operands of ExecuTorch's kernels: each rule of the set on random shapes, in the wheel.

The command states a distance for a program of one op. The kernel is then run with the operand so far above the result,
and further, which must change nothing, and one element closer, which must show on some of the shapes, or else the
distance would be larger than it need be. ARENAUT_THOROUGH=N tries N times as many shapes."""

import json
import os
import random

import pytest

pytest.importorskip("executorch", reason="the stock wheels are not installed: make venv")
import pte_runtime  # noqa: E402

CASES = 12 * int(os.environ.get("ARENAUT_THOROUGH", "1"))
BYTES = {"float": 4, "half": 2, "double": 8, "int64": 8}
DTYPES = {"float": "float32", "half": "float16", "double": "float64", "int64": "int64"}
CONVOLUTION, MAXIMUM, AVERAGE = "aten::convolution.out", "aten::max_pool2d_with_indices.out", "aten::avg_pool2d.out"


def text(dims):
    return "x".join(map(str, dims))


def numbers(values):
    return "L:" + ",".join(map(str, values))


class Case:
    """A call of one kernel, as the runner and as the command reads it."""

    def __init__(self, op, seed):
        self.op, self.random = op, random.Random(f"{op} {seed}")
        draw = self.random.randint
        self.kind = self.random.choice(["float", "float", "half", "double"])
        self.groups, self.sources, self.made = draw(1, 4), draw(1, 3), draw(1, 3)
        self.taps = [draw(1, 4), draw(1, 4)]
        self.strides = [draw(1, 3), draw(1, 3)]
        self.pads = [draw(0, taps // 2) for taps in self.taps]
        self.dilations = [1, 1] if op == AVERAGE else [draw(1, 2), draw(1, 2)]
        self.ceil = op != CONVOLUTION and draw(0, 1)
        if op != CONVOLUTION:
            self.sources = self.made = 1
        sides = [max((taps - 1) * step + 1, draw(3, 17)) for taps, step in zip(self.taps, self.dilations)]
        self.operand = [draw(1, 2), self.groups * self.sources, *sides]
        self.result = [self.operand[0], self.groups * self.made, *map(self.side, range(2))]

    def side(self, axis):
        reach = (self.taps[axis] - 1) * self.dilations[axis] + 1
        over = self.operand[2 + axis] + 2 * self.pads[axis] - reach
        stride = self.strides[axis]
        if not self.ceil:
            return over // stride + 1
        out = -(-over // stride) + 1
        return out - ((out - 1) * stride >= self.operand[2 + axis] + self.pads[axis])

    def weights(self):
        return [self.groups * self.made, self.sources, *self.taps]

    def outputs(self):
        return [(self.kind, self.result)] + [("int64", self.result)] * (self.op == MAXIMUM)

    def call(self, output, above):
        window = [numbers(self.strides), numbers(self.pads)]
        if self.op == CONVOLUTION:
            arguments = [f"{self.kind}:{text(self.weights())}", f"{self.kind}:{text(self.weights()[:1])}", *window,
                         numbers(self.dilations), "B:0", "L:0,0", f"I:{self.groups}"]
        elif self.op == MAXIMUM:
            arguments = [numbers(self.taps), *window, numbers(self.dilations), f"B:{self.ceil}"]
        else:
            arguments = [numbers(self.taps), *window, f"B:{self.ceil}", "B:1", "N"]
        made = " ".join(f"{kind}:{text(dims)}" for kind, dims in self.outputs())
        return f"{self.op} {self.kind}:{text(self.operand)} {' '.join(arguments)} -> {made} @ 0~{above}/{output}"

    def program(self):
        window = {"strides": self.strides, "pads": self.pads * 2, "dilations": self.dilations}
        window.update({"transposed": [0], "group": [self.groups]} if self.op == CONVOLUTION
                      else {"kernel_shape": self.taps})
        tensors = [{"name": "x", "dtype": DTYPES[self.kind], "dims": self.operand, "class": "input"},
                   {"name": "w", "dtype": DTYPES[self.kind], "dims": self.weights(), "class": "constant"}]
        tensors += [{"name": f"y{k}", "dtype": DTYPES[kind], "dims": dims, "class": "output"}
                    for k, (kind, dims) in enumerate(self.outputs())]
        op = {"name": self.op, "inputs": ["x", "w" if self.op == CONVOLUTION else None],
              "outputs": [f"y{k}" for k in range(len(self.outputs()))],
              "attributes": [{"name": name, "numbers": list(values)} for name, values in window.items()]}
        return {"schema": "arenaut.program/1", "tensors": tensors,
                "methods": [{"name": "forward", "entry": True, "inputs": ["x"], "outputs": op["outputs"], "ops": [op]}]}

    def distances(self, arenaut, folder):
        """By output; an output that reaches nowhere has none."""
        path = folder / "one.program.json"
        path.write_text(json.dumps(self.program()))
        dumped = arenaut("plan", path, "--target", "executorch", "--overlap", "on", "--dump-after", "overlaps")
        program, _ = json.JSONDecoder().raw_decode(dumped.stderr, dumped.stderr.index("{\n"))  # notes are around it
        op = program["methods"][0]["ops"][0]
        return {pair["output"]: pair["distance"] for pair in op.get("overlaps", []) if pair["input"] == 0}


@pytest.mark.parametrize("op", [CONVOLUTION, MAXIMUM, AVERAGE])
def test_a_result_reaches_as_far_as_stated_and_no_further(arenaut, tmp_path, op):
    right, closer = [], []
    for seed in range(CASES):
        case = Case(op, seed)
        for output, distance in case.distances(arenaut, tmp_path).items():
            width = max(BYTES[case.kind], BYTES[case.outputs()[output][0]])
            first = -(-distance // width) * width
            last = BYTES[case.kind]
            for side in case.operand:
                last *= side
            further = case.random.randint(0, max(0, (last - first) // width))
            right += [case.call(output, above) for above in (first, first + width, first + further * width)]
            closer.append(case.call(output, first - width))
    answers = pte_runtime.ask_kernels(right)
    assert len(right) >= CASES
    assert not [call for call, answer in zip(right, answers) if answer != "same"]
    assert pte_runtime.ask_kernels(closer).count("differs") >= len(closer) // 2


def test_many_planes_at_once(arenaut, tmp_path):
    """Enough for a kernel that would share them out to threads."""
    for op in CONVOLUTION, MAXIMUM, AVERAGE:
        case = Case(op, 0)
        case.kind, case.groups, case.sources, case.made, case.ceil = "float", 96, 1, 1, 0
        case.taps, case.strides, case.pads, case.dilations = [3, 3], [2, 2], [1, 1], [1, 1]
        case.operand = [1, 96, 112, 112]
        case.result = [1, 96, *map(case.side, range(2))]
        found = case.distances(arenaut, tmp_path)
        assert set(found) == set(range(len(case.outputs())))
        assert set(pte_runtime.ask_kernels([case.call(k, -(-d // 8) * 8) for k, d in found.items()])) == {"same"}


@pytest.mark.parametrize("change", [{"strides": None}, {"dims": [2, 4, 7]}, {"transposed": [1]}, {"pads": [9, 9, 9, 9]}])
def test_nothing_is_stated_of_what_is_not_known(arenaut, tmp_path, change):
    """An attribute that is missing, images of other ranks, transposed windows, windows outside of the image."""
    case = Case(CONVOLUTION, 1)
    program = case.program()
    op = program["methods"][0]["ops"][0]
    for name, value in change.items():
        if name == "dims":
            program["tensors"][0]["dims"] = value
        op["attributes"] = [one for one in op["attributes"] if one["name"] != name or value is not None]
        for one in op["attributes"]:
            one["numbers"] = value if one["name"] == name else one["numbers"]
    case.program = lambda: program
    assert case.distances(arenaut, tmp_path) == {}


def pool_program(shapes, window, pads):
    tensors = [{"name": name, "dtype": dtype, "dims": [1, 1, *dims], "class": cls} for (name, dtype, cls), dims in zip(
        [("x", "float32", "input"), ("a", "float32", "intermediate"), ("y", "float32", "output"),
         ("i", "int64", "output")], shapes, strict=True)]
    attributes = {"kernel_shape": [window] * 2, "pads": [pads] * 4, "strides": [1, 1], "dilations": [1, 1]}
    return {"schema": "arenaut.program/1", "tensors": tensors, "methods": [
        {"name": "forward", "entry": True, "inputs": ["x"], "outputs": ["y", "i"], "ops": [
            {"name": "aten::sqrt.out", "inputs": ["x"], "outputs": ["a"]},
            {"name": "aten::max_pool2d_with_indices.out", "inputs": ["a"], "outputs": ["y", "i"],
             "attributes": [{"name": name, "numbers": numbers} for name, numbers in attributes.items()]}]}]}


@pytest.mark.parametrize("shapes, window, pads", [
    ([[8, 8], [8, 8], [9, 9], [9, 9]], 1 << 25, 1 << 24), ([[8, 8], [8, 8], [9, 9], [9, 9]], (1 << 62) + 2, 1 << 61),
    ([[6, 6], [6, 6], [6, 6], [6, 4]], 1, 0), ([[6, 6], [6, 6], [6, 4], [6, 6]], 1, 0)])
def test_windows_beyond_the_image_and_outputs_of_other_shapes_are_planned(arenaut, tmp_path, shapes, window, pads):
    """Only taps inside the image are walked; what the checker would refuse is no right of the planner's."""
    path = tmp_path / "pool.program.json"
    path.write_text(json.dumps(pool_program(shapes, window, pads)))
    arenaut("plan", path, "--target", "executorch", "--overlap", "on")
