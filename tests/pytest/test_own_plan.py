"""A file that holds a plan is described by that plan, by every verb and in every format: offsets,
arena, what to reserve and the verdict on a budget, against the offsets in the file's metadata."""

import json
import re

import pytest
from conftest import DATA, SCRATCH, corpus_params

import micro_runtime
import tflite_file
from drawn import some

KINDS = {
    "plain": [],
    "inplace": ["--inplace", "on"],
    "overlap": ["--overlap", "on"],
    "split": ["--split", "on"],
    "reordered": ["--reorder", "on"],
    "all": ["--split", "on", "--overlap", "on"],
}
OWN = [pytest.param(DATA / f"{name}.tflite", id=name) for name in (
    "mobilenet_v1_025_96_int8", "inception_int8", "resnet_int8", "elementwise_float")]
CORPUS = corpus_params("tflite/mlperf_vww96_int8.tflite") + corpus_params("tflite/mlperf_kws_int8.tflite")
SLACK = 64  # bytes
EFFORT = ("--effort", 20000)  # what is planned here need not be the least, only described as it is
# None needs less than the runtime's own: what is written holds no plan.
NO_PLAN = {("elementwise_float", "plain"), ("elementwise_float", "reordered"), ("mlperf_kws_int8", "plain"),
           ("mlperf_kws_int8", "inplace"), ("mlperf_kws_int8", "reordered"), ("mlperf_kws_int8", "split"),
           ("resnet_int8", "plain"), ("resnet_int8", "inplace"), ("resnet_int8", "reordered")}


@pytest.fixture(scope="module")
def arenaut(arenaut):
    def run(verb, *rest, **options):
        return arenaut(verb, *rest, *(() if verb == "check" else EFFORT), **options)
    return run


@pytest.fixture(scope="module")
def arenaut_json(arenaut):
    return lambda *words, **options: json.loads(arenaut(*words, "--json", **options).stdout)


def planned(arenaut, path, flags, folder):
    out = folder / f"{path.stem}.planned.tflite"
    arenaut("plan", path, *flags, "-q", "-f", "-o", out)
    return out


def unmarked(data):
    """The same offsets as another tool's plan: without our mark."""
    return tflite_file.with_plan(data, tflite_file.plan_of(data))


def header_offsets(text):
    """(tensor's number in the file, offset or None) of each row in the header's table."""
    table = re.search(r"_tensor_offset\[\] = \{\n(.*?)\n\};", text, re.S)[1]
    rows = re.findall(r"^ *(?:(\d+)u|\w+_NOT_IN_ARENA), /\* (\d+) ", table, re.M)
    return {int(number): int(offset) if offset else None for offset, number in rows}


def one_number(pattern, text):
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in:\n{text}"
    return int(found[1].replace(",", ""))


def arenas_said(arenaut, arenaut_json, path):
    """The planned bytes that each verb and format names."""
    page = json.loads(arenaut("export", path, "--as", "json").stdout)
    yield "export --as json", page["result"]["arena"]
    yield "explain --json", arenaut_json("explain", path)["result"]["arena"]
    yield "explain", one_number(r"\n(?:arena|head) +([\d,]+) bytes", arenaut("explain", path).stdout)
    yield "view", one_number(r"head ([\d,]+) bytes", arenaut("view", path, "--ascii").stdout)
    yield "size --json", arenaut_json("size", path)["baseline"]["arena"]
    yield "check", one_number(r"buffers in ([\d,]+) bytes", arenaut("check", path).stdout)
    yield "plan", one_number(r"now +([\d,]+) ", arenaut("plan", path).stdout)
    yield "diff", arenaut_json("diff", path, path)["after"]["arena"]
    header = arenaut("export", path, "--as", "header").stdout
    yield "export --as header", one_number(r"_ARENA_BYTES (\d+)u", header)
    svg = arenaut("export", path, "--as", "svg").stdout
    yield "export --as svg", one_number(r"head ([\d,]+)", svg)


def reserves_said(arenaut, arenaut_json, path, kept):
    """What is to be reserved for the file, by those that say so."""
    sizes = arenaut_json("size", path)["tensor_arena"]
    yield "size", sizes[0]["bytes"]
    header = arenaut("export", path, "--as", "header").stdout
    yield "header", one_number(r"TENSOR_ARENA_BYTES(?:_AT_LEAST)? (\d+)u", header)
    explained = arenaut("explain", path).stdout
    yield "explain", one_number(r"to reserve, with the data of [^:]+: (?:at least )?([\d,]+) bytes", explained)
    if kept:
        yield "plan", one_number(r"reserve +(?:at least )?([\d,]+) bytes", arenaut("plan", path).stdout)


