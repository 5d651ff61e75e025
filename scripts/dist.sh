#!/bin/sh
# The source archive of the present commit, the same bytes whenever and wherever it is made, with its
# checksum, a bill of materials (SPDX 2.3) and the notes of CHANGELOG.md, into build/dist or OUT.
# The commit is asked for once, since the branch may move meanwhile.
#
#     scripts/dist.sh [OUT]
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/dist}
mkdir -p "$out"
version=$(sed -n 's/^#define ARENAUT_VERSION "\(.*\)"$/\1/p' include/arenaut/version.h)
name=arenaut-$version
commit=$(git rev-parse HEAD)
if ! git diff --quiet "$commit"; then
    echo "$0: files have changed since commit $commit, and would not be in the archive" >&2
    exit 1
fi
git show "$commit:CHANGELOG.md" | sed -n "/^## $version\\b/,/^## /{/^## /d;p}" >"$out/$name.notes.md"
if ! [ -s "$out/$name.notes.md" ]; then
    echo "$0: CHANGELOG.md has no section '## $version'" >&2
    exit 1
fi
git -c tar.umask=0022 archive --format=tar --prefix="$name/" "$commit" | gzip -n9 >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
checksum=$(cut -d' ' -f1 "$out/$name.tar.gz.sha256")
created=$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd "$commit")
# The library and the command hold no code but their own (docs/dependencies.md), and what the planner of the page was linked
# with; the bill of a release (scripts/sbom.py) has that and its licences.
cat >"$out/$name.spdx.json" <<JSON
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "$name",
  "documentNamespace": "https://spdx.org/spdxdocs/$name-$commit",
  "creationInfo": {"created": "$created", "creators": ["Tool: scripts/dist.sh"]},
  "packages": [{
    "name": "arenaut",
    "SPDXID": "SPDXRef-arenaut",
    "versionInfo": "$version",
    "packageFileName": "$name.tar.gz",
    "sourceInfo": "commit $commit",
    "downloadLocation": "NOASSERTION",
    "filesAnalyzed": false,
    "checksums": [{"algorithm": "SHA256", "checksumValue": "$checksum"}],
    "licenseConcluded": "NOASSERTION",
    "licenseDeclared": "$(sed -n 's/^SPDX-License-Identifier: //p' LICENSE)",
    "copyrightText": "NOASSERTION",
    "comment": "explorer/dist/planner.txt is WebAssembly that was linked with wasi-libc and clang's compiler-rt",
    "primaryPackagePurpose": "SOURCE"
  }],
  "relationships": [{
    "spdxElementId": "SPDXRef-DOCUMENT",
    "relationshipType": "DESCRIBES",
    "relatedSpdxElement": "SPDXRef-arenaut"
  }]
}
JSON
