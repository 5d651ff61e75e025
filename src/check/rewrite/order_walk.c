/* Running and undoing ops of a scheduling problem, one by one. */
#include "check/rewrite/order_walk.h"

#include <string.h>

typedef struct pair {
    uint32_t key, value;
} pair;

static bool make_rows(arn_order_walk *w, const pair *pairs, uint32_t n, uint32_t n_keys,
                      arn_order_rows *out) {
    out->at = arn_region_allocate(&w->region, (size_t)n_keys + 1, sizeof *out->at);
    out->to = arn_region_allocate(&w->region, n, sizeof *out->to);
    if (!out->at || !out->to) return false;
    memset(out->at, 0, ((size_t)n_keys + 1) * sizeof *out->at);
    for (uint32_t i = 0; i < n; i++) out->at[pairs[i].key]++;
    for (uint32_t key = 1; key <= n_keys; key++) out->at[key] += out->at[key - 1];
    for (uint32_t i = n; i-- > 0;) out->to[--out->at[pairs[i].key]] = pairs[i].value;
    return true;
}

/* Repeated uses count once: `last` has for each buffer the last op seen with it. */
static bool make_uses(arn_order_walk *w, pair *pairs, uint32_t *last) {
    const arenaut_order_problem *p = w->problem;
    arn_order_rows all;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_uses; i++) {
        pairs[i] = (pair){p->uses[i].op, p->uses[i].buffer};
    }
    if (!make_rows(w, pairs, p->n_uses, p->n_ops, &all)) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) last[b] = ARENAUT_NONE;
    for (uint32_t op = 0; op < p->n_ops; op++) {
        for (uint32_t i = all.at[op]; i < all.at[op + 1]; i++) {
            if (last[all.to[i]] == op) continue;
            last[all.to[i]] = op;
            pairs[n++] = (pair){op, all.to[i]};
        }
    }
    if (!make_rows(w, pairs, n, p->n_ops, &w->buffers_of)) return false;
    for (uint32_t i = 0; i < n; i++) pairs[i] = (pair){pairs[i].value, pairs[i].key};
    return make_rows(w, pairs, n, p->n_buffers, &w->ops_of);
}

static bool make_dependences(arn_order_walk *w, pair *pairs) {
    const arenaut_order_problem *p = w->problem;
    arn_order_rows *there = w->backward ? &w->dependents : &w->depends_on;
    arn_order_rows *back = w->backward ? &w->depends_on : &w->dependents;
    for (uint32_t i = 0; i < p->n_dependences; i++)
        pairs[i] = (pair){p->dependences[i].op, p->dependences[i].first};
    if (!make_rows(w, pairs, p->n_dependences, p->n_ops, there)) return false;
    for (uint32_t i = 0; i < p->n_dependences; i++)
        pairs[i] = (pair){p->dependences[i].first, p->dependences[i].op};
    return make_rows(w, pairs, p->n_dependences, p->n_ops, back);
}

static bool make_rights(arn_order_walk *w, pair *pairs) {
    const arenaut_order_problem *p = w->problem;
    for (uint32_t i = 0; i < p->n_rights; i++) pairs[i] = (pair){p->rights[i].op, i};
    if (!make_rows(w, pairs, p->n_rights, p->n_ops, &w->rights_of)) return false;
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const arenaut_order_right *r = &p->rights[i];
        pairs[i] = (pair){w->backward ? r->over : r->made, r->op};
    }
    return make_rows(w, pairs, p->n_rights, p->n_buffers, &w->claimed_by);
}

static void open_op(arn_order_walk *w, uint32_t op) {
    w->open_at[op] = w->n_open;
    w->open[w->n_open++] = op;
}

static void close_op(arn_order_walk *w, uint32_t op) {
    const uint32_t last = w->open[--w->n_open];
    w->open[w->open_at[op]] = last;
    w->open_at[last] = w->open_at[op];
}

static bool make_state(arn_order_walk *w) {
    const arenaut_order_problem *p = w->problem;
    if (!ARN_REGION_ARRAYS(&w->region, ARN_ARRAY(w->ran, p->n_ops), ARN_ARRAY(w->pending, p->n_ops),
                           ARN_ARRAY(w->unused, p->n_buffers), ARN_ARRAY(w->history, p->n_ops),
                           ARN_ARRAY(w->open, p->n_ops), ARN_ARRAY(w->open_at, p->n_ops))) {
        return false;
    }
    for (uint32_t op = 0; op < p->n_ops; op++) {
        w->pending[op] = w->depends_on.at[op + 1] - w->depends_on.at[op];
        if (w->pending[op] == 0) open_op(w, op);
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        w->unused[b] = w->ops_of.at[b + 1] - w->ops_of.at[b];
        const bool stays = w->unused[b] > 0 || arn_order_walk_is_live_out(w, b);
        if (arn_order_walk_is_live_in(w, b) && stays) w->live += p->size[b];
    }
    return true;
}

