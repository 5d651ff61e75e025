/* Tile groups (stages in our flags): refusal of groups that cannot be tiled, their ops in a draft,
 * and lower bounds. */
#ifndef ARN_REWRITE_SPLIT_TILE_GROUPS_H
#define ARN_REWRITE_SPLIT_TILE_GROUPS_H

#include "rewrite/split/row_tiles.h"
#include "rewrite/split/tiled_draft.h"

/* The reason why the group cannot be tiled; NULL: it can. */
const char *arn_channel_tiles_refuse(const arn_tile_graph *graph, const arenaut_split_stage *group);
const char *arn_row_tiles_refuse(const arn_tile_graph *graph, const arenaut_split_stage *group);

/* Put the group's ops into the draft. Row tiles: false if the group cannot be tiled as asked, which
 * shows only when its rows are counted; the draft is then good for nothing. */
void arn_channel_tiles_put(arn_draft *draft, const arenaut_split_stage *group);
bool arn_row_tiles_put(arn_draft *draft, const arenaut_split_stage *group);
/* Of a group that has been counted. */
void arn_row_tiles_put_counted(arn_draft *draft, const arn_row_tiles *counted);

/* Channels per tile, of a group that is not refused. */
void arn_channel_tiles_count(const arn_tile_graph *graph, const arenaut_split_stage *group,
                             int64_t *counts);

/* The whole program with these groups tiled; false as above, with `bad` the group. */
bool arn_tile_groups_put(arn_draft *draft, const arenaut_split_stage *groups, uint32_t n_groups,
                         uint32_t *bad);

/* Lower bound of the live bytes while channel tiles run. `reach`: results may reach into operands.
 */
uint64_t arn_channel_tiles_bound(const arn_tile_graph *graph, const arenaut_split_stage *group,
                                 bool reach);

/* Tiles these groups, which must be in the order of their ops and apart. BAD_ARGUMENT, with the
 * group and the reason, if ops cannot be tiled as asked; `program` stays as it is, and may be freed
 * before the rewrite. O(ops of the new program × tiles). */
arenaut_status arn_split(const arenaut_program *program, const arenaut_split_stage *groups,
                         uint32_t n_groups, const arenaut_allocator *allocator,
                         arenaut_rewrite **out, arenaut_error *err);

#endif
