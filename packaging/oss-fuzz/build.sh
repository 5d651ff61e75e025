#!/bin/bash -eu
# What OSS-Fuzz runs in its image, with CC, CFLAGS, CXX, CXXFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT set: one fuzzer
# per property of tests/support/properties.def, each with the files of tests/data that it is about as its seeds.
cd "$SRC/arenaut"
# shellcheck source=fuzz/properties.sh
. fuzz/properties.sh
cmake -S . -B "$WORK/library" -DCMAKE_BUILD_TYPE=None -DARENAUT_TOOL=OFF -DBUILD_SHARED_LIBS=OFF
cmake --build "$WORK/library" --target arenaut_static -j"$(nproc)"

list_properties | while read -r name patterns; do
    objects=
    flags=
    for input in $(property_inputs "$name"); do
        case $input in
            *.c) objects="$objects $input" ;;
            *) flags="$flags $input" ;;
        esac
    done
    mkdir -p "$WORK/$name"
    # shellcheck disable=SC2086 # lists
    for source in fuzz/fuzz_property.c $objects; do
        $CC $CFLAGS $flags -c "$source" -o "$WORK/$name/$(basename "$source" .c).o"
    done
    # shellcheck disable=SC2086
    $CXX $CXXFLAGS "$WORK/$name"/*.o "$WORK/library/libarenaut.a" $LIB_FUZZING_ENGINE -lm -o "$OUT/$name"
    for pattern in $patterns; do
        case $pattern in ../../build/*) continue ;; esac # which `make fuzz` makes
        # shellcheck disable=SC2086 # a pattern
        zip -q -j "$OUT/${name}_seed_corpus.zip" tests/data/$pattern
    done
    printf '[libfuzzer]\nmax_len = 8192\n' >"$OUT/$name.options"
done
