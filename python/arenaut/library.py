"""Finding the shared library and turning its status codes into exceptions."""

import ctypes
import os
from ctypes import CDLL, Structure, c_char, c_int, c_size_t
from pathlib import Path


class ErrorRecord(Structure):
    """arenaut_error."""

    _fields_ = [("code", c_int), ("at", c_size_t), ("msg", c_char * 320)]


class ArenautError(RuntimeError):
    """A call of the library that did not succeed; `status` is its code (error.h)."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


OK = 0


def preloaded():
    """The process itself as a library, if libarenaut-replay.so was preloaded into it."""
    process = CDLL(None)
    return process if hasattr(process, "arenaut_hook_enter") else None


def candidates():
    """Where the library may be: named outright, built in this checkout, installed."""
    named = os.environ.get("ARENAUT_LIBRARY")
    if named:
        return [named]
    built = Path(__file__).parents[2] / "build" / "libarenaut.so"
    return ([str(built)] if built.is_file() else []) + ["libarenaut.so.0.1", "libarenaut.so"]


def load():
    # What is preloaded comes first: its hooks and our calls must share one copy of the code.
    library = preloaded()
    if library:
        return library
    reasons = []
    for name in candidates():
        try:
            return CDLL(name)
        except OSError as reason:
            reasons.append(str(reason))
    raise ImportError("libarenaut.so was not found; build it with `make`, or name it in "
                      "ARENAUT_LIBRARY (" + "; ".join(reasons) + ")")


LIB = load()


def declare(name, *argument_types, returns=c_int):
    """A function of the library with its types, so that none is ever guessed."""
    function = getattr(LIB, name)
    function.argtypes = argument_types
    function.restype = returns
    return function


def check(call, *arguments):
    """Calls a function whose last argument is an arenaut_error; raises what it reports."""
    record = ErrorRecord()
    status = call(*arguments, ctypes.byref(record))
    if status != OK:
        raise ArenautError(status, record.msg.decode("utf-8", "replace"))
