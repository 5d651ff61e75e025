/* Better packings: first by looking at all of them, in an order that finds good ones early,
 * then, where that is too much, by moving items about in the order of a greedy filling. */
#include "core/random.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "planners/tokens/token_packing.h"

/* Items that are next to each other in time first: then blocks are filled from one end. */
static bool earlier(const void *context, uint32_t a, uint32_t b) {
    const arn_objects *o = context;
    if (o->first[a] != o->first[b]) return o->first[a] < o->first[b];
    return o->size[a] > o->size[b];
}

arenaut_status arn_objects_start(arn_meter *meter, arn_objects *o) {
    arn_filling f;
    uint64_t spent = 0, unsure = ARENAUT_UNPLACED;
    uint32_t *order = arn_region_allocate(&o->region, o->n, 2 * sizeof *order);
    if (!order || !arn_filling_make(o, &f)) return arn_no_memory(meter->planning->err);
    for (uint32_t i = 0; i < o->n; i++) order[i] = i;
    arn_fill_in_order(&f, order); /* from large to small */
    arn_objects_keep(o, &f, true, &spent, &unsure);
    arn_sort_ids(order, o->n, earlier, o, order + o->n);
    arn_fill_in_order(&f, order);
    arn_objects_keep(o, &f, true, &spent, &unsure);
    arn_meter_spend(meter, spent);
    return o->out_of_memory ? arn_no_memory(meter->planning->err) : ARENAUT_OK;
}

/* ---- all packings ---- */

/* What has been tried for an item: blocks in the order of (idle, number), then a new one. */
typedef struct tried {
    uint64_t idle;
    uint32_t block;
    bool any, opened;
} tried;

typedef struct search {
    arn_objects *objects;
    arn_filling filling;
    tried *tried; /* per item */
    arn_meter *meter;
    uint64_t effort, spent, reported;
    uint64_t unsure; /* packings that were not laid as well as may be come to no less */
} search;

static bool goes_on(search *s) {
    enum { REPORT_EVERY = 4096 };
    if (s->objects->layout.total <= s->objects->bound || s->objects->out_of_memory) return false;
    if (s->spent - s->reported >= REPORT_EVERY) {
        arn_meter_spend(s->meter, s->spent - s->reported);
        s->reported = s->spent;
    }
    return s->spent < s->effort && !s->meter->stopped;
}

/* The block that fits next best after those tried; the number of blocks if none is left. */
static uint32_t next_block(search *s, uint32_t item, tried *t) {
    const arn_filling *f = &s->filling;
    uint32_t best = f->packing.n_blocks;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < f->packing.n_blocks; k++) {
        if (!arn_filling_has_room(f, k, item)) continue;
        const uint64_t idle = arn_filling_idle(f, k, item);
        if (t->any && (idle < t->idle || (idle == t->idle && k <= t->block))) continue;
        if (idle >= least) continue;
        best = k;
        least = idle;
    }
    s->spent += (f->packing.n_blocks + 1) * arn_filling_step(f);
    arn_ask_after(s->objects->ask, (uint64_t)(f->packing.n_blocks + 1) * s->objects->words);
    if (best < f->packing.n_blocks) *t = (tried){least, best, true, false};
    return best;
}

/* Whether what has begun can still become better than the best: the blocks that are open cost
 * what they cost, and those that are missing at least their floors. */
static bool is_hopeful(const search *s, uint32_t n_blocks, uint64_t total) {
    const arn_objects *o = s->objects;
    const uint64_t missing = n_blocks < o->n_floors ? o->floors[n_blocks] : 0;
    return arn_objects_bound(o, total + missing) < o->layout.total;
}

/* Puts the item where it has not been yet. */
static bool advance(search *s, uint32_t item) {
    tried *t = &s->tried[item];
    arn_filling *f = &s->filling;
    if (t->opened) return false;
    const uint32_t block = next_block(s, item, t);
    if (block == f->packing.n_blocks) {
        t->opened = true;
        if (!is_hopeful(s, block + 1, f->packing.total + s->objects->size[item])) return false;
    }
    arn_filling_put(f, block, item);
    return true;
}

/* Depth first. True if all packings have been looked at, or left out for good reason. */
static bool look_at_all(search *s) {
    const uint32_t n = s->objects->n;
    uint32_t item = 0;
    arn_filling_clear(&s->filling);
    if (n == 0) return true;
    s->tried[0] = (tried){0, 0, false, false};
    while (goes_on(s)) {
        const bool hopeful = is_hopeful(s, s->filling.packing.n_blocks, s->filling.packing.total);
        if (hopeful && item < n && advance(s, item)) {
            item++;
            if (item < n) s->tried[item] = (tried){0, 0, false, false};
            if (item == n) arn_objects_keep(s->objects, &s->filling, false, &s->spent, &s->unsure);
            continue;
        }
        if (item == 0) return true;
        arn_filling_take(&s->filling, --item);
    }
    return s->objects->layout.total <= s->objects->bound;
}

/* What looking at all has shown. */
static void conclude(search *s) {
    arn_objects *o = s->objects;
    const uint64_t least = arn_min_u64(o->layout.total, s->unsure);
    if (least == ARENAUT_UNPLACED) o->impossible = true;
    else o->bound = arn_max_u64(o->bound, least);
}

/* ---- by chance ---- */

static void move(uint32_t *order, uint32_t from, uint32_t to) {
    const uint32_t item = order[from];
    for (; from < to; from++) order[from] = order[from + 1];
    for (; from > to; from--) order[from] = order[from - 1];
    order[to] = item;
}

/* From the order by size, or what has become of it, one item at a time elsewhere. What is no
 * worse is kept, so that it wanders. */
static void try_by_chance(search *s, uint32_t *order) {
    arn_objects *o = s->objects;
    uint64_t state = s->meter->planning->options->seed;
    for (uint32_t i = 0; i < o->n; i++) order[i] = i;
    s->spent += arn_fill_in_order(&s->filling, order);
    uint64_t total = s->filling.packing.total;
    while (o->n > 1 && goes_on(s)) {
        const uint32_t from = (uint32_t)(arn_random_next(&state) % o->n);
        const uint32_t to = (uint32_t)(arn_random_next(&state) % o->n);
        move(order, from, to);
        s->spent += arn_fill_in_order(&s->filling, order);
        if (s->filling.packing.total > total) {
            move(order, to, from);
            continue;
        }
        total = s->filling.packing.total;
        arn_objects_keep(o, &s->filling, false, &s->spent, &s->unsure);
    }
}

arenaut_status arn_objects_improve(arn_meter *meter, uint64_t effort, arn_objects *o) {
    search s = {.objects = o, .meter = meter, .effort = effort / 2, .unsure = ARENAUT_UNPLACED};
    s.tried = arn_region_allocate(&o->region, o->n, sizeof *s.tried);
    uint32_t *order = arn_region_allocate(&o->region, o->n, sizeof *order);
    if (!s.tried || !order || !arn_filling_make(o, &s.filling)) {
        return arn_no_memory(meter->planning->err);
    }
    if (look_at_all(&s)) {
        conclude(&s);
    } else {
        s.effort = effort;
        try_by_chance(&s, order);
    }
    arn_meter_spend(meter, s.spent - s.reported);
    return o->out_of_memory ? arn_no_memory(meter->planning->err) : ARENAUT_OK;
}
