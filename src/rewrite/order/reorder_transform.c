/* The transform of scheduling. The lowest peak of live bytes need not be the smallest arena:
 * several schedules are tried, each with its forms of joins and views. If a file states only by its
 * places which tensors share memory, these aliases are recovered before ops move. */
#include "rewrite/transform.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/dependences.h"
#include "core/checked.h"
#include "rewrite/order/program_order.h"
#include "rewrite/tile_dialects/tile_dialect.h"

/* ---- schedules together with forms ---- */

/* The best schedules for each choice of joins in place and views as copies. A few choices are
 * enumerated; of more, all and none, then hill climbing by single changes: of joins in their order,
 * of views whose base is live at the peak. */

/* A schedule to be tried, in these forms. */
typedef struct scheduled {
    arn_candidate candidate;
    uint64_t peak; /* of live bytes */
} scheduled;

/* The candidates that were found, and bounds. */
typedef struct form_search {
    arn_search *search;
    arn_form_choices choices;
    scheduled *list;
    uint32_t n, capacity;
    uint64_t least; /* peak of those in the list */
    /* The best that is no candidate, as a sequence of the file's ops, and its peak; NULL: none. */
    uint32_t *anew;
    uint64_t unlisted;
    arenaut_ordering known;
} form_search;

static arenaut_status add(form_search *s, scheduled c, arenaut_error *err) {
    if (!arn_grow(arn_pipeline_allocator(s->search->pipeline), (void **)&s->list, &s->capacity,
                  (uint64_t)s->n + 1, sizeof *s->list)) {
        return arn_no_memory(err);
    }
    s->list[s->n++] = c;
    s->least = arn_min_u64(s->least, c.peak);
    return ARENAUT_OK;
}

/* Files list a rematerialized program as a sequence of their ops, of which the first run makes the
 * results, and readers have those of the latest: whether it is this program in that sequence.
 * `latest` has room for its tensors. Tiles are ops of their own. */
static bool is_sequence(const form_search *s, const uint32_t *ops, uint32_t *latest) {
    const arenaut_rewrite *made = s->search->pipeline->rewrite;
    const arenaut_program *program = s->search->pipeline->document.program;
    if (!made || arenaut_rewrite_is_tiled(made)) return true;
    for (uint32_t t = 0; t < program->n_tensors; t++) latest[t] = t;
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[ops[i]];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const uint32_t t = op->inputs[k];
            if (t != ARENAUT_NONE && latest[made->tensors[t].tensor] != t) return false;
        }
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const uint32_t t = op->outputs[k];
            if (t == ARENAUT_NONE) continue;
            if (t < latest[made->tensors[t].tensor]) return false;
            latest[made->tensors[t].tensor] = t;
        }
    }
    return true;
}

static void keep_unlisted(form_search *s, uint32_t *ops, uint64_t peak) {
    const arenaut_pipeline *p = s->search->pipeline;
    if (s->anew && s->unlisted <= peak) return;
    for (uint32_t i = 0; i < p->document.program->n_ops; i++) ops[i] = p->rewrite->ops[ops[i]];
    s->anew = ops;
    s->unlisted = peak;
}

/* The peak of a schedule in which some ops run before their turn: no less than of what was found,
 * with which it is compared, though the lowering of another order may need less. */
static arenaut_status measure(const form_search *s, scheduled *c, arenaut_error *err) {
    arenaut_pipeline *lowered = NULL;
    arn_program_order *problem = NULL;
    arenaut_status st = arn_trial_lower(s->search->pipeline, &s->search->finding, NULL,
                                        &c->candidate, &lowered, err);
    if (st == ARENAUT_OK) st = arn_schedule_problem_of(lowered, &problem, err);
    if (st == ARENAUT_OK) st = arn_program_order_take_given(problem, err);
    if (st == ARENAUT_OK) c->peak = arn_max_u64(c->peak, arn_program_order_peaks(problem).given);
    arn_program_order_free(problem);
    arenaut_pipeline_free(lowered);
    return st;
}

