"""Weights for programs whose own lie elsewhere: numbers by a formula, in the file that the
runtime takes beside the program. What they are does not matter to a plan."""

import numpy as np
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir._serialize.data_serializer import DataEntry, DataPayload
from executorch.exir.schema import ScalarType, TensorDataLocation
from executorch.exir.tensor_layout import TensorLayout
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer


def external(data):
    """{name: tensor} of what the program wants from elsewhere."""
    program = deserialize_pte_binary(data).program
    tensors = [value.val for plan in program.execution_plan for value in plan.values
               if getattr(value.val, "extra_tensor_info", None)]
    return {tensor.extra_tensor_info.fully_qualified_name: tensor for tensor in tensors
            if tensor.extra_tensor_info.location == TensorDataLocation.EXTERNAL}


def numbers(tensor):
    """Small, and positive: some of them are variances, which are taken the root of."""
    count = int(np.prod(tensor.sizes))
    if tensor.scalar_type != ScalarType.FLOAT:
        return np.zeros(count, np.int64)
    fan_in = max(1, count // max(1, tensor.sizes[0] if tensor.sizes else 1))
    wave = np.sin(np.arange(count) * 12.9898)
    return ((wave if fan_in > 1 else 1 + wave / 2) * (3 / fan_in) ** 0.5).astype(np.float32)


def weights_file(data):
    """Its bytes; None if the program has all it needs."""
    tensors = external(data)
    if not tensors:
        return None
    layouts = [TensorLayout(t.scalar_type, t.sizes, t.dim_order) for t in tensors.values()]
    entries = {name: DataEntry(index, 16, layout)
               for index, (name, layout) in enumerate(zip(tensors, layouts))}
    buffers = [numbers(tensor).tobytes() for tensor in tensors.values()]
    return bytes(FlatTensorSerializer().serialize(DataPayload(buffers, entries)))
