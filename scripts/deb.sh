#!/bin/sh
# Debian's packages, made of the archive that `make dist` wrote, held against lintian, installed in a Debian that
# holds nothing else, and tried there. They end beside the archive.
#
#     scripts/deb.sh [OUT]      as root, for the Debian that they are tried in
set -eu
cd "$(dirname "$0")/.."
dist=$(realpath "${1:-build/dist}")
version=$(sed -n 's/^#define ARENAUT_VERSION "\(.*\)"$/\1/p' include/arenaut/version.h)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

tar -xzf "$dist/arenaut-$version.tar.gz" -C "$work"
cd "$work/arenaut-$version"
DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" quietly dpkg-buildpackage -us -uc
# The project has no address for mail yet.
lintian --allow-root --fail-on error,warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$work"/*.changes
echo "lintian: clean"

mkdir "$work/clean"
quietly mmdebstrap --variant=minbase --include=cmake,gcc,libc6-dev,pkgconf bookworm "$work/clean"
cp "$work"/*.deb "$work/clean/tmp"
cp -r "$work/arenaut-$version" "$work/clean/tmp/arenaut"
quietly chroot "$work/clean" sh -ec 'dpkg -i /tmp/*.deb; cd /tmp/arenaut; debian/tests/plans-a-model'
echo "installed in a clean Debian: a model planned and checked, a program built"
cp "$work"/*.deb "$work"/*.dsc "$work"/*.tar.* "$dist"
