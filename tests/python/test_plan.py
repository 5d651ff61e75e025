"""arenaut.plan, Problem and Plan."""

import base64
import ctypes
import html
import json
import os
import pickle
import re
import signal
import threading
import time
from array import array
from concurrent.futures import ThreadPoolExecutor

import pytest

import arenaut
from arenaut.watch import Watch

SIZES, FIRST, END = [100, 100, 50], [0, 1, 2], [2, 3, 4]


def test_lists():
    plan = arenaut.plan(SIZES, FIRST, END, align=16)
    assert (plan.arena, plan.bound, plan.status) == (212, 212, "optimal")
    assert isinstance(plan.offsets, array) and list(plan.offsets) == [0, 112, 0]
    assert plan.arenas == plan.bounds == (212,)
    assert list(plan.pools) == [0, 0, 0] and plan.stopped_by == "proof"


@pytest.mark.parametrize("make", [tuple, lambda v: array("Q", v), lambda v: array("i", v),
                                  lambda v: memoryview(array("q", v)),
                                  lambda v: memoryview(array("q", [x for x in v for _ in (0, 1)]))[::2],
                                  lambda v: (ctypes.c_int32 * len(v))(*v), iter])
def test_whatever_holds_numbers(make):
    plan = arenaut.plan(make(SIZES), make(FIRST), make(END), align=16)
    assert plan.arena == 212


def test_numpy_arrays_give_numpy_arrays():
    numpy = pytest.importorskip("numpy", reason="this environment is the one without numpy")
    for kind in "int64", "uint64", "int32", "uint8", ">i4":
        sizes, first, end = (numpy.array(v, dtype=kind) for v in (SIZES, FIRST, END))
        plan = arenaut.plan(sizes, first, end, align=16)
        assert isinstance(plan.offsets, numpy.ndarray) and plan.offsets.dtype == numpy.uint64
        assert plan.offsets.tolist() == [0, 112, 0]
    wide = numpy.repeat(numpy.array(SIZES), 2)
    wide.flags.writeable = False
    strided = wide[::2]
    assert not strided.flags.c_contiguous
    assert arenaut.plan(strided, numpy.array(FIRST), numpy.array(END), align=16).arena == 212


def test_arguments_are_copied():
    numpy = pytest.importorskip("numpy", reason="this environment is the one without numpy")
    sizes = numpy.array(SIZES)
    problem = arenaut.Problem(sizes, numpy.array(FIRST), numpy.array(END))
    sizes[:] = 0
    assert problem.plan().arena == 200


def test_no_buffers():
    plan = arenaut.plan([], [], [])
    assert plan.arena == 0 and len(plan.offsets) == 0 and plan.status == "optimal"


def test_alignments_of_each():
    assert list(arenaut.plan([1, 1], [0, 0], [1, 1], align=[64, 1]).offsets) in ([0, 1], [64, 0])


def test_pools_and_what_may_lie_where():
    fast = arenaut.Pool("fast", 128, 16)
    plan = arenaut.plan([100, 100], [0, 0], [1, 1], pools=[fast, "slow"])
    assert sorted(plan.pools) == [0, 1] and plan.arenas == (112, 100)
    plan = arenaut.plan([100, 100], [0, 0], [1, 1], pools={"fast": 128, "slow": None},
                        allowed=[["slow"], None], uses=[1, 3])
    assert list(plan.pools) == [1, 0] and plan.spill == 0


def test_relations():
    in_place = arenaut.plan([100, 100], [0, 1], [2, 3], same_base=[None, 0])
    assert in_place.arena == 100
    inside = arenaut.plan([100, 40], [0, 1], [2, 3], inside=[-1, 0], inside_delta=[0, 60])
    assert inside.arena == 100 and list(inside.offsets) == [0, 60]
    fixed = arenaut.plan([10, 10], [0, 0], [1, 1], fixed=[64, None])
    assert fixed.offsets[0] == 64 and fixed.arena == 74
    apart = arenaut.plan([10, 10], [0, 1], [1, 2], conflicts=[(1, 0)])
    assert apart.arena == 20
    over = arenaut.plan([100, 100], [0, 0], [1, 1], separations=[(0, 1, 30)], planner="overlap")
    assert over.arena == 130
    kept = arenaut.plan([10], [0], [1], reserved=[(0, 0, 64)])
    assert kept.offsets[0] == 64


def test_memory_in_whole_blocks():
    free = arenaut.plan([60, 20, 20], [0, 1, 1], [1, 2, 2])
    whole = arenaut.Problem([60, 20, 20], [0, 1, 1], [1, 2, 2], tokens=True)
    assert (free.arena, whole.plan().arena, whole.tokens) == (60, 80, True)
    assert arenaut.Problem.parse(whole.to_json()).tokens and pickle.loads(pickle.dumps(whole)).tokens
    with pytest.raises(arenaut.RejectedError):
        arenaut.Plan(whole, free.offsets)


