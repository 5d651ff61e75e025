"""Exported graphs whole and in tiles, in unmodified PyTorch: bytes alive at once, bits, and what tiles add.

    build/venv/bin/python bench/tiled_exports.py [--executorch] [--rounding [--max-macs PERCENT]] [NAME…]

Prints Markdown, a row for each net: MiB of storages that operators make, at most at once, without the input.
With --executorch, MiB of what ExecuTorch plans with its input: whole, tiled by TilePass and tiled before lowering, each
by its own greedy planner, by ours, and by ours with nodes in another order. --rounding allows tiles that round otherwise
than the whole, and --max-macs so many more multiplications. Signals are run in its portable kernels, too, which take minutes for images.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / each) for each in ("tests/pytest", "tests/models", "python")]
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from exported_graphs import run  # noqa: E402
from test_split_pt2 import Rrdb, UNet, bits, save_module, settle  # noqa: E402
from tiling_models import build  # noqa: E402

COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
os.environ.setdefault("ARENAUT_LIBRARY", str(COMMAND.parent / "libarenaut.so"))
NETS = {
    "unet3": (lambda: UNet(False, 32, 3), (3, 512, 512)),
    "unet4": (lambda: UNet(False, 32, 4), (3, 512, 512)),
    "rrdb": (lambda: Rrdb(64, 32, 3), (3, 64, 64)),
    "unet_1d": (lambda: UNet(False, 16, 3, axes=1, channels=1), (1, 32768)),
    "efficientnet_b0": (lambda: build("efficientnet_b0"), (3, 512, 512)),
}


def net_of(name):
    make, shape = NETS[name]
    torch.manual_seed(0)
    return settle(make()).eval(), (torch.randn(1, *shape),)


def flags(limits):
    return [word for name, value in limits.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def row(name, folder, limits):
    net, args = net_of(name)
    path, output = Path(folder) / f"{name}.pt2", Path(folder) / f"{name}.split.pt2"
    save_module(net, args, path)
    done = subprocess.run([COMMAND, "plan", path, "--split", "on", *flags(limits), "--json", "-o", output], capture_output=True, check=True)
    split = json.loads(done.stdout)["split"]
    (wanted, before), (found, after) = run(path, args), run(output, args)
    same = "the same" if bits(found) == bits(wanted) else "rounded otherwise" if split["rounded_ops"] else "OTHERS"
    stages = ", ".join(f"{s['first_op']}-{s['last_op']}/{s['pieces']}:{s['mode']}" for s in split["stages"])
    return f"| {name} | {before / 2**20:.1f} | {after / 2**20:.1f} | {stages} | {split['ops']} | {split['macs']:,} of {split['macs_before']:,} | {same} |"


def planned(program):
    return sum(program.executorch_program.execution_plan[0].non_const_buffer_sizes)


def executed(program, args):
    from executorch.runtime import Runtime
    return bits(Runtime.get().load_program(program.buffer).load_method("forward").execute(list(args)))


def executorch_row(name, folder, limits):
    from arenaut.executorch import MemoryPlanningPass, TilePass
    from executorch.exir import ExecutorchBackendConfig, to_edge
    net, args = net_of(name)
    path, output = Path(folder) / f"{name}.pt2", Path(folder) / f"{name}.split.pt2"
    save_module(net, args, path)
    subprocess.run([COMMAND, "plan", path, "--split", "on", *flags(limits), "-q", "-o", output], capture_output=True, check=True)

    def lowered(path, passes, planning):
        config = ExecutorchBackendConfig(**planning)
        return to_edge(torch.export.load(path)).transform(passes).to_executorch(config)

    def planners():
        yield {}
        for reorder in (False, True):
            yield {"memory_planning_pass": MemoryPlanningPass(reorder=reorder)}

    ways = [(path, []), (path, [TilePass(**limits)]), (output, [])]
    made = [lowered(*way, planning) for way in ways for planning in planners()]
    sizes = " | ".join(f"{planned(program) / 2**20:.1f}" for program in made)
    same = "not run"
    if args[0].dim() == 3:
        wanted = executed(made[0], args)
        same = "the same" if all(executed(program, args) == wanted for program in made[1:]) else "OTHERS"
    return f"| {name} | {sizes} | {same} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--executorch", action="store_true")
    parser.add_argument("--rounding", action="store_true")
    parser.add_argument("--max-macs", type=int)
    options = parser.parse_args()
    limits = {"rounding": "allow"} if options.rounding else {}
    if options.max_macs is not None:
        limits["max_macs"] = options.max_macs
    names = options.names or NETS
    torch.set_num_threads(1)
    if options.executorch:
        print("| net | whole | ours | in another order | by TilePass | ours | in another order | tiled before | ours "
              "| in another order | results |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    else:
        print("| net | whole | tiles | stages | ops | multiplications | results |\n|---|--:|--:|---|--:|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            print((executorch_row if options.executorch else row)(name, folder, limits), flush=True)


if __name__ == "__main__":
    main()
