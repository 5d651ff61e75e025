/* Materialized views: each of these view ops is replaced by its sibling that copies, whose result
 * has memory of its own. Only dense views are copied: the copy has the same elements at the same
 * distances, so that its readers compute the same to the last bit. */
#include "rewrite/transform.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/dialect.h>

#include "core/fail.h"
#include "dialects/dialect.h"
#include "ir/program.h"
#include "rewrite/copies/copy_views.h"

/* "aten::slice.Tensor" is "aten::slice_copy.Tensor". */
static const char *name_of_copy(arenaut_program *program, const char *name) {
    static const char suffix[] = "_copy";
    const char *overload = strchr(name, '.');
    const size_t n = strlen(name), head = overload ? (size_t)(overload - name) : n;
    char *copy = arenaut_program_alloc(program, n + sizeof suffix);
    if (!copy) return NULL;
    memcpy(copy, name, head);
    memcpy(copy + head, suffix, sizeof suffix - 1);
    memcpy(copy + head + sizeof suffix - 1, name + head, n - head + 1);
    return copy;
}

static bool has_copy(const arenaut_program *program, const arenaut_op *op) {
    const arenaut_operator *known =
        arn_dialect_operator(arenaut_dialect_find(program->dialect), op->name);
    return known && (known->traits & ARENAUT_TRAIT_HAS_COPY) && op->kind == ARENAUT_OP_FUNCTIONAL &&
           op->n_inputs > 0 && op->inputs[0] != ARENAUT_NONE && op->n_outputs > 0;
}

/* Dimensions of one element may be at any distance. */
static bool is_dense(const arenaut_tensor *t) {
    uint64_t step = 1;
    for (uint32_t i = t->rank; i-- > 0;) {
        if (t->dims[i] < 0) return false;
        if (t->dims[i] == 1) continue;
        if (t->strides && (uint64_t)t->strides[i] != step) return false;
        step *= (uint64_t)t->dims[i]; /* below the tensor's bytes */
    }
    return !t->dynamic && !t->unsized && t->view_of == ARENAUT_NONE;
}

bool arn_view_may_be_copy(const arenaut_program *program, uint32_t op) {
    const arenaut_op *o = &program->ops[op];
    if (!has_copy(program, o)) return false;
    bool all = true;
    for (uint32_t i = 0; all && i < o->n_outputs; i++) {
        const uint32_t t = o->outputs[i];
        uint64_t bytes;
        all = t != ARENAUT_NONE && program->tensors[t].cls == ARENAUT_INTERMEDIATE &&
              is_dense(&program->tensors[t]) &&
              arenaut_dense_bytes(program->tensors[t].dtype, program->tensors[t].dims,
                                  program->tensors[t].rank, &bytes, NULL) == ARENAUT_OK;
    }
    return all;
}

static arenaut_status make_copy(arenaut_program *program, uint32_t op, arenaut_error *err) {
    arenaut_op *o = &program->ops[op];
    const char *name = name_of_copy(program, o->name);
    if (!name) return arn_no_memory(err);
    o->name = name;
    for (uint32_t i = 0; i < o->n_outputs; i++) {
        arenaut_tensor *t = &program->tensors[o->outputs[i]];
        t->strides = NULL;
        t->view_offset = 0;
        const arenaut_status st = arenaut_dense_bytes(t->dtype, t->dims, t->rank, &t->bytes, err);
        if (st != ARENAUT_OK) return st;
    }
    return ARENAUT_OK;
}

/* Everything but these ops is as it was. */
static arenaut_status begin(arenaut_program *program, uint32_t n, arenaut_rewrite **out,
                            arenaut_error *err) {
    arenaut_rewrite *r = arenaut_program_alloc(program, sizeof *r);
    if (!r) return arn_no_memory(err);
    *r = (arenaut_rewrite){.program = program,
                           .n_tensors = program->n_tensors,
                           .n_ops = program->n_ops,
                           .n_ops_before = program->n_ops,
                           .before = arn_program_fingerprint(program)};
    r->tensors = arenaut_program_alloc(program, r->n_tensors * sizeof *r->tensors);
    r->ops = arenaut_program_alloc(program, r->n_ops * sizeof *r->ops);
    r->copied = arenaut_program_alloc(program, n * sizeof *r->copied);
    if (!r->tensors || !r->ops || !r->copied) return arn_no_memory(err);
    for (uint32_t t = 0; t < r->n_tensors; t++) {
        r->tensors[t] = (arenaut_origin){.tensor = t, .same = true, .axis = ARENAUT_NONE};
    }
    for (uint32_t i = 0; i < r->n_ops; i++) r->ops[i] = i;
    *out = r;
    return ARENAUT_OK;
}

arenaut_status arn_copy_views(arenaut_program *program, const uint32_t *ops, uint32_t n,
                              arenaut_rewrite **out, arenaut_error *err) {
    arenaut_rewrite *made = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const bool is_next = ops[i] < program->n_ops && (i == 0 || ops[i] > ops[i - 1]);
        if (is_next && arn_view_may_be_copy(program, ops[i])) continue;
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "op %" PRIu32 " is no view that may be a copy, or stands twice", ops[i]);
    }
    arenaut_status st = begin(program, n, &made, err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        made->copied[made->n_copied++] = ops[i];
        st = make_copy(program, ops[i], err);
    }
    if (st != ARENAUT_OK) return st;
    made->after = arn_program_fingerprint(program);
    *out = made;
    return ARENAUT_OK;
}

/* ---- the transform: candidates are found together with schedules (order/reorder_transform.c) ----
 */

static arn_request requested(const arenaut_pipeline_options *options, arn_candidate *given) {
    given->copying = options->copying;
    return options->copying.n > 0 ? ARN_CHOICE_GIVEN : ARN_NOT_REQUESTED;
}

static arenaut_status apply(arenaut_pipeline *p, const arn_candidate *c, arenaut_error *err) {
    if (c->copying.n == 0) return ARENAUT_OK;
    if (p->rewrite || p->store->n_files > 1) {
        return arn_pipeline_blame(p, err, "copying", "copying: the program was %s",
                                  p->rewrite ? "rewritten before" : "made of several files");
    }
    arenaut_error why = {0};
    const arenaut_status st =
        arn_apply_rewriting(p, arn_copy_views, c->copying.ops, c->copying.n, &why);
    if (st == ARENAUT_BAD_ARGUMENT && !p->store->aside) {
        return arn_pipeline_blame(p, err, "copying", "copying: %s", why.msg);
    }
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

static bool encoded_by(const arenaut_format *format) { return format->holds_order; }

const arn_transform arn_transform_copies = {
    .done = "copied", .requested = requested, .apply = apply, .encoded_by = encoded_by};
