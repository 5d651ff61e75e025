#!/bin/sh
# Plans a real model that the repo ships (MobileNet v1 0.25, 96x96, int8), shows what its
# arena needs before and after and why, and draws the picture.
set -eu
model=tests/data/mobilenet_v1_025_96_int8.tflite
out=build/demo
arenaut=build/arenaut
mkdir -p "$out"

say() { printf '\n$ %s\n' "$*"; "$@"; }

say $arenaut size $model
say $arenaut plan $model -f -o "$out/planned.tflite"
say $arenaut check "$out/planned.tflite"
say $arenaut explain $model
say $arenaut view $model --ascii
say $arenaut view $model --svg -f -o "$out/planned.svg"
say $arenaut view $model -f -o "$out/planned.html"
say $arenaut export $model --as header -f -o "$out/planned.h"
say $arenaut plan $model --split on --overlap on -f -o "$out/smaller.tflite"

cat <<END

$out/planned.tflite runs on the stock tflite-micro runtime and needs the smaller arena;
$out/planned.svg is the picture, $out/planned.html the page, $out/planned.h the plan for C.
$out/smaller.tflite computes the same in tiled ops, results over operands.
END
