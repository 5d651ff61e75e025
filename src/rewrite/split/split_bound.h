/* What a stage needs at least, said before its ops are put: derived from the rows that its bands
 * make. No draft of the stage costs less (draft_cost.h). */
#ifndef ARN_REWRITE_SPLIT_SPLIT_BOUND_H
#define ARN_REWRITE_SPLIT_SPLIT_BOUND_H

#include "rewrite/split/split_bands.h"

/* Bytes that are alive at once while the stage's pieces run; what goes past the stage comes on top.
 * `reach`: results may reach into operands. */
uint64_t arn_split_bands_bound(const arn_bands *bands, bool reach);
/* split_pieces.c: the same of channels. */
uint64_t arn_split_channels_bound(const arn_split_graph *graph, const arenaut_split_stage *stage,
                                  bool reach);

#endif
