"""Our engine beside its peers: same problems, same limits, same run; results as JSON lines.

    python bench/compare.py [--smoke] [--minutes N] [--out FILE.jsonl]     (bench/run.sh calls it)

Each contestant solves each problem in a process of its own, in turn, so that a machine that is
busy is busy for all of them; rounds are repeated and tables show medians, but runs of more than five
seconds of CPU are not repeated. Everyone has the same limit of wall time (what knows
no limit is stopped), CPU time, and memory. Every plan, ours or a peer's, goes through `arenaut check`.
A peer that is not installed is reported missing. bench/render.py makes tables and a plot.

The corpus (scripts/corpus.py says where) is no part of the project: without it only
generated problems are run, and that is said.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
sys.path.insert(0, str(ROOT / "scripts"))
from corpus import FOLDER as CORPUS  # noqa: E402

RESULTS = ROOT / "build" / "bench" / "results.jsonl"

GREEDIES = ["greedy", "greedy_by_size", "greedy_by_duration", "greedy_by_area",
            "greedy_by_conflict", "greedy_by_conflict_size", "greedy_by_start", "best_fit",
            "omni"]
SEARCHES = ["supermalloc-6"]  # run in every round; the others answer the same each time
PEERS = [*SEARCHES, *GREEDIES, "hillclimb", "minimalloc", "xla"]
ROUNDS = 3
NOT_REPEATED_ABOVE = 5  # CPU seconds
MEMORY = 6 << 30  # address space of each process
# Search steps that take about five and sixty seconds, for the one without a proof by default.
EFFORTS = {"J": [20_000_000, 240_000_000]}
EFFORT_SECONDS = 100
# Solved with one thread and with all cores: a problem, and the effort for it (None: the
# default). A million buffers are done after one trial by default.
THREADED = {"s_1": None, "pangu_2.6b": None, "generated-20k": None, "generated-1M": 60_000_000}
CSV_FOLDERS = ["tflite_csv", "pte_csv", "onnx_csv"]


class Problem:
    """A file, and the heading under which its results are told."""

    def __init__(self, path, group):
        self.path, self.group = Path(path), group
        # A.1048576.csv is A: MiniMalloc's files carry a capacity, which is ignored here.
        self.name = self.path.name.removesuffix(".csv").removesuffix(".1048576")


class Clock:
    """The time that all of this may take."""

    def __init__(self, minutes):
        self.ends = time.monotonic() + minutes * 60

    def is_over(self):
        return time.monotonic() > self.ends


def build(source, folder):
    """The C programs beside this file, built against the library that the command was."""
    program = folder / source
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-std=c11", f"-I{ROOT / 'include'}",
                    ROOT / "bench" / f"{source}.c", COMMAND.parent / "libarenaut.a",
                    "-lpthread", "-lm", "-o", program], check=True)
    return program


def run_limited(command, limit):
    """(exit code, standard output, its last words, user and all CPU seconds) of a command that
    is held to our memory and killed at three times the limit plus the time of reading."""
    def confine():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        cpu = int(3 * limit + 20)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              preexec_fn=confine, timeout=3 * limit + 40)
        code, out, words = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        code, words = -9, "killed: out of time"
        out = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    last_words = (words.strip().splitlines() or [f"ended with code {code}"])[-1][:200]
    user = after.ru_utime - before.ru_utime
    return code, out, last_words, (user, user + after.ru_stime - before.ru_stime)


def json_rows(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class Bench:
    """Runs contestants on problems and writes one line per run."""

    def __init__(self, limit, clock, out):
        self.limit, self.clock, self.out = limit, clock, out
        self.folder = Path(out.name).resolve().parent
        self.solver = build("solve", self.folder)
        self.plans = self.folder / "plans"
        self.plans.mkdir(exist_ok=True)
        self.peers, self.slow, self.not_run = [], set(), 0

    def put(self, **row):
        print(json.dumps(row), file=self.out, flush=True)

    def find_peers(self):
        """Says, on standard error and in the results, which peers are not at hand."""
        for probe, names in (("greedy", [*SEARCHES, *GREEDIES]), *((name, [name]) for name in PEERS[-3:])):
            done = subprocess.run([sys.executable, ROOT / "bench" / "peers.py", probe],
                                  capture_output=True, text=True, check=False)
            answer = (json_rows(done.stdout) or [{"missing": done.stderr.strip()[-200:]}])[0]
            if "missing" in answer:
                for name in names:
                    print(f"PEER MISSING: {name}: {answer['missing']}", file=sys.stderr)
                    self.put(kind="missing", peer=name, why=answer["missing"])
            else:
                self.put(kind="peer", peers=names, version=answer["version"])
                self.peers += names

    def passes(self, problem, plan):
        done = subprocess.run([COMMAND, "check", problem, plan], capture_output=True, check=False)
        return done.returncode == 0

    def put_run(self, problem, contestant, row, **more):
        if row.get("cpu_s", row.get("user_s", self.limit)) > NOT_REPEATED_ABOVE or "failed" in row:
            self.slow.add((problem.path, contestant))
        if row.get("checked") is False:
            print(f"REJECTED BY THE CHECKER: {contestant} on {problem.name}", file=sys.stderr)
        self.put(kind="run", problem=problem.name, group=problem.group, contestant=contestant,
                 **more, **row)

    def is_left_out(self, problem, contestant):
        if self.clock.is_over():
            self.not_run += 1
            self.put(kind="not_run", problem=problem.name, group=problem.group,
                     contestant=contestant)
            return True
        return (problem.path, contestant) in self.slow

    # ---- contestants ----

    def ours(self, problem, planner, effort=None):
        """The solve alone, in process; whether it ended with a proof. A stated effort stands
        instead of the time limit."""
        contestant = planner if effort is None else f"{planner}, effort {effort:,}"
        if self.is_left_out(problem, contestant):
            return False
        bounded = ["-t", str(self.limit)] if effort is None else ["-e", str(effort)]
        code, out, words, _ = run_limited(
            [self.solver, "-p", planner, *bounded, problem.path],
            self.limit if effort is None else EFFORT_SECONDS)
        row = (json_rows(out) or [{"failed": words if code > 0 else "out of time or memory"}])[0]
        self.put_run(problem, contestant, row)
        return row.get("status") == "optimal"

    def threads(self, problem, effort=None):
        """One thread beside as many as there are cores: wall time, and whether they agree."""
        effort = ["-e", str(effort)] if effort else []
        for number in (1, os.cpu_count()):
            if self.is_left_out(problem, f"-j {number}"):
                continue
            _, out, words, _ = run_limited(
                [self.solver, "-j", str(number), *effort, problem.path], EFFORT_SECONDS)
            row = (json_rows(out) or [{"failed": words}])[0]
            row.pop("improvements", None)
            self.put(kind="threads", problem=problem.name, threads=number, **row)

    def command(self, problem):
        """The whole command: start, read, plan, check, write; and the written plan checked."""
        if self.is_left_out(problem, "command"):
            return
        plan = self.plans / "ours.csv"
        code, out, words, (user, cpu) = run_limited(
            [COMMAND, "plan", problem.path, "-f", "-o", plan, "--json", "--no-progress"], self.limit)
        if code != 0:
            self.put_run(problem, "command", {"failed": words})
            return
        result = json.loads(out)["result"]
        self.put_run(problem, "command", {
            "user_s": round(user, 6), "cpu_s": round(cpu, 6), "arena": result["arena"], "bound": result["lower_bound"],
            "checked": self.passes(problem.path, plan)})

    def peer(self, name, problems, limit=None):
        """Several problems in one process are for small ones: it saves starting Python."""
        limit = limit or self.limit
        problems = [problem for problem in problems if not self.is_left_out(problem, name)]
        if not problems:
            return
        _, out, words, _ = run_limited(
            [sys.executable, ROOT / "bench" / "peers.py", name, "--limit", str(limit),
             "--plans", self.plans, *(problem.path for problem in problems)],
            limit * len(problems))
        rows = json_rows(out)
        rows += [{"failed": f"out of time or memory ({words})"}] * (len(problems) - len(rows))
        for problem, row in zip(problems, rows):
            plan = row.pop("plan", None)
            if plan:
                row["checked"] = self.passes(problem.path, plan)
                Path(plan).unlink()
            self.put_run(problem, name, row)

    # ---- runs ----

    def one_round(self, problem, peers):
        for planner in ("auto", "exact"):
            self.ours(problem, planner)
        self.command(problem)
        for name in peers:
            if name in self.peers:
                self.peer(name, [problem])

    def many(self, problems):
        """Many small problems: all of them by one contestant, then by the next. What we do not
        prove could be worse than a planner of the table, so those are tried as well."""
        for problem in problems:
            if not self.ours(problem, "auto"):
                self.table(problem, planner_names())
        for name in self.peers:
            self.peer(name, problems, min(self.limit, 1))

    def table(self, problem, planners):
        """Every planner of our table: auto may not be worse than any of them."""
        for planner in planners:
            self.ours(problem, planner)


def planner_names():
    done = subprocess.run([COMMAND, "planners"], check=True, capture_output=True, text=True)
    names = [line.split()[0] for line in done.stdout.splitlines() if line[:1].strip()]
    return [name for name in names if name not in ("auto", "exact", "naive")]


def generate(bench, name, n):
    path = bench.folder / f"{name}.csv"
    with open(path, "w", encoding="utf-8") as file:
        done = subprocess.run([build("generate", bench.folder), "-n", str(n)], check=True,
                              stdout=file, stderr=subprocess.PIPE, text=True)
    bench.put(kind="generated", problem=name, **json.loads(done.stderr))
    return Problem(path, "generated")


def corpus(pattern, group):
    return [Problem(path, group) for path in sorted(CORPUS.glob(pattern))]


def run_smoke(bench):
    """A minute at most: every kind of contestant, problem and row once."""
    problem = generate(bench, "generated-2k", 2000)
    for small in [problem, *corpus("dsa/challenging/C.*.csv", "A-K")]:
        bench.one_round(small, PEERS)
    bench.table(problem, planner_names())
    bench.threads(problem)
    bench.many(corpus("tflite_csv/*.csv", "tflite_csv")[:3])


def run_efforts(bench, problems, number):
    for problem in problems:
        if problem.name in EFFORTS:
            bench.ours(problem, "auto", EFFORTS[problem.name][number])


def run_all(bench):
    """The most important comes first: the end may fall off a slow machine's time."""
    hard = corpus("dsa/challenging/*.csv", "A-K")
    large = corpus("dsa/large/*.csv", "large")
    made = [generate(bench, "generated-20k", 20_000), generate(bench, "generated-1M", 1_000_000)]
    for _ in range(ROUNDS):
        for problem in hard + large:
            bench.one_round(problem, SEARCHES)
    run_efforts(bench, hard, 0)
    for folder in CSV_FOLDERS:
        bench.many(corpus(f"{folder}/*.csv", folder))
    for problem in made:
        bench.one_round(problem, SEARCHES)
    for problem in large + made:
        if problem.name in THREADED:
            bench.threads(problem, THREADED[problem.name])
    for group in (hard, large + made):
        for problem in group:  # deterministic, so that one run tells the arena
            for name in bench.peers:
                if name not in SEARCHES:
                    bench.peer(name, [problem])
            bench.table(problem, planner_names())
        run_efforts(bench, group, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--limit", type=float, help="wall seconds per solve (default 10)")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    limit = options.limit or (1 if options.smoke else 10)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with open(options.out, "w", encoding="utf-8") as out:
        bench = Bench(limit, Clock(options.minutes), out)
        version = subprocess.run([COMMAND, "version"], check=True, capture_output=True, text=True)
        bench.put(kind="setting", version=version.stdout.split("\n")[0], limit=limit,
                  smoke=options.smoke, rounds=ROUNDS, memory=MEMORY, cores=os.cpu_count(),
                  machine=platform.machine(), corpus=CORPUS.is_dir())
        if not CORPUS.is_dir():
            print("CORPUS MISSING: only generated problems are run; set ARENAUT_CORPUS to its "
                  "folder", file=sys.stderr)
        bench.find_peers()
        (run_smoke if options.smoke else run_all)(bench)
    if bench.not_run:
        print(f"OUT OF TIME: {bench.not_run} runs left out after {options.minutes:g} minutes",
              file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
