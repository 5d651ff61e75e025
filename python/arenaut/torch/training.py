"""Training steps within a budget: rematerialization between a forward and a backward pass.

    import arenaut.torch
    step = arenaut.torch.fit(model, memory="60%", inputs=(x, y))
    for x, y in batches:
        loss = step(x, y)
        loss.backward()

The joint graph that AOTAutograd traces is planned by the library, cut by PyTorch's default partition, and run
once with its storages counted; docs/training.md describes it.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

import arenaut
from arenaut import records
from arenaut.torch.budget import Fitted, Recipe, bytes_of
from arenaut.torch.traced import Joint, arguments_of, backend_of, compiled, explained
from arenaut.torch.meter import Meter
from arenaut.torch.schedule import default_partition, partition

if TYPE_CHECKING:
    from arenaut.typed import Path

#: What is counted may be so much more or less than what was planned.
TOLERANCE = 0.01


class Compiled:
    """A step for arguments of one kind: planned, run once with its storages counted, and kept if that needed what
    was planned; else it runs as PyTorch partitions it by itself."""

    def __init__(self, step):
        self.step, self.fitted, self.meter, self.sizes = step, None, None, {}
        self.run = compiled(step.model, backend_of(self.partition, self.compiler))

    def partition(self, graph, joint_inputs, *, num_fwd_outputs, **about):
        step, joint = self.step, Joint(graph, num_fwd_outputs, self.sizes)
        recipe = Recipe(joint, step.costs, step.device)
        self.fitted, ops = recipe.fitted(step.budget or bytes_of(step.memory, recipe.before))
        return partition(joint, ops, joint_inputs, num_fwd_outputs=num_fwd_outputs, **about)

    def compiler(self, graph, example_inputs):
        """Calls of the graph one by one, under the meter where there is one."""
        from torch._dynamo.backends.debugging import boxed_nop
        names = [node.meta.get("joint_name") for node in graph.graph.nodes
                 if isinstance(node.target, torch._ops.OpOverload)]
        run = boxed_nop(graph, example_inputs)

        def metered(arguments):
            if self.meter is None:
                return run(arguments)
            self.meter.expect(names)
            with self.meter:
                return run(arguments)

        metered._boxed_call = True  # arguments are let go as they are taken
        return metered

    def try_out(self, args, kwargs):
        """Runs a step and holds it against the plan, a second time where storages had other sizes than expected."""
        for last in False, True:
            self.count(args, kwargs)
            if self.fitted is None:
                raise arenaut.RefusedError("no result of the step wants a gradient: there is no backward pass",
                                           records.REFUSED)
            if self.as_planned():
                return
            if not last:
                self.run = compiled(self.step.model, backend_of(self.partition, self.compiler))
        warnings.warn(f"arenaut.torch.fit: a step needed {self.fitted.counted:,} bytes where {self.fitted.planned:,} "
                      "were planned; it runs as PyTorch's default partition has it, which keeps no budget",
                      RuntimeWarning, stacklevel=4)
        self.fitted = self.fitted._replace(kept=False)
        self.run = compiled(self.step.model, backend_of(default_partition, self.compiler))

    def as_planned(self):
        return abs(self.fitted.counted - self.fitted.planned) <= TOLERANCE * self.fitted.planned

    def count(self, args, kwargs):
        """Runs a step that leaves no trace: buffers and random numbers are then as they were, and gradients are not
        added to those of parameters."""
        self.meter = Meter()
        with undone(self.step.model, args, kwargs):
            args, kwargs = pytree.tree_map(copy_of, (args, kwargs))
            with explained():
                results = self.run(*args, **kwargs)
            backward(self.step.model, args, kwargs, results)
        if self.fitted:
            self.fitted = self.fitted._replace(counted=self.meter.peak)
        self.sizes, self.meter = self.meter.sizes, None


class Step:
    """A model whose steps keep a budget: called as the model is, and followed by `backward()`. Made by `fit`.

    Attributes
    ----------
    memory : int | str
        As it was given.
    budget : int
        Bytes; percent are those of the first arguments.
    fitted : Fitted
        Figures of the step for arguments of the kind that came last.
    """

    fitted: Fitted
    budget: int

    def __init__(self, model: torch.nn.Module, memory: int | str, costs: Path | None, device: Any) -> None:
        self.model, self.memory, self.costs, self.device = model, memory, costs, device
        self.budget = 0  # until the first arguments are known
        self.kinds = {}

    def prepare(self, args, kwargs):
        """What runs arguments of this kind."""
        kind = kind_of(self.model, args, kwargs)
        one = self.kinds.get(kind) or Compiled(self)
        if not one.fitted or one.fitted.counted is None:  # new, or compiled anew meanwhile
            one.try_out(args, kwargs)
        self.kinds[kind] = one
        self.fitted = one.fitted
        return one

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return self.model(*args, **kwargs)
        run = self.prepare(args, kwargs).run
        with explained():
            return run(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Step of {type(self.model).__name__}: {self.fitted}>"


def copy_of(value):
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def tensors_of(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def kind_of(model, args, kwargs):
    """What arguments share that one plan serves."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    kinds = tuple((leaf.shape, leaf.stride(), leaf.dtype, leaf.device, leaf.requires_grad)
                  if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves)
    casts = tuple((name, torch.is_autocast_enabled(name), torch.get_autocast_dtype(name)) for name in ("cpu", "cuda"))
    return kinds, str(spec), casts, tuple(module.training for module in model.modules())


