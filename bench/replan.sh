#!/bin/sh
# Cost of a new plan in a live iteration, as the table of docs/runtime.md. `make` comes first.
#   bench/replan.sh [ROUNDS]
#   bench/replan.sh one KIND VALUES COLUMN ROUNDS
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/build/bench-runtime
mkdir -p "$work"
cc -std=c11 -O2 -I"$root/include" -I"$root/src" "$root/bench/replan.c" "$root"/src/runtime/*.c \
    "$root"/src/runtime/bridge/*.c "$root"/src/runtime/hosted/*.c "$root/build/libarenaut.a" \
    -lm -lpthread -ldl -o "$work/replan"
"$work/replan" "$@"
