"""Inductor with its pools planned here. The networks are small, since each kernel is compiled by the
C++ compiler; run by tests/pytest/test_hosts.py in build/venv."""

import json
import warnings
from types import SimpleNamespace

import pytest
import sympy
import torch
import torch._inductor.config
from torch import nn
from torch._inductor.codegen import memory_planning as theirs
from torch._inductor.graph import GraphLowering
from torch._inductor.utils import align, fresh_cache
from torch._inductor.virtualized import V
from torch.nn import functional
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

import arenaut
import arenaut.inductor as plugin


@pytest.fixture(scope="module", autouse=True)
def cache():
    """Code that nobody else's cache holds; kernels that are alike are compiled once."""
    with fresh_cache():
        yield


@pytest.fixture(autouse=True)
def alone():
    """Every graph is planned anew, and inductor's own planner is back afterwards."""
    tag = torch.compiler.config.cache_key_tag
    with torch.no_grad(), torch.compiler.config.patch(force_disable_caches=True), \
            torch._inductor.config.patch(memory_planning=True):
        torch._dynamo.reset()
        yield
    plugin.uninstall()
    assert theirs.MemoryPlanner is plugin.STOCK and torch.compiler.config.cache_key_tag == tag


class Branches(nn.Module):
    """Results of elementwise kernels, which lie in pools, between matrix products, which do not."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(40, 40, generator=torch.Generator().manual_seed(1)) / 40)

    def forward(self, x):
        a = functional.pad(x.relu(), (0, 0, 0, 24))
        b = functional.pad((a @ self.weight)[:24].relu(), (0, 0, 0, 8))
        c = functional.pad((b @ self.weight)[:8].relu(), (0, 0, 0, 24))
        return ((c + b) @ self.weight).sum(0) + (a @ self.weight).amax(0)


def pool_of(sizes, lives):
    """A pool as inductor plans it, of blocks that stand for nothing. Sizes are expressions."""
    pools, blocks = theirs.AllocationPools(), []
    for number, (size, life) in enumerate(zip(sizes, lives)):
        node = SimpleNamespace(get_layout=lambda: SimpleNamespace(size=()), get_name=lambda k=number: f"buf{k}",
                               get_device=lambda: torch.device("cpu"))
        size = sympy.sympify(size)
        hint = int(size.subs(dict.fromkeys(size.free_symbols, 8)))
        blocks.append(theirs.Allocation(node, theirs.LiveRange(*life), hint, size))
    for block in sorted(blocks, key=lambda one: (-one.size_hint, -len(one.live_range))):
        pools.allocate(block)
    pools.finalize()
    [pool] = pools.device_to_pools[torch.device("cpu")]
    return pool, blocks


def planned(pool, blocks, place=True, **ranges):
    """What the plug-in makes of a pool; ranges of sizes that vary."""
    plugin.install(place=place)
    known = {sympy.Symbol(name, integer=True): ValueRanges(2, high) for name, high in ranges.items()}
    graph = SimpleNamespace(sizevars=SimpleNamespace(shape_env=SimpleNamespace(var_to_range=known)))
    with V.set_graph_handler(graph):
        return theirs.MemoryPlanner(None).planned(pool, blocks)


#: No layout of halves within halves is minimal here.
SIZES = [640, 128, 512, 320, 64, 64]
LIVES = [(1, 5), (6, 9), (2, 3), (2, 6), (6, 8), (5, 9)]


def test_a_pool_is_minimal_where_inductors_is_not():
    pool, blocks = pool_of(SIZES, LIVES)
    before = planned(pool, blocks, place=False)
    assert before.arena == before.stock > before.bound
    after = planned(pool, blocks)
    assert after.arena == after.bound == pool.root.get_symbolic_size() < after.stock == before.stock
    assert {block.offset % plugin.ALIGN for block in blocks} == {0}


def test_sizes_that_vary_are_planned_for_the_largest():
    s = sympy.Symbol("s", integer=True)
    pool, blocks = pool_of([size * s for size in SIZES], LIVES)
    after = planned(pool, blocks, s=16)
    assert after.symbolic and after.arena == after.bound < after.stock
    assert pool.root.get_symbolic_size() == after.arena


def test_sizes_that_inductor_rounds_up_are_bounded():
    """As where a buffer of an odd size lies in front of another: its end is `align(size)`, which is rounded here too."""
    s = sympy.Symbol("s", integer=True)
    pool, blocks = pool_of([100 * s, 36 * s, 12 * s], [(1, 5), (2, 5), (3, 5)])
    assert any(sympy.sympify(block.offset).has(align) for block in blocks)
    after = planned(pool, blocks, s=7)
    assert after.symbolic and after.stock == 704 + 256 + 84
    assert after.arena == after.bound <= after.stock


def test_sizes_that_are_made_in_other_ways_are_left_to_inductor():
    other = sympy.Function("other", integer=True)
    s = sympy.Symbol("s", integer=True)
    with V.set_graph_handler(SimpleNamespace(sizevars=SimpleNamespace(shape_env=SimpleNamespace(
            var_to_range={s: ValueRanges(2, 8)})))):
        assert plugin.upper(other(s) * 8) is None
        assert plugin.upper(align(s)) == 64


def test_sizes_without_an_end_are_left_to_inductor():
    s = sympy.Symbol("s", integer=True)
    pool, blocks = pool_of([size * s for size in SIZES], LIVES)
    before = [block.offset for block in blocks], pool.root
    assert planned(pool, blocks, s=int_oo) is None
    assert ([block.offset for block in blocks], pool.root) == before


@pytest.mark.parametrize("place", [False, True])
def test_a_wrong_pool_of_inductor_is_never_used(place):
    pool, blocks = pool_of(SIZES, LIVES)
    for block in blocks:
        block.offset = sympy.Integer(0)
    with pytest.raises(arenaut.RejectedError, match="are both alive at step"):
        planned(pool, blocks, place)


def compiled(module, *inputs):
    torch._dynamo.reset()
    return torch.compile(module)(*inputs)


def test_pools_are_minimal_and_outputs_the_same_to_the_bit():
    """Through the cache of compiled graphs, which must not take one's code for the other's."""
    x, stock, seen = torch.rand(40, 40), [], []
    with torch.compiler.config.patch(force_disable_caches=False):
        assert plugin.install(place=False, report=stock.extend)
        expected = compiled(Branches(), x)
        assert plugin.install(report=seen.extend)
        assert torch.equal(compiled(Branches(), x), expected)
    assert stock and all(pool.arena == pool.stock for pool in stock)
    assert len(seen) == len(stock)
    assert all(pool.arena == pool.bound <= pool.stock for pool in seen if pool.buffers > 1)


class Rows(nn.Module):
    """Any number of rows; what is kept of each lies in pools, between matrix products."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(24, 24, generator=torch.Generator().manual_seed(1)) / 24)

    def forward(self, x):
        a = x.relu() + 1
        b = (a @ self.weight).sin()
        c = ((b @ self.weight).cos() * b).relu()
        return (c @ self.weight) + a


