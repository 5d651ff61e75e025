"""The command, as `arenaut` and as `python -m arenaut`: the program of the package takes over."""

import os
import signal
import subprocess
import sys

from arenaut.library import packaged


def main():
    name = "arenaut.exe" if sys.platform == "win32" else "arenaut"
    program = os.environ.get("ARENAUT") or packaged("bin", name)
    if not program:
        sys.exit("arenaut: the command is not part of this installation; build it with `make`, or "
                 "name it in ARENAUT")
    command = [program, *sys.argv[1:]]
    if sys.platform == "win32":  # there a program cannot become another one
        for name in "SIGINT", "SIGBREAK":  # Ctrl-C and Ctrl-Break reach the command as well, and that answers
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(program, command)


if __name__ == "__main__":
    main()