@contextlib.contextmanager
def undone(model, args, kwargs):
    """Puts buffers and the state of random numbers back."""
    places = [(module._buffers, name, buffer, buffer.clone()) for module in model.modules()
              for name, buffer in module._buffers.items() if buffer is not None]
    devices = {t.device for t in (*tensors_of((args, kwargs)), *model.parameters()) if t.device.type == "cuda"}
    with torch.random.fork_rng(devices=[device.index for device in devices]):
        try:
            yield
        finally:
            with torch.no_grad():
                for holder, name, buffer, content in places:
                    holder[name] = buffer
                    buffer.copy_(content)


def backward(model, args, kwargs, results):
    """The backward pass for gradients of one."""
    roots = [leaf for leaf in tensors_of(results) if leaf.requires_grad]
    wanted = [t for t in (*model.parameters(), *tensors_of((args, kwargs))) if t.requires_grad]
    if roots:
        torch.autograd.grad(roots, wanted, [torch.ones_like(root) for root in roots], allow_unused=True)


def fit(model: torch.nn.Module, memory: int | str, inputs: Any, *, costs: Path | None = None,
        device: str | tuple[int, int] | None = None) -> Step:
    """Makes the training steps of a model fit into memory, in as little time as was found.

    Parameters
    ----------
    model : torch.nn.Module
        A module, in the mode in which it is trained; best one that returns its loss.
    memory : int or str
        Bytes, or text: "8GB" (10**9), "8G" or "8GiB" (2**30), "60%" of what the step needs where each op
        runs once. Fitted says what is counted.
    inputs : Any
        Arguments of a call: a tuple, or a dict of named ones. They tell sizes; others that come later are
        planned when they come. A step is run with them and counted, and leaves no trace.
    costs : Path, optional
        A path to CSV with the times of ops, as profile makes it.
    device : str or (int, int), optional
        Whose times are modelled, where there are none in `costs`: "a100", "h100", "cpu", or its
        (operations, bytes) in a second. None: "cpu", or "a100" where tensors are elsewhere.

    Returns
    -------
    Step
        A Step, to be called as the model is.

    Raises
    ------
    NoPlanError
        No step needs as little: `floor` is proven.
    RefusedError
        None was found, or the step holds something that is not supported.
    InputError
        An argument is not well formed.
    """
    args, kwargs = arguments_of(inputs)
    step = Step(model, memory, costs, device)
    with torch.enable_grad():
        step.prepare(args, kwargs)
    step.budget = step.fitted.budget
    return step