/* `latest`: of is_sequence. *best: the least peak of a schedule that can be made. */
static arenaut_status add_order(form_search *s, const arn_program_order *problem, uint32_t number,
                                arn_candidate forms, uint32_t *latest, uint64_t *best,
                                arenaut_error *err) {
    const arenaut_program *program = s->search->pipeline->document.program;
    uint32_t *ops = arn_region_allocate(&s->search->region, program->n_ops, sizeof *ops);
    if (!ops) return arn_no_memory(err);
    scheduled c = {forms, arn_program_order_least(problem, number)};
    const uint64_t found = arn_program_order_peaks(problem).best;
    bool as_found;
    c.candidate.schedule = ops;
    arenaut_status st = arn_program_order_ops(
        problem, program, number, arn_pipeline_allocator(s->search->pipeline), ops, &as_found, err);
    if (st != ARENAUT_OK) return st;
    const bool listed = is_sequence(s, ops, latest);
    if (as_found && number == 0) *best = found;
    if (*best > found) { /* the best cannot be made: others are measured */
        if (!listed) return ARENAUT_OK;
        st = measure(s, &c, err);
        if (st != ARENAUT_OK) return st;
        *best = arn_min_u64(*best, c.peak);
    }
    if (listed) return add(s, c, err);
    keep_unlisted(s, ops, c.peak);
    return ARENAUT_OK;
}

/* The given schedule, the best one, then near-optimal ones. */
static arenaut_status add_orders(form_search *s, const arn_program_order *problem,
                                 arn_candidate forms, uint64_t *best, arenaut_error *err) {
    const scheduled given = {forms, arn_program_order_peaks(problem).given};
    const uint32_t n = arn_program_order_candidates(problem);
    uint32_t *latest = arn_region_allocate(
        &s->search->region, s->search->pipeline->document.program->n_tensors, sizeof *latest);
    arenaut_status st = latest ? add(s, given, err) : arn_no_memory(err);
    *best = given.peak;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        st = add_order(s, problem, i, forms, latest, best, err);
    }
    return st;
}

