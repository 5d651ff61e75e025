#!/bin/sh
# The programs of scripts/micro_runtime.sh, built from an archive of its sources and kept:
#     scripts/micro_runtime_kept.sh ARCHIVE.tar.xz MACHINE…
# makes build/micro-runtime a link to a folder of them in ${XDG_CACHE_HOME:-~/.cache}/arenaut, which
# is built only once for the same sources, machines, flags and compilers. A folder build/micro-runtime
# that was built otherwise stays as it is.
set -eu

archive=$1 link=build/micro-runtime
shift
[ -L "$link" ] || [ ! -e "$link" ] || exit 0

key=$({
    echo "$@"
    cat "$archive" cmake/arm-linux.cmake cmake/cortex-m55.cmake scripts/micro_runtime*.sh \
        examples/measure_kernels/cortex_m_start.c examples/micro_planner/planned_memory.h
    find tests/micro_runtime -type f | LC_ALL=C sort | xargs cat
    arm-linux-gnueabihf-g++ --version
    arm-none-eabi-g++ --version
} | sha256sum | cut -c 1-16)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/arenaut/micro-runtime-$key

if [ ! -d "$folder" ]; then
    part=$folder.$$
    trap 'rm -rf "$part"' EXIT
    mkdir -p "$part/sources"
    tar -xf "$archive" -C "$part/sources"
    scripts/micro_runtime.sh "$part" "$part/sources" "$@"
    rm -rf "$part"/build-*
    # Another process may have been faster.
    mv -T "$part" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
ln -sfn "$folder" "$link"
