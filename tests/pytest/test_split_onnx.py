"""ONNX models in tiles: the stock ONNX Runtime computes the same bits, tile by tile whatever its options, in
less memory; a spoiled file is not the model any more."""

import os
import subprocess
from collections import Counter

import numpy as np
import onnxruntime
import pytest
from conftest import COMMAND

import onnx_file
from random_images import Images, integer, random_images

THOROUGH = int(os.environ.get("ARENAUT_THOROUGH", "1"))
LEVELS = onnxruntime.GraphOptimizationLevel
NETS = 24


def run(path, feed, level=LEVELS.ORT_DISABLE_ALL):
    """One thread: how many there are is part of the tile rule."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [each.tobytes() for each in session.run(None, feed)]


def split(path, output, stage):
    """False where the stage is refused."""
    done = subprocess.run([COMMAND, "plan", path, "--split", stage, "-f", "-o", output],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "cannot be split so" in done.stderr, (path, stage, done)
    return done.returncode == 0


def test_random_nets_compute_the_same(tmp_path):
    compared = Counter()
    for seed in range(NETS * THOROUGH):
        net = random_images(seed)
        path, output, feed = tmp_path / f"{seed}.onnx", tmp_path / f"{seed}.split.onnx", net.feed()
        path.write_bytes(net.bytes())
        wanted = {level: run(path, feed, level) for level in (LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_ALL)}
        for mode in ("rows", "kept") * 3:
            first = net.random.randint(len(net.nodes))
            last = min(len(net.nodes) - 1, first + net.random.randint(6))
            stage = f"{first}-{last}/{net.random.randint(2, 5)}:{mode}"
            if not split(path, output, stage):
                continue
            for level, expected in wanted.items():
                assert run(output, feed, level) == expected, (seed, stage, level)
            compared[mode] += 1
    print(", ".join(f"{mode} {n}" for mode, n in compared.items()))
    assert compared["rows"] > NETS * THOROUGH // 2 < compared["kept"]
