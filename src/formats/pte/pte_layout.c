/* Layout of a plan in a .pte file: the memory of each pool, and the offset of each tensor. All
 * tensors are visited a few times; tables have an entry for each method and pool. Plans that the
 * file cannot hold are refused before a byte of it is changed. */
#include "formats/pte/pte_layout.h"

#include <inttypes.h>

#include "core/checked.h"
#include "core/fail.h"

enum { GRAIN = 16 }; /* the runtime's own alignment */

typedef struct layout {
    const arenaut_result *result;
    const arenaut_program *held;
    const bool *has_tail;
    arn_pte_layout *out;
    uint32_t n_pools;
    uint32_t *memory_of; /* per method and pool: the memory; ARENAUT_NONE: not used */
    uint64_t *end;       /* per method and pool: of its buffers there */
    uint64_t *tail;      /* per method and pool: bytes kept behind that */
    bool *only_state;    /* per pool: all tensors in it are state */
    bool by_position;    /* pool k is memory k + 1 */
    arenaut_error *err;
} layout;

static uint32_t cell(const layout *l, uint32_t method, uint32_t pool) {
    return method * l->n_pools + pool;
}

/* The buffer whose place the plan gives a tensor; ARENAUT_NONE if it gives none. */
static uint32_t planned_buffer(const layout *l, uint32_t tensor) {
    const uint32_t b = l->result->lowering->buffer[tensor];
    return b != ARENAUT_NONE && l->result->plan->pool[b] != ARENAUT_NONE ? b : ARENAUT_NONE;
}

static bool is_placed(const layout *l, uint32_t tensor) {
    return l->held->tensors[tensor].given_pool != ARENAUT_NONE;
}

/* ---- which memory a pool is ---- */

static bool any_capacity(const arenaut_problem *problem) {
    for (uint32_t p = 0; p < problem->n_pools; p++) {
        if (problem->pool[p].capacity != ARENAUT_UNLIMITED) return true;
    }
    return false;
}

/* Whether methods, of other files as well, are to work in the same memories: then each has the same
 * number in all. */
static bool is_joint(const layout *l) {
    return l->result->target && l->result->target->share_apart;
}

/* Notes that a tensor of memory `given` lies in `pool`; false if that is not one to one.
 * `pool_of` is per memory of each method, as memory_of is per pool. */
static bool pair_up(layout *l, uint32_t method, uint32_t pool, uint32_t given, uint32_t *pool_of) {
    uint32_t *memory = &l->memory_of[cell(l, method, pool)];
    if (*memory == ARENAUT_NONE) *memory = given;
    if (pool_of[given] == ARENAUT_NONE) pool_of[given] = pool;
    return *memory == given && pool_of[given] == pool;
}

static arenaut_status find_memories(layout *l, arn_region *region) {
    const arenaut_program *held = l->held;
    const uint32_t *first = l->out->first;
    const uint32_t n_cells = held->n_methods * l->n_pools, n_given = first[held->n_methods];
    uint32_t *pool_of = arn_region_allocate(region, n_given, sizeof *pool_of);
    if (!pool_of) return arn_no_memory(l->err);
    for (uint32_t i = 0; i < n_given; i++) pool_of[i] = ARENAUT_NONE;
    for (uint32_t i = 0; i < n_cells; i++) l->memory_of[i] = ARENAUT_NONE;
    l->by_position = any_capacity(l->result->lowering->problem) || is_joint(l);
    for (uint32_t t = 0; t < held->n_tensors; t++) {
        const arenaut_tensor *tensor = &held->tensors[t];
        const uint32_t b = planned_buffer(l, t);
        if (!is_placed(l, t) || b == ARENAUT_NONE) continue;
        const bool paired = pair_up(l, tensor->method, l->result->plan->pool[b], tensor->given_pool,
                                    pool_of + first[tensor->method]);
        if (!paired) l->by_position = true;
    }
    for (uint32_t i = 0; i < n_cells && l->by_position; i++) {
        if (l->memory_of[i] != ARENAUT_NONE) l->memory_of[i] = i % l->n_pools;
    }
    return ARENAUT_OK;
}

