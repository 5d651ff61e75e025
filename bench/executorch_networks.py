"""Our memory planning pass beside ExecuTorch's own algorithms, inside its export, on networks of
torchvision and timm and on some of our own, all with random weights.

    pip install --no-deps -r bench/requirements-networks.txt
    python bench/executorch_networks.py [--list] [--side PIXELS] [--xnnpack] [--keep FOLDER] [NAME…]

Bytes are all arenas of all methods; "in place" is with inplace="safe" and reorder=True. Times are those of the
algorithm alone on the same values, the least of five, processor's time; the rest of the pass is the same for all.
Outputs of the stock runtime, two calls of every method in turn, are compared bit by bit. With --xnnpack, XNNPACK
takes the parts of each network that it can. Exits with 1 where an arena of ours is larger than another's, or one
bit differs. A package that is not installed is reported, not skipped."""

import argparse
import copy
import sys
import time
from pathlib import Path

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import (EdgeCompileConfig, ExecutorchBackendConfig, to_edge,
                             to_edge_transform_and_lower)
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy, naive
from executorch.exir.passes import MemoryPlanningPass as TheirPass
from torch import nn
from torch.nn import functional

import arenaut.executorch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
import pte_runtime  # noqa: E402
import timm_graphs  # noqa: E402
import torch_zoo  # noqa: E402

RUNS = 5
#: Linear layers stay whole, as docs/executorch.md advises: taken apart, they have their weights in the arena.
EDGE = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=[torch.ops.aten.linear.default])


class Chat(nn.Module):
    """A decoder with a cache of keys and values, for any number of new words at once."""

    def __init__(self, width=256, heads=4, length=128, words=1000, layers=6):
        super().__init__()
        self.heads, self.layers = heads, layers
        self.words = nn.Embedding(words, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.project = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(layers))
        self.wide = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(layers))
        self.narrow = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(layers))
        for layer in range(layers):
            for part in ("keys", "values"):
                self.register_buffer(f"{part}{layer}", torch.zeros(length, width))

    def attend(self, layer, x, positions):
        count, width = x.shape
        query, key, value = self.project[layer](x).split(width, -1)
        keys, kept = getattr(self, f"keys{layer}"), getattr(self, f"values{layer}")
        keys[positions] = key
        kept[positions] = value
        split = (lambda t: t.reshape(-1, self.heads, width // self.heads).transpose(0, 1))
        scores = split(query) @ split(keys).transpose(1, 2)
        seen = torch.arange(keys.shape[0]) <= positions[:, None]
        weights = functional.softmax(scores.masked_fill(~seen, -1e4), -1)
        return (weights @ split(kept)).transpose(0, 1).reshape(count, width)

    def forward(self, words, positions):
        x = self.words(words)
        for layer in range(self.layers):
            x = x + self.attend(layer, self.norms[2 * layer](x), positions)
            y = functional.gelu(self.wide[layer](self.norms[2 * layer + 1](x)))
            x = x + self.narrow[layer](y)
        return functional.linear(x[-1:], self.words.weight)


class Method(nn.Module):
    """An entry point of a program: one function of a module that several methods share."""

    def __init__(self, shared, function):
        super().__init__()
        self.shared, self.function = shared, function

    def forward(self, *inputs):
        return self.function(self.shared, *inputs)


def words(count, first=0):
    return torch.arange(count) * 7 % 1000, torch.arange(first, first + count)


def chat():
    module = Chat()
    return {"forward": (module, words(1))}


def prefill_and_decode():
    """Two methods over one cache."""
    shared, forward = Chat(), Chat.forward
    return {"prefill": (Method(shared, forward), words(16)),
            "decode": (Method(shared, forward), words(1, 16))}


def encode_and_decode():
    """Two methods with nothing in common but the program."""
    encoder, sound = torch_zoo.ZOO["whisper"]()
    return {"encode": (encoder, (sound[0][:, :, :3000],)), "decode": (Chat(384, 6, 64), words(1))}


def zoo(name):
    return lambda: {"forward": torch_zoo.ZOO[name]()}


def image_network(build, side):
    return lambda pixels=None: {"forward": (build().eval(), (torch.randn(1, 3, pixels or side, pixels or side),))}


def torchvision_network(name, side=224, **options):
    def build():
        import torchvision
        return torchvision.models.get_model(name, weights=None, **options)
    return image_network(build, side)


def timm_network(name, side=224):
    def build():
        import timm
        return timm.create_model(name, pretrained=False)
    return image_network(build, side)


VISION = ("mobilenet_v2", "mnasnet0_5", "mobilenet_v3_small", "resnet18", "resnet50", "densenet121", "efficientnet_b0",
          "shufflenet_v2_x1_0", "squeezenet1_1", "regnet_y_400mf", "convnext_tiny")
TIMM = ("dpn68", "res2net50_26w_4s", "ghostnetv2_100", "efficientvit_b0", "mobilenetv4_conv_small", "hrnet_w18_small",
        "mobilevit_xs", "inception_v4")
#: Networks whose images have one size.
FIXED = ("pit_ti_224", "vit_tiny_patch16_224")
#: Builders of {method: (module, inputs)}.
NETWORKS = {
    **{name: torchvision_network(name) for name in VISION},
    "inception_v3": torchvision_network("inception_v3", 299, aux_logits=False, init_weights=False),
    "googlenet": torchvision_network("googlenet", aux_logits=False, init_weights=False),
    **{name: timm_network(name) for name in (*TIMM, *FIXED)},
    **{name: zoo(name) for name in ("bert4", "gpt2", "whisper", "swin_tiny")},
    "chat": chat, "prefill_and_decode": prefill_and_decode, "encode_and_decode": encode_and_decode,
}
SHARED = {"prefill_and_decode"}


class Stopwatch:
    """An algorithm that answers as greedy does, and times it and ours on the same values."""

    __name__ = "stopwatch"

    def __init__(self):
        self.spent = {"greedy": 0.0, "arenaut": 0.0}
        self.naive = 0

    def __call__(self, *given):
        made = {}
        for name, algorithm in ("greedy", greedy), ("arenaut", arenaut.executorch.plan):
            times = []
            for _ in range(RUNS):
                began = time.process_time()
                made[name] = algorithm(*given)
                times.append(time.process_time() - began)
            self.spent[name] += min(times)
        self.naive += sum(naive(*given).bufsizes)
        return made["greedy"]


def lowered(edge, planning):
    return copy.deepcopy(edge).to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))


