#!/bin/sh
# The wheels that go to users: for glibc 2.17 and for musl, on x86_64 and aarch64, with the compiler that the
# package ziglang holds; and for Windows, with the mingw-w64 that its unit tests are built with. They end in
# build/dist/python, beside the source package, and hold the same bytes whenever they are made of a commit. In a
# checkout they are made only while nothing has changed since its commit; in an unpacked source archive, of its files.
#
#     scripts/wheels.sh [TARGET...]      e.g. x86_64-linux-gnu.2.17, x86_64-w64-mingw32
set -eu
cd "$(dirname "$0")/.."
bin=$PWD/build/venv-wheel/bin
out=$PWD/build/dist/python

. scripts/zig_tools.sh

# What pip calls the platform: manylinux_2_17_x86_64, musllinux_1_2_aarch64, win_amd64.
platform() {
    machine=${1%%-*}
    case $1 in
    *-gnu.2.*) echo "manylinux_2_${1##*.}_$machine" ;;
    *-musl) echo "musllinux_1_2_$machine" ;;
    x86_64-w64-mingw32) echo win_amd64 ;;
    *)
        echo "$0: a target is MACHINE-linux-gnu.2.N, MACHINE-linux-musl or x86_64-w64-mingw32, not $1" >&2
        exit 2
        ;;
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
    *-mingw32)
        needed=$(x86_64-w64-mingw32-objdump -p "$3/build/libarenaut.dll" "$3/build/arenaut.exe" |
            sed -n 's/.*DLL Name: //p' | LC_ALL=C sort -u | tr '\n' ' ')
        if [ "$needed" != "KERNEL32.dll SHELL32.dll libarenaut.dll msvcrt.dll " ]; then
            echo "$0: $1: needs $needed" >&2
            exit 1
        fi
        x86_64-w64-mingw32-objdump -p "$3/build/libarenaut.dll" |
            sed -n '/^\[Ordinal\/Name Pointer\] Table/,/^$/s/^\t\[ *[0-9]*\]\( +base\[ *[0-9]*\]  *[0-9a-f]*\)\{0,1\} //p' |
            LC_ALL=C sort >"$3/exports"
        LC_ALL=C sort tests/abi/symbols.txt | diff - "$3/exports"
        ;;
    *)
        "$bin/auditwheel" show "$3"/dist/*.whl >"$3/audit"
        tr '\n' ' ' <"$3/audit" | grep -q "\"$2\"" || { cat "$3/audit"; exit 1; }
        ;;
    esac
}

# packed SYSTEM-MACHINE FOLDER SETTING...: the wheel, by CMake with these settings.
packed() {
    for_platform=$1 folder=$2
    shift 2
    rm -rf "$folder/dist"
    _PYTHON_HOST_PLATFORM=$for_platform "$bin/python" -m pip -q wheel --disable-pip-version-check \
        --no-build-isolation --no-deps . -w "$folder/dist" -Cbuild-dir="$folder/build" "$@"
}

wheel() {
    folder=$PWD/build/zig/$1
    machine=${1%%-*}
    tag=$(platform "$1")
    case $1 in
    *-mingw32)
        folder=$PWD/build/windows-wheel
        packed win-amd64 "$folder" -Ccmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/mingw-w64.cmake"
        ;;
    *)
        zig_tools "$1" "$folder"
        CC=$folder/cc packed "linux-$machine" "$folder" -Ccmake.define.CMAKE_SYSTEM_NAME=Linux \
            -Ccmake.define.CMAKE_SYSTEM_PROCESSOR="$machine" -Ccmake.define.CMAKE_AR="$folder/ar" \
            -Ccmake.define.CMAKE_RANLIB=true
        "$bin/python" -m wheel tags --remove --platform-tag "$tag" "$folder"/dist/*.whl >/dev/null
        ;;
    esac
    audit "$1" "$tag" "$folder"
    if [ "$(cat "$folder"/dist/*.whl | wc -c)" -ge 2000000 ]; then # what it was built with to debug is left out
        echo "$0: $1: the wheel is larger than 2 MB" >&2
        exit 1
    fi
    mv "$folder"/dist/*.whl "$out"
}

# All that is packed is the commit's, so that packages of one version do not differ: a new file counts as well, where
# CMake would find it. An archive's files have the commit's time.
if [ -e .git ]; then
    new=$(git ls-files --others --exclude-standard -- cmake gpu include preload python src tools)
    if [ -n "$new" ] || ! git diff --quiet HEAD; then
        echo "$0: files have changed since commit $(git rev-parse HEAD), and would be in some packages alone" >&2
        exit 1
    fi
    time=$(git log -1 --format=%ct)
else
    time=$(date -r pyproject.toml +%s)
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$time}
export SOURCE_DATE_EPOCH
zig_install
mkdir -p "$out"
if [ $# -eq 0 ]; then
    set -- x86_64-linux-gnu.2.17 aarch64-linux-gnu.2.17 x86_64-linux-musl aarch64-linux-musl x86_64-w64-mingw32
fi
for target in "$@"; do wheel "$target"; done
sources=.
if [ -e .git ]; then # in a folder of its own, so that nothing that lies about is read, and it names the commit
    sources=build/sdist
    rm -rf $sources
    mkdir $sources
    git archive HEAD | tar -x -C $sources
fi
"$bin/python" -m build -q --no-isolation --sdist -o "$out" $sources
"$bin/twine" check --strict "$out"/arenaut-*
ls -l "$out"
