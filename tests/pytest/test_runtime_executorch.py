"""Planned .pte files in the stock ExecuTorch runtime: less memory, the same bytes of every
output and of what each op leaves behind."""

import os
import subprocess
import sys

import pytest
from conftest import COMMAND, CORPUS, DATA, ROOT, corpus_params

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import corpus  # noqa: E402
import make_pte  # noqa: E402
import pte_runtime  # noqa: E402
import pte_weights  # noqa: E402
from drawn import THOROUGH, at_night  # noqa: E402
from test_pte_models import error_against_eager, several_inputs  # noqa: E402

# Programs with state, or with weights that lie in an arena: their methods, and whether these
# work in the same arenas.
STATE = {
    "counter": (("forward",), ("keep",)),
    "gradients": (("forward",), ("keep",)),
    "gradout": (("forward",), ("keep",)),
    "kv_decoder": (("forward",), ("keep",)),
    "kvllama": (("forward",), ("keep",)),
    "train_joint": (("forward",), ("keep",)),
    "two_methods": (("add", "scale"), ("keep", "share")),
    "twomethods_shared": (("step", "get", "reset", "step"), ("keep", "share")),
    "twomethods_unshared": (("step", "get", "reset", "step"), ("keep",)),
}
# The runtime refuses them as they are: no kernels for in-place ops.
NO_KERNELS = {"elemchain_reinplace", "kvllama_reinplace"}
# Their weights lie in files of their own, which are no part of the corpus: made up here.
NO_WEIGHTS = {"efficientnet_b0", "inception_v3", "mobilenetv2_100", "mobilenetv3_small_100",
              "resnet18", "vit_tiny"}
# As exported they compute something wrong, so that a right plan changes the outputs.
OVERLAPPING = {"two_conditions", "twocond"}

OWN = [pytest.param(path, id=path.stem) for path in sorted((DATA / "pte").glob("*.pte"))]
ALL = OWN + corpus_params("pte/*.pte")
RUNNABLE = OWN + corpus_params("pte/*.pte", without=NO_KERNELS | NO_WEIGHTS)
RIGHT = [param for param in RUNNABLE if param.id not in OVERLAPPING]
# Programs of our own, with inputs that are known, for which a plan needs less than their exporter's.
SMALLER = {"condition", "dynamic_batch", "gradients", "map_rows", "side_by_side"}

# (today, planned): bytes of all planned memories.
FIGURES = {
    "vit_tiny": (2141488, 1700320),
    "inception_v3": (13723904, 11063808),
    "mobilenetv3_small_100": (4898816, 4104096),
    "mobilenetv2_100": (9936896, 9633792),
    "efficientnet_b0": (14753792, 14450688),
    "gradout": (5264, 4112),
    "kvllama": (100352, 99840),
    "cond": (6176, 5136),
    "twocond": (2592, 1568),  # 2,560 if the two sides of a condition may share nothing
    "elemchain": (49152, 49152),
    "cnn_xnnpack_mixed": (57408, 57408),
}
# The same with results over operands, where kernels allow it.
NETWORKS_IN_PLACE = {"efficientnet_b0": 9633792, "mobilenetv2_100": 6021120, "resnet18": 5619712,
                     "mobilenetv3_small_100": 4104096, "vit_tiny": 1497600}
IN_PLACE = {"elemchain": (49152, 32768), "elementwise_chain": (12288, 8192)}


class Planned:
    """A program, what the command says about it, and the file that it then is."""

    def __init__(self, run, path, folder, *options):
        self.path, self.output = path, folder / f"{path.stem}.pte"
        self.document = run("plan", path, "-o", self.output, *options)
        self.result, self.baseline = self.document["result"], self.document["baseline"]
        # Where nothing better exists, the output is a copy of the file.
        self.written = self.output.read_bytes() != path.read_bytes()

    def memories(self, when):
        """Bytes of each memory of each method, as MethodMeta has them: "now" or "planned"."""
        sizes = {}
        for memory in self.document["memories"]:
            sizes.setdefault(memory["method"], []).append(memory[when])
        return sizes

    @property
    def file(self):
        """Where nothing better exists, the file as it was."""
        return self.output if self.written else self.path


def test_the_runtime_is_that_of_the_wheel():
    """Whatever tests are collected with this one: examples/executorch would be found first."""
    assert str(ROOT / "examples") not in sys.path
    assert (pte_runtime.wheel() / "lib").is_dir()


