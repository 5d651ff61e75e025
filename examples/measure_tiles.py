"""Tile rules: which row tiles of an op have the same bits as these rows of the whole, in real runtimes.

    build/venv/bin/python examples/measure_tiles.py [RUNTIME…] [--calls N] [--seed N] [--threads 1,2,4]

A call is an op of a random shape on random values, on a signal, an image or a volume (`--axes`). It runs whole, and as tiles of 1 to 32 rows at
the top, in the middle and at the bottom of the result: on the input rows that the tile needs, padded
where the image ends and nowhere else. Rows are compared bit by bit, and held against
data/tiles/rules.csv. Prints a table for each runtime, Markdown: per kind of op and options of the
runtime, tiles that differ, of all; then tiles that the rule says are the same, and how many of these
differ. Ends with 1 if any does.
"""

import argparse
import csv
import functools
import math
import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))
import onnx_file  # noqa: E402

HEIGHTS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
LEVELS = ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL")

# The kinds of ops that rules speak of, and the operators that calls of each kind are drawn from.
KINDS = {
    "CONV": ("pointwise", "spatial", "grouped", "depthwise"),
    "CONV_TRANSPOSE": ("disjoint", "overlapping"),
    "MAX_POOL": ("MaxPool",),
    "AVERAGE_POOL": ("AveragePool",),
    "RESIZE_NEAREST": ("nearest",),
    "RESIZE_LINEAR": ("linear",),
    "DEPTH_TO_SPACE": ("DepthToSpace",),
    "CONCAT": ("Concat",),
    "BATCH_NORM": ("BatchNormalization",),
    "ARITHMETIC": ("Add", "Mul", "Relu", "Clip", "LeakyRelu", "HardSwish"),
    "CURVE": ("Sigmoid", "Silu", "Tanh", "Erf", "Gelu", "Exp"),
    "ELU": ("Elu", "Softplus", "Mish"),
}


