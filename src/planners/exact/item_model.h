/* The model of the exact search: one pool's buffers as items in small units, with the interval
 * graph of their lifetimes.
 *
 * An *item* is a buffer that is to be placed. Time is cut into *cliques*, or sections: moments at
 * which a set of items is alive together, and that no other moment's set contains (the maximal
 * cliques of an interval graph). Two more items in conflict, because of an extra edge, are a clique
 * of their own. So two items interfere exactly if some clique has both, and in a clique sizes add
 * up. Below, time goes to the right; the moments at which only a, or only c, is alive are no
 * cliques, as the one beside them has all their members:
 *
 *     time     0     2     4     6     8    10         clique  members   spans of items
 *     a        [=================]                       0     a b       a [0, 2)
 *     b              [=====]                             1     a c       b [0, 1)
 *     c                    [=================]           2     c d       c [1, 3)
 *     d                                [=====]                           d [2, 3)
 *
 * A *wall* is a range of addresses that is taken from the start, by a fixed buffer or a reserved
 * range. Items have the walls that they must keep clear of, and a clique those that all of its
 * members must keep clear of. Here a wall stands from 3 to 5; of a clique with a load of 4 that
 * must lie above 0, one unit ends above the wall at the least, so it needs 6:
 *
 *     address  0  1  2  3  4  5  6
 *              [=======]######[=]
 *              3 units    wall  the fourth unit */
#ifndef ARN_PLANNERS_EXACT_ITEM_MODEL_H
#define ARN_PLANNERS_EXACT_ITEM_MODEL_H

#include <arenaut/problem.h>

#include "core/memory.h"
#include "planners/bounds/marks.h"
#include "planners/exact/case_relations.h"
#include "planners/run/poll.h"

/* A stretch of consecutive cliques, [first, end), in which an item is alive. */
typedef struct arn_exact_span {
    uint32_t first, end;
} arn_exact_span;

/* Addresses that are taken from the start, [first, end): by a fixed buffer or a reserved
 * range. */
typedef struct arn_exact_wall {
    int64_t first, end;
} arn_exact_wall;

typedef struct arn_exact_model {
    const arenaut_problem *problem;
    uint32_t without; /* the input's */
    arn_poll *poll;   /* the input's: NULL, or counts all work that is not charged as effort */
    arn_region region;
    uint64_t unit; /* bytes; every size, alignment and wall is a multiple */

    uint32_t n; /* items */
    uint32_t *buffer;
    int64_t *size, *align; /* units; an alignment that every sum of sizes has reads as 1 */
    uint32_t *span_start;  /* item i owns span[span_start[i] .. span_start[i + 1]) */
    arn_exact_span *span;
    uint32_t *neighbour_start, *neighbour; /* the items it conflicts with, in order */
    uint32_t *wall_start;                  /* the walls of each item, disjoint, in order */
    arn_exact_wall *wall;
    /* Items of a group keep their distance. Item i is in group[i], delta[i] above its start, and
     * group g has group_item[group_start[g] .. group_start[g + 1]). Only if `tied`. */
    uint32_t *group, *group_start, *group_item;
    int64_t *delta;
    uint32_t *alike; /* the last item before it that is exactly alike; ARENAUT_NONE */
    int64_t *width;  /* steps that it is alive */

    uint32_t n_cliques, n_moments; /* the first n_moments cliques are moments, others edges */
    int64_t *origin;               /* the step of a moment, the conflict of an edge */
    uint32_t *member_start, *member;
    int64_t *load;               /* the sum of its members' sizes */
    uint32_t *clique_wall_start; /* the walls of each clique, disjoint, in order */
    arn_exact_wall *clique_wall;
    /* Marks (planners/bounds/marks.h) of the grain that says most about a clique, by its logarithm
     * in units; 0: it has none. */
    uint8_t *grain;
    int64_t *marks; /* in all of its members */

    bool tied;      /* some group has several items */
    bool plain;     /* one span per item, no alignment, no walls, no edges, not tied */
    bool cuts;      /* cliques are moments in order, so that the problem may fall apart */
    bool has_marks; /* some clique has */

    uint32_t n_fixed, *fixed; /* buffers that have their offset already, */
    uint64_t *fixed_at;       /* in bytes */
    uint32_t largest_group;   /* in items; 1 if not tied */
    int64_t highest_fixed;    /* end of the highest of them */

    int64_t bound;       /* no arena is smaller */
    int64_t upper_bound; /* everything fits below, if anything does */
    bool clash;          /* fixed buffers overlap: there is no plan */
} arn_exact_model;

static inline bool arn_exact_has(const arn_exact_model *m, arn_exact_technique technique) {
    return !(m->without >> technique & 1);
}

/* Frees a model that arn_exact_model_make has made. */
void arn_exact_model_free(arn_exact_model *model);

static inline int64_t arn_exact_align_up(int64_t at, int64_t align) {
    return (at + align - 1) & ~(align - 1);
}

