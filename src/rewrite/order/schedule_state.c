/* The scheduling problem as a graph, and partial schedules in it that are extended and undone op by
 * op. Adjacency lists are made from pairs by counting sort. A step costs O(buffers and successors
 * of the op), and O(users) for a first use. */
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

/* Removes duplicates from each list, stably. */
static void drop_twins(arn_adjacency *lists, uint32_t n_keys, uint32_t *seen, uint32_t n_seen) {
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

/* Pairs by their key, each once. */
static bool make_lists(arn_region *region, const pairs *p, uint32_t n_keys, uint32_t n_values,
                       arn_adjacency *lists) {
    uint32_t *seen;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(lists->begin, (size_t)n_keys + 2),
                           ARN_ARRAY(lists->ids, p->n), ARN_ARRAY(seen, n_values))) {
        return false;
    }
    uint32_t *at = lists->begin + 1;
    for (uint32_t i = 0; i < p->n; i++) at[number_at(p, i, p->key) + 1]++;
    for (uint32_t key = 1; key <= n_keys; key++) at[key] += at[key - 1];
    for (uint32_t i = 0; i < p->n; i++) {
        lists->ids[at[number_at(p, i, p->key)]++] = number_at(p, i, p->value);
    }
    drop_twins(lists, n_keys, seen, n_values);
    return true;
}

static bool make_dependences(arn_schedule_graph *g) {
    const arenaut_order_problem *p = g->problem;
    const size_t op = offsetof(arenaut_order_dependence, op),
                 first = offsetof(arenaut_order_dependence, first);
    const pairs there = {p->dependences, sizeof *p->dependences, op, first, p->n_dependences};
    const pairs back = {p->dependences, sizeof *p->dependences, first, op, p->n_dependences};
    return make_lists(&g->region, g->backward ? &back : &there, g->n_ops, g->n_ops,
                      &g->predecessors) &&
           make_lists(&g->region, g->backward ? &there : &back, g->n_ops, g->n_ops, &g->successors);
}

static bool make_uses(arn_schedule_graph *g) {
    const arenaut_order_problem *p = g->problem;
    const size_t op = offsetof(arenaut_order_use, op), buffer = offsetof(arenaut_order_use, buffer);
    const pairs there = {p->uses, sizeof *p->uses, op, buffer, p->n_uses};
    const pairs back = {p->uses, sizeof *p->uses, buffer, op, p->n_uses};
    return make_lists(&g->region, &there, g->n_ops, g->n_buffers, &g->uses) &&
           make_lists(&g->region, &back, g->n_buffers, g->n_ops, &g->users);
}

typedef struct numbered_right {
    uint32_t op, made, number;
} numbered_right;

static bool make_rights(arn_schedule_graph *g) {
    const arenaut_order_problem *p = g->problem;
    numbered_right *rows;
    bool ok = ARN_REGION_ARRAYS(&g->region, ARN_ARRAY(rows, p->n_rights),
                                ARN_ARRAY(g->right, p->n_rights));
    for (uint32_t i = 0; ok && i < p->n_rights; i++) {
        const arenaut_order_right r = p->rights[i];
        g->right[i] = g->backward ? (arenaut_order_right){r.op, r.over, r.made, r.bytes} : r;
        rows[i] = (numbered_right){r.op, g->right[i].made, i};
    }
    const pairs of_op = {rows, sizeof *rows, offsetof(numbered_right, op),
                         offsetof(numbered_right, number), p->n_rights};
    const pairs of_made = {rows, sizeof *rows, offsetof(numbered_right, made),
                           offsetof(numbered_right, op), p->n_rights};
    ok = ok && make_lists(&g->region, &of_op, g->n_ops, p->n_rights, &g->rights) &&
         make_lists(&g->region, &of_made, g->n_buffers, g->n_ops, &g->made_by);
    return ok;
}

static uint8_t swapped(uint8_t boundary) { return (uint8_t)((boundary & 1) << 1 | boundary >> 1); }

static bool make_boundary(arn_schedule_graph *g) {
    if (!ARN_REGION_ARRAYS(&g->region, ARN_ARRAY(g->boundary, g->n_buffers))) return false;
    for (uint32_t b = 0; b < g->n_buffers && g->problem->boundary; b++) {
        const uint8_t boundary = g->problem->boundary[b];
        g->boundary[b] = g->backward ? swapped(boundary) : boundary;
    }
    return true;
}

arenaut_status arn_schedule_graph_make(const arenaut_order_problem *problem, bool backward,
                                       const arenaut_allocator *allocator,
                                       arn_schedule_graph *graph, arenaut_error *err) {
    *graph = (arn_schedule_graph){.problem = problem,
                                  .backward = backward,
                                  .n_ops = problem->n_ops,
                                  .n_buffers = problem->n_buffers,
                                  .size = problem->size,
                                  .allocator = arn_allocator_or_default(allocator)};
    arn_region_init(&graph->region, &graph->allocator);
    if (make_boundary(graph) && make_uses(graph) && make_dependences(graph) && make_rights(graph)) {
        return ARENAUT_OK;
    }
    arn_schedule_graph_free(graph);
    *graph = (arn_schedule_graph){0};
    return arn_no_memory(err);
}

