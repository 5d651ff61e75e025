/* Skyline placement: fills the lowest plateau with the best group that lives within it, as the
 * header describes.
 *
 * Plateaus are linked to their neighbours in time and kept in a heap by height; the best rank
 * within a plateau is looked up in rows of bits, or of many groups in a tree of boxes over (start,
 * end). The idea is that of best-fit heuristics for strip packing (Burke, Kendall, Whitwell 2004).
 * trial.c uses it if nothing is fixed, reserved or kept apart by edges. */
#include "planners/placing/skyline_engine.h"

#include <string.h>

#include "core/checked.h"
#include "core/sort.h"

/* To raise a plateau, and to place a group on it, takes about so many operations. */
enum { LEAF = 8, PLATEAU_OPERATIONS = 64 };

/* Unless a row of bits is short, groups that start on a plateau are gone through one by one where
 * they are fewer than a part of its words. Of more groups than MOST_IN_ROWS, a tree takes less than
 * rows. */
enum { SHORT_ROW = 16, WORDS_PER_START = 4, MOST_IN_ROWS = 8192, ROWS = 256 };

/* ---- which group lives within [first, end) and comes first in the order ---- */

/* Groups in the order of a space-filling curve over (start, end), so that neighbours have
 * similar lifetimes, under a complete binary tree: node k has children 2k and 2k + 1. */
typedef struct box_tree {
    uint32_t n_leaves;            /* a power of two */
    uint32_t *group;              /* per slot, LEAF slots to a leaf; ARENAUT_NONE: empty */
    uint32_t *first, *end, *rank; /* per slot; rank ARENAUT_NONE: nothing to place there */
    uint32_t *slot;               /* per group */
    struct box {
        uint32_t min_first, max_first, min_end, max_end;
    } *box;
    uint32_t *best; /* per node: the least rank below it */
} box_tree;

/* The ranks of groups as bits, in a row for each stretch of time: those that start there or later,
 * and those that end there or earlier. What lives within a plateau is in one row of each. */
typedef struct bit_rows {
    uint32_t n_words, n_rows; /* words of a row */
    uint32_t shift;           /* section k is in the stretch k >> shift */
    uint32_t first_word;      /* nothing is left before it */
    uint64_t *left;           /* one row: those that are not placed */
    uint64_t *starts, *ends;
    uint32_t *first, *end; /* per rank */
} bit_rows;

/* The groups in the order of their starts, each with the next that is not placed. Most plateaus are
 * narrow, and the groups that start there are few. */
typedef struct start_list {
    uint32_t *begin;      /* per section, and one more: the first slot that starts there or later */
    uint32_t *end, *rank; /* per slot */
    uint32_t *next;       /* per slot, and one more: itself, or one on the way to the next left */
    uint32_t *slot;       /* per group */
    uint32_t *earliest;   /* per section: the earliest end of those that start there or later */
} start_list;

/* ---- plateaus ---- */

typedef struct plateau {
    uint32_t first, end;  /* sections */
    uint32_t left, right; /* neighbours; ARENAUT_NONE at the ends of time */
    uint32_t at;          /* place in the heap */
    uint64_t height;
} plateau;

/* With the keys of the plateau, so that those who compare need not look there. */
typedef struct heap_entry {
    uint64_t height;
    uint32_t first, plateau;
} heap_entry;

struct arn_skyline {
    const arn_groups *groups;
    const arn_timeline *timeline;
    bool in_rows;
    bit_rows rows; /* or else */
    box_tree tree;
    start_list starts;
    uint64_t looked; /* at words or nodes, while the best group was looked for */
    plateau *plateaus;
    heap_entry *heap; /* the lowest and then earliest on top */
    uint32_t *unused;
    uint32_t n_heap, n_unused;
};

static uint64_t spread_bits(uint32_t v) {
    uint64_t x = v;
    x = (x | x << 16) & UINT64_C(0x0000FFFF0000FFFF);
    x = (x | x << 8) & UINT64_C(0x00FF00FF00FF00FF);
    x = (x | x << 4) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    x = (x | x << 2) & UINT64_C(0x3333333333333333);
    return (x | x << 1) & UINT64_C(0x5555555555555555);
}

