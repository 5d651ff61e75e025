/* Filling blocks one item after another. */
#include <string.h>

#include "core/bits.h"
#include "core/checked.h"
#include "planners/tokens/token_packing.h"

bool arn_filling_make(arn_objects *o, arn_filling *f) {
    *f = (arn_filling){.objects = o};
    f->packing.block = arn_region_allocate(&o->region, o->n, sizeof *f->packing.block);
    f->size = arn_region_allocate(&o->region, o->n, sizeof *f->size);
    f->pools = arn_region_allocate(&o->region, o->n, sizeof *f->pools);
    f->before = arn_region_allocate(&o->region, o->n, sizeof *f->before);
    f->members = arn_region_allocate(&o->region, (size_t)o->n * o->words, sizeof *f->members);
    return f->packing.block && f->size && f->pools && f->before && f->members;
}

void arn_filling_clear(arn_filling *f) {
    f->packing.n_blocks = 0;
    f->packing.total = 0;
}

static uint64_t *members_of(const arn_filling *f, uint32_t block) {
    return f->members + (size_t)block * f->objects->words;
}

bool arn_filling_has_room(const arn_filling *f, uint32_t block, uint32_t item) {
    const uint64_t *conflicts = f->objects->conflicts + (size_t)item * f->objects->words;
    const uint64_t *members = members_of(f, block);
    if (!(f->pools[block] & f->objects->allowed[item])) return false;
    for (uint32_t w = 0; w < f->objects->words; w++) {
        if (conflicts[w] & members[w]) return false;
    }
    return true;
}

uint64_t arn_filling_idle(const arn_filling *f, uint32_t block, uint32_t item) {
    const arn_objects *o = f->objects;
    const uint64_t *members = members_of(f, block);
    const uint64_t open = UINT64_C(1) << 32; /* nothing on that side: fits worse than any gap */
    uint64_t before = open, after = open;
    for (uint32_t w = 0; w < o->words; w++) {
        for (uint64_t bits = members[w]; bits; bits &= bits - 1) {
            const uint32_t other = 64 * w + arn_lowest_bit(bits);
            if (o->end[other] <= o->first[item]) {
                before = arn_min_u64(before, (uint64_t)o->first[item] - (uint64_t)o->end[other]);
            } else if (o->end[item] <= o->first[other]) {
                after = arn_min_u64(after, (uint64_t)o->first[other] - (uint64_t)o->end[item]);
            }
        }
    }
    return before + after;
}

void arn_filling_put(arn_filling *f, uint32_t block, uint32_t item) {
    const uint64_t size = f->objects->size[item];
    if (block == f->packing.n_blocks) {
        memset(members_of(f, block), 0, f->objects->words * sizeof *f->members);
        f->size[block] = 0;
        f->pools[block] = f->objects->pools;
        f->packing.n_blocks++;
    }
    if (size > f->size[block]) {
        f->packing.total += size - f->size[block];
        f->size[block] = size;
    }
    members_of(f, block)[item / 64] |= UINT64_C(1) << item % 64;
    f->before[item] = f->pools[block];
    f->pools[block] &= f->objects->allowed[item];
    f->packing.block[item] = block;
}

/* Items come from large to small, so only the one that opened a block has set its size. */
void arn_filling_take(arn_filling *f, uint32_t item) {
    const uint32_t block = f->packing.block[item];
    uint64_t *members = members_of(f, block), left = 0;
    members[item / 64] &= ~(UINT64_C(1) << item % 64);
    f->pools[block] = f->before[item];
    if (block + 1 != f->packing.n_blocks) return;
    for (uint32_t w = 0; w < f->objects->words; w++) left |= members[w];
    if (left) return;
    f->packing.total -= f->size[block];
    f->packing.n_blocks--;
}

uint64_t arn_fill_in_order(arn_filling *f, const uint32_t *order) {
    const arn_objects *o = f->objects;
    uint64_t looked_at = 0;
    arn_filling_clear(f);
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t item = order[i];
        uint32_t best = f->packing.n_blocks;
        uint64_t growth = o->size[item], idle = UINT64_MAX;
        if (!arn_ask_after(o->ask, (uint64_t)(f->packing.n_blocks + 1) * o->words)) break;
        for (uint32_t k = 0; k < f->packing.n_blocks; k++) {
            looked_at += arn_filling_step(f);
            const uint64_t more = o->size[item] > f->size[k] ? o->size[item] - f->size[k] : 0;
            if (more > growth || !arn_filling_has_room(f, k, item)) continue;
            const uint64_t here = arn_filling_idle(f, k, item);
            if (more == growth && here >= idle) continue;
            best = k;
            growth = more;
            idle = here;
        }
        arn_filling_put(f, best, item);
    }
    return looked_at + o->n;
}

void arn_objects_keep(arn_objects *o, const arn_filling *f, bool at_once, uint64_t *spent,
                      uint64_t *unsure) {
    const uint64_t bound = arn_objects_bound(o, f->packing.total);
    if (arn_ask_ended(o->ask)) return; /* it may not be whole */
    if (bound >= o->layout.total) return;
    *spent += arn_objects_lay(o, &f->packing, at_once);
    if (!o->next.least) *unsure = arn_min_u64(*unsure, bound);
    if (o->next.total >= o->layout.total) return;
    const arn_layout before = o->layout;
    o->layout = o->next;
    o->next = before;
    o->best.n_blocks = f->packing.n_blocks;
    o->best.total = f->packing.total;
    if (o->n) memcpy(o->best.block, f->packing.block, o->n * sizeof *o->best.block);
}
