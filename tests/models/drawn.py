"""How many cases are tried of what repeats: the rule of tests/support/drawn.h, for tests in Python.

`make test` sets ARENAUT_ONE_OF=N: an Nth of them. Without it, as in the night, all are tried, and ARENAUT_THOROUGH=N
(`make fuzz`) asks for N times as many. Parameters that are left out skip, so that they are counted.
"""

import os

import pytest

THOROUGH = max(1, int(os.environ.get("ARENAUT_THOROUGH", "1")))
ONE_OF = max(1, int(os.environ.get("ARENAUT_ONE_OF", "1"))) if THOROUGH == 1 else 1
NIGHT = pytest.mark.skipif(ONE_OF > 1, reason=f"ARENAUT_ONE_OF={ONE_OF}: the night tries all")


def drawn(count):
    """Of so many random cases."""
    return max(1, count * THOROUGH // ONE_OF)


def at_night(param):
    """A parameter that is tried where all are."""
    param = param if hasattr(param, "marks") else pytest.param(param)
    return pytest.param(*param.values, id=param.id, marks=[*param.marks, NIGHT])


def some(params):
    """Of parameters that are tried alike: every Nth, the first among them."""
    return [at_night(param) if k % ONE_OF else param for k, param in enumerate(params)]
