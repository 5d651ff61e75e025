/* alias-views: an op that gives its operand another shape, and nothing else, makes an
 * alias of the same memory.
 *
 * Results of a method keep memory of their own, since that belongs to the caller. */
#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/memory.h"
#include "dialects/dialect.h"
#include "ir/store.h"

/* Whether output 0 of the op holds just the bytes of its input 0. */
static bool is_whole_view(const arenaut_program *p, const arenaut_dialect *dialect,
                          const arenaut_op *op, const uint8_t *is_result) {
    const arenaut_operator *known = arn_dialect_operator(dialect, op->name);
    if (!known || !(known->traits & ARENAUT_TRAIT_VIEW)) return false;
    if (op->kind != ARENAUT_OP_OUT && op->kind != ARENAUT_OP_FUNCTIONAL) return false;
    if (op->n_inputs == 0 || op->n_outputs == 0 || op->inputs[0] == ARENAUT_NONE ||
        op->outputs[0] == ARENAUT_NONE) {
        return false;
    }
    const arenaut_tensor *from = &p->tensors[op->inputs[0]], *to = &p->tensors[op->outputs[0]];
    return op->n_in_place == 0 && from->method == to->method && from->bytes == to->bytes &&
           from->bytes > 0 && !from->strides && !to->strides && to->cls == ARENAUT_INTERMEDIATE &&
           from->cls != ARENAUT_CONSTANT && to->view_of == ARENAUT_NONE &&
           !is_result[op->outputs[0]];
}

/* If the op has another result, such as Dropout's mask, it still writes: the view is then a result
 * written over its operand. */
static bool writes_more(const arenaut_op *op) {
    for (uint32_t i = 1; i < op->n_outputs; i++) {
        if (op->outputs[i] != ARENAUT_NONE) return true;
    }
    return false;
}

static arenaut_status make_view(arenaut_program *p, arenaut_op *op, arenaut_error *err) {
    arenaut_tensor *to = &p->tensors[op->outputs[0]];
    uint64_t offset;
    if (!writes_more(op)) {
        op->kind = ARENAUT_OP_VIEW;
    } else {
        arenaut_in_place *pair = arenaut_program_alloc(p, sizeof *pair);
        if (!pair) return arn_no_memory(err);
        *pair = (arenaut_in_place){0, 0};
        op->in_place = pair;
        op->n_in_place = 1;
    }
    to->view_of = arenaut_program_storage(p, op->inputs[0], &offset);
    to->view_offset = offset;
    return ARENAUT_OK;
}

static arenaut_status alias_views_run(arenaut_program *program, const arenaut_pass_options *options,
                                      arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(program->dialect);
    const arenaut_allocator *allocator = arn_program_allocator(program);
    (void)options;
    uint8_t *is_result = arn_allocate_zeroed(allocator, program->n_tensors, sizeof *is_result);
    if (!is_result) return arn_no_memory(err);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        const arenaut_method *method = &program->methods[m];
        for (uint32_t i = 0; i < method->n_outputs; i++) is_result[method->outputs[i]] = 1;
    }
    arenaut_status st = ARENAUT_OK;
    /* Ops make their results before others use them, so storages are final when looked at. */
    for (uint32_t i = 0; i < program->n_ops && st == ARENAUT_OK; i++) {
        arenaut_op *op = &program->ops[i];
        if (is_whole_view(program, dialect, op, is_result)) st = make_view(program, op, err);
    }
    arn_release(allocator, is_result);
    return st;
}

extern const arenaut_pass arn_pass_alias_views;
const arenaut_pass arn_pass_alias_views = {
    .name = "alias-views",
    .summary = "ops that only give an operand another shape share its memory",
    .by_default = false,
    .run = alias_views_run,
};
