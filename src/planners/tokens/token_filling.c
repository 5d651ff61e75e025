/* Fills tokens with one entry after another, and takes them out again: the moves of the searches in
 * token_search.c. A token remembers its members as bits, so that a look at one costs n / 64. */
#include <string.h>

#include "core/bits.h"
#include "core/checked.h"
#include "planners/tokens/token_packing.h"

bool arn_filling_make(arn_packer *packer, arn_filling *f) {
    *f = (arn_filling){.packer = packer};
    f->packing.token = arn_region_allocate(&packer->region, packer->n, sizeof *f->packing.token);
    f->size = arn_region_allocate(&packer->region, packer->n, sizeof *f->size);
    f->pools = arn_region_allocate(&packer->region, packer->n, sizeof *f->pools);
    f->before = arn_region_allocate(&packer->region, packer->n, sizeof *f->before);
    f->members =
        arn_region_allocate(&packer->region, (size_t)packer->n * packer->words, sizeof *f->members);
    return f->packing.token && f->size && f->pools && f->before && f->members;
}

void arn_filling_clear(arn_filling *f) {
    f->packing.n_tokens = 0;
    f->packing.total = 0;
}

static uint64_t *members_of(const arn_filling *f, uint32_t token) {
    return f->members + (size_t)token * f->packer->words;
}

bool arn_filling_has_room(const arn_filling *f, uint32_t token, uint32_t entry) {
    const uint64_t *conflicts = f->packer->conflicts + (size_t)entry * f->packer->words;
    const uint64_t *members = members_of(f, token);
    if (!(f->pools[token] & f->packer->allowed[entry])) return false;
    for (uint32_t w = 0; w < f->packer->words; w++) {
        if (conflicts[w] & members[w]) return false;
    }
    return true;
}

uint64_t arn_filling_idle(const arn_filling *f, uint32_t token, uint32_t entry) {
    const arn_packer *packer = f->packer;
    const uint64_t *members = members_of(f, token);
    const uint64_t open = UINT64_C(1) << 32; /* nothing on that side: fits worse than any gap */
    uint64_t before = open, after = open;
    for (uint32_t w = 0; w < packer->words; w++) {
        for (uint64_t bits = members[w]; bits; bits &= bits - 1) {
            const uint32_t other = 64 * w + arn_lowest_bit(bits);
            if (packer->end[other] <= packer->first[entry]) {
                before = arn_min_u64(before,
                                     (uint64_t)packer->first[entry] - (uint64_t)packer->end[other]);
            } else if (packer->end[entry] <= packer->first[other]) {
                after = arn_min_u64(after,
                                    (uint64_t)packer->first[other] - (uint64_t)packer->end[entry]);
            }
        }
    }
    return before + after;
}

void arn_filling_put(arn_filling *f, uint32_t token, uint32_t entry) {
    const uint64_t size = f->packer->size[entry];
    if (token == f->packing.n_tokens) {
        memset(members_of(f, token), 0, f->packer->words * sizeof *f->members);
        f->size[token] = 0;
        f->pools[token] = f->packer->pools;
        f->packing.n_tokens++;
    }
    if (size > f->size[token]) {
        f->packing.total += size - f->size[token];
        f->size[token] = size;
    }
    members_of(f, token)[entry / 64] |= UINT64_C(1) << entry % 64;
    f->before[entry] = f->pools[token];
    f->pools[token] &= f->packer->allowed[entry];
    f->packing.token[entry] = token;
}

/* Entries come from large to small, so only the one that opened a token has set its size. */
void arn_filling_take(arn_filling *f, uint32_t entry) {
    const uint32_t token = f->packing.token[entry];
    uint64_t *members = members_of(f, token), left = 0;
    members[entry / 64] &= ~(UINT64_C(1) << entry % 64);
    f->pools[token] = f->before[entry];
    if (token + 1 != f->packing.n_tokens) return;
    for (uint32_t w = 0; w < f->packer->words; w++) left |= members[w];
    if (left) return;
    f->packing.total -= f->size[token];
    f->packing.n_tokens--;
}

uint64_t arn_fill_in_order(arn_filling *f, const uint32_t *order) {
    const arn_packer *packer = f->packer;
    uint64_t looked_at = 0;
    arn_filling_clear(f);
    for (uint32_t i = 0; i < packer->n; i++) {
        const uint32_t entry = order[i];
        uint32_t best = f->packing.n_tokens;
        uint64_t growth = packer->size[entry], idle = UINT64_MAX;
        if (!arn_ask_after(packer->ask, (uint64_t)(f->packing.n_tokens + 1) * packer->words)) break;
        for (uint32_t k = 0; k < f->packing.n_tokens; k++) {
            looked_at += arn_filling_step(f);
            const uint64_t more =
                packer->size[entry] > f->size[k] ? packer->size[entry] - f->size[k] : 0;
            if (more > growth || !arn_filling_has_room(f, k, entry)) continue;
            const uint64_t here = arn_filling_idle(f, k, entry);
            if (more == growth && here >= idle) continue;
            best = k;
            growth = more;
            idle = here;
        }
        arn_filling_put(f, best, entry);
    }
    return looked_at + packer->n;
}

void arn_packer_keep(arn_packer *packer, const arn_filling *f, bool at_once, uint64_t *spent,
                     uint64_t *unsure) {
    const uint64_t bound = arn_packer_bound(packer, f->packing.total);
    if (arn_ask_ended(packer->ask)) return; /* it may not be whole */
    if (bound >= packer->layout.total) return;
    *spent += arn_packer_lay(packer, &f->packing, at_once);
    if (!packer->next.least) *unsure = arn_min_u64(*unsure, bound);
    if (packer->next.total >= packer->layout.total) return;
    const arn_layout before = packer->layout;
    packer->layout = packer->next;
    packer->next = before;
    packer->best.n_tokens = f->packing.n_tokens;
    packer->best.total = f->packing.total;
    if (packer->n)
        memcpy(packer->best.token, f->packing.token, packer->n * sizeof *packer->best.token);
}
