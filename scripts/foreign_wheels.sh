#!/bin/sh
# Runs what `make wheel` built for others: the commands of the wheels for musl and aarch64, and on aarch64 the
# examples of docs/python.md in Python. Their C libraries and a Python are Debian's, in a folder of their own
# (build/foreign); QEMU plays the processor. For musl Debian has no Python, so there the command answers alone.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/foreign
work=$PWD/build/foreign-run
model=$PWD/tests/data/inception_int8.tflite
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
    *) echo "$0: $name is for nothing that can be played here" >&2; exit 2 ;;
    esac
}

build/arenaut size "$model" >build/foreign.expected
played=0
for wheel in build/dist/python/arenaut-*.whl; do
    [ -f "$wheel" ] || { echo "$0: no wheels: make wheel" >&2; exit 2; }
    rm -rf "$work"
    mkdir -p "$work"
    python3 -m zipfile -e "$wheel" "$work/package"
    chmod +x "$work/package/arenaut/bin/arenaut"
    play "$wheel" "$work/package/arenaut/bin/arenaut" size "$model" >"$work/size"
    cmp "$work/size" build/foreign.expected
    case $wheel in
    *manylinux*aarch64*)
        cp "$model" "$work/model.tflite"
        (cd "$work" && PYTHONPATH=package qemu-aarch64-static -L "$root" "$root"/usr/bin/python3.11 -m doctest \
            ../../docs/python.md)
        echo "$wheel: the same answer, and the examples of docs/python.md"
        ;;
    *) echo "$wheel: the same answer" ;;
    esac
    played=$((played + 1))
done
echo "$played wheels"
