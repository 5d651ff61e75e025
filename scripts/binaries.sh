#!/bin/sh
# The command as one file that needs nothing of the system that it runs on, for Linux (musl, static) and Windows,
# into build/dist.
#
#     scripts/binaries.sh [TARGET...]      e.g. x86_64-linux-musl
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/dist
version=$(sed -n 's/^#define ARENAUT_VERSION "\(.*\)"$/\1/p' include/arenaut/version.h)
. scripts/zig_tools.sh

binary() {
    zig=$PWD/build/zig/$1
    zig_tools "$1" "$zig"
    machine=${1%%-*}
    case $1 in
    *-windows-*) system=Windows ending=.exe name=arenaut-$version-$machine-windows.exe ;;
    *) system=Linux ending="" name=arenaut-$version-$machine-linux ;;
    esac
    CC=$zig/cc cmake -S . -B "$zig/command" -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXE_LINKER_FLAGS="-static -s" \
        -DCMAKE_SYSTEM_NAME=$system -DCMAKE_SYSTEM_PROCESSOR="$machine" -DCMAKE_AR="$zig/ar" -DCMAKE_RANLIB=true >/dev/null
    cmake --build "$zig/command" --target arenaut_tool -j"$(nproc)" >/dev/null
    cp "$zig"/command/arenaut"$ending" "$out/$name"
    if [ -z "$ending" ] && readelf -d "$out/$name" | grep -q NEEDED; then
        echo "$0: $name is not static" >&2
        exit 1
    fi
    echo "$out/$name"
}

zig_install
mkdir -p "$out"
if [ $# -eq 0 ]; then set -- x86_64-linux-musl aarch64-linux-musl x86_64-windows-gnu aarch64-windows-gnu; fi
for target in "$@"; do binary "$target"; done
