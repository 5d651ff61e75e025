/* The state that the parts of the .tflite reader share: tflite_read.c walks the model,
 * tflite_read_tensor.c and tflite_read_operator.c take one thing each, and
 * tflite_reader.c has their common functions. All that is copied is charged against an allowance
 * (core/allowance.h). */
#ifndef ARN_FORMATS_TFLITE_TFLITE_READER_H
#define ARN_FORMATS_TFLITE_TFLITE_READER_H

#include "core/allowance.h"
#include "core/memory.h"
#include "formats/tflite/tflite.h"

enum { ARN_TFLITE_NAME_LIMIT = 4096 }; /* longer names are cut */

typedef struct arn_tflite_reader {
    arn_tflite_model model;
    arn_tflite_plan plan;
    arn_flatbuffer compression; /* inside the model: which constants are compressed */
    arn_fb_vector compressed;   /* its list of subgraphs; empty: none are */
    arenaut_program *program;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_allowance allowance;
    /* The part being read, for messages: this object of this subgraph, the subgraph itself if the
     * object is NULL, or the model if the subgraph is ARENAUT_NONE. */
    const char *object;
    uint32_t object_index, subgraph;
    uint32_t first_tensor, n_tensors; /* of the subgraph */
    uint32_t n_dynamic;               /* tensors whose shape the runtime may change */
    uint8_t *called;                  /* per subgraph: some operator refers to it */
    arn_id_list inputs, outputs;
    int64_t *dims;
    uint32_t dims_capacity;
    char name[ARN_TFLITE_NAME_LIMIT + 1];
} arn_tflite_reader;

/* "operator 3 of subgraph 0", "subgraph 0" or "model". */
enum { ARN_TFLITE_PLACE_SIZE = 80 };
const char *arn_tflite_place(const arn_tflite_reader *r, char store[ARN_TFLITE_PLACE_SIZE]);
void arn_tflite_now(arn_tflite_reader *r, const char *object, uint32_t index);

/* The flatbuffer's status of all reads since the last call. */
arenaut_status arn_tflite_status(const arn_tflite_reader *r);
arenaut_status arn_tflite_charge(arn_tflite_reader *r, uint64_t count, uint64_t cost);

/* A copy of a text, cut to ARN_TFLITE_NAME_LIMIT bytes (between characters, if it is UTF-8), that
 * is good until the next call; NULL if there is none. */
arenaut_status arn_tflite_text(arn_tflite_reader *r, arn_fb_table table, unsigned slot,
                               const char **text);

/* Indices of tensors of this subgraph, as ids of the program. -1 stands for an argument
 * left out, where `optional`. */
arenaut_status arn_tflite_ids(arn_tflite_reader *r, arn_fb_table table, unsigned slot,
                              bool optional, const char *list, arn_id_list *out);

/* Attributes of an operator that a plan may depend on, valid as long as the list. */
enum {
    ARN_TFLITE_MOST_ATTRIBUTES = 8,                             /* of one operator */
    ARN_TFLITE_ATTRIBUTE_COST = sizeof(arenaut_attribute) + 80, /* with its name and numbers */
};
typedef struct arn_tflite_attribute_list {
    uint32_t n;
    arenaut_attribute attributes[ARN_TFLITE_MOST_ATTRIBUTES];
    int64_t numbers[ARN_TFLITE_MOST_ATTRIBUTES][2];
} arn_tflite_attribute_list;

/* Finds the list of compressed constants, and marks the constants of the subgraph that is being
 * read. */
arenaut_status arn_tflite_find_compressed(arn_tflite_reader *r);
arenaut_status arn_tflite_take_compressed(arn_tflite_reader *r);

/* Each adds one thing to the program. */
arenaut_status arn_tflite_read_tensor(arn_tflite_reader *r, arn_fb_table table, uint32_t index);
arenaut_status arn_tflite_read_operator(arn_tflite_reader *r, arn_fb_table table);

#endif
