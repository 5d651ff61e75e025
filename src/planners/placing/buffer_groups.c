/* Groups of the buffers of a problem: hosts with their slices, and, with ARN_COLLAPSE, chains of
 * buffers that each take over their base's memory. Chains are grown in the order of time, and only
 * by buffers without other relations, so that a group stays rigid. O(n log n + edges). Planners
 * place these groups; placing.c keeps the relations between them. */
#include "planners/placing/buffer_groups.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/bounds/hosts.h"

/* While groups are made, `owner` holds the buffer that each one's group is named after, or
 * ARENAUT_NONE. */

static int64_t first_step(const arenaut_problem *p, uint32_t b) {
    return arenaut_problem_lifetimes(p, b)->first;
}

static int64_t end_step(const arenaut_problem *p, uint32_t b) {
    return p->lifetime[p->lifetime_start[b + 1] - 1].end;
}

/* ---- relations as lists ---- */

/* Turns counts in start[1 .. n] into the start of each list. */
static void counts_to_starts(uint32_t *start, uint32_t n) {
    for (uint32_t b = 0; b < n; b++) start[b + 1] += start[b];
}

static uint32_t *new_ids(arn_groups *groups, uint64_t n) {
    return n > SIZE_MAX / 8 ? NULL
                            : arn_region_allocate(&groups->region, (size_t)n, sizeof(uint32_t));
}

static uint32_t *new_counts(arn_groups *groups) {
    const uint64_t n = (uint64_t)groups->problem->n_buffers + 1;
    uint32_t *counts = new_ids(groups, n);
    for (uint64_t i = 0; counts && i < n; i++) counts[i] = 0;
    return counts;
}

/* The base of `b` if both need memory. */
static uint32_t living_base(const arenaut_problem *p, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(p, b);
    if (base == ARENAUT_NONE || !arenaut_problem_needs_memory(p, b)) return ARENAUT_NONE;
    return arenaut_problem_needs_memory(p, base) ? base : ARENAUT_NONE;
}

static bool list_heirs(arn_groups *groups) {
    const arenaut_problem *p = groups->problem;
    if (!p->same_base) return true;
    uint32_t *start = new_counts(groups), *fill = new_counts(groups);
    groups->heir = new_ids(groups, p->n_buffers);
    if (!start || !fill || !groups->heir) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (living_base(p, b) != ARENAUT_NONE) start[living_base(p, b) + 1]++;
    }
    counts_to_starts(start, p->n_buffers);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t base = living_base(p, b);
        if (base != ARENAUT_NONE) groups->heir[start[base] + fill[base]++] = b;
    }
    groups->heir_start = start;
    return true;
}

static bool list_edges(arn_groups *groups) {
    const arenaut_problem *p = groups->problem;
    if (!p->n_conflicts) return true;
    uint32_t *start = new_counts(groups), *fill = new_counts(groups);
    groups->edge = new_ids(groups, (uint64_t)p->n_conflicts * 2);
    if (!start || !fill || !groups->edge || p->n_conflicts > UINT32_MAX / 2) return false;
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        start[p->conflict[i].a + 1]++;
        start[p->conflict[i].b + 1]++;
    }
    counts_to_starts(start, p->n_buffers);
    for (uint32_t i = 0; i < p->n_conflicts; i++) {
        const uint32_t a = p->conflict[i].a, b = p->conflict[i].b;
        groups->edge[start[a] + fill[a]++] = b;
        groups->edge[start[b] + fill[b]++] = a;
    }
    groups->edge_start = start;
    return true;
}

/* ---- which buffers move together ---- */

static bool name_clusters(arn_groups *groups, const arn_hosts *hosts) {
    const arenaut_problem *p = groups->problem;
    groups->owner = new_ids(groups, p->n_buffers);
    groups->delta = hosts->delta;
    if (!groups->owner) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const bool needs = arenaut_problem_needs_memory(p, b);
        groups->owner[b] = !needs ? ARENAUT_NONE : hosts->root ? hosts->root[b] : b;
    }
    return true;
}

/* A chain while it grows: only its last member can be taken over, by a buffer that meets no
 * other member. Indexed by the buffer that the chain is named after. */
typedef struct chain {
    uint32_t last;
    int64_t others_end; /* when all members but the last are gone */
} chain;

