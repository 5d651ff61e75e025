"""Times of the ops of a training step, each measured by itself."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import torch

from arenaut.documents import write_file
from arenaut.torch.probe import device_of, for_real, kind_of, operands_of
from arenaut.torch.traced import capture

if TYPE_CHECKING:
    from arenaut.typed import Path


def nanoseconds_of(node, repeats):
    """Of one run, behind one that does not count: the shortest on a processor; the mean on a GPU, where runs
    follow one another, since a step does not wait for each launch either."""
    device = device_of(node)
    with for_real({device}):
        args, kwargs = operands_of(node)
        node.target(*args, **kwargs)
        if device.type == "cuda":
            return nanoseconds_on_gpu(lambda: node.target(*args, **kwargs), device, repeats)
        times = []
        for _ in range(repeats):
            start = time.perf_counter_ns()
            node.target(*args, **kwargs)
            times.append(time.perf_counter_ns() - start)
    return min(times)


def nanoseconds_on_gpu(run, device, repeats):
    with torch.cuda.device(device):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            run()
        end.record()
        end.synchronize()
    return int(1e6 * start.elapsed_time(end) / repeats)


def profile(model: torch.nn.Module, inputs: Any, path: Path | None = None, *, repeats: int = 3) -> str:
    """Measures the ops of a training step, one by one, on tensors of their shapes with made up content. No step
    is run, and no more memory is needed than by one op. Ops of one kind are measured once.

    Parameters
    ----------
    model, inputs
        As of fit.
    path : Path, optional
        Of a file to write, for `costs` of fit and curve, and `--costs` of the command.
    repeats : int, optional
        Runs of each op, of which the shortest counts, and the mean on a GPU.

    Returns
    -------
    str
        CSV with the header method,op,nanoseconds. Ops that do not run on made up content are left out, with a
        warning; their times are modelled.
    """
    joint, known, lines = capture(model, inputs), {}, ["method,op,nanoseconds"]
    for op, node in enumerate(joint.ops):
        if node is None:
            lines.append(f"main,{op},0")
        if joint.is_view(op):
            continue
        kind = kind_of(node)
        if kind not in known:
            try:
                known[kind] = nanoseconds_of(node, repeats)
            except RuntimeError as failed:
                warnings.warn(f"arenaut.torch.profile: {node.target} was not measured: {failed}", RuntimeWarning,
                              stacklevel=2)
                known[kind] = None
        if known[kind] is not None:
            lines.append(f"main,{op},{known[kind]}")
    text = "\n".join([*lines, ""])
    if path is not None:
        write_file(path, text.encode())
    return text