def test_lifetimes_with_gaps():
    problem = arenaut.Problem([8, 8], lifetimes=[[(4, 6), (0, 2), (1, 3)], [(3, 4)]])
    assert problem.lifetimes == [[(0, 3), (4, 6)], [(3, 4)]]
    assert problem.plan().arena == 8


def everything():
    return arenaut.Problem(
        [10, 20, 30, 5], lifetimes=[[(0, 2)], [(1, 3)], [(0, 1), (2, 4)], [(0, 2)]], align=[1, 2, 4, 1],
        pools=[arenaut.Pool("a", 100, 4), arenaut.Pool("b", None, 8, (1, 0))],
        allowed=[["a"], ["a"], ["a", "b"], None], fixed=[None, 8, None, None], hints=[0, None, None, None],
        same_base=[None, None, None, None], inside=[None, None, None, 0], inside_delta=[0, 0, 0, 3],
        kinds=["input", None, "output", "scratch"], uses=[1, 2, 3, 1], names=["p", "q", None, "s"],
        conflicts=[(2, 1)], reserved=[(1, 8, 16)])


@pytest.mark.parametrize("back", [lambda p: pickle.loads(pickle.dumps(p)),
                                  lambda p: arenaut.Problem.parse(p.to_json())])
def test_a_problem_comes_back_whole(back):
    problem = everything()
    again = back(problem)
    assert again.to_json() == problem.to_json() and again.fingerprint == problem.fingerprint
    assert again.names == ["p", "q", "buffer2", "s"] and again.conflicts == [(1, 2)]
    assert again.pools == problem.pools and again.kinds == problem.kinds
    assert list(again.plan().offsets) == list(problem.plan().offsets)
    assert repr(again) == "<Problem: 4 buffers, 65 bytes, 2 pools>"


def test_csv():
    problem = arenaut.Problem(SIZES, FIRST, END, align=16)
    again = arenaut.Problem.parse(problem.to_csv())
    assert list(again.sizes) == SIZES and list(again.align) == [16] * 3
    assert again.lifetimes == [[(0, 2)], [(1, 3)], [(2, 4)]]


