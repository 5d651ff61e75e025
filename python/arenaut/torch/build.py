"""From an exported program to steps."""

import operator

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from arenaut.torch.fold import fold_batch_norms
from arenaut.torch.operators import (BOOKKEEPING, IN_PLACE, is_view, out_names, out_variant,
                                     quick)
from arenaut.torch.rewrites import REWRITES
from arenaut.torch.steps import Program, Ref, walk

CONSTANT_KINDS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)


def depends_on_data(value):
    """Whether a shape or number can be known only when the program has run."""
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
    parts = [p for p in pytree.tree_leaves(value)
             if isinstance(p, (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool))]
    return any(free_unbacked_symbols(p) for p in parts)


class Builder:
    """Walks a graph once and adds steps to a program."""

    def __init__(self, exported, options):
        self.exported, self.program, self.options = exported, Program(), options
        self.norms = fold_batch_norms(exported) if options.fold_batch_norms else {}
        self.found = {}      # node -> Ref, plain value, or a list of them
        self.folded = set()  # values of constants that were computed here
        self.shared = {}     # (value, function) -> the constant made of it
        self.user_inputs = []

    def build(self):
        kinds = {spec.arg.name: spec for spec in self.exported.graph_signature.input_specs}
        for node in self.exported.graph.nodes:
            if node.op == "placeholder":
                self.found[node] = self.placeholder(node, kinds[node.name])
            elif node.op == "call_function":
                self.found[node] = self.call(node)
            elif node.op == "output":
                self.output(node)
            else:
                raise ValueError(f"node {node.name} is a '{node.op}': export the program with "
                                 "torch.export, and without control flow")
        self.drop_unused_constants()
        return self.program

    def placeholder(self, node, spec):
        if spec.kind in CONSTANT_KINDS:
            return self.program.constant(self.tensor_named(spec))
        if spec.kind is not InputKind.USER_INPUT:
            raise ValueError(f"input {node.name} is a {spec.kind.name}, which is not supported")
        ref = Ref(self.program.new_value())
        self.program.inputs.append(ref.value)
        self.program.input_metas.append(node.meta.get("val"))
        self.user_inputs.append(node)
        return ref

    def tensor_named(self, spec):
        """Borrowed from the module, so that what it mutates is mutated there."""
        for shelf in (self.exported.state_dict, self.exported.constants):
            if spec.target in shelf:
                return shelf[spec.target].detach()
        raise ValueError(f"the program holds no tensor '{spec.target}'")

    # --- what rewrites ask for ---

    def meta(self, node):
        return node.meta["val"]

    def may_be_in_place(self, op):
        return str(op) in IN_PLACE

    def constant_tensor(self, thing):
        return self.program.constants.get(thing.value) if isinstance(thing, Ref) else None

    def constant_of(self, ref, function):
        """What `function` makes of a constant, once; None of what is no constant."""
        tensor = self.constant_tensor(ref)
        if tensor is None:
            return None
        key = ref.value, function
        if key not in self.shared:
            self.shared[key] = self.program.constant(function(tensor))
        return self.shared[key]

    # --- calls ---

    def call(self, node):
        replaced = self.norms.get(node)
        if replaced is not None and not callable(replaced):
            return [self.found[replaced], None, None]  # a norm that its convolution has taken in
        args, kwargs = self.arguments(node.args), self.arguments(node.kwargs)
        if replaced is not None:
            args = replaced(self.program, args)
        if node.target is operator.getitem:
            return self.item(args)
        if not isinstance(node.target, torch._ops.OpOverload):
            return self.program.add("view", node.name, node.target, args, kwargs)
        if str(node.target) in BOOKKEEPING:
            return None
        folded = self.fold(node, args, kwargs)
        return folded if folded is not None else self.operator(node, args, kwargs)

    def arguments(self, thing):
        if isinstance(thing, torch.fx.Node):
            return self.found[thing]
        if isinstance(thing, (list, tuple)):
            return type(thing)(self.arguments(part) for part in thing)
        if isinstance(thing, dict):
            return {key: self.arguments(part) for key, part in thing.items()}
        return thing

    def item(self, args):
        holder, index = args
        if isinstance(holder, list):
            return holder[index]
        return self.program.add("view", "getitem", operator.getitem, args)

    def fold(self, node, args, kwargs):
        """The result, now, of an operator on nothing but constants."""
        if not self.options.fold_constants or torch.Tag.nondeterministic_seeded in node.target.tags:
            return None
        refs = []
        walk((args, kwargs), lambda ref: refs.append(ref.value))
        if not refs or any(value not in self.program.constants for value in refs):
            return None
        if node.target._schema.is_mutable or self.is_mutated(refs):
            return None
        args, kwargs = walk((tuple(args), kwargs), lambda ref: self.program.constants[ref.value])
        with torch.no_grad():
            made = node.target(*args, **kwargs)
        if not isinstance(made, torch.Tensor):
            return None
        ref = self.program.constant(made)
        self.folded.add(ref.value)
        return ref

    def drop_unused_constants(self):
        """What was only needed to fold something else, and norms that were folded."""
        program, used, folded = self.program, set(), {}
        for step in program.steps:
            used.update(step.reads())
        walk([program.outputs, [ref for _, ref in program.mutated]],
             lambda ref: used.add(ref.value))
        for value in self.folded & used:
            storage = program.constants[value].untyped_storage()
            folded[storage.data_ptr()] = storage.nbytes()
        given = {t.data_ptr() for t in (*self.exported.state_dict.values(),
                                        *self.exported.constants.values())
                 if isinstance(t, torch.Tensor)}
        program.folded_bytes = sum(n for at, n in folded.items() if at not in given)
        program.constants = {v: t for v, t in program.constants.items() if v in used}

    def is_mutated(self, values):
        """Whether a constant is one only until the program writes it back."""
        written = {self.exported.state_dict[name].data_ptr()
                   for name in self.exported.graph_signature.buffers_to_mutate.values()}
        return any(self.program.constants[v].data_ptr() in written for v in values)

    def operator(self, node, args, kwargs):
        op, name = node.target, str(node.target)
        unknown = depends_on_data((node.meta.get("val"), [n.meta.get("val")
                                                          for n in node.all_input_nodes]))
        if is_view(op) or name.startswith("aten.sym_"):
            return self.program.add("view", name, quick_view(op), args, kwargs)
        if not unknown and op in REWRITES:
            result = REWRITES[op](self, node, args, kwargs)
            if result is not None:
                return result
        variant = None if unknown or op._schema.is_mutable else out_variant(op)
        if variant is None or not returns_tensors(op):
            return self.program.add("make", name, quick(op), args, kwargs)
        outs = tuple(out_names(variant))
        return self.program.add("out", str(variant), quick(variant), args, kwargs, outs,
                                self.may_be_in_place(variant), len(outs), plain=op)

    def output(self, node):
        specs = self.exported.graph_signature.output_specs
        names = {n.name: k for k, n in enumerate(self.user_inputs)}
        for spec, part in zip(specs, node.args[0]):
            ref = self.found[part] if isinstance(part, torch.fx.Node) else part
            if spec.kind is OutputKind.USER_OUTPUT:
                self.program.outputs.append(ref)
            elif spec.kind is OutputKind.BUFFER_MUTATION:
                self.program.mutated.append((self.exported.state_dict[spec.target].detach(), ref))
            elif spec.kind is OutputKind.USER_INPUT_MUTATION:
                self.program.mutated.append((names[spec.target], ref))
            else:
                raise ValueError(f"output {spec.arg} is a {spec.kind.name}: not supported")
        self.program.out_spec = flat_spec(self.exported.call_spec.out_spec)


def returns_tensors(op):
    return all(str(r.type) == "Tensor" for r in op._schema.returns)


def quick_view(op):
    """Views are mostly methods of tensors."""
    name = op._schema.name.split("::")[1]
    known = {"view": torch.Tensor.view, "_unsafe_view": torch.Tensor.view,
             "permute": torch.Tensor.permute, "transpose": torch.Tensor.transpose,
             "expand": torch.Tensor.expand, "unsqueeze": torch.Tensor.unsqueeze,
             "select": torch.Tensor.select, "split": torch.Tensor.split}
    return known.get(name) or getattr(op, "_op", op)


def flat_spec(spec):
    """Refuses what is no tensor, and no list, tuple or dict of them."""
    for k, child in enumerate(spec.children_specs if not spec.is_leaf() else []):
        if not child.is_leaf():
            raise ValueError(f"output {k} is itself a {child.type.__name__}: only tensors may be "
                             "in the list, tuple or dict that a program returns")
    if not spec.is_leaf() and spec.type not in (list, tuple, dict):
        raise ValueError(f"the program returns a {spec.type.__name__}: only a tensor, and a list, "
                         "tuple or dict of tensors, can be returned")
    return spec