/* The first choice is that of the program as it is. */
static void note(form_search *s, const arn_order_peaks *peaks, uint32_t n_lines) {
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

/* The bases that are live at the peak, themselves or a copy of a view of them. */
static arenaut_status find_at_peak(const form_search *s, const arenaut_pipeline *lowered,
                                   const arn_program_order *problem, bool *at_peak,
                                   arenaut_error *err) {
    const arn_copies *copies = &s->choices.copies;
    const uint32_t n = lowered->lowering->problem->n_buffers;
    uint8_t *alive = arn_allocate(arn_pipeline_allocator(s->search->pipeline), n, sizeof *alive);
    if (!alive) return arn_no_memory(err);
    const arenaut_status st = arn_program_order_at_peak(problem, alive, err);
    for (uint32_t w = 0; w < copies->n_bases && st == ARENAUT_OK; w++) at_peak[w] = false;
    for (uint32_t i = 0; i < copies->n_parts && st == ARENAUT_OK; i++) {
        const uint32_t base = lowered->lowering->buffer[copies->parts[i].whole];
        const uint32_t copy = lowered->lowering->buffer[copies->parts[i].tensor];
        const bool live =
            (base != ARENAUT_NONE && alive[base]) || (copy != ARENAUT_NONE && alive[copy]);
        if (live) at_peak[copies->base_of_part[i]] = true;
    }
    arn_release(arn_pipeline_allocator(s->search->pipeline), alive);
    return st;
}

/* Finds schedules in these forms. *peak: that of the best; `at_peak`, unless NULL: per base. */
static arenaut_status search_in(form_search *s, arn_candidate forms, uint64_t *peak, bool *at_peak,
                                arenaut_error *err) {
    const arenaut_pipeline *p = s->search->pipeline;
    arn_budget *budget = &s->search->finding;
    arenaut_pipeline *lowered = NULL;
    arn_program_order *problem = NULL;
    uint32_t n_lines = 0;
    if (!arn_budget_goes_on(budget)) return arn_pipeline_stopped(err);
    arenaut_status st = arn_trial_lower(p, budget, NULL, &forms, &lowered, err);
    if (st == ARENAUT_OK) st = arn_schedule_problem_of(lowered, &problem, err);
    if (st == ARENAUT_OK) st = arn_find_schedules(p, problem, budget, &n_lines, err);
    if (st == ARENAUT_OK) st = add_orders(s, problem, forms, peak, err);
    if (st == ARENAUT_OK && at_peak) st = find_at_peak(s, lowered, problem, at_peak, err);
    if (st == ARENAUT_OK) {
        arn_order_peaks peaks = arn_program_order_peaks(problem);
        peaks.best = *peak;
        note(s, &peaks, n_lines);
    }
    arn_program_order_free(problem);
    arenaut_pipeline_free(lowered);
    return st;
}

/* ---- choices ---- */

enum {
    MOST_ENUMERATED = 3, /* joins and views */
    MOST_CHANGES = 12,   /* of joins */
    MOST_FORMS = 32,     /* of views */
};

/* The choice that was tried last, and the best by now: of each join, whether it is in place; then
 * of each view, whether it is a name. That is the program as it is. */
typedef struct choice {
    form_search *search;
    bool *as_given, *best;
    bool *at_peak, *peak_of_best; /* per base */
    bool *peak_apart;             /* likewise, without joins and copies */
    uint64_t bound, least, last;  /* bytes; `last`: of the last choice */
    uint64_t apart;               /* bytes, without joins and copies */
    uint32_t n, tries;
} choice;

/* The number of joins and views to choose from. */
static uint32_t count_forms(const form_search *s) {
    return s->choices.joins.n + s->choices.copies.n;
}

static arenaut_status list_forms(const choice *c, arn_candidate *forms, arenaut_error *err) {
    form_search *s = c->search;
    const arenaut_joining *joins = &s->choices.joins;
    const arn_copies *copies = &s->choices.copies;
    uint32_t *results = arn_region_allocate(&s->search->region, joins->n, sizeof *results);
    uint32_t *ops = arn_region_allocate(&s->search->region, copies->n, sizeof *ops);
    if (!results || !ops) return arn_no_memory(err);
    *forms =
        (arn_candidate){.joining = s->search->pipeline->options.joining, .copying = {.ops = ops}};
    if (joins->chosen) forms->joining = (arenaut_joining){.chosen = true, .results = results};
    for (uint32_t i = 0; i < joins->n; i++) {
        if (c->as_given[i]) results[forms->joining.n++] = joins->results[i];
    }
    for (uint32_t i = 0; i < copies->n; i++) {
        if (!c->as_given[joins->n + i]) ops[forms->copying.n++] = copies->ops[i];
    }
    return ARENAUT_OK;
}

/* Finds schedules for the choice, and keeps it if one of them has a lower peak. */
static arenaut_status try_choice(choice *c, arenaut_error *err) {
    arn_candidate forms;
    uint64_t peak = UINT64_MAX;
    arenaut_status st = list_forms(c, &forms, err);
    const bool views = c->search->choices.copies.n > 0;
    c->tries++;
    if (st == ARENAUT_OK) {
        st = search_in(c->search, forms, &peak, views ? c->at_peak : NULL, err);
    }
    c->last = peak;
    if (st != ARENAUT_OK || peak >= c->least) return st;
    c->least = peak;
    memcpy(c->best, c->as_given, c->n * sizeof *c->best);
    memcpy(c->peak_of_best, c->at_peak, c->search->choices.copies.n_bases * sizeof *c->at_peak);
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

/* Of the views of one base. */
typedef enum view_form { NAMES, LATE_COPIES, COPIES, FORMS } view_form;

static bool is_name(const arn_copies *copies, uint32_t view, view_form form) {
    return form == NAMES || (form == LATE_COPIES && !copies->late[view]);
}

/* True if that changes anything. */
static bool set_form(choice *c, uint32_t base, view_form form) {
    const arn_copies *copies = &c->search->choices.copies;
    bool *names = c->as_given + c->search->choices.joins.n;
    bool changed = false;
    for (uint32_t i = 0; i < copies->n; i++) {
        if (copies->base[i] != base) continue;
        changed = changed || names[i] != is_name(copies, i, form);
        names[i] = is_name(copies, i, form);
    }
    return changed;
}

static arenaut_status set_forms(choice *c, view_form form, arenaut_error *err) {
    bool changed = false;
    memcpy(c->as_given, c->best, c->n * sizeof *c->best);
    for (uint32_t w = 0; w < c->search->choices.copies.n_bases; w++) {
        changed = set_form(c, w, form) || changed;
    }
    return changed ? try_choice(c, err) : ARENAUT_OK;
}

/* Changes the form of one base that is live at the peak, so that the peak falls; *found: there is
 * such a change. */
static arenaut_status change_a_base(choice *c, bool *found, arenaut_error *err) {
    const uint64_t before = c->least;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t w = 0; w < c->search->choices.copies.n_bases; w++) {
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
        st = change_a_base(c, &more, err);
    }
    return st;
}

/* ---- the search ---- */

/* Copies alone may let joins be written in place. */
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
    memcpy(c->peak_apart, c->at_peak, c->search->choices.copies.n_bases * sizeof *c->at_peak);
    return st;
}

