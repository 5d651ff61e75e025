/* The transform of rematerialization. Live ranges are known behind the passes alone, so that ops to
 * repeat are found in a lowered trial: in the schedule of the file and, if ops may move, in the
 * best one. */
#include "rewrite/transform.h"

#include <string.h>

#include "core/checked.h"
#include "passes/pass_table.h"
#include "rewrite/copies/copy_views.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"
#include "rewrite/recompute/recompute_sequence.h"
#include "rewrite/rematerialize/remat_cost.h"

/* Views that `--reorder on` may materialize are not aliases in all schedules either. */
bool arn_aliases_are_open(const arenaut_program *file, const arenaut_pipeline_options *options) {
    bool open = arn_aliases_follow_schedule(file, options->passes);
    for (uint32_t i = 0; i < file->n_ops && options->reordering.on && !open; i++) {
        open = arn_view_may_be_copy(file, i);
    }
    return open;
}

/* `moved`: the base is another schedule than that of the file. */
static arenaut_status find_in_base(arn_search *s, uint64_t bytes, const uint32_t *base, bool moved,
                                   arn_recomputation **found, arenaut_error *err) {
    const arenaut_pipeline *p = s->pipeline;
    const arn_candidate candidate = {.schedule = moved ? base : NULL};
    arenaut_pipeline *lowered = NULL;
    arn_program_order *problem = NULL;
    arenaut_status st = arn_trial_lower(p, &s->finding, NULL, &candidate, &lowered, err);
    if (st == ARENAUT_OK) st = arn_schedule_problem_of(lowered, &problem, err);
    if (st == ARENAUT_OK) {
        arenaut_recompute_options options = p->options.recomputing.options;
        const uint64_t effort =
            arn_transform_effort(p, options.effort, arn_recompute_default_effort());
        options.budget = bytes;
        arn_budget part = arn_budget_part(&s->finding, effort, 0, ARN_BUDGET_ALL);
        const arn_recompute_task task = {lowered->document.program,
                                         lowered->lowering,
                                         problem,
                                         p->document.program,
                                         base,
                                         arn_aliases_are_open(p->document.program, &p->options)};
        st = arn_recompute_find(&task, &part, &options, arn_pipeline_allocator(p), found, err);
    }
    arn_program_order_free(problem);
    arenaut_pipeline_free(lowered);
    return st;
}

/* All within the budget reserve it. */
static arenaut_cost cost_of(const arn_recomputation *r, uint64_t bytes) {
    return (arenaut_cost){.total = bytes > 0 && r->fits ? bytes : r->after,
                          .time = (int64_t)arn_min_u64(r->added, INT64_MAX),
                          .ops = r->n_ops};
}

/* A proof holds for every order. It is stated for the file's, which can be found again. */
static void keep_proof(arn_recomputation *proven, arn_recomputation *other) {
    arenaut_remat_certificate *const own = other->certificate;
    other->certificate = proven->certificate;
    other->bound = proven->bound;
    other->floor = proven->floor;
    other->floor_op = proven->floor_op;
    proven->certificate = own;
}

/* The best schedule is for ops that run once, and may put early an op that had better be repeated
 * late: so the file's is as good a beginning. */
static arenaut_status find_in_best_base(arn_search *s, uint64_t bytes, uint32_t *base,
                                        arn_recomputation **found, arenaut_error *err) {
    const arenaut_pipeline *p = s->pipeline;
    arenaut_pipeline *lowered = NULL;
    arn_program_order *problem = NULL;
    arn_recomputation *other = NULL;
    uint32_t n_lines = 0;
    bool as_found; /* or nearly so: it is only to begin with */
    arenaut_status st = arn_trial_lower(p, &s->finding, NULL, ARN_AS_IS, &lowered, err);
    if (st == ARENAUT_OK) st = arn_schedule_problem_of(lowered, &problem, err);
    if (st == ARENAUT_OK) st = arn_find_schedules(p, problem, &s->finding, &n_lines, err);
    if (st == ARENAUT_OK) {
        st = arn_program_order_ops(problem, p->document.program, 0, arn_pipeline_allocator(p), base,
                                   &as_found, err);
    }
    if (st == ARENAUT_OK) st = find_in_base(s, bytes, base, true, &other, err);
    arn_program_order_free(problem);
    arenaut_pipeline_free(lowered);
    if (st != ARENAUT_OK) return st;
    other->before = arn_max_u64(other->before, (*found)->before);
    const bool better = arenaut_costs_less(cost_of(other, bytes), cost_of(*found, bytes));
    if (better) keep_proof(*found, other);
    arn_recomputation_free(better ? *found : other);
    if (better) *found = other;
    return ARENAUT_OK;
}

