#!/bin/sh
# The runtime stands alone: its headers and files, taken out of the house with the one header of
# core that they include, build without a C library, ask for nothing but memcpy and the like, have
# no writable globals but the registry, and a program without devices links no code for them.
#   run.sh SOURCE WORK CC
set -eu
source=$1 work=$2 cc=$3
rm -rf "$work"
mkdir -p "$work/include/arenaut" "$work/src/runtime" "$work/src/core"
cp "$source"/include/arenaut/device.h "$source"/include/arenaut/error.h \
    "$source"/include/arenaut/runtime*.h "$work/include/arenaut"
rm "$work/include/arenaut/runtime_plan.h" "$work/include/arenaut/runtime_allocators.h"
cp "$source"/src/runtime/*.[ch] "$work/src/runtime"
cp "$source/src/core/number_set.h" "$work/src/core"
cp "$source"/tests/alone/*.c "$work"
cd "$work"

flags="-std=c11 -Os -ffreestanding -fno-pic -fno-pie -fno-stack-protector -ffunction-sections
  -fdata-sections -Wall -Wextra -Wshadow -Wpedantic -Werror -Iinclude -Isrc"
fail() { echo "$*" >&2; exit 1; }

for file in src/runtime/*.c; do
    # shellcheck disable=SC2086 # a list of flags
    "$cc" $flags -c "$file" -o "$(basename "$file" .c).o"
done
ld -r -o all.rel ./*.o
asked=$(nm -u all.rel | awk '{print $2}' | grep -vxE 'memcpy|memset|memmove|memcmp' || true)
[ -z "$asked" ] || fail "the runtime asks for: $asked"
written=$(nm all.rel | awk '$2 ~ /^[bBdDcC]$/ {print $3}' | grep -vx 'registered' || true)
[ -z "$written" ] || fail "writable globals: $written"
nm all.rel | grep -q ' [bB] registered$' || fail "the registry is gone: this test proves nothing"

# A static program on the host, from an archive, as a linker finds it.
ar rc libruntime.a ./*.o
# shellcheck disable=SC2086
"$cc" $flags -c host_only.c -o host_only.o
"$cc" -nostdlib -static -Wl,--gc-sections -Wl,-e,start host_only.o libruntime.a -o host_only
nm host_only | grep -q arenaut_instance_init || fail "nothing was linked: this test proves nothing"
linked=$(nm host_only | awk '{print $3}' | grep -E 'device|registered|iteration|sentence' || true)
[ -z "$linked" ] || fail "a program without devices has: $linked"

# How large that is on the machine that it is for.
if command -v arm-none-eabi-gcc >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    for file in src/runtime/*.c; do
        arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb $flags -c "$file" -o "$(basename "$file" .c).arm"
    done
    text() { arm-none-eabi-size "$@" | awk 'NR > 1 { n += $1 } END { print n }'; }
    static=$(text static_program.arm memory_manager.arm fault.arm)
    echo "Cortex-M3, -Os, bytes of text: static programs $static," \
        "with devices $(text static_program.arm memory_manager.arm fault.arm memory_devices.arm \
            device_buffer.arm device_registry.arm), everything $(text ./*.arm)"
    [ "$static" -lt 4096 ] || fail "static programs take $static bytes of text; 4096 are allowed"
else
    echo "SKIPPED: no arm-none-eabi-gcc, so the size on a Cortex-M3 was not measured"
fi