def edge_of(methods, delegated):
    torch.manual_seed(0)
    with torch.no_grad():
        programs = {name: torch.export.export(module, inputs, strict=False)
                    for name, (module, inputs) in methods.items()}
    if delegated:
        return to_edge_transform_and_lower(programs, partitioner=[XnnpackPartitioner()], compile_config=EDGE)
    return to_edge(programs, compile_config=EDGE)


def total(program):
    """Bytes of all arenas; state that methods share counts once."""
    plans = [plan.non_const_buffer_sizes for plan in program.executorch_program.execution_plan]
    return sum(sizes[1] for sizes in plans) + max(sum(sizes[2:]) for sizes in plans)


def outputs(program, methods):
    runtime = pte_runtime.Python(program.buffer)
    return [output for _ in range(2) for name, (_, inputs) in methods.items()
            for output in runtime.call(*inputs, method=name)]


def compare(name, given):
    """The row of one network."""
    torch.manual_seed(0)
    scaled = given.side and name in (*VISION, *TIMM)
    methods = NETWORKS[name](given.side) if scaled else NETWORKS[name]()
    options = {"share_mutable_buffers": name in SHARED}
    watch = Stopwatch()
    timed = TheirPass(memory_planning_algo=MemoryPlanningAlgorithmSuite([watch]), **options)
    edge = edge_of(methods, given.xnnpack)
    theirs, ours, placed = (lowered(edge, planning) for planning in (
        timed, arenaut.executorch.MemoryPlanningPass(**options),
        arenaut.executorch.MemoryPlanningPass(inplace="safe", reorder=True, **options)))
    if given.keep:
        (given.keep / f"{name}.pte").write_bytes(theirs.buffer)
    expected = outputs(theirs, methods)
    same = all(pte_runtime.same_bits(outputs(one, methods), expected) for one in (ours, placed))
    forgotten = 64 * len(methods) if given.xnnpack else 0  # by naive, behind the operands of XNNPACK
    return Row(name, watch.naive + forgotten, total(theirs), total(ours), total(placed), watch.spent, same)


class Row:
    def __init__(self, name, naive_bytes, greedy_bytes, ours, placed, spent, same):
        self.name, self.naive, self.greedy, self.ours = name, naive_bytes, greedy_bytes, ours
        self.placed, self.spent, self.same = placed, spent, same

    @property
    def fine(self):
        return self.same and self.placed <= self.ours <= min(self.greedy, self.naive)

    def saved(self, own):
        return f"−{1 - own / self.greedy:.1%}" if own < self.greedy else "0"

    def __str__(self):
        theirs, own = self.spent["greedy"] * 1e3, self.spent["arenaut"] * 1e3
        return (f"| {self.name} | {self.naive:,} | {self.greedy:,} | {self.ours:,} | {self.saved(self.ours)} |"
                f" {self.placed:,} | {self.saved(self.placed)} | {theirs:.1f} | {own:.1f} | {'the same' if self.same else 'DIFFERENT'} |")


HEAD = ("| network | naive | greedy | arenaut | | in place | | greedy, ms | arenaut, ms | outputs |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--list", action="store_true", help="only the names")
    parser.add_argument("--side", type=int, metavar="PIXELS", help="of images, in place of each network's own")
    parser.add_argument("--xnnpack", action="store_true", help="delegate to XNNPACK what it takes")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the programs of ExecuTorch's pass there")
    given = parser.parse_args()
    if given.list:
        print(*NETWORKS, sep="\n")
        return 0
    wanted = given.names or list(NETWORKS)
    if unknown := set(wanted) - set(NETWORKS):
        parser.error(f"there is no network {sorted(unknown)[0]}; --list names them")
    try:
        timm_graphs.let_torchvision_load()
    except ImportError as why:
        print(f"PACKAGE MISSING: {why}; networks of torchvision and timm are left out.\n")
    print(HEAD)
    rows = []
    for name in wanted:
        try:
            rows.append(compare(name, given))
        except ModuleNotFoundError as why:
            print(f"| {name} | {why} |", flush=True)
            continue
        print(rows[-1], flush=True)
    if rows:
        mean = [sum(1 - own(row) / row.greedy for row in rows) / len(rows)
                for own in (lambda row: row.ours, lambda row: row.placed)]
        print(f"\nMean over {len(rows)} networks: −{mean[0]:.1%}, in place −{mean[1]:.1%}.")
        slowest = max(rows, key=lambda row: row.spent["greedy"])
        print(f"\nTheir slowest is {slowest.name}: ours takes "
              f"{slowest.spent['arenaut'] / slowest.spent['greedy']:.2f} times as long.")
    return 0 if all(row.fine for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
