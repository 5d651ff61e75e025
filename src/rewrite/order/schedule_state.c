/* Making lists of neighbours from lists of pairs: counted, summed, filled in, each pair once. */
#include "rewrite/order/schedule_search.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"

/* Pairs of numbers in an array of structs. */
typedef struct pairs {
    const void *array;
    size_t stride, key, value; /* bytes */
    uint32_t n;
} pairs;

static uint32_t number_at(const pairs *p, uint32_t i, size_t field) {
    uint32_t number;
    memcpy(&number, (const uint8_t *)p->array + i * p->stride + field, sizeof number);
    return number;
}

/* Leaves out what stands in a list twice; numbers in it keep their order. */
static void drop_twins(arn_order_lists *lists, uint32_t n_keys, uint32_t *seen, uint32_t n_seen) {
    uint32_t to = 0, from = 0;
    for (uint32_t i = 0; i < n_seen; i++) seen[i] = ARENAUT_NONE;
    for (uint32_t key = 0; key < n_keys; key++) {
        const uint32_t end = lists->begin[key + 1];
        lists->begin[key] = to;
        for (; from < end; from++) {
            const uint32_t id = lists->ids[from];
            if (seen[id] == key) continue;
            seen[id] = key;
            lists->ids[to++] = id;
        }
    }
    lists->begin[n_keys] = to;
}

static bool make_lists(const arenaut_allocator *allocator, const pairs *p, uint32_t n_keys,
                       uint32_t n_values, arn_order_lists *lists) {
    lists->begin = arn_allocate_zeroed(allocator, (size_t)n_keys + 2, sizeof *lists->begin);
    lists->ids = arn_allocate(allocator, p->n, sizeof *lists->ids);
    uint32_t *seen = arn_allocate(allocator, n_values, sizeof *seen);
    const bool ok = lists->begin && lists->ids && seen;
    if (ok) {
        uint32_t *at = lists->begin + 1;
        for (uint32_t i = 0; i < p->n; i++) at[number_at(p, i, p->key) + 1]++;
        for (uint32_t key = 1; key <= n_keys; key++) at[key] += at[key - 1];
        for (uint32_t i = 0; i < p->n; i++) {
            lists->ids[at[number_at(p, i, p->key)]++] = number_at(p, i, p->value);
        }
        drop_twins(lists, n_keys, seen, n_values);
    }
    arn_release(allocator, seen);
    return ok;
}

static void free_lists(const arenaut_allocator *allocator, arn_order_lists *lists) {
    arn_release(allocator, lists->begin);
    arn_release(allocator, lists->ids);
}

static bool make_waits(arn_order_graph *g) {
    const arenaut_order_problem *p = g->problem;
    const size_t op = offsetof(arenaut_order_wait, op), first = offsetof(arenaut_order_wait, first);
    const pairs there = {p->waits, sizeof *p->waits, op, first, p->n_waits};
    const pairs back = {p->waits, sizeof *p->waits, first, op, p->n_waits};
    return make_lists(&g->allocator, g->backward ? &back : &there, g->n_ops, g->n_ops, &g->first) &&
           make_lists(&g->allocator, g->backward ? &there : &back, g->n_ops, g->n_ops, &g->next);
}

static bool make_uses(arn_order_graph *g) {
    const arenaut_order_problem *p = g->problem;
    const size_t op = offsetof(arenaut_order_use, op), buffer = offsetof(arenaut_order_use, buffer);
    const pairs there = {p->uses, sizeof *p->uses, op, buffer, p->n_uses};
    const pairs back = {p->uses, sizeof *p->uses, buffer, op, p->n_uses};
    return make_lists(&g->allocator, &there, g->n_ops, g->n_buffers, &g->uses) &&
           make_lists(&g->allocator, &back, g->n_buffers, g->n_ops, &g->users);
}

typedef struct numbered_right {
    uint32_t op, made, number;
} numbered_right;

