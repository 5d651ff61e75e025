/* The state that the parts of the reader of XLA's dumps share: xla_assignment.c takes
 * logical buffers, the allocations that they lie in, their names and their live ranges; xla_read.c
 * has the order, and makes problem and plan.
 *
 * A *value* here is XLA's logical buffer: the result of one instruction. */
#ifndef ARN_FORMATS_XLA_XLA_READER_H
#define ARN_FORMATS_XLA_XLA_READER_H

#include <arenaut/format.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/protobuf.h"
#include "formats/xla/xla_schema.h"

/* Gives a problem, and the plan that XLA made for it. */
arenaut_status arn_xla_read(const uint8_t *data, size_t size, const arenaut_read_options *options,
                            const arenaut_allocator *allocator, arenaut_document *out,
                            arenaut_error *err);

enum {
    ARN_XLA_NAME_LIMIT = 256,   /* of an instruction; longer ones are cut */
    ARN_XLA_SOURCE_LIMIT = 512, /* of where it comes from, likewise */
    ARN_XLA_FIELDS = 36,        /* of small messages: the largest number that is read is 35 */
};

/* A small message, field by field: the last of each number; zero where it is absent. */
typedef struct arn_xla_fields {
    uint64_t number[ARN_XLA_FIELDS];
    arn_pb_bytes bytes[ARN_XLA_FIELDS];
} arn_xla_fields;

typedef struct arn_xla_value {
    uint64_t size, offset;   /* of its place in the allocation */
    size_t at;               /* of its message in the file */
    arn_pb_bytes defined_at; /* size 0: not said */
    uint32_t allocation;     /* ARENAUT_NONE: in none */
    uint32_t root;           /* the value whose place it takes; itself */
    int64_t first, end;      /* steps; first == ARN_XLA_UNTRACED: no trace tells. An end of
                              * first means that it has not been freed yet */
} arn_xla_value;

enum { ARN_XLA_UNTRACED = -1 };

/* The purpose of an allocation: each kind but the first is a pool. */
typedef enum arn_xla_kind {
    ARN_XLA_THREAD_LOCAL, /* a stack's, not the program's */
    ARN_XLA_PARAMETERS,
    ARN_XLA_OUTPUTS,
    ARN_XLA_CONSTANTS,
    ARN_XLA_OTHERS,
    ARN_XLA_KINDS
} arn_xla_kind;

typedef struct arn_xla_allocation {
    uint64_t index, size;
    arn_xla_kind kind;
    uint32_t largest; /* of its values; ARENAUT_NONE: it has none */
    bool traced;      /* a trace tells of one of its values */
    uint32_t trace;   /* which one */
    uint64_t offsets; /* the bits of all its values' offsets */
    uint32_t pool;    /* of a traced one */
} arn_xla_allocation;

typedef struct arn_xla {
    const uint8_t *data;
    size_t size;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_pb_bytes module, assignment;
    uint64_t *value_ids, *instruction_ids; /* as the file numbers them, and the same in order */
    uint32_t *values_in_order, *instructions_in_order;
    arn_xla_value *values;
    arn_pb_bytes *instructions;
    arn_xla_allocation *allocations;
    arn_pb_bytes *files, *places, *frames; /* of the stack, each numbered from 1 */
    uint32_t n_values, n_instructions, n_allocations, n_files, n_places, n_frames;
    uint32_t value_capacity, value_id_capacity, instruction_capacity, instruction_id_capacity;
    uint32_t allocation_capacity, file_capacity, place_capacity, frame_capacity;
    int64_t n_events; /* of all traces so far */
    uint32_t n_traces;
    /* The label at work. */
    char name[ARN_XLA_NAME_LIMIT + 64], op[ARN_XLA_NAME_LIMIT + 1];
    char source[ARN_XLA_SOURCE_LIMIT + ARN_XLA_NAME_LIMIT + 32];
    /* Of the problem at work. */
    arenaut_problem *problem;
    uint64_t *offsets; /* per buffer */
    arenaut_interval *lives;
    uint32_t offset_capacity, life_capacity;
} arn_xla;

/* Appends one element to an array of `size` bytes each, of which there are *n. */
arenaut_status arn_xla_append(const arn_xla *r, void **array, uint32_t *capacity, uint32_t *n,
                              const void *element, size_t size);

arenaut_status arn_xla_read_module(arn_xla *r);
/* Fills r->name, r->op and r->source, each "" where the file does not say. */
arenaut_status arn_xla_label(arn_xla *r, const arn_xla_value *value);

arenaut_status arn_xla_read_values(arn_xla *r);
arenaut_status arn_xla_read_allocations(arn_xla *r);

arenaut_status arn_xla_read_traces(arn_xla *r);

#endif
