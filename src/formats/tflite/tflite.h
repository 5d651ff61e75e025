/* Common parts of the .tflite format. */
#ifndef ARN_FORMATS_TFLITE_H
#define ARN_FORMATS_TFLITE_H

#include <arenaut/format.h>

#include "core/flatbuffer.h"

/* A file whose outermost table has been looked at, with the vectors through which all the
 * rest is found. */
typedef struct arn_tflite_model {
    arn_flatbuffer fb;
    arn_fb_table root;
    arn_fb_vector operator_codes, subgraphs, buffers, metadata, signatures;
} arn_tflite_model;

arenaut_status arn_tflite_open(const uint8_t *data, size_t size, arn_tflite_model *model,
                               arenaut_error *err);

/* The bytes that buffer `buffer` holds inside the flatbuffer; absent if it holds none, or
 * does not exist. */
arn_fb_vector arn_tflite_buffer_data(arn_tflite_model *model, uint32_t buffer);

/* The bytes of the last metadata entry of that name (the one that runtimes obey), and its
 * position in the vector; absent, and ARENAUT_NONE, if there is none. */
arn_fb_vector arn_tflite_metadata(arn_tflite_model *model, const char *name, uint32_t *index);
bool arn_tflite_metadata_is(arn_tflite_model *model, uint32_t index, const char *name);

/* Tensors of all subgraphs together, as a plan in the file numbers them; below 2^32 - 1. */
arenaut_status arn_tflite_count_tensors(arn_tflite_model *model, uint64_t *total,
                                        arenaut_error *err);

/* tflite_read.c */
arenaut_status arn_tflite_read(const uint8_t *data, size_t size,
                               const arenaut_read_options *options,
                               const arenaut_allocator *allocator, arenaut_program **out,
                               arenaut_error *err);

/* tflite_read_operator.c: effects of operators on memory. */
typedef struct arn_tflite_operator {
    int32_t builtin;
    arenaut_op_kind kind;
    /* The names of the subgraphs that it calls: the slot of the type of its options, the number
     * which that type must have, and the slots inside the options. */
    uint8_t options_slot, options_type;
    uint8_t n_calls, call_slot[2];
    /* The subgraph is the kernel's recipe; it never runs as such. */
    bool call_is_recipe;
} arn_tflite_operator;

/* The operator's name in the schema; NULL if the number is not known. */
const char *arn_tflite_operator_name(int32_t builtin);
bool arn_tflite_is_operator_name(const char *name);

/* tflite_model.c: the plan that a file holds, and our mark on it. */
#define ARN_TFLITE_PLAN_NAME "OfflineMemoryAllocation"
#define ARN_TFLITE_COMPRESSION_NAME "COMPRESSION_METADATA"
#define ARN_TFLITE_MARK_NAME "arenaut.plan"

enum {
    ARN_TFLITE_PLAN_HEAD = 12, /* version, subgraph, count: 32 bits each; then the offsets */
    ARN_TFLITE_MARK_SIZE = 136,
    ARN_TFLITE_CHECKSUM_AT = 5, /* in the mark */
    ARN_TFLITE_CHECKSUM_SIZE = 3,
};

/* The mark of a plan of ours: its kernels, and the data to take it out again. */
typedef struct arn_tflite_mark {
    uint64_t fingerprint;   /* of the program: all that a plan depends on */
    uint64_t plan_hash;     /* of the plan's bytes: has it been edited since? */
    uint64_t prefix_size;   /* bytes put in front of the original file */
    uint64_t original_size; /* and the size of that */
    uint64_t arena;
    bool archive_moved;            /* the places in a zip archive behind it were adjusted */
    char planner[33], version[17]; /* that made it; cut to fit */
    char kernels[33];              /* the set that it was made for; "": not said */
    uint64_t kernels_fingerprint;
    bool unmeasured;   /* rules of theirs that were only read counted too */
    uint32_t checksum; /* of the file as it was written; 24 bits */
} arn_tflite_mark;

void arn_tflite_store_mark(const arn_tflite_mark *mark, uint8_t to[ARN_TFLITE_MARK_SIZE]);

/* That of the hash of a file's bytes, with a mark in it that has no checksum. */
uint32_t arn_tflite_checksum(uint64_t hash);

typedef struct arn_tflite_plan {
    arn_fb_vector data; /* absent: the file holds no plan */
    size_t offsets;     /* where they begin: n_offsets numbers of 32 bits */
    uint32_t n_offsets;
    arn_fb_vector mark_data; /* absent: no mark of a kind that we know */
    arn_tflite_mark mark;
} arn_tflite_plan;

/* BAD_INPUT for a plan without room for its own counts, or not of `n_tensors` offsets:
 * the runtime refuses to start on those. */
arenaut_status arn_tflite_find_plan(arn_tflite_model *model, uint64_t n_tensors,
                                    arn_tflite_plan *plan, arenaut_error *err);

/* tflite_write.c */
arenaut_status arn_tflite_write(const arenaut_result *result, arenaut_sink sink,
                                const arenaut_allocator *allocator, arenaut_error *err);
/* Data that is named by its place in the file would be missed once it moves: REFUSED. */
arenaut_status arn_tflite_check_movable(arn_tflite_model *model, arenaut_error *err);
arenaut_status arn_tflite_strip(const uint8_t *data, size_t size, arenaut_sink sink,
                                const arenaut_allocator *allocator, arenaut_error *err);

/* tflite_compact.c */
arenaut_status arn_tflite_compact(const uint8_t *data, size_t size, arenaut_sink sink,
                                  const arenaut_allocator *allocator, arenaut_error *err);

#endif
