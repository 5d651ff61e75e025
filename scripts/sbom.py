"""The bill of materials of a release (SPDX 2.3): each file with its checksum, and the foreign code that is linked
statically into it. Beside it the licences of that code, which go with the files.

    scripts/sbom.py [OUT] [--zig FOLDER] [--doc FOLDER]      the package ziglang, of build/venv-wheel; Debian's /usr/share/doc
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What the compiler brings: name, licence, and its text in ziglang or in the documentation of a Debian (a pattern: of clang,
#: the package without a number has the licence of Debian's own scripts).
MUSL = ("musl", "MIT", "zig:lib/libc/musl/COPYRIGHT")
MINGW = ("mingw-w64", "LicenseRef-mingw-w64", "zig:lib/libc/mingw/COPYING")
ZIG = ("zig-compiler-rt", "MIT", "zig:LICENSE")
WASI = ("wasi-libc", "LicenseRef-wasi-libc", "doc:wasi-libc/copyright")
CLANG = ("clang-compiler-rt", "Apache-2.0 WITH LLVM-exception", "doc:libclang-rt-[0-9]*-dev-wasm32/copyright")
DEBIAN_MINGW = ("debian-mingw-w64", "LicenseRef-debian-mingw-w64", "doc:mingw-w64-x86-64-dev/copyright")
GCC = ("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "doc:gcc-mingw-w64-x86-64-win32-runtime/copyright")
#: In the sources, and so in all that is made of them: the planner of the page, for WebAssembly (explorer/dist/planner.txt).
PLANNER = [WASI, CLANG]
#: By the names of files; what a system's own libraries are to bring is no part of them.
INSIDE = {"*-linux": [MUSL, ZIG], "*-windows.exe": [MINGW, ZIG],
          "*-win_amd64.whl": [DEBIAN_MINGW, GCC], "*linux_*.whl": [ZIG]}
NO_PARTS = ("*.sha256", "SHA256SUMS", "*.spdx.json", "*.notes.md", "*.licenses.txt", "packaging/*")


def inside(path):
    return PLANNER + next((parts for pattern, parts in INSIDE.items() if fnmatch(path.name, pattern)), [])


def licence_of(part, folders):
    folder, _, place = part[2].partition(":")
    found = sorted(folders[folder].glob(place))
    if not found:
        sys.exit(f"{sys.argv[0]}: {folders[folder] / place}, the licence of {part[0]}, is not there")
    return found[-1].read_text(encoding="utf-8", errors="replace").strip()


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def package(name, version, licence, **more):
    return {"name": name, "SPDXID": identifier(name), "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True,
                          env={**os.environ, "TZ": "UTC"}).stdout.strip()


def bill(out, version, paths, texts):
    commit, created = git("rev-parse", "HEAD"), git("log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd")
    packages, relations = [], []
    for path in paths:
        name = str(path.relative_to(out))
        checksum = {"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}
        packages.append(package(name, version, "Apache-2.0", packageFileName=name, checksums=[checksum],
                                sourceInfo=f"commit {commit}"))
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", identifier(name)))
        relations += [(identifier(name), "STATIC_LINK", identifier(part[0])) for part in inside(path)]
    packages += [package(name, "NOASSERTION", licence) for name, licence in sorted((part[0], part[1]) for part in texts)]
    own = [{"licenseId": part[1], "extractedText": text} for part, text in texts.items() if part[1].startswith("LicenseRef-")]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"arenaut-{version}-release",
            "documentNamespace": f"https://spdx.org/spdxdocs/arenaut-{version}-release-{commit}",
            "creationInfo": {"created": created, "creators": ["Tool: scripts/sbom.py"]}, "packages": packages,
            "hasExtractedLicensingInfos": own,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "dist")
    parser.add_argument("--zig", type=Path)
    parser.add_argument("--doc", type=Path, default=Path("/usr/share/doc"))
    given = parser.parse_args()
    zig = given.zig or next((ROOT / "build" / "venv-wheel").glob("lib/python3*/site-packages/ziglang"), Path("ziglang"))
    version = re.search('ARENAUT_VERSION "(.*)"', (ROOT / "include/arenaut/version.h").read_text())[1]
    paths = sorted(path for path in given.out.rglob("*") if path.is_file()
                   and not any(fnmatch(str(path.relative_to(given.out)), pattern) for pattern in NO_PARTS))
    texts = {part: licence_of(part, {"zig": zig, "doc": given.doc}) for part in sorted({part for path in paths for part in inside(path)})}
    start = given.out / f"arenaut-{version}"
    Path(f"{start}.release.spdx.json").write_text(json.dumps(bill(given.out, version, paths, texts), indent=1) + "\n")
    Path(f"{start}.licenses.txt").write_text("".join(
        f"==== {part[0]} ({part[1]})\n\n{text}\n\n" for part, text in texts.items()))


if __name__ == "__main__":
    main()
