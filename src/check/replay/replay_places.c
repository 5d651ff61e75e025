/* replay_places: tensors to cells of the shadow, by coordinate compression of the placement.
 *
 * Finds for each tensor the storage that it is part of (following views, and state that methods
 * share by name), checks that their places agree, and cuts the arenas at every address at which a
 * tensor begins or ends: O(n log n). Lowering finds storages too; this is the checker's own
 * copy. */
#include "check/replay/replay.h"

#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/sort.h"
#include "ir/program.h"

typedef struct maker {
    const arenaut_program *program;
    const arenaut_placement *placement;
    arn_region *region;
    arn_replay_places *places;
    bool *elsewhere; /* per storage: in memory that the arenas do not hold */
    bool *varies;    /* per storage: not a constant everywhere */
} maker;

static bool allocate(maker *m) {
    arn_replay_places *p = m->places;
    const uint32_t n = m->program->n_tensors;
    if (!ARN_REGION_ARRAYS(m->region, ARN_ARRAY(p->storage, n), ARN_ARRAY(p->state, n),
                           ARN_ARRAY(p->filled, n), ARN_ARRAY(p->place, n),
                           ARN_ARRAY(p->base_pool, n), ARN_ARRAY(p->base_offset, n),
                           ARN_ARRAY(m->elsewhere, n), ARN_ARRAY(m->varies, n))) {
        return false;
    }
    for (uint32_t t = 0; t < n; t++) p->base_pool[t] = ARENAUT_NONE;
    return true;
}

/* Storage that several methods name alike is one memory: the first tensor stands for all.
 * The sort is stable, so that one has the lowest number. */
static bool find_storages(maker *m) {
    const arenaut_program *program = m->program;
    uint32_t *storage = m->places->storage, n = 0;
    uint32_t *named = arn_region_allocate(m->region, program->n_tensors, 2 * sizeof *named);
    if (!named) return false;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        storage[t] = arenaut_program_storage(program, t, NULL);
        if (storage[t] == t && program->tensors[t].qualified_name) named[n++] = t;
    }
    arn_sort_ids(named, n, arn_by_qualified_name, program->tensors, named + n);
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t first = storage[named[i - 1]];
        if (strcmp(program->tensors[first].qualified_name,
                   program->tensors[named[i]].qualified_name) == 0) {
            storage[named[i]] = first;
        }
    }
    /* Views come after their storages are settled. */
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        storage[t] = storage[arenaut_program_storage(program, t, NULL)];
    }
    return true;
}

static void mark(const maker *m, bool *marks, const uint32_t *ids, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] != ARENAUT_NONE) marks[m->places->storage[ids[i]]] = true;
    }
}

static void mark_unplaced(const maker *m, const uint32_t *ids, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t storage = m->places->storage[ids[i]];
        if (m->places->base_pool[storage] == ARENAUT_NONE) m->elsewhere[storage] = true;
    }
}

static void find_bases(const maker *m) {
    const arenaut_program *program = m->program;
    /* Tensors that own storage come first: a view's place follows from its storage's. */
    for (int views = 0; views < 2; views++) {
        for (uint32_t t = 0; t < program->n_tensors; t++) {
            const arenaut_tensor *tensor = &program->tensors[t];
            const uint32_t storage = m->places->storage[t];
            uint64_t delta;
            if ((tensor->view_of != ARENAUT_NONE) != (views == 1)) continue;
            (void)arenaut_program_storage(program, t, &delta);
            if (m->placement->pool[t] == ARENAUT_NONE || m->placement->offset[t] < delta ||
                m->places->base_pool[storage] != ARENAUT_NONE) {
                continue;
            }
            m->places->base_pool[storage] = m->placement->pool[t];
            m->places->base_offset[storage] = m->placement->offset[t] - delta;
        }
    }
}

/* Facts from the tensors that own storage; views have none. A name that is a constant in one method
 * and written in another is no constant. */
static void find_facts(const maker *m) {
    const arenaut_program *program = m->program;
    arn_replay_places *p = m->places;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const arenaut_tensor *tensor = &program->tensors[t];
        const uint32_t storage = p->storage[t];
        if (tensor->view_of != ARENAUT_NONE) continue;
        if (tensor->cls != ARENAUT_CONSTANT) m->varies[storage] = true;
        if (tensor->caller_owned) m->elsewhere[storage] = true;
        if (tensor->cls != ARENAUT_STATE && !tensor->qualified_name) continue;
        p->state[storage] = p->filled[storage] = true;
        /* State that has no place is kept by the runtime. */
        if (p->base_pool[storage] == ARENAUT_NONE) m->elsewhere[storage] = true;
    }
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        if (!m->varies[t]) m->elsewhere[t] = true;
    }
}

