/* A lower bound by clusters: at each step the live buffers fall into clusters between which no
 * relation lets anything overlap, so that the bytes covered by the clusters add up. A cluster
 * covers at least
 *
 *   - the sum of any of its buffers that must all lie apart from each other, and
 *   - two separated buffers at the least that a permitted placement of them covers, together
 *     with buffers that must lie apart from both and from each other.
 *
 * Sets of buffers that lie apart are built greedily, largest first, uppers first and lowers
 * first: any such set is a bound, so nothing depends on finding the best, and the work has a
 * limit. */
#include "planners/overlap/overlap.h"

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "planners/bounds/hosts.h"

enum { MOST_WORK = 1 << 24, SMALL_CLUSTER = 64 };

typedef struct bound {
    const arenaut_problem *problem;
    uint32_t pool;
    arn_region memory;
    uint32_t *births, *owner, n_births; /* lifetimes by first step, and their buffers */
    uint32_t *alive, n_alive;           /* lifetimes; then, as `member`, their buffers */
    uint32_t *member;  /* the living, cluster by cluster, in each the largest first */
    uint32_t *cluster; /* per buffer: a buffer that stands for its cluster */
    /* The set that is being built: its members, the buffers that may share with these, and the
     * roots taken. A mark counts if it is the number of the set. */
    uint32_t set, *taken, *blocked, *root_taken;
    uint32_t *pair_start, *pair; /* per buffer: its separations, each once for either */
    bool *upper, *lower;         /* per buffer: in a separation with another that is alive */
    bool *is_alive;
    uint32_t *first_in; /* per root: a living buffer that lies in it */
    uint64_t *key;
    uint64_t work_left; /* a bound is valid wherever the search for a better one ends */
    arn_hosts hosts;
    uint32_t *work;
    bool *left; /* NULL, or the buffers that the bound leaves out */
} bound;

static bool counts(const bound *x, uint32_t b) {
    return arenaut_problem_needs_memory(x->problem, b) &&
           arenaut_problem_pools(x->problem, b) == UINT64_C(1) << x->pool;
}

/* The outermost host of a buffer; itself if it lies in none. */
static uint32_t root_of(const bound *x, uint32_t b) { return x->hosts.root ? x->hosts.root[b] : b; }

/* Whether a relation other than a separation may let the two share bytes. */
static bool have_other_right(const bound *x, uint32_t a, uint32_t b) {
    const arenaut_problem *p = x->problem;
    return arenaut_problem_same_base(p, a) == b || arenaut_problem_same_base(p, b) == a ||
           root_of(x, a) == root_of(x, b);
}

static uint32_t find(uint32_t *cluster, uint32_t b) {
    while (cluster[b] != b) b = cluster[b] = cluster[cluster[b]];
    return b;
}

static void join(bound *x, uint32_t a, uint32_t b) {
    if (b == ARENAUT_NONE || !x->is_alive[b]) return;
    x->cluster[find(x->cluster, a)] = find(x->cluster, b);
}

static void make_clusters(bound *x) {
    const arenaut_problem *p = x->problem;
    for (uint32_t i = 0; i < x->n_alive; i++) {
        const uint32_t b = x->member[i];
        x->cluster[b] = b;
        x->upper[b] = x->lower[b] = false;
        x->first_in[root_of(x, b)] = ARENAUT_NONE;
    }
    /* The slices of one host are one cluster; the host need not be alive itself, so the first live
     * one stands for it. */
    for (uint32_t i = 0; i < x->n_alive; i++) {
        uint32_t *first = &x->first_in[root_of(x, x->member[i])];
        if (*first != ARENAUT_NONE) join(x, x->member[i], *first);
        else *first = x->member[i];
    }
    for (uint32_t i = 0; i < x->n_alive; i++) {
        const uint32_t b = x->member[i];
        join(x, b, arenaut_problem_same_base(p, b));
        for (uint32_t k = x->pair_start[b]; k < x->pair_start[b + 1]; k++) {
            const arenaut_separation *s = &p->separation[x->pair[k]];
            const uint32_t other = s->upper == b ? s->lower : s->upper;
            join(x, b, other);
            if (x->is_alive[other]) x->upper[b] = x->upper[b] || s->upper == b;
            if (x->is_alive[other]) x->lower[b] = x->lower[b] || s->lower == b;
        }
    }
}

/* Members of one cluster: member[first .. end). */
typedef struct stretch {
    uint32_t first, end;
} stretch;

static void mark_taken(bound *x, uint32_t b) {
    const arenaut_problem *p = x->problem;
    const uint32_t base = arenaut_problem_same_base(p, b);
    x->taken[b] = x->root_taken[root_of(x, b)] = x->set;
    if (base != ARENAUT_NONE) x->blocked[base] = x->set;
    for (uint32_t k = x->pair_start[b]; k < x->pair_start[b + 1]; k++) {
        const arenaut_separation *s = &p->separation[x->pair[k]];
        x->blocked[s->upper == b ? s->lower : s->upper] = x->set;
    }
}

