"""Size changes of models under git: each against its version in another commit, by `arenaut diff`.

For a pre-commit hook and for continuous integration (docs/diff.md); as `arenaut-changes` and `python -m arenaut.changes`.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = ("*.tflite", "*.pte", "*.onnx", "*.pt2")
ARENAUT = (sys.executable, "-m", "arenaut")


def git(*arguments):
    return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, check=True).stdout


def changed_since(base, patterns):
    """Models that differ from their version in `base`, as they lie in the work tree; those that are new count."""
    listed = git("diff", "--name-only", "-z", "--no-renames", "--relative", "--diff-filter=d", base, "--",
                 *(patterns or MODELS))
    return [name for name in listed.decode(errors="surrogateescape").split("\0") if name]


def version_in(base, name, folder):
    """The file as `base` has it, through filters (Git LFS), in a file of the same name; None if it is new there."""
    path = Path(name)
    here = ["-C", str(path.parent)]
    if not git(*here, "ls-tree", "--name-only", base, "--", path.name):
        return None
    before = Path(folder) / path.name
    before.write_bytes(git(*here, "cat-file", "--filters", f"{base}:./{path.name}"))
    return before


def outside(name, top):
    """Whether a file belongs to no repository, or to another one: what `base` names there is something else."""
    try:
        return git("-C", str(Path(name).parent), "rev-parse", "--show-toplevel") != top
    except subprocess.CalledProcessError:
        return True


def report(base, name, flags, markdown):
    """Prints the change of one model; the exit code of the command."""
    print(f"### `{name}`\n" if markdown else f"{name}:", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        before = version_in(base, name, folder)
        if before is None:
            print("new\n" if markdown else "  new", flush=True)
            return 0
        style = ["--markdown"] if markdown else []
        done = subprocess.run([*ARENAUT, "diff", str(before), name, *style, *flags], check=False)
    print(flush=True)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode  # ended by a signal, as a shell says it


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="arenaut-changes", allow_abbrev=False,
        usage="%(prog)s [-h] [--base BASE] [--only PATTERN] [--markdown] [--FLAG[=VALUE] ...] [FILE ...]",
        description="Size changes of models, or of those that differ from the commit, against another commit. Other "
                    "flags, as --kernels=NAME or --fail-on-growth=2%, go to `arenaut diff`.")
    parser.add_argument("--base", default="HEAD", help="the commit to compare with (HEAD)")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="without files: those that git finds by it")
    parser.add_argument("--markdown", action="store_true", help="tables for a comment or a summary")
    given, rest = parser.parse_known_args(arguments)
    flags = [word for word in rest if word.startswith("-")]
    files = [word for word in rest if not word.startswith("-")]
    try:
        top = git("rev-parse", "--show-toplevel")
    except subprocess.CalledProcessError:
        parser.error("not in the work tree of a repository")
    for name in files:
        if not Path(name).is_file():
            parser.error(f"{name}: no such file (the value of a flag follows '=', as in --fail-on-growth=2%)")
        if outside(name, top):
            parser.error(f"{name}: not in the repository {top.decode(errors='replace').strip()}")
    try:
        git("rev-parse", "--verify", "--quiet", f"{given.base}^{{commit}}")
    except subprocess.CalledProcessError:
        if given.base != "HEAD":
            parser.error(f"{given.base}: no commit of this repository")
        print("no base to compare with: nothing is committed yet")
        return 0
    names = files or changed_since(given.base, given.only)
    return max((report(given.base, name, flags, given.markdown) for name in names), default=0)


if __name__ == "__main__":
    sys.exit(main())
