"""arenaut.tvm in the place of TVM's own planning: programs compiled by both compute the same to the bit, and
never ask for more memory."""

import os
import sys

import numpy
import pytest
import torch
import tvm
from conftest import COMMAND, ROOT
from torch.utils._pytree import tree_leaves
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.torch import from_exported_program
from tvm.script import ir as I
from tvm.script import relax as R

sys.path.insert(0, str(ROOT / "tests" / "models"))
import torch_zoo
from drawn import at_night


@pytest.fixture(scope="module")
def ours():
    os.environ["ARENAUT_LIBRARY"] = str(COMMAND.parent / "libarenaut.so")
    sys.path.insert(0, str(ROOT / "python"))
    import arenaut.tvm
    return arenaut.tvm


def planned(ours, module, plan):
    """The module after the pass `plan`, and all that is compiled from there on."""
    seen = []

    @tvm.transform.module_pass(opt_level=0)
    def watched(module, _context):
        seen.append(plan(module))
        return seen[0]
    built = tvm.compile(module, "llvm", relax_pipeline=ours.pipeline(plan=watched))
    return seen[0], relax.VirtualMachine(built, tvm.cpu())


def compared(ours, module, inputs, function="main"):
    """Bytes by TVM and by us, of programs that compute the same."""
    bytes_of, outputs = [], []
    for plan in relax.transform.StaticPlanBlockMemory(), ours.static_plan_block_memory():
        after, machine = planned(ours, module, plan)
        bytes_of.append(ours.figures(after)[function])
        # A second run finds what the first one left behind.
        for _ in range(2):
            made = machine[function](*map(tvm.runtime.tensor, inputs))
            outputs.append([one.numpy() for one in ([made] if hasattr(made, "numpy") else made)])
    for other in outputs[1:]:
        assert all(numpy.array_equal(a, b) for a, b in zip(outputs[0], other, strict=True))
    assert bytes_of[1] <= bytes_of[0]
    return bytes_of


@pytest.mark.parametrize("name", [at_night("dlrm"), at_night("mobilenetv3"), "bert4"])
def test_networks(ours, name):
    torch.manual_seed(0)
    network, inputs = torch_zoo.SMALL[name]()
    with torch.no_grad():
        exported = torch.export.export(network.eval(), inputs)
        module = from_exported_program(exported)
        wanted = network(*inputs)
    theirs, mine = compared(ours, module, [one.numpy() for one in inputs])
    assert theirs > 0
    if name in ("mobilenetv3", "bert4"):
        assert mine < theirs
    _, machine = planned(ours, module, ours.static_plan_block_memory())
    made = machine["main"](*[tvm.runtime.tensor(one.numpy()) for one in inputs])
    first = tree_leaves(wanted)[0]
    ran = made if hasattr(made, "numpy") else made[0]
    assert numpy.allclose(ran.numpy(), first.numpy(), rtol=1e-3, atol=1e-4)


class Branches(nn.Module):
    """Views of what is planned, read after others were made; two that are alive together."""

    def __init__(self):
        self.wide, self.narrow = nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x: nn.Tensor):
        first = nn.op.relu(self.wide(x))
        seen = nn.op.reshape(first, (8, 64))
        second = nn.op.sigmoid(self.narrow(nn.op.exp(first)))
        third = nn.op.softmax(self.wide(second))
        return nn.op.add(nn.op.reshape(seen, (2, 256)), third)


def test_views_keep_what_they_show(ours):
    module, given = Branches().export_tvm({"forward": {"x": nn.spec.Tensor([2, 64], "float32")}})
    numbers = numpy.random.default_rng(1)
    inputs = [numbers.random((2, 64), dtype="float32")]
    inputs += [numbers.random([int(one) for one in two.shape], dtype="float32") / 16 for _, two in given]
    compared(ours, module, inputs, "forward")


@I.ir_module
class Condition:
    @R.function
    def main(flag: R.Tensor((), "bool"), x: R.Tensor((4, 16), "float32")) -> R.Tensor((4, 16), "float32"):
        before = R.exp(x)
        other = R.sin(before)
        if flag:
            inner = R.add(before, other)
            chosen = R.multiply(inner, inner)
        else:
            inner = R.subtract(before, other)
            chosen = R.cos(inner)
        after = R.exp(R.tanh(R.sin(chosen)))
        return R.add(after, R.cos(R.sin(after)))


def test_functions_with_conditions_stay_as_tvm_has_them(ours):
    # What TVM 0.27 itself makes of this one does not run: it frees what branches need.
    theirs, _ = planned(ours, Condition, relax.transform.StaticPlanBlockMemory())
    mine, _ = planned(ours, Condition, ours.static_plan_block_memory())
    tvm.ir.assert_structural_equal(theirs, mine)
    assert ours.figures(mine)["main"] > 0


def test_our_allocations_are_those_of_tvm(ours):
    module, _ = Branches().export_tvm({"forward": {"x": nn.spec.Tensor([2, 64], "float32")}})
    after, _ = planned(ours, module, ours.static_plan_block_memory())
    found = ours.Allocations(after, after["forward"])
    plan = relax.transform.StaticPlanBlockMemory()
    theirs, _ = planned(ours, module, plan)
    assert len(found.tensors) == len(ours.Allocations(theirs, theirs["forward"]).tensors) > 4
    for one in found.tensors.values():  # alive together in one storage: never
        assert one.size <= one.storage.size
        assert not [two for two in found.tensors.values() if two is not one and two.storage is one.storage
                    and one.first < two.end and two.first < one.end]


def test_sizes_that_vary_have_their_bound(ours):
    class Sized(nn.Module):
        def forward(self, x: nn.Tensor):
            return nn.op.relu(nn.op.exp(nn.op.relu(nn.op.exp(x))))
    module, _ = Sized().export_tvm({"forward": {"x": nn.spec.Tensor(["n", 32], "float32")}})
    bounded = module["forward"].with_attr("tir_var_upper_bound", {"n": 64})
    module.update_func(module.get_global_var("forward"), bounded)
    for n in 1, 64:
        x = numpy.random.default_rng(n).random((n, 32), dtype="float32")
        compared(ours, module, [x], "forward")


def test_another_version_plans_by_itself(ours, monkeypatch):
    monkeypatch.setattr(tvm, "__version__", "0.30.0")
    with pytest.warns(RuntimeWarning, match="this is 0.30.0: TVM's own pass plans"):
        plan = ours.static_plan_block_memory()
    assert plan.info.name == ours.NAME


def test_other_targets_are_refused(ours):
    import arenaut
    with pytest.raises(arenaut.UnsupportedError, match="allowed: llvm"):
        ours.pipeline("c")