static bool make_rights(arn_order_graph *g) {
    const arenaut_order_problem *p = g->problem;
    numbered_right *rows = arn_allocate(&g->allocator, p->n_rights, sizeof *rows);
    g->right = arn_allocate(&g->allocator, p->n_rights, sizeof *g->right);
    bool ok = rows && g->right;
    for (uint32_t i = 0; ok && i < p->n_rights; i++) {
        const arenaut_order_right r = p->rights[i];
        g->right[i] = g->backward ? (arenaut_order_right){r.op, r.over, r.made, r.bytes} : r;
        rows[i] = (numbered_right){r.op, g->right[i].made, i};
    }
    const pairs of_op = {rows, sizeof *rows, offsetof(numbered_right, op),
                         offsetof(numbered_right, number), p->n_rights};
    const pairs of_made = {rows, sizeof *rows, offsetof(numbered_right, made),
                           offsetof(numbered_right, op), p->n_rights};
    ok = ok && make_lists(&g->allocator, &of_op, g->n_ops, p->n_rights, &g->rights) &&
         make_lists(&g->allocator, &of_made, g->n_buffers, g->n_ops, &g->made_by);
    arn_release(&g->allocator, rows);
    return ok;
}

static uint8_t swapped(uint8_t held) { return (uint8_t)((held & 1) << 1 | held >> 1); }

static bool make_held(arn_order_graph *g) {
    g->held = arn_allocate_zeroed(&g->allocator, g->n_buffers, sizeof *g->held);
    if (!g->held) return false;
    for (uint32_t b = 0; b < g->n_buffers && g->problem->held; b++) {
        const uint8_t held = g->problem->held[b];
        g->held[b] = g->backward ? swapped(held) : held;
    }
    return true;
}

arenaut_status arn_order_graph_make(const arenaut_order_problem *problem, bool backward,
                                    const arenaut_allocator *allocator, arn_order_graph *graph,
                                    arenaut_error *err) {
    *graph = (arn_order_graph){.problem = problem,
                               .backward = backward,
                               .n_ops = problem->n_ops,
                               .n_buffers = problem->n_buffers,
                               .size = problem->size,
                               .allocator = arn_allocator_or_default(allocator)};
    if (make_held(graph) && make_uses(graph) && make_waits(graph) && make_rights(graph)) {
        return ARENAUT_OK;
    }
    arn_order_graph_free(graph);
    *graph = (arn_order_graph){0};
    return arn_no_memory(err);
}

void arn_order_graph_free(arn_order_graph *g) {
    arn_order_lists *lists[] = {&g->uses, &g->users, &g->first, &g->next, &g->rights, &g->made_by};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free_lists(&g->allocator, lists[i]);
    arn_release(&g->allocator, g->held);
    arn_release(&g->allocator, g->right);
}

static arenaut_status out_of_range(arenaut_error *err, const char *what, uint32_t i) {
    return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                    "%s %" PRIu32 " names an op or a buffer that does not exist", what, i);
}

static arenaut_status validate_rights(const arenaut_order_problem *p, arenaut_error *err) {
    for (uint32_t i = 0; i < p->n_rights; i++) {
        const arenaut_order_right *r = &p->rights[i];
        if (r->op >= p->n_ops || r->made >= p->n_buffers || r->over >= p->n_buffers ||
            r->made == r->over) {
            return out_of_range(err, "right", i);
        }
        if (r->bytes > p->size[r->made]) {
            return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                            "right %" PRIu32 " saves more than its buffer has", i);
        }
    }
    return ARENAUT_OK;
}

arenaut_status arn_order_validate(const arenaut_order_problem *p, arenaut_error *err) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arn_add(sum, p->size[b], &sum)) continue;
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the buffers are too large to be added");
    }
    for (uint32_t i = 0; i < p->n_uses; i++) {
        if (p->uses[i].op < p->n_ops && p->uses[i].buffer < p->n_buffers) continue;
        return out_of_range(err, "use", i);
    }
    for (uint32_t i = 0; i < p->n_waits; i++) {
        const arenaut_order_wait *w = &p->waits[i];
        if (w->op >= p->n_ops || w->first >= p->n_ops) return out_of_range(err, "wait", i);
        if (w->first < w->op) continue;
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "op %" PRIu32 " waits for op %" PRIu32 ", which runs later today", w->op,
                        w->first);
    }
    return validate_rights(p, err);
}

/* ======== */
/* Running one op, and taking it back. */

/* Puts an op among those that are light, or takes it out, whichever is due. */
static void weigh(arn_order_state *s, uint32_t op) {
    const bool is = s->light_place[op] != ARENAUT_NONE;
    const bool should = s->place[op] != ARENAUT_NONE && s->opens[op] <= s->closes[op];
    if (is == should) return;
    if (should) {
        s->light_place[op] = s->n_light;
        s->light[s->n_light++] = op;
        return;
    }
    const uint32_t at = s->light_place[op], last = s->light[--s->n_light];
    s->light[at] = last;
    s->light_place[last] = at;
    s->light_place[op] = ARENAUT_NONE;
}

