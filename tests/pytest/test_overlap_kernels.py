"""How far an output may reach into an input: each rule on random shapes, in the stock wheel.

The command states a distance for a one-op model; the op is then run with its tensors at that
distance and at others beyond it, which must change nothing, and one element closer, which must
show on some of the shapes, or else the distance would be larger than it need be.
ARENAUT_THOROUGH=N, set by `make fuzz`, tries N times as many shapes.
"""

import numpy as np
import pytest

import micro_runtime
import overlap_plans
import random_ops
import tflite_file
from drawn import drawn

SHAPES, MOST = drawn(3), max(3, drawn(3))
INPUTS = 4

# Where one element closer need not show.
COPIES = "copies runs by memcpy, which here works on overlapping ones as well, and need not elsewhere"
ROUNDS = "what is overwritten first are the lowest bits of a number that is rounded"
CHOOSES = "the greatest stays so if others change, and small indices are mostly zero bytes"
COMPARES = "a comparison seldom turns by the lowest byte of a number, or by one number of few"
NOT_TIGHT = {("CONCATENATION", None): COPIES, ("RESIZE_NEAREST_NEIGHBOR", None): COPIES,
             ("SLICE", None): COPIES, ("CAST_TO_OTHERS", "FLOAT32"): ROUNDS,
             ("QUANTIZE_TO_OTHERS", "FLOAT32"): ROUNDS, ("ARG_MAX", None): CHOOSES,
             ("ARG_MIN", None): CHOOSES,
             **{(name, None): COMPARES for op in random_ops.COMPARISONS
                for name in (op, f"{op}_BROADCAST")}}


class Placement:
    """A case, what the command says of it, and what its outputs are with all tensors apart."""

    def __init__(self, case, arenaut_json, folder):
        self.case, path = case, folder / "one.tflite"
        path.write_bytes(case.data)
        self.document = arenaut_json("plan", path, "--overlap", "on", "-f", "-o",
                                     folder / "planned.tflite")
        self.planned = (folder / "planned.tflite").read_bytes()
        self.separations = overlap_plans.separations_of(case.data, self.document)
        tensors = tflite_file.unpack(case.data).subgraphs[0].tensors
        self.bytes = [tflite_file.tensor_bytes(tensor) for tensor in tensors]
        self.inputs = [case.inputs(seed) for seed in range(INPUTS)]
        self.expected = self.outputs(tflite_file.with_plan(case.data, case.apart()))

    def outputs(self, data):
        machine = micro_runtime.Machine(data)
        return [[output.tobytes() for output in machine.run(values)] for values in self.inputs]

    def survives(self, separation, delta):
        """Whether all is as with tensors apart if the upper one starts so far above the lower."""
        offsets = overlap_plans.placed(self.case.data, separation, delta)
        return self.outputs(tflite_file.with_plan(self.case.data, offsets)) == self.expected

    def allowed(self, separation, random):
        """The size of an element, and the least distance, the next one, and one anywhere above."""
        element, first = overlap_plans.nearest(self.case.data, separation)
        last = max(first, self.bytes[separation.lower])
        return element, [first, first + element,
                         random.randint(first // element, last // element + 1) * element]


# Seen in whole models (test_overlap_runtime.py).
WHOLE = {("SVDF", "INT8"), ("UNIDIRECTIONAL_SEQUENCE_LSTM", "INT8")}
# A rule that speaks of floating point, too, but these kernels give no other type than that.
ONE_WAY = {("DEQUANTIZE", "FLOAT32")}
# Rules speak of this type as well, but the kernels do not take it.
REFUSED = {(name, "INT16") for name in
           ("ARG_MAX", "ARG_MIN", "DEPTH_TO_SPACE", "ELU", "HARD_SWISH", "L2_NORMALIZATION",
            "LOG_SOFTMAX", "MIRROR_PAD", "PRELU", "SPACE_TO_DEPTH")}


def test_each_rule_of_the_kernels_is_tried(arenaut_json):
    tried = {(random_ops.build(name, dtype, 0).op, dtype) for name, dtype in random_ops.RULES}
    stated = {(rule["op"], dtype.upper()) for rule in arenaut_json("kernels", "reference")["rules"]
              for dtype in rule["when"]["types"]}
    assert stated == tried | WHOLE | ONE_WAY | REFUSED


@pytest.mark.parametrize("name, dtype", sorted(REFUSED))
def test_types_that_are_not_tried_are_not_run(name, dtype):
    case = random_ops.RULES[name, "INT8"](np.random.RandomState(0), dtype)
    with pytest.raises(micro_runtime.Refused):
        case.run(case.apart(), case.inputs(0))


@pytest.mark.parametrize("name, dtype", sorted(random_ops.RULES))
def test_a_distance_is_enough_and_no_more_than_that(arenaut_json, tmp_path, name, dtype):
    stated, closer, shown = 0, 0, 0
    for seed in range(MOST):
        if seed >= SHAPES and shown:
            break
        placement = Placement(random_ops.build(name, dtype, seed), arenaut_json, tmp_path)
        random = np.random.RandomState(seed)
        assert placement.outputs(placement.planned) == placement.expected, placement.case
        for separation in placement.separations:
            stated += 1
            element, allowed = placement.allowed(separation, random)
            for delta in allowed:
                assert placement.survives(separation, delta), (placement.case, separation, delta)
            inside = allowed[0] - element
            if inside > -placement.bytes[separation.upper]:
                closer += 1
                shown += not placement.survives(separation, inside)
    assert stated > 0
    assert closer == 0 or shown > 0 or {(name, dtype), (name, None)} & NOT_TIGHT.keys()
