"""arenaut beside omnimalloc: the cost of installing and importing, and time and arena on omnimalloc's
own benchmark instances and on problem files of ours.

    python bench/omnimalloc_compare.py tests/data/*.csv       # in an environment that holds both

Its `supermalloc` is exact and gives up after three seconds; `omni` is its portfolio, the default is
its `greedy_by_all`. It knows no alignment, so files of ours are planned without."""

import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import omnimalloc
from omnimalloc.benchmark import sources

import arenaut

ALLOCATORS = (None, "omni", "supermalloc")


def installed(name):
    """Bytes of a package's files, without those that Python makes of them."""
    files = [file.locate() for file in metadata.files(name) if "__pycache__" not in str(file)]
    return sum(Path(file).stat().st_size for file in files if Path(file).is_file())


def importing(name):
    code = f"import time; t = time.process_time(); import {name}; print(time.process_time() - t)"
    return min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                    check=True).stdout) for _ in range(5))


def instances(paths):
    """Names and columns: size, first, end."""
    for source in (sources.RandomSource(500), sources.HighContentionSource(200),
                   sources.PowerOf2Source(300), sources.SequentialSource(500), sources.TilingSource(),
                   sources.PinwheelSource(), sources.SkewedSource()):
        given = source.get_allocations()
        yield (type(source).__name__.removesuffix("Source").lower(), [a.size for a in given],
               [a.start for a in given], [a.end for a in given])
    for path in paths:
        problem = arenaut.open(path).problem
        alive = [(size, *lives[0]) for size, lives in zip(problem.sizes.tolist(), problem.lifetimes)
                 if size and len(lives) == 1]
        yield (Path(path).stem, *map(list, zip(*alive)))


def theirs(allocator, size, first, end):
    given = [omnimalloc.Allocation(k, *one) for k, one in enumerate(zip(size, first, end))]
    began = time.perf_counter()
    placed = omnimalloc.allocate(given, allocator)
    return max(a.offset + a.size for a in placed), time.perf_counter() - began


def main():
    print("| | installed | import |\n|---|---:|---:|")
    for name in "arenaut", "omnimalloc":
        print(f"| {name} {metadata.version(name)} | {installed(name):,} bytes | "
              f"{importing(name) * 1000:.0f} ms |")
    heads = "".join(f" {name or 'default'} |" for name in ALLOCATORS)
    print(f"\n| instance | buffers | bound | arenaut |{heads}\n|---|---:|---:|---:|"
          + "---:|" * len(ALLOCATORS))
    for name, *given in instances(sys.argv[1:]):
        began = time.perf_counter()
        plan = arenaut.plan(*given, progress=False)
        ours = f"{plan.arena:,} in {time.perf_counter() - began:.3f} s"
        found = [theirs(allocator, *given) for allocator in ALLOCATORS]
        cells = "".join(f" {arena:,} in {seconds:.3f} s |" for arena, seconds in found)
        proof = "" if plan.status == "optimal" else " (not proven)"
        print(f"| {name} | {len(given[0])} | {plan.bound:,} | {ours}{proof} |{cells}", flush=True)


if __name__ == "__main__":
    main()
