/* tvm-tokens: a replica of the graph planner of TVM's Relay (GraphPlanMemory).
 *
 * Values ask for tokens in the order in which they are made. A request looks among the free
 * tokens of its device, first upward from its size to so many times that (match_range), then
 * downward to so small a part of it, and the token that it takes grows to its size; else it
 * gets a new one. Of equal tokens that which became free first comes first. A token becomes
 * free after the last read of its value, at once if there is none; an op's operands are
 * let go in the order in which it names them (the problem's column `release`). Arguments and state
 * have tokens that are never free.
 *
 * A device is a pool here. The original had the arguments' tokens as well; of these only the
 * planned ones count. */
#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "ir/lifetimes.h"
#include "planners/run/planner_rows.h"
#include "planners/tokens/token_list.h"

#define SETTING "match_range"
enum { USUAL_RANGE = 16 };

typedef struct walk {
    const arenaut_problem *problem;
    uint64_t range;
    arn_token_list tokens;
    uint32_t *births, *deaths; /* buffers in the order of each */
    uint32_t n;
    uint32_t *free; /* tokens by size, equal ones in the order in which they became free */
    uint32_t n_free;
} walk;

/* A value that is never read is released before the operands of its op, which go one by one. */
static bool dies_before(const void *problem, uint32_t a, uint32_t b) {
    const int64_t end_a = arn_token_list_death(problem, a),
                  end_b = arn_token_list_death(problem, b);
    if (end_a != end_b) return end_a < end_b;
    const bool unread_a = arn_token_list_birth(problem, a) == end_a - 1;
    const bool unread_b = arn_token_list_birth(problem, b) == end_b - 1;
    if (unread_a != unread_b) return unread_a;
    return !unread_a && arenaut_problem_release(problem, a) < arenaut_problem_release(problem, b);
}

static bool is_kept(const walk *w, uint32_t b) {
    const arenaut_class cls = arenaut_problem_class(w->problem, b);
    return cls == ARENAUT_INPUT || cls == ARENAUT_STATE;
}

/* The first free token of at least `size`, or with `past` of more than it. */
static uint32_t first_free(const walk *w, uint64_t size, bool past) {
    uint32_t low = 0, high = w->n_free;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t here = w->tokens.size[w->free[middle]];
        if (here < size || (past && here == size)) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void release(walk *w, uint32_t b) {
    if (is_kept(w, b)) return;
    const uint32_t token = w->tokens.of[b];
    const uint32_t at = first_free(w, w->tokens.size[token], true);
    memmove(w->free + at + 1, w->free + at, (w->n_free - at) * sizeof *w->free);
    w->free[at] = token;
    w->n_free++;
}

/* A free token for the buffer, which is then no longer free; ARENAUT_NONE if none will do. */
static uint32_t request(walk *w, uint32_t b) {
    const uint64_t size = w->problem->size[b];
    const uint32_t pool = arn_lowest_pool(w->problem, b);
    if (w->range == 0 || is_kept(w, b)) return ARENAUT_NONE;
    uint64_t most;
    if (!arn_multiply(size, w->range, &most)) most = ARENAUT_SIZE_MAX;
    const uint32_t least = first_free(w, size / w->range, false);
    const uint32_t middle = first_free(w, size, false), end = first_free(w, most, true);
    uint32_t at = middle;
    while (at < end && w->tokens.pool[w->free[at]] != pool) at++;
    if (at == end) {
        at = middle;
        while (at > least && w->tokens.pool[w->free[at - 1]] != pool) at--;
        if (at == least) return ARENAUT_NONE;
        at--;
    }
    const uint32_t token = w->free[at];
    w->n_free--;
    memmove(w->free + at, w->free + at + 1, (w->n_free - at) * sizeof *w->free);
    return token;
}

static void serve_all(walk *w) {
    const arenaut_problem *p = w->problem;
    for (uint32_t i = 0, dead = 0; i < w->n; i++) {
        const uint32_t b = w->births[i];
        while (arn_token_list_death(p, w->deaths[dead]) <= arn_token_list_birth(p, b))
            release(w, w->deaths[dead++]);
        const uint32_t token = request(w, b);
        if (token == ARENAUT_NONE) arn_token_list_add(p, &w->tokens, b);
        else arn_token_list_join(p, &w->tokens, token, b);
    }
}

/* Decimal digits, as programs write them. */
static arenaut_status parse_range(const arenaut_planning *planning, const arenaut_planner *self,
                                  uint64_t *range) {
    const char *text = arn_setting(planning, SETTING, NULL);
    if (!text) return ARENAUT_OK;
    bool good = *text != '\0';
    *range = 0;
    for (const char *c = text; *c && good; c++) {
        good = *c >= '0' && *c <= '9' && arn_multiply(*range, 10, range) &&
               arn_add(*range, (uint64_t)(*c - '0'), range);
    }
    return good ? ARENAUT_OK : arn_setting_bad(planning, self, SETTING, text);
}

/* All values are on a device or none is; type 0 is none. */
static arenaut_status check_devices(const arenaut_planning *planning) {
    const arenaut_problem *p = planning->problem;
    uint32_t annotated = 0, all = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        all++;
        annotated += p->pool[arn_lowest_pool(p, b)].device.type != 0;
    }
    if (annotated == 0 || annotated == all) return ARENAUT_OK;
    return arn_fail(planning->err, ARENAUT_REFUSED, 0,
                    "planner 'tvm-tokens': %" PRIu32 " of %" PRIu32
                    " values have a device and %" PRIu32
                    " have none (type 0); it wants one for all of them or for none",
                    annotated, all, all - annotated);
}

