"""Throughput of arenaut.plan_many: one process in turn, beside a process for each processor, and a
Dask cluster where that is installed.

    python bench/many_models.py [--variants 2000] [--buffers 100]

The variants are networks' buffers of random sizes, the same in each run."""

import argparse
import os
import random
import time

import arenaut


def variants(n, buffers):
    source = random.Random(1)
    for _ in range(n):
        first = [source.randrange(buffers) for _ in range(buffers)]
        yield arenaut.Problem([source.randrange(1, 100_000) for _ in first], first,
                              [a + 1 + source.randrange(8) for a in first], align=16)


class InTurn:
    """An executor that does at once what it is given, in this process."""

    _max_workers = 1

    def submit(self, function, argument):
        from concurrent.futures import Future
        future = Future()
        future.set_result(function(argument))
        return future


def row(name, work, executor):
    began = time.perf_counter()
    results = arenaut.plan_many(work, executor, progress=False, effort=1000)
    planned = sum(one.planned for one in results.rows)
    seconds = time.perf_counter() - began
    print(f"| {name} | {seconds:.1f} | {len(work) / seconds:,.0f} | {planned:,} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--buffers", type=int, default=100)
    options = parser.parse_args()
    work = list(variants(options.variants, options.buffers))
    print("| how | seconds | a second | bytes, all |\n|---|---:|---:|---:|")
    row("one process", work, InTurn())
    row(f"{os.cpu_count()} processes", work, None)
    try:
        import distributed
    except ImportError:
        print("Dask is not installed here.")
        return
    with distributed.LocalCluster(n_workers=os.cpu_count(), threads_per_worker=1,
                                  dashboard_address=None, host="127.0.0.1") as cluster, \
            distributed.Client(cluster) as client:
        row(f"Dask, {os.cpu_count()} processes", work, client)


if __name__ == "__main__":
    main()
