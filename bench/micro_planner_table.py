"""Heads of the micro runtime on 32-bit ARM with its own planner, with a plan inside the model, and with the planner
object of examples/micro_planner: the memory of tensors and of the kernels' scratch. Needs `make micro-runtime`.

    python bench/micro_planner_table.py MODEL.tflite..."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "models"))
import arm_runtime  # noqa: E402

COMMAND = os.environ.get("ARENAUT", str(ROOT / "build" / "arenaut"))
ARENA = 64 << 20


def run(*arguments):
    done = subprocess.run(arm_runtime.command("reference", *arguments), capture_output=True, text=True, check=False)
    return done.returncode == 0 and json.loads(done.stdout), done.stderr


def heads(model, folder):
    """The three of one model; None where the runtime does not load it, or answers otherwise."""
    theirs, printed = run("--requests", model, ARENA)
    if not theirs:
        return None
    lines = [line for line in printed.splitlines() if line[:1].isdigit() or line.startswith("id,")]
    (folder / "requests.csv").write_text("\n".join(lines) + "\n")
    subprocess.run([COMMAND, "plan", folder / "requests.csv", "-q", "-f", "-o", folder / "planned.csv"], check=True)
    subprocess.run([COMMAND, "plan", model, "-q", "-f", "-o", folder / "inside.tflite"], check=True)
    inside, _ = run(folder / "inside.tflite", ARENA)
    ours, _ = run("--places", folder / "planned.csv", model, ARENA)
    if not ours or not inside or not ours["outputs"] == inside["outputs"] == theirs["outputs"]:
        sys.exit(f"{model}: outputs differ")
    return [one["head"] for one in (theirs, inside, ours)]


def main(models):
    print("| model | greedy | plan in the model | planner object |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for model in map(Path, models):
            found = heads(model, Path(folder))
            if found:
                print(f"| {model.stem} | " + " | ".join(f"{one:,}" for one in found) + " |", flush=True)


if __name__ == "__main__":
    sys.exit("which models?" if len(sys.argv) < 2 else main(sys.argv[1:]))
