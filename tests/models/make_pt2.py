"""Writes the small torch.export archives of tests/data/pt2: what the graphs of export can say,
one thing a file. Weights and sample inputs are dropped, and paths of this machine.

    python tests/models/make_pt2.py [FOLDER]
"""

import io
import json
import re
import sys
import warnings
import zipfile
from pathlib import Path

import torch
from torch import nn
from torch.export import Dim, export

warnings.filterwarnings("ignore")


class Chain(nn.Module):
    """Views of every kind among ops that need memory."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        h = torch.relu(self.first(x)).reshape(4, 2, 16).transpose(1, 2)
        a, b = h.contiguous().flatten(1).split(16, 1)
        return self.second(torch.cat([a, b], 1)).unsqueeze(0)


class Sizes(nn.Module):
    def forward(self, x, y):
        z = torch.cat([x * 2, y + 1], 0)
        return z[::2].sum(1), z.transpose(0, 1).relu()


class Cache(nn.Module):
    """State that is read and written, and a table that is only read."""

    def __init__(self, rows=8, name="kv"):
        super().__init__()
        self.register_buffer(name, torch.zeros(rows, 16))
        self.register_buffer("table", torch.arange(16.0))
        self.name = name

    def forward(self, x, at):
        cache = getattr(self, self.name)
        cache.index_copy_(0, at, x + self.table)
        return (cache * 2).sum(0)


class Decode(Cache):
    def forward(self, x, at):
        cache = getattr(self, self.name)
        cache.index_copy_(0, at, x * self.table)
        return torch.softmax(cache @ x.squeeze(0), 0)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(x).relu_() + 1


class Branches(nn.Module):
    def forward(self, x):
        def big(t):
            return (t * 2).sin() + t

        def small(t):
            return t.cos()

        a = torch.cond(x.sum() > 0, big, small, (x,))
        b = torch.cond(a.sum() > 1, small, big, (a,))
        return a + b


class Apart(nn.Module):
    """Branches of a value that are wide before any is narrow again: in a graph and in one within it."""

    def forward(self, x, flag):
        def way(t):
            a, b = t.repeat(1, 8), t.repeat(1, 16)
            return a.sum(1) + b.sum(1)

        a, b = x.repeat(1, 16), x.repeat(1, 4)
        return torch.cond(flag, way, lambda t: t.sum(1), (x,)) + a.sum(1) + b.sum(1)


class Parts(nn.Module):
    """Parts of what is wide: some are read at once, and some late, below what is wider."""

    def __init__(self):
        super().__init__()
        self.wide, self.wider = nn.Linear(16, 96), nn.Linear(96, 128)
        self.narrow, self.again = nn.Linear(128, 16), nn.Linear(16, 96)

    def forward(self, x):
        early, late = self.wide(x).split([80, 16])
        a = self.again(self.narrow(self.wider(early)))
        kept, row = a[:16], a.select(0, 70)
        return self.narrow(self.wider(a)).mean() + late + kept + row


class Loops(nn.Module):
    def forward(self, x, n):
        def go_on(i, t):
            return i < n

        def turn(i, t):
            return i + 1, t * 2 + x

        i, t = torch._higher_order_ops.while_loop(go_on, turn, (torch.zeros((), dtype=torch.int64), x))
        return t


class Scan(nn.Module):
    def forward(self, x):
        def step(carry, row):
            total = carry + row
            return total, total * 2

        from torch._higher_order_ops.scan import scan

        return scan(step, x[0], x)


class Count(nn.Module):
    def forward(self, x):
        found = (x > 0).nonzero()
        torch._check(found.shape[0] <= 32)
        return found.to(torch.float32) * 2


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x, y):
        return ((self.layers(x) - y) ** 2).mean()


@torch.library.custom_op("tests::scale_", mutates_args=("t",))
def scale_(t: torch.Tensor, by: float) -> None:
    t.mul_(by)


class Custom(nn.Module):
    def forward(self, x):
        y = x + 1
        torch.ops.tests.scale_(y, 2.0)
        return y * 3


@torch.library.custom_op("tests::two", mutates_args=("a", "c"))
def two(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    a.add_(b)
    c.mul_(2)
    return b * 3


two.register_fake(lambda a, b, c: torch.empty_like(b))


class Returning(nn.Module):
    """An operator that updates a value and a state, and returns a tensor of its own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.ones(4, 4))

    def forward(self, x):
        h = x * 2
        return h + two(h, x, self.state), self.state + 0


