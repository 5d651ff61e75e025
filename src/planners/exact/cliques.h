/* Cuts time into cliques: see exact_model.h. */
#ifndef ARN_EXACT_CLIQUES_H
#define ARN_EXACT_CLIQUES_H

#include "planners/exact/model_build.h"

/* Fills in the model's cliques, spans and members, and whether it is plain or can be cut in
 * this respect. Needs the items. STOPPED if the input's `ask` ended; REFUSED: too large;
 * NO_MEMORY. */
arenaut_status arn_exact_find_cliques(arn_exact_build *x, arenaut_error *err);

/* Items by clique: item[start[c] .. start[c + 1]) are those of clique c, in order. */
typedef struct arn_exact_by_clique {
    uint32_t *start, *item;
} arn_exact_by_clique;

/* Lists the members of each clique, or only its *arrivals*, the items with a span that begins
 * there: all in all n of them. Arrays are the region's. False if there is no memory. O(n). */
bool arn_exact_list_by_clique(const arn_exact_model *model, bool arrivals, uint64_t n,
                              arn_region *region, arn_exact_by_clique *list);

#endif
