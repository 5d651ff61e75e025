#!/bin/sh
# The recipes of packaging/ with the version and the checksums of the archive that `make dist` wrote, beside it.
#
#     scripts/recipes.sh [OUT]
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/dist}
version=$(sed -n 's/^#define ARENAUT_VERSION "\(.*\)"$/\1/p' include/arenaut/version.h)
archive=$out/arenaut-$version.tar.gz
sha256=$(sha256sum "$archive" | cut -d' ' -f1)
sha512=$(sha512sum "$archive" | cut -d' ' -f1)
for recipe in packaging/*/*; do
    mkdir -p "$out/$(dirname "$recipe")"
    sed "s/@VERSION@/$version/g; s/@SHA256@/$sha256/g; s/@SHA512@/$sha512/g" "$recipe" >"$out/$recipe"
done
