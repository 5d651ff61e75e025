"""Joint graphs, forward and backward in one, of networks of published sizes, as AOTAutograd traces them.

    build/venv/bin/python bench/joint_graphs.py NAME OUT.json

No weights and no memory: tensors are fake. Views are contracted to storages, weights and inputs take no
bytes. Costs are modelled: the larger of operations / rate and bytes / bandwidth, and a launch, per op, as
on an A100 in float32 with TF32 (--flops, --bandwidth, --launch).
"""

import argparse
import json
import math
import operator

import torch
import torch.nn as nn
import torch.nn.functional as F

A100 = 78e12, 1.24e12, 4e-6  # operations and bytes a second, seconds for a launch
NAMES = ("resnet50", "unet", "gpt2", "vit", "bert")


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        outside = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, outside, 1, bias=False), nn.BatchNorm2d(outside))
        same = stride == 1 and inside == outside
        self.skip = nn.Identity() if same else nn.Sequential(
            nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, counts=(3, 4, 6, 3), width=64, classes=1000):
        super().__init__()
        layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                  nn.MaxPool2d(3, 2, 1)]
        inside = width
        for stage, count in enumerate(counts):
            for k in range(count):
                layers.append(Bottleneck(inside, width << stage, 2 if k == 0 and stage > 0 else 1))
                inside = 4 * (width << stage)
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, classes))

    def forward(self, x, y):
        return F.cross_entropy(self.body(x), y)


def double_conv(inside, outside):
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(inplace=True),
        nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512, 1024)):
        super().__init__()
        self.down = nn.ModuleList([double_conv(a, b) for a, b in zip((3, *widths), widths)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:])])
        self.join = nn.ModuleList([double_conv(2 * a, a) for a in widths[:-1]])
        self.last = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x, y):
        kept = []
        for k, block in enumerate(self.down):
            x = block(x if k == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for k in reversed(range(len(self.up))):
            x = self.join[k](torch.cat([kept[k], self.up[k](x)], 1))
        return F.cross_entropy(self.last(x), y)


class Block(nn.Module):
    """Of a transformer, with its norms in front (GPT-2, ViT) or behind (BERT)."""

    def __init__(self, width, heads, causal, before):
        super().__init__()
        self.heads, self.causal, self.before = heads, causal, before
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        b, n, width = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, n, width))

    def forward(self, x):
        if self.before:
            x = x + self.attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.mlp(x))


class Language(nn.Module):
    def __init__(self, words, places, causal, before, width=768, layers=12, heads=12):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(places, width)
        self.blocks = nn.ModuleList([Block(width, heads, causal, before) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words if causal else 2, bias=False)
        self.causal = causal

    def forward(self, x, y):
        x = self.words(x) + self.places.weight[:x.shape[1]]
        for block in self.blocks:
            x = block(x)
        x = self.head(self.norm(x) if self.causal else self.norm(x)[:, 0])
        return F.cross_entropy(x.flatten(0, -2), y.flatten())


class ViT(nn.Module):
    def __init__(self, width=768, layers=12, heads=12, patch=16, size=224, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.blocks = nn.ModuleList([Block(width, heads, False, True) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x, y):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)[:, 0]), y)


class Step(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, *arguments):
        return (self.network(*arguments),)


def network(name):
    """A module and the arguments of its forward pass."""
    def image(batch, size, classes, whole=False):
        shape = (batch, size, size) if whole else (batch,)
        return torch.zeros(batch, 3, size, size), torch.zeros(shape, dtype=torch.int64)

    def text(batch, length, each):
        return (torch.zeros(batch, length, dtype=torch.int64),
                torch.zeros((batch, length) if each else (batch,), dtype=torch.int64))

    return {"resnet50": lambda: (ResNet(), image(32, 224, 1000)),
            "unet": lambda: (UNet(), image(8, 256, 2, whole=True)),
            "gpt2": lambda: (Language(50257, 1024, True, True), text(8, 512, True)),
            "vit": lambda: (ViT(), image(32, 224, 1000)),
            "bert": lambda: (Language(30522, 512, False, False), text(16, 512, False))}[name]()


def capture(name):
    """The joint graph, its tensors fake."""
    from torch._functorch.aot_autograd import aot_export_module
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        module, arguments = network(name)
        graph, _ = aot_export_module(Step(module).train(), arguments, trace_joint=True, output_loss_index=0)
    return graph


