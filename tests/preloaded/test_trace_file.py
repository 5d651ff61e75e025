"""ARENAUT_TRACE: what any program asks its heap for, as a trace."""

import ctypes
import os
import subprocess
import sys

import pytest

import arenaut

ASKS = """
import ctypes, threading
libc = ctypes.CDLL(None)
for name in "malloc", "realloc", "calloc", "aligned_alloc":
    getattr(libc, name).restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
def ask():
    for k in range(300):
        a = libc.malloc(1 << 20)
        b = libc.calloc(3, 1 << 20)
        a = libc.realloc(a, 5 << 20)
        c = libc.aligned_alloc(4096, 7 << 20)
        libc.free(b); libc.free(a); libc.free(c); libc.free(None)
        libc.free(libc.realloc(None, 2 << 20))
"""


def run(program, path, **environment):
    environment = {**os.environ, "ARENAUT_TRACE": str(path), "ARENAUT_TRACE_MIN": str(1 << 20),
                   **environment}
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                          timeout=120, check=True)


def trace_of(path):
    """Reading it is the test that the order of events is possible: nothing overlaps."""
    model = arenaut.open(path)
    assert model.format == "trace"
    model.plan().check()
    return path.read_text().splitlines()


def test_one_thread(tmp_path):
    path = tmp_path / "heap.trace.csv"
    run(ASKS + "ask()", path)
    sizes = [int(line.split(",")[3]) for line in trace_of(path) if line.startswith("alloc,")]
    for size in 1, 2, 3, 5, 7:
        assert sizes.count(size << 20) >= 300
    assert arenaut.open(path).size().bound >= 15 << 20


def test_threads_at_once(tmp_path):
    path = tmp_path / "heap.trace.csv"
    run(ASKS + "ts = [threading.Thread(target=ask) for _ in range(4)]\n"
               "[t.start() for t in ts]\n[t.join() for t in ts]", path)
    lines = trace_of(path)
    assert sum(line.startswith("alloc,") for line in lines) >= 4 * 5 * 300
    times = [int(line.split(",")[1]) for line in lines[1:]]
    assert times == sorted(times)


def test_a_child_is_another_process(tmp_path):
    path = tmp_path / "heap.trace.csv"
    child = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {ASKS + 'ask()'!r}], check=True)\n"
    run(child, path)
    assert sum(line.startswith("alloc,") for line in trace_of(path)) < 300
    run(child, tmp_path / "heap.%p.csv")
    written = sorted(tmp_path.glob("heap.[0-9]*.csv"))
    assert len(written) == 2
    assert max(sum(line.startswith("alloc,") for line in trace_of(one)) for one in written) >= 5 * 300


def test_fork_without_exec(tmp_path):
    path = tmp_path / "heap.trace.csv"
    run(ASKS + "import os\nask()\npid = os.fork()\nif pid == 0:\n    ask()\n    os._exit(0)\nos.waitpid(pid, 0)", path)
    sizes = [int(line.split(",")[3]) for line in trace_of(path) if line.startswith("alloc,")]
    assert sizes.count(7 << 20) == 300


def test_what_a_process_becomes_begins_anew(tmp_path):
    path = tmp_path / "heap.trace.csv"
    run(ASKS + f"ask()\nimport os, sys\nos.execv(sys.executable, [sys.executable, '-c', {ASKS + 'ask()'!r}])", path)
    sizes = [int(line.split(",")[3]) for line in trace_of(path) if line.startswith("alloc,")]
    assert sizes.count(7 << 20) == 300


def test_a_file_that_cannot_be_written(tmp_path):
    done = run("print('done')", tmp_path / "missing" / "heap.csv")
    assert done.stdout == "done\n" and "cannot be written" in done.stderr


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "reallocarray"), reason="a C library without reallocarray")
def test_reallocarray(tmp_path):
    path = tmp_path / "heap.trace.csv"
    run("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.reallocarray.restype = ctypes.c_void_p\n"
        "libc.reallocarray(None, 3, 1 << 20)", path)
    assert any(line.startswith("alloc,") and line.endswith(f",{3 << 20}") for line in trace_of(path))
