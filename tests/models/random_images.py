"""Random ONNX nets of images, signals and volumes for what tiles have to get right: windows with strides, dilation, groups and
padding of each side or by rule, pools that count padding or round up, constants per channel, joins of
channels, images that are resized, transposed convolutions, values that several nodes read or that are results."""

import struct
import sys

import numpy as np

import onnx_file


def ints(name, numbers):
    return (onnx_file.field(1, name) + b"".join(onnx_file.field(8, int(each)) for each in numbers) +
            onnx_file.field(20, 7))


def integer(name, number):
    return onnx_file.field(1, name) + onnx_file.field(3, int(number) % 2**64) + onnx_file.field(20, 2)


def real(name, number):
    return onnx_file.field(1, name) + b"\x15" + struct.pack("<f", number) + onnx_file.field(20, 1)


def text(name, word):
    return onnx_file.field(1, name) + onnx_file.field(4, word) + onnx_file.field(20, 3)


class Images:
    """One net under construction; each value is an image N, C, H, W, a signal N, C, L or a volume N, C, D, H, W."""

    SIDES = {1: [(900, 4000)], 2: [(32, 80), (8, 64)], 3: [(16, 40), (8, 17), (8, 17)]}

    def __init__(self, seed, axes=2):
        self.random, self.axes = np.random.RandomState(seed), axes
        self.nodes, self.constants = [], []
        self.named = {}  # names other than the usual ones
        self.shapes = {}
        self.input = self.made("x", [1 + self.chance(0.2), self.random.randint(1, 6),
                                     *(self.random.randint(*sides) for sides in self.SIDES[axes])])
        self.outputs = []

    def chance(self, part):
        return self.random.rand() < part

    def made(self, name, shape):
        self.shapes[name] = [int(side) for side in shape]
        return name

    def called(self, name):
        return self.named.get(name, name)

    def pick(self):
        """One of the last, mostly."""
        names = list(self.shapes)
        return names[-1 - min(self.random.geometric(0.6) - 1, len(names) - 1)]

    def constant(self, shape, low=-1.0, high=1.0):
        return self.numbers(self.random.uniform(low, high, shape).astype("f4"))

    def put(self, operator, operands, shape, *attributes):
        name = self.called(f"value{len(self.nodes)}")
        self.nodes.append(onnx_file.node(operator, operands, [name], *attributes))
        return self.made(name, shape)

    def window(self, image, size, strides, dilations, rounds_up=False):
        """Attributes and the sides of the result; None if none would be left. Each window sees the image."""
        attributes = [ints("kernel_shape", size), ints("strides", strides)]
        if (dilations > 1).any():
            attributes.append(ints("dilations", dilations))
        reach = (size - 1) * dilations + 1
        sides = np.array(self.shapes[image][2:])
        rules = ["pads", "pads", "none", "VALID", "SAME_UPPER", "SAME_LOWER"]
        gaps = (dilations > 1).any() or (size < strides).any()  # the runtime refuses these by rule, or pads otherwise
        rule = self.random.choice(rules[:4] if gaps else rules)
        if rule.startswith("SAME"):
            return attributes + [text("auto_pad", rule)], -(-sides // strides)
        before = after = np.zeros(self.axes, int)
        if rule == "VALID":
            attributes.append(text("auto_pad", rule))
        if rule == "pads":
            before, after = (np.minimum(self.random.randint(0, 3, self.axes), size - 1) for _ in range(2))
            attributes.append(ints("pads", [*before, *after]))
        left = sides + before + after - reach
        if (left < 0).any():
            return None
        out = left // strides + 1
        if rounds_up and rule != "VALID":
            attributes.append(integer("ceil_mode", 1))
            out = -(-left // strides) + 1
            if ((out - 1) * strides >= sides + before).any():
                return None  # ONNX Runtime does not agree with itself about windows that begin in padding
        return attributes, out

    def conv(self, image):
        shape = self.shapes[image]
        size, strides = self.random.randint(1, 4, self.axes), self.random.choice([1, 1, 2], self.axes)
        dilations = self.random.choice([1, 1, 2], self.axes)
        groups = shape[1] if self.chance(0.3) else 2 if shape[1] % 2 == 0 and self.chance(0.3) else 1
        channels = groups * self.random.randint(1, 1 + max(1, 8 // groups))
        window = self.window(image, size, strides, dilations)
        if window is None:
            return
        attributes, out = window
        operands = [image, self.constant([channels, shape[1] // groups, *size])]
        if self.chance(0.5):
            operands.append(self.constant([channels]))
        self.put("Conv", operands, [shape[0], channels, *out], *attributes, integer("group", groups))

    def pool(self, image):
        shape = self.shapes[image]
        average = self.chance(0.5)
        counts = average and self.chance(0.5)
        dilations = np.ones(self.axes, int) if average else self.random.choice([1, 1, 2], self.axes)
        window = self.window(image, self.random.randint(1, 4, self.axes), self.random.choice([1, 2], self.axes), dilations,
                             rounds_up=not counts and self.chance(0.3))
        if window is None:
            return
        attributes, out = window
        if counts:
            attributes.append(integer("count_include_pad", 1))
        self.put("AveragePool" if average else "MaxPool", [image], [*shape[:2], *out], *attributes)

    def elementwise(self, image):
        shape = self.shapes[image]
        operator = str(self.random.choice(["Relu", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Clip", "PRelu",
                                           "BatchNormalization", "Add", "Mul", "Sub", "Erf", "Abs"]))
        operands, attributes = [image], []
        if operator == "Clip":
            operands += [self.constant([], -1, 0), ""] if self.chance(0.3) else [
                self.constant([], -1, 0), self.constant([], 0, 6)]
        if operator == "LeakyRelu":
            attributes = [real("alpha", 0.1)]
        if operator == "PRelu":
            operands.append(self.constant([shape[1], *self.ones]))
        if operator == "BatchNormalization":
            operands += [self.constant([shape[1]], 0.1, 1) for _ in range(4)]
        if operator in ("Add", "Mul", "Sub"):
            like = [name for name, other in self.shapes.items() if other == shape]
            row = shape[3:] if self.axes > 1 else [1]
            sizes = [[1, shape[1], *self.ones], [shape[1], *self.ones], row, []][self.random.randint(4)]
            operands.append(self.random.choice(like) if self.chance(0.5) else self.constant(sizes))
        self.put(operator, [str(each) for each in operands], shape, *attributes)

    @property
    def ones(self):
        return [1] * self.axes

    def join(self, image):
        shape = self.shapes[image]
        like = [name for name, other in self.shapes.items()
                if [other[0], *other[2:]] == [shape[0], *shape[2:]] and name != "x"]
        if len(like) < 2 or shape[1] > 12:
            return
        parts = [str(each) for each in self.random.choice(like, self.random.randint(2, 4))]
        channels = sum(self.shapes[each][1] for each in parts)
        self.put("Concat", parts, [shape[0], channels, *shape[2:]], integer("axis", 1 - len(shape) * self.chance(0.3)))

    def transposed(self, image):
        shape = self.shapes[image]
        strides = self.random.randint(1, 4, self.axes)
        size = strides + self.random.randint(0, 3, self.axes)
        groups = 2 if shape[1] % 2 == 0 and self.chance(0.3) else 1
        channels = groups * self.random.randint(1, 5)
        before, after = (self.random.randint(0, 2, self.axes) * (size > 1) for _ in range(2))
        extra = np.minimum(after, self.random.randint(0, 2, self.axes)) * (strides > 1)
        out = (np.array(shape[2:]) - 1) * strides + size - before - after + extra
        if self.is_large(out) or (out < 1).any():
            return
        operands = [image, self.constant([shape[1], channels // groups, *size])]
        if self.chance(0.5):
            operands.append(self.constant([channels]))
        self.put("ConvTranspose", operands, [shape[0], channels, *out], ints("pads", [*before, *after]),
                 ints("strides", strides), ints("output_padding", extra), integer("group", groups))

    def is_large(self, sides):
        return np.prod(sides) > {1: 10_000, 2: 40_000, 3: 20_000}[self.axes] or (self.axes == 2 and max(sides) > 200)

    def resize(self, image):
        """What tiles are made of, and now and then what they are not."""
        shape, up = self.shapes[image], int(self.random.choice([2, 2, 3, 4]))
        if self.is_large(np.array(shape[2:]) * up):
            return
        mode, place, nearest = [("nearest", "asymmetric", "floor"), ("nearest", "half_pixel", "round_prefer_floor"),
                                ("linear", "half_pixel", "floor"), ("linear", "asymmetric", "floor"),
                                ("linear", "align_corners", "floor")][self.random.randint(5)]
        across = int(self.random.choice([1, 2])) if self.chance(0.3) else up
        times = [1, 1, up, *[across] * (self.axes - 1)]
        made = [side * each for side, each in zip(shape, times)]
        operands = [image, ""]
        if self.chance(0.5):
            operands.append(self.numbers(np.array(times, "f4")))
        else:
            operands += ["", self.numbers(np.array(made, "i8"))]
        self.put("Resize", operands, made, text("mode", mode), text("coordinate_transformation_mode", place),
                 text("nearest_mode", nearest))

    def shuffle(self, image):
        shape, block = self.shapes[image], int(self.random.randint(2, 4))
        mode = text("mode", self.random.choice(["DCR", "CRD"]))
        if self.axes != 2:
            return
        if shape[1] % block**2 == 0 and shape[2] * block < 200:
            made = [shape[0], shape[1] // block**2, shape[2] * block, shape[3] * block]
            self.put("DepthToSpace", [image], made, integer("blocksize", block), mode)
        elif shape[2] % block == shape[3] % block == 0 and shape[1] < 4:
            made = [shape[0], shape[1] * block**2, shape[2] // block, shape[3] // block]
            self.put("SpaceToDepth", [image], made, integer("blocksize", block))

    def pad(self, image):
        mode = str(self.random.choice(["constant", "edge", "reflect"]))
        before, after = ([0, *self.random.randint(0, 3, 1 + self.axes)] for _ in range(2))
        if mode == "reflect":
            before, after = (np.minimum(sides, np.array(self.shapes[image]) - 1) for sides in (before, after))
        operands = [image, self.numbers(np.array([*before, *after], "i8"))]
        if mode == "constant" and self.chance(0.5):
            operands.append(self.constant([]))
        self.put("Pad", operands, np.array(self.shapes[image]) + before + after, text("mode", mode))

    def squeeze(self, image):
        """Channels are weighed by what all of the image says."""
        shape = self.shapes[image]
        whole = self.put("GlobalAveragePool", [image], [*shape[:2], *self.ones])
        weight = self.put("Conv", [whole, self.constant([shape[1], shape[1], *self.ones])], self.shapes[whole])
        self.put("Mul", [image, self.put("Sigmoid", [weight], self.shapes[weight])][::1 - 2 * self.chance(0.5)],
                 shape)

    def numbers(self, array):
        name = self.called(f"constant{len(self.constants)}")
        self.constants.append(onnx_file.constant(name, array))
        return name

    def grow(self, n):
        kinds = [self.conv, self.conv, self.pool, self.elementwise, self.elementwise, self.join, self.transposed,
                 self.resize, self.shuffle, self.pad, self.squeeze]
        while len(self.nodes) < n:
            kinds[self.random.randint(len(kinds))](self.pick())
        self.outputs = [list(self.shapes)[-1]]
        if self.chance(0.3):
            self.outputs.append(f"value{self.random.randint(len(self.nodes) - 1)}")

    def bytes(self, opset=17, sizes=None):
        """`sizes`: of the input, instead of numbers."""
        inputs = [onnx_file.typed("x", *(sizes or self.shapes["x"]))]
        outputs = [onnx_file.typed(name, *self.shapes[name]) for name in dict.fromkeys(self.outputs)]
        return onnx_file.model(onnx_file.graph(self.nodes, inputs, outputs, self.constants), opset)

    def feed(self):
        return {"x": self.random.uniform(-2, 2, self.shapes["x"]).astype("f4")}


def random_images(seed, axes=2):
    net = Images(seed, axes)
    net.grow(4 + net.random.randint(8))
    return net


def sandwich(side=96, opset=17, sizes=None, named=None, channels=24, axes=2):
    """A wide middle between two narrow ends."""
    net = Images(1, axes)
    net.named = named or {}
    net.shapes = {"x": [1, 3, *[side] * axes]}
    window, made = (ints("kernel_shape", [3] * axes), ints("pads", [1] * 2 * axes)), [1, channels, *[side] * axes]
    image = net.put("Conv", ["x", net.constant([channels, 3, *[3] * axes])], made, *window)
    image = net.put("Relu", [image], net.shapes[image])
    image = net.put("Conv", [image, net.constant([channels, channels, *[3] * axes])], made, *window)
    image = net.put("Clip", [image, net.constant([], -1, 0), net.constant([], 1, 2)], net.shapes[image])
    net.put("MaxPool", [image], [1, channels, *[side // 4] * axes], ints("kernel_shape", [4] * axes),
            ints("strides", [4] * axes))
    net.outputs = [list(net.shapes)[-1]]
    return net, net.bytes(opset, sizes)


if __name__ == "__main__":  # tests/data/onnx/images.onnx
    with open(sys.argv[1], "wb") as file:
        file.write(sandwich(64, channels=4)[1])
