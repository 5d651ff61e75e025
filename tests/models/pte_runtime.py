"""ExecuTorch programs in the stock wheel: through its Python bindings, and in a program of our
own that is linked against the wheel's libraries (tests/runner/pte_run.cpp)."""

import importlib.util
import json
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNNER = ROOT / "tests" / "runner"
BUILD = ROOT / "build" / "runner"
REQUIRE = ROOT / "examples" / "executorch" / "require.hpp"

# Two fills: what is read before it was written differs between them. 0xcd makes large floats.
FILLS = ("cd", "11")


def newer(program, *sources):
    return program.exists() and all(program.stat().st_mtime > source.stat().st_mtime
                                    for source in sources)


@cache
def wheel():
    """The folder of the installed executorch package, found without importing it."""
    return Path(importlib.util.find_spec("executorch").submodule_search_locations[0])


def build(name, folder=RUNNER, *more):
    """Builds FOLDER/NAME.cpp against the wheel, and against `more` if there is any."""
    source, program, libraries = folder / f"{name}.cpp", BUILD / name, wheel() / "lib"
    if not newer(program, source, REQUIRE, libraries / "libexecutorch.so"):
        BUILD.mkdir(parents=True, exist_ok=True)
        headers = wheel() / "include"
        subprocess.run(
            ["c++", "-O2", "-std=c++17", "-DC10_USING_CUSTOM_GENERATED_MACROS",
             "-DET_EVENT_TRACER_ENABLED", f"-I{headers}",
             f"-I{headers / 'executorch/runtime/core/portable_type/c10'}",
             f"-I{ROOT / 'include'}", source, *more, "-o", program,
             f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-Wl,--no-as-needed", "-lexecutorch",
             "-lexecutorch_kernels_optimized", "-lexecutorch_backend_xnnpack",
             "-lexecutorch_threadpool", "-ldl"], check=True)
    return program


@cache
def runner():
    """The program that runs whole programs."""
    return build("pte_run")


def ask_kernels(calls):
    """What pte_kernels answers to each of these calls, described as it says in its source."""
    done = subprocess.run([build("pte_kernels")], input="".join(f"{call}\n" for call in calls),
                          capture_output=True, text=True, timeout=300, check=True)
    answers = done.stdout.split()
    assert len(answers) == len(calls)
    return answers


@cache
def random_planner(library):
    """Builds pte_random_plans against our own library."""
    source, program = RUNNER / "pte_random_plans.c", BUILD / "pte_random_plans"
    if not newer(program, source, library):
        BUILD.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-std=c11", f"-I{ROOT / 'include'}", source, library,
                        "-lpthread", "-lm", "-o", program], check=True)
    return program


class Refused(RuntimeError):
    """The runtime does not take this program; the message is its own."""


def run(path, methods=("forward",), calls=4, seed=1, fill="cd", modes=()):
    """What pte_run prints: {"calls": […], "sizes": {method: […]}}."""
    done = subprocess.run([runner(), path, ",".join(methods), str(calls), str(seed), fill, *modes],
                          capture_output=True, text=True, timeout=400, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Refused(f"{Path(path).name}: exit {done.returncode}: {' | '.join(lines[-3:])}")
    return json.loads(done.stdout)


class Python:
    """One program in the wheel's Python bindings; methods share their arenas there."""

    def __init__(self, data):
        from executorch.runtime import Runtime, Verification
        self._data = bytes(data)
        self._program = Runtime.get().load_program(
            self._data, verification=Verification.InternalConsistency)
        self._methods = {name: self._program.load_method(name)
                         for name in sorted(self._program.method_names)}

    def call(self, *inputs, method="forward"):
        """Copies of the outputs: they lie in the arena that the next call overwrites."""
        return [output.clone() if hasattr(output, "clone") else output
                for output in self._methods[method].execute(inputs)]


def same_bits(one, other):
    """Whether two lists of outputs agree in every byte."""
    import torch
    return len(one) == len(other) and all(
        a.shape == b.shape and torch.equal(a.contiguous().view(torch.uint8),
                                           b.contiguous().view(torch.uint8))
        if isinstance(a, torch.Tensor) and a.dim() > 0
        else (a == b if not isinstance(a, torch.Tensor) else torch.equal(a, b))
        for a, b in zip(one, other))
