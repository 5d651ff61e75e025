"""Throughput of arenaut.plan_many: one process in turn, beside a process for each processor, and a
Dask cluster and a Ray pool of as many, where those are installed.

    python bench/many_models.py [--variants 2000] [--buffers 100]

The variants are networks' buffers of random sizes, the same in each run. `start` is the time to have
the engine ready; `each` is its cost above planning in turn would on so many processors that
have nothing else to do."""

import argparse
import contextlib
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor

import arenaut


def variants(n, buffers):
    source = random.Random(1)
    for _ in range(n):
        first = [source.randrange(buffers) for _ in range(buffers)]
        yield arenaut.Problem([source.randrange(1, 100_000) for _ in first], first,
                              [a + 1 + source.randrange(8) for a in first], align=16)


class InTurn:
    """An executor that runs its jobs at once, in this process."""

    _max_workers = 1

    def submit(self, function, argument):
        from concurrent.futures import Future
        future = Future()
        future.set_result(function(argument))
        return future


def row(name, work, engine, turn=None):
    """Runs it and prints the row; `engine()` is a context that gives the executor, `turn` the seconds of
    one process by itself. Gives the seconds of the work."""
    began = time.perf_counter()
    with engine() as executor:
        ready = time.perf_counter()
        results = arenaut.plan_many(work, executor, progress=False, effort=1000)
        planned = sum(one.planned for one in results.rows)
        seconds = time.perf_counter() - ready
    each = "" if turn is None else f"{(seconds - turn / os.cpu_count()) / len(work) * 1e3:.2f} ms"
    print(f"| {name} | {ready - began:.1f} | {seconds:.1f} | {len(work) / seconds:,.0f} | {each} | {planned:,} |",
          flush=True)
    return seconds


@contextlib.contextmanager
def dask():
    import distributed
    with distributed.LocalCluster(n_workers=os.cpu_count(), threads_per_worker=1,
                                  dashboard_address=None, host="127.0.0.1") as cluster, \
            distributed.Client(cluster) as client:
        yield client


@contextlib.contextmanager
def ray_pool():
    import ray
    from ray.util.multiprocessing import Pool
    ray.init(num_cpus=os.cpu_count(), include_dashboard=False, _node_ip_address="127.0.0.1",
             log_to_driver=False)
    try:
        with Pool(os.cpu_count(), ray_remote_args={"max_restarts": -1}) as pool:
            pool.apply(os.getpid)
            yield pool
    finally:
        ray.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--buffers", type=int, default=100)
    options = parser.parse_args()
    work, many = list(variants(options.variants, options.buffers)), os.cpu_count()
    print("| how | start, s | seconds | a second | each | bytes, all |\n|---|---:|---:|---:|---:|---:|")
    turn = row("one process", work, lambda: contextlib.nullcontext(InTurn()))
    row(f"{many} processes, which start meanwhile", work, contextlib.nullcontext, turn)
    with ProcessPoolExecutor(many) as pool:
        list(pool.map(arenaut.plan, [[1]] * many, [[0]] * many, [[1]] * many))
        row(f"{many} processes that are there", work, lambda: contextlib.nullcontext(pool), turn)
    for name, engine in ("Dask", dask), ("Ray", ray_pool):
        try:
            row(f"{name}, {many} processes", work, engine, turn)
        except ImportError as missing:
            print(f"{name} is left out: {missing}.")


if __name__ == "__main__":
    main()
