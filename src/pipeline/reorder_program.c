/* Reordering, between reading and passes. What is alive when is known of a program only behind the
 * passes, so that these run on another copy of it, from which the order problem is made. The least
 * that can be alive need not be the least arena: the program is planned in several orders. Where a
 * file says only by its places which tensors share memory, that is found before ops move. */
#include "pipeline/stages.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/check.h>

#include "core/memory.h"

/* Reads and prepares the program as it is. */
static arenaut_status prepare_as_given(const arenaut_pipeline *p, arenaut_pipeline **given,
                                       arenaut_error *err) {
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    options.reordering = (arenaut_reordering){0};
    return arn_pipeline_prepare_aside(p, &options, given, err);
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

/* Orders of the file's ops that may be worth it: the best one, then those near it. */
typedef struct good_orders {
    uint32_t n, n_ops;
    uint32_t *ops;  /* n_ops of each, one order behind another */
    uint64_t *peak; /* bytes that are alive at once */
} good_orders;

static void free_good_orders(const arenaut_pipeline *p, good_orders *orders) {
    arn_release(arn_pipeline_allocator(p), orders->ops);
    arn_release(arn_pipeline_allocator(p), orders->peak);
}

static arenaut_status list_good_orders(const arenaut_pipeline *p,
                                       const arenaut_program_order *problem,
                                       const arenaut_order *order, good_orders *good,
                                       arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const arenaut_program *program = p->document.program;
    arenaut_status st = ARENAUT_OK;
    *good = (good_orders){.n = 1 + order->n_near, .n_ops = program->n_ops};
    good->ops = arn_allocate(allocator, good->n_ops, good->n * sizeof *good->ops);
    good->peak = arn_allocate(allocator, good->n, sizeof *good->peak);
    if (!good->ops || !good->peak) return arn_no_memory(err);
    for (uint32_t i = 0; i < good->n && st == ARENAUT_OK; i++) {
        const uint32_t *ops = i ? order->near + (size_t)(i - 1) * order->n_ops : order->ops;
        good->peak[i] = i ? order->near_peak[i - 1] : order->peak;
        st = arenaut_program_order_ops(problem, program, ops, allocator,
                                       good->ops + (size_t)i * good->n_ops, err);
    }
    return st;
}

arenaut_status arn_pipeline_order_problem(const arenaut_pipeline *p, const arenaut_pipeline *given,
                                          arenaut_program_order **problem, arenaut_error *err) {
    const arenaut_lowering_options options = {.preserve_inputs = p->options.preserve_inputs,
                                              .overlap = p->options.overlap};
    return arenaut_program_order_new(given->document.program, given->lowering, given->target,
                                     &options, arn_pipeline_allocator(p), problem, err);
}

static arenaut_status find_order(arenaut_pipeline *p, const arenaut_pipeline *given,
                                 good_orders *good, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_program_order *problem = NULL;
    arenaut_order *order = NULL;
    arenaut_status st = arn_pipeline_order_problem(p, given, &problem, err);
    if (st != ARENAUT_OK) return st;
    const arenaut_order_problem *plain = arenaut_program_order_problem(problem);
    st = arenaut_order_find(plain, &p->options.reordering.options, allocator, &order, err);
    if (st == ARENAUT_OK) st = check(p, plain, order, err);
    if (st == ARENAUT_OK) {
        p->ordering = (arenaut_ordering){.known = true,
                                         .given = order->ways[ARENAUT_ORDER_WAY_GIVEN],
                                         .best = order->peak,
                                         .bound = order->bound,
                                         .at_ends = arenaut_program_order_at_ends(problem),
                                         .n_lines = order->n_lines};
        memcpy(p->ordering.ways, order->ways, sizeof p->ordering.ways);
        st = list_good_orders(p, problem, order, good, err);
    }
    arenaut_order_free(order);
    arenaut_program_order_free(problem);
    return st;
}

/* What is to be reserved in that order, if it is less than *least: then *best is it. */
static arenaut_status try_order(const arenaut_pipeline *p, const uint32_t *ops, arn_reserved *least,
                                const uint32_t **best, arenaut_error *err) {
    arn_reserved found;
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    options.reordering = (arenaut_reordering){.on = ops != NULL, .ops = ops};
    const arenaut_status st = arn_pipeline_plan_aside(p, options, &found, err);
    if (st != ARENAUT_OK || !arn_reserves_less(&found, least)) return st;
    *least = found;
    *best = ops;
    return ARENAUT_OK;
}

/* Lays the program out in today's order, in the best one and in those near it; *best: the one in
 * which least is to be reserved, NULL where that is today's. No plan is smaller than what is alive
 * at once in its order, so that some need not be tried where slower pools are not used. */
static arenaut_status choose_order(const arenaut_pipeline *p, const good_orders *good,
                                   const uint32_t **best, arenaut_error *err) {
    arn_reserved least = {.bytes = UINT64_MAX, .planned = UINT64_MAX, .spill = UINT64_MAX};
    arenaut_status st = try_order(p, NULL, &least, best, err);
    for (uint32_t i = 0; i < good->n && st == ARENAUT_OK; i++) {
        const bool larger = good->peak[i] >= least.planned + p->ordering.at_ends;
        if (larger && least.spill == 0) continue;
        st = try_order(p, good->ops + (size_t)i * good->n_ops, &least, best, err);
    }
    return st;
}

static arenaut_status put_in_order(arenaut_pipeline *p, const uint32_t *ops, arenaut_error *err) {
    arenaut_document copy = {0};
    arenaut_rewrite *rewrite = NULL;
    arenaut_status st = arn_pipeline_read_as_is(p, &copy, err);
    if (st == ARENAUT_OK) st = arn_pipeline_recover_aliases(copy.program, err);
    if (st == ARENAUT_OK) st = arenaut_reorder(copy.program, ops, &rewrite, err);
    if (st != ARENAUT_OK) {
        arenaut_document_free(&copy);
        return st;
    }
    return arn_pipeline_adopt(p, rewrite, err);
}

/* Files that state memories have each method's ops in a list of its own, whatever the others are.
 */
static bool holds_order(const arenaut_pipeline *p) {
    const arenaut_format *format = p->document.format;
    const arenaut_program *program = p->document.program;
    const bool single = program->n_methods == 1 || arn_states_memories(program);
    if (format->holds_order && single) return true;
    arn_pipeline_note(p, "nothing is reordered: a file of the format %s%s keeps its order",
                      format->name, format->holds_order ? " with several methods" : "");
    return false;
}

static arenaut_status reorder_found(arenaut_pipeline *p, arenaut_error *err) {
    arenaut_pipeline *given = NULL;
    good_orders good = {0};
    arenaut_error why = {0};
    const uint32_t *best = NULL;
    arenaut_status st = prepare_as_given(p, &given, &why);
    if (st == ARENAUT_OK) st = find_order(p, given, &good, &why);
    arenaut_pipeline_free(given);
    const bool differs = p->ordering.best < p->ordering.given || good.n > 1;
    if (st == ARENAUT_REFUSED) {
        arn_pipeline_note(p, "nothing is reordered: %s", why.msg);
        st = ARENAUT_OK;
    } else if (st == ARENAUT_OK && differs && holds_order(p)) {
        st = choose_order(p, &good, &best, &why);
        if (st == ARENAUT_OK && best) st = put_in_order(p, best, &why);
    }
    if (st != ARENAUT_OK && err) *err = why;
    free_good_orders(p, &good);
    return st;
}

arenaut_status arn_pipeline_reorder(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_reordering *o = &p->options.reordering;
    if (!o->on) return ARENAUT_OK;
    const bool split = p->rewrite && p->rewrite->n_stages > 0;
    if (split || p->store->n_files > 1) {
        arn_pipeline_note(p, "nothing is reordered: the program was %s",
                          split ? "split" : "made of several files");
        return ARENAUT_OK;
    }
    const arenaut_status st = arn_pipeline_recover_aliases(p->document.program, err);
    if (st != ARENAUT_OK) return st;
    p->store->aliases_known = arenaut_pass_find("recover-aliases") != NULL;
    return o->ops ? put_in_order(p, o->ops, err) : reorder_found(p, err);
}
