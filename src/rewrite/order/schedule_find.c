/* The best order: simple ways first, then the bound by cuts, then limits between the two. */
#include "rewrite/order/schedule_search.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/find_within.h"

/* About two seconds where the search is hard. */
enum {
    DEFAULT_EFFORT = 20000000,
    FIRST_SHARE = 24,  /* a limit gets this part of it at first */
    WORK_PER_OP = 200, /* a window gets this at first */
    SHARE_OF_WINDOWS = 4,
    SHARE_OF_CUTS = 8, /* for the bound, and for the moves that cuts lead to */
    SHARE_OF_WAYS = 64,
};

uint64_t arenaut_order_default_effort(void) { return DEFAULT_EFFORT; }

const char *arenaut_order_rule_name(arenaut_order_rule rule) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_ORDER_RULE_MAP(XX)
#undef XX
    };
    return (unsigned)rule < ARENAUT_ORDER_RULE_COUNT ? names[rule] : NULL;
}

const char *arenaut_order_way_name(arenaut_order_way way) {
    static const char *const names[] = {
#define XX(name, text) text,
        ARENAUT_ORDER_WAY_MAP(XX)
#undef XX
    };
    return (unsigned)way < ARENAUT_ORDER_WAY_COUNT ? names[way] : NULL;
}

void arenaut_order_free(arenaut_order *order) {
    if (!order) return;
    const arenaut_allocator allocator = order->allocator;
    arn_release(&allocator, order->ops);
    arn_release(&allocator, order->near);
    arn_release(&allocator, order->near_peak);
    arn_release(&allocator, order->lines);
    arn_release(&allocator, order);
}

typedef struct finder {
    arn_order_side sides[2];
    arenaut_order *best;
    arn_order_proof proof;
    uint32_t *ops; /* an order that is tried */
    arn_budget *budget;
    uint64_t effort;
    bool has_ways; /* each of the simple ways was gone to its end */
} finder;

/* Whether there is effort left, and nobody has said stop. */
static bool goes_on(const finder *f) {
    return !arn_budget_ended(f->budget) && arn_order_work(f->sides) < f->effort;
}

static void keep_if_better(finder *f, uint64_t peak) {
    arn_order_keep_near(f->best, f->ops, peak);
    if (peak >= f->best->peak) return;
    f->best->peak = peak;
    memcpy(f->best->ops, f->ops, f->best->n_ops * sizeof *f->ops);
}

static bool try_ways(finder *f) {
    for (int way = 0; way < ARENAUT_ORDER_WAY_COUNT; way++) {
        arn_order_state *front = &f->sides[0].state, *back = &f->sides[1].state;
        if (!arn_budget_goes_on(f->budget)) return true;
        if (!arn_order_by_way((arenaut_order_way)way, front, back, f->ops)) return false;
        f->best->ways[way] = arn_order_height_of(front, f->ops).peak;
        keep_if_better(f, f->best->ways[way]);
    }
    f->has_ways = !arn_budget_ended(f->budget);
    return true;
}

/* A way that is not the best one may lead further. */
static bool uncross_ways(finder *f) {
    const arenaut_order *best = f->best;
    arn_order_state *front = &f->sides[0].state, *back = &f->sides[1].state;
    for (int way = 0; way < ARENAUT_ORDER_WAY_COUNT && best->peak > best->bound; way++) {
        if (arn_budget_ended(f->budget)) break;
        if (!arn_order_by_way((arenaut_order_way)way, front, back, f->ops) ||
            !arn_order_uncross(front, &f->sides[0].cut, best->bound, f->effort / SHARE_OF_WAYS,
                               f->ops)) {
            return false;
        }
        keep_if_better(f, arn_order_height_of(front, f->ops).peak);
    }
    return true;
}

/* What is alive while each op runs, in the best order. */
static void list_loads(finder *f, uint64_t *load) {
    arn_order_state *s = &f->sides[0].state;
    arn_order_take_back(s, 0);
    for (uint32_t i = 0; i < f->best->n_ops; i++) {
        const uint32_t op = f->best->ops[i];
        load[op] = arn_order_load(s, op);
        arn_order_run(s, op);
    }
    arn_order_take_back(s, 0);
}

/* Often some op that needs most in the best order needs as much whatever runs before it. `load` and
 * `ops`: the ops by what they need there. */