static bool joins_any(const choice *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->search->choices.joins.n; i++) any = any || c->best[i];
    return any;
}

/* Copies without joins in place: the best choice with joins need not lead there. */
static arenaut_status try_views_apart(choice *c, arenaut_error *err) {
    c->least = c->apart;
    memset(c->best, true, c->n * sizeof *c->best);
    memset(c->best, false, c->search->choices.joins.n * sizeof *c->best);
    memcpy(c->peak_of_best, c->peak_apart, c->search->choices.copies.n_bases * sizeof *c->at_peak);
    return try_views(c, err);
}

/* Views are tried only if the bound is not reached without. */
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
    arn_region *region = &c->search->search->region;
    const uint32_t n_bases = c->search->choices.copies.n_bases;
    c->as_given = arn_region_allocate(region, c->n, 2 * sizeof *c->as_given);
    c->at_peak = arn_region_allocate(region, n_bases, 3 * sizeof *c->at_peak);
    if (!c->as_given || !c->at_peak) return false;
    c->best = c->as_given + c->n;
    c->peak_of_best = c->at_peak + n_bases;
    c->peak_apart = c->peak_of_best + n_bases;
    memset(c->at_peak, false, n_bases * sizeof *c->at_peak);
    return true;
}

/* Bounds all choices; if each was tried, the least of their bounds is one, too. STOPPED if none
 * was. */
static arenaut_status search_choices(form_search *s, arenaut_error *err) {
    arenaut_ordering relaxed = {0}, *o = &s->known;
    choice c = {.search = s, .n = count_forms(s), .least = UINT64_MAX};
    if (!allocate(&c)) return arn_no_memory(err);
    bool all = c.n <= MOST_ENUMERATED;
    arenaut_status st =
        arn_bound_forms(s->search->pipeline, &s->search->finding, &s->choices, &relaxed, err);
    c.bound = relaxed.bound;
    if (st == ARENAUT_OK) st = all ? try_all(&c, err) : try_some(&c, err);
    if (st == ARENAUT_STOPPED && o->known) { /* some were tried */
        st = ARENAUT_OK;
        all = false;
    }
    o->n_joins = o->n_in_place = s->choices.joins.n;
    o->n_views = s->choices.copies.n;
    o->at_ends = arn_max_u64(o->at_ends, relaxed.at_ends);
    if (!all || relaxed.bound > o->bound) {
        o->bound = relaxed.bound;
        o->n_lines = relaxed.n_lines;
    }
    return st;
}