def assert_one_description(arenaut, arenaut_json, path):
    offsets = tflite_file.plan_of(path.read_bytes())
    graphs = tflite_file.unpack(path.read_bytes()).subgraphs
    arenas = dict(arenas_said(arenaut, arenaut_json, path))
    assert len(set(arenas.values())) == 1, arenas
    text = arenaut("export", path, "--as", "header").stdout
    said = header_offsets(text)
    for number, offset in enumerate(offsets[:len(graphs[0].tensors)]):
        if offset != tflite_file.ONLINE and said.get(number) is not None:
            assert said[number] == offset, number
    for i, tensor in enumerate(graphs[0].inputs):
        if offsets[tensor] != tflite_file.ONLINE:
            assert one_number(rf"_INPUT_{i}_OFFSET (\d+)u", text) == offsets[tensor]
    new = int(one_number(r"planned +([\d,]+) ", arenaut("plan", path).stdout))
    kept = new > arenas["check"]
    reserves = dict(reserves_said(arenaut, arenaut_json, path, kept))
    assert len(set(reserves.values())) == 1, reserves
    exact = arenaut_json("size", path)["tensor_arena"][0]["exact"]
    budgeted = ["size", "check", "explain", *(["plan"] if kept else [])]
    for verb in budgeted:
        arenaut(verb, path, "--budget", reserves["size"], exit=0 if exact else 1)
        arenaut(verb, path, "--budget", reserves["size"] - 1, exit=1)


def with_plan(models, kinds, written=True):
    """Models and kinds of plans, of which one is written or is none."""
    return pytest.mark.parametrize("path, kind", some(
        pytest.param(*param.values, kind, id=f"{param.id}-{kind}", marks=param.marks)
        for kind in kinds for param in models if ((param.id, kind) not in NO_PLAN) is written))


@with_plan([*OWN, *CORPUS], KINDS, written=False)
def test_no_plan_is_written_that_needs_no_less(path, kind, arenaut, tmp_path):
    assert planned(arenaut, path, KINDS[kind], tmp_path).read_bytes() == path.read_bytes()


@with_plan([*OWN, *CORPUS], KINDS)
def test_every_verb_describes_the_plan_in_the_file(path, kind, arenaut, arenaut_json, tmp_path):
    out = planned(arenaut, path, KINDS[kind], tmp_path)
    assert_one_description(arenaut, arenaut_json, out)


@with_plan(OWN, ["plain", "inplace", "split"])
def test_a_plan_without_our_mark_is_described_alike(path, kind, arenaut, arenaut_json, tmp_path):
    out = planned(arenaut, path, KINDS[kind], tmp_path)
    out.write_bytes(unmarked(out.read_bytes()))
    assert_one_description(arenaut, arenaut_json, out)


@pytest.mark.parametrize("name", ["foreign_plan_float", "custom_op_planned"])
def test_plans_of_other_tools_are_described(name, arenaut, arenaut_json):
    assert_one_description(arenaut, arenaut_json, DATA / f"{name}.tflite")


@pytest.mark.parametrize("name", ["foreign_plan_float", "custom_op_planned"])
def test_remedies_are_as_planned_with_them(name, arenaut_json):
    """The place of tensors in another tool's plan is no limit of what a flag comes to."""
    path = DATA / f"{name}.tflite"
    tried = [it for it in arenaut_json("explain", path)["remedies"] if "flags" in it]
    assert len(tried) > 3
    for it in tried:
        assert arenaut_json("plan", path, *it["flags"].split())["result"]["arena"] == it["arena"], it
    anew = [it for it in tried if it["flags"] == "-f"]
    assert len(anew) == (name == "foreign_plan_float")


def test_values_that_share_memory_in_another_tools_plan_are_no_peak(arenaut):
    text = arenaut("explain", DATA / "custom_op_planned.tflite").stdout
    assert "4,096 bytes: 5,136 below the peak, as values share memory in the file's plan" in text


