"""Bands that are alike run as calls of one subgraph: IF, whose both branches that is.

Nothing in the runtime knows of it: the plan over all subgraphs is what makes the subgraph's tensors
small, since each call's are alive only while it runs.
"""

import subprocess

import numpy as np
import pytest
from conftest import COMMAND, DATA, SCRATCH, corpus_params
from test_split import NO_ARM, first_wrong_tensor, random_model

import arm_runtime
import tflite_compare
import micro_runtime
import tflite_file
from drawn import drawn


# By model: the stage, and the head that is planned.
STAGES = {
    "resnet_int8": ("0-3/4:kept", 17408),
    "mlperf_resnet8_int8": ("0-7/8:kept", 22208),
    "oww_embedding": ("1-23/16:kept", 147456),
    "mobilenet_v2_int8_nchw": ("2-18/28:kept", 348416),
}
MODELS = ([pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
           if path.stem in STAGES]
          + [p for p in corpus_params("tflite/*.tflite") if p.id in STAGES])


def with_calls(n_bands, height=32, width=32, channels=8, wide=8):
    """Pointwise convolutions of an image, and the same band by band, each by a call."""
    random = np.random.RandomState(1)
    widths = [channels, wide, wide, channels]
    weights = [random.randint(-90, 90, (made, 1, 1, taken)).astype(np.int8)
               for taken, made in zip(widths, widths[1:])]

    def image(graph, name, rows, channels=channels):
        return graph.tensor(name, [1, rows, width, channels], "INT8", 0.05, 3)

    def convolve(graph, tensor, rows):
        for k, made in enumerate(widths[1:]):
            constants = [graph.constant("w", weights[k], scale=0.01),
                         graph.constant("b", np.arange(made, dtype=np.int32), scale=0.0005)]
            tensor = graph.op("CONV_2D", [tensor, *constants], [image(graph, f"t{k}", rows, made)],
                              padding=1, strideH=1, strideW=1, dilationHFactor=1,
                              dilationWFactor=1)
        return tensor

    plain = tflite_file.Model("plain")
    main = plain.graph("main")
    first = image(main, "x", height)
    main.io([first], [convolve(main, first, height)])
    called = tflite_file.Model("called")
    main, band = called.graph("main"), called.graph("band")
    rows = height // n_bands
    taken = image(band, "taken", rows)
    band.io([taken], [convolve(band, taken, rows)])
    first, always = image(main, "x", height), main.constant("always", np.array([True]))
    made = []
    for k in range(n_bands):
        places = [main.constant("begin", np.array([0, k * rows, 0, 0], np.int32)),
                  main.constant("size", np.array([1, rows, width, channels], np.int32))]
        piece = main.op("SLICE", [first, *places], [image(main, f"x{k}", rows)])
        made.append(main.op("IF", [always, piece], [image(main, f"y{k}", rows)],
                            thenSubgraphIndex=1, elseSubgraphIndex=1))
    main.io([first], [main.op("CONCATENATION", made, [image(main, "y", height)], axis=1)])
    return plain.bytes(), called.bytes()


def test_a_plan_over_all_subgraphs_makes_calls_small(arenaut_json, tmp_path):
    plain, called = with_calls(8)
    path, planned = tmp_path / "called.tflite", tmp_path / "planned.tflite"
    path.write_bytes(called)
    document = arenaut_json("plan", path, "-o", planned)
    # In the last band: the input, seven results, its own rows, and two tensors between.
    assert document["baseline"]["arena"] == micro_runtime.Machine(called).arena()[0] == 21504
    assert document["result"]["arena"] == 17408
    assert micro_runtime.Machine(planned.read_bytes()).arena()[0] == 17408
    assert tflite_compare.first_difference(plain, planned.read_bytes()) is None
    again = arenaut_json("plan", planned)
    assert again["baseline"]["arena"] == again["result"]["arena"] == 17408
    subprocess.run([COMMAND, "check", planned], check=True, capture_output=True)


def test_a_tensor_left_to_the_runtime_keeps_calls_together(arenaut_json, tmp_path):
    """It finds that a place as if all tensors of the subgraph lived from the first call on."""
    path = tmp_path / "called.tflite"
    path.write_bytes(with_calls(8)[1])
    arenaut_json("plan", path, "-o", path, "-f")
    offsets = tflite_file.plan_of(path.read_bytes())
    placed = max(range(len(offsets)), key=lambda t: offsets[t])
    offsets[placed] = tflite_file.ONLINE
    path.write_bytes(tflite_file.with_plan(path.read_bytes(), offsets))
    head = micro_runtime.Machine(path.read_bytes()).arena()[0]
    done = subprocess.run([COMMAND, "check", path], capture_output=True, text=True, check=False)
    assert done.returncode != 0 or f"{head:,} bytes" in done.stdout


