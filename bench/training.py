"""A training step within less memory, by PyTorch's own ways and by arenaut.torch.fit, side by side.

    build/venv/bin/python bench/training.py [NAME...] [--device cpu] [--seconds 10]

Each way is run on the CPU, one thread. Peaks are bytes of storages that operators of the step made and that
are there at once, counted by one meter for all. Time is modelled, by a roofline over the operators that ran,
and, apart, measured (the least processor time of a step). Behind each of PyTorch's ways stands the modelled
time of a step of ours that fits into its peak, what of that runs again, and what must at least (proven).
"""

import argparse
import copy
import functools
import json
import sys
import time
import warnings
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
import joint_graphs  # noqa: E402

import arenaut.torch  # noqa: E402
from arenaut.torch.meter import Meter, storages_of  # noqa: E402
from arenaut.torch.traced import TYPES  # noqa: E402
from arenaut.torch.training import backward  # noqa: E402

aten = torch.ops.aten
#: What selective checkpoint keeps in the example of PyTorch's documentation, and convolutions.
DEAR = {aten.mm.default, aten.addmm.default, aten.bmm.default, aten.convolution.default,
        aten._scaled_dot_product_flash_attention_for_cpu.default}
BUDGETS = 1.0, 0.7, 0.5, 0.3, 0.1
PERCENT = "80%", "60%", "50%", "40%", "30%"


def network(name):
    """A module, the names of the classes of its blocks, and the arguments of a step."""
    def text(batch, length, many, each):
        return (torch.randint(many, (batch, length)),
                torch.randint(many if each else 2, (batch, length) if each else (batch,)))

    return {
        "resnet": lambda: (joint_graphs.ResNet((2, 2, 2, 2), 32, 100), joint_graphs.Bottleneck,
                           (torch.randn(16, 3, 128, 128), torch.randint(100, (16,)))),
        "unet": lambda: (joint_graphs.UNet((16, 32, 64, 128)), torch.nn.Sequential,
                         (torch.randn(4, 3, 128, 128), torch.randint(2, (4, 128, 128)))),
        "gpt": lambda: (joint_graphs.Language(1000, 128, True, True, 192, 6, 6), joint_graphs.Block,
                        text(8, 128, 1000, True)),
        "vit": lambda: (joint_graphs.ViT(192, 6, 6, 16, 224, 100), joint_graphs.Block,
                        (torch.randn(8, 3, 224, 224), torch.randint(100, (8,)))),
    }[name]()


# ---- ways ----

def checkpointed(model, blocks, context=None):
    """torch.utils.checkpoint around each block."""
    from torch.utils.checkpoint import checkpoint
    extra = {"context_fn": context} if context else {}
    for block in model.modules():
        if type(block) is blocks and block is not model and not any(type(inner) is blocks for inner in
                                                                    list(block.modules())[1:]):
            block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False, **extra)
    return model


def selective(model, blocks):
    from torch.utils.checkpoint import create_selective_checkpoint_contexts
    return checkpointed(model, blocks, functools.partial(create_selective_checkpoint_contexts, list(DEAR)))


class Budgeted:
    """PyTorch's min-cut partition with an activation_memory_budget. A batch norm that it runs again reads statistics
    which are updated by then, and autograd refuses that; so batch norms are taken apart, as inductor does it."""

    def __init__(self, model, budget):
        self.budget, self.meter = budget, None
        self.apart = any(isinstance(one, torch.nn.BatchNorm2d) for one in model.modules())
        self.run = torch.compile(model, backend=self.backend, fullgraph=True, dynamic=False)

    def backend(self, graph, inputs):
        from functorch.compile import min_cut_rematerialization_partition
        from torch._dynamo.backends.common import aot_autograd
        from torch._decomp import get_decompositions
        import torch._inductor.lowering  # noqa: F401  # the partition wants it, and does not import it
        norms = aten._native_batch_norm_legit_functional, aten.native_batch_norm_backward
        table = get_decompositions(norms) if self.apart else {}
        with torch._functorch.config.patch(activation_memory_budget=self.budget):
            return aot_autograd(fw_compiler=self.compiler, bw_compiler=self.compiler, decompositions=table,
                                partition_fn=min_cut_rematerialization_partition)(graph, inputs)

    def compiler(self, graph, inputs):
        from torch._dynamo.backends.debugging import boxed_nop
        run = boxed_nop(graph, inputs)

        def metered(arguments):
            if self.meter is None:
                return run(arguments)
            with self.meter:
                return run(arguments)

        metered._boxed_call = True
        return metered

    def __call__(self, *arguments):
        return self.run(*arguments)


# ---- what a step comes to ----

