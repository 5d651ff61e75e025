"""What is wrong is said, with its place, what was found and what is allowed; nothing is lost or half
written."""

import os
import re
import subprocess
import sys
from array import array
from concurrent.futures import Future

import pytest
from conftest import DATA

import arenaut

MODEL = DATA / "inception_int8.tflite"


def refused(sizes=(1, 2), first=(0, 0), end=(1, 1), **more):
    with pytest.raises(arenaut.InputError) as error:
        arenaut.plan(sizes, first, end, **more)
    return error.value


def test_lengths_that_differ():
    error = refused(first=[0])
    assert "first has 1 entries; allowed: 2" in str(error) and error.found == 1
    assert "align has 3" in str(refused(align=[1, 1, 1]))
    assert "names has 1" in str(refused(names=["a"]))


@pytest.mark.parametrize("value", [-1, 1.5, float("nan"), None, "7", 2**64])
def test_sizes_that_are_no_sizes(value):
    error = refused(sizes=[1, value])
    assert (error.position, error.allowed) == (1, f"whole numbers from 0 to {2**64 - 1}")
    assert error.found == value or value != value
    assert str(error).startswith(f"sizes[1] is {value!r}")


@pytest.mark.parametrize("sizes", ["ab", 5, None, memoryview(array("d", [1, 2])), b"ab".decode, {1, 2}, {1: 2, 3: 4}])
def test_what_is_no_column(sizes):
    assert re.match(r"sizes(\[0\])? is .*; allowed: ", str(refused(sizes=sizes)))


def test_numpy_columns_that_are_no_numbers():
    numpy = pytest.importorskip("numpy", reason="this environment is the one without numpy")
    assert refused(sizes=numpy.array([1, -5])).found == -5
    assert refused(sizes=numpy.array([1.0, float("nan")])).position == 0
    assert refused(sizes=numpy.array([1, None])).position == 1
    assert "2 dimensions" in str(refused(sizes=numpy.ones((2, 2), dtype=int)))
    assert "bool" in str(refused(sizes=numpy.array([True, False])))
    assert "float64" in str(refused(sizes=numpy.array([])))
    assert "0 dimensions" in str(refused(sizes=numpy.array(7)))
    assert "array of object" in str(refused(sizes=numpy.array([1, 2], dtype=object)))
    assert refused(sizes=numpy.array([2**63, 1], dtype="uint64")).allowed is None  # of the library: too large
    assert refused(first=numpy.array([0, 2**63], dtype="uint64")).position == 1


def test_masked_values_are_no_values():
    numpy = pytest.importorskip("numpy", reason="this environment is the one without numpy")
    masked = numpy.ma.array([1, 2], mask=[False, True])
    assert (refused(sizes=masked).position, refused(end=masked).position) == (1, 1)
    assert arenaut.plan(masked[:1], [0], [1]).arena == 1


def test_buffers_in_a_form_that_python_does_not_read():
    numpy = pytest.importorskip("numpy", reason="this environment is the one without numpy")
    for kind in ">i4", "f2":
        assert "a buffer of format" in str(refused(sizes=memoryview(numpy.array([1, 2], dtype=kind))))


class Tensor:
    """What torch's are where numpy is not installed."""

    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __array__(self, *_, **__):
        import numpy
        return numpy.array(self.values)


def test_what_makes_arrays_of_itself(monkeypatch):
    sizes, wrong = Tensor(100, 100), Tensor(1, 2.5)
    for missing in False, True:
        if missing:
            monkeypatch.setitem(sys.modules, "numpy", None)
        assert arenaut.plan(sizes, Tensor(0, 1), Tensor(2, 3)).arena == 200
        assert refused(sizes=wrong).position in (0, 1)


