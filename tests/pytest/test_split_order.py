"""Tiles in another order than that in which they were made (`--split on --reorder on`): less memory in the stock
runtimes, and the same bits."""

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from conftest import DATA, corpus_params
from layers import Int8Net
from make_tflite import svdf
from tflite_file import Model

import micro_runtime
import tflite_compare
from test_split import first_wrong_tensor

BOTH = "--split", "on", "--reorder", "on"
STAY = "the ops stay in their order"


def planned(arenaut_json, path, output, *flags):
    """What tiles need, and what they need in another order."""
    tiles = arenaut_json("plan", path, "--split", "on", *flags)
    document = arenaut_json("plan", path, *BOTH, *flags, "-o", output)
    assert document["split"]["stages"] == tiles["split"]["stages"]
    return tiles["result"]["arena"], document


@pytest.mark.parametrize("flags", [(), ("--overlap", "on")], ids=["apart", "overlap"])
@pytest.mark.parametrize("name", ["inception_int8", "resnet_int8"])
def test_the_micro_runtime_needs_less(arenaut, arenaut_json, tmp_path, name, flags):
    path, output = DATA / f"{name}.tflite", tmp_path / "tiled.tflite"
    tiles, document = planned(arenaut_json, path, output, *flags)
    assert document["result"]["arena"] < tiles
    original, data = path.read_bytes(), output.read_bytes()
    assert micro_runtime.Machine(data).arena()[0] == document["result"]["arena"]
    assert tflite_compare.first_difference(original, data, seeds=(1, 2), runs=1) is None
    assert first_wrong_tensor(original, data) is None
    assert STAY not in arenaut("plan", path, *BOTH, *flags).stdout
    assert arenaut("check", output).returncode == 0
    restored = tmp_path / "restored.tflite"
    assert arenaut("strip", output, "-o", restored).returncode == 0
    assert restored.read_bytes() == original


def test_what_stays_is_said(arenaut, arenaut_json):
    """No other order of these tiles needs less."""
    path = DATA / "mobilenet_v1_025_96_int8.tflite"
    done = arenaut("plan", path, *BOTH)
    assert "no other order" in done.stdout and "split " in done.stdout
    assert arenaut_json("plan", path, *BOTH)["order"]["ops"] is None


def net_with_state_beside_tiles():
    """Filters that keep state, of which no run follows from another: the schedule may exchange them."""
    model = Model("beside")
    graph = model.graph("main")
    net = Int8Net(graph, seed=3)
    image = net.input("image", (1, 32, 32, 3))
    wide = net.conv(image, 16, kernel=3)
    flat = net.reshape(net.pool("MAX_POOL_2D", wide, 8, 8), (1, 4 * 4 * 16))
    kept = [svdf(net, net.dense(flat, size), rank, 1, 2) for size, rank in ((1500, 8), (8, 500), (400, 64), (64, 8))]
    last = net.pool("MAX_POOL_2D", net.conv(net.conv(wide, 16, kernel=3), 4, kernel=3), 8, 8)
    graph.io([image.tensor], [last.tensor, *(each.tensor for each in kept)])
    return model.bytes()


def test_ops_that_keep_state_may_move_beside_tiles(arenaut, tmp_path):
    """The check of tiles keeps them in sequence: it is of the order in which tiles were made."""
    path, output = tmp_path / "whole.tflite", tmp_path / "tiled.tflite"
    path.write_bytes(net_with_state_beside_tiles())
    done = arenaut("plan", path, "--split", "11-12/4:kept", "--reorder", "on", "-f", "-o", output)
    assert STAY not in done.stdout and "live bytes instead of" in done.stdout
    assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes(), seeds=(1,), runs=3) is None


def run(data, values):
    interpreter = Interpreter(model_content=data, num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), values):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [np.array(interpreter.get_tensor(detail["index"])).tobytes() for detail in interpreter.get_output_details()]


@pytest.mark.parametrize("path", [param for name in ("mp_face_detection_short", "mp_pose_detection")
                                  for param in corpus_params(f"tflite/{name}.tflite")])
def test_models_that_the_micro_runtime_lacks_operators_of(arenaut_json, tmp_path, path):
    """Among them such as are computed whole, of which the checker knows that they compute alone."""
    output = tmp_path / "tiled.tflite"
    tiles, document = planned(arenaut_json, path, output)
    assert document["result"]["arena"] < tiles
    [(shape, dtype)] = [(tuple(detail["shape"]), detail["dtype"]) for detail in
                        Interpreter(model_path=str(path)).get_input_details()]
    values = [np.random.default_rng(5).random(shape).astype(dtype)]
    assert run(output.read_bytes(), values) == run(path.read_bytes(), values)
