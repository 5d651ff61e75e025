"""Our memory planning inside ExecuTorch's export, beside ExecuTorch's own: never a larger arena, the
same bytes out of the stock runtime, and each trap of its interface."""

import copy
import functools
import logging
import statistics
import sys
import time

import pytest
from conftest import ROOT
from drawn import NIGHT, some

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import make_pte  # noqa: E402
import pte_runtime  # noqa: E402
from executorch.exir import (EdgeCompileConfig, ExecutorchBackendConfig, to_edge,  # noqa: E402
                             to_edge_transform_and_lower)
from executorch.exir.banked_memory_planning import Bank, TargetMemoryMap  # noqa: E402
from executorch.exir.memory_planning import (MemoryPlanningAlgorithmSuite, greedy,  # noqa: E402
                                             naive)
from executorch.exir.passes import MemoryPlanningPass as TheirPass  # noqa: E402
from executorch.exir.schema import DeviceType  # noqa: E402
from executorch.exir.tensor import TensorSpec  # noqa: E402
from torch import nn  # noqa: E402
from torch._higher_order_ops.map import map as map_over  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402


class Dense(nn.Module):
    """Layers that read all layers before them: many values alive at once, of many sizes."""

    def __init__(self, layers=12, grow=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(4 + k * grow, grow, 3, padding=1) for k in range(layers))

    def forward(self, x):
        seen = [x]
        for layer in self.layers:
            seen.append(torch.relu(layer(torch.cat(seen, 1))))
        return torch.cat(seen, 1).mean([2, 3])


class Down(nn.Module):
    """A small U-Net: what is put aside early is read late."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(4 * 2**k, 8 * 2**k, 3, 2, 1) for k in range(3))
        self.up = nn.ModuleList(nn.Conv2d(12 * 2**k, 4 * 2**k, 1) for k in range(3))

    def forward(self, x):
        kept = [x]
        for layer in self.down:
            kept.append(torch.relu(layer(kept[-1])))
        y = kept.pop()
        for k in (2, 1, 0):
            y = nn.functional.interpolate(y, scale_factor=2.0)
            y = torch.relu(self.up[k](torch.cat([y, kept.pop()], 1)))
        return y


def dense():
    return make_pte.Recipe({"forward": (make_pte.with_weights(Dense()),
                                        (make_pte.values((1, 4, 12, 12)),))})


def large():
    return make_pte.Recipe({"forward": (make_pte.with_weights(Dense(30, 2)),
                                        (make_pte.values((1, 4, 6, 6)),))})


def down():
    return make_pte.Recipe({"forward": (make_pte.with_weights(Down()),
                                        (make_pte.values((1, 4, 16, 16)),))})


def two_networks():
    layers = make_pte.with_weights(make_pte.Layers())
    return make_pte.Recipe({"wide": (make_pte.with_weights(Dense(6)), (make_pte.values((1, 4, 8, 8)),)),
                            "narrow": (layers, (make_pte.values((2, 16)),))})


class Nested(nn.Module):
    """Conditions in a branch, whose results leave both, beside another one."""

    def forward(self, choose, other, x):
        def inside(t):
            first = torch.cond(other, lambda u: u + 1, lambda u: u - 1, (t,))
            second = torch.cond(other, lambda u: u * 5, lambda u: u - 7, (t,))
            return first * second + first
        first = torch.cond(choose, inside, lambda t: t * 4, (x,))
        return first + torch.cond(other, lambda t: t * 2, lambda t: t * 3, (x,))


def nested():
    flags = torch.tensor(True), torch.tensor(False)
    return make_pte.Recipe({"forward": (Nested(), (*flags, make_pte.values((8, 8))))})


class Viewed(nn.Module):
    """A condition's result, read by another shape when a second condition has run."""

    def forward(self, choose, other, x):
        first = torch.cond(choose, lambda t: t + 1, lambda t: t - 1, (x,)).view(-1)
        second = torch.cond(other, lambda t: t * 2, lambda t: t * 3, (x,))
        return first + second.reshape(-1)


def viewed():
    return make_pte.Recipe({"forward": (Viewed(), nested().methods["forward"][1])},
                           config={"remove_view_copy": False})


class Scans(nn.Module):
    """Two loops that carry a value, and collect others, which are all read behind both."""

    def forward(self, start, rows):
        def step(carry, row):
            return carry * 0.5 + row, carry * 2
        first, gathered = scan(step, start, rows)
        last, more = scan(lambda carry, row: (carry - row, carry * row), first, gathered)
        return first + last, gathered * more


def scans():
    return make_pte.Recipe({"forward": (Scans(), (make_pte.values((6,)), make_pte.values((5, 6))))})


