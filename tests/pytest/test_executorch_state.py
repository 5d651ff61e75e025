"""State and updates in place in programs that our pass of ExecuTorch's export makes: the stock runtime gives what
PyTorch gives, or the export is refused, with the state's name."""

import contextlib
import copy
import re
import subprocess
import warnings

import pytest
from conftest import COMMAND

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import pte_runtime  # noqa: E402
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.exir.dialects._ops import ops  # noqa: E402
from executorch.exir.passes import MemoryPlanningPass as TheirPass  # noqa: E402
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass  # noqa: E402


def delay(s, x):
    y = s.d1 + 0
    s.d1.copy_(s.d0)
    s.d0.copy_(x)
    return y


def delay_of_copies(s, x):
    y = s.d1 + 0
    s.d1.copy_(s.d0 + 0)
    s.d0.copy_(x + 0)
    return y


def delay_of_clones(s, x):
    y = s.d1 + 0
    s.d1.copy_(s.d0.clone())
    s.d0.copy_(x)
    return y


def swap(s, x):
    old = s.d0.clone()
    s.d0.copy_(s.d1 + x)
    s.d1.copy_(old)
    return x + s.d0


def plain_swap(s, x):
    old = s.d0.clone()
    s.d0.copy_(s.d1)
    s.d1.copy_(old + x)
    return x + s.d0


def old_state(s, x):
    old = s.d0.clone()
    s.d0.copy_(s.d0 * 2 + x)
    return old, x * 3


def view_of_old_state(s, x):
    old = s.d0.clone().view(2, 2)
    s.d0.add_(x)
    return old, s.d1 + 0


def updates(s, x):
    s.d0.add_(x)
    s.d1.mul_(2).add_(1)
    return s.d0 + s.d1, s.d1.view(2, 2)


def replaced(s, x):
    y = s.d0 + 1
    s.d0.copy_(x)
    return y


MUST_BE_REFUSED = {delay: "d1", plain_swap: "d0"}


def module_of(forward):
    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in ("d0", "d1"):
                self.register_buffer(name, torch.zeros(4))

    States.forward = forward
    return States()


def calls(run):
    made = []
    for k in range(4):
        out = run(torch.arange(4.0) + k + 1)
        made.append([one.clone() for one in (out if isinstance(out, (tuple, list)) else [out])])
    return made


@pytest.mark.parametrize("clones", [True, False])
@pytest.mark.parametrize("forward", [delay, delay_of_copies, delay_of_clones, swap, plain_swap, old_state,
                                     view_of_old_state, updates, replaced], ids=lambda one: one.__name__)
def test_state_in_the_runtime_is_as_in_pytorch_or_refused(ours, forward, clones):
    import arenaut
    warnings.simplefilter("ignore")
    module = module_of(forward)
    config = EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=not clones)
    edge = to_edge(torch.export.export(module, (torch.ones(4),)), compile_config=config)

    def made(planning):
        return copy.deepcopy(edge).to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning)).buffer

    expected = calls(module)
    without = calls(pte_runtime.Python(made(TheirPass())).call)
    right = all(pte_runtime.same_bits(one, other) for one, other in zip(expected, without))
    try:
        data = made(ours.MemoryPlanningPass())
    except arenaut.InputError as error:
        print(error, "theirs is right" if right else "theirs is wrong")
        assert not right, error
        assert f"'{MUST_BE_REFUSED.get(forward, 'd0')}'" in str(error)
        return
    assert forward not in MUST_BE_REFUSED
    got = calls(pte_runtime.Python(data).call)
    assert all(pte_runtime.same_bits(one, other) for one, other in zip(expected, got))


def old_state_itself(s, x):
    old = s.d0.clone()
    s.d0.copy_(s.d0 * 2 + x)
    return old, x * 3


def delay_of_views(s, x):
    y = s.d1 + 0
    s.d1.copy_(s.d0.view(2, 2).clone().view(4))
    s.d0.copy_(x.view(2, 2).clone().view(4))
    return y


