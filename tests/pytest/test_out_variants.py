"""Operators without an out variant, by the stock wheel: its kernels are none of them, and its exporter refuses those that
our table of aten's operators names (docs/executorch.md, "What stays")."""

import re

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
pytest.importorskip("executorch", reason="the stock wheels are not installed: make venv")
from executorch.exir import EdgeCompileConfig, to_edge  # noqa: E402
from executorch.exir.dialects._ops import ops as exir_ops  # noqa: E402
from executorch.exir.tracer import _default_decomposition_table  # noqa: E402
from executorch.extension.pybindings.portable_lib import _get_operator_names  # noqa: E402

aten = torch.ops.aten
IMAGE, CHANNEL = torch.ones(2, 4, 8, 8), torch.ones(4)
#: Calls of the seven: queries stand for keys and values as well.
CALLS = {
    "aten::bernoulli.p": lambda x, c: aten.bernoulli.p(x, 0.5),
    "aten::_reshape_copy": lambda x, c: aten._reshape_copy(x, [8, 32, 2]),
    "aten::_native_batch_norm_legit_functional": lambda x, c: aten._native_batch_norm_legit_functional(x, c, c, c, c, True, 0.1, 1e-5)[0],
    "aten::_scaled_dot_product_cudnn_attention": lambda x, c: aten._scaled_dot_product_cudnn_attention(x, x, x, None, False)[0],
    "aten::_scaled_dot_product_efficient_attention": lambda x, c: aten._scaled_dot_product_efficient_attention(x, x, x, None, False)[0],
    "aten::_scaled_dot_product_flash_attention": lambda x, c: aten._scaled_dot_product_flash_attention(x, x, x)[0],
    "aten::_scaled_dot_product_fused_attention_overrideable":
        lambda x, c: aten._scaled_dot_product_fused_attention_overrideable(x, x, x, None)[0],
}


class Calling(torch.nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, x, c):
        return self.call(x, c)


@pytest.mark.parametrize("name", CALLS)
def test_the_exporter_refuses_an_operator_without_one(name):
    exported = torch.export.export(Calling(CALLS[name]), (IMAGE, CHANNEL))
    called = [node.target for node in exported.graph.nodes if node.op == "call_function"]
    assert called[0] == overload(name)
    edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    with pytest.raises(RuntimeError, match=f"Missing out variants: {{'{name.partition('.')[0]}'}}"):
        edge.to_executorch()


def overload(name):
    operator, _, which = name.removeprefix("aten::").partition(".")
    return getattr(getattr(aten, operator), which or "default")


def has_out_variant(operator):
    packet = getattr(exir_ops.edge.aten, operator._schema.name.removeprefix("aten::"))
    try:
        return bool(getattr(packet, operator._overloadname).to_out_variant())
    except RuntimeError:
        return False


def is_view_or_update(operator):
    return any(result.alias_info for result in operator._schema.returns)


def makes_no_values(operator):
    """Checks, one of which returns the order that it stands in as a value, and queries."""
    return "_assert_" in operator.__name__ or not any("Tensor" in str(result.type) for result in operator._schema.returns)


def test_those_of_the_table_without_one_are_the_seven():
    names = re.findall(r'^ATEN\("(aten::[\w.]+)"', (ROOT / "src/ops/ops.def").read_text(), re.M)
    assert len(names) > 400
    taken_apart = set(_default_decomposition_table())
    without = {name for name in names for operator in [overload(name)]
               if not (is_view_or_update(operator) or makes_no_values(operator) or operator._can_decompose()
                       or operator in taken_apart or has_out_variant(operator))}
    assert without == set(CALLS)


def test_kernels_of_the_wheel_write_into_memory_that_they_are_given():
    """But for updates, which are given it as an operand, and numbers, which have none."""
    names = [name for name in _get_operator_names() if not name.startswith("executorch_prim::")]
    assert len(names) > 200
    for name in names:
        operator, _, which = name.partition(".")
        [schema] = [each for each in torch._C._jit_get_schemas_for_operator(operator) if each.overload_name == which]
        written = [argument for argument in schema.arguments if argument.alias_info and argument.alias_info.is_write]
        assert written or not any("Tensor" in str(result.type) for result in schema.returns), name