/* Buffers with any other relation are left alone: their groups are settled elsewhere. */
static bool is_unrelated(const arn_groups *groups, const arn_hosts *hosts, const bool *is_host,
                         uint32_t b) {
    const arenaut_problem *p = groups->problem;
    return arenaut_problem_needs_memory(p, b) && !(hosts->host && hosts->host[b] != ARENAUT_NONE) &&
           !(is_host && is_host[b]) && arenaut_problem_fixed_offset(p, b) == ARENAUT_UNPLACED &&
           !(groups->edge_start && groups->edge_start[b] != groups->edge_start[b + 1]);
}

static bool starts_before(const void *context, uint32_t a, uint32_t b) {
    return first_step(context, a) < first_step(context, b);
}

/* Bases come before their heirs in time, so going by first step meets each chain from its
 * head on. */
static void join_chains(arn_groups *groups, chain *chains, const uint32_t *order, uint32_t n) {
    const arenaut_problem *p = groups->problem;
    for (uint32_t i = 0; i < n; i++) {
        const chain alone = {order[i], INT64_MIN};
        chains[order[i]] = alone;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t b = order[i], base = living_base(p, b);
        if (base == ARENAUT_NONE || chains[b].last != b) continue;
        chain *c = &chains[groups->owner[base]];
        if (c->last != base || first_step(p, b) < c->others_end ||
            arenaut_problem_pools(p, b) != arenaut_problem_pools(p, base)) {
            continue;
        }
        if (end_step(p, base) > c->others_end) c->others_end = end_step(p, base);
        c->last = b;
        groups->owner[b] = groups->owner[base];
    }
}

static bool collapse(arn_groups *groups, const arn_hosts *hosts) {
    const arenaut_problem *p = groups->problem;
    if (!p->same_base) return true;
    chain *chains = arn_region_allocate(&groups->region, p->n_buffers, sizeof *chains);
    uint32_t *order = new_ids(groups, (uint64_t)p->n_buffers * 2);
    bool *is_host = NULL;
    if (!chains || !order) return false;
    if (hosts->host) {
        is_host = arn_region_allocate(&groups->region, p->n_buffers, sizeof *is_host);
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
        if (is_unrelated(groups, hosts, is_host, b)) order[n++] = b;
    }
    arn_sort_ids(order, n, starts_before, p, order + p->n_buffers);
    join_chains(groups, chains, order, n);
    return true;
}

/* ---- numbering and filling ---- */

/* Gives numbers to groups in the order of the buffers that name them, and turns `owner` from
 * names into numbers. */
static bool number_groups(arn_groups *groups) {
    const arenaut_problem *p = groups->problem;
    uint32_t *number = groups->member = new_ids(groups, p->n_buffers);
    if (!number) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (groups->owner[b] == b) number[b] = groups->n++;
    }
    groups->group = arn_region_allocate(&groups->region, groups->n, sizeof *groups->group);
    if (!groups->group) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (groups->owner[b] != ARENAUT_NONE) groups->owner[b] = number[groups->owner[b]];
    }
    return true;
}

static void list_members(arn_groups *groups) {
    const arenaut_problem *p = groups->problem;
    for (uint32_t i = 0; i < groups->n; i++) groups->group[i].n_members = 0;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (groups->owner[b] != ARENAUT_NONE) groups->group[groups->owner[b]].n_members++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        groups->group[i].member = at;
        at += groups->group[i].n_members;
        groups->group[i].n_members = 0;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        if (groups->owner[b] == ARENAUT_NONE) continue;
        arn_group *group = &groups->group[groups->owner[b]];
        groups->member[group->member + group->n_members++] = b;
    }
}

static bool has_outside_partner(const arn_groups *groups, uint32_t b) {
    const uint32_t base = living_base(groups->problem, b);
    if (base != ARENAUT_NONE && groups->owner[base] != groups->owner[b]) return true;
    if (!groups->heir_start) return false;
    for (uint32_t i = groups->heir_start[b]; i < groups->heir_start[b + 1]; i++) {
        if (groups->owner[groups->heir[i]] != groups->owner[b]) return true;
    }
    return false;
}