static arenaut_status open_walk(walk *w, const arenaut_planning *planning) {
    const arenaut_problem *p = w->problem;
    if (!arn_token_list_make(planning, &w->tokens)) return arn_no_memory(planning->err);
    w->births = arn_region_allocate(&w->tokens.region, p->n_buffers, 4 * sizeof *w->births);
    if (!w->births) return arn_no_memory(planning->err);
    w->deaths = w->births + p->n_buffers;
    w->free = w->deaths + p->n_buffers;
    uint32_t *const scratch = w->free + p->n_buffers;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arenaut_problem_needs_memory(p, b)) w->births[w->n++] = b;
    }
    memcpy(w->deaths, w->births, w->n * sizeof *w->births);
    arn_sort_ids(w->births, w->n, arn_token_list_born_before, p, scratch);
    arn_sort_ids(w->deaths, w->n, dies_before, p, scratch);
    return ARENAUT_OK;
}

static arenaut_status try_range(arenaut_planning *planning, arn_meter *meter, uint64_t range) {
    walk w = {.problem = planning->problem, .range = range};
    const arenaut_status st = open_walk(&w, planning);
    if (st == ARENAUT_OK) {
        serve_all(&w);
        arn_meter_spend(meter, w.n);
        arn_token_list_keep(meter, &w.tokens);
    }
    arn_region_free(&w.tokens.region);
    return st;
}

/* Whatever the devices: `auto` does not mind a plan that the original would refuse to make. */
static arenaut_status make(const arenaut_planner *self, arenaut_planning *planning,
                           arn_meter *meter) {
    (void)self;
    return try_range(planning, meter, USUAL_RANGE);
}

static arenaut_status tvm_tokens_run(const arenaut_planner *self, arenaut_planning *planning) {
    arn_meter meter = arn_meter_start(planning, self->name);
    uint64_t range = USUAL_RANGE;
    arenaut_status st = arn_settings_check(planning, self, SETTING);
    if (st == ARENAUT_OK) st = parse_range(planning, self, &range);
    if (st == ARENAUT_OK) st = check_devices(planning);
    if (st == ARENAUT_OK) st = try_range(planning, &meter, range);
    return st == ARENAUT_OK ? arn_meter_finish(&meter) : st;
}

const arenaut_planner arn_planner_tvm_tokens = {
    .name = "tvm-tokens",
    .summary = "TVM Relay's storage tokens: a free block of about the size, which grows",
    .settings = SETTING "=16 (0: never reuse)",
    .handles = ARENAUT_FEATURE_ALIGNMENT | ARENAUT_FEATURE_GAPS | ARENAUT_FEATURE_POOLS |
               ARENAUT_FEATURE_CAPACITY | ARENAUT_FEATURE_SAME_BASE | ARENAUT_FEATURE_HINTS |
               ARENAUT_FEATURE_TOKENS,
    .run = tvm_tokens_run,
    .attempt = &(const arn_attempt){.when = ARN_TRY_TOKENS, .turn = 3, .make = make},
    .refuses = ARENAUT_PROBLEM_BRANCHES | ARENAUT_PROBLEM_SYMBOLIC,
};
