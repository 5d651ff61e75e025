/* Running ops again, between splitting and reordering. As there, what is alive when is known only
 * behind the passes, so that these run on another copy of the program, in its best order where
 * another one may be taken. What was found is planned, and taken if less is to be reserved. */
#include <arenaut/check.h>

#include "core/checked.h"
#include "core/memory.h"
#include "stages/stages.h"

/* The best order of the file's ops; *ops stays as it is where that is today's. */
static arenaut_status find_base(const arenaut_pipeline *p, arn_budget *budget,
                                const arenaut_pipeline *given, uint32_t *ops, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_program_order *problem = NULL;
    uint32_t n_lines = 0;
    arenaut_status st = arn_pipeline_order_problem(p, given, &problem, err);
    if (st == ARENAUT_OK) st = arn_pipeline_find_orders(p, problem, budget, &n_lines, err);
    if (st == ARENAUT_OK) {
        st = arenaut_program_order_ops(problem, p->document.program, 0, allocator, ops, err);
    }
    arenaut_program_order_free(problem);
    return st;
}

/* `moved`: the base is another order than that of the file. */
static arenaut_status find_in_base(const arenaut_pipeline *p, arn_budget *budget, uint64_t bytes,
                                   const uint32_t *base, bool moved, arenaut_recomputation **found,
                                   arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    arenaut_pipeline *given = NULL;
    arenaut_program_order *problem = NULL;
    options.reordering = (arenaut_reordering){0};
    if (moved) options.reordering = (arenaut_reordering){.on = true, .ops = base};
    arenaut_status st = arn_pipeline_prepare_aside(p, budget, &options, &given, err);
    if (st == ARENAUT_OK) {
        st = arn_pipeline_order_problem(p, given, &problem, err);
    }
    if (st == ARENAUT_OK) {
        arenaut_recompute_options again = p->options.recomputing.options;
        const uint64_t effort =
            arn_pipeline_effort(p, again.effort, arenaut_recompute_default_effort());
        again.budget = bytes;
        arn_budget part = arn_budget_part(budget, effort, 0, ARN_BUDGET_ALL);
        const arn_recompute_task task = {given->document.program, given->lowering, problem,
                                         p->document.program, base};
        st = arn_recompute_find(&task, &part, &again, allocator, found, err);
    }
    arenaut_program_order_free(problem);
    arenaut_pipeline_free(given);
    return st;
}

/* The same where ops may move: the best order is for ops that run once, and may put early what had
 * better run again late, so that the file's is as good a beginning. */
static bool is_better(const arenaut_recomputation *a, const arenaut_recomputation *b,
                      uint64_t bytes) {
    if (bytes > 0 && a->fits && b->fits) return a->added < b->added;
    return bytes > 0 && a->fits != b->fits ? a->fits : a->after < b->after;
}

static arenaut_status find_in_best_base(const arenaut_pipeline *p, arn_budget *budget,
                                        uint64_t bytes, uint32_t *base,
                                        arenaut_recomputation **found, arenaut_error *err) {
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    arenaut_pipeline *given = NULL;
    arenaut_recomputation *other = NULL;
    options.reordering = (arenaut_reordering){0};
    arenaut_status st = arn_pipeline_prepare_aside(p, budget, &options, &given, err);
    if (st == ARENAUT_OK) st = find_base(p, budget, given, base, err);
    if (st == ARENAUT_OK) st = find_in_base(p, budget, bytes, base, true, &other, err);
    arenaut_pipeline_free(given);
    if (st != ARENAUT_OK) return st;
    other->before = arn_max_u64(other->before, (*found)->before);
    const bool better = is_better(other, *found, bytes);
    arenaut_recomputation_free(better ? *found : other);
    if (better) *found = other;
    return ARENAUT_OK;
}

