/* Splitting, between reading and passes: those are then about the ops that will run. What a file's
 * own plan says goes with the file's program; the baseline reads it there (baseline.c). Which of
 * the ways to split a program is taken, unless the caller has said that. They are found by what is
 * alive at once; what that comes to is only known of plans, so that the best are planned. A program
 * that needs no less when it is split stays as it is. */
#include <string.h>

#include "core/memory.h"
#include "stages/stages.h"

enum {
    MOST_PLANS = 3,  /* of the best choices */
    MISSED = 100,    /* part of what is needed that makes it worth to try */
    MORE_PIECES = 2, /* of each stage */
    MOST_TRIES = 8,  /* where a budget is to be kept */
};

/* What is to be reserved if the program is split so; without stages, as it is. */
static arenaut_status plan_split(const arenaut_pipeline *p, arn_budget *budget,
                                 const arenaut_split_choice *choice, arn_thoroughness how,
                                 arn_reserved *r, arenaut_error *err) {
    arn_budget part = arn_budget_part(budget, 0, 0, ARN_BUDGET_ALL);
    arenaut_pipeline_options options = p->options;
    options.splitting = (arenaut_splitting){
        .on = choice->n_stages > 0, .stages = choice->stages, .n_stages = choice->n_stages};
    return arn_pipeline_plan_aside(p, &part, options, how, r, err);
}

/* ---- choosing ---- */

typedef struct choosing {
    const arenaut_pipeline *p;
    arn_budget *budget;
    arn_reserved whole;
    uint64_t wide; /* of the program as it is, without any right: no plan may need more there */
    arenaut_split_stage *best; /* stages; none: the program as it is */
    uint32_t n_best;
    uint64_t bytes; /* that it needs */
    const arenaut_split_choice *tried[2 * MOST_PLANS + 1];
    uint32_t n_tried;
} choosing;

static uint64_t needs_at_least(const choosing *c, const arenaut_split_choice *choice) {
    return choice->head + (uint64_t)choice->kept + c->whole.kept;
}

static arenaut_status take(choosing *c, const arenaut_split_choice *choice, uint64_t bytes,
                           arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(c->p);
    arenaut_split_stage *stages = arn_allocate(allocator, choice->n_stages, sizeof *stages);
    if (!stages) return arn_no_memory(err);
    memcpy(stages, choice->stages, choice->n_stages * sizeof *stages);
    arn_release(allocator, c->best);
    c->best = stages;
    c->n_best = choice->n_stages;
    c->bytes = bytes;
    return ARENAUT_OK;
}

/* Plans a choice, which becomes the best one if it is; *bytes gets what it needs. Stages that stand
 * against something else that was asked for, as sizes of scratch do, are no way. */
static arenaut_status try_choice(choosing *c, const arenaut_split_choice *choice,
                                 arn_thoroughness how, uint64_t *bytes, arenaut_error *err) {
    arn_reserved r;
    arenaut_error why = {0};
    const arenaut_status st = plan_split(c->p, c->budget, choice, how, &r, &why);
    *bytes = UINT64_MAX;
    if (st == ARENAUT_BAD_ARGUMENT) return ARENAUT_OK;
    if (st != ARENAUT_OK && err) *err = why;
    if (st != ARENAUT_OK) return st;
    *bytes = r.cost.total;
    if (r.cost.total >= c->bytes || r.wide > c->wide) return ARENAUT_OK;
    return take(c, choice, r.cost.total, err);
}

/* Where results lie over operands, a plan may need more than is alive at once, and with a piece
 * more it need not. */