static arenaut_status find(arn_search *s, uint64_t bytes, arn_recomputation **found,
                           arenaut_error *err) {
    const arenaut_pipeline *p = s->pipeline;
    const uint32_t n = p->document.program->n_ops;
    uint32_t *base = arn_region_allocate(&s->region, n, sizeof *base);
    if (!base) return arn_no_memory(err);
    for (uint32_t i = 0; i < n; i++) base[i] = i;
    const arenaut_status st = find_in_base(s, bytes, base, false, found, err);
    if (st != ARENAUT_OK || !p->options.reordering.on) return st;
    return find_in_best_base(s, bytes, base, found, err);
}

/* The first certificate that is found is that of the budget. */
static void tell(arenaut_pipeline *p, arn_recomputation *found) {
    const arenaut_recompute_options *o = &p->options.recomputing.options;
    if (!p->store->remat_certificate) {
        p->store->remat_certificate = found->certificate;
        found->certificate = NULL;
    }
    p->recomputed = (arenaut_recomputed){.known = true,
                                         .before = found->before,
                                         .after = found->after,
                                         .base = found->base,
                                         .added = found->added,
                                         .bound = found->bound,
                                         .kept = o->budget ? o->budget : found->after,
                                         .floor = found->floor,
                                         .device = o->device.name ? o->device.name : "a100",
                                         .certificate = p->store->remat_certificate};
}

/* Tries the sequence, and those that its trials ask for. *bytes: the least that one reserves. */
static arenaut_status try_sequence(arn_search *s, const arn_recomputation *found,
                                   arn_thoroughness how, uint64_t *bytes, arenaut_error *err) {
    enum { MOST_ASKED = 4 };
    arn_reserved reserved;
    uint32_t *ops = arn_region_allocate(&s->region, found->n_ops, sizeof *ops);
    if (!ops) return arn_no_memory(err);
    memcpy(ops, found->ops, found->n_ops * sizeof *ops);
    arn_candidate candidate = {.sequence = ops, .n_sequence = found->n_ops};
    arenaut_status st = arn_search_try(s, &candidate, how, &reserved, err);
    *bytes = reserved.cost.total;
    for (uint32_t i = 0; i < MOST_ASKED && st == ARENAUT_OK && s->asked; i++) {
        candidate = (arn_candidate){.sequence = s->asked, .n_sequence = s->n_asked};
        st = arn_search_try(s, &candidate, how, &reserved, err);
        *bytes = arn_min_u64(*bytes, reserved.cost.total);
    }
    return st;
}

/* Ops are repeated, or one runs later than in the file. */
static bool changes(const arn_search *s, const arn_recomputation *found) {
    bool same = found->n_ops == s->pipeline->document.program->n_ops;
    for (uint32_t i = 0; i < found->n_ops && same; i++) same = found->ops[i] == i;
    return !same;
}

/* Repetitions without which the peak is no higher may be of use where ops are ordered anew. */
static arenaut_status try_all_ops(arn_search *s, const arn_recomputation *found, uint64_t bytes,
                                  arenaut_error *err) {
    arenaut_pipeline *p = s->pipeline;
    uint64_t with_all;
    if (p->options.recomputing.options.max_ops.given || found->n_all_ops == found->n_ops) {
        return ARENAUT_OK;
    }
    const arn_recomputation all = {.ops = found->all_ops, .n_ops = found->n_all_ops};
    arenaut_status st = try_sequence(s, &all, ARN_QUICKLY, &with_all, err);
    if (st == ARENAUT_OK && with_all < bytes) {
        st = try_sequence(s, found, ARN_THOROUGHLY, &bytes, err);
    }
    if (st != ARENAUT_OK || s->best.n_sequence != found->n_all_ops) return st;
    p->recomputed.added = found->all_added;
    if (p->store->remat_certificate) p->store->remat_certificate->added = found->all_added;
    return ARENAUT_OK;
}

/* The lowest peak. */
static arenaut_status propose_lowest(arn_search *s, arenaut_error *err) {
    arn_reserved reserved;
    arn_recomputation *found = NULL;
    uint64_t bytes;
    arenaut_status st = find(s, 0, &found, err);
    if (st == ARENAUT_OK) {
        tell(s->pipeline, found);
        if (changes(s, found)) {
            st = arn_search_try(s, ARN_AS_IS, ARN_QUICKLY, &reserved, err);
            if (st == ARENAUT_OK) st = try_sequence(s, found, ARN_QUICKLY, &bytes, err);
            if (st == ARENAUT_OK) st = try_all_ops(s, found, bytes, err);
        }
    }
    arn_recomputation_free(found);
    return st;
}

/* The schedule of the lowest peak, for results that lie over operands in ways that live bytes do
 * not show: its plan may be within the budget all the same. Its own floor is of cheap ops. */
