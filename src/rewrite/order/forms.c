/* Schedules for the problems of a lowered program that the checker has passed; forms of its ops to
 * choose from together with the schedule (views to be materialized, joins written in place), and a
 * lower bound over all choices. */
#include "rewrite/order/program_order.h"

#include <string.h>

#include <arenaut/check.h>

#include "analysis/aliases.h"
#include "analysis/def_use.h"
#include "core/checked.h"
#include "rewrite/copies/copy_views.h"
#include "rewrite/transform.h"

/* ---- checked schedules ---- */

/* None is taken, nor its bound, before the checker has passed it. */

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

/* The effort of all schedules. */
static uint64_t schedule_effort(const arenaut_pipeline *p) {
    const uint64_t asked = p->options.reordering.options.effort;
    return arn_transform_effort(p, asked, arn_order_default_effort());
}

/* The best schedule that is found, which has passed the checker with its bound. */
static arenaut_status find_schedule(const arenaut_pipeline *p, const arenaut_order_problem *problem,
                                    uint64_t effort, arn_budget *budget, arenaut_order **order,
                                    arenaut_error *err) {
    arn_budget part = arn_budget_part(budget, effort, 0, ARN_BUDGET_ALL);
    const arenaut_status st = arn_order_find(problem, &part, arn_pipeline_allocator(p), order, err);
    return st == ARENAUT_OK ? check(p, problem, *order, err) : st;
}

arenaut_status arn_schedule_problem_of(const arenaut_pipeline *lowered, arn_program_order **problem,
                                       arenaut_error *err) {
    const arenaut_lowering_options options = {.preserve_inputs = lowered->options.preserve_inputs,
                                              .overlap = lowered->options.overlap};
    return arn_program_order_new(lowered->document.program, lowered->lowering, lowered->target,
                                 &options, arn_pipeline_allocator(lowered), problem, err);
}

arenaut_status arn_find_schedules(const arenaut_pipeline *p, arn_program_order *problem,
                                  arn_budget *budget, uint32_t *n_lines, arenaut_error *err) {
    const uint32_t n = arn_program_order_count(problem);
    uint64_t left = schedule_effort(p);
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        arenaut_order *order = NULL;
        st = find_schedule(p, arn_program_order_problem(problem, i), arn_max_u64(left / (n - i), 1),
                           budget, &order, err);
        if (st == ARENAUT_OK) st = arn_program_order_take(problem, order, err);
        if (st == ARENAUT_OK) {
            *n_lines += order->n_lines;
            left -= arn_min_u64(order->effort, left);
        }
        arenaut_order_free(order);
    }
    return st;
}

/* ---- views ---- */

/* A base is live as long as one of its names is read. A copy of a view as large as the base gains
 * nothing, nor does a copy of memory that is live to the end anyway, unless a join could then be
 * written in place: neither names nor memory that has them can. */
typedef struct views {
    const arenaut_program *file, *program; /* as it was read; behind its passes */
    const arenaut_lowering *lowering;
    const uint32_t *of;      /* per tensor of the program: its storage */
    const uint32_t *shared;  /* likewise, with shared state as one */
    const arn_def_use *uses; /* per tensor of the program */
    bool *kept;              /* per tensor of the program: live to the end, or not in the arena */
    bool *is_joined;         /* likewise: an operand or the result of a join that may be in place */
    bool *is_state;          /* likewise */
    uint32_t *updated;       /* per storage, by `shared`: its last writer in the file; 0: none */
    bool *is_choice;         /* per op of the file */
    uint32_t *readers; /* per tensor of the file: the number of its readers that name its memory */
    uint32_t *number;  /* per tensor of the file: of the base; NONE: it is none */
    uint32_t *last;    /* per tensor of the file: the op that reads it last, under this name */
    uint32_t *first_end; /* per storage: the first of the last reads of its names */
    arn_copies *copies;
} views;

static bool only_reads(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_OUT || op->kind == ARENAUT_OP_FUNCTIONAL ||
           op->kind == ARENAUT_OP_VIEW;
}