class Waiting(nn.Module):
    """What cheap operators make of one value waits below a wide layer: a view, one of several results."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Linear(4, 64, bias=False), nn.Linear(64, 4, bias=False)

    def forward(self, x):
        a = x @ x
        view = a.sigmoid().view(2, 8)
        norm, mean, _ = torch.native_layer_norm(a, (4,), None, None, 1e-5)
        c = self.narrow(self.wide(view.view(4, 4) + norm))
        return c + a + view.view(4, 4), c * norm + mean


class Windows(nn.Module):
    """Windows of an image, in all forms that their arguments have."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, (3, 5), stride=(2, 1), padding=(1, 2), bias=False)
        self.groups = nn.Conv2d(4, 4, 3, padding=2, dilation=2, groups=2)
        self.grow = nn.ConvTranspose2d(4, 4, 2, 2)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        x = self.groups(self.conv(x))
        x = nn.functional.conv2d(x, self.groups.weight, None, 1, "same", 1, 2)
        x = nn.functional.hardtanh(self.norm(x), -0.5, 6.0)
        a = nn.functional.max_pool2d(x, 3, 2, 1)
        b = nn.functional.avg_pool2d(x, 2)
        x = self.grow(torch.cat([a, b], 1)[:, 2:6])
        x = nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        return nn.functional.pad(nn.functional.pixel_shuffle(x, 2), (1, 2, 0, 3), value=1.5) * 3


def joint(model, args):
    from torch.export.experimental import _export_forward_backward

    return _export_forward_backward(export(model, args))


def programs():
    x = torch.randn(4, 16)
    at = torch.tensor([2])
    batch, rows = Dim("batch", min=2, max=64), Dim("rows", min=2, max=32)
    yield "chain", export(Chain(), (x,))
    sizes = ({0: batch}, {0: rows})
    yield "sizes", export(Sizes(), (x, torch.randn(6, 16)), dynamic_shapes=sizes)
    endless = ({0: Dim("batch", min=2)}, {0: Dim("rows", min=2)})
    yield "endless", export(Sizes(), (x, torch.randn(6, 16)), dynamic_shapes=endless)
    cache = export(Cache(), (torch.randn(1, 16), at))
    yield "cache", cache
    yield "cache_functional", cache.run_decompositions({})
    yield "decode", export(Decode(), (torch.randn(1, 16), at))
    yield "decode_larger", export(Decode(12), (torch.randn(1, 16), at))
    norm = export(Norm().train(), (torch.randn(4, 8),))
    yield "norm", norm
    yield "norm_functional", norm.run_decompositions({})
    yield "branches", export(Branches(), (x,))
    yield "apart", export(Apart(), (torch.randn(4, 2), torch.tensor(True)))
    yield "parts", export(Parts(), (torch.randn(96, 16),))
    yield "loop", export(Loops(), (x, torch.tensor(3)))
    yield "scan", export(Scan(), (x,))
    yield "count", export(Count(), (torch.randn(8, 4),))
    yield "gradients", joint(Trained(), (torch.randn(4, 8), torch.randn(4, 4)))
    yield "waiting", export(Waiting(), (torch.randn(4, 4),))
    windows = export(Windows().eval(), (torch.randn(1, 3, 16, 8),))
    yield "windows", windows
    yield "windows_core", windows.run_decompositions()
    yield "custom_functional", export(Custom(), (x,)).run_decompositions({})
    yield "custom_returns", export(Returning(), (torch.randn(4, 4),)).run_decompositions({})


def strip(data, name):
    """The archive with models/model.json alone, and file names without their folders."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as full, zipfile.ZipFile(out, "w") as small:
        for entry in full.namelist():
            part = entry.split("/", 1)[1]
            if part not in ("models/model.json", "archive_format", "archive_version"):
                continue
            content = full.read(entry)
            if part == "models/model.json":
                content = shorten(json.loads(content)).encode()
            small.writestr(zipfile.ZipInfo(f"{name}/{part}", (1980, 1, 1, 0, 0, 0)), content)
    return out.getvalue()


def shorten(model):
    model.pop("guards_code", None)
    model["graph_module"]["module_call_graph"] = []
    text = json.dumps(model)
    frame = re.compile(r'File \\"[^"]*/([^/"]+)\\"')
    return frame.sub(r'File \\"\1\\"', text)


def main():
    default = Path(__file__).resolve().parents[1] / "data" / "pt2"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in programs():
        buffer = io.BytesIO()
        torch.export.save(program, buffer)
        (folder / f"{name}.pt2").write_bytes(strip(buffer.getvalue(), name))


if __name__ == "__main__":
    main()
