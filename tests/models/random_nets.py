"""Random nets of images for what rewrites have to get right together: convolutions with dilation,
groups and multipliers, weights that several read, results that several read or that are the
model's, paddings of a value, numbers that floats are seldom tried with, and a state beside."""

import numpy as np

import tflite_file

KINDS = ("CONV_2D", "CONV_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D",
         "PAD", "PADV2", "MIRROR_PAD", "ADD", "ADD", "RELU", "CONCATENATION")
SAME, VALID = 0, 1
STATE = ("old", "new")  # without the op that stores it, nothing is read
RELU6 = 3  # as a fused activation
ODD = np.array([0.0, -0.0, 1e-42, -1e-42, 1e30, -1e30, 3e38, np.inf, -np.inf, np.nan], np.float32)


class Net:
    """One net under construction. All images have one scale, as joins and paddings want."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.dtype = ("INT8", "FLOAT32")[seed % 2]
        self.odd = seed % 4 == 3
        self.model = tflite_file.Model("random net")
        self.graph = self.model.graph("main")
        zero = int(self.random.randint(-40, 40))
        self.scale = (0.05, zero) if self.dtype == "INT8" else (None, 0)
        self.images = []  # (tensor, shape)
        self.chains = []  # first and last op: a convolution, and what leaves its channels apart
        self.weights = {}  # by shape: those of an op before
        self.add([1, self.random.randint(8, 20), self.random.randint(8, 20),
                  2 * self.random.randint(1, 4)])

    def add(self, shape):
        shape = [int(size) for size in shape]
        name = f"image{len(self.images)}"
        self.images.append((self.graph.tensor(name, shape, self.dtype, *self.scale), shape))
        return self.images[-1][0]

    def chance(self, part):
        return self.random.rand() < part

    def numbers(self, shape, low, high, dtype):
        if self.dtype == "INT8":
            return self.random.randint(low, high, shape).astype(dtype)
        values = self.random.uniform(-1, 1, shape).astype(np.float32)
        if self.odd and self.chance(0.4):
            values.flat[self.random.randint(values.size)] = self.random.choice(ODD)
        return values

    def weights_and_bias(self, shape, channels):
        """Half of the time those of an op before, if one had the same shape."""
        key = (tuple(shape), channels)
        if key not in self.weights or self.chance(0.5):
            scales = (0.01, 0.0005) if self.dtype == "INT8" else (None, None)
            weights = self.numbers(shape, -90, 90, np.int8)
            bias = self.numbers([channels], -900, 900, np.int32)
            self.weights[key] = [self.graph.constant("weights", weights, scale=scales[0]),
                                 self.graph.constant("bias", bias, scale=scales[1])]
        return self.weights[key]

    def window(self, shape, dilated):
        """Sizes, options and the image that comes out; None if the image is too small."""
        random = self.random
        size, strides = random.randint(1, 4, 2), random.randint(1, 3, 2)
        dilation = random.randint(1, 4, 2) if dilated and self.chance(0.4) else np.ones(2, int)
        reach = (size - 1) * dilation + 1
        image = np.array(shape[1:3])
        padding = VALID if (image > reach).all() and self.chance(0.3) else SAME
        left = image if padding == SAME else image - reach + 1
        options = {"padding": padding, "strideH": int(strides[0]), "strideW": int(strides[1])}
        if dilated:
            options |= {"dilationHFactor": int(dilation[0]), "dilationWFactor": int(dilation[1])}
        if self.chance(0.3):
            options["fusedActivationFunction"] = RELU6
        return size, options, [1, *-(-left // strides)]

    def conv(self, taken, shape):
        size, options, made = self.window(shape, True)
        groups = 2 if shape[3] % 2 == 0 and self.chance(0.25) else 1
        channels = groups * self.random.randint(1, 7)
        constants = self.weights_and_bias([channels, *size, shape[3] // groups], channels)
        self.graph.op("CONV_2D", [taken, *constants], [self.add([*made, channels])], **options)

    def depthwise(self, taken, shape, multipliers=(1, 1, 1, 2)):
        size, options, made = self.window(shape, True)
        multiplier = self.random.choice(multipliers)
        channels = int(shape[3] * multiplier)
        constants = self.weights_and_bias([1, *size, channels], channels)
        self.graph.op("DEPTHWISE_CONV_2D", [taken, *constants], [self.add([*made, channels])],
                      depthMultiplier=int(multiplier), **options)

    def pool(self, kind, taken, shape):
        size, options, made = self.window(shape, False)
        self.graph.op(kind, [taken], [self.add([*made, shape[3]])], filterHeight=int(size[0]),
                      filterWidth=int(size[1]), **options)

    def pad(self, kind, taken, shape):
        pads = np.zeros((4, 2), np.int32)
        pads[1:] = self.random.randint(0, 3, (3, 2))
        mode = self.random.randint(2)  # REFLECT, SYMMETRIC
        if kind == "MIRROR_PAD":
            pads = np.minimum(pads, np.array(shape)[:, None] - 1 + mode).astype(np.int32)
        inputs = [taken, self.graph.constant("pads", pads)]
        if kind == "PADV2":
            value = np.array(self.random.randint(-90, 90), tflite_file.NUMPY[self.dtype])
            inputs.append(self.graph.constant("value", value.reshape(1), None, *self.scale))
        options = {"mode": int(mode)} if kind == "MIRROR_PAD" else {}
        self.graph.op(kind, inputs, [self.add(np.array(shape) + pads.sum(1))], **options)

    def pair(self, kind, taken, shape):
        """With another image of its size, or itself."""
        others = [tensor for tensor, size in self.images if size == shape]
        other = others[self.random.randint(len(others))]
        if kind == "CONCATENATION":
            made = self.add([*shape[:3], 2 * shape[3]])
            self.graph.op(kind, [taken, other], [made], axis=3)
        else:
            self.graph.op(kind, [taken, other], [self.add(shape)])

    def chain(self):
        """On the last image: a convolution, and ops of which each channel goes its own way."""
        first = len(self.graph.table.operators)
        self.conv(*self.images[-1])
        for _ in range(self.random.randint(1, 3)):
            kind = ("DEPTHWISE_CONV_2D", "MAX_POOL_2D", "RELU")[self.random.randint(3)]
            taken, shape = self.images[-1]
            if kind == "DEPTHWISE_CONV_2D":
                self.depthwise(taken, shape, (1,))
            elif kind == "RELU":
                self.graph.op(kind, [taken], [self.add(shape)])
            else:
                self.pool(kind, taken, shape)
        self.chains.append((first, len(self.graph.table.operators) - 1))

    def grow(self):
        """Mostly on the last image, so that there are long stages."""
        last = len(self.images) - 1
        at = last if self.chance(0.75) else self.random.randint(last + 1)
        taken, shape = self.images[at]
        kind = KINDS[self.random.randint(len(KINDS))]
        if kind == "CONV_2D":
            self.conv(taken, shape)
        elif kind == "DEPTHWISE_CONV_2D":
            self.depthwise(taken, shape)
        elif kind in ("PAD", "PADV2", "MIRROR_PAD"):
            self.pad(kind, taken, shape)
        elif kind in ("ADD", "CONCATENATION"):
            self.pair(kind, taken, shape)
        elif kind == "RELU":
            self.graph.op(kind, [taken], [self.add(shape)])
        else:
            self.pool(kind, taken, shape)

    def keep_state(self):
        """A sum of what came in from run to run; gives its input and its output."""
        graph = self.graph
        handle = graph.tensor("handle", [1], "RESOURCE")
        given, old, new = (graph.tensor(name, [1, 4], self.dtype, *self.scale)
                           for name in ("given", *STATE))
        graph.op("VAR_HANDLE", [], [handle], container="", sharedName="sum")
        graph.op("READ_VARIABLE", [handle], [old])
        graph.op("ADD", [old, given], [new])
        graph.op("ASSIGN_VARIABLE", [handle, new], [])
        return given, new

    def finish(self):
        """The images that nobody reads are results, and sometimes others as well."""
        read = {t for op in self.graph.table.operators for t in tflite_file.items(op.inputs)}
        results = [tensor for tensor, _ in self.images[1:] if tensor not in read or self.chance(0.1)]
        inputs = [self.images[0][0]]
        if self.chance(0.3):
            given, new = self.keep_state()
            inputs.append(given)
            results.append(new)
        self.graph.io(inputs, results)
        return self.model.bytes()


def random_net(seed):
    """A model, how many of its ops work on images, which come first, and its chains of channels."""
    net = Net(seed)
    before, behind = net.random.randint(0, 4, 2)
    for _ in range(before):
        net.grow()
    net.chain()
    for _ in range(behind):
        net.grow()
    n_ops = len(net.graph.table.operators)
    return net.finish(), n_ops, net.chains