/* Results of methods, and memory outside of the arena. */
static void find_kept(const views *v) {
    const arenaut_program *p = v->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool planned =
            p->tensors[t].cls == ARENAUT_INTERMEDIATE || p->tensors[t].cls == ARENAUT_INPUT;
        v->kept[t] = !planned || v->lowering->buffer[t] == ARENAUT_NONE;
    }
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        for (uint32_t i = 0; i < method->n_outputs; i++) {
            v->kept[v->of[method->outputs[i]]] = true;
        }
        for (uint32_t i = 0; i < method->n_bindings; i++) {
            const uint32_t bound[] = {method->bindings[i].value, method->bindings[i].target};
            for (int k = 0; k < 2; k++) { /* a loss has no target */
                if (bound[k] == ARENAUT_NONE) continue;
                v->kept[v->of[bound[k]]] = v->is_state[v->of[bound[k]]] = true;
            }
        }
    }
}

static bool is_result(const arenaut_joining *joins, uint32_t tensor) {
    bool among = false;
    for (uint32_t i = 0; i < joins->n; i++) among = among || joins->results[i] == tensor;
    return among;
}

/* NULL: any may. */
static void find_joined(const views *v, const arenaut_joining *joins) {
    const arenaut_program *p = v->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) v->is_joined[t] = !joins;
    for (uint32_t i = 0; joins && i < joins->n; i++) v->is_joined[joins->results[i]] = true;
    for (uint32_t i = 0; joins && i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->kind != ARENAUT_OP_OUT || op->n_outputs != 1 || !is_result(joins, op->outputs[0])) {
            continue;
        }
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) v->is_joined[op->inputs[k]] = true;
        }
    }
}

/* Updates of memory, and readers that give it another name. */
static void find_names(const views *v) {
    for (uint32_t i = 0; i < v->file->n_ops; i++) {
        const arenaut_op *op = &v->file->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            const uint32_t t = op->inputs[k];
            if (t == ARENAUT_NONE) continue;
            const uint32_t storage = v->of[t];
            if (!only_reads(op)) v->updated[v->shared[t]] = i;
            v->readers[t] +=
                !only_reads(op) ||
                arn_find_in_storage(v->of, op->outputs, op->n_outputs, storage) != ARENAUT_NONE;
        }
    }
}

/* True if a copy of this part of the base may gain anything. */
static bool may_gain(const views *v, uint32_t part, uint32_t base) {
    const arenaut_tensor *tensors = v->program->tensors;
    if (v->is_joined[part] || v->is_joined[base]) return true;
    return !v->kept[base] && tensors[part].bytes < tensors[base].bytes;
}

/* A view of parts that are read, of which nothing is a view in turn. */
static bool may_be_copy(const views *v, uint32_t i) {
    const arenaut_op *op = &v->file->ops[i];
    if (!arn_view_may_be_copy(v->file, i)) return false;
    const uint32_t base = v->of[op->inputs[0]];
    bool choice = !v->is_state[base] && v->updated[v->shared[base]] <= i, read = false,
         gains = false;
    for (uint32_t k = 0; choice && k < op->n_outputs; k++) {
        const uint32_t t = op->outputs[k];
        read = read || v->uses[t].n_uses > 0;
        gains = gains || may_gain(v, t, base);
        choice = v->program->tensors[t].view_of == base && v->readers[t] == 0 &&
                 !v->uses[t].wanted && v->program->tensors[t].bytes > 0;
    }
    return choice && read && gains;
}

/* A name that is never read has no end. */
static void find_ends(const views *v) {
    for (uint32_t i = 0; i < v->file->n_ops; i++) {
        const arenaut_op *op = &v->file->ops[i];
        if (v->is_choice[i]) continue;
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != ARENAUT_NONE) v->last[op->inputs[k]] = i;
        }
    }
    for (uint32_t t = 0; t < v->file->n_tensors; t++) {
        const uint32_t storage = v->of[t];
        if (v->last[t] < v->first_end[storage]) v->first_end[storage] = v->last[t];
    }
}

static bool is_late(const views *v, const arenaut_op *op) {
    const uint32_t end = v->first_end[v->of[op->inputs[0]]];
    bool late = false;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const uint32_t last = v->last[op->outputs[k]];
        late = late || (last != ARENAUT_NONE && last > end);
    }
    return late;
}