/* `base`: a list of as many as the file has ops. */
static arenaut_status find(const arenaut_pipeline *p, arn_budget *budget, uint64_t bytes,
                           uint32_t *base, arenaut_recomputation **found, arenaut_error *err) {
    for (uint32_t i = 0; i < p->document.program->n_ops; i++) base[i] = i;
    const arenaut_status st = find_in_base(p, budget, bytes, base, false, found, err);
    if (st != ARENAUT_OK || !p->options.reordering.on) return st;
    return find_in_best_base(p, budget, bytes, base, found, err);
}

/* What the ops of the file write, and what those write that run again; views write nothing. */
static void count_work(arenaut_pipeline *p) {
    const arenaut_rewrite *r = p->rewrite;
    p->recomputed.n_ops = r->n_ops - r->n_ops_before;
    for (uint32_t i = 0; i < r->n_ops; i++) {
        const arenaut_op *op = &r->program->ops[i];
        for (uint32_t k = 0; k < op->n_outputs && op->kind != ARENAUT_OP_VIEW; k++) {
            const uint32_t t = op->outputs[k];
            if (t == ARENAUT_NONE) continue;
            uint64_t *sum = r->tensors[t].same ? &p->recomputed.bytes_before : &p->recomputed.bytes;
            if (!arn_add(*sum, r->program->tensors[t].bytes, sum)) *sum = ARENAUT_SIZE_MAX;
        }
    }
}

static arenaut_status put_sequence(arenaut_pipeline *p, const uint32_t *ops, uint32_t n_ops,
                                   arenaut_error *err) {
    const arenaut_status st = arn_pipeline_apply(p, arenaut_recompute, ops, n_ops, err);
    if (st == ARENAUT_OK) count_work(p);
    return st;
}

static arenaut_status plan_with(arenaut_pipeline *p, arn_budget *budget, const uint32_t *ops,
                                uint32_t n_ops, arn_reserved *with, arenaut_error *err) {
    arenaut_pipeline_options options = arn_pipeline_options_as_is(p);
    if (ops) options.recomputing = (arenaut_recomputing){.on = true, .ops = ops, .n_ops = n_ops};
    return arn_pipeline_plan_aside(p, budget, options, ARN_QUICKLY, with, err);
}

/* Takes what was found, if less is to be reserved then. */
static arenaut_status choose(arenaut_pipeline *p, arn_budget *budget,
                             const arenaut_recomputation *found, arenaut_error *err) {
    arn_reserved without, with;
    arenaut_status st = plan_with(p, budget, NULL, 0, &without, err);
    if (st == ARENAUT_OK) st = plan_with(p, budget, found->ops, found->n_ops, &with, err);
    if (st != ARENAUT_OK || !arn_costs_less(with.cost, without.cost)) return st;
    return put_sequence(p, found->ops, found->n_ops, err);
}

static void tell(arenaut_pipeline *p, const arenaut_recomputation *found) {
    const arenaut_recompute_options *o = &p->options.recomputing.options;
    p->recomputed = (arenaut_recomputed){.known = true,
                                         .before = found->before,
                                         .after = found->after,
                                         .base = found->base,
                                         .added = found->added,
                                         .bound = found->bound,
                                         .kept = o->budget ? o->budget : found->after,
                                         .floor = found->floor,
                                         .device = o->device.name ? o->device.name : "a100"};
}

/* Takes the schedule if its arena is within `most` bytes; *excess: by how many it is larger. */
static arenaut_status take_if_it_fits(arenaut_pipeline *p, arn_budget *budget,
                                      const arenaut_recomputation *found, uint64_t most,
                                      uint64_t *excess, arenaut_error *err) {
    arn_reserved with;
    const arenaut_status st = plan_with(p, budget, found->ops, found->n_ops, &with, err);
    if (st != ARENAUT_OK) return st;
    *excess = with.cost.total > most ? with.cost.total - most : 0;
    if (*excess > 0) return ARENAUT_OK;
    p->recomputed.fits = true;
    return put_sequence(p, found->ops, found->n_ops, err);
}

/* The fastest schedule with which the arena is within the budget: if buffers leave gaps, as many
 * bytes fewer are asked for. A bound for the budget holds for all of them. */
