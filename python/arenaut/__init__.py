"""Arenaut: plans the memory of tensor programs.

    import arenaut
    plan = arenaut.plan([4096, 512, 4096], [0, 1, 2], [2, 3, 4], align=16)
    plan.arena, plan.offsets

    model = arenaut.open("model.tflite")
    model.size()
    model.plan().save("small.tflite")

All planning happens in the C library; docs/python.md describes the rest. `arenaut.torch` runs
PyTorch programs on planned memory, `arenaut.executorch` plans inside ExecuTorch's export.
"""

from arenaut.errors import (ArenautError, InputError, NoPlanError, OutOfMemoryError, RefusedError,
                            RejectedError, StoppedError, UnsupportedError)
from arenaut.figures import Order, Recomputed, Size, TensorArena, Trace
from arenaut.model import Model, open
from arenaut.model_plan import ModelPlan, one_arena
from arenaut.planning import Plan, plan
from arenaut.problem import Pool, Problem
from arenaut.records import VERSION as __version__

__version__ = __version__.replace("-", "")  # a candidate, as Python's packages name it
TYPE_CHECKING = False  # as typing has it
if TYPE_CHECKING:
    from arenaut.many import Results, Row, plan_many, sweep

MANY = ("Results", "Row", "plan_many", "sweep")


def __getattr__(name):
    """Of many.py and typed.py, whose imports take as long as all else here."""
    if name in MANY:
        from arenaut import many
        return getattr(many, name)
    if name == "typed":
        from importlib import import_module
        return import_module("arenaut.typed")
    raise AttributeError(f"module 'arenaut' has no attribute '{name}'")


def __dir__():
    return [*__all__, "__doc__", "__path__", "errors", "typed"]


__all__ = ["ArenautError", "InputError", "Model", "ModelPlan", "NoPlanError", "Order",
           "OutOfMemoryError", "Plan", "Pool", "Problem", "Recomputed", "RefusedError", "RejectedError", "Results",
           "Row", "Size", "StoppedError", "TensorArena", "Trace", "UnsupportedError", "__version__", "one_arena", "open", "plan",
           "plan_many", "sweep"]
