"""One peer on some problems, in a process of its own; bench/compare.py starts it.

    python bench/peers.py PEER --limit SECONDS --plans FOLDER PROBLEM.csv…

Prints one JSON object per problem: arena, whether the peer says that it is proven, CPU time of
the solve alone (all threads; not the reading, not the making of the peer's own objects). The
plan is written to FOLDER as CSV with offsets, for our checker to judge. With no problem, says
only whether the peer is there: {"version": …} or {"missing": why}.

Peers: supermalloc-6 (SuperMalloc with six threads); greedy, greedy_by_… , best_fit and omni
(omnimalloc's heuristics); hillclimb (Vela's); minimalloc (MiniMalloc's own solver, of the checkout
that MINIMALLOC names; wants Debian's libabsl-dev); xla (a replica of the rule of XLA's heap
simulator). SuperMalloc and MiniMalloc are given the limit as their timeout; HillClimb, which has
none, is stopped by a timer and answers with the best it has found.
"""

import argparse
import csv
import json
import os
import resource
import signal
import subprocess
from bisect import bisect_left, insort
from importlib.metadata import version
from pathlib import Path


ROOT = Path(__file__).parents[1]


class OutOfTime(Exception):
    """Raised by the timer inside a peer that knows no timeout."""


class Omnimalloc:
    """SuperMalloc, or one of the greedy allocators."""

    def __init__(self, name, limit):
        import omnimalloc
        from omnimalloc.allocators import BaseAllocator, SupermallocAllocator
        self.version = f"omnimalloc {omnimalloc.__version__}"
        self.make = omnimalloc.Allocation
        self.exact = name == "supermalloc-6"
        self.allocator = (SupermallocAllocator(timeout=limit, num_threads=6) if self.exact
                          else BaseAllocator.get(name)())

    def prepare(self, rows):
        return tuple(self.make(id=i, size=size, start=lower, end=upper)
                     for i, (lower, upper, size) in enumerate(rows))

    def solve(self, allocations):
        if not self.exact:
            return self.allocator.allocate(allocations), None
        result = self.allocator.solve(allocations)
        return result.allocations, result.proved_optimal

    @staticmethod
    def offsets(placed):
        by_id = {allocation.id: allocation.offset for allocation in placed}
        return [by_id[i] for i in range(len(by_id))]


class LiveRange:
    """The fields of a live range in Vela's allocator; end_time is inclusive there."""

    def __init__(self, lower, upper, size):
        self.start_time, self.end_time, self.size = lower, upper - 1, size

    @staticmethod
    def get_alignment():
        return 1


class HillClimb:
    """The call of ethosu.vela.hillclimb_allocation.allocate_live_ranges with its default number
    of iterations, and told to go on until the bound; the timer needs hold of the allocator."""

    def __init__(self, _name, limit):
        from ethosu.vela import hillclimb_allocation
        self.version = f"ethos-u-vela {version('ethos-u-vela')}"
        self.vela, self.limit = hillclimb_allocation.HillClimbAllocator, limit

    @staticmethod
    def prepare(rows):
        # One time per start: HillClimb keeps a list for every unit of time.
        starts = sorted({lower for lower, _, _ in rows})
        return [LiveRange(bisect_left(starts, lower), bisect_left(starts, upper), size)
                for lower, upper, size in rows]

    def solve(self, ranges):
        allocator = None

        def stop(_signal, _frame):
            raise OutOfTime
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, self.limit)
        try:
            allocator = self.vela(ranges, None, 1 << 62) if ranges else None
            if not allocator:
                return [], True
            allocator.memory_limit = allocator.min_required_size
            return allocator.allocate(), None
        except OutOfTime:
            if not getattr(allocator, "allocated_addresses", None):
                raise RuntimeError(f"no plan within {self.limit:g} s") from None
            return allocator.allocated_addresses, None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    @staticmethod
    def offsets(addresses):
        return addresses


