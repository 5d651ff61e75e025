"""Plans whose results reach into operands, in files: read back they are right for the kernels that
the mark names, planning again changes nothing, and what was there before can be had back. That the
runtime computes the same is shown elsewhere."""

import json

import pytest

from conftest import DATA, corpus_params

OWN = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))]


@pytest.mark.parametrize("path", OWN + corpus_params("tflite/*.tflite"))
def test_an_overlapped_plan_is_the_same_when_read_back(arenaut, tmp_path, path):
    planned, again, back = (tmp_path / f"{name}.tflite" for name in ("planned", "again", "back"))
    plan = json.loads(arenaut("plan", path, "--overlap", "on", "--json").stdout)
    said = arenaut("plan", path, "--overlap", "on", "-o", planned).stdout
    if planned.read_bytes() == path.read_bytes():  # and this is said with the reason
        assert "(a copy of the input: " in said
        return
    size = json.loads(arenaut("size", planned, "--json").stdout)
    assert size["baseline_plan"] == {"from_file": True, "wrong": None}
    assert size["baseline"]["arena"] == plan["result"]["arena"] < plan["baseline"]["arena"]
    assert json.loads(arenaut("check", planned, "--json").stdout)["kernels"] == "reference"
    arenaut("plan", planned, "--overlap", "on", "-o", again)
    assert again.read_bytes() == planned.read_bytes()
    arenaut("strip", planned, "-o", back)
    assert back.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["reference", "mine"])
def test_a_plan_that_is_made_of_a_plan_names_the_same_kernels(arenaut, tmp_path, name):
    """Without the name the second was looked at with all rights off, and said to be wrong. The build need not know it."""
    path, first, second = DATA / "elementwise_float.tflite", tmp_path / "1.plan.json", tmp_path / "2.plan.json"
    arenaut("plan", path, "--overlap", "on", "--unmeasured", "-o", first)
    stated = json.loads(first.read_text())
    assert stated["separations"] and stated["result"]["kernels"] == "reference" and stated["result"]["unmeasured"]
    stated["result"]["kernels"] = name
    first.write_text(json.dumps(stated))
    said = arenaut("plan", first, "-o", second).stdout
    result = json.loads(second.read_text())["result"]
    assert result["kernels"] == name and result["unmeasured"] is True
    assert f"for the kernels '{name}'" in said
    assert f"kernels    {name}, with rules that were only read in their source; with others, results may be wrong" in said
    assert f"for the kernels '{name}'" in arenaut("view", second).stdout
    checked = arenaut("check", path, second, exit=0 if name == "reference" else 2)
    assert ("ok" if name == "reference" else "the plan was made for the kernels 'mine', which this build does not know") in checked.stdout + checked.stderr


@pytest.mark.parametrize("kernels", ["reference", "cmsis-nn"])
@pytest.mark.parametrize("flag, head", [("--overlap", "that reach into"), ("--inplace", "over")])
def test_a_planned_file_is_described_by_its_plan(arenaut, tmp_path, kernels, flag, head):
    """So that nothing is told to grow; what the flags say counts before that."""
    planned, path = tmp_path / "planned.tflite", DATA / "elementwise_float.tflite"
    arenaut("plan", path, flag, "on", "--kernels", kernels, "-o", planned)
    told = arenaut("size", planned, "--json")
    size = json.loads(told.stdout)
    assert size["result"]["arena"] == size["baseline"]["arena"]
    assert told.stderr == ""
    assert f"the plan in the file has results {head} operands" in arenaut("size", planned).stdout
    assert f"head {size['result']['arena']:,} bytes" in arenaut("view", planned).stdout
    apart = arenaut("size", planned, flag, "off", "--json")
    assert json.loads(apart.stdout)["result"]["arena"] > size["result"]["arena"]
    assert "planned with" not in apart.stderr


SETS = ["reference", "cmsis-nn", "cmsis-nn-mve", "esp-nn", "esp32-s3"]


