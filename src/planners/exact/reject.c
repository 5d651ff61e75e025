/* reject: where the members at a clique's floor may lie if none of them lies there. Items by
 * themselves need one look at their neighbours, and how small the others are that are rejected
 * with them; groups need more, since one may rest on the other by different items. */
#include "planners/exact/reject.h"

/* ---- candidates ---- */

/* Lists the members of `clique` that are at its floor and marks them in `next`. */
static uint32_t list_candidates(arn_exact_state *s, uint32_t clique) {
    const arn_exact_model *m = s->model;
    uint32_t n = 0;
    for (uint32_t k = m->member_start[clique]; k < m->member_start[clique + 1]; k++) {
        const uint32_t i = m->member[k];
        if (s->lowest[i] != s->floor[clique]) continue;
        s->candidate[n++] = i;
        s->next[i] = ARN_EXACT_PLACED;
    }
    s->work += m->member_start[clique + 1] - m->member_start[clique];
    return n;
}

/* ---- items by themselves ---- */

/* Where item `i` may lie if it rests on an unplaced neighbour that is no candidate;
 * ARN_EXACT_PLACED if there is none. Sets *blocked if some unplaced neighbour may be in the way
 * of lying at `floor`. */
static int64_t next_rest(arn_exact_state *s, uint32_t i, int64_t floor, bool *blocked) {
    const arn_exact_model *m = s->model;
    int64_t rest = ARN_EXACT_PLACED;
    *blocked = false;
    const uint32_t end = m->neighbour_start[i + 1];
    for (uint32_t k = m->neighbour_start[i]; k < end; k++) {
        const uint32_t j = m->neighbour[k];
        const int64_t lowest = s->lowest[j];
        if (lowest == ARN_EXACT_PLACED) continue;
        if (lowest < floor + m->size[i]) *blocked = true;
        if (s->next[j] == ARN_EXACT_PLACED) continue; /* a candidate */
        if (lowest + m->size[j] < rest) rest = lowest + m->size[j];
    }
    s->work += end - m->neighbour_start[i];
    return rest == ARN_EXACT_PLACED ? rest : arn_exact_snap(m, i, rest);
}

/* The two smallest sizes among the candidates. */
static void smallest_two(const arn_exact_state *s, uint32_t n, int64_t two[2]) {
    two[0] = two[1] = ARN_EXACT_PLACED;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t size = s->model->size[s->candidate[k]];
        if (size < two[0]) {
            two[1] = two[0];
            two[0] = size;
        } else if (size < two[1]) {
            two[1] = size;
        }
    }
}

/* The lowest candidate rests on an item that is none, at `lowest` or higher; each other one rests
 * likewise, or on another candidate, of which the smallest ends soonest. */
static bool rest_on_candidates(arn_exact_state *s, uint32_t n, int64_t lowest) {
    const arn_exact_model *m = s->model;
    int64_t two[2];
    smallest_two(s, n, two);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        const int64_t other = two[m->size[i] == two[0]];
        int64_t next = s->next[i];
        if (other != ARN_EXACT_PLACED && lowest + other < next) {
            next = arn_exact_snap(m, i, lowest + other);
            if (next > s->next[i]) next = s->next[i];
        }
        s->next[i] = next;
        if (next > s->capacity - m->size[i]) return false;
    }
    return true;
}

/* Writes where each of the n candidates may lie next, into `next`. False if one of them has no
 * place, or nothing is in the way of its lying at the floor. */
static bool find_rests(arn_exact_state *s, uint32_t n, int64_t floor) {
    int64_t lowest = ARN_EXACT_PLACED;
    bool blocked;
    /* `next` marks the candidates until every rest is known; `offset` is free to hold those. */
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        s->offset[i] = next_rest(s, i, floor, &blocked);
        if (s->offset[i] < lowest) lowest = s->offset[i];
        if (!blocked) return false;
    }
    for (uint32_t k = 0; k < n; k++) s->next[s->candidate[k]] = s->offset[s->candidate[k]];
    return lowest != ARN_EXACT_PLACED && rest_on_candidates(s, n, lowest);
}

/* ---- groups ---- */

/* On what a candidate may rest with its group. Places are those of the candidate, although
 * another item of its group may be the one that rests. The rule is that of
 * arenaut/certificate.h. */
typedef struct rest {
    int64_t outside; /* the lowest end of a neighbour that is no candidate, or PLACED */
    int64_t any;     /* of any neighbour */
    int64_t rise;    /* how much higher it lies at least if it rests on another candidate */
    bool above;      /* resting on another candidate means lying higher than that */
    bool blocked;    /* something may be in its way at the floor */
} rest;

/* Whether an item, or one of its group, is a candidate. */
static bool is_candidate(const arn_exact_state *s, uint32_t item) {
    const arn_exact_model *m = s->model;
    for (uint32_t k = m->group_start[m->group[item]]; k < m->group_start[m->group[item] + 1]; k++) {
        if (s->next[m->group_item[k]] == ARN_EXACT_PLACED) return true;
    }
    return false;
}

