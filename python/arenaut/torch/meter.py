"""Counting the storages that operators make and that are still there."""

from __future__ import annotations

import weakref

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode


def storages_of(tree):
    for leaf in pytree.tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            yield leaf.untyped_storage()


class Meter(TorchDispatchMode):
    """Bytes of storages that were made while it was on: `alive` now, and at their `peak`. It may be left and
    entered again. What kernels allocate inside, and let go, is none of it.

    `sizes` are those of the results of each call, by what `expect` was given for it."""

    def __init__(self):
        super().__init__()
        self.alive = self.peak = 0
        self.known = {}  # storage -> what says that it has gone
        self.sizes, self.names = {}, iter(())

    def expect(self, names):
        """What the calls are called that are made from now on."""
        self.names = iter(names)

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        made = operator(*args, **(kwargs or {}))
        given = {storage._cdata for storage in storages_of((args, kwargs))}
        storages = list(storages_of(made))
        self.sizes.setdefault(next(self.names, None), [storage.nbytes() for storage in storages])
        for storage in storages:
            key, size = storage._cdata, storage.nbytes()
            if key not in given and key not in self.known:
                self.known[key] = weakref.ref(storage, lambda _, key=key, size=size: self.forget(key, size))
                self.alive += size
        self.peak = max(self.peak, self.alive)
        return made

    def forget(self, key, size):
        del self.known[key]
        self.alive -= size
