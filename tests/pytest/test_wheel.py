"""The Python package as users get it: a wheel is built from this checkout, audited, and installed
into clean environments of two Pythons, one with numpy and one without; tests/python runs there."""

import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

from drawn import at_night

TOOLS = ROOT / "build" / "venv-wheel" / "bin"
WORK = ROOT / "build" / "wheel"  # kept, so that a second run compiles little
TESTS = ROOT / "tests" / "python"
TYPING = ROOT / "tests" / "typing"
ENGINES = ROOT / "tests" / "requirements-engines.txt"


def run(*command, **options):
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              timeout=900, check=False, **options)
    except subprocess.TimeoutExpired as late:
        said = [(text or b"").decode()[-4000:] for text in (late.stdout, late.stderr)]
        pytest.fail("\n".join([f"{late}", *said]), pytrace=False)
    if done.returncode != 0:
        pytest.fail(f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}", pytrace=False)
    return done.stdout


@pytest.fixture(scope="module")
def wheel():
    if not (TOOLS / "auditwheel").is_file():
        pytest.fail("build/venv-wheel is missing: make venv-wheel")
    shutil.rmtree(WORK / "dist", ignore_errors=True)
    launcher = ["-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run(TOOLS / "python", "-m", "pip", "wheel", "--no-build-isolation", "--no-deps",
        f"-Cbuild-dir={WORK / 'out'}", "-Ccmake.define.ARENAUT_WERROR=ON", *launcher, "-w", WORK / "dist", ROOT)
    [path] = (WORK / "dist").glob("*.whl")
    return path


def test_one_wheel_serves_every_python(wheel):
    assert re.fullmatch(r"arenaut-[0-9.]+(rc[0-9]+)?-py3-none-linux_\w+\.whl", wheel.name)
    assert wheel.stat().st_size < 2_000_000
    assert "manylinux_2_" in run(TOOLS / "auditwheel", "show", wheel)
    assert "PASSED" in run(TOOLS / "twine", "check", "--strict", wheel)
    with zipfile.ZipFile(wheel) as package:
        names = package.namelist()
        [metadata] = [package.read(name).decode() for name in names if name.endswith("/METADATA")]
    # Under a name with a version, to which the plain one is a link, a library would be there twice.
    assert len(names) == len(set(names)) and [name for name in names if "libarenaut.so" in name] == ["arenaut/libarenaut.so"]
    extras = set(re.findall(r"^Provides-Extra: (\w+)", metadata, re.MULTILINE))
    assert extras == {"torch", "executorch", "inductor", "tinygrad", "dask", "ray", "notebook"}
    assert not [line for line in metadata.splitlines()
                if line.startswith("Requires-Dist") and "extra ==" not in line]


REQUIREMENTS = sorted((ROOT / "tests").glob("requirements*.txt"))
USED = {"torch": {"torch"}, "executorch": {"executorch", "torch"}, "inductor": {"torch"}, "tinygrad": {"tinygrad"},
        "dask": {"distributed"}, "ray": {"ray"}, "notebook": {"ipython", "tqdm"}}


def test_extras_name_all_that_is_imported_in_versions_that_are_tested(wheel):
    with zipfile.ZipFile(wheel) as package:
        [metadata] = [package.read(name).decode() for name in package.namelist() if name.endswith("/METADATA")]
    wanted = re.findall(r"^Requires-Dist: (\w+)(?:\[\w+\])?([^;]*); extra == [\"'](\w+)", metadata, re.MULTILINE)
    named = {extra: {name for name, _, of in wanted if of == extra} for *_, extra in wanted}
    assert named == USED
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", "".join(path.read_text() for path in REQUIREMENTS), re.MULTILINE))
    checked = [f"from packaging.specifiers import SpecifierSet as S; print({pinned[name]!r} in S({versions.strip()!r}))"
               for name, versions, _ in wanted if name in pinned]
    assert len(checked) >= 5
    for code in checked:
        assert run(TOOLS / "python", "-c", code) == "True\n", code


def test_nothing_to_debug_with_is_in_it(wheel, tmp_path):
    shutil.unpack_archive(wheel, tmp_path, "zip")
    for name in "libarenaut.so", "libarenaut-replay.so", "bin/arenaut":
        listed = run("readelf", "-SW", tmp_path / "arenaut" / name)
        assert ".text" in listed and ".debug_info" not in listed and ".symtab" not in listed, name


def copy_of_the_checkout(folder):
    """What git does not ignore, and something built: to pack the checkout itself, all of build/ is walked."""
    for name in run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "build").mkdir()
    (folder / "build" / "left.c").write_bytes(random.Random(0).randbytes(4_000_000))
    return folder