void arn_schedule_graph_free(arn_schedule_graph *g) { arn_region_free(&g->region); }

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

arenaut_status arn_schedule_validate(const arenaut_order_problem *p, arenaut_error *err) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (arn_add(sum, p->size[b], &sum)) continue;
        return arn_fail(err, ARENAUT_TOO_LARGE, 0, "the buffers are too large to be added");
    }
    for (uint32_t i = 0; i < p->n_uses; i++) {
        if (p->uses[i].op < p->n_ops && p->uses[i].buffer < p->n_buffers) continue;
        return out_of_range(err, "use", i);
    }
    for (uint32_t i = 0; i < p->n_dependences; i++) {
        const arenaut_order_dependence *w = &p->dependences[i];
        if (w->op >= p->n_ops || w->first >= p->n_ops) return out_of_range(err, "dependence", i);
        if (w->first < w->op) continue;
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "op %" PRIu32 " depends on op %" PRIu32
                        ", which is later in the given order",
                        w->op, w->first);
    }
    return validate_rights(p, err);
}

/* ---- partial schedules ---- */

/* Inserts an op into the list of light ops, or removes it. */
static void weigh(arn_schedule_state *s, uint32_t op) {
    const bool is = s->light_place[op] != ARENAUT_NONE;
    const bool should = s->place[op] != ARENAUT_NONE && s->allocates[op] <= s->frees[op];
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

static void make_ready(arn_schedule_state *s, uint32_t op) {
    s->place[op] = s->n_ready;
    s->ready[s->n_ready++] = op;
    weigh(s, op);
}

/* Swap with the last; `put_back` undoes it. */
static void take_out(arn_schedule_state *s, uint32_t op) {
    const uint32_t at = s->place[op], last = s->ready[--s->n_ready];
    s->ready[at] = last;
    s->place[last] = at;
    s->spot[op] = at;
    s->place[op] = ARENAUT_NONE;
    weigh(s, op);
}

static void put_back(arn_schedule_state *s, uint32_t op) {
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

/* Any user of an unused buffer would allocate it; the first one does so for all. */
static void count_allocation(arn_schedule_state *s, uint32_t buffer, bool back) {
    const arn_schedule_graph *g = s->graph;
    const uint64_t size = g->size[buffer];
    for (uint32_t i = g->users.begin[buffer]; i < g->users.begin[buffer + 1]; i++) {
        if (back) s->allocates[g->users.ids[i]] += size;
        else s->allocates[g->users.ids[i]] -= size;
        weigh(s, g->users.ids[i]);
    }
    if (back) s->live -= size;
    else s->live += size;
}

/* The last remaining user would free the buffer; `back`: no longer. */
static void count_free(arn_schedule_state *s, uint32_t buffer, bool back) {
    const uint32_t op = s->left_xor[buffer];
    if (back) s->frees[op] -= s->graph->size[buffer];
    else s->frees[op] += s->graph->size[buffer];
    weigh(s, op);
}

static void spend(arn_schedule_state *s, uint32_t op) {
    const arn_schedule_graph *g = s->graph;
    const uint32_t *uses = g->uses.begin + op, *next = g->successors.begin + op;
    s->spent++;
    arn_budget_spend(s->budget, 1 + uses[1] - uses[0] + next[1] - next[0]);
}

void arn_schedule_run(arn_schedule_state *s, uint32_t op) {
    const arn_schedule_graph *g = s->graph;
    take_out(s, op);
    s->ran[s->n_ran++] = op;
    spend(s, op);
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        const uint32_t b = g->uses.ids[i];
        const bool before = g->boundary[b] & ARENAUT_LIVE_IN,
                   after = g->boundary[b] & ARENAUT_LIVE_OUT;
        if (!before && arn_schedule_is_unused(s, b)) count_allocation(s, b, false);
        s->left[b]--;
        s->left_xor[b] ^= op;
        if (after) continue;
        if (s->left[b] == 1) count_free(s, b, false);
        if (s->left[b] == 0) s->live -= g->size[b];
    }
    for (uint32_t i = g->successors.begin[op]; i < g->successors.begin[op + 1]; i++) {
        if (--s->pending[g->successors.ids[i]] == 0) make_ready(s, g->successors.ids[i]);
    }
}

static void take_back_one(arn_schedule_state *s) {
    const arn_schedule_graph *g = s->graph;
    const uint32_t op = s->ran[--s->n_ran];
    spend(s, op);
    for (uint32_t i = g->successors.begin[op + 1]; i-- > g->successors.begin[op];) {
        const uint32_t next = g->successors.ids[i];
        if (s->pending[next]++ != 0) continue;
        s->n_ready--;
        s->place[next] = ARENAUT_NONE;
        weigh(s, next);
    }
    for (uint32_t i = g->uses.begin[op + 1]; i-- > g->uses.begin[op];) {
        const uint32_t b = g->uses.ids[i];
        const bool before = g->boundary[b] & ARENAUT_LIVE_IN,
                   after = g->boundary[b] & ARENAUT_LIVE_OUT;
        if (!after && s->left[b] == 0) s->live += g->size[b];
        if (!after && s->left[b] == 1) count_free(s, b, true);
        s->left[b]++;
        s->left_xor[b] ^= op;
        if (!before && arn_schedule_is_unused(s, b)) count_allocation(s, b, true);
    }
    put_back(s, op);
}

void arn_schedule_undo(arn_schedule_state *s, uint32_t n_ran) {
    while (s->n_ran > n_ran) take_back_one(s);
}

uint64_t arn_schedule_reuse(const arn_schedule_state *s, uint32_t op) {
    const arn_schedule_graph *g = s->graph;
    uint64_t credit = 0;
    for (uint32_t i = g->rights.begin[op]; i < g->rights.begin[op + 1]; i++) {
        const arenaut_order_right r = g->right[g->rights.ids[i]];
        if ((g->boundary[r.made] & ARENAUT_LIVE_IN) || (g->boundary[r.over] & ARENAUT_LIVE_OUT) ||
            !arn_schedule_is_unused(s, r.made) || s->left[r.over] != 1) {
            continue;
        }
        credit = arn_max_u64(credit, r.bytes);
    }
    return credit;
}

/* Whether a remaining op can write `buffer` over another one only while it is unused. */
static bool is_wanted_whole(const arn_schedule_state *s, uint32_t buffer, uint32_t by) {
    const arn_schedule_graph *g = s->graph;
    for (uint32_t i = g->made_by.begin[buffer]; i < g->made_by.begin[buffer + 1]; i++) {
        if (g->made_by.ids[i] != by) return arn_schedule_is_unused(s, buffer);
    }
    return false;
}

bool arn_schedule_is_safe(const arn_schedule_state *s, uint32_t op, uint64_t limit) {
    const arn_schedule_graph *g = s->graph;
    if (s->allocates[op] > s->frees[op] || arn_schedule_load(s, op) > limit) return false;
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        if (is_wanted_whole(s, g->uses.ids[i], op)) return false;
    }
    return true;
}

