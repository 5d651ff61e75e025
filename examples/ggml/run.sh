#!/bin/sh
# Builds ggml from a checkout of its sources (read at d99724f2) and the example with it, and runs that:
#     examples/ggml/run.sh SOURCES LATENT WIDTH [--run]
# Builds stay in build/ggml. Needs build/libarenaut.a (make).
set -eu
[ $# -ge 3 ] || { echo "usage: $0 SOURCES LATENT WIDTH [--run]" >&2; exit 2; }
sources=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
built=build/ggml
mkdir -p build
cmake -S "$sources" -B "$built" -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_BUILD_TESTS=OFF -DGGML_BUILD_EXAMPLES=OFF >"build/ggml.log"
cmake --build "$built" -j"$(nproc)" >>"build/ggml.log"
for part in planned_graph vae_decoder; do
    ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Wshadow -Werror -Iinclude -I"$sources/include" -c examples/ggml/$part.c \
        -o "$built/$part.o"
done
${CXX:-c++} "$built/vae_decoder.o" "$built/planned_graph.o" build/libarenaut.a -Wl,--start-group "$built"/src/*.a \
    -Wl,--end-group -lpthread -ldl -lm -o "$built/vae_decoder"
exec "$built/vae_decoder" "$@"
