"""Makes the small ONNX models in tests/data/onnx, and the shapes that a run of ONNX Runtime gave.

    python tests/models/make_onnx.py tests/data/onnx

needs onnx and onnxruntime. The files ship, so nothing else needs this script or those
packages. Each file holds what one group of unit tests looks at.
"""
import csv
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

F, I64, BOOL = T.FLOAT, T.INT64, T.BOOL


def value(name, dims, dtype=F):
    return h.make_tensor_value_info(name, dtype, dims)


def ints(name, numbers):
    return nh.from_array(np.array(numbers, np.int64), name)


def model(graph, opset=21, functions=(), domains=()):
    imports = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in domains]
    made = h.make_model(graph, opset_imports=imports, functions=list(functions), producer_name="arenaut tests")
    made.ir_version = 10
    onnx.checker.check_model(made)
    return made


# ---- every operator whose shape is inferred --------------------------------------------------

INPUTS = {
    "image": (F, [2, 4, 9, 7]),
    "line": (F, [2, 4, 11]),
    "matrix": (F, [6, 5]),
    "batch": (F, [3, 1, 5, 4]),
    "vector": (F, [5]),
    "flags": (BOOL, [6, 5]),
    "whole": (I64, [6, 5]),
    "picks": (I64, [2, 3]),
    "bytes": (T.UINT8, [2, 4, 9, 7]),
    "tokens": (F, [7, 3, 8]),
}

CONSTANTS = {
    "shape_a": ints("shape_a", [0, -1, 3]),
    "shape_b": ints("shape_b", [3, 1, 2, 5]),
    "axes_0": ints("axes_0", [0]),
    "axes_1": ints("axes_1", [1]),
    "axes_12": ints("axes_12", [1, -1]),
    "k": ints("k", [3]),
    "starts": ints("starts", [1, -1]),
    "ends": ints("ends", [-1, -9223372036854775807]),
    "axes_23": ints("axes_23", [3, 2]),
    "steps": ints("steps", [2, -3]),
    "starts_far": ints("starts_far", [0, -20]),
    "ends_far": ints("ends_far", [2147483647, 9223372036854775807]),
    "pads": ints("pads", [0, 0, 1, -2, 0, 0, 3, 1]),
    "repeats": ints("repeats", [2, 3]),
    "halves": ints("halves", [1, 4]),
    "sizes": ints("sizes", [2, 4, 5, 20]),
    "expand": ints("expand", [4, 1, 5]),
    "zero": nh.from_array(np.array(0, np.int64), "zero"),
    "twelve": nh.from_array(np.array(12, np.int64), "twelve"),
    "five": nh.from_array(np.array(5, np.int64), "five"),
    "f0": nh.from_array(np.array(0.5, np.float32), "f0"),
    "f1": nh.from_array(np.array(4.1, np.float32), "f1"),
    "f2": nh.from_array(np.array(0.7, np.float32), "f2"),
    "scales": nh.from_array(np.array([1, 1, 1.7, 0.6], np.float32), "scales"),
    "scales_up": nh.from_array(np.array([1, 1, 2.8, 1], np.float32), "scales_up"),
    "kernel": nh.from_array(np.ones((6, 2, 3, 2), np.float32), "kernel"),
    "kernel_t": nh.from_array(np.ones((4, 3, 3, 2), np.float32), "kernel_t"),
    "kernel_1": nh.from_array(np.ones((5, 4, 4), np.float32), "kernel_1"),
    "kernel_b": nh.from_array(np.ones((6, 4, 3, 2), np.uint8), "kernel_b"),
    "u8": nh.from_array(np.array(3, np.uint8), "u8"),
    "one": nh.from_array(np.array(1, np.float32), "one"),
    "c4": nh.from_array(np.ones(4, np.float32), "c4"),
    "c7": nh.from_array(np.ones(7, np.float32), "c7"),
    "five_by_3": nh.from_array(np.ones((5, 3), np.float32), "five_by_3"),
    "w_lstm": nh.from_array(np.ones((2, 24, 8), np.float32), "w_lstm"),
    "r_lstm": nh.from_array(np.ones((2, 24, 6), np.float32), "r_lstm"),
    "w_gru": nh.from_array(np.ones((1, 18, 8), np.float32), "w_gru"),
    "r_gru": nh.from_array(np.ones((1, 18, 6), np.float32), "r_gru"),
    "w_rnn": nh.from_array(np.ones((1, 6, 8), np.float32), "w_rnn"),
    "r_rnn": nh.from_array(np.ones((1, 6, 6), np.float32), "r_rnn"),
    "on_off": nh.from_array(np.array([0, 1], np.float32), "on_off"),
    "index_nd": nh.from_array(np.zeros((2, 3, 1), np.int64), "index_nd"),
    "grid": nh.from_array(np.zeros((2, 5, 6, 2), np.float32), "grid"),
    "rois": nh.from_array(np.zeros((3, 4), np.float32), "rois"),
    "roi_batch": nh.from_array(np.zeros(3, np.int64), "roi_batch"),
    "like_int": nh.from_array(np.zeros((1,), np.int32), "like_int"),
    "lengths": nh.from_array(np.array([7, 6, 5], np.int64), "lengths"),
}

