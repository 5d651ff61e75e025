"""Training steps on a GPU: PyTorch's caching allocator, the same with expandable segments, and the tape
(docs/gpu.md), each in a process of its own. Prints a table: bytes reserved, time of a step, and whether
the losses are those of the caching allocator, bit by bit.

    python bench/gpu_training.py             # needs a GPU, and `make` or an installed arenaut
    python bench/gpu_training.py --networks  # only how large the networks are; on any machine
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
ALLOCATORS = "caching", "expandable", "tape"
WARM, STEPS = 5, 20


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.short = nn.Identity() if inside == 4 * width else nn.Sequential(
            nn.Conv2d(inside, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def resnet50():
    """ResNet-50 with the stride in the 3x3 convolutions, 1,000 classes; batches of 64."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for width, depth, stride in (64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2):
        for k in range(depth):
            layers.append(Bottleneck(inside, width, stride if k == 0 else 1))
            inside = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)]
    return nn.Sequential(*layers), lambda device: (torch.randn(64, 3, 224, 224, device=device),
                                                   torch.randint(1000, (64,), device=device))


class Gpt2(nn.Module):
    """GPT-2's smallest: 12 layers of 768, 12 heads, 1,024 positions, one table for both ends."""

    def __init__(self, layers=12, width=768, words=50257, positions=1024):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(
            width, 12, 4 * width, dropout=0, activation="gelu", batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        n = tokens.shape[1]
        x = self.words(tokens) + self.positions.weight[:n]
        mask = nn.Transformer.generate_square_subsequent_mask(n, device=tokens.device)
        for block in self.blocks:
            x = block(x, src_mask=mask, is_causal=True)
        return self.norm(x) @ self.words.weight.T


def gpt2():
    def batch(device):
        tokens = torch.randint(50257, (4, 1025), device=device)
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return Gpt2(), batch


NETWORKS = {"resnet50": resnet50, "gpt2": gpt2}


def train(network, allocator):
    """One process: its reserved bytes, the time of a step, and its losses."""
    if allocator == "tape":
        from arenaut import gpu
        gpu.install()
    torch.manual_seed(7)
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    model, batch = NETWORKS[network]()
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    inputs, wanted = batch("cuda")
    losses = torch.zeros(WARM + STEPS, device="cuda")

    def step(k):
        out = model(inputs)
        loss = F.cross_entropy(out.flatten(0, -2), wanted.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses[k] = loss.detach()

    times = []
    for k in range(WARM + STEPS):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        if allocator == "tape" and k == WARM - 1:
            with gpu.record():
                step(k)
            gpu.plan()
        elif allocator == "tape" and k >= WARM:
            with gpu.play():
                step(k)
        else:
            step(k)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begun)
    answer = {"seconds": statistics.median(times[WARM:]), "losses": [loss.hex() for loss in losses.tolist()]}
    if allocator == "tape":
        figures = gpu.figures()
        return {**answer, "reserved": figures.driver, **figures._asdict()}
    return {**answer, "reserved": torch.cuda.memory_reserved()}


def measure(network, allocator):
    environment = {**os.environ, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    if allocator == "expandable":
        environment["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    done = subprocess.run([sys.executable, __file__, "--train", network, allocator], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{network}, {allocator}: {done.stderr}")
    return json.loads(done.stdout)


def table():
    print("| network | allocator | reserved | step | losses |\n|---|---|--:|--:|---|")
    for network in NETWORKS:
        plain = measure(network, "caching")
        for allocator in ALLOCATORS:
            found = plain if allocator == "caching" else measure(network, allocator)
            same = "identical" if found["losses"] == plain["losses"] else "DIFFERENT"
            more = f"; arena {found['arena']:,}, {found['astray']} runs astray" if "arena" in found else ""
            print(f"| {network} | {allocator}{more} | {found['reserved']:,} | {found['seconds'] * 1e3:.1f} ms "
                  f"| {same} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--train", nargs=2, metavar=("NETWORK", "ALLOCATOR"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.networks:
        for name, make in NETWORKS.items():
            with torch.device("meta"):
                n = sum(p.numel() for p in make()[0].parameters())
            print(f"{name:<10}{n:>15,} parameters")
    elif not torch.cuda.is_available():
        sys.exit("gpu_training: this needs a GPU that PyTorch can use")
    elif given.train:
        print(json.dumps(train(*given.train)))
    else:
        table()


if __name__ == "__main__":
    main()
