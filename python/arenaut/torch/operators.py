"""What is known of ATen operators: how they take memory, and which may work in place."""

import torch

aten = torch.ops.aten

#: Kernels that read each element of an operand before they write that element of the result,
#: and nothing else of it later; so the result may be written over an operand of the same
#: shape, strides and type. Each is run in place against the functional operator by the tests.
#: Matrix products are not among them: they are silently wrong.
IN_PLACE = {
    "aten.add.out", "aten.sub.out", "aten.mul.out", "aten.div.out", "aten.maximum.out",
    "aten.minimum.out", "aten.pow.Tensor_Scalar_out", "aten.neg.out", "aten.abs.out",
    "aten.exp.out", "aten.log.out", "aten.sqrt.out", "aten.rsqrt.out", "aten.reciprocal.out",
    "aten.erf.out", "aten.sin.out", "aten.cos.out", "aten.tanh.out", "aten.sigmoid.out",
    "aten.gelu.out", "aten.silu.out", "aten.mish.out", "aten.hardswish.out",
    "aten.hardsigmoid.out", "aten.hardtanh.out", "aten.leaky_relu.out", "aten.elu.out",
    "aten.softplus.out", "aten.clamp.out", "aten.clamp_min.out", "aten.clamp_max.out",
    "aten._softmax.out", "aten.logical_not.out",
}

#: Functional by schema, but what they return shares its storage with what they are given.
ALIASING = {aten._unsafe_view.default, aten.alias.default, aten.detach.default,
            aten.lift_fresh.default, aten.lift_fresh_copy.default}

#: Checks without a result, which export has already made of the shapes.
BOOKKEEPING = {"aten._assert_tensor_metadata.default", "aten.sym_constrain_range_for_size.default",
               "aten.sym_constrain_range.default"}


def is_view(op):
    """Whether its results lie in its arguments, by its schema or by its nature."""
    if op in ALIASING:
        return True
    schema = op._schema
    shared = [r.alias_info for r in schema.returns if r.alias_info is not None]
    return bool(shared) and not any(a.is_write for a in shared) and not schema.is_mutable


def same_argument(a, b):
    return a.name == b.name and str(a.type) == str(b.type)


def is_true_out(op):
    """Not one that was generated: those call the functional operator and copy its result."""
    return torch.Tag.generated not in op.tags


def out_variant(op):
    """The overload that does the same into memory it is given; None where there is no true one."""
    wanted = op._schema.arguments
    packet = getattr(aten, op._schema.name.split("::")[1], None)
    for name in packet.overloads() if packet else ():
        other = getattr(packet, name)
        schema = other._schema
        outs = [a for a in schema.arguments if a.is_out]
        given = [a for a in schema.arguments if not a.is_out]
        if (len(outs) == len(op._schema.returns) and outs and len(given) == len(wanted)
                and all(map(same_argument, given, wanted)) and is_true_out(other)):
            return other
    return None


def out_names(op):
    return [a.name for a in op._schema.arguments if a.is_out]


#: Where Python has the operator as a function of its own: one call less.
FUNCTIONS = (torch._C._VariableFunctions, torch._C._nn)


def quick(op):
    """The quickest way to call the operator; the arguments stay the same."""
    name = op._schema.name.split("::")[1]
    if op._schema.name.startswith("aten::"):
        for place in FUNCTIONS:
            if hasattr(place, name):
                return getattr(place, name)
    return getattr(op, "_op", op)