static void make_ready(arn_order_state *s, uint32_t op) {
    s->place[op] = s->n_ready;
    s->ready[s->n_ready++] = op;
    weigh(s, op);
}

/* The last one takes its place; `put_back` undoes that. */
static void take_out(arn_order_state *s, uint32_t op) {
    const uint32_t at = s->place[op], last = s->ready[--s->n_ready];
    s->ready[at] = last;
    s->place[last] = at;
    s->spot[op] = at;
    s->place[op] = ARENAUT_NONE;
    weigh(s, op);
}

static void put_back(arn_order_state *s, uint32_t op) {
    const uint32_t at = s->spot[op];
    if (at < s->n_ready) {
        const uint32_t moved = s->ready[at];
        s->ready[s->n_ready] = moved;
        s->place[moved] = s->n_ready;
    }
    s->n_ready++;
    s->ready[at] = op;
    s->place[op] = at;
    weigh(s, op);
}

/* All users of a buffer that is not alive yet bring it to life; the first one does it for all. */
static void count_opening(arn_order_state *s, uint32_t buffer, bool back) {
    const arn_order_graph *g = s->graph;
    const uint64_t size = g->size[buffer];
    for (uint32_t i = g->users.begin[buffer]; i < g->users.begin[buffer + 1]; i++) {
        if (back) s->opens[g->users.ids[i]] += size;
        else s->opens[g->users.ids[i]] -= size;
        weigh(s, g->users.ids[i]);
    }
    if (back) s->live -= size;
    else s->live += size;
}

/* The one user that is left closes the buffer, or does so no more. */
static void count_closing(arn_order_state *s, uint32_t buffer, bool back) {
    const uint32_t op = s->left_xor[buffer];
    if (back) s->closes[op] -= s->graph->size[buffer];
    else s->closes[op] += s->graph->size[buffer];
    weigh(s, op);
}

static void count_work(arn_order_state *s, uint32_t op) {
    const arn_order_graph *g = s->graph;
    const uint32_t *uses = g->uses.begin + op, *next = g->next.begin + op;
    s->work++;
    arn_budget_spend(s->budget, 1 + uses[1] - uses[0] + next[1] - next[0]);
}

void arn_order_run(arn_order_state *s, uint32_t op) {
    const arn_order_graph *g = s->graph;
    take_out(s, op);
    s->ran[s->n_ran++] = op;
    count_work(s, op);
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        const uint32_t b = g->uses.ids[i];
        const bool before = g->held[b] & ARENAUT_HELD_BEFORE,
                   after = g->held[b] & ARENAUT_HELD_AFTER;
        if (!before && arn_order_untouched(s, b)) count_opening(s, b, false);
        s->left[b]--;
        s->left_xor[b] ^= op;
        if (after) continue;
        if (s->left[b] == 1) count_closing(s, b, false);
        if (s->left[b] == 0) s->live -= g->size[b];
    }
    for (uint32_t i = g->next.begin[op]; i < g->next.begin[op + 1]; i++) {
        if (--s->pending[g->next.ids[i]] == 0) make_ready(s, g->next.ids[i]);
    }
}

static void take_back_one(arn_order_state *s) {
    const arn_order_graph *g = s->graph;
    const uint32_t op = s->ran[--s->n_ran];
    count_work(s, op);
    for (uint32_t i = g->next.begin[op + 1]; i-- > g->next.begin[op];) {
        const uint32_t next = g->next.ids[i];
        if (s->pending[next]++ != 0) continue;
        s->n_ready--;
        s->place[next] = ARENAUT_NONE;
        weigh(s, next);
    }
    for (uint32_t i = g->uses.begin[op + 1]; i-- > g->uses.begin[op];) {
        const uint32_t b = g->uses.ids[i];
        const bool before = g->held[b] & ARENAUT_HELD_BEFORE,
                   after = g->held[b] & ARENAUT_HELD_AFTER;
        if (!after && s->left[b] == 0) s->live += g->size[b];
        if (!after && s->left[b] == 1) count_closing(s, b, true);
        s->left[b]++;
        s->left_xor[b] ^= op;
        if (!before && arn_order_untouched(s, b)) count_opening(s, b, true);
    }
    put_back(s, op);
}

void arn_order_take_back(arn_order_state *s, uint32_t n_ran) {
    while (s->n_ran > n_ran) take_back_one(s);
}

