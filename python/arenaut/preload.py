"""The library that is to be preloaded: `python -m arenaut.preload` prints where it is, and with a
program behind it runs that under it.

    LD_PRELOAD=$(python -m arenaut.preload) python program.py
    python -m arenaut.preload program.py ARGUMENT...
"""

import os
import sys

from arenaut.library import packaged

NAME = "libarenaut-replay.so"


def path():
    found = os.environ.get("ARENAUT_REPLAY") or packaged(NAME)
    if not found:
        sys.exit(f"arenaut: {NAME} is not part of this installation; build it with `make`, or name it "
                 "in ARENAUT_REPLAY")
    return os.path.abspath(found)


def main():
    if len(sys.argv) == 1:
        print(path())
        return
    others = os.environ.get("LD_PRELOAD")
    os.environ["LD_PRELOAD"] = path() + (f":{others}" if others else "")
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    main()
