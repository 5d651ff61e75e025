"""fuzz/sweep.c keeps to its seconds, says how much of a file it tried, and keeps what breaks a promise."""

import re
import shutil
import subprocess

import pytest
from conftest import ROOT

PROPERTY = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline bool toy_property(const uint8_t *data, size_t size) {
    const clock_t began = clock();
    while (clock() - began < CLOCKS_PER_SEC / 1000 * COST) {}
    if (size > 7 && data[0] == 'b' && data[7] != 'x') abort();
    return size > 0;
}
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    if not shutil.which("clang"):
        pytest.skip("no clang is installed: make tools-test")
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "toy.h").write_text(PROPERTY)

    def with_cost(milliseconds):
        program = folder / f"sweep-{milliseconds}"
        subprocess.run(
            ["clang", "-std=c11", "-fsanitize=address", "-Isrc", "-Itests", "-DPROPERTY=toy_property",
             f"-DCOST={milliseconds}", "-include", folder / "toy.h", "fuzz/sweep.c", "tests/support/sweep.c",
             "-o", program], cwd=ROOT, check=True)
        return program
    return with_cost


def sweep(program, seconds, *paths):
    return subprocess.run([program, str(seconds), *paths], capture_output=True, text=True, timeout=60)


def file_of(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def flips_of(run):
    return [int(count) for count in re.findall(r"of (\d+) flips", run.stdout)]


def test_places_are_as_many_as_there_is_time_for(build, tmp_path):
    """At 5 ms a call, all places of both files would take 42 seconds."""
    small, large = [[file_of(tmp_path, f"{size}{i}", b"x" * size) for i in range(2)] for size in (7, 3000)]
    assert flips_of(sweep(build(0), 1, *small)) == [7, 7]
    counts = flips_of(sweep(build(5), 1, *large))
    assert len(counts) == 2 and all(0 < count <= 100 for count in counts), counts


def test_what_breaks_is_kept(build, tmp_path):
    program = build(0)
    run = sweep(program, 1, file_of(tmp_path, "bad", b"b" + b"x" * 63))
    assert run.returncode != 0
    assert "kept in" in run.stderr
    kept = program.with_name(program.name + ".input").read_bytes()
    assert len(kept) == 64 and kept[7:8] != b"x"


def test_wrong_words_are_refused(build, tmp_path):
    for words in (["x", "file"], ["0", "file"], ["1"]):
        run = subprocess.run([build(0), *words], capture_output=True, text=True)
        assert run.returncode == 2 and "usage" in run.stderr, words
