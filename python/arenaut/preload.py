"""The library that is to be preloaded, so that what kernels allocate is seen. The package holds it, and
finds it in each of these ways:

    python -m arenaut.preload program.py ARGUMENT...       # runs a program under it
    LD_PRELOAD=$(python -m arenaut.preload) python program.py
    from arenaut import preload; preload.ensure()          # first thing in the program

Linux and the GNU C library only. A notebook's kernel is started by somebody else: start that with the
variable set. ARENAUT_REPLAY names another library.
"""

import os
import sys

from arenaut.library import beside, missing

NAME = "libarenaut-replay.so"


def found():
    return beside(NAME, "ARENAUT_REPLAY")


def path() -> str:
    """Where the library lies."""
    if not found():
        sys.exit(f"arenaut: {missing(NAME, 'ARENAUT_REPLAY')}")
    return os.path.abspath(found())


def ensure() -> None:
    """Starts this program anew under the library, if it is not there yet; so it belongs before all
    else. Nothing that the program has done so far is undone.

    Raises
    ------
    ImportError
        The library is not part of this installation, or was named and did not load.
    """
    from arenaut import library
    if library.preloaded():
        return
    if not found():
        raise ImportError(missing(NAME, "ARENAUT_REPLAY"))
    if path() in os.environ.get("LD_PRELOAD", "").split(":"):
        raise ImportError(f"{path()} is in LD_PRELOAD, and the system does not load it here")
    sys.stdout.flush()
    sys.stderr.flush()
    start(sys.orig_argv[1:])


def start(arguments):
    """This Python once more, in the place of this process, under the library."""
    others = os.environ.get("LD_PRELOAD")
    os.environ["LD_PRELOAD"] = path() + (f":{others}" if others else "")
    os.execv(sys.executable, [sys.executable, *arguments])


def main():
    if len(sys.argv) == 1:
        print(path())
    else:
        start(sys.argv[1:])


if __name__ == "__main__":
    main()
