#!/bin/sh
# Every public header compiles alone, in C11 and in C++17.
#   headers.sh INCLUDE_FOLDER
set -eu
for header in "$1"/arenaut/*.h; do
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" -x c "$header"
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" -x c++ "$header"
done
