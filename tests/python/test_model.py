"""arenaut.open, and what can be asked of a model: the same as the command answers."""

import ctypes
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import DATA

import arenaut

FILES = sorted(path for kind in ("*.tflite", "pte/*.pte", "pt2/norm*.pt2", "onnx/operators.onnx", "*.csv",
                                 "json/*.json", "tvm/views.json", "xla/chain.hlo.pb", "xla/scan.hlo.pb",
                                 "iree/[bt]*.mlir") for path in DATA.glob(kind))


def command(*arguments):
    done = subprocess.run([sys.executable, "-m", "arenaut", *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_of_the_file(document, plan):
    """Whether the command describes the plan that the file holds, since no new one needs less."""
    return plan.today is not None and document["result"]["planner"] == plan.today.planner


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_command_says_the_same(path):
    theirs = json.loads(command("size", path, "--json"))
    plan = arenaut.open(path).plan()
    plan.check()
    result = theirs["result"]
    if is_of_the_file(theirs, plan):
        assert int(result["arena"]) == plan.now == plan.today.arena
        return
    # JSON has numbers past 2^53 as text.
    assert (plan.arena, plan.bound, plan.status) == (int(result["arena"]), int(result["lower_bound"]),
                                                     result["status"])
    assert plan.planner == result["planner"] and plan.model.format == theirs["input"]["format"]
    assert [int(b["offset"] or 0) for b in theirs["buffers"]] == list(plan.offsets)
    again = pickle.loads(pickle.dumps(plan))
    assert repr(again) == repr(plan) and again.offsets == plan.offsets and again.now == plan.now


@pytest.mark.parametrize("rights", [{}, {"inplace": True}, {"overlap": True}, {"split": True, "overlap": True}], ids=str)
def test_a_file_that_holds_a_plan_is_described_by_it(tmp_path, rights):
    path = tmp_path / "planned.tflite"
    model = arenaut.open(DATA / "inception_int8.tflite")
    made = model.plan(**rights)
    made.save(path)
    held = arenaut.open(path)
    theirs = json.loads(command("size", path, "--json"))
    size = held.size()
    assert size.now == size.planned == size.needed == made.planned == int(theirs["result"]["arena"])
    assert size.bound == int(theirs["result"]["lower_bound"])
    assert size.reserve == made.tensor_arena.total == theirs["tensor_arena"][0]["bytes"]
    assert f"head   {made.planned:,} bytes" in held.explain()
    anew = held.size(inplace=False, overlap=False)
    assert anew.now == made.planned and anew.planned == held.plan(inplace=False, overlap=False).planned


def test_a_model_from_file_to_file(tmp_path):
    model = arenaut.open(DATA / "inception_int8.tflite")
    assert model.format == "tflite" and repr(model).endswith("inception_int8.tflite, tflite>")
    assert model.size() == (41472, 34560, 34560, 34560, "optimal", 39376)
    assert model.size().now == 41472
    assert len(model.problem) == 25 and model.problem.names[0]
    assert model.program["schema"] == "arenaut.program/1"
    assert "peak" in model.explain()
    with pytest.raises(arenaut.RefusedError, match="holds no plan"):
        model.check()
    plan = model.plan()
    assert plan.outcome is None and repr(plan) == (
        "<Plan of inception_int8.tflite: 34,560 bytes, minimal, today 41,472>")
    plan.save(tmp_path / "small.tflite")
    arenaut.open(tmp_path / "small.tflite").check()
    assert arenaut.open(tmp_path / "small.tflite").size().now == 34560
    pickle.loads(pickle.dumps(plan)).save(tmp_path / "again.tflite")
    assert (tmp_path / "again.tflite").read_bytes() == (tmp_path / "small.tflite").read_bytes()
    for name in "plan.json", "plan.csv", "plan.svg", "plan.h":
        plan.save(tmp_path / name)
    assert "data:image/svg+xml" in plan._repr_html_()
    assert len(arenaut.open(tmp_path / "plan.json").problem) == 25


def test_options_of_models():
    model = arenaut.open(DATA / "elementwise_float.tflite")
    today = model.plan().arena
    assert model.plan(inplace=True).arena < today
    assert model.plan(inplace="only", inplace_ops={"TANH": 0}).arena <= today
    assert model.plan(align=64).problem.align[0] == 64
    assert model.plan(target="litert").arena > 0
    assert len(model.plan(alloc_io=False).problem) < len(model.problem)
    assert model.plan(planner="naive").arena > today
    name = model.problem.names[0]
    pinned = model.plan(pools={"sram": 65536}, pins={name: ("sram", 4096)})
    assert pinned.offsets[pinned.problem.names.index(name)] == 4096
    with pytest.raises(arenaut.NoPlanError) as none:
        model.plan(pools={"sram": 1000})
    assert none.value.witness["bytes_over"] > 0


@pytest.mark.parametrize("rights", [["split"], ["reorder"], ["split", "reorder"], ["split", "overlap", "inplace"]])
def test_a_plan_of_a_rewritten_model_is_pickled(tmp_path, rights):
    """Its rewrite is found again by plans of its own."""
    plan = arenaut.open(DATA / "inception_int8.tflite").plan(**dict.fromkeys(rights, True))
    again = pickle.loads(pickle.dumps(plan))
    assert (again.arena, again.status, again.stages) == (plan.arena, plan.status, plan.stages)
    assert list(again.offsets) == list(plan.offsets)
    for name, one in (("plan", plan), ("again", again)):
        one.save(tmp_path / f"{name}.tflite")
    assert (tmp_path / "plan.tflite").read_bytes() == (tmp_path / "again.tflite").read_bytes()


def test_kernels_and_overlap(tmp_path):
    model = arenaut.open(DATA / "mobilenet_v1_025_96_int8.tflite")
    better = model.plan(inplace=True, overlap=True, kernels="reference")
    better.check()
    assert better.arena < model.plan(inplace=True).arena < model.size().now
    better.save(tmp_path / "better.tflite")
    arenaut.open(tmp_path / "better.tflite").check()
    assert pickle.loads(pickle.dumps(better)).arena == better.arena
    own = tmp_path / "own.json"
    own.write_text(command("kernels", "reference", "--json"))
    assert model.plan(inplace=True, overlap=True, kernels=own).arena == better.arena
    own.write_text("{}")
    with pytest.raises(arenaut.InputError, match="schema"):
        model.plan(kernels=own)
    with pytest.raises(arenaut.InputError, match="there is no kernel set 'refrence': did you mean"):
        model.plan(kernels="refrence")


def test_the_whole_arena_is_what_the_command_says():
    for path in FILES:
        plan = arenaut.open(path).plan()
        document = json.loads(command("size", path, "--json"))
        if is_of_the_file(document, plan):
            continue
        theirs = [row for row in document.get("tensor_arena", ()) if row["of"] == "planned"]
        ours = plan.tensor_arena
        assert bool(theirs) == (ours is not None)
        if ours:
            said = [int(theirs[0][name]) for name in ("head", "scratch", "tail", "bytes")]
            assert [ours.head, ours.scratch, ours.tail, ours.total] == said
            assert ours.exact == theirs[0]["exact"] and (ours.op is None or not ours.exact)
    assert arenaut.open(DATA / "inception_int8.tflite").size().reserve == 39376
    assert arenaut.open(DATA / "fragmented.csv").size().reserve is None


def test_models_in_one_arena_are_what_the_command_says():
    paths = [DATA / f"{name}.tflite" for name in ("mobilenet_v1_025_96_int8", "resnet_int8", "hello_world_int8", "scratch_int8")]
    for flags, words in (({}, []), ({"overlap": True}, ["--overlap", "on"])):
        theirs = json.loads(command("plan", *paths, "--one-arena", "--json", *words))[-1]["planned"]
        ours = arenaut.one_arena(arenaut.open(path).plan(**flags) for path in paths)
        assert [ours.head, ours.scratch, ours.tail, ours.total, ours.exact] == [
            theirs["head"], theirs["scratch"], theirs["tail"], theirs["bytes"], theirs["exact"]]
    plan = arenaut.open(paths[0]).plan()
    assert arenaut.one_arena([plan]) == plan.tensor_arena
    with pytest.raises(ValueError, match="at least one"):
        arenaut.one_arena([])
    with pytest.raises(ValueError, match="no interpreters that share an arena"):
        arenaut.one_arena([plan, arenaut.open(DATA / "fragmented.csv").plan()])


@pytest.mark.parametrize("name", ["two_streams.trace.csv", "xla/cnn.hlo.pb"])
def test_more_effort_would_not_change_a_plan_that_was_made_elsewhere(name):
    assert arenaut.open(DATA / name).plan(effort=1000).today.stopped_by == "end"


def test_beside_what_the_runtime_does_today():
    plan = arenaut.open(DATA / "inception_int8.tflite").plan()
    assert plan.today.arena == plan.now == 41472 and len(plan.today.offsets) == len(plan.offsets)
    plan.today.check()
    alone, beside = plan.report("svg"), plan.report("svg", compare={"now": plan.today})
    assert beside.count("<rect") > 1.8 * alone.count("<rect")
    assert len(plan.report("svg", steps=(0, 3))) < len(alone)
    assert arenaut.open(DATA / "fragmented.csv").plan().today is None


#: Both WIDENs come first, so that what they make is alive at once.
BRANCHES = {
    "schema": "arenaut.program/1",
    "tensors": [{"name": name, "bytes": size} for name, size in
                (("x", 64), ("a", 4096), ("b", 4096), ("c", 64), ("d", 64), ("y", 64))],
    "inputs": ["x"], "outputs": ["y"],
    "ops": [{"name": name, "inputs": list(inputs), "outputs": [output]} for name, inputs, output in
            (("WIDEN", "x", "a"), ("WIDEN", "x", "b"), ("NARROW", "a", "c"), ("NARROW", "b", "d"),
             ("JOIN", "cd", "y"))]}


def test_another_order():
    model = arenaut.Model.parse(json.dumps(BRANCHES).encode(), name="branches.program.json")
    assert (model.plan().arena, model.plan(reorder=True).arena) == (8256, 4224)


def test_stages_that_fit_a_budget_and_no_dead_bytes(tmp_path):
    model = arenaut.open(DATA / "inception_int8.tflite")
    least, some = model.plan(split=True), model.plan(split=True, budget=model.size().reserve - 1)
    assert least.tensor_arena.total <= some.tensor_arena.total < model.size().reserve
    some.save(tmp_path / "split.tflite")
    model.plan(split=True, budget=model.size().reserve - 1, compact=True).save(tmp_path / "compact.tflite")
    sizes = [os.path.getsize(tmp_path / f"{name}.tflite") for name in ("split", "compact")]
    assert sizes[1] <= sizes[0]
    with pytest.raises(arenaut.InputError, match="budget is 0"):
        model.plan(split=True, budget=0)


def test_options_hold_from_the_beginning():
    model = arenaut.open(DATA / "pt2" / "count.pt2", dims={"*": (1, 2)})
    assert model.size() == pickle.loads(pickle.dumps(model)).size()
    assert arenaut.open(DATA / "elementwise_float.tflite", align=64).problem.align[0] == 64


def test_several_files_as_one():
    paths = [DATA / "pt2" / "cache.pt2", DATA / "pt2" / "decode.pt2"]
    together = arenaut.open(paths, share=True).plan()
    apart = sum(arenaut.open(path).plan().arena for path in paths)
    assert together.arena < apart


def test_a_bare_problem(tmp_path):
    model = arenaut.open(DATA / "fragmented.csv")
    assert model.program is None
    plan = model.plan()
    assert plan.outcome is None and plan.now is None
    plan.save(tmp_path / "solved.csv")
    arenaut.open(tmp_path / "solved.csv").check()


def test_threads():
    model = arenaut.open(DATA / "inception_int8.tflite")
    with ThreadPoolExecutor(4) as pool:
        plans = list(pool.map(lambda _: model.plan(), range(12)))
        shown = set(pool.map(lambda plan: plan._repr_svg_(), plans))
    assert len(shown) == 1 and len({bytes(plan.offsets) for plan in plans}) == 1


def branches():
    """Two wide branches side by side, of which one could run after the other."""
    sizes = {"x": 64, "a": 800, "b": 800, "c": 64, "d": 64, "y": 64}
    ops = [("WIDEN", ["x"], ["a"]), ("WIDEN", ["x"], ["b"]), ("NARROW", ["a"], ["c"]),
           ("NARROW", ["b"], ["d"]), ("JOIN", ["c", "d"], ["y"])]
    return {"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
            "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
            "ops": [{"name": kind, "inputs": inputs, "outputs": outputs}
                    for kind, inputs, outputs in ops]}


def test_ops_in_the_best_order(tmp_path):
    path = tmp_path / "branches.program.json"
    path.write_text(json.dumps(branches()))
    model = arenaut.open(path)
    plan = model.plan(reorder=True)
    plan.check()
    assert plan.order[:3] == (1664, 928, 928) and plan.arena == 928
    assert sorted(plan.order.ops) == [0, 1, 2, 3, 4] and plan.order.ops != (0, 1, 2, 3, 4)
    assert model.plan().order is None and model.size().planned == 1664
    chain = arenaut.open(DATA / "hello_world_int8.tflite").plan(reorder=True).order
    assert chain.ops is None and chain.given == chain.best == chain.bound and chain.joins is None


def test_joins_in_place_are_chosen_with_the_order():
    tensors = [("x", 16), ("wide_a", 1024), ("a", 128), ("wide_b", 1024), ("b", 128), ("j", 256), ("y", 16)]
    ops = [(["x"], "wide_a"), (["wide_a"], "a"), (["x"], "wide_b"), (["wide_b"], "b"), (["a", "b"], "j"), (["j"], "y")]
    model = arenaut.Model.parse(json.dumps({
        "schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
        "tensors": [{"name": name, "bytes": 4 * n, "dims": [n]} for name, n in tensors],
        "ops": [{"name": "CONCATENATION" if len(inputs) > 1 else "OP", "inputs": inputs, "outputs": [output]}
                for inputs, output in ops]}).encode(), "joins.json")
    order = model.plan(passes="slices", reorder=True).order
    assert order.joins == (0, 1) and order.given > order.best == order.bound == 5120


def test_views_as_copies_are_chosen_with_the_order(tmp_path):
    """One of three parts is read late; the ops stay where they are."""
    model = arenaut.open(DATA / "pt2" / "parts.pt2")
    order = model.plan(reorder=True).order
    assert order.views == (1, 3) and order.joins is None and order.ops is None
    assert order.given > order.best == order.bound
    model.plan(reorder=True).save(tmp_path / "less.pt2")
    assert arenaut.open(tmp_path / "less.pt2").plan().planned == order.best
    assert model.plan().order is None


def waiting():
    """b waits, with what it was made of, below a large c."""
    sizes = {"x": 64, "a": 800, "b": 800, "c": 2400, "d": 64, "y": 64}
    ops = [("CONV", ["x"], ["a"]), ("RELU", ["a"], ["b"]), ("CONV", ["b"], ["c"]),
           ("CONV", ["c"], ["d"]), ("JOIN", ["d", "b", "a"], ["y"])]
    return {"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
            "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
            "ops": [{"name": kind, "inputs": inputs, "outputs": outputs}
                    for kind, inputs, outputs in ops]}


def test_cheap_ops_that_run_again(tmp_path):
    path = tmp_path / "waiting.program.json"
    path.write_text(json.dumps(waiting()))
    model = arenaut.open(path)
    plan = model.plan(recompute=True)
    plan.check()
    assert plan.recomputed[:4] == (4064, 4000, 1, 800) and plan.arena == 4000
    assert model.plan().recomputed is None and model.plan().arena == 4064
    limited = model.plan(recompute=True, max_ops=0)
    assert limited.recomputed.added_ops == 0 and limited.arena == 4064
    assert plan.recomputed.added_time >= plan.recomputed.least_time > 0 and plan.recomputed.floor <= 4000
    costs = tmp_path / "costs.csv"
    costs.write_text("method,op,nanoseconds\n" + "".join(f",{op},{100 + op}\n" for op in range(len(waiting()["ops"]))))
    fitted = model.plan(recompute=True, fit=4000, costs=costs)
    assert fitted.arena <= 4000 and fitted.recomputed.fits
    assert fitted.recomputed.time == sum(100 + op for op in range(len(waiting()["ops"])))
    assert not model.plan(recompute=True, fit=10, device="cpu").recomputed.fits
    assert model.plan(recompute=True, device=(10**12, 10**11)).recomputed.time > 0
    with pytest.raises(TypeError, match="recompute=True"):
        model.plan(fit=4000)
    with pytest.raises(arenaut.InputError, match="a100, h100, cpu"):
        model.plan(recompute=True, device="abacus")
    for wrong in ((10**12,), 5, (1, 2, 3), {}):
        with pytest.raises(arenaut.InputError, match="a pair of rates"):
            model.plan(recompute=True, device=wrong)
    costs.write_text("method,op,nanoseconds\n,999,1\n")
    with pytest.raises(arenaut.InputError, match="999"):
        model.plan(recompute=True, costs=costs)
    both = model.plan(recompute=True, reorder=True)
    assert both.arena == 4000 and both.order.bound == 4000


def test_ops_that_run_again_are_saved_in_a_pt2(tmp_path):
    plan = arenaut.open(DATA / "pt2" / "waiting.pt2").plan(recompute=True)
    plan.save(tmp_path / "again.pt2")
    saved = arenaut.open(tmp_path / "again.pt2").plan()
    assert plan.recomputed.added_ops == 2
    assert saved.arena == plan.arena < arenaut.open(DATA / "pt2" / "waiting.pt2").plan().arena


def test_ops_piece_by_piece():
    model = arenaut.open(DATA / "mobilenet_v1_025_96_int8.tflite")
    whole, split = model.size().planned, model.plan(split=True)
    split.check()
    assert split.planned < whole == model.size(split=True, max_ops=0).planned
    assert model.size(split=[(0, 1, 2, "channels")]).planned == whole
    with pytest.raises(arenaut.InputError, match="split is 'chanels'; allowed: channels, rows, kept"):
        model.size(split=[(0, 1, 2, "chanels")])
    with pytest.raises(arenaut.InputError, match="split is 1; allowed: an op from 3 on"):
        model.size(split=[(3, 1, 2, "rows")])


def test_a_plan_is_taken_out_again(tmp_path):
    original, planned = DATA / "inception_int8.tflite", tmp_path / "planned.tflite"
    arenaut.open(original).plan().save(planned)
    arenaut.open(planned).strip(tmp_path / "again.tflite")
    assert (tmp_path / "again.tflite").read_bytes() == original.read_bytes()
    for path, text in (original, "no plan"), (DATA / "foreign_plan_float.tflite", "another tool's"), \
            (DATA / "fragmented.csv", "cannot be taken out of the format csv"):
        with pytest.raises(arenaut.RefusedError, match=text):
            arenaut.open(path).strip(tmp_path / "no.tflite")
    assert sorted(os.listdir(tmp_path)) == ["again.tflite", "planned.tflite"]


@pytest.mark.parametrize("pool, right", [(1, True), (0, False)])
def test_places_that_a_program_states_are_checked_in_their_pools(pool, right, tmp_path):
    places = {"a": (0, 0), "b": (pool, 0)}
    program = {"schema": "arenaut.program/1", "given": "foreign",
               "tensors": [{"name": name, "bytes": 64, "given": {"pool": k, "offset": at}}
                           for name, (k, at) in places.items()],
               "ops": [{"name": "conv", "inputs": [], "outputs": ["a"]},
                       {"name": "relu", "inputs": ["a"], "outputs": ["b"]}]}
    path = tmp_path / "dump.program.json"
    path.write_text(json.dumps(program))
    done = subprocess.run([sys.executable, "-m", "arenaut", "check", path], capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == (0 if right else 1)
    if right:
        arenaut.open(path).check()
    else:
        with pytest.raises(arenaut.RejectedError):
            arenaut.open(path).check()


def test_what_the_library_has_of_a_model_is_there_as_long_as_it_is_read():
    model = arenaut.open(DATA / "inception_int8.tflite")
    pipeline = model._prepared({})
    alive, problem = weakref.ref(pipeline), pipeline.record.problem
    del pipeline
    gc.collect()
    assert alive() and arenaut.Problem._copy(problem.contents).names == model.problem.names
    del problem
    gc.collect()
    assert not alive()


CONSTANT_COLLECTION = """
import gc, sys
import arenaut

rows = range(400)
given = arenaut.Problem([10] * 400, rows, [k + 3 for k in rows], conflicts=[(k, k + 9) for k in rows[:300]])
model = arenaut.Model.parse(given.to_json().encode())
gc.set_threshold(1)
for _ in range(3):
    found = model.problem
    print(found.conflicts == given.conflicts, list(found.sizes) == [10] * 400, found.bound)
"""


@pytest.mark.skipif(not hasattr(gc, "set_threshold"), reason="this Python collects when it likes")
def test_a_problem_that_is_copied_while_garbage_is_collected():
    done = subprocess.run([sys.executable, "-c", CONSTANT_COLLECTION], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, "MALLOC_PERTURB_": "85"})
    assert (done.returncode, done.stdout) == (0, "True True 30\n" * 3)


def test_pointers_are_made_without_cast(tmp_path, monkeypatch):
    """PyPy's own passes its arguments through a list that all threads share, and mixes them up."""
    def refuse(*_):
        raise AssertionError("ctypes.cast is not safe in threads")
    monkeypatch.setattr(ctypes, "cast", refuse)
    plan = arenaut.open(DATA / "inception_int8.tflite").plan()
    plan.save(tmp_path / "planned.tflite")
    arenaut.open(tmp_path / "planned.tflite").strip(tmp_path / "again.tflite")
    problem = arenaut.Problem([3, 4], [0, 1], [2, 3], names=["a", "b"], conflicts=[(0, 1)], pools={"fast": 64})
    assert pickle.loads(pickle.dumps(problem)).plan().arena == 7


REWRITES = {"split": True, "overlap": True, "recompute": True, "reorder": True}


def test_ctrl_c_before_there_is_a_plan_raises_keyboard_interrupt():
    """At the first question of all, which is one of the search for rewrites: notes come behind it, and it
    must get past them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    told = []

    def progress(*about):
        told.append(about)
        signal.raise_signal(signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            arenaut.open(DATA / "inception_int8.tflite").plan(progress=progress, **REWRITES)
        assert len(told) == 1 and told[0][0] is None
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert arenaut.open(DATA / "inception_int8.tflite").plan(progress=False, **REWRITES).arena > 0
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_in_a_note_is_not_lost(monkeypatch):
    """A note calls Python, and what is raised there ends nowhere."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    real, told = arenaut.pipeline.text_of, []

    def text_of(text):
        if b"nothing is" in text and not told:
            told.append(text)
            signal.raise_signal(signal.SIGINT)
        return real(text)

    monkeypatch.setattr(arenaut.pipeline, "text_of", text_of)
    try:
        with pytest.raises(KeyboardInterrupt):
            arenaut.open(DATA / "resnet_int8.tflite").plan(progress=False, **REWRITES)
        assert told
    finally:
        signal.signal(signal.SIGINT, before)


def test_progress_ends_the_search_for_rewrites_and_leaves_a_plan():
    told = []

    def progress(*about):
        told.append(about)
        return False

    plan = arenaut.open(DATA / "inception_int8.tflite").plan(progress=progress, **REWRITES)
    assert len(told) == 1 and plan.stopped_by in ("interrupt", "proof")
    plan.check()


def test_time_counts_for_all_that_is_searched():
    plan = arenaut.open(DATA / "resnet_int8.tflite").plan(time=0, progress=False, **REWRITES)
    assert plan.stopped_by in ("time", "proof") and plan.order is None and plan.recomputed is None
    plan.check()


def test_a_plan_says_which_kernels_it_is_right_for():
    model = arenaut.open(DATA / "mobilenet_v1_025_96_int8.tflite")
    apart, over = model.plan(), model.plan(overlap=True)
    assert apart.kernels is None and over.kernels == "reference"
    assert "kernels" not in repr(apart) and "minimal with the kernels 'reference'" in repr(over)


def test_an_order_is_shown_without_its_numbers():
    order = arenaut.open(DATA / "pte" / "gradients.pte").plan(reorder=True).order
    assert len(order.ops) == 32 and "ops=<32 ops>" in repr(order) and len(repr(order)) < 200
    assert "ops=None" in repr(order._replace(ops=None))


def test_an_open_file_is_refused_by_its_name():
    with open(DATA / "hello_world_int8.tflite", "rb") as file:
        with pytest.raises(arenaut.InputError, match="path is <.*hello_world_int8.*allowed: a path"):
            arenaut.open(file)
