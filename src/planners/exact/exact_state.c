/* state: the moves of a packing and their undoing. Placing an item walks its neighbours and
 * raises those that are in its way; raising one walks the cliques of its spans; cliques that
 * lose the last member at their floor are gathered in `dirty` and looked at once, after the
 * move. These loops are where the search spends its time, and what `work` counts. */
#include "planners/exact/exact_state.h"

#include "core/fail.h"

enum { LOWEST, FLOOR, UNPLACED };

static uint64_t scramble(uint64_t x) {
    x ^= x >> 29;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

/* What an unplaced item adds to the digest of its first clique. Sums of these tell apart
 * which items are unplaced and where each may begin. */
static uint64_t digest_of(const arn_exact_state *s, uint32_t i, int64_t lowest) {
    return scramble(s->code[i] + (uint64_t)lowest * UINT64_C(0x9e3779b97f4a7c15));
}

static void log_change(arn_exact_state *s, uint32_t kind, uint32_t index, int64_t before) {
    const arn_exact_change change = {before, index, kind};
    s->trail[s->n_trail++] = change;
}

bool arn_exact_has_room(const arn_exact_state *s) {
    const arn_exact_model *m = s->model;
    return s->trail_room - s->n_trail > m->largest_group * (m->n + 1) + m->n_cliques;
}

/* ---- floors ---- */

/* Finds the floor of clique `c` again after all members that lay at it were raised. False if
 * what is left does not fit above it. */
static bool find_floor(arn_exact_state *s, uint32_t c) {
    const arn_exact_model *m = s->model;
    const uint32_t *member = m->member + m->member_start[c];
    const uint32_t n = m->member_start[c + 1] - m->member_start[c];
    int64_t floor = ARN_EXACT_PLACED;
    uint32_t count = 0;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t lowest = s->lowest[member[k]];
        if (lowest > floor) continue;
        count = lowest == floor ? count + 1 : 1;
        floor = lowest;
    }
    s->work += n;
    log_change(s, FLOOR, c, s->floor[c]);
    if (floor != ARN_EXACT_PLACED) s->wasted += (uint64_t)(floor - s->floor[c]);
    s->floor[c] = floor;
    s->at_floor[c] = count;
    return floor == ARN_EXACT_PLACED || arn_exact_need(m, c, floor, s->load[c]) <= s->capacity;
}

bool arn_exact_find_floors(arn_exact_state *s, bool fits) {
    s->item_failed = !fits;
    for (uint32_t k = 0; fits && k < s->n_dirty; k++) {
        fits = find_floor(s, s->dirty[k]);
        if (!fits) s->overfull = s->dirty[k];
    }
    s->n_dirty = 0;
    return fits;
}

/* Item `i`, until now at `lowest`, leaves the floors that it was part of. */
static void leave_floors(arn_exact_state *s, uint32_t i, int64_t lowest) {
    const arn_exact_model *m = s->model;
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        const uint32_t end = m->span[k].end;
        for (uint32_t c = m->span[k].first; c < end; c++) {
            if (s->floor[c] == lowest && --s->at_floor[c] == 0) s->dirty[s->n_dirty++] = c;
        }
        s->work += end - m->span[k].first;
    }
}

static void rejoin_floors(arn_exact_state *s, uint32_t i, int64_t lowest) {
    const arn_exact_model *m = s->model;
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        const uint32_t end = m->span[k].end;
        for (uint32_t c = m->span[k].first; c < end; c++) {
            s->at_floor[c] += s->floor[c] == lowest;
        }
    }
}

/* False if the item would end above the capacity. The state is changed all the same, so that
 * there is one way to undo. */
static bool raise(arn_exact_state *s, uint32_t i, int64_t lowest) {
    const int64_t before = s->lowest[i];
    log_change(s, LOWEST, i, before);
    s->digest[s->hull_first[i]] += digest_of(s, i, lowest) - digest_of(s, i, before);
    s->lowest[i] = lowest;
    leave_floors(s, i, before);
    return lowest <= s->capacity - s->model->size[i];
}

/* Past the placed neighbours that the item would run into at `at`. */
static int64_t past_placed(const arn_exact_state *s, uint32_t i, int64_t at) {
    const arn_exact_model *m = s->model;
    for (uint32_t k = m->neighbour_start[i]; k < m->neighbour_start[i + 1]; k++) {
        const uint32_t j = m->neighbour[k];
        if (s->lowest[j] != ARN_EXACT_PLACED) continue;
        const int64_t top = s->offset[j] + m->size[j];
        if (at < top && s->offset[j] < at + m->size[i]) at = top;
    }
    return at;
}