/* Takes `b` if it lies apart from all that was taken; the bytes that it adds. */
static uint64_t take(bound *x, uint32_t b) {
    const uint32_t base = arenaut_problem_same_base(x->problem, b);
    if (x->taken[b] == x->set || x->blocked[b] == x->set) return 0;
    if (x->root_taken[root_of(x, b)] == x->set) return 0;
    if (base != ARENAUT_NONE && x->taken[base] == x->set) return 0;
    mark_taken(x, b);
    return x->problem->size[b];
}

/* Takes as many of a cluster as it can, the largest first; only buffers that `wanted` marks, if
 * given. */
static uint64_t take_all(bound *x, stretch cluster, const bool *wanted) {
    uint64_t sum = 0;
    for (uint32_t i = cluster.first; i < cluster.end && x->work_left > 0; i++) {
        x->work_left--;
        if (!wanted || wanted[x->member[i]]) sum += take(x, x->member[i]);
    }
    return sum;
}

/* A way to choose buffers of a cluster: two separated ones first, or the marked ones. */
typedef struct choice {
    const arenaut_separation *pair;
    const bool *first;
} choice;

/* The least that the two cover: one on the other, the upper as low as it may be, or apart. */
static uint64_t pair_bytes(const arenaut_problem *p, const arenaut_separation *s) {
    const uint64_t upper = p->size[s->upper], lower = p->size[s->lower];
    const uint64_t raised = s->distance > 0 ? (uint64_t)s->distance : 0;
    if (raised >= lower) return upper + lower;
    return arn_max_u64(lower, raised + upper);
}

/* A lower bound of the bytes that the chosen ones cover. They are marked as taken. */
static uint64_t chosen_bytes(bound *x, stretch cluster, choice how) {
    uint64_t sum = 0;
    x->set++;
    if (how.pair) {
        mark_taken(x, how.pair->upper);
        mark_taken(x, how.pair->lower);
        sum = pair_bytes(x->problem, how.pair);
    } else if (how.first) {
        sum = take_all(x, cluster, how.first);
    }
    return sum + take_all(x, cluster, NULL);
}

static void try_choice(bound *x, stretch cluster, choice how, uint64_t *most, choice *best) {
    const uint64_t bytes = chosen_bytes(x, cluster, how);
    if (bytes <= *most) return;
    *most = bytes;
    *best = how;
}

static void try_pairs(bound *x, stretch cluster, uint32_t upper, uint64_t *most, choice *best) {
    for (uint32_t k = x->pair_start[upper]; k < x->pair_start[upper + 1]; k++) {
        const arenaut_separation *s = &x->problem->separation[x->pair[k]];
        if (s->upper != upper || !x->is_alive[s->lower]) continue;
        if (have_other_right(x, s->upper, s->lower)) continue;
        try_choice(x, cluster, (choice){s, NULL}, most, best);
    }
}

static uint64_t cluster_bytes(bound *x, stretch cluster, choice *best) {
    uint64_t most = 0;
    *best = (choice){NULL, NULL};
    try_choice(x, cluster, (choice){NULL, NULL}, &most, best);
    try_choice(x, cluster, (choice){NULL, x->upper}, &most, best);
    try_choice(x, cluster, (choice){NULL, x->lower}, &most, best);
    if (cluster.end - cluster.first > SMALL_CLUSTER) return most;
    for (uint32_t i = cluster.first; i < cluster.end; i++) {
        if (x->upper[x->member[i]]) try_pairs(x, cluster, x->member[i], &most, best);
    }
    return most;
}

/* Marks in `left` the buffers that the best choice of a cluster leaves out. */
static void leave_out(bound *x, stretch cluster, choice best) {
    if (!x->left) return;
    chosen_bytes(x, cluster, best);
    for (uint32_t i = cluster.first; i < cluster.end; i++) {
        x->left[x->member[i]] = x->taken[x->member[i]] != x->set;
    }
}

static void list_members(bound *x) {
    for (uint32_t i = 0; i < x->n_alive; i++) {
        const uint32_t b = x->member[i] = x->owner[x->alive[i]];
        x->is_alive[b] = true;
        x->key[b] = ~x->problem->size[b];
    }
    arn_sort_by_key(x->member, x->n_alive, x->key, x->work);
}

static void sort_by_cluster(bound *x) {
    for (uint32_t i = 0; i < x->n_alive; i++) {
        x->key[x->member[i]] = find(x->cluster, x->member[i]);
    }
    arn_sort_by_key(x->member, x->n_alive, x->key, x->work);
}

static uint64_t step_bytes(bound *x) {
    uint64_t sum = 0;
    list_members(x);
    make_clusters(x);
    sort_by_cluster(x);
    for (uint32_t first = 0, end; first < x->n_alive; first = end) {
        const uint32_t cluster = find(x->cluster, x->member[first]);
        end = first + 1;
        while (end < x->n_alive && find(x->cluster, x->member[end]) == cluster) end++;
        choice best;
        sum += cluster_bytes(x, (stretch){first, end}, &best);
        leave_out(x, (stretch){first, end}, best);
    }
    for (uint32_t i = 0; i < x->n_alive; i++) x->is_alive[x->member[i]] = false;
    return sum;
}

