"""torch.export archives in tiles: unmodified PyTorch computes the same bits node by node, in less memory, counted
by the storages that are alive."""

import json
import random
import subprocess
import sys
from collections import Counter

import pytest
from conftest import COMMAND, ROOT

torch = pytest.importorskip("torch", reason="torch is not installed: no graph can be run")

from drawn import at_night, drawn  # noqa: E402
from exported_graphs import model_of, nodes_of, run, save  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

sys.path.insert(0, str(ROOT / "bench"))
from tiling_models import Rrdb, UNet  # noqa: E402

NETS = {1: 12, 2: 12}  # of signals and of images


@pytest.fixture(autouse=True)
def _one_thread():
    """How many there are is part of the tile rule."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def save_module(module, args, path):
    save(torch.export.export(module.eval(), args), path)


def plan(path, output, stage="on", *flags):
    return subprocess.run([COMMAND, "plan", path, "--split", stage, *flags, "-f", "-o", output], capture_output=True,
                          text=True, check=False)


def bits(results):
    return [each.numpy().tobytes() for each in results]


# ---- known nets ----


def settle(module):
    """Statistics of batch norms that are not trivial."""
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.normal_(part.running_mean)
            nn.init.uniform_(part.running_var, 0.5, 2)
    return module


KNOWN = {
    # Bytes alive at most, at most so many in tiles.
    "unet": (lambda: UNet(False, 16, 3), (1, 3, 256, 256), 16 << 20, 0.55),
    "rrdb": (lambda: Rrdb(32, 16, 2), (1, 3, 48, 48), 9 << 20, 0.45),
    "unet_1d": (lambda: UNet(False, 16, 2, axes=1, channels=1), (1, 1, 32768), 8 << 20, 0.45),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_nets_need_less(tmp_path, name):
    make, shape, whole, part = KNOWN[name]
    torch.manual_seed(5)
    path, output, args = tmp_path / f"{name}.pt2", tmp_path / f"{name}.split.pt2", (torch.randn(shape),)
    save_module(settle(make()), args, path)
    done = plan(path, output)
    assert done.returncode == 0, done.stderr
    wanted, before = run(path, args)
    found, after = run(output, args)
    print(f"{name}: {before:,} -> {after:,}")
    assert bits(found) == bits(wanted)
    assert before >= whole
    assert after <= part * before


@pytest.mark.parametrize("name", [at_night("unet"), "unet_1d"])
def test_ops_of_long_stages_have_tiles_of_their_own_height(tmp_path, name):
    """The top of a U-Net in more and lower tiles than the bottom, whatever its number of tiles."""
    make, shape, _, part = KNOWN[name]
    torch.manual_seed(6)
    path, output, args = tmp_path / f"{name}.pt2", tmp_path / f"{name}.split.pt2", (torch.randn(shape),)
    save_module(settle(make()), args, path)
    last, peaks = len(nodes_of(path)) - 1, []
    wanted, before = run(path, args)
    for pieces in (2, 3, 7, 12):
        done = plan(path, output, f"0-{last}/{pieces}:kept")
        assert done.returncode == 0, done.stderr
        found, after = run(output, args)
        assert bits(found) == bits(wanted), pieces
        peaks.append(after)
    assert min(peaks) < part * before


def test_tiles_in_another_order_need_less(tmp_path):
    make, shape, *_ = KNOWN["unet"]
    torch.manual_seed(5)
    path, output, args = tmp_path / "unet.pt2", tmp_path / "unet.split.pt2", (torch.randn(shape),)
    save_module(settle(make()), args, path)
    peaks = []
    for flags in ((), ("--reorder", "on")):
        done = plan(path, output, "on", *flags)
        assert done.returncode == 0, done.stderr
        found, alive = run(output, args)
        assert bits(found) == bits(run(path, args)[0])
        peaks.append(alive)
    assert peaks[1] < peaks[0]


class Beside(nn.Module):
    """Operators that the check of tiles does not follow beside some that it does."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 24, 3, padding=1), nn.Conv2d(24, 24, 3, padding=1)
        self.last = nn.Conv2d(48, 8, 3, padding=1)

    def forward(self, x):
        wide = self.first(x)
        small = functional.max_pool2d(wide, 8)
        rows = small.flatten(2).transpose(1, 2)[None]
        attended = [functional.scaled_dot_product_attention(each, each, each)
                    for each in (rows, small.flatten(2)[None], rows * 2)]
        return self.last(torch.cat([self.second(wide), functional.relu(wide)], 1)), *attended


