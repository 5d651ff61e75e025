/* Reordering, between reading and passes. What is alive when is known of a program only behind the
 * passes, so that these run on another copy of it, from which the order problem is made. The least
 * that can be alive need not be the least arena: the program is planned in several orders. Where a
 * file says only by its places which tensors share memory, that is found before ops move. */
#include "pipeline/forms_search.h"

#include <inttypes.h>
#include <string.h>

#include <arenaut/check.h>

#include "core/checked.h"
#include "core/memory.h"

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

arenaut_order_options arn_pipeline_order_options(const arenaut_pipeline *p) {
    arenaut_order_options options = p->options.reordering.options;
    options.effort = arn_pipeline_effort(p, options.effort, arenaut_order_default_effort());
    return options;
}

static arenaut_status find_order(const arenaut_pipeline *p, const arenaut_order_problem *problem,
                                 const arenaut_order_options *options, arenaut_order **order,
                                 arenaut_error *err) {
    const arenaut_status st =
        arenaut_order_find(problem, options, arn_pipeline_allocator(p), order, err);
    return st == ARENAUT_OK ? check(p, problem, *order, err) : st;
}

arenaut_status arn_pipeline_find_order(const arenaut_pipeline *p,
                                       const arenaut_order_problem *problem, arenaut_order **order,
                                       arenaut_error *err) {
    const arenaut_order_options options = arn_pipeline_order_options(p);
    return find_order(p, problem, &options, order, err);
}

arenaut_status arn_pipeline_order_problem(const arenaut_pipeline *p, const arenaut_pipeline *given,
                                          arenaut_program_order **problem, arenaut_error *err) {
    const arenaut_lowering_options options = {.preserve_inputs = p->options.preserve_inputs,
                                              .overlap = p->options.overlap};
    return arenaut_program_order_new(given->document.program, given->lowering, given->target,
                                     &options, arn_pipeline_allocator(p), problem, err);
}

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
        memcpy(o->ways, peaks->ways, sizeof o->ways);
    }
    o->best = arn_min_u64(o->best, peaks->best);
    o->bound = arn_min_u64(o->bound, peaks->bound);
    o->at_ends = arn_max_u64(o->at_ends, peaks->at_ends);
}

arenaut_status arn_pipeline_find_orders(const arenaut_pipeline *p, arenaut_program_order *problem,
                                        uint32_t *n_lines, arenaut_error *err) {
    const uint32_t n = arenaut_program_order_count(problem);
    arenaut_order_options options = arn_pipeline_order_options(p);
    uint64_t left = options.effort ? options.effort : arenaut_order_default_effort();
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        arenaut_order *order = NULL;
        options.effort = arn_max_u64(left / (n - i), 1);
        st = find_order(p, arenaut_program_order_problem(problem, i), &options, &order, err);
        if (st == ARENAUT_OK) st = arenaut_program_order_take(problem, order, err);
        if (st == ARENAUT_OK) {
            *n_lines += order->n_lines;
            left -= arn_min_u64(order->effort, left);
        }
        arenaut_order_free(order);
    }
    return st;
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