@pytest.fixture(scope="module")
def planned(arenaut_json, tmp_path_factory):
    """Plans a program; each one once."""
    done = {}

    def plan(path, *options):
        if (path, options) not in done:
            done[path, options] = Planned(arenaut_json, path, tmp_path_factory.mktemp(path.stem),
                                          *options)
        return done[path, options]

    return plan


def run(path, model, **options):
    methods, modes = STATE.get(model.stem, (("forward",), ()))
    return pte_runtime.run(path, methods, modes=modes, **options)


def first_difference(original, other, model, **options):
    """None if all ops leave the same bytes in every call, else (call, op, its position)."""
    one, two = (run(path, model, **options)["calls"] for path in (original, other))
    for number, (a, b) in enumerate(zip(one, two)):
        assert a["method"] == b["method"] and a["ran"] == b["ran"]
        for position, (made, found) in enumerate(zip(a["made"], b["made"])):
            if made != found:
                return number, made[0], position
        if a["outputs"] != b["outputs"]:
            return number, "outputs", None
    return None if len(one) == len(two) else (min(len(one), len(two)), "calls", None)


# One alone takes a minute: `make fuzz` runs it. Others take ten seconds.
LONG = {"inception_v3"} if THOROUGH == 1 else set()
BRIEF = {"mobilenetv3_small_100", "vit_tiny"}


@pytest.mark.parametrize("path", [p if p.id in BRIEF else at_night(p) for p in ALL if p.id in NO_WEIGHTS - LONG])
def test_networks_with_made_up_weights_leave_the_same_bytes(planned, tmp_path, path):
    """Every op of the whole network, and the memory that the runtime sees. One call each: the
    largest takes a minute."""
    model, weights = planned(path), tmp_path / "weights.ptd"
    weights.write_bytes(pte_weights.weights_file(path.read_bytes()))
    one = pte_runtime.run(path, calls=1, modes=(weights,))
    assert total(one["sizes"]) == model.baseline["arena"]
    assert len({made for _, made in one["calls"][0]["made"]}) > 20
    assert model.written == (path.stem != "resnet18")  # which cannot do with less
    if model.written:
        other = pte_runtime.run(model.file, calls=1, modes=(weights,))
        assert one["calls"] == other["calls"]
        assert total(other["sizes"]) == model.result["arena"] < model.baseline["arena"]
    if path.stem in NETWORKS_IN_PLACE:
        in_place = planned(path, "--inplace", "on")
        assert in_place.result["arena"] == NETWORKS_IN_PLACE[path.stem]
        other = pte_runtime.run(in_place.file, calls=1, modes=(weights,))
        assert one["calls"] == other["calls"]


def total(sizes):
    return sum(sum(method) for method in sizes.values())


@pytest.mark.parametrize("path", RUNNABLE)
def test_the_runtime_reports_the_planned_memories(planned, path):
    model = planned(path)
    before, after = (run(file, path, calls=1)["sizes"] for file in (path, model.file))
    assert before == model.memories("now")
    if not model.written:
        assert path.stem not in OVERLAPPING
        return
    assert after == model.memories("planned")
    assert total(after) < total(before)
    assert all(
        new <= old for method in before for old, new in zip(before[method], after[method]))


@pytest.mark.parametrize("path", ALL)
def test_plans_are_proven_minimal(planned, path):
    result, baseline = planned(path).result, planned(path).baseline
    assert result["status"] == "optimal"
    assert result["arena"] == result["lower_bound"] <= baseline["arena"]


@pytest.mark.parametrize("path", [param for param in ALL if param.id in FIGURES])
def test_figures(planned, path):
    """As the file states them: with what is reserved at the end of an arena for a delegate."""
    model = planned(path)
    assert tuple(total(model.memories(when)) for when in ("now", "planned")) == \
        FIGURES[path.stem]


@pytest.mark.parametrize("path", RIGHT)
@pytest.mark.parametrize("fill", pte_runtime.FILLS)
def test_every_op_leaves_the_same_bytes(planned, path, fill):
    model = planned(path)
    assert not model.written or first_difference(path, model.file, path, fill=fill) is None


def test_which_of_our_programs_need_less(planned):
    assert {param.id for param in OWN if planned(*param.values).written} == SMALLER | {"two_conditions"}