def test_a_plan_as_text_and_file(tmp_path):
    plan = arenaut.plan(SIZES, FIRST, END, align=16)
    document = json.loads(plan.to_json())
    assert document["schema"] == "arenaut.plan/1" and document["result"]["arena"] == 212
    assert plan.to_csv().splitlines()[0].endswith(",offset")
    for name in "plan.json", "plan.csv", "plan.svg", "plan.html", "plan.h":
        plan.save(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["plan.csv", "plan.h", "plan.html", "plan.json", "plan.svg"]
    assert arenaut.open(tmp_path / "plan.json").plan().arena == 212
    plan.problem.save(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text())["schema"] == "arenaut.problem/1"
    plan.view(tmp_path / "seen.svg")
    assert (tmp_path / "seen.svg").read_text() == plan._repr_svg_()


def test_how_it_shows():
    plan = arenaut.plan(SIZES, FIRST, END, align=16)
    assert repr(plan) == "<Plan: 3 buffers in 212 bytes, minimal>"
    assert "<svg" in plan._repr_svg_()
    shown = plan._repr_html_()
    assert "3 buffers in 212 bytes" in shown
    picture = re.search('src="data:image/svg[+]xml;base64,([^"]+)"', shown)[1]
    assert base64.b64decode(picture).decode() == plan._repr_svg_()
    page = re.search('srcdoc="([^"]+)"', shown)[1]
    assert html.unescape(page) == plan.report("html") and 'sandbox="allow-scripts' in shown
    assert "wasm-unsafe-eval" in plan.report("html", replan=True) and "wasm-unsafe-eval" not in page
    assert repr(plan.explain()).startswith("peak ")


def test_a_plan_made_elsewhere_is_checked():
    problem = arenaut.Problem(SIZES, FIRST, END)
    assert arenaut.Plan(problem, [0, 100, 0]).status == "optimal"
    loose = arenaut.Plan(problem, [0, 100, 200])
    assert (loose.arena, loose.bound, loose.status, loose.stopped_by) == (250, 200, "feasible", "end")
    with pytest.raises(arenaut.RejectedError) as wrong:
        arenaut.Plan(problem, [0, 99, 0])
    with pytest.raises(arenaut.InputError, match="offsets has 2 entries; allowed: 3"):
        arenaut.Plan(problem, [0, 100])
    finding = wrong.value.finding
    assert (finding["rule"], finding["a"], finding["b"]) == ("overlap", 0, 1)
    assert (finding["first"], finding["end"]) == (99, 100)


def test_no_plan_has_a_witness():
    with pytest.raises(arenaut.NoPlanError) as none:
        arenaut.plan([60, 60, 1], [0, 0, 0], [1, 1, 1], pools={"sram": 100}, names=["x", "y", "z"])
    witness = none.value.witness
    assert witness["bytes_over"] == 21 and sorted(witness["names"]) == ["x", "y", "z"]
    again = pickle.loads(pickle.dumps(none.value))
    assert again.witness == witness and str(again) == str(none.value)


def test_a_planner_that_finds_no_plan_has_proven_nothing():
    with pytest.raises(arenaut.RefusedError, match="although there may be one") as none:
        arenaut.plan([16, 16, 16], [0, 1, 2], [2, 3, 4], pools={"sram": 32}, planner="naive")
    assert none.value.status == 12


def test_the_same_answer_every_time(hard):
    plans = [arenaut.plan(*hard, effort=20000, threads=threads) for threads in (1, 1, 2)]
    assert len({(plan.arena, plan.bound, bytes(plan.offsets)) for plan in plans}) == 1
    assert pickle.loads(pickle.dumps(plans[0])).offsets == plans[0].offsets


def test_progress_is_told_and_can_stop(hard):
    told = []

    def progress(best, bound, seconds):
        told.append((best, bound, seconds))
        return len(told) < 5

    plan = arenaut.plan(*hard, time=60, progress=progress)
    assert len(told) == 5 and plan.stopped_by == "interrupt"
    assert all(bound <= plan.arena for _, bound, _ in told)


def test_exceptions_of_progress_come_out(hard):
    def progress(*_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        arenaut.plan(*hard, progress=progress)


def test_time(hard):
    began = time.monotonic()
    plan = arenaut.plan(*hard, time=0.2)
    assert plan.stopped_by in ("time", "proof") and time.monotonic() - began < 30
    assert plan.seconds < 30


@pytest.mark.skipif(os.name == "nt", reason="there no process can send itself SIGINT alone")
def test_interrupt_keeps_the_best_plan(hard):
    # What runs in the background of a shell ignores it, and so would this process.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    plan = arenaut.plan(*hard, time=60)
    timer.join()
    assert plan.stopped_by == "interrupt" and plan.seconds < 30
    plan.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_finds_nothing_to_stop_is_not_lost():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), Watch(False):
        signal.raise_signal(signal.SIGINT)
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def test_threads_and_other_python_code_go_on(hard):
    problem = arenaut.Problem(*hard)
    alone = problem.plan(effort=20000)
    with ThreadPoolExecutor(4) as pool:
        plans = [pool.submit(problem.plan, effort=20000) for _ in range(8)]
        counted = 0
        while not all(plan.done() for plan in plans):
            counted += 1
    assert counted > 0
    assert all(plan.result().offsets == alone.offsets for plan in plans)


def test_a_line_on_a_terminal(hard, monkeypatch, capsys):
    import sys

    from arenaut import watch
    monkeypatch.setattr(watch, "FIRST_SHOWN", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    arenaut.plan(*hard, time=0.3)
    shown = capsys.readouterr().err
    assert "best " in shown and "gap " in shown and shown.endswith("\r\x1b[K")
    arenaut.plan(*hard, time=0.3, progress=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    arenaut.plan(*hard, time=0.3)
    assert capsys.readouterr().err == ""
    arenaut.plan(*hard, time=0.3, progress=True)
    assert "best " in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["list", "numpy"])
def test_a_plan_that_was_checked_does_not_change(kind, tmp_path):
    make = list if kind == "list" else pytest.importorskip("numpy").array
    plan = arenaut.plan(make([64, 32, 64, 16]), make([0, 1, 2, 0]), make([2, 3, 4, 4]))
    before = plan.offsets.tolist()
    for change in (lambda: plan.offsets.__setitem__(0, 80), lambda: plan.pools.__setitem__(0, 1)):
        try:
            change()
        except ValueError:
            assert kind == "numpy"
    for name in ("arena", "offsets", "status", "problem"):
        with pytest.raises(AttributeError, match=f"'{name}' of a plan"):
            setattr(plan, name, getattr(plan, name))
    again = pickle.loads(pickle.dumps(plan))
    assert again.offsets.tolist() == plan.offsets.tolist() == before
    plan.save(tmp_path / "plan.json")
    vars(plan)["_offsets"] = type(plan._offsets)(plan._offsets.typecode, bytes(32)) if kind == "list" else 0 * plan._offsets
    with pytest.raises(arenaut.RejectedError):
        plan.save(tmp_path / "wrong.json")
    assert not (tmp_path / "wrong.json").exists()


@pytest.mark.parametrize(("column", "number"), [("fixed", 2**64 - 1), ("hints", 2**64 - 1), ("same_base", 2**32 - 1)])
def test_what_stands_for_none_inside_is_no_number_to_give(column, number):
    np = pytest.importorskip("numpy")
    for values in ([None, number], np.array([0, number], dtype="u8")):
        with pytest.raises(arenaut.InputError, match=str(number)) as error:
            arenaut.Problem([4, 4], [0, 0], [1, 1], **{column: values})
        assert error.value.position == 1


def test_all_names_can_be_completed():
    assert set(arenaut.__all__) <= set(dir(arenaut)) and "TYPE_CHECKING" not in dir(arenaut)
    assert all(hasattr(arenaut, name) for name in dir(arenaut))


def test_a_misspelt_constraint_gets_the_nearest():
    with pytest.raises(TypeError, match="no option 'alignment': did you mean 'align'"):
        arenaut.plan([4], [0], [1], alignment=16)
    with pytest.raises(TypeError, match="no option 'thread': did you mean 'threads'"):
        arenaut.plan([4], [0], [1], thread=2)


# ---- what a plan's file states of the ops ----

OVER = json.dumps({"schema": "arenaut.plan/1",
                   "result": {"status": "feasible", "kernels": "mine-1.0", "unmeasured": True, "rounded_ops": 2},
                   "schedule": [1, 0, 1],
                   "buffers": [{"name": "a", "size": 64, "first": 0, "end": 2, "offset": 0},
                               {"name": "b", "size": 64, "first": 1, "end": 3, "offset": 0, "same_base_as": 0}]})


@pytest.mark.parametrize("again", [lambda problem: problem, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_a_plan_of_a_plans_problem_states_what_that_did(again):
    plan = again(arenaut.Problem.parse(OVER)).plan()
    document = json.loads(plan.to_json())
    result = document["result"]
    assert document["schedule"] == [1, 0, 1] and "another schedule" in plan.report("header")
    assert (result["kernels"], result["unmeasured"], result["rounded_ops"]) == ("mine-1.0", True, 2)
    assert "not the same bits" in plan.report("header") and "mine-1.0" in plan.report("header")


@pytest.mark.parametrize("stated", [
    {"tiles": [{"first_op": 1, "last_op": 2, "pieces": 2, "mode": "rows"}], "schedule": [2, 1, 0]},
    {"copies": [1], "schedule": [1, 0]}, {"copies": [0, 1]}, {"joins": [4, 2]}, {"joins": []}])
def test_a_plan_of_a_plans_problem_states_its_ops(stated):
    problem = arenaut.Problem.parse(json.dumps({**json.loads(OVER), "schedule": None, **stated}))
    for again in problem, pickle.loads(pickle.dumps(problem)):
        document = json.loads(again.plan().to_json())
        assert {member: document[member] for member in ("tiles", "copies", "joins", "schedule") if member in document} == stated


def test_a_plan_of_a_plans_problem_keeps_its_certificate():
    sizes = [1000, 5000, 2000, 6007, 3000, 1000, 1000, 1000, 1000, 1000]
    ops = [("Relu", [0], [1]), ("RELU", [1], [2]), ("Neg", [2], [3]), ("Add", [2], [4, 5]), ("Neg", [3], [6]),
           ("Relu", [1, 5], [7, 8]), ("Relu", [0, 4], [9])]
    model = arenaut.Model.parse(json.dumps({
        "schema": "arenaut.program/1", "inputs": [0], "outputs": [6, 7, 8, 9],
        "tensors": [{"name": f"t{k}", "bytes": size} for k, size in enumerate(sizes)],
        "ops": [{"name": name, "inputs": inputs, "outputs": outputs, "pure": True}
                for name, inputs, outputs in ops]}).encode(), "x.program.json")
    made = model.plan(recompute=True)
    stated = json.loads(made.to_json())["rematerialization"]
    assert len(stated["runs"]) > len(ops)
    problem = arenaut.Problem.parse(made.to_json())
    for again in problem, pickle.loads(pickle.dumps(problem)), made.problem:
        document = json.loads(again.plan().to_json())
        assert document["rematerialization"] == stated and "schedule" not in document


def test_a_problem_of_numbers_states_nothing():
    result = json.loads(arenaut.plan(SIZES, FIRST, END).to_json())["result"]
    assert not {"kernels", "unmeasured", "rounded_ops"} & set(result)
    assert "schedule" not in arenaut.plan(SIZES, FIRST, END).to_json()


def test_a_models_problem_names_the_kernels_that_it_stands_on():
    path = os.path.join(os.path.dirname(__file__), "..", "data", "elementwise_float.tflite")
    model = arenaut.open(path, inplace=True)
    assert json.loads(model.problem.plan().to_json())["result"]["kernels"] == "reference"
    assert json.loads(model.plan().problem.plan().to_json())["result"]["kernels"] == "reference"
    assert "kernels" not in json.loads(arenaut.open(path).problem.plan().to_json())["result"]
