"""Eight networks in plain torch, with the structure and the shapes of the well-known ones.

Their weights are random: what they are for is how their tensors live and die. Each builder
returns the module, ready for inference, and a tuple of example inputs. No other package is
needed, so that the tests run wherever torch does.
"""

import torch
from torch import nn
from torch.nn import functional as F


# --- convolutional ---------------------------------------------------------------------------

class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut, as in resnet18."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.shortcut = None
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False),
                                          nn.BatchNorm2d(after))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet18(nn.Module):
    def __init__(self, width=64, blocks=(2, 2, 2, 2), classes=1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False),
                                  nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        layers, before = [], width
        for stage, count in enumerate(blocks):
            after = width << stage
            for k in range(count):
                layers.append(BasicBlock(before, after, 2 if stage and k == 0 else 1))
                before = after
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(before, classes)

    def forward(self, x):
        x = self.layers(self.stem(x))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class ConvBnAct(nn.Sequential):
    def __init__(self, before, after, kernel, stride=1, groups=1, act=None):
        parts = [nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False),
                 nn.BatchNorm2d(after, eps=0.001)]
        super().__init__(*parts, *([act()] if act else []))


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        scale = F.adaptive_avg_pool2d(x, 1)
        return F.hardsigmoid(self.fc2(F.relu(self.fc1(scale)))) * x


class InvertedResidual(nn.Module):
    """Expand, filter depthwise, squeeze and excite, project: mobilenetv3's block."""

    def __init__(self, before, kernel, expanded, after, squeeze, act, stride):
        super().__init__()
        parts = []
        if expanded != before:
            parts.append(ConvBnAct(before, expanded, 1, act=act))
        parts.append(ConvBnAct(expanded, expanded, kernel, stride, expanded, act))
        if squeeze:
            parts.append(SqueezeExcite(expanded, squeeze))
        parts.append(ConvBnAct(expanded, after, 1))
        self.parts = nn.Sequential(*parts)
        self.residual = stride == 1 and before == after

    def forward(self, x):
        y = self.parts(x)
        return y + x if self.residual else y


# kernel, expanded, after, squeezed channels (0: none), hard swish?, stride
MOBILENETV3_SMALL = [
    (3, 16, 16, 8, False, 2), (3, 72, 24, 0, False, 2), (3, 88, 24, 0, False, 1),
    (5, 96, 40, 24, True, 2), (5, 240, 40, 64, True, 1), (5, 240, 40, 64, True, 1),
    (5, 120, 48, 32, True, 1), (5, 144, 48, 40, True, 1), (5, 288, 96, 72, True, 2),
    (5, 576, 96, 144, True, 1), (5, 576, 96, 144, True, 1)]


class MobileNetV3Small(nn.Module):
    def __init__(self, classes=1000, rows=MOBILENETV3_SMALL):
        super().__init__()
        parts, before = [ConvBnAct(3, 16, 3, 2, act=nn.Hardswish)], 16
        for kernel, expanded, after, squeeze, hard, stride in rows:
            act = nn.Hardswish if hard else nn.ReLU
            parts.append(InvertedResidual(before, kernel, expanded, after, squeeze, act, stride))
            before = after
        parts.append(ConvBnAct(before, 6 * before, 1, act=nn.Hardswish))
        self.features = nn.Sequential(*parts)
        self.classifier = nn.Sequential(nn.Linear(6 * before, 1024), nn.Hardswish(),
                                        nn.Linear(1024, classes))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), 1)
        return self.classifier(torch.flatten(x, 1))


# --- transformers ----------------------------------------------------------------------------

def split_heads(x, heads):
    batch, length, width = x.shape
    return x.view(batch, length, heads, width // heads).transpose(1, 2)


def join_heads(x):
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)


class VitBlock(nn.Module):
    """Norm first; one matrix makes queries, keys and values."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class VitTiny(nn.Module):
    def __init__(self, width=192, heads=3, depth=12, patch=16, image=224, classes=1000):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, patch)
        self.cls = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.position = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.Sequential(*[VitBlock(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width, 1e-6), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


class BertLayer(nn.Module):
    """Norm last, three separate projections."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.proj = nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def forward(self, x, mask):
        q, k, v = (split_heads(part(x), self.heads) for part in (self.q, self.k, self.v))
        y = join_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
        x = self.norm1(self.proj(y) + x)
        return self.norm2(self.fc2(F.gelu(self.fc1(x))) + x)


class Bert(nn.Module):
    def __init__(self, layers=4, width=768, heads=12, vocabulary=30522, positions=512):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        self.types = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(BertLayer(width, heads) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, ids, mask=None):
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        x = self.words(ids) + self.types(torch.zeros_like(ids)) + self.positions(places)
        x = self.norm(x)
        bias = None
        if mask is not None:
            bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
            bias = bias.expand(-1, 1, ids.shape[1], -1)
        for layer in self.layers:
            x = layer(x, bias)
        return {"hidden": x, "pooled": torch.tanh(self.pooler(x[:, 0]))}