static bool bound_by_cuts(finder *f, const uint64_t *load, const uint32_t *ops) {
    const uint64_t end = arn_order_work(f->sides) + f->effort / SHARE_OF_CUTS;
    uint64_t least;
    for (uint32_t i = f->best->n_ops; i-- > 0;) {
        if (load[ops[i]] <= f->best->bound) return true;
        if (f->best->bound > 0 && arn_order_work(f->sides) > end) return true;
        if (!arn_budget_goes_on(f->budget)) return true;
        if (!arn_order_least_load(&f->sides[0].cut, ops[i], &least, NULL)) return false;
        if (least <= f->best->bound) continue;
        f->best->bound = least;
        if (!arn_order_prove_cut(&f->proof, ops[i])) return false;
    }
    return true;
}

static bool find_bound(finder *f) {
    const arenaut_allocator *a = &f->best->allocator;
    const uint32_t n = f->best->n_ops;
    uint64_t *load = arn_allocate(a, n, sizeof *load);
    uint32_t *ops = arn_allocate(a, n, 2 * sizeof *ops);
    bool ok = load && ops;
    if (ok) {
        list_loads(f, load);
        for (uint32_t i = 0; i < n; i++) ops[i] = i;
        arn_sort_by_key(ops, n, load, ops + n);
        ok = bound_by_cuts(f, load, ops);
    }
    arn_release(a, load);
    arn_release(a, ops);
    return ok;
}

/* One limit. */
static arn_order_answer try_limit(finder *f, uint64_t limit, uint64_t effort) {
    uint32_t side;
    const arn_order_answer answer = arn_order_search(f->sides, limit, effort, f->ops, &side);
    if (answer == ARN_ORDER_FOUND) {
        keep_if_better(f, arn_order_height_of(&f->sides[0].state, f->ops).peak);
    } else if (answer == ARN_ORDER_NONE) {
        f->best->bound = f->sides[side].least_over;
        if (!arn_order_prove(f->sides, side, &f->proof)) return ARN_ORDER_FAILED;
    }
    return answer;
}

/* One after another what makes an order better, until neither does. */
static bool improve(finder *f, uint64_t per_op) {
    arn_order_side *s = &f->sides[0];
    arenaut_order *best = f->best;
    const arn_order_purse purse = {per_op, f->effort / SHARE_OF_WINDOWS};
    const uint64_t effort = f->effort / SHARE_OF_CUTS;
    uint64_t before = UINT64_MAX;
    while (best->peak < before && best->peak > best->bound) {
        before = best->peak;
        if (!arn_order_uncross(&s->state, &s->cut, best->bound, effort, best->ops) ||
            !arn_order_search_windows(f->sides, purse, best->bound, best->ops, f->ops)) {
            return false;
        }
        best->peak = arn_order_height_of(&s->state, best->ops).peak;
        arn_order_keep_near(best, best->ops, best->peak);
        if (arn_order_work(f->sides) > f->effort || arn_budget_ended(f->budget)) break;
    }
    return true;
}

/* The limits that are tried between the bound and the peak, in eighths of the way: the middle, as
 * long as its searches end, else near the ends, where they are easier. */
static const unsigned eighths[] = {4, 7, 1};

/* Limits, each with so much effort, until none has an answer. The bound itself comes first: it is
 * often reached. */
static bool search_limits(finder *f, uint64_t each) {
    const arenaut_order *best = f->best;
    const unsigned n = sizeof eighths / sizeof *eighths;
    uint64_t limit = best->bound;
    unsigned next = 0;
    while (next <= n && best->bound < best->peak && goes_on(f)) {
        const uint64_t left = f->effort - arn_order_work(f->sides);
        const arn_order_answer answer = try_limit(f, limit, arn_min_u64(each, left));
        if (answer == ARN_ORDER_FAILED) return false;
        if (answer != ARN_ORDER_TIRED) next = 0;
        if (next == n) break;
        const uint64_t range = best->peak - best->bound - 1;
        limit = best->bound + range / 8 * eighths[next] + range % 8 * eighths[next] / 8;
        next++;
    }
    return true;
}