def swap_of_views(s, x):
    first, second = s.d0.view(2, 2).clone(), s.d1.view(2, 2).clone()
    s.d0.copy_(second.view(4))
    s.d1.copy_(first.view(4))
    return s.d0 + s.d1 * 2 + x


def without_clones(edge):
    """The same, with operands in the place of their clones, as backends' passes leave them: a graph's values
    never change, so that it means the same."""
    program = edge.exported_program()
    for node in program.graph.find_nodes(op="call_function", target=ops.edge.dim_order_ops._clone_dim_order.default):
        node.replace_all_uses_with(node.args[0])
        for output in program.graph_signature.output_specs:
            if output.arg.name == node.name:
                output.arg.name = node.args[0].name
        program.graph.erase_node(node)
    program.graph_module.recompile()
    return edge


@pytest.mark.parametrize("forward, seen", [(old_state_itself, False), (delay_of_views, True), (swap_of_views, True)],
                         ids=lambda one: getattr(one, "__name__", ""))
def test_state_that_is_read_behind_its_write_back_is_refused(ours, forward, seen):
    """`check` of the file that ExecuTorch's own pass leads to sees it where views of the states show it."""
    import arenaut
    module = module_of(forward)
    for k, state in enumerate(module.buffers()):
        state.copy_(torch.arange(4.0) + 10 * k + 1)
    edge = without_clones(to_edge(torch.export.export(module, (torch.ones(4),)),
                                  compile_config=EdgeCompileConfig(_check_ir_validity=False)))

    def made(planning):
        config = ExecutorchBackendConfig(memory_planning_pass=planning,
                                         passes=[InitializedMutableBufferPass(["d0", "d1"])])
        return copy.deepcopy(edge).to_executorch(config).buffer

    theirs = made(TheirPass())
    found = zip(calls(module), calls(pte_runtime.Python(theirs).call))
    assert not all(pte_runtime.same_bits(one, other) for one, other in found)
    with pytest.raises(arenaut.RejectedError) if seen else contextlib.nullcontext():
        arenaut.Model.parse(bytes(theirs), "wrong.pte").check()
    with pytest.raises(arenaut.InputError, match="reads 'd0' behind copy_"):
        made(ours.MemoryPlanningPass())


LATE, LEFT_OUT = "behind op [0-9]+ 'aten::copy_', which writes it back", "left out the copy of its new value"


@pytest.mark.parametrize("clones", [True, False])
@pytest.mark.parametrize("forward, told", [
    (delay, LEFT_OUT), (delay_of_clones, LEFT_OUT), (plain_swap, LEFT_OUT), (old_state_itself, LATE), (old_state, LATE),
    (view_of_old_state, LATE), (delay_of_views, LATE), (swap_of_views, LATE), (swap, LEFT_OUT), (updates, None), (replaced, None)],
    ids=lambda one: getattr(one, "__name__", ""))
def test_check_tells_of_write_backs_that_were_lost(forward, told, clones, tmp_path):
    """It passes such a file, whose instructions compute what they say; it says so exactly where the stock runtime
    computes something else than PyTorch does."""
    module = module_of(forward)
    for k, state in enumerate(module.buffers()):
        state.copy_(torch.arange(4.0) + 10 * k + 1)
    edge = to_edge(torch.export.export(module, (torch.ones(4),)), compile_config=EdgeCompileConfig(_check_ir_validity=False))
    edge = edge if clones else without_clones(edge)
    path = tmp_path / "made.pte"
    path.write_bytes(bytes(edge.to_executorch(ExecutorchBackendConfig(
        memory_planning_pass=TheirPass(alloc_mutable_buffers=True), emit_mutable_buffer_names=True,
        passes=[InitializedMutableBufferPass(["d0", "d1"])])).buffer))
    right = all(pte_runtime.same_bits(one, other) for one, other in
                zip(calls(module), calls(pte_runtime.Python(path.read_bytes()).call)))
    verdict = subprocess.run([COMMAND, "check", path], capture_output=True, text=True, check=False)
    if right:
        assert verdict.returncode == 0 and not verdict.stderr
        return
    assert told and (re.search(told, verdict.stderr) or "wrong" in verdict.stdout), verdict.stdout + verdict.stderr
    assert re.search("'d[01]' of method 'forward'|'v[0-9]+' of method 'forward'", verdict.stderr + verdict.stdout)