class GptBlock(nn.Module):
    """Norm first, with keys and values of earlier tokens from a cache."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, past_k, past_v):
        q, k, v = self.qkv(self.norm1(x)).split(x.shape[2], dim=2)
        q, k, v = (split_heads(part, self.heads) for part in (q, k, v))
        k, v = torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)
        x = x + self.proj(join_heads(F.scaled_dot_product_attention(q, k, v)))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x)), approximate="tanh")), k, v


class Gpt2(nn.Module):
    """One token, after a past of some: logits and the grown cache come out."""

    def __init__(self, layers=4, width=768, heads=12, vocabulary=50257, positions=1024):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(GptBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, place, *past):
        x = self.words(ids) + self.places(place)
        grown = []
        for k, block in enumerate(self.blocks):
            x, key, value = block(x, past[2 * k], past[2 * k + 1])
            grown += [key, value]
        return (F.linear(self.norm(x), self.words.weight), *grown)


class WhisperLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.v, self.proj = (nn.Linear(width, width) for _ in range(3))
        self.k = nn.Linear(width, width, bias=False)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (split_heads(part(y), self.heads) for part in (self.q, self.k, self.v))
        x = x + self.proj(join_heads(F.scaled_dot_product_attention(q, k, v)))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class WhisperEncoder(nn.Module):
    def __init__(self, width=384, heads=6, layers=4, mels=80, frames=1500):
        super().__init__()
        self.conv1 = nn.Conv1d(mels, width, 3, 1, 1)
        self.conv2 = nn.Conv1d(width, width, 3, 2, 1)
        self.positions = nn.Parameter(torch.randn(frames, width) * 0.02)
        self.layers = nn.Sequential(*[WhisperLayer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = F.gelu(self.conv2(F.gelu(self.conv1(x)))).permute(0, 2, 1) + self.positions
        return self.norm(self.layers(x))


def to_windows(x, size):
    batch, height, width, channels = x.shape
    x = x.view(batch, height // size, size, width // size, size, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, channels)


def from_windows(x, size, height, width):
    x = x.view(-1, height // size, width // size, size, size, x.shape[-1])
    return x.permute(0, 1, 3, 2, 4, 5).reshape(x.shape[0], height, width, -1)


class SwinBlock(nn.Module):
    """Attention within windows, every second block with windows shifted by half of one."""

    def __init__(self, width, heads, side, window, shifted):
        super().__init__()
        self.heads, self.window = heads, min(window, side)
        self.shift = window // 2 if shifted and side > window else 0
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.table = nn.Parameter(torch.randn((2 * self.window - 1) ** 2, heads) * 0.02)
        self.register_buffer("index", self.relative_index())
        self.register_buffer("mask", self.shift_mask(side) if self.shift else None)

    def relative_index(self):
        at = torch.stack(torch.meshgrid(torch.arange(self.window), torch.arange(self.window),
                                        indexing="ij")).flatten(1)
        apart = (at[:, :, None] - at[:, None, :]) + self.window - 1
        return (apart[0] * (2 * self.window - 1) + apart[1]).flatten()

    def shift_mask(self, side):
        region, count = torch.zeros(1, side, side, 1), 0
        bounds = (slice(0, -self.window), slice(-self.window, -self.shift),
                  slice(-self.shift, None))
        for rows in bounds:
            for columns in bounds:
                region[:, rows, columns] = count
                count += 1
        region = to_windows(region, self.window).squeeze(-1)
        return (region[:, None] != region[:, :, None]).float() * -100.0

    def bias(self, windows):
        tokens = self.window ** 2
        bias = self.table[self.index].view(tokens, tokens, -1).permute(2, 0, 1)[None]
        if self.mask is None:
            return bias.contiguous()
        return (bias + self.mask[:, None]).repeat(windows // self.mask.shape[0], 1, 1, 1)

    def attend(self, x):
        windows, tokens, width = x.shape
        qkv = self.qkv(x).reshape(windows, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias(windows))
        return self.proj(x.transpose(1, 2).reshape(windows, tokens, width))

    def forward(self, x):
        batch, height, width, channels = x.shape
        y = self.norm1(x)
        if self.shift:
            y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        pad = (-height % self.window, -width % self.window)
        y = F.pad(y, (0, 0, 0, pad[1], 0, pad[0]))
        y = from_windows(self.attend(to_windows(y, self.window)), self.window,
                         height + pad[0], width + pad[1])
        y = y[:, :height, :width].contiguous()
        if self.shift:
            y = torch.roll(y, (self.shift, self.shift), (1, 2))
        x = x + y
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class PatchMerging(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, False)

    def forward(self, x):
        batch, height, width, channels = x.shape
        x = x.reshape(batch, height // 2, 2, width // 2, 2, channels)
        return self.reduce(self.norm(x.permute(0, 1, 3, 4, 2, 5).flatten(3)))


class SwinTiny(nn.Module):
    def __init__(self, width=96, heads=(3, 6, 12, 24), depths=(2, 2, 6, 2), image=224, window=7,
                 classes=1000):
        super().__init__()
        self.patch, self.norm0 = nn.Conv2d(3, width, 4, 4), nn.LayerNorm(width)
        parts, side = [], image // 4
        for stage, depth in enumerate(depths):
            if stage:
                parts.append(PatchMerging(width))
                width, side = 2 * width, side // 2
            parts += [SwinBlock(width, heads[stage], side, window, k % 2 == 1)
                      for k in range(depth)]
        self.blocks = nn.Sequential(*parts)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.norm0(self.patch(x).permute(0, 2, 3, 1))
        return self.head(self.norm(self.blocks(x)).mean((1, 2)))


# --- recommendation --------------------------------------------------------------------------

class Dlrm(nn.Module):
    """Dense features through a small network, sparse ones through tables, all pairs multiplied."""

    def __init__(self, dense=13, tables=8, rows=1000, width=64):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(dense, 512), nn.ReLU(), nn.Linear(512, 256),
                                    nn.ReLU(), nn.Linear(256, width), nn.ReLU())
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        count = tables + 1
        row, column = torch.tril_indices(count, count, offset=-1)
        self.register_buffer("pairs", row * count + column)
        self.top = nn.Sequential(nn.Linear(width + len(self.pairs), 512), nn.ReLU(),
                                 nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        rows = [x] + [table(sparse[:, k]) for k, table in enumerate(self.tables)]
        rows = torch.stack(rows, dim=1)
        products = torch.bmm(rows, rows.transpose(1, 2)).flatten(1)
        products = torch.index_select(products, 1, self.pairs)
        return torch.sigmoid(self.top(torch.cat([x, products], dim=1)))


# --- builders --------------------------------------------------------------------------------

def seeded(build):
    """The same weights and inputs whenever and in whatever order models are built."""
    def build_it():
        with torch.random.fork_rng():
            torch.manual_seed(7)
            module, inputs = build()
        for part in module.modules():  # statistics other than 0 and 1, which would hide much
            if isinstance(part, nn.BatchNorm2d):
                spread = torch.linspace(0.5, 1.5, part.num_features)
                part.running_mean.copy_(spread - 1.0)
                part.running_var.copy_(spread)
        return module.eval(), inputs
    return build_it


def image_of(side=224):
    return (torch.randn(1, 3, side, side),)


def gpt2_inputs(layers=4, heads=12, width=64, past=255):
    cache = [torch.randn(1, heads, past, width) for _ in range(2 * layers)]
    return (torch.randint(0, 50257, (1, 1)), torch.tensor([[past]]), *cache)


def bert_inputs(length=128, vocabulary=30522):
    return (torch.randint(0, vocabulary, (1, length)),)


def masked_bert_inputs(length=40, vocabulary=100):
    mask = torch.ones(1, length, dtype=torch.int64)
    mask[:, -length // 8:] = 0
    return (*bert_inputs(length, vocabulary), mask)


def dlrm_inputs(batch=256):
    return torch.randn(batch, 13), torch.randint(0, 1000, (batch, 8))


def built(rows):
    return {name: seeded(build) for name, build in rows.items()}


ZOO = built({
    "dlrm": lambda: (Dlrm(), dlrm_inputs()),
    "resnet18": lambda: (ResNet18(), image_of()),
    "mobilenetv3": lambda: (MobileNetV3Small(), image_of()),
    "vit_tiny": lambda: (VitTiny(), image_of()),
    "bert4": lambda: (Bert(), bert_inputs()),
    "gpt2": lambda: (Gpt2(), gpt2_inputs()),
    "whisper": lambda: (WhisperEncoder(), (torch.randn(1, 80, 3000),)),
    "swin_tiny": lambda: (SwinTiny(), image_of()),
})

#: The same, narrower and not as deep, for tests: every kind of operator is still there.
SMALL = built({
    "dlrm": lambda: (Dlrm(tables=3, rows=50), (torch.randn(32, 13),
                                               torch.randint(0, 50, (32, 3)))),
    "resnet18": lambda: (ResNet18(16, (1, 1, 1), 10), image_of(64)),
    "mobilenetv3": lambda: (MobileNetV3Small(10, MOBILENETV3_SMALL[:6:2]), image_of(96)),
    "vit_tiny": lambda: (VitTiny(depth=2, image=64, classes=10), image_of(64)),
    "bert4": lambda: (Bert(1, 96, 4, 100, 64), masked_bert_inputs()),
    "gpt2": lambda: (Gpt2(1, 96, 4, 100, 64), (torch.randint(0, 100, (1, 1)), torch.tensor([[15]]),
                                               *torch.randn(2, 1, 4, 15, 24).unbind())),
    "whisper": lambda: (WhisperEncoder(96, 4, 1, 20, 50), (torch.randn(1, 20, 100),)),
    "swin_tiny": lambda: (SwinTiny(24, (2, 4), (2, 1), 56, 7, 10), image_of(56)),
})
