/* Which joins are in place and which views are copies, together with the order. Of a few each
 * choice is looked at; of more, all and none, and then single changes, as far as less is alive
 * then: of joins in their order, of views of what is there where most is alive. */
#include "pipeline/forms_search.h"

#include <string.h>

#include "core/checked.h"

enum {
    MOST_ENUMERATED = 3, /* of which each choice is looked at */
    MOST_CHANGES = 12,   /* of joins */
    MOST_FORMS = 32,     /* of views */
};

/* What was tried last, and the best by now: of each join, whether it is in place; then of each
 * view, whether it is a name. That is how things are today. */
typedef struct choice {
    arn_order_search *search;
    arn_budget *budget;
    bool *as_given, *best;
    bool *at_peak, *peak_of_best; /* per whole */
    bool *peak_apart;             /* likewise, where nothing is joined, and views are names */
    uint64_t bound, least, last;  /* bytes; `last`: of what was tried last */
    uint64_t apart;               /* bytes, there */
    uint32_t n, tries;
} choice;

uint32_t arn_order_search_choices(const arn_order_search *s) {
    return s->choices.joins.n + s->choices.copies.n;
}

static arenaut_status list_forms(const choice *c, arn_forms *forms, arenaut_error *err) {
    arn_order_search *s = c->search;
    const arenaut_joining *joins = &s->choices.joins;
    const arn_copies *copies = &s->choices.copies;
    uint32_t *results = arn_region_allocate(&s->region, joins->n, sizeof *results);
    uint32_t *ops = arn_region_allocate(&s->region, copies->n, sizeof *ops);
    if (!results || !ops) return arn_no_memory(err);
    *forms = (arn_forms){.joining = s->pipeline->options.joining, .copying = {.ops = ops}};
    if (joins->chosen) forms->joining = (arenaut_joining){.chosen = true, .results = results};
    for (uint32_t i = 0; i < joins->n; i++) {
        if (c->as_given[i]) results[forms->joining.n++] = joins->results[i];
    }
    for (uint32_t i = 0; i < copies->n; i++) {
        if (!c->as_given[joins->n + i]) ops[forms->copying.n++] = copies->ops[i];
    }
    return ARENAUT_OK;
}

/* Looks for orders as was chosen, and keeps the choice if less is alive in one of them. */
static arenaut_status try_choice(choice *c, arenaut_error *err) {
    arn_forms forms;
    uint64_t peak = UINT64_MAX;
    arenaut_status st = list_forms(c, &forms, err);
    const bool views = c->search->choices.copies.n > 0;
    c->tries++;
    if (st == ARENAUT_OK) {
        st =
            arn_order_search_in(c->search, c->budget, forms, &peak, views ? c->at_peak : NULL, err);
    }
    c->last = peak;
    if (st != ARENAUT_OK || peak >= c->least) return st;
    c->least = peak;
    memcpy(c->best, c->as_given, c->n * sizeof *c->best);
    memcpy(c->peak_of_best, c->at_peak, c->search->choices.copies.n_wholes * sizeof *c->at_peak);
    return ARENAUT_OK;
}

static arenaut_status try_all(choice *c, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t bits = 1U << c->n; bits-- > 0 && st == ARENAUT_OK;) {
        for (uint32_t i = 0; i < c->n; i++) c->as_given[i] = bits >> i & 1;
        st = try_choice(c, err);
    }
    return st;
}

static arenaut_status try_joins(choice *c, arenaut_error *err) {
    const uint32_t n = c->search->choices.joins.n;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && i < MOST_CHANGES && st == ARENAUT_OK; i++) {
        if (c->least <= c->bound) return ARENAUT_OK;
        memcpy(c->as_given, c->best, c->n * sizeof *c->best);
        c->as_given[i] = !c->as_given[i];
        st = try_choice(c, err);
    }
    return st;
}

/* ---- views ---- */

/* Of the views of one whole. */
typedef enum view_form { NAMES, LATE_COPIES, COPIES, FORMS } view_form;

static bool is_name(const arn_copies *copies, uint32_t view, view_form form) {
    return form == NAMES || (form == LATE_COPIES && !copies->late[view]);
}

/* Whether that changes anything. */
static bool set_form(choice *c, uint32_t whole, view_form form) {
    const arn_copies *copies = &c->search->choices.copies;
    bool *names = c->as_given + c->search->choices.joins.n;
    bool changed = false;
    for (uint32_t i = 0; i < copies->n; i++) {
        if (copies->whole[i] != whole) continue;
        changed = changed || names[i] != is_name(copies, i, form);
        names[i] = is_name(copies, i, form);
    }
    return changed;
}

static arenaut_status set_forms(choice *c, view_form form, arenaut_error *err) {
    bool changed = false;
    memcpy(c->as_given, c->best, c->n * sizeof *c->best);
    for (uint32_t w = 0; w < c->search->choices.copies.n_wholes; w++) {
        changed = set_form(c, w, form) || changed;
    }
    return changed ? try_choice(c, err) : ARENAUT_OK;
}

/* Another form of one whole that is there where most is alive, with which less is; *found: whether
 * there is one. */
