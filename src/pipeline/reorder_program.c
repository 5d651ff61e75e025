/* Reordering, between reading and passes. What is alive when is known of a program only behind the
 * passes, so that these run on another copy of it, from which the order problem is made. The least
 * that can be alive need not be the least arena: the program is planned in both orders. */
#include "pipeline/stages.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/check.h>

#include "core/memory.h"

/* Reads and prepares the program as it is. */
static arenaut_status prepare_as_given(const arenaut_pipeline *p, arenaut_pipeline **given,
                                       arenaut_error *err) {
    arenaut_pipeline_options options = p->options;
    options.reordering = (arenaut_reordering){0};
    options.splitting = (arenaut_splitting){0};
    options.note = NULL;
    options.stage = NULL;
    options.after_pass = NULL;
    arenaut_status st = arenaut_pipeline_new(&options, arn_pipeline_allocator(p), given, err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(*given, p->store->files, 1, err);
    return st == ARENAUT_OK ? arenaut_pipeline_prepare(*given, err) : st;
}

/* Never unchecked: neither the order nor what is said to be proven. */
static arenaut_status check(const arenaut_pipeline *p, const arenaut_order_problem *problem,
                            const arenaut_order *order, arenaut_error *err) {
    arenaut_finding finding;
    arenaut_error why = {0};
    const arenaut_status st =
        arenaut_check_order(problem, order, arn_pipeline_allocator(p), &finding, &why);
    if (st == ARENAUT_REJECTED) {
        return arn_fail(err, ARENAUT_INTERNAL, 0, "the order of ops did not pass the checker: %s",
                        finding.msg);
    }
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

/* *ops gets the order of the file's ops; the caller releases it. */
static arenaut_status find_order(arenaut_pipeline *p, const arenaut_pipeline *given, uint32_t **ops,
                                 arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_program_order *problem = NULL;
    arenaut_order *order = NULL;
    arenaut_status st =
        arenaut_program_order_new(given->document.program, given->lowering, given->target,
                                  p->options.preserve_inputs, allocator, &problem, err);
    if (st != ARENAUT_OK) return st;
    const arenaut_order_problem *plain = arenaut_program_order_problem(problem);
    st = arenaut_order_find(plain, &p->options.reordering.options, allocator, &order, err);
    if (st == ARENAUT_OK) st = check(p, plain, order, err);
    if (st == ARENAUT_OK) {
        p->ordering = (arenaut_ordering){.known = true,
                                         .given = order->ways[ARENAUT_ORDER_WAY_GIVEN],
                                         .best = order->peak,
                                         .bound = order->bound,
                                         .n_lines = order->n_lines};
        memcpy(p->ordering.ways, order->ways, sizeof p->ordering.ways);
        *ops = arn_allocate(allocator, p->document.program->n_ops, sizeof **ops);
        st = *ops ? arenaut_program_order_ops(problem, p->document.program, order->ops, allocator,
                                              *ops, err)
                  : arn_no_memory(err);
    }
    arenaut_order_free(order);
    arenaut_program_order_free(problem);
    return st;
}

/* Whether less is to be reserved in that order. */
static arenaut_status is_worth_it(const arenaut_pipeline *p, const uint32_t *ops, bool *worth,
                                  arenaut_error *err) {
    arn_reserved as_given, reordered = {0};
    arenaut_pipeline_options options = p->options;
    options.reordering = (arenaut_reordering){0};
    arenaut_status st = arn_pipeline_plan_aside(p, options, &as_given, err);
    options.reordering = (arenaut_reordering){.on = true, .ops = ops};
    if (st == ARENAUT_OK) st = arn_pipeline_plan_aside(p, options, &reordered, err);
    *worth = st == ARENAUT_OK && reordered.bytes < as_given.bytes;
    return st;
}

static arenaut_status put_in_order(arenaut_pipeline *p, const uint32_t *ops, arenaut_error *err) {
    arenaut_document copy = {0};
    arenaut_rewrite *rewrite = NULL;
    arenaut_status st = arn_pipeline_read_document(p, true, &copy, err);
    if (st == ARENAUT_OK) st = arn_pipeline_choose_method(p, copy.program, err);
    if (st == ARENAUT_OK) st = arenaut_reorder(copy.program, ops, &rewrite, err);
    if (st != ARENAUT_OK) {
        arenaut_document_free(&copy);
        return st;
    }
    return arn_pipeline_adopt(p, rewrite, err);
}

static bool holds_order(const arenaut_pipeline *p) {
    const arenaut_format *format = p->document.format;
    if (format->holds_order) return true;
    arn_pipeline_note(p, "nothing is reordered: a file of the format %s keeps its order",
                      format->name);
    return false;
}

static arenaut_status reorder_found(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_pipeline *given = NULL;
    uint32_t *ops = NULL;
    arenaut_error why = {0};
    bool worth = false;
    arenaut_status st = prepare_as_given(p, &given, &why);
    if (st == ARENAUT_OK) st = find_order(p, given, &ops, &why);
    arenaut_pipeline_free(given);
    if (st == ARENAUT_REFUSED) {
        arn_pipeline_note(p, "nothing is reordered: %s", why.msg);
        st = ARENAUT_OK;
    } else if (st == ARENAUT_OK && p->ordering.best < p->ordering.given && holds_order(p)) {
        st = is_worth_it(p, ops, &worth, &why);
        if (st == ARENAUT_OK && worth) st = put_in_order(p, ops, &why);
    }
    if (st != ARENAUT_OK && err) *err = why;
    arn_release(arn_pipeline_allocator(p), ops);
    return st;
}

arenaut_status arn_pipeline_reorder(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_reordering *o = &p->options.reordering;
    if (!o->on) return ARENAUT_OK;
    if (p->rewrite || p->store->n_files > 1) {
        arn_pipeline_note(p, "nothing is reordered: the program was %s",
                          p->rewrite ? "split" : "made of several files");
        return ARENAUT_OK;
    }
    return o->ops ? put_in_order(p, o->ops, err) : reorder_found(p, err);
}
