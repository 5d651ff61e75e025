#!/bin/sh
# Installs a build into a folder of its own, as `make install PREFIX=` does, and builds a program against it,
# once by find_package and once by pkg-config, static and shared; and once with the sources as a part of its own project.
#   run.sh SOURCE WORK BUILD
set -eu
source=$1 work=$2 build=$3
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1
[ -d "$work/prefix/lib" ] || ln -s lib64 "$work/prefix/lib" # as some systems call it

# The lines of C in the README, for main.c to include.
mkdir "$work/lines"
awk '/^```c$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$source/README.md" \
    >"$work/lines/readme_lines.h"
grep -q arenaut_plan_make "$work/lines/readme_lines.h"

cmake -S "$source/tests/consumer" -B "$work/by-cmake" -DREADME_LINES="$work/lines" \
    -DCMAKE_PREFIX_PATH="$work/prefix" >>"$work/log" 2>&1
cmake --build "$work/by-cmake" >>"$work/log" 2>&1
for kind in arenaut static shared runtime; do "$work/by-cmake/consumer_$kind"; done

export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
# shellcheck disable=SC2046 # flags are words
cc -Wall -Wextra -Werror -I"$work/lines" "$source/tests/consumer/main.c" \
    -o "$work/by-pkg-config" $(pkg-config --cflags --libs arenaut)
LD_LIBRARY_PATH="$work/prefix/lib" "$work/by-pkg-config"

# As the tests' own build: ccache knows the objects.
release="-DCMAKE_BUILD_TYPE=Release -DARENAUT_WERROR=ON -DCMAKE_RULE_MESSAGES=OFF"
if command -v ccache >/dev/null 2>&1; then release="$release -DCMAKE_C_COMPILER_LAUNCHER=ccache"; fi
# shellcheck disable=SC2086 # a list of flags
cmake -S "$source/tests/consumer" -B "$work/as-part" $release -DREADME_LINES="$work/lines" \
    -DARENAUT_SOURCE="$source" >>"$work/log" 2>&1
cmake --build "$work/as-part" -j2 >>"$work/log" 2>&1
for kind in arenaut static shared runtime; do "$work/as-part/consumer_$kind"; done
cmake --install "$work/as-part" --prefix "$work/part-prefix" >>"$work/log" 2>&1
installed=$(cd "$work/part-prefix" && find . -type f)
if [ "$installed" != ./bin/consumer_runtime ]; then echo "installed by mistake: $installed"; exit 1; fi

# The shared library offers nothing but the public names.
leaked=$(nm -D --defined-only "$work/prefix/lib/libarenaut.so" | awk '{print $3}' |
    grep -v '^arenaut_' || true)
if [ -n "$leaked" ]; then echo "exported by mistake: $leaked"; exit 1; fi
