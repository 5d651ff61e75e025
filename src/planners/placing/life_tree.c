/* A k-d tree over lives, as the header describes: complete, split at medians by first sections and
 * by ends in turn. */
#include "planners/placing/life_tree.h"

/* The most groups of a leaf. */
enum { LEAF = 16, MOST_DEPTH = 32 };

static const arn_life_node NOTHING = {{ARENAUT_NONE, 0, 0}, 0, UINT32_MAX};

/* ---- the shape ---- */

/* The first life of a leaf; that of life `at` is (((at + 1) << depth) - 1) / n. */
static uint32_t leaf_begin(const arn_life_tree *tree, uint32_t leaf) {
    return (uint32_t)((uint64_t)leaf * tree->n >> tree->depth);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Moves the groups [begin, middle) of `halved` to the front of the same stretch of `other`, which
 * stays in its order otherwise. */
static void halve(const uint32_t *halved, uint32_t begin, uint32_t middle, uint32_t end,
                  const uint32_t *other, uint32_t *to, bool *is_upper) {
    uint32_t low = begin, high = middle;
    for (uint32_t k = begin; k < end; k++) is_upper[halved[k]] = k >= middle;
    for (uint32_t k = begin; k < end; k++) { /* no branch, which would be mispredicted */
        const uint32_t upper = is_upper[other[k]];
        to[upper ? high : low] = other[k];
        high += upper;
        low += 1 - upper;
    }
}

/* Node by node, from the top: those of one level split by the same side. Groups stay in both orders
 * within each node (as in Vaidya 1989), so that a median takes no search. */
static void divide_all(arn_life_tree *tree, uint32_t *by_first, uint32_t *by_end, bool *is_upper) {
    uint32_t *order[] = {by_first, by_end}, *unused = tree->at;
    for (uint32_t level = 0; level < tree->depth; level++) {
        const uint32_t leaves = UINT32_C(1) << (tree->depth - level);
        uint32_t *const other = order[1 - level % 2];
        for (uint32_t leaf = 0; leaf < UINT32_C(1) << tree->depth; leaf += leaves)
            halve(order[level % 2], leaf_begin(tree, leaf), leaf_begin(tree, leaf + leaves / 2),
                  leaf_begin(tree, leaf + leaves), other, unused, is_upper);
        order[1 - level % 2] = unused;
        unused = other;
    }
    const uint32_t *groups = order[order[0] == tree->at];
    for (uint32_t k = 0; k < tree->n; k++) tree->at[groups[k]] = k;
}

bool arn_life_tree_make(arn_life_tree *tree, uint32_t n, const arn_timeline *timeline,
                        uint32_t *by_first, uint32_t *by_end, arn_region *region) {
    tree->n = n;
    tree->depth = 0;
    while (n >> tree->depth >= LEAF) tree->depth++;
    bool *is_upper = arn_region_allocate(region, n, sizeof *is_upper);
    tree->life = arn_region_allocate(region, n, sizeof *tree->life);
    tree->at = arn_region_allocate(region, n, sizeof *tree->at);
    tree->node = arn_region_allocate(region, (size_t)2 << tree->depth, sizeof *tree->node);
    if (!is_upper || !tree->life || !tree->at || !tree->node) return false;
    divide_all(tree, by_first, by_end, is_upper);
    for (uint32_t i = 0; i < n; i++)
        tree->life[tree->at[i]] = (arn_life){ARENAUT_NONE, timeline->first[i], timeline->end[i]};
    return true;
}

/* ---- what is left ---- */

static arn_life_node of_leaf(const arn_life_tree *tree, uint32_t leaf) {
    const uint32_t stop = leaf_begin(tree, leaf + 1);
    arn_life_node x = NOTHING;
    for (uint32_t k = leaf_begin(tree, leaf); k < stop; k++) {
        const arn_life life = tree->life[k];
        if (life.rank == ARENAUT_NONE) continue;
        if (life.rank < x.best.rank) x.best = life;
        x.last_first = most(x.last_first, life.first);
        x.least_end = least(x.least_end, life.end);
    }
    return x;
}

static arn_life_node of_children(const arn_life_tree *tree, uint32_t node) {
    const arn_life_node *a = &tree->node[2 * node], *b = a + 1;
    return (arn_life_node){a->best.rank < b->best.rank ? a->best : b->best,
                           most(a->last_first, b->last_first), least(a->least_end, b->least_end)};
}

void arn_life_tree_fill(arn_life_tree *tree, const uint32_t *order, uint32_t n) {
    const uint32_t leaves = UINT32_C(1) << tree->depth;
    for (uint32_t k = 0; k < tree->n; k++) tree->life[k].rank = ARENAUT_NONE;
    for (uint32_t i = 0; i < n; i++) tree->life[tree->at[order[i]]].rank = i;
    for (uint32_t k = 0; k < leaves; k++) tree->node[leaves + k] = of_leaf(tree, k);
    for (uint32_t k = leaves; k-- > 1;) tree->node[k] = of_children(tree, k);
}

static bool is_same(const arn_life_node *a, const arn_life_node *b) {
    return a->best.rank == b->best.rank && a->last_first == b->last_first &&
           a->least_end == b->least_end;
}

void arn_life_tree_remove(arn_life_tree *tree, uint32_t at) {
    const uint32_t leaf = (uint32_t)(((((uint64_t)at + 1) << tree->depth) - 1) / tree->n);
    uint32_t k = (UINT32_C(1) << tree->depth) + leaf;
    tree->life[at].rank = ARENAUT_NONE;
    arn_life_node now = of_leaf(tree, leaf);
    while (!is_same(&tree->node[k], &now)) {
        tree->node[k] = now;
        k /= 2;
        if (k == 0) break;
        now = of_children(tree, k);
    }
}

/* ---- look-ups ---- */

static bool is_within(const arn_life *life, uint32_t first, uint32_t end) {
    return (life->first >= first) & (life->end <= end);
}

/* The rank of the life, if it is within [first, end) and comes before `than`; else that. */
static uint32_t best_of(const arn_life *life, uint32_t first, uint32_t end, uint32_t than) {
    return least(than, is_within(life, first, end) ? life->rank : ARENAUT_NONE);
}

static uint32_t best_in_leaf(const arn_life_tree *tree, uint32_t leaf, uint32_t first, uint32_t end,
                             uint32_t than) {
    const uint32_t stop = leaf_begin(tree, leaf + 1);
    for (uint32_t k = leaf_begin(tree, leaf); k < stop; k++) {
        than = best_of(&tree->life[k], first, end, than);
    }
    return than;
}

/* Whether a group below the node may live within [first, end) and come before `than`. */
static bool may_hold(const arn_life_node *x, uint32_t first, uint32_t end, uint32_t than) {
    return (x->best.rank < than) & (x->last_first >= first) & (x->least_end <= end);
}

/* Depth first, from the more promising of two children on. Comparisons are summed rather than
 * branched on: the branches would mostly be mispredicted. */
uint32_t arn_life_tree_best(const arn_life_tree *tree, uint32_t first, uint32_t end,
                            uint64_t *looked) {
    const uint32_t leaves = UINT32_C(1) << tree->depth;
    uint32_t waiting[MOST_DEPTH], n = 0, k = 1;
    uint32_t than = best_of(&tree->node[1].best, first, end, ARENAUT_NONE);
    for (;;) {
        uint32_t left = 0, right = 0; /* whether to look there */
        ++*looked;
        if (k >= leaves) {
            than = best_in_leaf(tree, k - leaves, first, end, than);
            *looked += LEAF;
        } else {
            const arn_life_node *child = &tree->node[2 * k];
            than = best_of(&child[0].best, first, end, than);
            than = best_of(&child[1].best, first, end, than);
            left = may_hold(&child[0], first, end, than);
            right = may_hold(&child[1], first, end, than);
            const uint32_t on_right =
                (1 - left) | (right & (child[1].best.rank < child[0].best.rank));
            waiting[n] = 2 * k + 1 - on_right;
            n += left & right;
            k = 2 * k + on_right;
        }
        if (left | right) continue;
        do {
            if (n == 0) return than;
            k = waiting[--n];
        } while (tree->node[k].best.rank >= than);
    }
}