static arenaut_status fit(arenaut_pipeline *p, arn_budget *budget, uint32_t *base,
                          arenaut_error *err) {
    enum { MOST_TIMES = 4 };
    const uint64_t most = p->options.recomputing.options.budget;
    uint64_t within = most, bound = 0;
    arn_reserved now;
    arenaut_status st = plan_with(p, budget, NULL, 0, &now, err);
    for (uint32_t i = 0; i < MOST_TIMES && st == ARENAUT_OK; i++) {
        arenaut_recomputation *found = NULL;
        uint64_t excess = 0;
        st = find(p, budget, within, base, &found, err);
        if (st != ARENAUT_OK) return st;
        if (i == 0) bound = found->bound;
        found->bound = bound;
        tell(p, found);
        p->recomputed.fits = now.cost.total <= most;
        const bool adds = found->n_ops > p->document.program->n_ops;
        if (found->fits && adds && !p->recomputed.fits)
            st = take_if_it_fits(p, budget, found, most, &excess, err);
        arenaut_recomputation_free(found);
        if (excess == 0 || excess >= within) break;
        within -= excess;
    }
    return st;
}

/* The share of the time, in thousandths, up to which they are looked for. */
enum { SHARE_OF_OPS = 600 };

static arenaut_status recompute_found(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err) {
    arn_budget looking = arn_budget_part(budget, 0, 0, SHARE_OF_OPS);
    arn_budget choosing = arn_budget_part(budget, 0, SHARE_OF_OPS, ARN_BUDGET_ALL);
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    const uint32_t n = p->document.program->n_ops;
    arenaut_recomputation *found = NULL;
    arenaut_error why = {0};
    if (p->document.program->n_methods > 1) {
        arn_pipeline_note(p, "nothing is computed again: the program has several methods");
        return ARENAUT_OK;
    }
    uint32_t *base = arn_allocate(allocator, n, sizeof *base);
    if (!base) return arn_no_memory(err);
    const bool has_budget = p->options.recomputing.options.budget > 0;
    arenaut_status st =
        has_budget ? fit(p, &looking, base, &why) : find(p, &looking, 0, base, &found, &why);
    if (st == ARENAUT_REFUSED || st == ARENAUT_STOPPED) {
        arn_pipeline_note(p, "nothing is computed again: %s", why.msg);
        st = ARENAUT_OK;
    } else if (st == ARENAUT_OK && found) {
        tell(p, found);
        if (found->n_ops > n) st = choose(p, &choosing, found, &why);
    }
    if (st != ARENAUT_OK && err) *err = why;
    arenaut_recomputation_free(found);
    arn_release(allocator, base);
    return st;
}

static arenaut_status read_costs(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_side_file *costs = &p->options.recomputing.costs;
    if (!costs->text) return ARENAUT_OK;
    const arenaut_status st =
        arenaut_costs_read(costs->text, costs->size, p->document.program, arn_pipeline_allocator(p),
                           &p->store->op_costs, err);
    if (st != ARENAUT_OK) p->fault.option = "costs";
    p->options.recomputing.options.costs = p->store->op_costs;
    return st;
}

arenaut_status arn_pipeline_recompute(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err) {
    const arenaut_recomputing *o = &p->options.recomputing;
    if (!o->on) return ARENAUT_OK;
    const bool split = p->rewrite && p->rewrite->n_stages > 0;
    if (split || p->store->n_files > 1) {
        arn_pipeline_note(p, "nothing is computed again: the program was %s",
                          split ? "split" : "made of several files");
        return ARENAUT_OK;
    }
    if (arn_states_memories(p->document.program)) {
        arn_pipeline_note(p, "nothing is computed again: the file states memories for its own ops");
        return ARENAUT_OK;
    }
    if (o->ops) return put_sequence(p, o->ops, o->n_ops, err);
    const arenaut_status st = read_costs(p, err);
    if (st != ARENAUT_OK || !arn_pipeline_has_time(p, budget, "computed again")) return st;
    return recompute_found(p, budget, err);
}
