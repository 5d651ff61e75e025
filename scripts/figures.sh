#!/bin/sh
# The figures of docs/python.md: the wheel beside omnimalloc, and what engines cost beside one process. The
# wheel is built and installed into an environment of its own, build/figures, with the peers.
set -eu
cd "$(dirname "$0")/.."
python=$PWD/build/figures/bin/python

[ -x "$python" ] || python3 -m venv build/figures
rm -rf build/figures/wheel
"$python" -m pip -q --disable-pip-version-check wheel --no-deps -w build/figures/wheel .
"$python" -m pip -q --disable-pip-version-check install --force-reinstall --no-deps build/figures/wheel/*.whl
for peer in omnimalloc==1.0.0 distributed ray; do
    "$python" -m pip -q --disable-pip-version-check install "$peer" ||
        echo "PEER MISSING: $peer cannot be installed" >&2
done
ls -l build/figures/wheel
"$python" bench/omnimalloc_compare.py tests/data/fragmented.csv tests/data/inception_int8.tflite \
    tests/data/mobilenet_v1_025_96_int8.tflite tests/data/pte/kv_decoder.pte
"$python" bench/many_models.py "$@"
