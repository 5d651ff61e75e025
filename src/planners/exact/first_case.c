#include "planners/exact/first_case.h"

#include "core/checked.h"
#include "core/sort.h"
#include "planners/bounds/hosts.h"

/* No more pairs of buffers than this are looked at. */
enum { MOST_LOOKS = 1 << 22, LOOK_OPERATIONS = 16 };

/* Groups as rings of buffers, and where each buffer lies if its group begins at the middle of
 * all addresses: only distances matter. */
typedef struct rings {
    const arn_exact_input *in;
    const arenaut_problem *p;
    uint8_t *pair;
    uint32_t *group, *next;
    uint64_t *place;
    uint32_t looks;
} rings;

static const uint64_t middle = UINT64_C(1) << 62;

static bool make_rings(rings *x, arn_region *region) {
    arn_hosts hosts;
    const uint32_t n = x->p->n_buffers;
    x->group = arn_region_allocate(region, n, sizeof *x->group);
    x->next = arn_region_allocate(region, n, sizeof *x->next);
    x->place = arn_region_allocate(region, n, sizeof *x->place);
    if (!x->group || !x->next || !x->place || !arn_hosts_find(x->p, region, &hosts)) return false;
    for (uint32_t b = 0; b < n; b++) x->next[b] = b;
    for (uint32_t b = 0; b < n; b++) {
        const bool slice = hosts.root && arn_exact_in_pool(x->in, b) && hosts.root[b] != b;
        x->group[b] = slice ? hosts.root[b] : b;
        x->place[b] = middle + (slice ? hosts.delta[b] : 0);
        if (!slice) continue;
        x->next[b] = x->next[hosts.root[b]];
        x->next[hosts.root[b]] = b;
    }
    return true;
}

static bool overlap(const rings *x, uint32_t a, uint32_t b) {
    return x->place[a] < x->place[b] + x->p->size[b] && x->place[b] < x->place[a] + x->p->size[a];
}

/* Whether two buffers of one group may be as far apart as they are. */
static bool may_be_mates(const rings *x, uint32_t a, uint32_t b) {
    const uint64_t align =
        arn_min_u64(arenaut_problem_align(x->p, a), arenaut_problem_align(x->p, b));
    if ((x->place[a] - x->place[b]) & (align - 1)) return false;
    return !overlap(x, a, b) || !arn_exact_must_be_apart(x->p, a, b, x->place);
}

static bool may_merge(rings *x, uint32_t a, uint32_t b) {
    uint32_t i = a;
    do {
        uint32_t k = b;
        do {
            if (++x->looks > MOST_LOOKS || !arn_ask_after(x->in->ask, LOOK_OPERATIONS))
                return false;
            if (!may_be_mates(x, i, k)) return false;
            k = x->next[k];
        } while (k != b);
        i = x->next[i];
    } while (i != a);
    return true;
}

static void shift(rings *x, uint32_t a, uint64_t by) {
    uint32_t i = a;
    do {
        x->place[i] += by; /* may wrap around, and back */
        i = x->next[i];
    } while (i != a);
}

/* Who is fixed is left alone: where its group lies is settled. */
static bool has_fixed(const rings *x, uint32_t a) {
    uint32_t i = a;
    do {
        if (arenaut_problem_fixed_offset(x->p, i) != ARENAUT_UNPLACED) return true;
        i = x->next[i];
    } while (i != a);
    return false;
}

/* Joins the group of `heir` to that of its base if nobody minds. */
static void join(rings *x, uint32_t heir) {
    const uint32_t base = x->p->same_base[heir];
    const uint64_t by = x->place[base] - x->place[heir];
    if (x->group[heir] == x->group[base] || has_fixed(x, heir) || has_fixed(x, base)) return;
    shift(x, heir, by);
    if (!may_merge(x, heir, base)) {
        shift(x, heir, 0 - by);
        return;
    }
    uint32_t i = heir;
    do {
        x->group[i] = x->group[base];
        i = x->next[i];
    } while (i != heir);
    const uint32_t after = x->next[heir];
    x->next[heir] = x->next[base];
    x->next[base] = after;
}

static uint64_t saving(const arenaut_problem *p, uint32_t heir) {
    return arn_min_u64(p->size[heir], p->size[p->same_base[heir]]);
}

static bool larger_saving(const void *context, uint32_t a, uint32_t b) {
    return saving(context, a) > saving(context, b);
}

static bool sketch(rings *x, arn_region *region) {
    uint32_t n = 0, *order = arn_region_allocate(region, x->p->n_buffers, 2 * sizeof *order);
    if (!order || !make_rings(x, region)) return false;
    for (uint32_t b = 0; b < x->p->n_buffers; b++) {
        x->pair[b] = ARN_EXACT_APART;
        if (arn_exact_is_pair(x->in, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, larger_saving, x->p, order + x->p->n_buffers);
    for (uint32_t k = 0; k < n && x->looks <= MOST_LOOKS; k++) join(x, order[k]);
    /* Some may have come to lie on their base because of others. */
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t heir = order[k], base = x->p->same_base[heir];
        const bool joined = x->group[heir] == x->group[base] && x->place[heir] == x->place[base];
        if (joined) x->pair[heir] = ARN_EXACT_JOINED;
    }
    return true;
}

bool arn_exact_sketch(const arn_exact_input *in, uint8_t *pair) {
    rings x = {.in = in, .p = in->problem, .pair = pair};
    arn_region region;
    arn_region_init(&region, in->allocator);
    const bool done = sketch(&x, &region);
    arn_region_free(&region);
    return done;
}
