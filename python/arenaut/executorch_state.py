"""State of an exported graph, and the order in which ExecuTorch writes it back.

In a graph all states change at once, at its end. ExecuTorch writes them back one after another with `copy_`, and
leaves a copy out if the new value is itself an input of the graph: then the state keeps its old value."""

from __future__ import annotations

import torch
from executorch.exir import memory
from torch.export.graph_signature import OutputKind

import arenaut


def refuse_wrong_write_back(graph_module, signature):
    """Raises InputError, with the state's name, if the program leaves another value in it than the graph does."""
    if signature is None:
        return
    steps = {node: step for step, node in enumerate(graph_module.graph.nodes)}
    origins = origins_of(steps)
    states = {signature.inputs_to_buffers[node.target]: node for node in steps
              if node.op == "placeholder" and node.target in signature.inputs_to_buffers}
    changes = [one for one in signature.output_specs if one.kind == OutputKind.BUFFER_MUTATION]
    written = {origins[operand] for node in steps for operand in updated(node)}
    for change in changes:
        state = states.get(change.target)
        if state is not None and state not in written and change.arg.name != state.name:
            raise arenaut.InputError(f"'{change.target}' is never written back: its new value is an input or another "
                                     "state, whose copy ExecuTorch leaves out; "
                                     "compute it (x + 0) before it is stored")
    results = output_of(steps)[:len(changes)]
    for copy in results:
        if copy.op == "call_function" and copy.target == torch.ops.aten.copy_.default:
            refuse_late_reader(copy, steps, origins, results, signature)


def refuse_late_reader(copy, steps, origins, results, signature):
    """Raises InputError if something reads the state that `copy` overwrites, by its old name, behind it."""
    state = origins[copy]
    fqn = signature.inputs_to_buffers.get(state.target, str(state.target))
    for node in steps:
        operands = output_of(steps)[len(results):] if node.op == "output" else node.all_input_nodes
        for operand in operands:
            if steps[node] > steps[copy] and origins.get(operand) is state and not comes_from(operand, copy):
                raise arenaut.InputError(f"{node} reads '{fqn}' behind {copy}, which has overwritten it: the graph "
                                         "means the old value, which must be computed (x + 0) before")


def origins_of(steps):
    """For each node that stands for another's memory, which one: through views and updates."""
    origins = {}
    for node in steps:
        over = [node.args[0]] if node.target is memory.view else updated(node)
        origins[node] = origins[over[0]] if over else node
    return origins


def comes_from(node, copy):
    """Whether a name of the state was made of the copy's result."""
    while node is not copy:
        over = [node.args[0]] if node.target is memory.view else updated(node)
        if not over:
            return False
        node = over[0]
    return True


def updated(node):
    """The operands that an op updates, by its schema; without those that an out variant fills."""
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None:
        return []
    given = {**dict(zip((one.name for one in schema.arguments), node.args)), **node.kwargs}
    return [given[one.name] for one in schema.arguments
            if one.alias_info is not None and one.alias_info.is_write and not one.is_out
            and isinstance(given.get(one.name), torch.fx.Node)]


def output_of(steps):
    """The results of the graph."""
    output = next(node for node in reversed(steps) if node.op == "output")
    returned = output.args[0]
    return [one for one in (returned if isinstance(returned, (list, tuple)) else [returned])
            if isinstance(one, torch.fx.Node)]
