/* Tiles of groups, and the checker's answers. */
#ifndef SUPPORT_SPLIT_CHECKED_H
#define SUPPORT_SPLIT_CHECKED_H

#include <arenaut/rewrite.h>

#include "ir/program.h"

/* Tiles and their check in one call, for allocators that fail. */
arenaut_status split_checked(const arenaut_program *p, const arenaut_split_stage *stages,
                             uint32_t n_stages, bool rounding, const arenaut_allocator *allocator);

/* A group in tiles, which the checker has passed; where they may be rounded otherwise than the
 * whole. */
arenaut_rewrite *split_tiles(const arenaut_program *p, arenaut_split_stage stage);
arenaut_rewrite *split_rounded(const arenaut_program *p, arenaut_split_stage stage);
uint32_t count_named(const arenaut_rewrite *rewrite, const char *name);

/* A group that is not tiled as asked; not even with rounding; a program of which none is. */
void expect_unsplit(const arenaut_program *p, arenaut_split_stage stage, const char *why);
void expect_whole(const arenaut_program *p, arenaut_split_stage stage, const char *why);
void expect_refused(const arenaut_program *p, const char *why);

bool is_same_program(const arenaut_program *p, const arenaut_rewrite *rewrite);
bool same_sizes(const arenaut_tensor *a, const arenaut_tensor *b);
/* Exchanges each operand of the tiles for each other tensor of its sizes, which the checker must
 * refuse; returns their number. */
uint32_t spoil_tiles(const arenaut_program *p, arenaut_split_stage stage);

#endif
