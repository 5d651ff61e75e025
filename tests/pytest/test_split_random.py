"""Random nets, split anywhere in every mode: what is not refused has the same bits, tensor by tensor
and from run to run, in the stock tflite-micro wheel. And files of which two pieces were exchanged
have not, so that what compares them does."""

import os
import subprocess
from collections import Counter

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from conftest import COMMAND
from micro_runtime import random_inputs
from random_nets import STATE, Net, random_net
from test_split import first_wrong_tensor

import tflite_compare
import tflite_file

THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))
MODES = ("channels", "fitted", "fitted-over", "rows", "kept", "cropped", "kept-cropped",
         "rows+calls", "kept+calls")
TOGETHER = ((), ("--overlap", "on"), ("--inplace", "on"), ("--overlap", "on", "--inplace", "on"),
            ("--overlap", "on", "--preserve-inputs"), ("--reorder", "on"), ("--overlap", "on", "--reorder", "on"))
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


def mirrored_net(seed):
    """A convolution, a margin that shows up to all of its rows in reverse, and a filter over both."""
    net = Net(seed)
    net.conv(*net.images[-1])
    taken, shape = net.images[-1]
    mode = seed // 2 % 2  # REFLECT, SYMMETRIC
    most = np.array(shape)[:, None] - 1 + mode
    pads = net.random.randint(0, most + 1, (4, 2)) if seed % 3 == 0 else np.minimum(net.random.randint(0, 4, (4, 2)), most)
    pads[0] = 0
    constant = net.graph.constant("pads", pads.astype(np.int32))
    net.graph.op("MIRROR_PAD", [taken, constant], [net.add(np.array(shape) + pads.sum(1))], mode=mode)
    net.depthwise(*net.images[-1], (1,))
    net.graph.io([net.images[0][0]], [net.images[-1][0]])
    return net.model.bytes()


def outputs(data, seed):
    """Of LiteRT's reference kernels."""
    machine = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    machine.allocate_tensors()
    details = machine.get_input_details()
    values = random_inputs([(tuple(detail["shape"]), detail["dtype"]) for detail in details], seed)
    for detail, value in zip(details, values):
        machine.set_tensor(detail["index"], value)
    machine.invoke()
    return [machine.get_tensor(detail["index"]).tobytes() for detail in machine.get_output_details()]


def test_mirrored_margins_are_tiled(tmp_path):
    """By reflect and symmetric margins, of one row and of all rows that there are."""
    compared = Counter()
    for seed in range(8 * NETS * THOROUGH):
        path, output = tmp_path / f"{seed}.tflite", tmp_path / f"{seed}.split.tflite"
        data = mirrored_net(seed)
        path.write_bytes(data)
        random = np.random.RandomState(9000 + seed)
        for mode in MODES[3:]:
            first = random.randint(2)
            changed = split(path, output, f"{first}-{random.randint(1, 3)}/{random.randint(2, 5)}:{mode}", ())
            if changed is None:
                continue
            assert tflite_compare.first_difference(data, changed, seeds=(1,), runs=1) is None, (seed, mode)
            assert outputs(data, seed) == outputs(changed, seed), (seed, mode)
            table = tflite_file.unpack(changed)
            names = [tflite_file.op_name(table, op) for graph in table.subgraphs for op in graph.operators]
            compared[mode, seed // 2 % 2] += names.count("MIRROR_PAD") > 1 or "IF" in names
    print(dict(compared))
    assert all(compared[mode, kind] >= 2 * THOROUGH for mode in MODES[3:7] for kind in (0, 1)), compared
    assert sum(compared[mode, kind] for mode in MODES[7:] for kind in (0, 1)) >= THOROUGH, compared
