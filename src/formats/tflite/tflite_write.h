/* Parts of the writers of .tflite files: a new root in front of a model, the graph of a rewritten
 * program in it, and the zip archive behind. */
#ifndef ARN_FORMATS_TFLITE_TFLITE_WRITE_H
#define ARN_FORMATS_TFLITE_TFLITE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/flatbuffer.h"
#include "formats/tflite/tflite.h"

typedef struct arn_tflite_zip_tail {
    size_t directory; /* where the central directory begins; size of the file: no archive */
    size_t end;       /* where the record that ends it begins */
    uint32_t entries;
    bool large; /* of the 64-bit kind, whose records are not understood here */
} arn_tflite_zip_tail;

/* Looks for an archive that ends where the file ends and whose places count from the
 * file's start. O(entries). */
arn_tflite_zip_tail arn_tflite_zip_find(const uint8_t *data, size_t size);

/* Adds `delta` (modulo 2^32, so that it may go back) to every place that `tail`, a copy of
 * the file from the directory on, holds. */
void arn_tflite_zip_move(uint8_t *tail, const arn_tflite_zip_tail *zip, uint32_t delta);

/* REFUSED unless the model, all of its constants included, can be read without the archive's
 * directory: what lies in there changes where the archive moves. */
arenaut_status arn_tflite_check_apart(const arn_tflite_model *model, size_t directory,
                                      const arenaut_allocator *allocator, arenaut_error *err);

/* The graph of a rewritten program, in front of the model that it was made of. */

/* Buffers that the graph adds to the model's. */
uint32_t arn_tflite_added_buffers(const arenaut_rewrite *rewrite);

/* Adds operator codes, subgraphs and buffers, and leads the root's fields to them. `buffers`: the
 * model's vector of buffers, with room for added ones behind the old ones. REFUSED if a tensor or
 * operator cannot be written, with its name. */
arenaut_status arn_tflite_add_rewritten(arn_fb_prefix *prefix, arn_tflite_model *model,
                                        const arenaut_program *before,
                                        const arenaut_rewrite *rewrite, arn_fb_new_table root,
                                        size_t buffers, arenaut_error *err);

/* The bytes that go in front of a model to give it a plan. */

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