static arenaut_status try_more_pieces(choosing *c, const arenaut_split_choice *choice,
                                      arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(c->p);
    arenaut_split_choice other = *choice;
    arenaut_split_stage *stages = arn_allocate(allocator, choice->n_stages, sizeof *stages);
    if (!stages) return arn_no_memory(err);
    memcpy(stages, choice->stages, choice->n_stages * sizeof *stages);
    other.stages = stages;
    arenaut_status st = ARENAUT_OK;
    for (int more = 0; more < MORE_PIECES && st == ARENAUT_OK; more++) {
        uint64_t bytes;
        for (uint32_t i = 0; i < choice->n_stages; i++) stages[i].pieces++;
        st = try_choice(c, &other, ARN_QUICKLY, &bytes, err);
    }
    arn_release(allocator, stages);
    return st;
}

static bool is_same(const arenaut_split_choice *a, const arenaut_split_choice *b) {
    return a->n_stages == b->n_stages &&
           (a->n_stages == 0 || memcmp(a->stages, b->stages, a->n_stages * sizeof *a->stages) == 0);
}

static bool was_tried(const choosing *c, const arenaut_split_choice *choice) {
    for (uint32_t i = 0; i < c->n_tried; i++) {
        if (is_same(c->tried[i], choice)) return true;
    }
    return false;
}

/* The next best is tried, too, until it cannot need less than the best plan. */
static arenaut_status take_least(choosing *c, const arenaut_split_choice *choices, uint32_t n,
                                 uint32_t most, arenaut_error *err) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = n; i-- > 1 && most > 0 && st == ARENAUT_OK; most--) {
        const uint64_t least = needs_at_least(c, &choices[i]);
        uint64_t bytes;
        if (least >= c->bytes) break;
        if (was_tried(c, &choices[i])) continue;
        c->tried[c->n_tried++] = &choices[i];
        st = try_choice(c, &choices[i], ARN_QUICKLY, &bytes, err);
        if (st == ARENAUT_OK && bytes > least + least / MISSED) {
            st = try_more_pieces(c, &choices[i], err);
        }
    }
    return st;
}

/* Where quick plans need more than what is alive at once, a thorough one of what may need least
 * need not. What is taken is planned thoroughly anyway. */
static arenaut_status look_closer(choosing *c, const arenaut_split_front *front,
                                  arenaut_error *err) {
    const arenaut_split_choice *choice = &front->choices[front->n_choices - 1];
    const arenaut_split_choice best = {.stages = c->best, .n_stages = c->n_best};
    const uint64_t least = needs_at_least(c, choice);
    uint64_t bytes;
    if (is_same(choice, &best) || c->bytes <= least + least / MISSED) return ARENAUT_OK;
    return try_choice(c, choice, ARN_THOROUGHLY, &bytes, err);
}

static bool adds_less(const arenaut_split_choice *a, const arenaut_split_choice *b) {
    return a->ops != b->ops ? a->ops < b->ops : a->macs < b->macs;
}

/* The choice that adds least, of those that may fit and add more than `last`. */
static const arenaut_split_choice *next_to_fit(const choosing *c, const arenaut_split_front *front,
                                               const arenaut_split_choice *last, uint64_t budget) {
    const arenaut_split_choice *next = NULL;
    for (uint32_t i = 1; i < front->n_choices; i++) {
        const arenaut_split_choice *choice = &front->choices[i];
        if (needs_at_least(c, choice) > budget || (last && !adds_less(last, choice))) continue;
        if (!next || adds_less(choice, next)) next = choice;
    }
    return next;
}

/* The first that fits; *fits stays false if none does. */
static arenaut_status take_fitting(choosing *c, const arenaut_split_front *front, bool *fits,
                                   arenaut_error *err) {
    const uint64_t budget = c->p->options.splitting.budget;
    const arenaut_split_choice *choice = NULL;
    arenaut_status st = ARENAUT_OK;
    uint64_t bytes;
    *fits = c->bytes <= budget;
    for (uint32_t i = 0; i < MOST_TRIES && !*fits && st == ARENAUT_OK; i++) {
        choice = next_to_fit(c, front, choice, budget);
        if (!choice) break;
        st = try_choice(c, choice, ARN_QUICKLY, &bytes, err);
        *fits = c->bytes <= budget;
    }
    return st;
}

