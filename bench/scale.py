"""Cost per buffer from ten thousand to ten million buffers: reading, planning, checking and all.

    build/venv/bin/python bench/scale.py [--least BUFFERS] [--most BUFFERS] [--folder FOLDER]

Of generated steps of training (bench/generate.c), and of the trace of an allocator in the corpus, repeated end
to end. Processor time and memory are those of `arenaut plan` with its default effort. A table in Markdown.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("ARENAUT", ROOT / "build" / "arenaut")
TRACE = Path(os.environ.get("ARENAUT_CORPUS", ROOT.parent / "shared" / "corpus")) / "dsa/large/py_ast_200k.csv"


def generated(folder, n):
    """A step of training with n buffers."""
    make, path = folder / "generate", folder / f"generated-{n}.csv"
    if not make.exists():
        subprocess.run(["cc", "-O2", ROOT / "bench" / "generate.c", "-o", make], check=True)
    with path.open("w") as out:
        subprocess.run([make, "-n", str(n)], check=True, stdout=out, stderr=subprocess.DEVNULL)
    return path


#: In another process, since the memory of a child counts from that of its parent on.
REPEAT = """
BEGIN { rows = 0 }
NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
{ lower[rows] = $at["lower"]; upper[rows] = $at["upper"]; size[rows] = $at["size"] }
$at["upper"] > steps { steps = $at["upper"] }
{ rows++ }
END {
    print "id,lower,upper,size"
    for (i = 0; i < n; i++) {
        k = i % rows; shift = (i - k) / rows * steps
        printf "%d,%.0f,%.0f,%s\\n", i, lower[k] + shift, upper[k] + shift, size[k]
    }
}"""


def repeated(folder, n):
    """The first n buffers of the trace, end to end with itself as often as that takes."""
    path = folder / f"repeated-{n}.csv"
    with path.open("w") as out:
        subprocess.run(["awk", "-F,", "-v", f"n={n}", REPEAT, TRACE], check=True, stdout=out)
    return path


def measure(path):
    """Arena over bound, as the command says them, its processor seconds, and the most bytes that it held."""
    with subprocess.Popen([COMMAND, "plan", path], stdout=subprocess.PIPE, text=True) as command:
        said = command.stdout.read()
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    if command.returncode or "check      ok" not in said:
        sys.exit(f"{path}: {said}")
    arena = re.search(r"planned +([\d,]+)", said)[1]
    bound = re.search(r"\(bound ([\d,]+)\)", said)
    ratio = int(arena.replace(",", "")) / int((bound[1] if bound else arena).replace(",", ""))
    return ratio, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("--least", type=int, default=10_000)
    options.add_argument("--most", type=int, default=10_000_000)
    options.add_argument("--folder", type=Path, default=ROOT / "build" / "bench-scale")
    options = options.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| problem | buffers | CPU s | µs a buffer | MiB | bytes a buffer | arena / bound |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for make in (generated, repeated):
        if make is repeated and not TRACE.exists():
            print("CORPUS MISSING: only generated problems are run", file=sys.stderr)
            continue
        n = options.least
        while n <= options.most:
            path = make(options.folder, n)
            ratio, seconds, held = measure(path)
            path.unlink()
            print(f"| {make.__name__} | {n:,} | {seconds:.2f} | {seconds / n * 1e6:.1f} | {held / 2**20:,.0f} "
                  f"| {held / n:,.0f} | {ratio:.6f} |", flush=True)
            n *= 10


if __name__ == "__main__":
    main()
