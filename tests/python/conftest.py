"""The tests of the installed package: tests/pytest/test_wheel.py runs them in environments that hold
the wheel and not this checkout, one of them without numpy."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def hard():
    """A problem that no planner here finishes within seconds: (sizes, first, end)."""
    state = 7

    def number(below):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return state // 2**33 % below

    first = [number(400) for _ in range(1500)]
    return [1 + number(9999) for _ in first], first, [a + 1 + number(60) for a in first]
