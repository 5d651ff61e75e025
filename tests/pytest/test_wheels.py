"""scripts/wheels.sh, which `make wheel` runs: what it packs, and what it refuses. Programs that build and look at a
wheel for Windows have stand-ins, and test_wheel.py builds a real one; `make wheel` builds all."""

import os
import shutil
import subprocess

import pytest
from conftest import ROOT

TIME = 1_234_567_890

# Says what is packed, and with which time; pip leaves a wheel behind -w.
PYTHON = """#!/bin/sh
echo "$SOURCE_DATE_EPOCH $*" >>packed
while [ $# -gt 0 ]; do
    if [ "$1" = -w ]; then mkdir -p "$2" && echo wheel >"$2/arenaut-1-py3-none-win_amd64.whl"; fi
    shift
done
"""

OBJDUMP = """#!/bin/sh
printf '\\tDLL Name: %s\\n' KERNEL32.dll SHELL32.dll libarenaut.dll msvcrt.dll
printf '\\nExport Address Table -- Ordinal Base 1\\n\\t[   0] +base[   1] 137b Export RVA\\n'
printf '\\n[Ordinal/Name Pointer] Table\\n'
cat tests/abi/symbols.txt exported_too | sed 's/^/\\t[   0] ENTRY/'
printf '\\nThe Function Table\\n\\t[   1] none\\n'
"""


@pytest.fixture(params=["", "+base[   1]  0000 "], ids=["names", "ordinals-and-names"], name="tree")
def unpacked(request, tmp_path):
    """A source archive, unpacked."""
    for name in "scripts/wheels.sh", "scripts/zig_tools.sh", "tests/abi/symbols.txt", "pyproject.toml":
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    os.utime(tmp_path / "pyproject.toml", (TIME, TIME))
    for name, text in [("build/venv-wheel/bin/python", PYTHON), ("build/venv-wheel/bin/twine", "#!/bin/sh\n"),
                       ("path/x86_64-w64-mingw32-objdump", OBJDUMP.replace("ENTRY", request.param))]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "exported_too").touch()
    (tmp_path / ".gitignore").write_text("/build\n/path\n/packed\n/exported_too\n")
    return tmp_path


def wheels(tree, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    environment |= {"PATH": f"{tree / 'path'}:{os.environ['PATH']}"}
    done = subprocess.run([tree / "scripts" / "wheels.sh", "x86_64-w64-mingw32"], check=False, text=True,
                          capture_output=True, env={**kept, **environment}, timeout=60)
    packed = (tree / "packed").read_text().splitlines() if (tree / "packed").exists() else []
    return done, packed


def checked_in(tree):
    for words in ["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]:
        subprocess.run(["git", "-c", "user.name=none", "-c", "user.email=none@example.org", *words], cwd=tree, check=True,
                       env={**os.environ, "GIT_COMMITTER_DATE": f"{TIME + 5} +0000"})


def test_an_unpacked_archive_is_packed_with_its_own_time(tree):
    done, packed = wheels(tree)
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in packed} == {str(TIME)} and packed[-1].endswith("build/dist/python .")
    assert (tree / "build/dist/python/arenaut-1-py3-none-win_amd64.whl").exists()


def test_a_checkout_is_packed_with_the_time_of_its_commit_or_the_one_that_is_asked_for(tree):
    checked_in(tree)
    done, packed = wheels(tree)
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in packed} == {str(TIME + 5)} and packed[-1].endswith("build/dist/python build/sdist")
    done, packed = wheels(tree, SOURCE_DATE_EPOCH="77")
    assert done.returncode == 0 and packed[-1].split()[0] == "77"


@pytest.mark.parametrize("changed", ["pyproject.toml", "src/new.c"])
def test_a_changed_checkout_is_refused_before_any_work(tree, changed):
    checked_in(tree)
    (tree / changed).parent.mkdir(exist_ok=True)
    (tree / changed).write_text("changed")
    done, packed = wheels(tree)
    assert done.returncode == 1 and "files have changed since commit" in done.stderr and not packed


@pytest.mark.parametrize("name", ["Stray", "stray@4", "stray.cold"])
def test_a_stray_export_of_any_spelling_is_refused(tree, name):
    (tree / "exported_too").write_text(f"{name}\n")
    done, _ = wheels(tree)
    assert done.returncode != 0 and f"> {name}\n" in done.stdout
