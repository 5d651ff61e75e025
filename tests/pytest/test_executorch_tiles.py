"""TilePass inside ExecuTorch's export: less memory in the stock runtime, and the same bytes of results."""

import os
import sys

import numpy as np
import pytest
from conftest import COMMAND, ROOT

sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("ARENAUT_LIBRARY", str(COMMAND.parent / "libarenaut.so"))
torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import arenaut  # noqa: E402
from arenaut.executorch import MemoryPlanningPass, TilePass  # noqa: E402
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402
from torch import nn  # noqa: E402

RUNTIME = Runtime.get()
IMAGE = torch.randn((1, 8, 72, 72), generator=torch.Generator().manual_seed(3))


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(3)


class Net(nn.Module):
    """Operators that the edge dialect gives several results, the second of a pool read or not."""

    def __init__(self, indices=False):
        super().__init__()
        self.first, self.norm = nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.second, self.last = nn.Conv2d(16, 16, 3, padding=1), nn.Conv2d(16, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2, return_indices=indices)
        nn.init.uniform_(self.norm.running_var, 0.5, 2)

    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.norm(self.first(x)))))
        return self.pool(torch.relu(self.last(x)))


def edge(module):
    return to_edge(torch.export.export(module.eval(), (IMAGE,)))


def arenas(program):
    return sum(program.executorch_program.execution_plan[0].non_const_buffer_sizes)


def executed(program, *inputs):
    method = RUNTIME.load_program(program.buffer).load_method("forward")
    return [value.numpy().tobytes() for value in method.execute(list(inputs))]


@pytest.mark.parametrize("ours", [False, True])
def test_the_stock_runtime_needs_less(ours):
    module, tiles = Net(), TilePass()
    config = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass()) if ours else ExecutorchBackendConfig()
    whole, tiled = edge(module).to_executorch(config), edge(module).transform([tiles]).to_executorch(config)
    assert tiles.plan.stages
    assert arenas(tiled) < 0.9 * arenas(whole)
    assert executed(tiled, IMAGE) == executed(whole, IMAGE)
    again = edge(module).transform([TilePass(tiles.plan.stages)]).to_executorch(config)
    assert again.buffer == tiled.buffer


def test_the_planning_pass_names_the_pass_that_tiles():
    """It has no such option: see docs/executorch.md, "In the order of an export script"."""
    with pytest.raises(arenaut.InputError, match=r"out variant.*edge\.transform\(\[TilePass\(\)\]\)"):
        MemoryPlanningPass(tile=True)


def test_an_exported_program():
    exported = torch.export.export(Net().eval(), (IMAGE,))
    tiled = TilePass()(exported).exported_program
    assert tiled.dialect == exported.dialect
    assert torch.equal(tiled.module()(IMAGE), exported.module()(IMAGE))
    assert arenas(to_edge(tiled).to_executorch()) < 0.9 * arenas(to_edge(exported).to_executorch())


def test_a_second_result_that_is_read_keeps_its_operator():
    module = Net(indices=True)
    whole, tiled = edge(module), edge(module).transform([TilePass()])
    named = [str(node.target) for node in tiled.exported_program().graph.nodes]
    assert sum("max_pool2d_with_indices" in name for name in named) == 1
    assert executed(tiled.to_executorch(), IMAGE) == executed(whole.to_executorch(), IMAGE)


def test_constants_that_operators_make():
    """No runtime of these folds them: what reads one runs behind the operator."""
    class Lifted(Net):
        def forward(self, x):
            return super().forward(x + torch.tensor([1.0, 2.0]).repeat(4).view(1, 8, 1, 1)) * torch.tensor([3.0]).view(1, 1, 1, 1)

    module, tiles = Lifted(), TilePass()
    whole, tiled = edge(module), edge(module).transform([tiles])
    assert tiles.plan.stages
    assert executed(tiled.to_executorch(), IMAGE) == executed(whole.to_executorch(), IMAGE)
    assert not TilePass()(torch.export.export(module.eval(), (IMAGE,))).modified  # detach_ updates in place