/* The lowest address from `at` on at which item `i` meets its alignment and no wall. */
static inline int64_t arn_exact_snap(const arn_exact_model *m, uint32_t i, int64_t at) {
    if (m->plain) return at;
    at = arn_exact_align_up(at, m->align[i]);
    for (uint32_t w = m->wall_start[i]; w < m->wall_start[i + 1]; w++) {
        if (at + m->size[i] <= m->wall[w].first) break;
        if (at < m->wall[w].end) at = arn_exact_align_up(m->wall[w].end, m->align[i]);
    }
    return at;
}

/* The lowest address from `at` on for item `item` at which it and all others of its group meet
 * their alignments and no wall. O(walls of the group) per wall that is met. */
int64_t arn_exact_snap_group(const arn_exact_model *model, uint32_t item, int64_t at);

/* The lowest address such that `amount` units between `floor` and it are free of walls in clique
 * `c`: members that must lie above `floor` cannot end lower. */
static inline int64_t arn_exact_need(const arn_exact_model *m, uint32_t c, int64_t floor,
                                     int64_t amount) {
    int64_t end = floor + amount;
    if (m->plain || amount == 0) return end;
    for (uint32_t w = m->clique_wall_start[c]; w < m->clique_wall_start[c + 1]; w++) {
        const arn_exact_wall wall = m->clique_wall[w];
        if (wall.first >= end) break;
        if (wall.end > floor) end += wall.end - (wall.first > floor ? wall.first : floor);
    }
    return end;
}

/* The least number of marks in item `i`, and the marks below an address, of a grain. */
static inline int64_t arn_exact_marks(const arn_exact_model *m, uint32_t i, uint8_t grain) {
    return (int64_t)arn_least_marks((uint64_t)m->size[i], (uint64_t)m->align[i],
                                    UINT64_C(1) << grain);
}
static inline int64_t arn_exact_marks_below(int64_t at, uint8_t grain) {
    return (at + (INT64_C(1) << grain) - 1) >> grain;
}

/* Fills in *model, which the caller frees if this returns OK; the problem is borrowed. STOPPED,
 * with no message, if the input's `poll` ended; REFUSED, with the reason, for a problem that is
 * too large; NO_MEMORY. */
arenaut_status arn_exact_model_make(const arn_exact_case *assumed, arn_exact_model *model,
                                    arenaut_error *err);

/* ---- bounds without a search ---- */

/* Writes a lower bound of the arena of the case's pool into *bound: the largest load, the largest
 * buffer and the fixed ones, rounded up to the pool's alignment. *possible is false if the bound is
 * above the capacity, or if fixed buffers overlap. Adds the effort to *effort. Other than OK as
 * arn_exact_model_make. */
arenaut_status arn_exact_bound_pool(const arn_exact_case *c, uint64_t *bound, bool *possible,
                                    uint64_t *effort, arenaut_error *err);

/* The sum of the bounds of all pools, or ARENAUT_SIZE_MAX if that is too large a number. */
uint64_t arn_exact_sum_bounds(const arenaut_problem *problem, const uint64_t *bound);

/* ---- under construction ---- */

/* A model under construction: the steps of building it (item_model.c, sections.c), and their
 * questions about two buffers. */

typedef struct arn_exact_build {
    const arn_exact_input *in;
    const arn_exact_case *assumed;
    arn_exact_model *model;
    arn_region scratch; /* freed when the model is built */
    arn_exact_relations relations;
    uint32_t *item;       /* per buffer of the problem; ARENAUT_NONE if it is none */
    int64_t highest_wall; /* end of the highest wall, in units */
} arn_exact_build;

/* The lifetimes of a buffer while nothing covers it, and their number. */
static inline uint32_t arn_exact_life_count(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_lifetime_count(x->in->problem, b);
    return x->relations.life_start[b + 1] - x->relations.life_start[b];
}
static inline const arenaut_interval *arn_exact_lives(const arn_exact_build *x, uint32_t b) {
    if (!x->relations.root) return arenaut_problem_lifetimes(x->in->problem, b);
    return x->relations.life + x->relations.life_start[b];
}

/* Whether two buffers interfere in this case. False, whatever is true, once the input's `poll` has
 * ended: nothing of the model is used then. O(lifetimes + log edges). */
bool arn_exact_interfere(const arn_exact_build *x, uint32_t a, uint32_t b);

/* Returns REFUSED, with the reason: lists would have more than ARN_EXACT_MOST_PAIRS entries. */
arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err);

/* Fills in the model's cliques, spans and members, and whether it is plain or can be cut in
 * this respect. Needs the items. STOPPED if the input's `poll` ended; REFUSED: too large;
 * NO_MEMORY. */
arenaut_status arn_exact_find_cliques(arn_exact_build *x, arenaut_error *err);

/* Lists each item's neighbours in the interference graph: the items that share a clique with it,
 * and no group. Needs the cliques and groups. STOPPED if the input's `poll` ended; REFUSED: too
 * large; NO_MEMORY. */
arenaut_status arn_exact_find_neighbours(arn_exact_build *x, arenaut_error *err);

/* Finds for each item the last one before it that is exactly alike: exchanging the two changes
 * nothing. Needs the walls. False if there is no memory. */
bool arn_exact_find_alike(arn_exact_build *x);

#endif
