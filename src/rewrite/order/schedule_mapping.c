/* Mapping of a schedule of the lowered program back to the ops of the file: each op is emitted in
 * its turn, after its dependences there (depth-first topological order). O(ops + dependences). */
#include "rewrite/order/schedule_problem.h"

#include <string.h>

#include "core/fail.h"
#include "core/sort.h"
#include "rewrite/order/program_order.h"
#include "rewrite/recompute/recompute_sequence.h"

bool arn_file_numbers_find(const arenaut_program *program, uint32_t method, arn_region *region,
                           arn_file_numbers *out) {
    const uint32_t first = program->methods[method].first_op, n = program->methods[method].n_ops;
    *out = (arn_file_numbers){.first = first};
    uint32_t *scratch;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(out->ops, n), ARN_ARRAY(out->number, n),
                           ARN_ARRAY(scratch, n))) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_optional_id own = program->ops[first + i].file_index;
        out->number[i] = own.id;
        if (own.given) out->ops[out->n++] = i;
    }
    arn_sort_by_key(out->ops, out->n, out->number, scratch);
    for (uint32_t i = 0; i < out->n; i++) out->ops[i] += first;
    return true;
}

/* The first op of the list with at least this number (binary search). */
static uint32_t lower_bound(const arn_file_numbers *numbers, uint64_t number) {
    uint32_t low = 0, high = numbers->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (numbers->number[numbers->ops[middle] - numbers->first] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

uint32_t arn_file_numbers_ops(const arn_file_numbers *numbers, uint32_t number,
                              const uint32_t **ops) {
    const uint32_t begin = lower_bound(numbers, number);
    *ops = numbers->ops + begin;
    return lower_bound(numbers, (uint64_t)number + 1) - begin;
}

/* ---- schedules of the file's ops ---- */

typedef struct emitter {
    const arenaut_program *file;
    arn_region *region;
    uint32_t *begin, *first; /* per op of the file: its dependences */
    uint32_t *next;          /* likewise: the next one to visit */
    uint32_t *stack;
    bool *put;
    uint32_t *out, n;
    bool as_found; /* no op of the schedule had to run before its turn */
} emitter;

/* Counting sort by the dependent op. */
static void sort_dependences(emitter *e, const arn_dependences *dependences) {
    const uint32_t n = e->file->n_ops;
    for (uint32_t i = 0; i < dependences->n; i++) e->begin[dependences->list[i].op + 1]++;
    for (uint32_t i = 0; i < n; i++) e->begin[i + 1] += e->begin[i];
    memcpy(e->next, e->begin, n * sizeof *e->next);
    for (uint32_t i = 0; i < dependences->n; i++) {
        e->first[e->next[dependences->list[i].op]++] = dependences->list[i].first;
    }
    memcpy(e->next, e->begin, n * sizeof *e->next);
}

/* Emits an op after its dependences, which includes ops that passes removed. */
static void emit(emitter *e, uint32_t op) {
    uint32_t depth = 0;
    if (!e->put[op]) e->stack[depth++] = op;
    while (depth > 0) {
        const uint32_t top = e->stack[depth - 1];
        uint32_t *next = &e->next[top];
        while (*next < e->begin[top + 1] && e->put[e->first[*next]]) ++*next;
        if (*next < e->begin[top + 1]) {
            e->stack[depth++] = e->first[*next];
            continue;
        }
        depth--;
        if (!e->put[top]) e->out[e->n++] = top;
        e->put[top] = true;
    }
}

static void emit_number(emitter *e, const arn_file_numbers *numbers, uint32_t number) {
    const uint32_t *same;
    const uint32_t n = arn_file_numbers_ops(numbers, number, &same);
    for (uint32_t k = 0; k < n; k++) {
        e->as_found = e->as_found && !e->put[same[k]];
        emit(e, same[k]);
    }
}

/* The ops of one method: the remaining ones, in the schedule or as they are, then those that passes
 * removed. */
static bool emit_method(emitter *e, const arn_program_order *order, uint32_t m,
                        uint32_t candidate) {
    const arenaut_method *now = &order->context.program->methods[m], *method = &e->file->methods[m];
    arn_file_numbers numbers;
    if (!arn_file_numbers_find(e->file, m, e->region, &numbers)) return false;
    for (uint32_t i = now->first_op; i < now->first_op + now->n_ops; i++) {
        const uint32_t k = order->block_at[i];
        const arenaut_optional_id own = order->context.program->ops[i].file_index;
        if (k == ARENAUT_NONE) {
            if (own.given) emit_number(e, &numbers, own.id);
            continue;
        }
        const arn_schedule_block *block = &order->blocks[k];
        const arn_schedule_found *found = &order->found[k];
        const uint32_t n = block->problem.n_ops;
        const uint32_t *ops = found->ops + (candidate < found->n ? candidate : 0) * (size_t)n;
        for (uint32_t u = 0; u < n; u++) emit_number(e, &numbers, block->op[ops[u]]);
        i += block->n_ops - 1;
    }
    for (uint32_t k = 0; k < method->n_ops; k++) emit(e, method->first_op + k);
    return true;
}

static bool emit_all(emitter *e, const arn_program_order *order, uint32_t candidate) {
    bool room = true;
    for (uint32_t m = 0; m < e->file->n_methods && room; m++) {
        room = emit_method(e, order, m, candidate);
    }
    return room;
}

static bool schedule_file(arn_region *region, const arn_program_order *order,
                          const arenaut_program *file, uint32_t candidate, uint32_t *out,
                          bool *as_found) {
    arn_dependences dependences;
    if (!arn_dependences_find(file, region, &dependences)) return false;
    emitter e = {.file = file, .region = region, .out = out, .as_found = true};
    const size_t n = file->n_ops;
    if (!ARN_REGION_ARRAYS(region, ARN_ARRAY(e.begin, n + 1), ARN_ARRAY(e.first, dependences.n),
                           ARN_ARRAY(e.next, n), ARN_ARRAY(e.stack, n + 1), ARN_ARRAY(e.put, n))) {
        return false;
    }
    sort_dependences(&e, &dependences);
    const bool room = emit_all(&e, order, candidate);
    *as_found = e.as_found;
    return room;
}

arenaut_status arn_program_order_ops(const arn_program_order *order, const arenaut_program *file,
                                     uint32_t candidate, const arenaut_allocator *allocator,
                                     uint32_t *out, bool *as_found, arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, allocator);
    const bool room = schedule_file(&region, order, file, candidate, out, as_found);
    arn_region_free(&region);
    return room ? ARENAUT_OK : arn_no_memory(err);
}

/* ---- reordering of a program ---- */

/* Whether it is a permutation of the ops of each method. */
static bool is_permutation(const arenaut_program *p, const uint32_t *ops, uint32_t *seen) {
    for (uint32_t i = 0; i < p->n_ops; i++) seen[i] = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (ops[i] >= p->n_ops || seen[ops[i]]++ || p->ops[ops[i]].method != p->ops[i].method) {
            return false;
        }
    }
    return true;
}