@pytest.mark.parametrize("bounds, pools", [({"min": 2, "max": 64}, True), ({}, False)], ids=["to 64", "no end"])
def test_rows_that_vary_in_number(bounds, pools):
    """Compiled once, for all numbers of rows: the pool is that of the most, or inductor's own."""
    seen, module = [], Rows()
    plugin.install(report=seen.extend)
    torch._dynamo.reset()
    run = torch.compile(module)
    for rows in (17, 3, 64):
        x = torch.rand(rows, 24)
        torch._dynamo.mark_dynamic(x, 0, **bounds)
        assert torch.allclose(run(x), module(x), rtol=1e-5, atol=1e-6)
    assert all(pool.symbolic for pool in seen) and bool(seen) == pools
    if pools:
        assert all(pool.bound == pool.arena <= pool.stock for pool in seen)
        assert max(pool.arena for pool in seen) >= 64 * 24 * 4


def test_exported_libraries_take_their_pools_from_it(tmp_path):
    x, seen = torch.rand(40, 40), []
    plugin.install(report=seen.extend)
    path = torch._inductor.aoti_compile_and_package(
        torch.export.export(Branches(), (x,)), package_path=str(tmp_path / "branches.pt2"),
        inductor_configs={"memory_planning": True, "aot_inductor.precompile_headers": False,
                          "aot_inductor.compile_wrapper_opt_level": "O0"})
    assert seen
    loaded = torch._inductor.aoti_load_package(path)
    assert torch.allclose(loaded(x), Branches()(x))


class Stopped(Exception):
    pass


def debug_graph(monkeypatch):
    """What reorder_for_peak_memory_debug writes, and nothing is compiled after that."""
    texts = []

    def trace(kind, metadata_fn=dict, *, payload_fn=lambda: None, **_):
        metadata = metadata_fn() if callable(metadata_fn) else metadata_fn
        if kind == "artifact" and metadata["name"].endswith("_fused"):
            texts.append(payload_fn())

    def stop(self):
        self.codegen()
        raise Stopped

    monkeypatch.setattr(torch._logging, "trace_structured", trace)
    monkeypatch.setattr(GraphLowering, "compile_to_module", stop)
    with torch._inductor.config.patch(reorder_for_peak_memory_debug=True), \
            pytest.raises(Exception, match="Stopped"):
        compiled(Branches(), torch.rand(40, 40))
    return texts[0]


def test_the_graph_of_the_reorder_debug_is_read(monkeypatch, tmp_path):
    text = debug_graph(monkeypatch)
    model = plugin.program_of(text)
    buffers = json.loads(text)["buffers"]
    assert {tensor["name"] for tensor in model.program["tensors"]} == {one["name"] for one in buffers}
    plan = model.plan()
    largest = max(one["size_alloc"] for one in buffers)
    assert plan.status == "optimal" and largest < plan.arena < sum(one["size_alloc"] for one in buffers)
    written = tmp_path / "graph.program.json"
    written.write_text(json.dumps(model.program))
    assert arenaut.open(written).plan(reorder=True).arena == model.plan(reorder=True).arena <= plan.arena


@pytest.mark.parametrize("text", ["{", "[]", '{"nodes": []}', '{"nodes": [{}], "buffers": []}',
                                  '{"nodes": [], "buffers": [{"name": "a"}]}'])
def test_other_texts_are_no_such_graph(text):
    with pytest.raises(arenaut.InputError, match="not a graph of reorder_for_peak_memory_debug"):
        plugin.program_of(text)


def test_another_planner_is_left_alone_with_a_warning(monkeypatch):
    monkeypatch.setattr(plugin, "KNOWN", {"0": "2.0.0"})
    with pytest.warns(RuntimeWarning, match=r"PyTorch 2\.\S+ as installed is not that of 2\.0\.0"):
        assert not plugin.install()
    assert theirs.MemoryPlanner is plugin.STOCK
    monkeypatch.undo()
    monkeypatch.setattr(theirs, "MemoryPlanner", type("Other", (plugin.STOCK,), {}))
    with pytest.warns(RuntimeWarning, match="somebody else has replaced"):
        assert not plugin.install(place=False)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plugin.install()
