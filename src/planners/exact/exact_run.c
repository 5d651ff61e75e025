/* exact_run: one pool whose same-base relations are never in the way is one case and one search;
 * everything else is split into cases (cases.h), each of which is searched. */
#include "planners/exact/exact_run.h"

#include "planners/exact/cases.h"
#include "planners/exact/exact_search.h"

static bool has_pairs(const arn_exact_input *in) {
    for (uint32_t b = 0; b < in->problem->n_buffers; b++) {
        if (arn_exact_is_pair(in, b)) return true;
    }
    return false;
}

static arenaut_status run(const arn_exact_input *in, arn_exact_output *out, arenaut_error *err) {
    const arn_exact_case only = {*in, NULL};
    out->spill = out->spill_bound = 0;
    if (!arn_exact_chooses_pools(in) && !has_pairs(in)) return arn_exact_search(&only, out, err);
    out->improved = false;
    out->arena = in->arena;
    out->bound = in->bound;
    out->open_pair = ARENAUT_NONE;
    out->effort = out->nodes = 0;
    return arn_exact_run_cases(in, out, err);
}

arenaut_status arn_exact_run(const arn_exact_input *in, arn_ask *ask, arn_exact_output *out,
                             arenaut_error *err) {
    arn_exact_input own = *in;
    own.ask = ask;
    return run(&own, out, err);
}

arn_exact_input arn_exact_input_of(const arenaut_planning *planning) {
    const arenaut_plan_options *options = planning->options;
    return (arn_exact_input){
        .problem = planning->problem,
        .arena = ARENAUT_UNPLACED,
        .bound = planning->plan->total_bound,
        .spill_bound = planning->plan->spill_bound,
        .enough = options->capacity,
        .effort = options->effort,
        .seed = options->seed,
        .allocator = planning->allocator,
    };
}

arenaut_verdict arn_exact_notify(void *context) {
    arn_exact_notice *last = context;
    if (!last->options->progress) return ARENAUT_GO_ON;
    return last->options->progress(last->options->progress_context, &last->progress);
}
