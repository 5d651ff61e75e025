"""The tests of the installed package: tests/pytest/test_wheel.py runs them in environments that hold
the wheel and not this checkout, one of them without numpy."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def hard():
    """A problem that no planner here finishes within a second: (sizes, first, end)."""
    state = 7

    def number(below):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return state // 2**33 % below

    first = [number(300) for _ in range(500)]
    return [1 + number(9999) for _ in first], first, [a + 1 + number(40) for a in first]