static void describe_group(arn_groups *groups, arn_group *group) {
    const arenaut_problem *p = groups->problem;
    const uint32_t *member = groups->member + group->member;
    group->extent = 0;
    group->align = 1;
    group->pools = UINT64_MAX;
    group->fixed = ARENAUT_UNPLACED;
    group->first = INT64_MAX;
    group->end = INT64_MIN;
    group->related = false;
    for (uint32_t i = 0; i < group->n_members; i++) {
        const uint32_t b = member[i];
        group->extent = arn_max_u64(group->extent, arn_groups_delta(groups, b) + p->size[b]);
        group->align = arn_max_u64(group->align, arenaut_problem_align(p, b));
        group->pools &= arenaut_problem_pools(p, b);
        if (arenaut_problem_fixed_offset(p, b) != ARENAUT_UNPLACED) {
            group->fixed = arenaut_problem_fixed_offset(p, b);
        }
        if (first_step(p, b) < group->first) group->first = first_step(p, b);
        if (end_step(p, b) > group->end) group->end = end_step(p, b);
        group->related = group->related || has_outside_partner(groups, b) ||
                         (groups->edge_start && groups->edge_start[b] != groups->edge_start[b + 1]);
    }
}

static void add_pieces(arn_groups *groups, arn_group *group, unsigned how) {
    const arenaut_problem *p = groups->problem;
    group->piece = groups->n_pieces;
    if (how & ARN_HULL) {
        const arn_piece whole = {group->first, group->end, 0, group->extent,
                                 groups->member[group->member]};
        groups->piece[groups->n_pieces++] = whole;
    } else {
        for (uint32_t i = 0; i < group->n_members; i++) {
            const uint32_t b = groups->member[group->member + i];
            const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
            for (uint32_t k = 0; k < arenaut_problem_lifetime_count(p, b); k++) {
                const arn_piece piece = {life[k].first, life[k].end, arn_groups_delta(groups, b),
                                         arn_groups_delta(groups, b) + p->size[b], b};
                groups->piece[groups->n_pieces++] = piece;
            }
        }
    }
    group->n_pieces = groups->n_pieces - group->piece;
}

arenaut_status arn_groups_make(const arenaut_problem *problem, unsigned how,
                               const arenaut_allocator *allocator, arn_groups *groups,
                               arenaut_error *err) {
    const arn_groups empty = {.problem = problem};
    *groups = empty;
    arn_region_init(&groups->region, allocator);
    arn_hosts hosts;
    bool done = arn_hosts_find(problem, &groups->region, &hosts) && list_heirs(groups) &&
                list_edges(groups) && name_clusters(groups, &hosts);
    if (done && how & ARN_COLLAPSE) done = collapse(groups, &hosts);
    done = done && number_groups(groups);
    if (done) {
        groups->piece =
            arn_region_allocate(&groups->region, problem->n_lifetimes, sizeof *groups->piece);
    }
    if (!done || !groups->piece) {
        arn_groups_free(groups);
        return arn_no_memory(err);
    }
    list_members(groups);
    for (uint32_t i = 0; i < groups->n; i++) {
        describe_group(groups, &groups->group[i]);
        add_pieces(groups, &groups->group[i], how);
    }
    return ARENAUT_OK;
}

uint64_t arn_group_traffic(const arn_groups *groups, const arn_group *group) {
    const arenaut_problem *p = groups->problem;
    const uint32_t *member = groups->member + group->member;
    uint64_t traffic = 0;
    for (uint32_t i = 0; i < group->n_members; i++)
        traffic += p->size[member[i]] * arenaut_problem_uses(p, member[i]);
    return traffic;
}

uint64_t arn_group_spill(const arn_groups *groups, const arn_group *group, uint32_t pool) {
    const uint32_t rank = arn_problem_rank(groups->problem, groups->member[group->member], pool);
    return rank ? arn_group_traffic(groups, group) * rank : 0;
}

uint64_t arn_group_hint(const arn_groups *groups, const arn_group *group) {
    uint64_t hint = ARENAUT_UNPLACED;
    for (uint32_t i = 0; i < group->n_members && hint == ARENAUT_UNPLACED; i++)
        hint = arenaut_problem_hint(groups->problem, groups->member[group->member + i]);
    return hint;
}

void arn_groups_free(arn_groups *groups) { arn_region_free(&groups->region); }
