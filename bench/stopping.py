"""How soon searches stop: every model with every set of flags, by --time and by SIGINT.

    python bench/stopping.py [--time SECONDS] [--sets N] [--only interrupt|time|python] FILE|FOLDER…

Each file is planned with each set of --split, --overlap, --inplace, --reorder and --recompute (all 32, or
--sets N of them, the largest first). With --time the command is to end within max(0.2 s, 5 %) of it; a SIGINT
that comes after that time is to end the command with 130, and Python's `Model.plan` with a
KeyboardInterrupt or a plan, within 0.3 s. One row per file: the runs, and of each kind the latest end, in
milliseconds behind the moment that counts, with the flags of that run. A machine that is busy makes it look
later than it is: the smaller of wall and CPU time counts. Exit status 1 if any run was late, or ended in
another way than it should.
"""

import argparse
import itertools
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = os.environ.get("ARENAUT", ROOT / "build" / "arenaut")
LIBRARY = ROOT / "build" / "libarenaut.so"
FLAGS = ("split", "overlap", "inplace", "reorder", "recompute")
GIVE_UP = 30  # seconds
AT_THE_END = 0.01  # seconds behind a signal that came when the result was out
SUFFIXES = {".tflite", ".onnx", ".pt2", ".pte", ".json", ".csv"}
PYTHON = """
import signal, sys, time
import arenaut
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    model = arenaut.open(sys.argv[1])
    plan = model.plan(progress=False, **{name: True for name in sys.argv[2:]})
    print(plan.stopped_by)
except KeyboardInterrupt:
    print("interrupt")
except arenaut.Error as error:
    print("error", error)
"""


def sets(most):
    found = [c for n in range(len(FLAGS), -1, -1) for c in itertools.combinations(FLAGS, n)]
    return found[:most]


def files(paths):
    for path in map(Path, paths):
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (p for p in inside if p.is_file() and p.suffix in SUFFIXES)


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def heed_interrupts():
    """A shell's background job has them ignored, and its children would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(command, interrupt_after=None):
    """Exit status, output, and seconds: of wall and CPU time, and of wall time behind the signal."""
    before, started = cpu_of_children(), time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=heed_interrupts,
                               env={"ARENAUT_LIBRARY": str(LIBRARY), "PYTHONPATH": str(ROOT / "python"),
                                    **os.environ})
    signalled = None
    if interrupt_after is not None:
        if command[0] == sys.executable:
            process.stdout.readline()
        try:
            process.wait(interrupt_after)
        except subprocess.TimeoutExpired:
            signalled = time.monotonic()
            process.send_signal(signal.SIGINT)
    try:
        out, _ = process.communicate(timeout=GIVE_UP)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        return None, out, GIVE_UP, GIVE_UP, GIVE_UP
    ended = time.monotonic()
    return (process.returncode, out, ended - started, cpu_of_children() - before,
            ended - signalled if signalled else None)


class Row:
    def __init__(self, path):
        self.path, self.runs, self.faults = path, 0, []
        self.worst = {}

    def note(self, kind, late, allowed, flags):
        self.runs += 1
        if late >= self.worst.get(kind, (-1e9,))[0]:
            self.worst[kind] = late, flags
        if late > allowed:
            self.faults.append(f"{kind}: {late * 1000:.0f} ms late with {' '.join(flags) or 'no flags'}")

    def timed(self, flags, limit):
        switches = [word for flag in flags for word in (f"--{flag}", "on")]
        code, out, wall, cpu, _ = run([COMMAND, "plan", self.path, "-q", "--time", f"{limit * 1000:.0f}ms",
                                       *switches])
        if code == 2:  # flags about models, and this is none
            return False
        if code not in (0, 1, 3):
            self.faults.append(f"time: exit {code} with {' '.join(flags)}: {out[-200:].strip()}")
        self.note("time", min(wall, cpu) - limit, max(0.2, 0.05 * limit), flags)
        return True

    def interrupted(self, flags, after):
        switches = [word for flag in flags for word in (f"--{flag}", "on")]
        code, out, wall, cpu, late = run([COMMAND, "plan", self.path, "-q", *switches], after)
        if late is None:
            return
        if code != 130 and late > AT_THE_END:
            self.faults.append(f"interrupt: exit {code} with {' '.join(flags)}: {out[-200:].strip()}")
        self.note("interrupt", min(late, late * cpu / wall), 0.3, flags)

    def python(self, flags, after):
        code, out, wall, cpu, late = run([sys.executable, "-c", PYTHON, self.path, *flags], after)
        if late is None:
            return
        if (code != 0 or out.strip() not in ("interrupt", "proof")) and late > AT_THE_END:
            self.faults.append(f"python: exit {code} with {' '.join(flags)}: {out[-200:].strip()}")
        self.note("python", min(late, late * cpu / wall), 0.3, flags)

    def cells(self):
        worst = [f"{self.worst[k][0] * 1000:.0f} ({' '.join(self.worst[k][1]) or 'no flags'})"
                 if k in self.worst else "" for k in ("time", "interrupt", "python")]
        return [self.path.name, str(self.runs), *worst]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--time", type=float, default=0.2)
    options.add_argument("--sets", type=int, default=2 ** len(FLAGS))
    options.add_argument("--only", choices=("time", "interrupt", "python"))
    options.add_argument("paths", nargs="+")
    given = options.parse_args()
    faults, runs = [], 0
    print("| file | runs | --time | interrupt | Python |\n|---|--:|---|---|---|")
    for path in files(given.paths):
        row = Row(path)
        for flags in sets(given.sets):
            if given.only in (None, "time") and not row.timed(flags, given.time):
                continue
            if given.only in (None, "interrupt"):
                row.interrupted(flags, given.time)
            if given.only in (None, "python"):
                row.python(flags, given.time)
        runs += row.runs
        faults += [f"{path.name}: {fault}" for fault in row.faults]
        print("|", " | ".join(row.cells()), "|", flush=True)
    print(f"\n{runs} runs, {len(faults)} late or wrong")
    for fault in faults:
        print("-", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