UNARY = """Abs Acos Asin Atan Ceil Celu Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity LeakyRelu
Log LogSoftmax Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Softmax Softplus Softsign Sqrt Tan Tanh
ThresholdedRelu IsNaN IsInf Hardmax""".split()


def operator_nodes():
    """(operator, inputs, outputs, attributes); outputs is how many."""
    for op in UNARY:
        yield op, ["matrix"], 1, {}
    for op in "Add Sub Mul Div Pow Max Min Mean Sum".split():
        yield op, ["matrix", "vector"], 1, {}
    yield "Add", ["batch", "expand_f"], 1, {}
    for op in "Equal Less LessOrEqual Greater GreaterOrEqual".split():
        yield op, ["matrix", "vector"], 1, {}
    for op in "And Or Xor".split():
        yield op, ["flags", "flags"], 1, {}
    yield "Not", ["flags"], 1, {}
    yield "Mod", ["whole", "five"], 1, {}
    yield "BitwiseAnd", ["whole", "five"], 1, {}
    yield "BitwiseNot", ["whole"], 1, {}
    yield "PRelu", ["matrix", "vector"], 1, {}
    yield "Where", ["flags", "matrix", "vector"], 1, {}
    yield "Clip", ["matrix", "one"], 1, {}
    yield "Cast", ["matrix"], 1, {"to": T.FLOAT16}
    yield "CastLike", ["matrix", "like_int"], 1, {}
    yield "Dropout", ["matrix"], 2, {}
    yield "CumSum", ["matrix", "zero"], 1, {}
    yield "Trilu", ["matrix"], 1, {}
    yield "LRN", ["image"], 1, {"size": 3}
    yield "InstanceNormalization", ["image", "c4", "c4"], 1, {}
    yield "BatchNormalization", ["image", "c4", "c4", "c4", "c4"], 1, {}
    yield "GroupNormalization", ["image", "c4", "c4"], 1, {"num_groups": 2}
    yield "LayerNormalization", ["image", "c7"], 3, {"axis": -1}
    yield "LpNormalization", ["matrix"], 1, {}
    yield "MeanVarianceNormalization", ["image"], 1, {}
    yield "QuantizeLinear", ["matrix", "one", "u8"], 1, {}
    yield "DequantizeLinear", ["bytes", "one", "u8"], 1, {}
    yield "DynamicQuantizeLinear", ["matrix"], 3, {}
    yield "Reshape", ["image", "shape_a"], 1, {}
    yield "Flatten", ["image"], 1, {"axis": 2}
    yield "Flatten", ["image"], 1, {"axis": 0}
    yield "Squeeze", ["batch", "axes_1"], 1, {}
    yield "Squeeze", ["batch"], 1, {}
    yield "Unsqueeze", ["matrix", "axes_12"], 1, {}
    yield "Transpose", ["batch"], 1, {"perm": [2, 0, 3, 1]}
    yield "Transpose", ["matrix"], 1, {}
    yield "Concat", ["matrix", "matrix", "matrix"], 1, {"axis": -1}
    yield "Split", ["matrix", "halves"], 2, {"axis": 1}
    yield "Split", ["matrix"], 3, {"axis": 1, "num_outputs": 3}
    yield "Slice", ["image", "starts", "ends", "axes_23", "steps"], 1, {}
    yield "Gather", ["matrix", "picks"], 1, {"axis": 1}
    yield "GatherElements", ["matrix", "picks"], 1, {"axis": 1}
    yield "GatherND", ["whole", "index_nd"], 1, {}
    yield "Expand", ["vector", "expand"], 1, {}
    yield "Tile", ["matrix", "repeats"], 1, {}
    yield "Pad", ["image", "pads"], 1, {}
    yield "DepthToSpace", ["image"], 1, {"blocksize": 2}
    yield "SpaceToDepth", ["depth_input"], 1, {"blocksize": 2}
    yield "Conv", ["image", "kernel"], 1, {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1]}
    yield "Conv", ["image", "kernel"], 1, {"group": 2, "auto_pad": "SAME_UPPER", "strides": [2, 3]}
    yield "Conv", ["line", "kernel_1"], 1, {"dilations": [2]}
    yield "ConvInteger", ["bytes", "kernel_b", "u8", "u8"], 1, {}
    yield "QLinearConv", ["bytes", "one", "u8", "kernel_b", "one", "u8", "one", "u8"], 1, {}
    yield "ConvTranspose", ["image", "kernel_t"], 1, {"strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 2]}
    yield "ConvTranspose", ["image", "kernel_t"], 1, {"strides": [2, 2], "output_shape": [20, 15]}
    yield "MaxPool", ["image"], 2, {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1}
    yield "MaxPool", ["image"], 1, {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1}
    yield "AveragePool", ["image"], 1, {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER", "strides": [2, 2]}
    yield "LpPool", ["image"], 1, {"kernel_shape": [3, 3]}
    yield "GlobalAveragePool", ["image"], 1, {}
    yield "GlobalMaxPool", ["line"], 1, {}
    yield "Resize", ["image", "", "scales"], 1, {}
    yield "Resize", ["image", "", "", "sizes"], 1, {}
    yield "GridSample", ["image", "grid"], 1, {}
    yield "RoiAlign", ["image", "rois", "roi_batch"], 1, {"output_height": 2, "output_width": 3}
    yield "MatMul", ["batch", "four_by_2"], 1, {}
    yield "MatMul", ["vector", "five_by_3"], 1, {}
    yield "MatMul", ["matrix", "vector"], 1, {}
    yield "MatMulInteger", ["bytes", "seven_by_2"], 1, {}
    yield "QLinearMatMul", ["bytes", "one", "u8", "seven_by_2", "one", "u8", "one", "u8"], 1, {}
    yield "Gemm", ["matrix", "five_by_3"], 1, {}
    yield "Gemm", ["matrix", "matrix"], 1, {"transA": 1}
    yield "Einsum", ["batch", "batch"], 1, {"equation": "abij,abik->abjk"}
    yield "Einsum", ["matrix", "five_by_3"], 1, {"equation": "ij,jk"}
    yield "Einsum", ["batch"], 1, {"equation": "...ij->...ji"}
    yield "LSTM", ["tokens", "w_lstm", "r_lstm"], 3, {"hidden_size": 6, "direction": "bidirectional"}
    yield "GRU", ["tokens", "w_gru", "r_gru"], 2, {"hidden_size": 6}
    yield "RNN", ["tokens", "w_rnn", "r_rnn"], 2, {"hidden_size": 6}
    for op in "ReduceMean ReduceSum ReduceMax ReduceProd ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare".split():
        yield op, ["image", "axes_12"], 1, {"keepdims": 0}
    yield "ReduceMin", ["image"], 1, {}
    yield "ReduceSum", ["image"], 1, {"noop_with_empty_axes": 1}
    yield "ArgMax", ["image"], 1, {"axis": 2, "keepdims": 0}
    yield "ArgMin", ["image"], 1, {"axis": -1}
    yield "TopK", ["matrix", "k"], 2, {"axis": 1}
    yield "Shape", ["image"], 1, {"start": 1, "end": -1}
    yield "Size", ["image"], 1, {}
    yield "ConstantOfShape", ["shape_b"], 1, {}
    yield "Range", ["zero", "twelve", "five"], 1, {}
    yield "Range", ["f0", "f1", "f2"], 1, {}
    yield "OneHot", ["picks", "five", "on_off"], 1, {"axis": 1}
    yield "EyeLike", ["matrix"], 1, {}
    yield "RandomNormalLike", ["matrix"], 1, {}
    yield "RandomUniform", [], 1, {"shape": [3, 2]}
    yield "Multinomial", ["matrix"], 1, {"sample_size": 4}
    yield "ScatterElements", ["matrix", "picks", "picks_f"], 1, {}
    yield "ReverseSequence", ["tokens", "lengths"], 1, {}
    yield "Det", ["square"], 1, {}
    # Shapes that are computed: what a Reshape of most exporters hangs on.
    yield "Shape", ["batch"], 1, {}
    # Where runtimes round to float32, take the largest number as the end of either direction, and begin inside.
    yield "Resize", ["batch", "", "scales_up"], 1, {}
    yield "Slice", ["image", "axes_12", "ends_far", "axes_23", "steps"], 1, {}
    yield "Slice", ["image", "starts_far", "ends", "axes_23", "steps"], 1, {}
    # Where it pads otherwise than the standard has it.
    yield "MaxPool", ["image"], 1, {"kernel_shape": [3, 2], "dilations": [2, 3], "auto_pad": "SAME_LOWER"}
    yield "AveragePool", ["line"], 1, {"kernel_shape": [2], "strides": [2], "dilations": [2], "auto_pad": "SAME_UPPER",
                                       "ceil_mode": 1}
    yield "ConvTranspose", ["image", "kernel_t"], 1, {"strides": [4, 3], "auto_pad": "SAME_UPPER"}


EXTRA_INPUTS = {
    "expand_f": (F, [2, 1, 4]),
    "four_by_2": (F, [4, 2]),
    "seven_by_2": (T.UINT8, [7, 2]),
    "picks_f": (F, [2, 3]),
    "square": (F, [2, 3, 3]),
    "depth_input": (F, [1, 3, 4, 6]),
}


def computed_shapes():
    """Nodes whose results' shapes are numbers that other nodes compute."""
    n = h.make_node
    yield n("Shape", ["batch"], ["cs_shape"])
    yield n("Gather", ["cs_shape", "axes_0"], ["cs_first"])
    yield n("Slice", ["cs_shape", "k_2", "k_4"], ["cs_tail"])
    yield n("ReduceProd", ["cs_tail"], ["cs_product"], keepdims=1)
    yield n("Concat", ["cs_first", "cs_product"], ["cs_target"], axis=0)
    yield n("Reshape", ["batch", "cs_target"], ["cs_reshaped"])
    yield n("Mul", ["cs_first", "k_2"], ["cs_twice"])
    yield n("Concat", ["cs_twice", "k_4"], ["cs_new"], axis=0)
    yield n("ConstantOfShape", ["cs_new"], ["cs_filled"])
    yield n("Equal", ["cs_new", "minus_ones"], ["cs_unset"])
    yield n("Where", ["cs_unset", "minus_ones", "cs_new"], ["cs_chosen"])
    yield n("Expand", ["one", "cs_chosen"], ["cs_expanded"])
    yield n("Squeeze", ["cs_first"], ["cs_scalar"])
    yield n("Range", ["zero", "cs_scalar", "step"], ["cs_range"])
    yield n("Cast", ["cs_tail"], ["cs_floats"], to=F)
    yield n("Mul", ["cs_floats", "f2"], ["cs_scaled"])
    yield n("Floor", ["cs_scaled"], ["cs_floored"])
    yield n("Cast", ["cs_floored"], ["cs_sizes"], to=I64)
    yield n("Slice", ["cs_shape", "k_0", "k_2"], ["cs_head"])
    yield n("Concat", ["cs_head", "cs_sizes"], ["cs_all_sizes"], axis=0)
    yield n("Resize", ["batch", "", "", "cs_all_sizes"], ["cs_resized"])
    yield n("Mul", ["cs_floats", "f3"], ["cs_single"])
    yield n("Cast", ["cs_single"], ["cs_whole"], to=I64)
    yield n("ConstantOfShape", ["cs_whole"], ["cs_rounded"])
    yield n("Mul", ["cs_tail", "many"], ["cs_products"])
    yield n("Cast", ["cs_products"], ["cs_bytes"], to=T.UINT8)
    yield n("Cast", ["cs_bytes"], ["cs_wrapped"], to=I64)
    yield n("ConstantOfShape", ["cs_wrapped"], ["cs_cut"])
    yield n("Mod", ["minus_ones", "k_4"], ["cs_rests"], fmod=1)
    yield n("Add", ["cs_rests", "k_4"], ["cs_rest"])
    yield n("ConstantOfShape", ["cs_rest"], ["cs_left"])
    yield n("ConstantOfShape", ["k_4"], ["cs_zeros"], value=nh.from_array(np.array([1], np.int64)))
    yield n("NonZero", ["cs_zeros"], ["cs_found"])
    yield n("Transpose", ["cs_found"], ["cs_places"])


COMPUTED_CONSTANTS = {
    "k_0": ints("k_0", [0]),
    "k_2": ints("k_2", [2]),
    "k_4": ints("k_4", [4]),
    "many": ints("many", [205]),
    "f3": nh.from_array(np.array(2.8, np.float32), "f3"),
    "minus_ones": ints("minus_ones", [-1, -1]),
    "step": nh.from_array(np.array(1, np.int64), "step"),
}


def operators(folder):
    inputs = {**INPUTS, **EXTRA_INPUTS}
    constants = {**CONSTANTS, **COMPUTED_CONSTANTS}
    nodes, outputs = [], []
    for i, (op, args, n, attributes) in enumerate(operator_nodes()):
        names = [f"{i}_{op}_{k}" for k in range(n)]
        nodes.append(h.make_node(op, args, names, **attributes))
        outputs += names
    for node in computed_shapes():
        nodes.append(node)
        outputs += node.output
    used = {name for node in nodes for name in node.input}
    graph = h.make_graph(
        nodes, "operators",
        [value(k, d, t) for k, (t, d) in inputs.items() if k in used],
        [h.make_empty_tensor_value_info(name) for name in outputs],
        [c for k, c in constants.items() if k in used])
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 21)])
    made.ir_version = 10
    session = ort.InferenceSession(made.SerializeToString())
    feeds = {}
    for argument in session.get_inputs():
        dtype, dims = inputs[argument.name]
        feeds[argument.name] = np.ones(dims, h.tensor_dtype_to_np_dtype(dtype))
    feeds["picks"] = np.zeros(INPUTS["picks"][1], np.int64)
    results = session.run(outputs, feeds)
    # Nothing but the last node's result is an output of the file, so that no shape is stated.
    del made.graph.output[:]
    made.graph.output.append(h.make_empty_tensor_value_info(outputs[-1]))
    onnx.save(made, os.path.join(folder, "operators.onnx"))
    with open(os.path.join(folder, "operators.csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "bytes_per_element", "dims"])
        for name, result in zip(outputs, results):
            writer.writerow([name, result.dtype.itemsize, "x".join(map(str, result.shape))])


# ---- control flow, functions, captured values --------------------------------------------------

def control(folder):
    n = h.make_node
    then = h.make_graph([n("Relu", ["outer"], ["then_y"])], "then", [], [value("then_y", ["N", 8])])
    inner_then = h.make_graph([n("Add", ["outer", "x"], ["deep_y"])], "deep_then", [], [value("deep_y", ["N", 8])])
    inner_else = h.make_graph([n("Identity", ["outer"], ["deep_z"])], "deep_else", [], [value("deep_z", ["N", 8])])
    other = h.make_graph([n("If", ["flag"], ["else_y"], then_branch=inner_then, else_branch=inner_else)],
                         "else", [], [value("else_y", ["N", 8])])
    body = h.make_graph(
        [n("Add", ["state", "outer"], ["summed"]),
         n("ReduceSum", ["summed"], ["total"], keepdims=0),
         n("Identity", ["go_on"], ["still"]),
         n("Identity", ["summed"], ["state_out"])],
        "body", [value("turn", [], I64), value("go_on", [], BOOL), value("state", ["N", 8])],
        [value("still", [], BOOL), value("state_out", ["N", 8]), value("total", [])])
    step = h.make_graph(
        [n("Add", ["carry", "slice"], ["next"]), n("Mul", ["next", "slice"], ["made"])],
        "step", [value("carry", [8]), value("slice", [8])], [value("next", [8]), value("made", [8])])
    graph = h.make_graph(
        [n("Neg", ["x"], ["outer"]),
         n("If", ["flag"], ["chosen"], then_branch=then, else_branch=other, name="choose"),
         n("Loop", ["trips", "", "chosen"], ["", "totals"], body=body, name="repeat"),
         n("ReduceSum", ["x", "first_axis"], ["start"], keepdims=0),
         n("Scan", ["start", "outer"], ["last", "all"], body=step, num_scan_inputs=1, name="scan"),
         n("Mul", ["all", "last"], ["y"])],
        "control", [value("x", ["N", 8]), value("flag", [], BOOL)], [value("y", ["N", 8]), value("totals", [5])],
        [nh.from_array(np.array(5, np.int64), "trips"), ints("first_axis", [0])])
    onnx.save(model(graph), os.path.join(folder, "control.onnx"))


def functions(folder):
    n = h.make_node
    scaled = n("Elu", ["v"], ["w"])
    reference = onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    scaled.attribute.append(reference)
    inner = h.make_function("local", "Bend", ["v"], ["w"], [scaled], [h.make_opsetid("", 21)], attributes=["slope"])
    twice = h.make_function(
        "local", "Twice", ["a", "b"], ["c", "d"],
        [n("Concat", ["a", "b"], ["joined"]), n("Bend", ["joined"], ["bent"], domain="local", slope=0.5),
         n("Transpose", ["bent"], ["c"]), n("Shape", ["c"], ["d"])],
        [h.make_opsetid("", 21), h.make_opsetid("local", 1)], attributes=["axis"])
    axis = onnx.AttributeProto(name="axis", ref_attr_name="axis", type=onnx.AttributeProto.INT)
    twice.node[0].attribute.append(axis)
    graph = h.make_graph(
        [n("Twice", ["x", "x"], ["p", "q"], domain="local", axis=1, name="first"),
         n("Twice", ["p", "p"], ["r", ""], domain="local", axis=0, name="second"),
         n("Reshape", ["r", "q"], ["y"])],
        "functions", [value("x", ["N", 3])], [value("y", ["M", "K"])])
    graph.node[2].input[1] = "flat"
    graph.initializer.append(ints("flat", [-1]))
    del graph.output[:]
    graph.output.extend([value("y", ["L"]), value("q", [2], I64)])
    onnx.save(model(graph, functions=[inner, twice], domains=["local"]), os.path.join(folder, "functions.onnx"))


# ---- constants of every kind -------------------------------------------------------------------

def waiting(folder):
    """What cheap nodes make of `a` waits below a product with many columns; one of them makes two values."""
    n = h.make_node
    weights = [nh.from_array(np.linspace(-1, 1, 8 * 64, dtype=np.float32).reshape(8, 64), "w"),
               nh.from_array(np.linspace(-1, 1, 64 * 8, dtype=np.float32).reshape(64, 8), "v"),
               nh.from_array(np.ones(8, np.float32), "scale")]
    graph = h.make_graph(
        [n("MatMul", ["x", "x"], ["a"], name="first"),
         n("Sigmoid", ["a"], ["b"], name="gate"),
         n("LayerNormalization", ["a", "scale"], ["norm", "mean"], axis=-1),
         n("MatMul", ["b", "w"], ["wide"]),
         n("MatMul", ["wide", "v"], ["d"]),
         n("Add", ["d", "b"], ["e"]),
         n("Mul", ["e", "norm"], ["f"]),
         n("Sub", ["f", "mean"], ["b__again_2"]),
         n("Add", ["b__again_2", "a"], ["y"])],
        "main", [value("x", [8, 8])], [value("y", [8, 8])], weights, value_info=[value("b", [8, 8])])
    onnx.save(model(graph), os.path.join(folder, "waiting.onnx"))


def constants(folder):
    n = h.make_node
    outside = nh.from_array(np.zeros((16, 4), np.float32), "outside")
    outside.ClearField("raw_data")
    outside.data_location = T.EXTERNAL
    for key, text in (("location", "not_there.bin"), ("offset", "0"), ("length", "256")):
        entry = outside.external_data.add()
        entry.key, entry.value = key, text
    four_bits = h.make_tensor("four_bits", T.INT4, [5, 3], np.arange(15) - 7)
    sparse = h.make_sparse_tensor(
        h.make_tensor("sparse", F, [2], [1.0, 2.0]), h.make_tensor("places", I64, [2], [1, 7]), [4, 4])
    graph = h.make_graph(
        [n("Constant", [], ["given"], value=ints("", [2, -1])),
         n("Constant", [], ["number"], value_int=3),
         n("Constant", [], ["floats"], value_floats=[1.0, 2.0]),
         n("ConstantOfShape", ["weight_shape"], ["made_weight"],
           value=nh.from_array(np.array([0.5], np.float32))),
         n("MatMul", ["x", "outside"], ["a"]),
         n("MatMul", ["a", "sparse"], ["b"]),
         n("Add", ["b", "made_weight"], ["c"]),
         n("RandomNormalLike", ["made_weight"], ["noise"]),
         n("Add", ["c", "noise"], ["d"]),
         n("Reshape", ["d", "given"], ["e"]),
         n("DequantizeLinear", ["four_bits", "scale"], ["wide"]),
         n("Clip", ["e", "", "limit"], ["y"]),
         n("Cast", ["x"], ["small"], to=T.INT4),
         n("Cast", ["small"], ["z"], to=F)],
        "constants", [value("x", ["N", 16]), value("old_style", [4])], [value("y", [2, "K"]), value("z", ["N", 16])],
        [outside, four_bits, ints("weight_shape", [1, 4]), nh.from_array(np.array(1, np.float32), "scale"),
         nh.from_array(np.array(6, np.float32), "limit"), nh.from_array(np.ones(4, np.float32), "old_style")])
    graph.sparse_initializer.append(sparse)
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 21)])
    made.ir_version = 10
    made.doc_string = "x" * 200
    made.graph.node[4].doc_string = "y" * 200
    entry = made.graph.node[4].metadata_props.add()
    entry.key, entry.value = "pkg.torch.onnx.stack_trace", "z" * 400
    onnx.save(made, os.path.join(folder, "constants.onnx"))


# ---- sizes that are left open --------------------------------------------------------------------

def open_sizes(folder):
    n = h.make_node
    graph = h.make_graph(
        [n("Concat", ["past", "x"], ["all"], axis=1),
         n("MaxPool", ["image"], ["halved"], kernel_shape=[2, 2], strides=[2, 2]),
         n("NonZero", ["x"], ["found"]),
         n("Relu", ["stated"], ["kept"]),
         n("Custom", ["x"], ["stated"], domain="elsewhere")],
        "open", [value("x", ["batch", "seq"]), value("past", ["batch", "past"]), value("image", [1, 1, None, -1])],
        [value("all", ["batch", "past + seq"]), value("halved", [1, 1, "floor(h/2)", "w2"]), value("kept", None)],
        value_info=[value("stated", ["batch", "2*seq - 1"])])
    graph.node.insert(3, graph.node.pop())
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 21), h.make_opsetid("elsewhere", 1)])
    made.ir_version = 10
    onnx.save(made, os.path.join(folder, "open_sizes.onnx"))


MODELS = (operators, control, functions, waiting, constants, open_sizes)

if __name__ == "__main__":
    for make in MODELS:
        make(sys.argv[1])
