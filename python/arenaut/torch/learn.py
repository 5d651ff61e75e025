"""The first run for some shapes: on the default allocator, and watched.

What it leaves is what planning needs: for each value whether it is known from now on, which
storage it lies in, and for each storage its size, its shape and who writes and reads it.
"""

from dataclasses import dataclass, field

import torch

from arenaut.torch.steps import Ref, walk


@dataclass
class Root:
    """A storage, named by the value that first lay in it."""

    kind: str  # external, managed, made
    step: int  # that makes it; -1: before the first
    tensor: tuple = ()  # shape, strides, dtype of what lies in it first
    bytes: int = 0
    readers: list = field(default_factory=list)  # steps
    output: bool = False


@dataclass
class Learned:
    roots: dict = field(default_factory=dict)   # number of a value -> Root
    roots_of: dict = field(default_factory=dict)  # value -> roots of the tensors in it
    plain: dict = field(default_factory=dict)   # value -> number, string …: no tensor in it
    made: dict = field(default_factory=dict)    # unmanaged operator -> [count, bytes]
    in_place: dict = field(default_factory=dict)  # root -> roots that it may be written over
    results: list = None  # of this run: outputs, then what is to be written back
    layouts: dict = field(default_factory=dict)   # value that is a result -> where in its storage

    def managed(self, apart):
        """The roots that get a place in the arena, results of the program only if they are not
        to lie apart; and those that get memory of their own each time."""
        ours = [name for name, root in self.roots.items() if root.kind == "managed"]
        fresh = {name for name in ours if apart and self.roots[name].output}
        return [name for name in ours if self.roots[name].bytes and name not in fresh], fresh


def tensors_in(thing):
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, (list, tuple)):
        return [t for part in thing for t in tensors_in(part)]
    return []


def storage_of(tensor):
    return tensor.untyped_storage()._cdata


def is_dense(tensor):
    """Whether it fills its storage, each element once."""
    size = tensor.untyped_storage().nbytes()
    return (tensor.storage_offset() == 0 and tensor.numel() * tensor.element_size() == size
            and torch.ops.aten.is_non_overlapping_and_dense.default(tensor))


class Learner:
    def __init__(self, program, demoted):
        self.program, self.demoted = program, demoted
        self.learned = Learned()
        self.env = {}
        self.root_of_storage = {}
        self.last_use = self.last_uses()

    def last_uses(self):
        last = {}
        for number, step in enumerate(self.program.steps):
            for value in (*step.reads(), *step.results):
                last[value] = number
        for ref in (*self.program.outputs, *(ref for _, ref in self.program.mutated)):
            walk(ref, lambda r: last.__setitem__(r.value, len(self.program.steps)))
        return last

    def run(self, inputs):
        for value, given in zip(self.program.inputs, inputs):
            self.enter(value, given, "external", -1)
        for value, tensor in self.program.constants.items():
            self.enter(value, tensor, "external", -1)
        for number, step in enumerate(self.program.steps):
            self.step(number, step)
        refs = [*self.program.outputs, *(ref for _, ref in self.program.mutated)]
        for ref in refs:
            walk(ref, self.note_result)
        self.learned.results = walk(refs, lambda r: self.env[r.value])
        return self.learned

    def note_result(self, ref):
        result = self.env[ref.value]
        if isinstance(result, torch.Tensor):
            root, = self.learned.roots_of[ref.value]
            self.learned.roots[root].output = True
            self.learned.layouts[ref.value] = (root, tuple(result.shape), result.stride(),
                                               result.storage_offset())

    def enter(self, value, thing, kind, step, old=()):
        """Notes where a result lies: in storages of the arguments (`old`), or in new ones."""
        self.env[value] = thing
        found = tensors_in(thing)
        if not found:
            self.learned.plain[value] = thing
            return
        roots = []
        for number, tensor in enumerate(found):
            key = storage_of(tensor)
            if key not in old:
                name = (value, number) if len(found) > 1 else value
                self.root_of_storage[key] = name
                shape = (tuple(tensor.shape), tensor.stride(), tensor.dtype)
                self.learned.roots[name] = Root(kind, step, shape,
                                                tensor.untyped_storage().nbytes())
                old = {*old, key}
            roots.append(self.root_of_storage[key])
        self.learned.roots_of[value] = tuple(dict.fromkeys(roots))

    def step(self, number, step):
        args, kwargs = walk((step.args, step.kwargs), lambda ref: self.env[ref.value])
        old = {storage_of(t) for t in tensors_in([*args, *kwargs.values()])}
        fn = step.plain or step.fn
        result = fn(*args, **kwargs)
        for value in step.reads():
            for root in self.learned.roots_of.get(value, ()):
                self.learned.roots[root].readers.append(number)
        kind = "managed" if step.kind in ("out", "place") else "made"
        if number in self.demoted:
            kind = "made"
        if step.results:
            self.enter_results(step, number, result, kind, old)
        if step.in_place and kind == "managed" and step.results[0] in self.learned.roots:
            self.note_in_place(number, step)
        for value in {*step.reads(), *step.results}:
            if self.last_use[value] == number:
                self.env.pop(value, None)

    def enter_results(self, step, number, result, kind, old):
        parts = result if len(step.results) > 1 else (result,)
        new = 0
        for value, part in zip(step.results, parts):
            self.enter(value, part, kind, number, old)
            if kind == "made":
                new += sum(self.learned.roots[root].bytes
                           for root in self.learned.roots_of.get(value, ())
                           if self.learned.roots[root].step == number)
        if kind == "made" and (step.kind != "view" or new):
            entry = self.learned.made.setdefault(step.op, [0, 0])
            entry[0] += 1
            entry[1] += new

    def note_in_place(self, number, step):
        """The operands that the result may be written over, as far as shapes and aliases say;
        whether anybody reads them later is for planning to see."""
        target = self.env[step.results[0]]
        operands = [(ref, self.env[ref.value]) for ref in step.args if isinstance(ref, Ref)]
        operands = [(ref, t) for ref, t in operands if isinstance(t, torch.Tensor)]
        for ref, tensor in operands:
            root = self.learned.roots_of[ref.value][0]
            others = [t for other, t in operands if storage_of(t) == storage_of(tensor)]
            if (self.learned.roots[root].kind != "external" and is_dense(target)
                    and all(alike(tensor, target) and is_dense(tensor) for tensor in others)):
                self.learned.in_place.setdefault(step.results[0], []).append(root)


def alike(a, b):
    return a.shape == b.shape and a.stride() == b.stride() and a.dtype == b.dtype
