"""PyTorch programs on planned memory.

    import arenaut.torch
    fast = arenaut.torch.compile(module, example_inputs)
    fast(*inputs)

Every intermediate tensor lies at a planned place of one arena; see docs/pytorch.md. Preload
libarenaut-replay.so so that what kernels allocate inside is planned too.
"""

from arenaut.torch.executor import Planned, compile, load

__all__ = ["Planned", "compile", "load"]