static bool may_overlap(const arenaut_pipeline *p) { return p->options.overlap && p->kernels; }

static arenaut_status find_front(const arenaut_pipeline *p, arn_budget *budget, bool overlap,
                                 arenaut_split_front **front, arenaut_error *err) {
    arenaut_split_options options = p->options.splitting.options;
    options.target = p->target;
    options.kernels = p->kernels;
    options.run_by = p->scratch.known ? NULL : p->kernels;
    options.overlap = overlap;
    options.in_place = !may_overlap(p) && p->options.overwrite == ARENAUT_OVERWRITE_ON;
    options.unmeasured = p->unmeasured;
    budget->effort = arn_pipeline_effort(p, options.effort, arenaut_split_default_effort());
    return arn_split_find(p->document.program, budget, &options, arn_pipeline_allocator(p), front,
                          err);
}

/* What splitting adds to the tail of a wide target may not make it need more there than it does
 * today. That does not depend on what else is allowed, or a right more could rule out what is taken
 * without it. */
static arenaut_status find_wide(choosing *c, arenaut_error *err) {
    arn_budget part = arn_budget_part(c->budget, 0, 0, ARN_BUDGET_ALL);
    arenaut_pipeline_options options = c->p->options;
    options.splitting = (arenaut_splitting){0};
    options.recomputing = (arenaut_recomputing){0};
    options.reordering = (arenaut_reordering){0};
    options.overwrite = ARENAUT_OVERWRITE_OFF;
    options.overlap = false;
    arn_reserved r;
    const arenaut_status st = arn_pipeline_plan_aside(c->p, &part, options, ARN_QUICKLY, &r, err);
    c->wide = r.wide > c->whole.wide ? r.wide : c->whole.wide;
    return st;
}

/* With overlap, the best without any right is tried as well: how far results reach in a plan is not
 * known before. Results over operands are no choice then, since overlap has them too: so that
 * asking for both is asking for overlap. */
static arenaut_status choose(choosing *c, arenaut_split_front *const fronts[2],
                             arenaut_error *err) {
    static const arenaut_split_choice none = {0};
    const arenaut_split_front *best = fronts[1] ? fronts[1] : fronts[0];
    bool fits = false;
    arenaut_status st = plan_split(c->p, c->budget, &none, ARN_QUICKLY, &c->whole, err);
    c->bytes = c->whole.cost.total;
    if (st == ARENAUT_OK) st = find_wide(c, err);
    if (!arn_budget_goes_on(c->budget)) return st; /* nothing to compare with */
    if (st == ARENAUT_OK && c->p->options.splitting.budget > 0) {
        st = take_fitting(c, best, &fits, err);
    }
    if (st != ARENAUT_OK || fits) return st;
    st = take_least(c, best->choices, best->n_choices, MOST_PLANS, err);
    if (best == fronts[0]) return st;
    if (st == ARENAUT_OK) st = take_least(c, best->even, best->n_even, MOST_PLANS, err);
    if (st == ARENAUT_OK) st = take_least(c, fronts[0]->choices, fronts[0]->n_choices, 1, err);
    if (st == ARENAUT_OK) st = look_closer(c, best, err);
    return st;
}

/* The number of the choice with the stages that were taken. */
static uint32_t taken_of(const choosing *c, const arenaut_split_front *front) {
    const arenaut_split_choice best = {.stages = c->best, .n_stages = c->n_best};
    for (uint32_t i = 0; i < front->n_choices; i++) {
        if (is_same(&front->choices[i], &best)) return i;
    }
    return ARENAUT_NONE;
}

/* Shares of the time, in thousandths: until when stages are looked for, without overlap and with
 * it; the rest is for plans. */
enum { SHARE_WITHOUT = 250, SHARE_WITH = 500 };