/* `passing`: memory for the sort alone. */
static bool fill_slots(arn_skyline *s, arn_region *passing) {
    box_tree *t = &s->tree;
    const uint32_t n = s->groups->n;
    uint64_t *code = arn_region_allocate(passing, n, sizeof *code);
    uint32_t *order = arn_region_allocate(passing, (size_t)n * 2, sizeof *order);
    if (!code || !order) return false;
    for (uint32_t i = 0; i < n; i++) {
        code[i] = spread_bits(s->timeline->first[i]) | spread_bits(s->timeline->end[i]) << 1;
        order[i] = i;
    }
    arn_sort_by_key(order, n, code, order + n);
    for (uint32_t k = 0; k < t->n_leaves * LEAF; k++) {
        t->group[k] = k < n ? order[k] : ARENAUT_NONE;
        t->rank[k] = ARENAUT_NONE;
        t->first[k] = k < n ? s->timeline->first[order[k]] : 0;
        t->end[k] = k < n ? s->timeline->end[order[k]] : 0;
        if (k < n) t->slot[order[k]] = k;
    }
    return true;
}

static void find_boxes(box_tree *t) {
    const struct box nothing = {UINT32_MAX, 0, UINT32_MAX, 0};
    for (uint32_t node = 2 * t->n_leaves; node-- > 1;) {
        struct box b = nothing;
        for (uint32_t i = 0; i < LEAF && node >= t->n_leaves; i++) {
            const uint32_t k = (node - t->n_leaves) * LEAF + i;
            if (t->group[k] == ARENAUT_NONE) continue;
            if (t->first[k] < b.min_first) b.min_first = t->first[k];
            if (t->first[k] > b.max_first) b.max_first = t->first[k];
            if (t->end[k] < b.min_end) b.min_end = t->end[k];
            if (t->end[k] > b.max_end) b.max_end = t->end[k];
        }
        for (uint32_t i = 0; i < 2 && node < t->n_leaves; i++) {
            const struct box *c = &t->box[2 * node + i];
            if (c->min_first < b.min_first) b.min_first = c->min_first;
            if (c->max_first > b.max_first) b.max_first = c->max_first;
            if (c->min_end < b.min_end) b.min_end = c->min_end;
            if (c->max_end > b.max_end) b.max_end = c->max_end;
        }
        t->box[node] = b;
    }
}

static bool tree_make(arn_skyline *s, arn_region *region) {
    box_tree *t = &s->tree;
    t->n_leaves = 1;
    while ((uint64_t)t->n_leaves * LEAF < s->groups->n) t->n_leaves *= 2;
    const size_t slots = (size_t)t->n_leaves * LEAF, nodes = (size_t)t->n_leaves * 2;
    t->group = arn_region_allocate(region, slots, sizeof *t->group);
    t->first = arn_region_allocate(region, slots, sizeof *t->first);
    t->end = arn_region_allocate(region, slots, sizeof *t->end);
    t->rank = arn_region_allocate(region, slots, sizeof *t->rank);
    t->slot = arn_region_allocate(region, s->groups->n, sizeof *t->slot);
    t->box = arn_region_allocate(region, nodes, sizeof *t->box);
    t->best = arn_region_allocate(region, nodes, sizeof *t->best);
    if (!t->group || !t->first || !t->end || !t->rank || !t->slot || !t->box || !t->best)
        return false;
    arn_region passing;
    arn_region_init(&passing, &region->allocator);
    const bool filled = fill_slots(s, &passing);
    arn_region_free(&passing);
    if (filled) find_boxes(t);
    return filled;
}

static bool rows_make(arn_skyline *s, arn_region *region) {
    bit_rows *rows = &s->rows;
    const uint32_t n = s->groups->n;
    rows->shift = 0;
    while (s->timeline->n_sections >> rows->shift >= ROWS) rows->shift++;
    rows->n_rows = (s->timeline->n_sections >> rows->shift) + 1;
    const size_t words = (size_t)rows->n_rows * rows->n_words;
    rows->left = arn_region_allocate(region, rows->n_words, sizeof *rows->left);
    rows->starts = arn_region_allocate(region, words, sizeof *rows->starts);
    rows->ends = arn_region_allocate(region, words, sizeof *rows->ends);
    rows->first = arn_region_allocate(region, n, sizeof *rows->first);
    rows->end = arn_region_allocate(region, n, sizeof *rows->end);
    return rows->left && rows->starts && rows->ends && rows->first && rows->end;
}