class Scattered(torch.nn.Module):
    """An update in place of a value that is no state, read behind the computation of another value."""

    def forward(self, x, i, v):
        h = torch.ops.aten.index_put(x * 2, [i], v)
        return h + (torch.sin(x) + 1)


class ScatteredTwice(torch.nn.Module):
    """Updates of updates, through a view, and of what the program returns."""

    def forward(self, x, i, v):
        h = torch.ops.aten.index_put(x * 2, [i], v)
        k = torch.ops.aten.index_put(h.view(4, 16).view(16, 4), [i], v + 1)
        u = torch.sin(x) * torch.cos(x)
        return torch.ops.aten.index_put(x + 1, [i], v), k + u, (u * 3).sum(0)


@pytest.mark.parametrize("kind", [Scattered, ScatteredTwice])
def test_updates_in_place_live_to_their_last_reader(ours, kind):
    """ExecuTorch's own lifetimes end at the first op that works in place."""
    import arenaut
    torch.manual_seed(0)
    given = torch.randn(16, 4), torch.tensor([1, 3]), torch.randn(2, 4)
    expected = kind()(*given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    edge = to_edge(torch.export.export(kind(), given), compile_config=EdgeCompileConfig(_check_ir_validity=False))
    errors = {}
    for planning in (TheirPass(), ours.MemoryPlanningPass()):
        config = ExecutorchBackendConfig(memory_planning_pass=planning, run_reinplace_pass=True)
        data = bytes(copy.deepcopy(edge).to_executorch(config).buffer)
        got = pte_runtime.Python(data).call(*(one.clone() for one in given))
        errors[type(planning)] = max(float((a - b).abs().max()) for a, b in zip(got, expected))
    print(errors)
    assert errors[ours.MemoryPlanningPass] < 1e-5
    arenaut.Model.parse(data, "reinplace.pte").check()
    if kind is Scattered:
        assert errors[TheirPass] > 1  # the day it is right, docs/executorch.md has a line too many


def test_a_view_without_a_place_lies_where_its_operand_does(ours, monkeypatch, tmp_path):
    """ExecuTorch binds views of results in place to a spec that has no place: at run time they take that of
    their operand, whose bytes others write. `check` said of such a file that every byte is in place."""
    monkeypatch.setattr(ours, "extend_lifetimes", extend_without_views)
    monkeypatch.setattr(ours, "replan", lambda *_, **__: set())  # which would repair it
    torch.manual_seed(0)
    given = torch.randn(16, 4), torch.tensor([1, 3]), torch.randn(2, 4)
    edge = to_edge(torch.export.export(ScatteredTwice(), given),
                   compile_config=EdgeCompileConfig(_check_ir_validity=False))
    config = ExecutorchBackendConfig(memory_planning_pass=ours.MemoryPlanningPass(), run_reinplace_pass=True)
    wrong, repaired = tmp_path / "wrong.pte", tmp_path / "repaired.pte"
    wrong.write_bytes(bytes(edge.to_executorch(config).buffer))
    verdict = subprocess.run([COMMAND, "check", wrong], capture_output=True, text=True, check=False)
    assert verdict.returncode == 1 and "clobbered" in verdict.stdout, verdict.stdout + verdict.stderr
    subprocess.run([COMMAND, "plan", "-q", "-f", wrong, "-o", repaired], check=True)
    subprocess.run([COMMAND, "check", repaired], check=True, capture_output=True)
    for path, right in ((wrong, False), (repaired, True)):
        found = pte_runtime.Python(path.read_bytes()).call(*(one.clone() for one in given))
        assert right is all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, ScatteredTwice()(*given)))