static void add_choice(const views *v, uint32_t i) {
    const arenaut_op *op = &v->file->ops[i];
    arn_copies *c = v->copies;
    const uint32_t base = v->of[op->inputs[0]];
    if (v->number[base] == ARENAUT_NONE) v->number[base] = c->n_bases++;
    c->ops[c->n] = i;
    c->late[c->n] = is_late(v, op);
    c->base[c->n++] = v->number[base];
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const arenaut_tensor *part = &v->program->tensors[op->outputs[k]];
        c->base_of_part[c->n_parts] = v->number[base];
        c->parts[c->n_parts++] = (arn_part){op->outputs[k], base, part->view_offset, part->bytes};
    }
}

static bool allocate(views *v, arn_region *region) {
    const size_t n = v->program->n_tensors, n_ops = v->file->n_ops;
    size_t outputs = 0;
    for (uint32_t i = 0; i < n_ops; i++) outputs += v->file->ops[i].n_outputs;
    v->of = arn_storages_find(v->program, region);
    v->shared = arn_shared_storages_find(v->program, region);
    v->uses = arn_def_use_find(v->program, NULL, 0, region);
    if (!v->of || !v->shared || !v->uses ||
        !ARN_REGION_ARRAYS(region, ARN_ARRAY(v->kept, n), ARN_ARRAY(v->is_joined, n),
                           ARN_ARRAY(v->is_state, n), ARN_ARRAY(v->updated, n + 1),
                           ARN_ARRAY(v->readers, n), ARN_ARRAY(v->number, n), ARN_ARRAY(v->last, n),
                           ARN_ARRAY(v->first_end, n), ARN_ARRAY(v->is_choice, n_ops),
                           ARN_ARRAY(v->copies->late, n_ops), ARN_ARRAY(v->copies->ops, n_ops),
                           ARN_ARRAY(v->copies->base, n_ops), ARN_ARRAY(v->copies->parts, outputs),
                           ARN_ARRAY(v->copies->base_of_part, outputs))) {
        return false;
    }
    for (size_t t = 0; t < n; t++) v->number[t] = v->last[t] = v->first_end[t] = ARENAUT_NONE;
    return true;
}

/* The views of the program, `lowered` where all views are names and no join is in place, that may
 * be copies. The results of these joins make views a choice; NULL: any may be joined. */
static arenaut_status find_copies(const arenaut_pipeline *p, const arenaut_pipeline *lowered,
                                  const arenaut_joining *joins, arn_region *region,
                                  arn_copies *copies, arenaut_error *err) {
    views v = {.file = p->document.program,
               .program = lowered->document.program,
               .lowering = lowered->lowering,
               .copies = copies};
    *copies = (arn_copies){0};
    if (!allocate(&v, region)) return arn_no_memory(err);
    find_kept(&v);
    find_joined(&v, joins);
    find_names(&v);
    for (uint32_t i = 0; i < v.file->n_ops; i++) v.is_choice[i] = may_be_copy(&v, i);
    find_ends(&v);
    for (uint32_t i = 0; i < v.file->n_ops; i++) {
        if (v.is_choice[i]) add_choice(&v, i);
    }
    return ARENAUT_OK;
}

/* ---- joins ---- */

/* Joins that the pass `slices` writes in place if it may are ops if it may not. */
static bool joins_in_place(const arenaut_op *was, const arenaut_op *is) {
    return was->kind == ARENAUT_OP_OUT && is->kind == ARENAUT_OP_VIEW;
}

/* Its result must be known in any schedule, so that no pass made it, and be all of its memory. */
static bool is_choice(const arenaut_pipeline *p, const arenaut_program *apart, uint32_t op) {
    const arenaut_op *was = &apart->ops[op];
    if (was->n_outputs != 1) return false;
    const uint32_t t = was->outputs[0];
    return t < p->document.program->n_tensors && apart->tensors[t].view_of == ARENAUT_NONE;
}

/* The search for joins in place. A tensor may be an operand of several joins, of which one can have
 * it in place: the others are found in further rounds, with the ones before left out. */
