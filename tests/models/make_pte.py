"""Makes the ExecuTorch programs that the tests ship: small, each for one thing that a plan may
get wrong.

    python tests/models/make_pte.py [NAME…]     writes tests/data/pte/NAME.pte, or all of them

Every model is a torch module with weights from a fixed formula, exported with the pinned
wheels of tests/requirements.txt and planned by ExecuTorch itself, as its users get it. The
modules stay at hand for the tests: run in torch, they say what is right, where the file as
exported is wrong (`two_conditions`).
"""

import contextlib
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import (EdgeCompileConfig, ExecutorchBackendConfig, to_edge,
                             to_edge_transform_and_lower)
from executorch.exir.passes import MemoryPlanningPass
from torch import nn
from torch.export import Dim, export
from torch.export.experimental import _export_forward_backward
from torch.nn import functional

FOLDER = Path(__file__).parents[1] / "data" / "pte"
# Without the check that every op is a core one: split is kept as the list op that it is.
EDGE = EdgeCompileConfig(_check_ir_validity=False)


def values(shape, seed=0):
    """Numbers in ±1 by a formula, so that they are the same with every version of torch."""
    steps = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return torch.sin(steps * 12.9898 + 78.233 * (seed + 1)).to(torch.float32).reshape(shape)


def with_weights(module):
    """Weights of about the size that keeps activations about as large as they were."""
    with torch.no_grad():
        for seed, (_, weight) in enumerate(sorted(module.named_parameters())):
            fan_in = max(1, weight.numel() // weight.shape[0])
            weight.copy_(values(weight.shape, seed) * (3 / fan_in) ** 0.5)
    return module.eval()


class Branches(nn.Module):
    """A CNN whose branches have unequal sizes: what ExecuTorch's objects of fixed size waste."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.wide = nn.Conv2d(8, 24, 1)
        self.deep = nn.Sequential(nn.Conv2d(8, 12, 1), nn.ReLU(), nn.Conv2d(12, 16, 3, padding=1))
        self.pooled = nn.Conv2d(8, 4, 1)
        self.reduce = nn.Conv2d(44, 16, 3, stride=2, padding=1)
        self.left, self.right = nn.Conv2d(16, 32, 1), nn.Conv2d(16, 16, 3, padding=1)
        self.last = nn.Conv2d(48, 10, 1)

    def forward(self, image):
        stem = functional.relu(self.stem(image))
        pooled = self.pooled(functional.max_pool2d(stem, 3, stride=1, padding=1))
        joined = torch.cat([functional.relu(self.wide(stem)), self.deep(stem), pooled], 1)
        reduced = functional.relu(self.reduce(joined))
        both = torch.cat([self.left(reduced), torch.sigmoid(self.right(reduced))], 1)
        return self.last(both).mean([2, 3])


class Decoder(nn.Module):
    """One token at a time through attention over a cache of keys and values: mutable buffers
    that the next call reads."""

    def __init__(self, width=32, heads=2, length=16, words=24, layers=2):
        super().__init__()
        self.heads, self.layers = heads, layers
        self.words = nn.Embedding(words, width)
        self.project = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(layers))
        self.feed = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.out = nn.Linear(width, words)
        for layer in range(layers):
            for part in ("keys", "values"):
                self.register_buffer(f"{part}{layer}", torch.zeros(length, width))

    def attend(self, layer, x, position):
        width, heads = x.shape[-1], self.heads
        query, key, value = self.project[layer](x).split(width, -1)
        keys, kept = getattr(self, f"keys{layer}"), getattr(self, f"values{layer}")
        keys[position] = key
        kept[position] = value
        split = (lambda t: t.reshape(-1, heads, width // heads).transpose(0, 1))
        scores = split(query) @ split(keys).transpose(1, 2)
        seen = torch.arange(keys.shape[0]) <= position
        weights = functional.softmax(scores.masked_fill(~seen, -1e4), -1)
        return (weights @ split(kept)).transpose(0, 1).reshape(1, width)

    def forward(self, word, position):
        x = self.words(word)
        for layer in range(self.layers):
            x = x + self.attend(layer, x, position)
            x = x + functional.relu(self.feed[layer](x))
        return self.out(x)


class Tally(nn.Module):
    """State that several methods of one program work on."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4, 4))
        self.mix = nn.Linear(4, 16)
        self.back = nn.Linear(16, 4)

    def forward(self, x):
        self.total.add_(torch.tanh(self.back(torch.relu(self.mix(x)))))
        return self.total * 2


class TallyRead(nn.Module):
    """The second method: another look at the same buffer."""

    def __init__(self, tally):
        super().__init__()
        self.register_buffer("total", tally.total)

    def forward(self, scale):
        self.total.mul_(scale)
        return self.total + 1


class Condition(nn.Module):
    """One of two branches, both with temporaries of their own."""

    def forward(self, choose, x):
        return torch.cond(choose, lambda t: torch.tanh(t * 2) + 1,
                          lambda t: torch.sigmoid(t @ t) - t, (x,)) * 3


class TwoConditions(nn.Module):
    """Two conditionals with both results alive: ExecuTorch puts both at the same bytes."""

    def forward(self, choose, other, x):
        first = torch.cond(choose, lambda t: t + 1, lambda t: t - 1, (x,))
        second = torch.cond(other, lambda t: t * 2, lambda t: t * 3, (x,))
        return first + second


class Rows(nn.Module):
    """A loop: the same few ops on each row, collected piece by piece."""

    def forward(self, rows, offset):
        scaled = rows * 0.5

        def body(row, plus):
            return torch.tanh(row * 2) + plus

        from torch._higher_order_ops.map import map as map_over
        return map_over(body, scaled, offset) + rows


class Layers(nn.Module):
    """A perceptron, for a batch of any size up to a bound."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(16, 32), nn.Linear(32, 24), nn.Linear(24, 4)

    def forward(self, x):
        return self.last(torch.relu(self.second(torch.relu(self.first(x)))))


class Loss(nn.Module):
    """What a training step computes: the loss, and gradients as further outputs."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 12), nn.Linear(12, 4)

    def forward(self, x, target):
        found = self.last(torch.sigmoid(self.first(x)))
        return functional.mse_loss(found, target)


class Mixed(nn.Module):
    """Convolutions for the delegate, and between them an op that it leaves to the kernels."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Conv2d(16, 4, 1)

    def forward(self, x):
        first = functional.relu(self.first(x))
        kept = torch.cumsum(first, 2)
        second = functional.relu(self.second(kept))
        return self.last(torch.cat([torch.cumsum(second, 3), kept], 1))


class Lists(nn.Module):
    """Ops that take and give lists of tensors."""

    def forward(self, x):
        a, b, c = torch.split(x, [4, 8, 4], 1)
        d, e = torch.split(torch.cat([c * 2, a], 1), 4, 1)
        return torch.cat([torch.relu(d), b + 1, e], 1), torch.cat([b, b * b], 1)


class Chain(nn.Module):
    """Elementwise ops one after another: half the memory, where they may work in place."""

    def forward(self, x):
        y = torch.sigmoid(x) * x
        return torch.tanh(torch.neg(torch.relu(torch.exp(y) - x)))


class SideBySide(nn.Module):
    """Branches of which each is wide in the middle, all of them before any is narrow again: one
    after another less is alive."""

    def __init__(self):
        super().__init__()
        self.wide = nn.ModuleList(nn.Linear(4, width) for width in (48, 40, 32))
        self.narrow = nn.ModuleList(nn.Linear(width, 4) for width in (48, 40, 32))

    def forward(self, x):
        wide = [torch.relu(layer(x)) for layer in self.wide]
        narrow = [layer(value) for layer, value in zip(self.narrow, wide)]
        return narrow[0] + narrow[1] * narrow[2]


@dataclass
class Recipe:
    """How a module becomes a file: its methods, each a module and its example inputs."""

    methods: dict
    dynamic: dict = field(default_factory=dict)
    config: dict = field(default_factory=dict)
    partition: bool = False
    backward: bool = False

    def exported(self, name):
        module, inputs = self.methods[name]
        if self.backward:
            return _export_forward_backward(export(module, inputs, strict=True))
        return export(module, inputs, dynamic_shapes=self.dynamic.get(name), strict=True)

    def bytes(self):
        """The file. What the exporter prints and does at random is kept away."""
        torch.manual_seed(0)
        programs = {name: self.exported(name) for name in self.methods}
        if self.partition:
            edge = to_edge_transform_and_lower(programs, partitioner=[XnnpackPartitioner()])
        else:
            edge = to_edge(programs, compile_config=EDGE)
        return bytes(edge.to_executorch(ExecutorchBackendConfig(**self.config)).buffer)


def branches():
    return Recipe({"forward": (with_weights(Branches()), (values((1, 3, 16, 16)),))})


def kv_decoder():
    return Recipe({"forward": (with_weights(Decoder()), (torch.tensor([3]), torch.tensor([0])))})


def two_methods():
    tally = with_weights(Tally())
    planning = MemoryPlanningPass(share_mutable_buffers=True)
    return Recipe({"add": (tally, (values((4, 4)),)),
                   "scale": (TallyRead(tally), (torch.tensor(0.5),))},
                  config={"memory_planning_pass": planning, "emit_mutable_buffer_names": True})


def condition():
    return Recipe({"forward": (Condition(), (torch.tensor(True), values((16, 16))))})


def two_conditions():
    # Two tensors: of one tensor given twice, the exporter would make one input.
    flags = torch.tensor(True), torch.tensor(True)
    return Recipe({"forward": (TwoConditions(), (*flags, values((8, 16))))})


def map_rows():
    return Recipe({"forward": (Rows(), (values((5, 24)), values((24,), 1)))})


def dynamic_batch():
    return Recipe({"forward": (with_weights(Layers()), (values((4, 16)),))},
                  dynamic={"forward": ({0: Dim("batch", min=1, max=12)},)})


def gradients():
    return Recipe({"forward": (with_weights(Loss()).train(), (values((4, 8)), values((4, 4), 1)))},
                  backward=True)


def xnnpack_mixed():
    return Recipe({"forward": (with_weights(Mixed()), (values((1, 3, 12, 12)),))}, partition=True)


def lists():
    return Recipe({"forward": (Lists(), (values((6, 16)),))})


def side_by_side():
    return Recipe({"forward": (with_weights(SideBySide()), (values((3, 4)),))})


def elementwise_chain():
    return Recipe({"forward": (Chain(), (values((32, 32)),))})


def caller_supplies_io():
    planning = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    return Recipe({"forward": (with_weights(Layers()), (values((2, 16)),))},
                  config={"memory_planning_pass": planning})


MODELS = (branches, caller_supplies_io, condition, dynamic_batch, elementwise_chain, gradients,
          kv_decoder, lists, map_rows, side_by_side, two_conditions, two_methods, xnnpack_mixed)


@contextlib.contextmanager
def quiet():
    """Standard error elsewhere: the exporter says much that is of no use here."""
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def main():
    wanted = sys.argv[1:] or [make.__name__ for make in MODELS]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in MODELS:
        if make.__name__ in wanted:
            data = make().bytes()
            (FOLDER / f"{make.__name__}.pte").write_bytes(data)
            print(f"{make.__name__}: {len(data)} bytes")


if __name__ == "__main__":
    main()
