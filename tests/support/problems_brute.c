/* The rules, and a search through all places. */
#include "support/problems_brute.h"

#include <stddef.h>

/* ---- conflicts ---- */

bool brute_needs_memory(const brute_problem *p, int b) {
    bool lives = false;
    for (int i = 0; i < p->buffer[b].n_lives; i++) {
        lives = lives || p->buffer[b].first[i] < p->buffer[b].end[i];
    }
    return lives && p->buffer[b].size > 0;
}

static bool alive_at(const brute_problem *p, int b, int step) {
    for (int i = 0; i < p->buffer[b].n_lives; i++) {
        if (p->buffer[b].first[i] <= step && step < p->buffer[b].end[i]) return true;
    }
    return false;
}

/* If two lives meet, one of them begins while the other lasts. */
static bool alive_together(const brute_problem *p, int a, int b) {
    for (int i = 0; i < p->buffer[a].n_lives; i++) {
        const int step = p->buffer[a].first[i];
        if (alive_at(p, a, step) && alive_at(p, b, step)) return true;
    }
    for (int i = 0; i < p->buffer[b].n_lives; i++) {
        const int step = p->buffer[b].first[i];
        if (alive_at(p, a, step) && alive_at(p, b, step)) return true;
    }
    return false;
}

static bool have_edge(const brute_problem *p, int a, int b) {
    for (int i = 0; i < p->n_edges; i++) {
        if (p->edge[i].a == a && p->edge[i].b == b) return true;
        if (p->edge[i].a == b && p->edge[i].b == a) return true;
    }
    return false;
}

static bool lies_within(const brute_problem *p, int slice, int host) {
    for (int at = p->buffer[slice].inside; at != BRUTE_NOTHING; at = p->buffer[at].inside) {
        if (at == host) return true;
    }
    return false;
}

static bool share_bytes(const brute_problem *p, const brute_places *at, int a, int b) {
    return at->pool[a] == at->pool[b] && at->offset[a] < at->offset[b] + p->buffer[b].size &&
           at->offset[b] < at->offset[a] + p->buffer[a].size;
}

/* ---- the rules ---- */

static bool are_separated(const brute_problem *p, const brute_places *at, int upper, int lower) {
    for (int i = 0; i < p->n_separations; i++) {
        if (p->separation[i].upper != upper || p->separation[i].lower != lower) continue;
        if (at->offset[upper] - at->offset[lower] >= p->separation[i].distance) return true;
    }
    return false;
}

static const char *fault_of_two(const brute_problem *p, const brute_places *at, int a, int b) {
    const bool same_start = at->offset[a] == at->offset[b];
    if (!share_bytes(p, at, a, b)) return NULL;
    if (p->tokens && !same_start) return "two buffers share a part of a token";
    if (!alive_together(p, a, b) && !have_edge(p, a, b)) return NULL;
    if (lies_within(p, a, b) || lies_within(p, b, a)) return NULL;
    if (same_start && (p->buffer[a].same_base == b || p->buffer[b].same_base == a)) return NULL;
    if (are_separated(p, at, a, b) || are_separated(p, at, b, a)) return NULL;
    return "two buffers that are in use at once share bytes";
}

static const char *fault_of_slice(const brute_problem *p, const brute_places *at, int b) {
    int delta = 0;
    for (int slice = b; p->buffer[slice].inside != BRUTE_NOTHING; slice = p->buffer[slice].inside) {
        const int host = p->buffer[slice].inside;
        delta += p->buffer[slice].delta;
        if (!brute_needs_memory(p, host)) continue;
        if (at->pool[host] != at->pool[b] || at->offset[host] + delta != at->offset[b]) {
            return "a slice does not lie at its place in its host";
        }
    }
    return NULL;
}

