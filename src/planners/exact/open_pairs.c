/* open_pairs: looks at a packing whether every buffer that was left out of the way of others is
 * clear of them all the same. Only such buffers need a look, as all others were kept apart. */
#include "planners/exact/open_pairs.h"

bool arn_exact_list_pairs(const arn_exact_case *assumed, arn_region *region,
                          arn_exact_pairs *pairs) {
    const arn_exact_input *in = &assumed->in;
    const arenaut_problem *p = in->problem;
    const arn_exact_pairs none = {.in = in};
    *pairs = none;
    if (!p->same_base) return true;
    pairs->open = arn_region_allocate(region, p->n_buffers, sizeof *pairs->open);
    pairs->covered = arn_region_allocate(region, p->n_buffers, 2 * sizeof *pairs->covered);
    pairs->place = arn_region_allocate(region, p->n_buffers, sizeof *pairs->place);
    if (!pairs->open || !pairs->covered || !pairs->place) return false;
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

int64_t arn_exact_write_places(const arn_exact_state *s, uint64_t *place) {
    const arn_exact_model *m = s->model;
    int64_t top = m->highest_fixed;
    for (uint32_t i = 0; i < m->n; i++) {
        place[m->buffer[i]] = (uint64_t)s->offset[i] * m->unit;
        if (s->offset[i] + m->size[i] > top) top = s->offset[i] + m->size[i];
    }
    for (uint32_t k = 0; k < m->n_fixed; k++) place[m->fixed[k]] = m->fixed_at[k];
    return top;
}

/* A buffer that `b` must not overlap but does; ARENAUT_NONE. */
static uint32_t run_into(const arn_exact_pairs *pairs, uint32_t b) {
    const arenaut_problem *p = pairs->in->problem;
    for (uint32_t other = 0; other < p->n_buffers; other++) {
        if (!arn_ask_after(pairs->in->ask, 1)) break;
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

uint32_t arn_exact_open_pair(arn_exact_pairs *pairs, const arn_exact_state *state) {
    if (pairs->n_open == 0) return ARENAUT_NONE;
    arn_exact_write_places(state, pairs->place);
    for (uint32_t k = 0; k < pairs->n_covered; k++) {
        const uint32_t b = pairs->covered[k], other = run_into(pairs, b);
        if (other != ARENAUT_NONE) return open_pair_of(pairs, b, other);
        /* Not all was looked at: then the packing does not count as right. */
        if (arn_ask_ended(pairs->in->ask)) return pairs->open[0];
    }
    return ARENAUT_NONE;
}