/* ---- how large each is ---- */

/* Whether the file says so, or a pass has found out. */
static bool is_state(const layout *l, uint32_t tensor) {
    return l->held->tensors[tensor].cls == ARENAUT_STATE ||
           l->result->program->tensors[tensor].cls == ARENAUT_STATE;
}

/* Ends of buffers, not of tensors: these measure the plan's arena. */
static arenaut_status find_ends(layout *l) {
    const arenaut_problem *problem = l->result->problem;
    for (uint32_t p = 0; p < l->n_pools; p++) l->only_state[p] = true;
    for (uint32_t i = 0; i < l->held->n_methods * l->n_pools; i++) l->end[i] = 0;
    for (uint32_t t = 0; t < l->held->n_tensors; t++) {
        const uint32_t b = planned_buffer(l, t);
        if (!is_placed(l, t) || b == ARENAUT_NONE) continue;
        const uint32_t pool = l->result->plan->pool[b];
        uint64_t *end = &l->end[cell(l, l->held->tensors[t].method, pool)], own;
        if (!arn_add(l->result->plan->offset[b], problem->size[b], &own)) {
            return arn_fail(l->err, ARENAUT_TOO_LARGE, 0, "buffer %" PRIu32 " ends past 2^63 - 1",
                            b);
        }
        *end = arn_max_u64(*end, own);
        if (!is_state(l, t)) l->only_state[pool] = false;
    }
    return ARENAUT_OK;
}

/* If XNNPACK gets a memory of the file's, it keeps the room behind it that the exporter left: none,
 * behind shared state. */
static arenaut_status find_tails(layout *l, arn_region *region) {
    const uint32_t *first = l->out->first;
    uint64_t *ends = arn_region_allocate(region, first[l->held->n_methods], sizeof *ends);
    if (!ends) return arn_no_memory(l->err);
    for (uint32_t i = 0; i < first[l->held->n_methods]; i++) ends[i] = 0;
    for (uint32_t t = 0; t < l->held->n_tensors; t++) {
        const arenaut_tensor *tensor = &l->held->tensors[t];
        if (!is_placed(l, t)) continue;
        uint64_t *end = &ends[first[tensor->method] + tensor->given_pool];
        /* Offset and size were found to end below 2^63. */
        *end = arn_max_u64(*end, tensor->given_offset + arn_aligned(tensor->bytes, GRAIN));
    }
    for (uint32_t i = 0; i < l->held->n_methods * l->n_pools; i++) {
        const uint32_t m = i / l->n_pools, memory = l->memory_of[i];
        l->tail[i] = l->has_tail[m] ? ARN_PTE_XNNPACK_TAIL : 0;
        if (memory == ARENAUT_NONE || l->by_position) continue;
        const uint64_t given = l->held->methods[m].given_pools[memory].bytes;
        const uint64_t end = ends[first[m] + memory];
        l->tail[i] = arn_min_u64(l->tail[i], given > end ? given - end : 0);
    }
    return ARENAUT_OK;
}

/* The end of all buffers in a pool, also of those that only methods of other files have. */
static uint64_t end_of_pool(const layout *l, uint32_t pool) {
    const arenaut_plan *plan = l->result->plan;
    uint64_t end = 0;
    for (uint32_t b = 0; b < l->result->problem->n_buffers; b++) {
        if (plan->pool[b] != pool) continue;
        end = arn_max_u64(end, plan->offset[b] + l->result->problem->size[b]);
    }
    return end;
}

