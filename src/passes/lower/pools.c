/* The pool of each storage: memory of one device never holds another device's buffers, and for some
 * runtimes each method has an arena of its own. Storages with the same device, memory, method and
 * sharing get one pool; there are ARENAUT_MAX_POOLS at most. */
#include <inttypes.h>
#include <stdio.h>

#include "core/fail.h"
#include "core/sort.h"
#include "passes/lower/lower.h"

/* The key of a pool. */
typedef struct place {
    const arenaut_program *program;
    bool per_method, share_apart;
    uint32_t n_memories; /* arenas that a method states, at most; 0: they do not count */
    bool *shared;        /* per storage: it is of several methods */
    bool *joint;         /* per memory: some storage in it is */
} place;

/* Whether it lies with the state that methods share by name. */
static bool lies_apart(const place *p, uint32_t storage) {
    return p->share_apart && p->shared[storage] && p->program->tensors[storage].qualified_name;
}

/* The arena of its method that a storage stays in. What lies apart leaves it, for one behind all.
 */
static uint32_t memory_of(const place *p, uint32_t storage) {
    const uint32_t given = p->program->tensors[storage].given_pool;
    return given < p->n_memories && !lies_apart(p, storage) ? given : ARENAUT_NONE;
}

/* The method that has the arena to itself. A memory with shared state is one for all methods, so
 * that the state has one offset; other memory is shared by itself. */
static uint32_t method_of(const place *p, uint32_t storage) {
    const uint32_t memory = memory_of(p, storage);
    const bool shared = memory == ARENAUT_NONE ? p->shared[storage] : p->joint[memory];
    return p->per_method && !shared ? p->program->tensors[storage].method : ARENAUT_NONE;
}

/* The order of pools, and which storages share one: device, memory, sharing, then method. */
static int compare(const place *p, uint32_t a, uint32_t b) {
    const arenaut_device da = p->program->tensors[a].device, db = p->program->tensors[b].device;
    const uint32_t key_a[] = {da.type, da.index, memory_of(p, a), lies_apart(p, a),
                              method_of(p, a)};
    const uint32_t key_b[] = {db.type, db.index, memory_of(p, b), lies_apart(p, b),
                              method_of(p, b)};
    for (int i = 0; i < 5; i++) {
        if (key_a[i] != key_b[i]) return key_a[i] < key_b[i] ? -1 : 1;
    }
    return 0;
}

static bool find_shared(const arn_lower *lower, arn_region *region, place *p) {
    const arenaut_program *program = lower->program;
    for (uint32_t m = 0; m < program->n_methods && lower->target->keep_memories; m++) {
        const uint32_t n = program->methods[m].n_given_pools;
        if (n > p->n_memories) p->n_memories = n;
    }
    p->shared = arn_region_allocate(region, program->n_tensors, sizeof *p->shared);
    p->joint = arn_region_allocate(region, p->n_memories, sizeof *p->joint);
    if (!p->shared || !p->joint) return false;
    for (uint32_t t = 0; t < program->n_tensors; t++) p->shared[t] = false;
    for (uint32_t k = 0; k < p->n_memories; k++) p->joint[k] = false;
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const uint32_t s = lower->live.storage.of[t];
        if (program->tensors[t].method != program->tensors[s].method) p->shared[s] = true;
    }
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        const uint32_t memory = memory_of(p, t);
        if (p->shared[t] && memory != ARENAUT_NONE) p->joint[memory] = true;
    }
    return true;
}

static bool place_before(const void *context, uint32_t a, uint32_t b) {
    return compare(context, a, b) < 0;
}