static arenaut_status change_a_whole(choice *c, bool *found, arenaut_error *err) {
    const uint64_t before = c->least;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t w = 0; w < c->search->choices.copies.n_wholes; w++) {
        for (view_form form = NAMES; form < FORMS && c->peak_of_best[w]; form++) {
            memcpy(c->as_given, c->best, c->n * sizeof *c->best);
            if (c->tries >= MOST_FORMS || !set_form(c, w, form)) continue;
            st = try_choice(c, err);
            *found = c->least < before;
            if (st != ARENAUT_OK || *found) return st;
        }
    }
    *found = false;
    return ARENAUT_OK;
}

static arenaut_status try_views(choice *c, arenaut_error *err) {
    c->tries = 0;
    arenaut_status st = set_forms(c, COPIES, err);
    if (st == ARENAUT_OK) st = set_forms(c, LATE_COPIES, err);
    for (bool more = true; more && st == ARENAUT_OK && c->least > c->bound;) {
        st = change_a_whole(c, &more, err);
    }
    return st;
}

/* ---- all of it ---- */

/* Copies alone may be what lets joins be written in place. */
static arenaut_status try_all_new(choice *c, arenaut_error *err) {
    const uint32_t n_joins = c->search->choices.joins.n;
    memset(c->as_given, true, n_joins * sizeof *c->as_given);
    memset(c->as_given + n_joins, false, (c->n - n_joins) * sizeof *c->as_given);
    return try_choice(c, err);
}

static arenaut_status try_names(choice *c, bool joined, arenaut_error *err) {
    memset(c->as_given, true, c->n * sizeof *c->as_given);
    memset(c->as_given, joined, c->search->choices.joins.n * sizeof *c->as_given);
    return try_choice(c, err);
}

static arenaut_status try_apart(choice *c, arenaut_error *err) {
    const arenaut_status st = try_names(c, false, err);
    c->apart = c->last;
    memcpy(c->peak_apart, c->at_peak, c->search->choices.copies.n_wholes * sizeof *c->at_peak);
    return st;
}

static bool joins_any(const choice *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->search->choices.joins.n; i++) any = any || c->best[i];
    return any;
}

/* Copies, where nothing is joined in place: what is best with joins need not lead there. */
static arenaut_status try_views_apart(choice *c, arenaut_error *err) {
    c->least = c->apart;
    memset(c->best, true, c->n * sizeof *c->best);
    memset(c->best, false, c->search->choices.joins.n * sizeof *c->best);
    memcpy(c->peak_of_best, c->peak_apart, c->search->choices.copies.n_wholes * sizeof *c->at_peak);
    return try_views(c, err);
}

/* Views are looked at only where not all is known without. */
static arenaut_status try_some(choice *c, arenaut_error *err) {
    const uint32_t n_joins = c->search->choices.joins.n;
    arenaut_status st = try_names(c, true, err);
    if (st == ARENAUT_OK && n_joins > 0) st = try_apart(c, err);
    if (st == ARENAUT_OK) st = try_joins(c, err);
    if (st != ARENAUT_OK || c->search->choices.copies.n == 0 || c->least <= c->bound) return st;
    if (n_joins > 0) st = try_all_new(c, err);
    const bool joined = joins_any(c);
    if (st == ARENAUT_OK) st = try_views(c, err);
    return st == ARENAUT_OK && joined && c->least > c->bound ? try_views_apart(c, err) : st;
}

static bool allocate(choice *c) {
    arn_region *region = &c->search->region;
    const uint32_t wholes = c->search->choices.copies.n_wholes;
    c->as_given = arn_region_allocate(region, c->n, 2 * sizeof *c->as_given);
    c->at_peak = arn_region_allocate(region, wholes, 3 * sizeof *c->at_peak);
    if (!c->as_given || !c->at_peak) return false;
    c->best = c->as_given + c->n;
    c->peak_of_best = c->at_peak + wholes;
    c->peak_apart = c->peak_of_best + wholes;
    memset(c->at_peak, false, wholes * sizeof *c->at_peak);
    return true;
}

/* The bound for any choice; where each was looked at, the least of theirs is one, too. STOPPED
 * where none was. */
arenaut_status arn_order_search_forms(arn_order_search *s, arn_budget *budget, arenaut_error *err) {
    arenaut_ordering loose = {0}, *o = &s->known;
    choice c = {
        .search = s, .budget = budget, .n = arn_order_search_choices(s), .least = UINT64_MAX};
    if (!allocate(&c)) return arn_no_memory(err);
    bool all = c.n <= MOST_ENUMERATED;
    arenaut_status st = arn_pipeline_bound_forms(s->pipeline, budget, &s->choices, &loose, err);
    c.bound = loose.bound;
    if (st == ARENAUT_OK) st = all ? try_all(&c, err) : try_some(&c, err);
    if (st == ARENAUT_STOPPED && o->known) { /* some were looked at */
        st = ARENAUT_OK;
        all = false;
    }
    o->n_joins = o->n_in_place = s->choices.joins.n;
    o->n_views = s->choices.copies.n;
    o->at_ends = arn_max_u64(o->at_ends, loose.at_ends);
    if (!all || loose.bound > o->bound) {
        o->bound = loose.bound;
        o->n_lines = loose.n_lines;
    }
    return st;
}
