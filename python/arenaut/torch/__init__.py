"""PyTorch programs on planned memory.

    import arenaut.torch
    fast = arenaut.torch.compile(module, example_inputs)
    fast(*inputs)

Every intermediate tensor lies at a planned place of one arena; see docs/pytorch.md. Preload
libarenaut-replay.so so that what kernels allocate inside is planned too.

    step = arenaut.torch.fit(model, memory="60%", inputs=inputs)
    step(*inputs).backward()

A training step within a budget; see docs/training.md.
"""

from arenaut.torch.budget import Curve, Fitted, curve
from arenaut.torch.costs import profile
from arenaut.torch.executor import Planned, compile, load
from arenaut.torch.traced import joint
from arenaut.torch.training import Step, fit

__all__ = ["Curve", "Fitted", "Planned", "Step", "compile", "curve", "fit", "joint", "load", "profile"]
