"""The curve of peak against time that explain has with --recompute on, held against single plans."""

import json

import pytest
from conftest import ROOT, import_example
from test_recompute import program


chain = import_example("training_chain").chain


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("curve") / "chain.json"
    path.write_text(json.dumps(chain(16)))
    return path


def test_each_point_is_a_plan_that_fits(arenaut, arenaut_json, tmp_path):
    model = tmp_path / "chain.json"
    model.write_text(json.dumps(chain(9)))
    curve = arenaut_json("explain", model, "--recompute", "on")["curve"]
    assert [point["percent"] for point in curve["points"]] == [80, 70, 60, 50, 40, 30]
    for point in curve["points"]:
        plan = arenaut_json("plan", model, "--recompute", "on", "--fit", point["budget"])["recompute"]
        assert point["fits"] and point["peak"] <= point["budget"] == curve["before"] * point["percent"] // 100
        assert plan["added_nanoseconds"] == point["added_nanoseconds"] >= point["bound_nanoseconds"]
        assert plan["nanoseconds"] == curve["nanoseconds"] and plan["floor"] == curve["floor"]["bytes"]
    times = [point["added_nanoseconds"] for point in curve["points"]]
    assert times == sorted(times)


@pytest.mark.parametrize("rate", [1000003, 600000000, 1900000000, 12800000001, 10**15 + 7])
def test_times_are_those_of_any_rate(arenaut_json, tmp_path, rate):
    path = tmp_path / "chain.json"
    path.write_text(json.dumps(chain(2)))
    told = arenaut_json("explain", path, "--recompute", "on", "--device", f"9e17:{rate}")["curve"]["nanoseconds"]
    assert told == sum(bytes * 10**9 // rate for bytes in (1008, 2000, 3000, 3000))


def test_sums_that_are_too_large_are_named(arenaut, tmp_path):
    path, costs = tmp_path / "chain.json", tmp_path / "costs.csv"
    path.write_text(json.dumps(chain(4, 2**58)))
    assert f"all buffers add up to more than {2**61 - 1} bytes" in arenaut("plan", path, "--recompute", "on", exit=3).stderr
    path.write_text(json.dumps(chain(4)))
    costs.write_text("method,op,nanoseconds\n" + "".join(f"0,{op},{2**60}\n" for op in range(8)))
    done = arenaut("plan", path, "--recompute", "on", "--fit", 4000, "--costs", costs, exit=3)
    assert f"the times of all ops add up to more than {2**61 - 1} nanoseconds" in done.stderr
    path.write_text(json.dumps(chain(1) | {"ops": [], "outputs": ["x"]}))
    assert "nothing is computed again: there are no ops" in arenaut("plan", path, "--recompute", "on").stderr


def test_no_time_is_told_of_what_is_impossible(arenaut, arenaut_json, model):
    """Any number is a bound of sequences that there are none of, and the search comes upon huge ones."""
    floor = arenaut_json("plan", model, "--recompute", "on", "--fit", "50%")["recompute"]["floor"]
    for budget, impossible in ((floor - 1, True), (2 * floor, False)):
        printed = json.loads(arenaut("plan", model, "--recompute", "on", "--fit", budget, "--json", exit=int(impossible)).stdout)
        told, certificate = printed["recompute"], printed["rematerialization"]
        assert told["impossible"] is impossible
        assert told["bound_nanoseconds"] == certificate["bound"]["value"]
        assert (told["bound_nanoseconds"] == 0) is impossible
        assert (told["added_ops"] == 0) is (told["added_nanoseconds"] == 0) is impossible
        assert told["floor"] == floor


def test_the_floor_names_its_tensors(arenaut, arenaut_json, tmp_path):
    import jsonschema
    schema = json.loads((ROOT / "docs" / "schema" / "arenaut.plan-1.schema.json").read_text())
    path, printed = tmp_path / "waiting.json", tmp_path / "waiting.plan.json"
    path.write_text(json.dumps(program()))
    document = arenaut_json("explain", path, "--recompute", "on")
    jsonschema.validate(document, schema)
    floor = document["curve"]["floor"]
    assert floor["op"] == "CONV" and floor["bytes"] == 3264 == sum(t["bytes"] for t in floor["tensors"])
    assert [t["name"] for t in floor["tensors"]] == ["c", "b", "x"]
    assert not any(point["impossible"] for point in document["curve"]["points"])
    said = arenaut("explain", path, "--recompute", "on").stdout
    assert "every rematerialization has 3,264 bytes (80.3 %) alive at once (proven)" in said
    assert "fuse the ops" in said and "c, made by CONV" in said
    printed.write_text(arenaut("explain", path, "--recompute", "on", "--json").stdout)
    arenaut("check", path, printed)
    assert "curve" not in arenaut_json("explain", path)


@pytest.mark.parametrize("size, arena, most", [(3000, 3000, 105), (4000, 4000, 32), (4500, 4000, 32), (5000, 5000, 18)])
def test_each_load_of_large_tensors_alone_is_a_budget(arenaut_json, model, size, arena, most):
    """Of 17 such loads none is passed over, as parts of the peak would be that lie between them."""
    document = arenaut_json("plan", model, "--recompute", "on", "--fit", size)
    assert document["result"]["arena"] == arena and document["recompute"]["added_ops"] <= most


def test_the_lowest_of_few_loads_is_found_without_a_budget(arenaut, arenaut_json, tmp_path):
    path, plan = tmp_path / "cheap.json", tmp_path / "cheap.plan.json"
    document = chain(16)
    for op in document["ops"]:
        op["name"] = {"F": "RELU", "B": "ADD"}[op["name"]]
    path.write_text(json.dumps(document))
    told = arenaut_json("plan", path, "--recompute", "on", "-o", plan)
    assert told["result"]["arena"] == told["recompute"]["floor"] == 3000
    assert "in 3,000 bytes alive at once" in arenaut("check", path, plan).stdout
    said = arenaut("plan", path, "--recompute", "on").stdout
    assert "of cheap ops, no rematerialization to at most 3,000 live bytes adds less than" in said