int64_t arn_exact_settle(arn_exact_state *s, uint32_t item, int64_t at) {
    const arn_exact_model *m = s->model;
    if (!m->tied) return arn_exact_snap(m, item, at);
    const uint32_t g = m->group[item];
    for (bool moved = true; moved && at <= s->capacity;) {
        moved = false;
        at = arn_exact_snap_group(m, item, at);
        for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
            const uint32_t j = m->group_item[k];
            const int64_t own = at - m->delta[item] + m->delta[j], free = past_placed(s, j, own);
            moved = moved || free != own;
            at += free - own;
            s->work += m->neighbour_start[j + 1] - m->neighbour_start[j];
            if (!arn_ask_after(m->ask, m->neighbour_start[j + 1] - m->neighbour_start[j])) break;
        }
        if (arn_ask_ended(m->ask)) break;
    }
    return at;
}

bool arn_exact_raise_group(arn_exact_state *s, uint32_t item, int64_t lowest) {
    const arn_exact_model *m = s->model;
    if (!m->tied) return raise(s, item, lowest);
    const uint32_t g = m->group[item];
    bool fits = true;
    for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
        const uint32_t j = m->group_item[k];
        if (!raise(s, j, lowest - m->delta[item] + m->delta[j])) fits = false;
    }
    return fits;
}

/* ---- moves ---- */

/* Takes `i` out of what is left to place (sign 1), or puts it back (sign -1). */
static void count_out(arn_exact_state *s, uint32_t i, int64_t sign) {
    const arn_exact_model *m = s->model;
    const int64_t size = sign * m->size[i];
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        for (uint32_t c = m->span[k].first; c < m->span[k].end; c++) s->load[c] -= size;
        s->wasted -= (uint64_t)size * (m->span[k].end - m->span[k].first);
    }
    for (uint32_t c = s->hull_first[i]; c + 1 < s->hull_end[i]; c++) {
        s->crossing[c] -= (uint32_t)sign;
    }
    s->n_unplaced -= (uint32_t)sign;
}

/* Where unplaced items may lie below placed ones, a digest must know where these are. */
static uint64_t digest_of_placed(const arn_exact_state *s, uint32_t item) {
    return s->model->tied ? ~digest_of(s, item, s->offset[item]) : 0;
}

/* Places one item, and raises the neighbours that it is in the way of. */
static bool place_item(arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    const int64_t at = s->lowest[item], top = at + m->size[item];
    s->offset[item] = at;
    log_change(s, UNPLACED, item, at);
    s->digest[s->hull_first[item]] += digest_of_placed(s, item) - digest_of(s, item, at);
    count_out(s, item, 1);
    leave_floors(s, item, at);
    s->lowest[item] = ARN_EXACT_PLACED;
    const uint32_t end = m->neighbour_start[item + 1];
    bool fits = true;
    for (uint32_t k = m->neighbour_start[item]; k < end; k++) {
        const uint32_t j = m->neighbour[k];
        if (s->lowest[j] >= top) continue;
        if (m->tied && s->lowest[j] + m->size[j] <= at) continue;
        if (arn_exact_raise_group(s, j, arn_exact_settle(s, j, m->tied ? s->lowest[j] : top)))
            continue;
        s->overfull = m->span[m->span_start[j]].first;
        fits = false;
    }
    s->work += end - m->neighbour_start[item];
    return fits;
}

bool arn_exact_place(arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    if (!m->tied) return arn_exact_find_floors(s, place_item(s, item));
    const uint32_t g = m->group[item];
    bool fits = true;
    for (uint32_t k = m->group_start[g]; k < m->group_start[g + 1]; k++) {
        if (arn_ask_ended(m->ask)) return arn_exact_find_floors(s, false);
        fits = place_item(s, m->group_item[k]) && fits;
    }
    return arn_exact_find_floors(s, fits);
}

void arn_exact_undo(arn_exact_state *s, uint32_t n_trail) {
    while (s->n_trail > n_trail) {
        const arn_exact_change *change = &s->trail[--s->n_trail];
        const uint32_t k = change->index;
        switch (change->kind) {
            case LOWEST:
                s->digest[s->hull_first[k]] +=
                    digest_of(s, k, change->before) - digest_of(s, k, s->lowest[k]);
                s->lowest[k] = change->before;
                rejoin_floors(s, k, change->before);
                break;
            case FLOOR:
                if (s->floor[k] != ARN_EXACT_PLACED) {
                    s->wasted -= (uint64_t)(s->floor[k] - change->before);
                }
                s->floor[k] = change->before;
                s->at_floor[k] = 0;
                break;
            default:
                s->lowest[k] = change->before;
                s->digest[s->hull_first[k]] +=
                    digest_of(s, k, change->before) - digest_of_placed(s, k);
                count_out(s, k, -1);
                rejoin_floors(s, k, change->before);
                break;
        }
    }
}