class MiniMalloc:
    """Its solver in a process of its own, which says what the solve alone took."""

    def __init__(self, _name, limit):
        checkout = os.environ.get("MINIMALLOC")
        if not checkout:
            raise ImportError("MINIMALLOC names no checkout of MiniMalloc")
        self.limit, self.solver = limit, ROOT / "build" / "bench" / "minimalloc_solve"
        commit = subprocess.run(["git", "-C", checkout, "rev-parse", "--short", "HEAD"], capture_output=True,
                                text=True, check=False).stdout.strip()
        self.version = f"MiniMalloc {commit}".strip()
        if not self.solver.is_file():
            self.build(Path(checkout) / "src")

    def build(self, source):
        """Abseil before 2023 has no log.h, of which the solver uses what is nothing in a release."""
        stand_in = self.solver.parent / "abseil" / "absl" / "log" / "log.h"
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text("#include <iostream>\n#define DLOG(level) while (false) std::clog\n")
        wanted = ("absl_statusor", "absl_status", "absl_time", "absl_hash", "absl_raw_hash_set", "absl_strings")
        libraries = subprocess.run(["pkg-config", "--libs", *wanted], capture_output=True, text=True, check=False)
        if libraries.returncode:
            raise ImportError("MiniMalloc wants libabsl-dev")
        files = [source / f"{name}.cc" for name in ("minimalloc", "solver", "sweeper")]
        subprocess.run(["c++", "-O2", "-DNDEBUG", "-std=c++17", f"-I{source}", ROOT / "bench" / "minimalloc_solve.cpp",
                        *files, f"-I{stand_in.parents[2]}", "-o", self.solver, *libraries.stdout.split()], check=True)

    @staticmethod
    def prepare(rows):
        return "".join(f"{lower} {upper} {size}\n" for lower, upper, size in rows)

    def solve(self, text):
        done = subprocess.run([self.solver, str(self.limit)], input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"no plan within {self.limit:g} s")
        user, system, peak, ended, *offsets = done.stdout.split()
        self.used = {"user_s": float(user), "cpu_s": float(user) + float(system), "peak_kb": int(peak)}
        return [int(offset) for offset in offsets], ended == "1"

    @staticmethod
    def offsets(offsets):
        return offsets


class Xla:
    """GlobalDecreasingSizeBestFitHeap of XLA's heap simulator, by its description: the largest first, of
    these the longest alive, each into the smallest gap that holds it between those alive with it."""
    version = "XLA's best fit (a replica)"

    def __init__(self, _name, limit):
        self.limit = limit

    @staticmethod
    def prepare(rows):
        return rows

    @staticmethod
    def best_gap(alive, size):
        """`alive`: (offset, end) of what is placed, by offset."""
        best, top = None, 0
        for offset, end in alive:
            if offset - top >= size and (best is None or offset - top < best[0]):
                best = offset - top, top
            top = max(top, end)
        return best[1] if best else top

    def solve(self, rows):
        offsets, placed = [0] * len(rows), []  # (lower, upper, offset, end)
        for i in sorted(range(len(rows)), key=lambda i: (-rows[i][2], rows[i][0] - rows[i][1], i)):
            lower, upper, size = rows[i]
            alive = []
            for first, last, offset, end in placed:
                if first < upper and lower < last:
                    insort(alive, (offset, end))
            offsets[i] = self.best_gap(alive, size)
            placed.append((lower, upper, offsets[i], offsets[i] + size))
        return offsets, None

    @staticmethod
    def offsets(offsets):
        return offsets


PEERS = {"hillclimb": HillClimb, "minimalloc": MiniMalloc, "xla": Xla}


def make_peer(name, limit):
    return PEERS.get(name, Omnimalloc)(name, limit)


def read_problem(path):
    """(id, (lower, upper, size)) of every buffer that needs memory."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(row["id"], (int(row["lower"]), int(row["upper"]), int(row["size"])))
                for row in csv.DictReader(file)]
    return [row for row in rows if row[1][2] > 0 and row[1][0] < row[1][1]]


def write_plan(path, problem, plan, offsets):
    """The problem's rows with offsets; those without memory, which no peer is shown, at 0."""
    at = {name: offset for (name, _), offset in zip(problem, offsets)}
    with open(path, newline="", encoding="utf-8") as source, \
            open(plan, "w", newline="", encoding="utf-8") as target:
        rows = csv.DictReader(source)
        fields = [name for name in rows.fieldnames if name != "offset"] + ["offset"]
        writer = csv.DictWriter(target, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {"offset": at.get(row["id"], 0)})


def run(peer, path, plans):
    problem = read_problem(path)
    prepared = peer.prepare([row for _, row in problem])
    before = resource.getrusage(resource.RUSAGE_SELF)
    result, proven = peer.solve(prepared)
    after = resource.getrusage(resource.RUSAGE_SELF)
    user = after.ru_utime - before.ru_utime
    used = getattr(peer, "used", {"user_s": round(user, 6), "peak_kb": after.ru_maxrss,
                                  "cpu_s": round(user + after.ru_stime - before.ru_stime, 6)})
    offsets = peer.offsets(result)
    plan = plans / Path(path).name
    write_plan(path, problem, plan, offsets)
    return {"arena": max((at + row[2] for (_, row), at in zip(problem, offsets)), default=0),
            "proven": proven, "plan": str(plan), **used}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer")
    parser.add_argument("--limit", type=float, default=10)
    parser.add_argument("--plans", type=Path)
    parser.add_argument("problems", nargs="*")
    options = parser.parse_intermixed_args()
    try:
        peer = make_peer(options.peer, options.limit)
    except ImportError as why:
        print(json.dumps({"missing": str(why)}))
        return
    if not options.problems:
        print(json.dumps({"version": peer.version}))
    for path in options.problems:
        try:
            row = run(peer, path, options.plans)
        except (MemoryError, RuntimeError, ValueError, OverflowError) as why:
            row = {"failed": f"{type(why).__name__}: {why}".strip(": ")[:200]}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
