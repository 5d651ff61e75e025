/* Ops by the numbers that the file gives them: a sorted list, as numbers may lie far apart. */
#include "rewrite/order/schedule_problem.h"

#include <string.h>

#include "core/fail.h"
#include "core/sort.h"
#include "rewrite/order/schedule_search.h"

bool arn_order_numbers_find(const arenaut_program *program, uint32_t method, arn_region *region,
                            arn_order_numbers *out) {
    const uint32_t first = program->methods[method].first_op, n = program->methods[method].n_ops;
    *out = (arn_order_numbers){.first = first};
    out->ops = arn_region_allocate(region, n, sizeof *out->ops);
    out->number = arn_region_allocate(region, n, sizeof *out->number);
    uint32_t *scratch = arn_region_allocate(region, n, sizeof *scratch);
    if (!out->ops || !out->number || !scratch) return false;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_optional_id own = program->ops[first + i].file_index;
        out->number[i] = own.id;
        if (own.given) out->ops[out->n++] = i;
    }
    arn_sort_by_key(out->ops, out->n, out->number, scratch);
    for (uint32_t i = 0; i < out->n; i++) out->ops[i] += first;
    return true;
}

/* The first place in the list whose op has at least this number. */
static uint32_t lower_bound(const arn_order_numbers *numbers, uint64_t number) {
    uint32_t low = 0, high = numbers->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (numbers->number[numbers->ops[middle] - numbers->first] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

uint32_t arn_order_numbers_ops(const arn_order_numbers *numbers, uint32_t number,
                               const uint32_t **ops) {
    const uint32_t begin = lower_bound(numbers, number);
    *ops = numbers->ops + begin;
    return lower_bound(numbers, (uint64_t)number + 1) - begin;
}

/* ======== */
/* What orders of a program behind its passes are for the ops of the file: each op comes as soon as
 * it is its turn, and all that it waits for there has come. */

typedef struct emitter {
    const arenaut_program *file;
    arn_region *region;
    uint32_t *begin, *first; /* per op of the file: where its waits begin, and what it waits for */
    uint32_t *next;          /* likewise: the wait to look at next */
    uint32_t *stack;
    bool *put;
    uint32_t *out, n;
} emitter;

/* Counting sort of the waits by their ops. */
static void sort_waits(emitter *e, const arn_order_waits *waits) {
    const uint32_t n = e->file->n_ops;
    memset(e->begin, 0, ((size_t)n + 1) * sizeof *e->begin);
    for (uint32_t i = 0; i < waits->n; i++) e->begin[waits->list[i].op + 1]++;
    for (uint32_t i = 0; i < n; i++) e->begin[i + 1] += e->begin[i];
    memcpy(e->next, e->begin, n * sizeof *e->next);
    for (uint32_t i = 0; i < waits->n; i++) {
        e->first[e->next[waits->list[i].op]++] = waits->list[i].first;
    }
    memcpy(e->next, e->begin, n * sizeof *e->next);
}

/* Puts an op, and before it all that it waits for: what passes have dropped comes so, too. */
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

static void emit_number(emitter *e, const arn_order_numbers *numbers, uint32_t number) {
    const uint32_t *same;
    const uint32_t n = arn_order_numbers_ops(numbers, number, &same);
    for (uint32_t k = 0; k < n; k++) emit(e, same[k]);
}

/* The ops of one method: those that are left, in the order that was found or as they stand, then
 * what passes have dropped. */
static bool emit_method(emitter *e, const arenaut_program_order *order, uint32_t m,
                        uint32_t candidate) {
    const arenaut_method *now = &order->base.program->methods[m], *method = &e->file->methods[m];
    arn_order_numbers numbers;
    if (!arn_order_numbers_find(e->file, m, e->region, &numbers)) return false;
    for (uint32_t i = now->first_op; i < now->first_op + now->n_ops; i++) {
        const uint32_t k = order->part_at[i];
        const arenaut_optional_id own = order->base.program->ops[i].file_index;
        if (k == ARENAUT_NONE) {
            if (own.given) emit_number(e, &numbers, own.id);
            continue;
        }
        const arn_order_part *part = &order->parts[k];
        const arn_order_found *found = &order->found[k];
        const uint32_t n = part->problem.n_ops;
        const uint32_t *ops = found->ops + (candidate < found->n ? candidate : 0) * (size_t)n;
        for (uint32_t u = 0; u < n; u++) emit_number(e, &numbers, part->op[ops[u]]);
        i += part->n_ops - 1;
    }
    for (uint32_t k = 0; k < method->n_ops; k++) emit(e, method->first_op + k);
    return true;
}

static bool emit_all(emitter *e, const arenaut_program_order *order, uint32_t candidate) {
    bool room = true;
    for (uint32_t m = 0; m < e->file->n_methods && room; m++) {
        room = emit_method(e, order, m, candidate);
    }
    return room;
}

static bool order_file(arn_region *region, const arenaut_program_order *order,
                       const arenaut_program *file, uint32_t candidate, uint32_t *out) {
    arn_order_waits waits;
    if (!arn_order_waits_find(file, region, &waits)) return false;
    emitter e = {.file = file, .region = region, .out = out};
    e.begin = arn_region_allocate(region, (size_t)file->n_ops + 1, sizeof *e.begin);
    e.first = arn_region_allocate(region, waits.n, sizeof *e.first);
    e.next = arn_region_allocate(region, file->n_ops, sizeof *e.next);
    e.stack = arn_region_allocate(region, (size_t)file->n_ops + 1, sizeof *e.stack);
    e.put = arn_region_allocate(region, file->n_ops, sizeof *e.put);
    if (!e.begin || !e.first || !e.next || !e.stack || !e.put) return false;
    for (uint32_t k = 0; k < file->n_ops; k++) e.put[k] = false;
    sort_waits(&e, &waits);
    return emit_all(&e, order, candidate);
}

arenaut_status arenaut_program_order_ops(const arenaut_program_order *order,
                                         const arenaut_program *file, uint32_t candidate,
                                         const arenaut_allocator *allocator, uint32_t *out,
                                         arenaut_error *err) {
    arn_region region;
    arn_region_init(&region, allocator);
    const bool room = order_file(&region, order, file, candidate, out);
    arn_region_free(&region);
    return room ? ARENAUT_OK : arn_no_memory(err);
}

/* ---- the program in another order ---- */

/* Whether each op stands there once, in its method. */
static bool is_order(const arenaut_program *p, const uint32_t *ops, uint32_t *seen) {
    for (uint32_t i = 0; i < p->n_ops; i++) seen[i] = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (ops[i] >= p->n_ops || seen[ops[i]]++ || p->ops[ops[i]].method != p->ops[i].method) {
            return false;
        }
    }
    return true;
}

arenaut_status arenaut_reorder(arenaut_program *program, const uint32_t *ops, arenaut_rewrite **out,
                               arenaut_error *err) {
    uint32_t *seen = arenaut_program_alloc(program, program->n_ops * sizeof *seen);
    if (!seen) return arn_no_memory(err);
    if (!is_order(program, ops, seen)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "it is no order of the ops of each method");
    }
    return arenaut_recompute(program, ops, program->n_ops, out, err);
}

