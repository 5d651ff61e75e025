#!/bin/sh
# Builds each fuzz/fuzz_*.c with libFuzzer and runs it for FUZZ_SECONDS on our own test
# data; findings stay in build/fuzz. The unit tests run the same properties in short.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
mkdir -p build/fuzz
for source in fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    work=build/fuzz/$name
    mkdir -p "$work/found"
    # shellcheck disable=SC2046 # file names without blanks
    clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
        -Iinclude -Isrc -Itests "$source" $(ls tests/support/"${name#fuzz_}"_round.c 2>/dev/null) \
        $(find src -name '*.c' | sort) -o "$work/$name"
    echo "== $name for $seconds seconds"
    (cd "$work" && ./"$name" -max_len=8192 -max_total_time="$seconds" -print_final_stats=1 \
        -verbosity=0 found ../../../tests/data ../../../tests/data/json >log 2>&1) || {
        tail -20 "$work/log"
        exit 1
    }
    grep '^stat::' "$work/log"
done

# Random cases held against second readings of the rules: fuzz/machine_X.c with what of
# tests/support is called X_*.c.
for source in fuzz/machine_*.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2046
    clang -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Iinclude -Isrc \
        -Itests "$source" $(ls tests/support/"${name#machine_}"_*.c) \
        $(find src -name '*.c' | sort) -lm -o build/fuzz/"$name"
    echo "== $name for $seconds seconds"
    build/fuzz/"$name" "$seconds"
done

# Every byte of our own programs, spoiled in turn.
# shellcheck disable=SC2046
clang -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Iinclude -Isrc \
    -Itests fuzz/sweep_pte.c tests/support/pte_sweep.c tests/support/pte_round.c \
    $(find src -name '*.c' | sort) -lm -o build/fuzz/sweep_pte
build/fuzz/sweep_pte tests/data/pte/*.pte