def values_of(node):
    value = node.meta.get("val")
    return [v for v in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(v, torch.Tensor)]


def elements(node):
    return sum(v.numel() for v in values_of(node))


def operations(node):
    """Floating point operations, of products and convolutions; one per element else."""
    name = str(node.target)
    of = list(node.all_input_nodes)
    if "convolution" in name:
        backward = "backward" in name
        image, weight = (node.args[k].meta["val"] for k in ((1, 2) if backward else (0, 1)))
        transposed = node.args[7 if backward else 6]
        made = node.args[0].meta["val"] if backward else node.meta["val"]
        work = 2 * (image if transposed else made).numel() * weight.numel() // weight.shape[0]
        return work * sum(node.args[10][:2]) if backward else work
    if any(word in name for word in ("aten.mm", "aten.addmm", "aten.bmm")):
        a, b = [values_of(n)[0] for n in of[-2:]]
        return 2 * a.numel() * b.shape[-1]
    if "scaled_dot_product" in name:
        q = values_of(of[1 if "backward" in name else 0])[0]
        return (10 if "backward" in name else 4) * q.numel() * q.shape[-2]
    return elements(node)


class Contracted:
    """Ops over storages: views, and fields of tuples, have none of their own."""

    def __init__(self, graph, flops, bandwidth, launch):
        self.rates = flops, bandwidth, launch
        self.names, self.cost, self.once, self.size, self.maker, self.held, self.reads = [], [], [], [], [], [], []
        self.storage = {}
        for node in graph.graph.nodes:
            self.add(node)

    def new_storage(self, bytes, maker):
        self.size.append(bytes)
        self.maker.append(maker)
        self.held.append(0)
        return len(self.size) - 1

    def storages_of(self, node):
        return [s for s in self.storage.get(node, []) if s is not None]

    def add(self, node):
        if node.op in ("placeholder", "get_attr"):
            self.storage[node] = []  # weights and inputs: no bytes
        elif node.op == "output":
            for n in node.all_input_nodes:
                for s in self.storages_of(n):
                    self.held[s] |= 2
        elif node.target is operator.getitem:
            of = self.storage[node.args[0]]
            self.storage[node] = [of[node.args[1]]] if node.args[1] < len(of) else []
        elif self.is_view(node):
            self.storage[node] = self.storage[node.args[0]][:1]
        else:
            self.add_op(node)

    @staticmethod
    def is_view(node):
        schema = getattr(node.target, "_schema", None)
        return bool(schema and schema.returns and schema.returns[0].alias_info and
                    not schema.returns[0].alias_info.is_write)

    def add_op(self, node):
        op = len(self.names)
        value = node.meta.get("val")
        self.storage[node] = [
            self.new_storage(v.numel() * v.element_size(), op) if isinstance(v, torch.Tensor) and v.numel() else None
            for v in (value if isinstance(value, (tuple, list)) else [value])]
        self.names.append(node.name)
        reads = sorted({s for n in node.all_input_nodes for s in self.storages_of(n)})
        self.reads += [(op, s) for s in reads]
        moved = sum(v.numel() * v.element_size() for n in [*node.all_input_nodes, node] for v in values_of(n))
        flops, bandwidth, launch = self.rates
        seconds = max(operations(node) / flops, moved / bandwidth) + launch
        self.cost.append(math.ceil(seconds * 1e9))
        tags = getattr(node.target, "tags", [])
        self.once.append(torch.Tag.nondeterministic_seeded in tags)

    def document(self, name):
        return {"name": name, "names": self.names, "cost": self.cost, "once": self.once, "size": self.size,
                "maker": self.maker, "held": self.held, "reads": self.reads}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("out")
    parser.add_argument("--flops", type=float, default=A100[0])
    parser.add_argument("--bandwidth", type=float, default=A100[1])
    parser.add_argument("--launch", type=float, default=A100[2])
    args = parser.parse_args()
    graph = capture(args.name)
    problem = Contracted(graph, args.flops, args.bandwidth, args.launch).document(args.name)
    with open(args.out, "w") as out:
        json.dump(problem, out)
    print(args.name, len(problem["names"]), "ops", sum(problem["cost"]) / 1e6, "ms")


if __name__ == "__main__":
    main()
