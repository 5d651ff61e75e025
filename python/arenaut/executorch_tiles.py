"""Tiles inside ExecuTorch's export: the operators of a stage run on rows of their images, one tile after the other.

The program goes through the library as an archive of torch.export, whose operators are aten's, and comes back as nodes
of the dialect that it had. Two operators are put in the form that has one result on the way, and back.
"""

from __future__ import annotations

import io
import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.pass_base import ExportedProgramPassBase, ExportedProgramPassResult, ExportPass
from executorch.exir.program._program import _get_updated_graph_signature
from torch._export.verifier import Verifier
from torch.export import ExportedProgram

import arenaut

aten = torch.ops.aten
#: Operators of which only the first result counts: the operator that has no other, the arguments of each for those of
#: the other. ExecuTorch has kernels for the first, the library tiles the second.
ONE_RESULT = {
    aten.max_pool2d_with_indices.default:
        (aten.max_pool2d.default, lambda *given: given, lambda *given: given),
    aten._native_batch_norm_legit_no_training.default:
        (aten.batch_norm.default, lambda image, weight, bias, mean, var, momentum, eps:
            (image, weight, bias, mean, var, False, momentum, eps, False),
         lambda image, weight, bias, mean, var, _training, momentum, eps, _cudnn:
            (image, weight, bias, mean, var, momentum, eps)),
}
SEVERAL_RESULTS = {one: (several, back) for several, (one, _, back) in ONE_RESULT.items()}


class TilePass(ExportedProgramPassBase):
    """Tiles a program, so that its plan needs less memory.

        edge = to_edge(exported).transform([TilePass()])

    It takes programs of torch.export as well: `TilePass()(exported).exported_program`. What a delegate took, and operators
    that are not tiled, stay whole, and so does a program of sizes that vary. Unless rounding is
    allowed, the tiles compute the same bits with ExecuTorch's portable kernels (docs/split.md has the conditions).

    Parameters
    ----------
    stages : bool or iterable of (int, int, int, str), optional
        True, as the search finds them; or (first op, last op, tiles, "rows" or "kept") of each.
    budget : int, optional
        Bytes to be reserved: the stages that add least and fit are taken. None: those that need least.
    max_ops : int, optional
        Nodes that may be added.
    max_macs : float, optional
        Multiplications that may be added, in percent.
    rounding : {"refuse", "allow"}
        "allow": tiles may round otherwise than the whole: not the same bits.

    Attributes
    ----------
    plan
        Of the program that ran last, an arenaut.ModelPlan, as of `split=` of Model.plan: `plan.size` has
        bytes before and after, by the library's count of the archive, without ExecuTorch's own plan.

    Raises
    ------
    RejectedError
        From the pass: the tiled program does not compute the same.
    InputError, UnsupportedError
        From the pass: an option does not suit the program, or the library does not
        read it.
    """

    def __init__(self, stages: bool | Iterable[tuple[int, int, int, str]] = True, *, budget: int | None = None,
                 max_ops: int | None = None, max_macs: float | None = None,
                 rounding: str = "refuse") -> None:
        super().__init__()
        limits = {"budget": budget, "max_ops": max_ops, "max_macs": max_macs, "rounding": rounding}
        self.options = {"split": stages, **{name: limit for name, limit in limits.items() if limit is not None}}
        self.plan = None

    def call(self, exported_program: ExportedProgram) -> ExportedProgramPassResult:
        """Tiles a program, or leaves it if no tiles need less."""
        of_edge, archive = exported_program.dialect == "EDGE", io.BytesIO()
        torch.export.save(in_aten(exported_program) if of_edge else exported_program, archive)
        self.plan = arenaut.Model.parse(archive.getvalue(), "exported.pt2").plan(**self.options)
        if not self.plan.stages:
            return ExportedProgramPassResult(exported_program, False)
        tiled = torch.export.load(io.BytesIO(self.plan._in_model()))
        return ExportedProgramPassResult(in_edge(exported_program, tiled) if of_edge else tiled, True)


def in_aten(program: ExportedProgram) -> ExportedProgram:
    graph = rebuilt(program.graph_module.graph, with_one_result)
    return remade(program, torch.fx.GraphModule(program.graph_module, graph), [Verifier])


