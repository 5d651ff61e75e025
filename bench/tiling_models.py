"""Convolutional networks of well-known structures with random weights, as .onnx and .pt2 files: what `--split` is measured on.

    build/venv/bin/python bench/tiling_models.py FOLDER [NAME[:SIZE]…]
    build/venv/bin/python bench/tiling_models.py --list

Weights are drawn as He et al. 2015 say, from a seed; statistics of batch norms are those of a random image, so that
activations neither vanish nor grow. Norms are folded into convolutions then, as exporters do; --norms keeps them.
"""

import argparse
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
import exported_onnx  # noqa: E402


def of_axes(name, axes):
    """PyTorch's module of this kind for signals, images or volumes."""
    return getattr(nn, f"{name}{axes}d")


class Conv(nn.Module):
    """A convolution that keeps its image's size (divided by the stride), a batch norm, and an activation."""

    def __init__(self, before, after, kernel=3, stride=1, groups=1, dilation=1, act=None, axes=2):
        super().__init__()
        padding = (kernel - 1) // 2 * dilation
        self.conv = of_axes("Conv", axes)(before, after, kernel, stride, padding, dilation, groups, bias=False)
        self.norm, self.act = of_axes("BatchNorm", axes)(after), act or nn.Identity()

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))

    def fold(self):
        self.conv, self.norm = fuse_conv_bn_eval(self.conv, self.norm), nn.Identity()


# Classification

class Squeeze(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.narrow, self.widen = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        scale = functional.silu(self.narrow(functional.adaptive_avg_pool2d(x, 1)))
        return x * torch.sigmoid(self.widen(scale))


class Inverted(nn.Module):
    """Expand, filter depthwise, project: the block of MobileNetV2 and, with a squeeze, of EfficientNet."""

    def __init__(self, before, after, expand, kernel, stride, act, squeeze):
        super().__init__()
        wide = before * expand
        parts = [Conv(before, wide, 1, act=act())] if expand > 1 else []
        parts.append(Conv(wide, wide, kernel, stride, wide, act=act()))
        parts += [Squeeze(wide, before // 4)] if squeeze else []
        self.parts = nn.Sequential(*parts, Conv(wide, after, 1))
        self.residual = stride == 1 and before == after

    def forward(self, x):
        return x + self.parts(x) if self.residual else self.parts(x)


def inverted_network(rows, stem, head, act, squeeze, classes=1000):
    """Rows of (expansion, channels, blocks, stride, kernel)."""
    parts, before = [Conv(3, stem, 3, 2, act=act())], stem
    for expand, after, blocks, stride, kernel in rows:
        for block in range(blocks):
            parts.append(Inverted(before, after, expand, kernel, stride if block == 0 else 1, act, squeeze))
            before = after
    parts += [Conv(before, head, 1, act=act()), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(head, classes)]
    return nn.Sequential(*parts)


def mobilenet_v2():
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3), (6, 160, 3, 2, 3),
            (6, 320, 1, 1, 3)]
    return inverted_network(rows, 32, 1280, nn.ReLU6, False)


def efficientnet_b0():
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
            (6, 320, 1, 1, 3)]
    return inverted_network(rows, 32, 1280, nn.SiLU, True)


# Segmentation

def double(before, after, axes):
    return nn.Sequential(Conv(before, after, act=nn.ReLU(), axes=axes), Conv(after, after, act=nn.ReLU(), axes=axes))