def test_the_source_package_holds_what_building_needs(wheel, tmp_path):
    run(TOOLS / "python", "-m", "build", "--no-isolation", "--sdist", "-o", tmp_path, copy_of_the_checkout(tmp_path / "checkout"))
    [packed] = tmp_path.glob("*.tar.gz")
    assert packed.stat().st_size < 3_000_000  # what lies about in the checkout is not part of it
    shutil.unpack_archive(packed, tmp_path)
    [tree] = [path for path in tmp_path.glob("arenaut-*") if path.is_dir()]
    wanted = ["CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "PKG-INFO"]
    for folder in "cmake", "explorer/dist", "include", "preload", "python", "src", "tools":
        wanted += [str(path) for path in run("git", "ls-files", folder, cwd=ROOT).splitlines()]
    assert not [name for name in wanted if not (tree / name).is_file()]
    assert not (tree / "tests").exists()
    run("cmake", "-S", tree, "-B", tmp_path / "out", "-DSKBUILD=2")


def works(python):
    return subprocess.run([python, "-c", "import ensurepip, venv, ctypes"], capture_output=True,
                          check=False).returncode == 0


def pythons():
    """This Python, and another one, where there is one that works: on the PATH, or installed next to
    this one."""
    own = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    names = [name for minor in (10, 12, 13, 14, 11) if (name := f"python3.{minor}") != own]
    others = [found for name in names
              for found in [shutil.which(name), *Path(sys.base_prefix).parent.glob(f"*/bin/{name}")]
              if found]
    other = next(filter(works, others), None)
    skip = pytest.mark.skip(reason="there is no second Python from 3.10 on here")
    engines = (("[dask]", own), ("[ray]", "ray"))
    of_own = [pytest.param((sys.executable, (engine,), ["pytest", "numpy"]), id=name) for engine, name in engines]
    return [of_own[0], at_night(of_own[1]),
            at_night(pytest.param((other, (), ["pytest"]), id="another", marks=[] if other else skip))]


@pytest.fixture(params=pythons(), name="installed")
def installed_in_a_clean_environment(request, wheel, tmp_path):
    interpreter, engines, packages = request.param
    run(interpreter, "-m", "venv", "--without-pip", tmp_path / "venv")  # to make one takes longer than to use another's
    python = tmp_path / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile", "--disable-pip-version-check",
               "-c", ENGINES]
    run(*install, wheel, *packages)
    return python, [extra for extra in engines if not has_engine(install, f"{wheel}{extra}")]


def has_engine(install, wanted):
    """Installs an engine; whether there is a wheel of it for this machine."""
    done = subprocess.run([*install, "--only-binary", ":all:", wanted], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode and "No matching distribution found" not in done.stderr:
        pytest.fail(f"{wanted}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}", pytrace=False)
    return done.returncode == 0


def test_an_engine_that_is_left_out_is_seen():
    install = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-index"]
    assert not has_engine(install, "an-engine-without-a-wheel")
    with pytest.raises(pytest.fail.Exception, match="not a valid wheel filename"):
        has_engine(install, "./broken.whl")


def test_it_works_where_it_was_installed(installed, tmp_path):
    python, left_out = installed
    # Neither the checkout nor the environment of this test may lend a hand.
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("ARENAUT", "PYTHON", "LD_"))}
    out = run(python, "-m", "pytest", TESTS, "-q", "-rs", "-p", "no:cacheprovider",
              "-o", "faulthandler_timeout=300", cwd=tmp_path,  # says where it is when it hangs
              env={**clean, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")})
    print(out)  # shown with -s: the names and the skips
    assert " passed" in out
    if left_out:
        pytest.skip(f"no wheel for this machine of {', '.join(left_out)}; the other tests passed")


def test_programs_of_users_are_typed(wheel, tmp_path):
    package = tmp_path / "site"
    shutil.unpack_archive(wheel, package, "zip")
    for least in "3.10", "3.14":
        out = check_types(package, "--strict", f"--python-version={least}", TYPING / "user.py").stdout
        assert "Success" in out, out
    found = check_types(package, TYPING / "wrong.py").stdout
    refused = {int(line.split(":")[1]) for line in found.splitlines() if ": error: " in line}
    lines = (TYPING / "wrong.py").read_text().splitlines()
    assert refused == {k for k, line in enumerate(lines, 1) if line.startswith("arenaut.")}, found


def check_types(package, *arguments):
    """mypy as a user has it, who is not told what is wrong inside of packages."""
    return subprocess.run([TOOLS / "mypy", "--follow-imports=silent", *arguments], capture_output=True,
                          text=True, check=False, env={**os.environ, "MYPYPATH": str(package)})
