/* Checks a packing of the relaxation: is every buffer that the relaxation let overlap others clear
 * of them all the same? Only such buffers need a look, as all others were kept apart. */
#include "planners/exact/packing_search.h"

bool arn_exact_list_pairs(const arn_exact_case *assumed, arn_region *region,
                          arn_exact_pairs *pairs) {
    const arn_exact_input *in = &assumed->in;
    const arenaut_problem *p = in->problem;
    const arn_exact_pairs none = {.in = in};
    *pairs = none;
    if (!p->same_base) return true;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(pairs->open, p->n_buffers),
                           ARN_ARRAY(pairs->covered, 2 * (size_t)p->n_buffers),
                           ARN_ARRAY(pairs->place, p->n_buffers))) {
        return false;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (!arn_exact_in_pool(in, b)) continue;
        const bool is_pair = arn_exact_is_pair(in, b);
        const bool open = arn_exact_assumed(assumed, b) == ARN_EXACT_OPEN;
        if (open && is_pair) pairs->open[pairs->n_open++] = b;
        if (is_pair) {
            pairs->covered[pairs->n_covered++] = arn_exact_smaller(p, b, p->same_base[b]);
        }
        if (arenaut_problem_inside(p, b) != ARENAUT_NONE) pairs->covered[pairs->n_covered++] = b;
    }
    return true;
}

int64_t arn_exact_write_places(const arn_exact_model *m, const int64_t *offset, uint64_t *place) {
    int64_t top = m->highest_fixed;
    for (uint32_t i = 0; i < m->n; i++) {
        place[m->buffer[i]] = (uint64_t)offset[i] * m->unit;
        if (offset[i] + m->size[i] > top) top = offset[i] + m->size[i];
    }
    for (uint32_t k = 0; k < m->n_fixed; k++) place[m->fixed[k]] = m->fixed_at[k];
    return top;
}

/* A buffer that `b` must not overlap but does; ARENAUT_NONE. */
static uint32_t run_into(const arn_exact_pairs *pairs, uint32_t b) {
    const arenaut_problem *p = pairs->in->problem;
    for (uint32_t other = 0; other < p->n_buffers; other++) {
        if (!arn_poll_after(pairs->in->poll, 1)) break;
        if (other == b || !arn_exact_in_pool(pairs->in, other)) continue;
        if (arn_exact_collide(p, b, other, pairs->place)) return other;
    }
    return ARENAUT_NONE;
}

/* An open pair to do with either of two buffers, or else any. */
static uint32_t open_pair_of(const arn_exact_pairs *pairs, uint32_t a, uint32_t b) {
    for (uint32_t k = 0; k < pairs->n_open; k++) {
        const uint32_t heir = pairs->open[k], base = pairs->in->problem->same_base[heir];
        if (heir == a || heir == b || base == a || base == b) return heir;
    }
    return pairs->open[0];
}

uint32_t arn_exact_open_pair(arn_exact_pairs *pairs, const arn_exact_model *model,
                             const int64_t *offset) {
    if (pairs->n_open == 0) return ARENAUT_NONE;
    arn_exact_write_places(model, offset, pairs->place);
    for (uint32_t k = 0; k < pairs->n_covered; k++) {
        const uint32_t b = pairs->covered[k], other = run_into(pairs, b);
        if (other != ARENAUT_NONE) return open_pair_of(pairs, b, other);
        /* Not everything was checked: then the packing does not count as right. */
        if (arn_poll_ended(pairs->in->poll)) return pairs->open[0];
    }
    return ARENAUT_NONE;
}
