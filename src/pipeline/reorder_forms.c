/* Joins in place, of which each is one or not, and views that may be copies, together with the
 * order: which there are to choose from, and a bound for all choices. What the pass `slices` writes
 * in place if it may is what is an op where it may not, and is none where it may. */
#include "stages/stages.h"

#include <string.h>

#include "core/memory.h"

arenaut_status arn_pipeline_prepare_formed(const arenaut_pipeline *p, arn_budget *budget,
                                           arn_forms forms, arenaut_pipeline **prepared,
                                           arenaut_error *err) {
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    options.reordering = (arenaut_reordering){0};
    options.joining = forms.joining;
    if (!p->rewrite) options.copying = forms.copying;
    return arn_pipeline_prepare_aside(p, budget, &options, prepared, err);
}

/* Whether the op is in place in one program and not in the other. */
static bool joins_in_place(const arenaut_op *was, const arenaut_op *is) {
    return was->kind == ARENAUT_OP_OUT && is->kind == ARENAUT_OP_VIEW;
}

/* Whether that may be chosen: its result must be known in any order of the ops, so that no pass
 * made it, and be all of its memory. */
static bool is_choice(const arenaut_pipeline *p, const arenaut_program *apart, uint32_t op) {
    const arenaut_op *was = &apart->ops[op];
    if (was->n_outputs != 1) return false;
    const uint32_t t = was->outputs[0];
    return t < p->document.program->n_tensors && apart->tensors[t].view_of == ARENAUT_NONE;
}

/* Results that are not among the joins yet; where memory is allocated, that is an op, too. */
static uint32_t list_others(const arenaut_program *apart, const bool *found, uint32_t *others) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < apart->n_ops; i++) {
        const arenaut_op *op = &apart->ops[i];
        if (op->kind != ARENAUT_OP_OUT || op->n_outputs != 1 || op->outputs[0] == ARENAUT_NONE ||
            found[op->outputs[0]]) {
            continue;
        }
        others[n++] = op->outputs[0];
    }
    return n;
}

/* What is in place in one program and not in the other. All of it must be a choice: else joins are
 * not chosen at all. */
static void add_joins(const arenaut_pipeline *p, const arenaut_program *apart,
                      const arenaut_program *joined, bool *found, arenaut_joining *joins,
                      uint32_t *results) {
    joins->chosen = apart->n_ops == joined->n_ops;
    for (uint32_t i = 0; i < apart->n_ops && joins->chosen; i++) {
        if (!joins_in_place(&apart->ops[i], &joined->ops[i])) continue;
        joins->chosen = is_choice(p, apart, i);
        if (!joins->chosen) continue;
        const uint32_t result = apart->ops[i].outputs[0];
        if (!found[result]) results[joins->n++] = result;
        found[result] = true;
    }
}

/* If everything else may be in place, but for what was found before. */
static arenaut_status find_more(const arenaut_pipeline *p, arn_budget *budget,
                                const arenaut_program *apart, arenaut_copying copying,
                                uint32_t *others, bool *found, arenaut_joining *joins,
                                arenaut_error *err) {
    const arn_forms rest = {{true, others, list_others(apart, found, others)}, copying};
    arenaut_pipeline *joined = NULL;
    if (!arn_budget_goes_on(budget)) return arn_pipeline_stopped(err);
    const arenaut_status st = arn_pipeline_prepare_formed(p, budget, rest, &joined, err);
    if (st == ARENAUT_OK)
        add_joins(p, apart, joined->document.program, found, joins, others + apart->n_ops);
    arenaut_pipeline_free(joined);
    return st;
}

/* A tensor may be a part of several joins, of which one can have it in place: what that keeps from
 * being in place is found in a further round. */
static arenaut_status find_rounds(const arenaut_pipeline *p, arn_budget *budget,
                                  const arenaut_program *apart, arenaut_copying copying,
                                  arn_region *region, arenaut_joining *joins, arenaut_error *err) {
    enum { MOST_ROUNDS = 64 };
    uint32_t *lists = arn_region_allocate(region, apart->n_ops, 2 * sizeof *lists);
    bool *found = arn_region_allocate(region, apart->n_tensors, sizeof *found);
    if (!lists || !found) return arn_no_memory(err);
    memset(found, false, apart->n_tensors * sizeof *found);
    *joins = (arenaut_joining){.chosen = true, .results = lists + apart->n_ops};
    arenaut_status st = ARENAUT_OK;
    bool more = true;
    for (int round = 0; round < MOST_ROUNDS && more && st == ARENAUT_OK; round++) {
        const uint32_t before = joins->n;
        st = find_more(p, budget, apart, copying, lists, found, joins, err);
        more = joins->chosen && joins->n > before;
    }
    if (more || !joins->chosen) *joins = (arenaut_joining){0};
    return st;
}