@pytest.mark.parametrize("path", OWN)
def test_a_flag_still_asks_for_a_new_plan(path, arenaut, arenaut_json, tmp_path):
    out = planned(arenaut, path, ["--overlap", "on"], tmp_path)
    plain = json.loads(arenaut("export", path, "--as", "json").stdout)["result"]["arena"]
    again = json.loads(arenaut("export", out, "--as", "json", "--overlap", "off").stdout)["result"]["arena"]
    assert again == plain


def test_a_wrong_plan_is_not_exported_as_another(arenaut, tmp_path):
    data = (DATA / "resnet_int8.tflite").read_bytes()
    wrong = tmp_path / "wrong.tflite"
    wrong.write_bytes(tflite_file.with_plan(data, [min(at, 0) for at in tflite_file.apart(data)]))
    refused = arenaut("export", wrong, "--as", "header", exit=1)
    assert "the plan in the file is wrong" in refused.stderr and refused.stdout == ""


def test_a_place_that_is_left_to_the_runtime_is_aligned_as_it_does(arenaut, tmp_path):
    """It knows of no demand: what it would place at no such multiple is wrong, and is planned."""
    data = (DATA / "resnet_int8.tflite").read_bytes()
    path, out = tmp_path / "open.tflite", tmp_path / "planned.tflite"
    path.write_bytes(tflite_file.with_plan(data, [tflite_file.ONLINE for _ in tflite_file.apart(data)]))
    assert " ok: " in arenaut("check", path, "--align", 16).stdout
    assert "wrong (alignment): " in arenaut("check", path, "--align", 4096, exit=1).stdout
    arenaut("plan", path, "--align", 4096, "-q", "-f", "-o", out)
    assert " ok: " in arenaut("check", out, "--align", 4096).stdout
    assert all(at == tflite_file.ONLINE or at % 4096 == 0 for at in tflite_file.plan_of(out.read_bytes()))


def places(path):
    return [at for at in tflite_file.plan_of(path.read_bytes()) or [] if at != tflite_file.ONLINE]


@pytest.mark.parametrize("name, demand, kept", [
    ("resnet_int8", ["--align", 4096], lambda at: all(place % 4096 == 0 for place in at)),  # as large
    ("inception_int8", ["--align", 4096], lambda at: all(place % 4096 == 0 for place in at)),  # larger
    ("resnet_int8", ["--align-op", "CONV_2D=4096"], lambda at: sum(place % 4096 == 0 for place in at) > 2)])
def test_a_demand_that_the_runtime_does_not_keep_is_written(name, demand, kept, arenaut, tmp_path):
    """A plan that is no smaller than the runtime's, which knows of no demand."""
    out = tmp_path / "planned.tflite"
    arenaut("plan", DATA / f"{name}.tflite", *demand, "-q", "-o", out)
    assert places(out) and kept(places(out))
    assert " ok: " in arenaut("check", out, *demand).stdout


def test_a_demand_that_the_runtime_keeps_changes_no_file(arenaut, tmp_path):
    path, out = DATA / "resnet_int8.tflite", tmp_path / "planned.tflite"
    arenaut("plan", path, "--align", 16, "-q", "-o", out)
    assert out.read_bytes() == path.read_bytes()


def test_a_plan_in_a_file_is_held_against_pins(arenaut, arenaut_json, tmp_path):
    """`check` says where the tensor lies, and `plan` moves it; so it is with the plan that the runtime makes."""
    path, out, again = DATA / "resnet_int8.tflite", tmp_path / "planned.tflite", tmp_path / "again.tflite"
    arenaut("plan", path, "--overlap", "on", "-q", "-o", out)
    problem = json.loads(arenaut("export", out, "--as", "problem").stdout)
    name = problem["buffers"][0]["name"]
    at = 65536  # the plan has less
    refused = arenaut("check", out, "--pin", f"{name}=arena:{at}", exit=1).stdout
    assert "wrong (fixed): " in refused and f"is pinned to arena:{at}" in refused
    for source in out, path:
        arenaut("plan", source, "--pin", f"{name}=arena:{at}", "-q", "-f", "-o", again)
        assert at in places(again)
        assert " ok: " in arenaut("check", again, "--pin", f"{name}=arena:{at}").stdout


