"""A training step as arenaut.program/1: a chain of N ops and their gradients, for `arenaut plan --recompute on`.

    python3 examples/training_chain.py 16 > step.json

Forward ops F make a0, a1 …; backward ops B read them from the last to the first. So all are alive at once in the middle,
as the activations of a network are. A framework of your own states its steps in the same form (docs/formats.md)."""

import json
import sys


def chain(layers, bytes=1000):
    tensors = [{"name": "x", "bytes": 8, "caller_owned": True}]
    ops, last = [], "x"
    for i in range(layers):
        tensors.append({"name": f"a{i}", "bytes": bytes})
        ops.append({"name": "F", "kind": "out", "inputs": [last], "outputs": [f"a{i}"]})
        last = f"a{i}"
    for i in reversed(range(layers)):
        tensors.append({"name": f"g{i}", "bytes": bytes})
        ops.append({"name": "B", "kind": "out", "inputs": [last, f"a{i}"], "outputs": [f"g{i}"]})
        last = f"g{i}"
    return {"schema": "arenaut.program/1", "tensors": tensors, "inputs": ["x"], "outputs": [last], "ops": ops}


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal() or int(sys.argv[1]) == 0:
        sys.exit(f"usage: {sys.argv[0]} N > step.json")
    print(json.dumps(chain(int(sys.argv[1]))))