static const char *fault_of_one(const brute_problem *p, const brute_places *at, int b) {
    const brute_buffer *buffer = &p->buffer[b];
    const int pool = at->pool[b], first = at->offset[b], end = first + buffer->size;
    if (pool < 0 || pool >= p->n_pools || !(buffer->pools >> pool & 1)) return "a wrong pool";
    if (first < 0 || first % buffer->align != 0) return "an offset that is not aligned";
    if (buffer->fixed != BRUTE_NOTHING && buffer->fixed != first) return "a fixed offset not kept";
    const int align = p->pool[pool].align, arena = (end + align - 1) / align * align;
    if (p->pool[pool].capacity != BRUTE_NOTHING && arena > p->pool[pool].capacity) {
        return "a capacity is passed";
    }
    for (int i = 0; i < p->n_ranges; i++) {
        const bool here = p->range[i].pool == pool;
        if (here && p->range[i].first < end && first < p->range[i].end) {
            return "a reserved range is touched";
        }
    }
    return fault_of_slice(p, at, b);
}

const char *brute_fault(const brute_problem *p, const brute_places *at) {
    for (int b = 0; b < p->n_buffers; b++) {
        if (!brute_needs_memory(p, b)) continue;
        const char *fault = fault_of_one(p, at, b);
        for (int a = 0; a < b && !fault; a++) {
            if (brute_needs_memory(p, a)) fault = fault_of_two(p, at, a, b);
        }
        if (fault) return fault;
    }
    return NULL;
}

static int round_up(int value, int align) { return (value + align - 1) / align * align; }

int brute_arena(const brute_problem *p, const brute_places *at, int pool) {
    int top = 0;
    for (int b = 0; b < p->n_buffers; b++) {
        if (!brute_needs_memory(p, b) || at->pool[b] != pool) continue;
        const int end = at->offset[b] + p->buffer[b].size;
        if (end > top) top = end;
    }
    return round_up(top, p->pool[pool].align);
}

long brute_spill(const brute_problem *p, const brute_places *at) {
    long spill = 0;
    for (int b = 0; b < p->n_buffers && !p->spills_free; b++) {
        if (!brute_needs_memory(p, b)) continue;
        for (int k = 0; k < at->pool[b]; k++) {
            const int uses = p->buffer[b].uses ? p->buffer[b].uses : 1;
            if (p->buffer[b].pools >> k & 1) spill += (long)p->buffer[b].size * uses;
        }
    }
    return spill;
}

long brute_cost(const brute_problem *p, const brute_places *at) {
    long cost = BRUTE_SPILL * brute_spill(p, at);
    for (int k = 0; k < p->n_pools; k++) cost += brute_arena(p, at, k);
    return cost;
}

/* ---- the search ---- */

typedef struct search {
    const brute_problem *p;
    brute_places at;          /* NOTHING: not placed yet */
    int order[BRUTE_BUFFERS]; /* buffers to place: those that lie in no host with memory */
    int n;
    int host[BRUTE_BUFFERS]; /* per buffer: the buffer that it is placed with; itself, or NOTHING */
    int delta[BRUTE_BUFFERS];
    long below, *tries;
    int highest; /* no offset above this need be tried */
} search;

/* The outermost host that has memory, and the distance from its start. */
static void find_host(search *s, int b) {
    int delta = 0;
    s->host[b] = b;
    s->delta[b] = 0;
    for (int at = b; s->p->buffer[at].inside != BRUTE_NOTHING;) {
        delta += s->p->buffer[at].delta;
        at = s->p->buffer[at].inside;
        if (!brute_needs_memory(s->p, at)) continue;
        s->host[b] = at;
        s->delta[b] = delta;
    }
}

static bool comes_before(const brute_problem *p, int a, int b) {
    const bool fixed_a = p->buffer[a].fixed != BRUTE_NOTHING;
    const bool fixed_b = p->buffer[b].fixed != BRUTE_NOTHING;
    if (fixed_a != fixed_b) return fixed_a;
    return p->buffer[a].size > p->buffer[b].size;
}

static void list_order(search *s) {
    for (int b = 0; b < s->p->n_buffers; b++) {
        s->at.pool[b] = BRUTE_NOTHING;
        s->at.offset[b] = 0;
        s->host[b] = BRUTE_NOTHING;
        if (!brute_needs_memory(s->p, b)) continue;
        find_host(s, b);
        if (s->host[b] != b) continue;
        int i = s->n++;
        for (; i > 0 && comes_before(s->p, b, s->order[i - 1]); i--) s->order[i] = s->order[i - 1];
        s->order[i] = b;
    }
}

/* If there are places at all, there are some in which nothing can be moved down. There each
 * buffer rests on address 0, on a wall or on another buffer, but for its alignment. */