def extend_without_views(graph_module):
    for step, node in enumerate(graph_module.graph.nodes):
        for touched in [node, *node.all_input_nodes]:
            specs = touched.meta.get("spec")
            for spec in specs if isinstance(specs, (list, tuple)) else [specs]:
                first, last = getattr(spec, "lifetime", (0, 0))
                if hasattr(spec, "lifetime"):
                    spec.lifetime = [step if first is None else min(first, step),
                                     step if last is None else max(last, step)]


def in_branches(edge):
    """The same with all index_put of branches in place. ExecuTorch's own pass looks at the outermost graph alone."""
    for name, module in edge.exported_program().graph_module.named_modules():
        for node in module.graph.find_nodes(op="call_function", target=ops.edge.aten.index_put.default) if name else ():
            node.target = ops.edge.aten.index_put_.default
    return edge


class UpdatedInBranches(torch.nn.Module):
    """Branches that update values of their own while others are computed, and results that are updated behind."""

    def forward(self, x, p, i, v):
        def branch(h):
            k = torch.ops.aten.index_put(h * 3, [i], v)
            return k * torch.cos(h) + torch.sin(h) + k
        h = x * 2
        y = torch.cond(p, branch, lambda h: torch.ops.aten.index_put(torch.sin(h), [i], v) + torch.cos(h), (h,))
        z = torch.ops.aten.index_put(y, [i], v + 1)
        return z + torch.cond(p, lambda t: t + 1, lambda t: t * 3, (x,)) * h


def exported_in_branches(planning):
    torch.manual_seed(0)
    given = torch.randn(16, 4), torch.tensor(True), torch.tensor([1, 3]), torch.randn(2, 4)
    edge = to_edge(torch.export.export(UpdatedInBranches(), given),
                   compile_config=EdgeCompileConfig(_check_ir_validity=False))
    config = ExecutorchBackendConfig(memory_planning_pass=planning, run_reinplace_pass=True)
    return given, in_branches(edge).to_executorch(config)


def test_updates_in_branches_are_right(ours):
    import arenaut
    for planning in (ours.MemoryPlanningPass(), ours.MemoryPlanningPass(inplace="safe")):
        (x, _, i, v), program = exported_in_branches(planning)
        calls = [op.name for op in program.executorch_program.execution_plan[0].operators]
        assert "aten::index_put_" in calls
        runtime = pte_runtime.Python(bytes(program.buffer))
        for flag in (torch.tensor(True), torch.tensor(False)):
            [found] = runtime.call(x.clone(), flag, i, v)
            assert torch.allclose(found, UpdatedInBranches()(x, flag, i, v), atol=1e-5)
        arenaut.Model.parse(bytes(program.buffer), "branches.pte").check(inplace=True)


def test_a_program_that_the_replay_does_not_accept_is_refused_by_name(ours, monkeypatch):
    """With ExecuTorch's lifetimes, and no repair: the pass is the last to look."""
    import arenaut
    import arenaut.executorch_program as program
    monkeypatch.setattr(ours, "extend_lifetimes", lambda _: None)
    monkeypatch.setattr(program.Emitted, "move", lambda *_: None)
    edge = to_edge(torch.export.export(Scattered(), SCATTERED),
                   compile_config=EdgeCompileConfig(_check_ir_validity=False))
    config = ExecutorchBackendConfig(memory_planning_pass=ours.MemoryPlanningPass(), run_reinplace_pass=True)
    with pytest.raises(arenaut.RejectedError) as refused:
        edge.to_executorch(config)
    print(refused.value)
    named = r"'aten::\w+\.\w+' of method 'forward' reads 'aten_\w+', but bytes \[\d+, \d+\) .* hold 'aten_\w+'"
    assert re.search(named, str(refused.value))


SCATTERED = torch.ones(16, 4), torch.tensor([1, 3]), torch.ones(2, 4)


