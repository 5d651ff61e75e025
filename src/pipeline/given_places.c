/* The places that one copy of a model states, taken for those of another: is the plan in
 * planned.tflite right for model.tflite? Both must be the same tensors in the same ops, as that
 * makes a plan for the one a plan for the other. Linear. */
#include "pipeline/stages.h"

#include <inttypes.h>
#include <string.h>

static void copy_places(const arenaut_program *from, arenaut_program *to) {
    to->given = from->given;
    to->given_kernels = from->given_kernels;
    for (uint32_t t = 0; t < to->n_tensors; t++) {
        to->tensors[t].given_pool = from->tensors[t].given_pool;
        to->tensors[t].given_offset = from->tensors[t].given_offset;
    }
    for (uint32_t m = 0; m < to->n_methods; m++) {
        to->methods[m].given_pools = from->methods[m].given_pools;
        to->methods[m].n_given_pools = from->methods[m].n_given_pools;
    }
}

static bool same_list(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b) {
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static bool same_op(const arenaut_op *a, const arenaut_op *b) {
    return a->kind == b->kind && a->method == b->method &&
           same_list(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
           same_list(a->outputs, a->n_outputs, b->outputs, b->n_outputs) &&
           strcmp(a->name ? a->name : "", b->name ? b->name : "") == 0;
}

static arenaut_status compare_programs(const char *path, const arenaut_program *a,
                                       const arenaut_program *b, arenaut_error *err) {
    char store[24];
    if (a->n_methods != b->n_methods || a->n_tensors != b->n_tensors || a->n_ops != b->n_ops) {
        return arn_fail(err, ARENAUT_REJECTED, 0,
                        "is another program: %" PRIu32 " methods, %" PRIu32 " ops, %" PRIu32
                        " tensors; %s has %" PRIu32 ", %" PRIu32 ", %" PRIu32,
                        b->n_methods, b->n_ops, b->n_tensors, path, a->n_methods, a->n_ops,
                        a->n_tensors);
    }
    for (uint32_t t = 0; t < a->n_tensors; t++) {
        const arenaut_tensor *ta = &a->tensors[t], *tb = &b->tensors[t];
        if (ta->bytes == tb->bytes && ta->cls == tb->cls && ta->method == tb->method) {
            continue;
        }
        return arn_fail(err, ARENAUT_REJECTED, 0,
                        "is another program: tensor %" PRIu32 " ('%s') has %" PRIu64
                        " bytes, and %" PRIu64 " in %s",
                        t, arenaut_program_tensor_name(b, t, store), tb->bytes, ta->bytes, path);
    }
    for (uint32_t i = 0; i < a->n_ops; i++) {
        if (same_op(&a->ops[i], &b->ops[i])) continue;
        return arn_fail(err, ARENAUT_REJECTED, 0,
                        "is another program: op %" PRIu32 " ('%s') differs", i,
                        b->ops[i].name ? b->ops[i].name : "");
    }
    return ARENAUT_OK;
}

arenaut_status arenaut_pipeline_take_places(arenaut_pipeline *p, const arenaut_program *planned,
                                            arenaut_error *err) {
    arenaut_status st = arn_pipeline_expect(p, ARN_PIPELINE_READ, ARN_PIPELINE_READ, err);
    if (st == ARENAUT_OK) {
        st = compare_programs(p->options.path, p->document.program, planned, err);
    }
    if (st != ARENAUT_OK) return st;
    copy_places(planned, p->document.program);
    return ARENAUT_OK;
}
