/* Skyline placement: fills the lowest plateau with the best group that lives within it, as the
 * header describes.
 *
 * Plateaus are linked to their neighbours in time and kept in a heap by height; the best rank
 * within a plateau is looked up in rows of bits, or of many groups in a tree of lives. The
 * idea is that of best-fit heuristics for strip packing (Burke, Kendall, Whitwell 2004).
 * trial.c uses it if nothing is fixed, reserved or kept apart by edges. */
#include "planners/placing/skyline_engine.h"

#include <string.h>

#include "core/checked.h"
#include "planners/placing/life_tree.h"

/* To raise a plateau, and to place a group on it, takes about so many operations. */
enum { PLATEAU_OPERATIONS = 64 };

/* Of more groups than MOST_IN_ROWS, a tree takes less than rows. Where FEW start on a plateau, a
 * walk over them takes less than either. */
enum { MOST_IN_ROWS = 8192, ROWS = 256, FEW = 32 };

/* ---- which group lives within [first, end) and comes first in the order ---- */

/* The ranks of groups as bits, in a row for each stretch of time: those that start there or later,
 * and those that end there or earlier. What lives within a plateau is in one row of each. */
typedef struct bit_rows {
    uint32_t n_words, n_rows; /* words of a row */
    uint32_t shift;           /* section k is in the stretch k >> shift */
    uint32_t first_word;      /* nothing is left before it */
    uint64_t *left;           /* one row: those that are not placed */
    uint64_t *starts, *ends;
} bit_rows;

/* The groups in the order of their starts, each with the next that is not placed. Most plateaus are
 * narrow, and the groups that start there are few. */