class Residual(torch.nn.Module):
    def forward(self, x):
        for _ in range(4):
            h = torch.clamp(torch.relu(x @ x) * 2, 0, 3)
            x = torch.sigmoid(h + x) - h.transpose(0, 1)
        return x


class Gathered(torch.nn.Module):
    def forward(self, x):
        seen = [x * k for k in range(4)]
        return torch.relu(torch.cat(seen, 1)), torch.relu(seen[1]) + seen[2].sum()


@pytest.mark.parametrize("kind", [Residual, Gathered])
def test_more_ops_in_place_are_planned_right(ours, kind):
    """The stock wheel has no kernels for these, so that only `check` tells what is wrong."""
    import arenaut
    extra = {
        ops.edge.aten.relu.default, ops.edge.aten.add.Tensor, ops.edge.aten.mul.Tensor, ops.edge.aten.sub.Tensor,
        ops.edge.aten.sigmoid.default, ops.edge.aten.clamp.default}
    edge = to_edge(torch.export.export(kind(), (torch.ones(16, 16),)),
                   compile_config=EdgeCompileConfig(_check_ir_validity=False))
    wrong = {}
    for planning in (TheirPass(), ours.MemoryPlanningPass()):
        config = ExecutorchBackendConfig(memory_planning_pass=planning, reinplace_extra_ops=extra)
        made = copy.deepcopy(edge).to_executorch(config)
        names = {op.name for op in made.executorch_program.execution_plan[0].operators}
        assert names & {"aten::relu_", "aten::mul_", "aten::add_", "aten::sigmoid_"}
        try:
            arenaut.Model.parse(bytes(made.buffer), "extra.pte").check()
        except arenaut.RejectedError as error:
            wrong[type(planning)] = str(error)
    print(wrong)
    assert list(wrong) == [TheirPass]


class UpdatedThroughAView(torch.nn.Module):
    """ExecuTorch gives the view that is updated in place the state's name as well, with another shape."""

    def __init__(self, more):
        super().__init__()
        self.more = more
        self.register_buffer("d", torch.zeros(4, 4))
        self.register_buffer("k", torch.zeros(16, 8))

    def forward(self, x, i):
        y = self.d.view(16).index_put((i,), x[0, :, 0])
        self.d.copy_(y.view(4, 4))
        if self.more:  # views of updated values, which ExecuTorch's own pass binds to a spec without a place
            self.k[i] = x[0]
            return y * 2, self.k.view(8, 16).sum(0), self.d.view(2, 8) + 1
        return y * 2, self.k + 0


@pytest.mark.parametrize("more", [False, True])
def test_views_that_carry_the_name_of_their_state_are_views_of_it(ours, more, tmp_path):
    given = torch.randn(1, 2, 8), torch.tensor([1, 3])
    edge = to_edge(torch.export.export(UpdatedThroughAView(more), given, strict=True),
                   compile_config=EdgeCompileConfig(_check_ir_validity=False))
    planning = ours.MemoryPlanningPass() if more else TheirPass()
    program = edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning, run_reinplace_pass=True,
                                                         emit_mutable_buffer_names=True))
    named = [value.val.sizes for value in program.executorch_program.execution_plan[0].values
             if getattr(value.val, "extra_tensor_info", None) and value.val.extra_tensor_info.fully_qualified_name == "d"]
    assert named[:2] == [[4, 4], [16]]
    path, planned = tmp_path / "made.pte", tmp_path / "planned.pte"
    path.write_bytes(bytes(program.buffer))
    subprocess.run([COMMAND, "check", path], check=True)
    subprocess.run([COMMAND, "plan", "-q", path, "-o", planned], check=True)
    subprocess.run([COMMAND, "check", planned], check=True)
    module, runtime = UpdatedThroughAView(more), pte_runtime.Python(planned.read_bytes())
    for k in range(3):
        found = runtime.call(given[0] + k, given[1] + k)
        for a, b in zip(found, module(given[0] + k, given[1] + k)):
            torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


