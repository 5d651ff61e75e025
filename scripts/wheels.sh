#!/bin/sh
# The wheels that go to users: for glibc 2.17 and for musl, on x86_64 and aarch64, all from here, with
# the compiler that the package ziglang holds. They end in build/dist/python, beside the source package.
#
#     scripts/wheels.sh [TARGET...]      e.g. x86_64-linux-gnu.2.17
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/build/venv-wheel/bin
out=$PWD/build/dist/python

. scripts/zig_tools.sh

# What pip calls the platform: manylinux_2_17_x86_64, musllinux_1_2_aarch64.
platform() {
    machine=${1%%-*}
    case $1 in
    *-gnu.2.*) echo "manylinux_2_${1##*.}_$machine" ;;
    *-musl) echo "musllinux_1_2_$machine" ;;
    *) echo "$0: a target is MACHINE-linux-gnu.2.N or MACHINE-linux-musl, not $1" >&2; exit 2 ;;
    esac
}

# Refuses a wheel whose files ask for more than its name says. What is built for musl auditwheel can
# only judge where musl is: there the C library, and nothing else, may be needed.
audit() {
    case $1 in
    *-musl)
        needed=$(for file in libarenaut.so libarenaut-replay.so arenaut; do
            readelf -d "$3/build/$file"
        done | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | tr '\n' ' ')
        if [ "$needed" != "libarenaut.so libc.so " ]; then
            echo "$0: $1: needs $needed" >&2
            exit 1
        fi
        ;;
    *)
        "$bin/auditwheel" show "$3"/dist/*.whl >"$3/audit"
        tr '\n' ' ' <"$3/audit" | grep -q "\"$2\"" || { cat "$3/audit"; exit 1; }
        ;;
    esac
}

wheel() {
    zig=$PWD/build/zig/$1
    machine=${1%%-*}
    tag=$(platform "$1")
    zig_tools "$1" "$zig"
    rm -rf "$zig/dist"
    CC=$zig/cc _PYTHON_HOST_PLATFORM=linux-$machine "$bin/python" -m pip -q wheel \
        --disable-pip-version-check --no-build-isolation --no-deps . -w "$zig/dist" \
        -Cbuild-dir="$zig/build" -Ccmake.define.CMAKE_SYSTEM_NAME=Linux \
        -Ccmake.define.CMAKE_SYSTEM_PROCESSOR="$machine" -Ccmake.define.CMAKE_AR="$zig/ar" \
        -Ccmake.define.CMAKE_RANLIB=true
    "$bin/python" -m wheel tags --remove --platform-tag "$tag" "$zig"/dist/*.whl >/dev/null
    audit "$1" "$tag" "$zig"
    if [ "$(cat "$zig"/dist/*.whl | wc -c)" -ge 2000000 ]; then # what it was built with to debug is left out
        echo "$0: $1: the wheel is larger than 2 MB" >&2
        exit 1
    fi
    mv "$zig"/dist/*.whl "$out"
}

zig_install
mkdir -p "$out"
if [ $# -eq 0 ]; then
    set -- x86_64-linux-gnu.2.17 aarch64-linux-gnu.2.17 x86_64-linux-musl aarch64-linux-musl
fi
for target in "$@"; do wheel "$target"; done
"$bin/python" -m build -q --no-isolation --sdist -o "$out" .
"$bin/twine" check --strict "$out"/arenaut-*
ls -l "$out"
