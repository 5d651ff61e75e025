#!/bin/sh
# Cross-builds cmocka from Debian's source package, for a system that has no binary one:
#     scripts/cross_cmocka.sh TOOLCHAIN FOLDER      e.g. cmake/mingw-w64.cmake build/windows-cmocka
# leaves FOLDER/include/cmocka.h and FOLDER/libcmocka.a. Nothing is installed.
set -eu

toolchain=$PWD/$1
folder=$2
[ ! -e "$folder/libcmocka.a" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder/lists/partial" "$folder/cache"
cd "$folder"
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$key] http://deb.debian.org/debian $suite main" >source.list
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$PWD/source.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD/cache" "$@" >>log 2>&1 || {
        cat log >&2
        exit 1
    }
}
apt update
apt --download-only source cmocka
mkdir source
tar xf cmocka_*.orig.tar.?z -C source --strip-components=1
cmake -S source -B build -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF >>log 2>&1
cmake --build build --target cmocka-static >>log 2>&1
cp -r source/include include
cp build/src/libcmocka-static.a libcmocka.a
