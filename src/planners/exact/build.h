/* What the steps of building a model share. */
#ifndef ARN_EXACT_BUILD_H
#define ARN_EXACT_BUILD_H

#include "planners/exact/model.h"

/* No more list entries than this: about 80 MB with the search's own memory. */
enum { ARN_EXACT_MOST_PAIRS = 2000000 };

typedef struct arn_exact_build {
    const arn_exact_input *in;
    arn_exact_model *model;
    arn_region scratch;
    uint32_t *item; /* per buffer of the problem; ARENAUT_NONE if it is none */
    int64_t *time; /* the moments at which something begins or ends, in order */
    uint32_t n_times;
    uint32_t *kept; /* per moment k, how many of the moments before it are cliques */
    uint32_t *comer_start, *comer; /* per clique, the items with a span that begins there */
    int64_t highest_wall;
} arn_exact_build;

arenaut_status arn_exact_find_cliques(arn_exact_build *x, arenaut_error *err);
arenaut_status arn_exact_find_walls(arn_exact_build *x, arenaut_error *err);
arenaut_status arn_exact_too_large(const arn_exact_build *x, arenaut_error *err);

#endif
