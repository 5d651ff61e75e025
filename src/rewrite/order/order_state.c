/* Running one op, and taking it back. */
#include "rewrite/order/order_state.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"

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