typedef struct start_list {
    uint32_t *begin;      /* per section, and one more: the first slot that starts there or later */
    uint32_t *end, *rank; /* per slot */
    uint32_t *next;       /* per slot, and one more: itself, or one on the way to the next left */
    uint32_t *slot;       /* per group */
    uint32_t *earliest;   /* a tree of the earliest ends; its leaves are the sections */
    uint32_t n_leaves;    /* a power of two; node k is above 2k and 2k + 1 */
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

/* A group in the order at hand, with all that is asked for while it is placed. */
typedef struct item {
    uint64_t extent;
    uint32_t group, first, end;
    uint32_t slot, at; /* in the start list, and in the tree */
    uint8_t align;     /* its logarithm */
} item;

struct arn_skyline {
    const arn_groups *groups;
    const arn_timeline *timeline;
    item *item; /* per rank */
    bool in_rows;
    bit_rows rows; /* or else */
    arn_life_tree tree;
    start_list starts;
    uint64_t looked; /* at words or nodes, while the best group was looked for */
    plateau *plateaus;
    heap_entry *heap; /* the lowest and then earliest on top */
    uint32_t *unused;
    uint32_t n_heap, n_unused;
};

static uint32_t better(uint32_t a, uint32_t b) { return a < b ? a : b; }

static bool rows_make(arn_skyline *s, arn_region *region) {
    bit_rows *rows = &s->rows;
    rows->n_words = s->groups->n / 64 + 1;
    rows->shift = 0;
    while (s->timeline->n_sections >> rows->shift >= ROWS) rows->shift++;
    rows->n_rows = (s->timeline->n_sections >> rows->shift) + 1;
    const size_t words = (size_t)rows->n_rows * rows->n_words;
    rows->left = arn_region_allocate(region, rows->n_words, sizeof *rows->left);
    rows->starts = arn_region_allocate(region, words, sizeof *rows->starts);
    rows->ends = arn_region_allocate(region, words, sizeof *rows->ends);
    return rows->left && rows->starts && rows->ends;
}

/* Groups by their ends: a counting sort. */
static void sort_by_end(const arn_skyline *s, uint32_t *count, uint32_t *order) {
    const uint32_t n = s->groups->n, sections = s->timeline->n_sections;
    const uint32_t *end = s->timeline->end;
    memset(count, 0, (sections + 1) * sizeof *count);
    for (uint32_t i = 0; i < n; i++) count[end[i]]++;
    for (uint32_t k = 1; k <= sections; k++) count[k] += count[k - 1];
    for (uint32_t i = n; i-- > 0;) order[--count[end[i]]] = i;
}

/* And then by the first section. Leaves the groups in that order in `rank`, and in that of their
 * ends in `next`. */
static bool starts_make(arn_skyline *s, arn_region *region) {
    start_list *list = &s->starts;
    const uint32_t n = s->groups->n, sections = s->timeline->n_sections;
    list->n_leaves = 1;
    while (list->n_leaves < sections) list->n_leaves *= 2;
    list->begin = arn_region_allocate(region, (size_t)sections + 2, sizeof *list->begin);
    list->end = arn_region_allocate(region, n, sizeof *list->end);
    list->rank = arn_region_allocate(region, n, sizeof *list->rank);
    list->next = arn_region_allocate(region, (size_t)n + 1, sizeof *list->next);
    list->slot = arn_region_allocate(region, n, sizeof *list->slot);
    list->earliest =
        arn_region_allocate(region, 2 * (size_t)list->n_leaves, sizeof *list->earliest);
    if (!list->begin || !list->end || !list->rank || !list->next || !list->slot || !list->earliest)
        return false;
    sort_by_end(s, list->begin, list->next);
    memset(list->begin, 0, ((size_t)sections + 2) * sizeof *list->begin);
    for (uint32_t i = 0; i < n; i++) list->begin[s->timeline->first[i] + 2]++;
    for (uint32_t k = 2; k < sections + 2; k++) list->begin[k] += list->begin[k - 1];
    for (uint32_t k = 0; k < n; k++) { /* which moves begin[k + 1] to the end of section k */
        const uint32_t i = list->next[k], slot = list->begin[s->timeline->first[i] + 1]++;
        list->slot[i] = slot;
        list->end[slot] = s->timeline->end[i];
        list->rank[slot] = i;
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
    /* Plateaus never share a section. */
    const size_t most = timeline->n_sections;
    s->plateaus = arn_region_allocate(region, most, sizeof *s->plateaus);
    s->heap = arn_region_allocate(region, most, sizeof *s->heap);
    s->unused = arn_region_allocate(region, most, sizeof *s->unused);
    s->item = arn_region_allocate(region, groups->n, sizeof *s->item);
    if (!s->plateaus || !s->heap || !s->unused || !s->item) return NULL;
    if (!starts_make(s, region)) return NULL;
    const bool made = s->in_rows ? rows_make(s, region)
                                 : arn_life_tree_make(&s->tree, groups->n, timeline, s->starts.rank,
                                                      s->starts.next, region);
    return made ? s : NULL;
}

/* ---- the least rank of a group within a plateau, by rows of bits ---- */

static void rank_rows(arn_skyline *s, uint32_t n) {
    bit_rows *rows = &s->rows;
    const size_t width = rows->n_words, words = width * rows->n_rows;
    memset(rows->left, 0, width * sizeof *rows->left);
    memset(rows->starts, 0, words * sizeof *rows->starts);
    memset(rows->ends, 0, words * sizeof *rows->ends);
    rows->first_word = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t first = s->item[i].first, end = s->item[i].end;
        const uint64_t bit = UINT64_C(1) << i % 64;
        rows->left[i / 64] |= bit;
        rows->starts[(first >> rows->shift) * width + i / 64] |= bit;
        rows->ends[((end - 1) >> rows->shift) * width + i / 64] |= bit;
    }
    for (size_t k = words - width; k-- > 0;) rows->starts[k] |= rows->starts[k + width];
    for (size_t k = width; k < words; k++) rows->ends[k] |= rows->ends[k - width];
}

/* The least rank of a group that lives within [first, end). */
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
            if (s->item[rank].first >= first && s->item[rank].end <= end) return rank;
        }
    }
    return ARENAUT_NONE;
}

/* ---- the same on a narrow plateau ---- */

/* The first slot from `slot` on whose group is not placed. Halves the way for those who come
 * after (Tarjan, van Leeuwen 1984). */
static uint32_t next_left(start_list *list, uint32_t slot) {
    while (list->next[slot] != slot) {
        list->next[slot] = list->next[list->next[slot]];
        slot = list->next[slot];
    }
    return slot;
}

static uint32_t earliest_end(start_list *list, uint32_t section) {
    const uint32_t slot = next_left(list, list->begin[section]);
    return slot < list->begin[section + 1] ? list->end[slot] : ARENAUT_NONE;
}

