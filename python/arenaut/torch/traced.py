"""The joint graph of a training step, forward and backward pass in one, as a program.

AOTAutograd traces it; the ops of the program are its calls in their order. Storages tell views from
what has memory of its own. Parameters, buffers and inputs are constants, which take no bytes.
"""

from __future__ import annotations

import contextlib
import json
import operator
import re
from typing import TYPE_CHECKING, Any

import torch

import arenaut
from arenaut import records
from arenaut.documents import write_file
from arenaut.torch.norms import CHOOSING, NATIVE, choose_norms
from arenaut.torch.probe import chance_of, sizes_of

if TYPE_CHECKING:
    from arenaut.typed import Path

aten = torch.ops.aten
#: What is run instead where such an op runs again, for the statistics are updated once: the operator, its operands,
#: and so many of its results. Where an operator needs statistics, it gets others, and what it makes of them is lost.
WITHOUT_STATISTICS = {
    NATIVE: (aten._native_batch_norm_legit.no_stats, lambda args: (*args[:3], *args[5:]), 3),
    CHOOSING: (CHOOSING, lambda args: (*args[:3], *args[1:3], *args[5:]), 4)}
TYPES = {torch.bool: "bool", torch.int8: "int8", torch.uint8: "uint8", torch.int16: "int16", torch.int32: "int32",
         torch.int64: "int64", torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32",
         torch.float64: "float64", torch.complex64: "complex64", torch.complex128: "complex128"}
#: Of the mask that a dropout drew. The first time that is done already.
APPLY = aten.native_dropout_backward.default
#: Steps that one model may be compiled for.
MOST_KINDS = 1024
#: The op that ends the forward pass: it reads what leaves the graph there.
END = "forward_end"


def refuse(node, why):
    """Names the operator, and the line of the model's author."""
    places = re.findall(r'File "(.*)", line (\d+)', node.meta.get("stack_trace") or "")
    at = f" ({places[-1][0]}:{places[-1][1]})" if places else ""
    raise arenaut.RefusedError(f"{node.target}: {why}{at}", records.REFUSED)


def values_of(node):
    """The tensors that a node makes, None for others."""
    value = node.meta.get("val")
    several = value if isinstance(value, (tuple, list)) else [value]
    return [one if isinstance(one, torch.Tensor) else None for one in several]


def storage_of(tensor):
    return tensor.untyped_storage()._cdata


def draws(node):
    """Whether it takes random numbers."""
    return torch.Tag.nondeterministic_seeded in node.target.tags and not name_of(node).endswith(".without_dropout")


def statistics_of(node):
    """The operands of a batch norm that it only updates, and that do not matter where it runs again."""
    updates = node.target is CHOOSING or node.target is NATIVE and node.args[5] is True
    return node.args[3:5] if updates else ()


def scale_of(chance, value):
    """What a dropout multiplies with, to the bit: kernels of GPUs reckon it from a chance in float32."""
    if chance == 1:
        return 0.0
    if value.device.type == "cuda" and value.dtype != torch.float64:
        return 1 / torch.tensor(1 - chance, dtype=torch.float32).item()
    return 1 / (1 - chance)


def part_dropouts(graph):
    """Parts dropout into drawing a mask, which is done once, and applying it, which may run again."""
    for node in graph.graph.find_nodes(op="call_function", target=aten.native_dropout.default):
        chance, trains = node.args[1:3]
        fields = {user.args[1]: user for user in node.users}
        if not trains or fields.keys() != {0, 1}:
            continue
        kept, mask = fields[0], fields[1]
        with graph.graph.inserting_after(max(kept, mask)):
            again = graph.graph.call_function(APPLY, (node.args[0], mask, scale_of(chance, kept.meta["val"])))
        # Views of what is read share its storage, which from now on is that of the mask applied.
        again.meta = {**kept.meta, "first": kept}
        kept.meta["val"] = torch.empty_like(again.meta["val"])
        node.meta["val"] = (kept.meta["val"], node.meta["val"][1])
        kept.replace_all_uses_with(again, delete_user_cb=lambda user, again=again: user is not again)


