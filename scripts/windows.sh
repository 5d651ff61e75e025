#!/bin/sh
# Builds library and command for 64-bit Windows with mingw-w64, and holds what the command says and
# writes there, run by wine, against the native build, to the byte; then runs the unit tests:
#     scripts/windows.sh NATIVE FILE...
# Then `build/windows/arenaut` runs it as if it were a native command: for the golden cases, say.
set -eu

native=$1
shift
build=$PWD/build/windows
cmocka=$PWD/build/windows-cmocka
# Not in the checkout: it has a link to all the system, which the builder of source packages would follow.
prefix=${XDG_CACHE_HOME:-$HOME/.cache}/arenaut/wine/$(pwd | cksum | cut -d' ' -f1)
scripts/cross_cmocka.sh cmake/mingw-w64.cmake "$cmocka"
mkdir -p "$build"
cmake -S . -B "$build" -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release -DARENAUT_WERROR=ON \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/mingw-w64.cmake" -DARENAUT_TESTS=ON \
    -DCMOCKA="$cmocka/libcmocka.a" -DCMAKE_C_FLAGS="-isystem $cmocka/include" \
    >"$build/configured"
sed -n 's/^-- not cross-compiled/not cross-compiled/p' "$build/configured"
cmake --build "$build" -j"$(nproc)" >/dev/null

cat >"$build/arenaut" <<END
#!/bin/sh
WINEPREFIX=$prefix WINEDEBUG=-all exec wine $build/arenaut.exe "\$@"
END
chmod +x "$build/arenaut"
windows=$build/arenaut
trap 'wineserver -k || true' EXIT
# Wine's own processes keep what they began with open, so they are begun first, and stay.
export WINEPREFIX="$prefix" WINEDEBUG=-all
mkdir -p "$WINEPREFIX"
{ wineserver -p || true; "$windows" version || true; } >"$build/log" 2>&1
"$windows" version

export LC_ALL=C
timeless() { sed 's/"seconds":[^,}]*//'; } # JSON says how long it took
# One run of `plan --json`; a refusal counts as an answer too.
answer() {
    "$@" --json --effort 20000 2>&1 | timeless
}

# Whether `plan` writes the same bytes, and `check` says the same of them; nothing written is the same.
same_output() {
    out=$build/out.${1##*.}
    rm -f "$out" "$out.native"
    "$native" plan "$1" --effort 20000 -q -o "$out" 2>/dev/null && mv "$out" "$out.native"
    "$windows" plan "$1" --effort 20000 -q -o "$out" 2>/dev/null || [ ! -e "$out.native" ]
    [ -e "$out.native" ] || return 0
    timeless <"$out" >"$build/timeless"
    timeless <"$out.native" | cmp -s - "$build/timeless" &&
        [ "$("$native" check "$out" 2>&1)" = "$("$windows" check "$out" 2>&1)" ]
}

files=0 differ=0
for file in "$@"; do
    files=$((files + 1))
    if [ "$(answer "$native" plan "$file")" != "$(answer "$windows" plan "$file")" ] ||
        ! same_output "$file"; then
        differ=$((differ + 1))
        echo "differs: $file"
    fi
done
echo "$files files planned and written on Linux and on Windows: $differ differ"

failed=
ctest --test-dir "$build" -j"$(nproc)" --timeout 600 --output-on-failure >"$build/tests.log" 2>&1 ||
    failed=yes
[ -z "$failed" ] || cat "$build/tests.log"
log=$build/Testing/Temporary/LastTest.log
sed -n 's/.*, \([0-9]*\) tests failed out of \([0-9]*\)/\2 programs of unit tests run on Windows: \1 fail/p' \
    "$build/tests.log"
sed -n 's/^SKIPPED, /skipped there: /p' "$log"
scripts/count_skipped "$log"
[ "$files" -gt 0 ] && [ "$differ" -eq 0 ] && [ -z "$failed" ]
