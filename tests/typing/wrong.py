"""What a type checker has to refuse, a line each: tests/pytest/test_wheel.py looks for it."""

import arenaut

arenaut.plan(["1", "2"], [0, 0], [1, 1])
arenaut.plan([1, 2], [0, 0], [1, 1], aling=16)
arenaut.plan([1, 2], [0, 0], [1, 1], progress=7)
arenaut.Problem([1, 2], [0, 0], [1, 1], kinds=["inputs", None])
arenaut.Problem([1, 2], [0, 0], [1, 1], pool="sram")
arenaut.Problem([1, 2], [0, 0], [1, 1], conflicts=[0, 1])
arenaut.Problem([1, 2], [0, 0], [1, 1]).plan(align=16)
arenaut.open(b"bytes of a model")
arenaut.open("x").plan(overlaps=True)
arenaut.open("x").plan(dims={"seq": "1..512"})
arenaut.open("x").plan(inplace="on")
arenaut.open("x").plan().arenas()
arenaut.open("x").size().now + 1
arenaut.open("x").trace.most_asked + 1
arenaut.open("x").plan().report("svg", wdth=3)
arenaut.plan_many([7])
arenaut.plan_many(["x"], executor="processes")
arenaut.Pool("sram", "64K")