def test_lives_that_end_before_they_begin():
    error = refused(first=[0, 3], end=[1, 3])
    assert (error.position, error.found, error.allowed) == (1, 3, "below end, which is 3")
    with pytest.raises(arenaut.InputError, match="lifetimes"):
        arenaut.Problem([1], lifetimes=[[(2, 1)]])
    for lives in [(0, 1)], [[(0, 1, 2)]], [[(0, 1.5)]], [[(0, float("nan"))]], ["ab"], [[(0, 2**63)]]:
        with pytest.raises(arenaut.InputError, match=r"lifetimes\[0\]"):
            arenaut.Problem([1], lifetimes=lives)
    with pytest.raises(arenaut.InputError, match="lifetimes are missing"):
        arenaut.Problem([1])


def test_numpy_lives_that_end_before_they_begin():
    numpy = pytest.importorskip("numpy", reason="this environment is the one without numpy")
    assert refused(first=numpy.array([0, 9]), end=numpy.array([1, 2])).position == 1


@pytest.mark.parametrize("more, text", [
    (dict(align=3), "alignment 3 is not a power of two"), (dict(align=-1), "align is -1"),
    (dict(planner="gredy-by-size"), "did you mean 'greedy-by-size'"),
    (dict(pools={"p": -1}), "capacity is -1"), (dict(kinds=["inputs", None]), "kinds[0] is 'inputs'"),
    (dict(same_base=[None, 7]), "buffer 'buffer1'"), (dict(effort=0), "effort is 0"),
    (dict(threads=0.5), "threads is 0.5"), (dict(capacity=0), "capacity is 0"),
    (dict(allowed=[["x"], None], pools=["p"]), "allowed[0] is 'x'"),
    (dict(allowed=[None, []], pools=["p"]), "allowed[1] is []; allowed: at least one pool"),
    (dict(allowed=["p", None], pools=["p"]), "allowed is 'p'; allowed: a list"),
    (dict(pools=[f"p{k}" for k in range(65)]), "65 are more than 64"), (dict(pools="sram"), "pools is 'sram'"),
    (dict(pools=["p", "p"]), "pools[1] is 'p'; allowed: names that are all different"),
    (dict(pools=[5]), "pools[0] is 5"), (dict(pools=["p\0"]), "pools[0] is 'p"), (dict(kinds=[None, "out"]), "kinds[1]"),
    (dict(pools=[arenaut.Pool("p", None, 1, (65536, 0))]), "device[0] is (65536, 0)"),
    (dict(names="ab"), "names is 'ab'"), (dict(names=["a", "b\0c"]), "names[1] is 'b"), (dict(names=[None, 7]), "names[1] is 7"),
    (dict(inside_delta=[0, 1]), "inside, which names that, is missing"),
    (dict(threads=0), "threads is 0"), (dict(planner=5), "planner is 5"), (dict(planner="auto\0"), "planner is 'auto"),
    (dict(settings=[1]), "settings is [1]; allowed: a dictionary"), (dict(settings={1: 2}), "settings is 1"),
    (dict(time="1s"), "time is '1s'; allowed: seconds, 0 or more"), (dict(time=-1), "time is -1"),
    (dict(time=float("nan")), "time is nan"), (dict(progress=7), "progress is 7"),
    (dict(conflicts=[0, 1]), "conflicts[0] is 0"), (dict(conflicts=[(0, 1), (0, 2**32)]), "conflicts[1] is (0, 4294967296)"),
    (dict(conflicts=[(0, 1, 2)]), "conflicts[0] is (0, 1, 2)"), (dict(conflicts=[(0, 1.0)]), "conflicts[0] is (0, 1.0)"),
    (dict(separations=[(0, 1)]), "separations[0] is (0, 1); allowed: a tuple of whole numbers: upper"),
    (dict(reserved=[(0, -64, 64)]), "reserved[0] is (0, -64, 64)"), (dict(reserved=[(2**32, 0, 64)]), "reserved[0]"),
    (dict(reserved=[("arena", 0, 64)]), "reserved[0] is ('arena', 0, 64)"),
])
def test_options(more, text):
    assert text in str(refused(**more))


def test_options_that_do_not_exist():
    with pytest.raises(TypeError):
        arenaut.plan([1], [0], [1], aling=16)
    with pytest.raises(TypeError, match="did you mean 'overlap'"):
        arenaut.open(MODEL, overlaps=True)


