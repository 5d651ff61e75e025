"""Layers with random weights whose values stay in range however deep the net.

A net of random weights is useless as a test when its outputs saturate or vanish: every plan,
wrong ones too, then gives the same answer. So each value carries the root mean square of what
it holds, each layer's weights are scaled to keep that unchanged, and the quantization of its
output is derived from it. Only multiplication, division and square roots are used, so the
files have the same bytes everywhere.
"""

import math
from dataclasses import dataclass

import numpy as np

NONE, RELU = 0, 1           # ActivationFunctionType
SAME, VALID = 0, 1          # Padding


@dataclass(frozen=True)
class Value:
    tensor: int
    shape: tuple
    scale: float = 0.0
    zero: int = 0
    rms: float = 1.0


class Int8Net:
    """int8 layers over a Graph: per-channel weights, int32 biases, activations by rms."""

    def __init__(self, graph, seed):
        self.graph = graph
        self.random = np.random.RandomState(seed)  # its stream is frozen across numpy versions
        self.count = 0

    def name(self, kind):
        self.count += 1
        return f"{kind}_{self.count}"

    def input(self, name, shape):
        scale = 1 / 255
        return Value(self.graph.tensor(name, shape, "INT8", scale, -128), shape, scale, -128,
                     math.sqrt(1 / 3))

    def activation(self, name, shape, rms, relu):
        """A tensor for values of that rms: three sigma to either side, or above zero. A relu
        leaves 1/sqrt(2) of the rms of what it gets."""
        scale, zero = (3 * math.sqrt(2) * rms / 255, -128) if relu else (6 * rms / 255, 0)
        return Value(self.graph.tensor(name, shape, "INT8", scale, zero), shape, scale, zero, rms)

    def like(self, name, value, shape=None):
        """A tensor with the quantization of another, for ops that only move values."""
        shape = shape or value.shape
        tensor = self.graph.tensor(name, shape, "INT8", value.scale, value.zero)
        return Value(tensor, shape, value.scale, value.zero, value.rms)

    def weights(self, name, shape, fan_in, channels, axis, dtype="INT8", gain=1.0):
        """Weights of rms gain/sqrt(fan_in), each channel a little louder than the last."""
        top = 7 if dtype == "INT4" else 127
        base = gain / (math.sqrt(top * (top + 1) / 3) * math.sqrt(fan_in))
        scales = [base * (1 + (c % 4) / 8) for c in range(channels)]
        values = self.random.randint(-top, top + 1, shape).astype(np.int8)
        return self.graph.constant(name, values, dtype, scales, axis=axis), scales

    def bias(self, name, x, scales):
        values = self.random.uniform(-0.2, 0.2, len(scales)) * x.rms
        steps = np.asarray([x.scale * s for s in scales])
        return self.graph.constant(name, np.round(values / steps).astype(np.int32), "INT32",
                                   steps)

    def _conv(self, op, x, channels, shape, fan_in, axis, out_hw, relu, options, dtype="INT8"):
        name = self.name(op.lower())
        weights, scales = self.weights(name + "/weights", shape, fan_in, channels, axis, dtype,
                                       math.sqrt(2) if relu else 1)
        bias = self.bias(name + "/bias", x, scales)
        y = self.activation(name, (1, *out_hw, channels), x.rms, relu)
        self.graph.op(op, [x.tensor, weights, bias], [y.tensor],
                      fusedActivationFunction=RELU if relu else NONE, **options)
        return y

    def conv(self, x, channels, kernel=1, stride=1, relu=True, dtype="INT8"):
        _, h, w, c = x.shape
        return self._conv("CONV_2D", x, channels, (channels, kernel, kernel, c),
                          kernel * kernel * c, 0, (-(-h // stride), -(-w // stride)), relu,
                          dict(padding=SAME, strideH=stride, strideW=stride), dtype)

    def depthwise(self, x, kernel=3, stride=1, relu=True):
        _, h, w, c = x.shape
        return self._conv("DEPTHWISE_CONV_2D", x, c, (1, kernel, kernel, c), kernel * kernel, 3,
                          (-(-h // stride), -(-w // stride)), relu,
                          dict(padding=SAME, strideH=stride, strideW=stride, depthMultiplier=1))

    def transpose_conv(self, x, channels, kernel, stride):
        _, h, w, c = x.shape
        name = self.name("transpose_conv")
        shape = (1, h * stride, w * stride, channels)
        weights, scales = self.weights(name + "/weights", (channels, kernel, kernel, c),
                                       kernel * kernel * c / stride ** 2, channels, 0)
        bias = self.bias(name + "/bias", x, scales)
        y = self.activation(name, shape, x.rms, relu=False)
        self.graph.op("TRANSPOSE_CONV",
                      [self.shape(name + "/shape", shape), weights, x.tensor, bias], [y.tensor],
                      padding=SAME, strideH=stride, strideW=stride)
        return y

    def dense(self, x, units, relu=False, bias=True, dtype="INT8", gain=1.0):
        """Fully connected, with one scale for all its weights; without bias, input 2 is -1.
        What feeds a softmax needs some gain, or its inputs hardly show in its outputs."""
        name = self.name("dense")
        fan_in = x.shape[-1]
        weights, scales = self.weights(name + "/weights", (units, fan_in), fan_in, 1, 0, dtype,
                                       gain * (math.sqrt(2) if relu else 1))
        added = self.bias(name + "/bias", x, scales * units) if bias else -1
        y = self.activation(name, (1, units), gain * x.rms, relu)
        self.graph.op("FULLY_CONNECTED", [x.tensor, weights, added], [y.tensor],
                      fusedActivationFunction=RELU if relu else NONE)
        return y

    def pool(self, op, x, kernel, stride):
        _, h, w, c = x.shape
        y = self.like(self.name(op.lower()), x, (1, -(-h // stride), -(-w // stride), c))
        self.graph.op(op, [x.tensor], [y.tensor], padding=SAME, strideH=stride, strideW=stride,
                      filterHeight=kernel, filterWidth=kernel)
        return y

    def global_pool(self, x):
        _, h, w, c = x.shape
        y = self.like(self.name("global_pool"), x, (1, 1, 1, c))
        self.graph.op("AVERAGE_POOL_2D", [x.tensor], [y.tensor], padding=VALID, strideH=h,
                      strideW=w, filterHeight=h, filterWidth=w)
        return y

    def concat(self, values):
        """Along channels. All must have one quantization: the int8 kernel only copies."""
        first = values[0]
        y = self.like(self.name("concat"), first,
                      (*first.shape[:-1], sum(v.shape[-1] for v in values)))
        self.graph.op("CONCATENATION", [v.tensor for v in values], [y.tensor], axis=3)
        return y

    def add(self, a, b, relu=False):
        rms = math.sqrt((a.rms ** 2 + b.rms ** 2) / (2 if relu else 1))
        y = self.activation(self.name("add"), a.shape, rms, relu)
        self.graph.op("ADD", [a.tensor, b.tensor], [y.tensor],
                      fusedActivationFunction=RELU if relu else NONE)
        return y

    def reshape(self, x, shape):
        y = self.like(self.name("reshape"), x, shape)
        self.graph.op("RESHAPE", [x.tensor, self.shape(f"{self.name('shape')}", shape)],
                      [y.tensor], newShape=np.asarray(shape, np.int32))
        return y

    def softmax(self, x):
        # The kernel fixes this quantization. Its input's scale must be above 2^-26, or the
        # runtime aborts; see make_tflite.py.
        tensor = self.graph.tensor(self.name("softmax"), x.shape, "INT8", 1 / 256, -128)
        self.graph.op("SOFTMAX", [x.tensor], [tensor], beta=1.0)
        return Value(tensor, x.shape, 1 / 256, -128, 0.5)

    def shape(self, name, values):
        return self.graph.constant(name, np.asarray(values, np.int32))