/* "arena", and the parts of the key that tell it from others. */
static void name_pool(const place *p, uint32_t storage, char *name, size_t size) {
    const arenaut_tensor *tensor = &p->program->tensors[storage];
    const arenaut_device device = tensor->device;
    size_t used = (size_t)snprintf(name, size, "arena");
    if (device.type != 0 || device.index != 0) {
        used += (size_t)snprintf(name + used, size - used, ".device%u.%u", (unsigned)device.type,
                                 (unsigned)device.index);
    }
    if (memory_of(p, storage) != ARENAUT_NONE && memory_of(p, storage) > 0) {
        used += (size_t)snprintf(name + used, size - used, ".memory%" PRIu32,
                                 memory_of(p, storage) + 1);
    }
    if (lies_apart(p, storage)) used += (size_t)snprintf(name + used, size - used, ".shared");
    if (p->program->n_methods > 1 && method_of(p, storage) != ARENAUT_NONE) {
        snprintf(name + used, size - used, ".method%" PRIu32, method_of(p, storage));
    }
}

static arenaut_status too_many(const arn_lower *lower, const char *name) {
    return arn_fail(lower->err, ARENAUT_REFUSED, 0,
                    "the methods have more than %u memories in all, '%s' among them; no more can "
                    "be planned together: choose some of the methods",
                    ARENAUT_MAX_POOLS, name);
}

/* One unlimited pool for each place that a storage needs. */
static arenaut_status own_pools(arn_lower *lower, arenaut_problem *problem) {
    const arenaut_program *p = lower->program;
    place context = {.program = p,
                     .per_method = lower->target->arena_per_method,
                     .share_apart = lower->target->share_apart};
    uint32_t *ids = arn_region_allocate(&lower->scratch, p->n_tensors, 2 * sizeof *ids);
    if (!ids || !find_shared(lower, &lower->scratch, &context)) return arn_no_memory(lower->err);
    uint32_t n = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (arn_lower_has_buffer(lower, t)) ids[n++] = t;
    }
    arn_sort_ids(ids, n, place_before, &context, ids + n);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare(&context, ids[i - 1], ids[i]) != 0) {
            char name[64];
            name_pool(&context, ids[i], name, sizeof name);
            if (problem->n_pools == ARENAUT_MAX_POOLS) return too_many(lower, name);
            const arenaut_pool pool = {.name = name, .device = p->tensors[ids[i]].device};
            const arenaut_status st = arenaut_problem_add_pool(problem, &pool, NULL, lower->err);
            if (st != ARENAUT_OK) return st;
        }
        lower->pools[ids[i]] = UINT64_C(1) << (problem->n_pools - 1);
    }
    return ARENAUT_OK;
}

/* The pools of the caller's list that are of this device. */
static uint64_t pools_of_device(const arn_lower *lower, arenaut_device device) {
    uint64_t allowed = 0;
    for (uint32_t i = 0; i < lower->options.n_pools; i++) {
        const arenaut_device of = lower->options.pools[i].device;
        if (of.type == device.type && of.index == device.index) allowed |= UINT64_C(1) << i;
    }
    return allowed;
}

static arenaut_status given_pools(arn_lower *lower, arenaut_problem *problem) {
    const arenaut_program *p = lower->program;
    for (uint32_t i = 0; i < lower->options.n_pools; i++) {
        const arenaut_status st =
            arenaut_problem_add_pool(problem, &lower->options.pools[i], NULL, lower->err);
        if (st != ARENAUT_OK) return st;
    }
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (!arn_lower_has_buffer(lower, t)) continue;
        lower->pools[t] = pools_of_device(lower, p->tensors[t].device);
        if (lower->pools[t] == 0) {
            char store[24];
            return arn_fail(
                lower->err, ARENAUT_REFUSED, 0,
                "tensor '%s' is of device %u.%u; none of the %" PRIu32 " pools given is",
                arenaut_program_tensor_name(p, t, store), (unsigned)p->tensors[t].device.type,
                (unsigned)p->tensors[t].device.index, lower->options.n_pools);
        }
    }
    return ARENAUT_OK;
}

arenaut_status arn_lower_pools(arn_lower *lower, arenaut_problem *problem) {
    const uint32_t n = lower->program->n_tensors;
    lower->pools = arn_region_allocate(&lower->scratch, n, sizeof *lower->pools);
    if (!lower->pools) return arn_no_memory(lower->err);
    for (uint32_t s = 0; s < n; s++) lower->pools[s] = 0;
    return lower->options.pools ? given_pools(lower, problem) : own_pools(lower, problem);
}
