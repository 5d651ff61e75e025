"""Operators without a true out variant that others with one can stand in for.

Each rewrite gets the builder, the node and its arguments, adds steps, and returns the Ref of
the result, or None to leave the node as it is.
"""

import torch

from arenaut.torch.operators import aten, quick

REWRITES = {}


def rewrite(*ops):
    def remember(function):
        for op in ops:
            REWRITES[op] = function
        return function
    return remember


def out(builder, op, args, **kwargs):
    return builder.program.add("out", str(op), quick(op), args, kwargs, outs=("out",),
                               in_place=builder.may_be_in_place(op))


def view(builder, name, fn, *args):
    return builder.program.add("view", name, fn, args)


def write(builder, name, fn, *args):
    builder.program.add("write", name, fn, args, results=0)


def place(builder, name, fn, args, kwargs=None):
    return builder.program.add("place", name, fn, args, kwargs)


def argument(args, kwargs, position, name, default=None):
    return args[position] if len(args) > position else kwargs.get(name, default)


@rewrite(aten.clone.default, aten._to_copy.default)
def copy(builder, node, args, kwargs):
    device = kwargs.get("device")
    if device is not None and torch.device(device).type != "cpu":
        return None
    made = place(builder, str(node.target), node.target, args, kwargs)
    write(builder, "aten.copy_.default", torch.Tensor.copy_, made, args[0])
    return made


@rewrite(aten.relu.default)
def relu(builder, node, args, kwargs):
    return out(builder, aten.clamp_min.out, (args[0], 0))


def rows_as(found, index):
    """Rows that were looked up one after another, in the shape of the index."""
    return found.view(*index.shape, found.shape[-1])


@rewrite(aten.embedding.default)
def embedding(builder, node, args, kwargs):
    table, index = args[:2]
    shape = builder.meta(node.args[1]).shape
    if len(shape) == 1:
        return out(builder, aten.index_select.out, (table, 0, index))
    flat = view(builder, "aten.reshape.default", torch.Tensor.reshape, index, -1)
    found = out(builder, aten.index_select.out, (table, 0, flat))
    return view(builder, "aten.view.default", rows_as, found, index)


@rewrite(aten.adaptive_avg_pool2d.default, aten._adaptive_avg_pool2d.default)
def adaptive_average(builder, node, args, kwargs):
    if list(args[1]) == [1, 1]:  # as ATen itself does it
        return out(builder, aten.mean.out, (args[0], [-1, -2], True))
    return out(builder, aten.adaptive_avg_pool2d.out, args)


