/* Segment tree of covered bytes: see covered.h. */
#include "report/covered.h"

#include <stdlib.h>

#include "core/memory.h"

static int by_address(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool has_place(const arn_covered *c, uint32_t buffer) {
    return c->problem->size[buffer] > 0 && c->plan->pool[buffer] < c->plan->n_pools;
}

/* Pools lie behind one another. */
static uint64_t first_of(const arn_covered *c, uint32_t buffer) {
    return c->base[c->plan->pool[buffer]] + c->plan->offset[buffer];
}

static void list_addresses(arn_covered *c) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < c->problem->n_buffers; b++) {
        if (!has_place(c, b)) continue;
        c->address[n++] = first_of(c, b);
        c->address[n++] = first_of(c, b) + c->problem->size[b];
    }
    if (n) qsort(c->address, n, sizeof *c->address, by_address);
    c->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || c->address[i] != c->address[i - 1]) c->address[c->n++] = c->address[i];
    }
}

bool arn_covered_init(arn_covered *c, const arenaut_problem *problem, const arenaut_plan *plan,
                      const arenaut_allocator *allocator) {
    *c = (arn_covered){.problem = problem, .plan = plan, .allocator = allocator};
    for (uint32_t p = 1; p < plan->n_pools; p++) c->base[p] = c->base[p - 1] + plan->arena[p - 1];
    c->address = arn_allocate(allocator, 2 * (uint64_t)problem->n_buffers, sizeof *c->address);
    if (c->address) list_addresses(c);
    c->covers = arn_allocate_zeroed(allocator, 4 * (uint64_t)c->n, sizeof *c->covers);
    c->bytes = arn_allocate_zeroed(allocator, 4 * (uint64_t)c->n, sizeof *c->bytes);
    if (c->address && c->covers && c->bytes) return true;
    arn_covered_free(c);
    return false;
}

void arn_covered_free(arn_covered *c) {
    arn_release(c->allocator, c->address);
    arn_release(c->allocator, c->covers);
    arn_release(c->allocator, c->bytes);
}

/* A node spans the stretches [low, high) between neighbouring addresses. */
typedef struct span {
    uint32_t node, low, high;
} span;

static void change(arn_covered *c, span at, uint64_t first, uint64_t end, bool comes) {
    const uint64_t begins = c->address[at.low], ends = c->address[at.high];
    if (end <= begins || ends <= first) return;
    const bool leaf = at.high - at.low == 1;
    if (first <= begins && ends <= end) {
        c->covers[at.node] += comes ? 1u : UINT32_MAX;
    } else {
        const uint32_t middle = at.low + (at.high - at.low) / 2;
        change(c, (span){2 * at.node, at.low, middle}, first, end, comes);
        change(c, (span){2 * at.node + 1, middle, at.high}, first, end, comes);
    }
    c->bytes[at.node] = c->covers[at.node] ? ends - begins
                        : leaf             ? 0
                                           : c->bytes[2 * at.node] + c->bytes[2 * at.node + 1];
}

void arn_covered_change(arn_covered *c, uint32_t buffer, bool comes) {
    if (!has_place(c, buffer)) return;
    const uint64_t first = first_of(c, buffer);
    change(c, (span){1, 0, c->n - 1}, first, first + c->problem->size[buffer], comes);
}