@pytest.mark.parametrize("more", [dict(pools={"p": 1}), dict(align=16), dict(first=[1]), dict(end=[2]),
                                  dict(aling=16), dict(align=[1])])
def test_constraints_of_a_problem_are_not_given_twice(more):
    problem = arenaut.Problem([1], [0], [1])
    with pytest.raises(TypeError, match=f"takes no '{next(iter(more))}'"):
        problem.plan(**more)
    [row] = arenaut.plan_many([(problem, more)], InTurn()).rows
    assert row.status == "failed" and row.error.startswith("TypeError: ")


class InTurn:
    """An executor that does at once what it is given."""

    def submit(self, function, argument):
        future = Future()
        future.set_result(function(argument))
        return future


def test_files_that_are_not_there_or_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        arenaut.open(tmp_path / "absent.tflite")
    with pytest.raises(IsADirectoryError):
        arenaut.open(tmp_path)
    torn = tmp_path / "torn.tflite"
    torn.write_bytes(MODEL.read_bytes()[:5000])
    with pytest.raises(arenaut.InputError) as error:
        arenaut.open(torn)
    assert str(torn) in str(error.value) and error.value.position
    with pytest.raises(arenaut.InputError, match="no known format"):
        arenaut.Model.parse(b"hello, world", name="greeting")
    with pytest.raises(arenaut.InputError, match="no file"):
        arenaut.open([])


@pytest.mark.parametrize("path, text", [(b"model", "path is b'model'; allowed: a path, or a list of paths; Model.parse takes bytes"), (5, "path is 5; allowed: a path"),
                                        ([2**31 - 1], "path[0] is 2147483647"), (None, "path is None")])
def test_what_is_no_path(path, text):
    with pytest.raises(arenaut.InputError, match=re.escape(text)):
        arenaut.open(path)


def test_names_of_files_that_are_no_utf8(tmp_path):
    path = os.path.join(str(tmp_path), os.fsdecode(b"\xff\xfe.tflite"))
    with open(path, "wb") as file:
        file.write(MODEL.read_bytes())
    plan = arenaut.open(path).plan()
    plan.save(os.fsencode(path) + b".json")
    assert plan.arena == 34560 and arenaut.open(path + ".json").plan().arena == 34560
    with pytest.raises(arenaut.InputError, match="no known format"):
        arenaut.Model.parse(b"nonsense", path)