def test_tiles_that_may_round_otherwise_are_asked_for():
    class Volume(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Conv3d(4, 8, 3, padding=1), nn.Conv3d(8, 4, 3, padding=1)

        def forward(self, x):
            return torch.relu(self.last(torch.relu(self.first(x))))

    volume = torch.randn((1, 4, 48, 24, 24))
    exported = torch.export.export(Volume().eval(), (volume,))
    whole, refusing, allowing = exported.module()(volume), TilePass(), TilePass(rounding="allow")
    assert not refusing(exported).modified and refusing.plan.rounded_ops == 0
    tiled = allowing(exported).exported_program
    assert allowing.plan.stages and allowing.plan.rounded_ops > 0
    assert torch.allclose(tiled.module()(volume), whole, rtol=1e-5, atol=1e-5)
    with pytest.raises(arenaut.InputError, match="'refuse' or 'allow'"):
        TilePass(rounding="yes")(exported)


def test_global_averages_are_asked_for():
    """Which the edge dialect has as means."""
    torch.manual_seed(5)
    module = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.Hardtanh(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 4))
    image = torch.randn(1, 3, 96, 96)
    exported = torch.export.export(module.eval(), (image,))
    refusing, allowing = TilePass(), TilePass(rounding="allow")
    before, after, tiled = (to_edge(exported).transform(passes).to_executorch() for passes in ([], [refusing], [allowing]))
    assert refusing.plan.rounded_ops == 0 < allowing.plan.rounded_ops
    assert arenas(tiled) < 0.5 * arenas(before) and arenas(after) <= arenas(before)
    wanted, found = (np.frombuffer(executed(program, image)[0], "f4") for program in (before, tiled))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_normalizations_are_asked_for():
    """In two passes, of operators for which ExecuTorch has kernels; no further from float64 than its own kernel, which
    adds up one element after the other."""
    module = nn.Sequential(nn.Conv2d(8, 24, 3, padding=1), nn.GroupNorm(4, 24, eps=1e-6), nn.Hardtanh(), nn.MaxPool2d(3, 2))
    for constants in module[1].parameters():
        nn.init.normal_(constants)
    whole, refusing = edge(module).to_executorch(), TilePass()
    edge(module).transform([refusing])
    assert refusing.plan.rounded_ops == 0
    allowing = TilePass([(1, 3, 4, "kept")], rounding="allow")
    tiled = edge(module).transform([allowing]).to_executorch()
    assert allowing.plan.rounded_ops == 1 and arenas(tiled) < arenas(whole)
    exact = module.double()(IMAGE.double()).detach().numpy().ravel()
    wanted, found = (np.abs(np.frombuffer(executed(program, IMAGE)[0], "f4") - exact).max() for program in (whole, tiled))
    assert found <= wanted + 8 * np.spacing(np.float32(1)) and wanted < 1e-4


class Squeeze(nn.Module):
    def __init__(self, channels, flat):
        super().__init__()
        make = nn.Linear if flat else lambda before, after: nn.Conv2d(before, after, 1)
        self.narrow, self.widen, self.flat = make(channels, 4), make(4, channels), flat

    def forward(self, x):
        mean = x.mean([2, 3]) if self.flat else nn.functional.adaptive_avg_pool2d(x, 1)
        factors = torch.sigmoid(self.widen(torch.relu(self.narrow(mean))))
        return x * (factors[:, :, None, None] if self.flat else factors)


@pytest.mark.parametrize("flat", [False, True])
def test_squeezes_are_asked_for(flat):
    """The image that is scaled is made twice, and never whole."""
    torch.manual_seed(6)
    module = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.Hardtanh(), Squeeze(24, flat), nn.Conv2d(24, 4, 3, 2))
    image = torch.randn(1, 3, 96, 96)
    exported = torch.export.export(module.eval(), (image,))
    refusing, allowing = TilePass(max_macs=100), TilePass(max_macs=100, rounding="allow")
    before, after, tiled = (to_edge(exported).transform(passes).to_executorch() for passes in ([], [refusing], [allowing]))
    assert refusing.plan.rounded_ops == 0 < allowing.plan.rounded_ops
    assert arenas(tiled) < 0.5 * arenas(before) and arenas(tiled) < 0.6 * arenas(after)
    wanted, found = (np.frombuffer(executed(program, image)[0], "f4") for program in (before, tiled))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)
    print(f"{arenas(before):,} -> {arenas(after):,} -> {arenas(tiled):,}, {np.abs(found - wanted).max() / np.spacing(np.abs(wanted).max()):.0f} ulp")


