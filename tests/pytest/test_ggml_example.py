"""examples/ggml: a graph that is placed beforehand needs what the plan says, never more than with ggml's own allocator,
and computes the same to the byte."""

import os
import re
import subprocess

import pytest
from conftest import ROOT

SOURCES = os.environ.get("ARENAUT_GGML", "")


def decoded(*arguments):
    """What ggml_gallocr needs, what is planned, the bound, and what was said of the pictures."""
    done = subprocess.run([ROOT / "examples" / "ggml" / "run.sh", SOURCES, *map(str, arguments)], text=True,
                          capture_output=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = re.search(r"ggml_gallocr (\d+), planned (\d+), at least (\d+)", done.stdout)
    return [int(one) for one in figures.groups()], done.stdout


@pytest.fixture(autouse=True)
def _sources():
    if not os.path.isfile(os.path.join(SOURCES, "include", "ggml-alloc.h")):
        pytest.skip("ARENAUT_GGML names no sources of ggml")


def test_the_decoder_of_a_picture():
    assert decoded(64, 128)[0] == [2_013_265_920, 1_610_612_736, 1_610_612_736]
    assert decoded(32, 128)[0] == [503_316_480, 402_653_184, 402_653_184]


@pytest.mark.parametrize("latent, width", [(4, 32), (5, 32), (3, 64)])
def test_the_pictures_are_the_same(latent, width):
    (theirs, planned, bound), said = decoded(latent, width, "--run")
    assert bound <= planned <= theirs and "the same" in said