class Sums(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(8, 8))

    def forward(self, x):
        self.total.add_(x)
        return torch.sin(self.total) + x


class Another(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x * 2) + torch.sin(x)


def right(run, methods):
    """Whether all calls of all methods in turn give what modules of their own do."""
    modules, generator = {name: make() for name, make in methods.items()}, torch.Generator().manual_seed(1)
    calls = [(name, torch.randn(8, 8, generator=generator)) for _ in range(3) for name in methods]
    return all(torch.allclose(run(name, x.clone()), modules[name](x), atol=1e-5) for name, x in calls)


@pytest.mark.parametrize("methods", [{"sums": Sums, "another": Another}, {"a": Sums, "another": Another, "b": Sums}],
                         ids=lambda methods: "+".join(methods))
def test_state_in_a_memory_that_other_methods_have(ours, methods, arenaut, tmp_path):
    """Where each method has memory of its own, it lasts, and the file is right; Python's Runtime has one for all. Two
    methods have a state of one name at one place, in a memory whose size differs from another method's: two states."""
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
    edge = to_edge({name: torch.export.export(make(), (torch.ones(8, 8),)) for name, make in methods.items()})

    def made(**options):
        config = ExecutorchBackendConfig(memory_planning_pass=ours.MemoryPlanningPass(**options),
                                         emit_mutable_buffer_names=True)
        path = tmp_path / "made.pte"
        path.write_bytes(bytes(copy.deepcopy(edge).to_executorch(config).buffer))
        return path

    with pytest.warns(UserWarning, match=r"'total': state of a method lasts where.*share_mutable_buffers=True"):
        path = made()
    done = arenaut("check", path)
    assert re.search(r"'total' of method '\w+' is kept in memory 1, which method '\w+' has too: it is overwritten", done.stderr)
    apart, one = _load_for_executorch_from_buffer(path.read_bytes()), pte_runtime.Python(path.read_bytes())
    assert right(lambda name, x: apart.run_method(name, (x,))[0].clone(), methods)
    assert not right(lambda name, x: one.call(x, method=name)[0], methods)
    if "b" in methods:  # whose state is that of "a", if they share it
        return
    theirs = tmp_path / "theirs.pte"  # by chance it survives
    theirs.write_bytes(bytes(copy.deepcopy(edge).to_executorch().buffer))
    assert "not in this plan, but in others it may be overwritten" in arenaut("check", theirs).stderr
    one = pte_runtime.Python(theirs.read_bytes())
    assert right(lambda name, x: one.call(x, method=name)[0], methods)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*state of a method")
        path = made(share_mutable_buffers=True)
    assert "is kept in memory" not in arenaut("check", path).stderr
    one = pte_runtime.Python(path.read_bytes())
    assert right(lambda name, x: one.call(x, method=name)[0], methods)


class Recurrent(torch.nn.Module):
    """A delegate reads the state by a view, before anything else touches it."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(24, 24)
        self.register_buffer("hidden", torch.zeros(4, 6))

    def forward(self, x):
        before = x.repeat(3, 1).sum(0)
        y = self.linear(self.hidden.view(2, 12).view(1, 24))
        self.hidden.copy_((y.view(4, 6) + x).tanh())
        return y, before


def test_state_that_a_delegate_reads_by_a_view_is_kept(arenaut, tmp_path):
    from executorch.backends.xnnpack.partition.config import LinearConfig
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    path, output = tmp_path / "recurrent.pte", tmp_path / "planned.pte"
    module = Recurrent().eval().requires_grad_(False)
    edge = to_edge_transform_and_lower(torch.export.export(module, (torch.ones(4, 6),)),
                                       partitioner=[XnnpackPartitioner(configs=[LinearConfig])])
    path.write_bytes(edge.to_executorch().buffer)
    arenaut("plan", path, "-o", output)
    one, other = (pte_runtime.run(each, modes=("keep",), fill="00")["calls"] for each in (path, output))
    assert one == other