class Selecting(nn.Module):
    def __init__(self, select):
        super().__init__()
        self.select = select

    def forward(self, x):
        return self.select(x * 1.5) * 0.5


def selected(program, images):
    """With all NaNs alike, which may be of any sign and payload."""
    made = program.to_executorch()
    method = RUNTIME.load_program(made.buffer).load_method("forward")
    return [torch.nan_to_num(method.execute([image])[0], nan=7.0).numpy().tobytes() for image in images]


SELECTIONS = {  # and whether the kernel's vectors and its rest take the same one of 0 and -0
    "clamp to 0 and 1": (lambda x: x.clamp(0, 1), False),
    "clamp to 1e-46 at least": (lambda x: x.clamp(min=1e-46), False),
    "clamp to 0 at most": (lambda x: x.clamp(max=0.0), False),
    "clamp to -1 and 0.5": (lambda x: x.clamp(-1.0, 0.5), True),
    "hardtanh to -1 and -0": (lambda x: nn.functional.hardtanh(x, -1.0, -0.0), True),
    "relu": (torch.relu, True),
    "relu6": (nn.functional.relu6, True),
    "max_pool2d": (lambda x: nn.functional.max_pool2d(x, 2, 2), True),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_zeros_keep_their_sign(name):
    """In tiles that end within a vector of the kernel, unless refused, and in those that do not."""
    (select, alike), some = SELECTIONS[name], torch.tensor([0.0, -0.0, 0.0, -0.0, float("nan"), 1.0, -1.0])
    for rows, columns, fits in ((13, 5, alike), (16, 32, True)):
        images = [some[torch.randint(len(some), (1, 2, rows, columns))] for _ in range(8)]
        exported = torch.export.export(Selecting(select).eval(), (images[0],))
        tiling = TilePass([(0, 2, 3, "rows")])
        if not fits:
            with pytest.raises(arenaut.InputError, match="--rounding allow"):
                tiling(exported)
            continue
        tiled = to_edge(exported).transform([tiling])
        assert tiling.plan.stages
        assert selected(tiled, images) == selected(to_edge(exported), images)


def test_limits():
    exported = torch.export.export(Net().eval(), (IMAGE,))
    none = TilePass(max_ops=0)
    result = none(exported)
    assert (result.exported_program, result.modified, none.plan.stages) == (exported, False, ())
    few, most = TilePass(max_ops=40), TilePass()
    few(exported), most(exported)
    assert most.plan.planned <= few.plan.planned < none.plan.planned
    fits = TilePass(budget=4 * none.plan.planned)
    assert not fits(exported).modified
    with pytest.raises(arenaut.InputError, match="diagonal"):
        TilePass([(0, 1, 2, "diagonal")])(exported)


def test_sizes_that_vary_stay_whole():
    side = torch.export.Dim("side", min=16, max=96)
    exported = torch.export.export(Net().eval(), (IMAGE,), dynamic_shapes=({2: 2 * side},))
    assert not TilePass()(exported).modified


def test_ops_of_a_delegate_stay_whole():
    partition = pytest.importorskip("executorch.backends.xnnpack.partition.xnnpack_partitioner",
                                    reason="this wheel has no XNNPACK").XnnpackPartitioner
    from executorch.backends.xnnpack.partition.config import gemm_configs  # noqa: PLC0415

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.linear = Net(), nn.Linear(4, 4)

        def forward(self, x, y):
            return self.net(x), self.linear(y)

    inputs = IMAGE, torch.randn(2, 4)
    config = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass())
    linear = partition(configs=[gemm_configs.LinearConfig, gemm_configs.AddmmConfig])

    def lowered():
        return to_edge_transform_and_lower(torch.export.export(Mixed().eval(), inputs), partitioner=[linear])

    torch.manual_seed(3)
    whole = lowered().to_executorch(config)
    torch.manual_seed(3)
    tiled = lowered().transform([TilePass()]).to_executorch(config)
    assert arenas(tiled) < 0.9 * arenas(whole)
    assert executed(tiled, *inputs) == executed(whole, *inputs)
