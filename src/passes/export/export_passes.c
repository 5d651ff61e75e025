/* Short passes of exported graphs, in their order: gradients become results, the caller's own
 * passes run, values are checked for types and shapes, operators get their equivalents, asserts
 * go, and results are written into given memory. */
#include <inttypes.h>

#include <arenaut/dialect.h>
#include <arenaut/pass.h>

#include "analysis/aliases.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dialects/dialect.h"
#include "ir/extent.h"
#include "ir/program.h"
#include "ir/store.h"
#include "passes/program_edit.h"

/* gradients: makes the loss and the gradients results of their method. Training reads them after
 * the call, but to an exported graph they are values like any other. O(bindings). */

static bool is_output(const uint32_t *outputs, uint32_t n, uint32_t tensor) {
    uint32_t i = 0;
    while (i < n && outputs[i] != tensor) i++;
    return i < n;
}

/* The bindings that stay, in front of `kept`; the values of the others behind `outputs`. */
static arenaut_status add_results(arenaut_program *p, uint32_t m, uint32_t *outputs,
                                  arenaut_binding *kept, arenaut_error *err) {
    const arenaut_method *method = &p->methods[m];
    uint32_t n = 0, n_kept = 0;
    for (; n < method->n_outputs; n++) outputs[n] = method->outputs[n];
    for (uint32_t i = 0; i < method->n_bindings; i++) {
        const arenaut_binding *b = &method->bindings[i];
        const bool new_value =
            b->kind == ARENAUT_BINDING_MUTATES || b->kind == ARENAUT_BINDING_MUTATED;
        if (new_value) kept[n_kept++] = *b;
        else if (!is_output(outputs, n, b->value)) outputs[n++] = b->value;
    }
    arenaut_status st =
        arenaut_program_set_method_io(p, m, method->inputs, method->n_inputs, outputs, n, err);
    return st == ARENAUT_OK ? arn_program_set_bindings(p, m, kept, n_kept, err) : st;
}

static arenaut_status gradients_run(arenaut_program *p, const arenaut_pass_options *options,
                                    arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    arenaut_status st = ARENAUT_OK;
    (void)options;
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        const arenaut_method *method = &p->methods[m];
        if (method->n_bindings == 0) continue;
        uint32_t *outputs = arn_allocate(allocator, (size_t)method->n_outputs + method->n_bindings,
                                         sizeof *outputs);
        arenaut_binding *kept = arn_allocate(allocator, method->n_bindings, sizeof *kept);
        st = outputs && kept ? add_results(p, m, outputs, kept, err) : arn_no_memory(err);
        ARN_RELEASE(allocator, outputs, kept);
    }
    return st;
}

extern const arenaut_pass arn_pass_gradients;
const arenaut_pass arn_pass_gradients = {
    .name = "gradients",
    .summary = "makes results of the loss and the gradients",
    .run = gradients_run,
};

/* user: the caller's own passes, run while the graph is functional but for its updates: after
 * write-back and before specs, which checks the values that they make. */

static arenaut_status user_run(arenaut_program *p, const arenaut_pass_options *options,
                               arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (size_t i = 0; i < options->n_user && st == ARENAUT_OK; i++) {
        st = options->user[i]->run(p, options, err);
        if (st == ARENAUT_OK) st = arn_program_validate(p, err);
    }
    return st;
}

extern const arenaut_pass arn_pass_user;
const arenaut_pass arn_pass_user = {
    .name = "user",
    .summary = "the caller's own passes, given through the library",
    .by_default = true, /* there are none, unless the caller gives some */
    .run = user_run,
};

/* specs: a check that all computed values have a type and a shape, which may vary or be marked as
 * unknown by the reader. Values with both get their bytes. Passes of users make new values; without
 * this check they would be planned as nothing. */

static bool varies(const arenaut_tensor *tensor) {
    bool any = false;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        any = any || (tensor->dim_exprs && tensor->dim_exprs[i] != ARENAUT_NONE);
    }
    return any;
}

static arenaut_status check_spec(arenaut_program *p, uint32_t op, uint32_t t, arenaut_error *err) {
    arenaut_tensor *tensor = &p->tensors[t];
    const char *missing = arenaut_dtype_bits(tensor->dtype) == 0 ? "type with a size" : NULL;
    char store[24];
    if (tensor->unsized || tensor->bytes > 0 || varies(tensor)) return ARENAUT_OK;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (tensor->dims[i] < 0) missing = "shape";
    }
    if (!missing) return arn_tensor_extent_bytes(tensor, &tensor->bytes, err);
    return arn_fail(err, ARENAUT_BAD_INPUT, 0,
                    "value '%s', which op %" PRIu32
                    " '%s' computes, has no %s; a pass that "
                    "makes a value must give it one, or mark it as unknown",
                    arenaut_program_tensor_name(p, t, store), op,
                    p->ops[op].name ? p->ops[op].name : "", missing);
}