def in_edge(program: ExportedProgram, tiled: ExportedProgram) -> ExportedProgram:
    """The program with the nodes of the other one, whose values are known once they ran on values without bytes."""
    calls = [node for node in program.graph_module.graph.nodes if is_call_of_graphs(node)]

    def with_kernels_or_graphs(made, node, nodes):
        return with_graphs(made, node, nodes, calls) if node.target is whole else with_kernels(made, node, nodes)

    graph = rebuilt(tiled.graph_module.graph, with_kernels_or_graphs)
    module = ExportPass()(torch.fx.GraphModule(program.graph_module, graph)).graph_module
    return remade(program, module, program.verifiers)


def remade(program: ExportedProgram, module: torch.fx.GraphModule, verifiers: list[Any]) -> ExportedProgram:
    return ExportedProgram(
        root=module, graph=module.graph,
        graph_signature=_get_updated_graph_signature(program.graph_signature, module),
        state_dict=program.state_dict, range_constraints=program.range_constraints,
        module_call_graph=program.module_call_graph, example_inputs=program.example_inputs,
        constants=program.constants, verifiers=verifiers)


def rebuilt(graph: torch.fx.Graph, call: Callable[[torch.fx.Graph, torch.fx.Node, Any], torch.fx.Node]) -> torch.fx.Graph:
    """A copy in which `call` makes the calls of functions."""
    made, nodes = torch.fx.Graph(), {}
    for node in graph.nodes:
        if node.op == "call_function":
            nodes[node] = call(made, node, nodes)
        elif node.op != "get_attr":
            nodes[node] = one_to_one(made, node, nodes)
    return made


def one_to_one(made, node, nodes):
    return made.node_copy(node, nodes.__getitem__)


# ---- calls of graphs and of delegates: no archive holds these, and no tile is in them ----

LIBRARY = torch.library.Library("arenaut", "DEF")
LIBRARY.define("whole(Tensor[] values, int call) -> Tensor[]")
#: Stands for the k-th of them.
whole = torch.ops.arenaut.whole.default


def is_call_of_graphs(node):
    return node.op == "call_function" and isinstance(node.target, torch._ops.HigherOrderOperator)


def without_graphs(made, node, nodes):
    number = sum(is_call_of_graphs(other) for other in itertools.takewhile(lambda other: other is not node, node.graph.nodes))
    operands = [nodes[operand] for operand in node.all_input_nodes if operand.op != "get_attr"]
    copy = made.call_function(whole, (operands, number))
    copy.meta["val"] = list(node.meta["val"])
    return copy


def with_graphs(made, node, nodes, calls):
    call, operands = calls[node.args[1]], iter(node.args[0])
    given = {operand: made.node_copy(operand) if operand.op == "get_attr" else nodes[next(operands)]
             for operand in call.all_input_nodes}
    return made.node_copy(call, given.__getitem__)


# ---- one operator for another ----


def with_one_result(made, node, nodes):
    """A call of aten's operator for one of the edge dialect's."""
    if is_call_of_graphs(node):
        return without_graphs(made, node, nodes)
    if node.target is operator.getitem and is_first(node.args[0]):
        return nodes[node.args[0]]
    copy = one_to_one(made, node, nodes)
    if isinstance(node.target, EdgeOpOverload):
        copy.target = node.target._op
    if is_first(node):
        copy.target, there, _ = ONE_RESULT[copy.target]
        copy.args, copy.meta["val"] = there(*copy.args), copy.meta["val"][0]
    return copy


def is_first(node):
    """An operator of several results, of which only the first is read."""
    return isinstance(node.target, EdgeOpOverload) and node.target._op in ONE_RESULT and \
        all(user.target is operator.getitem and user.args[1] == 0 for user in node.users)


def with_kernels(made, node, nodes):
    """A call of the edge dialect's operator for one of aten's."""
    copy = one_to_one(made, node, nodes)
    several, back = SEVERAL_RESULTS.get(node.target, (node.target, None))
    copy.target = of_edge(several)
    if back is None:
        return copy
    copy.args = back(*copy.args)
    return made.call_function(operator.getitem, (copy, 0))


def of_edge(target):
    if not isinstance(target, torch._ops.OpOverload):
        return target
    namespace, name = target._schema.name.split("::")
    return getattr(getattr(getattr(exir_ops.edge, namespace), name), target._overloadname)
