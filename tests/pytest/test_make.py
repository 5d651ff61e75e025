"""The Makefile: what an interrupted `make test` leaves, with stand-ins for all other targets; and environments."""

import os
import shutil
import signal
import subprocess
import sys
import time

from conftest import ROOT, default_signals

# Takes the place of make for the targets that `make test` makes: each says its number and waits, but for those that
# the file `short` names.
STAND_IN = """#!/bin/sh
grep -qw -e "$1" short 2>/dev/null && exit
echo $$ >"$1.tmp" && mv "$1.tmp" "$1.pid"
exec sleep 60
"""


def number_of(path):
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)
    return int(path.read_text())


def is_gone(number):
    deadline = time.monotonic() + 10
    while os.path.exists(f"/proc/{number}") and time.monotonic() < deadline:
        time.sleep(0.01)
    return not os.path.exists(f"/proc/{number}")


def test_an_interrupted_test_leaves_no_downloads(tmp_path):
    interrupted = started(tmp_path)
    form, downloads = (number_of(tmp_path / f"{target}.pid") for target in ("format-check", "downloads"))
    assert_nothing_is_left(interrupted, form, downloads)


def test_an_interrupted_test_leaves_no_sanitized_tests(tmp_path):
    (tmp_path / "short").write_text("format-check downloads")
    interrupted = started(tmp_path)
    python, sanitized = (number_of(tmp_path / f"{target}.pid") for target in ("test-python", "test-sanitized"))
    assert_nothing_is_left(interrupted, python, sanitized)


def test_an_environment_made_first_has_pip(tmp_path):
    """Nothing has to be made before `make site`, which installs with another environment's pip."""
    (tmp_path / "tests").mkdir()
    for packages in (ROOT / "tests").glob("requirements*.txt"):
        shutil.copy(packages, tmp_path / "tests")
    shutil.copy(ROOT / "Makefile", tmp_path)
    commands = subprocess.run(["make", "-n", "build/venv-site/.ready"], cwd=tmp_path, capture_output=True, text=True,
                              check=True).stdout
    assert [line.split()[3:] for line in commands.splitlines() if "-m venv" in line] == [
        ["--clear", "build/venv-wheel"], ["--clear", "--without-pip", "build/venv-site"]]


def started(folder):
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "beside", folder / "scripts")
    (folder / "make").write_text(STAND_IN)
    (folder / "make").chmod(0o755)
    return subprocess.Popen(["make", "-o", "tools-test", "test", f"MAKE={folder / 'make'}"], cwd=folder, start_new_session=True,
                            preexec_fn=default_signals)


def assert_nothing_is_left(running, foreground, background):
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    try:
        assert running.wait(timeout=30) != 0
        assert is_gone(foreground)
        assert is_gone(background)
    finally:
        if not is_gone(background):
            os.kill(background, signal.SIGKILL)


def beside(folder, job, *command):
    return subprocess.run([ROOT / "scripts" / "beside", folder / "log", job, *command], text=True, capture_output=True,
                          check=False)


def test_what_fails_beside_fails_the_test_and_is_shown(tmp_path):
    done = beside(tmp_path, "sh -c 'echo first; seq 20; exit 3'", "echo", "front")
    assert done.returncode == 1 and done.stdout.startswith("front\nfirst\n1\n") and done.stderr.startswith("failed: sh -c")
    done = beside(tmp_path, "seq 20", "sh", "-c", "echo front; exit 7")
    assert done.returncode == 7 and done.stdout == "front\n" + "".join(f"{k}\n" for k in range(13, 21))
    assert beside(tmp_path, "seq 2", "true").returncode == 0


def test_modules_are_compiled_once_whatever_the_environment_says(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "imported.py").write_text("")
    done = subprocess.run(["make", "-s", f"--eval=import: ; @{sys.executable} -c 'import imported'", "import"], cwd=tmp_path,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.is_relative_to(tmp_path / "build") for path in tmp_path.rglob("imported.*.pyc")] == [True]