/* Finds schedules in the given forms, and in others that may be better; and a bound of all. Forms
 * are those of the file's ops: tiles keep theirs. */
static arenaut_status search_forms(form_search *s, arenaut_error *err) {
    const arn_candidate given = {.joining = s->search->pipeline->options.joining};
    uint64_t peak;
    arenaut_status st = ARENAUT_OK;
    if (!arenaut_rewrite_is_tiled(s->search->pipeline->rewrite)) {
        st = arn_find_forms(s->search->pipeline, &s->search->finding, &s->search->region,
                            &s->choices, err);
    }
    if (st != ARENAUT_OK) return st;
    return count_forms(s) > 0 ? search_choices(s, err) : search_in(s, given, &peak, NULL, err);
}

/* ---- the transform ---- */

/* Candidates but the first, as far as there is room, by their peaks. They are few: insertion sort.
 */
static uint32_t sort_candidates(const form_search *s, uint32_t *ids, uint32_t room) {
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

/* Tries the given schedule, then others by rising peaks. No plan is smaller than the peak of its
 * schedule, so that some are pruned unless slower pools are used. */
static arenaut_status try_candidates(const form_search *s, arenaut_error *err) {
    enum { MOST_TRIES = 16 };
    const arn_reserved *least = &s->search->least;
    uint32_t ids[MOST_TRIES];
    arn_reserved reserved;
    const uint32_t n = sort_candidates(s, ids, MOST_TRIES);
    arenaut_status st =
        arn_search_try(s->search, &s->list[0].candidate, ARN_QUICKLY, &reserved, err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        const scheduled *c = &s->list[ids[i]];
        const bool larger = c->peak >= least->planned + s->known.at_ends;
        if (larger && least->cost.spill == 0) continue;
        st = arn_search_try(s->search, &c->candidate, ARN_QUICKLY, &reserved, err);
    }
    return st;
}

static bool holds_schedule(const arenaut_pipeline *p) {
    const arenaut_format *format = p->document.format;
    const bool several = p->document.program->n_methods > 1;
    if (several ? format->holds_orders : format->holds_order) return true;
    arn_pipeline_note(p, "nothing is reordered: a file of the format %s%s keeps its order",
                      format->name, several && format->holds_order ? " with several methods" : "");
    return false;
}

/* True unless all candidates are the program as it is. */
static bool differs(const form_search *s) {
    bool same = count_forms(s) == 0 && s->n <= 2;
    const uint32_t n_ops = s->search->pipeline->document.program->n_ops;
    for (uint32_t i = 0; same && s->n == 2 && i < n_ops; i++) {
        same = s->list[1].candidate.schedule[i] == i;
    }
    return !same;
}

/* Once only: a program whose ops were reordered has no places. */
static arenaut_status recover_aliases(arenaut_pipeline *p, arenaut_error *err) {
    if (p->store->aliases_known) return ARENAUT_OK;
    p->store->aliases_known = arenaut_pass_find("recover-aliases") != NULL;
    return arn_pipeline_recover_aliases(p->document.program, p->options.share, err);
}

/* A trial asks for the program to be made anew in the sequence that is no candidate, unless one of
 * these has a lower peak. */
static arenaut_status ask(const form_search *s, arenaut_error *err) {
    arenaut_pipeline *p = s->search->pipeline;
    struct arenaut_pipeline_store *store = p->store;
    if (!s->anew || s->unlisted > s->least) return ARENAUT_OK;
    if (!store->aside) {
        if (s->unlisted < s->least) {
            arn_pipeline_note(p,
                              "the order with the lowest peak is not taken: in a sequence of "
                              "the file's ops, some would read the results of another run");
        }
        return ARENAUT_OK;
    }
    store->n_asked = p->document.program->n_ops;
    store->asked = arn_region_allocate(&store->lists, store->n_asked, sizeof *store->asked);
    if (!store->asked) return arn_no_memory(err);
    memcpy(store->asked, s->anew, store->n_asked * sizeof *store->asked);
    return ARENAUT_OK;
}

static arenaut_status propose(arn_search *search, arenaut_error *err) {
    arenaut_pipeline *p = search->pipeline;
    form_search s = {.search = search, .least = UINT64_MAX};
    arenaut_status st = recover_aliases(p, err);
    if (st != ARENAUT_OK) return st;
    st = search_forms(&s, err);
    if (st == ARENAUT_OK) p->ordering = s.known;
    p->ordering.n_held = arn_order_count_held(p->document.program);
    if (st == ARENAUT_OK && differs(&s) && holds_schedule(p)) st = try_candidates(&s, err);
    if (st == ARENAUT_OK) st = ask(&s, err);
    arn_release(arn_pipeline_allocator(p), s.list);
    return st;
}

static arn_request requested(const arenaut_pipeline_options *options, arn_candidate *given) {
    given->schedule = options->reordering.ops;
    if (!options->reordering.on) return ARN_NOT_REQUESTED;
    return given->schedule ? ARN_CHOICE_GIVEN : ARN_SEARCH_REQUESTED;
}

static const char *obstacle(const arenaut_pipeline *p) {
    const arn_tile_dialect *dialect = arn_tile_dialect_find(p->document.program->dialect);
    return arenaut_rewrite_is_tiled(p->rewrite) && dialect && dialect->put_zero
               ? "the program was split, and order edges keep its tiles in their sequence"
               : NULL;
}

static arenaut_status reorder(arenaut_program *program, const uint32_t *ops, uint32_t n_ops,
                              arenaut_rewrite **out, arenaut_error *err) {
    (void)n_ops; /* all of the program's */
    return arn_reorder(program, ops, out, err);
}

static arenaut_status apply(arenaut_pipeline *p, const arn_candidate *c, arenaut_error *err) {
    const arenaut_reordering *given = &p->options.reordering;
    const uint32_t n_ops = p->document.program->n_ops;
    const bool is_given = c->schedule == given->ops && !p->store->aside;
    arenaut_error why = {0};
    if (!c->schedule) return ARENAUT_OK;
    if (is_given && given->n_ops && given->n_ops != n_ops) {
        return arn_pipeline_blame(
            p, err, "reorder", "reorder: the schedule: it is of %" PRIu32 " ops, not of %" PRIu32,
            given->n_ops, n_ops);
    }
    arenaut_status st = recover_aliases(p, err);
    if (st != ARENAUT_OK) return st;
    st = arn_apply_rewriting(p, reorder, c->schedule, n_ops, &why);
    const bool wrong = st == ARENAUT_INTERNAL || st == ARENAUT_BAD_ARGUMENT;
    if (wrong && is_given) {
        return arn_pipeline_blame(p, err, "reorder", "reorder: the schedule: %s", why.msg);
    }
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

static bool encoded_by(const arenaut_format *format) { return format->holds_order; }

static void describe(arenaut_pipeline *p, const arn_candidate *applied) {
    if (applied->joining.chosen) p->ordering.n_in_place = applied->joining.n;
    p->ordering.n_copied = applied->copying.n;
}

const arn_transform arn_transform_reorder = {
    .done = "reordered",
    .only_one_file = true,
    .finding = 600,
    .requested = requested,
    .obstacle = obstacle,
    .propose = propose,
    .apply = apply,
    .encoded_by = encoded_by,
    .describe = describe,
};
