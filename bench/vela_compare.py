"""Read, plan and check times beside Vela's HillClimb allocator, on the same lifetimes.

    python bench/vela_compare.py [MODEL.tflite]      default: mp_face_landmark_attention

Ours: the phases in process (bench/phases.c, built here against build/libarenaut.a) and the
whole command, started anew each time. Theirs: ethosu.vela.hillclimb_allocation, in process,
on the buffers of `arenaut export --as csv`; its import and ours of the file are not counted.
Medians, both in one run on one machine. A peer that is not installed is reported, not skipped.
"""

import csv
import io
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
DEFAULT = ROOT.parent / "shared" / "corpus" / "tflite" / "mp_face_landmark_attention.tflite"
LIBRARY = COMMAND.parent / "libarenaut.a"
RUNS = 11


class Range:
    """The fields of a live range in Vela's allocator; end_time is inclusive there."""

    def __init__(self, lower, upper, size):
        self.start_time, self.end_time, self.size = lower, upper - 1, size

    @staticmethod
    def get_alignment():
        return 16


def median_ms(action, runs=RUNS):
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        result = action()
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times), result


def build_phases():
    program = ROOT / "build" / "bench" / "phases"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O2", "-std=c11", f"-I{ROOT / 'include'}", ROOT / "bench" / "phases.c",
                    LIBRARY, "-lpthread", "-lm", "-o", program],
                   check=True)
    return program


def lifetimes(model):
    exported = subprocess.run([COMMAND, "export", model, "--as", "csv"], check=True,
                              capture_output=True, text=True).stdout
    return [Range(int(row["lower"]), int(row["upper"]), int(row["size"]))
            for row in csv.DictReader(io.StringIO(exported)) if int(row["size"]) > 0]


def vela(ranges, bound):
    """(milliseconds, arena, version) of HillClimb, or None if it is not installed. It may stop
    at the bound, and has as many iterations as Vela gives it by default."""
    try:
        from importlib.metadata import version

        from ethosu.vela.hillclimb_allocation import allocate_live_ranges
    except ImportError as why:
        print(f"PEER MISSING: ethos-u-vela is not installed ({why}); its column is empty.\n"
              "              pip install ethos-u-vela", file=sys.stderr)
        return None
    spent, addresses = median_ms(lambda: allocate_live_ranges(ranges, 99999, bound))
    arena = max(at + live.size for at, live in zip(addresses, ranges))
    return spent, arena, version("ethos-u-vela")


def main():
    model = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if not model.is_file():
        print(f"MODEL MISSING: {model.name} is not at hand; name another", file=sys.stderr)
        return 1
    ours = json.loads(subprocess.run([build_phases(), model], check=True, capture_output=True,
                                     text=True).stdout)
    command_ms, _ = median_ms(lambda: subprocess.run(
        [COMMAND, "plan", model], check=True, capture_output=True))
    ranges = lifetimes(model)
    peer = vela(ranges, ours["bound"])
    print(f"{model.name}: {len(ranges)} buffers, medians of {RUNS} runs and more\n")
    in_process = sum(ours[f"{phase}_us"] for phase in ("read", "lower", "plan", "check", "replay"))
    for phase in ("read", "lower", "plan", "check", "replay"):
        print(f"  arenaut {phase:<22}{ours[f'{phase}_us'] / 1e3:10.3f} ms")
    print(f"  arenaut in process, all       {in_process / 1e3:10.3f} ms   arena {ours['arena']:,}")
    print(f"  arenaut, the whole command    {command_ms:10.3f} ms")
    if peer:
        spent, arena, version = peer
        print(f"  Vela {version} HillClimb         {spent:10.3f} ms   arena {arena:,}\n")
        print(f"  HillClimb / arenaut plan          {spent * 1e3 / ours['plan_us']:8.0f} ×")
        print(f"  HillClimb / arenaut in process    {spent * 1e3 / in_process:8.0f} ×")
        print(f"  HillClimb / the whole command     {spent / command_ms:8.1f} ×")
    return 0


if __name__ == "__main__":
    sys.exit(main())
