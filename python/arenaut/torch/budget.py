"""The fastest schedules of a training step within budgets of bytes."""

from __future__ import annotations

import re
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import torch

import arenaut
from arenaut import records
from arenaut.torch.traced import capture

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arenaut.typed import Path

UNLIMITED = 1 << 60
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "K": 2**10, "M": 2**20, "G": 2**30,
         "T": 2**40, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


class Fitted(namedtuple("Fitted", "before budget planned counted floor ops added_ops time added_time least_time "
                                  "kept")):
    """What a step comes to. Bytes are those of storages that the step's operators make and that are there at
    once: activations, what is saved for the backward pass, results and gradients; on a GPU also what kernels take
    inside; not parameters, buffers, inputs and optimizer states.

    Attributes
    ----------
    before : int
        Bytes if each op runs once.
    budget : int
        Bytes.
    planned : int
        Bytes.
    counted : int
        Bytes, of a step that was run; None before.
    floor : int
        Bytes; no rematerialization of the step needs fewer: proven, and checked.
    ops : int
        Of the step, each once.
    added_ops : int
        Runs that were added.
    time : int
        Nanoseconds of all ops, each once; measured or modelled.
    added_time : int
        Of the runs that were added.
    least_time : int
        No schedule within the budget adds less: proven, and checked.
    kept : bool
        False: what was counted is not what was planned, and the step runs as PyTorch's default
        partition has it, which keeps no budget.
    """

    __slots__ = ()
    before: int
    budget: int
    planned: int
    counted: int | None
    floor: int
    ops: int
    added_ops: int
    time: int
    added_time: int
    least_time: int
    kept: bool

    def __str__(self) -> str:
        counted = "not counted" if self.counted is None else f"{self.counted:,} counted"
        if not self.kept:
            return f"{self.planned:,} bytes planned, {counted}: not kept, runs as PyTorch's default partition has it"
        return (f"{self.planned:,} bytes planned, {counted}, of {self.before:,} where each op runs once; "
                f"{self.added_ops} of {self.ops} ops run again: {percent(self.added_time, self.time)} more time, at "
                f"least {percent(self.least_time, self.time)} (proven)")


def percent(part, whole):
    return f"{100 * part / max(whole, 1):.2f} %"


def bytes_of(memory, before):
    """A budget: bytes, text with a unit, or percent of what is needed where each op runs once."""
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*|%)\s*", memory) if isinstance(memory, str) else None
    number, unit = (match[1], match[2].upper()) if match else (0, None)
    if unit == "%" and float(number) > 0:
        return int(before * float(number) / 100)
    if unit not in UNITS or float(number) * UNITS[unit] < 1:
        raise arenaut.InputError(f"memory={memory!r}: a number of bytes, or text like \"8GB\" (10**9), \"8G\" or "
                                 "\"8GiB\" (2**30), or \"60%\" of what the step needs where each op runs once")
    return int(float(number) * UNITS[unit])


class Recipe:
    """A joint graph's program, and how it is planned."""

    def __init__(self, joint, costs=None, device=None):
        self.joint = joint
        self.options = {"align": 1, "costs": costs, "device": device or device_of(joint)}
        free = self.plan(UNLIMITED).recomputed
        self.before, self.floor = free.before, free.floor

    def plan(self, budget):
        return self.joint.model.plan(recompute=True, fit=budget, progress=False, **self.options)

    def fitted(self, budget):
        """Figures and the order of ops within a budget."""
        plan = self.plan(budget)
        found = plan.recomputed
        if budget < found.floor:
            raise arenaut.NoPlanError(f"the step does not fit into {budget:,} bytes: at least {found.floor:,} are "
                                      f"needed by any rematerialization (proven)", records.NO_PLAN, floor=found.floor)
        if not found.fits:
            raise arenaut.RefusedError(
                f"no schedule was found for {budget:,} bytes; the least that was found is {found.after:,}, and at least "
                f"{found.floor:,} are needed (proven)", records.REFUSED, floor=found.floor)
        ops = plan._schedule() or tuple(range(len(self.joint.ops)))
        runs = [op for op in ops if not self.joint.is_view(op)]
        return Fitted(found.before, budget, found.after, None, found.floor, len(set(runs)), len(runs) - len(set(runs)),
                      found.time, found.added_time, found.least_time, True), ops


def device_of(joint):
    """The model of times where none is given: that of the kind of processor."""
    placed = {value.device.type for node in joint.graph.graph.nodes
              for value in [node.meta.get("val")] if isinstance(value, torch.Tensor)}
    return "cpu" if placed <= {"cpu", "meta"} else "a100"


class Curve(namedtuple("Curve", "before floor points")):
    """What a training step costs within budgets.

    Attributes
    ----------
    before : int
        Bytes if each op runs once, as Fitted counts them.
    floor : int
        Bytes; no step needs fewer: proven, and checked.
    points : tuple
        A Fitted for each budget for which a schedule was found.
    """

    __slots__ = ()
    before: int
    floor: int
    points: tuple[Fitted, ...]

    def __str__(self) -> str:
        lines = ["budget           bytes  more time   at least"]
        lines += [f"{percent(one.budget, self.before):>8} {one.planned:13,} {percent(one.added_time, one.time):>10} "
                  f"{percent(one.least_time, one.time):>10}" for one in self.points]
        return "\n".join([*lines, f"nothing fits below {self.floor:,} bytes ({percent(self.floor, self.before)}, proven)"])


def curve(model: torch.nn.Module, inputs: Any, *, budgets: Iterable[int | str] = ("100%", "90%", "80%", "70%", "60%",
          "50%", "40%", "30%", "20%"), costs: Path | None = None,
          device: str | tuple[int, int] | None = None) -> Curve:
    """Peak against time of a model's training step. No step is run; on a GPU each kind of its operators is, by
    itself, to learn what its kernel takes inside.

    Parameters
    ----------
    model, inputs, costs, device
        As of fit.
    budgets : iterable of int | str, optional
        Each as `memory` of fit. Those that nothing was found for are left out.
    """
    recipe = Recipe(capture(model, inputs), costs, device)
    points, floor = [], recipe.floor
    for budget in budgets:
        try:
            points.append(recipe.fitted(bytes_of(budget, recipe.before))[0])
        except (arenaut.NoPlanError, arenaut.RefusedError):
            continue  # which is what the curve's floor, and the gap above it, say
    return Curve(recipe.before, floor, tuple(points))
