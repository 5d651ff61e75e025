/* Which pool each storage lies in: memory of one device never holds another device's
 * buffers, and for some runtimes each method has an arena of its own. */
#include <inttypes.h>
#include <stdio.h>

#include "core/fail.h"
#include "core/sort.h"
#include "passes/lower/lower.h"

typedef struct place {
    const arenaut_program *program;
    bool per_method;
} place;

/* The order of pools, and which storages share one: device, then method. */
static int compare(const place *p, uint32_t a, uint32_t b) {
    const arenaut_tensor *ta = &p->program->tensors[a], *tb = &p->program->tensors[b];
    if (ta->device.type != tb->device.type) return ta->device.type < tb->device.type ? -1 : 1;
    if (ta->device.index != tb->device.index) return ta->device.index < tb->device.index ? -1 : 1;
    if (!p->per_method || ta->method == tb->method) return 0;
    return ta->method < tb->method ? -1 : 1;
}

static bool place_before(const void *context, uint32_t a, uint32_t b) {
    return compare(context, a, b) < 0;
}

/* "arena", and what tells this one from others. */
static void name_pool(const place *p, uint32_t storage, char *name, size_t size) {
    const arenaut_tensor *tensor = &p->program->tensors[storage];
    const arenaut_device device = tensor->device;
    size_t used = (size_t)snprintf(name, size, "arena");
    if (device.type != 0 || device.index != 0) {
        used += (size_t)snprintf(name + used, size - used, ".device%u.%u", (unsigned)device.type,
                                 (unsigned)device.index);
    }
    if (p->per_method && p->program->n_methods > 1 && tensor->method != ARENAUT_NONE) {
        snprintf(name + used, size - used, ".method%" PRIu32, tensor->method);
    }
}

/* One unlimited pool for each place that a storage needs. */
static arenaut_status own_pools(arn_lower *lower, arenaut_problem *problem) {
    const arenaut_program *p = lower->program;
    const place context = {p, lower->target->arena_per_method};
    uint32_t *ids = arn_region_allocate(&lower->scratch, p->n_tensors, 2 * sizeof *ids);
    if (!ids) return arn_no_memory(lower->err);
    uint32_t n = 0;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        if (arn_has_buffer(lower, t)) ids[n++] = t;
    }
    arn_sort_ids(ids, n, place_before, &context, ids + n);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare(&context, ids[i - 1], ids[i]) != 0) {
            char name[64];
            name_pool(&context, ids[i], name, sizeof name);
            const arenaut_pool pool = {name, ARENAUT_UNLIMITED, 1, p->tensors[ids[i]].device};
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
        if (!arn_has_buffer(lower, t)) continue;
        lower->pools[t] = pools_of_device(lower, p->tensors[t].device);
        if (lower->pools[t] == 0) {
            char store[24];
            return arn_fail(lower->err, ARENAUT_REFUSED, 0,
                            "tensor '%s' is of device %u.%u; none of the %" PRIu32
                            " pools given is",
                            arenaut_program_tensor_name(p, t, store),
                            (unsigned)p->tensors[t].device.type,
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