class UNet(nn.Module):
    """Ronneberger et al. 2015, padded; upwards by transposed convolutions, or by bilinear resizing. Of signals as Stoller
    et al. 2018, of volumes as Çiçek et al. 2016."""

    def __init__(self, bilinear, width=32, depth=4, classes=2, axes=2, channels=3):
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        self.first, self.pool = double(channels, width, axes), of_axes("MaxPool", axes)(2)
        self.down = nn.ModuleList(double(a, b, axes) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(b, a, 1)) if bilinear
                                else of_axes("ConvTranspose", axes)(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(double(2 * a, a, axes) for a in widths[:-1])
        self.last = of_axes("Conv", axes)(width, classes, 1)

    def forward(self, x):
        kept = [self.first(x)]
        for down in self.down:
            kept.append(down(self.pool(kept[-1])))
        x = kept.pop()
        for up, join in zip(reversed(self.up), reversed(self.join)):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.last(x)


class Basic(nn.Module):
    def __init__(self, before, after, stride, dilation):
        super().__init__()
        self.first, self.second = Conv(before, after, 3, stride, dilation=dilation, act=nn.ReLU()), Conv(after, after, dilation=dilation)
        self.short = Conv(before, after, 1, stride) if stride > 1 or before != after else nn.Identity()

    def forward(self, x):
        return torch.relu(self.second(self.first(x)) + self.short(x))


class DeepLabV3(nn.Module):
    """Chen et al. 2017: a residual backbone, dilated from an eighth on, pyramid pooling, and bilinear resizing."""

    def __init__(self, widths=(64, 128, 256, 512), inner=256, classes=21):
        super().__init__()
        parts, before = [Conv(3, widths[0], 7, 2, act=nn.ReLU()), nn.MaxPool2d(3, 2, 1)], widths[0]
        for after, stride, dilation in zip(widths, (1, 2, 1, 1), (1, 1, 2, 4)):
            parts += [Basic(before, after, stride, dilation), Basic(after, after, 1, dilation)]
            before = after
        self.body = nn.Sequential(*parts)
        self.pyramid = nn.ModuleList([Conv(before, inner, 1, act=nn.ReLU())] +
                                     [Conv(before, inner, 3, dilation=d, act=nn.ReLU()) for d in (12, 24, 36)])
        self.pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(before, inner, 1), nn.ReLU())
        self.head = nn.Sequential(Conv(5 * inner, inner, 1, act=nn.ReLU()), Conv(inner, inner, act=nn.ReLU()), nn.Conv2d(inner, classes, 1))

    def forward(self, x):
        y = self.body(x)
        whole = functional.interpolate(self.pooled(y), size=y.shape[2:], mode="nearest")
        y = self.head(torch.cat([part(y) for part in self.pyramid] + [whole], 1))
        return functional.interpolate(y, scale_factor=8.0, mode="bilinear")


# Detection

class Csp(nn.Module):
    """Cross stage partial blocks, as in YOLOv5."""

    def __init__(self, before, after, blocks, residual=True):
        super().__init__()
        half = after // 2
        self.left, self.right = (Conv(before, half, 1, act=nn.SiLU()) for _ in range(2))
        self.blocks = nn.ModuleList(nn.Sequential(Conv(half, half, 1, act=nn.SiLU()), Conv(half, half, act=nn.SiLU())) for _ in range(blocks))
        self.join, self.residual = Conv(2 * half, after, 1, act=nn.SiLU()), residual

    def forward(self, x):
        y = self.left(x)
        for block in self.blocks:
            y = y + block(y) if self.residual else block(y)
        return self.join(torch.cat([y, self.right(x)], 1))


class Yolo(nn.Module):
    """A backbone of cross stage partial blocks, pooling of several sizes, a path up and down, and three heads."""

    def __init__(self, width=16, classes=80):
        super().__init__()
        w = [width << level for level in range(5)]
        act = nn.SiLU
        self.stem = Conv(3, w[0], 6 - 1, 2, act=act())
        self.down = nn.ModuleList(nn.Sequential(Conv(a, b, 3, 2, act=act()), Csp(b, b, n)) for a, b, n in zip(w, w[1:], (1, 2, 3, 1)))
        self.before, self.after = Conv(w[4], w[3], 1, act=act()), Conv(4 * w[3], w[4], 1, act=act())
        self.narrow = nn.ModuleList([Conv(w[4], w[3], 1, act=act()), Conv(w[3], w[2], 1, act=act())])
        self.up = nn.ModuleList([Csp(2 * w[3], w[3], 1, False), Csp(2 * w[2], w[2], 1, False)])
        self.again = nn.ModuleList([Conv(w[2], w[2], 3, 2, act=act()), Conv(w[3], w[3], 3, 2, act=act())])
        self.path = nn.ModuleList([Csp(2 * w[2], w[3], 1, False), Csp(2 * w[3], w[4], 1, False)])
        self.heads = nn.ModuleList(nn.Conv2d(channels, 3 * (5 + classes), 1) for channels in w[2:])

    def forward(self, x):
        kept = [self.stem(x)]
        for down in self.down:
            kept.append(down(kept[-1]))
        pools = [self.before(kept[4])]
        for _ in range(3):
            pools.append(functional.max_pool2d(pools[-1], 5, 1, 2))
        top = self.narrow[0](self.after(torch.cat(pools, 1)))
        middle = self.narrow[1](self.up[0](torch.cat([functional.interpolate(top, scale_factor=2.0), kept[3]], 1)))
        low = self.up[1](torch.cat([functional.interpolate(middle, scale_factor=2.0), kept[2]], 1))
        middle = self.path[0](torch.cat([self.again[0](low), middle], 1))
        top = self.path[1](torch.cat([self.again[1](middle), top], 1))
        return [head(level) for head, level in zip(self.heads, (low, middle, top))]


