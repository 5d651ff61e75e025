"""Planned files in the stock tflite-micro wheel: less memory, the same outputs, bit for bit."""

import pytest
from conftest import CORPUS, DATA, SCRATCH, corpus_params

import tflite_compare
import corpus
import measure_scratch
import micro_runtime
import tflite_file
from drawn import some

OWN = [pytest.param(path, id=path.stem) for path in sorted(DATA.glob("*.tflite"))
       if path.stem not in micro_runtime.REFUSED]
RUNNABLE = OWN + corpus_params("tflite/*.tflite", without=micro_runtime.REFUSED)

# (today, planned): what the runtime's own planner needs, and the proven minimum.
FIGURES = {
    "mobilenet_v1_025_96_int8": (73728, 55296),
    "inception_int8": (41472, 34560),
    "mlperf_vww96_int8": (73728, 55296),
    "mlperf_vww96_float": (294912, 221184),
    "oww_embedding": (663552, 454656),
    "mww_alexa": (3648, 3200),
    "keyword_scrambled_8bit": (672, 672),
    "keyword_scrambled": (672, 672),
    "audio_preprocessor_int8": (3040, 3040),
    "dtln_noise_suppression": (1424, 1424),
    "torchaudio_conformer": (38069408, 38069408),
    "person_detect": (55296, 55296),
    "tinyengine_detection": (337024, 337024),
    "mcunetv2_large": (2451840, 2451840),
}


# Ops that ask for scratch of which no formula is known.
UNSIZED = {"ADD_N", "SignalRfft", "TFLite_Detection_PostProcess"}


class Planned:
    """A model, what the command says about it, and the bytes that the runtime gets."""

    def __init__(self, run, path, folder, *options):
        self.path, self.original = path, path.read_bytes()
        self.output = folder / f"{path.stem}.tflite"
        self.document = run("plan", path, "-o", self.output, *options)
        self.result, self.baseline = self.document["result"], self.document["baseline"]
        # Where nothing better exists, the output is a copy of the model.
        self.data = self.output.read_bytes()
        self.written = self.data != self.original

    def nothing_to_gain(self):
        """Whether leaving the model alone was right: no better plan, or another tool's."""
        return (self.path.stem == "foreign_plan_float"
                or self.result["arena"] == self.baseline["arena"])


@pytest.fixture(scope="module")
def planned(arenaut_json, tmp_path_factory):
    """Plans a model with its kernels' scratch known; each model once."""
    done = {}

    def plan(path):
        if path not in done:
            done[path] = Planned(arenaut_json, path, tmp_path_factory.mktemp(path.stem),
                                 "--scratch", SCRATCH)
        return done[path]

    return plan


@pytest.mark.parametrize("path", RUNNABLE)
def test_today_is_the_head_that_the_runtime_reports(planned, path):
    head, _ = micro_runtime.Machine(planned(path).original).arena()
    assert planned(path).baseline["arena"] == head


@pytest.mark.parametrize("path", RUNNABLE)
def test_the_runtime_reports_the_planned_arena(planned, path):
    model = planned(path)
    head, tail = micro_runtime.Machine(model.data).arena()
    if model.written:
        assert head == model.result["arena"] < model.baseline["arena"]
    assert tail == micro_runtime.Machine(model.original).arena()[1]


@pytest.mark.parametrize("path", RUNNABLE)
def test_plans_are_proven_minimal(planned, path):
    result = planned(path).result
    assert result["status"] == "optimal"
    assert result["arena"] == result["lower_bound"] <= planned(path).baseline["arena"]


@pytest.mark.parametrize("path", RUNNABLE)
def test_outputs_are_the_same_over_several_runs(planned, path):
    model = planned(path)
    if not model.written:
        assert model.nothing_to_gain() and model.data == model.original
        return
    assert tflite_compare.first_difference(model.original, model.data) is None


@pytest.mark.parametrize("path", [p for p in RUNNABLE
                                  if p.id in ("mobilenet_v1_025_96_int8", "inception_int8",
                                              "call_once_float", "mlperf_vww96_int8",
                                              "mww_alexa", "oww_embedding")])
def test_every_op_finds_its_operands_untouched(planned, path):
    """Two-class outputs saturate and hide much; intermediate tensors do not."""
    assert tflite_compare.first_wrong_op(planned(path).original, planned(path).data) is None


@pytest.mark.parametrize("path", [p for p in RUNNABLE if p.id in FIGURES])
def test_figures(planned, path):
    model = planned(path)
    assert (model.baseline["arena"], model.result["arena"]) == FIGURES[path.stem]


