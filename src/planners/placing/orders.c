/* Sections of time, and orders of groups by the keys that a name lists.
 *
 * Time is cut whenever a group starts or ends, at most twice per group; orders and the skyline
 * count in these sections. An order is one stable sort for each key from the last to the first.
 * Keys about groups alive together come from sums over sections and a tree of maxima: O(n log n) to
 * make, O(log n) a group. */
#include "planners/placing/orders.h"

#include <string.h>

#include "core/checked.h"
#include "core/sort.h"

/* ---- sections ---- */

static void find_loads(const arn_groups *groups, arn_timeline *t) {
    for (uint32_t k = 0; k < t->n_sections; k++) t->load[k] = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        t->load[t->first[i]] += groups->group[i].extent;
        if (t->end[i] < t->n_sections) t->load[t->end[i]] -= groups->group[i].extent;
    }
    for (uint32_t k = 1; k < t->n_sections; k++) t->load[k] += t->load[k - 1];
}

static int64_t first_step(const arn_group *group) { return group->first; }
static int64_t end_step(const arn_group *group) { return group->end; }

/* All groups in the order of `step_of`. */
static uint32_t *sorted_steps(const arn_groups *groups, int64_t (*step_of)(const arn_group *),
                              arn_region *region) {
    uint64_t *key = arn_region_allocate(region, groups->n, sizeof *key);
    uint32_t *order = arn_region_allocate(region, (size_t)groups->n * 2, sizeof *order);
    if (!key || !order) return NULL;
    for (uint32_t i = 0; i < groups->n; i++) {
        key[i] = arn_step_key(step_of(&groups->group[i]));
        order[i] = i;
    }
    arn_sort_by_key(order, groups->n, key, order + groups->n);
    return order;
}

/* Numbers the cuts, and writes those of each group. */
static void number_cuts(const arn_groups *groups, const uint32_t *starts, const uint32_t *ends,
                        arn_timeline *t) {
    const size_t n = groups->n;
    uint32_t cut = 0;
    int64_t step = n ? groups->group[starts[0]].first : 0;
    for (size_t i = 0, k = 0; k < n;) {
        const bool starts_next =
            i < n && groups->group[starts[i]].first <= groups->group[ends[k]].end;
        const uint32_t id = starts_next ? starts[i++] : ends[k++];
        const int64_t now = starts_next ? groups->group[id].first : groups->group[id].end;
        if (now != step) cut++;
        step = now;
        (starts_next ? t->first : t->end)[id] = cut;
    }
    t->n_sections = cut; /* the last cut begins nothing */
}

bool arn_timeline_make(const arn_groups *groups, arn_region *region, arn_timeline *t) {
    const size_t n = groups->n;
    arn_region passing; /* of millions of groups the sorted ones are too much to keep */
    if (n > UINT32_MAX / 4) return false;
    t->first = arn_region_allocate(region, n, sizeof *t->first);
    t->end = arn_region_allocate(region, n, sizeof *t->end);
    if (!t->first || !t->end) return false;
    arn_region_init(&passing, &region->allocator);
    const uint32_t *starts = sorted_steps(groups, first_step, &passing);
    const uint32_t *ends = starts ? sorted_steps(groups, end_step, &passing) : NULL;
    if (ends) number_cuts(groups, starts, ends, t);
    arn_region_free(&passing);
    if (!ends) return false;
    t->load = arn_region_allocate(region, t->n_sections, sizeof *t->load);
    if (!t->load) return false;
    find_loads(groups, t);
    return true;
}

/* ---- orders ---- */

enum { KEYS = 3, FRACTION_BITS = 31 };

/* Maxima over sections: leaves from n_leaves on, node k above 2k and 2k + 1. */
static void build_load_tree(arn_orders *orders) {
    uint64_t *tree = orders->load_tree;
    for (uint32_t k = orders->n_leaves; k-- > 1;)
        tree[k] = arn_max_u64(tree[2 * k], tree[2 * k + 1]);
}