typedef struct join_search {
    const arenaut_pipeline *pipeline;
    arn_budget *budget;
    arn_region *region;
    arenaut_copying copying;      /* views that are copies meanwhile */
    const arenaut_program *apart; /* the program with no join in place */
    bool *found;                  /* per tensor of it: the result of a join that was found */
    uint32_t *others;             /* results of joins that were not, for a round */
    uint32_t *results;            /* of those that were */
    arenaut_joining joins;
} join_search;

static uint32_t list_others(const join_search *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->apart->n_ops; i++) {
        const arenaut_op *op = &s->apart->ops[i];
        if (op->kind != ARENAUT_OP_OUT || op->n_outputs != 1 || op->outputs[0] == ARENAUT_NONE ||
            s->found[op->outputs[0]]) {
            continue;
        }
        s->others[n++] = op->outputs[0];
    }
    return n;
}

/* Joins in place in one program and not in the other. All of them must be choices: else joins are
 * not chosen at all. */
static void add_joins(join_search *s, const arenaut_program *joined) {
    const arenaut_program *apart = s->apart;
    s->joins.chosen = apart->n_ops == joined->n_ops;
    for (uint32_t i = 0; i < apart->n_ops && s->joins.chosen; i++) {
        if (!joins_in_place(&apart->ops[i], &joined->ops[i])) continue;
        s->joins.chosen = is_choice(s->pipeline, apart, i);
        if (!s->joins.chosen) continue;
        const uint32_t result = apart->ops[i].outputs[0];
        if (!s->found[result]) s->results[s->joins.n++] = result;
        s->found[result] = true;
    }
}

static arenaut_status find_more(join_search *s, arenaut_error *err) {
    const arn_candidate rest = {.joining = {true, s->others, list_others(s)},
                                .copying = s->copying};
    arenaut_pipeline *joined = NULL;
    if (!arn_budget_goes_on(s->budget)) return arn_pipeline_stopped(err);
    const arenaut_status st = arn_trial_lower(s->pipeline, s->budget, NULL, &rest, &joined, err);
    if (st == ARENAUT_OK) add_joins(s, joined->document.program);
    arenaut_pipeline_free(joined);
    return st;
}

static arenaut_status find_rounds(join_search *s, arenaut_error *err) {
    enum { MOST_ROUNDS = 64 };
    const size_t n_ops = s->apart->n_ops, n_tensors = s->apart->n_tensors;
    if (!ARN_REGION_ARRAYS(s->region, ARN_ARRAY(s->others, n_ops), ARN_ARRAY(s->results, n_ops),
                           ARN_ARRAY(s->found, n_tensors))) {
        return arn_no_memory(err);
    }
    s->joins = (arenaut_joining){.chosen = true, .results = s->results};
    arenaut_status st = ARENAUT_OK;
    bool more = true;
    for (int round = 0; round < MOST_ROUNDS && more && st == ARENAUT_OK; round++) {
        const uint32_t before = s->joins.n;
        st = find_more(s, err);
        more = s->joins.chosen && s->joins.n > before;
    }
    if (more || !s->joins.chosen) s->joins = (arenaut_joining){0};
    return st;
}

static arenaut_status find_joins(join_search *s, arenaut_error *err) {
    arenaut_pipeline *apart = NULL;
    const arn_candidate none = {.joining = {.chosen = true}, .copying = s->copying};
    arenaut_status st = arn_trial_lower(s->pipeline, s->budget, NULL, &none, &apart, err);
    if (st == ARENAUT_OK) {
        s->apart = apart->document.program;
        st = find_rounds(s, err);
    }
    arenaut_pipeline_free(apart);
    return st;
}

/* Neither a name of other memory nor memory with other names can be joined in place: joins are
 * found with all views copied that may be, and then the views that these joins leave to choose. */
static arenaut_status find_both(join_search *s, const arenaut_pipeline *lowered, bool copies_too,
                                arn_form_choices *choices, arenaut_error *err) {
    arn_copies *copies = &choices->copies;
    arenaut_status st = ARENAUT_OK;
    if (copies_too) st = find_copies(s->pipeline, lowered, NULL, s->region, copies, err);
    s->copying = (arenaut_copying){copies->ops, copies->n};
    if (st == ARENAUT_OK) st = find_joins(s, err);
    *copies = (arn_copies){0};
    choices->joins = s->joins;
    if (st != ARENAUT_OK || !copies_too || !choices->joins.chosen) return st;
    return find_copies(s->pipeline, lowered, &choices->joins, s->region, copies, err);
}

