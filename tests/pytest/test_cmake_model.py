"""examples/cmake_model: a build plans its model, notices when the model changes, and fails where nothing fits."""

import shutil
import subprocess

import pytest
from conftest import COMMAND, DATA, ROOT

MODEL = DATA / "mobilenet_v1_025_96_int8.tflite"


@pytest.fixture
def build(tmp_path):
    """Configures, builds, and gives what was printed, with the program's own lines or None where the build failed."""
    def run(fit):
        configured = subprocess.run(["cmake", "-S", ROOT / "examples" / "cmake_model", "-B", tmp_path / "out",
                                     f"-DMODEL={tmp_path / 'm.tflite'}", f"-DFIT={fit}", f"-DARENAUT_COMMAND={COMMAND.resolve()}"],
                                    capture_output=True, text=True, check=False)
        assert configured.returncode == 0, configured.stderr
        done = subprocess.run(["cmake", "--build", tmp_path / "out"], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stdout + done.stderr, None
        program = subprocess.run([tmp_path / "out" / "firmware"], capture_output=True, text=True, check=True)
        return done.stdout + done.stderr, program.stdout.splitlines()

    shutil.copy(MODEL, tmp_path / "m.tflite")
    return run


def test_the_program_has_model_arena_and_ops(build, arenaut, arenaut_json, tmp_path):
    _, (said, *ops) = build("96K")
    planned = tmp_path / "out" / "firmware.planned" / "model.tflite"
    arenaut("check", planned, "--kernels", "cmsis-nn")
    [row] = [row for row in arenaut_json("size", planned, "--kernels", "cmsis-nn")["tensor_arena"]
             if (row["of"], row["target"]) == ("as it is", "tflite-micro")]
    assert said == (f"a model of {planned.stat().st_size} bytes that begins with TFL3, "
                    f"an arena of {row['bytes']}")
    assert "AddConv2D" in ops and len(ops) == 6
    assert "planning" not in build("96K")[0]
    shutil.copy(DATA / "resnet_int8.tflite", tmp_path / "m.tflite")
    printed, _ = build("96K")
    assert "planning the memory of model" in printed


def test_a_model_that_does_not_fit_fails_the_build(build, tmp_path):
    printed, program = build("20K")
    assert program is None and "nothing is known to fit into 20,480 bytes: the least to reserve is" in printed
    assert not (tmp_path / "out" / "firmware.planned" / "model.c").exists()
