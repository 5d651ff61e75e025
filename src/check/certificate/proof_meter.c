/* proof_meter: an allocator that counts the bytes in use, each block with its size in front, and
 * default limits of effort and memory that fit problem and certificate. A short proof may ask for
 * work out of all proportion (ranges that narrow each other byte by byte); a true one hardly does:
 * it costs a few looks at each pair of buffers in use together, for each line. */
#include "check/certificate/proof_case.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/sort.h"

enum {
    HEADER = 16, /* keeps blocks aligned as the source aligns them */
    LEAST_EFFORT = 1 << 20,
    LEAST_MEMORY = 1 << 20,
    EFFORT_PER_PART = 64,  /* of a problem, and per line */
    MEMORY_PER_PART = 256, /* bytes */
    MEMORY_PER_LINE = 64,  /* of a certificate: its frame, and its changes */
    MEMORY_PER_KEPT = 16,  /* and buffer: the state that a SAME may refer to */
    OWN_LINES = 16,        /* a proof costs this much more than its lines */
    MOST_PAIRS = 1 << 24,  /* no case lists more */
};

/* ---- memory ---- */

static void *metered_reallocate(void *context, void *block, size_t old_size, size_t new_size) {
    arn_proof_meter *m = context;
    size_t *before = block ? (size_t *)((char *)block - HEADER) : NULL;
    const size_t had = before ? *before : 0;
    if (new_size > SIZE_MAX - HEADER) return NULL;
    if (new_size > had && new_size - had > m->memory) {
        m->spent = true;
        return NULL;
    }
    (void)old_size;
    size_t *after =
        before ? m->source.reallocate(m->source.context, before, had + HEADER, new_size + HEADER)
               : m->source.allocate(m->source.context, new_size + HEADER);
    if (!after) return NULL;
    *after = new_size;
    m->memory = m->memory + had - new_size;
    return (char *)after + HEADER;
}

static void *metered_allocate(void *context, size_t size) {
    return metered_reallocate(context, NULL, 0, size);
}

static void metered_release(void *context, void *block) {
    arn_proof_meter *m = context;
    if (!block) return;
    size_t *before = (size_t *)((char *)block - HEADER);
    m->memory += *before;
    m->source.release(m->source.context, before);
}

/* ---- default limits ---- */

/* Saturating sum and product: the largest number means no limit. */
static uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product;
    return arn_multiply(a, b, &product) ? product : UINT64_MAX;
}

static uint64_t sum_of(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static bool begins_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_interval *lives = context;
    return lives[a].first < lives[b].first;
}

static bool ends_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_interval *lives = context;
    return lives[a].end < lives[b].end;
}

/* Pairs of lifetimes that meet, by an interval sweep: at each beginning, the lifetimes begun and
 * not ended. */
static bool count_pairs(const arenaut_problem *p, const arenaut_allocator *allocator,
                        uint64_t *pairs) {
    const uint32_t n = p->n_lifetimes;
    uint32_t *first = arn_allocate(allocator, n, 3 * sizeof *first);
    if (!first) return false;
    uint32_t *end = first + n;
    for (uint32_t i = 0; i < n; i++) first[i] = end[i] = i;
    arn_sort_ids(first, n, begins_before, p->lifetime, end + n);
    arn_sort_ids(end, n, ends_before, p->lifetime, end + n);
    *pairs = 0;
    for (uint32_t i = 0, ended = 0; i < n; i++) {
        while (ended < n && p->lifetime[end[ended]].end <= p->lifetime[first[i]].first) ended++;
        if (i > ended) *pairs += i - ended; /* of empty ones more may have ended than begun */
    }
    arn_release(allocator, first);
    *pairs = arn_min_u64(*pairs, MOST_PAIRS);
    return true;
}

static uint32_t count_kept(const arenaut_certificate *c) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_lines; i++) n += c->line[i].rule == ARENAUT_PROOF_KEPT;
    return n;
}

/* Whether the line makes the checker list all pairs anew, or look at any of them once more. */
static bool looks_at_pairs(const arenaut_proof_line *line) {
    static const uint32_t rules[] = {
        ARENAUT_PROOF_JOIN,    ARENAUT_PROOF_POOL,  ARENAUT_PROOF_ARENA, ARENAUT_PROOF_POOLS,
        ARENAUT_PROOF_WITHOUT, ARENAUT_PROOF_ABOVE, ARENAUT_PROOF_LEVEL, ARENAUT_PROOF_HIGH};
    bool looks = false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) looks |= line->rule == rules[i];
    return looks;
}

static uint32_t count_looks(const arenaut_certificate *c) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_lines; i++) n += looks_at_pairs(&c->line[i]);
    return n;
}

static void work_out_limits(arenaut_check_limits *limits, const arenaut_problem *p,
                            const arenaut_certificate *c, uint64_t pairs) {
    const uint64_t parts = (uint64_t)p->n_buffers + p->n_lifetimes + p->n_conflicts +
                           p->n_reserved + p->n_separations + p->n_pools;
    const uint64_t all = times(parts + pairs, (uint64_t)count_looks(c) + OWN_LINES);
    const uint64_t each = times(parts, (uint64_t)c->n_lines + OWN_LINES);
    const uint64_t kept = times(MEMORY_PER_KEPT, times(p->n_buffers, count_kept(c)));
    const uint64_t lines = times(MEMORY_PER_LINE, c->n_lines);
    if (limits->effort == 0) {
        limits->effort = sum_of(LEAST_EFFORT, times(EFFORT_PER_PART, sum_of(all, each)));
    }
    if (limits->memory == 0) {
        limits->memory =
            sum_of(LEAST_MEMORY + MEMORY_PER_PART * (parts + pairs), sum_of(kept, lines));
    }
}

bool arn_proof_meter_init(arn_proof_meter *meter, const arenaut_check_limits *limits,
                          const arenaut_problem *problem, const arenaut_certificate *certificate,
                          const arenaut_allocator *allocator) {
    arenaut_check_limits l = {0, 0};
    uint64_t pairs = 0;
    if (limits) l = *limits;
    if (l.effort == 0 || l.memory == 0) {
        if (!count_pairs(problem, allocator, &pairs)) return false;
        work_out_limits(&l, problem, certificate, pairs);
    }
    *meter = (arn_proof_meter){
        .effort = l.effort,
        .memory = l.memory,
        .source = arn_allocator_or_default(allocator),
        .allocator = {metered_allocate, metered_reallocate, metered_release, meter}};
    return true;
}
