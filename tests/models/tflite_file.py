"""Making and cutting .tflite files: a small layer over the schema's generated Python objects.

Two halves. `Model` and `Graph` build a file from nothing, one line per tensor and op.
The functions below them take a finished file apart: `cut_op` makes a model of one of its
ops, `prefix` one of its first ops, `with_plan` puts an OfflineMemoryAllocation inside. They
know nothing of arenaut, so that the tests have hands of their own.
"""

import struct

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

PLAN_NAME = b"OfflineMemoryAllocation"
ALIGN = 16   # of tensors in the arena
ONLINE = -1  # an offset that leaves the tensor to the runtime's own planner

TYPES = {name: value for name, value in vars(schema.TensorType).items() if name.isupper()}
TYPE_NAMES = {value: name for name, value in TYPES.items()}
OPS = {name: value for name, value in vars(schema.BuiltinOperator).items() if name.isupper()}
OP_NAMES = {value: name for name, value in OPS.items()}
NUMPY = {"FLOAT32": np.float32, "FLOAT16": np.float16, "FLOAT64": np.float64,
         "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
         "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
         "BOOL": np.bool_, "COMPLEX64": np.complex64, "COMPLEX128": np.complex128}
BITS = {name: 8 * np.dtype(dtype).itemsize for name, dtype in NUMPY.items()}
BITS |= {"INT4": 4, "RESOURCE": 32}

# The options table of each op that is used here; ops without a row have none.
OPTIONS = {
    "ADD": "AddOptions", "ADD_N": "AddNOptions", "ARG_MAX": "ArgMaxOptions",
    "ARG_MIN": "ArgMinOptions", "ASSIGN_VARIABLE": "AssignVariableOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions", "BATCH_MATMUL": "BatchMatMulOptions", "CALL_ONCE": "CallOnceOptions", "CAST": "CastOptions",
    "CONCATENATION": "ConcatenationOptions", "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions", "DIV": "DivOptions",
    "DEPTH_TO_SPACE": "DepthToSpaceOptions", "FULLY_CONNECTED": "FullyConnectedOptions",
    "IF": "IfOptions", "LEAKY_RELU": "LeakyReluOptions", "LESS": "LessOptions",
    "GREATER": "GreaterOptions", "L2_NORMALIZATION": "L2NormOptions",
    "MAX_POOL_2D": "Pool2DOptions", "MEAN": "ReducerOptions", "MIRROR_PAD": "MirrorPadOptions",
    "MUL": "MulOptions", "PACK": "PackOptions", "READ_VARIABLE": "ReadVariableOptions",
    "REDUCE_ALL": "ReducerOptions", "REDUCE_MAX": "ReducerOptions", "REDUCE_MIN": "ReducerOptions",
    "RESHAPE": "ReshapeOptions", "RESIZE_BILINEAR": "ResizeBilinearOptions",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions", "SOFTMAX": "SoftmaxOptions",
    "SPACE_TO_DEPTH": "SpaceToDepthOptions", "SPLIT": "SplitOptions",
    "SPLIT_V": "SplitVOptions",
    "STRIDED_SLICE": "StridedSliceOptions", "SUB": "SubOptions", "SUM": "ReducerOptions",
    "SVDF": "SVDFOptions", "TRANSPOSE": "TransposeOptions",
    "TRANSPOSE_CONV": "TransposeConvOptions",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions",
    "VAR_HANDLE": "VarHandleOptions", "WHILE": "WhileOptions",
}


def elements(shape):
    return int(np.prod(shape, dtype=np.int64)) if len(shape) else 1


class AlignedBuffer(schema.BufferT):
    """A Buffer whose data starts at a multiple of 16, as the schema asks (force_align) and
    the generated packer does not do."""

    def Pack(self, builder):
        data = None
        if self.data is not None:
            payload = np.ascontiguousarray(self.data).view(np.uint8).tobytes()
            builder.StartVector(1, len(payload), 16)
            builder.head = builder.Head() - len(payload)
            builder.Bytes[builder.Head():builder.Head() + len(payload)] = payload
            data = builder.EndVector()
        schema.BufferStart(builder)
        if data is not None:
            schema.BufferAddData(builder, data)
        return schema.BufferEnd(builder)