/* Methods that share state share the memory that it is in, which then has one size. */
static void level_state(layout *l) {
    const uint32_t n = l->held->n_methods;
    for (uint32_t p = 0; p < l->n_pools; p++) {
        uint64_t end = is_joint(l) ? end_of_pool(l, p) : 0, tail = 0;
        for (uint32_t m = 0; m < n && l->only_state[p]; m++) {
            if (l->memory_of[cell(l, m, p)] == ARENAUT_NONE) continue;
            end = arn_max_u64(end, l->end[cell(l, m, p)]);
            tail = arn_max_u64(tail, l->tail[cell(l, m, p)]);
        }
        for (uint32_t m = 0; m < n && l->only_state[p]; m++) {
            l->end[cell(l, m, p)] = end;
            l->tail[cell(l, m, p)] = tail;
        }
    }
}

/* The size of the memory that a pool is in a method. If that is more than the file has,
 * only because the plan counts in larger steps, the file's will do. */
static arenaut_status size_memory(layout *l, uint32_t method, uint32_t pool) {
    const arenaut_method *m = &l->held->methods[method];
    const uint32_t memory = l->memory_of[cell(l, method, pool)];
    const arenaut_pool *of = &l->result->problem->pool[pool];
    const uint64_t end = l->end[cell(l, method, pool)];
    const uint64_t tail = l->tail[cell(l, method, pool)];
    uint64_t size;
    if (!arn_align_up(end, of->align ? of->align : 1, &size) || !arn_add(size, tail, &size)) {
        return arn_fail(l->err, ARENAUT_TOO_LARGE, 0, "pool %" PRIu32 " ends past 2^63 - 1", pool);
    }
    if (size > of->capacity) {
        return arn_fail(l->err, ARENAUT_REFUSED, 0,
                        "method '%.60s' needs %" PRIu64 " bytes of pool '%.60s', %" PRIu64
                        " of them behind the arguments of XNNPACK; it has %" PRIu64,
                        m->name ? m->name : "", size, of->name ? of->name : "", tail, of->capacity);
    }
    l->out->memories[l->out->first[method] + memory].size = size;
    return ARENAUT_OK;
}

/* ---- tensors outside of the plan ---- */

/* A memory of the tensor's own device, for tensors without a buffer. */
static uint32_t home_of(const layout *l, const arenaut_tensor *tensor) {
    const arn_pte_memory *memories = l->out->memories + l->out->first[tensor->method];
    const uint32_t n = l->out->first[tensor->method + 1] - l->out->first[tensor->method];
    for (uint32_t i = 0; i < n && l->by_position; i++) {
        if (memories[i].device.type == tensor->device.type &&
            memories[i].device.index == tensor->device.index) {
            return i;
        }
    }
    return tensor->given_pool;
}

/* The runtime refuses a tensor outside its memory even if no instruction touches it. It stays
 * where it was if that is inside; else it goes to offset 0, as its bytes are never used. */
static arenaut_status place_idle(layout *l, uint32_t t) {
    const arenaut_tensor *tensor = &l->held->tensors[t];
    const uint32_t home = home_of(l, tensor);
    uint64_t *size = &l->out->memories[l->out->first[tensor->method] + home].size, end;
    l->out->memory[t] = home;
    l->out->offset[t] = tensor->given_offset;
    if (!arn_add(tensor->given_offset, tensor->bytes, &end) || end > *size ||
        home != tensor->given_pool) {
        l->out->offset[t] = 0;
        end = tensor->bytes;
    }
    if (end > *size && !arn_align_up(end, GRAIN, size)) {
        return arn_fail(l->err, ARENAUT_TOO_LARGE, 0, "tensor %" PRIu32 " ends past 2^63 - 1", t);
    }
    return ARENAUT_OK;
}

