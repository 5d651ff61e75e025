"""Exported graphs whole and in tiles, in unmodified PyTorch: bytes alive at once, bits, and what tiles add.

    build/venv/bin/python bench/tiled_exports.py [NAME…]

Prints Markdown, a row for each net: MiB of storages that operators make, at most at once, without the input.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "pytest"), str(ROOT / "tests" / "models")]
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from exported_graphs import run  # noqa: E402
from test_split_pt2 import Rrdb, UNet, bits, save_module, settle  # noqa: E402

COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
NETS = {
    "unet3": (lambda: UNet(False, 32, 3), 512),
    "unet4": (lambda: UNet(False, 32, 4), 512),
    "rrdb": (lambda: Rrdb(64, 32, 3), 64),
}


def row(name, folder):
    make, side = NETS[name]
    torch.manual_seed(0)
    args = (torch.randn(1, 3, side, side),)
    path, output = Path(folder) / f"{name}.pt2", Path(folder) / f"{name}.split.pt2"
    save_module(settle(make()), args, path)
    done = subprocess.run([COMMAND, "plan", path, "--split", "on", "--json", "-o", output], capture_output=True, check=True)
    split = json.loads(done.stdout)["split"]
    (wanted, before), (found, after) = run(path, args), run(output, args)
    same = "the same" if bits(found) == bits(wanted) else "OTHERS"
    stages = ", ".join(f"{s['first_op']}-{s['last_op']}/{s['pieces']}:{s['mode']}" for s in split["stages"])
    return f"| {name} | {before / 2**20:.1f} | {after / 2**20:.1f} | {stages} | {split['ops']} | {split['macs']:,} of {split['macs_before']:,} | {same} |"


def main():
    torch.set_num_threads(1)
    print("| net | whole | tiles | stages | ops | multiplications | results |\n|---|--:|--:|---|--:|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or NETS:
            print(row(name, folder), flush=True)


if __name__ == "__main__":
    main()
