/* Reordering, between reading and passes. What is alive when is known of a program only behind the
 * passes, so that these run on another copy of it, from which the order problem is made. The least
 * that can be alive need not be the least arena: the program is planned in several orders. Where a
 * file says only by its places which tensors share memory, that is found before ops move. */
#include "pipeline/forms_search.h"

#include <string.h>

#include "core/memory.h"
#include "rewrite/order/dependences.h"

static arenaut_status find(arn_order_search *s, arn_budget *budget, arenaut_error *err) {
    uint64_t peak;
    const arn_forms given = {.joining = s->pipeline->options.joining};
    const arenaut_status st =
        arn_pipeline_find_forms(s->pipeline, budget, &s->region, &s->choices, err);
    if (st != ARENAUT_OK) return st;
    return arn_order_search_choices(s) > 0
               ? arn_order_search_forms(s, budget, err)
               : arn_order_search_in(s, budget, given, &peak, NULL, err);
}

/* ---- what is taken ---- */

/* What is to be reserved then, if it is less than *least: then *best is it. */
static arenaut_status try_candidate(const arn_order_search *s, arn_budget *budget,
                                    const arn_order_candidate *c, arn_reserved *least,
                                    const arn_order_candidate **best, arenaut_error *err) {
    const arenaut_pipeline *p = s->pipeline;
    arn_reserved reserved;
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    options.reordering = (arenaut_reordering){.on = c->ops != NULL, .ops = c->ops};
    options.joining = c->forms.joining;
    if (!p->rewrite) options.copying = c->forms.copying;
    arn_budget part = arn_budget_part(budget, 0, 0, ARN_BUDGET_ALL);
    const arenaut_status st =
        arn_pipeline_plan_aside(p, &part, options, ARN_QUICKLY, &reserved, err);
    if (st != ARENAUT_OK || !arn_costs_less(reserved.cost, least->cost)) return st;
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
static arenaut_status choose(const arn_order_search *s, arn_budget *budget,
                             const arn_order_candidate **best, arenaut_error *err) {
    enum { MOST_TRIES = 16 };
    arn_reserved least = ARN_NOTHING_RESERVED;
    uint32_t ids[MOST_TRIES];
    const uint32_t n = sort_candidates(s, ids, MOST_TRIES);
    arenaut_status st = try_candidate(s, budget, &s->list[0], &least, best, err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        const arn_order_candidate *c = &s->list[ids[i]];
        const bool larger = c->peak >= least.planned + s->known.at_ends;
        if (larger && least.cost.spill == 0) continue;
        st = try_candidate(s, budget, c, &least, best, err);
    }
    return st;
}

static arenaut_status reorder(arenaut_program *program, const uint32_t *ops, uint32_t n_ops,
                              arenaut_rewrite **out, arenaut_error *err) {
    (void)n_ops; /* all of the program's */
    return arenaut_reorder(program, ops, out, err);
}

static arenaut_status put_in_order(arenaut_pipeline *p, const uint32_t *ops, arenaut_error *err) {
    return arn_pipeline_apply(p, reorder, ops, p->document.program->n_ops, err);
}

static arenaut_status keep_joining(arenaut_pipeline *p, const arenaut_joining *joining,
                                   arenaut_error *err) {
    struct arenaut_pipeline_store *store = p->store;
    if (!joining->chosen) return ARENAUT_OK;
    if (joining->n > 0) {
        store->joined = arn_allocate(&store->allocator, joining->n, sizeof *store->joined);
        if (!store->joined) return arn_no_memory(err);
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

/* Shares of the time, in thousandths, up to which orders are looked for, and laid out. */
enum { SHARE_OF_ORDERS = 600 };

static arenaut_status reorder_found(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err) {
    arn_budget looking = arn_budget_part(budget, 0, 0, SHARE_OF_ORDERS);
    arn_budget choosing = arn_budget_part(budget, 0, SHARE_OF_ORDERS, ARN_BUDGET_ALL);
    arn_order_search s = {.pipeline = p};
    arenaut_error why = {0};
    const arn_order_candidate *best = NULL;
    arn_region_init(&s.region, arn_pipeline_allocator(p));
    arenaut_status st = find(&s, &looking, &why);
    if (st == ARENAUT_OK) p->ordering = s.known;
    p->ordering.n_held = arn_order_count_held(p->document.program);
    if (st == ARENAUT_REFUSED || st == ARENAUT_STOPPED) {
        arn_pipeline_note(p, "nothing is reordered: %s", why.msg);
        st = ARENAUT_OK;
    } else if (st == ARENAUT_OK && differs(&s) && holds_order(p)) {
        st = choose(&s, &choosing, &best, &why);
        if (st == ARENAUT_OK && best) st = take(p, best, &why);
    }
    if (st != ARENAUT_OK && err) *err = why;
    arn_region_free(&s.region);
    arn_release(arn_pipeline_allocator(p), s.list);
    return st;
}

arenaut_status arn_pipeline_reorder(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err) {
    const arenaut_reordering *o = &p->options.reordering;
    if (!o->on) return ARENAUT_OK;
    const bool split = p->rewrite && p->rewrite->n_stages > 0;
    if (split || p->store->n_files > 1) {
        arn_pipeline_note(p, "nothing is reordered: the program was %s",
                          split ? "split" : "made of several files");
        return ARENAUT_OK;
    }
    if (!o->ops && !arn_pipeline_has_time(p, budget, "reordered")) return ARENAUT_OK;
    const arenaut_status st = arn_pipeline_recover_aliases(p->document.program, err);
    if (st != ARENAUT_OK) return st;
    p->store->aliases_known = arenaut_pass_find("recover-aliases") != NULL;
    return o->ops ? put_in_order(p, o->ops, err) : reorder_found(p, budget, err);
}