static void find_highest(bound *x, uint64_t *bytes, int64_t *step) {
    const arenaut_problem *p = x->problem;
    *bytes = 0;
    for (uint32_t i = 0; i < x->n_births && x->work_left > x->n_alive; i++) {
        x->work_left -= x->n_alive;
        const int64_t now = p->lifetime[x->births[i]].first;
        uint32_t kept = 0;
        for (uint32_t k = 0; k < x->n_alive; k++) {
            if (p->lifetime[x->alive[k]].end > now) x->alive[kept++] = x->alive[k];
        }
        x->n_alive = kept;
        x->alive[x->n_alive++] = x->births[i];
        const bool more = i + 1 < x->n_births && p->lifetime[x->births[i + 1]].first == now;
        const uint64_t here = more ? 0 : step_bytes(x);
        if (here <= *bytes) continue;
        *bytes = here;
        *step = now;
    }
}

/* The bytes needed at one step. */
static uint64_t bytes_at(bound *x, int64_t step) {
    const arenaut_problem *p = x->problem;
    for (uint32_t i = 0; i < x->n_births; i++) {
        const arenaut_interval life = p->lifetime[x->births[i]];
        if (life.first <= step && step < life.end) x->alive[x->n_alive++] = x->births[i];
    }
    return step_bytes(x);
}

static bool list_separations(bound *x) {
    const arenaut_problem *p = x->problem;
    uint32_t *start = x->pair_start =
        arn_region_allocate(&x->memory, (size_t)p->n_buffers + 2, sizeof *start);
    x->pair = arn_region_allocate(&x->memory, (size_t)p->n_separations * 2, sizeof *x->pair);
    if (!start || !x->pair) return false;
    for (uint32_t b = 0; b < p->n_buffers + 2; b++) start[b] = 0;
    for (uint32_t i = 0; i < p->n_separations; i++) {
        start[p->separation[i].upper + 2]++;
        start[p->separation[i].lower + 2]++;
    }
    for (uint32_t b = 2; b < p->n_buffers + 2; b++) start[b] += start[b - 1];
    for (uint32_t i = 0; i < p->n_separations; i++) { /* which moves start[b + 1] to b's end */
        x->pair[start[p->separation[i].upper + 1]++] = i;
        x->pair[start[p->separation[i].lower + 1]++] = i;
    }
    return true;
}

static bool make(bound *x) {
    const arenaut_problem *p = x->problem;
    const uint32_t n = p->n_buffers;
    const size_t most = n > p->n_lifetimes ? n : p->n_lifetimes;
    if (!ARN_REGION_ARRAYS(
            &x->memory, ARN_ARRAY(x->births, p->n_lifetimes), ARN_ARRAY(x->owner, p->n_lifetimes),
            ARN_ARRAY(x->alive, p->n_lifetimes), ARN_ARRAY(x->work, p->n_lifetimes),
            ARN_ARRAY(x->member, n), ARN_ARRAY(x->cluster, n), ARN_ARRAY(x->taken, n),
            ARN_ARRAY(x->blocked, n), ARN_ARRAY(x->root_taken, n), ARN_ARRAY(x->upper, n),
            ARN_ARRAY(x->lower, n), ARN_ARRAY(x->is_alive, n), ARN_ARRAY(x->first_in, n),
            ARN_ARRAY(x->key, most)) ||
        !arn_hosts_find(p, &x->memory, &x->hosts)) {
        return false;
    }
    for (uint32_t b = 0; b < n; b++) {
        for (uint32_t i = p->lifetime_start[b]; i < p->lifetime_start[b + 1]; i++) {
            x->owner[i] = b;
            x->key[i] = arn_step_key(p->lifetime[i].first);
            if (counts(x, b)) x->births[x->n_births++] = i;
        }
    }
    arn_sort_by_key(x->births, x->n_births, x->key, x->work);
    return list_separations(x);
}

arenaut_status arn_overlap_bound(const arenaut_problem *problem, uint32_t pool,
                                 const arenaut_allocator *allocator, uint64_t *bytes, int64_t *step,
                                 arenaut_error *err) {
    bound x = {.problem = problem, .pool = pool, .work_left = MOST_WORK};
    arn_region_init(&x.memory, allocator);
    const bool made = make(&x);
    if (made) find_highest(&x, bytes, step);
    arn_region_free(&x.memory);
    return made ? ARENAUT_OK : arn_no_memory(err);
}

arenaut_status arn_overlap_bound_at(const arenaut_problem *problem, uint32_t pool, int64_t step,
                                    const arenaut_allocator *allocator, uint64_t *bytes,
                                    bool *left_out, arenaut_error *err) {
    bound x = {.problem = problem, .pool = pool, .work_left = MOST_WORK, .left = left_out};
    for (uint32_t b = 0; b < problem->n_buffers; b++) left_out[b] = false;
    arn_region_init(&x.memory, allocator);
    const bool made = make(&x);
    if (made) *bytes = bytes_at(&x, step);
    arn_region_free(&x.memory);
    return made ? ARENAUT_OK : arn_no_memory(err);
}