@dataclass(frozen=True)
class Call:
    """An op on an image of `channels` × `height` × `width`; on a signal of `channels` × `height`; or on a volume of
    `channels` × `height` × `width` × `width`. Tiles are parts of the height."""
    kind: str
    op: str
    channels: int
    height: int
    width: int
    filters: int = 0
    kernel: int = 1
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    pad: int = 0
    tail: str = ""  # behind a convolution: "norm", "relu" or "add" (of a second operand) may be fused into it
    axes: int = 2

    def length(self, side):
        """The result's length along an axis of the image."""
        if self.kind == "CONV_TRANSPOSE":
            return (side - 1) * self.stride + self.kernel - 2 * self.pad
        if self.kind in ("RESIZE_NEAREST", "RESIZE_LINEAR", "DEPTH_TO_SPACE"):
            return side * self.stride
        return (side + 2 * self.pad - self.span) // self.stride + 1

    @property
    def rows(self):
        return self.length(self.height)

    @property
    def across(self):
        """Sides of the image along the axes that are whole in each tile."""
        return (self.width,) * (self.axes - 1)

    @property
    def columns(self):
        return math.prod(self.length(side) for side in self.across)

    @property
    def span(self):
        return (self.kernel - 1) * self.dilation + 1

    @property
    def made(self):
        """Channels of the result."""
        return {"CONCAT": 2 * self.channels, "DEPTH_TO_SPACE": self.channels // 4}.get(self.kind, self.filters or self.channels)

    @property
    def sums(self):
        """Products that one element of the matrix product is the sum of."""
        taps = {"CONV": self.kernel ** self.axes, "CONV_TRANSPOSE": 1}.get(self.kind, 0)
        return self.channels // self.groups * taps

    @property
    def pair(self):
        return self.tail == "add" or self.op in ("Add", "Mul", "Concat")

    def tile(self, first, end):
        """The input rows [low, high) that result rows [first, end) need, the padding above and below them, and
        how many rows of the result of these come before `first`."""
        if self.kind in ("CONV", "MAX_POOL", "AVERAGE_POOL"):
            low, high = first * self.stride - self.pad, (end - 1) * self.stride - self.pad + self.span
            above, below = max(0, -low), max(0, high - self.height)
            return low + above, high - below, above, below, 0
        if self.kind == "CONV_TRANSPOSE":
            low = max(0, -(-(first + self.pad - self.kernel + 1) // self.stride))
            high = min(self.height, (end - 1 + self.pad) // self.stride + 1)
            return low, high, 0, 0, first + self.pad - low * self.stride
        halo = 1 if self.kind == "RESIZE_LINEAR" else 0
        low = max(0, first // self.stride - halo)
        return low, min(self.height, -(-end // self.stride) + halo), 0, 0, first - low * self.stride


# The rules

CONDITIONS = {
    "ANY": lambda call, threads: True,
    "VOLUME": lambda call, threads: call.axes == 3,
    "GROUPED": lambda call, threads: call.groups > 1,
    "DEPTHWISE": lambda call, threads: call.groups == call.channels == call.filters > 1,
    "MULTIPLIED": lambda call, threads: call.groups == call.channels > 1 and call.filters > call.channels,
    "ONE_COLUMN": lambda call, threads: call.columns == 1 and call.axes > 1,
    "WIDE_PADDING": lambda call, threads: call.pad > min(3, call.span - 1, call.length((call.width, call.height)[call.axes == 1])),
    "LONG_WINDOW": lambda call, threads: call.pad > 0 and (call.kernel > 7 and call.stride > 1 or call.axes == 1 and call.span > 17),
        "POINTWISE_SIGNAL": lambda call, threads: call.axes == call.kernel == call.stride == threads == 1,
    "POINTWISE": lambda call, threads: call.kernel == 1,
    "POINTWISE_THREADED": lambda call, threads: call.kernel == call.stride == 1 and threads > 1,
    "DISJOINT": lambda call, threads: call.kernel == call.stride,
    "SIGNAL_BY_POWER": lambda call, threads: call.axes == 1 and CONDITIONS["POWER_OF_TWO"](call, threads),
    "POWER_OF_TWO": lambda call, threads: call.stride & (call.stride - 1) == 0,
}


def share(call, first, end):
    low, high = call.tile(first, end)[:2]
    return (high - low) * math.prod(call.across) if call.kind == "CONV_TRANSPOSE" else (end - first) * call.columns


def least_share(places, threads):
    """The fewest places that a thread has, of as many threads as there may be: in equal strides, rounded up to 16
    (convolutions); or in blocks of 16, as many for each (plain products)."""
    smallest = places
    for count in range(2, threads + 1):
        each, blocks = -(-places // count), -(-places // 16)
        rest = (places - 1) % (-(-each // 16) * 16) + 1
        smallest = min(smallest, rest, max(blocks // count, 1) * 16 - (16 * blocks - places))
    return smallest


def inputs(call, first, end):
    low, high = call.tile(first, end)[:2]
    return (high - low) * math.prod(call.across) * call.channels


UNITS = {
    "ROWS": lambda least, call, rows, threads: rows[1] - rows[0] >= least,
    "SHARE": lambda least, call, rows, threads: least_share(share(call, *rows), threads) > least,
    "ROWS_OF": lambda least, call, rows, threads: (rows[1] - rows[0]) % least == 0,
    "INPUTS": lambda least, call, rows, threads: inputs(call, *rows) > least,
    "SIDES": lambda least, call, rows, threads: rows[1] - rows[0] + call.columns > least,
    "MULTIPLE": lambda least, call, rows, threads:
        (rows[1] - rows[0]) * call.columns * call.made % (least * math.lcm(*range(1, threads + 1))) == 0,
    "NEVER": lambda least, call, rows, threads: False,
}


@functools.cache
def rules():
    """(runtime, kind, condition, most sums, unit, least) of each row, in their order."""
    text = (ROOT / "data" / "tiles" / "rules.csv").read_text()
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return [(row["runtime"], row["kind"], row["when"], int(row["sums"]), row["unit"], int(row["least"])) for row in rows]


def same_by_rule(runtime, call, first, end, threads):
    """Whether a tile has the bits of the whole, as the rules say."""
    for name, kind, when, sums, unit, least in rules():
        if (name, kind) == (runtime, call.kind) and CONDITIONS[when](call, threads) and call.sums <= (sums or call.sums):
            return all(UNITS[unit](least, call, rows, threads) for rows in ((first, end), (0, call.rows)))
    return False


# Random calls

def random_call(kind, draw, axes=2):
    """A random shape: odd and even sides, few channels and many."""
    call = random_image(kind, draw)
    if axes == 1:
        return replace(call, axes=1, height=call.height * draw.choice([1, 8, 32]))
    if axes == 3:
        return replace(call, axes=3, height=min(call.height, 24), width=draw.choice([3, 5, 8, 9, 16]),
                       kernel=min(call.kernel, 3), pad=min(call.pad, 1))
    return call


def random_image(kind, draw):
    channels = draw.choice([1, 2, 3, 4, 7, 8, 12, 16, 24, 31, 32, 48, 64, 96, 128, 160])
    filters = draw.choice([1, 2, 3, 5, 8, 16, 24, 32, 48, 64, 65, 96])
    width = draw.choice([3, 5, 8, 11, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 128])
    op = draw.choice(KINDS[kind])
    call = Call(kind, op, channels, draw.randint(8, 72), width)
    if kind == "CONV":
        return random_convolution(replace(call, filters=filters), draw)
    if kind == "CONV_TRANSPOSE":
        kernel, pad = (2, 0) if op == "disjoint" else draw.choice([(3, 1), (4, 1)])
        return replace(call, filters=min(filters, 48), kernel=kernel, stride=2, pad=pad, height=draw.randint(6, 48))
    if kind.endswith("POOL"):
        kernel, stride = draw.choice([(2, 2), (3, 2), (3, 1), (5, 1)])
        return replace(call, kernel=kernel, stride=stride, pad=draw.choice([0, kernel // 2]))
    if kind.startswith("RESIZE"):
        return replace(call, stride=draw.choice([2, 2, 3, 4]), height=draw.randint(4, 24))
    if kind == "DEPTH_TO_SPACE":
        return replace(call, channels=4 * draw.choice([1, 3, 8, 12]), stride=2)
    return call


def random_convolution(call, draw):
    kernel = 1 if call.op == "pointwise" else draw.choice([3, 3, 5, 7])
    dilation = draw.choice([1, 1, 2]) if kernel > 1 else 1
    call = replace(call, kernel=kernel, dilation=dilation, stride=draw.choice([1, 1, 2]),
                   pad=draw.choice([0, (kernel - 1) * dilation // 2, (kernel - 1) * dilation // 2]),
                   tail=draw.choice(["", "", "norm", "relu", "add"]))
    if call.op == "depthwise":
        return replace(call, groups=call.channels, filters=call.channels * draw.choice([1, 1, 1, 2]))
    if call.op == "grouped":
        groups = draw.choice([2, 4, 8])
        return replace(call, groups=groups, channels=groups * draw.choice([2, 8, 16, 20, 32]),
                       filters=groups * draw.choice([1, 2, 4, 8, 16]))
    return call


class Values:
    """Random operands of a call; the same for the whole and for its tiles."""

    def __init__(self, call, seed):
        draw = np.random.RandomState(seed)

        def normal(*shape):
            return draw.standard_normal(shape).astype(np.float32)

        made = call.filters or call.channels
        self.image = normal(1, call.channels, call.height, *call.across)
        self.other = normal(1, made, call.rows, *map(call.length, call.across)) if call.pair else None
        first, second = (call.channels, call.filters) if call.kind == "CONV_TRANSPOSE" else (call.filters, call.channels)
        self.weights = normal(first, second // call.groups, *[call.kernel] * call.axes) / np.float32(max(1, call.sums) ** 0.5)
        self.bias = normal(made)
        self.norm = [normal(made), normal(made), normal(made), np.abs(normal(made)) + np.float32(0.5)]


# ONNX Runtime

def onnx_nodes(call, above, below):
    """The nodes of a tile, from x (and z) to y."""
    node, attribute = onnx_file.node, onnx_file.attribute
    sides = [call.pad] * (call.axes - 1)
    window = [attribute("kernel_shape", [call.kernel] * call.axes), attribute("strides", [call.stride] * call.axes),
              attribute("pads", [above, *sides, below, *sides])]
    norm = ["n0", "n1", "n2", "n3"]
    if call.kind == "CONV":
        tail = {"norm": [node("BatchNormalization", ["c", *norm], ["d"]), node("Relu", ["d"], ["y"])],
                "relu": [node("Relu", ["c"], ["y"])],
                "add": [node("Add", ["c", "z"], ["d"]), node("Relu", ["d"], ["y"])]}.get(call.tail, [])
        return [node("Conv", ["x", "w", "b"], ["c" if tail else "y"], *window, attribute("group", call.groups),
                     attribute("dilations", [call.dilation] * call.axes))] + tail
    if call.kind == "CONV_TRANSPOSE":
        return [node("ConvTranspose", ["x", "w", "b"], ["y"], *window)]
    if call.kind.endswith("POOL"):
        return [node(call.op, ["x"], ["y"], *window)]
    if call.kind.startswith("RESIZE"):
        return [node("Resize", ["x", "", "scales"], ["y"], attribute("mode", call.op), attribute("nearest_mode", "floor"),
                     attribute("coordinate_transformation_mode", {"nearest": "asymmetric", "linear": "half_pixel"}[call.op]))]
    if call.op == "Silu":
        return [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["y"])]
    more = {"Concat": [attribute("axis", 1)], "LeakyRelu": [attribute("alpha", 0.125)],
            "DepthToSpace": [attribute("blocksize", 2), attribute("mode", "CRD")]}.get(call.op, [])
    operands = ["x", "z"] if call.pair else ["x", *norm] if call.op == "BatchNormalization" else \
        ["x", "low", "high"] if call.op == "Clip" else ["x"]
    return [node(call.op, operands, ["y"], *more)]


class OnnxRuntime:
    """Sessions of one level of optimization."""
    name = "onnxruntime"

    def __init__(self, level, threads):
        self.level, self.threads = level, threads
        self.label = f"{level.removeprefix('ENABLE_').removesuffix('_ALL').lower()} {threads}"

    def run(self, call, values, pads, image, other):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_{self.level}")
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        feeds = {"x": image} | ({"z": other} if other is not None else {})
        constants = {"w": values.weights, "b": values.bias, "scales": np.float32([1, 1, *[call.stride] * call.axes]),
                     "low": np.float32(-0.5), "high": np.float32(1.5)}
        constants |= {f"n{i}": each for i, each in enumerate(values.norm)}
        graph = onnx_file.graph(onnx_nodes(call, *pads), [onnx_file.typed(name, *feed.shape) for name, feed in feeds.items()],
                                [onnx_file.typed("y", *"abcde"[:2 + call.axes])], [onnx_file.constant(*each) for each in constants.items()])
        session = ort.InferenceSession(onnx_file.model(graph, opset=20), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)[0]

    def whole_and_tiles(self, call, values, tiles):
        results = []
        for first, end in tiles:
            low, high, above, below, crop = call.tile(first, end)
            other = None if values.other is None else np.ascontiguousarray(values.other[:, :, first:end])
            made = self.run(call, values, (above, below), np.ascontiguousarray(values.image[:, :, low:high]), other)
            results.append(made[:, :, crop:crop + end - first])
        return self.run(call, values, (call.pad, call.pad), values.image, values.other), results


# PyTorch and ExecuTorch

def torch_function(call, values):
    """A tile in PyTorch: of image rows, the padding above and below, and rows of the second operand."""
    import torch
    from torch.nn import functional
    weights, bias = torch.from_numpy(values.weights), torch.from_numpy(values.bias)
    norm = [torch.from_numpy(each) for each in values.norm]

    def normalized(x):
        return functional.batch_norm(x, norm[2], norm[3], norm[0], norm[1])

    def of_axes(name):
        return getattr(functional, f"{name}{call.axes}d")

    sides = [call.pad] * (call.axes - 1)

    def padded(x, above, below, value=0.0):
        return functional.pad(x, (*[0] * (2 * call.axes - 2), above, below), value=value) if above or below else x

    def convolved(x, above, below, z):
        rows = above if above == below else 0
        x = x if rows else padded(x, above, below)
        made = of_axes("conv")(x, weights, bias, call.stride, (rows, *sides), call.dilation, call.groups)
        made = {"norm": normalized, "add": lambda y: y + z}.get(call.tail, lambda y: y)(made)
        return functional.relu(made) if call.tail else made

    def pooled(x, above, below, z):
        if call.kind == "MAX_POOL":
            return of_axes("max_pool")(padded(x, above, below, float("-inf")), call.kernel, call.stride, (0, *sides))
        return of_axes("avg_pool")(padded(x, above, below), call.kernel, call.stride, (0, *sides))

    def resized(x, above, below, z):
        linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[call.axes]
        how = {"mode": "nearest"} if call.op == "nearest" else {"mode": linear, "align_corners": False}
        return functional.interpolate(x, scale_factor=float(call.stride), **how)

    def transposed(x, above, below, z):
        return of_axes("conv_transpose")(x, weights, bias, call.stride, (above, *sides))

    alone = {"Relu": torch.relu, "Clip": lambda x: x.clamp(-0.5, 1.5), "LeakyRelu": lambda x: functional.leaky_relu(x, 0.125),
             "HardSwish": functional.hardswish, "Sigmoid": torch.sigmoid, "Silu": functional.silu, "Tanh": torch.tanh,
             "Erf": torch.erf, "Gelu": functional.gelu, "Elu": functional.elu, "Softplus": functional.softplus,
             "Mish": functional.mish, "Exp": torch.exp, "BatchNormalization": normalized,
             "DepthToSpace": lambda x: functional.pixel_shuffle(x, 2)}
    pairs = {"Add": torch.add, "Mul": torch.mul, "Concat": lambda x, z: torch.cat([x, z], 1)}
    if call.op in alone:
        return lambda x, above, below, z: alone[call.op](x)
    if call.op in pairs:
        return lambda x, above, below, z: pairs[call.op](x, z)
    return {"CONV": convolved, "CONV_TRANSPOSE": transposed, "MAX_POOL": pooled, "AVERAGE_POOL": pooled,
            "RESIZE_NEAREST": resized, "RESIZE_LINEAR": resized}[call.kind]


def torch_whole_and_tiles(call, function, image, other, tiles):
    results = []
    for first, end in tiles:
        low, high, above, below, crop = call.tile(first, end)
        rows = None if other is None else other[:, :, first:end].clone()
        results.append(function(image[:, :, low:high].clone(), above, below, rows)[:, :, crop:crop + end - first].clone())
    return function(image, call.pad, call.pad, other), results


class PyTorch:
    name = "pytorch"

    def __init__(self, threads):
        self.threads, self.label = threads, f"threads {threads}"

    def whole_and_tiles(self, call, values, tiles):
        import torch
        torch.set_num_threads(self.threads)
        other = None if values.other is None else torch.from_numpy(values.other)
        with torch.no_grad():
            whole, results = torch_whole_and_tiles(call, torch_function(call, values), torch.from_numpy(values.image), other, tiles)
        return whole.numpy(), [result.numpy() for result in results]


class ExecuTorch:
    """The whole and its tiles as one program, lowered for the portable kernels."""
    name, threads, label = "executorch", 1, "portable kernels"

    def whole_and_tiles(self, call, values, tiles):
        import make_pte
        import pte_runtime
        import torch
        from executorch.exir import to_edge

        class Tiles(torch.nn.Module):
            def forward(self, image, other=None):
                whole, results = torch_whole_and_tiles(call, torch_function(call, values), image, other, tiles)
                return [whole, *results]

        operands = tuple(torch.from_numpy(each) for each in (values.image, values.other) if each is not None)
        with torch.no_grad():
            exported = torch.export.export(Tiles(), operands, strict=False)
            program = to_edge(exported, compile_config=make_pte.EDGE).to_executorch()
        whole, *results = pte_runtime.Python(program.buffer).call(*operands)
        return whole.numpy(), [result.numpy() for result in results]


def runtimes(threads=(1, 2)):
    """Instances per runtime: one for each set of options."""
    return {"onnxruntime": [OnnxRuntime(level, count) for level in LEVELS for count in threads],
            "pytorch": [PyTorch(count) for count in threads], "executorch": [ExecuTorch()]}


# Measuring

def tiles_of(rows, draw):
    """Tiles of each height: at the top, at the bottom and somewhere between."""
    for height in HEIGHTS:
        if height < rows:
            for first in sorted({0, rows - height, draw.randint(0, rows - height)}):
                yield first, first + height


class Count:
    """Tiles compared, those that differ, those that the rule calls the same, and those of them that differ."""

    def __init__(self):
        self.tiles = self.differ = self.within = 0
        self.wrong = []

    def add(self, runtime, call, tile, same):
        within = same_by_rule(runtime.name, call, *tile, runtime.threads)
        self.tiles, self.differ, self.within = self.tiles + 1, self.differ + (not same), self.within + within
        if within and not same:
            self.wrong.append((call, tile))


def same_bits(one, other):
    return one.shape == other.shape and np.array_equal(np.ascontiguousarray(one).view(np.int32),
                                                       np.ascontiguousarray(other).view(np.int32))


def measure(runtime, kind, calls, seed, axes=2):
    """The Count of some random calls of one kind."""
    draw, count = random.Random(f"{seed} {kind}"), Count()
    for number in range(calls):
        call = random_call(kind, draw, axes)
        if min((call.height, *call.across)) < call.span or call.rows < 4:
            continue
        tiles = list(tiles_of(call.rows, draw))
        whole, results = runtime.whole_and_tiles(call, Values(call, number), tiles)
        for tile, result in zip(tiles, results):
            count.add(runtime, call, tile, same_bits(whole[:, :, tile[0]:tile[1]], result))
    return count


def table(instances, calls, seed, axes):
    """Prints the table of one runtime; tiles that prove a rule wrong."""
    wrong = []
    print("| kind | " + " | ".join(each.label for each in instances) + " | the same by the rule | wrong |")
    print("|---|" + "--:|" * (len(instances) + 2))
    for kind in KINDS:
        if kind == "DEPTH_TO_SPACE" and axes != 2:
            continue
        counts = [measure(each, kind, calls, seed, axes) for each in instances]
        wrong += [(each.label, *found) for each, count in zip(instances, counts) for found in count.wrong]
        cells = [f"{count.differ:,} of {count.tiles:,}" for count in counts]
        cells += [f"{sum(count.within for count in counts):,}", str(sum(len(count.wrong) for count in counts))]
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runtimes", nargs="*", metavar="RUNTIME", help="onnxruntime, pytorch, executorch; default: all")
    parser.add_argument("--calls", type=int, default=40, help="random calls for each kind and set of options")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--axes", type=int, choices=(1, 2, 3), default=2, help="of a signal, an image or a volume")
    options = parser.parse_args()
    wrong = []
    for name, instances in runtimes([int(count) for count in options.threads.split(",")]).items():
        if name in (options.runtimes or [name]):
            print(f"\n{name}\n")
            wrong += table(instances, options.calls, options.seed, options.axes)
    for found in wrong:
        print("wrong:", *found)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