static uint32_t better(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* A counting sort by the first section. */
static bool starts_make(arn_skyline *s, arn_region *region) {
    start_list *list = &s->starts;
    const uint32_t n = s->groups->n, sections = s->timeline->n_sections;
    list->begin = arn_region_allocate(region, (size_t)sections + 2, sizeof *list->begin);
    list->end = arn_region_allocate(region, n, sizeof *list->end);
    list->rank = arn_region_allocate(region, n, sizeof *list->rank);
    list->next = arn_region_allocate(region, (size_t)n + 1, sizeof *list->next);
    list->slot = arn_region_allocate(region, n, sizeof *list->slot);
    list->earliest = arn_region_allocate(region, (size_t)sections + 1, sizeof *list->earliest);
    if (!list->begin || !list->end || !list->rank || !list->next || !list->slot || !list->earliest)
        return false;
    for (uint32_t k = 0; k < sections + 2; k++) list->begin[k] = 0;
    for (uint32_t i = 0; i < n; i++) list->begin[s->timeline->first[i] + 2]++;
    for (uint32_t k = 2; k < sections + 2; k++) list->begin[k] += list->begin[k - 1];
    for (uint32_t i = 0; i < n; i++) { /* which moves begin[k + 1] to the end of section k */
        const uint32_t slot = list->begin[s->timeline->first[i] + 1]++;
        list->slot[i] = slot;
        list->end[slot] = s->timeline->end[i];
    }
    list->earliest[sections] = UINT32_MAX;
    for (uint32_t k = sections, slot = n; k-- > 0;) {
        list->earliest[k] = list->earliest[k + 1];
        for (; slot > list->begin[k]; slot--)
            list->earliest[k] = better(list->earliest[k], list->end[slot - 1]);
    }
    return true;
}

arn_skyline *arn_skyline_new(const arn_groups *groups, const arn_timeline *timeline,
                             arn_region *region) {
    arn_skyline *s = arn_region_allocate(region, 1, sizeof *s);
    if (!s) return NULL;
    s->groups = groups;
    s->timeline = timeline;
    s->in_rows = groups->n <= MOST_IN_ROWS;
    s->rows.n_words = (s->in_rows ? groups->n : MOST_IN_ROWS) / 64 + 1;
    /* Plateaus never share a section. */
    const size_t most = timeline->n_sections;
    s->plateaus = arn_region_allocate(region, most, sizeof *s->plateaus);
    s->heap = arn_region_allocate(region, most, sizeof *s->heap);
    s->unused = arn_region_allocate(region, most, sizeof *s->unused);
    if (!s->plateaus || !s->heap || !s->unused) return NULL;
    const bool made = s->in_rows ? rows_make(s, region) : tree_make(s, region);
    return made && starts_make(s, region) ? s : NULL;
}

static uint32_t best_in_leaf(const box_tree *t, uint32_t leaf) {
    uint32_t best = ARENAUT_NONE;
    for (uint32_t k = leaf * LEAF; k < (leaf + 1) * LEAF; k++) {
        if (t->rank[k] < best) best = t->rank[k];
    }
    return best;
}

static void rank_groups(box_tree *t, const uint32_t *order, uint32_t n) {
    for (uint32_t k = 0; k < t->n_leaves * LEAF; k++) t->rank[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n; i++) t->rank[t->slot[order[i]]] = i;
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        t->best[t->n_leaves + leaf] = best_in_leaf(t, leaf);
    }
    for (uint32_t node = t->n_leaves; node-- > 1;) {
        t->best[node] = better(t->best[2 * node], t->best[2 * node + 1]);
    }
}

static void remove_group(box_tree *t, uint32_t group) {
    const uint32_t slot = t->slot[group];
    t->rank[slot] = ARENAUT_NONE;
    uint32_t node = t->n_leaves + slot / LEAF;
    t->best[node] = best_in_leaf(t, slot / LEAF);
    for (node /= 2; node >= 1; node /= 2) {
        t->best[node] = better(t->best[2 * node], t->best[2 * node + 1]);
    }
}