static arenaut_status place_tensors(layout *l) {
    const arenaut_result *result = l->result;
    for (uint32_t t = 0; t < l->held->n_tensors; t++) {
        const uint32_t b = planned_buffer(l, t);
        l->out->memory[t] = ARENAUT_NONE;
        l->out->offset[t] = ARENAUT_UNPLACED;
        if (!is_placed(l, t) || b == ARENAUT_NONE) continue;
        const uint32_t pool = result->plan->pool[b];
        l->out->memory[t] = l->memory_of[cell(l, l->held->tensors[t].method, pool)];
        if (!arn_add(result->plan->offset[b], result->lowering->offset[t], &l->out->offset[t])) {
            return arn_fail(l->err, ARENAUT_TOO_LARGE, 0, "tensor %" PRIu32 " begins past 2^63 - 1",
                            t);
        }
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t t = 0; t < l->held->n_tensors && st == ARENAUT_OK; t++) {
        if (is_placed(l, t) && l->out->memory[t] == ARENAUT_NONE) st = place_idle(l, t);
    }
    return st;
}

/* ---- keeping unchanged memories ---- */

/* Conditions for keeping a memory's size as it is in the file. */
typedef struct keep {
    uint64_t end;  /* of the tensors that lie in it now */
    bool moved;    /* some tensor of it has another place now */
    bool ordinary; /* some tensor of it is the host's and no state */
} keep;

static void look_at_moves(const layout *l, keep *keeps) {
    const uint32_t *first = l->out->first;
    for (uint32_t t = 0; t < l->held->n_tensors; t++) {
        const arenaut_tensor *tensor = &l->held->tensors[t];
        if (!is_placed(l, t)) continue;
        keep *old = &keeps[first[tensor->method] + tensor->given_pool];
        keep *new = &keeps[first[tensor->method] + l->out->memory[t]];
        const bool host = tensor->device.type == 0 && tensor->device.index == 0;
        if (old != new || l->out->offset[t] != tensor->given_offset) old->moved = new->moved = true;
        if (!is_state(l, t) && host) old->ordinary = true;
        /* Buffers hold their tensors and end below 2^63, so this does too. */
        new->end = arn_max_u64(new->end, l->out->offset[t] + tensor->bytes);
    }
}

/* A shared memory moves in all methods, or in none. */
static void spread_moves(const layout *l, keep *keeps) {
    const uint32_t n = l->held->n_methods;
    for (uint32_t p = 0; p < l->n_pools; p++) {
        bool moved = false;
        for (int telling = 0; telling < 2 && l->only_state[p]; telling++) {
            for (uint32_t m = 0; m < n; m++) {
                const uint32_t memory = l->memory_of[cell(l, m, p)];
                keep *k = memory == ARENAUT_NONE ? NULL : &keeps[l->out->first[m] + memory];
                if (k && telling) k->moved = moved;
                if (k && !telling) moved = moved || k->moved;
            }
        }
    }
}

/* Arenas that hold only state, or are on another device, have a size that the code which
 * provides them relies on: where no tensor in one has moved, its size stays too. Nor does a
 * size grow where the file's would do, only because plans count in larger steps. */
static arenaut_status keep_sizes(layout *l, arn_region *region) {
    const uint32_t *first = l->out->first;
    const uint32_t n = first[l->held->n_methods];
    keep *keeps = arn_region_allocate(region, n, sizeof *keeps);
    if (!keeps) return arn_no_memory(l->err);
    for (uint32_t i = 0; i < n; i++) keeps[i] = (keep){0, false, false};
    look_at_moves(l, keeps);
    spread_moves(l, keeps);
    for (uint32_t m = 0; m < l->held->n_methods; m++) {
        const arenaut_method *method = &l->held->methods[m];
        for (uint32_t i = 0; i < method->n_given_pools; i++) {
            const keep *k = &keeps[first[m] + i];
            const uint64_t given = method->given_pools[i].bytes;
            const uint64_t tail = k->moved && l->has_tail[m] ? ARN_PTE_XNNPACK_TAIL : 0;
            uint64_t *size = &l->out->memories[first[m] + i].size;
            if (k->end > given || tail > given - k->end) continue;
            if (*size > given || (!k->moved && !k->ordinary)) *size = given;
        }
    }
    return ARENAUT_OK;
}

