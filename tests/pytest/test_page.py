"""The page that `view` writes: explorer/dist is made from the rest of explorer/, and its own tests
hold, under Node and in Chromium. Where one of these is not installed, what needs it is skipped."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import COMMAND, ROOT

EXPLORER = ROOT / "explorer"
TESTS = sorted(path.name for path in (EXPLORER / "test").glob("*.test.js"))
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(not NODE, reason="Node is not installed")


def node(*arguments):
    return subprocess.run([NODE, *arguments], cwd=EXPLORER, capture_output=True, text=True,
                          check=False, env={**os.environ, "ARENAUT": str(COMMAND)})


@pytest.mark.skipif(not (EXPLORER / "node_modules" / "esbuild").is_dir(),
                    reason="esbuild is not installed: npm ci in explorer/")
def test_the_template_is_what_its_source_makes():
    done = node("build.mjs", "--check")
    assert done.returncode == 0, done.stderr


def test_the_planner_in_the_page_is_that_of_the_sources():
    if not shutil.which("clang") or not shutil.which("wasm-ld"):
        pytest.skip("no clang for WebAssembly is installed: make tools-planner")
    done = node("planner.mjs", "--check")
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())


@pytest.mark.parametrize("name", TESTS)
def test_explorer(name):
    done = node("--test", f"test/{name}")
    assert done.returncode == 0, done.stdout
    skipped = re.findall(r"# SKIP (.*)", done.stdout)
    if skipped:
        pytest.skip(f"{len(skipped)} of the page's tests: {skipped[0]}")