/* Takes into account that item `i`, which lies `up` above its group's candidate, may rest on
 * `j`. */
static void rest_on(const arn_exact_state *s, uint32_t i, int64_t up, uint32_t j, rest *r) {
    const arn_exact_model *m = s->model;
    const int64_t end = s->lowest[j] + m->size[j] - up;
    /* How far apart the starts of the two groups are then. */
    const int64_t rise = m->delta[j] + m->size[j] - m->delta[i];
    if (s->lowest[j] < s->lowest[i] + m->size[i]) r->blocked = true;
    if (end < r->any) r->any = end;
    if (!is_candidate(s, j)) {
        if (end < r->outside) r->outside = end;
    } else if (rise > 0) {
        if (rise < r->rise) r->rise = rise;
    } else {
        r->above = false;
    }
}

static rest find_group_rest(arn_exact_state *s, uint32_t candidate) {
    const arn_exact_model *m = s->model;
    const uint32_t g = m->group[candidate];
    rest r = {ARN_EXACT_PLACED, ARN_EXACT_PLACED, ARN_EXACT_PLACED, true, false};
    for (uint32_t a = m->group_start[g]; a < m->group_start[g + 1]; a++) {
        const uint32_t i = m->group_item[a], end = m->neighbour_start[i + 1];
        for (uint32_t k = m->neighbour_start[i]; k < end; k++) {
            const uint32_t j = m->neighbour[k];
            if (s->lowest[j] == ARN_EXACT_PLACED) continue;
            rest_on(s, i, m->delta[i] - m->delta[candidate], j, &r);
        }
        const uint64_t in_group = m->group_start[g + 1] - m->group_start[g];
        if (!arn_ask_after(m->ask, (end - m->neighbour_start[i]) * in_group)) break;
        s->work += 2 * (end - m->neighbour_start[i]);
    }
    return r;
}

/* The lowest place from `at` on, but above where it may lie now, for a candidate's group. */
static int64_t settle_above(arn_exact_state *s, uint32_t candidate, int64_t at) {
    const int64_t above = s->lowest[candidate] + 1;
    return arn_exact_settle(s, candidate, at < above ? above : at);
}

/* Writes into `offset` where each candidate may lie that rests on what is none, and into *lowest
 * where the lowest of their groups starts then. Sets *above if resting on another candidate
 * means lying higher, for all of them. False if nothing is in the way of one of them. */
static bool rest_outside(arn_exact_state *s, uint32_t n, int64_t *lowest, bool *above) {
    const arn_exact_model *m = s->model;
    *lowest = ARN_EXACT_PLACED;
    *above = true;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        const rest r = find_group_rest(s, i);
        if (!r.blocked || arn_ask_ended(m->ask)) return false;
        *above = *above && r.above;
        s->offset[i] = r.outside;
        if (r.outside == ARN_EXACT_PLACED) continue;
        s->offset[i] = settle_above(s, i, r.outside);
        if (s->offset[i] - m->delta[i] < *lowest) *lowest = s->offset[i] - m->delta[i];
    }
    return true;
}

/* Lowers where candidate `i` may lie if it may rest on another candidate, all of whose groups
 * start at `lowest` or higher. */
static void rest_inside(arn_exact_state *s, uint32_t i, const rest *r, int64_t lowest) {
    if (r->rise == ARN_EXACT_PLACED) return; /* it may not */
    const int64_t at = lowest + r->rise + s->model->delta[i];
    if (at >= s->offset[i]) return;
    const int64_t next = settle_above(s, i, at);
    if (next < s->offset[i]) s->offset[i] = next;
}

/* As find_rests; candidates are compared by where their groups start. */
static bool find_group_rests(arn_exact_state *s, uint32_t n) {
    const arn_exact_model *m = s->model;
    int64_t lowest;
    bool above;
    if (!rest_outside(s, n, &lowest, &above)) return false;
    if (above && lowest == ARN_EXACT_PLACED) return false;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = s->candidate[k];
        const rest r = find_group_rest(s, i);
        if (arn_ask_ended(m->ask)) return false;
        if (above) rest_inside(s, i, &r, lowest);
        else s->offset[i] = settle_above(s, i, r.any);
        if (s->offset[i] > s->capacity - m->size[i]) return false;
    }
    for (uint32_t k = 0; k < n; k++) s->next[s->candidate[k]] = s->offset[s->candidate[k]];
    return true;
}

/* ---- the move ---- */

bool arn_exact_reject(arn_exact_state *s, uint32_t clique) {
    const int64_t floor = s->floor[clique];
    const uint32_t n = list_candidates(s, clique);
    bool fits = s->model->tied ? find_group_rests(s, n) : find_rests(s, n, floor);
    if (!fits) s->overfull = clique;
    for (uint32_t k = 0; k < n && fits; k++) {
        fits = arn_exact_raise_group(s, s->candidate[k], s->next[s->candidate[k]]);
        if (!fits) s->overfull = clique;
    }
    for (uint32_t k = 0; k < n; k++) s->next[s->candidate[k]] = 0;
    return arn_exact_find_floors(s, fits);
}
