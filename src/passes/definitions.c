/* definitions: definite assignment, a check that each tensor is written before it is read.
 *
 * Runtimes that plan a graph of expressions refuse other programs, too. Elsewhere a tensor that is
 * read first may hold a value from the caller or from an earlier run. */
#include <inttypes.h>

#include <arenaut/pass.h>

#include "analysis/basic_blocks.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"

typedef struct definitions {
    const arenaut_program *program;
    bool *defined; /* per storage */
    arenaut_error *err;
} definitions;

static uint32_t storage_of(const definitions *d, uint32_t tensor) {
    return arenaut_program_storage(d->program, tensor, NULL);
}

static void define(definitions *d, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] != ARENAUT_NONE) d->defined[storage_of(d, tensors[i])] = true;
    }
}

/* The first undefined tensor; ARENAUT_NONE if all are defined. A tensor without memory has no
 * value. */
static uint32_t find_undefined(const definitions *d, const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (tensors[i] == ARENAUT_NONE || d->program->tensors[tensors[i]].bytes == 0) continue;
        if (!d->defined[storage_of(d, tensors[i])]) return tensors[i];
    }
    return ARENAUT_NONE;
}

static arenaut_status visit_method(definitions *d, const arenaut_method *method) {
    char store[24];
    define(d, method->inputs, method->n_inputs);
    for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
        const arenaut_op *op = &d->program->ops[i];
        /* With jumps, the op executed before is not the op listed before. */
        if (arn_is_jump(op)) return ARENAUT_OK;
        if (!arn_op_kind_touches(op->kind)) continue;
        const uint32_t missing = find_undefined(d, op->inputs, op->n_inputs);
        if (missing != ARENAUT_NONE) {
            return arn_fail(d->err, ARENAUT_BAD_INPUT, 0,
                            "op '%.80s' reads '%.80s', which nothing before it defines",
                            op->name ? op->name : "op",
                            arenaut_program_tensor_name(d->program, missing, store));
        }
        define(d, op->outputs, op->n_outputs);
    }
    const uint32_t missing = find_undefined(d, method->outputs, method->n_outputs);
    if (missing == ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(
        d->err, ARENAUT_BAD_INPUT, 0, "method '%.80s' returns '%.80s', which nothing defines",
        method->name ? method->name : "", arenaut_program_tensor_name(d->program, missing, store));
}

static arenaut_status definitions_run(arenaut_program *p, const arenaut_pass_options *options,
                                      arenaut_error *err) {
    (void)options;
    const arenaut_allocator *allocator = arn_program_allocator(p);
    definitions d = {p, arn_allocate(allocator, p->n_tensors, sizeof *d.defined), err};
    if (!d.defined) return arn_no_memory(err);
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const arenaut_tensor *tensor = &p->tensors[t];
        d.defined[t] = tensor->cls == ARENAUT_CONSTANT || tensor->cls == ARENAUT_STATE ||
                       tensor->qualified_name || tensor->caller_owned;
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        /* Captured values of a called method are checked in its caller. */
        if (p->methods[m].outer == ARENAUT_NONE) st = visit_method(&d, &p->methods[m]);
    }
    arn_release(allocator, d.defined);
    return st;
}

extern const arenaut_pass arn_pass_definitions;
const arenaut_pass arn_pass_definitions = {
    .name = "definitions",
    .summary = "refuses programs that read a tensor before it is written",
    .run = definitions_run,
};