static int highest_offset(const brute_problem *p) {
    int walls = 0, sizes = 0, align = 1;
    for (int b = 0; b < p->n_buffers; b++) {
        if (p->buffer[b].align > align) align = p->buffer[b].align;
        if (p->buffer[b].fixed > walls) walls = p->buffer[b].fixed;
    }
    for (int b = 0; b < p->n_buffers; b++) sizes += p->buffer[b].size + align;
    for (int i = 0; i < p->n_ranges; i++) {
        if (p->range[i].end > walls) walls = p->range[i].end;
    }
    return walls + sizes;
}

static bool is_placed(const search *s, int b) { return s->at.pool[b] != BRUTE_NOTHING; }

/* Puts the buffer and its slices there; false if that breaks a rule with those placed so far. */
static bool put(search *s, int root, int pool, int offset) {
    const brute_problem *p = s->p;
    for (int b = 0; b < p->n_buffers; b++) {
        if (s->host[b] != root) continue;
        s->at.pool[b] = pool;
        s->at.offset[b] = offset + s->delta[b];
    }
    for (int b = 0; b < p->n_buffers; b++) {
        if (s->host[b] != root) continue;
        if (fault_of_one(p, &s->at, b)) return false;
        for (int a = 0; a < p->n_buffers; a++) {
            if (a != b && is_placed(s, a) && fault_of_two(p, &s->at, a, b)) return false;
        }
    }
    return true;
}

static void take(search *s, int root) {
    for (int b = 0; b < s->p->n_buffers; b++) {
        if (s->host[b] == root) s->at.pool[b] = BRUTE_NOTHING;
    }
}

/* Whether no later buffer conflicts with the root and its slices: then of the offsets in a pool the
 * lowest is as good as any. */
static bool is_alone(const search *s, int root) {
    const brute_problem *p = s->p;
    if (p->tokens) return false;
    for (int b = 0; b < p->n_buffers; b++) {
        if (s->host[b] != root) continue;
        for (int a = 0; a < p->n_buffers; a++) {
            if (s->host[a] == BRUTE_NOTHING || s->host[a] == root || is_placed(s, a)) continue;
            if (alive_together(p, a, b) || have_edge(p, a, b)) return false;
        }
    }
    return true;
}

static brute_answer search_from(search *s, int i) {
    if (i == s->n) return BRUTE_FOUND;
    const int root = s->order[i];
    const brute_buffer *buffer = &s->p->buffer[root];
    const bool once = is_alone(s, root), is_fixed = buffer->fixed != BRUTE_NOTHING;
    for (int pool = 0; pool < s->p->n_pools; pool++) {
        const int first = is_fixed ? buffer->fixed : 0, last = is_fixed ? first : s->highest;
        for (int offset = first; offset <= last; offset += buffer->align) {
            if (--*s->tries < 0) return BRUTE_GAVE_UP;
            const bool fits = put(s, root, pool, offset);
            const bool too_dear = brute_cost(s->p, &s->at) >= s->below;
            const brute_answer answer =
                fits && !too_dear ? search_from(s, i + 1) : BRUTE_IMPOSSIBLE;
            if (answer != BRUTE_IMPOSSIBLE) return answer;
            take(s, root);
            if (too_dear || (fits && once)) break; /* higher up it costs as much or more */
        }
    }
    return BRUTE_IMPOSSIBLE;
}

brute_answer brute_search(const brute_problem *p, long below, long *tries, brute_places *places) {
    search s = {.p = p, .below = below, .tries = tries, .highest = highest_offset(p)};
    list_order(&s);
    const brute_answer answer = s.below > 0 ? search_from(&s, 0) : BRUTE_IMPOSSIBLE;
    if (answer == BRUTE_FOUND) *places = s.at;
    return answer;
}

brute_problem brute_one_pool(const brute_problem *p, const brute_places *at, int pool) {
    brute_problem one = *p;
    for (int b = 0; b < p->n_buffers; b++) {
        if (!brute_needs_memory(p, b)) continue;
        if (at->pool[b] == pool) one.buffer[b].pools = 1u << pool;
        else one.buffer[b].n_lives = 0;
    }
    return one;
}
