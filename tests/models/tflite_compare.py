"""Running an original and a changed model side by side, and finding where they part."""

import micro_runtime
import tflite_file


def bits(outputs):
    return [output.tobytes() for output in outputs]


def first_difference(original, changed, seeds=(1, 2, 3), runs=3):
    """Runs both several times per seed, state carried from run to run, on one random input
    each time. None if every output has the same bytes, else (seed, run, output)."""
    for seed in seeds:
        one, other = micro_runtime.Machine(original), micro_runtime.Machine(changed)
        for run in range(runs):
            values = micro_runtime.random_inputs(one.inputs, 1000 * seed + run)
            pairs = zip(bits(one.run(values)), bits(other.run(values)))
            for output, (expected, found) in enumerate(pairs):
                if expected != found:
                    return seed, run, output
    return None


# Kernels that leave part of their output unwritten, whatever was there before: the op and those
# that only carry the rest along.
PARTLY_WRITTEN = {"SignalEnergy": 2}


def first_wrong_op(original, changed, seed=1, every=1):
    """Compares op by op: what each op of the main subgraph leaves in its outputs when the
    changed model runs that far, against the original with no memory shared at all. A final
    output alone can hide a corrupted tensor. None, or (op, its name)."""
    bare = tflite_file.pack(tflite_file.drop_plan(tflite_file.unpack(original)))
    whole = micro_runtime.Machine(bare, keep_all=True)
    values = micro_runtime.random_inputs(whole.inputs, seed)
    whole.run(values)
    table = tflite_file.unpack(original)
    ops = table.subgraphs[0].operators
    prefixes = tflite_file.Prefixes(changed)
    undefined = 0
    for index in range(0, len(ops), every):
        outputs = [t for t in tflite_file.items(ops[index].outputs) if t >= 0]
        undefined = max(PARTLY_WRITTEN.get(tflite_file.op_name(table, ops[index]), 0),
                        undefined - 1)
        if not outputs or holds_resource(table, outputs) or undefined > 0:
            continue
        part = micro_runtime.Machine(prefixes.first(index + 1))
        expected = [whole.tensor(t).tobytes() for t in outputs]
        if bits(part.run(values)) != expected:
            return index, tflite_file.op_name(table, ops[index])
    return None


def holds_resource(table, tensors):
    resource = tflite_file.TYPES["RESOURCE"]
    return any(table.subgraphs[0].tensors[t].type == resource for t in tensors)