@pytest.mark.parametrize("path", [param for param in OWN if param.id in SMALLER])
def test_python_gives_the_same_outputs(planned, path):
    """Through the bindings of the wheel, which make the arenas themselves."""
    model = planned(path)
    one, other = (pte_runtime.Python(file.read_bytes()) for file in (path, model.file))
    for method in getattr(make_pte, path.stem)().methods:
        for inputs in several_inputs(path.stem, method):
            assert pte_runtime.same_bits(one.call(*inputs, method=method),
                                         other.call(*inputs, method=method))


@pytest.mark.parametrize("batch", [1, 5, 12])
def test_every_batch_within_the_bound_fits(planned, batch):
    path = DATA / "pte" / "dynamic_batch.pte"
    inputs = make_pte.values((batch, 16))
    one, other = (pte_runtime.Python(file.read_bytes()).call(inputs)
                  for file in (path, planned(path).file))
    assert one[0].shape == (batch, 4)
    assert pte_runtime.same_bits(one, other)


@pytest.mark.parametrize("path", [p for p in RUNNABLE if p.id in OVERLAPPING])
def test_check_names_conditions_that_overwrite_each_other(arenaut, planned, path):
    """With the method, and the tensors by name."""
    said = arenaut("check", path, exit=1)
    assert "forward" in said.stdout + said.stderr
    arenaut("check", planned(path).output)


@pytest.mark.parametrize("path", RIGHT)
def test_check_finds_no_fault_in_what_runs_right(arenaut, planned, path):
    arenaut("check", path)
    arenaut("check", planned(path).file)


def test_two_conditions_go_from_wrong_to_right(planned):
    path = DATA / "pte" / "two_conditions.pte"
    assert error_against_eager(path, path.stem) > 1
    assert error_against_eager(planned(path).output, path.stem) < 1e-5


@pytest.mark.parametrize("path", [p for p in RUNNABLE if p.id in OVERLAPPING])
def test_a_repaired_program_agrees_with_one_that_shares_nothing(planned, path, random_files):
    """Every op's result, on every way through both conditions, as in plans of another kind."""
    assert first_difference(path, planned(path).output, path) is not None
    for other in random_files(path):
        assert first_difference(planned(path).output, other, path) is None


@pytest.fixture(scope="module")
def random_files(tmp_path_factory):
    """Twenty valid plans, as arbitrary as can be, written into the program."""

    def write(path):
        library = COMMAND.parent / "libarenaut.a"
        prefix = tmp_path_factory.mktemp("random") / path.stem
        subprocess.run([pte_runtime.random_planner(library), path, "20", prefix], check=True)
        return [prefix.with_name(f"{path.stem}{seed}.pte") for seed in range(20)]

    return write


# 20 runs of each of these take most of a minute.
@pytest.mark.parametrize("path", [p for p in RIGHT if p.id not in
                                  ("mobilenetv2_035", "mobilenetv2_035_xnnpack", "unet")])
def test_arbitrary_valid_plans_change_nothing(random_files, path):
    """A test of lowering: plans that are valid by it, but not made by a planner of ours."""
    for number, other in enumerate(random_files(path)):
        assert first_difference(path, other, path, calls=2) is None, number
        os.unlink(other)


@pytest.mark.parametrize("path", [p for p in RUNNABLE if p.id in IN_PLACE])
def test_elementwise_ops_in_place(planned, path):
    model = planned(path, "--inplace", "on")
    assert tuple(total(model.memories(when)) for when in ("now", "planned")) == \
        IN_PLACE[path.stem]
    assert total(run(model.file, path, calls=1)["sizes"]) == IN_PLACE[path.stem][1]
    assert first_difference(path, model.file, path) is None


@pytest.mark.parametrize("path", RUNNABLE)
def test_in_place_or_not_every_op_leaves_the_same_bytes(planned, path):
    model = planned(path, "--inplace", "on")
    plain = planned(path).file if path.stem in OVERLAPPING else path
    assert not model.written or first_difference(plain, model.file, path) is None


@pytest.mark.parametrize("path", RUNNABLE)
def test_planning_again_changes_nothing(arenaut, planned, tmp_path, path):
    again, third = tmp_path / "again.pte", tmp_path / "third.pte"
    arenaut("plan", path, "-o", again)
    assert again.read_bytes() == planned(path).output.read_bytes()
    arenaut("plan", again, "-o", third)
    assert third.read_bytes() == again.read_bytes()


