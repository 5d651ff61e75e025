"""Finding the shared library, and calling it: `C.arenaut_…` are its functions, with their types."""

import ctypes
import os
import sys
from ctypes import CDLL, c_int

from arenaut import records
from arenaut.errors import ArenautError, error_of

__all__ = ["ArenautError", "C", "OK", "beside", "borrowed", "packaged", "check", "declare", "missing", "preloaded", "text_of",
           "took"]

OK = records.OK
HERE = os.path.dirname(os.path.abspath(__file__))
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")


def packaged(*names):
    """A file of the installed package, else of the checkout that this is part of; None without."""
    built = os.path.join(HERE, "..", "..", "build", names[-1])
    return next((path for path in (os.path.join(HERE, *names), os.path.abspath(built))
                 if os.path.isfile(path)), None)


def beside(name, variable):
    """One of the libraries beside it, which are for Linux alone, if it is there: named in a variable, or packaged."""
    return (os.environ.get(variable) or packaged(name)) if sys.platform.startswith("linux") else None


def missing(name, variable):
    """Why it is not there, and what helps."""
    if not sys.platform.startswith("linux"):
        return f"{name} is for Linux alone, and this is {sys.platform}"
    return f"{name} is not part of this installation; build it with `make`, or name it in {variable}"


def preloaded():
    """The process itself as a library, if libarenaut-replay.so was preloaded into it."""
    if sys.platform == "win32":
        return None
    process = CDLL(None)
    return process if hasattr(process, "arenaut_hook_enter") else None


def candidates():
    """Where the library may be: named outright, in this package or its checkout, installed."""
    named = os.environ.get("ARENAUT_LIBRARY")
    if named:
        return [named]
    name = "libarenaut" + SUFFIX
    own = packaged("bin", name) if sys.platform == "win32" else packaged(name)  # there it is beside the command
    if own or sys.platform == "win32":
        return [own or name]
    return [f"libarenaut.so.{records.VERSION.split('.')[0]}", name]


def check_version(library):
    """A later minor version has every function of an earlier one, and lays structs out as it does."""
    function = library.arenaut_version
    function.argtypes, function.restype = (), ctypes.c_char_p
    found, own = function().decode(), records.VERSION
    (found_major, found_minor), (own_major, own_minor) = (
        [int(part) for part in version.split(".")[:2]] for version in (found, own))
    candidate = "-" in found + own  # may differ from the release
    if found_major != own_major or found_minor < own_minor or (candidate and found != own):
        raise ImportError(f"this is arenaut {own}, and the library found is {found}: its ABI is "
                          "another one (ARENAUT_LIBRARY names the library to use)")


def load():
    # What is preloaded comes first: its hooks and our calls must share one copy of the code.
    library = preloaded()
    reasons = []
    for name in [] if library else candidates():
        try:
            library = CDLL(name)
            break
        except OSError as reason:
            reasons.append(str(reason))
    if not library:
        raise ImportError("libarenaut was not found; build it with `make`, or name it in "
                          "ARENAUT_LIBRARY (" + "; ".join(reasons) + ")")
    check_version(library)
    return library


LIB = load()


def declare(name, *argument_types, returns=c_int):
    """A function of the library with its types, so that none is ever guessed."""
    function = LIB[name]  # one of our own: what LIB has by this name may be at work in another thread
    function.argtypes = argument_types
    function.restype = returns
    return function


class Functions:
    """The functions of records.FUNCTIONS, each looked up when it is first named."""

    def __getattr__(self, name):
        if name not in records.FUNCTIONS:
            raise AttributeError(name)
        arguments, returns = records.FUNCTIONS[name]
        function = declare(name, *arguments, returns=returns)
        setattr(self, name, function)
        return function


C = Functions()


def text_of(string):
    """A C string that may be missing."""
    return string.decode("utf-8", "replace") if string is not None else None


def borrowed(data):
    """Bytes as a pointer of C's, good as long as it lives. ctypes.cast would be the way, but that of PyPy mixes
    up what threads give it at the same time."""
    return ctypes.c_void_p.from_buffer(ctypes.c_char_p(data))


def check(call, *arguments):
    """Calls a function whose last argument is an arenaut_error; raises what it reports."""
    record = records.Error()
    status = call(*arguments, ctypes.byref(record))
    if status != OK:
        raise error_of(status, text_of(record.msg), position=record.at or None)


def took(write):
    """The bytes that `write(sink)` put into a sink."""
    text = records.Text()
    try:
        write(C.arenaut_text_sink(ctypes.byref(text)))
        return ctypes.string_at(text.bytes, text.size) if text.size else b""
    finally:
        C.arenaut_text_free(ctypes.byref(text))
