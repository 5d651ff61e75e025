"""Failures as exceptions. All are `ArenautError`; the message names the object, what was
found and what is allowed, and the attributes hold the same for programs."""

from __future__ import annotations

from arenaut import records
from arenaut.deferred import typed



class ArenautError(RuntimeError):
    """A call that did not succeed.

    Parameters
    ----------
    message : str
        The text, which names the object, what was found and what is allowed.
    status : int, optional
        The library's code (include/arenaut/error.h), e.g. 3 for an input that is not well formed.
    **about : object
        Any of the attributes.

    Attributes
    ----------
    status : int
        As above.
    position : int or None
        Byte offset or line in the file, or index in the array; None if there is none.
    found, allowed : object
        The wrong value and the values allowed, if it was one value.
    option : str or None
        The option of `open` or `plan` that does not suit the file, e.g. "dims".
    open_sizes : tuple of str
        Names of sizes that the model leaves open and that need a value in `dims`.
    """

    position: int | None = None
    found: object = None
    allowed: str | None = None
    option: str | None = None
    open_sizes: tuple[str, ...] = ()
    status: int

    def __init__(self, message: str, status: int = records.BAD_INPUT, **about: object) -> None:
        super().__init__(message)
        self.status = status
        self.__dict__.update(about)

    def __reduce__(self):
        return rebuilt, (type(self), str(self), self.__dict__)


class InputError(ArenautError, ValueError):
    """An argument or a file that is not well formed, or too large to be represented."""


class UnsupportedError(ArenautError):
    """A file that is well formed and holds something that is not supported."""


class RefusedError(ArenautError):
    """A request that is not done.

    This format cannot express it, this planner cannot do it or found no plan, although there may be
    one, or it would make nothing better."""


class RejectedError(ArenautError):
    """A plan that the checker found wrong.

    Attributes
    ----------
    finding : dict
        Its counter-example: rule, the two buffers or tensors, step, bytes.
    """

    finding: typed.Finding = {}  # where it was no checker that found it


class NoPlanError(ArenautError):
    """No plan exists, which is proven: of a model, for its ops in the order planned last.

    Attributes
    ----------
    witness : dict
        Which buffers are too much at which step: step, buffers, names, pool, bytes over.
    """

    witness: typed.Witness = {}  # as of the checker's


class StoppedError(ArenautError):
    """The work was stopped before there was any plan."""


class OutOfMemoryError(ArenautError, MemoryError):
    """Memory that could not be had."""


KINDS = {records.NO_MEMORY: OutOfMemoryError, records.BAD_ARGUMENT: InputError,
         records.BAD_INPUT: InputError, records.UNSUPPORTED: UnsupportedError,
         records.TOO_LARGE: InputError, records.REFUSED: RefusedError,
         records.REJECTED: RejectedError, records.STOPPED: StoppedError,
         records.NO_PLAN: NoPlanError, records.NOT_FOUND: RefusedError}


def error_of(status: int, message: str, **about: object) -> ArenautError:
    """The exception for a status of the library."""
    return KINDS.get(status, ArenautError)(message, status, **about)


def rebuilt(kind, message, attributes):
    """An exception out of a pickle."""
    error = kind(message)
    error.__dict__.update(attributes)
    return error
