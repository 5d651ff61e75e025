/* undo-functionalization: an operator that updates its operands, which export has wrapped so that
 * it returns updated copies, is called directly again, if the old operands are dead. Elsewhere the
 * copies are needed, and the call stays as it is. */
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/store.h"
#include "passes/export/may_update.h"

/* Operator and number of operands that it updates: the last of the inputs, in the order of
 * the last outputs. */
static const char *wrapped(const arenaut_op *op, uint32_t *n_bases) {
    const arenaut_attribute *called = arenaut_op_attribute(op, "operator");
    const arenaut_attribute *bases = arenaut_op_attribute(op, "bases");
    if (op->kind != ARENAUT_OP_FUNCTIONAL || !op->name || !called || !called->text) return NULL;
    if (!strstr(op->name, "auto_functionalized") || !bases || bases->n_numbers != 1) return NULL;
    const uint32_t most = op->n_inputs < op->n_outputs ? op->n_inputs : op->n_outputs;
    if (bases->numbers[0] < 1 || bases->numbers[0] > most) return NULL;
    *n_bases = (uint32_t)bases->numbers[0];
    return called->text;
}

static bool may_update_all(const arenaut_program *p, const arn_def_use *uses, uint32_t at,
                           uint32_t n) {
    const arenaut_op *op = &p->ops[at];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t base = op->inputs[op->n_inputs - n + i];
        const uint32_t value = op->outputs[op->n_outputs - n + i];
        uint32_t binding;
        if (base == ARENAUT_NONE || value == ARENAUT_NONE) return false;
        if (!arn_pass_may_update(p, uses, at, base, value, &binding)) return false;
    }
    return true;
}

static arenaut_status unwrap(arenaut_program *p, const arn_def_use *uses, uint32_t at, uint32_t n,
                             const char *name, arenaut_error *err) {
    arenaut_op *op = &p->ops[at];
    arenaut_in_place *pairs = arenaut_program_alloc(p, n * sizeof *pairs);
    if (!pairs) return arn_no_memory(err);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        uint32_t binding;
        pairs[i] = (arenaut_in_place){op->n_outputs - n + i, op->n_inputs - n + i};
        (void)arn_pass_may_update(p, uses, at, op->inputs[pairs[i].input],
                                  op->outputs[pairs[i].output], &binding);
        if (binding != ARENAUT_NONE) st = arn_pass_settle_binding(p, op->method, binding, err);
    }
    op->name = name;
    op->kind = ARENAUT_OP_IN_PLACE;
    op->in_place = pairs;
    op->n_in_place = n;
    return st;
}

static arenaut_status undo_run(arenaut_program *p, const arenaut_pass_options *options,
                               arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, arn_program_allocator(p));
    const arn_def_use *uses = arn_def_use_find(p, NULL, ARN_ALIASES, &region);
    arenaut_status st = uses ? ARENAUT_OK : arn_no_memory(err);
    (void)options;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        uint32_t n = 0;
        const char *name = wrapped(&p->ops[i], &n);
        if (name && may_update_all(p, uses, i, n)) st = unwrap(p, uses, i, n, name, err);
    }
    arn_region_free(&region);
    return st;
}

extern const arenaut_pass arn_pass_undo_functionalization;
const arenaut_pass arn_pass_undo_functionalization = {
    .name = "undo-functionalization",
    .summary = "lets operators update their operands that export has made return copies",
    .run = undo_run,
};
