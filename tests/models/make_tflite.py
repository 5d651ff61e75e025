"""Makes the repo's own .tflite models: real topologies, random seeded weights.

    python tests/models/make_tflite.py [FOLDER]        default: tests/data

The same bytes on every run; a test holds the shipped files against this script. What each is
for stands above its function. All but those marked so run in the stock tflite-micro wheel.

Why not a converter: an untrained MobileNet from today's int8 converter aborts in that wheel
when it is loaded. The net's logits are all zero, so calibration gives the softmax's input the
smallest scale it has, 7.8e-9; the kernel turns scale × 2^26 into a multiplier that must be above
one and checks it with an abort, in SOFTMAX's preparation. With a scale above 2^-26 = 1.49e-8 at
that one tensor the same file loads and runs. It is the weights, then, not the topology, and
layers.py keeps them in range.
"""

import math
import sys
from pathlib import Path

import numpy as np

from layers import RELU, SAME, Int8Net
from tflite_file import AlignedBuffer, Model, schema, set_plan

MODELS = []


def model(function):
    MODELS.append(function)
    return function


@model
def mobilenet_v1_025_96_int8():
    """MobileNet v1 0.25 at 96×96×3: the person detector of many a board, and the demo. The
    runtime's greedy planner wants 73,728 bytes of arena where 55,296 do."""
    m = Model("MobileNet v1 0.25, 96x96x3, int8, random weights")
    g = m.graph("main")
    net = Int8Net(g, seed=25)
    image = net.input("image", (1, 96, 96, 3))
    x = net.conv(image, 8, kernel=3, stride=2)
    for channels, stride in ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), (128, 1),
                             (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1)):
        x = net.depthwise(x, stride=stride)
        x = net.conv(x, channels)
    x = net.global_pool(x)
    x = net.reshape(x, (1, 256))
    scores = net.softmax(net.dense(x, 2, gain=2))
    g.io([image.tensor], [scores.tensor])
    return m.bytes()


@model
def inception_int8():
    """Two inception blocks: four branches and a concatenation each. Here too the greedy
    planner fragments: 41,472 bytes where 34,560 do."""
    m = Model("Two inception blocks, 48x48x3, int8, random weights")
    g = m.graph("main")
    net = Int8Net(g, seed=4)
    image = net.input("image", (1, 48, 48, 3))
    x = net.conv(image, 16, kernel=3, stride=2)
    for one, reduce3, three, reduce5, five, pooled, shrink in (
            (6, 16, 16, 6, 4, 4, True), (12, 6, 16, 4, 12, 6, False)):
        # Every layer keeps the rms, so the branches' outputs share one quantization.
        x = net.concat([net.conv(x, one),
                        net.conv(net.conv(x, reduce3), three, kernel=3),
                        net.conv(net.conv(net.conv(x, reduce5), reduce5, kernel=3), five,
                                 kernel=3),
                        net.conv(net.pool("MAX_POOL_2D", x, 3, 1), pooled)])
        if shrink:
            x = net.pool("MAX_POOL_2D", x, 2, 2)
    x = net.reshape(net.global_pool(x), (1, 46))
    scores = net.softmax(net.dense(x, 10, gain=3))
    g.io([image.tensor], [scores.tensor])
    return m.bytes()


@model
def resnet_int8():
    """Three residual blocks: a skip connection is alive across two convolutions."""
    m = Model("Three residual blocks, 32x32x3, int8, random weights")
    g = m.graph("main")
    net = Int8Net(g, seed=8)
    image = net.input("image", (1, 32, 32, 3))
    x = net.conv(image, 8, kernel=3)
    for channels, stride in ((8, 1), (16, 2), (32, 2)):
        y = net.conv(x, channels, kernel=3, stride=stride)
        y = net.conv(y, channels, kernel=3, relu=False)
        skip = x if stride == 1 else net.conv(x, channels, stride=stride, relu=False)
        x = net.add(y, skip, relu=True)
    x = net.reshape(net.global_pool(x), (1, 32))
    scores = net.softmax(net.dense(x, 10, gain=3))
    g.io([image.tensor], [scores.tensor])
    return m.bytes()


