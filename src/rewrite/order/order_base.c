/* What the order problems of a program's methods are made from: which methods run, which buffers
 * are whose, and what ops wait for. */
#include "rewrite/order/order_base.h"

#include <inttypes.h>
#include <string.h>

#include "core/checked.h"
#include "core/fail.h"
#include "ir/plain_call.h"

/* ---- what can be reordered ---- */

static arenaut_status refuse(arenaut_error *err, const char *why) {
    return arn_fail(err, ARENAUT_REFUSED, 0, "the program cannot be reordered: %s", why);
}

/* Per method, whether it is an entry or called from one, and how many calls name it. */
static void find_running(arn_order_base *b, uint32_t *n_calls) {
    const arenaut_program *p = b->program;
    const uint32_t *callees_first = b->waits.calls.callees_first;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        b->runs[m] = p->methods[m].entry;
        n_calls[m] = 0;
    }
    for (uint32_t k = p->n_methods; k-- > 0;) {
        const arenaut_method *method = &p->methods[callees_first[k]];
        if (!b->runs[callees_first[k]]) continue;
        for (uint32_t i = 0; i < method->n_ops; i++) {
            const arenaut_op *op = &p->ops[method->first_op + i];
            for (uint32_t c = 0; c < op->n_calls; c++) {
                b->runs[op->calls[c]] = true;
                n_calls[op->calls[c]]++;
            }
        }
    }
    for (uint32_t m = 0; m < p->n_methods; m++) b->n_running += b->runs[m];
}

/* What is alive in one run of a method must be alive then alone, and depend on nothing but that. */
static arenaut_status check_calls(const arn_order_base *b, const uint32_t *n_calls,
                                  arenaut_error *err) {
    const arenaut_program *p = b->program;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        if (n_calls[m] > 0 && p->methods[m].entry) {
            return refuse(err, "a method is called from outside and by another one");
        }
        if (n_calls[m] > 1 && b->target->merge_calls) {
            return refuse(err, "a method that is called several times keeps its memory in between");
        }
    }
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (!b->runs[p->ops[i].method] || !arn_is_plain_call(&p->ops[i])) continue;
        return refuse(err, "both ways of a branch are the same");
    }
    return ARENAUT_OK;
}

/* ---- buffers ---- */

/* Every offset is a multiple of the least alignment, so that sizes can be rounded up to it; but
 * a pool may end with the last byte of its last buffer. */
static void round_sizes(arn_order_base *b) {
    const arenaut_problem *problem = b->lowering->problem;
    uint64_t grain = ARENAUT_SIZE_MAX, most = 0;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        grain = arn_min_u64(grain, arenaut_problem_align(problem, i));
    }
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        b->size[i] = arn_aligned(problem->size[i], grain);
        most = arn_max_u64(most, b->size[i] - problem->size[i]);
    }
    b->grain = grain;
    for (uint32_t i = 0; i < problem->n_pools; i++) {
        if (problem->pool[i].align < grain) b->at_ends += most;
    }
}

static uint32_t home_of(const arn_order_base *b, uint32_t buffer) {
    return b->program->tensors[b->lowering->tensor[buffer]].method;
}

/* State, and what a called method names of no method: it may be carried round a loop. */
static void mark_always(arn_order_base *b, const arenaut_method *method, uint32_t m,
                        const uint32_t *tensors, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t t = tensors[i];
        const uint32_t buffer = t == ARENAUT_NONE ? t : b->lowering->buffer[t];
        if (buffer == ARENAUT_NONE || method->entry) continue;
        const uint32_t home = home_of(b, buffer);
        const bool captured = method->outer != ARENAUT_NONE && home != ARENAUT_NONE;
        if (home != m && !captured) b->always[buffer] = true;
    }
}

