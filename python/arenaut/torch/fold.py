"""Batch norms that follow a convolution, taken into its weights, as freezing a module does."""

import torch

from arenaut.torch.operators import aten

CONVOLUTIONS = {aten.conv1d.default, aten.conv2d.default, aten.conv3d.default}
NORM = aten._native_batch_norm_legit_no_training.default


def folded_weights(weight, bias, gamma, beta, mean, variance, eps):
    """In double precision, so that rounding happens once."""
    scale = (variance.double() + eps).rsqrt()
    scale = scale if gamma is None else scale * gamma.double()
    shift = -mean.double() if bias is None else bias.double() - mean.double()
    shift = shift * scale
    if beta is not None:
        shift = shift + beta.double()
    shape = (-1,) + (1,) * (weight.dim() - 1)
    return ((weight.double() * scale.view(shape)).to(weight.dtype).contiguous(),
            shift.to(weight.dtype))


def foldable(norm, is_constant):
    """The convolution before a norm that nobody else reads, if all weights are constants."""
    conv = norm.args[0]
    if (conv.op != "call_function" or conv.target not in CONVOLUTIONS or len(conv.users) != 1
            or conv.kwargs):
        return None
    weights = [a for a in (*conv.args[1:3], *norm.args[1:5]) if isinstance(a, torch.fx.Node)]
    return conv if all(map(is_constant, weights)) else None


def fold_batch_norms(exported):
    """For each convolution: what makes its arguments anew. For each norm: its convolution."""
    signature = exported.graph_signature
    held = {*signature.inputs_to_parameters, *signature.inputs_to_buffers}
    replaced = {}
    for norm in exported.graph.nodes:
        if norm.op != "call_function" or norm.target is not NORM:
            continue
        conv = foldable(norm, lambda node: node.name in held)
        if conv is None:
            continue
        replaced[conv] = remake(norm, exported)
        replaced[norm] = conv
    return replaced


def remake(norm, exported):
    signature = exported.graph_signature
    names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}

    def tensor(node):
        return None if node is None else exported.state_dict[names[node.name]].detach()

    def arguments(program, args):
        weight, bias = args[1], args[2] if len(args) > 2 else None
        gamma, beta, mean, variance = map(tensor, norm.args[1:5])
        made = folded_weights(program.constants[weight.value],
                              None if bias is None else program.constants[bias.value],
                              gamma, beta, mean, variance, norm.args[6])
        return (args[0], *map(program.constant, made), *args[3:])

    return arguments
