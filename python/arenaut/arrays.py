"""Columns of numbers on their way into C and back: lists, numpy arrays, and all that has a buffer.

Inputs are copied once, so that no caller can change a problem that is being planned. numpy is
used where it was handed in; without it, columns are `array.array`."""

from __future__ import annotations

import ctypes
import operator
from array import array

from arenaut.errors import InputError

#: Of each code of `array` that columns are made of: its values.
RANGES = {"Q": (0, 2**64 - 1), "q": (-2**63, 2**63 - 1), "I": (0, 2**32 - 1), "H": (0, 2**16 - 1),
          "B": (0, 255)}

#: Characters of a wrong value that a message has: it may be the bytes of a whole model.
MAX_SHOWN = 200


def is_numpy(values):
    return hasattr(values, "__array_interface__") and hasattr(values, "dtype")


def refuse(name, position, found, allowed):
    where = name if position is None else f"{name}[{position}]"
    shown = repr(found)
    if len(shown) > MAX_SHOWN:
        shown = shown[:MAX_SHOWN] + "…"
    raise InputError(f"{where} is {shown}; allowed: {allowed}", position=position, found=found,
                     allowed=allowed) from None


def allowed_of(code):
    low, high = RANGES[code]
    return f"whole numbers from {low} to {high}"


def whole(name, value, code):
    """An integer that C's type holds: ctypes would cut off the rest."""
    low, high = RANGES[code]
    if not is_whole(value) or not low <= value <= high:
        refuse(name, None, value, allowed_of(code))
    return int(value)


def encoded(value, name, position=None):
    """Text on its way into C, which would take a NUL for its end."""
    try:
        if isinstance(value, str) and "\0" not in value:
            return value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        pass
    return refuse(name, position, value, "text, without NUL")


def column(values, code, name, missing=None, named=False):
    """`values` as a new column. Where `missing` is given, None and -1 become that, which itself stands for
    nothing else: unless it is `named`, it may not be given."""
    if is_numpy(values):
        return numpy_column(values, code, name, missing, named)
    if hasattr(values, "__array__"):  # pandas, polars, torch
        try:
            import numpy
        except ImportError:
            return list_column(values, code, name, missing, named)
        return numpy_column(numpy.asarray(values), code, name, missing, named)
    try:
        view = memoryview(values)
    except TypeError:
        return list_column(values, code, name, missing, named)
    return buffer_column(values, view, code, name, missing, named)


def numpy_column(values, code, name, missing, named=False):
    import numpy
    if values.ndim != 1:
        refuse(name, None, f"an array of {values.ndim} dimensions", "one dimension")
    if values.dtype.kind not in "iu":
        if values.dtype.kind in "fO" and len(values):
            list_column(values.tolist(), code, name, missing, named)  # names the first that is wrong
        refuse(name, None, f"an array of {values.dtype}", allowed_of(code))
    hidden = getattr(values, "mask", None)
    if hidden is not None and hidden.any():
        refuse(name, int(hidden.argmax()), "masked", allowed_of(code))
    if missing is not None and not named and (values == missing).any():
        refuse_sentinel(name, int((values == missing).argmax()), missing)
    if missing is not None and values.dtype.kind == "i":
        lost = values == -1
        values = numpy.where(lost, 0, values)
        column = numpy_column(values, code, name, None)
        column[lost] = missing
        return column
    low, high = RANGES[code]
    if len(values) and (int(values.min()) < low or int(values.max()) > high):
        position = next(i for i, value in enumerate(values.tolist()) if not low <= value <= high)
        refuse(name, position, int(values[position]), allowed_of(code))
    return numpy.array(values, dtype=code, order="C")


def refuse_sentinel(name, position, missing):
    refuse(name, position, missing, f"whole numbers from 0 to {missing - 1}, or None where there is none")


def buffer_column(values, view, code, name, missing, named):
    if view.ndim != 1:
        refuse(name, None, f"a buffer of {view.ndim} dimensions", "one dimension")
    if view.format == code and view.contiguous and missing is None:
        copied = array(code)
        copied.frombytes(view.cast("B"))
        return copied
    try:
        return list_column(values, code, name, missing, named)
    except NotImplementedError:  # half floats, and the byte order of other machines
        return refuse(name, None, f"a buffer of format {view.format!r}", allowed_of(code))


def list_column(values, code, name, missing, named=False):
    try:
        values = list(values if not isinstance(values, (str, set, frozenset, dict)) else None)
    except TypeError:
        refuse(name, None, values, "a sequence of whole numbers")
    if missing is not None:
        if not named and missing in values:
            refuse_sentinel(name, values.index(missing), missing)
        values = [missing if value is None or value == -1 else value for value in values]
    try:
        return array(code, values)
    except (TypeError, OverflowError):
        low, high = RANGES[code]
        for position, value in enumerate(values):
            if not is_whole(value) or not low <= value <= high:
                refuse(name, position, value, allowed_of(code))
        raise


def is_whole(value):
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def filled(value, n, code):
    """A column of n times the same."""
    return array(code, [value]) * n


def read_only(values):
    """A column to hand out: writes to it do not change ours."""
    if not is_numpy(values):
        return values[:]
    view = values.view()
    view.flags.writeable = False
    return view


def counting(n, numpy=False):
    """The column 0, 1, 2, …"""
    if numpy:
        import numpy as np
        return np.arange(n, dtype="I")
    return array("I", range(n))


def interleaved(first, end):
    """Two columns as pairs, one after the other."""
    if is_numpy(first) and is_numpy(end):
        import numpy
        pairs = numpy.empty(2 * len(first), dtype="q")
    else:
        pairs = array("q", bytes(16 * len(first)))
        first, end = array("q", first), array("q", end)
    pairs[0::2], pairs[1::2] = first, end
    return pairs


def first_not_below(first, end):
    """The first position at which first is not below end; None if there is none."""
    if is_numpy(first) and is_numpy(end):
        wrong = first >= end
        return int(wrong.argmax()) if wrong.any() else None
    if not any(map(operator.ge, first, end)):
        return None
    return next(i for i, (a, b) in enumerate(zip(first, end)) if a >= b)


def address(values):
    """Where a column lies, for as long as it lives."""
    if is_numpy(values):
        return values.__array_interface__["data"][0]
    return values.buffer_info()[0]


def pointer(values, kind):
    """A column as a pointer of a struct's member; `kind` is the type of its elements."""
    return ctypes.pointer(kind.from_address(address(values)))


def copied(source, n, code, numpy=False):
    """n elements at a pointer of C, as a column of our own."""
    if numpy:
        import numpy as np
        values = np.empty(n, dtype=code)
    else:
        values = array(code, bytes(n * array(code).itemsize))
    if n:
        ctypes.memmove(address(values), source, n * values.itemsize)
    return values
