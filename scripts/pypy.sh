#!/bin/sh
# The tests of the installed package with PyPy: Debian's of these days is for Python 3.9, so that of the next
# release runs, in a folder of its own (build/pypy, which needs root to be made and entered). Free-threaded
# CPython is in no release of Debian; PYTHON=/path/to/python3.13t runs the tests with that instead.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/pypy
mkdir -p build/pypy-wheel
rm -f build/pypy-wheel/*.whl
python3 -m pip -q --disable-pip-version-check wheel --no-deps -w build/pypy-wheel .

# Runs the tests in the folder $1, which holds wheel and tests, with the Python $2.
# shellcheck disable=SC2016  # another shell expands it
run='cd "$1" && "$2" -m venv venv && venv/bin/python -m pip -q install ./*.whl pytest &&
    venv/bin/python -m pytest tests/python -q -rs -p no:cacheprovider'
fill() {
    rm -rf "$1"
    mkdir -p "$1/tests" "$1/docs"
    cp build/pypy-wheel/*.whl "$1"
    cp -r tests/python tests/data "$1/tests"
    cp docs/python.md "$1/docs"
}

if [ -n "${PYTHON:-}" ]; then
    fill build/pypy-wheel/run
    exec sh -c "$run" sh build/pypy-wheel/run "$PYTHON"
fi
if [ ! -d "$root" ]; then # a folder by this name is whole
    mmdebstrap --variant=minbase --include=pypy3,pypy3-venv,gcc,libc6-dev,ca-certificates trixie \
        "$root.$$" http://deb.debian.org/debian
    mv "$root.$$" "$root"
fi
fill "$root/arenaut"
cp /etc/resolv.conf "$root/etc"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" # the loader finds libraries by it
trap 'umount "$root/proc"' EXIT
CC=gcc chroot "$root" sh -c "$run" sh /arenaut /usr/bin/pypy3
