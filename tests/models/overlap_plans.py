"""What the command says of buffers that may overlap, for tests that place tensors themselves.

A separation {upper, lower, distance} of a problem or plan in JSON lets two buffers overlap where
the upper one starts at least `distance` bytes above the lower one. Buffers are those of a
.tflite model; tensors are counted over all its subgraphs, as its plan counts them.
"""

import json
from dataclasses import dataclass

import tflite_file
from tflite_file import ALIGN, element_bytes, rounded


@dataclass(frozen=True)
class Separation:
    upper: int  # tensors
    lower: int
    distance: int


def tensors_of(data, buffers):
    """The tensor of each buffer, None for kernel scratch. Buffers stand in the order of tensors,
    from which constants, variables and what is never used are left out; names need not differ."""
    table = tflite_file.unpack(data)
    tensors = [tensor for graph in table.subgraphs for tensor in graph.tensors]
    keys = [None if tensor.isVariable or tflite_file.is_constant(table, tensor)
            else (tflite_file.text(tensor.name), rounded(tflite_file.tensor_bytes(tensor)))
            for tensor in tensors]
    found, next_tensor = [], 0
    for buffer in buffers:
        if buffer["class"] == "scratch":
            found.append(None)
            continue
        found.append(keys.index((buffer["name"], buffer["size"]), next_tensor))
        next_tensor = found[-1] + 1
    return found


def separations_of(data, document):
    tensors = tensors_of(data, document["buffers"])
    return [Separation(tensors[s["upper"]], tensors[s["lower"]], s["distance"])
            for s in document.get("separations", [])]


def offsets_of(data, plan):
    """The offsets that a plan in JSON gives, one per tensor."""
    offsets = [tflite_file.ONLINE] * sum(len(graph.tensors)
                                         for graph in tflite_file.unpack(data).subgraphs)
    for buffer, tensor in zip(plan["buffers"], tensors_of(data, plan["buffers"])):
        if tensor is not None and buffer["offset"] is not None:
            offsets[tensor] = buffer["offset"]
    return offsets


def nearest(data, separation):
    """The bytes of the smaller element of a pair, and the first multiple of it at which the upper
    one may start above the lower."""
    table = tflite_file.unpack(data)
    tensors = [tensor for graph in table.subgraphs for tensor in graph.tensors]
    upper, lower = tensors[separation.upper], tensors[separation.lower]
    element = min(element_bytes(upper), element_bytes(lower))
    distance = max(separation.distance, -tflite_file.tensor_bytes(upper))
    return element, -(-distance // element) * element


def placed(data, separation, delta):
    """Offsets that keep all tensors apart but one pair, whose upper one starts so far above the
    lower. Of the two the one with the larger elements lies at a multiple of 16."""
    table = tflite_file.unpack(data)
    tensors = [tensor for graph in table.subgraphs for tensor in graph.tensors]
    offsets = tflite_file.apart(data)
    base = max(offsets) + sum(rounded(tflite_file.tensor_bytes(tensors[t]))
                              for t in (separation.upper, separation.lower)) + ALIGN
    base += max(rounded(tflite_file.tensor_bytes(tensor)) for tensor in tensors)
    if element_bytes(tensors[separation.upper]) > element_bytes(tensors[separation.lower]):
        offsets[separation.upper], offsets[separation.lower] = base, base - delta
    else:
        offsets[separation.upper], offsets[separation.lower] = base + delta, base
    return offsets


def one_step_short(plan):
    """A problem like that of a plan, with each distance a step of the alignment too small."""
    problem = {key: plan[key] for key in ("pools", "buffers", "edges", "reserved") if key in plan}
    problem["methods"] = plan["input"]["methods"]
    for pool in problem["pools"]:
        for key in ("arena", "lower_bound", "status"):
            pool.pop(key, None)
    for buffer in problem["buffers"]:
        for key in ("pool", "offset"):
            buffer.pop(key, None)
    problem["schema"] = "arenaut.problem/1"
    problem["separations"] = [{**s, "distance": s["distance"] - ALIGN}
                              for s in plan["separations"]]
    return json.dumps(problem)
