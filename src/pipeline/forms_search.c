/* What the search for an order has found: of each of the forms that were looked at, the best order
 * and those near it; and what is known of all of them together. */
#include "pipeline/forms_search.h"

#include <string.h>

#include "core/checked.h"

static arenaut_status add(arn_order_search *s, arn_order_candidate c, arenaut_error *err) {
    if (!arn_grow(arn_pipeline_allocator(s->pipeline), (void **)&s->list, &s->capacity,
                  (uint64_t)s->n + 1, sizeof *s->list)) {
        return arn_no_memory(err);
    }
    s->list[s->n++] = c;
    return ARENAUT_OK;
}

static arenaut_status add_order(arn_order_search *s, const arenaut_program_order *problem,
                                uint32_t number, arn_forms forms, arenaut_error *err) {
    const arenaut_program *program = s->pipeline->document.program;
    uint32_t *ops = arn_region_allocate(&s->region, program->n_ops, sizeof *ops);
    if (!ops) return arn_no_memory(err);
    const arn_order_candidate c = {forms, ops, arenaut_program_order_least(problem, number)};
    const arenaut_status st = arenaut_program_order_ops(
        problem, program, number, arn_pipeline_allocator(s->pipeline), ops, err);
    return st == ARENAUT_OK ? add(s, c, err) : st;
}

/* Today's order, the best one, then those near it. */
static arenaut_status add_orders(arn_order_search *s, const arenaut_program_order *problem,
                                 arn_forms forms, arenaut_error *err) {
    const arn_order_candidate given = {forms, NULL, arenaut_program_order_peaks(problem).given};
    const uint32_t n = arenaut_program_order_candidates(problem);
    arenaut_status st = add(s, given, err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        st = add_order(s, problem, i, forms, err);
    }
    return st;
}

/* The first choice that is looked at is how things are today. */
static void note(arn_order_search *s, const arenaut_order_peaks *peaks, uint32_t n_lines) {
    arenaut_ordering *o = &s->known;
    if (!o->known) {
        *o = (arenaut_ordering){.known = true,
                                .given = peaks->given,
                                .best = peaks->best,
                                .bound = peaks->bound,
                                .at_ends = peaks->at_ends,
                                .between_jumps = peaks->between_jumps,
                                .n_lines = n_lines};
        memcpy(o->heuristics, peaks->heuristics, sizeof o->heuristics);
    }
    o->best = arn_min_u64(o->best, peaks->best);
    o->bound = arn_min_u64(o->bound, peaks->bound);
    o->at_ends = arn_max_u64(o->at_ends, peaks->at_ends);
}

/* Which of the wholes that views may be copied of, or of their copies, are there. */
static arenaut_status find_at_peak(const arn_order_search *s, const arenaut_pipeline *given,
                                   const arenaut_program_order *problem, bool *at_peak,
                                   arenaut_error *err) {
    const arn_copies *copies = &s->choices.copies;
    const uint32_t n = given->lowering->problem->n_buffers;
    uint8_t *alive = arn_allocate(arn_pipeline_allocator(s->pipeline), n, sizeof *alive);
    if (!alive) return arn_no_memory(err);
    const arenaut_status st = arenaut_program_order_at_peak(problem, alive, err);
    for (uint32_t w = 0; w < copies->n_wholes && st == ARENAUT_OK; w++) at_peak[w] = false;
    for (uint32_t i = 0; i < copies->n_parts && st == ARENAUT_OK; i++) {
        const uint32_t whole = given->lowering->buffer[copies->parts[i].whole];
        const uint32_t copy = given->lowering->buffer[copies->parts[i].tensor];
        const bool there =
            (whole != ARENAUT_NONE && alive[whole]) || (copy != ARENAUT_NONE && alive[copy]);
        if (there) at_peak[copies->whole_of_part[i]] = true;
    }
    arn_release(arn_pipeline_allocator(s->pipeline), alive);
    return st;
}

arenaut_status arn_order_search_in(arn_order_search *s, arn_budget *budget, arn_forms forms,
                                   uint64_t *peak, bool *at_peak, arenaut_error *err) {
    const arenaut_pipeline *p = s->pipeline;
    arenaut_pipeline *given = NULL;
    arenaut_program_order *problem = NULL;
    uint32_t n_lines = 0;
    if (!arn_budget_goes_on(budget)) return arn_pipeline_stopped(err);
    arenaut_status st = arn_pipeline_prepare_formed(p, budget, forms, &given, err);
    if (st == ARENAUT_OK) st = arn_pipeline_order_problem(p, given, &problem, err);
    if (st == ARENAUT_OK) st = arn_pipeline_find_orders(p, problem, budget, &n_lines, err);
    if (st == ARENAUT_OK) st = add_orders(s, problem, forms, err);
    if (st == ARENAUT_OK && at_peak) st = find_at_peak(s, given, problem, at_peak, err);
    if (st == ARENAUT_OK) {
        const arenaut_order_peaks peaks = arenaut_program_order_peaks(problem);
        note(s, &peaks, n_lines);
        *peak = peaks.best;
    }
    arenaut_program_order_free(problem);
    arenaut_pipeline_free(given);
    return st;
}