uint64_t arn_order_credit(const arn_order_state *s, uint32_t op) {
    const arn_order_graph *g = s->graph;
    uint64_t credit = 0;
    for (uint32_t i = g->rights.begin[op]; i < g->rights.begin[op + 1]; i++) {
        const arenaut_order_right r = g->right[g->rights.ids[i]];
        if ((g->held[r.made] & ARENAUT_HELD_BEFORE) || (g->held[r.over] & ARENAUT_HELD_AFTER) ||
            !arn_order_untouched(s, r.made) || s->left[r.over] != 1) {
            continue;
        }
        credit = arn_max_u64(credit, r.bytes);
    }
    return credit;
}

/* Whether an op that has yet to run may only write `buffer` over another one as long as nothing
 * has used it. */
static bool is_wanted_whole(const arn_order_state *s, uint32_t buffer, uint32_t by) {
    const arn_order_graph *g = s->graph;
    for (uint32_t i = g->made_by.begin[buffer]; i < g->made_by.begin[buffer + 1]; i++) {
        if (g->made_by.ids[i] != by) return arn_order_untouched(s, buffer);
    }
    return false;
}

bool arn_order_is_safe(const arn_order_state *s, uint32_t op, uint64_t limit) {
    const arn_order_graph *g = s->graph;
    if (s->opens[op] > s->closes[op] || arn_order_load(s, op) > limit) return false;
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        if (is_wanted_whole(s, g->uses.ids[i], op)) return false;
    }
    return true;
}

/* What is alive at first, and what each op would open and close. */
static void fill_in(arn_order_state *s) {
    const arn_order_graph *g = s->graph;
    for (uint32_t op = 0; op < g->n_ops; op++) {
        s->place[op] = s->light_place[op] = ARENAUT_NONE;
    }
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        const bool before = g->held[b] & ARENAUT_HELD_BEFORE,
                   after = g->held[b] & ARENAUT_HELD_AFTER;
        s->left[b] = g->users.begin[b + 1] - g->users.begin[b];
        if (before && (after || s->left[b] > 0)) s->live += g->size[b];
        for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
            s->left_xor[b] ^= g->users.ids[i];
            if (!before) s->opens[g->users.ids[i]] += g->size[b];
        }
        if (!after && s->left[b] == 1) s->closes[s->left_xor[b]] += g->size[b];
    }
    for (uint32_t op = 0; op < g->n_ops; op++) {
        s->pending[op] = g->first.begin[op + 1] - g->first.begin[op];
        if (s->pending[op] == 0) make_ready(s, op);
    }
}

arenaut_status arn_order_state_make(const arn_order_graph *g, arn_budget *budget,
                                    arn_order_state *state, arenaut_error *err) {
    const arenaut_allocator *a = &g->allocator;
    const size_t ops = g->n_ops, buffers = g->n_buffers;
    arn_order_state s = {.graph = g, .budget = budget};
    s.ran = arn_allocate(a, ops, sizeof *s.ran);
    s.ready = arn_allocate(a, ops, sizeof *s.ready);
    s.place = arn_allocate(a, ops, sizeof *s.place);
    s.spot = arn_allocate(a, ops, sizeof *s.spot);
    s.light = arn_allocate(a, ops, sizeof *s.light);
    s.light_place = arn_allocate(a, ops, sizeof *s.light_place);
    s.pending = arn_allocate(a, ops, sizeof *s.pending);
    s.left = arn_allocate(a, buffers, sizeof *s.left);
    s.left_xor = arn_allocate_zeroed(a, buffers, sizeof *s.left_xor);
    s.opens = arn_allocate_zeroed(a, ops, sizeof *s.opens);
    s.closes = arn_allocate_zeroed(a, ops, sizeof *s.closes);
    if (!s.ran || !s.ready || !s.place || !s.spot || !s.light || !s.light_place || !s.pending ||
        !s.left || !s.left_xor || !s.opens || !s.closes) {
        arn_order_state_free(&s);
        return arn_no_memory(err);
    }
    fill_in(&s);
    *state = s;
    return ARENAUT_OK;
}

void arn_order_state_free(arn_order_state *s) {
    if (!s->graph) return;
    void *const blocks[] = {s->ran,     s->ready, s->place,    s->spot,  s->light, s->light_place,
                            s->pending, s->left,  s->left_xor, s->opens, s->closes};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        arn_release(&s->graph->allocator, blocks[i]);
    }
}