/* ---- the empty packing ---- */

static bool allocate_state(arn_exact_state *s, arn_region *region) {
    const size_t n = s->model->n, c = s->model->n_cliques;
    s->lowest = arn_region_allocate(region, n, sizeof *s->lowest);
    s->offset = arn_region_allocate(region, n, sizeof *s->offset);
    s->next = arn_region_allocate(region, n, sizeof *s->next);
    s->candidate = arn_region_allocate(region, n, sizeof *s->candidate);
    s->code = arn_region_allocate(region, n, sizeof *s->code);
    s->hull_first = arn_region_allocate(region, n, sizeof *s->hull_first);
    s->hull_end = arn_region_allocate(region, n, sizeof *s->hull_end);
    s->floor = arn_region_allocate(region, c, sizeof *s->floor);
    s->load = arn_region_allocate(region, c, sizeof *s->load);
    s->at_floor = arn_region_allocate(region, c, sizeof *s->at_floor);
    s->crossing = arn_region_allocate(region, c, sizeof *s->crossing);
    s->digest = arn_region_allocate(region, c + 1, sizeof *s->digest);
    s->dirty = arn_region_allocate(region, c, sizeof *s->dirty);
    /* An item is raised once per placed neighbour at most, and by rejections; floors change
     * less often. A run for which this is not enough gives up. */
    s->trail_room =
        s->model->neighbour_start[n] + s->model->member_start[c] + 16 * (uint32_t)(n + c) + 1024;
    /* An item of a group is raised for each of the group, and when one of them is. */
    if (s->model->tied) {
        s->trail_room = 2 * s->trail_room + s->model->largest_group * (uint32_t)(n + 1);
    }
    s->trail = arn_region_allocate(region, s->trail_room, sizeof *s->trail);
    return s->lowest && s->offset && s->next && s->candidate && s->code && s->hull_first &&
           s->hull_end && s->floor && s->load && s->at_floor && s->crossing && s->digest &&
           s->dirty && s->trail;
}

static void find_hull(arn_exact_state *s, uint32_t i) {
    const arn_exact_model *m = s->model;
    s->hull_first[i] = s->model->n_cliques; /* one that is covered all its life is in none */
    s->hull_end[i] = 0;
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        if (m->span[k].first < s->hull_first[i]) s->hull_first[i] = m->span[k].first;
        if (m->span[k].end > s->hull_end[i]) s->hull_end[i] = m->span[k].end;
    }
    for (uint32_t c = s->hull_first[i]; c + 1 < s->hull_end[i]; c++) s->crossing[c]++;
}

arenaut_status arn_exact_state_init(arn_exact_state *s, const arn_exact_model *model,
                                    arn_region *region, arenaut_error *err) {
    const arn_exact_state empty = {.model = model, .n_unplaced = model->n};
    *s = empty;
    if (!allocate_state(s, region)) return arn_no_memory(err);
    for (uint32_t c = 0; c < model->n_cliques; c++) {
        s->load[c] = model->load[c];
        s->crossing[c] = 0;
        s->digest[c] = 0;
        s->floor[c] = 0;
    }
    s->digest[model->n_cliques] = 0;
    for (uint32_t i = 0; i < model->n; i++) {
        /* Contradictory groups have no places, and no packing is looked for. */
        const int64_t bottom = model->tied ? model->delta[i] : 0;
        s->lowest[i] = model->clash ? 0 : arn_exact_snap_group(model, i, bottom);
        s->offset[i] = s->lowest[i];
        s->next[i] = 0;
        s->code[i] = scramble(((uint64_t)i + 1) * UINT64_C(0xd6e8feb86659fd93));
        find_hull(s, i);
        s->digest[s->hull_first[i]] += digest_of(s, i, s->lowest[i]);
    }
    s->capacity = INT64_MAX;
    for (uint32_t c = 0; c < model->n_cliques; c++) find_floor(s, c);
    s->n_trail = 0;
    s->wasted = 0;
    return ARENAUT_OK;
}
