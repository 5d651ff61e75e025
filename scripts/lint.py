"""What `make lint` checks, all of it in well under three minutes on two cores:

    clang-tidy   what of src and tools is built here, by .clang-tidy
    lizard       outside of tests/, no function of more than MOST_LINES lines or MOST_BRANCHES ways
    ruff         the Python, by ruff.toml
    shellcheck   every file that begins with #!/bin/sh
    names        no two C files of src/, of tools/, or of tests/ share a name
    language     things have nouns: *what* in 1,000 words of comments and of pages keeps to a budget, and
                 no message or help text has it (tests/pytest/test_words.py: folder by folder)

Prints what each finds; the exit status is 1 if any found something."""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure_structure import COMMENT_OR_STRING, comments, per_thousand, sources

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "build" / "venv-lint" / "bin"
MOST_LINES = 60
MOST_BRANCHES = 20  # a switch counts as one
MOST_WHATS = {"src": 1, "tools": 1, "include": 1, "docs": 2}  # in 1,000 words
AT_ONCE = 12  # files per process: starting clang-tidy costs as much as reading one


def tracked(*patterns):
    names = subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\n")
    return [name for name in names if name and (ROOT / name).is_file()]


def run(tool, *arguments):
    """What a tool says, or nothing if it finds nothing."""
    done = subprocess.run([TOOLS / tool, *arguments], cwd=ROOT, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout if done.returncode else ""


def clang_tidy():
    built = json.loads((ROOT / "build" / "lint" / "compile_commands.json").read_text())
    files = sorted({os.path.relpath(entry["file"], ROOT) for entry in built})
    files = [name for name in files if name.startswith(("src/", "tools/"))]
    parts = [files[i:i + AT_ONCE] for i in range(0, len(files), AT_ONCE)]

    def tidy(part):
        return run("clang-tidy", "--quiet", "-p", "build/lint", *part)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return "".join(pool.map(tidy, parts))


def functions():
    return run("lizard", "-l", "c", "-m", "-w", "-L", str(MOST_LINES), "-C", str(MOST_BRANCHES),
               *(name for name in tracked("*.c", "*.h") if not name.startswith("tests/")))


def python():
    return run("ruff", "check", "--no-cache", "--output-format", "concise",
               *tracked("*.py"))


def shell():
    scripts = [name for name in tracked()
               if (ROOT / name).read_bytes()[:9] == b"#!/bin/sh"]
    return run("shellcheck", "-x", *scripts)


def names():
    found = []
    for room in ("src/", "tools/", "tests/"):
        places = defaultdict(list)
        for name in tracked("*.c", "*.h"):
            if name.startswith(room):
                places[Path(name).name].append(name)
        found += [" ".join(same) for same in places.values() if len(same) > 1]
    return "".join(f"one name, several files: {line}\n" for line in found)


def language():
    found = []
    for room, most in MOST_WHATS.items():
        texts = {path: path.read_text() for path in sources(room, *([".md"] if room == "docs" else []))}
        words = texts.values() if room == "docs" else [each for text in texts.values() for each in comments(text)]
        often = per_thousand("what", " ".join(words))
        if often > most:
            found.append(f"{room}: {often:.1f} times *what* in 1,000 words, {most} allowed")
        found += [f"{path.relative_to(ROOT)}: {each}" for path, text in texts.items() if room != "docs"
                  for each in COMMENT_OR_STRING.findall(text)
                  if each.startswith('"') and re.search(r"\bwhat\b(?!-if)", each, re.IGNORECASE)]
    return "".join(f"{line}\n" for line in found)


def main():
    failed = False
    for check in (names, language, functions, python, shell, clang_tidy):
        said = check()
        print(f"lint: {check.__name__}: {'wrong' if said else 'ok'}", flush=True)
        print(said, end="")
        failed |= bool(said)
    return failed


if __name__ == "__main__":
    sys.exit(main())