bool arn_order_walk_make(arn_order_walk *w, const arenaut_order_problem *problem, bool backward,
                         const arenaut_allocator *allocator) {
    uint32_t most = problem->n_uses;
    *w = (arn_order_walk){.problem = problem, .backward = backward};
    if (most < problem->n_dependences) most = problem->n_dependences;
    if (most < problem->n_rights) most = problem->n_rights;
    arn_region_init(&w->region, allocator);
    pair *pairs = arn_region_allocate(&w->region, most, sizeof *pairs);
    uint32_t *last = arn_region_allocate(&w->region, problem->n_buffers, sizeof *last);
    return pairs && last && make_uses(w, pairs, last) && make_dependences(w, pairs) &&
           make_rights(w, pairs) && make_state(w);
}

void arn_order_walk_free(arn_order_walk *w) {
    if (w->problem) arn_region_free(&w->region);
}

static bool is_live_at(const arn_order_walk *w, uint32_t buffer, bool before) {
    const uint8_t *boundary = w->problem->boundary;
    const int bit = before == w->backward ? ARENAUT_LIVE_OUT : ARENAUT_LIVE_IN;
    return boundary && (boundary[buffer] & bit);
}

bool arn_order_walk_is_live_in(const arn_order_walk *w, uint32_t buffer) {
    return is_live_at(w, buffer, true);
}

bool arn_order_walk_is_live_out(const arn_order_walk *w, uint32_t buffer) {
    return is_live_at(w, buffer, false);
}

bool arn_order_walk_has_begun(const arn_order_walk *w, uint32_t buffer) {
    return w->unused[buffer] < w->ops_of.at[buffer + 1] - w->ops_of.at[buffer];
}

bool arn_order_walk_may_run(const arn_order_walk *w, uint32_t op) {
    return op < w->problem->n_ops && !w->ran[op] && w->pending[op] == 0;
}

static bool is_live(const arn_order_walk *w, uint32_t buffer) {
    return (arn_order_walk_has_begun(w, buffer) || arn_order_walk_is_live_in(w, buffer)) &&
           (w->unused[buffer] > 0 || arn_order_walk_is_live_out(w, buffer));
}

/* Whether the right is usable: `made` begins at the op, and `over` ends there. */
static bool holds_now(const arn_order_walk *w, uint32_t made, uint32_t over) {
    const bool begins = !arn_order_walk_has_begun(w, made) && !arn_order_walk_is_live_in(w, made);
    return begins && w->unused[over] == 1 && !arn_order_walk_is_live_out(w, over);
}

uint64_t arn_order_walk_load(const arn_order_walk *w, uint32_t op) {
    const uint64_t *size = w->problem->size;
    uint64_t load = w->live, most = 0;
    for (uint32_t i = w->buffers_of.at[op]; i < w->buffers_of.at[op + 1]; i++) {
        if (!is_live(w, w->buffers_of.to[i])) load += size[w->buffers_of.to[i]];
    }
    for (uint32_t i = w->rights_of.at[op]; i < w->rights_of.at[op + 1]; i++) {
        const arenaut_order_right *r = &w->problem->rights[w->rights_of.to[i]];
        const bool holds =
            w->backward ? holds_now(w, r->over, r->made) : holds_now(w, r->made, r->over);
        if (holds && r->bytes > most) most = r->bytes;
    }
    return load - most;
}

/* One use more or less of each buffer of `op`. */
static void use(arn_order_walk *w, uint32_t op, bool ran) {
    const uint64_t *size = w->problem->size;
    w->ran[op] = ran;
    for (uint32_t i = w->buffers_of.at[op]; i < w->buffers_of.at[op + 1]; i++) {
        const uint32_t b = w->buffers_of.to[i];
        if (is_live(w, b)) w->live -= size[b];
        w->unused[b] += ran ? UINT32_MAX : 1;
        if (is_live(w, b)) w->live += size[b];
    }
}

void arn_order_walk_run(arn_order_walk *w, uint32_t op) {
    use(w, op, true);
    close_op(w, op);
    w->history[w->n_history++] = op;
    for (uint32_t i = w->dependents.at[op]; i < w->dependents.at[op + 1]; i++) {
        if (--w->pending[w->dependents.to[i]] == 0) open_op(w, w->dependents.to[i]);
    }
}

void arn_order_walk_undo(arn_order_walk *w) {
    const uint32_t op = w->history[--w->n_history];
    for (uint32_t i = w->dependents.at[op]; i < w->dependents.at[op + 1]; i++) {
        if (w->pending[w->dependents.to[i]]++ == 0) close_op(w, w->dependents.to[i]);
    }
    open_op(w, op);
    use(w, op, false);
}
