/* The curve of peak against time of a program: the fastest schedules within some budgets and, for
 * the floor, the tensors that any schedule has alive there at once (one side of a minimum cut). */
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "rewrite/find_within.h"
#include "rewrite/order/program_order.h"
#include "rewrite/rematerialize/remat_program.h"

enum { N_POINTS = 6 };

typedef struct plotter {
    const arn_recompute_task *task;
    const arenaut_allocator *allocator;
    arn_budget *budget;
    arn_region region;
    arn_remat_program program;
    arenaut_recompute_curve *curve;
    arenaut_error *err;
} plotter;

/* With the share `turn` of the time: the floor's comes first, then those of the points. */
static arenaut_status solve(plotter *x, uint64_t bytes, uint32_t turn,
                            arenaut_rematerialization **found) {
    enum { SHARE = ARN_BUDGET_ALL / (N_POINTS + 1) };
    arn_budget part =
        arn_budget_part(x->budget, x->budget->effort, turn * SHARE, (turn + 1) * SHARE);
    return arn_remat_program_solve(&x->program, &part, bytes, x->allocator, found, NULL, x->err);
}

/* ---- the floor ---- */

static bool copy(plotter *x, const char *text, char **out) {
    const size_t size = text ? strlen(text) + 1 : 0;
    if (!text) return true;
    *out = arn_allocate(x->allocator, size, 1);
    if (*out) memcpy(*out, text, size);
    return *out != NULL;
}

static const char *name_of_op(const plotter *x, uint32_t number) {
    if (number >= x->program.problem.n_ops) return NULL;
    return x->task->program->ops[x->program.op_of[number]].name;
}

static arenaut_status list_tensors(plotter *x, const arenaut_rematerialization *r) {
    arenaut_recompute_curve *c = x->curve;
    const arenaut_remat_problem *p = &x->program.any;
    uint32_t *order = arn_region_allocate(&x->region, r->n_at_floor, sizeof *order);
    uint32_t *scratch = arn_region_allocate(&x->region, r->n_at_floor, sizeof *scratch);
    uint64_t *key = arn_region_allocate(&x->region, p->n_storages, sizeof *key);
    c->tensors = arn_allocate_zeroed(x->allocator, r->n_at_floor, sizeof *c->tensors);
    if (!order || !scratch || !key || !c->tensors) return arn_no_memory(x->err);
    for (uint32_t i = 0; i < r->n_at_floor; i++) {
        order[i] = r->at_floor[i];
        key[order[i]] = UINT64_MAX - p->size[order[i]];
    }
    arn_sort_by_key(order, r->n_at_floor, key, scratch);
    for (uint32_t i = 0; i < r->n_at_floor; i++) {
        char store[24];
        const uint32_t s = order[i];
        arenaut_curve_tensor *tensor = &c->tensors[c->n_tensors++];
        tensor->bytes = p->size[s];
        if (!copy(x, arenaut_problem_buffer_name(x->task->lowering->problem, s, store),
                  &tensor->name) ||
            !copy(x, name_of_op(x, p->maker[s]), &tensor->op)) {
            return arn_no_memory(x->err);
        }
    }
    return copy(x, name_of_op(x, r->floor_proof.op), &c->floor_op) ? ARENAUT_OK
                                                                   : arn_no_memory(x->err);
}

static arenaut_status take_whole(plotter *x, const arenaut_rematerialization *r) {
    x->curve->before = r->before;
    x->curve->base = r->base;
    x->curve->floor = x->task->open_aliases ? 0 : r->floor;
    return x->task->open_aliases ? ARENAUT_OK : list_tensors(x, r);
}

/* ---- points ---- */

static arenaut_status find_point(plotter *x, uint32_t turn, uint32_t percent,
                                 arenaut_curve_point *point) {
    const uint64_t before = x->curve->before;
    arenaut_rematerialization *r = NULL;
    const uint64_t bytes = before / 100 * percent + before % 100 * percent / 100;
    const arenaut_status st = solve(x, arn_max_u64(bytes, 1), turn, &r);
    if (st != ARENAUT_OK) return st;
    *point = (arenaut_curve_point){.percent = percent,
                                   .budget = bytes,
                                   .peak = r->peak,
                                   .added = r->added,
                                   .bound = x->task->open_aliases ? 0 : r->bound,
                                   .n_copies = r->n_runs - x->program.problem.n_ops,
                                   .fits = r->fits};
    arenaut_rematerialization_free(r);
    return ARENAUT_OK;
}

/* The i-th of N_POINTS budgets, in percent: round numbers, or none that is impossible. */
static uint32_t percent_at(const arenaut_recompute_curve *c, uint32_t i) {
    enum { FIRST = 80, STEP = 10, LAST = FIRST - STEP * (N_POINTS - 1) };
    uint32_t low = LAST;
    while (low < 100 && c->before / 100 * low + c->before % 100 * low / 100 < c->floor) low++;
    if (low == LAST) return FIRST - STEP * i;
    return 100 - (100 - low) * (i + 1) / N_POINTS;
}

static arenaut_status plot(plotter *x, const arenaut_recompute_options *options) {
    arenaut_recompute_options any = *options;
    arenaut_rematerialization *whole = NULL;
    any.budget = UINT64_MAX; /* any op may be repeated */
    arenaut_status st = arn_remat_program_make(x->task, &any, &x->region, &x->program, x->err);
    if (st == ARENAUT_OK) st = solve(x, ARENAUT_SIZE_MAX / 4, 0, &whole);
    if (st == ARENAUT_OK) st = take_whole(x, whole);
    arenaut_rematerialization_free(whole);
    x->curve->points = arn_allocate_zeroed(x->allocator, N_POINTS, sizeof *x->curve->points);
    if (st == ARENAUT_OK && !x->curve->points) return arn_no_memory(x->err);
    for (uint32_t i = 0; i < N_POINTS && st == ARENAUT_OK && arn_budget_goes_on(x->budget); i++) {
        st = find_point(x, i + 1, percent_at(x->curve, i), &x->curve->points[i]);
        x->curve->n_points++;
    }
    return st;
}

void arenaut_recompute_curve_free(arenaut_recompute_curve *c) {
    if (!c) return;
    const arenaut_allocator allocator = c->allocator;
    for (uint32_t i = 0; i < c->n_tensors; i++) {
        ARN_RELEASE(&allocator, c->tensors[i].name, c->tensors[i].op);
    }
    ARN_RELEASE(&allocator, c->tensors, c->points, c->floor_op, c);
}

arenaut_status arn_recompute_find_curve(const arn_recompute_task *task, arn_budget *budget,
                                        const arenaut_recompute_options *options,
                                        const arenaut_allocator *allocator,
                                        arenaut_recompute_curve **out, arenaut_error *err) {
    arenaut_status st = arn_remat_program_check_task(task, err);
    if (st != ARENAUT_OK) return st;
    plotter x = {.task = task, .allocator = allocator, .budget = budget, .err = err};
    x.curve = arn_allocate_zeroed(allocator, 1, sizeof *x.curve);
    if (!x.curve) return arn_no_memory(err);
    x.curve->allocator = arn_allocator_or_default(allocator);
    arn_region_init(&x.region, allocator);
    st = plot(&x, options);
    arn_region_free(&x.region);
    if (st != ARENAUT_OK) arenaut_recompute_curve_free(x.curve);
    else *out = x.curve;
    return st;
}