/* Of the loads as parts of the highest, as binary fractions. */
static void sum_powers(arn_orders *orders) {
    const uint64_t *load = orders->load_tree + orders->n_leaves;
    const uint64_t highest = orders->load_tree[1];
    unsigned shift = 0;
    while (highest >> shift >> FRACTION_BITS) shift++;
    orders->powers[0] = 0;
    for (uint32_t k = 0; k < orders->timeline->n_sections; k++) {
        uint64_t power = (load[k] >> shift << FRACTION_BITS) / ((highest >> shift) + 1);
        for (int times = 0; times < 3; times++) power = power * power >> FRACTION_BITS;
        const uint64_t sixteenth = power * power >> FRACTION_BITS;
        orders->powers[k + 1] = orders->powers[k] + (sixteenth * power >> FRACTION_BITS);
    }
}

static void start_from_loads(arn_orders *orders) {
    const arn_timeline *t = orders->timeline;
    for (uint32_t k = 0; k < orders->n_leaves; k++)
        orders->load_tree[orders->n_leaves + k] = k < t->n_sections ? t->load[k] : 0;
    build_load_tree(orders);
}

bool arn_orders_need_powers(arn_orders *orders, arn_region *region) {
    const size_t sections = orders->timeline->n_sections;
    if (orders->powers) return true;
    orders->powers = arn_region_allocate(region, sections + 1, sizeof *orders->powers);
    if (orders->powers) sum_powers(orders);
    return orders->powers;
}

void arn_orders_blame(arn_orders *orders, const uint64_t *offset, uint64_t goal, uint64_t *excess) {
    const arn_timeline *t = orders->timeline;
    uint64_t *load = orders->load_tree + orders->n_leaves;
    memset(excess, 0, t->n_sections * sizeof *excess);
    for (uint32_t i = 0; i < orders->groups->n; i++) {
        const uint64_t end = offset[i] + orders->groups->group[i].extent;
        for (uint32_t k = t->first[i]; end > goal && k < t->end[i]; k++)
            excess[k] = arn_max_u64(excess[k], end - goal);
    }
    for (uint32_t k = 0; k < t->n_sections; k++)
        load[k] += arn_min_u64(2 * excess[k], UINT64_MAX - load[k]);
    build_load_tree(orders);
    if (orders->powers) sum_powers(orders);
}

static uint64_t highest_load(const arn_orders *orders, uint32_t group) {
    const uint32_t leaves = orders->n_leaves;
    uint64_t highest = 0;
    uint32_t low = orders->timeline->first[group] + leaves;
    uint32_t high = orders->timeline->end[group] + leaves;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1) highest = arn_max_u64(highest, orders->load_tree[low++]);
        if (high & 1) highest = arn_max_u64(highest, orders->load_tree[--high]);
    }
    return highest;
}

/* The first section of the group with the highest load: up to the first subtree on the right
 * that has it, then down to its leftmost leaf. */
static uint32_t highest_section(const arn_orders *orders, uint32_t group) {
    const uint64_t highest = highest_load(orders, group);
    uint32_t node = orders->timeline->first[group] + orders->n_leaves;
    while (orders->load_tree[node] < highest) {
        while (node & 1) node /= 2;
        node++;
    }
    while (node < orders->n_leaves) {
        node = orders->load_tree[2 * node] >= highest ? 2 * node : 2 * node + 1;
    }
    return node - orders->n_leaves;
}

/* The groups alive together with one: the number that start before its end, less the number that
 * end before its start, which is counted from the other end of the order. */
static void count_starts(arn_orders *orders) {
    const arn_timeline *t = orders->timeline;
    uint32_t *starts = orders->started, *ends = orders->started + t->n_sections + 1;
    for (uint32_t k = 0; k <= t->n_sections; k++) starts[k] = ends[k] = 0;
    for (uint32_t i = 0; i < orders->groups->n; i++) {
        starts[t->first[i]]++;
        ends[t->end[i]]++;
    }
    for (uint32_t k = 1; k <= t->n_sections; k++) {
        starts[k] += starts[k - 1];
        ends[k] += ends[k - 1];
    }
}

uint64_t arn_orders_count_conflicts(const arn_orders *orders, uint32_t group) {
    const arn_timeline *t = orders->timeline;
    const uint32_t *starts = orders->started, *ends = orders->started + t->n_sections + 1;
    return starts[t->end[group] - 1] - ends[t->first[group]];
}

