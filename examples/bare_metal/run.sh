#!/bin/sh
# Plans the example, builds it for a Cortex-M3 and runs it under QEMU:
#     examples/bare_metal/run.sh ARENAUT FOLDER      (the command; where to build)
# Prints the program's output, and the bytes of the runtime's code.
set -eu

arenaut=$1 out=$2
here=$(dirname "$0") root=$(dirname "$0")/../..
mkdir -p "$out"
"$arenaut" export "$here/counter.program.json" --as header -f -o "$out/counter.h"

flags="-mcpu=cortex-m3 -mthumb -Os -std=c11 -ffreestanding -ffunction-sections -fdata-sections
  -Wall -Wextra -Werror"
runtime=
for file in static_program memory_manager fault; do
    # shellcheck disable=SC2086 # a list of flags
    arm-none-eabi-gcc $flags -I"$root/include" -I"$root/src" -c "$root/src/runtime/$file.c" \
        -o "$out/$file.o"
    runtime="$runtime $out/$file.o"
done
# shellcheck disable=SC2086
arm-none-eabi-gcc $flags -I"$root/include" -I"$out" -nostdlib -Wl,--gc-sections \
    -T "$here/cortex_m3.ld" "$here/start.c" "$here/main.c" $runtime -lgcc -o "$out/counter.elf"

timeout 30 qemu-system-arm -M lm3s6965evb -display none -monitor none -serial none \
    -chardev stdio,id=console -semihosting-config enable=on,target=native,chardev=console \
    -kernel "$out/counter.elf"

# shellcheck disable=SC2086
sizes=$(arm-none-eabi-size $runtime)
text=$(echo "$sizes" | awk 'NR > 1 { text += $1 } END { print text }')
data=$(echo "$sizes" | awk 'NR > 1 { data += $2 + $3 } END { print data }')
echo "runtime $text bytes of text, $data of data"
[ "$text" -lt 4096 ] && [ "$data" -eq 0 ]
