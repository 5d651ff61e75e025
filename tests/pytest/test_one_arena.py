"""Several interpreters in one arena, and head and tail in two memories: what `size` and `plan` say,
against tflite-micro itself where it was built."""

import itertools
import json
import re
import signal
import subprocess
import time

import jsonschema
import pytest
from referencing import Registry, Resource
from conftest import COMMAND, CORPUS, DATA, ROOT, default_signals, wait_until_handled

from arm_runtime import FOLDER, HINT, QEMU, SOURCES, missing
from drawn import some

PERSON, RESNET = DATA / "mobilenet_v1_025_96_int8.tflite", DATA / "resnet_int8.tflite"
HELLO = DATA / "hello_world_int8.tflite"
MODELS = [PERSON, RESNET, DATA / "inception_int8.tflite", HELLO, DATA / "elementwise_float.tflite"]
ARCHIVE = FOLDER / "libruntime-arm.a"
SLACK = 128  # of several interpreters some bytes that are said are not needed
PAGE = (ROOT / "docs" / "tflite.md").read_text()
START = """
#include <cstdio>
#include <fstream>
#include <iterator>
#include "python/tflite_micro/python_ops_resolver.h"
static const tflite::Model *model_of(const char *path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return tflite::GetModel(memcpy(aligned_alloc(16, bytes.size() / 16 * 16 + 16), bytes.data(), bytes.size()));
}
"""
ALONE = """
int main(int, char **argv) {
    static tflite::PythonOpsResolver ops;
    tflite::MicroInterpreter *made = Start(model_of(argv[1]), ops);
    return made && made->Invoke() == kTfLiteOk ? 0 : 1;
}
"""
BOTH = """
int main(int, char **argv) {
    static tflite::PythonOpsResolver ops;
    tflite::MicroInterpreter *made[2];
    if (!StartBoth(model_of(argv[1]), model_of(argv[2]), ops, made)) return 1;
    for (int i = 0; i < 4; i++) {
        if (made[i % 2]->Invoke() != kTfLiteOk) return 1;
    }
    return 0;
}
"""


def shared(arenaut, verb, paths, *flags):
    """The document about the shared arena, which is the last."""
    return json.loads(arenaut(verb, *paths, "--one-arena", "--json", *flags).stdout)[-1]


def row_of(arenaut_json, path, what, target="tflite-micro"):
    return next(row for row in arenaut_json("size", path)["tensor_arena"]
                if (row["of"], row["target"]) == (what, target))


def test_the_head_is_the_largest_and_the_tails_add_up(arenaut, arenaut_json):
    one = shared(arenaut, "size", MODELS)
    rows = [row_of(arenaut_json, path, "as it is") for path in MODELS]
    assert one["schema"] == "arenaut.one-arena/1" and len(one["models"]) == len(MODELS)
    assert one["as_it_is"]["head"] == max(row["head"] for row in rows)
    whole = sum(row["tail"] for row in rows)
    assert whole - 200 * len(rows) < one["as_it_is"]["tail"] < whole  # one allocator and one planner
    assert one["as_it_is"]["tail"] == sum(model["tail"] for model in one["models"])
    assert one["planned"]["bytes"] <= one["as_it_is"]["bytes"]


REGISTRY = Registry().with_resources(
    (document["$id"], Resource.from_contents(document))
    for document in (json.loads(path.read_text()) for path in (ROOT / "docs" / "schema").glob("*.json")))