static void find_always(arn_order_base *b) {
    const arenaut_program *p = b->program;
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const bool state = p->tensors[t].cls == ARENAUT_STATE || p->tensors[t].qualified_name;
        const uint32_t buffer = b->lowering->buffer[t];
        if (state && buffer != ARENAUT_NONE) b->always[buffer] = true;
    }
    for (uint32_t m = 0; m < p->n_methods; m++) {
        const arenaut_method *method = &p->methods[m];
        if (!b->runs[m]) continue;
        mark_always(b, method, m, method->inputs, method->n_inputs);
        mark_always(b, method, m, method->outputs, method->n_outputs);
        for (uint32_t i = 0; i < method->n_ops; i++) {
            const arenaut_op *op = &p->ops[method->first_op + i];
            mark_always(b, method, m, op->inputs, op->n_inputs);
            mark_always(b, method, m, op->outputs, op->n_outputs);
            mark_always(b, method, m, op->scratch, op->n_scratch);
        }
    }
}

static bool is_foreign(const arn_order_base *b, const arenaut_method *method, uint32_t m,
                       const uint32_t *tensors, uint32_t n) {
    bool any = false;
    for (uint32_t i = 0; i < n && method->entry; i++) {
        const uint32_t t = tensors[i];
        const uint32_t buffer = t == ARENAUT_NONE ? t : b->lowering->buffer[t];
        any = any || (buffer != ARENAUT_NONE && !b->always[buffer] && home_of(b, buffer) != m);
    }
    return any;
}

/* What several methods use is state, or alive for longer than any of them tells. */
static arenaut_status check_homes(const arn_order_base *b, arenaut_error *err) {
    const arenaut_program *p = b->program;
    for (uint32_t m = 0; m < p->n_methods && b->n_running > 1; m++) {
        const arenaut_method *method = &p->methods[m];
        bool foreign = is_foreign(b, method, m, method->inputs, method->n_inputs) ||
                       is_foreign(b, method, m, method->outputs, method->n_outputs);
        for (uint32_t i = 0; i < method->n_ops; i++) {
            const arenaut_op *op = &p->ops[method->first_op + i];
            foreign = foreign || is_foreign(b, method, m, op->inputs, op->n_inputs) ||
                      is_foreign(b, method, m, op->outputs, op->n_outputs);
        }
        if (foreign) return refuse(err, "methods share memory that is no state");
    }
    return ARENAUT_OK;
}

/* Where one method runs, all buffers are its own, and keep their numbers. */
static void list_buffers(arn_order_base *b, uint32_t *key) {
    const arenaut_program *p = b->program;
    const uint32_t n = b->lowering->problem->n_buffers;
    uint32_t *begin = b->begin, only = 0;
    while (only < p->n_methods && !b->runs[only]) only++;
    memset(begin, 0, ((size_t)p->n_methods + 3) * sizeof *begin);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t home = home_of(b, i);
        const bool all = b->always[i] || home == ARENAUT_NONE;
        key[i] = b->n_running == 1 ? only : all ? p->n_methods : home;
        begin[key[i] + 2]++;
    }
    for (uint32_t m = 0; m <= p->n_methods; m++) begin[m + 2] += begin[m + 1];
    for (uint32_t i = 0; i < n; i++) b->listed[begin[key[i] + 1]++] = i;
}

/* Whether no two methods share a pool, but for what is alive in all: then each of them needs what
 * it needs beside the others. */
static bool are_separate(const arn_order_base *b) {
    const arenaut_problem *problem = b->lowering->problem;
    uint32_t owner[ARENAUT_MAX_POOLS];
    for (uint32_t k = 0; k < ARENAUT_MAX_POOLS; k++) owner[k] = ARENAUT_NONE;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const uint64_t pools = arenaut_problem_pools(problem, i);
        const uint32_t home = home_of(b, i);
        for (uint32_t k = 0; k < problem->n_pools && !b->always[i]; k++) {
            if (!(pools >> k & 1)) continue;
            if (home == ARENAUT_NONE || (owner[k] != ARENAUT_NONE && owner[k] != home))
                return false;
            owner[k] = home;
        }
    }
    return true;
}

/* A tensor whose memory is written anew while it is planned; NONE: there is none. */
static uint32_t find_rewritten(const arn_order_base *b) {
    for (uint32_t t = 0; t < b->program->n_tensors; t++) {
        if (b->waits.anew[t] && b->lowering->buffer[t] != ARENAUT_NONE) return t;
    }
    return ARENAUT_NONE;
}

/* ---- all of it ---- */

