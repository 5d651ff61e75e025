/* Other pipelines of the same file beside the one at work: they tell what could be, and end. Their
 * plans are held against their problems, as all are; the program is replayed over the one that is
 * made in the end. Each has a part of the budget of the search that compares them, and where that
 * ends before it does, its plan tells nothing. */
#include <arenaut/tensor_arena.h>

#include "core/checked.h"
#include "stages/stages.h"

enum { COMPARING_EFFORT = 500000 }; /* search steps of a plan that is made quickly */

uint64_t arn_pipeline_effort(const arenaut_pipeline *p, uint64_t asked, uint64_t whole) {
    const uint64_t given = p->options.plan.effort, usual = arenaut_default_effort();
    const uint64_t wanted = asked ? asked : whole;
    if (given == 0 || given >= usual) return wanted;
    const double part = (double)whole * ((double)given / (double)usual);
    return arn_min_u64(wanted, (uint64_t)part + 1); /* 0 would be the default */
}

arenaut_pipeline_options arn_pipeline_options_as_is(const arenaut_pipeline *p) {
    arenaut_pipeline_options options = p->options;
    options.splitting = (arenaut_splitting){0};
    options.recomputing = (arenaut_recomputing){0};
    options.note = NULL;
    options.stage = NULL;
    options.after_pass = NULL;
    if (p->store->joining.chosen) options.joining = p->store->joining;
    if (!p->rewrite) return options;
    options.recomputing =
        (arenaut_recomputing){.on = true, .ops = p->rewrite->ops, .n_ops = p->rewrite->n_ops};
    options.copying = (arenaut_copying){p->rewrite->copied, p->rewrite->n_copied};
    return options;
}

arenaut_status arn_pipeline_prepare_aside(const arenaut_pipeline *p, arn_budget *budget,
                                          const arenaut_pipeline_options *options,
                                          arenaut_pipeline **prepared, arenaut_error *err) {
    arenaut_status st = arenaut_pipeline_new(options, arn_pipeline_allocator(p), prepared, err);
    if (st == ARENAUT_OK) {
        (*prepared)->store->aside = true;
        arn_budget_lend(budget, &(*prepared)->options.plan);
    }
    if (st == ARENAUT_OK) st = arn_pipeline_start_from(*prepared, p, err);
    if (st != ARENAUT_OK) return st;
    if (!arn_budget_goes_on(budget)) return arn_pipeline_stopped(err);
    return arenaut_pipeline_prepare(*prepared, err);
}

static arenaut_status find_reserved(const arenaut_pipeline *p, arn_reserved *r,
                                    arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const uint64_t planned = p->figures.planned;
    arenaut_tensor_arena arena;
    *r = (arn_reserved){{p->plan->spill, planned}, planned, 0, planned};
    if (!p->target->layout) return ARENAUT_OK;
    arenaut_status st =
        arenaut_tensor_arena_find(&p->result, planned, p->target, allocator, &arena, err);
    if (st != ARENAUT_OK) return st;
    *r = (arn_reserved){
        {p->plan->spill, arena.total}, arena.total, arena.tail - arena.padding, planned};
    if (!p->target->wide) return ARENAUT_OK;
    st = arenaut_tensor_arena_find(&p->result, planned, arenaut_target_find(p->target->wide),
                                   allocator, &arena, err);
    r->wide = arena.total;
    return st;
}

/* Where only time limits what is planned in the end, plans to compare have the usual effort. */
static uint64_t effort_of(const arenaut_pipeline *p, arn_thoroughness how) {
    const uint64_t given = p->options.plan.effort;
    if (how == ARN_QUICKLY) return arn_pipeline_effort(p, 0, COMPARING_EFFORT);
    return given == ARENAUT_NO_EFFORT_LIMIT ? arenaut_default_effort() : given;
}

static arenaut_status plan_aside(const arenaut_pipeline *p, arn_budget *budget,
                                 const arenaut_pipeline_options *options, arn_thoroughness how,
                                 arn_reserved *reserved, arenaut_error *err) {
    arenaut_pipeline *other = NULL;
    arenaut_status st = arn_pipeline_prepare_aside(p, budget, options, &other, err);
    if (st == ARENAUT_OK && arn_budget_goes_on(budget)) {
        other->options.plan.effort = effort_of(p, how);
        st = arenaut_pipeline_plan(other, err);
        if (st == ARENAUT_OK) st = find_reserved(other, reserved, err);
    }
    arenaut_pipeline_free(other);
    return st;
}

arenaut_status arn_pipeline_plan_aside(const arenaut_pipeline *p, arn_budget *budget,
                                       arenaut_pipeline_options options, arn_thoroughness how,
                                       arn_reserved *reserved, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    options.note = NULL;
    options.stage = NULL;
    options.after_pass = NULL;
    *reserved = ARN_NOTHING_RESERVED;
    if (arn_budget_goes_on(budget)) st = plan_aside(p, budget, &options, how, reserved, err);
    if (arn_budget_ended(budget)) *reserved = ARN_NOTHING_RESERVED;
    return st == ARENAUT_NO_PLAN || st == ARENAUT_STOPPED ? ARENAUT_OK : st;
}
