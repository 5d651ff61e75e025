"""ONNX models in tiles: the stock ONNX Runtime computes the same bits where it runs the nodes
of the file; where it fuses nodes first, tiles may round otherwise than the whole. Tile by tile, whatever its
options, in less memory; a spoiled file is not the model any more."""

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
    return session.run(None, feed)


def same_bits(a, b):
    return [each.tobytes() for each in a] == [each.tobytes() for each in b]


def are_close(a, b):
    """To rounding, of values of that size."""
    return all(np.allclose(x, y, rtol=1e-4, atol=1e-5 * (1 + np.abs(x).max())) for x, y in zip(a, b, strict=True))


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
        wanted, optimized = run(path, feed), run(path, feed, LEVELS.ORT_ENABLE_ALL)
        for mode in ("rows", "kept") * 3:
            first = net.random.randint(len(net.nodes))
            last = min(len(net.nodes) - 1, first + net.random.randint(6))
            stage = f"{first}-{last}/{net.random.randint(2, 5)}:{mode}"
            if not split(path, output, stage):
                continue
            assert same_bits(run(output, feed), wanted), (seed, stage)
            found = run(output, feed, LEVELS.ORT_ENABLE_ALL)
            assert are_close(found, optimized), (seed, stage)
            compared["same bits, optimized"] += same_bits(found, optimized)
            compared[mode] += 1
    print(", ".join(f"{mode} {n}" for mode, n in compared.items()))
    assert compared["same bits, optimized"] > 0.8 * (compared["rows"] + compared["kept"])
    assert compared["rows"] > NETS * THOROUGH // 2 < compared["kept"]