/* The least rank of a group that lives within [first, end), below `than`. Looks into the
 * more promising child first; a node with all groups within needs no look inside. */
static uint32_t best_within(arn_skyline *s, uint32_t node, uint32_t first, uint32_t end,
                            uint32_t than) {
    const box_tree *t = &s->tree;
    const struct box *b = &t->box[node];
    s->looked++;
    if (t->best[node] >= than || b->max_first < first || b->min_end > end) return than;
    if (b->min_first >= first && b->max_end <= end) return t->best[node];
    if (node < t->n_leaves) {
        const uint32_t near = t->best[2 * node] <= t->best[2 * node + 1] ? 2 * node : 2 * node + 1;
        than = best_within(s, near, first, end, than);
        return best_within(s, near ^ 1, first, end, than);
    }
    const uint32_t slot = (node - t->n_leaves) * LEAF;
    for (uint32_t k = slot; k < slot + LEAF; k++) {
        if (t->rank[k] < than && t->first[k] >= first && t->end[k] <= end) than = t->rank[k];
    }
    return than;
}

/* ---- the same by rows of bits ---- */

static void rank_rows(arn_skyline *s, const uint32_t *order, uint32_t n) {
    bit_rows *rows = &s->rows;
    const size_t width = rows->n_words, words = width * rows->n_rows;
    memset(rows->left, 0, width * sizeof *rows->left);
    memset(rows->starts, 0, words * sizeof *rows->starts);
    memset(rows->ends, 0, words * sizeof *rows->ends);
    rows->first_word = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t first = s->timeline->first[order[i]], end = s->timeline->end[order[i]];
        const uint64_t bit = UINT64_C(1) << i % 64;
        rows->first[i] = first;
        rows->end[i] = end;
        rows->left[i / 64] |= bit;
        rows->starts[(first >> rows->shift) * width + i / 64] |= bit;
        rows->ends[((end - 1) >> rows->shift) * width + i / 64] |= bit;
    }
    for (size_t k = words - width; k-- > 0;) rows->starts[k] |= rows->starts[k + width];
    for (size_t k = width; k < words; k++) rows->ends[k] |= rows->ends[k - width];
}

/* As best_within. */
static uint32_t best_in_rows(arn_skyline *s, uint32_t first, uint32_t end) {
    bit_rows *rows = &s->rows;
    const uint64_t *starts = rows->starts + (size_t)(first >> rows->shift) * rows->n_words;
    const uint64_t *ends = rows->ends + (size_t)((end - 1) >> rows->shift) * rows->n_words;
    while (rows->left[rows->first_word] == 0) rows->first_word++;
    s->looked += rows->n_words;
    for (uint32_t w = rows->first_word; w < rows->n_words; w++) {
        uint64_t bits = rows->left[w] & starts[w] & ends[w];
        for (; bits; bits &= bits - 1) {
            const uint32_t rank = 64 * w + arn_lowest_bit(bits);
            if (rows->first[rank] >= first && rows->end[rank] <= end) return rank;
        }
    }
    return ARENAUT_NONE;
}

/* ---- the same on a narrow plateau ---- */

static void rank_starts(arn_skyline *s, const uint32_t *order, uint32_t n) {
    start_list *list = &s->starts;
    const uint32_t n_slots = s->groups->n;
    for (uint32_t k = 0; k < n_slots; k++) list->rank[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n; i++) list->rank[list->slot[order[i]]] = i;
    list->next[n_slots] = n_slots;
    for (uint32_t k = n_slots; k-- > 0;)
        list->next[k] = list->rank[k] == ARENAUT_NONE ? list->next[k + 1] : k;
}

/* The first slot from `slot` on whose group is not placed. Halves the way for those who come
 * after (Tarjan, van Leeuwen 1984). */
static uint32_t next_left(start_list *list, uint32_t slot) {
    while (list->next[slot] != slot) {
        list->next[slot] = list->next[list->next[slot]];
        slot = list->next[slot];
    }
    return slot;
}

