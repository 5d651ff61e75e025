"""Operators of a joint graph, each run by itself on tensors of its shapes with made up content."""

from __future__ import annotations

import contextlib

import torch
from torch.utils import _pytree as pytree

from arenaut.torch.meter import Meter

#: Where operators are run alone: there PyTorch says what its kernels take inside.
ON = {"cuda"}


def made_up(node):
    """Something like the value of a node: zeros where they may be places in another tensor, else random numbers."""
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor):
        return value
    size = 1 + sum((n - 1) * stride for n, stride in zip(value.shape, value.stride())) if value.numel() else 0
    fill = torch.rand if value.is_floating_point() else torch.zeros
    return fill(size, dtype=value.dtype, device=value.device).as_strided(value.shape, value.stride())


def chance_of(node):
    """Of attention's dropout."""
    places = [k for k, argument in enumerate(node.target._schema.arguments) if argument.name == "dropout_p"]
    if not places:
        return 0.0
    return node.args[places[0]] if places[0] < len(node.args) else node.kwargs.get("dropout_p", 0.0)


def operands_of(node):
    if chance_of(node) and any(argument.name == "philox_seed" for argument in node.target._schema.arguments):
        # Kernels read it where they have put it, which is not on the device that tracing names.
        raise RuntimeError("a seed of random numbers cannot be made up")
    return torch.fx.map_arg((node.args, node.kwargs), made_up)


def kind_of(node):
    """Nodes of one kind take the same time and memory: the operator, and shapes, layouts and numbers that it is
    given."""
    def of(one):
        value = one.meta["val"]
        if not isinstance(value, torch.Tensor):
            return value
        return tuple(value.shape), value.stride(), value.dtype, value.device
    return str((node.target, torch.fx.map_arg((node.args, node.kwargs), of)))


def device_of(node):
    """Of what a node makes."""
    made = pytree.tree_leaves(node.meta.get("val"))
    return next((one.device for one in made if isinstance(one, torch.Tensor)), torch.device("cpu"))


@contextlib.contextmanager
def for_real(devices):
    """Runs operators as a compiled step does, also in the midst of a compilation, and leaves random numbers as they
    were."""
    from torch.utils._python_dispatch import _disable_current_modes
    with (_disable_current_modes(), torch._C._DisablePythonDispatcher(), torch._C._DisableAutocast(), torch.no_grad(),
          torch.random.fork_rng(devices=[device.index for device in devices if device.type == "cuda"])):
        yield


def sizes_of(graph):
    """Bytes that operators on a GPU take, by the names of their nodes, as Meter has them: kernels there may need
    much inside, which would else be known only when a step has run out of memory. Those of one kind run once."""
    nodes = [node for node in graph.graph.nodes
             if isinstance(node.target, torch._ops.OpOverload) and device_of(node).type in ON]
    if not nodes:
        return {}
    meter, known = Meter(), {}
    with for_real({device_of(node) for node in nodes}):
        for node in nodes:
            kind = known.setdefault(kind_of(node), node.name)
            if kind == node.name:
                # What does not run on made up content, or finds no room, is counted in a step.
                with contextlib.suppress(RuntimeError):
                    args, kwargs = operands_of(node)
                    meter.expect([kind])
                    with meter:
                        node.target(*args, **kwargs)
    return {node.name: meter.sizes[kind] for node in nodes
            for kind in [known[kind_of(node)]] if kind in meter.sizes}