def is_accepted(path):
    done = subprocess.run([COMMAND, "check", path], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done
    return done.returncode == 0


def test_accepted_calls_compute_the_same(arenaut_json, tmp_path):
    """Places are moved at random, a third of them onto another tensor's."""
    path, random = tmp_path / "planned.tflite", np.random.RandomState(1)
    plain, called = with_calls(4, height=16, width=8)
    path.write_bytes(called)
    arenaut_json("plan", path, "-o", path, "-f")
    planned = path.read_bytes()
    offsets = tflite_file.plan_of(planned)
    placed = [t for t, offset in enumerate(offsets) if offset != tflite_file.ONLINE]
    accepted = rejected = wrong = 0
    moves = max(25, drawn(100))
    for _ in range(moves):
        moved = list(offsets)
        for t in random.choice(placed, random.randint(1, 3)):
            at = random.choice(placed) if random.rand() < 0.3 else None
            moved[t] = 16 * random.randint(0, 160) if at is None else offsets[at]
        path.write_bytes(tflite_file.with_plan(planned, moved))
        same = tflite_compare.first_difference(plain, path.read_bytes(), seeds=(1,), runs=1) is None
        if is_accepted(path):
            accepted += 1
            assert same, moved
        else:
            rejected += 1
            wrong += not same
    assert min(accepted, rejected, wrong) > moves // 10


def test_weights_that_only_a_subgraph_reads_are_kept_in_compact_files(arenaut_json, tmp_path):
    path = tmp_path / "plain.tflite"
    path.write_bytes(with_calls(1, height=64, wide=64)[0])
    _, calls = split(arenaut_json, path, tmp_path, "0-2/8:rows+calls", "--compact")
    assert len(tflite_file.unpack(calls).subgraphs) == 2
    assert tflite_compare.first_difference(path.read_bytes(), calls) is None


def split(arenaut_json, path, folder, stage, *options):
    output = folder / "split.tflite"
    document = arenaut_json("plan", path, "--split", stage, "--scratch", SCRATCH, "-f", "-o",
                            output, *options)
    return document, output.read_bytes()


@pytest.mark.parametrize("path", MODELS)
def test_calls_cost_less_than_copies_and_compute_the_same(arenaut_json, tmp_path, path):
    stage, planned = STAGES[path.stem]
    original = path.read_bytes()
    _, copies = split(arenaut_json, path, tmp_path, stage)
    document, calls = split(arenaut_json, path, tmp_path, stage + "+calls")
    assert document["result"]["arena"] == planned
    head, tail = micro_runtime.Machine(calls).arena()
    assert head == planned
    assert tail < micro_runtime.Machine(copies).arena()[1]
    assert "IF" in document["split"]["new_operators"]
    assert tflite_compare.first_difference(original, calls, seeds=(1, 2), runs=1) is None
    if path.stem != "mobilenet_v2_int8_nchw":
        assert first_wrong_tensor(original, calls, most=12) is None


@pytest.mark.skipif(NO_ARM is not None, reason=str(NO_ARM))
@pytest.mark.parametrize("path", [p for p in MODELS if p.id != "mobilenet_v2_int8_nchw"])
def test_calls_compute_the_same_on_32_bit_arm(arenaut_json, tmp_path, path):
    original = path.read_bytes()
    _, calls = split(arenaut_json, path, tmp_path, STAGES[path.stem][0] + "+calls")
    values = micro_runtime.random_inputs(micro_runtime.Machine(original).inputs, 1)
    assert (arm_runtime.run(calls, values, "reference")
            == arm_runtime.run(original, values, "reference"))


@pytest.mark.parametrize("path", MODELS)
def test_strip_gives_the_original_back(arenaut, arenaut_json, tmp_path, path):
    _, calls = split(arenaut_json, path, tmp_path, STAGES[path.stem][0] + "+calls")
    (tmp_path / "calls.tflite").write_bytes(calls)
    arenaut("strip", tmp_path / "calls.tflite", "-o", tmp_path / "back.tflite")
    assert (tmp_path / "back.tflite").read_bytes() == path.read_bytes()


def random_stage(random, n_ops):
    first = random.randint(0, n_ops) // 2
    last = random.randint(first, min(n_ops, first + 3))
    mode = random.choice(["rows+calls", "kept+calls"])
    return f"{first}-{last}/{random.randint(3, 9)}:{mode}"


def test_random_models_compute_the_same(tmp_path):
    compared = 0
    for seed in range(200, 200 + drawn(32)):
        data, n_ops = random_model(seed, heights=(50, 90), widest=40)
        path, output = tmp_path / f"{seed}.tflite", tmp_path / f"{seed}.split.tflite"
        path.write_bytes(data)
        random = np.random.RandomState(1000 + seed)
        for stage in sorted({random_stage(random, n_ops) for _ in range(12)}):
            over = ["--overlap", "on"] if seed % 4 < 2 else []
            done = subprocess.run([COMMAND, "plan", path, "--split", stage, *over, "-f", "-o",
                                   output], capture_output=True, text=True, check=False)
            assert done.returncode == 0 or "cannot be split so" in done.stderr, (seed, stage, done)
            if done.returncode == 0 and output.read_bytes() != data:
                compared += 1
                assert tflite_compare.first_difference(data, output.read_bytes(), seeds=(1,),
                                                runs=1) is None, (seed, stage)
    assert compared > drawn(20)
