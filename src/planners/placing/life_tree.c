/* A k-d tree over lives, as the header describes: complete, split at medians by first sections and
 * by ends in turn. */
#include "planners/placing/life_tree.h"

/* The most groups of a leaf. */
enum { LEAF = 8, MOST_DEPTH = 32 };

static const arn_life_node NOTHING = {{ARENAUT_NONE, 0, 0}, 0, UINT32_MAX};

/* ---- the shape ---- */

/* The first life of a leaf; that of life `at` is (((at + 1) << depth) - 1) / n. */
static uint32_t leaf_begin(const arn_life_tree *tree, uint32_t leaf) {
    return (uint32_t)((uint64_t)leaf * tree->n >> tree->depth);
}

static uint32_t side(const arn_life *life, bool by_end) { return by_end ? life->end : life->first; }

static void swap(arn_life *a, arn_life *b) {
    const arn_life moved = *a;
    *a = *b;
    *b = moved;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Moves lives so that none of [0, k) is above one of [k, n). Halves the sections at hand each time:
 * O(n log sections), whatever the lives are, and mostly O(n). */
static void divide(arn_life *life, uint32_t n, uint32_t k, bool by_end) {
    uint32_t low = 0, high = n; /* where those of one side are not divided yet */
    while (low < k && k < high) {
        uint32_t lowest = UINT32_MAX, highest = 0, i = low, j = high;
        for (uint32_t at = low; at < high; at++) {
            lowest = least(lowest, side(&life[at], by_end));
            highest = most(highest, side(&life[at], by_end));
        }
        if (lowest == highest) return;
        while (i < j) {
            if (side(&life[i], by_end) <= lowest + (highest - lowest) / 2) i++;
            else swap(&life[i], &life[--j]);
        }
        if (k <= i) high = i;
        else low = i;
    }
}

/* Node by node, from the top: those of one level split by the same side. */
static void divide_all(arn_life_tree *tree) {
    for (uint32_t level = 0; level < tree->depth; level++) {
        const uint32_t leaves = UINT32_C(1) << (tree->depth - level);
        for (uint32_t leaf = 0; leaf < UINT32_C(1) << tree->depth; leaf += leaves) {
            const uint32_t begin = leaf_begin(tree, leaf);
            divide(tree->life + begin, leaf_begin(tree, leaf + leaves) - begin,
                   leaf_begin(tree, leaf + leaves / 2) - begin, level % 2);
        }
    }
}

bool arn_life_tree_make(arn_life_tree *tree, uint32_t n, const arn_timeline *timeline,
                        arn_region *region) {
    tree->n = n;
    tree->depth = 0;
    while (n >> tree->depth >= LEAF) tree->depth++;
    tree->life = arn_region_allocate(region, n, sizeof *tree->life);
    tree->at = arn_region_allocate(region, n, sizeof *tree->at);
    tree->node = arn_region_allocate(region, (size_t)2 << tree->depth, sizeof *tree->node);
    if (!tree->life || !tree->at || !tree->node) return false;
    for (uint32_t i = 0; i < n; i++) /* with its number, at first */
        tree->life[i] = (arn_life){i, timeline->first[i], timeline->end[i]};
    divide_all(tree);
    for (uint32_t k = 0; k < n; k++) tree->at[tree->life[k].rank] = k;
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

void arn_life_tree_remove(arn_life_tree *tree, uint32_t group) {
    const uint32_t at = tree->at[group];
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

static uint32_t best_in_leaf(const arn_life_tree *tree, uint32_t leaf, uint32_t first, uint32_t end,
                             uint32_t than) {
    const uint32_t stop = leaf_begin(tree, leaf + 1);
    for (uint32_t k = leaf_begin(tree, leaf); k < stop; k++) {
        if (is_within(&tree->life[k], first, end)) than = least(than, tree->life[k].rank);
    }
    return than;
}

/* Depth first, from the more promising of two children on. */
uint32_t arn_life_tree_best(const arn_life_tree *tree, uint32_t first, uint32_t end,
                            uint64_t *looked) {
    const uint32_t leaves = UINT32_C(1) << tree->depth;
    uint32_t waiting[MOST_DEPTH], n = 0, than = ARENAUT_NONE;
    waiting[n++] = 1;
    while (n > 0) {
        const uint32_t k = waiting[--n];
        const arn_life_node *x = &tree->node[k];
        ++*looked;
        if (x->best.rank >= than || x->last_first < first || x->least_end > end) continue;
        if (is_within(&x->best, first, end)) {
            than = x->best.rank;
        } else if (k >= leaves) {
            than = best_in_leaf(tree, k - leaves, first, end, than);
            *looked += LEAF;
        } else {
            const bool swapped = tree->node[2 * k].best.rank <= tree->node[2 * k + 1].best.rank;
            waiting[n++] = 2 * k + swapped;
            waiting[n++] = 2 * k + !swapped;
        }
    }
    return than;
}