@model
def hello_world_int8():
    """The smallest useful model: three dense layers over one number."""
    m = Model("1-16-16-1 perceptron, int8, random weights")
    g = m.graph("main")
    net = Int8Net(g, seed=1)
    x = net.input("x", (1, 1))
    y = net.dense(net.dense(net.dense(x, 16, relu=True), 16, relu=True), 1)
    g.io([x.tensor], [y.tensor])
    return m.bytes()


@model
def svdf_int8():
    """A keyword spotter of two SVDF layers: state that survives a run (is_variable), and
    kernels that ask for scratch."""
    m = Model("Two SVDF layers with state, int8, random weights")
    g = m.graph("main")
    net = Int8Net(g, seed=7)
    x = frame = net.input("frame", (1, 40))
    for units in (32, 16):
        x = svdf(net, x, units, rank=2, memory=8)
    scores = net.softmax(net.dense(x, 4, gain=8))
    g.io([frame.tensor], [scores.tensor])
    return m.bytes()


def svdf(net, x, units, rank, memory):
    name, g = net.name("svdf"), net.graph
    filters = units * rank
    features, _ = net.weights(name + "/features", (filters, x.shape[1]), x.shape[1], 1, 0)
    state_scale = 6 * x.rms / 32767
    time_scale = 1 / (32767 * math.sqrt(memory * rank / 3))  # gain one over rank × memory taps
    taps = net.random.randint(-32767, 32768, (filters, memory)).astype(np.int16)
    times = g.constant(name + "/times", taps, "INT16", time_scale)
    bias = g.constant(name + "/bias", net.random.randint(-500, 501, units).astype(np.int32),
                      "INT32", state_scale * time_scale)
    state = g.tensor(name + "/state", (1, memory * filters), "INT16", state_scale, variable=True)
    y = net.activation(name, (1, units), x.rms, relu=True)
    g.op("SVDF", [x.tensor, features, times, bias, state], [y.tensor], rank=rank,
         fusedActivationFunction=RELU)
    return y


@model
def lstm_float():
    """A sequence LSTM: 24 inputs of which 9 are left out (-1), two state tensors, scratch."""
    m = Model("LSTM over 12 steps with state, float, random weights")
    g = m.graph("main")
    random = np.random.RandomState(12)
    steps, features, units = 12, 6, 10

    def weights(name, *shape):
        return g.constant(name, random.uniform(-0.6, 0.6, shape).astype(np.float32))

    x = g.tensor("sequence", (1, steps, features), "FLOAT32")
    gates = ("input", "forget", "cell", "output")
    from_x = [weights(f"lstm/{gate}_x", units, features) for gate in gates]
    from_h = [weights(f"lstm/{gate}_h", units, units) for gate in gates]
    bias = [weights(f"lstm/{gate}_bias", units) for gate in gates]
    hidden = g.tensor("lstm/hidden_state", (1, units), "FLOAT32", variable=True)
    cell = g.tensor("lstm/cell_state", (1, units), "FLOAT32", variable=True)
    sequence = g.tensor("lstm", (1, steps, units), "FLOAT32")
    left_out = [-1] * 3
    g.op("UNIDIRECTIONAL_SEQUENCE_LSTM",
         [x, *from_x, *from_h, *left_out, *bias, -1, -1, hidden, cell, *left_out, -1],
         [sequence], fusedActivationFunction=4, cellClip=0.0, projClip=0.0)
    flat = g.tensor("flat", (1, steps * units), "FLOAT32")
    g.op("RESHAPE", [sequence, g.constant("flat/shape", np.int32([1, steps * units]))], [flat])
    scores = g.tensor("scores", (1, 5), "FLOAT32")
    g.op("FULLY_CONNECTED", [flat, weights("dense/weights", 5, steps * units),
                             weights("dense/bias", 5)], [scores])
    g.io([x], [scores])
    return m.bytes()


