"""Each schedule of a tinygrad program that has an arena as arenaut.program/1, for `arenaut check` in CI.

    python tinygrad_schedules.py FOLDER script.py
    for file in FOLDER/*.json; do arenaut check "$file" || exit 1; done

tinygrad plans as it always does; its planner's results
are written down beside. `arenaut.tinygrad.install(place=False)` does the same without files."""

import runpy
import sys
from pathlib import Path

import tinygrad.schedule.memory

import arenaut.tinygrad


def main(folder, script):
    stock, count = tinygrad.schedule.memory.memory_plan_rewrite, 0

    def watched(linear, held_bufs=None):
        nonlocal count
        planned = stock(linear, held_bufs)
        text = arenaut.tinygrad.program_of(linear, planned)
        if text:
            Path(folder, f"schedule{count}.program.json").write_bytes(text)
            count += 1
        return planned

    Path(folder).mkdir(parents=True, exist_ok=True)
    for user in arenaut.tinygrad.USERS:
        user.memory_plan_rewrite = watched
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
