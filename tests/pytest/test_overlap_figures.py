"""How small arenas get where results may reach into operands: the models of the corpus, whose figures
were found by an independent prototype of the rules, and the project's own."""

import pytest
from conftest import CORPUS, DATA, SCRATCH, corpus, corpus_params

# Bytes with overlap, each the least there can be for the order of the ops and these kernels.
FIGURES = {
    "audio_preprocessor_int8": 3040,
    "dtln_noise_suppression": 1296,
    "hello_world_int8": 32,
    "keyword_scrambled": 608,
    "keyword_scrambled_8bit": 608,
    "litert_call_once_mul": 32,
    "litert_dynamic_shapes": 1744944,
    "litert_multi_subgraphs_while": 112,
    "litert_nested_while": 96,
    "mcunet_vww": 84672,
    "mcunetv2_large": 1247616,
    "micro_speech_lstm": 13248,
    "micro_speech_quantized": 4176,
    "mlperf_ad01_int8": 768,
    "mlperf_kws_float": 39168,
    "mlperf_kws_int8": 9792,
    "mlperf_resnet8_int8": 33312,
    "mlperf_resnet_large_int8": 83280,
    "mlperf_strww_int8": 3840,
    "mlperf_vww96_float": 147488,
    "mlperf_vww96_int8": 36880,
    "mobilenet_v2_int8_nchw": 1247616,
    "mp_face_detection_full_sparse": 2410240,
    "mp_face_detection_short": 917504,
    "mp_face_landmark": 1629808,
    "mp_face_landmark_attention": 1924704,
    "mp_hand_landmark_lite": 4018432,
    "mp_palm_detection_lite": 2363776,
    "mp_pose_detection": 3329536,
    "mww_alexa": 3136,
    "oww_embedding": 227904,
    "person_detect": 36880,
    "tinyengine_detection": 245760,
    "torchaudio_conformer": 20113488,
    "trained_lstm_int8": 976,
}

# With the kernels of CMSIS-NN in C, which nothing but small convolutions and pads gain by, and those
# with vector instructions; of tensors alone: the scratch that these kernels ask for comes on top.
CMSIS_NN = {
    "inception_int8": (26912, 26000),
    "mobilenet_v1_025_96_int8": (55296, 36896),
    "resnet_int8": (16656, 16656),
    "mcunet_vww": (89600, 84672),
    "micro_speech_quantized": (4176, 5968),
    "mlperf_kws_int8": (16000, 10560),
    "mlperf_resnet8_int8": (33296, 33296),
    "mlperf_strww_int8": (6144, 6656),
    "mlperf_vww96_int8": (55296, 36896),
    "mobilenet_v2_int8_nchw": (1404928, 1247616),
    "tinyengine_detection": (245760, 245760),
}

# Own models, with only whole operands written over and with overlap.
OWN = {
    "elementwise_float": (8192, 8192),
    "float16_weights": (7680, 6720),
    "if_while_float": (1312, 1312),
    "inception_int8": (34560, 26032),
    "mobilenet_v1_025_96_int8": (55296, 36880),
    "resnet_int8": (24576, 16656),
    "scratch_int8": (12672, 11520),
    "svdf_int8": (464, 432),
    "types_mixed": (368, 368),
}


@pytest.fixture
def arena(arenaut_json):
    """The planned bytes, which must be the bound."""

    def plan(path, *flags):
        result = arenaut_json("size", path, "--scratch", SCRATCH, *flags)["result"]
        assert result["arena"] == result["lower_bound"]
        return result["arena"]

    return plan


@pytest.mark.parametrize("path", corpus_params("tflite/*.tflite"))
def test_the_corpus_is_planned_as_small_as_it_can_be(arena, path):
    if path.stem not in FIGURES:  # a single custom op, for one
        assert arena(path, "--overlap", "on") == arena(path, "--inplace", "on")
    else:
        assert arena(path, "--overlap", "on") == FIGURES[path.stem]


@pytest.mark.parametrize("path", corpus_params("tflite/*.tflite"))
def test_every_figure_of_the_corpus_has_a_proof_that_was_followed(arenaut_json, path):
    (run,) = arenaut_json("bench", path, "--planner", "auto", "--overlap", "on", "--scratch", SCRATCH)["runs"]
    assert run["status"] == "optimal" and run["proof"]["checked"]
    assert run["proof"]["lines"] < 100


@pytest.mark.parametrize("name", CMSIS_NN)
def test_other_kernels_allow_other_arenas(arenaut_json, tmp_path, name):
    path = (DATA if name in OWN else CORPUS / "tflite") / f"{name}.tflite"
    if not path.is_file():
        pytest.skip(f"{corpus.HINT} to one with tflite")

    (tmp_path / "none.csv").write_text("method,op,bytes\n")

    def arena(kernels, *options):
        return arenaut_json("size", path, "--overlap", "on", "--inplace", "on", "--kernels",
                            kernels, *options)["result"]["arena"]

    for kernels, tensors in zip(("cmsis-nn", "cmsis-nn-mve"), CMSIS_NN[name]):
        assert arena(kernels, "--scratch", tmp_path / "none.csv") == tensors
        assert tensors <= arena(kernels)
    assert arena("esp-nn") == (OWN[name][1] if name in OWN else FIGURES[name])


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"{corpus.HINT} to one with tflite")
def test_every_figure_is_of_a_model_that_is_there():
    assert set(FIGURES) <= {path.stem for path in CORPUS.glob("tflite/*.tflite")}


@pytest.mark.parametrize("name", OWN)
def test_own_models_are_planned_as_small_as_they_can_be(arena, name):
    path = DATA / f"{name}.tflite"
    assert (arena(path, "--inplace", "on"), arena(path, "--overlap", "on")) == OWN[name]


@pytest.mark.parametrize("name", OWN)
def test_overlap_needs_no_rights_to_write_in_place(arena, name):
    """What a kernel's order allows at a distance of 0 it allows without such a right."""
    path = DATA / f"{name}.tflite"
    assert arena(path, "--overlap", "on", "--inplace", "off") == OWN[name][1]


def test_kernels_without_rules_overlap_nothing(arena):
    path = DATA / "mobilenet_v1_025_96_int8.tflite"
    assert arena(path, "--overlap", "on", "--target", "litert") == arena(path, "--target", "litert")