class LoopsAndConditions(nn.Module):
    """Loops in branches, and conditions in the body of a loop."""

    def forward(self, choose, rows, plus):
        def loop(r, p):
            return map_over(lambda row, q: row * 2 + q, r * 0.5, p)
        first = torch.cond(choose, loop, lambda r, p: r - p, (rows, plus))
        second = torch.cond(choose, lambda r, p: r * p, loop, (rows, plus))

        def body(row, q, c):
            up = torch.cond(c, lambda t: t + 1, lambda t: t - 1, (row,))
            return up * torch.cond(c, lambda t: t * 2, lambda t: t * 3, (row,)) + q
        return map_over(body, first + second * first, plus, choose) + rows


def loops_and_conditions():
    inputs = torch.tensor(True), make_pte.values((5, 6)), make_pte.values((6,))
    return make_pte.Recipe({"forward": (LoopsAndConditions(), inputs)})


class NoInputs(nn.Module):
    def forward(self):
        return torch.ones(4) * 2 + torch.arange(4), None


def no_inputs():
    return make_pte.Recipe({"forward": (NoInputs(), ())})


RECIPES = [*make_pte.MODELS, dense, down, two_networks, nested, viewed, scans, loops_and_conditions, no_inputs]
# With their pass both results of its conditions lie at the same bytes.
WRONG = {"two_conditions", "nested", "loops_and_conditions"}


@functools.cache
def recipe_of(make):
    """A recipe and its program before memory is planned, which takes most of the time."""
    recipe = make()
    torch.manual_seed(0)
    programs = {name: recipe.exported(name) for name in recipe.methods}
    if recipe.partition:
        edge = to_edge_transform_and_lower(programs, partitioner=[make_pte.XnnpackPartitioner()])
    else:
        edge = to_edge(programs, compile_config=make_pte.EDGE)
    return recipe, edge


def lowered(make, planning):
    """The program that ExecuTorch makes with this pass, and the seconds that the pass took."""
    recipe, edge = recipe_of(make)
    spent, run = [0.0], planning.run

    def timed(*arguments):
        began = time.process_time()
        done = run(*arguments)
        spent[0] += time.process_time() - began
        return done

    planning.run = timed
    config = {**recipe.config, "memory_planning_pass": planning}
    return copy.deepcopy(edge).to_executorch(ExecutorchBackendConfig(**config)), spent[0]


def with_algorithms(*algorithms, **options):
    return TheirPass(memory_planning_algo=MemoryPlanningAlgorithmSuite(list(algorithms)), **options)


@functools.cache
def theirs_of(make):
    """The program as ExecuTorch's own pass plans it."""
    return lowered(make, TheirPass())[0]


@functools.cache
def without_reuse(make):
    return lowered(make, with_algorithms(naive))[0]


def sizes(program):
    return [list(plan.non_const_buffer_sizes) for plan in program.executorch_program.execution_plan]


def total(program):
    return sum(map(sum, sizes(program)))


def options_of(recipe):
    given = recipe.config.get("memory_planning_pass")
    names = ("alloc_graph_input", "alloc_graph_output", "share_mutable_buffers")
    return {name: getattr(given, name) for name in names} if given else {}


def outputs(program, recipe):
    """Of two calls of every method in turn, so that state shows."""
    runtime = pte_runtime.Python(program.buffer)
    return [output for _ in range(2) for name, (_, inputs) in recipe.methods.items()
            for output in runtime.call(*inputs, method=name)]


@pytest.mark.parametrize("make", some(RECIPES), ids=lambda make: make.__name__)
def test_never_larger_and_the_same_bytes_out(ours, make):
    import arenaut
    recipe, _ = recipe_of(make)
    options = options_of(recipe)
    ours_made, _ = lowered(make, ours.MemoryPlanningPass(**options))
    arenaut.Model.parse(bytes(ours_made.buffer), f"{make.__name__}.pte").check()
    theirs, _ = lowered(make, TheirPass(**options))
    apart, _ = lowered(make, with_algorithms(naive, **options))
    print(f"{make.__name__}: ours {sizes(ours_made)}, greedy {sizes(theirs)}")
    if make.__name__ in WRONG:
        [(module, inputs)] = recipe.methods.values()
        assert torch.equal(outputs(ours_made, recipe)[0], module(*inputs))
        assert not torch.equal(outputs(theirs, recipe)[0], module(*inputs))
        return
    assert total(ours_made) <= min(total(theirs), total(apart))
    assert pte_runtime.same_bits(outputs(ours_made, recipe), outputs(theirs, recipe))


@pytest.mark.parametrize("make, planned", [(scans, 416), (loops_and_conditions, 640)],
                         ids=["scans", "loops_and_conditions"])
