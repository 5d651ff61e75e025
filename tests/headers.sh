#!/bin/sh
# Every public header compiles alone, in C11 and in C++17, and names no function of the library alone.
#   headers.sh INCLUDE_FOLDER
set -eu
for header in "$1"/arenaut/*.h; do
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" -x c "$header"
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" -x c++ "$header"
done
if grep -nE '\barn_\w+' "$1"/arenaut/*.h | grep -v 'struct arn_attempt'; then
    echo "a public header names what is the library's own" >&2
    exit 1
fi
