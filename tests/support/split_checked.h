/* Tiles and their check in one call, for allocators that fail. */
#ifndef SUPPORT_SPLIT_CHECKED_H
#define SUPPORT_SPLIT_CHECKED_H

#include <arenaut/check.h>
#include <arenaut/rewrite.h>

#include "ir/program.h"
#include "rewrite/split/tile_groups.h"

static inline arenaut_status split_checked(const arenaut_program *p,
                                           const arenaut_split_stage *stages, uint32_t n_stages,
                                           bool rounding, const arenaut_allocator *allocator) {
    arenaut_rewrite *rewrite = NULL;
    arenaut_finding finding;
    arenaut_status st = arn_split(p, stages, n_stages, rounding, allocator, &rewrite, NULL);
    if (st == ARENAUT_OK) st = arenaut_check_rewrite(p, rewrite, allocator, &finding, NULL);
    arn_rewrite_free(rewrite);
    return st;
}

#endif
