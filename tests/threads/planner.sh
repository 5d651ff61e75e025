#!/bin/sh
# A plan that is made on several threads, under ThreadSanitizer. To optimize it takes longer than
# to run it, and leaves fewer accesses to be seen.
#   planner.sh SOURCE WORK CC
set -eu
source=$1 work=$2 cc=$3
mkdir -p "$work"
"$cc" -std=c11 -g1 -O0 -fsanitize=thread -pthread -Wall -Wextra -Werror \
    -I"$source/include" -I"$source/src" "$source/tests/threads/plan_in_lanes.c" \
    "$source"/src/planners/*.c "$source"/src/planners/*/*.c "$source"/src/core/*.c \
    "$source"/src/ir/*.c -o "$work/plan_in_lanes"
# Older sanitizers cannot place their shadow where newer kernels put programs at random.
if setarch -R true 2>/dev/null; then set -- setarch -R "$work/plan_in_lanes"; else set -- "$work/plan_in_lanes"; fi
"$@"
