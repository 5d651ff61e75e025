/* proof_lives: live ranges less those of covering buffers, by interval subtraction: a slice does
 * not count while its host is alive, nor does the smaller of a same-base pair while both are (rules
 * in arenaut/certificate.h). A copy of the lifetime logic of the planners, on purpose: the checker
 * shares none of it. O(lifetimes of a buffer times those of its covers). */
#include "check/certificate/proof_case.h"

bool arn_proof_lives_meet(const arenaut_interval *a, uint32_t na, const arenaut_interval *b,
                          uint32_t nb) {
    for (uint32_t i = 0, k = 0; i < na && k < nb;) {
        if (a[i].first < b[k].end && b[k].first < a[i].end) return true;
        if (a[i].end < b[k].end) i++;
        else k++;
    }
    return false;
}

bool arn_proof_alive(const arenaut_interval *lives, uint32_t n, int64_t step) {
    for (uint32_t i = 0; i < n; i++) {
        if (lives[i].first <= step && step < lives[i].end) return true;
    }
    return false;
}

typedef struct life_list {
    const arenaut_allocator *allocator;
    arenaut_interval *at;
    uint32_t n, capacity;
} life_list;

static bool add_life(life_list *list, int64_t first, int64_t end) {
    if (first >= end) return true;
    if (!arn_grow(list->allocator, (void **)&list->at, &list->capacity, (uint64_t)list->n + 1,
                  sizeof *list->at)) {
        return false;
    }
    const arenaut_interval life = {first, end};
    list->at[list->n++] = life;
    return true;
}

/* Subtracts `cover` from the intervals of the list from `start` on. */
static bool cut_out(life_list *list, uint32_t start, arenaut_interval cover) {
    const uint32_t n = list->n;
    for (uint32_t i = start; i < n; i++) {
        const arenaut_interval life = list->at[i];
        if (life.first >= cover.end || cover.first >= life.end) continue;
        /* The rest may be two parts; the second goes to the end, and sorting follows. */
        list->at[i].end = cover.first > life.first ? cover.first : life.first;
        if (!add_life(list, cover.end, life.end)) return false;
    }
    return true;
}

static bool cut_by(const arn_proof_case *c, life_list *list, uint32_t start, uint32_t b,
                   uint32_t by) {
    uint32_t n_by, n_own;
    const arenaut_interval *cover = arn_proof_lives_of(c, by, &n_by),
                           *own = arn_proof_lives_of(c, b, &n_own);
    if (c->piece_of[by] == ARENAUT_NONE || !arn_proof_lives_meet(own, n_own, cover, n_by))
        return true;
    for (uint32_t i = 0; i < n_by; i++) {
        if (!cut_out(list, start, cover[i])) return false;
    }
    return true;
}

static uint32_t host_of(const arn_proof_case *c, uint32_t b) {
    return b == ARENAUT_NONE ? b : arenaut_problem_inside(c->problem, b);
}

/* The rule of certificate.h that decides which of a pair covers the other. */
static bool is_smaller(const arn_proof_case *c, uint32_t a, uint32_t b) {
    const uint64_t sa = c->problem->size[a], sb = c->problem->size[b];
    uint32_t host_a = host_of(c, a), host_b = host_of(c, b);
    while (host_a != ARENAUT_NONE && host_b != ARENAUT_NONE) {
        host_a = host_of(c, host_a);
        host_b = host_of(c, host_b);
    }
    return sa != sb ? sa < sb : host_a != host_b ? host_b == ARENAUT_NONE : a > b;
}

static bool cut_by_hosts(const arn_proof_case *c, life_list *list, uint32_t start, uint32_t b) {
    if (!c->slices->host) return true;
    for (uint32_t host = c->slices->host[b]; host != ARENAUT_NONE; host = c->slices->host[host]) {
        if (!cut_by(c, list, start, b, host)) return false;
    }
    return true;
}

/* Puts the lives in order and drops the empty ones. */
static void tidy_lives(life_list *list, uint32_t start) {
    uint32_t n = start;
    for (uint32_t i = start; i < list->n; i++) {
        const arenaut_interval life = list->at[i];
        if (life.first >= life.end) continue;
        uint32_t at = n++;
        for (; at > start && list->at[at - 1].first > life.first; at--) {
            list->at[at] = list->at[at - 1];
        }
        list->at[at] = life;
    }
    list->n = n;
}

/* The heirs of each buffer, as a list: first[b], then next[heir]. */
static bool list_heirs(const arn_proof_case *c, arn_region *scratch, uint32_t **first,
                       uint32_t **next) {
    const arenaut_problem *p = c->problem;
    *first = arn_region_allocate(scratch, p->n_buffers, sizeof **first);
    *next = arn_region_allocate(scratch, p->n_buffers, sizeof **next);
    if (!*first || !*next) return false;
    for (uint32_t b = 0; b < p->n_buffers; b++) (*first)[b] = ARENAUT_NONE;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t base = arenaut_problem_same_base(p, b);
        if (base == ARENAUT_NONE) continue;
        (*next)[b] = (*first)[base];
        (*first)[base] = b;
    }
    return true;
}

static bool cut_by_partner(const arn_proof_case *c, life_list *list, uint32_t start, uint32_t b,
                           uint32_t partner, uint32_t heir) {
    if (partner == ARENAUT_NONE || c->pair[heir] == ARN_PAIR_APART) return true;
    if (arn_check_slices_nested(c->slices, b, partner) || !is_smaller(c, b, partner)) return true;
    return cut_by(c, list, start, b, partner);
}

static bool list_lives(arn_proof_case *c, arn_region *scratch, life_list *list) {
    uint32_t *first, *next;
    if (!list_heirs(c, scratch, &first, &next)) return false;
    for (uint32_t i = 0; i < c->n_pieces; i++) {
        arn_proof_piece *piece = &c->piece[i];
        const uint32_t b = piece->buffer, start = list->n;
        uint32_t n;
        const arenaut_interval *life = arn_proof_lives_of(c, b, &n);
        bool done = true;
        for (uint32_t k = 0; k < n && done; k++) done = add_life(list, life[k].first, life[k].end);
        done = done && cut_by_hosts(c, list, start, b) &&
               cut_by_partner(c, list, start, b, arenaut_problem_same_base(c->problem, b), b);
        for (uint32_t h = first[b]; h != ARENAUT_NONE && done; h = next[h]) {
            done = cut_by_partner(c, list, start, b, h, h);
        }
        if (!done) return false;
        tidy_lives(list, start);
        piece->life = start;
        piece->n_lives = list->n - start;
    }
    c->lives = arn_region_allocate(&c->region, list->n, sizeof *c->lives);
    for (uint32_t i = 0; c->lives && i < list->n; i++) c->lives[i] = list->at[i];
    return c->lives != NULL;
}

bool arn_proof_find_lives(arn_proof_case *c) {
    life_list list = {c->allocator, NULL, 0, 0};
    arn_region scratch;
    arn_region_init(&scratch, c->allocator);
    const bool done = list_lives(c, &scratch, &list);
    arn_region_free(&scratch);
    arn_release(c->allocator, list.at);
    return done;
}