class Graph:
    """One subgraph. Tensors and ops get their numbers in the order in which they are added."""

    def __init__(self, model, name):
        self.model = model
        self.table = schema.SubGraphT(name=name, tensors=[], inputs=[], outputs=[], operators=[])

    def tensor(self, name, shape, dtype="INT8", scale=None, zero=0, *, variable=False,
               signature=None, buffer=0, axis=0):
        quantization = None
        if scale is not None:
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            zeros = np.full(len(scales), zero, np.int64)
            quantization = schema.QuantizationParametersT(
                scale=scales, zeroPoint=zeros, quantizedDimension=axis)
        self.table.tensors.append(schema.TensorT(
            name=name, shape=np.asarray(shape, np.int32), type=TYPES[dtype], buffer=buffer,
            quantization=quantization, isVariable=variable,
            shapeSignature=None if signature is None else np.asarray(signature, np.int32)))
        return len(self.table.tensors) - 1

    def constant(self, name, values, dtype=None, scale=None, zero=0, axis=0):
        """A tensor with data. INT4 values arrive one per int8 and are packed two to a byte."""
        values = np.asarray(values)
        dtype = dtype or next(n for n, t in NUMPY.items() if t == values.dtype.type)
        data = pack_int4(values) if dtype == "INT4" else np.ascontiguousarray(values)
        return self.tensor(name, values.shape, dtype, scale, zero, axis=axis,
                           buffer=self.model.buffer(data))

    def op(self, name, inputs, outputs, **options):
        table = schema.OperatorT(
            opcodeIndex=self.model.opcode(name), inputs=np.asarray(inputs, np.int32),
            outputs=np.asarray(outputs, np.int32))
        if name in OPTIONS:
            table.builtinOptionsType = getattr(schema.BuiltinOptions, OPTIONS[name])
            table.builtinOptions = getattr(schema, OPTIONS[name] + "T")(**options)
        elif options:
            raise TypeError(f"no options table is known for {name}")
        self.table.operators.append(table)
        return outputs[0] if len(outputs) == 1 else outputs

    def io(self, inputs, outputs):
        self.table.inputs = np.asarray(inputs, np.int32)
        self.table.outputs = np.asarray(outputs, np.int32)


class Model:
    """A file under construction. Buffer 0 is the empty one that tensors without data name."""

    def __init__(self, description):
        self.table = schema.ModelT(
            version=3, description=description, operatorCodes=[], subgraphs=[],
            buffers=[AlignedBuffer()], metadata=None)

    def graph(self, name):
        graph = Graph(self, name)
        self.table.subgraphs.append(graph.table)
        return graph

    def buffer(self, data):
        self.table.buffers.append(AlignedBuffer(data=data))
        return len(self.table.buffers) - 1

    def opcode(self, name):
        """The number of a builtin op, or of a custom one (any name the schema lacks)."""
        code = schema.OperatorCodeT(builtinCode=OPS.get(name, OPS["CUSTOM"]), version=1)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.customCode = None if name in OPS else name
        for index, known in enumerate(self.table.operatorCodes):
            if (known.builtinCode, known.customCode) == (code.builtinCode, code.customCode):
                return index
        self.table.operatorCodes.append(code)
        return len(self.table.operatorCodes) - 1

    def bytes(self):
        return pack(self.table)