static arenaut_status specs_run(arenaut_program *p, const arenaut_pass_options *options,
                                arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    (void)options;
    for (uint32_t i = 0; i < p->n_ops && st == ARENAUT_OK; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_outputs && st == ARENAUT_OK; k++) {
            const uint32_t t = p->ops[i].outputs[k];
            if (t != ARENAUT_NONE) st = check_spec(p, i, t, err);
        }
    }
    return st;
}

extern const arenaut_pass arn_pass_specs;
const arenaut_pass arn_pass_specs = {
    .name = "specs",
    .summary = "checks that all that is computed has a type and a shape",
    .run = specs_run,
};

/* substitute: replaces operators by their equivalents after lowering, from the table of the
 * dialect. One look-up for each op. */

static arenaut_status substitute_run(arenaut_program *p, const arenaut_pass_options *options,
                                     arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->dialect);
    (void)options;
    (void)err;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_operator *known = arn_dialect_operator(dialect, p->ops[i].name);
        if (known && known->substitute) p->ops[i].name = known->substitute;
    }
    return ARENAUT_OK;
}

extern const arenaut_pass arn_pass_substitute;
const arenaut_pass arn_pass_substitute = {
    .name = "substitute",
    .summary = "replaces operators by those that do the same after lowering",
    .run = substitute_run,
};

/* asserts: drops ops whose results do not matter to memory: assertions, and queries of sizes, which
 * read no bytes of a tensor. */

static arenaut_status keep_effects(void *context, arn_pass_edit *edit, uint32_t at) {
    const arenaut_dialect *dialect = context;
    const arenaut_op *op = &edit->program->ops[at];
    if (op->n_outputs == 0 && (arn_traits_of(dialect, op) & ARENAUT_TRAIT_ASSERT)) {
        return ARENAUT_OK;
    }
    return arn_pass_edit_put(edit, op);
}

static arenaut_status asserts_run(arenaut_program *p, const arenaut_pass_options *options,
                                  arenaut_error *err) {
    const arenaut_dialect *dialect = arenaut_dialect_find(p->dialect);
    (void)options;
    return arn_pass_edit_ops(p, keep_effects, NULL, (void *)dialect, err);
}

extern const arenaut_pass arn_pass_asserts;
const arenaut_pass arn_pass_asserts = {
    .name = "asserts",
    .summary = "drops assertions and questions about sizes, which read no memory",
    .run = asserts_run,
};

/* out-variants: an op that returns new tensors is called in its form that writes into given memory,
 * from an explicit allocation in front of it. An op with a result of unknown size still allocates
 * its own. All operators are taken to have such a form: ExecuTorch exports no others. */

static bool all_sized(const arenaut_program *p, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op->outputs[i] != ARENAUT_NONE && p->tensors[op->outputs[i]].unsized) return false;
    }
    return true;
}

/* Of the outputs that the op makes: an update's other results are its operands. */
static arenaut_status put_allocation(arn_pass_edit *edit, const arenaut_op *op) {
    arenaut_program *p = edit->program;
    uint32_t *outputs = arenaut_program_alloc(p, (op->n_outputs + 1) * sizeof *outputs);
    if (!outputs) return arn_no_memory(edit->err);
    arenaut_op alloc = {.name = "alloc",
                        .source = op->source,
                        .kind = ARENAUT_OP_ALLOC,
                        .method = op->method,
                        .outputs = outputs,
                        .stream = op->stream};
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const bool named = op->kind == ARENAUT_OP_IN_PLACE && op->outputs[i] == ARENAUT_NONE;
        if (!named && arn_makes_output(p, op, i)) outputs[alloc.n_outputs++] = op->outputs[i];
    }
    return alloc.n_outputs > 0 ? arn_pass_edit_put(edit, &alloc) : ARENAUT_OK;
}

static arenaut_status allocate_first(void *context, arn_pass_edit *edit, uint32_t at) {
    arenaut_op op = edit->program->ops[at];
    (void)context;
    if (op.kind == ARENAUT_OP_IN_PLACE) {
        const arenaut_status st = put_allocation(edit, &op);
        return st == ARENAUT_OK ? arn_pass_edit_put(edit, &op) : st;
    }
    if (op.kind != ARENAUT_OP_FUNCTIONAL) return arn_pass_edit_put(edit, &op);
    const bool sized = all_sized(edit->program, &op);
    op.kind = sized ? ARENAUT_OP_OUT : ARENAUT_OP_MAKES;
    const arenaut_status st = sized ? put_allocation(edit, &op) : ARENAUT_OK;
    return st == ARENAUT_OK ? arn_pass_edit_put(edit, &op) : st;
}

static arenaut_status out_variants_run(arenaut_program *p, const arenaut_pass_options *options,
                                       arenaut_error *err) {
    (void)options;
    return arn_pass_edit_ops(p, allocate_first, NULL, NULL, err);
}

extern const arenaut_pass arn_pass_out_variants;
const arenaut_pass arn_pass_out_variants = {
    .name = "out-variants",
    .summary =
        "gives ops memory to write, by explicit allocations, instead of letting them bring it",
    .run = out_variants_run,
};