/* Views of a program that was rewritten stay as they are, and so do all if joins are given. */
arenaut_status arn_find_forms(const arenaut_pipeline *p, arn_budget *budget, arn_region *region,
                              arn_form_choices *choices, arenaut_error *err) {
    const arenaut_joining said = p->options.joining, none = {0};
    const bool joins = !said.chosen && arn_pipeline_may_join(p);
    const bool copies = !p->rewrite && p->document.program->n_methods == 1 && !said.chosen;
    const arn_candidate forms = {.joining = {.chosen = joins}};
    arenaut_pipeline *lowered = NULL;
    *choices = (arn_form_choices){0};
    if (!joins && !copies) return ARENAUT_OK;
    arenaut_status st = arn_trial_lower(p, budget, NULL, &forms, &lowered, err);
    if (st == ARENAUT_OK && joins) {
        join_search s = {.pipeline = p, .budget = budget, .region = region};
        st = find_both(&s, lowered, copies, choices, err);
    } else if (st == ARENAUT_OK) {
        st = find_copies(p, lowered, &none, region, &choices->copies, err);
    }
    arenaut_pipeline_free(lowered);
    return st;
}

static arenaut_status bound_relaxed(const arenaut_pipeline *p, arn_budget *budget,
                                    arn_program_order *problem, arenaut_ordering *bound,
                                    arenaut_error *err) {
    arenaut_order *order = NULL;
    const arenaut_status st = find_schedule(p, arn_program_order_problem(problem, 0),
                                            schedule_effort(p), budget, &order, err);
    if (st == ARENAUT_OK) {
        bound->bound = order->bound;
        bound->n_lines = order->n_lines;
        bound->at_ends = arn_program_order_peaks(problem).at_ends;
    }
    arenaut_order_free(order);
    return st;
}

arenaut_status arn_bound_forms(const arenaut_pipeline *p, arn_budget *budget,
                               const arn_form_choices *choices, arenaut_ordering *bound,
                               arenaut_error *err) {
    arenaut_pipeline *apart = NULL;
    arn_program_order *problem = NULL;
    arenaut_error why = {0};
    const arenaut_joining *joins = &choices->joins;
    const arn_copies *copies = &choices->copies;
    const arn_candidate forms = {.joining = {.chosen = joins->chosen}, /* none of them */
                                 .copying = {copies->ops, copies->n}};
    const arn_relaxation relaxation = {joins->results, joins->n, copies->parts, copies->n_parts};
    *bound = (arenaut_ordering){0};
    arenaut_status st = arn_trial_lower(p, budget, NULL, &forms, &apart, &why);
    if (st == ARENAUT_OK) st = arn_schedule_problem_of(apart, &problem, &why);
    if (st == ARENAUT_OK) {
        st = arn_program_order_relax(problem, apart->document.program, apart->lowering, &relaxation,
                                     &why);
    }
    if (st == ARENAUT_OK) st = bound_relaxed(p, budget, problem, bound, &why);
    arn_program_order_free(problem);
    arenaut_pipeline_free(apart);
    if (st == ARENAUT_REFUSED) return ARENAUT_OK;
    if (st != ARENAUT_OK && err) *err = why;
    return st;
}

/* ---- the transform of joins: candidates are found together with schedules ---- */

static arenaut_status apply(arenaut_pipeline *p, const arn_candidate *c, arenaut_error *err) {
    struct arenaut_pipeline_store *store = p->store;
    const arenaut_joining *joining = &c->joining;
    if (!joining->chosen) return ARENAUT_OK;
    if (joining->n > 0) {
        store->joined = arn_allocate(&store->allocator, joining->n, sizeof *store->joined);
        if (!store->joined) return arn_no_memory(err);
        memcpy(store->joined, joining->results, joining->n * sizeof *store->joined);
    }
    store->joining = (arenaut_joining){true, store->joined, joining->n};
    return ARENAUT_OK;
}

const arn_transform arn_transform_joins = {.apply = apply};