arenaut_status arn_order_search_in(arn_order_search *s, arn_forms forms, uint64_t *peak,
                                   bool *at_peak, arenaut_error *err) {
    const arenaut_pipeline *p = s->pipeline;
    arenaut_pipeline *given = NULL;
    arenaut_program_order *problem = NULL;
    uint32_t n_lines = 0;
    arenaut_status st = arn_pipeline_prepare_formed(p, forms, &given, err);
    if (st == ARENAUT_OK) st = arn_pipeline_order_problem(p, given, &problem, err);
    if (st == ARENAUT_OK) st = arn_pipeline_find_orders(p, problem, &n_lines, err);
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

static arenaut_status find(arn_order_search *s, arenaut_error *err) {
    uint64_t peak;
    const arn_forms given = {.joining = s->pipeline->options.joining};
    const arenaut_status st = arn_pipeline_find_forms(s->pipeline, &s->region, &s->choices, err);
    if (st != ARENAUT_OK) return st;
    return arn_order_search_choices(s) > 0 ? arn_order_search_forms(s, err)
                                           : arn_order_search_in(s, given, &peak, NULL, err);
}

/* ---- what is taken ---- */

/* What is to be reserved then, if it is less than *least: then *best is it. */
static arenaut_status try_candidate(const arn_order_search *s, const arn_order_candidate *c,
                                    arn_reserved *least, const arn_order_candidate **best,
                                    arenaut_error *err) {
    const arenaut_pipeline *p = s->pipeline;
    arn_reserved reserved;
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    options.reordering = (arenaut_reordering){.on = c->ops != NULL, .ops = c->ops};
    options.joining = c->forms.joining;
    if (!p->rewrite) options.copying = c->forms.copying;
    const arenaut_status st = arn_pipeline_plan_aside(p, options, ARN_QUICKLY, &reserved, err);
    if (st != ARENAUT_OK || !arn_reserves_less(&reserved, least)) return st;
    *least = reserved;
    *best = c;
    return ARENAUT_OK;
}

/* All but the first, as far as there is room, those in which least is alive before others. Few, so
 * that each is put where it belongs. */
static uint32_t sort_candidates(const arn_order_search *s, uint32_t *ids, uint32_t room) {
    uint32_t n = 0;
    for (uint32_t c = 1; c < s->n; c++) {
        uint32_t at = n < room ? n++ : room;
        while (at > 0 && s->list[ids[at - 1]].peak > s->list[c].peak) {
            if (at < room) ids[at] = ids[at - 1];
            at--;
        }
        if (at < room) ids[at] = c;
    }
    return n;
}

/* Lays the program out as it is today, then in orders in which ever more is alive; *best: where
 * least is to be reserved. No plan is smaller than what is alive at once in its order, so that some
 * need not be tried where slower pools are not used. */
static arenaut_status choose(const arn_order_search *s, const arn_order_candidate **best,
                             arenaut_error *err) {
    enum { MOST_TRIES = 16 };
    arn_reserved least = {.bytes = UINT64_MAX, .planned = UINT64_MAX, .spill = UINT64_MAX};
    uint32_t ids[MOST_TRIES];
    const uint32_t n = sort_candidates(s, ids, MOST_TRIES);
    arenaut_status st = try_candidate(s, &s->list[0], &least, best, err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        const arn_order_candidate *c = &s->list[ids[i]];
        const bool larger = c->peak >= least.planned + s->known.at_ends;
        if (larger && least.spill == 0) continue;
        st = try_candidate(s, c, &least, best, err);
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

static arenaut_status keep_joining(arenaut_pipeline *p, const arenaut_joining *joining,
                                   arenaut_error *err) {
    struct arenaut_pipeline_store *store = p->store;
    if (p->ordering.n_joins == 0) return ARENAUT_OK;
    store->joined = arn_allocate(&store->allocator, joining->n, sizeof *store->joined);
    if (!store->joined) return arn_no_memory(err);
    if (joining->n > 0) {
        memcpy(store->joined, joining->results, joining->n * sizeof *store->joined);
    }
    store->joining = (arenaut_joining){true, store->joined, joining->n};
    p->ordering.n_in_place = joining->n;
    return ARENAUT_OK;
}

static arenaut_status take(arenaut_pipeline *p, const arn_order_candidate *best,
                           arenaut_error *err) {
    arenaut_status st = keep_joining(p, &best->forms.joining, err);
    if (st == ARENAUT_OK) st = arn_pipeline_copy_views(p, best->forms.copying, err);
    p->ordering.n_copied = best->forms.copying.n;
    return st == ARENAUT_OK && best->ops ? put_in_order(p, best->ops, err) : st;
}

static bool holds_order(const arenaut_pipeline *p) {
    const arenaut_format *format = p->document.format;
    const bool several = p->document.program->n_methods > 1;
    if (several ? format->holds_orders : format->holds_order) return true;
    arn_pipeline_note(p, "nothing is reordered: a file of the format %s%s keeps its order",
                      format->name, several && format->holds_order ? " with several methods" : "");
    return false;
}

/* Whether it may make a difference which of the candidates is taken. */
static bool differs(const arn_order_search *s) {
    bool same = arn_order_search_choices(s) == 0 && s->n <= 2;
    const uint32_t n_ops = s->pipeline->document.program->n_ops;
    for (uint32_t i = 0; same && s->n == 2 && i < n_ops; i++) same = s->list[1].ops[i] == i;
    return !same;
}

static arenaut_status reorder_found(arenaut_pipeline *p, arenaut_error *err) {
    arn_order_search s = {.pipeline = p};
    arenaut_error why = {0};
    const arn_order_candidate *best = NULL;
    arn_region_init(&s.region, arn_pipeline_allocator(p));
    arenaut_status st = find(&s, &why);
    if (st == ARENAUT_OK) p->ordering = s.known;
    if (st == ARENAUT_REFUSED) {
        arn_pipeline_note(p, "nothing is reordered: %s", why.msg);
        st = ARENAUT_OK;
    } else if (st == ARENAUT_OK && differs(&s) && holds_order(p)) {
        st = choose(&s, &best, &why);
        if (st == ARENAUT_OK && best) st = take(p, best, &why);
    }
    if (st != ARENAUT_OK && err) *err = why;
    arn_region_free(&s.region);
    arn_release(arn_pipeline_allocator(p), s.list);
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
