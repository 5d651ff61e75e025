"""Exported graphs: saved, read, and run by PyTorch node by node, with what lives meanwhile."""

import json
import warnings
import weakref
import zipfile

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def save(program, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(program, path)


class Live(TorchDispatchMode):
    """Counts the bytes of storages that ops have made and that are still there."""

    def __init__(self, given):
        super().__init__()
        self.now = self.peak = 0
        self.known = {each.untyped_storage()._cdata for each in given}

    def forget(self, key, size):
        self.known.discard(key)
        self.now -= size

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if not isinstance(tensor, torch.Tensor):
                continue
            storage = tensor.untyped_storage()
            if storage._cdata in self.known:
                continue
            self.known.add(storage._cdata)
            self.now += storage.nbytes()
            weakref.finalize(storage, self.forget, storage._cdata, storage.nbytes())
        self.peak = max(self.peak, self.now)
        return made


def operands(program, inputs):
    """What the graph takes: parameters, buffers and inputs, in its order."""
    inputs = iter(inputs)
    for spec in program.graph_signature.input_specs:
        if spec.target is None:
            yield next(inputs)
        else:
            held = program.state_dict if spec.target in program.state_dict else program.constants
            yield held[spec.target].detach().clone()


def run(path, inputs):
    """All results of the graph, with what it updates, and the peak of what lives while its nodes run: PyTorch's
    code drops each value behind its last reader."""
    program = torch.export.load(path)
    program.validate()
    given = list(operands(program, inputs))
    with torch.no_grad(), Live([each for each in given if isinstance(each, torch.Tensor)]) as live:
        made = program.graph_module(*given)
    return [each for each in [*tree_leaves(made), *given] if isinstance(each, torch.Tensor)], live.peak


def assert_same(one, other):
    assert len(one) == len(other) > 0
    for a, b in zip(one, other):
        assert a.dtype == b.dtype and a.stride() == b.stride() and torch.equal(a, b)


def model_of(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        name, = (each for each in archive.namelist() if each.endswith("models/model.json"))
        return json.loads(archive.read(name))


def nodes_of(path):
    return model_of(path)["graph_module"]["graph"]["nodes"]


def names_in(value, key="name"):
    """All names of values below."""
    if isinstance(value, list):
        return [name for each in value for name in names_in(each)]
    if isinstance(value, dict):
        return [value[key]] if set(value) == {key} else [n for each in value.values() for n in names_in(each)]
    return []