@pytest.mark.parametrize("path", corpus_params("tflite/audio_preprocessor_int8.tflite"))
def test_a_plan_that_unknown_scratch_could_spoil_is_not_written(arenaut, tmp_path, path):
    """Best fit leaves a hole below where an op asks for scratch; the tensors alone would need
    less than today, but the scratch could end higher than it does today."""
    out = tmp_path / "out.tflite"
    options = ("--planner", "best-fit", "--align", 32, "-o", out)
    assert "it could need more than the file as it is" in arenaut("plan", path, *options).stdout
    assert out.read_bytes() == path.read_bytes()
    arenaut("plan", path, *options, "-f")
    assert out.read_bytes() != path.read_bytes()


@pytest.mark.parametrize("path", some(RUNNABLE))
def test_without_scratch_sizes_the_answer_is_honest(arenaut_json, planned, tmp_path, path):
    """Unknown scratch is called unknown and no plan is then called optimal; where the kernels'
    sizes are known, no side file is needed."""
    model = Planned(arenaut_json, path, tmp_path)
    rows, failed = measure_scratch.measure(model.original)
    if failed or {row[3] for row in rows} & UNSIZED:
        assert model.document["scratch"] == "unknown"
        assert model.result["status"] == "feasible"
    else:
        assert model.document["scratch"] == ("given" if rows else "none")
        assert model.result == planned(path).result | {"seconds": model.result["seconds"]}
    head, _ = micro_runtime.Machine(model.data).arena()
    assert head <= micro_runtime.Machine(model.original).arena()[0]
    if model.written:
        assert tflite_compare.first_difference(model.original, model.data, seeds=(1,)) is None


@pytest.mark.parametrize("path", RUNNABLE)
def test_planning_twice_gives_the_same_bytes_and_strip_the_original(arenaut, planned, tmp_path,
                                                                    path):
    model = planned(path)
    if not model.written:
        assert model.nothing_to_gain()
        return
    again, third, stripped = (tmp_path / f"{n}.tflite" for n in ("again", "third", "stripped"))
    arenaut("plan", path, "-o", again, "--scratch", SCRATCH)
    assert again.read_bytes() == model.data
    arenaut("plan", model.output, "-o", third, "--scratch", SCRATCH)
    assert third.read_bytes() == model.data
    arenaut("strip", model.output, "-o", stripped)
    assert stripped.read_bytes() == model.original


@pytest.mark.parametrize("path", RUNNABLE)
def test_plans_leave_what_is_not_theirs_to_the_runtime(planned, path):
    """Constants and variables stay at -1: a planned variable among planned tensors is lost."""
    model = planned(path)
    if not model.written:
        assert model.nothing_to_gain()
        return
    table = tflite_file.unpack(model.data)
    tensors = [tensor for graph in table.subgraphs for tensor in graph.tensors]
    offsets = tflite_file.plan_of(model.data)
    assert len(offsets) == len(tensors)
    for tensor, offset in zip(tensors, offsets):
        if tflite_file.is_constant(table, tensor) or tensor.isVariable:
            assert offset == tflite_file.ONLINE
        else:
            assert offset == tflite_file.ONLINE or (offset >= 0 and offset % 16 == 0)


def test_another_tools_plan_is_replaced_only_when_forced(arenaut, arenaut_json, tmp_path):
    path, output = DATA / "foreign_plan_float.tflite", tmp_path / "planned.tflite"
    arenaut("plan", path, "-o", output)
    assert output.read_bytes() == path.read_bytes()
    result = arenaut_json("plan", path, "-o", output, "-f")["result"]
    assert micro_runtime.Machine(path.read_bytes()).arena()[0] == 640
    assert micro_runtime.Machine(output.read_bytes()).arena()[0] == result["arena"] == 256
    assert tflite_compare.first_difference(path.read_bytes(), output.read_bytes()) is None


def test_these_tests_would_notice_a_wrong_plan():
    """A plan with every tensor at offset 0 is taken by the runtime without a word."""
    original = (DATA / "mobilenet_v1_025_96_int8.tflite").read_bytes()
    table = tflite_file.unpack(original)
    offsets = [-1 if tflite_file.is_constant(table, tensor) else 0
               for tensor in table.subgraphs[0].tensors]
    wrong = tflite_file.with_plan(original, offsets)
    assert tflite_compare.first_difference(original, wrong) is not None
    assert tflite_compare.first_wrong_op(original, wrong) is not None


def test_a_smaller_plan_is_a_smaller_arena(planned):
    """The fewest bytes that the runtime accepts, planning temporaries included."""
    model = planned(DATA / "mobilenet_v1_025_96_int8.tflite")
    before, after = (micro_runtime.smallest_arena(data)
                     for data in (model.original, model.data))
    assert before - after == model.baseline["arena"] - model.result["arena"]


def test_the_corpus_is_complete_where_it_is_at_hand():
    if not CORPUS.is_dir():
        pytest.skip(f"{corpus.HINT} to the whole of it")
    present = {path.stem for path in [*(CORPUS / "tflite").glob("*.tflite"), *DATA.glob("*.tflite")]}
    assert micro_runtime.REFUSED <= present
    assert set(FIGURES) - {p.id for p in OWN} <= present
