#!/bin/sh
# Threads that share one plan, each with memory of its own, under ThreadSanitizer.
#   run.sh SOURCE WORK CC
set -eu
source=$1 work=$2 cc=$3
mkdir -p "$work"
"$cc" -std=c11 -g1 -O0 -fsanitize=thread -pthread -Wall -Wextra -Werror \
    -I"$source/include" -I"$source/src" "$source/tests/threads/share_a_plan.c" \
    "$source"/src/runtime/*.c "$source"/src/runtime/hosted/*.c -o "$work/share_a_plan" -ldl
# Older sanitizers cannot place their shadow where newer kernels put programs at random.
if setarch -R true 2>/dev/null; then set -- setarch -R "$work/share_a_plan"; else set -- "$work/share_a_plan"; fi
"$@"
