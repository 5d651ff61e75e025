"""Exported PyTorch programs of convolutional networks as ONNX models, operator by operator, without the onnx package.

The ops are those that torch.onnx writes for them. Operators without a row in SPELLINGS are refused.
"""

import numpy as np
import torch

import onnx_file

OPSET = 17


class Writer:
    """A model under construction: nodes, constants, and the name of each value of the graph."""

    def __init__(self, exported):
        self.exported = exported
        self.nodes, self.constants, self.names = [], [], {}

    def constant(self, array, name=None):
        name = name or f"constant_{len(self.constants)}"
        self.constants.append(onnx_file.constant(name, np.ascontiguousarray(array)))
        return name

    def integers(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def node(self, operator, operands, name, **attributes):
        attributes = [onnx_file.attribute(key, value) for key, value in attributes.items()]
        self.nodes.append(onnx_file.node(operator, operands, [name], *attributes))
        return name

    def operand(self, value, like=None):
        """The name of a node's value, of a number as a constant, or of an operand that is left out."""
        if value is None:
            return ""
        return self.names[value] if isinstance(value, torch.fx.Node) else self.constant(np.float32(value))


def shape(node):
    return list(node.meta["val"].shape)


def sides(n, value, default=None):
    """A number for each axis of the image that the node makes."""
    value = value if isinstance(value, (list, tuple)) else [value]
    value = list(value) or list(default)
    return value * (len(shape(n)) - 2) if len(value) == 1 else value


def window(n, kernel, stride=(), padding=0, dilation=1):
    kernel, padding = sides(n, kernel), sides(n, padding)
    return {"kernel_shape": kernel, "strides": sides(n, stride, kernel), "pads": padding * 2, "dilations": sides(n, dilation)}


def plain(operator, **attributes):
    return lambda w, n, *operands: w.node(operator, [w.operand(each) for each in operands], n.name, **attributes)


def conv(w, n, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    how = window(n, shape(weight)[2:], stride, padding, dilation)
    return w.node("Conv", [w.operand(each) for each in (x, weight, bias) if each is not None], n.name, group=groups, **how)


def conv_transpose(w, n, x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    how = window(n, shape(weight)[2:], stride, padding, dilation)
    return w.node("ConvTranspose", [w.operand(each) for each in (x, weight, bias) if each is not None], n.name, group=groups,
                  output_padding=sides(n, output_padding), **how)


def batch_norm(w, n, x, weight, bias, mean, variance, training, momentum, epsilon, cudnn=True):
    return w.node("BatchNormalization", [w.operand(each) for each in (x, weight, bias, mean, variance)], n.name, epsilon=float(epsilon))


def group_norm(w, n, x, groups, weight, bias, epsilon=1e-5, cudnn=True):
    """As an InstanceNormalization of groups, scaled channel by channel."""
    channels = shape(x)[1]
    parts = w.node("Reshape", [w.operand(x), w.integers(0, groups, -1)], f"{n.name}.groups")
    ones, zeros = (w.constant(each(groups, np.float32)) for each in (np.ones, np.zeros))
    norm = w.node("InstanceNormalization", [parts, ones, zeros], f"{n.name}.norm", epsilon=float(epsilon))
    whole = w.node("Reshape", [norm, w.integers(*shape(x))], f"{n.name}.whole")
    scale, shift = (w.node("Reshape", [w.operand(each), w.integers(channels, 1, 1)], f"{n.name}.{role}")
                    for role, each in (("scale", weight), ("shift", bias)))
    return w.node("Add", [w.node("Mul", [whole, scale], f"{n.name}.scaled"), shift], n.name)


def silu(w, n, x):
    return w.node("Mul", [w.operand(x), w.node("Sigmoid", [w.operand(x)], f"{n.name}.sigmoid")], n.name)


def clip(w, n, x, low=None, high=None):
    return w.node("Clip", [w.operand(x), w.operand(low), w.operand(high)], n.name)


def prelu(w, n, x, slope):
    slopes = w.node("Reshape", [w.operand(slope), w.integers(-1, 1, 1)], f"{n.name}.slope")
    return w.node("PRelu", [w.operand(x), slopes], n.name)


def max_pool(w, n, x, kernel, stride=(), padding=0, dilation=1, ceil=False):
    return w.node("MaxPool", [w.operand(x)], n.name, ceil_mode=int(ceil), **window(n, kernel, stride, padding, dilation))


def average_pool_to(w, n, x, size):
    if list(size) != [1, 1]:
        raise ValueError(f"{n.name}: adaptive pools to {size} are not written")
    return w.node("GlobalAveragePool", [w.operand(x)], n.name)


def resize(mode, phase):
    def write(w, n, x, *size):
        return w.node("Resize", [w.operand(x), "", "", w.integers(*shape(n))], n.name, mode=mode, coordinate_transformation_mode=phase, nearest_mode="floor")
    return write


def cat(w, n, parts, axis=0):
    return w.node("Concat", [w.operand(each) for each in parts], n.name, axis=axis)


def reshape(w, n, x, *shape_given):
    return w.node("Reshape", [w.operand(x), w.integers(*shape(n))], n.name)


def transpose(w, n, x, first, second):
    order = list(range(len(shape(x))))
    order[first], order[second] = order[second], order[first]
    return w.node("Transpose", [w.operand(x)], n.name, perm=order)


def linear(w, n, x, weight, bias=None):
    return w.node("Gemm", [w.operand(each) for each in (x, weight, bias) if each is not None], n.name, transB=1)


def shuffle(w, n, x, factor):
    return w.node("DepthToSpace", [w.operand(x)], n.name, blocksize=factor, mode="CRD")


SPELLINGS = {
    "conv1d.default": conv, "conv2d.default": conv, "conv3d.default": conv, "conv2d.padding": conv,
    "conv_transpose1d.default": conv_transpose, "conv_transpose2d.input": conv_transpose,
    "conv_transpose3d.input": conv_transpose, "batch_norm.default": batch_norm,
    "group_norm.default": group_norm, "relu.default": plain("Relu"), "sigmoid.default": plain("Sigmoid"), "silu.default": silu,
    "leaky_relu.default": lambda w, n, x, slope=0.01: w.node("LeakyRelu", [w.operand(x)], n.name, alpha=float(slope)),
    "prelu.default": prelu, "hardtanh.default": clip, "relu6.default": lambda w, n, x: clip(w, n, x, 0.0, 6.0),
    "add.Tensor": plain("Add"), "mul.Tensor": plain("Mul"), "cat.default": cat, "matmul.default": plain("MatMul"),
    "max_pool1d.default": max_pool, "max_pool2d.default": max_pool, "max_pool3d.default": max_pool, "adaptive_avg_pool2d.default": average_pool_to, "linear.default": linear,
    "upsample_nearest2d.vec": resize("nearest", "asymmetric"), "upsample_bilinear2d.vec": resize("linear", "half_pixel"),
    "pixel_shuffle.default": shuffle, "flatten.using_ints": reshape, "reshape.default": reshape, "view.default": reshape,
    "transpose.int": transpose, "softmax.int": lambda w, n, x, axis, dtype=None: w.node("Softmax", [w.operand(x)], n.name, axis=axis),
}


def typed(node):
    return onnx_file.typed(node.name, *shape(node))


def model(exported):
    """The bytes of the model."""
    w, signature = Writer(exported), exported.graph_signature
    tensors = {**exported.state_dict, **exported.constants}
    stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    inputs, outputs = [], []
    for node in exported.graph.nodes:
        w.names[node] = node.name
        if node.op == "placeholder" and node.name in stored:
            if node.users and tensors[stored[node.name]].is_floating_point():
                w.constant(tensors[stored[node.name]].detach().numpy(), node.name)
        elif node.op == "placeholder":
            inputs.append(typed(node))
        elif node.op == "output":
            outputs = [typed(each) for each in node.args[0]]
        else:
            target = str(node.target).removeprefix("aten.")
            if target not in SPELLINGS:
                raise ValueError(f"{node.name}: {target} has no spelling in ONNX here")
            SPELLINGS[target](w, node, *node.args, **node.kwargs)
    return onnx_file.model(onnx_file.graph(w.nodes, inputs, outputs, w.constants), opset=OPSET)
