/* toy-swap: two neighbours among the first ops change places if a plan needs less then. */
#include "rewrite/transform.h"

static bool reads_result(const arenaut_op *op, const arenaut_op *before) {
    bool reads = false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        for (uint32_t k = 0; k < before->n_outputs; k++) {
            reads = reads || op->inputs[i] == before->outputs[k];
        }
    }
    return reads;
}

static bool may_move(const arenaut_op *op) {
    return op->pure && (op->kind == ARENAUT_OP_FUNCTIONAL || op->kind == ARENAUT_OP_OUT);
}

static arenaut_status try_swap(arn_search *s, uint32_t at, arenaut_error *err) {
    const uint32_t n = s->pipeline->document.program->n_ops;
    arn_reserved reserved;
    uint32_t *ops = arn_region_allocate(&s->region, n, sizeof *ops);
    if (!ops) return arn_no_memory(err);
    for (uint32_t i = 0; i < n; i++) ops[i] = i == at ? at + 1 : i == at + 1 ? at : i;
    const arn_candidate swapped = {.schedule = ops};
    return arn_search_try(s, &swapped, ARN_QUICKLY, &reserved, err);
}

static arenaut_status propose(arn_search *s, arenaut_error *err) {
    enum { MOST = 8 };
    const arenaut_program *p = s->pipeline->document.program;
    arn_reserved reserved;
    if (p->n_methods > 1) return arn_fail(err, ARENAUT_REFUSED, 0, "a toy has one method");
    arenaut_status st = arn_search_try(s, ARN_AS_IS, ARN_QUICKLY, &reserved, err);
    for (uint32_t i = 0; i + 1 < p->n_ops && i < MOST && st == ARENAUT_OK; i++) {
        const arenaut_op *a = &p->ops[i], *b = &p->ops[i + 1];
        if (may_move(a) && may_move(b) && !reads_result(b, a)) st = try_swap(s, i, err);
    }
    return st;
}

/* A transform that is not a toy has an option. */
static arn_request requested(const arenaut_pipeline_options *options, arn_candidate *given) {
    (void)options;
    (void)given;
    return ARN_SEARCH_REQUESTED;
}

const arn_transform arn_transform_toy_swap = {.done = "swapped",
                                              .only_whole = true,
                                              .only_one_file = true,
                                              .requested = requested,
                                              .propose = propose};
