/* Sections of the time axis, cut whenever a group starts or ends; and priority orders of groups.
 * Section k is the time between cut k and cut k + 1. Groups count as alive from their first step to
 * their last. */
#ifndef ARN_PLANNERS_PLACING_ORDERS_H
#define ARN_PLANNERS_PLACING_ORDERS_H

#include "planners/placing/buffer_groups.h"

typedef struct arn_timeline {
    uint32_t n_sections;
    uint32_t *first, *end; /* per group: its sections, [first, end) */
    uint64_t *load;        /* per section: the sum of the extents of the live groups */
} arn_timeline;

/* False if there is no memory. O(n log n). */
bool arn_timeline_make(const arn_groups *groups, arn_region *region, arn_timeline *timeline);

/* ---- orders ---- */

/* Orders in which to place groups, named by the keys they sort by.
 *
 *     Z  size          W  length of life     A  size × length of life
 *     T  the highest load while it is alive  C  how many are alive with it
 *     L  earliest start                      U  latest end
 *     P  earliest peak: the first section with the load of T
 *     F  fewest pools to choose from
 *     N  the sum of the loads in its sections, each to the power of 24, between W
 *        and T; not for settings: arn_orders_need_powers comes before
 *
 * "TWA" sorts by T, then W, then A, the largest first. Groups that are equal in all keys keep
 * the order of their numbers, or the reverse of it if the name ends in '-'. */

typedef struct arn_orders {
    const arn_groups *groups;
    const arn_timeline *timeline;
    uint64_t *key;       /* per group, for the letter at hand */
    uint64_t *load_tree; /* maxima over sections */
    uint64_t *powers;    /* per section, and one more: the sum of those before it, for N; or NULL */
    uint32_t n_leaves;   /* of that tree: a power of two */
    uint32_t *started;   /* per section: groups that start before its end */
    uint32_t *scratch;
} arn_orders;

/* False if there is no memory. */
bool arn_orders_init(arn_orders *orders, const arn_groups *groups, const arn_timeline *timeline,
                     arn_region *region);

/* Lets a copy of the struct be used beside the original. False if there is no memory. */
bool arn_orders_fork(arn_orders *copy, arn_region *region);

/* Before N is used. False if there is no memory. O(sections). */
bool arn_orders_need_powers(arn_orders *orders, arn_region *region);

/* Squeaky wheel optimisation (Joslin, Clements 1999): for T and N, twice that by which a plan with
 * these offsets is above the goal in a section is added to its load, so that groups come earlier
 * which live where it is too high. `excess` is scratch memory, one of each section. No fork may be
 * in use. O(the sum of the lives in sections). */
void arn_orders_blame(arn_orders *orders, const uint64_t *offset, uint64_t goal, uint64_t *excess);

/* Writes all groups in that order, fixed ones first in the order of their numbers. O(n log n). */
void arn_orders_sort(arn_orders *orders, const char *letters, uint32_t *order);

/* How many groups are alive together with `group`, itself included. */
uint64_t arn_orders_count_conflicts(const arn_orders *orders, uint32_t group);

/* The letters for a setting's value: a word such as "size", or up to three letters, with
 * an optional '-'. NULL if it is neither. */
const char *arn_order_letters(const char *value);

#define ARN_ORDER_SETTING \
    "order=size|area|lifetime|start|end|conflicts|load or up to 3 of ZAWLUCTPF"

#endif
