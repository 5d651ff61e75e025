/* Near-optimal schedules, beside the best one; and swaps of neighbors that lead back to the given
 * order. */
#include "rewrite/order/schedule_search.h"

#include <string.h>

enum {
    CLOSE = 16,  /* near-optimal: a peak larger by at most this fraction */
    PASSES = 16, /* of moves back to the given order */
};

static uint32_t *near_ops(arenaut_order *o, uint32_t i) { return o->near + (size_t)i * o->n_ops; }

static bool is_same(const arenaut_order *o, const uint32_t *a, const uint32_t *b) {
    return memcmp(a, b, o->n_ops * sizeof *a) == 0;
}

static void drop(arenaut_order *o, uint32_t at) {
    const uint32_t after = --o->n_near - at;
    memmove(&o->near_peak[at], &o->near_peak[at + 1], after * sizeof *o->near_peak);
    memmove(near_ops(o, at), near_ops(o, at + 1), after * (size_t)o->n_ops * sizeof *o->near);
}

static bool is_near(arenaut_order *o, const uint32_t *ops) {
    for (uint32_t i = 0; i < o->n_near; i++) {
        if (is_same(o, near_ops(o, i), ops)) return true;
    }
    return false;
}

void arn_schedule_keep_near(arenaut_order *o, const uint32_t *ops, uint64_t peak) {
    uint32_t at = o->n_near;
    if (is_near(o, ops)) return;
    while (at > 0 && peak < o->near_peak[at - 1]) at--;
    if (at == ARN_SCHEDULE_MAX_NEAR) return;
    if (o->n_near == ARN_SCHEDULE_MAX_NEAR) o->n_near--;
    const uint32_t after = o->n_near++ - at;
    memmove(&o->near_peak[at + 1], &o->near_peak[at], after * sizeof *o->near_peak);
    memmove(near_ops(o, at + 1), near_ops(o, at), after * (size_t)o->n_ops * sizeof *o->near);
    o->near_peak[at] = peak;
    memcpy(near_ops(o, at), ops, o->n_ops * sizeof *ops);
}

void arn_schedule_add_near(arenaut_order *o, const uint32_t *ops, uint64_t peak) {
    if (is_near(o, ops)) return;
    if (o->n_near == ARN_SCHEDULE_MAX_NEAR) o->n_near--;
    arn_schedule_keep_near(o, ops, peak);
}

static bool is_given(const arenaut_order *o, const uint32_t *ops) {
    for (uint32_t i = 0; i < o->n_ops; i++) {
        if (ops[i] != i) return false;
    }
    return true;
}

void arn_schedule_trim_near(arenaut_order *o) {
    for (uint32_t i = o->n_near; i-- > 0;) {
        const bool close = o->near_peak[i] - o->peak <= o->peak / CLOSE;
        const uint32_t *ops = near_ops(o, i);
        if (!close || is_same(o, ops, o->ops) || is_given(o, ops)) drop(o, i);
    }
}

static bool depends_on(const arn_schedule_graph *g, uint32_t op, uint32_t first) {
    for (uint32_t i = g->predecessors.begin[op]; i < g->predecessors.begin[op + 1]; i++) {
        if (g->predecessors.ids[i] == first) return true;
    }
    return false;
}

/* Whether the next op, `a`, can be swapped with its successor in the schedule, `b`. */
static bool may_swap(arn_schedule_state *s, uint32_t a, uint32_t b, uint64_t peak) {
    if (b > a || depends_on(s->graph, b, a) || arn_schedule_load(s, b) > peak) return false;
    arn_schedule_run(s, b);
    const bool fits = arn_schedule_load(s, a) <= peak;
    arn_schedule_undo(s, s->n_ran - 1);
    return fits;
}

void arn_schedule_settle(arn_schedule_state *s, uint64_t peak, uint32_t *ops) {
    const uint32_t n = s->graph->n_ops;
    bool moved = true;
    for (int pass = 0; pass < PASSES && moved; pass++) {
        moved = false;
        arn_schedule_undo(s, 0);
        for (uint32_t i = 0; i + 1 < n; i++) {
            const uint32_t a = ops[i], b = ops[i + 1];
            if (may_swap(s, a, b, peak)) {
                ops[i] = b;
                ops[i + 1] = a;
                moved = true;
            }
            arn_schedule_run(s, ops[i]);
        }
    }
    arn_schedule_undo(s, 0);
}
