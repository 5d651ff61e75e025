/* First fit of entries into tokens, token by token: each takes, of the entries that are left, in
 * their order, all that it has room for. The same packing as entry by entry into the first token
 * with room, in memory that does not grow with tokens × entries, so that a million entries can be
 * packed. A look at one entry costs as many words as its life has sections / 64. */
#include <string.h>

#include "core/checked.h"
#include "planners/tokens/token_packing.h"

/* The token that is being filled: its members by section. */
typedef struct round {
    const arn_packer *packer;
    uint64_t *taken; /* a bit per section */
    uint32_t *owner; /* per section that is taken: its member there, if another may share the token
                      * with it; ARENAUT_NONE: none may, or one does */
    uint64_t pools;  /* in which it may lie */
    uint32_t token;
} round;

/* Bits [first, end) of a word. */
static uint64_t mask(uint32_t first, uint32_t end) {
    const uint64_t below = end == 64 ? ~UINT64_C(0) : (UINT64_C(1) << end) - 1;
    return below & (~UINT64_C(0) << first);
}

static uint64_t mask_of(arn_life life, uint32_t word) {
    const uint32_t from = 64 * word;
    return mask(life.first > from ? life.first - from : 0,
                life.end < from + 64 ? life.end - from : 64);
}

static bool is_free(const round *r, arn_life life) {
    for (uint32_t w = life.first / 64; 64 * w < life.end; w++) {
        if (r->taken[w] & mask_of(life, w)) return false;
    }
    return true;
}

/* No member is alive there but those that the entry may share the token with. */
static bool can_share(const round *r, arn_life life, uint32_t entry) {
    const arn_packer *p = r->packer;
    if (!p->shares[entry]) return false;
    for (uint32_t s = life.first; s < life.end; s++) {
        if (!(r->taken[s / 64] >> s % 64 & 1)) continue;
        if (r->owner[s] == ARENAUT_NONE || !arn_packer_may_share(p, entry, r->owner[s]))
            return false;
    }
    return true;
}

/* No member is kept apart from it. */
static bool has_no_edge(const round *r, const uint32_t *token, uint32_t entry) {
    const arn_packer *p = r->packer;
    for (uint32_t e = p->edges_at[entry]; e < p->edges_at[entry + 1]; e++) {
        if (token[p->edges[e]] == r->token) return false;
    }
    return true;
}

static bool fits(const round *r, const uint32_t *token, uint32_t entry) {
    const arn_packer *p = r->packer;
    if (!(r->pools & p->allowed[entry])) return false;
    for (uint32_t l = p->lives_at[entry]; l < p->lives_at[entry + 1]; l++) {
        if (!is_free(r, p->lives[l]) && !can_share(r, p->lives[l], entry)) return false;
    }
    return has_no_edge(r, token, entry);
}

static void take(round *r, uint32_t entry) {
    const arn_packer *p = r->packer;
    r->pools &= p->allowed[entry];
    for (uint32_t l = p->lives_at[entry]; l < p->lives_at[entry + 1]; l++) {
        const arn_life life = p->lives[l];
        for (uint32_t s = life.first; s < life.end && p->some_share; s++) {
            const bool alone = p->shares[entry] && !(r->taken[s / 64] >> s % 64 & 1);
            r->owner[s] = alone ? entry : ARENAUT_NONE;
        }
        for (uint32_t w = life.first / 64; 64 * w < life.end; w++) r->taken[w] |= mask_of(life, w);
    }
}

/* Opens a token with the first of `left`, adds those that fit, and moves the rest to the front.
 * Returns how many are left. */
static uint32_t fill_token(round *r, uint32_t *left, uint32_t n, arn_packing *packing) {
    uint64_t size = 0;
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && !fits(r, packing->token, left[i])) {
            left[n_left++] = left[i];
            continue;
        }
        take(r, left[i]);
        packing->token[left[i]] = r->token;
        size = arn_max_u64(size, r->packer->size[left[i]]);
    }
    packing->total += size;
    return n_left;
}

/* Looks at an entry that are one step of effort: of all others most look at whole tokens. */
enum { LOOKS = 2 };

uint64_t arn_fill_by_rounds(arn_packer *packer, const uint32_t *order, arn_packing *packing) {
    const size_t words = (packer->n_sections + 63) / 64;
    round r = {packer, packer->taken, packer->owner, 0, 0};
    uint64_t looked_at = 0;
    uint32_t n = packer->n, *left = packer->left;
    packing->n_tokens = 0;
    packing->total = 0;
    for (uint32_t i = 0; i < n; i++) {
        left[i] = order[i];
        packing->token[i] = ARENAUT_NONE;
    }
    while (n > 0 && arn_poll_after(packer->poll, n + words)) {
        memset(r.taken, 0, words * sizeof *r.taken);
        r.pools = packer->pools;
        r.token = packing->n_tokens++;
        looked_at += n;
        n = fill_token(&r, left, n, packing);
    }
    return packer->n + looked_at / LOOKS;
}
