"""tinygrad's own memory plans beside ours, on networks that are written here, weights random.

    python bench/tinygrad_table.py [--plan-only] [NAME…]

Each is compiled by TinyJit and run three times, by tinygrad alone and with `arenaut.tinygrad.install`,
from the same seed; all outputs, and after training all weights, are compared bit by bit. Bytes are the
arenas of the compiled step. Before that, tinygrad's own plan is held against the checker.
`--plan-only` schedules and plans, and runs nothing. Exits with 1 where an arena of ours is larger or one
bit differs."""

import argparse
import hashlib
import os
import sys

os.environ.setdefault("DEV", "CPU")

from tinygrad import Context, Tensor, TinyJit, nn  # noqa: E402

import arenaut.tinygrad  # noqa: E402


def sequence(*layers):
    return lambda x: x.sequential(list(layers))


class Conv:
    """Convolution, batch norm, activation."""

    def __init__(self, cin, cout, k=3, stride=1, groups=1, act=Tensor.relu):
        self.conv = nn.Conv2d(cin, cout, k, stride, k // 2, groups=groups, bias=False)
        self.norm, self.act = nn.BatchNorm(cout), act

    def __call__(self, x):
        return self.act(self.norm(self.conv(x)))


def same(x):
    return x


class Bottleneck:
    def __init__(self, cin, width, stride, expand=4):
        self.body = [Conv(cin, width, 1), Conv(width, width, 3, stride),
                     Conv(width, expand * width, 1, act=same)]
        plain = stride == 1 and cin == expand * width
        self.short = same if plain else Conv(cin, expand * width, 1, stride, act=same)

    def __call__(self, x):
        return (x.sequential(self.body) + self.short(x)).relu()


class Basic:
    def __init__(self, cin, width, stride):
        self.body = [Conv(cin, width, 3, stride), Conv(width, width, act=same)]
        self.short = same if stride == 1 and cin == width else Conv(cin, width, 1, stride, act=same)

    def __call__(self, x):
        return (x.sequential(self.body) + self.short(x)).relu()


class ResNet:
    def __init__(self, block, counts, classes=1000, widths=(64, 128, 256, 512), expand=4):
        self.stem, self.blocks, cin = Conv(3, 64, 7, 2), [], 64
        for stage, (width, count) in enumerate(zip(widths, counts)):
            for k in range(count):
                self.blocks.append(block(cin, width, 2 if stage and not k else 1))
                cin = expand * width
        self.head = nn.Linear(cin, classes)

    def features(self, x):
        """The last three stages."""
        x, maps = self.stem(x).pad((1, 1, 1, 1)).max_pool2d((3, 3), 2), []
        for block in self.blocks:
            y = block(x)
            if y.shape[2] != x.shape[2]:
                maps.append(x)
            x = y
        return maps[-2:] + [x]

    def __call__(self, x):
        return self.head(self.features(x)[-1].mean((2, 3)))


class Pyramid:
    """RetinaNet: a ResNet, a pyramid of its stages, and two heads on each level."""

    def __init__(self):
        self.body = ResNet(Bottleneck, (3, 4, 6, 3))
        self.lateral = [nn.Conv2d(cin, 256, 1) for cin in (512, 1024, 2048)]
        self.smooth = [nn.Conv2d(256, 256, 3, padding=1) for _ in range(3)]
        self.heads = [[layer for _ in range(2) for layer in (nn.Conv2d(256, 256, 3, padding=1), Tensor.relu)]
                      + [nn.Conv2d(256, cout, 3, padding=1)] for cout in (9 * 20, 9 * 4)]

    def __call__(self, x):
        maps = [one(y) for one, y in zip(self.lateral, self.body.features(x))]
        for k in (1, 0):
            up = maps[k + 1].repeat_interleave(2, 2).repeat_interleave(2, 3)
            maps[k] = maps[k] + up
        maps = [one(y) for one, y in zip(self.smooth, maps)]
        return Tensor.cat(*[y.sequential(head).flatten(1) for y in maps for head in self.heads], dim=1)


class Inception:
    """GoogLeNet's module: four branches that are joined."""

    def __init__(self, cin, one, three, five, pool):
        self.branches = [[Conv(cin, one, 1)], [Conv(cin, three // 2, 1), Conv(three // 2, three)],
                         [Conv(cin, five // 2, 1), Conv(five // 2, five), Conv(five, five)]]
        self.pool = Conv(cin, pool, 1)
        self.width = one + three + five + pool

    def __call__(self, x):
        pooled = self.pool(x.pad((1, 1, 1, 1)).max_pool2d((3, 3), 1))
        return Tensor.cat(*[x.sequential(branch) for branch in self.branches], pooled, dim=1).contiguous()


class GoogLeNet:
    def __init__(self):
        self.stem, self.stages, cin = [Conv(3, 64, 7, 2), Conv(64, 192)], [], 192
        for count in (2, 4, 2):
            stage = []
            for _ in range(count):
                stage.append(Inception(cin, cin // 4, cin // 2, cin // 8, cin // 8))
                cin = stage[-1].width
            self.stages.append(stage)
        self.head = nn.Linear(cin, 1000)

    def __call__(self, x):
        x = x.sequential(self.stem)
        for stage in self.stages:
            x = x.max_pool2d((2, 2)).contiguous().sequential(stage)
        return self.head(x.mean((2, 3)))


class DenseNet:
    def __init__(self, growth=32, counts=(3, 6, 6, 4), cin=64):
        self.stem, self.stages = Conv(3, cin, 7, 2), []
        for count in counts:
            layers = [[Conv(cin + k * growth, 4 * growth, 1), Conv(4 * growth, growth)] for k in range(count)]
            cin += count * growth
            self.stages.append((layers, Conv(cin, cin // 2, 1)))
            cin //= 2
        self.head = nn.Linear(cin, 1000)

    def __call__(self, x):
        x = self.stem(x)
        for layers, narrow in self.stages:
            for layer in layers:
                x = x.cat(x.sequential(layer), dim=1).contiguous()
            x = narrow(x).avg_pool2d((2, 2))
        return self.head(x.mean((2, 3)))


class Inverted:
    """EfficientNet's block, with squeeze and excitation."""

    def __init__(self, cin, cout, expand, k, stride):
        width = cin * expand
        self.wide = same if expand == 1 else Conv(cin, width, 1, act=Tensor.silu)
        self.depth = Conv(width, width, k, stride, width, Tensor.silu)
        self.squeeze, self.excite = nn.Conv2d(width, cin // 4, 1), nn.Conv2d(cin // 4, width, 1)
        self.narrow, self.plain = Conv(width, cout, 1, act=same), stride == 1 and cin == cout

    def __call__(self, x):
        y = self.depth(self.wide(x))
        y = self.narrow(y * self.excite(self.squeeze(y.mean((2, 3), keepdim=True)).silu()).sigmoid())
        return x + y if self.plain else y


class EfficientNet:
    STAGES = ((1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2), (6, 80, 3, 3, 2), (6, 112, 3, 5, 1),
              (6, 192, 4, 5, 2), (6, 320, 1, 3, 1))

    def __init__(self):
        self.stem, self.blocks, cin = Conv(3, 32, 3, 2, act=Tensor.silu), [], 32
        for expand, cout, count, k, stride in self.STAGES:
            for turn in range(count):
                self.blocks.append(Inverted(cin, cout, expand, k, 1 if turn else stride))
                cin = cout
        self.top, self.head = Conv(cin, 1280, 1, act=Tensor.silu), nn.Linear(1280, 1000)

    def __call__(self, x):
        return self.head(self.top(self.stem(x).sequential(self.blocks)).mean((2, 3)))


class ConvNeXt:
    def __init__(self, widths=(96, 192, 384, 768), counts=(1, 1, 3, 1)):
        self.down = [nn.Conv2d(a, b, k, k) for a, b, k in zip((3, *widths), widths, (4, 2, 2, 2))]
        self.blocks = [[(nn.Conv2d(w, w, 7, padding=3, groups=w), nn.LayerNorm(w), nn.Linear(w, 4 * w),
                         nn.Linear(4 * w, w)) for _ in range(n)] for w, n in zip(widths, counts)]
        self.head = nn.Linear(widths[-1], 1000)

    def __call__(self, x):
        for down, blocks in zip(self.down, self.blocks):
            x = down(x)
            for depth, norm, wide, narrow in blocks:
                y = narrow(wide(norm(depth(x).permute(0, 2, 3, 1))).gelu())
                x = (x + y.permute(0, 3, 1, 2)).contiguous()
        return self.head(x.mean((2, 3)))


class Attention:
    def __init__(self, width, heads):
        self.heads, self.norms = heads, [nn.LayerNorm(width) for _ in range(2)]
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def __call__(self, x, causal=False):
        batch, count, width = x.shape
        parts = self.qkv(self.norms[0](x)).reshape(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = parts[0].scaled_dot_product_attention(parts[1], parts[2], is_causal=causal)
        x = x + self.out(y.transpose(1, 2).reshape(batch, count, width))
        return x + self.narrow(self.wide(self.norms[1](x)).gelu())


class ViT:
    def __init__(self, width=192, heads=3, layers=6, patch=16, side=128):
        self.patch = nn.Conv2d(3, width, patch, patch)
        self.place = Tensor.normal(1, (side // patch) ** 2, width, std=0.02)
        self.layers, self.norm = [Attention(width, heads) for _ in range(layers)], nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def __call__(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.place
        return self.head(self.norm(x.sequential(self.layers)).mean(1))


class Words:
    """BERT (not causal) and GPT."""

    def __init__(self, width=256, heads=4, layers=4, causal=False):
        self.words, self.causal = nn.Embedding(1000, width), causal
        self.place = Tensor.normal(1, 64, width, std=0.02)
        self.layers, self.norm = [Attention(width, heads) for _ in range(layers)], nn.LayerNorm(width)

    def __call__(self, words):
        x = self.words(words) + self.place
        for layer in self.layers:
            x = layer(x, self.causal)
        return self.norm(x) @ self.words.weight.transpose()


class UNet:
    def __init__(self, widths=(16, 32, 64, 128)):
        pairs = list(zip((3, *widths), widths))
        self.down = [[Conv(a, b), Conv(b, b)] for a, b in pairs]
        self.up = [[Conv(a + b, a), Conv(a, a)] for a, b in reversed(list(zip(widths, widths[1:])))]
        self.last = nn.Conv2d(widths[0], 3, 1)

    def __call__(self, x):
        kept = []
        for layer in self.down:
            kept.append(x.sequential(layer))
            x = kept[-1].max_pool2d((2, 2))
        x = kept.pop()
        for layer in self.up:
            up = x.repeat_interleave(2, 2).repeat_interleave(2, 3)
            x = up.cat(kept.pop(), dim=1).contiguous().sequential(layer)
        return self.last(x)


def image(side, batch=1):
    return lambda: Tensor.rand(batch, 3, side, side)


def words():
    return Tensor.randint(1, 64, high=1000)


#: Of each: how to build it, its input, whether it trains.
MODELS = {
    "resnet50": (lambda: ResNet(Bottleneck, (3, 4, 6, 3)), image(128), False),
    "retinanet": (Pyramid, image(128), False),
    "googlenet": (GoogLeNet, image(128), False),
    "densenet": (DenseNet, image(128), False),
    "efficientnet_b0": (EfficientNet, image(128), False),
    "convnext": (ConvNeXt, image(128), False),
    "unet": (UNet, image(64), False),
    "vit_tiny": (ViT, image(128), False),
    "bert": (Words, words, False),
    "gpt": (lambda: Words(causal=True), words, False),
    "vit_training": (lambda: ViT(layers=2, side=64), image(64, 4), True),
    "resnet_training": (lambda: ResNet(Basic, (1, 1), 10, (16, 32), 1), image(32, 4), True),
}


def step_of(model, trains):
    """One call: the outputs, or for training the loss, after which the weights are others."""
    if not trains:
        return lambda x: model(x).realize()
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.01)

    def train(x):
        with Context(TRAINING=1):
            optimizer.zero_grad()
            loss = model(x).sparse_categorical_crossentropy(Tensor.arange(x.shape[0])).backward()
            return loss.realize(*optimizer.schedule_step())
    return train


def prepare(name):
    Tensor.manual_seed(7)
    build, inputs, trains = MODELS[name]
    model, x = build(), inputs().realize()
    Tensor.realize(*nn.state.get_parameters(model))
    return model, x, trains


def outcome(model, x, trains):
    """A hash of all that three calls compute."""
    step, found = TinyJit(step_of(model, trains)), hashlib.sha256()
    for _ in range(3):
        found.update(step(x).data())
    for weight in nn.state.get_parameters(model) if trains else []:
        found.update(weight.data())
    return found.hexdigest()


def schedule(model, x, trains):
    """Plans one call, and compiles nothing; of training, the pass that computes the gradients."""
    if not trains:
        Tensor.linear_with_vars(model(x))
        return
    with Context(TRAINING=1):
        loss = model(x).sparse_categorical_crossentropy(Tensor.arange(x.shape[0])).backward()
        Tensor.linear_with_vars(loss, *[p.grad for p in nn.state.get_parameters(model) if p.grad is not None])


def compare(name, run):
    """The arenas of the largest schedule: buffers, tinygrad's bytes, ours, the bound. And whether the
    same was computed."""
    found, seen = [], []
    for place in (False, True):
        prepared = prepare(name)
        if not arenaut.tinygrad.install(place=place, report=seen.append):
            sys.exit(1)
        found.append(run(*prepared))
        arenaut.tinygrad.uninstall()
    lanes = max(reversed(seen), key=lambda lanes: sum(lane.stock for lane in lanes))
    return [sum(column) for column in zip(*lanes)], found[0] == found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan-only", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(MODELS))
    options, failed = parser.parse_args(), False
    print("| network | buffers | tinygrad | arenaut | | bound | outputs |\n|---|--:|--:|--:|--:|--:|---|")
    for name in options.names or MODELS:
        (buffers, stock, arena, bound), equal = compare(name, schedule if options.plan_only else outcome)
        bits = "not run" if options.plan_only else "the same" if equal else "DIFFERENT"
        print(f"| {name} | {buffers} | {stock:,} | {arena:,} | {100 * arena / stock - 100:+.1f} % | "
              f"{bound:,} | {bits} |", flush=True)
        failed |= arena > stock or not equal
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