def validate(document, family):
    schema = json.loads((ROOT / "docs" / "schema" / f"{family}-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema, registry=REGISTRY).validate(document)


def test_the_documents_are_as_their_schemas_say(arenaut, arenaut_json):
    two = ["--pool", "head=64K", "--pool", "tail=unlimited"]
    validate(shared(arenaut, "size", MODELS, "--budget", "1M"), "arenaut.one-arena")
    validate(shared(arenaut, "plan", MODELS[:2], *two), "arenaut.one-arena")
    for words in (["explain", PERSON], ["plan", PERSON, *two], ["plan", PERSON, "--smallest"]):
        document = arenaut_json(*words)
        validate(document, "arenaut.plan")
        arenaut("size", "-", "--from", "plan-json", input=json.dumps(document))


def test_differences_are_as_their_schemas_say(arenaut, arenaut_json, tmp_path):
    pools = DATA / "json" / "everything.problem.json"
    for words in ([PERSON, RESNET], [PERSON, RESNET, "--planned"], [pools, pools], [PERSON, PERSON],
                  [DATA / "call_once_float.tflite", DATA / "if_while_float.tflite"],
                  [DATA / "fragmented.csv", pools], [DATA / "scratch_int8.tflite", HELLO]):
        validate(arenaut_json("diff", *words), "arenaut.diff")
    grown = json.loads(arenaut("diff", RESNET, PERSON, "--json", "--fail-on-growth", "0", exit=1).stdout)
    validate(grown, "arenaut.diff")
    assert grown["grew_too_much"] is True
    for words in ([PERSON, RESNET], [PERSON, RESNET, "--pool", "head=64K", "--pool", "tail=64K"]):
        validate(arenaut_json("diff", *words, "--one-arena"), "arenaut.one-arena-diff")
    with pytest.raises(jsonschema.ValidationError):
        validate({"schema": "arenaut.one-arena-diff/1", "before": {}, "after": {}, "grew": False}, "arenaut.one-arena-diff")


def test_one_model_shares_with_nobody(arenaut, arenaut_json):
    row = row_of(arenaut_json, PERSON, "as it is")
    for verb in ("size", "plan"):
        one = shared(arenaut, verb, [PERSON])
        assert one["as_it_is"]["bytes"] == row["bytes"] and len(one["models"]) == 1
    assert "--share" in arenaut("size", PERSON, RESNET, "--one-arena", "--share", "auto", exit=2).stderr


@pytest.mark.parametrize("over", [0, 1])
def test_a_budget_is_held_against_the_shared_arena(arenaut, over):
    need = shared(arenaut, "size", [PERSON, RESNET])["as_it_is"]["bytes"]
    done = arenaut("size", PERSON, RESNET, "--one-arena", "--budget", need - over, exit=over)
    assert ("over the budget" in done.stderr) == bool(over)
    planned = shared(arenaut, "plan", [PERSON, RESNET])["planned"]["bytes"]
    arenaut("plan", PERSON, RESNET, "--one-arena", "--budget", planned - over, exit=over)


def test_the_header_has_the_bytes_of_the_written_models(arenaut, tmp_path):
    out = tmp_path / "both"
    arenaut("plan", PERSON, RESNET, "--one-arena", "--overlap", "on", "-o", out)
    bytes_, = re.findall(r"ONE_ARENA_BYTES (\d+)u", (out / "one_arena.h").read_text())
    written = shared(arenaut, "size", [out / PERSON.name, out / RESNET.name])
    assert written["as_it_is"]["bytes"] == int(bytes_)


def test_the_order_of_the_models_counts(arenaut, tmp_path):
    paths = [HELLO, DATA / "svdf_int8.tflite"]
    sizes = [shared(arenaut, "size", order)["as_it_is"]["bytes"] for order in (paths, paths[::-1])]
    assert "{:,} bytes of `hello_world_int8` and `svdf_int8` instead of {:,}".format(*sizes) in PAGE
    arenaut("plan", *paths, "--one-arena", "-o", tmp_path)
    assert "the order in which the models were named" in (tmp_path / "one_arena.h").read_text()


def test_diff_judges_the_shared_arena(arenaut, tmp_path):
    out = tmp_path / "both"
    arenaut("plan", PERSON, RESNET, "--one-arena", "-o", out)
    planned = [out / PERSON.name, out / RESNET.name]
    found = json.loads(arenaut("diff", PERSON, RESNET, *planned, "--one-arena", "--json").stdout)
    for part, paths in (("before", [PERSON, RESNET]), ("after", planned)):
        assert found[part]["planned"] == shared(arenaut, "size", paths)["as_it_is"]
    grown = arenaut("diff", *planned, PERSON, RESNET, "--one-arena", "--fail-on-growth", "2%", exit=1)
    assert "tensor_arena grew" in grown.stderr
    for words in ([PERSON, RESNET, PERSON, "--one-arena"], [PERSON, RESNET, PERSON]):
        arenaut("diff", *words, exit=2)


def test_unknown_bytes_keep_no_budget(arenaut):
    done = arenaut("size", PERSON, DATA / "scratch_int8.tflite", "--one-arena", "--budget", "1M",
                   exit=1)
    assert "not known" in done.stderr and ">= " in done.stdout


def test_a_file_that_is_no_model_shares_nothing(arenaut, tmp_path):
    problem = tmp_path / "p.csv"
    problem.write_text("id,lower,upper,size\na,0,2,16\n")
    assert "--one-arena" in arenaut("size", PERSON, problem, "--one-arena", exit=2).stderr


@pytest.fixture
def garbage(tmp_path):
    (tmp_path / "bad.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(16))
    return tmp_path / "bad.tflite"


def test_a_part_of_the_models_has_no_sum(arenaut, garbage, tmp_path):
    out, words = tmp_path / "out", (HELLO, garbage, "--one-arena", "--budget", "1M")
    arenaut("plan", HELLO, "--one-arena", "-o", out)
    old = (out / "one_arena.h").read_text()
    done = arenaut("plan", *words, "-o", out, "-f", exit=3)
    assert "one arena: its size is not known: not every model has a plan" in done.stderr
    assert "one_arena.h: is not written, and the old one is of an earlier run" in done.stderr
    assert "tensor_arena  " not in done.stdout and (out / "one_arena.h").read_text() == old
    for verb in ("plan", "size"):
        done = arenaut(verb, *words, "--json", exit=3)
        assert [document["schema"] for document in json.loads(done.stdout)] == ["arenaut.plan/1"]
        assert "its size is not known" in done.stderr


@pytest.mark.parametrize("verb, flags", [("plan", ["-f", "-o", "out"]), ("plan", []), ("size", [])])
def test_an_interrupt_leaves_no_sum(arenaut, tmp_path, verb, flags):
    if flags:
        arenaut("plan", HELLO, "--one-arena", "-o", "out", cwd=tmp_path)
    process = subprocess.Popen([COMMAND.resolve(), verb, HELLO, "-", "--one-arena", *flags], cwd=tmp_path, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=default_signals)
    wait_until_handled(process, signal.SIGINT)
    time.sleep(1)  # it waits for the second model
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    out, err = process.communicate()
    assert "one of the models runs at a time" not in out
    assert "its size is not known: the command was interrupted" in err
    assert ("of an earlier run" in err) == bool(flags)


def test_diff_splits_by_argument(arenaut, tmp_path):
    for name, paths in (("before", [PERSON, RESNET]), ("after", [RESNET, HELLO]), ("more", [PERSON])):
        (tmp_path / name).mkdir()
        for path in paths:
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    before, after, more = (tmp_path / name for name in ("before", "after", "more"))
    names = lambda side: [model["name"] for model in side["models"]]  # noqa: E731
    for words in ([before, after], [PERSON, RESNET, RESNET, HELLO], [before, RESNET, HELLO]):
        found = json.loads(arenaut("diff", *words, "--one-arena", "--json").stdout)
        assert set(names(found["before"])) == {PERSON.name, RESNET.name}
        assert set(names(found["after"])) == {RESNET.name, HELLO.name}
    (after / "third.tflite").write_bytes(PERSON.read_bytes())
    for first, second, counts in ((more, after, (1, 3)), (before, more, (2, 1))):
        done = arenaut("diff", first, second, "--one-arena", exit=2)
        assert "the arguments has {}, the other {}".format(*counts) in done.stderr


def test_diff_says_at_least_where_bytes_are_unknown(arenaut):
    scratch = DATA / "scratch_int8.tflite"
    for flags in ([], ["--one-arena"]):
        assert "tensor_arena, at least" in arenaut("diff", scratch, scratch, *flags).stdout
    assert "at least" not in arenaut("diff", HELLO, HELLO, "--one-arena").stdout


def test_refusals_come_before_files(arenaut, tmp_path):
    problem, out = tmp_path / "p.csv", tmp_path / "out"
    problem.write_text("id,lower,upper,size\na,0,2,16\n")
    for other in (problem, DATA / "pte" / "map_rows.pte"):
        done = arenaut("plan", HELLO, other, "--one-arena", "-o", out, "-f", "--json", exit=2)
        assert [path.name for path in out.iterdir()] == [HELLO.name]
        assert len(json.loads(done.stdout)) == 1
    (out / HELLO.name).unlink()
    (out / "one_arena.h").write_text("old")
    done = arenaut("plan", HELLO, "--one-arena", "-o", out, exit=4)
    assert "one_arena.h: exists already" in done.stderr
    assert [path.name for path in out.iterdir()] == ["one_arena.h"]


@pytest.mark.parametrize("words", [[HELLO, RESNET], [HELLO, "--one-arena"], [HELLO, RESNET, "--share", "auto"]])
def test_standard_output_is_no_folder(arenaut, tmp_path, words):
    assert "-o is a folder" in arenaut("plan", *words, "-o", "-", exit=2, cwd=tmp_path).stderr
    assert list(tmp_path.iterdir()) == []


def test_head_and_tail_are_judged_each_by_its_own(arenaut, arenaut_json):
    flags = ["--pool", "head=unlimited", "--pool", "tail=unlimited"]
    need = {part: found["needed"] for part, found in
            arenaut_json("plan", PERSON, *flags)["two_memories"].items() if part != "fits"}
    for less in ({}, {"head": 16}, {"tail": 16}):
        pools = [f"{part}={need[part] - less.get(part, 0)}" for part in ("head", "tail")]
        done = arenaut("plan", PERSON, "--json", "--pool", pools[0], "--pool", pools[1],
                       exit=1 if less else 0)
        assert json.loads(done.stdout)["two_memories"]["fits"] is not bool(less)
        for part in less:
            assert f"the {part} needs {need[part]:,} bytes, 16 over" in done.stderr


@pytest.mark.parametrize("pools", [["head=64K"], ["head=64K", "tail=64K", "more=64K"]])
def test_half_of_two_memories_is_a_mistake(arenaut, pools):
    given = [word for pool in pools for word in ("--pool", pool)]
    assert "give both" in arenaut("size", PERSON, *given, exit=2).stderr


def test_the_header_has_both_memories(arenaut, arenaut_json, tmp_path):
    arenaut("plan", PERSON, "-o", tmp_path / "person.h")
    text = (tmp_path / "person.h").read_text()
    found = arenaut_json("plan", PERSON, "--pool", "head=1M", "--pool", "tail=1M")["two_memories"]
    for part in ("head", "tail"):
        assert f'_{part.upper()}_BYTES {found[part]["needed"]}u\n' in text


def test_the_tail_is_the_sum_of_kinds_and_of_ops(arenaut_json):
    for path in MODELS:
        tail = arenaut_json("explain", path)["tail"]
        assert tail["bytes"] == sum(tail["parts"].values())
        by_op = {key: sum(op[key] for op in tail["ops"]) for key in ("node", "options", "kernel")}
        assert by_op["node"] == tail["parts"]["node and registration"]
        assert by_op["options"] == tail["parts"]["parsed options"]
        assert by_op["kernel"] == tail["parts"]["kernel data"]


# ---- the runtime itself ----

@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A program from a source, with the runtime for 32-bit ARM."""
    if missing() or not ARCHIVE.is_file():
        pytest.skip(missing() or f"{ARCHIVE} is not there: {HINT}")

    def link(name, *sources, include=()):
        program = tmp_path_factory.mktemp(name) / name
        subprocess.run(["arm-linux-gnueabihf-g++", "-std=c++17", "-O1", "-w", "-fno-rtti", "-static",
                        "-DTF_LITE_STATIC_MEMORY", *(f"-I{folder}" for folder in include),
                        *(f"-isystem{SOURCES / part}" for part in
                          ("tflite-micro", "flatbuffers/include", "gemmlowp", "ruy")),
                        *sources, ARCHIVE, "-o", program], check=True)
        return program
    return link


@pytest.fixture(scope="module")
def tenants(build):
    return build("tenants", ROOT / "tests" / "micro_runtime" / "tenants.cpp")


def run_in(tenants, sizes, paths):
    done = subprocess.run([QEMU, tenants, sizes, *paths], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


@pytest.mark.parametrize("flags", [(), ("--overlap", "on")], ids=["apart", "overlap"])
@pytest.mark.parametrize("paths", [MODELS[:2], MODELS[1::-1], MODELS[3:], MODELS],
                         ids=lambda paths: f"{len(paths)}-{paths[0].stem}")
def test_interpreters_share_the_arena_that_is_said(arenaut, tenants, tmp_path, paths, flags):
    out = tmp_path / "all"
    arenaut("plan", *paths, "--one-arena", "-o", out, *flags)
    files = [out / path.name for path in paths]
    need = shared(arenaut, "size", files)["as_it_is"]["bytes"]
    found = run_in(tenants, str(need), files)
    assert found, "the runtime wants more than was said"
    assert not run_in(tenants, str(need - SLACK), files), "the runtime wants far less"
    alone = [run_in(tenants, "10000000", [path])["hashes"][0] for path in paths]
    assert found["hashes"] == alone


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_head_and_tail_lie_in_two_memories(arenaut, arenaut_json, tenants, path):
    need = arenaut_json("size", path, "--pool", "head=9M", "--pool", "tail=9M")["two_memories"]
    head, tail = need["head"]["needed"], need["tail"]["needed"]
    assert run_in(tenants, f"{head}:{tail}", [path])
    assert not run_in(tenants, f"{head - 96}:{tail}", [path])
    assert not run_in(tenants, f"{head}:{tail - SLACK}", [path])


def firmware(name, main):
    """A block of the guide that defines `name`, and a program around it."""
    block, = (text for text in re.findall(r"```cpp\n(.*?)```", PAGE, re.S) if f" {name}(" in text or f"* {name}(" in text)
    return block + START + main


@pytest.mark.parametrize("name, main", [("Start", ALONE), ("StartBoth", BOTH)])
def test_the_firmware_of_the_guide_runs(arenaut, build, tmp_path, name, main):
    (tmp_path / "person.tflite").write_bytes(PERSON.read_bytes())
    arenaut("plan", tmp_path / "person.tflite", "-o", tmp_path / "person.h")
    arenaut("plan", PERSON, RESNET, "--one-arena", "-o", tmp_path / "both")
    (tmp_path / "main.cc").write_text(firmware(name, main))
    program = build(name.lower(), tmp_path / "main.cc", include=[tmp_path, tmp_path / "both"])
    models = [tmp_path / "both" / path.name for path in (PERSON, RESNET)]
    subprocess.run([QEMU, program, *models], check=True, timeout=60)


def test_memories_have_names(arenaut, arenaut_json):
    """--pool head=DTCM:64K --pool tail=SRAM:32K: the sizes are those without names, and texts have the names."""
    for verb in ("size", "plan"):
        named = [verb, PERSON, "--overlap", "on", "--pool", "head=DTCM:40K", "--pool", "tail=SRAM:32K"]
        plain = [verb, PERSON, "--overlap", "on", "--pool", "head=40K", "--pool", "tail=32K"]
        judged = {"size": 1, "plan": 0}[verb]
        said, bare = (arenaut(*words, exit=judged) for words in (named, plain))
        assert said.stderr == bare.stderr and "head in DTCM" in said.stdout and "tail in SRAM" in said.stdout
        sizes = [json.loads(arenaut(*words, "--json", exit=judged).stdout)["two_memories"] for words in (named, plain)]
        assert sizes[0] == sizes[1]
    for wrong in ("head=DTCM", "head=:4K", "head=DTCM:", "sram=DTCM:4K", "head=DTCM:unlimitedly"):
        assert "--pool" in arenaut("size", PERSON, "--pool", wrong, "--pool", "tail=4K", exit=2).stderr


def with_its_tiles(arenaut, path, words):
    """The flags with the tiles that they lead to in one memory: in two memories, those that add least are taken."""
    if "--split" not in words:
        return words
    split = json.loads(arenaut("plan", path, *words, "--json").stdout).get("split")
    tiles = [f"{s['first_op']}-{s['last_op']}/{s['pieces']}:{s['mode']}" for s in split["stages"]] if split else []
    at = words.index("--split")
    return [*words[:at], *(["--split", ",".join(tiles)] if tiles else []), *words[at + 2:]]


def ways_of(arenaut, path):
    """Head and tail of each combination of levers for one model alone, both as the runtime has them."""
    two = ["--pool", "head=1M", "--pool", "tail=1M"]
    found = json.loads(arenaut("plan", path, "--smallest", "--json").stdout)["fit"]["ways"][1:]
    flags = [way["levers"].split() if way["levers"].startswith("--") else [] for way in found if "reserve" in way]
    flags = [with_its_tiles(arenaut, path, words) for words in flags]
    plans = [json.loads(arenaut("plan", path, *words, *two, "--json").stdout)["two_memories"] for words in flags]
    return [(plan["head"]["needed"], plan["tail"]["needed"]) for plan in plans]


@pytest.mark.parametrize("budget", [(), ("--budget", "1M")])
def test_the_smallest_is_written_whatever_the_budget(arenaut, tmp_path, budget):
    paths = [PERSON, RESNET]
    least = shared(arenaut, "plan", paths, "--smallest")["planned"]["bytes"]
    found = shared(arenaut, "plan", paths, "--smallest", *budget, "-o", tmp_path)
    written = shared(arenaut, "size", [tmp_path / path.name for path in paths])
    assert found["planned"]["bytes"] == written["as_it_is"]["bytes"] == least
    assert f"ONE_ARENA_BYTES {least}u" in (tmp_path / "one_arena.h").read_text()
    tiled = [shared(arenaut, "plan", paths, "--split", "on", *more)["planned"]["bytes"] for more in ((), budget)]
    assert tiled[0] == tiled[1]


@pytest.mark.parametrize(("flags", "bytes_"), [((), 640), (("-f",), 256)])
def test_files_that_stay_as_they_are_count_so_together(arenaut, tmp_path, flags, bytes_):
    said = arenaut("plan", DATA / "foreign_plan_float.tflite", HELLO, "-o", tmp_path, *flags).stdout
    assert f"together    {bytes_} bytes" in said and f"planned {bytes_ + 32}, " in said


def test_a_file_that_keeps_another_tools_plan_is_counted_with_it(arenaut, tmp_path):
    paths, out = [HELLO, DATA / "foreign_plan_float.tflite"], tmp_path / "out"
    refused = arenaut("plan", *paths, "--one-arena", "--fit", 1500, "-o", out, exit=1)
    assert "needs 1,728" in refused.stderr and not out.exists()
    for flags, most in ((["--fit", 1728], 1728), (["--fit", 1500, "-f"], 1500)):
        said = arenaut("plan", *paths, "--one-arena", *flags, "-o", out).stdout
        lever, = re.findall(r"foreign_plan_float.tflite +(\D+?) {2,}[\d,]+ +[\d,]+\n", said.split("\n\n", maxsplit=1)[0] + "\n")
        assert lever == ("places alone" if "-f" in flags else "as it is")
        written = shared(arenaut, "size", [out / path.name for path in paths])
        assert written["as_it_is"]["bytes"] <= most


@pytest.mark.parametrize("paths", some([[PERSON, RESNET], [RESNET, HELLO, PERSON], [PERSON],
                                        [CORPUS / "tflite" / "mlperf_resnet8_int8.tflite", HELLO]]))
def test_levers_are_chosen_for_the_shared_arena(arenaut, tmp_path, paths):
    """Against all combinations of all models: where one fits, one is found; the smallest is theirs, less the bytes that
    one allocator saves."""
    if missing_files := [path.name for path in paths if not path.exists()]:
        pytest.skip(f"not there: {missing_files}")
    ways = [ways_of(arenaut, path) for path in paths]
    sums = {max(head for head, _ in chosen) + sum(tail for _, tail in chosen) for chosen in itertools.product(*ways)}
    least = shared(arenaut, "plan", paths, "--smallest")["planned"]["bytes"]
    assert min(sums) - SLACK * len(paths) <= least <= min(sums)
    for size in {min(sums), sorted(sums)[len(sums) // 2], max(sums)}:
        out = tmp_path / f"{size}"
        found = shared(arenaut, "plan", paths, "--fit", size, "-o", out)
        assert found["planned"]["bytes"] <= size
        written = [out / path.name for path in paths]
        assert shared(arenaut, "size", written)["as_it_is"]["bytes"] == found["planned"]["bytes"]
        for planned in written:
            arenaut("check", planned)
    refused = arenaut("plan", *paths, "--one-arena", "--fit", least - 1, "-o", tmp_path / "no", exit=1)
    assert f"needs {least:,}" in refused.stderr and not (tmp_path / "no").exists()


@pytest.mark.parametrize(("words", "reason"), [
    (["--fit", "90%"], "of one file"), (["--fit", "90K", "--smallest"], "exclude each other"),
    (["--fit", "90K", "--recompute", "on"], "without --recompute on"),
    (["--smallest", "--recompute", "on", "--split", "on"], "do not go together"),
    (["--fit", "90K", "--pool", "head=64K", "--pool", "tail=64K"], "for one memory")])
def test_requests_that_levers_cannot_answer_together_are_refused(arenaut, words, reason):
    assert reason in arenaut("plan", PERSON, RESNET, "--one-arena", *words, exit=2).stderr