def test_what_loops_build_begins_with_them(ours, make, planned, tmp_path):
    """In the file nothing says so. The pass plans what the command does."""
    import arenaut
    recipe, _ = recipe_of(make)
    program, _ = lowered(make, ours.MemoryPlanningPass())
    arenaut.Model.parse(bytes(program.buffer), "loops.pte").check()
    alone, _ = lowered(make, with_algorithms(ours.plan))
    model = arenaut.Model.parse(bytes(alone.buffer), "loops.pte")
    assert total(program) == model.plan().arena == planned < total(alone)
    model.plan().save(tmp_path / "small.pte")
    arenaut.open(tmp_path / "small.pte").check()
    [(module, inputs)] = recipe.methods.values()
    for flag in True, False:
        given = [torch.tensor(flag) if one.dtype == torch.bool else one for one in inputs]
        expected = module(*given)
        expected = expected if isinstance(expected, tuple) else (expected,)
        runtime = pte_runtime.Python((tmp_path / "small.pte").read_bytes())
        assert all(pte_runtime.same_bits(runtime.call(*given), expected) for _ in range(2))


@pytest.mark.parametrize("make", [make_pte.two_conditions, nested, viewed], ids=lambda make: make.__name__)
def test_the_algorithm_alone_keeps_results_of_conditions(ours, make):
    recipe, _ = recipe_of(make)
    [(module, inputs)] = recipe.methods.values()
    program, _ = lowered(make, with_algorithms(ours.plan))
    assert torch.equal(outputs(program, recipe)[0], module(*inputs))


def test_views_of_results_of_conditions_are_refused(ours):
    """ExecuTorch leaves them at places that nobody writes, and says nothing."""
    import arenaut
    recipe, edge = recipe_of(viewed)
    without_copies = {"memory_planning_pass": ours.MemoryPlanningPass(), "remove_view_copy": True}
    with pytest.raises(arenaut.InputError, match="is a view of a result of .*remove_view_copy=False"):
        copy.deepcopy(edge).to_executorch(ExecutorchBackendConfig(**without_copies))


def test_some_are_smaller(ours):
    smaller = [make for make in (dense, make_pte.gradients, make_pte.dynamic_batch)
               if total(lowered(make, ours.MemoryPlanningPass())[0])
               < total(lowered(make, TheirPass())[0])]
    assert len(smaller) >= 2


def test_the_table_of_networks(ours, monkeypatch, capsys):
    """bench/executorch_networks.py, with a network of its own that is smaller than its others."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import executorch_networks as bench
    shared = bench.Chat(32, 2, 8, 50, 1)
    small = {name: (bench.Method(shared, bench.Chat.forward), (torch.arange(count), torch.arange(count)))
             for name, count in (("prefill", 4), ("decode", 1))}
    monkeypatch.setitem(bench.NETWORKS, "small", lambda: small)
    monkeypatch.setattr(bench, "SHARED", {"small"})
    monkeypatch.setattr(sys, "argv", ["executorch_networks.py", "small"])
    assert bench.main() == 0
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| small |")]
    assert row.endswith("| the same |")
    assert bench.Row("right", 10, 9, 9, 9, {}, True).fine
    assert not bench.Row("wrong", 10, 9, 10, 9, {}, True).fine and not bench.Row("wrong", 10, 9, 9, 9, {}, False).fine


@NIGHT
def test_the_export_costs_at_most_twice_as_much(ours):
    """All of to_executorch, with planning and replay. The two run in turns on a machine that may change its
    speed at any moment, until half of the turns agree."""
    shares = []
    for _ in range(9):
        spent = []
        for kind in (ours.MemoryPlanningPass, TheirPass):
            edge = copy.deepcopy(recipe_of(large)[1])
            began = time.process_time()
            edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=kind()))
            spent.append(time.process_time() - began)
        shares.append(spent[0] / spent[1])
        if len(shares) >= 3 and statistics.median(shares) <= 2:
            print(shares)
            return
    pytest.fail(f"with ours the export took {sorted(shares)} of the time with theirs")


def command_plans(arenaut, recipe, **flags):
    """What the library plans of the file that ExecuTorch's own pass leads to."""
    return arenaut.Model.parse(bytes(theirs_of(recipe).buffer), "theirs.pte").plan(**flags).planned


class EarlyExit(nn.Module):
    """A big branch and a small one."""

    def forward(self, choose, x):
        h = torch.relu(x @ x)
        y = torch.cond(choose, lambda h: torch.tanh(torch.sin(h) * torch.cos(h) + h), lambda h: h * 2, (h,))
        return torch.relu((y @ x + h) * 3) - y


class Skipped(nn.Module):
    """Layers that are skipped at run time, and a condition in a branch."""

    def forward(self, choose, x):
        for k in range(4):
            x = torch.cond(choose[k], lambda x: torch.relu(x * 2) + torch.sin(x), lambda x: x * 1.0, (x,)) @ x
        inner = (lambda x: torch.cond(choose[1], lambda x: x.sin() * x.cos(), lambda x: x + 1, (x,)) * 2)
        return torch.cond(choose[0], inner, lambda x: x.exp(), (x,)) + x


def early_exit():
    return make_pte.Recipe({"forward": (EarlyExit(), (torch.tensor(True), make_pte.values((32, 32))))})