def test_a_file_that_vanishes_after_it_was_read(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(MODEL.read_bytes())
    model = arenaut.open(path)
    path.unlink()
    assert model.size().planned == 34560


def test_sizes_that_are_open():
    with pytest.raises(arenaut.InputError) as error:
        arenaut.open(DATA / "onnx" / "open_sizes.onnx").size()
    assert error.value.option == "dims" and error.value.open_sizes
    assert f"dims={{'{error.value.open_sizes[0]}': 1}}" in str(error.value)


def test_what_the_file_does_not_have():
    model = arenaut.open(MODEL)
    with pytest.raises(arenaut.InputError, match="nowhere") as error:
        model.plan(pins={"nowhere": "arena"})
    assert error.value.option == "pins"
    with pytest.raises(arenaut.InputError, match="there is no target 'tflite-mirco': did you mean"):
        model.plan(target="tflite-mirco")
    with pytest.raises(arenaut.InputError, match="dims is"):
        model.plan(dims=3)
    with pytest.raises(arenaut.InputError, match="leaves nothing to plan"):
        model.plan(dims={"n": 0})


@pytest.mark.parametrize("option, value, text", [
    ("method", 3, "method is 3"), ("passes", 3, "passes is 3; allowed: a list of names"), ("share", [1], "share is [1]"),
    ("shapes", {"a": 3}, "shapes['a'] is 3; allowed: sizes"), ("shapes", {"a\nb": [1]}, "names of one line"),
    ("inplace", [], "inplace is []; allowed: True, False or 'only'"), ("inplace", 1.0, "inplace is 1.0"),
    ("inplace_ops", {"ADD": "x"}, "inplace_ops['ADD'] is 'x'"), ("inplace_ops", {"ADD": -1}, "inplace_ops is -1"),
    ("pins", {"a": 3}, "pins['a'] is 3"), ("pins", {"a": (None, 3)}, "pins is None"), ("dims", {3: 3}, "dims is 3"),
    ("split", "on", "split is 'on'; allowed: True, False, or a list"), ("overlap", "off", "overlap is 'off'; allowed: True or False"),
    ("reorder", "off", "reorder is 'off'"), ("alloc_io", "no", "alloc_io is 'no'"), ("compact", 2, "compact is 2"),
    ("split", [(1, 2)], "split is (1, 2); allowed: (first op"), ("split", 3, "split is 3; allowed: a list"),
    ("target", 3, "target is 3"), ("pools", "sram", "pools is 'sram'")])
def test_values_that_options_do_not_have(option, value, text):
    model = arenaut.open(MODEL)
    with pytest.raises(arenaut.InputError, match=re.escape(text)):
        model.plan(**{option: value})


@pytest.mark.parametrize("option, value", [("steps", 5), ("steps", (3, 2)), ("steps", (0, 1.5)), ("compare", {"a": 3}),
                                           ("width", -1)])
def test_values_that_reports_do_not_have(option, value):
    plan = arenaut.plan([1], [0], [1])
    with pytest.raises(arenaut.InputError, match=f"^{option}.* is "):
        plan.report("svg", **{option: value})
    with pytest.raises(arenaut.InputError, match="report is 5"):
        plan.report(5)


def test_nothing_is_half_written(tmp_path):
    plan = arenaut.open(MODEL).plan()
    with pytest.raises(FileNotFoundError):
        plan.save(tmp_path / "absent" / "small.tflite")
    with pytest.raises(arenaut.InputError, match="no format has this extension"):
        plan.save(tmp_path / "small.xyz")
    old = tmp_path / "old.pte"
    old.write_text("as it was")
    with pytest.raises(arenaut.RefusedError):
        plan.save(old)
    assert old.read_text() == "as it was" and os.listdir(tmp_path) == ["old.pte"]


def test_nothing_to_be_gained_is_refused(tmp_path):
    plan = arenaut.open(DATA / "resnet_int8.tflite").plan()
    assert plan.outcome == "the runtime's own plan needs no more"
    with pytest.raises(arenaut.RefusedError, match="own plan needs no more"):
        plan.save(tmp_path / "same.tflite")
    assert os.listdir(tmp_path) == []


WRITER = """
import sys, arenaut
plan = arenaut.open(sys.argv[1]).plan()
for _ in range(50):
    plan.save(sys.argv[2])
"""


def test_two_processes_that_write_one_file(tmp_path):
    out = tmp_path / "small.tflite"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(MODEL), str(out)]) for _ in (0, 1)]
    whole = 0
    while any(writer.poll() is None for writer in writers):
        if out.exists():
            arenaut.open(out).check()
            whole += 1
    assert [writer.returncode for writer in writers] == [0, 0] and whole > 0
    assert os.listdir(tmp_path) == ["small.tflite"]


def test_a_long_value_is_not_shown_whole():
    error = refused(sizes=MODEL.read_bytes().decode("latin-1"))
    assert str(error).startswith("sizes is '") and len(str(error)) < 300 and len(error.found) > 10000


def test_a_path_where_bytes_belong():
    with pytest.raises(arenaut.InputError, match="arenaut.open takes paths"):
        arenaut.Model(str(MODEL))


def test_the_file_that_cannot_be_written_is_named(tmp_path):
    plan = arenaut.open(MODEL).plan()
    (tmp_path / "folder.svg").mkdir()
    for path in tmp_path / "absent" / "plan.svg", tmp_path / "folder.svg":
        with pytest.raises(OSError) as error:
            plan.save(path)
        assert error.value.filename == str(path) and str(error.value).endswith(f"'{path}'")
    assert os.listdir(tmp_path) == ["folder.svg"]