static bool may_join(const arenaut_pipeline *p) {
    const char *passes = p->options.passes;
    return passes && strstr(passes, "slices");
}

/* Where these views are copies. */
static arenaut_status find_joins(const arenaut_pipeline *p, arn_budget *budget,
                                 arenaut_copying copying, arn_region *region,
                                 arenaut_joining *joins, arenaut_error *err) {
    arenaut_pipeline *apart = NULL;
    const arn_forms none = {{.chosen = true}, copying};
    arenaut_status st = arn_pipeline_prepare_formed(p, budget, none, &apart, err);
    if (st == ARENAUT_OK)
        st = find_rounds(p, budget, apart->document.program, copying, region, joins, err);
    arenaut_pipeline_free(apart);
    return st;
}

/* What names memory that has other names cannot be joined in place, nor can what has other names:
 * so joins are looked for where all that may be a copy is one, and then what they leave to choose
 * of those. */
static arenaut_status find_both(const arenaut_pipeline *p, arn_budget *budget,
                                const arenaut_pipeline *given, bool copies_too, arn_region *region,
                                arn_form_choices *choices, arenaut_error *err) {
    arn_copies *copies = &choices->copies;
    arenaut_status st = ARENAUT_OK;
    if (copies_too) st = arn_pipeline_find_copies(p, given, NULL, region, copies, err);
    const arenaut_copying all = {copies->ops, copies->n};
    if (st == ARENAUT_OK) st = find_joins(p, budget, all, region, &choices->joins, err);
    *copies = (arn_copies){0};
    if (st != ARENAUT_OK || !copies_too || !choices->joins.chosen) return st;
    return arn_pipeline_find_copies(p, given, &choices->joins, region, copies, err);
}

/* What was rewritten before stays as it is, and so do views where it was said what is joined. */
arenaut_status arn_pipeline_find_forms(const arenaut_pipeline *p, arn_budget *budget,
                                       arn_region *region, arn_form_choices *choices,
                                       arenaut_error *err) {
    const arenaut_joining said = p->options.joining, none = {0};
    const bool joins = !said.chosen && may_join(p);
    const bool copies = !p->rewrite && p->document.program->n_methods == 1 && !said.chosen;
    const arn_forms forms = {.joining = {.chosen = joins}};
    arenaut_pipeline *given = NULL;
    *choices = (arn_form_choices){0};
    if (!joins && !copies) return ARENAUT_OK;
    arenaut_status st = arn_pipeline_prepare_formed(p, budget, forms, &given, err);
    if (st == ARENAUT_OK && joins) st = find_both(p, budget, given, copies, region, choices, err);
    else if (st == ARENAUT_OK) {
        st = arn_pipeline_find_copies(p, given, &none, region, &choices->copies, err);
    }
    arenaut_pipeline_free(given);
    return st;
}

static arenaut_status bound_loosened(const arenaut_pipeline *p, arn_budget *budget,
                                     arenaut_program_order *problem, arenaut_ordering *bound,
                                     arenaut_error *err) {
    arenaut_order *order = NULL;
    const arenaut_status st =
        arn_pipeline_find_order(p, arenaut_program_order_problem(problem, 0), budget, &order, err);
    if (st == ARENAUT_OK) {
        bound->bound = order->bound;
        bound->n_lines = order->n_lines;
        bound->at_ends = arenaut_program_order_peaks(problem).at_ends;
    }
    arenaut_order_free(order);
    return st;
}

arenaut_status arn_pipeline_bound_forms(const arenaut_pipeline *p, arn_budget *budget,
                                        const arn_form_choices *choices, arenaut_ordering *bound,
                                        arenaut_error *err) {
    arenaut_pipeline *apart = NULL;
    arenaut_program_order *problem = NULL;
    arenaut_error why = {0};
    const arenaut_joining *joins = &choices->joins;
    const arn_copies *copies = &choices->copies;
    const arn_forms forms = {.joining = {.chosen = joins->chosen}, /* none of them */
                             .copying = {copies->ops, copies->n}};
    const arenaut_relaxation loosening = {joins->results, joins->n, copies->parts, copies->n_parts};
    *bound = (arenaut_ordering){0};
    arenaut_status st = arn_pipeline_prepare_formed(p, budget, forms, &apart, &why);
    if (st == ARENAUT_OK) st = arn_pipeline_order_problem(p, apart, &problem, &why);
    if (st == ARENAUT_OK) {
        st = arenaut_program_order_relax(problem, apart->document.program, apart->lowering,
                                         &loosening, &why);
    }
    if (st == ARENAUT_OK) st = bound_loosened(p, budget, problem, bound, &why);
    arenaut_program_order_free(problem);
    arenaut_pipeline_free(apart);
    if (st == ARENAUT_REFUSED) return ARENAUT_OK;
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}
