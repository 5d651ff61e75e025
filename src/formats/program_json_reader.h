/* The state that the parts of the reader of arenaut.program/1 share: program_json_read.c reads the
 * whole, its methods and their ops, program_json_tensors.c tensors. */
#ifndef ARN_FORMATS_PROGRAM_JSON_READER_H
#define ARN_FORMATS_PROGRAM_JSON_READER_H

#include "formats/json_reader.h"
#include "formats/program_json.h"

/* Facts that the text states of a tensor; the rest is concluded. */
enum { ARN_CLASS_STATED = 1, ARN_METHOD_STATED = 2, ARN_DEVICE_STATED = 4 };

/* A tensor whose method is not known yet. */
#define ARN_METHOD_UNSEEN (ARENAUT_NONE - 1)

typedef struct arn_program_json_reader {
    arn_json_reader json;
    arenaut_program *program;
    arn_json_list tensors, methods;
    uint8_t *stated;    /* per tensor */
    uint32_t lanes;     /* of tensors that do not state them */
    bool *entry_stated; /* per method */
    /* Reused from object to object. */
    uint32_t *ids;
    int64_t *dims, *strides, *numbers;
    uint32_t *exprs, *stride_exprs;
    arenaut_overlap *overlaps;
    uint32_t overlap_capacity;
    arenaut_in_place *pairs;
    arenaut_binding *bindings;
    uint32_t n_ids, id_capacity, dim_capacity, stride_capacity, expr_capacity, pair_capacity;
    uint32_t binding_capacity, n_numbers, number_capacity, stride_expr_capacity;
} arn_program_json_reader;

/* Part of the ids, which may move while it grows. */
typedef struct arn_program_json_ids {
    uint32_t first, n;
} arn_program_json_ids;

static inline bool arn_program_json_grow(arn_program_json_reader *r, void **array,
                                         uint32_t *capacity, uint64_t needed, size_t size) {
    if (arn_grow(r->json.allocator, array, capacity, needed, size)) return true;
    if (arn_json_fine(&r->json)) r->json.status = arn_no_memory(r->json.err);
    return false;
}

/* ---- program_json_tensors.c ---- */

void arn_program_json_read_tensors(arn_program_json_reader *r);
/* Numbers, appended to r->numbers; returns how many. */
uint32_t arn_program_json_read_values(arn_program_json_reader *r, uint32_t array);

/* The class and the method of tensors, if the text does not state them, are concluded from their
 * uses. A tensor that two methods use belongs to all. */
void arn_program_json_note_use(arn_program_json_reader *r, arn_program_json_ids list,
                               uint32_t method);
void arn_program_json_conclude_class(arn_program_json_reader *r, const uint32_t *ids, uint32_t n,
                                     arenaut_class cls);

static inline const uint32_t *arn_program_json_at(const arn_program_json_reader *r,
                                                  arn_program_json_ids list) {
    return list.n ? r->ids + list.first : NULL;
}

#endif
