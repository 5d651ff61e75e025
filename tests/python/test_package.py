"""What lies in the package, and what importing it costs."""

import os
import statistics
import subprocess
import sys
import types
from importlib import metadata, resources

import pytest

import arenaut
from arenaut import library, records


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment}, check=False)


def test_what_is_installed():
    files = {str(path) for path in metadata.files("arenaut")}
    assert {"arenaut/libarenaut.so", "arenaut/libarenaut-replay.so", "arenaut/bin/arenaut",
            "arenaut/py.typed", "arenaut/include/arenaut/arenaut.h"} <= files
    assert not [name for name in files if name.endswith((".a", ".c")) or "/tests/" in name]
    assert metadata.version("arenaut") == arenaut.__version__
    assert os.path.dirname(arenaut.__file__).startswith(sys.prefix)


def test_the_command_in_both_ways():
    script = os.path.join(os.path.dirname(sys.executable), "arenaut")
    for command in [script], [sys.executable, "-m", "arenaut"]:
        done = subprocess.run([*command, "version"], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[0] == f"arenaut {records.VERSION}"
        done = subprocess.run([*command, "plan", "absent.tflite"], capture_output=True, check=False)
        assert done.returncode == 4


def test_a_program_in_c_is_compiled_from_the_wheel(tmp_path):
    package = resources.files("arenaut")
    source = tmp_path / "version.c"
    source.write_text('#include <arenaut/arenaut.h>\n#include <stdio.h>\n'
                      'int main(void) { return puts(arenaut_version()) < 0; }\n')
    subprocess.run([os.environ.get("CC", "cc"), f"-I{package / 'include'}", source, "-o",
                    tmp_path / "version", str(package / "libarenaut.so"), f"-Wl,-rpath,{package}"],
                   check=True)
    done = subprocess.run([tmp_path / "version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == records.VERSION


IMPORT = """
import sys, time
before, began = set(sys.modules), time.process_time()
import %s
print((time.process_time() - began) * 1000)
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""


def test_importing_it_brings_nothing():
    _, names = python(IMPORT % "arenaut").stdout.splitlines()
    heavy = {"numpy", "torch", "tqdm", "IPython", "json", "inspect", "asyncio", "subprocess", "multiprocessing"}
    assert not set(names.split()) & heavy


def test_importing_it_is_quick():
    """`make figures` has the milliseconds; here the measure is a module of Python's own, which a slow
    machine slows as well. The two run in turns on a machine that may change its speed at any moment."""
    most = 0.5 if sys.implementation.name == "cpython" else 1  # PyPy compiles while it runs
    shares = []
    for _ in range(15):
        ours, theirs = (float(python(IMPORT % name).stdout.split()[0]) for name in ("arenaut", "asyncio"))
        shares.append(ours / theirs)
        if len(shares) >= 3 and statistics.median(shares) < most:
            return
    pytest.fail(f"it took {sorted(shares)} of the time of asyncio")


def test_a_library_of_another_version_is_refused(tmp_path):
    source = tmp_path / "other.c"
    source.write_text('const char *arenaut_version(void) { return "0.99.0"; }\n')
    other = tmp_path / "libother.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", other], check=True)
    done = python("import arenaut", ARENAUT_LIBRARY=str(other))
    assert done.returncode == 1 and "ImportError: this is arenaut" in done.stderr
    assert "0.99.0" in done.stderr
    missing = python("import arenaut", ARENAUT_LIBRARY=str(tmp_path / "absent.so"))
    assert "ImportError: libarenaut was not found" in missing.stderr


def test_its_own_library_comes_first(tmp_path):
    """Before one that is installed, or that the loader would find."""
    source = tmp_path / "other.c"
    source.write_text('const char *arenaut_version(void) { return "0.99.0"; }\n')
    for name in "libarenaut.so", "libarenaut.so." + ".".join(arenaut.__version__.split(".")[:2]):
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", tmp_path / name], check=True)
    done = python("import arenaut; print(arenaut.plan([1], [0], [1]).arena)", LD_LIBRARY_PATH=str(tmp_path))
    assert done.stdout == "1\n", done.stderr


def test_a_million_buffers_cost_little_over_the_call_itself():
    pytest.importorskip("numpy", reason="this environment is the one without numpy")
    done = python(MILLION)
    assert done.returncode == 0, done.stderr
    inside, outside, more = map(float, done.stdout.split())
    print(f"{inside:.2f} s in the library, {outside:.3f} s and {more:.0f} MB more in Python")
    assert outside <= 0.05 * inside and more <= 100


# The processor's time, since the machine may have other work.
MILLION = """
import ctypes, resource, time, numpy, arenaut
from arenaut.library import C

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

random = numpy.random.default_rng(1)
n = 1_000_000
first = random.integers(0, n, n)
columns = random.integers(1, 10000, n), first, first + random.integers(1, 30, n)
inside, peaks = [], []

def timed(call):
    def function(*arguments):
        began, before = time.process_time(), peak()
        status = call(*arguments)
        inside.append(time.process_time() - began)
        peaks.append(peak() - before)
        return status
    return function

C.arenaut_plan_make, C.arenaut_check_plan = map(timed, (C.arenaut_plan_make, C.arenaut_check_plan))
began, before = time.process_time(), peak()
plan = arenaut.plan(*columns, align=16, planner="skyline", progress=False)
spent = time.process_time() - began
print(sum(inside), spent - sum(inside), peak() - before - sum(peaks))
"""


def test_the_library_to_be_preloaded_is_found(tmp_path):
    printed = subprocess.run([sys.executable, "-m", "arenaut.preload"], capture_output=True, text=True,
                             check=True).stdout.strip()
    assert printed == str(resources.files("arenaut") / "libarenaut-replay.so")
    program = tmp_path / "program.py"
    program.write_text("import sys\nfrom arenaut import tape\nprint(tape.available, *sys.argv[1:])\n")
    for arguments in [], ["-m", "arenaut.preload"]:
        done = subprocess.run([sys.executable, *arguments, program, "one", "two"], capture_output=True,
                              text=True, check=True)
        assert done.stdout == f"{bool(arguments)} one two\n"


@pytest.mark.parametrize("command", [["program.py"], ["-m", "program"], ["-X", "dev", "program.py"]])
def test_a_program_that_starts_itself_under_the_library(tmp_path, command):
    (tmp_path / "program.py").write_text(
        "import sys\nfrom arenaut import preload\nprint('once', len(sys.argv))\npreload.ensure()\n"
        "from arenaut import tape\nprint(tape.available, *sys.argv[1:])\n")
    done = subprocess.run([sys.executable, *command, "one", "two words"], capture_output=True, text=True,
                          check=True, cwd=tmp_path)
    assert done.stdout == "once 3\nonce 3\nTrue one two words\n"
    nowhere = {"ARENAUT_REPLAY": str(tmp_path / "absent.so"), "LD_PRELOAD": str(tmp_path / "absent.so")}
    lost = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, check=False,
                          cwd=tmp_path, env={**os.environ, **nowhere})
    assert lost.returncode == 1 and "the system does not load it here" in lost.stderr


def test_linux_only_modules_say_so_elsewhere(monkeypatch):
    from arenaut import gpu, preload
    for variable in "ARENAUT_GPU", "ARENAUT_REPLAY":
        monkeypatch.setenv(variable, "named.so")  # which is for Linux as well
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="libarenaut-gpu.so is for Linux alone, and this is win32"):
        gpu.path()
    with pytest.raises(SystemExit, match="libarenaut-replay.so is for Linux alone, and this is win32"):
        preload.path()
    with pytest.raises(ImportError, match="libarenaut-replay.so is for Linux alone, and this is win32"):
        preload.ensure()


def test_on_windows_the_library_is_beside_the_command(monkeypatch, tmp_path):
    monkeypatch.delenv("ARENAUT_LIBRARY", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(library, "SUFFIX", ".dll")
    monkeypatch.setattr(library, "HERE", str(tmp_path))
    assert library.candidates() == ["libarenaut.dll"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "libarenaut.dll").touch()
    assert library.candidates() == [str(tmp_path / "bin" / "libarenaut.dll")]


def test_on_windows_an_interrupt_is_for_the_command_to_answer(tmp_path):
    command = tmp_path / "arenaut"
    command.touch(mode=0o755)
    for interrupt in "INT", "USR1":  # the second one stands for Ctrl-Break's, which Linux lacks
        command.write_text(f"#!/bin/sh\nkill -{interrupt} $PPID\nsleep 0.2\nexit 3\n")
        done = python("import signal, sys; from arenaut import __main__; signal.SIGBREAK = signal.SIGUSR1; "
                      "sys.platform = 'win32'; __main__.main()", ARENAUT=str(command))
        assert done.returncode == 3 and not done.stderr


def of_version(text):
    def arenaut_version():
        return text.encode()
    return types.SimpleNamespace(arenaut_version=arenaut_version)


@pytest.mark.parametrize("own, found, fits", [
    ("1.2.0", "1.2.3", True), ("1.2.0", "1.3.0", True), ("1.2.0", "1.1.9", False), ("1.2.0", "2.2.0", False),
    ("1.0.0-rc1", "1.0.0-rc1", True), ("1.0.0-rc1", "1.0.0", False), ("1.0.0", "1.0.0-rc1", False)])
def test_a_library_of_another_abi_is_refused(monkeypatch, own, found, fits):
    monkeypatch.setattr(records, "VERSION", own)
    if fits:
        library.check_version(of_version(found))
    else:
        with pytest.raises(ImportError, match=f"arenaut {own}, and the library found is {found}"):
            library.check_version(of_version(found))