def test_operators_that_are_not_followed_may_move_beside_tiles(tmp_path):
    torch.manual_seed(5)
    path, output, args = tmp_path / "beside.pt2", tmp_path / "beside.split.pt2", (torch.randn(1, 3, 96, 96),)
    save_module(Beside(), args, path)
    done = plan(path, output, "on", "--reorder", "on")
    assert done.returncode == 0, done.stderr
    assert "live bytes instead of" in done.stdout and "the ops stay" not in done.stdout
    assert bits(run(output, args)[0]) == bits(run(path, args)[0])


def test_what_was_planned_is_what_is_alive(tmp_path):
    """To a twentieth: PyTorch keeps what the plan keeps; the caller owns the input."""
    path, output, args = tmp_path / "unet.pt2", tmp_path / "unet.split.pt2", (torch.randn(1, 3, 256, 256),)
    save_module(UNet(False, 16, 3), args, path)
    done = plan(path, output, "on", "--json")
    assert done.returncode == 0, done.stderr
    planned, inputs = json.loads(done.stdout)["result"]["arena"], args[0].nbytes
    assert 0.95 * (planned - inputs) <= run(output, args)[1] <= 1.05 * planned


# ---- random nets ----


class Multiple(nn.Module):
    """A convolution, and a sum of it with a constant, or with an image, times a factor."""

    def __init__(self, operator, alpha, shape):
        super().__init__()
        self.conv, self.operator, self.alpha = nn.Conv2d(3, 8, 3, padding=1), operator, alpha
        self.other = nn.Parameter(torch.randn(shape)) if shape else None

    def forward(self, x):
        y = self.conv(x)
        return self.operator(y, y.relu() if self.other is None else self.other, alpha=self.alpha)


@pytest.mark.parametrize("alpha", [1, 1.0, 3, 0.3])
@pytest.mark.parametrize("shape", [None, (8, 1, 1), (1,), (1, 8, 1, 67)])
def test_sums_with_a_multiple_of_what_is_repeated_are_rounded_otherwise(tmp_path, alpha, shape):
    path, output, repeats = tmp_path / "a.pt2", tmp_path / "b.pt2", shape is not None and alpha != 1
    for operator in (torch.add, torch.sub):
        torch.manual_seed(1)
        args = (torch.randn(1, 3, 67, 67),)
        save_module(Multiple(operator, alpha, shape), args, path)
        last = len(nodes_of(path)) - 1
        done = plan(path, output, f"1-{last}/3:rows")
        assert (done.returncode != 0) == repeats, done.stderr
        if repeats:
            assert "--rounding allow" in done.stderr
        else:
            assert bits(run(output, args)[0]) == bits(run(path, args)[0])


