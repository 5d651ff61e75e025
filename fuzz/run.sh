#!/bin/sh
# For each property of tests/support/properties.def: libFuzzer for FUZZ_SECONDS on our own test
# data, and a sweep over the files of its format that takes as long; findings stay in build/fuzz. Wants build/arenaut.
# Then the machines:
# random cases held against second readings of the rules, the last in the real runtimes. The tests run all of it in short.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=fuzz/properties.sh
. fuzz/properties.sh
seconds=${FUZZ_SECONDS:-60}
checks=address,undefined
CC=clang cmake -S . -B build/fuzz/library -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="-g -O1" -DARENAUT_TOOL=OFF -DARENAUT_SANITIZE=fuzzer-no-link,$checks >/dev/null
cmake --build build/fuzz/library --target arenaut_static -j"$(nproc)" >/dev/null

# Files with plans that tests/data has not: split with calls, with results over operands, and both.
mkdir -p build/fuzz/planned
plan() {
    build/arenaut plan "tests/data/$1.tflite" -f -o "build/fuzz/planned/$2.tflite" --split "$3" \
        --overlap "$4" >/dev/null
}
plan resnet_int8 calls 0-7/4:kept+calls off
plan resnet_int8 overlap off on
plan resnet_int8 calls_overlap 0-7/4:kept+calls on
plan inception_int8 searched on on

# One of each format in a better order than it came in.
mkdir -p build/fuzz/reordered
reorder() {
    build/arenaut plan "tests/data/$1" -f -o "build/fuzz/reordered/$(basename "$1")" --reorder on \
        --dim '*=2' >/dev/null
}
reorder pte/side_by_side.pte
reorder onnx/constants.onnx
reorder pt2/norm_functional.pt2
reorder pt2/apart.pt2
reorder tvm/branches.json

# build WHAT CHECKS SOURCE… FLAG…
build() {
    out=build/fuzz/$1
    sanitizers=$2
    shift 2
    mkdir -p "$(dirname "$out")"
    clang -g -O1 -fsanitize="$sanitizers" -fno-sanitize-recover=all "$@" build/fuzz/library/libarenaut.a -lm -o "$out"
}

list_properties | while read -r name patterns; do
    inputs=$(property_inputs "$name" | tr "\n" " ")
    # shellcheck disable=SC2086 # lists of flags and files
    build "$name/fuzz" fuzzer,$checks fuzz/fuzz_property.c $inputs
    # shellcheck disable=SC2086
    build "$name/sweep" $checks fuzz/sweep.c $inputs
    echo "== $name for $seconds seconds"
    mkdir -p "build/fuzz/$name/found"
    (cd "build/fuzz/$name" && ./fuzz -max_len=8192 -max_total_time="$seconds" \
        -print_final_stats=1 -verbosity=0 found ../../../tests/data ../../../tests/data/json \
        >log 2>&1) || {
        tail -20 "build/fuzz/$name/log"
        exit 1
    }
    grep '^stat::' "build/fuzz/$name/log"
    set --
    for pattern in $patterns; do
        # shellcheck disable=SC2086 # a pattern
        set -- "$@" tests/data/$pattern
    done
    "build/fuzz/$name/sweep" "$seconds" "$@"
done

# fuzz/machine_X.c with what of tests/support is called X_*.c, and what the machine says it stands on.
for source in fuzz/machine_*.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2046 # a list of patterns
    build "$name" $checks -std=c11 -Iinclude -Isrc -Itests "$source" tests/support/pipelines.c \
        tests/support/"${name#machine_}"_*.c \
        $(cd tests/support && sed -n 's/^ \* Stands on: //p' "../../$source" | xargs -n1 |
            while read -r files; do find "$PWD" -name "$files"; done)
    echo "== $name for $seconds seconds"
    build/fuzz/"$name" "$seconds"
done

echo "== machine_rewrites for $seconds seconds"
build/venv/bin/python fuzz/machine_rewrites.py "$seconds"
