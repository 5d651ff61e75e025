"""Inductor without memory planning, with its own, and with ours, on networks with random weights.

    python bench/inductor_table.py [--plan-only] [NAME…]

Peaks and allocations are those of one call of the compiled network, as PyTorch's profiler counts them on
the processor: intermediate values and outputs, no weights. Pools are the bytes taken at once. Outputs are
compared bit by bit. `--plan-only` stops before anything is compiled, which takes minutes for each
network. Exits with 1 where a pool of ours is larger than inductor's or one bit differs."""

import argparse
import sys
import unittest.mock
from pathlib import Path

import torch
import torch._inductor.config
from torch import nn
from torch._inductor.exc import InductorError
from torch._inductor.graph import GraphLowering
from torch._inductor.utils import fresh_cache

import arenaut.inductor

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
import torch_zoo  # noqa: E402


class DenseNet121(nn.Module):
    """Its structure; random weights."""

    def __init__(self, growth=32, counts=(6, 12, 24, 16), width=64):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.MaxPool2d(3, 2, 1))
        self.stages, self.between = nn.ModuleList(), nn.ModuleList()
        for number, count in enumerate(counts):
            self.stages.append(nn.ModuleList(nn.Sequential(
                nn.BatchNorm2d(width + k * growth), nn.ReLU(),
                nn.Conv2d(width + k * growth, 4 * growth, 1, bias=False), nn.BatchNorm2d(4 * growth), nn.ReLU(),
                nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)) for k in range(count)))
            width += count * growth
            last = number == len(counts) - 1
            narrow = [] if last else [nn.Conv2d(width, width // 2, 1, bias=False), nn.AvgPool2d(2)]
            self.between.append(nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), *narrow))
            width = width if last else width // 2
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        x = self.stem(x)
        for layers, between in zip(self.stages, self.between):
            features = [x]
            for layer in layers:
                features.append(layer(torch.cat(features, 1)))
            x = between(torch.cat(features, 1))
        return self.head(x.mean((2, 3)))


def densenet121():
    return DenseNet121().eval(), (torch.randn(1, 3, 224, 224),)


#: Builders of a network and its inputs.
NETWORKS = {"vit_tiny": torch_zoo.ZOO["vit_tiny"], "densenet121": densenet121,
            **{name: torch_zoo.ZOO[name] for name in ("resnet18", "mobilenetv3", "gpt2", "swin_tiny")}}
COLUMNS = ("default", "inductor's", "arenaut")


class Planned(Exception):
    """All has been planned; nothing is to be compiled."""


def stop(graph):
    graph.codegen()
    raise Planned


def tensors_of(result):
    return [result] if torch.is_tensor(result) else [one for one in result if torch.is_tensor(one)]


def peak_of(call):
    """The result of a call, its peak of allocated bytes, and the number of allocations."""
    call()
    with torch.profiler.profile(profile_memory=True) as profiler:
        result = call()
    held = peak = count = 0
    for event in profiler.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            count += event.nbytes() > 0
            peak = max(peak, held)
    return tensors_of(result), peak, count


def measure(build, column, seen):
    """One network, compiled in one of three ways."""
    torch.manual_seed(7)
    module, inputs = build()
    torch._dynamo.reset()
    arenaut.inductor.uninstall()
    if column == "arenaut" and not arenaut.inductor.install(report=seen.extend):
        sys.exit(1)
    with fresh_cache(), torch.no_grad(), \
            torch._inductor.config.patch(memory_planning=column != "default"):
        compiled = torch.compile(module)
        found = peak_of(lambda: compiled(*inputs))
    arenaut.inductor.uninstall()
    return found


def plan(name):
    """Prints a network's pools; whether ours are as good as they must be."""
    pools = []
    with unittest.mock.patch.object(GraphLowering, "compile_to_module", stop):
        try:
            measure(NETWORKS[name], "arenaut", pools)
        except InductorError as stopped:
            if not isinstance(stopped.inner_exception, Planned):
                raise
    stock, arena = put_pools(name, pools)
    print(" not run |" * 7, flush=True)
    return arena <= stock


def put_pools(name, pools):
    stock, arena, bound = (sum(column) for column in list(zip(*pools))[2:5])
    print(f"| {name} | {stock:,} | {arena:,} | {100 * arena / max(stock, 1) - 100:+.1f} % | {bound:,} |", end="")
    return stock, arena


def run(name):
    """Prints a network's row; whether it is as good as it must be."""
    pools = []
    default, theirs, ours = (measure(NETWORKS[name], column, pools) for column in COLUMNS)
    same = all(torch.equal(a, b) and torch.equal(a, c) for a, b, c in zip(default[0], theirs[0], ours[0]))
    stock, arena = put_pools(name, pools)
    print("".join(f" {peak:,} | {count} |" for _, peak, count in (default, theirs, ours))
          + f" {'the same' if same else 'DIFFERENT'} |", flush=True)
    return same and arena <= stock


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan-only", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(NETWORKS))
    options = parser.parse_args()
    print("| network | pools, inductor | pools, arenaut | | bound | peak, default | allocations | "
          "peak, inductor | allocations | peak, arenaut | allocations | outputs |\n|---" + "|--:" * 10 + "|---|")
    row = plan if options.plan_only else run
    failed = [name for name in options.names or NETWORKS if not row(name)]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
