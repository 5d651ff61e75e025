"""`make test`, of which all other targets are stand-ins: what it leaves when it is interrupted."""

import os
import shutil
import signal
import subprocess
import time

from conftest import ROOT, default_signals

# Takes the place of make for the targets that `make test` makes: each says its number and waits.
STAND_IN = """#!/bin/sh
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
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "build").mkdir()
    (tmp_path / "make").write_text(STAND_IN)
    (tmp_path / "make").chmod(0o755)
    done = [word for target in ("tools-test", "format-check", "lint") for word in ("-o", target)]
    running = subprocess.Popen(["make", *done, "test", f"MAKE={tmp_path / 'make'}"], cwd=tmp_path, start_new_session=True,
                               preexec_fn=default_signals)
    unit, downloads = (number_of(tmp_path / f"{target}.pid") for target in ("test-unit", "downloads"))
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    try:
        assert running.wait(timeout=30) != 0
        assert is_gone(unit)
        assert is_gone(downloads)
    finally:
        if not is_gone(downloads):
            os.kill(downloads, signal.SIGKILL)