@model
def if_while_float():
    """Control flow: IF picks one of two branches, WHILE repeats a body with tensors of its
    own. What is alive in the caller must stay alive across the called subgraphs."""
    m = Model("IF and WHILE, float")
    main, yes, no, condition, body = (m.graph(n) for n in
                                      ("main", "then", "else", "condition", "body"))
    shape = (1, 64)
    x = main.tensor("x", shape, "FLOAT32")
    total = main.tensor("total", (), "FLOAT32")
    axes = main.constant("axes", np.int32([0, 1]))
    main.op("SUM", [x, axes], [total], keepDims=False)
    positive = main.tensor("positive", (), "BOOL")
    main.op("GREATER", [total, main.constant("zero", np.float32(0))], [positive])
    squashed = main.tensor("squashed", shape, "FLOAT32")
    main.op("LOGISTIC", [x], [squashed])
    picked = main.tensor("picked", shape, "FLOAT32")
    main.op("IF", [positive, squashed], [picked], thenSubgraphIndex=1, elseSubgraphIndex=2)
    count, grown = main.tensor("count", (), "INT32"), main.tensor("grown", shape, "FLOAT32")
    main.op("WHILE", [main.constant("start", np.int32(0)), picked], [count, grown],
            condSubgraphIndex=3, bodySubgraphIndex=4)
    y = main.tensor("y", shape, "FLOAT32")
    main.op("ADD", [grown, x], [y])  # x is alive across both calls
    main.io([x], [y, count])

    for branch, steps in ((yes, ("LOGISTIC", "RELU")), (no, ("TANH",))):
        first = value = branch.tensor("in", shape, "FLOAT32")
        for step, op in enumerate(steps):
            following = branch.tensor(f"{op.lower()}_{step}", shape, "FLOAT32")
            value = branch.op(op, [value], [following])
        branch.io([first], [value])

    count = condition.tensor("count", (), "INT32")
    unused = condition.tensor("value", shape, "FLOAT32")
    again = condition.tensor("again", (), "BOOL")
    condition.op("LESS", [count, condition.constant("limit", np.int32(3))], [again])
    condition.io([count, unused], [again])

    count, value = body.tensor("count", (), "INT32"), body.tensor("value", shape, "FLOAT32")
    following, doubled, result = (body.tensor("next", (), "INT32"),
                                  body.tensor("doubled", shape, "FLOAT32"),
                                  body.tensor("result", shape, "FLOAT32"))
    body.op("ADD", [count, body.constant("one", np.int32(1))], [following])
    body.op("ADD", [value, value], [doubled])
    body.op("MUL", [doubled, value], [result])
    body.io([count, value], [following, result])
    return m.bytes()


@model
def call_once_float():
    """Resource variables: CALL_ONCE sets a running sum, each run adds to it."""
    m = Model("A running sum in a resource variable, float")
    main, start = m.graph("main"), m.graph("initialise")
    shape = (1, 8)
    main_handle = main.tensor("sum", (), "RESOURCE")
    x, before, after, y = (main.tensor(n, shape, "FLOAT32")
                           for n in ("x", "before", "after", "y"))
    main.op("CALL_ONCE", [], [], initSubgraphIndex=1)
    main.op("VAR_HANDLE", [], [main_handle], container="", sharedName="sum")
    main.op("READ_VARIABLE", [main_handle], [before])
    main.op("ADD", [before, x], [after])
    main.op("ASSIGN_VARIABLE", [main_handle, after], [])
    main.op("TANH", [after], [y])
    main.io([x], [y])
    handle = start.tensor("sum", (), "RESOURCE")
    start.op("VAR_HANDLE", [], [handle], container="", sharedName="sum")
    start.op("ASSIGN_VARIABLE", [handle, start.constant("zero", np.zeros(shape, np.float32))],
             [])
    start.io([], [])
    return m.bytes()


@model
def scratch_int8():
    """Kernels that ask for scratch, one after another, and more of it than their tensors."""
    m = Model("MIRROR_PAD, int4 CONV_2D, TRANSPOSE_CONV, ADD_N, MEAN: int8, random weights")
    g = m.graph("main")
    net = Int8Net(g, seed=3)
    image = net.input("image", (1, 10, 10, 4))
    padded = net.like("padded", image, (1, 12, 12, 4))
    g.op("MIRROR_PAD", [image.tensor, g.constant("padding", np.int32([[0, 0], [1, 1], [1, 1],
                                                                      [0, 0]]))],
         [padded.tensor], mode=0)
    x = net.conv(padded, 8, kernel=3, dtype="INT4")
    x = net.transpose_conv(x, 4, kernel=3, stride=2)
    doubled = net.activation("doubled", x.shape, 2 * x.rms, relu=False)
    g.op("ADD_N", [x.tensor, x.tensor], [doubled.tensor])
    mean = net.activation("mean", (1, 4), 2 * x.rms / 8, relu=False)
    g.op("MEAN", [doubled.tensor, g.constant("axes", np.int32([1, 2]))], [mean.tensor],
         keepDims=False)
    g.io([image.tensor], [mean.tensor])
    return m.bytes()


