/* The state that the parts of the .pte reader share: pte_read.c walks the methods,
 * pte_read_tensor.c and pte_read_instruction.c take one each, with the effects of kernels and loops
 * on memory, and pte_model.c has their common functions. All that is copied is charged against an
 * allowance (core/allowance.h). */
#ifndef ARN_FORMATS_PTE_PTE_READER_H
#define ARN_FORMATS_PTE_PTE_READER_H

#include "core/allowance.h"
#include "core/memory.h"
#include "formats/pte/pte.h"

enum { ARN_PTE_NAME_LIMIT = 1024 }; /* longer names are cut */

/* A value of the method being read. */
typedef struct arn_pte_value {
    arn_fb_table table; /* of its own type; absent for Null */
    uint32_t tensor;    /* in the program; ARENAUT_NONE: not a tensor */
    uint8_t type;
    bool written; /* by an instruction, or by the caller */
    bool marked;  /* scratch of the reader of one instruction; false before and after */
} arn_pte_value;

typedef struct arn_pte_reader {
    arn_pte_model model;
    const uint8_t *data; /* of the file, as far as it is at hand */
    size_t size;
    uint64_t n_hashed; /* bytes of first values that were looked at */
    arenaut_program *program;
    const arenaut_allocator *allocator;
    arenaut_error *err;
    arn_allowance allowance;
    /* The part being read, for messages: this object of this method, or the method itself if the
     * object is NULL. */
    const char *object;
    uint32_t object_index, method;
    arn_fb_table plan; /* of the method */
    arn_fb_vector operators, delegates;
    arn_pte_value *values; /* of the method */
    uint32_t n_values, values_capacity;
    arenaut_given_pool *pools; /* of the method */
    uint32_t n_pools, pools_capacity;
    uint32_t n_instructions, instruction; /* of the method; the one at work */
    uint32_t last_scalar; /* of the method: the last op that named a number which is written, by
                           * instructions or the caller; ARENAUT_NONE: none has */
    uint32_t n_dynamic;   /* tensors whose shape may change at run time */
    uint32_t n_constants; /* values that tensors may refer to */
    arn_fb_vector mutable_segments;
    arn_id_list args, inputs, outputs;
    int64_t *dims, *strides; /* of the tensor at work; both with room for dims_capacity */
    uint32_t dims_capacity, strides_capacity;
    char name[2 * ARN_PTE_NAME_LIMIT + 2], overload[ARN_PTE_NAME_LIMIT + 1];
    char source[2 * ARN_PTE_NAME_LIMIT + 32];
} arn_pte_reader;

/* "method 'forward': instruction 3", "method 'forward'" or "program". */
enum { ARN_PTE_PLACE_SIZE = 120 };
void arn_pte_now(arn_pte_reader *r, const char *object, uint32_t index);

/* The flatbuffer's status of all reads since the last call. */
arenaut_status arn_pte_status(const arn_pte_reader *r);
arenaut_status arn_pte_charge(arn_pte_reader *r, uint64_t count, uint64_t cost);
/* Fails with "PLACE: TEXT". */
arenaut_status arn_pte_bad(const arn_pte_reader *r, arenaut_status code, size_t at,
                           const char *what);

/* Copies a text, cut to ARN_PTE_NAME_LIMIT bytes (between characters, if it is UTF-8), to
 * `store`, which has room for one more; "" if there is none. */
arenaut_status arn_pte_text(arn_pte_reader *r, arn_fb_table table, unsigned slot, char *store);

/* The value that an instruction or a list names; NULL, and BAD_INPUT stored, if none. */
arn_pte_value *arn_pte_value_at(arn_pte_reader *r, int32_t index, size_t at, const char *what);

arenaut_status arn_pte_push(arn_pte_reader *r, arn_id_list *to, uint32_t id);

/* Appends the tensors of one argument: the tensor, the items of a list of tensors (ARENAUT_NONE for
 * one left out), or ARENAUT_NONE for a value that is no tensor, so that arguments before a list
 * keep their numbers. */
arenaut_status arn_pte_append(arn_pte_reader *r, const arn_pte_value *value, arn_id_list *to);

/* Finds the alignment of the method's tensors, from `first_tensor` on. */
arenaut_status arn_pte_find_alignment(arn_pte_reader *r, uint32_t first_tensor);

/* Each adds one thing to the program. */
arenaut_status arn_pte_read_tensor(arn_pte_reader *r, uint32_t index);
arenaut_status arn_pte_read_instruction(arn_pte_reader *r, arn_fb_table table, const char *source);

/* The attributes of one call. */
enum { ARN_PTE_MOST_ATTRIBUTES = 5 };
typedef struct arn_pte_attributes {
    uint32_t n;
    arenaut_attribute made[ARN_PTE_MOST_ATTRIBUTES];
    int64_t numbers[ARN_PTE_MOST_ATTRIBUTES][4];
} arn_pte_attributes;

/* Of a kernel call, whose name is in r->name; none if they are not known. */
void arn_pte_read_attributes(arn_pte_reader *r, arn_fb_table call, arn_pte_attributes *out);

/* pte_read_instruction.c, when the method's instructions have been read. */
arenaut_status arn_pte_begin_loops(arn_pte_reader *r);

/* Notes which values the instruction writes, or may write. Instructions come later than
 * values, so this goes before the first arn_pte_read_instruction. */
arenaut_status arn_pte_note_writes(arn_pte_reader *r, arn_fb_table table);

#endif
