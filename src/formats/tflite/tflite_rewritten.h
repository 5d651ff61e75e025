/* The graph of a rewritten program, in front of the model that it was made of. */
#ifndef ARN_FORMATS_TFLITE_TFLITE_REWRITTEN_H
#define ARN_FORMATS_TFLITE_TFLITE_REWRITTEN_H

#include "core/flatbuffer.h"
#include "formats/tflite/tflite.h"

/* Buffers that the graph adds to the model's. */
uint32_t arn_tflite_added_buffers(const arenaut_rewrite *rewrite);

/* Adds operator codes, subgraphs and buffers, and leads the root's fields to them. `buffers`: the
 * model's vector of buffers, with room for added ones behind the old ones. REFUSED if a tensor or
 * operator cannot be written, with its name. */
arenaut_status arn_tflite_add_rewritten(arn_fb_prefix *prefix, arn_tflite_model *model,
                                        const arenaut_program *before,
                                        const arenaut_rewrite *rewrite, arn_fb_new_table root,
                                        size_t buffers, arenaut_error *err);

#endif