@model
def elementwise_float():
    """A chain of elementwise ops: planned in place it needs half the arena."""
    m = Model("Elementwise chain with a skip, float")
    g = m.graph("main")
    shape = (1, 16, 16, 4)
    signal = x = g.tensor("signal", shape, "FLOAT32")

    def step(op, *inputs, **options):
        return g.op(op, list(inputs), [g.tensor(f"{op.lower()}_{len(g.table.operators)}", shape,
                                                "FLOAT32")], **options)

    x = step("LEAKY_RELU", x, alpha=0.1)
    x = step("MUL", x, g.constant("gain", np.float32([0.5, 1.5, -1.0, 0.25])))
    x = step("LOGISTIC", x)
    skip = step("ADD", x, g.constant("shift", np.float32([-0.5])))
    x = step("TANH", skip)
    x = step("HARD_SWISH", x)
    x = step("SUB", x, skip)
    x = step("MAXIMUM", x, g.constant("floor", np.float32([-0.75])))
    small = g.tensor("pooled", (1, 4, 4, 4), "FLOAT32")
    g.op("AVERAGE_POOL_2D", [x], [small], padding=SAME, strideH=4, strideW=4, filterHeight=4,
         filterWidth=4)
    g.io([signal], [small])
    return m.bytes()


@model
def types_mixed():
    """Element types and arguments of many kinds: int4 and int16 weights and activations, int64
    biases, booleans, scalars, a layer without bias (-1), a batch that the signature leaves open,
    and a tensor that nothing touches."""
    m = Model("int4, int8, int16, int32, int64, bool and float in one graph")
    g = m.graph("main")
    net = Int8Net(g, seed=16)
    x = net.input("features", (1, 24))
    g.table.tensors[x.tensor].shapeSignature = np.int32([-1, 24])
    narrow = net.dense(x, 10, bias=False, dtype="INT4")

    wide_in = g.tensor("samples", (1, 20), "INT16", 1 / 32768)
    weights, (scale,) = net.weights("wide/weights", (6, 20), 20, 1, 0)
    bias = g.constant("wide/bias", np.arange(-3, 3, dtype=np.int64) * 1000, "INT64",
                      scale / 32768)
    wide = g.tensor("wide", (1, 6), "INT16", 6 / 65535)
    g.op("FULLY_CONNECTED", [wide_in, weights, bias], [wide])

    g.tensor("untouched", (3, 5), "FLOAT32")
    ticks, late = g.tensor("ticks", (7,), "INT32"), g.tensor("late", (7,), "BOOL")
    g.op("GREATER", [ticks, g.constant("deadline", np.int32(5))], [late])
    early, seconds = g.tensor("early", (7,), "BOOL"), g.tensor("seconds", (7,), "FLOAT32")
    g.op("LOGICAL_NOT", [late], [early])
    g.op("CAST", [ticks], [seconds], inDataType=2, outDataType=0)
    g.io([x.tensor, wide_in, ticks], [narrow.tensor, wide, early, seconds])
    return m.bytes()