class Recorder(Meter):
    """A meter that writes down the operators that run, as a program."""

    def __init__(self):
        super().__init__()
        self.tensors, self.rows, self.base = [], [], {}

    def tensor(self, value, given=False):
        key = value.untyped_storage()._cdata
        row = {"dtype": TYPES.get(value.dtype, "other"), "dims": list(value.shape)}
        if key in self.base:
            row.update(bytes=self.tensors[self.base[key]]["bytes"], view_of=self.base[key])
        else:
            self.base[key] = len(self.tensors)
            row["bytes"] = value.untyped_storage().nbytes()
            if given:  # weights and the like, which are somebody else's
                row.update({"class": "state", "caller_owned": True})
        self.tensors.append(row)
        return len(self.tensors) - 1

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        given = [leaf for leaf in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        inputs = [self.tensor(one, given=True) for one in given]
        made = super().__torch_dispatch__(operator, types, args, kwargs)
        leaves = [leaf for leaf in torch.utils._pytree.tree_leaves(made) if isinstance(leaf, torch.Tensor)]
        keys = [storage._cdata for storage in storages_of(made)]
        kind = "in_place" if operator._schema.is_mutable else "view" if keys and all(
            key in self.base for key in keys) else "out"
        self.rows.append({"name": operator._schema.name, "kind": kind, "pure": True, "inputs": inputs,
                          "outputs": [self.tensor(one) for one in leaves]})
        return made

    def forget(self, key, size):
        super().forget(key, size)
        self.base.pop(key, None)

    def nanoseconds(self, device):
        document = {"schema": "arenaut.program/1", "tensors": self.tensors, "ops": self.rows}
        model = arenaut.Model.parse(json.dumps(document).encode(), "step.program.json")
        return model.plan(recompute=True, fit=1 << 60, align=1, device=device, progress=False).recomputed.time


def step_of(run, model, inputs):
    results = run(*inputs)
    backward(model, inputs, {}, results)


def looked_at(run, model, inputs, device):
    """Peak and modelled time of a step."""
    step_of(run, model, inputs)  # compiles
    recorder = Recorder()
    inside = run.kinds[next(iter(run.kinds))] if isinstance(run, arenaut.torch.Step) else run
    if hasattr(inside, "meter"):
        inside.meter = recorder
        step_of(run, model, inputs)
        inside.meter = None
    else:
        with recorder:
            step_of(run, model, inputs)
    return recorder.peak, recorder.nanoseconds(device)


def measured(runs, inputs, seconds):
    """The least milliseconds of processor time, taken in turns."""
    least = [float("inf")] * len(runs)
    end = time.monotonic() + seconds * len(runs)
    while time.monotonic() < end or float("inf") in least:
        for k, (run, model) in enumerate(runs):
            start = time.process_time()
            step_of(run, model, inputs)
            least[k] = min(least[k], 1000 * (time.process_time() - start))
    return least


def fitted(base, memory, inputs, device):
    """A step within so much memory, and its model; None if no schedule was found."""
    model = copy.deepcopy(base)
    try:
        return arenaut.torch.fit(model, memory, inputs, device=device), model
    except (arenaut.NoPlanError, arenaut.RefusedError):
        return None


def ways_of(base, blocks, inputs, device):
    """Titles, and what is called beside its model."""
    yield "eager", base, base
    for title, wrap in ("checkpoint per block", checkpointed), ("selective checkpoint", selective):
        model = wrap(copy.deepcopy(base), blocks)
        yield title, model, model
    for budget in BUDGETS:
        model = copy.deepcopy(base)
        run = Budgeted(model, budget)
        yield f"activation_memory_budget {budget}{', decomposed' if run.apart else ''}", run, model
    for memory in PERCENT:
        found = fitted(base, memory, inputs, device)
        if found:
            yield f"**fit {memory}**", *found


def within(base, peak, took, inputs, device):
    """The time of a step of ours in so many bytes, what of it runs again, and at least."""
    found = fitted(base, peak, inputs, device)
    if not found:
        return "none found"
    figures, (_, ours) = found[0].fitted, looked_at(*found, inputs, device)
    again, least = (100 * part / figures.time for part in (figures.added_time, figures.least_time))
    return f"{100 * (ours / took - 1):+.1f} %: reruns {again:.1f} %, at least {least:.1f} %"


def compared(name, device, seconds):
    torch.manual_seed(0)
    base, blocks, inputs = network(name)
    base.train()
    ways = list(ways_of(base, blocks, inputs, device))
    rows = [looked_at(run, model, inputs, device) for _, run, model in ways]
    times = measured([(run, model) for _, run, model in ways], inputs, seconds)
    eager, took = rows[0]
    print(f"\n| {name} | peak | of eager | more time, modelled | CPU ms | fit within that peak |")
    print("|---|--:|--:|--:|--:|--:|")
    for (title, *_), (peak, spent), least in zip(ways, rows, times):
        cell = ""
        if title != "eager" and "fit" not in title:
            cell = within(base, peak, took, inputs, device)
        print(f"| {title} | {peak:,} | {100 * peak / eager:.1f} % | {100 * (spent / took - 1):+.1f} % | {least:.0f} | "
              f"{cell} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--device", default="cpu", help="whose times are modelled")
    parser.add_argument("--seconds", type=float, default=10, help="for the times of each way")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch._dynamo.config.recompile_limit = 64  # one module class is compiled for each way
    warnings.simplefilter("ignore", FutureWarning)
    for name in args.names or ("resnet", "unet", "gpt", "vit"):
        compared(name, args.device, args.seconds)


if __name__ == "__main__":
    main()
