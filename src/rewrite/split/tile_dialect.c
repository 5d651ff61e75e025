/* The dialects that tiles are made in, by the name that a program has. */
#include "rewrite/split/tile_dialect.h"

#include <string.h>

extern const arn_tile_dialect arn_tile_tflite, arn_tile_onnx, arn_tile_aten;

static const arn_tile_dialect *const dialects[] = {&arn_tile_tflite, &arn_tile_onnx,
                                                   &arn_tile_aten};

static bool same_names(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

const arn_tile_dialect *arn_tile_dialect_find(const char *name) {
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        if (same_names(dialects[i]->name, name)) return dialects[i];
    }
    return NULL;
}

const char *arn_tile_dialect_refuse(const arn_tile_dialect *dialect, arenaut_split_mode mode) {
    const bool called = mode == ARENAUT_SPLIT_ROWS_CALLED || mode == ARENAUT_SPLIT_KEPT_CALLED;
    if (called && !dialect->calls) return "tiles of this format are no calls";
    if (arn_tile_by_channels(mode) && !dialect->channels) {
        return "tiles of this format are rows, not channels";
    }
    return NULL;
}
