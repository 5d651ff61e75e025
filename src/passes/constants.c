/* Constants: tensors that nothing writes, and results computed from constants alone. */
#include <string.h>

#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "dialects/dialect.h"
#include "ir/program.h"
#include "ir/store.h"
#include "passes/program_edit.h"

/* fold-constants: constant folding without values: a result computed from constants alone is a
 * constant.
 *
 * Runtimes compute such values once, when they load the model, and keep them with the weights; some
 * files hold nothing but the recipe for all of their weights. The ops stay, so that ops keep their
 * numbers; they touch no planned memory. */

/* An unknown operator may do anything, and some make other numbers each time. */
static bool may_fold(const arenaut_dialect *dialect, const arenaut_op *op) {
    const arenaut_operator *known = arn_dialect_operator(dialect, op->name);
    return known && !(known->traits & ARENAUT_TRAIT_VARIES);
}

static bool all_constant(const arenaut_program *p, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && p->tensors[t].cls != ARENAUT_CONSTANT) return false;
    }
    return true;
}

/* A result of the program is handed out, even a constant one: it stays a result. Tensors of a
 * method that an op calls are computed at each call. */
static void fold(arenaut_program *p, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        arenaut_tensor *tensor = &p->tensors[op->outputs[i]];
        if (tensor->cls == ARENAUT_INTERMEDIATE) tensor->cls = ARENAUT_CONSTANT;
    }
}

static arenaut_status fold_constants_run(arenaut_program *program,
                                         const arenaut_pass_options *options, arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(program->dialect);
    (void)options;
    (void)err;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        if (may_fold(dialect, op) && all_constant(program, op)) fold(program, op);
    }
    return ARENAUT_OK;
}

extern const arenaut_pass arn_pass_fold_constants;
const arenaut_pass arn_pass_fold_constants = {
    .name = "fold-constants",
    .summary = "treats values computed from constants alone as constants",
    .by_default = false,
    .run = fold_constants_run,
};

/* constants: constant detection. A buffer of the model that no op writes is a constant, and stays
 * outside of the arena with the weights. A buffer that several methods share counts as written: it
 * must be in one place for all of them. */

static void mark(const arenaut_program *p, bool *written, uint32_t tensor) {
    if (tensor != ARENAUT_NONE) written[arenaut_program_storage(p, tensor, NULL)] = true;
}

/* An update without results may be one of any of its operands. */
static void mark_updates(const arenaut_program *p, const arenaut_op *op, bool *written) {
    if (op->kind == ARENAUT_OP_DELEGATE ||
        (op->kind == ARENAUT_OP_IN_PLACE && op->n_outputs == 0)) {
        for (uint32_t i = 0; i < op->n_inputs; i++) mark(p, written, op->inputs[i]);
    } else if (op->kind == ARENAUT_OP_IN_PLACE && op->n_in_place == 0 && op->n_inputs > 0) {
        mark(p, written, op->inputs[0]);
    }
    for (uint32_t i = 0; i < op->n_in_place; i++)
        mark(p, written, op->inputs[op->in_place[i].input]);
    for (uint32_t i = 0; i < op->n_outputs && op->kind != ARENAUT_OP_VIEW; i++) {
        mark(p, written, op->outputs[i]);
    }
}

/* `ids` has room for twice the tensors. */
static void mark_shared(const arenaut_program *p, bool *written, uint32_t *ids) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (p->tensors[t].qualified_name) ids[n++] = t;
    }
    arn_sort_ids(ids, n, arn_by_qualified_name, p->tensors, ids + n);
    for (uint32_t i = 1; i < n; i++) {
        const char *a = p->tensors[ids[i - 1]].qualified_name,
                   *b = p->tensors[ids[i]].qualified_name;
        if (strcmp(a, b) == 0) written[ids[i - 1]] = written[ids[i]] = true;
    }
}

static arenaut_status constants_run(arenaut_program *p, const arenaut_pass_options *options,
                                    arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    bool *written = arn_allocate_zeroed(allocator, p->n_tensors, sizeof *written);
    uint32_t *ids = arn_allocate(allocator, p->n_tensors, 2 * sizeof *ids);
    arenaut_status st = written && ids ? ARENAUT_OK : arn_no_memory(err);
    (void)options;
    if (st == ARENAUT_OK) {
        mark_shared(p, written, ids);
        for (uint32_t i = 0; i < p->n_ops; i++) mark_updates(p, &p->ops[i], written);
        for (uint32_t m = 0; m < p->n_methods; m++) {
            for (uint32_t i = 0; i < p->methods[m].n_bindings; i++) {
                mark(p, written, p->methods[m].bindings[i].target);
            }
        }
        for (uint32_t t = 0; t < p->n_tensors; t++) {
            const bool state =
                p->tensors[t].cls == ARENAUT_STATE && p->tensors[t].view_of == ARENAUT_NONE;
            if (state && !written[t]) p->tensors[t].cls = ARENAUT_CONSTANT;
        }
    }
    ARN_RELEASE(allocator, written, ids);
    return st;
}

extern const arenaut_pass arn_pass_constants;
const arenaut_pass arn_pass_constants = {
    .name = "constants",
    .summary = "moves buffers that nothing writes out of the arena, to the weights",
    .run = constants_run,
};