def skipped():
    return make_pte.Recipe({"forward": (Skipped(), (torch.tensor([True] * 4), make_pte.values((32, 32)) / 8))})


@pytest.mark.parametrize("make, planned", [(early_exit, 20480), (skipped, 16400), (nested, 1040)],
                         ids=["early_exit", "skipped", "nested"])
def test_control_flow_is_planned_as_the_command_plans_it(ours, make, planned):
    import arenaut
    recipe, _ = recipe_of(make)
    program, _ = lowered(make, ours.MemoryPlanningPass())
    alone, _ = lowered(make, with_algorithms(ours.plan))
    print(total(alone), total(program))
    model = arenaut.Model.parse(bytes(program.buffer), f"{make.__name__}.pte")
    model.check()
    assert (total(program), model.plan().status) == (planned, "optimal") and total(program) < total(alone)
    assert pte_runtime.same_bits(outputs(program, recipe), outputs(alone, recipe))


class Residual(nn.Module):
    """Elementwise ops between convolutions, and values that are added behind them."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            h = torch.clamp(torch.relu(layer(x)) * 2, 0, 3)
            x = nn.functional.hardswish(h + x)
        return x


def residual():
    return make_pte.Recipe({"forward": (make_pte.with_weights(Residual()), (make_pte.values((1, 8, 12, 12)),))})


class Chained(nn.Module):
    """Elementwise ops that end the lives of their operands, and one that does not."""

    def forward(self, x, y):
        a = torch.sigmoid(torch.relu(x + y))
        b = a * a + y
        return torch.tanh(b * b.sum(1, keepdim=True) + b.transpose(0, 1)) * 2, b.to(torch.int32).to(torch.int64)


class Late(nn.Module):
    """Values that had better be computed behind those that need much."""

    def forward(self, x):
        wide = [(x * (k + 1)).repeat(1, 8) for k in range(3)]
        return torch.cat([one.sum(1, keepdim=True) for one in wide], 1)


class Flipped(nn.Module):
    def forward(self, x):
        return torch.flip(torch.flip(x * 2, (0,)), (1,)) * 3


def flipped():
    return make_pte.Recipe({"forward": (Flipped(), (make_pte.values((16, 16)),))})


def chained():
    return make_pte.Recipe({"forward": (Chained(), (make_pte.values((16, 16)), make_pte.values((16, 16), 1)))})


def late():
    return make_pte.Recipe({"forward": (Late(), (make_pte.values((16, 16)),))})


@pytest.mark.parametrize("options", [{"inplace": "safe"}, {"reorder": True}, {"inplace": "safe", "reorder": True}],
                         ids=lambda one: "+".join(one))
@pytest.mark.parametrize("make", some([
    residual, chained, late, make_pte.kv_decoder, make_pte.dynamic_batch, make_pte.branches, dense, make_pte.map_rows,
    early_exit, down]), ids=lambda make: make.__name__)
def test_in_place_and_in_another_order(ours, make, options):
    """As small as the command makes the file, and the bits of a program in which all values lie apart."""
    import arenaut
    recipe, _ = recipe_of(make)
    program, _ = lowered(make, ours.MemoryPlanningPass(**options))
    flags = dict.fromkeys(options, True)
    assert total(program) <= command_plans(arenaut, make, **flags)
    arenaut.Model.parse(bytes(program.buffer), f"{make.__name__}.pte").check(inplace="inplace" in options)
    assert pte_runtime.same_bits(outputs(program, recipe), outputs(without_reuse(make), recipe))


class Pools(nn.Module):
    """Images under windows: a maximum with its indices, a mean, convolutions of all channels and of each by itself."""

    def __init__(self, indices=False):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(3, 2, 1, return_indices=indices)
        self.each, self.groups = nn.Conv2d(8, 8, 3, 2, 1, groups=8), nn.Conv2d(8, 12, 3, padding=2, dilation=2, groups=4)

    def forward(self, x):
        x = self.pool(torch.relu(self.norm(self.first(x))))
        more = x[1] if isinstance(x, tuple) else torch.zeros(1, dtype=torch.int64)
        x = self.groups(self.each(x[0] if isinstance(x, tuple) else x))
        return nn.functional.avg_pool2d(x, 2, ceil_mode=True), more


def pools():
    return make_pte.Recipe({"forward": (make_pte.with_weights(Pools()), (make_pte.values((1, 3, 32, 32)),))})


def pools_and_indices():
    return make_pte.Recipe({"forward": (make_pte.with_weights(Pools(True)), (make_pte.values((2, 3, 20, 31)),))})


@pytest.mark.parametrize("options", [{"overlap": True}, {"overlap": True, "reorder": True}], ids=lambda one: "+".join(one))
@pytest.mark.parametrize("make", some([pools, pools_and_indices, residual, dense, down, early_exit, make_pte.kv_decoder]),
                         ids=lambda make: make.__name__)
def test_results_reach_into_operands(ours, make, options):
    """As small as the command makes the file, never larger than in place, and the bits of a program in which all values
    lie apart. The checker must be told, and then follows the loops of the kernels."""
    import arenaut
    recipe, _ = recipe_of(make)
    program, _ = lowered(make, ours.MemoryPlanningPass(**options))
    inplace, _ = lowered(make, ours.MemoryPlanningPass(**{**options, "overlap": False, "inplace": "safe"}))
    assert total(program) == command_plans(arenaut, make, **options)
    assert total(program) <= total(inplace)
    model = arenaut.Model.parse(bytes(program.buffer), f"{make.__name__}.pte")
    model.check(overlap=True)
    if make in (pools, pools_and_indices):
        assert total(program) < total(inplace)
        with pytest.raises(arenaut.RejectedError, match="which nothing allows"):
            model.check(inplace=True)
    assert pte_runtime.same_bits(outputs(program, recipe), outputs(without_reuse(make), recipe))


def test_savings_in_place_and_in_another_order(ours):
    def totals(make, **options):
        return [total(lowered(make, ours.MemoryPlanningPass(**more))[0]) for more in ({}, options)]
    assert totals(early_exit, inplace="safe") == [20480, 16384]
    assert totals(residual, inplace="safe") == [13840, 9232]
    assert totals(late, reorder=True) == [25600, 10304]
    assert totals(make_pte.kv_decoder, reorder=True) == [25104, 21008]


def test_operators_and_delegates_may_want_more_alignment(ours):
    """Of all that they are given or give: a plan of other places is wrong for them, and checked so."""
    import arenaut
    recipe = make_pte.xnnpack_mixed()
    plain, aligned = (lowered(make_pte.xnnpack_mixed, ours.MemoryPlanningPass(op_align=rule))[0]
                      for rule in (None, {"XnnpackBackend": 1024}))
    files = [arenaut.Model.parse(bytes(program.buffer), "mixed.pte") for program in (plain, aligned)]
    with pytest.raises(arenaut.RejectedError, match="not a multiple of 1024"):
        files[0].check(op_align={"XnnpackBackend": 1024})
    files[1].check(op_align={"XnnpackBackend": 1024})
    assert pte_runtime.same_bits(outputs(aligned, recipe), outputs(plain, recipe))


@pytest.mark.parametrize("name", ["nosuch", "aten::add", "aten.add.Tensor"])
def test_an_alignment_for_no_operator_is_refused(ours, name):
    import arenaut
    with pytest.raises(arenaut.InputError, match=rf"op_align: no method has an op '{name}'; allowed .*aten::mul.out"):
        lowered(flipped, ours.MemoryPlanningPass(op_align={"aten::mul.out": 64, name: 64}))


def test_an_order_that_the_file_cannot_hold_is_left_out(ours, monkeypatch):
    """Where the checker refuses the file in another order, the program keeps its own order."""
    import arenaut
    write = arenaut.ModelPlan._in_model

    def refuse(plan):
        if plan.order and plan.order.ops:
            raise arenaut.ArenautError("the rewritten program did not pass the checker", 0)
        return write(plan)

    monkeypatch.setattr(arenaut.ModelPlan, "_in_model", refuse)
    recipe, program = late(), lowered(late, ours.MemoryPlanningPass(reorder=True, inplace="safe"))[0]
    assert total(program) == 25600
    assert pte_runtime.same_bits(outputs(program, recipe), outputs(lowered(late, with_algorithms(naive))[0], recipe))


def test_kernels_of_ones_own_may_write_in_place(ours):
    """An operator with the number of an operand counts beside those that are known; what is neither raises."""
    import arenaut
    sizes = [total(lowered(flipped, ours.MemoryPlanningPass(inplace=one))[0])
             for one in (None, "safe", {"aten::flip.out": 0})]
    assert sizes == [2064, 2048, 1040]
    with pytest.raises(arenaut.InputError, match="inplace: 'all'; 'safe', or"):
        ours.MemoryPlanningPass(inplace="all")


def test_as_an_algorithm_among_others(ours):
    """A suite keeps results by the names of algorithms: two of one name would be one."""
    assert ours.plan.__name__ not in ("greedy", "naive", None)
    for order in (greedy, ours.plan), (ours.plan, greedy):
        program, _ = lowered(make_pte.gradients, with_algorithms(*order))
        assert total(program) == 1824


def spec(size, first, last, **more):
    made = TensorSpec(torch.float32, torch.Size([size // 4]))
    made.lifetime = [first, last]
    for name, value in more.items():
        setattr(made, name, value)
    return made


def graph(*sizes, results=(2, 3), calls=1):
    """A graph whose last node but one is a condition, with branches that need so many bytes."""
    root, made = torch.nn.Module(), torch.fx.Graph()
    for name in ("then", "otherwise"):
        branch = torch.fx.GraphModule({}, torch.fx.Graph())
        branch.meta["non_const_buffer_sizes"] = [0, *sizes]
        setattr(root, name, branch)
    branches = [made.get_attr(name) for name in ("then", "otherwise")]
    for _ in range(calls if sizes else 0):
        node = made.call_function(torch.ops.higher_order.cond, (None, *branches, ()))
        node.meta["spec"] = (spec(64, *results), 7)
    made.output(None)
    module = torch.fx.GraphModule(root, made)
    module.input_mem_buffer_sizes = [0, *sizes]
    return module


def test_lifetimes_are_closed_and_sizes_begin_at_one(ours):
    one, two, three = spec(64, 0, 1), spec(64, 1, 2), spec(64, 2, 3)
    made = ours.plan(16, [one, two, three], graph())
    places = {one: made.spec_dict[one], two: made.spec_dict[two], three: made.spec_dict[three]}
    assert made.bufsizes == [0, 128]
    assert places[one].mem_offset == places[three].mem_offset != places[two].mem_offset
    assert {place.mem_id for place in places.values()} == {1}


@pytest.mark.parametrize("make", [make_pte.branches, make_pte.two_conditions],
                         ids=lambda make: make.__name__)
def test_their_own_verifier_agrees(ours, make, caplog):
    """It looks at storage only where all is logged, or the algorithm is named greedy."""
    with caplog.at_level(logging.DEBUG):
        lowered(make, ours.MemoryPlanningPass())
    assert "reuses storage for" in caplog.text


def test_nothing_to_plan(ours):
    assert ours.plan(16, [], graph()).bufsizes == [0, 0]
    assert ours.plan(16, [spec(0, 0, 1)], graph()).bufsizes == [0, 0]
    assert ours.plan(16, [], graph(32, 64)).bufsizes == [0, 32, 64]


def test_the_region_of_a_condition_is_placed_like_a_value_with_padding_above(ours):
    meets, gone = spec(64, 0, 2), spec(64, 0, 1)
    assert ours.plan(16, [meets], graph(112), None, 64).bufsizes == [0, 112 + 64 + 64]
    assert ours.plan(16, [gone], graph(112), None, 64).bufsizes == [0, 112 + 64]
    later = spec(64, 4, 5)
    assert ours.plan(16, [later], graph(112)).bufsizes == [0, 112]
    assert ours.plan(16, [later], graph(112, results=(2, 5))).bufsizes == [0, 176]


def test_regions_that_cannot_be_told_apart_are_refused(ours):
    import arenaut
    with pytest.raises(arenaut.InputError, match="another node calls as well"):
        ours.plan(16, [], graph(32, calls=2))
    nobody = graph()
    nobody.input_mem_buffer_sizes = [0, 32]
    with pytest.raises(arenaut.InputError, match="32 bytes of arena 1 are for graphs that no node"):
        ours.plan(16, [], nobody)


def test_arenas_that_another_pass_has_chosen(ours):
    one, two, three = spec(64, 0, 1, mem_id=3), spec(64, 0, 1), spec(32, 0, 1, mem_id=3)
    made = ours.plan(16, [one, two, three], graph())
    assert made.bufsizes == [0, 64, 0, 96] and made.spec_dict[one].mem_id == 3


def test_storage_inside_other_storage(ours):
    base = spec(256, 0, 5)
    view = spec(64, 2, 3, storage_base=base, storage_base_offset=128)
    deeper = spec(32, 3, 4, storage_base=view, storage_base_offset=32)
    other = spec(64, 0, 5)
    made = ours.plan(16, [deeper, other, view, base], graph())
    at = {one: made.spec_dict[one].mem_offset for one in (base, view, deeper, other)}
    assert at[view] == at[base] + 128 and at[deeper] == at[view] + 32
    assert made.bufsizes == [0, 320]


@pytest.mark.parametrize("offset, size, text", [(224, 64, "inside"), (8, 64, "inside")])
def test_storage_that_does_not_fit_where_it_is_said_to_lie(ours, offset, size, text):
    import arenaut
    base = spec(256, 0, 5)
    view = spec(size, 2, 3, storage_base=base, storage_base_offset=offset)
    with pytest.raises(arenaut.ArenautError, match=text):
        ours.plan(16, [base, view], graph())
    with pytest.raises(arenaut.InputError, match="not planned with it"):
        ours.plan(16, [view], graph())


def test_two_values_in_one_storage_at_one_time_are_refused(ours):
    import arenaut
    base = spec(256, 0, 5)
    views = [spec(64, 1, 3, storage_base=base, storage_base_offset=at) for at in (0, 32)]
    greedy(16, [base, *views], graph(), None)  # says nothing
    with pytest.raises(arenaut.ArenautError):
        ours.plan(16, [base, *views], graph())


def test_banks_of_a_target(ours):
    import arenaut
    target = TargetMemoryMap([Bank("sram", 40_000, 2), Bank("psram", 1_000_000, 1)])
    recipe, _ = recipe_of(make_pte.branches)
    program, _ = lowered(make_pte.branches, ours.MemoryPlanningPass(target))
    [[none, psram, sram]] = sizes(program)
    assert none == 0 and 0 < sram <= 40_000 and psram + sram >= 90_112
    theirs, _ = lowered(make_pte.branches, TheirPass())
    assert pte_runtime.same_bits(outputs(program, recipe), outputs(theirs, recipe))
    small = TargetMemoryMap([Bank("sram", 40_000, 1)])
    with pytest.raises(arenaut.NoPlanError, match="sram"):
        lowered(make_pte.branches, ours.MemoryPlanningPass(small))


def test_each_device_has_arenas_of_its_own(ours):
    planning = ours.MemoryPlanningPass()
    planning.enable_non_cpu_memory_planning = True
    seen = []

    def some_on_a_device(alignment, specs, *others):
        seen.append([one.device for one in specs])
        return MemoryPlanningAlgorithmSuite([planning.algorithm])(alignment, specs, *others)

    planning.memory_planning_algo = some_on_a_device
    run = planning.run

    def run_with_devices(graph_module, signature=None):
        for node in list(graph_module.graph.nodes)[-4:-1]:
            if isinstance(node.meta.get("spec"), TensorSpec):
                node.meta["spec"].device = DeviceType.CUDA
        return run(graph_module, signature)

    planning.run = run_with_devices
    program, _ = lowered(make_pte.elementwise_chain, planning)
    assert [set(one) for one in seen] == [{DeviceType.CPU}, {DeviceType.CUDA}]
    [[none, host, device]] = sizes(program)
    assert none == 0 and host > 0 and device > 0


def places(program):
    """Arena, offset and bytes of all values that have a place, method by method."""
    found = []
    for method in program.executorch_program.execution_plan:
        for value in (one.val for one in method.values):
            at = getattr(value, "allocation_info", None)
            if at:
                found.append((at.memory_id, at.memory_offset_low, at.memory_offset_high))
    return found


def test_the_alignment_is_that_of_the_pass(ours):
    kinds = [functools.partial(kind, alignment=64) for kind in (ours.MemoryPlanningPass, TheirPass)]
    mine, theirs = (lowered(make_pte.branches, kind())[0] for kind in kinds)
    assert all(offset % 64 == high == 0 for _, offset, high in places(mine)) and total(mine) <= total(theirs)


@pytest.mark.parametrize("option", ["alloc_graph_input", "alloc_graph_output"])
def test_memory_of_the_caller_has_no_place(ours, option):
    kinds = ours.MemoryPlanningPass, TheirPass
    mine, theirs = (lowered(make_pte.lists, kind(**{option: False}))[0] for kind in kinds)
    everything = lowered(make_pte.lists, ours.MemoryPlanningPass())[0]
    assert len(places(mine)) == len(places(theirs)) < len(places(everything))
    assert total(mine) <= total(theirs)


def test_banks_have_alignments_and_other_arenas_are_left_alone(ours):
    aligned = TargetMemoryMap([Bank("sram", 1024, 1, alignment=128)])
    values, pinned = [spec(80, 0, 3), spec(48, 0, 3)], spec(64, 0, 3, mem_id=3)
    made = ours.planned([*values, pinned], 16, graph(), None, 0, aligned, 1000)
    at = [made.spec_dict[one] for one in (*values, pinned)]
    assert [(one.mem_id, one.mem_offset % 128) for one in at] == [(1, 0), (1, 0), (3, 0)]
    assert made.bufsizes[0] == made.bufsizes[2] == 0 and made.bufsizes[3] == 64


def test_banks_are_the_processors(ours):
    """Each device would be given all of them; ExecuTorch's own planner of banks refuses that as well."""
    import arenaut
    target = TargetMemoryMap([Bank("sram", 1024, 1)])
    with pytest.raises(arenaut.InputError, match="another device's"):
        ours.planned([spec(64, 0, 1, device=DeviceType.CUDA)], 16, graph(), None, 0, target, 1000)