def pack_int4(values):
    flat = np.asarray(values, np.int8).reshape(-1)
    low, high = flat[0::2], np.zeros((flat.size + 1) // 2, np.int8)
    high[:flat.size // 2] = flat[1::2]
    return ((low & 15) | (high << 4)).astype(np.int8)


def pack(table):
    """The bytes of a model; the same table gives the same bytes."""
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(table.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def unpack(data):
    """The model table of a file, with every buffer realigned when it is packed again."""
    table = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    table.buffers = [AlignedBuffer(data=b.data) for b in table.buffers]
    return table


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def items(vector):
    """The numbers of a vector of the file, which may be absent or a numpy array."""
    return [] if vector is None else [int(v) for v in vector]


def op_name(table, op):
    code = table.operatorCodes[op.opcodeIndex]
    builtin = max(code.builtinCode, code.deprecatedBuiltinCode)
    return text(code.customCode) if builtin == OPS["CUSTOM"] else OP_NAMES[builtin]


def tensor_bytes(tensor):
    bits = elements(items(tensor.shape)) * BITS[TYPE_NAMES[tensor.type]]
    return (bits + 7) // 8


def element_bytes(tensor):
    return BITS[TYPE_NAMES[tensor.type]] // 8


def rounded(size):
    return -(-size // ALIGN) * ALIGN


def is_constant(table, tensor):
    data = table.buffers[tensor.buffer].data if tensor.buffer < len(table.buffers) else None
    return data is not None and len(data) > 0


def drop_plan(table):
    """Removes a plan from the metadata; its buffer stays, so that numbers keep their meaning."""
    if table.metadata:
        table.metadata = [m for m in table.metadata if text(m.name) != PLAN_NAME.decode()] or None
    return table


def set_plan(table, offsets):
    """Puts `offsets` (one per tensor of all subgraphs) into the table, replacing any plan."""
    drop_plan(table)
    payload = struct.pack("<3i", 0, len(table.subgraphs), len(offsets))
    payload += np.asarray(offsets, np.int32).tobytes()
    table.buffers.append(AlignedBuffer(data=np.frombuffer(payload, np.uint8)))
    table.metadata = (table.metadata or []) + [
        schema.MetadataT(name=PLAN_NAME.decode(), buffer=len(table.buffers) - 1)]
    return table


def with_plan(data, offsets):
    return pack(set_plan(unpack(data), offsets))


def apart(data):
    """Offsets that give each planned tensor a place of its own."""
    table = unpack(data)
    offsets, top = [], 0
    for tensor in (tensor for graph in table.subgraphs for tensor in graph.tensors):
        planned = not tensor.isVariable and not is_constant(table, tensor)
        offsets.append(top if planned else ONLINE)
        top += rounded(tensor_bytes(tensor)) if planned else 0
    return offsets


def plan_of(data):
    """The offsets that a file holds, one per tensor of all its subgraphs; None without a plan."""
    table = unpack(data)
    for entry in table.metadata or []:
        if text(entry.name) == PLAN_NAME.decode():
            words = np.asarray(table.buffers[entry.buffer].data, np.uint8).view(np.int32)
            return items(words[3:3 + int(words[2])])
    return None


def cut_op(table, subgraph, index, offsets=None):
    """The bytes of a model that holds one op alone: its tensors in their old order of first
    mention, constants and variables kept, everything else as inputs or outputs.
    `offsets` maps old tensor numbers to places; others are left to the runtime.
    Also returns the old numbers of the inputs and of the outputs."""
    source = table.subgraphs[subgraph]
    op = source.operators[index]
    mentioned = items(op.inputs) + items(op.outputs) + items(op.intermediates)
    old = list(dict.fromkeys(t for t in mentioned if t >= 0))
    new = {t: i for i, t in enumerate(old)}
    outputs = [t for t in items(op.outputs) if t >= 0]
    inputs = [t for t in dict.fromkeys(items(op.inputs)) if t >= 0
              and not is_constant(table, source.tensors[t]) and not source.tensors[t].isVariable]

    buffers, tensors = [AlignedBuffer()], []
    for t in old:
        tensor = schema.TensorT(**vars(source.tensors[t]))
        tensor.buffer = 0
        if is_constant(table, source.tensors[t]):
            buffers.append(AlignedBuffer(data=table.buffers[source.tensors[t].buffer].data))
            tensor.buffer = len(buffers) - 1
        tensors.append(tensor)

    alone = schema.OperatorT(**vars(op))
    alone.opcodeIndex = 0
    renumber = lambda vector: np.asarray([new.get(t, -1) for t in items(vector)], np.int32)
    alone.inputs, alone.outputs = renumber(op.inputs), renumber(op.outputs)
    alone.intermediates = None if op.intermediates is None else renumber(op.intermediates)
    model = schema.ModelT(
        version=3, buffers=buffers, operatorCodes=[table.operatorCodes[op.opcodeIndex]],
        subgraphs=[schema.SubGraphT(
            name="cut", tensors=tensors, operators=[alone],
            inputs=np.asarray([new[t] for t in inputs], np.int32),
            outputs=np.asarray([new[t] for t in outputs], np.int32))])
    if offsets is not None:
        set_plan(model, [offsets.get(t, ONLINE) for t in old])
    return pack(model), inputs, outputs


def called_by(table, op):
    """Numbers of the subgraphs that an op runs, and of those that these run."""
    options = vars(op.builtinOptions) if op.builtinOptions else {}
    called = {number for name, number in options.items() if name.lower().endswith("subgraphindex")}
    return called.union(*(called_by(table, inner) for number in called for inner in table.subgraphs[number].operators))


class Prefixes:
    """The first ops of the first subgraph, with the last one's outputs as the model's. A plan
    inside stays as it is: offsets are numbered by tensor, not by op. The file is packed once;
    each prefix is that file with vectors made shorter. Subgraphs that nothing in it calls have no
    ops: tflite-micro crashes where one of them asks for scratch and is never run."""

    def __init__(self, data):
        table = unpack(data)
        main = table.subgraphs[0]
        self.results = [[t for t in items(op.outputs) if t >= 0] for op in main.operators]
        self.called = [called_by(table, op) for op in main.operators]
        self.lengths = [len(graph.operators) for graph in table.subgraphs]
        main.outputs = np.zeros(max(map(len, self.results)), np.int32)
        self.data = bytearray(pack(table))
        graphs = [schema.Model.GetRootAs(self.data, 0).Subgraphs(i)._tab for i in range(len(self.lengths))]
        self.outputs = graphs[0].Vector(graphs[0].Offset(8))
        self.operators = [fields.Vector(fields.Offset(10)) for fields in graphs]

    def first(self, n_ops):
        results = self.results[n_ops - 1]
        called = set().union(*self.called[:n_ops])
        for number, operators in enumerate(self.operators):
            length = n_ops if number == 0 else self.lengths[number] if number in called else 0
            struct.pack_into("<I", self.data, operators - 4, length)
        struct.pack_into(f"<{1 + len(results)}i", self.data, self.outputs - 4, len(results),
                         *results)
        return bytes(self.data)