# Windows that one kernel of oneDNN does not take: with AVX2 they are a matrix product, whose sums depend on its size.
WINDOWS = {
    "padded by more columns than are held at once": (nn.Conv2d(8, 8, 7, 2, 6, 2), (1, 8, 61, 80)),
    "padded by more places than are held at once": (nn.Conv1d(16, 32, 9, 1, 4), (1, 16, 4800)),
    "long, and padded, in steps of two": (nn.Conv2d(16, 8, 9, 2, (1, 0)), (1, 16, 96, 48)),
    "seeing padding alone": (nn.Conv1d(24, 3, 3, 1, 3), (1, 24, 3600)),
    "padded, of a tile of one place": (nn.Conv1d(12, 12, 7, 2, 3, groups=12), (1, 12, 48)),
    "of one place, transposed": (nn.ConvTranspose1d(16, 3, 1), (1, 16, 3400)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_that_are_a_matrix_product_are_not_split_to_other_bits(tmp_path, name):
    part, shape = WINDOWS[name]
    torch.manual_seed(2)
    path, output, args = tmp_path / "a.pt2", tmp_path / "b.pt2", (torch.randn(shape),)
    save_module(nn.Sequential(part, nn.ReLU()), args, path)
    wanted = bits(run(path, args)[0])
    for pieces in (2, 3, 24):
        done = plan(path, output, f"0-0/{pieces}:rows")
        if done.returncode == 0:
            assert bits(run(output, args)[0]) == wanted, pieces


class Net(nn.Module):
    """What tiles have to get right: windows with strides, dilation and padding, depthwise ones, pools, constants by
    channel, joins of channels, margins, images that are resized, values that several nodes read or that are results."""

    kinds = ("conv", "conv", "conv", "depthwise", "pool", "norm", "curve", "constant", "sum", "join", "up", "grow",
             "shuffle", "unshuffle", "pad", "pad", "spread")

    def __init__(self, seed, axes):
        super().__init__()
        self.random, self.axes = random.Random(seed), axes
        torch.manual_seed(seed)
        self.parts = nn.ModuleList()
        width, channels = self.random.choice([32, 48, 64]), self.random.choice([16, 24, 32])
        sides = [self.random.randint(50, 80), width] if axes == 2 else [16 * self.random.randint(250, 400)]
        self.input = torch.randn(1, channels, *sides)
        self.steps, shapes = [], [self.input.shape]
        while len(self.steps) < 9:
            of = len(shapes) - 1 - min(int(self.random.expovariate(1.2)), len(shapes) - 1)
            step = self.draw(of, shapes)
            if step is None:
                continue
            with torch.no_grad():
                shape = step([torch.zeros(each) for each in shapes]).shape
            if min(shape[2:]) >= 4 and shape.numel() < 400_000:
                self.steps.append(step)
                shapes.append(shape)
        self.results = sorted({len(shapes) - 1, self.random.randrange(1, len(shapes))})

    def add(self, part):
        self.parts.append(part.eval())
        return part

    def make(self, name, *args, **options):
        return getattr(nn, f"{name}{self.axes}d")(*args, **options)

    def draw(self, of, shapes):
        channels, pick, ones = shapes[of][1], self.random.choice, [1] * self.axes
        kind = pick(self.kinds)
        if kind == "conv":
            size, stride, dilation = pick([2, 3, 3, 5] + [1, 9, 16] * (self.axes == 1)), pick([1, 1, 1, 2]), pick([1, 1, 2])
            each = [(size, pick([1, 3])), (stride, pick([1, 2])), (pick([0, (size - 1) * dilation // 2]), pick([0, 1])), (dilation, 1)]
            part = self.add(self.make("Conv", channels, pick([16, 24, 32]), *(pair[:self.axes] for pair in each),
                                      bias=pick([True, False])))
            return lambda values: part(values[of])
        if kind == "depthwise":
            part = self.add(self.make("Conv", channels, channels, 3, pick([1, 2]), 1, groups=channels))
            return lambda values: part(values[of])
        if kind == "pool":
            name, size = pick(["MaxPool", "AvgPool"]), pick([2, 3])
            part = self.make(name, size, pick([1, 2, size]), pick([0, 1]))
            return lambda values: part(values[of])
        if kind == "norm":
            part = self.add(settle(self.make("BatchNorm", channels)))
            return lambda values: part(values[of])
        if kind == "curve":
            part = pick([nn.ReLU(), nn.LeakyReLU(0.1), nn.ReLU6(), nn.Hardswish(), nn.SiLU(), nn.Sigmoid(), nn.Tanh(),
                         nn.Hardtanh(-0.5, 0.7), nn.Hardsigmoid(), nn.GELU()])
            return lambda values: part(values[of])
        if kind == "constant":
            part = nn.Parameter(torch.randn(pick([(1, channels, *ones), (channels, *ones), (1,), shapes[of][3:] or (1,)])))
            self.register_parameter(f"constant{len(self.steps)}_{len(self.parts)}_{self.random.random()}".replace(".", "_"), part)
            return pick([lambda values: values[of] * part, lambda values: part - values[of], lambda values: values[of] + 1.5])
        if kind == "spread":
            axes = pick([[1], list(range(2, 2 + self.axes)), [1 + self.axes], [2]])
            part = self.add(self.make("Conv", channels, 1, 3, padding=1)) if axes == [1] else lambda x: x.amax(axes, True)
            return pick([lambda values: values[of] * part(values[of]), lambda values: part(values[of]) - values[of]])
        others = [k for k, shape in enumerate(shapes) if shape[2:] == shapes[of][2:]]
        other = pick(others)
        if kind == "join":
            return lambda values: torch.cat([values[of], values[other]], 1)
        if kind == "sum" and shapes[other] == shapes[of]:
            return pick([lambda values: values[of] + values[other], lambda values: values[of] * values[other]])
        if kind == "up":
            mode, factor = pick(["nearest", "bilinear" if self.axes == 2 else "linear"]), pick([2, 4])
            return lambda values: functional.interpolate(values[of], scale_factor=factor, mode=mode)
        if kind == "grow":
            part = self.add(self.make("ConvTranspose", channels, 16, 2, 2))
            return lambda values: part(values[of])
        if kind == "pad":
            mode, pads = pick(["constant", "replicate", "reflect"]), [self.random.randrange(4) for _ in range(2 * self.axes)]
            return lambda values: functional.pad(values[of], pads, mode)
        if kind.endswith("shuffle") and self.axes != 2:
            return None
        if kind == "unshuffle" and shapes[of][2] % 2 == shapes[of][3] % 2 == 0 and channels < 32:
            return lambda values: functional.pixel_unshuffle(values[of], 2)
        if kind == "shuffle" and channels % 4 == 0:
            return lambda values: functional.pixel_shuffle(values[of], 2)
        return None

    def forward(self, x):
        values = [x]
        for step in self.steps:
            values.append(step(values))
        return tuple(values[k] for k in self.results)


@pytest.mark.parametrize("axes", NETS)
def test_random_nets_compute_the_same(tmp_path, axes):
    compared, reasons, nets = Counter(rows=0, kept=0), Counter(), drawn(NETS[axes])
    for seed in range(2 * nets + 4):
        if seed >= nets and min(compared.values()) > nets // 2:
            break
        net = Net(seed, axes)
        path, output, args = tmp_path / f"{seed}.pt2", tmp_path / f"{seed}.split.pt2", (net.input,)
        save_module(net, args, path)
        wanted = bits(run(path, args)[0])
        for mode in ("rows", "kept") * 4:
            first = net.random.randrange(len(net.steps))
            last = min(len(net.steps) - 1, first + net.random.randrange(6))
            stage = f"{first}-{last}/{net.random.randint(2, 5)}:{mode}"
            done = plan(path, output, stage)
            if done.returncode:
                assert "cannot be split so" in done.stderr, (seed, stage, done.stderr)
                reasons[done.stderr.split("so: ")[1].strip()] += 1
                continue
            assert bits(run(output, args)[0]) == wanted, (seed, stage)
            compared[mode] += 1
    assert min(compared.values()) > nets // 2, (compared, reasons)


# ---- what is refused ----


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 16, 3)

    def forward(self, x):
        return functional.max_pool2d(functional.relu_(self.conv(x)), 2)


def test_ops_that_update_in_place_are_not_split(tmp_path):
    path, output = tmp_path / "x.pt2", tmp_path / "y.pt2"
    save_module(InPlace(), (torch.randn(1, 8, 64, 64),), path)
    done = plan(path, output, "0-1/2:rows")
    assert done.returncode != 0
    assert "updates its operands in place" in done.stderr
    assert "run_decompositions()" in done.stderr
    assert not output.exists()


def test_a_written_file_names_what_pytorch_has(tmp_path):
    """Nothing but stock operators, and each text of the file that is no node or value as it was."""
    path, output = tmp_path / "unet.pt2", tmp_path / "unet.split.pt2"
    save_module(UNet(False, 16, 2), (torch.randn(1, 3, 128, 128),), path)
    done = plan(path, output)
    assert done.returncode == 0, done.stderr
    old, new = model_of(path), model_of(output)
    added = {node["target"] for node in nodes_of(output)} - {node["target"] for node in nodes_of(path)}
    assert added == {"torch.ops.aten.slice_copy.Tensor"}
    for model in (old, new):
        del model["graph_module"]["graph"]["nodes"], model["graph_module"]["graph"]["tensor_values"]
    assert old == new


def test_executorch_runs_the_tiles(tmp_path):
    """Tiled before lowering: the stock runtime computes the same bits in a smaller arena."""
    exir = pytest.importorskip("executorch.exir", reason="executorch is not installed")
    runtime = pytest.importorskip("executorch.runtime", reason="executorch is not installed").Runtime.get()
    path, output, x = tmp_path / "rrdb.pt2", tmp_path / "rrdb.split.pt2", torch.randn(1, 3, 24, 24)
    save_module(Rrdb(24, 8, 1), (x,), path)
    done = plan(path, output)
    assert done.returncode == 0, done.stderr
    results, arenas = [], []
    for each in (path, output):
        made = exir.to_edge(torch.export.load(each)).to_executorch()
        arenas.append(sum(made.executorch_program.execution_plan[0].non_const_buffer_sizes))
        results.append(bits(runtime.load_program(made.buffer).load_method("forward").execute([x])))
    print(f"{arenas[0]:,} -> {arenas[1]:,}")
    assert results[0] == results[1]
    assert arenas[1] < 0.6 * arenas[0]