@model
def float16_weights():
    """Weights kept as float16 behind DEQUANTIZE, and an image whose signature leaves its size
    open. LiteRT runs it; the micro runtime does not know float16 there and says so."""
    m = Model("float16 weights behind DEQUANTIZE, float, random weights")
    g = m.graph("main")
    random = np.random.RandomState(16)
    image = x = g.tensor("image", (1, 16, 16, 3), "FLOAT32", signature=(-1, -1, -1, 3))
    channels = 3
    for layer, (filters, stride) in enumerate(((8, 2), (16, 2))):
        half = g.constant(f"conv{layer}/half", random.uniform(
            -0.3, 0.3, (filters, 3, 3, channels)).astype(np.float16))
        weights = g.tensor(f"conv{layer}/weights", (filters, 3, 3, channels), "FLOAT32")
        g.op("DEQUANTIZE", [half], [weights])
        size = 16 // 2 ** (layer + 1)
        y = g.tensor(f"conv{layer}", (1, size, size, filters), "FLOAT32")
        bias = g.constant(f"conv{layer}/bias", random.uniform(-0.1, 0.1, filters)
                          .astype(np.float32))
        x = g.op("CONV_2D", [x, weights, bias], [y], padding=SAME, strideH=stride,
                 strideW=stride, fusedActivationFunction=RELU)
        channels = filters
    g.io([image], [x])
    return m.bytes()


@model
def custom_op_planned():
    """As a compiler for an accelerator leaves a model: one opaque custom op, and a plan of its
    own that lays input, output and both working areas at the arena's start. No runtime without
    that accelerator runs it."""
    m = Model("An opaque custom op with another tool's plan")
    g = m.graph("main")
    random = np.random.RandomState(5)
    output = g.tensor("scores", (1, 2), "INT8", 1 / 256, -128)
    commands = g.constant("commands", random.randint(0, 256, 96).astype(np.uint8))
    flash = g.constant("flash", random.randint(0, 256, 256).astype(np.uint8))
    scratch = g.tensor("scratch", (4096,), "UINT8")
    fast = g.tensor("scratch_fast", (4096,), "UINT8")
    image = g.tensor("input", (1, 32, 32, 1), "INT8", 1 / 127, -1)
    g.op("ethos-u", [commands, flash, scratch, fast, image], [output])
    g.io([image], [output])
    m.table.metadata = [schema.MetadataT(name="vela_version", buffer=len(m.table.buffers))]
    m.table.buffers.append(AlignedBuffer(data=np.frombuffer(b"0.0.0", np.uint8)))
    set_plan(m.table, [0, -1, -1, 0, 0, 0])
    return m.bytes()


@model
def foreign_plan_float():
    """Four ops and another tool's plan: valid, without our mark, and larger than it need be."""
    m = Model("Another tool's plan, float")
    g = m.graph("main")
    x = [g.tensor(f"t{i}", (1, 32), "FLOAT32") for i in range(5)]
    for i, op in enumerate(("TANH", "RELU", "LOGISTIC", "TANH")):
        g.op(op, [x[i]], [x[i + 1]])
    g.io([x[0]], [x[4]])
    set_plan(m.table, [0, 128, 256, 384, 512])
    return m.bytes()


def decode_int8():
    """Weights that come compressed, and a DECODE op that makes them whole before they are
    used, as tflite-micro's tools insert it. Not among the models that are shipped: test_decode.py
    makes it for itself, since which runtime has the op depends on its age."""
    m = Model("A dense layer whose weights are decoded")
    g = m.graph("main")
    random = np.random.RandomState(9)
    image = g.tensor("input", (1, 64), "INT8", 1 / 127)
    hidden = g.tensor("hidden", (1, 64), "INT8", 1 / 127)
    encoded = g.constant("encoded", random.randint(0, 256, 1024).astype(np.uint8))
    ancillary = g.constant("ancillary", random.randint(0, 256, 48).astype(np.uint8))
    weights = g.tensor("weights", (32, 64), "INT8", 1 / 64)
    scores = g.tensor("scores", (1, 32), "INT8", 1 / 16)
    result = g.tensor("result", (1, 32), "INT8", 1 / 16)
    g.op("RELU", [image], [hidden])
    g.op("TFLM_DECODE", [encoded, ancillary], [weights])
    g.op("FULLY_CONNECTED", [hidden, weights, -1], [scores])
    g.op("RELU", [scores], [result])
    g.io([image], [result])
    return m.bytes()


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for make in MODELS:
        data = make()
        total += len(data)
        (folder / f"{make.__name__}.tflite").write_bytes(data)
        print(f"{len(data):8,}  {make.__name__}.tflite")
    print(f"{total:8,}  in all")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "data"))