arenaut_status arn_reorder(arenaut_program *program, const uint32_t *ops, arenaut_rewrite **out,
                           arenaut_error *err) {
    uint32_t *seen = arenaut_program_alloc(program, program->n_ops * sizeof *seen);
    if (!seen) return arn_no_memory(err);
    if (!is_permutation(program, ops, seen)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "it is not a permutation of the ops of each method");
    }
    return arn_recompute(program, ops, program->n_ops, out, err);
}

/* ---- buffers at the peak ---- */

/* Live before, after, or at that op. */
static void mark_live(const arenaut_order_problem *p, const uint32_t *ops, uint32_t at,
                      uint32_t *place, uint8_t *live) {
    enum { BEFORE = 1, BEHIND = 2 };
    for (uint32_t i = 0; i < p->n_ops; i++) place[ops[i]] = i;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        live[b] = p->boundary && (p->boundary[b] & ARENAUT_LIVE_IN) ? BEFORE : 0;
        if (p->boundary && (p->boundary[b] & ARENAUT_LIVE_OUT)) live[b] |= BEHIND;
    }
    for (uint32_t i = 0; i < p->n_uses; i++) {
        const uint32_t where = place[p->uses[i].op];
        if (where <= at) live[p->uses[i].buffer] |= BEFORE;
        if (where >= at) live[p->uses[i].buffer] |= BEHIND;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) live[b] = live[b] == (BEFORE | BEHIND);
}

arenaut_status arn_program_order_at_peak(const arn_program_order *o, uint8_t *alive,
                                         arenaut_error *err) {
    arn_schedule_cost cost;
    if (o->n_blocks != 1 || o->n_taken != 1 || o->context.live) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the program has several methods or jumps: its peak is not at a single op");
    }
    const arenaut_order_problem *problem = &o->blocks[0].problem;
    const arenaut_status st =
        arn_schedule_measure(problem, o->found[0].ops, &o->allocator, &cost, err);
    if (st != ARENAUT_OK) return st;
    uint32_t *place = arn_allocate(&o->allocator, problem->n_ops, sizeof *place);
    if (!place) return arn_no_memory(err);
    mark_live(problem, o->found[0].ops, cost.at, place, alive);
    arn_release(&o->allocator, place);
    return ARENAUT_OK;
}