def test_methods_keep_their_shared_state_at_one_place(planned):
    """Both methods, in turn, in one set of arenas."""
    path = DATA / "pte" / "two_methods.pte"
    model = planned(path)
    before, after = (run(file, path, calls=1)["sizes"] for file in (path, model.file))
    assert [sizes[1] for sizes in before.values()] == [sizes[1] for sizes in after.values()]


def test_state_that_methods_put_apart_is_found_and_brought_together(arenaut, planned, tmp_path):
    """As an exporter might get it wrong: one method looks for the state 64 bytes further on."""
    from executorch.exir._serialize._program import (deserialize_pte_binary,
                                                     serialize_pte_binary)
    path = DATA / "pte" / "two_methods.pte"
    file = deserialize_pte_binary(path.read_bytes())
    for method in file.program.execution_plan:
        method.non_const_buffer_sizes[2] = 128
        places = [getattr(value.val, "allocation_info", None) for value in method.values]
        for place in places:
            if place and place.memory_id == 2 and method.name == "scale":
                place.memory_offset_low = 64
    apart = tmp_path / "apart.pte"
    apart.write_bytes(bytes(serialize_pte_binary(file)))
    said = arenaut("check", apart, exit=1).stdout
    assert "method 'scale'" in said and "offset 64 of memory 2" in said
    assert run(apart, path)["calls"] != run(path, path)["calls"]
    mended = planned(apart)
    assert [sizes[1] for sizes in mended.memories("planned").values()] == [64, 64]
    assert run(mended.file, path)["calls"] == run(path, path)["calls"]


# A value that an op writes, and the state that it is to lie over: before anybody has read it.
OVER_STATE = {"gradients": ("forward", 12, 2),    # a weight, which has first values only
              "two_methods": ("add", 22, 4)}    # state with a name, in an arena of its own


@pytest.mark.parametrize("model", OVER_STATE)
def test_a_plan_that_lays_an_activation_over_state_is_found_and_repaired(
        arenaut, planned, tmp_path, model):
    from executorch.exir._serialize._program import (deserialize_pte_binary,
                                                     serialize_pte_binary)
    path = DATA / "pte" / f"{model}.pte"
    method, activation, state = OVER_STATE[model]
    file = deserialize_pte_binary(path.read_bytes())
    values = next(plan for plan in file.program.execution_plan if plan.name == method).values
    values[activation].val.allocation_info = values[state].val.allocation_info
    wrong = tmp_path / "wrong.pte"
    wrong.write_bytes(bytes(serialize_pte_binary(file)))
    said = arenaut("check", wrong, exit=1).stdout
    assert "wrong (clobbered)" in said
    assert f"reads 'v{state}'" in said or f"hold 'v{activation}'" in said
    # The runtime does not notice, and computes something else.
    assert run(wrong, path)["calls"] != run(path, path)["calls"]
    mended = planned(wrong)
    arenaut("check", mended.output)
    assert run(mended.output, path)["calls"] == run(path, path)["calls"]


def test_one_method_may_be_planned_alone(arenaut_json, random_files, tmp_path):
    """The other one keeps its places and its memories, and both still work."""
    path = DATA / "pte" / "two_methods.pte"
    shrunk = set()
    for number, wasteful in enumerate(random_files(path)):
        for method, other in (("add", "scale"), ("scale", "add")):
            output = tmp_path / f"{method}{number}.pte"
            arenaut_json("plan", wasteful, "--method", method, "-o", output)
            if output.read_bytes() == wasteful.read_bytes():
                continue
            before, after = (run(file, path, calls=1)["sizes"] for file in (wasteful, output))
            assert after[other] == before[other] and sum(after[method]) < sum(before[method])
            assert first_difference(path, output, path) is None
            shrunk.add(method)
    assert "add" in shrunk


def test_the_corpus_is_complete_where_it_is_at_hand():
    if not CORPUS.is_dir():
        pytest.skip(f"{corpus.HINT} to the whole of it")
    present = {path.stem for path in (CORPUS / "pte").glob("*.pte")}
    assert NO_KERNELS | NO_WEIGHTS | (set(FIGURES) - {"elementwise_chain"}) <= present