static bool allocate(arn_order_base *b, uint32_t **n_calls, uint32_t **key) {
    const uint32_t n_buffers = b->lowering->problem->n_buffers;
    const size_t methods = b->program->n_methods;
    arn_region *region = b->region;
    b->runs = arn_region_allocate(region, methods, sizeof *b->runs);
    b->size = arn_region_allocate(region, n_buffers, sizeof *b->size);
    b->always = arn_region_allocate(region, n_buffers, sizeof *b->always);
    b->begin = arn_region_allocate(region, methods + 3, sizeof *b->begin);
    b->listed = arn_region_allocate(region, n_buffers, sizeof *b->listed);
    b->local = arn_region_allocate(region, n_buffers, sizeof *b->local);
    *n_calls = arn_region_allocate(region, methods, sizeof **n_calls);
    *key = arn_region_allocate(region, n_buffers, sizeof **key);
    if (!b->runs || !b->size || !b->always || !b->begin || !b->listed || !b->local || !*n_calls ||
        !*key) {
        return false;
    }
    for (uint32_t i = 0; i < n_buffers; i++) {
        b->local[i] = ARENAUT_NONE;
        b->always[i] = false;
    }
    return arn_order_waits_find(b->program, region, &b->waits);
}

static bool any_flows(const arn_order_base *b) {
    bool any = false;
    for (uint32_t m = 0; m < b->program->n_methods; m++)
        any = any || (b->runs[m] && b->waits.flow.flows[m]);
    return any;
}

/* Bytes that are alive at each step, from where they come and go. */
static arenaut_status count_alive(arn_order_base *b, arenaut_error *err) {
    const arenaut_problem *problem = b->lowering->problem;
    const int64_t n = b->lowering->n_steps;
    uint64_t all = 0;
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        if (arn_add(all, b->size[i], &all)) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "the buffers are too large to be added");
    }
    b->alive = arn_region_allocate(b->region, (size_t)n + 1, sizeof *b->alive);
    if (!b->alive) return arn_no_memory(err);
    memset(b->alive, 0, ((size_t)n + 1) * sizeof *b->alive);
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, i); k++) {
            const arenaut_interval life = arenaut_problem_lifetimes(problem, i)[k];
            const int64_t first = life.first < 0 ? 0 : life.first;
            const int64_t end = life.end > n ? n : life.end;
            if (first >= end) continue;
            b->alive[first] += b->size[i];
            b->alive[end] -= b->size[i];
        }
    }
    for (int64_t k = 1; k <= n; k++) b->alive[k] += b->alive[k - 1];
    return ARENAUT_OK;
}

static arenaut_status check_slices(const arn_order_base *b, arenaut_error *err) {
    for (uint32_t i = 0; i < b->lowering->problem->n_buffers; i++) {
        if (arenaut_problem_inside(b->lowering->problem, i) == ARENAUT_NONE) continue;
        return arn_fail(err, ARENAUT_REFUSED, 0, "slices of a tensor lie in it from the start");
    }
    return ARENAUT_OK;
}

static arenaut_status check_rewritten(const arn_order_base *b, arenaut_error *err) {
    char store[24];
    if (b->waits.cells.too_many) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "too many parts of tensors are written apart");
    }
    const uint32_t rewritten = find_rewritten(b);
    if (rewritten == ARENAUT_NONE) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0, "tensor '%.80s' is written more than once",
                    arenaut_program_tensor_name(b->program, rewritten, store));
}

arenaut_status arn_order_base_make(arn_order_base *b, arenaut_error *err) {
    uint32_t *n_calls, *key;
    arenaut_status st = ARENAUT_OK;
    if (!allocate(b, &n_calls, &key)) return arn_no_memory(err);
    find_running(b, n_calls);
    st = check_calls(b, n_calls, err);
    if (st == ARENAUT_OK) st = check_rewritten(b, err);
    if (st != ARENAUT_OK) return st;
    round_sizes(b);
    find_always(b);
    for (uint32_t i = 0; i < b->lowering->problem->n_buffers; i++) {
        if (b->always[i]) b->state += b->size[i];
    }
    list_buffers(b, key);
    b->separate = b->n_running > 1 && are_separate(b);
    if (any_flows(b)) {
        st = check_slices(b, err);
        if (st == ARENAUT_OK) st = count_alive(b, err);
    }
    return st == ARENAUT_OK ? check_homes(b, err) : st;
}