@pytest.mark.parametrize("kernels", SETS)
def test_a_plan_is_right_for_the_kernels_it_was_made_for(arenaut, tmp_path, kernels):
    """The checker follows the kernels by loops of its own: no distance says more than they allow."""
    checked = 0
    for path in DATA.glob("*.tflite"):
        planned = tmp_path / path.name
        arenaut("plan", path, "--overlap", "on", "--kernels", kernels, "--force", "-o", planned)
        if planned.read_bytes() == path.read_bytes():  # nothing to gain
            continue
        arenaut("check", planned, "--kernels", kernels)
        checked += 1
    assert checked > 4


@pytest.mark.parametrize("kernels, why", [
    ("cmsis-nn", "op 2 'CONV_2D' of method 'main': its arguments "),  # channels outside of pixels
    ("cmsis-nn-mve", "(block-reread) read byte 18400 of "),
    ("esp32-s3", "share bytes "),
])
def test_a_plan_for_other_kernels_is_refused(arenaut, tmp_path, kernels, why):
    planned = tmp_path / "planned.tflite"
    arenaut("plan", DATA / "mobilenet_v1_025_96_int8.tflite", "--overlap", "on", "-o", planned)
    answer = arenaut("check", planned, "--kernels", kernels, exit=1)
    assert "wrong (arguments)" in answer.stdout and why in answer.stdout


MOBILENET = DATA / "mobilenet_v1_025_96_int8.tflite"


@pytest.fixture
def plan_json(arenaut, tmp_path):
    """A plan as JSON; `named` is put in the place of its kernels."""

    def write(*flags, named=None):
        document = json.loads(arenaut("plan", MOBILENET, *flags, "--json").stdout)
        document["result"]["kernels"] = named or document["result"]["kernels"]
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(document))
        return path

    return write


@pytest.fixture
def scratch(tmp_path):
    """None at all, since other kernels have other buffers for it."""
    path = tmp_path / "none.csv"
    path.write_text("method,op,bytes\n")
    return "--scratch", path


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("flags", [(), ("--overlap", "on"), ("--inplace", "on")])
def test_a_plan_as_json_is_held_against_the_kernels_that_it_names(arenaut, plan_json, kernels, flags):
    plan = plan_json("--kernels", kernels, *flags)
    told = arenaut("check", MOBILENET, plan)
    assert (f"as the kernels '{kernels}' allow" in told.stdout) == bool(flags)
    assert told.stderr == ""


def test_the_kernels_that_a_plan_names_decide_whether_it_is_right(arenaut, scratch, plan_json):
    for kernels, code in {"reference": 0, "esp-nn": 0, "cmsis-nn": 1, "esp32-s3": 1}.items():
        plan = plan_json("--overlap", "on", *scratch, named=kernels)
        arenaut("check", MOBILENET, plan, *scratch, exit=code)
        told = arenaut("check", MOBILENET, plan, "--kernels", "reference", *scratch).stderr
        other = f"made for the kernels '{kernels}', and is looked at with 'reference'"
        assert (other in told) == (kernels != "reference")
    arenaut("check", MOBILENET, plan_json("--overlap", "on"), "--overlap", "off", exit=1)


def test_a_plan_for_kernels_that_are_not_known_asks_for_them(arenaut, tmp_path, plan_json):
    mine = tmp_path / "mine.json"
    text = arenaut("kernels", "reference", "--json").stdout
    mine.write_text(text.replace('"name": "reference"', '"name": "mine"'))
    plan = plan_json("--overlap", "on", "--kernels", mine)
    told = arenaut("check", MOBILENET, plan, exit=2).stderr
    assert "made for the kernels 'mine', which this build does not know" in told
    assert "as the kernels 'mine' allow" in arenaut("check", MOBILENET, plan, "--kernels", mine).stdout
    plan = plan_json(named="mine")  # uses nothing of them
    arenaut("check", MOBILENET, plan)


def test_rules_that_were_only_read_count_where_the_plan_says_so(arenaut, scratch, plan_json):
    plan = plan_json("--overlap", "on", "--kernels", "esp32-s3", "--unmeasured", *scratch)
    arenaut("check", MOBILENET, plan, *scratch)
    document = json.loads(plan.read_text())
    assert document["separations"] and document["result"].pop("unmeasured")
    plan.write_text(json.dumps(document))
    arenaut("check", MOBILENET, plan, *scratch, exit=1)
