#!/bin/sh
# The cost of the runtime's protocol: time, heap calls and, where valgrind is here, instructions.
#   bench/runtime.sh [WORK]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${1:-$root/build/bench-runtime}
mkdir -p "$work"
cc -std=c11 -O2 -I"$root/include" -I"$root/src" "$root/bench/runtime.c" "$root"/src/runtime/*.c \
    -o "$work/runtime"
"$work/runtime" 1000
command -v valgrind >/dev/null 2>&1 || { echo "no valgrind: instructions were not counted"; exit 0; }
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/runtime" 1000 "$1" once 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
few=$(count 100) many=$(count 1100)
echo "1000 values, buffer kept: $(((many - few) / 1000)) instructions for allocate and deallocate"