/* The live bytes at the start, and the bytes that each op would allocate and free. */
static void fill_in(arn_schedule_state *s) {
    const arn_schedule_graph *g = s->graph;
    for (uint32_t op = 0; op < g->n_ops; op++) {
        s->place[op] = s->light_place[op] = ARENAUT_NONE;
    }
    for (uint32_t b = 0; b < g->n_buffers; b++) {
        const bool before = g->boundary[b] & ARENAUT_LIVE_IN,
                   after = g->boundary[b] & ARENAUT_LIVE_OUT;
        s->left[b] = g->users.begin[b + 1] - g->users.begin[b];
        if (before && (after || s->left[b] > 0)) s->live += g->size[b];
        for (uint32_t i = g->users.begin[b]; i < g->users.begin[b + 1]; i++) {
            s->left_xor[b] ^= g->users.ids[i];
            if (!before) s->allocates[g->users.ids[i]] += g->size[b];
        }
        if (!after && s->left[b] == 1) s->frees[s->left_xor[b]] += g->size[b];
    }
    for (uint32_t op = 0; op < g->n_ops; op++) {
        s->pending[op] = g->predecessors.begin[op + 1] - g->predecessors.begin[op];
        if (s->pending[op] == 0) make_ready(s, op);
    }
}

arenaut_status arn_schedule_state_make(const arn_schedule_graph *g, arn_budget *budget,
                                       arn_schedule_state *state, arenaut_error *err) {
    const size_t ops = g->n_ops, buffers = g->n_buffers;
    arn_schedule_state s = {.graph = g, .budget = budget};
    arn_region_init(&s.region, &g->allocator);
    if (!ARN_REGION_ARRAYS(&s.region, ARN_ARRAY(s.ran, ops), ARN_ARRAY(s.ready, ops),
                           ARN_ARRAY(s.place, ops), ARN_ARRAY(s.spot, ops), ARN_ARRAY(s.light, ops),
                           ARN_ARRAY(s.light_place, ops), ARN_ARRAY(s.pending, ops),
                           ARN_ARRAY(s.left, buffers), ARN_ARRAY(s.left_xor, buffers),
                           ARN_ARRAY(s.allocates, ops), ARN_ARRAY(s.frees, ops))) {
        arn_region_free(&s.region);
        return arn_no_memory(err);
    }
    fill_in(&s);
    *state = s;
    return ARENAUT_OK;
}

void arn_schedule_state_free(arn_schedule_state *s) {
    if (s->graph) arn_region_free(&s->region);
}
