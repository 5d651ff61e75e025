#!/bin/sh
# Every public header compiles alone, in C11 and in C++17, and names no function of the library alone.
#   headers.sh INCLUDE_FOLDER
set -eu
for header in "$1"/arenaut/*.h; do
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" -x c "$header"
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1" -x c++ "$header"
done
# As compilers of other systems see them, as far as one is here: without a header that C does not have on bare metal.
# All of them at once: that each stands alone has been seen, and starting a compiler takes longer than to read them.
if command -v clang >/dev/null 2>&1; then
    for target in x86_64-apple-macosx12 arm64-apple-macosx12 x86_64-pc-windows-msvc aarch64-pc-windows-msvc \
        i686-pc-windows-msvc riscv32-unknown-elf thumbv7m-none-eabi; do
        printf '#include "%s"\n' "$1"/arenaut/*.h | clang -target $target -ffreestanding -nostdlibinc -std=c11 \
            -Wall -Wextra -Wpedantic -Werror -Wno-unused-function -fsyntax-only -I"$1" -x c -
    done
fi
if grep -nE '\barn_\w+' "$1"/arenaut/*.h | grep -v 'struct arn_attempt'; then
    echo "a public header names what is the library's own" >&2
    exit 1
fi