#: Words that only the package's own sources have: names that begin with _, of the C library, of ctypes.
PRIVATE = re.compile(r"(?<![\w.])_[a-z]|\._[a-z]|'_[a-z]|arenaut_[a-z]|arn_|ctypes|LP_|\bc_(u?int|char|void)|NoneType|object at 0x")
PROBLEM = arenaut.Problem([1, 2], [0, 0], [1, 1])
PLAN = arenaut.open(MODEL).plan


@pytest.mark.parametrize("call", [
    lambda: arenaut.one_arena([3]), lambda: arenaut.one_arena(3), lambda: arenaut.one_arena([]),
    lambda: arenaut.open(None), lambda: arenaut.open([]), lambda: arenaut.Model([(1, 2)]),
    lambda: arenaut.Model([("a", "b")]), lambda: arenaut.Model.parse(3), lambda: arenaut.Problem.parse(3),
    lambda: arenaut.Problem(None), lambda: arenaut.Problem([1], [0], [1], zz=1),
    lambda: arenaut.Problem([1], [0], [1], pools=[3]), lambda: arenaut.Problem([1], [0], [1], names=3),
    lambda: arenaut.Problem([1], lifetimes=[3]), lambda: arenaut.Problem([1], [0], [1], conflicts=[(0, "x")]),
    lambda: arenaut.Plan(3, [0]), lambda: arenaut.Plan(PROBLEM, [0, "x"]), lambda: arenaut.Plan(PROBLEM, [0, 1], pools=[0, 9]),
    lambda: PLAN(kernels=3), lambda: PLAN(dims=3), lambda: PLAN(inplace_ops={"A": "x"}), lambda: PLAN(passes=3),
    lambda: PLAN(share=3), lambda: PLAN(op_align={"CONV_2D": 3}), lambda: PLAN(pools=3), lambda: PLAN(pins=3), lambda: PLAN(op_align=3), lambda: PLAN(split=[(1, 2)]),
    lambda: PLAN(recompute=True, fit="x"), lambda: PLAN(settings=3, planner="search"), lambda: PLAN(progress="x"),
    lambda: PLAN(time="x"), lambda: PLAN(shapes={"x": "y"}), lambda: PLAN().save(3), lambda: PLAN().save("x.zzz"),
    lambda: PLAN().report("svg", compare=3), lambda: PLAN().explain(width="x"), lambda: PLAN().view("x.zzz"),
    lambda: list(arenaut.plan_many(3)), lambda: list(arenaut.plan_many([3])), lambda: list(arenaut.plan_many([PROBLEM], executor=3)),
    lambda: arenaut.plan_many([PROBLEM], retries="x"), lambda: arenaut.plan_many([PROBLEM], progress="x"),
    lambda: arenaut.sweep(MODEL, 3), lambda: arenaut.sweep(MODEL, {"align": 3})])
def test_errors_never_show_private_names(call):
    with pytest.raises(Exception) as error:
        call()
    assert type(error.value).__module__ in ("builtins", "arenaut.errors")
    assert not PRIVATE.search(re.sub(r"\b\w+\.__init__", "", str(error.value))), str(error.value)


@pytest.mark.parametrize("make", [arenaut.plan_many, lambda work, **more: arenaut.sweep(MODEL, {"align": [16]}, **more)],
                         ids=["plan_many", "sweep"])
@pytest.mark.parametrize("name, value", [("retries", "x"), ("retries", -1), ("retries", 1.5), ("retries", None),
                                         ("progress", "x"), ("progress", 3), ("progress", [])])
def test_options_of_many_of_other_types(make, name, value):
    """Before any work is given out."""
    with pytest.raises(arenaut.InputError, match=rf"{name} is .*; allowed: "):
        make([PROBLEM], **{name: value})


@pytest.mark.parametrize("capacity", [-1, 1.5, "x", None])
def test_capacities_that_are_none(capacity):
    with pytest.raises(arenaut.InputError, match="capacity is .*; allowed: whole numbers"):
        arenaut.plan_many([]).fits(capacity)