static arenaut_status try_lowest(arn_search *s, uint64_t bound, arenaut_error *err) {
    const arenaut_recomputed before = s->pipeline->recomputed;
    arn_recomputation *found = NULL;
    uint64_t bytes;
    arenaut_status st = find(s, 0, &found, err);
    if (st == ARENAUT_OK && changes(s, found)) {
        found->bound = bound;
        found->floor = before.floor;
        tell(s->pipeline, found);
        st = try_sequence(s, found, ARN_QUICKLY, &bytes, err);
    }
    arn_recomputation_free(found);
    if (!s->best.sequence) s->pipeline->recomputed = before;
    s->pipeline->recomputed.fits = s->best.sequence != NULL;
    return st;
}

/* The fastest schedule with which the arena is within the budget: if buffers leave gaps, as many
 * bytes fewer are asked for. A bound for the budget holds for all of them. */
static arenaut_status propose_fitting(arn_search *s, arenaut_error *err) {
    enum { MOST_TIMES = 4 };
    arenaut_pipeline *p = s->pipeline;
    const uint64_t most = p->options.recomputing.options.budget;
    uint64_t within = most, bound = 0;
    arn_reserved now;
    arenaut_status st = arn_search_try(s, ARN_AS_IS, ARN_QUICKLY, &now, err);
    s->most = most;
    for (uint32_t i = 0; i < MOST_TIMES && st == ARENAUT_OK; i++) {
        arn_recomputation *found = NULL;
        uint64_t bytes = 0;
        st = find(s, within, &found, err);
        if (st != ARENAUT_OK) {
            arn_recomputation_free(found);
            return st;
        }
        if (i == 0) bound = found->bound;
        found->bound = bound;
        tell(p, found);
        p->recomputed.fits = now.cost.total <= most;
        if (found->fits && changes(s, found) && !p->recomputed.fits) {
            st = try_sequence(s, found, ARN_QUICKLY, &bytes, err);
            p->recomputed.fits = s->best.sequence != NULL;
        }
        arn_recomputation_free(found);
        if (bytes <= most || bytes - most >= within) break;
        within -= bytes - most;
    }
    const bool possible = !p->recomputed.fits && p->recomputed.floor <= most;
    return st == ARENAUT_OK && possible ? try_lowest(s, bound, err) : st;
}

static arenaut_status read_costs(arenaut_pipeline *p, arenaut_error *err) {
    const arenaut_side_file *costs = &p->options.recomputing.costs;
    if (!costs->text) return ARENAUT_OK;
    const arenaut_status st = arn_costs_read(costs->text, costs->size, p->document.program,
                                             arn_pipeline_allocator(p), &p->store->op_costs, err);
    if (st != ARENAUT_OK) p->fault.option = "costs";
    p->options.recomputing.options.costs = p->store->op_costs;
    return st;
}

static arenaut_status propose(arn_search *s, arenaut_error *err) {
    const arenaut_status st = read_costs(s->pipeline, err);
    if (st != ARENAUT_OK) return st;
    if (s->pipeline->document.program->n_methods > 1) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the program has several methods");
    }
    return s->pipeline->options.recomputing.options.budget > 0 ? propose_fitting(s, err)
                                                               : propose_lowest(s, err);
}

/* Bytes written by the ops of the file, and by the copies of ops; views write none. */
static void describe(arenaut_pipeline *p, const arn_candidate *applied) {
    const arenaut_rewrite *r = p->rewrite;
    if (!applied->sequence) {
        p->recomputed.added = 0;
        return;
    }
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

static arn_request requested(const arenaut_pipeline_options *options, arn_candidate *given) {
    const arenaut_recomputing *o = &options->recomputing;
    if (!o->on) return ARN_NOT_REQUESTED;
    if (!o->ops) return ARN_SEARCH_REQUESTED;
    given->sequence = o->ops;
    given->n_sequence = o->n_ops;
    return ARN_CHOICE_GIVEN;
}

static const char *obstacle(const arenaut_pipeline *p) {
    const bool states = arn_states_memories(p->document.program);
    return states ? "the file states memories for its own ops" : NULL;
}

/* A schedule of the caller, as from a plan file, may be wrong. */
static arenaut_status apply(arenaut_pipeline *p, const arn_candidate *c, arenaut_error *err) {
    arenaut_error why = {0};
    if (!c->sequence) return ARENAUT_OK;
    const arenaut_status st =
        arn_apply_rewriting(p, arn_recompute, c->sequence, c->n_sequence, &why);
    const bool wrong = st == ARENAUT_INTERNAL || st == ARENAUT_BAD_ARGUMENT;
    if (wrong && !p->store->aside && c->sequence == p->options.recomputing.ops) {
        return arn_pipeline_blame(p, err, "recompute", "recompute: the schedule: %s", why.msg);
    }
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

static bool encoded_by(const arenaut_format *format) { return format->holds_repeats; }

const arn_transform arn_transform_recompute = {
    .done = "computed again",
    .only_whole = true,
    .only_one_file = true,
    .finding = 600,
    .requested = requested,
    .obstacle = obstacle,
    .propose = propose,
    .apply = apply,
    .encoded_by = encoded_by,
    .describe = describe,
};