/* Facts from methods and ops about the tensors that they name. */
static void find_uses(const maker *m, bool exclude_io) {
    const arenaut_program *program = m->program;
    arn_replay_places *p = m->places;
    for (uint32_t i = 0; i < program->n_methods; i++) {
        const arenaut_method *method = &program->methods[i];
        mark(m, p->filled, method->inputs, method->n_inputs);
        if (!exclude_io || !method->entry) continue;
        mark_unplaced(m, method->inputs, method->n_inputs);
        mark_unplaced(m, method->outputs, method->n_outputs);
    }
    for (uint32_t i = 0; i < program->n_ops; i++) {
        const arenaut_op *op = &program->ops[i];
        mark(m, p->filled, op->outputs, op->n_outputs);
        if (arn_op_kind_brings_memory(op->kind)) mark(m, m->elsewhere, op->outputs, op->n_outputs);
    }
}

/* Whether the tensor has a place of its own that is not where its memory is. */
static bool is_misplaced(const maker *m, uint32_t t, uint64_t delta) {
    const uint32_t storage = m->places->storage[t];
    if (m->placement->pool[t] == ARENAUT_NONE) return false;
    return m->placement->pool[t] != m->places->base_pool[storage] ||
           m->placement->offset[t] < delta ||
           m->placement->offset[t] - delta != m->places->base_offset[storage];
}

/* Decides whether `t` can be touched at all; if so, *from and *to are its bytes. */
static void judge(const maker *m, uint32_t t, uint64_t *from, uint64_t *to) {
    const uint32_t storage = m->places->storage[t], pool = m->places->base_pool[storage];
    arn_replay_place *place = &m->places->place[t];
    uint64_t delta;
    (void)arenaut_program_storage(m->program, t, &delta);
    *from = *to = 0;
    if (m->program->tensors[t].bytes == 0 || m->elsewhere[storage]) {
        place->left_alone = true;
    } else if (pool == ARENAUT_NONE) {
        place->broken = ARENAUT_RULE_NO_PLACE;
    } else if (is_misplaced(m, t, delta)) {
        const bool same_storage = arenaut_program_storage(m->program, t, NULL) == storage;
        place->broken = same_storage ? ARENAUT_RULE_CLOBBERED : ARENAUT_RULE_STATE_LOST;
    } else if (pool >= m->placement->n_pools ||
               !arn_add(m->places->base_offset[storage], delta, from) ||
               !arn_add(*from, m->program->tensors[t].bytes, to) ||
               (m->placement->arena && *to > m->placement->arena[pool])) {
        place->broken = ARENAUT_RULE_OUTSIDE;
    }
}

/* The ends of all tensors, in the order of pools and addresses: entry 2t is where tensor t
 * starts, 2t + 1 where it ends. */
typedef struct boundaries {
    const arn_replay_places *places;
    uint64_t *address;
} boundaries;

static bool before_by_address(const void *context, uint32_t a, uint32_t b) {
    const boundaries *all = context;
    const uint32_t pool_a = all->places->base_pool[all->places->storage[a / 2]];
    const uint32_t pool_b = all->places->base_pool[all->places->storage[b / 2]];
    return pool_a != pool_b ? pool_a < pool_b : all->address[a] < all->address[b];
}

static void number_cells(const boundaries *all, const uint32_t *sorted, uint32_t n,
                         arn_replay_places *places) {
    uint32_t last = ARENAUT_NONE; /* cells numbered so far, less one */
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = sorted[i], t = at / 2;
        if (i == 0 || before_by_address(all, sorted[i - 1], at)) {
            last++;
            places->cell_pool[last] = places->base_pool[places->storage[t]];
            places->cell_address[last] = all->address[at];
        }
        if (at % 2 == 0) places->place[t].first = last;
        else places->place[t].end = last;
    }
    places->n_cells = n ? last : 0;
}

static bool make_cells(const maker *m) {
    arn_replay_places *p = m->places;
    const uint32_t n = m->program->n_tensors;
    boundaries all = {p, arn_region_allocate(m->region, n, 2 * sizeof *all.address)};
    uint32_t *sorted = arn_region_allocate(m->region, n, 4 * sizeof *sorted);
    p->cell_pool = arn_region_allocate(m->region, n, 2 * sizeof *p->cell_pool);
    p->cell_address = arn_region_allocate(m->region, n, 2 * sizeof *p->cell_address);
    if (!all.address || !sorted || !p->cell_pool || !p->cell_address) return false;
    uint32_t used = 0;
    for (uint32_t t = 0; t < n; t++) {
        judge(m, t, &all.address[2 * t], &all.address[2 * t + 1]);
        if (p->place[t].left_alone || p->place[t].broken != ARENAUT_RULE_NONE) continue;
        sorted[used++] = 2 * t;
        sorted[used++] = 2 * t + 1;
    }
    arn_sort_ids(sorted, used, before_by_address, &all, sorted + used);
    number_cells(&all, sorted, used, p);
    return true;
}

arenaut_status arn_replay_places_make(const arenaut_program *program,
                                      const arenaut_placement *placement, bool exclude_io,
                                      arn_region *region, arn_replay_places *places,
                                      arenaut_error *err) {
    maker m = {program, placement, region, places, NULL, NULL};
    if (!allocate(&m) || !find_storages(&m)) return arn_no_memory(err);
    find_bases(&m);
    find_facts(&m);
    find_uses(&m, exclude_io);
    return make_cells(&m) ? ARENAUT_OK : arn_no_memory(err);
}
