"""Arenaut from Python: a thin layer over the C library.

    import arenaut
    plan = arenaut.plan([arenaut.Buffer(4096, 0, 2), arenaut.Buffer(512, 1, 3)])
    plan.arena, plan.offsets

All planning happens in the library. `arenaut.torch` runs PyTorch programs on planned memory.
"""

from arenaut.library import ArenautError
from arenaut.planning import Buffer, Plan, plan

__all__ = ["ArenautError", "Buffer", "Plan", "plan"]