/* As best_within, by a walk over the groups that start there. False if these are not few. */
static bool best_of_few(arn_skyline *s, uint32_t first, uint32_t end, uint32_t *best) {
    start_list *list = &s->starts;
    const uint32_t stop = list->begin[end], few = s->rows.n_words / WORDS_PER_START;
    uint32_t slot = next_left(list, list->begin[first]), looked = 0;
    *best = ARENAUT_NONE;
    for (; slot < stop; slot = next_left(list, slot + 1)) {
        if (looked++ == few) return false;
        if (list->end[slot] <= end && list->rank[slot] < *best) *best = list->rank[slot];
    }
    s->looked += looked;
    return true;
}

/* ---- whichever is the least work ---- */

static void rank_all(arn_skyline *s, const uint32_t *order, uint32_t n) {
    if (s->in_rows) rank_rows(s, order, n);
    else rank_groups(&s->tree, order, n);
    rank_starts(s, order, n);
}

/* The rank of the group to place on a plateau; ARENAUT_NONE: none lives within it. */
static uint32_t best_on(arn_skyline *s, const plateau *p) {
    uint32_t rank;
    s->looked = 0;
    if (s->starts.earliest[p->first] > p->end) return ARENAUT_NONE;
    const bool is_short = s->rows.n_words <= SHORT_ROW;
    if (!is_short && best_of_few(s, p->first, p->end, &rank)) return rank;
    if (s->in_rows) return best_in_rows(s, p->first, p->end);
    return best_within(s, 1, p->first, p->end, ARENAUT_NONE);
}

static void take_out(arn_skyline *s, uint32_t group, uint32_t rank) {
    const uint32_t slot = s->starts.slot[group];
    s->starts.next[slot] = slot + 1;
    if (s->in_rows) s->rows.left[rank / 64] &= ~(UINT64_C(1) << rank % 64);
    else remove_group(&s->tree, group);
}

/* ---- the heap of plateaus ---- */

/* By height, and from left to right. */
static bool is_lower(heap_entry a, heap_entry b) {
    return a.height != b.height ? a.height < b.height : a.first < b.first;
}

static void heap_set(arn_skyline *s, uint32_t at, heap_entry entry) {
    s->heap[at] = entry;
    s->plateaus[entry.plateau].at = at;
}

/* Moves the plateau at this place of the heap up or down, after its height or start has changed. */
static void heap_settle(arn_skyline *s, uint32_t at) {
    const uint32_t id = s->heap[at].plateau;
    const heap_entry entry = {s->plateaus[id].height, s->plateaus[id].first, id};
    while (at > 0 && is_lower(entry, s->heap[(at - 1) / 2])) {
        heap_set(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->n_heap) break;
        if (child + 1 < s->n_heap && is_lower(s->heap[child + 1], s->heap[child])) child++;
        if (!is_lower(s->heap[child], entry)) break;
        heap_set(s, at, s->heap[child]);
        at = child;
    }
    heap_set(s, at, entry);
}

static uint32_t new_plateau(arn_skyline *s, uint32_t first, uint32_t end, uint64_t height,
                            uint32_t left, uint32_t right) {
    const uint32_t id = s->unused[--s->n_unused];
    const plateau p = {first, end, left, right, s->n_heap, height};
    s->plateaus[id] = p;
    if (left != ARENAUT_NONE) s->plateaus[left].right = id;
    if (right != ARENAUT_NONE) s->plateaus[right].left = id;
    s->heap[s->n_heap++].plateau = id;
    heap_settle(s, p.at);
    return id;
}

static void drop_plateau(arn_skyline *s, uint32_t id) {
    const uint32_t at = s->plateaus[id].at;
    const heap_entry last = s->heap[--s->n_heap];
    s->unused[s->n_unused++] = id;
    if (last.plateau == id) return;
    heap_set(s, at, last);
    heap_settle(s, at);
}

/* The neighbour `other` becomes part of plateau `id`. */
static void absorb(arn_skyline *s, uint32_t id, uint32_t other) {
    plateau *p = &s->plateaus[id];
    const plateau gone = s->plateaus[other];
    drop_plateau(s, other);
    if (gone.first < p->first) {
        p->first = gone.first;
        p->left = gone.left;
        if (p->left != ARENAUT_NONE) s->plateaus[p->left].right = id;
        heap_settle(s, p->at);
    } else {
        p->end = gone.end;
        p->right = gone.right;
        if (p->right != ARENAUT_NONE) s->plateaus[p->right].left = id;
    }
}

