/* The transform of scheduling. The lowest peak of live bytes need not be the smallest arena:
 * several schedules are tried, each with its forms of joins and views. If a file states only by its
 * places which tensors share memory, these aliases are recovered before ops move. */
#include "rewrite/order/dependences.h"
#include "rewrite/order/forms.h"
#include "rewrite/order/program_order.h"

/* Candidates but the first, as far as there is room, by their peaks. They are few: insertion sort.
 */
static uint32_t sort_candidates(const arn_form_search *s, uint32_t *ids, uint32_t room) {
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
static arenaut_status try_candidates(const arn_form_search *s, arenaut_error *err) {
    enum { MOST_TRIES = 16 };
    const arn_reserved *least = &s->search->least;
    uint32_t ids[MOST_TRIES];
    arn_reserved reserved;
    const uint32_t n = sort_candidates(s, ids, MOST_TRIES);
    arenaut_status st =
        arn_search_try(s->search, &s->list[0].candidate, ARN_QUICKLY, &reserved, err);
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        const arn_scheduled *c = &s->list[ids[i]];
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
static bool differs(const arn_form_search *s) {
    bool same = arn_count_forms(s) == 0 && s->n <= 2;
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

static arenaut_status propose(arn_search *search, arenaut_error *err) {
    arenaut_pipeline *p = search->pipeline;
    arn_form_search s = {.search = search};
    arenaut_status st = recover_aliases(p, err);
    if (st != ARENAUT_OK) return st;
    st = arn_search_forms(&s, err);
    if (st == ARENAUT_OK) p->ordering = s.known;
    p->ordering.n_held = arn_order_count_held(p->document.program);
    if (st == ARENAUT_OK && differs(&s) && holds_schedule(p)) st = try_candidates(&s, err);
    arn_release(arn_pipeline_allocator(p), s.list);
    return st;
}

static arn_request requested(const arenaut_pipeline_options *options, arn_candidate *given) {
    given->schedule = options->reordering.ops;
    if (!options->reordering.on) return ARN_NOT_REQUESTED;
    return given->schedule ? ARN_CHOICE_GIVEN : ARN_SEARCH_REQUESTED;
}

static arenaut_status reorder(arenaut_program *program, const uint32_t *ops, uint32_t n_ops,
                              arenaut_rewrite **out, arenaut_error *err) {
    (void)n_ops; /* all of the program's */
    return arn_reorder(program, ops, out, err);
}

static arenaut_status apply(arenaut_pipeline *p, const arn_candidate *c, arenaut_error *err) {
    if (!c->schedule) return ARENAUT_OK;
    const arenaut_status st = recover_aliases(p, err);
    if (st != ARENAUT_OK) return st;
    return arn_apply_rewriting(p, reorder, c->schedule, p->document.program->n_ops, err);
}

static bool encoded_by(const arenaut_format *format) { return format->holds_order; }

static void describe(arenaut_pipeline *p, const arn_candidate *applied) {
    if (applied->joining.chosen) p->ordering.n_in_place = applied->joining.n;
    p->ordering.n_copied = applied->copying.n;
}

const arn_transform arn_transform_reorder = {
    .done = "reordered",
    .only_alone = true,
    .finding = 600,
    .requested = requested,
    .propose = propose,
    .apply = apply,
    .encoded_by = encoded_by,
    .describe = describe,
};
