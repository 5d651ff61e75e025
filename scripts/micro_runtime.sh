#!/bin/sh
# Fetches tflite-micro at one commit with what it builds on, and builds tests/micro_runtime of it
# for 32-bit ARM and for this machine, both linked statically, and for a Cortex-M55:
#     scripts/micro_runtime.sh FOLDER [SOURCES [MACHINE…]]
# makes FOLDER/tflm-arm, and its library libruntime-arm.a; with CMSIS-NN's kernels tflm-arm-cmsis-nn, tflm-arm-cmsis-nn-c (believing
# that there are no DSP instructions) and tflm-m55-cmsis-nn; with ESP-NN's tflm-arm-esp-nn, and
# tflm-arm-esp32-s3, which only loads models; tflm-m55-cmsis-nn-dsp, without vector instructions; and
# tflm-host. MACHINE: arm, m55, dsp, host; all of them.
# SOURCES: a folder with the eight repositories, cloned before, so that nothing is fetched; they have
# to be at the commits below, kissfft patched. Clones elsewhere do as well, where git is told to go
# there: git config --global url.file:///FOLDER/.insteadOf https://github.com/
set -eu

folder=$1
sources=${2:-$1/sources}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- arm m55 dsp host
micro=90b983c2b3f1480642e040bbd2ddb37b998f3424

fetch() { # name, URL, commit or tag
    [ ! -e "$sources/$1" ] || return 0
    git init -q "$sources/$1.part"
    git -C "$sources/$1.part" fetch -q --depth 1 "https://github.com/$2" "$3"
    git -C "$sources/$1.part" checkout -q FETCH_HEAD
    mv "$sources/$1.part" "$sources/$1"
}

mkdir -p "$folder" "$sources"
fetch tflite-micro tensorflow/tflite-micro "$micro"
fetch flatbuffers google/flatbuffers v25.9.23
fetch gemmlowp google/gemmlowp 16e8662c34917be0065110bfcd9cc27d30f52fdf
fetch ruy google/ruy 2af88863614a8298689cc52b1a47b3fcad7be835
fetch kissfft mborgerding/kissfft v130
fetch cmsis-nn ARM-software/CMSIS-NN 99f736a63036613032f9b70de36b493bcd7802d4
fetch esp-nn espressif/esp-nn d45b843ca5f873ca9d0706ab0e7f14eafd132e98
fetch esp-tflite-micro espressif/esp-tflite-micro 99f49e1498b0984f4db54d9bf3938aceb99ad422
# The runtime has one copy of each FFT in one program, and no heap.
patch=$(cd "$sources/tflite-micro" && pwd)/third_party/kissfft/kissfft.patch
if git -C "$sources/kissfft" apply --check "$patch" 2>/dev/null; then
    git -C "$sources/kissfft" apply "$patch"
fi

sources=$(cd "$sources" && pwd)
build() { # name, target, more for cmake
    name=$1 target=$2
    shift 2
    cmake -S tests/micro_runtime -B "$folder/build-$name" -G "Unix Makefiles" \
        -DSOURCES="$sources" -DCMSIS_NN="$sources/cmsis-nn" -DESP_NN="$sources/esp-nn" \
        "$@" >"$folder/$name.log"
    cmake --build "$folder/build-$name" -j"$(nproc)" --target "$target" >>"$folder/$name.log"
}
keep() { # program, as built
    cp "$folder/$2" "$folder/$1"
    echo "$folder/$1"
}
for machine; do
    case $machine in
    arm)
        build arm all -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/arm-linux.cmake"
        keep tflm-arm build-arm/tflm_run
        keep libruntime-arm.a build-arm/libruntime.a
        keep tflm-arm-cmsis-nn build-arm/tflm_run_cmsis_nn
        keep tflm-arm-cmsis-nn-c build-arm/tflm_run_cmsis_nn_c
        keep tflm-arm-esp-nn build-arm/tflm_run_esp_nn
        keep tflm-arm-esp32-s3 build-arm/tflm_run_esp32_s3
        ;;
    m55)
        build m55 tflm_run_cmsis_nn -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/cortex-m55.cmake"
        keep tflm-m55-cmsis-nn build-m55/tflm_run_cmsis_nn
        ;;
    dsp)
        build m55 tflm_run_cmsis_nn_dsp -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/cortex-m55.cmake"
        keep tflm-m55-cmsis-nn-dsp build-m55/tflm_run_cmsis_nn_dsp
        ;;
    host)
        build host tflm_run
        keep tflm-host build-host/tflm_run
        ;;
    esac
done