def test_state_that_methods_share_needs_the_second_arena(ours):
    target = TargetMemoryMap([Bank("sram", 40_000, 2), Bank("psram", 1_000_000, 1)])
    with pytest.raises(ValueError, match="mutable"):
        lowered(make_pte.two_methods, ours.MemoryPlanningPass(target, share_mutable_buffers=True))


def in_place(planning):
    """A pass that has elementwise results written over their first operands, as ExecuTorch's passes say it."""
    run = planning.run

    def run_in_place(graph_module, signature=None):
        for node in graph_module.graph.nodes:
            if "out" in node.kwargs and len(node.args[0].users) == 1 and node.args[0].op != "placeholder":
                node.meta["_share_alloc_with_arg_idx"] = 0
        return run(graph_module, signature)

    planning.run = run_in_place
    return planning


def test_results_in_place_run_in_the_stock_runtime(ours):
    recipe, _ = recipe_of(make_pte.elementwise_chain)
    apart, _ = lowered(make_pte.elementwise_chain, ours.MemoryPlanningPass())
    mine, theirs = (lowered(make_pte.elementwise_chain, in_place(kind()))[0]
                    for kind in (ours.MemoryPlanningPass, TheirPass))
    assert total(mine) <= total(theirs) and total(mine) < total(apart)
    assert pte_runtime.same_bits(outputs(mine, recipe), outputs(apart, recipe))


