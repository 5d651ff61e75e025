/* Joins in place, of which each is one or not, and views that may be copies, together with the
 * order: which there are to choose from, and a bound for all choices. What the pass `slices` writes
 * in place if it may is what is an op where it may not, and is none where it may. */
#include "pipeline/stages.h"

#include <string.h>

#include "core/memory.h"

arenaut_status arn_pipeline_prepare_formed(const arenaut_pipeline *p, arn_forms forms,
                                           arenaut_pipeline **prepared, arenaut_error *err) {
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    options.reordering = (arenaut_reordering){0};
    options.joining = forms.joining;
    if (!p->rewrite) options.copying = forms.copying;
    return arn_pipeline_prepare_aside(p, &options, prepared, err);
}

/* Whether an op that is in place in one program and not in the other may be chosen: its result must
 * be known in any order of the ops, so that no pass made it, and be all of its memory. */
static bool is_choice(const arenaut_pipeline *p, const arenaut_program *apart, uint32_t op,
                      const arenaut_program *joined) {
    const arenaut_op *was = &apart->ops[op], *is = &joined->ops[op];
    if (was->kind != ARENAUT_OP_OUT || is->kind != ARENAUT_OP_VIEW || was->n_outputs != 1) {
        return false;
    }
    const uint32_t t = was->outputs[0];
    return t < p->document.program->n_tensors && apart->tensors[t].view_of == ARENAUT_NONE;
}

/* Results of ops that are not among the joins yet. */
static uint32_t list_others(const arenaut_program *apart, const bool *found, uint32_t *others) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < apart->n_ops; i++) {
        if (!found[i] && apart->ops[i].n_outputs == 1) others[n++] = apart->ops[i].outputs[0];
    }
    return n;
}

/* What is in place if everything else may be, but for what was found before. */
static arenaut_status find_more(const arenaut_pipeline *p, const arenaut_program *apart,
                                uint32_t *others, bool *found, arenaut_joining *joins,
                                arenaut_error *err) {
    const arn_forms rest = {.joining = {true, others, list_others(apart, found, others)}};
    arenaut_pipeline *joined = NULL;
    const arenaut_status st = arn_pipeline_prepare_formed(p, rest, &joined, err);
    uint32_t *results = others + apart->n_ops;
    for (uint32_t i = 0; i < apart->n_ops && st == ARENAUT_OK; i++) {
        if (apart->n_ops != joined->document.program->n_ops) break;
        if (!is_choice(p, apart, i, joined->document.program)) continue;
        found[i] = true;
        results[joins->n++] = apart->ops[i].outputs[0];
    }
    arenaut_pipeline_free(joined);
    return st;
}

/* A tensor may be a part of several joins, of which one can have it in place: what that keeps from
 * being in place is found in a further round. */
static arenaut_status find_rounds(const arenaut_pipeline *p, const arenaut_program *apart,
                                  arn_region *region, arenaut_joining *joins, arenaut_error *err) {
    enum { MOST_ROUNDS = 8 };
    uint32_t *lists = arn_region_allocate(region, apart->n_ops, 2 * sizeof *lists);
    bool *found = arn_region_allocate(region, apart->n_ops, sizeof *found);
    arenaut_status st = lists && found ? ARENAUT_OK : arn_no_memory(err);
    uint32_t before = ARENAUT_NONE;
    for (uint32_t i = 0; i < apart->n_ops && st == ARENAUT_OK; i++) found[i] = false;
    *joins = (arenaut_joining){.chosen = true, .results = lists ? lists + apart->n_ops : NULL};
    for (int round = 0; round < MOST_ROUNDS && before != joins->n && st == ARENAUT_OK; round++) {
        before = joins->n;
        st = find_more(p, apart, lists, found, joins, err);
    }
    if (before != joins->n) *joins = (arenaut_joining){0};
    return st;
}

static arenaut_status find_joins(const arenaut_pipeline *p, arn_region *region,
                                 arenaut_joining *joins, arenaut_error *err) {
    arenaut_pipeline *apart = NULL;
    const char *passes = p->options.passes;
    const arn_forms none = {.joining = {.chosen = true}};
    *joins = (arenaut_joining){0};
    if (p->options.joining.chosen || !passes || !strstr(passes, "slices")) return ARENAUT_OK;
    arenaut_status st = arn_pipeline_prepare_formed(p, none, &apart, err);
    if (st == ARENAUT_OK) st = find_rounds(p, apart->document.program, region, joins, err);
    arenaut_pipeline_free(apart);
    return st;
}

/* What was rewritten before stays as it is. */
static arenaut_status find_views(const arenaut_pipeline *p, arn_region *region,
                                 const arenaut_joining *joins, arn_copies *copies,
                                 arenaut_error *err) {
    arenaut_pipeline *given = NULL;
    const arn_forms forms = {.joining = p->options.joining};
    *copies = (arn_copies){0};
    if (p->rewrite || p->document.program->n_methods != 1) return ARENAUT_OK;
    arenaut_status st = arn_pipeline_prepare_formed(p, forms, &given, err);
    if (st == ARENAUT_OK) st = arn_pipeline_find_copies(p, given, joins, region, copies, err);
    arenaut_pipeline_free(given);
    return st;
}

arenaut_status arn_pipeline_find_forms(const arenaut_pipeline *p, arn_region *region,
                                       arn_form_choices *choices, arenaut_error *err) {
    const arenaut_status st = find_joins(p, region, &choices->joins, err);
    return st == ARENAUT_OK ? find_views(p, region, &choices->joins, &choices->copies, err) : st;
}

static arenaut_status bound_loosened(const arenaut_pipeline *p, arenaut_program_order *problem,
                                     arenaut_ordering *bound, arenaut_error *err) {
    arenaut_order *order = NULL;
    const arenaut_status st =
        arn_pipeline_find_order(p, arenaut_program_order_problem(problem, 0), &order, err);
    if (st == ARENAUT_OK) {
        bound->bound = order->bound;
        bound->n_lines = order->n_lines;
        bound->at_ends = arenaut_program_order_peaks(problem).at_ends;
    }
    arenaut_order_free(order);
    return st;
}

arenaut_status arn_pipeline_bound_forms(const arenaut_pipeline *p, const arn_form_choices *choices,
                                        arenaut_ordering *bound, arenaut_error *err) {
    arenaut_pipeline *apart = NULL;
    arenaut_program_order *problem = NULL;
    arenaut_error why = {0};
    const arenaut_joining *joins = &choices->joins;
    const arn_copies *copies = &choices->copies;
    const arn_forms forms = {.joining = p->options.joining, .copying = {copies->ops, copies->n}};
    const arn_forms none_joined = {.joining = {.chosen = true}, .copying = forms.copying};
    const arenaut_loosening loosening = {joins->results, joins->n, copies->parts, copies->n_parts};
    *bound = (arenaut_ordering){0};
    arenaut_status st =
        arn_pipeline_prepare_formed(p, joins->n > 0 ? none_joined : forms, &apart, &why);
    if (st == ARENAUT_OK) st = arn_pipeline_order_problem(p, apart, &problem, &why);
    if (st == ARENAUT_OK) {
        st = arenaut_program_order_loosen(problem, apart->document.program, apart->lowering,
                                          &loosening, &why);
    }
    if (st == ARENAUT_OK) st = bound_loosened(p, problem, bound, &why);
    arenaut_program_order_free(problem);
    arenaut_pipeline_free(apart);
    if (st == ARENAUT_REFUSED) return ARENAUT_OK;
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}
