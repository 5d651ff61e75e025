"""Counting the storages that operators make and that are still there, and what kernels of a GPU need inside."""

from __future__ import annotations

import weakref

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode


def storages_of(tree):
    for leaf in pytree.tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            yield leaf.untyped_storage()


def run(operator, args, kwargs):
    """The result, and the bytes that a kernel on a GPU took of PyTorch's allocator beside it and gave back. The
    allocator's peaks are forgotten."""
    devices = {leaf.device for leaf in pytree.tree_leaves((args, kwargs))
               if isinstance(leaf, torch.Tensor) and leaf.is_cuda}
    if len(devices) != 1 or torch.cuda.get_allocator_backend() != "native":  # others do not count
        return operator(*args, **kwargs), 0
    device, = devices
    torch.cuda.reset_peak_memory_stats(device)
    made = operator(*args, **kwargs)
    figures = torch.cuda.memory_stats(device)
    return made, figures["requested_bytes.all.peak"] - figures["requested_bytes.all.current"]


class Meter(TorchDispatchMode):
    """Bytes of storages that were made while it was on: `alive` now, and at their `peak`. It may be left and
    entered again. What kernels take inside, and let go, is part of the peak on a GPU, and not known elsewhere.

    `sizes` are those of the results of each call, and what it took inside, by what `expect` was given for it."""

    def __init__(self):
        super().__init__()
        self.alive = self.peak = 0
        self.known = {}  # storage -> what says that it has gone
        self.sizes, self.names = {}, iter(())

    def expect(self, names):
        """What the calls are called that are made from now on."""
        self.names = iter(names)

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        made, inside = run(operator, args, kwargs or {})
        given = {storage._cdata for storage in storages_of((args, kwargs))}
        storages = list(storages_of(made))
        self.sizes.setdefault(next(self.names, None), ([storage.nbytes() for storage in storages], inside))
        for storage in storages:
            key, size = storage._cdata, storage.nbytes()
            if key not in given and key not in self.known:
                self.known[key] = weakref.ref(storage, lambda _, key=key, size=size: self.forget(key, size))
                self.alive += size
        self.peak = max(self.peak, self.alive + inside)
        return made

    def forget(self, key, size):
        del self.known[key]
        self.alive -= size
