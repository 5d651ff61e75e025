/* Programs inside the library: made by readers and transforms, validated, copied and told apart.
 * Readers of fields and passes of a caller's own need no more than <arenaut/program.h>. */
#ifndef ARN_IR_PROGRAM_H
#define ARN_IR_PROGRAM_H

#include <string.h>

#include <arenaut/program.h>
#include <arenaut/rewrite.h>

const char *arn_op_kind_name(arenaut_op_kind kind); /* NULL out of range; static */

/* Whether an op of this kind reads or writes memory when it runs; the others only say
 * something about it. */
bool arn_op_kind_touches(arenaut_op_kind kind);

/* Whether an op of this kind brings the memory of its outputs, so that it is not planned. */
bool arn_op_kind_brings_memory(arenaut_op_kind kind);

const char *arn_binding_kind_name(arenaut_binding_kind kind); /* NULL out of range; static */

/* Makes an empty program. All parts reached from it live until _free. */
arenaut_status arn_program_new(const arenaut_allocator *allocator, arenaut_program **out,
                               arenaut_error *err);
void arn_program_free(arenaut_program *program); /* NULL is fine */

/* A deep copy of a program, with expressions and the facts stated by its file: changes of one do
 * not show in the other, and each is freed by itself. `allocator`, which may be NULL, serves the
 * copy. NO_MEMORY, with *out as it was. O(size of the program). */
arenaut_status arn_program_copy(const arenaut_program *program, const arenaut_allocator *allocator,
                                arenaut_program **out, arenaut_error *err);

/* Each copies its argument, with strings and arrays, and stores the index in *id (may be NULL). Ops
 * are added method by method: add_method, then all its ops; one whose file_index is left out gets
 * its number within the method, and ARENAUT_NONE is no number of one. Inputs and outputs of a
 * method may be set later (arenaut_program_set_method_io), once its tensors exist. Indices are
 * checked by arn_program_validate, not here. Amortised O(1). */
arenaut_status arn_program_add_method(arenaut_program *program, const char *name, bool entry,
                                      uint32_t *id, arenaut_error *err);
arenaut_status arn_program_add_op(arenaut_program *program, const arenaut_op *op, uint32_t *id,
                                  arenaut_error *err);

/* Copies the arenas that the file states for a method. */
arenaut_status arn_program_set_given_pools(arenaut_program *program, uint32_t method,
                                           const arenaut_given_pool *pools, uint32_t n_pools,
                                           arenaut_error *err);

/* Sets the bindings of a method, by copy. */
arenaut_status arn_program_set_bindings(arenaut_program *program, uint32_t method,
                                        const arenaut_binding *bindings, uint32_t n_bindings,
                                        arenaut_error *err);

/* Sets the dialect of the operators that the ops name. */
arenaut_status arn_program_set_dialect(arenaut_program *program, const char *dialect,
                                       arenaut_error *err);

/* Checks that every index is in range, views end at a tensor that is no view, lie inside it and
 * are of its device, calls do not recurse, arities fit the op kind, jumps stay in their method,
 * in-place pairs name arguments that exist, a scratch tensor belongs to one op, names of shared
 * state agree on dtype, size, and, where both state them, shape, strides and first value, and on
 * the device. BAD_INPUT naming the op or tensor. O(size of the program). */
arenaut_status arn_program_validate(const arenaut_program *program, arenaut_error *err);

/* A hash of all that a plan depends on: tensors, ops, and their operands. Additions of passes do
 * not count, so it is the same before and after them. Never 0 but by chance; the same in every
 * version. */
uint64_t arn_program_fingerprint(const arenaut_program *program);

/* Whether some operand of the op is compressed. O(inputs). */
bool arn_op_reads_compressed(const arenaut_program *program, const arenaut_op *op);

/* Whether an op is a plain call: a branch with one method for both cases, so that its condition
 * decides nothing. The micro runtime has no other way to run the same ops at several places. The
 * arguments are copied to the method's inputs before its first op, and its results from there
 * to the op's outputs after the last. */
static inline bool arn_is_plain_call(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_IF && op->n_calls == 2 && op->calls[0] == op->calls[1];
}

/* ---- comparisons ---- */

/* Of texts that may be NULL, of lists of ids, and of attributes with all that they state. */
static inline bool arn_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}
static inline bool arn_same_ids(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}
static inline bool arn_same_attribute(const arenaut_attribute *a, const arenaut_attribute *b) {
    return arn_same_text(a->name, b->name) && arn_same_text(a->text, b->text) &&
           a->n_numbers == b->n_numbers &&
           (a->n_numbers == 0 ||
            memcmp(a->numbers, b->numbers, a->n_numbers * sizeof *a->numbers) == 0);
}

/* For arn_sort_ids, with tensors that have such names as the context. */
static inline bool arn_by_qualified_name(const void *context, uint32_t a, uint32_t b) {
    const arenaut_tensor *tensors = (const arenaut_tensor *)context;
    return strcmp(tensors[a].qualified_name, tensors[b].qualified_name) < 0;
}

void arn_rewrite_free(arenaut_rewrite *rewrite); /* NULL is fine */

#endif