/* Counts the memories of each method: the file's, and those of pools beyond them. */
static arenaut_status count_memories(layout *l, arn_region *region) {
    const arenaut_program *held = l->held;
    uint32_t *first = l->out->first;
    uint64_t total = 0;
    for (uint32_t m = 0; m < held->n_methods; m++) {
        uint32_t n = held->methods[m].n_given_pools;
        for (uint32_t p = 0; p < l->n_pools; p++) {
            const uint32_t memory = l->memory_of[cell(l, m, p)];
            if (memory != ARENAUT_NONE && memory >= n) n = memory + 1;
        }
        first[m] = (uint32_t)total;
        total += n;
    }
    first[held->n_methods] = (uint32_t)total;
    if (total >= ARENAUT_NONE) return arn_no_memory(l->err);
    l->out->memories = arn_region_allocate(region, (size_t)total, sizeof *l->out->memories);
    return l->out->memories ? ARENAUT_OK : arn_no_memory(l->err);
}

/* Methods that were not planned go on with the memories that they have. */
static void begin_memories(layout *l) {
    const arenaut_device host = {0, 0};
    for (uint32_t m = 0; m < l->held->n_methods; m++) {
        const arenaut_method *method = &l->held->methods[m];
        const bool planned = l->result->program->methods[m].entry;
        const uint32_t n = l->out->first[m + 1] - l->out->first[m];
        for (uint32_t i = 0; i < n; i++) {
            arn_pte_memory *memory = &l->out->memories[l->out->first[m] + i];
            memory->size = 0;
            if (!planned && i < method->n_given_pools) memory->size = method->given_pools[i].bytes;
            memory->device = i < method->n_given_pools ? method->given_pools[i].device : host;
            if (l->by_position && i < l->n_pools)
                memory->device = l->result->problem->pool[i].device;
        }
    }
}

static arenaut_status take_room(layout *l, arn_region *region) {
    const size_t n_cells = (size_t)l->held->n_methods * l->n_pools;
    arn_pte_layout *out = l->out;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(out->memory, l->held->n_tensors),
                           ARN_ARRAY(out->offset, l->held->n_tensors),
                           ARN_ARRAY(out->first, (size_t)l->held->n_methods + 1),
                           ARN_ARRAY(l->memory_of, n_cells), ARN_ARRAY(l->end, n_cells),
                           ARN_ARRAY(l->tail, n_cells), ARN_ARRAY(l->only_state, l->n_pools))) {
        return arn_no_memory(l->err);
    }
    for (uint32_t m = 0; m < l->held->n_methods; m++) {
        out->first[m + 1] = out->first[m] + l->held->methods[m].n_given_pools;
    }
    return ARENAUT_OK;
}

arenaut_status arn_pte_make_layout(const arenaut_result *result, const arenaut_program *held,
                                   const bool *has_tail, arn_region *region, arn_pte_layout *out,
                                   arenaut_error *err) {
    layout l = {.result = result,
                .held = held,
                .has_tail = has_tail,
                .out = out,
                .n_pools = result->plan->n_pools,
                .err = err};
    arenaut_status st = take_room(&l, region);
    if (st == ARENAUT_OK) st = find_memories(&l, region);
    if (st == ARENAUT_OK) st = count_memories(&l, region);
    if (st == ARENAUT_OK) st = find_ends(&l);
    if (st == ARENAUT_OK) st = find_tails(&l, region);
    if (st != ARENAUT_OK) return st;
    begin_memories(&l);
    level_state(&l);
    for (uint32_t m = 0; m < held->n_methods; m++) {
        for (uint32_t p = 0; p < l.n_pools && st == ARENAUT_OK; p++) {
            if (l.memory_of[cell(&l, m, p)] != ARENAUT_NONE) st = size_memory(&l, m, p);
        }
    }
    if (st == ARENAUT_OK) st = place_tensors(&l);
    return st == ARENAUT_OK ? keep_sizes(&l, region) : st;
}
