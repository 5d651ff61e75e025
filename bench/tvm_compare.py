"""arenaut.tvm beside TVM's own planning of memory, on networks of tests/models/torch_zoo.py: bytes of all
storages, a lower bound of all placements, and whether the outputs are the same to the bit.

    python bench/tvm_compare.py [--plan-only] [NAME...]    # in an environment that holds arenaut, apache-tvm and torch

`--plan-only` stops before anything is compiled, and runs nothing."""

import argparse
import sys
import time
from pathlib import Path

import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

import arenaut.tvm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
import torch_zoo

TARGET = tvm.target.Target("llvm")


class Planned(RuntimeError):
    """All has been planned; nothing is to be compiled."""


class Watched:
    """A pass that keeps the module as it is at that point, for its figures."""

    def __init__(self, plan):
        self.plan, self.planned, self.seconds = plan, None, 0.0

    def made(self):
        @tvm.transform.module_pass(opt_level=0, name=arenaut.tvm.NAME)
        def watched(module, _context):
            began = time.process_time()
            self.planned = self.plan(module)
            self.seconds = time.process_time() - began
            return self.planned
        return watched


def compiled(module, plan, inputs):
    """Outputs, bytes of storages, and the seconds that planning took."""
    watched = Watched(plan)
    built = tvm.compile(module, TARGET, relax_pipeline=arenaut.tvm.pipeline(TARGET, plan=watched.made()))
    machine = relax.VirtualMachine(built, tvm.cpu())
    made = machine["main"](*[tvm.runtime.tensor(one.numpy()) for one in inputs])
    outputs = [one.numpy() for one in made]
    return outputs, arenaut.tvm.figures(watched.planned)["main"], watched.seconds


def planned(module, plan):
    """Bytes of storages after the passes up to that one."""
    watched = Watched(plan)

    @tvm.transform.module_pass(opt_level=0, name=arenaut.tvm.NAME)
    def last(module, _context):
        watched.planned = watched.plan(module)
        raise Planned
    try:
        tvm.compile(module, TARGET, relax_pipeline=arenaut.tvm.pipeline(TARGET, plan=last))
    except RuntimeError:  # as TVM passes on errors of a pass
        if not watched.planned:
            raise
    return arenaut.tvm.figures(watched.planned)["main"]


def compare(module, inputs):
    """A row's cells, and whether both compute the same."""
    theirs = compiled(module, relax.transform.StaticPlanBlockMemory(), inputs)
    ours = compiled(module, arenaut.tvm.static_plan_block_memory(), inputs)
    same = all((a == b).all() for a, b in zip(theirs[0], ours[0], strict=True))
    return theirs[1], ours[1], f"{theirs[2] * 1e3:.1f}", f"{ours[2] * 1e3:.1f}", same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan-only", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(torch_zoo.ZOO))
    options = parser.parse_args()
    print("| network | TVM | arenaut | | TVM, ms | arenaut, ms | outputs |\n|---|---:|---:|---:|---:|---:|---|")
    for name in options.names or torch_zoo.ZOO:
        torch.manual_seed(0)
        network, inputs = torch_zoo.ZOO[name]()
        with torch.no_grad():
            module = from_exported_program(torch.export.export(network.eval(), inputs), keep_params_as_input=False,
                                           unwrap_unit_return_tuple=False)
        if options.plan_only:
            theirs, ours = (planned(module, plan) for plan in (relax.transform.StaticPlanBlockMemory(),
                                                               arenaut.tvm.static_plan_block_memory()))
            cells, same = ("not run", "not run", "not run"), True
        else:
            theirs, ours, *cells, same = compare(module, inputs)
            cells += ["the same" if same else "DIFFER"]
        print(f"| {name} | {theirs:,} | {ours:,} | {ours / theirs - 1:+.1%} | {' | '.join(cells)} |", flush=True)
        if not same:
            sys.exit(f"{name}: outputs differ")


if __name__ == "__main__":
    main()
