"""Batch norms by cuDNN, where eager mode takes it.

Tracing takes PyTorch's own kernel for each, whose bits are others and whose time on a GPU is longer.
"""

from __future__ import annotations

import operator

import torch

aten = torch.ops.aten
NATIVE, NATIVE_BACKWARD = aten._native_batch_norm_legit_functional.default, aten.native_batch_norm_backward.default
#: Those that choose as eager mode does. They hand what cuDNN keeps from one to the other.
CHOOSING, CHOOSING_BACKWARD = aten._batch_norm_with_update_functional.default, aten.batch_norm_backward.default


def is_of_cudnn(operands):
    """Whether eager mode takes cuDNN for these operands of a batch norm."""
    x, weight, bias, mean, variance, trains, _, eps = operands
    return trains and torch._C._select_batch_norm_backend(x, weight, bias, mean, variance, True, eps) == \
        torch._C._BatchNormBackend.Cudnn


def origin_of(node):
    """What a value is a view of, under which AOTAutograd hands values to the backward pass."""
    while isinstance(node, torch.fx.Node) and node.target in (aten.detach.default, aten.alias.default):
        node = node.args[0]
    return node


def choose_norms(graph):
    """Puts the operators that choose where cuDNN would be chosen."""
    nodes, kept = graph.graph, {}  # operators, and what cuDNN keeps for their backward pass
    for node in nodes.find_nodes(op="call_function", target=NATIVE):
        operands = torch.fx.map_arg(node.args, lambda one: one.meta["val"])
        if node.args[5] is True and is_of_cudnn(operands):
            kept[node] = replaced(nodes, node, operands)
    for node in nodes.find_nodes(op="call_function", target=NATIVE_BACKWARD):
        mean = origin_of(node.args[5])
        forward = mean.args[0] if isinstance(mean, torch.fx.Node) and mean.target is operator.getitem else None
        if forward in kept:
            node.target, node.args = CHOOSING_BACKWARD, (*node.args, kept[forward])


def replaced(nodes, node, operands):
    for user in list(node.users):
        if user.args[1] >= 3:  # new statistics, which come behind what cuDNN keeps
            user.args = (node, user.args[1] + 1)
    node.target, node.args = CHOOSING, (*node.args[:5], *node.args[6:])
    node.meta["val"] = (*node.meta["val"][:3], CHOOSING(*operands[:5], *operands[6:])[3], *node.meta["val"][3:])
    with nodes.inserting_after(node):
        kept = nodes.call_function(operator.getitem, (node, 3))
    kept.meta = {**node.meta, "val": node.meta["val"][3]}
    return kept
