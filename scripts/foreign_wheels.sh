#!/bin/sh
# Runs what `make wheel` built for others: the commands of the wheels for musl, aarch64 and Windows, and on aarch64
# the examples of docs/python.md in Python. Their C libraries and a Python are Debian's, in a folder of their own
# (build/foreign); QEMU plays the processor, and wine plays Windows. For musl and for Windows Debian has no Python:
# there the command answers alone, by the wheel's library for Windows, in which all public functions are found.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/foreign
work=$PWD/build/foreign-run
model=$PWD/tests/data/inception_int8.tflite
WINEPREFIX=$(mktemp -d) # not in the checkout: see scripts/windows.sh
export WINEPREFIX WINEDEBUG=-all
trap 'wineserver -k -w || true; rm -rf "$WINEPREFIX"' EXIT
host=$(uname -m)
if [ "$host" != x86_64 ]; then echo "$0: plays aarch64 on x86_64, and this is $host" >&2; exit 2; fi

if [ ! -d "$root" ]; then # a folder by this name is whole
    rm -rf "$root.part"
    mmdebstrap --quiet --variant=extract --architectures=arm64,amd64 \
        --include=python3-minimal:arm64,libpython3-stdlib:arm64,musl:arm64,musl:amd64,libc6:amd64 bookworm \
        "$root.part" http://deb.debian.org/debian
    mv "$root.part" "$root"
fi

# The command $2... of a wheel, started as its machine and C library need it.
play() {
    name=$1
    shift
    case $name in
    *musllinux*x86_64*) "$root/lib/ld-musl-x86_64.so.1" "$@" ;;
    *musllinux*aarch64*) qemu-aarch64-static -L "$root" "$root/lib/ld-musl-aarch64.so.1" "$@" ;;
    *manylinux*aarch64*) qemu-aarch64-static -L "$root" "$@" ;;
    *manylinux*x86_64*) "$@" ;;
    *win_amd64*) wine "$@" ;;
    *) echo "$0: $name is for nothing that can be played here" >&2; exit 2 ;;
    esac
}

# Wine's own processes keep what they began with open, so they are begun first, and stay.
{ wineserver -p && wine cmd /c ver; } >build/foreign-wine.log 2>&1 || true

build/arenaut size "$model" >build/foreign.expected
build/arenaut plan "$model" -q -f -o build/foreign.tflite
played=0
for wheel in build/dist/python/arenaut-*.whl; do
    [ -f "$wheel" ] || { echo "$0: no wheels: make wheel" >&2; exit 2; }
    rm -rf "$work"
    mkdir -p "$work"
    python3 -m zipfile -e "$wheel" "$work/package"
    case $wheel in *win_amd64*) ending=.exe ;; *) ending="" ;; esac
    command=$work/package/arenaut/bin/arenaut$ending
    chmod +x "$command"
    play "$wheel" "$command" size "$model" >"$work/size"
    cmp "$work/size" build/foreign.expected
    play "$wheel" "$command" plan "$model" -q -f -o "$work/plan.tflite"
    cmp "$work/plan.tflite" build/foreign.tflite
    case $wheel in
    *manylinux*aarch64*)
        cp "$model" "$work/model.tflite"
        (cd "$work" && PYTHONPATH=package qemu-aarch64-static -L "$root" "$root"/usr/bin/python3.11 -m doctest \
            ../../docs/python.md)
        echo "$wheel: the same answer, and the examples of docs/python.md"
        ;;
    *win_amd64*)
        x86_64-w64-mingw32-gcc -Wall -Werror tests/foreign/load.c -o "$work/load.exe"
        found=$(wine "$work/load.exe" "$work/package/arenaut/bin/libarenaut.dll" <tests/abi/symbols.txt) ||
            { echo "$found"; exit 1; }
        CC=x86_64-w64-mingw32-gcc build/venv/bin/python -m pytest -q tests/pytest/test_python_layout.py
        echo "$wheel: the same answer, the records of Python as mingw-w64 lays them out, $found"
        ;;
    *) echo "$wheel: the same answer" ;;
    esac
    played=$((played + 1))
done
echo "$played wheels"