/* Other orders, for those who lay them out. */
static void find_near(finder *f) {
    arenaut_order *best = f->best;
    memcpy(f->ops, best->ops, best->n_ops * sizeof *f->ops);
    arn_order_settle(&f->sides[0].state, best->peak, f->ops);
    arn_order_keep_near(best, f->ops, arn_order_height_of(&f->sides[0].state, f->ops).peak);
    arn_order_trim_near(best);
}

static bool find(finder *f) {
    uint64_t each = f->effort / FIRST_SHARE + 1, per_op = WORK_PER_OP;
    if (!try_ways(f)) return false;
    if (!f->has_ways || f->best->n_ops == 0) return true;
    if (!find_bound(f) || !uncross_ways(f)) return false;
    while (f->best->bound < f->best->peak && goes_on(f)) {
        if (!improve(f, per_op) || !search_limits(f, each)) return false;
        each *= 4;
        per_op *= 4;
    }
    find_near(f);
    return true;
}

static bool allocate(finder *f, const arenaut_allocator *allocator, uint32_t n_ops) {
    arenaut_order *best = arn_allocate_zeroed(allocator, 1, sizeof *best);
    f->best = best;
    if (!best) return false;
    best->allocator = arn_allocator_or_default(allocator);
    best->n_ops = n_ops;
    best->peak = UINT64_MAX;
    best->ops = arn_allocate(allocator, n_ops, sizeof *best->ops);
    f->ops = arn_allocate(allocator, n_ops, sizeof *f->ops);
    f->proof.allocator = best->allocator;
    best->near = arn_allocate(allocator, n_ops, ARN_ORDER_MOST_NEAR * sizeof *best->near);
    best->near_peak = arn_allocate(allocator, ARN_ORDER_MOST_NEAR, sizeof *best->near_peak);
    return best->ops && f->ops && best->near && best->near_peak;
}

/* Whether ops use what they have rights to; checked by lists that are there by now. */
static arenaut_status validate_rights(const arn_order_graph *g, arenaut_error *err) {
    for (uint32_t i = 0; i < g->problem->n_rights; i++) {
        const arenaut_order_right *r = &g->problem->rights[i];
        uint32_t found = 0;
        for (uint32_t k = g->uses.begin[r->op]; k < g->uses.begin[r->op + 1]; k++) {
            found += g->uses.ids[k] == r->made || g->uses.ids[k] == r->over;
        }
        if (found == 2) continue;
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "right %" PRIu32 " names a buffer that its op does not use", i);
    }
    return ARENAUT_OK;
}

/* Stopped before there is an order to compare others with. */
static arenaut_status stopped(arenaut_error *err) {
    return arn_fail(err, ARENAUT_STOPPED, 0,
                    "the search for an order was stopped before it had found any");
}

arenaut_status arn_order_find(const arenaut_order_problem *problem, arn_budget *budget,
                              const arenaut_allocator *allocator, arenaut_order **out,
                              arenaut_error *err) {
    finder f = {.budget = budget, .effort = budget->effort ? budget->effort : DEFAULT_EFFORT};
    arenaut_status st = arn_order_validate(problem, err);
    if (st == ARENAUT_OK) st = arn_order_sides_make(problem, budget, allocator, f.sides, err);
    if (st != ARENAUT_OK) return st;
    st = validate_rights(&f.sides[0].graph, err);
    if (st == ARENAUT_OK && (!allocate(&f, allocator, problem->n_ops) || !find(&f))) {
        st = arn_no_memory(err);
    }
    if (st == ARENAUT_OK && !f.has_ways) st = stopped(err);
    if (f.best) {
        f.best->lines = f.proof.lines;
        f.best->n_lines = f.proof.n;
        f.best->effort = arn_order_work(f.sides);
    }
    if (st == ARENAUT_OK) *out = f.best;
    else arenaut_order_free(f.best);
    arn_release(allocator, f.ops);
    arn_order_sides_free(f.sides);
    return st;
}

arenaut_status arenaut_order_find(const arenaut_order_problem *problem,
                                  const arenaut_order_options *options,
                                  const arenaut_allocator *allocator, arenaut_order **out,
                                  arenaut_error *err) {
    static const arenaut_order_options standard = {0};
    const arenaut_order_options *o = options ? options : &standard;
    arn_budget budget = arn_budget_make(o->effort, o->progress, o->progress_context);
    return arn_order_find(problem, &budget, allocator, out, err);
}
