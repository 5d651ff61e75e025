"""PyTorch's GPU memory on a tape: one training step is recorded, planned into one arena, and all later
steps are served from it, without a search and at fixed addresses (docs/gpu.md).

    from arenaut import gpu
    gpu.install()                      # before PyTorch touches the GPU
    for _ in range(3):
        step()                         # made once, such as the optimizer's state
    with gpu.record():
        step()
    gpu.plan()
    for batch in batches:
        with gpu.play():
            step()
    print(gpu.figures())

Shapes must not vary, and memory that a step makes and does not need any more must be freed at its end: set
gradients to None there, not at the beginning of the next one. Requests that differ from the recording are
served by the driver, which is right and slow; figures() counts it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections import namedtuple
from collections.abc import Iterator

from arenaut import records
from arenaut.deferred import typed
from arenaut.errors import ArenautError, error_of
from arenaut.library import beside, missing, text_of
from arenaut.tape import Counts


NAME = "libarenaut-gpu.so"
ERROR = ctypes.POINTER(records.Error)


class Record(ctypes.Structure):
    """arenaut_gpu_figures."""

    _fields_ = [("arena", ctypes.c_uint64), ("bound", ctypes.c_uint64), ("driver", ctypes.c_uint64),
                ("most", ctypes.c_uint64), ("driver_calls", ctypes.c_uint64), ("counts", Counts)]


class Figures(namedtuple("Figures", "arena bound driver most driver_calls runs astray served heap fallbacks")):
    """Figures of the tape.

    Attributes
    ----------
    arena, bound : int
        Bytes of the arena; bytes that no plan of the same requests needs less than.
    driver, most : int
        Bytes taken from the driver now, the arena among them, and at most.
    driver_calls : int
        Requests that went to the driver.
    runs, astray : int
        Runs that were played; of these, such as differed from the recording.
    served, heap, fallbacks : int
        Requests answered from the arena; by the driver as planned, since their blocks outlive the run; by the driver
        since they were not recorded.
    """

    __slots__ = ()


def path() -> str:
    """The library that PyTorch is to take its memory from."""
    found = beside(NAME, "ARENAUT_GPU")
    if not found:
        raise ImportError(missing(NAME, "ARENAUT_GPU"))
    return os.path.abspath(found)


_library: typed.Any = None


def library() -> typed.Any:
    """Its functions."""
    global _library
    if _library is None:
        loaded = ctypes.CDLL(path())
        for name, *types in (("driver", ctypes.c_char_p), ("record", ctypes.c_int, ctypes.c_void_p),
                             ("play",), ("end",), ("plan",), ("forget",)):
            function = getattr(loaded, f"arenaut_gpu_{name}")
            function.argtypes, function.restype = (*types, ERROR), ctypes.c_int
        loaded.arenaut_gpu_count.argtypes = (ctypes.POINTER(Record),)
        loaded.arenaut_gpu_count.restype = None
        loaded.arenaut_gpu_malloc.argtypes = (ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
        loaded.arenaut_gpu_malloc.restype = ctypes.c_void_p
        loaded.arenaut_gpu_free.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
        loaded.arenaut_gpu_free.restype = None
        _library = loaded
    return _library


def call(name: str, *arguments: typed.Any) -> None:
    error = records.Error()
    status = getattr(library(), f"arenaut_gpu_{name}")(*arguments, error)
    if status != records.OK:
        raise error_of(status, text_of(error.msg))


def use_driver(name: str) -> None:
    """Takes memory from another library than libcuda.so.1; before the first request.

    Raises
    ------
    ArenautError
        It cannot be loaded, or lacks a function.
    """
    call("driver", os.fsencode(name))


def install() -> None:
    """Makes PyTorch take its GPU memory from here. Once in a process, before it has taken any.

    Raises
    ------
    ArenautError
        This PyTorch has no GPU, or has taken memory already.
    """
    import torch  # what this is for, and nothing else here needs it
    if not torch.cuda.is_available():
        raise ArenautError("this PyTorch sees no CUDA device", records.REFUSED)
    allocator = torch.cuda.memory.CUDAPluggableAllocator(path(), "arenaut_gpu_malloc", "arenaut_gpu_free")
    try:
        torch.cuda.memory.change_current_allocator(allocator)
    except RuntimeError as error:
        raise ArenautError(f"PyTorch keeps the allocator that it has: {error}", records.REFUSED) from error


def _here(device: int | None, stream: int | None) -> tuple[int, int | None]:
    """The current device and stream of PyTorch, where they are not given."""
    if device is not None and stream is not None:
        return device, stream or None
    import torch  # as in install
    device = torch.cuda.current_device() if device is None else device
    return device, (torch.cuda.current_stream(device).cuda_stream if stream is None else stream) or None


@contextlib.contextmanager
def record(device: int | None = None, stream: int | None = None) -> Iterator[None]:
    """Records the requests of the block that follows; the recording and plan before are dropped.

    Parameters
    ----------
    device : int, optional
        Its number; None: the current one.
    stream : int, optional
        The address of the stream, 0 for the default one; None: the current one. Requests of other
        streams ask for is left to the driver.

    Raises
    ------
    RefusedError
        A run is under way, or blocks of an earlier arena are in use.
    """
    call("record", *_here(device, stream))
    try:
        yield
    finally:
        call("end")


def plan() -> Figures:
    """Plans the recorded requests, has the plan checked, and takes the arena from the driver."""
    call("plan")
    return figures()


@contextlib.contextmanager
def play() -> Iterator[None]:
    """Serves the requests of the block that follows from the arena."""
    call("play")
    try:
        yield
    finally:
        call("end")


def forget() -> None:
    """Gives the arena back, and drops the recording.

    Raises
    ------
    RefusedError
        A run is under way, or blocks of the arena are in use.
    """
    call("forget")


def figures() -> Figures:
    """Figures of the tape so far."""
    found = Record()
    library().arenaut_gpu_count(found)
    counts = found.counts
    return Figures(found.arena, found.bound, found.driver, found.most, found.driver_calls, counts.runs,
                   counts.astray, counts.served, counts.heap, counts.fallbacks)
