/* model: the questions about places that the search asks of a finished model. How it is made is in
 * model_make.c. */
#include "planners/exact/exact_model.h"

int64_t arn_exact_snap_group(const arn_exact_model *m, uint32_t item, int64_t at) {
    if (!m->tied) return arn_exact_snap(m, item, at);
    const uint32_t g = m->group[item];
    int64_t start = at - m->delta[item];
    if (start < 0) start = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
            const uint32_t j = m->group_item[k];
            const int64_t own = start + m->delta[j];
            const int64_t snapped = arn_exact_snap(m, j, own);
            moved = moved || snapped != own;
            start += snapped - own;
            if (!arn_ask_after(m->ask, 1 + m->wall_start[j + 1] - m->wall_start[j])) break;
        }
        if (arn_ask_ended(m->ask)) break;
    }
    return start + m->delta[item];
}

void arn_exact_model_free(arn_exact_model *model) { arn_region_free(&model->region); }