def test_the_pass_that_works_in_place(ours):
    config = {"run_reinplace_pass": True}
    mine, theirs = (copy.deepcopy(recipe_of(make_pte.kv_decoder)[1]).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=kind(), **config))
        for kind in (ours.MemoryPlanningPass, TheirPass))
    assert total(mine) <= total(theirs) and total(mine) < total(lowered(make_pte.kv_decoder, TheirPass())[0])


def test_naive_leaves_out_what_a_delegate_may_read_past_the_end(ours):
    made = [algorithm(16, [spec(64, 0, 1)], graph(), None, 64).bufsizes for algorithm in (naive, greedy, ours.plan)]
    assert made == [[0, 64], [0, 128], [0, 128]]


def test_every_algorithm_has_as_many_arenas(ours):
    """Or a suite of them refuses to choose."""
    for values in [], [spec(64, 0, 1)], [spec(64, 0, 1, mem_id=3)], [spec(0, 0, 1, mem_id=2)]:
        for module in graph(), graph(32), graph(0, 32):
            made = [algorithm(16, values, copy.copy(module), None, 0).bufsizes for algorithm in (greedy, ours.plan)]
            assert len(made[0]) == len(made[1]), (made, values)


def test_transposed_weights_are_values(ours):
    """docs/python.md: products that are taken apart have their weights in the arena."""
    layers = make_pte.with_weights(make_pte.Layers())
    program = torch.export.export(layers, (make_pte.values((2, 16)),), strict=True)
    whole = EdgeCompileConfig(preserve_ops=[torch.ops.aten.linear.default])
    apart, kept = (to_edge(program, compile_config=config).to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=ours.MemoryPlanningPass())) for config in (None, whole))
    assert total(kept) * 4 < total(apart)


