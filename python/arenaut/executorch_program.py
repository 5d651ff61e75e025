"""A method of ExecuTorch's export as the program that its file will hold: emitted, planned and replayed.

ExecuTorch's own emitter makes the instructions and values out of the graph; only the bytes of weights and of
delegates are left out, which no plan depends on. What plans and checks this is the same pipeline as that of
`arenaut plan` and `arenaut check`; the places go back to the graph's specs."""

from __future__ import annotations

import copy
import re
from contextlib import contextmanager
from itertools import zip_longest
from types import SimpleNamespace

import torch
from executorch.exir import memory
from executorch.exir._serialize._program import PTEFile, serialize_pte_binary
from executorch.exir.emit._emitter import _EmitterState, _ProgramState, _TopLevelEmitter
from executorch.exir.memory_planning import get_node_tensor_specs
from executorch.exir.passes.replace_view_copy_with_view_pass import _ViewSpec
from executorch.exir.schema import (BackendDelegateInlineData, Buffer, EValue, ExtraTensorInfo, Program,
                                    SubsegmentOffsets, Tensor)
from executorch.exir.tensor import TensorSpec, make_tensor_value
from executorch.exir.version import EXECUTORCH_SCHEMA_VERSION
from torch.export.graph_signature import ExportGraphSignature, OutputKind

import arenaut

DATA = 1  # the number of all constants' bytes, which are empty


class EmitterWithoutWeights(_TopLevelEmitter):
    """Emits a method, with the node that each instruction comes from; constants have no bytes."""

    def __init__(self, *given):
        super().__init__("forward", *given)
        self.given_mutable_buffer_warning = True  # the emitter of the file gives it
        self.made_by = []

    def run_node(self, n):
        value = super().run_node(n)
        self.made_by += [n] * (len(self.chain.instructions) - len(self.made_by))
        return value

    def _tensor_spec_to_evalue(self, spec, constant_tag=None):
        if not spec.const:
            return super()._tensor_spec_to_evalue(spec, constant_tag)
        planned = spec.mem_id is not None and spec.mem_offset is not None
        return EValue(make_tensor_value(DATA, self._get_allocation_info(spec) if planned else None, spec))


class Weights:
    """All weights there may be, without their values."""

    def __contains__(self, name):
        return name is not None

    def __getitem__(self, name):
        return None


class Emitted:
    """A method as a program, with the places that its specs have now.

    Attributes
    ----------
    model : arenaut.Model
        Of the file.
    specs : dict
        The TensorSpec of each value that has a place, by the value's number.
    nodes : list
        The graph's node of each instruction.
    """

    def __init__(self, graph_module, signature):
        self.graph_module = graph_module
        signature = signature or ExportGraphSignature(input_specs=[], output_specs=[])
        exported = SimpleNamespace(graph_signature=signature, state_dict=Weights(), constants={},
                                   call_spec=SimpleNamespace(in_spec=None, out_spec=None))
        state = _EmitterState(values=[], operators=[], delegates=[], operator_cache={}, emit_stacktrace=False,
                              emit_mutable_buffer_names=True)
        shared = _ProgramState()
        graph, copies = without_mutations(graph_module, signature)
        emitter = EmitterWithoutWeights(exported, graph, shared, state)
        with kept(graph) as inputs_of_bodies:
            emitter.run()
        self.specs = {value: spec for spec, value in state.spec2id_dict.items()}
        for number, value in enumerate(state.values):
            if isinstance(value.val, Tensor):
                if (spec := inputs_of_bodies.get(id(value.val.extra_tensor_info))) is not None:
                    self.specs[number] = spec
                value.val.extra_tensor_info = None  # names of states, which few files have
        originals = {made: node for node, made in copies.items()}
        self.nodes = [originals[node] for node in emitter.made_by]
        self.model = arenaut.Model.parse(file_of(emitter.plan(), shared), "the exported program.pte")

    def move(self, plan):
        """Gives the nodes the order of a plan, the specs its places, and the graph the sizes of its memories."""
        written = arenaut.Model.parse(plan._in_model(), self.model.path).program
        places = {tensor.get("file_index", k): tensor["given"] for k, tensor in enumerate(written["tensors"])
                  if "given" in tensor}
        # A view lies where its operand does, and an operand is in the file whose place counts.
        for number in sorted(places, key=lambda number: not isinstance(self.specs[number], _ViewSpec)):
            spec, place = self.specs[number], places[number]
            spec.mem_id, spec.mem_offset = place["pool"] + 1, place["offset"]
        result = plan._pipeline.record.result
        self.graph_module.meta["non_const_buffer_sizes"][1:] = [
            result.memories[k].planned for k in range(result.n_memories)]
        reorder(self.graph_module, self.in_order(plan))

    def in_order(self, plan):
        """The nodes of a plan's instructions, one after another; None if it takes those of a node apart."""
        ops = plan.order.ops if plan.order and plan.order.ops else range(len(self.nodes))
        nodes = list(dict.fromkeys(self.nodes[op] for op in ops))
        whole = [op for node in nodes for op, of in enumerate(self.nodes) if of is node]
        return nodes if whole == list(ops) else None

    def check(self, **options):
        """Replays the program: RejectedError, with names of nodes, where a byte is not in place."""
        try:
            self.model.check(**options)
        except arenaut.RejectedError as error:
            names = {}
            for spec, node in specs_and_nodes(self.graph_module):
                names.setdefault(id(spec), f"'{node.name}'")
            message = re.sub(r"'v(\d+)'", lambda at: names.get(id(self.specs.get(int(at[1]))), at[0]), str(error))
            raise arenaut.RejectedError(message, error.status, finding=error.finding) from None


