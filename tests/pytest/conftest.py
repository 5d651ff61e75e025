"""What the Python tests share: the command, the models, the corpus where it is at hand."""

import fcntl
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# Tests run side by side on all cores: threads of PyTorch's kernels would wait there for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
SCRATCH = ROOT / "data" / "scratch" / "tflite-micro.csv"
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))

for folder in (ROOT / "tests" / "models", ROOT / "scripts"):
    sys.path.insert(0, str(folder))
import corpus  # noqa: E402



def import_example(name):
    """A module of examples/, which is never on the path: a folder in it is called executorch, as an installed package is."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Real models that are no part of the project; tests on them skip where they are absent.
CORPUS = corpus.FOLDER


def default_signals(ignored=()):
    """For Popen's preexec_fn: what the tests themselves were started under (nohup, a job in the
    background) may ignore signals, and a command keeps to that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE,
                   signal.SIGXCPU):
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)


def wait_until_handled(process, number):
    """Until the command has set its handler: a signal that comes earlier ends it as it ends any program."""
    status, deadline = Path(f"/proc/{process.pid}/status"), time.monotonic() + 60
    while status.exists() and time.monotonic() < deadline:
        [caught] = re.findall(r"SigCgt:\s*([0-9a-f]+)", status.read_text())
        if int(caught, 16) >> (number - 1) & 1:
            return
        time.sleep(0.01)


def corpus_params(pattern, without=()):
    """One parameter per file of the corpus; a single one that skips, loudly, if it is absent."""
    paths = sorted(CORPUS.glob(pattern))
    if not paths:
        skip = pytest.mark.skip(reason=f"{corpus.HINT} to one with {pattern}")
        return [pytest.param(None, id=f"corpus/{pattern}", marks=skip)]
    return [pytest.param(path, id=path.name.split(".")[0]) for path in paths
            if path.name.split(".")[0] not in without]


# Files that take longest, which begin first: `make test` gives each file to one of several processes.
LONGEST = ["test_wheel", "test_page", "test_executorch_planner", "test_split", "test_training", "test_hosts",
           "test_torch_client", "test_executorch_state", "test_tiling", "test_split_pt2", "test_overlap_arm",
           "test_executorch_tiles", "test_recompute_pt2", "test_one_arena", "test_stranger", "test_tvm_relax"]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Of several processes one comes first: what it imports and compiles, the others find compiled."""
    with open(__file__) as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return (yield)


def pytest_collection_modifyitems(items):
    place = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


def pytest_terminal_summary(terminalreporter):
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    n = sum(corpus.HINT in reason for reason in reasons)
    if n:
        terminalreporter.write_line(f"{n} {corpus.HINT} (CONTRIBUTING.md)")


@pytest.fixture(scope="module")
def package(request):
    """The Python package, of this checkout."""
    patch = pytest.MonkeyPatch()
    request.addfinalizer(patch.undo)
    patch.setenv("ARENAUT_LIBRARY", str(COMMAND.parent / "libarenaut.so"))
    patch.syspath_prepend(str(ROOT / "python"))
    import arenaut
    return arenaut


@pytest.fixture(scope="module")
def ours(package):
    """arenaut.executorch, of this checkout."""
    import arenaut.executorch
    return arenaut.executorch


@pytest.fixture(scope="session")
def arenaut():
    """Runs the command; fails the test if it exits otherwise than `exit` says."""
    if not COMMAND.is_file():
        pytest.fail(f"{COMMAND} is missing: run `make`, or name the command in ARENAUT")

    def run(*arguments, exit=0, **options):
        done = subprocess.run([str(COMMAND), *map(str, arguments)], capture_output=True,
                              text=True, timeout=300, check=False, **options)
        assert done.returncode == exit, (
            f"arenaut {' '.join(map(str, arguments))}: exit {done.returncode}, expected {exit}\n"
            f"{done.stdout}{done.stderr}")
        return done

    return run


@pytest.fixture(scope="session")
def arenaut_json(arenaut):
    """The JSON document that the command prints for these arguments."""
    return lambda *arguments, **options: json.loads(arenaut(*arguments, "--json",
                                                            **options).stdout)


@pytest.fixture
def reschedule(arenaut_json):
    """Writes a model with its best schedule, which is proven → the schedule and the arena; None, None: no other needs less."""
    def plan(path, output):
        given = arenaut_json("plan", path)["result"]["arena"]
        document = arenaut_json("plan", path, "--reorder", "on", "-o", output)
        order, arena = document["order"], document["result"]["arena"]
        assert order["proven"] and order["bound"] == order["best"] <= order["given"]
        assert arena == given if order["ops"] is None else arena < given
        return (order, arena) if order["ops"] is not None else (None, None)
    return plan
