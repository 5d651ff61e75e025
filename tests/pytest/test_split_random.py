"""Random nets, split anywhere in every mode: what is not refused has the same bits, tensor by tensor
and from run to run, in the stock tflite-micro wheel. And files of which two pieces were exchanged
have not, so that what compares them does."""

import os
import subprocess
from collections import Counter

import numpy as np
from conftest import COMMAND
from random_nets import STATE, random_net
from test_split import first_wrong_tensor

import tflite_compare
import tflite_file

THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))
MODES = ("channels", "fitted", "fitted-over", "rows", "kept", "cropped", "kept-cropped",
         "rows+calls", "kept+calls")
TOGETHER = ((), ("--overlap", "on"), ("--inplace", "on"), ("--overlap", "on", "--inplace", "on"),
            ("--overlap", "on", "--preserve-inputs"))
NETS = 6


def random_stage(random, n_ops, chains, mode):
    """By channels: a chain, or the begin of one."""
    if mode in MODES[3:]:
        first = random.randint(0, n_ops)
        last = min(n_ops - 1, first + random.randint(5))
    else:
        first, end = chains[random.randint(len(chains))]
        last = random.randint(first, end + 1)
    return f"{first}-{last}/{random.randint(2, 6)}:{mode}"


def split(path, output, stage, options):
    """The file's bytes; None where the stage is refused."""
    done = subprocess.run([COMMAND, "plan", path, "--split", stage, "-f", "-o", output, *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "cannot be split so" in done.stderr, (path, stage, done)
    return output.read_bytes() if done.returncode == 0 else None


def with_pieces_exchanged(data):
    """The first two pieces of the last join that has two of one size; None: no join has."""
    table = tflite_file.unpack(data)
    main = table.subgraphs[0]
    for op in reversed(main.operators):
        pieces = tflite_file.items(op.inputs)
        if tflite_file.op_name(table, op) != "CONCATENATION" or pieces[0] == pieces[1]:
            continue
        if list(main.tensors[pieces[0]].shape) == list(main.tensors[pieces[1]].shape):
            op.inputs = np.asarray([pieces[1], pieces[0], *pieces[2:]], np.int32)
            return tflite_file.pack(table)
    return None


def differs(original, changed):
    return (tflite_compare.first_difference(original, changed, seeds=(1,), runs=2) is not None
            or first_wrong_tensor(original, changed, most=5, but=STATE) is not None)


def test_random_nets_compute_the_same(tmp_path):
    compared, spoiled, found = Counter(), 0, 0
    for seed in range(NETS * THOROUGH):
        data, n_ops, chains = random_net(seed)
        path, output = tmp_path / f"{seed}.tflite", tmp_path / f"{seed}.split.tflite"
        path.write_bytes(data)
        random = np.random.RandomState(5000 + seed)
        for mode in MODES:
            stage = random_stage(random, n_ops, chains, mode)
            options = TOGETHER[random.randint(len(TOGETHER))]
            changed = split(path, output, stage, options)
            if changed is None:
                continue
            assert not differs(data, changed), (seed, stage, options)
            compared[mode] += 1
            wrong = with_pieces_exchanged(changed)
            if wrong is not None and spoiled <= seed:
                spoiled += 1
                found += differs(data, wrong)
    print(", ".join(f"{mode} {compared[mode]}" for mode in MODES), f"; {found} of {spoiled} found")
    assert sum(compared.values()) > 3 * NETS * THOROUGH
    assert set(compared) == set(MODES)
    assert found > spoiled // 2 > 0