# Images larger than they were

class Dense(nn.Module):
    """Five convolutions, each of all before it, and a scaled residual sum."""

    def __init__(self, width, growth):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(width + k * growth, growth if k < 4 else width, 3, 1, 1) for k in range(5))

    def forward(self, x):
        kept = [x]
        for conv in self.convs[:4]:
            kept.append(functional.leaky_relu(conv(torch.cat(kept, 1)), 0.2))
        return x + 0.2 * self.convs[4](torch.cat(kept, 1))


class Rrdb(nn.Module):
    """ESRGAN's generator (Wang et al. 2018), four times as large; it has 23 blocks there."""

    def __init__(self, width=64, growth=32, blocks=2):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, width, 3, 1, 1), nn.Conv2d(width, 3, 3, 1, 1)
        self.blocks = nn.ModuleList(nn.Sequential(*(Dense(width, growth) for _ in range(3))) for _ in range(blocks))
        self.body, self.high = nn.Conv2d(width, width, 3, 1, 1), nn.Conv2d(width, width, 3, 1, 1)
        self.up = nn.ModuleList(nn.Conv2d(width, width, 3, 1, 1) for _ in range(2))

    def forward(self, x):
        y = first = self.first(x)
        for block in self.blocks:
            y = y + 0.2 * block(y)
        y = first + self.body(y)
        for up in self.up:
            y = functional.leaky_relu(up(functional.interpolate(y, scale_factor=2.0)), 0.2)
        return self.last(functional.leaky_relu(self.high(y), 0.2))


class SrVgg(nn.Module):
    """Real-ESRGAN's compact network: plain convolutions, a shuffle of pixels, and the image itself added."""

    def __init__(self, width=64, convs=16, scale=4):
        super().__init__()
        parts = [nn.Conv2d(3, width, 3, 1, 1), nn.PReLU(width)]
        for _ in range(convs):
            parts += [nn.Conv2d(width, width, 3, 1, 1), nn.PReLU(width)]
        self.body = nn.Sequential(*parts, nn.Conv2d(width, 3 * scale ** 2, 3, 1, 1), nn.PixelShuffle(scale))
        self.scale = float(scale)

    def forward(self, x):
        return self.body(x) + functional.interpolate(x, scale_factor=self.scale)


# Decoder of latent images

