"""The plug-ins for frameworks that have a planner of their own, in environments that hold them:
tinygrad's in build/venv-hosts, those for PyTorch here."""

import os
import subprocess
import sys

import pytest
from conftest import COMMAND, ROOT
from drawn import NIGHT

HOSTS = ROOT / "build" / "venv-hosts" / "bin" / "python"
TESTS = ROOT / "tests" / "hosts"


def run(python, *arguments):
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"),
                       ARENAUT_LIBRARY=str(COMMAND.parent / "libarenaut.so"))
    environment.pop("CC", None)  # make's: tinygrad calls it with flags of clang
    return subprocess.run([str(python), *map(str, arguments)], env=environment, text=True,
                          capture_output=True, timeout=900, check=False)


def passes(python, *tests):
    done = run(python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *tests)
    print(done.stdout)  # shown if it fails, and with -s: the names and the skips
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout and "skipped" not in done.stdout


def hosts():
    if not HOSTS.is_file():
        pytest.fail("build/venv-hosts is missing: make venv-hosts")
    return HOSTS


def test_tinygrad():
    passes(hosts(), TESTS / "test_tinygrad.py")


@NIGHT
def test_inductor():
    passes(sys.executable, TESTS / "test_inductor.py")


def test_nothing_of_them_is_imported_with_arenaut():
    done = run(sys.executable, "-c", "import sys, arenaut; print(*(name for name in sys.modules "
               "if name.split('.')[0] in ('torch', 'tinygrad')))")
    assert (done.stdout, done.stderr) == ("\n", "")
