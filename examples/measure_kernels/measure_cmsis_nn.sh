#!/bin/sh
# Measures CMSIS-NN's kernels, as tflite-micro and ExecuTorch call them, and holds arenaut's sets
# of them against that:
#     examples/measure_kernels/measure_cmsis_nn.sh ARENAUT FOLDER [CPU…]
# (the command; where to build; cortex-m3 for plain C, cortex-m7 for DSP instructions, cortex-m55
# for MVE; default all). Sources are cloned into FOLDER unless CMSIS_NN names a checkout. Needs what
# cortex_m.sh needs, and git.
set -eu

arenaut=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- cortex-m3 cortex-m7 cortex-m55
here=$(dirname "$0")
commit=99f736a63036613032f9b70de36b493bcd7802d4
sources=${CMSIS_NN:-$out/CMSIS-NN}
mkdir -p "$out"
if [ ! -d "$sources" ]; then
    git clone -q https://github.com/ARM-software/CMSIS-NN "$sources"
    git -C "$sources" -c advice.detachedHead=false checkout -q "$commit"
fi

# All but the kernels for floats, which nobody calls. ExecuTorch's commit dbf45dbf has the same files,
# but for that of transposed convolutions.
kernels=$(find "$sources/Source" -name '*.c' ! -name '*_f16.c' ! -name '*_f32.c')
for cpu; do
    mve=
    [ "$cpu" != cortex-m55 ] || mve=-mve
    for caller in cmsis-nn cortex-m; do
        calls=$(echo "$caller" | tr - _)_calls set=$caller$mve
        # shellcheck disable=SC2086 # a list of files
        "$here/cortex_m.sh" build "$cpu" "$out/$cpu.elf" -Ofast -ffunction-sections \
            -Wl,--gc-sections -I"$sources/Include" "$here/$calls.c" $kernels
        for seed in 1 2 3; do
            "$here/cortex_m.sh" trace "$cpu" "$out/$cpu.elf" "$out/$set-$cpu-$seed.jsonl" "$seed"
        done
        "$arenaut" kernels "$set" --json >"$out/$set.kernels.json"
        echo "$cpu: arenaut's set $set"
        ARENAUT=$arenaut python3 "$here/measure.py" confirm "$out/$set.kernels.json" \
            "$out/$set-$cpu"-?.jsonl
    done
done
