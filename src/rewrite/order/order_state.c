/* Running one op, and taking it back. */
#include "rewrite/order/order_state.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"

static void make_ready(arn_order_state *s, uint32_t op) {
    s->place[op] = s->n_ready;
    s->ready[s->n_ready++] = op;
}

/* The last one takes its place; `put_back` undoes that. */
static void take_out(arn_order_state *s, uint32_t op) {
    const uint32_t at = s->place[op], last = s->ready[--s->n_ready];
    s->ready[at] = last;
    s->place[last] = at;
    s->spot[op] = at;
    s->place[op] = ARENAUT_NONE;
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
}

/* All users of a buffer that is not alive yet bring it to life; the first one does it for all. */
static void count_opening(arn_order_state *s, uint32_t buffer, bool back) {
    const arn_order_graph *g = s->graph;
    const uint64_t size = g->size[buffer];
    for (uint32_t i = g->users.begin[buffer]; i < g->users.begin[buffer + 1]; i++) {
        if (back) s->opens[g->users.ids[i]] += size;
        else s->opens[g->users.ids[i]] -= size;
    }
    if (back) s->live -= size;
    else s->live += size;
}

void arn_order_run(arn_order_state *s, uint32_t op) {
    const arn_order_graph *g = s->graph;
    take_out(s, op);
    s->ran[s->n_ran++] = op;
    s->work++;
    for (uint32_t i = g->uses.begin[op]; i < g->uses.begin[op + 1]; i++) {
        const uint32_t b = g->uses.ids[i];
        const bool before = g->held[b] & ARENAUT_HELD_BEFORE,
                   after = g->held[b] & ARENAUT_HELD_AFTER;
        if (!before && arn_order_untouched(s, b)) count_opening(s, b, false);
        s->left[b]--;
        s->left_xor[b] ^= op;
        if (after) continue;
        if (s->left[b] == 1) s->closes[s->left_xor[b]] += g->size[b];
        if (s->left[b] == 0) s->live -= g->size[b];
    }
    for (uint32_t i = g->next.begin[op]; i < g->next.begin[op + 1]; i++) {
        if (--s->pending[g->next.ids[i]] == 0) make_ready(s, g->next.ids[i]);
    }
}

static void take_back_one(arn_order_state *s) {
    const arn_order_graph *g = s->graph;
    const uint32_t op = s->ran[--s->n_ran];
    s->work++;
    for (uint32_t i = g->next.begin[op + 1]; i-- > g->next.begin[op];) {
        const uint32_t next = g->next.ids[i];
        if (s->pending[next]++ != 0) continue;
        s->n_ready--;
        s->place[next] = ARENAUT_NONE;
    }
    for (uint32_t i = g->uses.begin[op + 1]; i-- > g->uses.begin[op];) {
        const uint32_t b = g->uses.ids[i];
        const bool before = g->held[b] & ARENAUT_HELD_BEFORE,
                   after = g->held[b] & ARENAUT_HELD_AFTER;
        if (!after && s->left[b] == 0) s->live += g->size[b];
        if (!after && s->left[b] == 1) s->closes[s->left_xor[b]] -= g->size[b];
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
        credit = arn_max_u64(credit, arn_min_u64(g->size[r.made], g->size[r.over]));
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
        s->pending[op] = g->first.begin[op + 1] - g->first.begin[op];
        s->place[op] = ARENAUT_NONE;
        if (s->pending[op] == 0) make_ready(s, op);
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
}

arenaut_status arn_order_state_make(const arn_order_graph *g, arn_order_state *state,
                                    arenaut_error *err) {
    const arenaut_allocator *a = &g->allocator;
    const size_t ops = g->n_ops, buffers = g->n_buffers;
    arn_order_state s = {.graph = g};
    s.ran = arn_allocate(a, ops, sizeof *s.ran);
    s.ready = arn_allocate(a, ops, sizeof *s.ready);
    s.place = arn_allocate(a, ops, sizeof *s.place);
    s.spot = arn_allocate(a, ops, sizeof *s.spot);
    s.pending = arn_allocate(a, ops, sizeof *s.pending);
    s.left = arn_allocate(a, buffers, sizeof *s.left);
    s.left_xor = arn_allocate_zeroed(a, buffers, sizeof *s.left_xor);
    s.opens = arn_allocate_zeroed(a, ops, sizeof *s.opens);
    s.closes = arn_allocate_zeroed(a, ops, sizeof *s.closes);
    if (!s.ran || !s.ready || !s.place || !s.spot || !s.pending || !s.left || !s.left_xor ||
        !s.opens || !s.closes) {
        arn_order_state_free(&s);
        return arn_no_memory(err);
    }
    fill_in(&s);
    *state = s;
    return ARENAUT_OK;
}

void arn_order_state_free(arn_order_state *s) {
    if (!s->graph) return;
    void *const blocks[] = {s->ran,  s->ready,    s->place, s->spot,  s->pending,
                            s->left, s->left_xor, s->opens, s->closes};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        arn_release(&s->graph->allocator, blocks[i]);
    }
}
