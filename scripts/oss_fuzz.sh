#!/bin/sh
# Plays OSS-Fuzz: builds packaging/oss-fuzz of this commit as its image does, with clang's libFuzzer and
# AddressSanitizer, and runs each fuzzer on its seeds for SECONDS.
#   scripts/oss_fuzz.sh [SECONDS]
set -eu
seconds=${1:-10}
folder=$PWD/build/oss-fuzz
rm -rf "$folder"
mkdir -p "$folder/src" "$folder/work" "$folder/out"
git clone -q . "$folder/src/arenaut"
instrumented="-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address,fuzzer-no-link"
SRC=$folder/src WORK=$folder/work OUT=$folder/out CC=clang CXX=clang++ CFLAGS=$instrumented CXXFLAGS=$instrumented \
    LIB_FUZZING_ENGINE=-fsanitize=fuzzer bash -eu packaging/oss-fuzz/build.sh >"$folder/log" 2>&1 || {
    tail -20 "$folder/log"
    exit 1
}
for options in "$folder"/out/*.options; do
    fuzzer=${options%.options}
    name=$(basename "$fuzzer")
    mkdir -p "$folder/seeds/$name"
    [ ! -f "${fuzzer}_seed_corpus.zip" ] ||
        python3 -m zipfile -e "${fuzzer}_seed_corpus.zip" "$folder/seeds/$name"
    "$fuzzer" -max_len=8192 -max_total_time="$seconds" -print_final_stats=1 -verbosity=0 "$folder/seeds/$name" \
        >"$folder/$name.log" 2>&1 || {
        tail -20 "$folder/$name.log"
        exit 1
    }
    echo "$name: $(find "$folder/seeds/$name" -type f | wc -l) files, $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.log") runs"
done
