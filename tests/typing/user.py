"""What a user writes, in the strict mode of a type checker: tests/pytest/test_wheel.py checks it against
the wheel. It is never run."""

from array import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import arenaut
from arenaut.typed import Column, Constraints, ModelOptions


def columns() -> Column:
    both = arenaut.plan([1, 2], array("q", [0, 0]), range(1, 3), align=[16, 1], names=["a", None])
    arenaut.plan(memoryview(b"ab"), lifetimes=[[(0, 1), (2, 3)]], pools={"sram": 512, "psram": None})
    at: list[int] = both.offsets.tolist()
    view = memoryview(both.pools)
    assert len(both.offsets) == len(at) == len(view)
    return both.offsets


def problem() -> arenaut.Plan:
    constraints: Constraints = {"pools": ["sram", ("psram", 512)], "allowed": [["sram"], None],
                                "kinds": ["input", None], "fixed": [None, 0],
                                "separations": [(0, 1, 16)], "reserved": [(0, 0, 64)]}
    pools = [arenaut.Pool("sram", 65_536, 16), arenaut.Pool("psram")]
    arenaut.plan([1, 2], [0, 0], [1, 1], **constraints)
    made = arenaut.Problem([1, 2], [0, 0], [1, 1], pools=pools, same_base=[None, 0], uses=[1, 2])
    capacity: int | None = made.pools[0].capacity
    assert capacity and made.kinds[0] == "input" and made.lifetimes[0][0] == (0, 1)
    try:
        return made.plan(effort=1000, threads=2, progress=lambda best, bound, seconds: best != bound)
    except arenaut.NoPlanError as none:
        print(none.witness["bytes_over"] + none.witness["step"], none.witness["names"][0].upper())
        raise


def model(path: Path) -> str:
    options: ModelOptions = {"dims": {"seq": (1, 512), "batch": 1, "heads": [1, 8]}, "target": "litert"}
    opened = arenaut.open(path, **options)
    arenaut.open([path, "decode.pt2"], share=True)
    better = opened.plan(inplace=True, overlap=True, kernels="reference", split=[(0, 3, 2, "rows")],
                         pins={"image": "sram", "conv": ("sram", 64)}, settings={"match_range": 0})
    better.save("small.tflite", force=True)
    whole = better.tensor_arena
    assert whole is None or whole.total >= whole.head
    recorded = opened.trace
    wasted = recorded.reserved[0] - recorded.asked[0] if recorded and recorded.reserved else 0
    assert recorded is None or recorded.caching is None or recorded.most_asked <= recorded.caching + wasted
    now: int | None = opened.size().now
    proven: bool = better.status == "optimal" and better.stopped_by == "proof"
    try:
        better.check()
    except arenaut.RejectedError as error:
        print(error.finding["rule"], error.status, error.position, proven)
    today = better.today
    return better.report("svg", steps=(0, 5), compare={"now": today} if today else {}) + str(now)


def many(paths: list[Path], problems: list[arenaut.Problem]) -> Iterator[arenaut.Row]:
    with ThreadPoolExecutor() as executor:
        results = arenaut.plan_many([*paths, *problems, (paths[0], {"align": 64})], executor, resume="done",
                                    target="litert")
        total: int = results.totals["planned"]
        yield from (row for row in results if row.error is None and row.planned != total)
    sizes = arenaut.sweep(paths[0], {"dims": {"seq": [128, 256]}, "align": [16, 64]}, progress=False)
    deciding = sizes.deciding
    assert deciding and sizes.shared == deciding.planned
