/* The bytes that go in front of a model to give it a plan. */
#ifndef ARN_FORMATS_TFLITE_TFLITE_PREFIX_H
#define ARN_FORMATS_TFLITE_TFLITE_PREFIX_H

#include "core/flatbuffer.h"
#include "formats/tflite/tflite.h"

/* A graph that takes the place of the model's. */
typedef struct arn_tflite_new_graph {
    const arenaut_program *before;  /* as the model holds it */
    const arenaut_rewrite *rewrite; /* NULL: the graph stays */
} arn_tflite_new_graph;

/* Makes the prefix: a new root table that shares all but two vectors with the old one, the two
 * vectors with one more plan and mark (entries of those names are left out), and the plan itself,
 * `plan_size` bytes; and the new graph. mark->prefix_size is the length of a prefix of ours in the
 * model already; it and original_size are filled in. REFUSED for a model that cannot have anything
 * in front of it. */
arenaut_status arn_tflite_make_prefix(arn_tflite_model *model, const arn_tflite_new_graph *graph,
                                      const uint8_t *plan, size_t plan_size, arn_tflite_mark *mark,
                                      arn_fb_prefix *prefix, arenaut_error *err);

#endif
