"""The text formats from outside: what the command writes against the schemas, and what its
JSON reader accepts against Python's own."""

import json
import re
import subprocess

import hypothesis
import hypothesis.strategies as st
import jsonschema
import pytest

from conftest import COMMAND, DATA, ROOT
from drawn import some

SCHEMAS = ROOT / "docs" / "schema"
EXAMPLES = sorted((DATA / "json").glob("*.json"))
MODELS = sorted(DATA.glob("*.tflite"))


def validate(document):
    family, version = document["schema"].split("/")
    schema = json.loads((SCHEMAS / f"{family}-{version}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


def accepted(text: bytes, reader="problem-json") -> bool:
    done = subprocess.run([COMMAND, "export", "-", "--from", reader, "--as", "problem"],
                          input=text, capture_output=True)
    assert done.returncode in (0, 3), done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_keep_to_their_schema(path):
    validate(json.loads(path.read_text()))


@pytest.mark.parametrize("path", some(MODELS) + some(EXAMPLES), ids=lambda path: path.name)
def test_written_documents_keep_to_their_schemas(arenaut, path):
    bare = any(kind in path.name for kind in ("problem", "plan", "trace"))
    kinds = ["problem"] if bare else ["problem", "program"]
    for kind in kinds:
        validate(json.loads(arenaut("export", path, "--as", kind).stdout))
    validate(json.loads(arenaut("plan", path, "--json").stdout))
    for verb in ("size", "explain"):  # these say more than the plan
        known = json.loads(arenaut("plan", path, "--json").stdout)
        exact = known["runtime"].get("exact", known["scratch"] != "unknown") if "runtime" in known else True
        told = arenaut(verb, path, "--json", "--budget", "4096P", exit=0 if exact else 1)
        document = json.loads(told.stdout)
        assert document["budget"]["fits"] is (True if exact else None)
        assert ("remedies" in document) == (verb == "explain")
        validate(document)
        done = subprocess.run([COMMAND, "export", "-", "--from", "plan-json", "--as", "problem"],
                              input=json.dumps(document).encode(), capture_output=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("flags", ["--reorder on", "--split on", "--overlap on", "--split on --overlap on",
                                   "--inplace on", "--split 0-3/2:cropped"])
@pytest.mark.parametrize("verb", ["plan", "size", "explain"])
def test_reports_of_a_rewritten_model_are_read_back(arenaut, tmp_path, verb, flags):
    text = arenaut(verb, DATA / "resnet_int8.tflite", *flags.split(), "--json").stdout
    validate(json.loads(text))
    (tmp_path / "plan.json").write_text(text)
    assert "ok" in arenaut("check", tmp_path / "plan.json").stdout


def test_kernel_sets_keep_to_their_schema(arenaut, tmp_path):
    validate(json.loads((DATA / "kernels" / "everything.kernels.json").read_text()))
    listed = json.loads(arenaut("kernels", "--json").stdout)["kernels"]
    assert "reference" in [row["name"] for row in listed]
    for row in listed:
        text = arenaut("kernels", row["name"], "--json").stdout
        validate(json.loads(text))
        file = tmp_path / "set.json"
        file.write_text(text)
        assert arenaut("kernels", file, "--json").stdout == text


def test_tokens_are_told_in_json_as_well(arenaut):
    path = DATA / "tvm" / "views.json"
    for verb in ("size", "explain"):
        document = json.loads(arenaut(verb, path, "--json").stdout)
        validate(document)
        text = arenaut(verb, path).stdout
        assert f"tokens   {document['tokens']['n']} for" in text
        assert f"multiples of 64, need {document['tokens']['offsets']['arena']:,} bytes" in text


@pytest.mark.parametrize("change", [
    lambda d: d.update(buffer=[]),
    lambda d: d["buffers"][0].pop("size"),
    lambda d: d["buffers"][0].update(size=-1),
    lambda d: d["buffers"][0].update({"class": "constant"}),
    lambda d: d["buffers"][0].update(offset=4),
    lambda d: d["edges"].append([1]),
    lambda d: d.update(schema="arenaut.problem/2"),
])
def test_reader_and_schema_refuse_the_same(change):
    document = json.loads((DATA / "json" / "everything.problem.json").read_text())
    assert accepted(json.dumps(document).encode())
    change(document)
    schema = json.loads((SCHEMAS / "arenaut.problem-1.schema.json").read_text())
    assert not jsonschema.Draft202012Validator(schema).is_valid(document)
    assert not accepted(json.dumps(document).encode())


def test_csv_and_json_say_the_same(arenaut, tmp_path):
    rows = "id,lower,upper,size,alignment\na,0,4,10,4\nb,2,6,7,1\nc,5,9,3,2\n"
    (tmp_path / "p.csv").write_text(rows)
    problem = json.loads(arenaut("export", tmp_path / "p.csv", "--as", "problem").stdout)
    assert [(b["name"], b["first"], b["end"], b["size"], b["align"])
            for b in problem["buffers"]] == [("a", 0, 4, 10, 4), ("b", 2, 6, 7, 1), ("c", 5, 9, 3, 2)]
    (tmp_path / "p.json").write_text(json.dumps(problem, sort_keys=True))
    solved = arenaut("export", tmp_path / "p.json", "--as", "csv").stdout
    assert [line.split(",")[:5] for line in solved.split()] == [line.split(",") for line in
                                                               rows.split()]


def strict_loads(text: bytes):
    """Python's reader, made to keep to RFC 8259 and to our limits."""
    def refuse(word):
        raise ValueError(word)

    def unique(pairs):
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("two members of one name")
        return dict(pairs)

    value = json.loads(text.decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique,
                       parse_float=str, parse_int=str)
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # refuses lone surrogates
    return value


def python_accepts(text: bytes) -> bool:
    try:
        strict_loads(text)
        return True
    except (ValueError, RecursionError):
        return False


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12)
HEAD, TAIL = b'{"schema": "arenaut.problem/1", "buffers": [], "x-any": ', b"}"


@hypothesis.given(VALUES, st.booleans())
@hypothesis.settings(deadline=None, max_examples=150)
def test_any_json_is_read(value, ascii_only):
    assert accepted(HEAD + json.dumps(value, ensure_ascii=ascii_only).encode() + TAIL)


@hypothesis.given(VALUES, st.data())
@hypothesis.settings(deadline=None, max_examples=250)
def test_damaged_json_is_read_where_python_reads_it(value, data):
    text = bytearray(json.dumps(value).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.sampled_from(b'"\\{}[],:0123456789.eE+-tfnu \n\x00\x7f\x80\xc3\xff'))
    whole = HEAD + bytes(text) + TAIL
    # A member that slipped in may be one that the schema knows or refuses: look at the value.
    if python_accepts(whole) and set(strict_loads(whole)) != {"schema", "buffers", "x-any"}:
        return
    assert accepted(whole) == python_accepts(whole)


@pytest.mark.parametrize("size", [0, 1, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 10])
def test_sizes_are_exact(arenaut, tmp_path, size):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"schema": "arenaut.problem/1",
                                "buffers": [{"size": size, "first": 0, "end": 1}]}))
    written = json.loads(arenaut("export", path, "--as", "problem").stdout)["buffers"][0]["size"]
    assert int(written) == size
    assert isinstance(written, int) == (size <= 2**53 - 1)


