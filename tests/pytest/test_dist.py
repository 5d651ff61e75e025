"""`make dist`: a source archive that is the same bytes whenever it is made, names its commit, and builds without git."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

from conftest import ROOT

VERSION = re.search('ARENAUT_VERSION "(.*)"', (ROOT / "include/arenaut/version.h").read_text())[1]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Made of a clone, since the checkout under test may have changes; in two time zones and with two masks."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout: an archive is made of a commit")
    clone = tmp_path_factory.mktemp("clone") / "arenaut"
    subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), clone], check=True)
    folders = []
    for zone, mask in (("UTC", 0o022), ("Pacific/Auckland", 0o077)):
        out = tmp_path_factory.mktemp("dist")
        subprocess.run([clone / "scripts" / "dist.sh", out], check=True, env=dict(os.environ, TZ=zone), umask=mask)
        folders.append(out)
    return clone, folders


def test_the_same_bytes_twice(archives):
    _, (first, second) = archives
    names = sorted(path.name for path in first.iterdir())
    assert [name.removeprefix(f"arenaut-{VERSION}.") for name in names] == [
        "notes.md", "spdx.json", "tar.gz", "tar.gz.sha256"]
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_checksum_and_bill_of_materials_are_of_the_archive(archives):
    clone, (out, _) = archives
    archive = next(out.glob("*.tar.gz"))
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert (out / f"{archive.name}.sha256").read_text() == f"{checksum}  {archive.name}\n"
    package, = json.loads(next(out.glob("*.spdx.json")).read_text())["packages"]
    assert package["checksums"] == [{"algorithm": "SHA256", "checksumValue": checksum}]
    assert package["packageFileName"] == archive.name
    assert package["licenseDeclared"] == "Apache-2.0" and "wasi-libc and clang's compiler-rt" in package["comment"]
    head = subprocess.run(["git", "-C", clone, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert package["sourceInfo"] == f"commit {head.stdout.strip()}"


def test_it_holds_the_commit_and_says_so_without_git(archives, tmp_path):
    clone, (out, _) = archives
    with tarfile.open(next(out.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    tree, = tmp_path.iterdir()
    tracked = subprocess.run(["git", "-C", clone, "ls-files"], check=True, capture_output=True, text=True)
    assert sorted(tracked.stdout.split("\n")[:-1]) == sorted(
        str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_symlink() or not path.is_dir())
    cmake = shutil.which("cmake")
    header = tmp_path / "commit.h"
    subprocess.run([cmake, f"-DSOURCE={tree}", f"-DHEADER={header}", "-P", tree / "cmake" / "commit.cmake"], check=True)
    head = subprocess.run(["git", "-C", clone, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert header.read_text() == f'#define ARENAUT_COMMIT "{head.stdout[:12]}"\n'


def test_changes_are_not_left_out_in_silence(archives, tmp_path):
    clone, _ = archives
    changed = tmp_path / "changed"
    shutil.copytree(clone, changed, symlinks=True)
    (changed / "README.md").write_text("changed\n")
    run = subprocess.run([changed / "scripts" / "dist.sh", tmp_path / "out"], capture_output=True, text=True)
    assert run.returncode == 1
    assert "files have changed since commit" in run.stderr
    assert not list((tmp_path / "out").iterdir())


def test_the_notes_are_the_section_of_this_version(archives):
    clone, (out, _) = archives
    notes = (out / f"arenaut-{VERSION}.notes.md").read_text()
    changes = (clone / "CHANGELOG.md").read_text()  # the checkout's may have changed since
    assert notes.strip() and notes in changes
    assert not re.search("^## ", notes, re.M)


def test_recipes_name_the_archive_and_its_checksums(archives):
    clone, (out, _) = archives
    subprocess.run([clone / "scripts" / "recipes.sh", out], check=True)
    archive = (out / f"arenaut-{VERSION}.tar.gz").read_bytes()
    recipes = {path.name: path.read_text() for path in (out / "packaging").glob("*/*")}
    assert not [name for name, text in recipes.items() if re.search("@[A-Z0-9]+@", text)]
    for name in "arenaut.rb", "recipe.yaml", "default.nix":
        assert VERSION in recipes[name] and hashlib.sha256(archive).hexdigest() in recipes[name]
    assert hashlib.sha512(archive).hexdigest() in recipes["portfile.cmake"]
    assert json.loads(recipes["vcpkg.json"])["version-semver"] == VERSION


def test_the_bill_of_materials_of_a_release_has_each_file_and_the_code_inside(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout: a release is made of a commit")
    zig, doc, out = tmp_path / "zig", tmp_path / "doc", tmp_path / "out"
    for path, text in {zig / "lib/libc/musl/COPYRIGHT": "of musl", zig / "lib/libc/mingw/COPYING": "of mingw", zig / "LICENSE": "of zig",
                       doc / "wasi-libc/copyright": "of wasi", doc / "libclang-rt-14-dev-wasm32/copyright": "of clang",
                       doc / "libclang-rt-dev-wasm32/copyright": "of Debian's scripts"}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    binary, windows, archive = (f"arenaut-{VERSION}{end}" for end in ("-x86_64-linux", "-aarch64-windows.exe", ".tar.gz"))
    (out / "python").mkdir(parents=True)
    for name in (binary, windows, archive, f"{archive}.sha256", f"arenaut-{VERSION}.notes.md", "python/arenaut.tar.gz"):
        (out / name).write_text(name)
    made = [sys.executable, ROOT / "scripts" / "sbom.py", out, "--zig", zig, "--doc", doc]
    subprocess.run(made, check=True)
    bill = json.loads((out / f"arenaut-{VERSION}.release.spdx.json").read_text())
    files = {package["packageFileName"]: package for package in bill["packages"] if "packageFileName" in package}
    assert set(files) == {binary, windows, archive, "python/arenaut.tar.gz"}
    for name, package in files.items():
        assert package["checksums"][0]["checksumValue"] == hashlib.sha256(name.encode()).hexdigest()
    names = {package["SPDXID"]: package["name"] for package in bill["packages"]}
    assert len(names) == len(bill["packages"])
    assert {(names[row["spdxElementId"]], names[row["relatedSpdxElement"]]) for row in bill["relationships"]
            if row["relationshipType"] == "STATIC_LINK"} == {
        (binary, "musl"), (binary, "zig-compiler-rt"), (windows, "mingw-w64"), (windows, "zig-compiler-rt"),
        *((name, part) for name in files for part in ("wasi-libc", "clang-compiler-rt"))}  # the page's planner is in all
    assert [row["licenseId"] for row in bill["hasExtractedLicensingInfos"]] == ["LicenseRef-mingw-w64", "LicenseRef-wasi-libc"]
    texts = (out / f"arenaut-{VERSION}.licenses.txt").read_text()
    assert all(text in texts for text in ("of musl", "of mingw", "of zig", "of wasi", "of clang")) and "scripts" not in texts
    (zig / "LICENSE").unlink()
    refused = subprocess.run(made, capture_output=True, text=True)
    assert refused.returncode == 1 and "the licence of zig-compiler-rt, is not there" in refused.stderr


def test_the_release_publishes_the_page_and_the_site():
    made = re.search(r"^release: (.*)\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
    assert "browser" in made[1].split() and "arenaut.html" in made[2] and made[2].endswith("scripts/checksums.sh\n")
    jobs = (ROOT / ".github/workflows/release.yml").read_text()
    assert "- run: make release site\n" in jobs
    assert "os: [windows-2025, macos-15, macos-15-intel]" in jobs and "needs: [build, elsewhere]" in jobs
    for action in "actions/upload-pages-artifact", "actions/deploy-pages", "pypa/gh-action-pypi-publish":
        assert f"uses: {action}@" in jobs


def test_the_files_of_a_release_have_names_of_their_own_and_are_tried_before(tmp_path):
    """GitHub drops folders: of a version that is no candidate the archive and the Python source package are called alike."""
    jobs = (ROOT / ".github/workflows/release.yml").read_text()
    dist = tmp_path / "dist"
    for name in ("arenaut-1.0.0.tar.gz", "python/arenaut-1.0.0.tar.gz", "python/arenaut-1.0.0-win_amd64.whl",
                 "arenaut-1.0.0.notes.md", "packaging/nix/default.nix"):
        (dist / name).parent.mkdir(parents=True, exist_ok=True)
        (dist / name).write_text(name)
    subprocess.run([ROOT / "scripts" / "checksums.sh", dist], check=True)
    found = subprocess.run(["sh", "-c", re.search("find dist .* -print0", jobs)[0]], cwd=tmp_path, check=True, capture_output=True, text=True)
    published = [tmp_path / path for path in found.stdout.split("\0") if path]
    assert sorted(path.name for path in published) == ["SHA256SUMS", "arenaut-1.0.0-win_amd64.whl", "arenaut-1.0.0.tar.gz"]
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    for path in published:
        shutil.copy(path, downloads)
    checked = subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=downloads, check=True, capture_output=True, text=True)
    assert checked.stdout == "arenaut-1.0.0.tar.gz: OK\narenaut-1.0.0-win_amd64.whl: OK\n"
    (dist / "arenaut-1.0.0-win_amd64.whl").write_text("of the same name")
    refused = subprocess.run([ROOT / "scripts" / "checksums.sh", dist], capture_output=True, text=True)
    assert refused.returncode == 1 and "several files are called arenaut-1.0.0-win_amd64.whl" in refused.stderr
    for job in "pages", "github", "pypi":
        assert re.search(rf"^  {job}:\n    needs: \[build, elsewhere\]$", jobs, re.M), job


@pytest.mark.parametrize("path, pattern", [
    ("CITATION.cff", r"^version: (.*)$"), ("docs/how.md", r"version = \{(.*)\},$"),
    ("integrations/esp_idf/arenaut/idf_component.yml", r'^version: "(.*)"$'),
    ("examples/size_changes/pre-commit-config.yaml", r"rev: v(.*)$"),
    ("examples/size_changes/workflow.yml", r"arenaut/arenaut@v(.*)$"), ("docs/diff.md", r"rev: v(.*)$"),
    ("docs/diff.md", r"arenaut/arenaut@v(.*)$"), ("CHANGELOG.md", r"^## (\S+) "),
    ("debian/changelog", r"^arenaut \((.*)\)")])
def test_every_file_names_the_same_version(path, pattern):
    found = re.search(pattern, (ROOT / path).read_text(), re.M)[1]
    assert found.replace("~", "-") == VERSION


def test_links_and_pictures_of_the_readme_are_followed_by_pypi_too():
    """It has the text alone; pages and pictures are in the repository under those names."""
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", (ROOT / "README.md").read_text())
    assert {picture for picture, _ in links} == {"", "!"}
    for picture, link in links:
        start, _, path = link.partition("/main/")
        assert start == ("https://raw.githubusercontent.com/arenaut/arenaut" if picture else
                         "https://github.com/arenaut/arenaut/blob") and (ROOT / path).is_file(), link


LICENSED = [("debian/copyright", "planner.txt"), ("packaging/conda/recipe.yaml", "planner.licenses.txt"),
            ("packaging/homebrew/arenaut.rb", "planner.licenses.txt"), ("packaging/nix/default.nix", "planner.licenses.txt"),
            ("packaging/vcpkg/portfile.cmake", "planner.licenses.txt"), ("pyproject.toml", "planner.licenses.txt")]


@pytest.mark.parametrize("path, file", LICENSED)
def test_every_package_names_the_licences_of_the_code_in_the_planner_of_the_page(path, file):
    assert f"explorer/dist/{file}" in (ROOT / path).read_text()
    texts = (ROOT / "explorer/dist/planner.licenses.txt").read_text()
    assert all(f"({name})" in texts for name in ("CC0-1.0", "MIT", "BSD-2-Clause", "Apache-2.0 WITH LLVM-exception"))
    if path == "packaging/vcpkg/portfile.cmake":  # beside its own, vcpkg.json says which
        path = "packaging/vcpkg/vcpkg.json"
    named = (ROOT / path).read_text().lower()
    assert all(re.search(rf"\b{name}", named) for name in ("cc0", "mit", "bsd-?2", "llvm-exception"))
