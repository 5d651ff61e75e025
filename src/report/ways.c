/* Queries on the tilings of a result: see ways.h. */
#include "report/ways.h"

#include <inttypes.h>

const arenaut_split_front *arn_report_ways(const arenaut_result *result) {
    const arenaut_ways_to_split *ways = result->ways;
    return ways && result->rewrite && ways->front->n_choices > 1 ? ways->front : NULL;
}

uint64_t arn_report_way_needs(const arenaut_result *result, const arenaut_split_choice *way) {
    return way->head + result->ways->kept + (uint64_t)way->kept;
}

void arn_report_put_stages(arn_writer *out, const arenaut_split_choice *way) {
    if (way->n_stages == 0) arn_puts(out, "as it is");
    for (uint32_t i = 0; i < way->n_stages; i++) {
        const arenaut_split_stage *stage = &way->stages[i];
        arn_putf(out, "%s%" PRIu32 "-%" PRIu32 "/%" PRIu32 ":%s", i ? "," : "", stage->first_op,
                 stage->first_op + stage->n_ops - 1, stage->pieces,
                 arenaut_split_mode_name(stage->mode));
    }
}
