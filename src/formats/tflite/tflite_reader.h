/* What the parts of the .tflite reader share: tflite_read.c walks the model, tflite_read_tensor.c
 * and tflite_read_operator.c take one thing each.
 *
 * A flatbuffer may use one part in many places, so a small file can stand for a huge
 * program. All that is copied is therefore charged against an allowance that is a multiple
 * of the file's size, which bounds time too: nothing is visited free of charge. */
#ifndef ARN_FORMATS_TFLITE_TFLITE_READER_H
#define ARN_FORMATS_TFLITE_TFLITE_READER_H

#include "formats/tflite/tflite.h"

enum { ARN_NAME_LIMIT = 4096 }; /* longer names are cut */

typedef struct arn_id_list {
    uint32_t *ids;
    uint32_t count, capacity;
} arn_id_list;

typedef struct arn_reader {
    arn_tflite_model model;
    arn_tflite_plan plan;
    arenaut_program *program;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    uint64_t allowance; /* bytes of memory that may still be asked for */
    bool limited;       /* the caller's limit, not the file's size, set the allowance */
    /* What is being read, for messages: this object of this subgraph, the subgraph itself
     * if the object is NULL, or the model if the subgraph is ARENAUT_NONE. */
    const char *object;
    uint32_t object_index, subgraph;
    uint32_t first_tensor, n_tensors; /* of the subgraph */
    uint32_t n_dynamic;               /* tensors whose shape the runtime may change */
    uint8_t *called;                  /* per subgraph: some operator refers to it */
    arn_id_list inputs, outputs;
    int64_t *dims;
    uint32_t dims_capacity;
    char name[ARN_NAME_LIMIT + 1];
} arn_reader;

/* "operator 3 of subgraph 0", "subgraph 0" or "model". */
enum { ARN_PLACE_SIZE = 80 };
const char *arn_reader_place(const arn_reader *r, char store[ARN_PLACE_SIZE]);
void arn_reader_now(arn_reader *r, const char *object, uint32_t index);

/* What the flatbuffer has to say about all that was read since it was last asked. */
arenaut_status arn_reader_status(const arn_reader *r);
arenaut_status arn_reader_charge(arn_reader *r, uint64_t count, uint64_t cost);

/* A copy of a text, cut to ARN_NAME_LIMIT bytes (between characters, if it is UTF-8), that
 * is good until the next call; NULL if there is none. */
arenaut_status arn_reader_text(arn_reader *r, arn_fb_table table, unsigned slot, const char **text);

/* Indices of tensors of this subgraph, as ids of the program. -1 stands for an argument
 * left out, where `optional`. */
arenaut_status arn_reader_ids(arn_reader *r, arn_fb_table table, unsigned slot, bool optional,
                              const char *list, arn_id_list *out);

/* Each adds one thing to the program. */
arenaut_status arn_read_tensor(arn_reader *r, arn_fb_table table, uint32_t index);
arenaut_status arn_read_operator(arn_reader *r, arn_fb_table table);

#endif
