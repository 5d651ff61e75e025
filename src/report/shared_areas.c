/* Areas shared by two buffers: the addresses that both cover, for as long as both live. Only pairs
 * that the problem lets overlap are looked at, so this costs as much as there are of these. */
#include "report/shared_areas.h"

typedef struct shared {
    const arenaut_result *result;
    uint32_t pool;
    void *context;
    void (*put)(void *context, arn_shared_area area);
} shared;

static void put_pair(const shared *s, uint32_t a, uint32_t b) {
    const arenaut_problem *p = s->result->problem;
    const arenaut_plan *plan = s->result->plan;
    if (plan->pool[a] != s->pool || plan->pool[b] != s->pool) return;
    const uint64_t end_a = plan->offset[a] + p->size[a], end_b = plan->offset[b] + p->size[b];
    arn_shared_area area = {
        .a = a,
        .b = b,
        .low = plan->offset[a] > plan->offset[b] ? plan->offset[a] : plan->offset[b],
        .high = end_a < end_b ? end_a : end_b};
    if (area.low >= area.high) return;
    uint32_t i = p->lifetime_start[a], j = p->lifetime_start[b];
    while (i < p->lifetime_start[a + 1] && j < p->lifetime_start[b + 1]) {
        const arenaut_interval x = p->lifetime[i], y = p->lifetime[j];
        area.life.first = x.first > y.first ? x.first : y.first;
        area.life.end = x.end < y.end ? x.end : y.end;
        if (area.life.first < area.life.end) s->put(s->context, area);
        if (x.end < y.end) i++;
        else j++;
    }
}

void arn_report_shared_areas(const arenaut_result *result, uint32_t pool, void *context,
                             void (*put)(void *context, arn_shared_area area)) {
    const arenaut_problem *p = result->problem;
    const shared s = {result, pool, context, put};
    for (uint32_t b = 0; p->same_base && b < p->n_buffers; b++) {
        if (p->same_base[b] != ARENAUT_NONE) put_pair(&s, b, p->same_base[b]);
    }
    for (uint32_t i = 0; i < p->n_separations; i++) {
        put_pair(&s, p->separation[i].upper, p->separation[i].lower);
    }
}
