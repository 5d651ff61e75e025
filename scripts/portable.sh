#!/bin/sh
# Builds the command for a big-endian machine with 32-bit pointers (MIPS, run by QEMU) and
# compares what it says with what the native build says, to the byte:
#     scripts/portable.sh NATIVE FILE...
set -eu

native=$1
shift
cmake -S . -B build/portable -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_C_COMPILER=mips-linux-gnu-gcc \
    -DCMAKE_EXE_LINKER_FLAGS=-static >/dev/null
cmake --build build/portable -j"$(nproc)" --target arenaut_tool >/dev/null

# One run of `plan --json`, without the seconds it took; a refusal counts as an answer too.
answer() {
    "$@" --json --effort 20000 2>&1 | sed 's/"seconds":[^,}]*//' || true
}

files=0 differ=0
for file in "$@"; do
    files=$((files + 1))
    if [ "$(answer "$native" plan "$file")" != "$(answer qemu-mips-static build/portable/arenaut plan "$file")" ]; then
        differ=$((differ + 1))
        echo "differs: $file"
    fi
done
echo "$files files planned on x86-64 and on big-endian 32-bit MIPS: $differ differ"
[ "$files" -gt 0 ] && [ "$differ" -eq 0 ]