def test_shared_state_has_one_place_in_every_method(ours):
    program, _ = lowered(make_pte.two_methods, ours.MemoryPlanningPass(share_mutable_buffers=True))
    assert [method[2] for method in sizes(program)] == [64, 64]
    again = lowered(make_pte.two_methods, ours.MemoryPlanningPass(share_mutable_buffers=True))[0]
    assert bytes(again.buffer) == bytes(program.buffer)


class Varying(nn.Module):
    """Elementwise, one operand each, or beside a number: results are as large as their operand, whatever that is."""

    def forward(self, x):
        return torch.sigmoid(torch.softmax(nn.functional.gelu(torch.tanh(x) * 2), -1))


class Broadcast(nn.Module):
    """Two operands that vary: one of them may be broadcast, as far as the file tells."""

    def forward(self, x):
        return torch.sigmoid(x) + torch.exp(x)


@pytest.mark.parametrize("module, fewer", [(Varying(), 1), (Broadcast(), 0)], ids=lambda one: type(one).__name__)
def test_sizes_that_vary_are_written_over_where_the_operand_decides_them(ours, arenaut, arenaut_json, tmp_path, module, fewer):
    given = (torch.randn(4, 256),)
    edge = to_edge(torch.export.export(module, given, dynamic_shapes=({0: torch.export.Dim("n", min=1, max=16)},)))
    data = {}
    for name, planning in (("theirs", TheirPass()), ("ours", ours.MemoryPlanningPass()),
                           ("safe", ours.MemoryPlanningPass(inplace="safe"))):
        data[name] = bytes(copy.deepcopy(edge).to_executorch(
            ExecutorchBackendConfig(memory_planning_pass=planning)).buffer)
        (tmp_path / f"{name}.pte").write_bytes(data[name])
    arenaut("plan", "-q", tmp_path / "ours.pte", "--inplace", "on", "-o", tmp_path / "command.pte")
    data["command"] = (tmp_path / "command.pte").read_bytes()
    one = 4 * 256 * 16
    sizes = {name: arenaut_json("plan", tmp_path / f"{name}.pte")["baseline"]["arena"] // one for name in data}
    assert sizes["safe"] == sizes["command"] == sizes["ours"] - fewer and sizes["ours"] <= sizes["theirs"]
    for name in data:
        arenaut("check", tmp_path / f"{name}.pte")
        runtime = pte_runtime.Python(data[name])
        for n in (1, 16, 3, 16, 7):
            x = torch.randn(n, 256)
            [found] = runtime.call(x.clone())
            assert found.shape == x.shape
            torch.testing.assert_close(found, module(x), atol=1e-6, rtol=1e-5)
