"""Models with tflite-micro's DECODE: whether its results lie in the arena, no file tells."""

import pytest

pytest.importorskip("ai_edge_litert", reason="no schema at hand: the model cannot be made")
import make_tflite  # noqa: E402


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "decode.tflite"
    path.write_bytes(make_tflite.decode_int8())
    return path


@pytest.mark.parametrize("verb", ["size", "explain", "plan"])
def test_the_answer_says_what_it_does_not_know(verb, model, arenaut):
    said = arenaut(verb, model).stdout
    assert "unknown: results of op 1 TFLM_DECODE may lie in other memory" in said
    assert "proven minimal" not in said
    # Other runtimes of such files have no memory besides the arena.
    assert "DECODE decodes" not in arenaut(verb, model, "--target", "generic").stdout


def test_no_proof_is_claimed(model, arenaut_json):
    for verb in ("size", "plan"):
        document = arenaut_json(verb, model)
        assert document["result"]["status"] == "feasible"
        assert document["result"]["arena"] == document["result"]["lower_bound"] == 2144


@pytest.mark.parametrize("options", [(), ("-f",)])
def test_no_offsets_go_into_such_a_file(options, model, arenaut, tmp_path):
    output = tmp_path / "planned.tflite"
    said = arenaut("plan", model, "-o", output, *options).stdout
    assert "results of TFLM_DECODE may lie outside of the arena" in said
    assert output.read_bytes() == model.read_bytes()