def test_the_examples_of_the_documentation_can_be_planned(arenaut, tmp_path):
    text = (ROOT / "docs" / "formats.md").read_text()
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        validate(json.loads(block))
        (tmp_path / "x.json").write_text(block)
        arenaut("kernels" if "kernels/1" in block else "plan", tmp_path / "x.json")
    rows = re.search(r"\n    (id,lower.*?)\n\n", text, re.DOTALL)[1].replace("    ", "")
    (tmp_path / "x.csv").write_text(rows)
    arenaut("plan", tmp_path / "x.csv")


# Of the run that made a plan, or of its model: a plan's file is described without them.
REPORTS = {"version", "input", "baseline", "peak", "memories", "runtime", "order", "recompute", "split", "baseline_plan",
           "tensor_arena", "tail", "budget"}


@pytest.mark.parametrize("model, flags", [
    ("json/everything.problem.json", []),
    ("fragmented.csv", []),
    ("pte/kv_decoder.pte", ["--reorder", "on", "--inplace", "on", "--overlap", "on"]),
    ("inception_int8.tflite", ["--split", "on"]),
    ("pt2/windows_core.pt2", ["--recompute", "on", "--passes", "slices", "--reorder", "on"]),
    ("mobilenet_v1_025_96_int8.tflite", ["--pool", "dtcm=40K", "--pool", "sram=256K", "--preserve-inputs"]),
])
def test_a_plan_file_comes_back_member_by_member(arenaut, arenaut_json, tmp_path, model, flags):
    path = tmp_path / "a.plan.json"
    path.write_text(arenaut("plan", DATA / model, *flags, "--json").stdout)
    before, after = json.loads(path.read_text()), json.loads(arenaut("export", path, "--as", "json").stdout)
    for document in (before, after):
        document["result"].pop("seconds")
    left = set(before) - REPORTS
    assert {key: after.get(key) for key in left} == {key: before[key] for key in left}
