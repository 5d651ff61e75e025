/* Tile groups (stages in our flags): refusal of groups that cannot be tiled, their ops in a draft,
 * and lower bounds. */
#ifndef ARN_REWRITE_SPLIT_TILE_GROUPS_H
#define ARN_REWRITE_SPLIT_TILE_GROUPS_H

#include "rewrite/split/row_tiles.h"
#include "rewrite/split/tiled_draft.h"

/* Why the stage cannot be split; NULL: it can. */
const char *arn_split_channels_refuse(const arn_split_graph *graph,
                                      const arenaut_split_stage *stage);
const char *arn_split_rows_refuse(const arn_split_graph *graph, const arenaut_split_stage *stage);

/* Put the stage's ops into the draft. Rows: false where the stage cannot be split as asked, which
 * shows only when its rows are counted; the draft is then good for nothing. */
void arn_split_put_channels(arn_draft *draft, const arenaut_split_stage *stage);
bool arn_split_put_rows(arn_draft *draft, const arenaut_split_stage *stage);
/* Of a stage that has been counted. */
void arn_split_put_bands(arn_draft *draft, const arn_bands *counted);

/* split_pieces.c: how many channels each piece gets, of a stage that is not refused. */
void arn_split_cut_channels(const arn_split_graph *graph, const arenaut_split_stage *stage,
                            int64_t *counts);

/* The whole program with these stages split; false as above, with `bad` the stage. */
bool arn_split_put_program(arn_draft *draft, const arenaut_split_stage *stages, uint32_t n_stages,
                           uint32_t *bad);

/* Bytes that channel tiles need at once at least. */
uint64_t arn_split_channels_bound(const arn_split_graph *graph, const arenaut_split_stage *stage,
                                  bool reach);

#endif
