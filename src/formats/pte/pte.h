/* Common parts of the .pte format.
 *
 * Every .pte holds a plan, since the runtime has no other way to place a tensor; there is
 * none to be added, told apart from the exporter's, or taken out. So a program read from
 * one says ARENAUT_GIVEN_NONE, its tensors have given places, and a plan of ours carries
 * no mark: planning a planned file again finds nothing better, and writing the places that
 * a file has gives the same bytes. */
#ifndef ARN_FORMATS_PTE_H
#define ARN_FORMATS_PTE_H

#include <arenaut/format.h>

#include "core/flatbuffer.h"

/* A file whose header and outermost table have been looked at. The flatbuffer ends where the header
 * says; bytes behind it (weights, delegates' blobs) are never read. */
typedef struct arn_pte_model {
    arn_flatbuffer fb;
    size_t file_size;
    bool has_header;
    uint64_t segment_base; /* 0: none */
    arn_fb_table root;
    arn_fb_vector plans;
} arn_pte_model;

/* The first `size` bytes of a file of `file_size`; all of the program must be among them. */
arenaut_status arn_pte_open(const uint8_t *data, size_t size, size_t file_size,
                            arn_pte_model *model, arenaut_error *err);

/* Whether XNNPACK, which reads a little past the end of its arguments, runs in a method. */
bool arn_pte_has_xnnpack(arn_pte_model *model, arn_fb_table plan);

/* pte_read.c */
arenaut_status arn_pte_read(const uint8_t *data, size_t size, size_t file_size,
                            const arenaut_read_options *options, const arenaut_allocator *allocator,
                            arenaut_program **out, arenaut_error *err);

/* pte_write.c */
arenaut_status arn_pte_write(const arenaut_result *result, arenaut_sink sink,
                             const arenaut_allocator *allocator, arenaut_error *err);

#endif