@pytest.mark.parametrize("flags", [[], ["-f"]])
def test_reserve_and_budget_are_of_the_file_that_is_written(flags, arenaut, arenaut_json, tmp_path):
    path = planned(arenaut, DATA / "resnet_int8.tflite", ["--overlap", "on"], tmp_path)
    need = arenaut_json("size", path)["tensor_arena"][0]["bytes"]
    again = tmp_path / "again.tflite"
    said = arenaut("plan", path, *flags, "-o", again, "--budget", need).stdout
    assert one_number(r"reserve +([\d,]+) bytes", said) == need
    assert arenaut_json("size", again)["tensor_arena"][0]["bytes"] == need
    found = arenaut_json("plan", path, "--budget", need)["budget"]
    assert found == {"bytes": need, "needed": need, "fits": True}


POOLS = [[], ["--pool", "dtcm=64K"], ["--pool", "dtcm=64K", "--pool", "sram=256K"],
         ["--pool", "dtcm=30K", "--pool", "sram=256K"]]
RIGHTS = [[], ["--overlap", "on"], ["--split", "on", "--scratch", SCRATCH]]
ALL = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))]


@pytest.mark.parametrize("path", [*some(ALL), *some(CORPUS)])
@pytest.mark.parametrize("verb", ["size", "plan"])
def test_a_budget_is_kept_only_by_what_is_known(path, verb, arenaut, tmp_path):
    """Exit 0 means that every addend is exact and their sum no larger, and that the runtime loads
    the file in as much (with what it takes more on 64 bits)."""
    for pools in POOLS:
        for rights in RIGHTS:
            flags = [*map(str, pools), *map(str, rights), *map(str, EFFORT)]
            first = run_json(arenaut, verb, path, *flags, "--budget", 1)
            if first is None:
                continue  # no plan in these pools
            need = first["budget"]["needed"]
            assert first["budget"]["fits"] is False
            found = run_json(arenaut, verb, path, *flags, "--budget", need)
            fits = found["budget"]["fits"]
            assert fits is (True if found["exit"] == 0 else None), (flags, found["budget"])
            rows = found.get("tensor_arena", [])
            exact = rows[0]["exact"] if rows else found["runtime"]["exact"]
            if fits:
                assert exact
                tail = rows[0]["tail"] if rows else found["runtime"]["tail"]
                head = rows[0]["head"] if rows else found["runtime"]["head"]
                assert head + tail <= need or found["baseline"]["arena"] < found["result"]["arena"]
            if fits and verb == "plan" and not (pools and len(pools) > 2):
                loads(arenaut, path, flags, tmp_path)


def run_json(arenaut, *arguments):
    """The document with the exit code, whichever of 0 and 1 it is; None: no plan."""
    for code in (0, 1):
        try:
            done = arenaut(*arguments, "--json", exit=code)
        except AssertionError:
            continue
        document = json.loads(done.stdout)
        return {**document, "exit": code} if "budget" in document else None
    raise AssertionError(f"{arguments}: neither 0 nor 1")


def loads(arenaut, path, flags, folder):
    """The file that is written, in what `size` says of it on 64 bits."""
    out = folder / "written.tflite"
    arenaut("plan", path, *flags, "-q", "-f", "-o", out)
    if not micro_runtime.loads_in(path.read_bytes(), micro_runtime.ARENA):
        return  # this wheel does not run the model
    scratch = ["--scratch", SCRATCH] if "--scratch" in flags else []
    rows = run_json(arenaut, "size", out, *scratch, "--budget", 1)["tensor_arena"]
    wide = next(row for row in rows if row["target"] == "tflite-micro-64")
    assert micro_runtime.loads_in(out.read_bytes(), wide["bytes"] + SLACK)


def test_pools_beyond_one_are_not_written_into_a_model(arenaut, tmp_path):
    path, out = DATA / "mobilenet_v1_025_96_int8.tflite", tmp_path / "two.tflite"
    pools = ["--pool", "dtcm=64K", "--pool", "sram=256K"]
    refused = arenaut("plan", path, *pools, "-o", out, exit=2)
    assert "plans in one arena" in refused.stderr and not out.exists()
    header = arenaut("export", path, *pools, "--as", "header").stdout
    document = json.loads(arenaut("plan", path, *pools, "--json", "--budget", "60K", exit=1).stdout)
    assert document["budget"]["fits"] is False
    need = document["runtime"]["head"] + document["runtime"]["tail"]
    assert need <= one_number(r"TENSOR_ARENA_BYTES (\d+)u", header) == document["budget"]["needed"]
