#include "planners/placing/items.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/bounds/hosts.h"

/* While items are made, `owner` holds the buffer that each one's item is named after, or
 * ARENAUT_NONE. */

static int64_t first_step(const arenaut_problem *p, uint32_t b) {
    return arenaut_problem_lifetimes(p, b)->first;
}

static int64_t end_step(const arenaut_problem *p, uint32_t b) {
    return p->lifetime[p->lifetime_start[b + 1] - 1].end;
}

/* ---- relations as lists ---- */

/* Turns counts in start[1 .. n] into the places where each list begins. */
static void counts_to_starts(uint32_t *start, uint32_t n) {
    for (uint32_t b = 0; b < n; b++) start[b + 1] += start[b];
}

static uint32_t *new_ids(arn_items *items, uint64_t n) {
    return n > SIZE_MAX / 8 ? NULL
                            : arn_region_allocate(&items->region, (size_t)n, sizeof(uint32_t));
}

static uint32_t *new_counts(arn_items *items) {
    const uint64_t n = (uint64_t)items->problem->n_buffers + 1;
    uint32_t *counts = new_ids(items, n);
    for (uint64_t i = 0; counts && i < n; i++) counts[i] = 0;
    return counts;
}

/* The base of `b` if both need memory. */
static uint32_t living_base(const arenaut_problem *p, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(p, b);
    if (base == ARENAUT_NONE || !arenaut_problem_needs_memory(p, b)) return ARENAUT_NONE;
    return arenaut_problem_needs_memory(p, base) ? base : ARENAUT_NONE;
}

static bool list_heirs(arn_items *items) {
    const arenaut_problem *p = items->problem;
    if (!p->same_base) return true;
    uint32_t *start = new_counts(items), *fill = new_counts(items);
    items->heir = new_ids(items, p->n_buffers);
    if (!start || !fill || !items->heir) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (living_base(p, b) != ARENAUT_NONE) start[living_base(p, b) + 1]++;
    }
    counts_to_starts(start, p->n_buffers);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t base = living_base(p, b);
        if (base != ARENAUT_NONE) items->heir[start[base] + fill[base]++] = b;
    }
    items->heir_start = start;
    return true;
}

static bool list_rivals(arn_items *items) {
    const arenaut_problem *p = items->problem;
    if (!p->n_conflicts) return true;
    uint32_t *start = new_counts(items), *fill = new_counts(items);
    items->rival = new_ids(items, (uint64_t)p->n_conflicts * 2);
    if (!start || !fill || !items->rival || p->n_conflicts > UINT32_MAX / 2) return false;
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        start[p->conflict[i].a + 1]++;
        start[p->conflict[i].b + 1]++;
    }
    counts_to_starts(start, p->n_buffers);
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t a = p->conflict[i].a, b = p->conflict[i].b;
        items->rival[start[a] + fill[a]++] = b;
        items->rival[start[b] + fill[b]++] = a;
    }
    items->rival_start = start;
    return true;
}

/* ---- which buffers move together ---- */

static bool name_clusters(arn_items *items, const arn_hosts *hosts) {
    const arenaut_problem *p = items->problem;
    items->owner = new_ids(items, p->n_buffers);
    items->delta = arn_region_allocate(&items->region, p->n_buffers, sizeof *items->delta);
    if (!items->owner || !items->delta) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const bool needs = arenaut_problem_needs_memory(p, b);
        items->owner[b] = !needs ? ARENAUT_NONE : hosts->root ? hosts->root[b] : b;
        items->delta[b] = needs && hosts->delta ? hosts->delta[b] : 0;
    }
    return true;
}

/* A chain while it grows: only its last member can be taken over, by a buffer that meets no
 * other member. Indexed by the buffer that the chain is named after. */
typedef struct chain {
    uint32_t last;
    int64_t others_end; /* when all members but the last are gone */
} chain;

/* Buffers with any other tie are left alone: what moves with them is settled elsewhere. */
static bool is_untied(const arn_items *items, const arn_hosts *hosts, const bool *is_host,
                      uint32_t b) {
    const arenaut_problem *p = items->problem;
    return arenaut_problem_needs_memory(p, b) && !(hosts->host && hosts->host[b] != ARENAUT_NONE) &&
           !(is_host && is_host[b]) && arenaut_problem_fixed_offset(p, b) == ARENAUT_UNPLACED &&
           !(items->rival_start && items->rival_start[b] != items->rival_start[b + 1]);
}

static bool starts_before(const void *context, uint32_t a, uint32_t b) {
    return first_step(context, a) < first_step(context, b);
}

/* Bases come before their heirs in time, so going by first step meets each chain from its
 * head on. */
static void join_chains(arn_items *items, chain *chains, const uint32_t *order, uint32_t n) {
    const arenaut_problem *p = items->problem;
    for (uint32_t i = 0; i < n; i++) {
        const chain alone = {order[i], INT64_MIN};
        chains[order[i]] = alone;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = order[i], base = living_base(p, b);
        if (base == ARENAUT_NONE || chains[b].last != b) continue;
        chain *c = &chains[items->owner[base]];
        if (c->last != base || first_step(p, b) < c->others_end ||
            arenaut_problem_pools(p, b) != arenaut_problem_pools(p, base)) {
            continue;
        }
        if (end_step(p, base) > c->others_end) c->others_end = end_step(p, base);
        c->last = b;
        items->owner[b] = items->owner[base];
    }
}

