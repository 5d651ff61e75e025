/* Bands of time: which of the pieces of a problem may be alive during some steps.
 *
 * A centred interval tree: what is alive at a node's step stays in its band, what ends before that
 * step or begins after it goes below, until so few are left that they are as soon looked through.
 * What is alive during a few steps lies in the bands on the way down to them; most others need no
 * look. All that is in a band but the lowest is alive together, so that where few are alive at any
 * time bands are small. */
#ifndef ARN_PLANNERS_PLACING_BANDS_H
#define ARN_PLANNERS_PLACING_BANDS_H

#include "planners/placing/buffer_groups.h"

typedef struct arn_band {
    int64_t first, end; /* nothing in it or below is alive outside */
    uint32_t below[2];  /* the bands before and after its step; ARENAUT_NONE: nothing there */
} arn_band;

typedef struct arn_bands {
    uint32_t n;
    arn_band *band; /* the first is above all others */
    uint32_t *of;   /* per piece of the groups */
    uint32_t *met;  /* room for all */
} arn_bands;

/* Bands of up to `few` pieces are not divided. False if there is no memory. O(n log n). */
bool arn_bands_make(const arn_groups *groups, uint32_t few, arn_region *region, arn_bands *bands);

/* Writes to bands->met the bands with pieces that may be alive in [first, end), the first of all
 * always among them, and returns how many. */
uint32_t arn_bands_meet(const arn_bands *bands, int64_t first, int64_t end);

#endif