static void rank_starts(arn_skyline *s, uint32_t n) {
    start_list *list = &s->starts;
    const uint32_t n_slots = s->groups->n, sections = s->timeline->n_sections;
    for (uint32_t k = 0; k < n_slots; k++) list->rank[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n; i++) list->rank[s->item[i].slot] = i;
    list->next[n_slots] = n_slots;
    for (uint32_t k = n_slots; k-- > 0;)
        list->next[k] = list->rank[k] == ARENAUT_NONE ? list->next[k + 1] : k;
    for (uint32_t k = 0; k < list->n_leaves; k++)
        list->earliest[list->n_leaves + k] = k < sections ? earliest_end(list, k) : ARENAUT_NONE;
    for (uint32_t k = list->n_leaves; k-- > 1;)
        list->earliest[k] = better(list->earliest[2 * k], list->earliest[2 * k + 1]);
}

static void remove_start(start_list *list, uint32_t slot, uint32_t section) {
    uint32_t node = list->n_leaves + section;
    list->next[slot] = slot + 1;
    list->earliest[node] = earliest_end(list, section);
    for (node /= 2; node; node /= 2) {
        const uint32_t end = better(list->earliest[2 * node], list->earliest[2 * node + 1]);
        if (list->earliest[node] == end) break;
        list->earliest[node] = end;
    }
}

/* Whether any group lives within [first, end). A node that is no border counts as empty: a branch
 * would be mispredicted. */
static bool has_within(const start_list *list, uint32_t first, uint32_t end) {
    uint32_t low = first + list->n_leaves, high = end + list->n_leaves, earliest = ARENAUT_NONE;
    for (; low < high && earliest > end; low = (low + 1) / 2, high /= 2) {
        earliest = better(earliest, list->earliest[low] | ((low & 1) - 1));
        earliest = better(earliest, list->earliest[high - 1] | ((high & 1) - 1));
    }
    return earliest <= end;
}

/* As best_in_rows, by a walk over the groups that start there. */
static uint32_t best_of_few(arn_skyline *s, uint32_t first, uint32_t end) {
    start_list *list = &s->starts;
    const uint32_t stop = list->begin[end];
    uint32_t slot = next_left(list, list->begin[first]), best = ARENAUT_NONE;
    for (; slot < stop; slot = next_left(list, slot + 1)) {
        s->looked++;
        if (list->end[slot] <= end && list->rank[slot] < best) best = list->rank[slot];
    }
    return best;
}

/* ---- whichever is the least work ---- */

static void rank_all(arn_skyline *s, const uint32_t *order, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = order[k];
        const arn_group *group = &s->groups->group[i];
        s->item[k] = (item){group->extent,
                            i,
                            s->timeline->first[i],
                            s->timeline->end[i],
                            s->starts.slot[i],
                            s->in_rows ? 0 : s->tree.at[i],
                            (uint8_t)arn_lowest_bit(group->align)};
    }
    if (s->in_rows) rank_rows(s, n);
    else arn_life_tree_fill(&s->tree, order, n);
    rank_starts(s, n);
}

/* The rank of the group to place on a plateau; ARENAUT_NONE: none lives within it. */
static uint32_t best_on(arn_skyline *s, const plateau *p) {
    const uint32_t *begin = s->starts.begin;
    s->looked = 0;
    if (!has_within(&s->starts, p->first, p->end)) return ARENAUT_NONE;
    if (begin[p->end] - begin[p->first] <= FEW) return best_of_few(s, p->first, p->end);
    if (s->in_rows) return best_in_rows(s, p->first, p->end);
    return arn_life_tree_best(&s->tree, p->first, p->end, &s->looked);
}

static void take_out(arn_skyline *s, const item *placed, uint32_t rank) {
    remove_start(&s->starts, placed->slot, placed->first);
    if (s->in_rows) s->rows.left[rank / 64] &= ~(UINT64_C(1) << rank % 64);
    else arn_life_tree_remove(&s->tree, placed->at);
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
        const item *next = &s->item[rank];
        const uint64_t at = arn_aligned(p->height, UINT64_C(1) << next->align),
                       end = at + next->extent;
        offset[next->group] = at;
        if (end > limit) break;
        *top = arn_max_u64(*top, end);
        take_out(s, next, rank);
        build_on(s, id, next->first, next->end, end);
        placed++;
    }
    return placed;
}
