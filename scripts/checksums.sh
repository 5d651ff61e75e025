#!/bin/sh
# SHA256SUMS of the files that a release shows for download, by their names alone: a browser keeps no folders, and
# `sha256sum -c` is to find them where they came to lie. Left out are recipes, notes and the Python source package (PyPI has
# it), which may be called as the archive is.
#
#     scripts/checksums.sh [OUT]
set -eu
cd "$(dirname "$0")/.."
cd "${1:-build/dist}"
sums=$(find . -type f ! -path './packaging/*' ! -path './python/*.tar.gz' ! -name '*.notes.md' ! -name SHA256SUMS |
    LC_ALL=C sort | xargs sha256sum | sed 's,  .*/,  ,')
same=$(echo "$sums" | cut -c67- | LC_ALL=C sort | uniq -d)
if [ -n "$same" ]; then
    echo "$0: several files are called $same" >&2
    exit 1
fi
echo "$sums" >SHA256SUMS