/* ======== */
/* What is alive where most is, in the best order that was found. */

/* Before and behind that op, or at it. */
static void mark_alive(const arenaut_order_problem *p, const uint32_t *ops, uint32_t at,
                       uint32_t *place, uint8_t *sides) {
    enum { BEFORE = 1, BEHIND = 2 };
    for (uint32_t i = 0; i < p->n_ops; i++) place[ops[i]] = i;
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        sides[b] = p->held && (p->held[b] & ARENAUT_HELD_BEFORE) ? BEFORE : 0;
        if (p->held && (p->held[b] & ARENAUT_HELD_AFTER)) sides[b] |= BEHIND;
    }
    for (uint32_t i = 0; i < p->n_uses; i++) {
        const uint32_t where = place[p->uses[i].op];
        if (where <= at) sides[p->uses[i].buffer] |= BEFORE;
        if (where >= at) sides[p->uses[i].buffer] |= BEHIND;
    }
    for (uint32_t b = 0; b < p->n_buffers; b++) sides[b] = sides[b] == (BEFORE | BEHIND);
}

arenaut_status arenaut_program_order_at_peak(const arenaut_program_order *o, uint8_t *alive,
                                             arenaut_error *err) {
    arn_order_height height;
    if (o->n_parts != 1 || o->n_taken != 1 || o->base.alive) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the peaks of several problems have no one place");
    }
    const arenaut_order_problem *problem = &o->parts[0].problem;
    const arenaut_status st =
        arn_order_measure(problem, o->found[0].ops, &o->allocator, &height, err);
    if (st != ARENAUT_OK) return st;
    uint32_t *place = arn_allocate(&o->allocator, problem->n_ops, sizeof *place);
    if (!place) return arn_no_memory(err);
    mark_alive(problem, o->found[0].ops, height.at, place, alive);
    arn_release(&o->allocator, place);
    return ARENAUT_OK;
}