static bool collapse(arn_items *items, const arn_hosts *hosts) {
    const arenaut_problem *p = items->problem;
    if (!p->same_base) return true;
    chain *chains = arn_region_allocate(&items->region, p->n_buffers, sizeof *chains);
    uint32_t *order = new_ids(items, (uint64_t)p->n_buffers * 2);
    bool *is_host = NULL;
    if (!chains || !order) return false;
    if (hosts->host) {
        is_host = arn_region_allocate(&items->region, p->n_buffers, sizeof *is_host);
        if (!is_host) return false;
        for (uint32_t b = 0; b < p->n_buffers; b++) is_host[b] = false;
        for (uint32_t b = 0; b < p->n_buffers; b++) {
            if (hosts->host[b] != ARENAUT_NONE) is_host[hosts->host[b]] = true;
        }
    }
    uint32_t n = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const chain none = {ARENAUT_NONE, INT64_MIN};
        chains[b] = none;
        if (is_untied(items, hosts, is_host, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, starts_before, p, order + p->n_buffers);
    join_chains(items, chains, order, n);
    return true;
}

/* ---- numbering and filling ---- */

/* Gives numbers to items in the order of the buffers that name them, and turns `owner` from
 * names into numbers. */
static bool number_items(arn_items *items) {
    const arenaut_problem *p = items->problem;
    uint32_t *number = new_ids(items, p->n_buffers);
    if (!number) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (items->owner[b] == b) number[b] = items->n++;
    }
    items->item = arn_region_allocate(&items->region, items->n, sizeof *items->item);
    items->member = new_ids(items, p->n_buffers);
    if (!items->item || !items->member) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (items->owner[b] != ARENAUT_NONE) items->owner[b] = number[items->owner[b]];
    }
    return true;
}

static void list_members(arn_items *items) {
    const arenaut_problem *p = items->problem;
    for (uint32_t i = 0; i < items->n; i++) items->item[i].n_members = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (items->owner[b] != ARENAUT_NONE) items->item[items->owner[b]].n_members++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        items->item[i].member = at;
        at += items->item[i].n_members;
        items->item[i].n_members = 0;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (items->owner[b] == ARENAUT_NONE) continue;
        arn_item *item = &items->item[items->owner[b]];
        items->member[item->member + item->n_members++] = b;
    }
}

static bool has_outside_partner(const arn_items *items, uint32_t b) {
    const uint32_t base = living_base(items->problem, b);
    if (base != ARENAUT_NONE && items->owner[base] != items->owner[b]) return true;
    if (!items->heir_start) return false;
    for (uint32_t i = items->heir_start[b]; i < items->heir_start[b + 1]; i++) {
        if (items->owner[items->heir[i]] != items->owner[b]) return true;
    }
    return false;
}

static void describe_item(arn_items *items, arn_item *item) {
    const arenaut_problem *p = items->problem;
    const uint32_t *member = items->member + item->member;
    item->extent = 0;
    item->align = 1;
    item->pools = UINT64_MAX;
    item->fixed = item->hint = ARENAUT_UNPLACED;
    item->first = INT64_MAX;
    item->end = INT64_MIN;
    item->tied = false;
    item->traffic = 0;
    for (uint32_t i = 0; i < item->n_members; i++) {
        const uint32_t b = member[i];
        item->extent = arn_max_u64(item->extent, items->delta[b] + p->size[b]);
        item->align = arn_max_u64(item->align, arenaut_problem_align(p, b));
        item->pools &= arenaut_problem_pools(p, b);
        item->traffic += p->size[b] * arenaut_problem_uses(p, b);
        if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) {
            item->fixed = arenaut_problem_fixed_offset(p, b);
        }
        if (item->hint == ARENAUT_UNPLACED) item->hint = arenaut_problem_hint(p, b);
        if (first_step(p, b) < item->first) item->first = first_step(p, b);
        if (end_step(p, b) > item->end) item->end = end_step(p, b);
        item->tied = item->tied || has_outside_partner(items, b) ||
                     (items->rival_start && items->rival_start[b] != items->rival_start[b + 1]);
    }
}

static void add_pieces(arn_items *items, arn_item *item, unsigned how) {
    const arenaut_problem *p = items->problem;
    item->piece = items->n_pieces;
    if (how & ARN_HULL) {
        const arn_piece whole = {item->first, item->end, 0, item->extent,
                                 items->member[item->member]};
        items->piece[items->n_pieces++] = whole;
    } else {
        for (uint32_t i = 0; i < item->n_members; i++) {
            const uint32_t b = items->member[item->member + i];
            const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
            for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
                const arn_piece piece = {life[k].first, life[k].end, items->delta[b],
                                         items->delta[b] + p->size[b], b};
                items->piece[items->n_pieces++] = piece;
            }
        }
    }
    item->n_pieces = items->n_pieces - item->piece;
}

arenaut_status arn_items_make(const arenaut_problem *problem, unsigned how,
                              const arenaut_allocator *allocator, arn_items *items,
                              arenaut_error *err) {
    const arn_items empty = {.problem = problem};
    *items = empty;
    arn_region_init(&items->region, allocator);
    arn_hosts hosts;
    bool done = arn_hosts_find(problem, &items->region, &hosts) && list_heirs(items) &&
                list_rivals(items) && name_clusters(items, &hosts);
    if (done && how & ARN_COLLAPSE) done = collapse(items, &hosts);
    done = done && number_items(items);
    if (done) {
        items->piece =
            arn_region_allocate(&items->region, problem->n_lifetimes, sizeof *items->piece);
    }
    if (!done || !items->piece) {
        arn_items_free(items);
        return arn_no_memory(err);
    }
    list_members(items);
    for (uint32_t i = 0; i < items->n; i++) {
        describe_item(items, &items->item[i]);
        add_pieces(items, &items->item[i], how);
    }
    return ARENAUT_OK;
}

void arn_items_free(arn_items *items) { arn_region_free(&items->region); }