class Joint:
    """A joint graph and the same as a program.

    Attributes
    ----------
    graph : torch.fx.GraphModule
        As AOTAutograd hands it to a partition function.
    n_outputs : int
        So many of its results are those of the forward pass.
    ops : list
        The node of each op of the program; None for the end of the forward pass.
    model : arenaut.Model
        The program.

    `sizes` are bytes of the storages of a node's results, and those that its kernel takes inside, by its name,
    where they were counted: kernels may take more than a result needs, as those of losses do for what they add
    up, and those of convolutions for where they work. Operators on a GPU are run to count them.
    """

    def __init__(self, graph: torch.fx.GraphModule, n_outputs: int, sizes: dict | None = None) -> None:
        self.graph, self.n_outputs = graph, n_outputs
        part_dropouts(graph)
        choose_norms(graph)
        self.sizes = sizes or sizes_of(graph)
        self.ops, self.rows, self.tensors = [], [], []
        self.base, self.number = {}, {}  # storage -> its tensor; node -> a tensor for each result
        self.kept, self.updated = self.outputs_of_forward()
        last = self.last_of_forward()
        for node in graph.graph.nodes:
            self.add(node)
            if node is last:
                self.add_end()
        self.model = arenaut.Model.parse(self.text().encode(), "step.program.json")

    # --- the graph ---

    @property
    def results(self):
        return self.graph.graph.output_node()

    def outputs_of_forward(self):
        """Nodes whose values the caller gets and keeps, and those that only are new values of inputs."""
        described = self.results.meta.get("desc")
        if described is None:
            raise arenaut.RefusedError(f"PyTorch {torch.__version__} does not say which inputs a step updates, as 2.11 "
                                       "does", records.REFUSED)
        kept, updated, targets = [], [], []
        for node, about in zip(self.results.args[0][:self.n_outputs], described):
            update = type(about).__name__ == "InputMutationAOTOutput"
            if isinstance(node, torch.fx.Node):
                (updated if update else kept).append(node)
            if update:
                targets.append(about.mutated_input)
        self.targets = targets
        return kept, updated

    def last_of_forward(self):
        """The last call that the forward pass made, by the tags of AOTAutograd."""
        nodes = [node for node in self.graph.graph.nodes if node.op == "call_function"]
        forward = [node for node in nodes if node.meta.get("partitioner_tag") == "is_forward"]
        return forward[-1] if forward else None

    # --- tensors ---

    def add_tensor(self, name, value, kind=None, size=None):
        """A tensor of the program, a view where its storage is known."""
        if any(not isinstance(size, int) for size in (*value.shape, *value.stride())):
            raise arenaut.RefusedError(f"{name}: the size {list(value.shape)} varies; a step is planned for fixed "
                                       "sizes", records.REFUSED)
        tensor = {"name": name, "dtype": TYPES.get(value.dtype, "other"), "dims": list(value.shape)}
        base = self.base.setdefault(storage_of(value), len(self.tensors))
        if base < len(self.tensors):
            first = self.tensors[base]
            tensor.update({key: first[key] for key in ("bytes", "class", "caller_owned") if key in first},
                          view_of=base)
        else:
            tensor["bytes"] = value.untyped_storage().nbytes() if size is None else size
            if kind:
                tensor.update({"class": kind, "caller_owned": True})
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def add(self, node):
        if node.op in ("placeholder", "get_attr"):
            self.add_input(node)
        elif node.op == "output":
            return
        elif node.target is operator.getitem:
            self.number[node] = [self.number[node.args[0]][node.args[1]]]
        else:
            self.add_op(node)

    def add_input(self, node):
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            kind = "state" if node.meta.get("desc") in self.targets else "constant"
            self.number[node] = [self.add_tensor(node.name, value, kind)]
        elif isinstance(value, (torch.SymInt, torch.SymFloat)):
            refuse(node, "an input that varies from call to call is not supported: a step is planned for fixed sizes")
        elif value is not None and not isinstance(value, (int, float, bool)):
            refuse(node, f"an input that is a {type(value).__name__} is not supported")
        else:
            self.number[node] = []

    # --- ops ---

    def add_op(self, node):
        if not isinstance(node.target, torch._ops.OpOverload):
            refuse(node, "operators that hold graphs, and other functions, are not supported")
        schema, made = node.target._schema, values_of(node)
        if schema.is_mutable:
            refuse(node, "an operator that writes its operands is not supported in a step")
        if not any(value is not None for value in made):
            refuse(node, "an operator that makes no tensor, as checks and sizes that depend on data do, is not "
                         "supported in a step")
        given = {storage_of(value) for n in node.all_input_nodes for value in values_of(n) if value is not None}
        views = {storage_of(value) in self.base for value in made if value is not None}
        if len(views) > 1 or views == {True} and not {storage_of(value) for value in made if value is not None} <= given:
            refuse(node, "an operator that makes both views and memory, or views of what it is not given, is not "
                         "supported")
        sizes, inside = self.sizes.get(node.name, ((), 0))
        sizes = iter(sizes)
        self.number[node] = [
            None if value is None else
            self.add_tensor(f"{node.name}.{k}" if k else node.name, value, size=next(sizes, None))
            for k, value in enumerate(made)]
        statistics = statistics_of(node)
        reads = [n for n in node.all_input_nodes if n not in statistics]
        self.put(node, {"name": name_of(node), "kind": "view" if views == {True} else "out",
                        "pure": schema.name.startswith(("aten::", "prims::")) and not draws(node),
                        "inputs": [t for n in reads for t in self.number[n] if t is not None],
                        "outputs": [*self.number[node], *self.scratch(node, inside)]})

    def scratch(self, node, bytes):
        """What only the kernel uses: a result that nothing reads."""
        if bytes:
            self.tensors.append({"name": f"{node.name}.scratch", "bytes": bytes})
            yield len(self.tensors) - 1

    def add_end(self):
        """The caller takes new values of inputs at the end of the forward pass, and keeps no other of them."""
        self.tensors.append({"name": END, "bytes": 0})
        end = len(self.tensors) - 1
        self.put(None, {"name": END, "pure": True, "outputs": [end],
                        "inputs": [t for node in (*self.kept, *self.updated) for t in self.number[node]]})
        self.end = end

    def put(self, node, row):
        self.ops.append(node)
        self.rows.append(row)

    def is_view(self, op):
        """Whether an op takes neither time nor memory."""
        return self.ops[op] is None or self.rows[op]["kind"] == "view"

    def text(self):
        """The program as JSON."""
        gradients = [n for n in self.results.args[0][self.n_outputs:] if isinstance(n, torch.fx.Node)]
        held = dict.fromkeys(self.tensors[t].get("view_of", t) for node in (*self.kept, *gradients)
                             for t in self.number[node])
        outputs = [t for t in held if "class" not in self.tensors[t]]
        return json.dumps({"schema": "arenaut.program/1", "tensors": self.tensors, "ops": self.rows,
                           "outputs": [*outputs, self.end]})