static arenaut_status find_fronts(const arenaut_pipeline *p, arn_budget *budget,
                                  arenaut_split_front *fronts[2], arenaut_error *err) {
    arn_budget without = arn_budget_part(budget, 0, 0, SHARE_WITHOUT);
    arn_budget with = arn_budget_part(budget, 0, SHARE_WITHOUT, SHARE_WITH);
    const arenaut_status st = find_front(p, &without, false, &fronts[0], err);
    if (st != ARENAUT_OK || !may_overlap(p)) return st;
    return find_front(p, &with, true, &fronts[1], err);
}

/* Hands over what was looked at, but where there was no time to find what is needed without. */
static void keep_ways(arenaut_pipeline *p, const choosing *c, arenaut_split_front *fronts[2]) {
    arenaut_split_front **front = fronts[1] ? &fronts[1] : &fronts[0];
    if (!arn_is_plan(c->whole.cost) && arn_budget_ended(c->budget)) return;
    p->ways = (arenaut_ways_to_split){*front, c->whole.kept, taken_of(c, *front)};
    p->result.ways = &p->ways;
    *front = NULL;
}

static arenaut_status take_best(arenaut_pipeline *p, arn_budget *budget,
                                arenaut_split_front *fronts[2], arenaut_rewrite **out,
                                arenaut_error *err) {
    const arenaut_allocator *allocator = arn_pipeline_allocator(p);
    arn_budget part = arn_budget_part(budget, 0, SHARE_WITH, ARN_BUDGET_ALL);
    choosing c = {.p = p, .budget = &part};
    arenaut_status st = choose(&c, fronts, err);
    if (st == ARENAUT_OK && c.n_best > 0) {
        st = arenaut_split(p->document.program, c.best, c.n_best, allocator, out, err);
    }
    if (st == ARENAUT_OK) keep_ways(p, &c, fronts);
    arn_release(allocator, c.best);
    return st;
}

/* What needs least, of plans; *out stays NULL where nothing is gained, or the budget is kept
 * without. */
static arenaut_status split_best(arenaut_pipeline *p, arn_budget *budget, arenaut_rewrite **out,
                                 arenaut_error *err) {
    arenaut_split_front *fronts[2] = {NULL};
    arenaut_error why = {0};
    if (!arn_pipeline_has_time(p, budget, "split")) return ARENAUT_OK;
    arenaut_status st = find_fronts(p, budget, fronts, &why);
    if (st == ARENAUT_REFUSED || st == ARENAUT_STOPPED) {
        arn_pipeline_note(p, "nothing is split: %s", why.msg);
        st = ARENAUT_OK;
    } else if (st == ARENAUT_OK) {
        st = take_best(p, budget, fronts, out, &why);
    }
    if (st != ARENAUT_OK && err) *err = why;
    arenaut_split_front_free(fronts[0]);
    arenaut_split_front_free(fronts[1]);
    return st;
}

/* ---- the stage of the pipeline ---- */

static arenaut_status blame_stages(arenaut_pipeline *p, arenaut_status st, arenaut_error *err) {
    const arenaut_error why = err ? *err : (arenaut_error){0};
    if (st != ARENAUT_BAD_ARGUMENT && st != ARENAUT_REFUSED) return st;
    return arn_pipeline_blame(p, err, "split", "split: %s", why.msg);
}

/* Makes the split program; *out stays NULL where there is none. */
static arenaut_status make_split(arenaut_pipeline *p, arn_budget *budget, arenaut_rewrite **out,
                                 arenaut_error *err) {
    const arenaut_splitting *o = &p->options.splitting;
    if (!o->stages) return split_best(p, budget, out, err);
    return blame_stages(p,
                        arenaut_split(p->document.program, o->stages, o->n_stages,
                                      arn_pipeline_allocator(p), out, err),
                        err);
}

arenaut_status arn_pipeline_split(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err) {
    arenaut_rewrite *rewrite = NULL;
    if (!p->options.splitting.on) return ARENAUT_OK;
    const arenaut_status st = make_split(p, budget, &rewrite, err);
    return st == ARENAUT_OK && rewrite ? arn_pipeline_adopt(p, rewrite, err) : st;
}
