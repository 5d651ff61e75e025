#!/bin/sh
# Measures ESP-NN's kernels in C and holds arenaut's set of them against that:
#     examples/measure_kernels/measure_esp_nn.sh ARENAUT FOLDER    (the command; where to build)
# Sources are cloned into FOLDER unless ESP_NN names a checkout. Needs valgrind, gcc, python3, git.
set -eu

arenaut=$1 out=$2
here=$(dirname "$0")
commit=d45b843ca5f873ca9d0706ab0e7f14eafd132e98
sources=${ESP_NN:-$out/esp-nn}
mkdir -p "$out"
if [ ! -d "$sources" ]; then
    git clone -q https://github.com/espressif/esp-nn "$sources"
    git -C "$sources" -c advice.detachedHead=false checkout -q "$commit"
fi
"$arenaut" kernels esp-nn --json >"$out/esp-nn.kernels.json"
for kernels in ansi opt; do
    [ "$kernels" = ansi ] && define=-DANSI || define=-UANSI
    gcc -g -O2 -w "$define" -I"$sources/include" -I"$sources/src/common" "$here/esp_nn_calls.c" \
        "$sources"/src/*/*_ansi.c "$sources"/src/*/*_opt.c -lm -o "$out/esp_nn_$kernels"
    for seed in 1 2 3; do
        python3 "$here/measure.py" trace -o "$out/$kernels-$seed.jsonl" \
            "$out/esp_nn_$kernels" trace "$seed"
    done
    echo "$kernels: arenaut's set esp-nn"
    ARENAUT=$arenaut python3 "$here/measure.py" confirm "$out/esp-nn.kernels.json" \
        "$out/$kernels"-?.jsonl
done