def inner(tensor, *pads):
    """The part of a padded tensor that is not padding."""
    for k in range(len(pads) // 2):
        dim = tensor.dim() - 1 - k
        before, after = pads[2 * k], pads[2 * k + 1]
        tensor = tensor.narrow(dim, before, tensor.shape[dim] - before - after)
    return tensor


@rewrite(aten.constant_pad_nd.default, aten.pad.default)
def pad(builder, node, args, kwargs):
    x, pads = args[:2]
    constant = node.target is aten.constant_pad_nd.default
    mode = "constant" if constant else argument(args, kwargs, 2, "mode", "constant")
    fill = argument(args, kwargs, 2 if constant else 3, "value")
    if mode != "constant" or any(not isinstance(p, int) or p < 0 for p in pads):
        return None
    if not any(pads):
        return view(builder, "aten.alias.default", aten.alias.default, x)
    made = place(builder, str(node.target), node.target, args, kwargs)
    write(builder, "aten.fill_.Scalar", torch.Tensor.fill_, made, fill or 0)
    middle = view(builder, "aten.narrow.default", inner, made, *pads)
    write(builder, "aten.copy_.default", torch.Tensor.copy_, middle, x)
    return made


def part(tensor, *cuts):
    for dim, start, length in cuts:
        tensor = tensor.narrow(dim, start, length)
    return tensor


@rewrite(aten.roll.default)
def roll(builder, node, args, kwargs):
    """Each rolled dimension is cut in two, and the parts change places."""
    x, shifts = args[:2]
    dims = argument(args, kwargs, 2, "dims", [])
    shape = builder.meta(node.args[0]).shape
    if not dims or len(dims) > 2 or not all(isinstance(n, int) for n in (*shape, *shifts)):
        return None
    moves = [()]
    for dim, shift in zip(dims, shifts):
        size, at = shape[dim], shift % shape[dim]
        halves = [(0, size - at, at), (size - at, at, 0)] if at else [(0, size, 0)]
        moves = [(*move, (dim, *half)) for move in moves for half in halves]
    made = place(builder, str(node.target), node.target, args, kwargs)
    for move in moves:
        source = view(builder, "aten.narrow.default", part, x, *[(d, s, n) for d, s, n, _ in move])
        target = view(builder, "aten.narrow.default", part, made,
                      *[(d, t, n) for d, _, n, t in move])
        write(builder, "aten.copy_.default", torch.Tensor.copy_, target, source)
    return made


@rewrite(aten._native_batch_norm_legit_no_training.default)
def batch_norm(builder, node, args, kwargs):
    """What could not be folded into the convolution before it."""
    x, weight, bias, mean, variance, momentum, eps = args
    return builder.program.add(
        "out", str(node.target), aten.native_batch_norm.out._op,
        (x, weight, bias, mean, variance, False, momentum, eps),
        outs=("out", "save_mean", "save_invstd"), results=3, plain=torch.native_batch_norm)


def fold_rows(x):
    """All dimensions but the last as one: a view where the tensor is contiguous."""
    return x.reshape(-1, x.shape[-1])


def unfold_rows(rows, like):
    return rows.view(*like.shape[:-1], rows.shape[-1])


@rewrite(aten.linear.default)
def linear(builder, node, args, kwargs):
    """The matrix product that ATen's own linear calls, with the result where we want it."""
    x, weight = args[:2]
    bias = argument(args, kwargs, 2, "bias")
    meta = builder.meta(node.args[0])
    if meta.dim() < 2 or not meta.is_contiguous():
        return None
    turned = builder.constant_of(weight, torch.t)
    if turned is None:
        turned = view(builder, "aten.t.default", torch.t, weight)
    rows = x if meta.dim() == 2 else view(builder, "aten.view.default", fold_rows, x)
    y = (out(builder, aten.mm.out, (rows, turned)) if bias is None
         else out(builder, aten.addmm.out, (bias, rows, turned)))
    return y if meta.dim() == 2 else view(builder, "aten.view.default", unfold_rows, y, x)


def is_pointwise(weight, stride, padding, dilation, groups):
    return (weight.dim() == 4 and tuple(weight.shape[2:]) == (1, 1) and groups == 1
            and all(s == 1 for s in stride) and all(p == 0 for p in padding))


def as_matrix(weight):
    return weight.view(weight.shape[0], -1)


def as_column(bias):
    return bias.view(-1, 1)


def pixels(x):
    """One image as a matrix: a row for each channel."""
    return x.reshape(x.shape[1], -1)


def image(rows, like):
    return rows.view(1, rows.shape[0], *like.shape[2:])


@rewrite(aten.conv2d.default)
def pointwise_convolution(builder, node, args, kwargs):
    """A convolution that looks at one pixel at a time is a product of two matrices. Of one
    image only: for more it would take one call each."""
    names = ("bias", "stride", "padding", "dilation", "groups")
    given = (argument(args, kwargs, k + 2, name, default) for k, (name, default) in
             enumerate(zip(names, (None, [1, 1], [0, 0], [1, 1], 1))))
    bias, stride, padding, dilation, groups = given
    weight = builder.constant_tensor(args[1])
    meta = builder.meta(node.args[0])
    if (not builder.options.pointwise_as_product or weight is None or isinstance(padding, str)
            or not is_pointwise(weight, stride, padding, dilation, groups)
            or meta.dim() != 4 or not isinstance(meta.shape[0], int) or meta.shape[0] != 1
            or not meta.is_contiguous() or weight.dtype != torch.float32):
        return None
    matrix = builder.constant_of(args[1], as_matrix)
    columns = view(builder, "aten.view.default", pixels, args[0])
    if bias is None:
        y = out(builder, aten.mm.out, (matrix, columns))
    else:
        column = builder.constant_of(bias, as_column)
        y = out(builder, aten.addmm.out, (column, matrix, columns))
    return view(builder, "aten.view.default", image, y, args[0])

