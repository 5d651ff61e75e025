#!/bin/sh
# A program of calls on a Cortex-M that QEMU plays, every load and store of it:
#     cortex_m.sh build CPU PROGRAM.elf ARGUMENT…        (for the compiler: flags, files)
#     cortex_m.sh trace CPU PROGRAM.elf FOUND.jsonl [SEED]
# CPU is cortex-m3, cortex-m7 (DSP instructions) or cortex-m55 (vector instructions). Needs
# arm-none-eabi-gcc with newlib, qemu-system-arm built with plugins, gcc and python3.
set -eu

here=$(dirname "$0")
verb=$1 cpu=$2 program=$3
shift 3
case $cpu in
cortex-m3) machine=mps2-an385 floats=soft ;;
cortex-m7) machine=mps2-an500 floats=soft ;;
cortex-m55) machine=mps3-an547 floats=hard ;;
*) echo "unknown CPU '$cpu': cortex-m3, cortex-m7 or cortex-m55" >&2 && exit 2 ;;
esac

if [ "$verb" = build ]; then
    arm-none-eabi-gcc -mcpu="$cpu" -mthumb -mfloat-abi="$floats" "$@" "$here/cortex_m_start.c" \
        --specs=rdimon.specs -Wl,-u,vectors -Wl,--section-start=.vectors=0 -o "$program"
else
    plugin=$(dirname "$program")/trace_plugin.so
    gcc -shared -fPIC -O2 -Wall -Wextra -Werror "$here/trace_plugin.c" -o "$plugin"
    python3 "$here/measure.py" trace -o "$1" --under "qemu-system-arm -M $machine -display none
        -monitor none -serial none -plugin $plugin,to={trace}
        -semihosting-config enable=on,target=native,arg=calls,arg=trace,arg=${2:-1} -kernel" \
        "$program"
fi