/* Gives a plateau a new height, and joins it with neighbours of the same. */
static void set_height(arn_skyline *s, uint32_t id, uint64_t height) {
    const uint32_t left = s->plateaus[id].left, right = s->plateaus[id].right;
    s->plateaus[id].height = height;
    heap_settle(s, s->plateaus[id].at);
    if (left != ARENAUT_NONE && s->plateaus[left].height == height) absorb(s, id, left);
    if (right != ARENAUT_NONE && s->plateaus[right].height == height) absorb(s, id, right);
}

static uint64_t height_of(const arn_skyline *s, uint32_t id) {
    return id == ARENAUT_NONE ? UINT64_MAX : s->plateaus[id].height;
}

/* The lowest plateau becomes part of its lower neighbour, or joins two of one height. */
static void raise_to_neighbour(arn_skyline *s, uint32_t id) {
    const uint32_t left = s->plateaus[id].left, right = s->plateaus[id].right;
    const uint64_t on_left = height_of(s, left), on_right = height_of(s, right);
    absorb(s, on_left <= on_right ? left : right, id);
    if (on_left == on_right) absorb(s, left, right);
}

/* The right part of plateau `id` is raised, up to its neighbour `right`. */
static void raise_right(arn_skyline *s, uint32_t id, uint32_t first, uint64_t height) {
    plateau *p = &s->plateaus[id];
    const uint32_t end = p->end, right = p->right;
    p->end = first;
    if (right != ARENAUT_NONE && s->plateaus[right].height == height) {
        s->plateaus[right].first = first;
        heap_settle(s, s->plateaus[right].at);
    } else {
        new_plateau(s, first, end, height, id, right);
    }
}

/* The left part. */
static void raise_left(arn_skyline *s, uint32_t id, uint32_t end, uint64_t height) {
    plateau *p = &s->plateaus[id];
    const uint32_t first = p->first, left = p->left;
    p->first = end;
    heap_settle(s, p->at);
    if (left != ARENAUT_NONE && s->plateaus[left].height == height) s->plateaus[left].end = end;
    else new_plateau(s, first, end, height, left, id);
}

/* Raises [first, end), which lies within one plateau. The rest of it keeps its place in the heap as
 * far as can be: it is on top. */
static void build_on(arn_skyline *s, uint32_t id, uint32_t first, uint32_t end, uint64_t height) {
    plateau *p = &s->plateaus[id];
    const plateau old = *p;
    if (old.first == first && end == old.end) {
        set_height(s, id, height);
    } else if (old.first == first) {
        raise_left(s, id, end, height);
    } else {
        if (end < old.end) {
            p->end = end;
            new_plateau(s, end, old.end, old.height, id, old.right);
        }
        raise_right(s, id, first, height);
    }
}

static void flatten(arn_skyline *s) {
    s->n_heap = s->n_unused = 0;
    for (uint32_t i = s->timeline->n_sections; i-- > 0;) s->unused[s->n_unused++] = i;
    if (s->n_unused) new_plateau(s, 0, s->timeline->n_sections, 0, ARENAUT_NONE, ARENAUT_NONE);
}

uint32_t arn_skyline_run(arn_skyline *s, const uint32_t *order, uint32_t n, uint64_t limit,
                         uint64_t *offset, uint64_t *top, arn_poll *poll) {
    uint32_t placed = 0;
    flatten(s);
    rank_all(s, order, n);
    *top = 0;
    while (placed < n) {
        const uint32_t id = s->heap[0].plateau;
        const plateau *p = &s->plateaus[id];
        const uint32_t rank = best_on(s, p);
        if (!arn_poll_after(poll, s->looked + PLATEAU_OPERATIONS)) break;
        if (rank == ARENAUT_NONE) {
            raise_to_neighbour(s, id);
            continue;
        }
        const uint32_t i = order[rank];
        const arn_group *group = &s->groups->group[i];
        offset[i] = arn_aligned(p->height, group->align);
        const uint64_t end = offset[i] + group->extent;
        if (end > limit) break;
        *top = arn_max_u64(*top, end);
        take_out(s, i, rank);
        build_on(s, id, s->timeline->first[i], s->timeline->end[i], end);
        placed++;
    }
    return placed;
}