class Residual(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.norms = nn.ModuleList([nn.GroupNorm(32, before, 1e-6), nn.GroupNorm(32, after, 1e-6)])
        self.convs = nn.ModuleList([nn.Conv2d(before, after, 3, 1, 1), nn.Conv2d(after, after, 3, 1, 1)])
        self.short = nn.Identity() if before == after else nn.Conv2d(before, after, 1)

    def forward(self, x):
        y = x
        for norm, conv in zip(self.norms, self.convs):
            y = conv(functional.silu(norm(y)))
        return self.short(x) + y


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.GroupNorm(32, width, 1e-6)
        self.query, self.key, self.value, self.out = (nn.Conv2d(width, width, 1) for _ in range(4))

    def forward(self, x):
        y = self.norm(x)
        query, key, value = (part(y).flatten(2) for part in (self.query, self.key, self.value))
        weights = torch.softmax(torch.matmul(query.transpose(1, 2), key) * query.shape[1] ** -0.5, -1)
        y = torch.matmul(value, weights.transpose(1, 2)).reshape(x.shape)
        return x + self.out(y)


class VaeDecoder(nn.Module):
    """The decoder of latent diffusion (Rombach et al. 2022), eight times as large; widths there are twice these."""

    def __init__(self, widths=(256, 256, 128, 64), latent=4):
        super().__init__()
        before = widths[0]
        parts = [nn.Conv2d(latent, before, 3, 1, 1), Residual(before, before), Attention(before), Residual(before, before)]
        for level, after in enumerate(widths):
            parts += [Residual(before, after), Residual(after, after), Residual(after, after)]
            if level < 3:
                parts += [nn.Upsample(scale_factor=2.0), nn.Conv2d(after, after, 3, 1, 1)]
            before = after
        self.parts = nn.Sequential(*parts, nn.GroupNorm(32, before, 1e-6), nn.SiLU(), nn.Conv2d(before, 3, 3, 1, 1))

    def forward(self, x):
        return self.parts(x)


# NAME: (builder, sides of its image by default, channels of the image)
MODELS = {
    "mobilenet_v2": (mobilenet_v2, 2048, 3),
    "efficientnet_b0": (efficientnet_b0, 1024, 3),
    "unet": (lambda: UNet(False), 1024, 3),
    "unet_bilinear": (lambda: UNet(True), 1024, 3),
    "rrdb": (Rrdb, 256, 3),
    "srvgg": (SrVgg, 256, 3),
    "yolo": (Yolo, 1280, 3),
    "deeplab_v3": (DeepLabV3, 1024, 3),
    "vae_decoder": (VaeDecoder, 64, 4),
    "unet_1d": (lambda: UNet(False, axes=1, channels=1), 131072, 1),
    "unet_3d": (lambda: UNet(False, 16, 3, axes=3, channels=1), 96, 1),
}
AXES = {"unet_1d": 1, "unet_3d": 3}  # behind the channels; else 2


def shape(name, size):
    """Of its input."""
    return 1, MODELS[name][2], *[size] * AXES.get(name, 2)


def initialize(module, seed):
    torch.manual_seed(seed)
    for part in module.modules():
        if hasattr(part, "weight") and part.weight is not None and part.weight.dim() > 1:
            fan_in = part.weight.shape[0] if getattr(part, "transposed", False) else part.weight[0].numel()
            nn.init.normal_(part.weight, std=math.sqrt(2 / fan_in))
            if part.bias is not None:
                nn.init.normal_(part.bias, std=0.01)


def calibrate(module, image):
    """Statistics of batch norms: those of this image."""
    norms = [part for part in module.modules() if isinstance(part, nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.train()
        norm.momentum = None
    if norms:
        module(image)
    module.eval()


@torch.no_grad()
def build(name, seed=1, norms=False):
    """The module, ready for inference."""
    module = MODELS[name][0]().eval()
    initialize(module, seed)
    calibrate(module, torch.randn(shape(name, {1: 8192, 2: 128, 3: 32}[AXES.get(name, 2)])))
    for part in list(module.modules()):
        if isinstance(part, Conv) and not norms:
            part.fold()
    return module.requires_grad_(False)


def image(name, size, seed=1):
    return torch.randn(shape(name, size), generator=torch.Generator().manual_seed(seed))


def write(folder, name, size, norms=False):
    """NAME_SIZE.onnx and NAME_SIZE.pt2; their paths."""
    exported = torch.export.export(build(name, norms=norms), (image(name, size),), strict=False)
    paths = [Path(folder) / f"{name}_{size}.{suffix}" for suffix in ("onnx", "pt2")]
    paths[0].write_bytes(exported_onnx.model(exported))
    torch.export.save(exported, paths[1])
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("models", nargs="*", metavar="NAME[:SIZE]")
    parser.add_argument("--norms", action="store_true", help="keep batch norms as ops of their own")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list or not options.folder:
        sys.exit("\n".join(f"{name}:{size}" for name, (_, size, _) in MODELS.items()))
    options.folder.mkdir(parents=True, exist_ok=True)
    for model in options.models or MODELS:
        name, _, size = model.partition(":")
        print(*write(options.folder, name, int(size or MODELS[name][1]), options.norms))


if __name__ == "__main__":
    main()