def name_of(node):
    """As readers spell it. Attention without dropout draws no numbers, whatever its operator may do."""
    schema = node.target._schema
    name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
    return f"{name}.without_dropout" if is_attention(schema) and chance_of(node) == 0 else name


def is_attention(schema):
    return "scaled_dot_product" in schema.name and any(one.name == "dropout_p" for one in schema.arguments)


class Captured(Exception):
    """Ends a compilation: the joint graph is there, and nothing was run."""


def arguments_of(inputs):
    """Positional and named."""
    if isinstance(inputs, dict):
        return (), inputs
    if not isinstance(inputs, (tuple, list)):
        raise arenaut.InputError(f"inputs are a tuple of arguments, or a dict of named ones, not a "
                                 f"{type(inputs).__name__}")
    return tuple(inputs), {}


@contextlib.contextmanager
def explained():
    """Compiles as often as there are kinds of arguments, with errors of the compiler as ours."""
    from torch._dynamo import config, exc
    try:
        with config.patch(recompile_limit=MOST_KINDS, accumulated_recompile_limit=MOST_KINDS):
            yield
    except exc.BackendCompilerFailed as failed:
        own = failed.inner_exception
        if isinstance(own, (arenaut.ArenautError, Captured)):
            raise own from None
        raise
    except (exc.Unsupported, exc.UserError) as broken:
        lines = str(broken).strip().splitlines()
        why = next((line.split("Explanation: ")[1] for line in lines if "Explanation: " in line), "")
        at = "".join(f" ({frame.filename}:{frame.lineno})" for frame in list(getattr(broken, "real_stack", None) or ())[-1:])
        raise arenaut.RefusedError(f"the step has a graph break, and only one graph is planned: {lines[0]}. {why}{at}",
                                   records.REFUSED) from broken


def compiled(model, backend):
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        raise arenaut.RefusedError("DistributedDataParallel is not supported: its step is several graphs",
                                   records.REFUSED)
    return torch.compile(model, backend=backend, fullgraph=True, dynamic=False)


def backend_of(partition, compiler):
    from torch._dynamo.backends.common import aot_autograd
    return aot_autograd(fw_compiler=compiler, bw_compiler=compiler, partition_fn=partition)


def capture(model: torch.nn.Module, inputs: Any) -> Joint:
    """The joint graph of a step. No step is run; on a GPU each kind of its operators is, by itself."""
    def keep(graph, _, *, num_fwd_outputs, **_other):
        found.append(Joint(graph, num_fwd_outputs))
        raise Captured

    from torch._dynamo.backends.debugging import boxed_nop
    found = []
    args, kwargs = arguments_of(inputs)
    with contextlib.suppress(Captured), explained(), torch.enable_grad():
        compiled(model, backend_of(keep, boxed_nop))(*args, **kwargs)
    if not found:
        raise arenaut.RefusedError("no result of the step wants a gradient: there is no backward pass", records.REFUSED)
    return found[0]


def joint(model: torch.nn.Module, inputs: Any, path: Path | None = None) -> arenaut.Model:
    """The training step of a model, forward and backward pass in one, as a model to plan and explain. No step is
    run; on a GPU each kind of its operators is, by itself. Parameters, buffers and inputs take no bytes; the numbers of its ops are those in what profile writes.

    Parameters
    ----------
    model, inputs
        As of fit.
    path : Path, optional
        Of a file to write, for the command: "step.program.json".
    """
    text = capture(model, inputs).text()
    if path is not None:
        write_file(path, text.encode())
    return arenaut.Model.parse(text.encode(), "step.program.json")