def specs_and_nodes(graph_module):
    """All specs, of the graphs below as well, with the nodes that compute them."""
    for module in graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op != "get_attr" and node.target is not memory.alloc:
                yield from ((spec, node) for spec in get_node_tensor_specs(node))


def file_of(plan, shared):
    """The bytes of a file that holds one method."""
    program = Program(version=EXECUTORCH_SCHEMA_VERSION, execution_plan=[plan],
                      constant_buffer=[Buffer(b"")] * (DATA + len(shared.constant_buffer)),
                      backend_delegate_data=[BackendDelegateInlineData(data=b"") for _ in shared.backend_delegate_data],
                      segments=[], constant_segment=SubsegmentOffsets(segment_index=0, offsets=[]),
                      mutable_data_segments=None)
    first_values = [Buffer(b""), Buffer(b"\0")]
    return bytes(serialize_pte_binary(PTEFile(program=program, mutable_data=first_values)))


def reorder(graph_module, nodes):
    """Moves nodes into this order. Others, which make no instruction, go where they are needed first."""
    output = graph_module.graph.output_node()
    placed = {node for node in graph_module.graph.nodes if node.op == "placeholder"}
    waiting = [*reversed(list(graph_module.graph.nodes)), *reversed(nodes)]
    while waiting:
        node = waiting[-1]
        needed = [one for one in node.all_input_nodes if one not in placed]
        waiting += needed
        if not needed and waiting.pop() not in placed and node is not output:
            placed.add(node)
            output.prepend(node)


def without_mutations(graph_module, signature):
    """A copy of the graph that returns what its user gets, since the emitter wants states left out, and the copy
    of each node."""
    copies = {}
    made = copied(graph_module, copies)
    given = next(node for node in reversed(graph_module.graph.nodes) if node.op == "output")
    returned = torch.utils._pytree.tree_leaves(given.args)
    kinds = [one.kind for one in signature.output_specs][:len(returned)]
    result = made.graph.output(tuple(copies.get(one, one) for one, kind in zip_longest(returned, kinds)
                                     if kind != OutputKind.BUFFER_MUTATION))
    result.meta = copy.copy(given.meta)
    return made, copies


def copied(graph_module, copies):
    """A copy of a graph and of those below, in which the emitter may note its numbers; without the output."""
    graph = torch.fx.Graph()
    graph.graph_copy(graph_module.graph, copies)
    made = torch.fx.GraphModule(graph_module, graph)
    made.meta.update(graph_module.meta)
    for name, below in graph_module.named_children():
        if isinstance(below, torch.fx.GraphModule) and hasattr(made, name):
            inner = {}
            branch = copied(below, inner)
            given = next(node for node in reversed(below.graph.nodes) if node.op == "output")
            branch.graph.node_copy(given, inner.__getitem__)
            setattr(made, name, branch)
    return made


@contextmanager
def kept(graph_module):
    """Keeps what the emitter changes in the specs of inputs. Inputs of loops' bodies it notes nowhere: until then
    they have information of their own, by the identity of which the specs are given here."""
    graphs = [module for module in graph_module.modules() if isinstance(module, torch.fx.GraphModule)]
    inputs = [(graph, node.meta["spec"]) for graph in graphs for node in graph.graph.find_nodes(op="placeholder")
              if isinstance(node.meta.get("spec"), TensorSpec)]
    before = [(spec, spec.const, copy.copy(spec.extra_tensor_info)) for _, spec in inputs]
    marks = {}
    for graph, spec in inputs:
        if graph is not graph_module:
            spec.extra_tensor_info = ExtraTensorInfo()
            marks[id(spec.extra_tensor_info)] = spec
    try:
        yield marks
    finally:
        for spec, const, more in before:
            spec.const, spec.extra_tensor_info = const, more


def plan_of(emitted, reordered, options):
    """A plan with another order if the graph and the file can hold that, else one without."""
    plan = emitted.model.plan(progress=False, reorder=reordered, **options)
    if not reordered:
        return plan
    try:
        if emitted.in_order(plan) is not None and (plan.outcome is not None or plan._in_model()):
            return plan
    except arenaut.ArenautError:
        # The file is read again. Of a delegate's arguments the places alone tell views from results, and a result
        # may have got the place of a dead value of its size and type: then the checker refuses the file.
        pass
    return plan_of(emitted, False, options)


def replan(graph_module, signature, reordered=False, **options):
    """Plans a method as `arenaut plan` plans its file, where that is smaller or mends it, and replays what it is then.
    The names of its ops.

    Raises
    ------
    RejectedError
        The program would read bytes that something else has written over.
    InputError
        It is wrong wherever its values lie.
    UnsupportedError
        It has instructions that are not known.
    """
    emitted = Emitted(graph_module, signature)
    plan = plan_of(emitted, reordered, options)
    if plan.outcome is None:
        emitted.move(plan)
        emitted = Emitted(graph_module, signature)
    emitted.check(**{name: value for name, value in options.items() if name != "effort"})
    return {op["name"] for method in emitted.model.program["methods"] for op in method["ops"] if "name" in op}
