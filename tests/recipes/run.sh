#!/bin/sh
# Builds the archive of `make dist` by each recipe of packaging/, with as much of its package manager as it calls
# played by the files beside this one, and runs what was installed.
#
#     tests/recipes/run.sh [OUT]
set -eu
cd "$(dirname "$0")/../.."
out=$(realpath "${1:-build/dist}")
version=$(sed -n 's/^#define ARENAUT_VERSION "\(.*\)"$/\1/p' include/arenaut/version.h)
archive=$out/arenaut-$version.tar.gz
sha256=$(sha256sum "$archive" | cut -d' ' -f1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=tests/data/mobilenet_v1_025_96_int8.tflite
tried() { "$1" plan $model -f -o "$work/planned.tflite" && "$1" check "$work/planned.tflite"; } >"$work/said"

ruby tests/recipes/formula.rb "$out/packaging/homebrew/arenaut.rb" "$archive" "$work/homebrew"
tried "$work/homebrew/bin/arenaut"
echo "homebrew: built and tried"

cmake -DPORT="$out/packaging/vcpkg" -DARCHIVE="$archive" -DWORK="$work/vcpkg" -DVERSION="$version" -DFEATURES=tools \
    -P tests/recipes/port.cmake
tried "$work/vcpkg/package/bin/arenaut"
echo "vcpkg: built and tried"

mkdir "$work/source"
tar --strip-components=1 -xzf "$archive" -C "$work/source"
sed -n '/^  script:$/,/^$/s/^    - //p' "$out/packaging/conda/recipe.yaml" >"$work/script"
(cd "$work/source" && PREFIX=$work/conda CMAKE_ARGS='' sh -eu "$work/script" >"$work/said")
tried "$work/conda/bin/arenaut"
grep -q "sha256: $sha256" "$out/packaging/conda/recipe.yaml"
echo "conda: built and tried"

said=$(nix-instantiate --eval --strict tests/recipes/package.nix --arg recipe "$out/packaging/nix/default.nix")
[ "$said" = "\"$version https://github.com/arenaut/arenaut/releases/download/v$version/arenaut-$version.tar.gz \
$sha256 asl20 llvm-exception bsd2 cc0 mit cmake\"" ] || { echo "nix: $said" >&2; exit 1; }
echo "nix: evaluated; the build is what nixpkgs does for cmake, and was not run"