bool arn_orders_fork(arn_orders *copy, arn_region *region) {
    const uint32_t n = copy->groups->n;
    copy->key = arn_region_allocate(region, n, sizeof *copy->key);
    copy->scratch = arn_region_allocate(region, n, sizeof *copy->scratch);
    return copy->key && copy->scratch;
}

bool arn_orders_init(arn_orders *orders, const arn_groups *groups, const arn_timeline *timeline,
                     arn_region *region) {
    const size_t sections = timeline->n_sections;
    orders->groups = groups;
    orders->timeline = timeline;
    orders->n_leaves = 1;
    while (orders->n_leaves < sections) orders->n_leaves *= 2;
    orders->load_tree =
        arn_region_allocate(region, (size_t)orders->n_leaves * 2, sizeof *orders->load_tree);
    orders->started = arn_region_allocate(region, 2 * (sections + 1), sizeof *orders->started);
    if (!orders->load_tree || !orders->started || !arn_orders_fork(orders, region)) return false;
    orders->powers = NULL;
    start_from_loads(orders);
    count_starts(orders);
    return true;
}

static uint64_t width(const arn_group *group) {
    return (uint64_t)group->end - (uint64_t)group->first;
}

static uint64_t pools_left_out(const arn_group *group) {
    uint64_t left_out = 0;
    for (uint64_t pools = ~group->pools; pools; pools &= pools - 1) left_out++;
    return left_out;
}

static uint64_t key_of(const arn_orders *orders, uint32_t i, char letter) {
    const arn_group *group = &orders->groups->group[i];
    uint64_t area;
    switch (letter) {
        case 'Z': return group->extent;
        case 'W': return width(group);
        case 'A': return arn_multiply(group->extent, width(group), &area) ? area : UINT64_MAX;
        case 'T': return highest_load(orders, i);
        case 'N':
            return orders->powers[orders->timeline->end[i]] -
                   orders->powers[orders->timeline->first[i]];
        case 'P': return ~(uint64_t)highest_section(orders, i);
        case 'F': return pools_left_out(group);
        case 'C': return arn_orders_count_conflicts(orders, i);
        case 'L': return ~arn_step_key(group->first);
        case 'U': return arn_step_key(group->end);
        default: return 0;
    }
}

/* Fixed groups come first, in the order of their numbers. */
static void bring_fixed_forward(const arn_groups *groups, uint32_t *order, uint32_t *scratch) {
    uint32_t n_fixed = 0, n_others = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        if (groups->group[order[i]].fixed == ARENAUT_UNPLACED) scratch[n_others++] = order[i];
    }
    for (uint32_t i = 0; i < groups->n; i++) {
        if (groups->group[i].fixed != ARENAUT_UNPLACED) order[n_fixed++] = i;
    }
    if (n_fixed) memcpy(order + n_fixed, scratch, n_others * sizeof *order);
}

void arn_orders_sort(arn_orders *orders, const char *letters, uint32_t *order) {
    const uint32_t n = orders->groups->n;
    size_t length = strlen(letters);
    const bool last_first = length > 0 && letters[length - 1] == '-';
    for (uint32_t i = 0; i < n; i++) order[i] = last_first ? n - 1 - i : i;
    length -= last_first;
    /* Sorts are stable, so the letter that counts most comes last. */
    while (length-- > 0) {
        for (uint32_t i = 0; i < n; i++) orders->key[i] = ~key_of(orders, i, letters[length]);
        arn_sort_by_key(order, n, orders->key, orders->scratch);
    }
    bring_fixed_forward(orders->groups, order, orders->scratch);
}

const char *arn_order_letters(const char *value) {
    static const struct {
        const char *word, *letters;
    } words[] = {{"size", "Z"}, {"area", "A"},      {"lifetime", "W"}, {"start", "L"},
                 {"end", "U"},  {"conflicts", "C"}, {"load", "T"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(value, words[i].word) == 0) return words[i].letters;
    }
    const size_t n = strspn(value, "ZAWLUCTPF");
    if (n == 0 || n > KEYS) return NULL;
    return value[n] == '\0' || strcmp(value + n, "-") == 0 ? value : NULL;
}
