/* A zone: the few groups around a moment at which a plan is too high, as a strip packing problem
 * of its own. */
#ifndef ARN_PLANNERS_SEARCH_ZONE_H
#define ARN_PLANNERS_SEARCH_ZONE_H

#include <stdbool.h>
#include <stdint.h>

enum { ARN_ZONE_GROUPS = 128 };

typedef struct arn_zone {
    uint32_t n; /* groups; to be filled in with the next four */
    uint32_t first[ARN_ZONE_GROUPS],
        end[ARN_ZONE_GROUPS]; /* sections; a start makes them its own */
    uint64_t size[ARN_ZONE_GROUPS], align[ARN_ZONE_GROUPS];
    uint64_t offset[ARN_ZONE_GROUPS]; /* by the last placement */
    /* ---- the search ---- */
    uint32_t order[ARN_ZONE_GROUPS], best_order[ARN_ZONE_GROUPS];
    uint32_t width[ARN_ZONE_GROUPS], n_sections;
    uint64_t highest_load[ARN_ZONE_GROUPS];
    uint32_t n_orders;                  /* first orders that were tried */
    uint64_t load[2 * ARN_ZONE_GROUPS]; /* per section */
    /* Plateaus from left to right: where each begins, and its height. One more ends the last. */
    uint32_t begin[2 * ARN_ZONE_GROUPS + 1], n_plateaus;
    uint64_t height[2 * ARN_ZONE_GROUPS + 1];
    uint64_t best; /* top of the lowest placement */
    uint64_t random;
    uint64_t work; /* elementary operations so far */
} arn_zone;

/* The first order is by load, length of life and size. */
void arn_zone_start(arn_zone *zone);

/* Fills the lowest plateau with the first group in the order that lives within it, until all are
 * placed, and returns the top; then changes the order for the next call, unless the top is at or
 * below `goal`: to the next of the first orders, or a group that ends above the goal moves forward
 * in the best. */
uint64_t arn_zone_place(arn_zone *zone, uint64_t goal);

/* Moves a group forward although nothing is too high in the zone itself. */
void arn_zone_shake(arn_zone *zone);

/* Places by the best order once more. */
void arn_zone_place_best(arn_zone *zone);

#endif
