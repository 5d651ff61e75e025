/* recover-aliases, part: reaching definitions of bytes. From a point in a method the search goes
 * backwards along its control flow, to the last ops that touched any of the bytes in question. A
 * tensor that is read there without having been written since is an alias of the tensors that they
 * touched. Each op is visited again only for more bytes than before; ARN_MAX_RECOVER_WORK bounds
 * the whole. */
#include <inttypes.h>

#include "analysis/basic_blocks.h"
#include "core/checked.h"
#include "core/fail.h"
#include "ir/program.h"
#include "passes/recover/recover.h"

/* The ops of the method at work; NULL if it has none: a program without ops has no list. */
static const arenaut_op *ops_of(const arn_recover *r) {
    const arenaut_method *m = &r->program->methods[r->method];
    return m->n_ops > 0 ? &r->program->ops[m->first_op] : NULL;
}

static void connect(arn_recover *r) {
    const arenaut_method *m = &r->program->methods[r->method];
    const arenaut_op *ops = ops_of(r);
    uint32_t *start = r->before_start;
    for (uint32_t i = 0; i <= m->n_ops + 1; i++) start[i] = 0;
    for (uint32_t i = 0; i < m->n_ops; i++) {
        if (ops[i].kind != ARENAUT_OP_JUMP) start[i + 1]++;
        if (arn_is_jump(&ops[i])) start[ops[i].target]++;
    }
    for (uint32_t i = 0; i <= m->n_ops; i++) start[i + 1] += start[i];
    /* Now start[i] is where i's end; filling from there brings it to where they begin. */
    for (uint32_t i = 0; i < m->n_ops; i++) {
        if (ops[i].kind != ARENAUT_OP_JUMP) r->before[--start[i + 1]] = i;
        if (arn_is_jump(&ops[i])) r->before[--start[ops[i].target]] = i;
    }
}

/* Marks the reachable ops, and the method's end if it is reachable. */
static void find_reached(arn_recover *r) {
    const arenaut_method *m = &r->program->methods[r->method];
    const arenaut_op *ops = ops_of(r);
    uint32_t depth = 0;
    for (uint32_t i = 0; i <= m->n_ops; i++) r->reached[i] = false;
    r->reached[0] = true;
    r->stack[depth++] = 0;
    while (depth > 0) {
        const uint32_t i = r->stack[--depth];
        if (i == m->n_ops) continue;
        const uint32_t next[] = {ops[i].kind == ARENAUT_OP_JUMP ? ops[i].target : i + 1,
                                 arn_is_jump(&ops[i]) ? ops[i].target : i + 1};
        for (int k = 0; k < 2; k++) {
            if (r->reached[next[k]]) continue;
            r->reached[next[k]] = true;
            r->stack[depth++] = next[k];
        }
    }
}

/* Methods ascend in the list of declared state as they do from question to question. */
static void find_declared(arn_recover *r) {
    const arenaut_tensor *tensors = r->program->tensors;
    uint32_t i = r->end_declared;
    while (i < r->n_declared && tensors[r->declared[i]].method < r->method) i++;
    r->first_declared = i;
    while (i < r->n_declared && tensors[r->declared[i]].method == r->method) i++;
    r->end_declared = i;
}

bool arn_recover_begin_method(arn_recover *r, uint32_t method) {
    const size_t n = (size_t)r->program->methods[method].n_ops + 2;
    r->method = method;
    find_declared(r);
    r->before_start = arn_region_allocate(&r->region, n, sizeof *r->before_start);
    r->before = arn_region_allocate(&r->region, n, 2 * sizeof *r->before);
    r->asked = arn_region_allocate(&r->region, n, sizeof *r->asked);
    r->reached = arn_region_allocate(&r->region, n, sizeof *r->reached);
    r->waiting = arn_region_allocate(&r->region, n, sizeof *r->waiting);
    r->low = arn_region_allocate(&r->region, n, sizeof *r->low);
    r->high = arn_region_allocate(&r->region, n, sizeof *r->high);
    r->stack = arn_region_allocate(&r->region, n, sizeof *r->stack);
    if (!r->before_start || !r->before || !r->asked || !r->reached || !r->waiting || !r->low ||
        !r->high || !r->stack) {
        return false;
    }
    for (size_t i = 0; i < n; i++) r->asked[i] = 0;
    connect(r);
    find_reached(r);
    return true;
}

bool arn_recover_is_placed(const arn_recover *r, uint32_t tensor) {
    const arenaut_tensor *t = &r->program->tensors[tensor];
    uint64_t end;
    return t->given_pool != ARENAUT_NONE && t->given_offset != ARENAUT_UNPLACED && t->bytes > 0 &&
           t->view_of == ARENAUT_NONE && !t->caller_owned && t->cls != ARENAUT_CONSTANT &&
           !(r->facts[tensor] & ARN_RECOVER_MOVED_TO) && arn_add(t->given_offset, t->bytes, &end);
}

/* The bytes asked for of which no holder is found yet, [low, high). */
typedef struct asking {
    uint32_t tensor;
    uint64_t low, high;
} asking;

/* A tensor that covers bytes in the middle only leaves them all open: a larger question, which
 * costs memory at worst. */
static void look_at(arn_recover *r, asking *a, uint32_t tensor) {
    const arenaut_tensor *tensors = r->program->tensors;
    if (tensor == ARENAUT_NONE || tensor == a->tensor || a->low == a->high) return;
    if (!arn_recover_is_placed(r, tensor)) return;
    if (tensors[tensor].given_pool != tensors[a->tensor].given_pool) return;
    const uint64_t first = r->position[tensor], end = first + tensors[tensor].bytes;
    if (end <= a->low || a->high <= first) return;
    if (r->found_for[tensor] != r->question) {
        r->found_for[tensor] = r->question;
        r->found[r->n_found++] = tensor;
    }
    if (first <= a->low) a->low = arn_min_u64(end, a->high);
    else if (end >= a->high) a->high = first;
}

static void look_at_all(arn_recover *r, asking *a, const uint32_t *tensors, uint32_t n) {
    r->work += n;
    for (uint32_t i = 0; i < n; i++) look_at(r, a, tensors[i]);
}

/* Queues op `at` with the open bytes, unless that was done. */
static void come_by(arn_recover *r, const asking *a, uint32_t at, uint32_t *depth) {
    const bool again = r->asked[at] == r->question;
    if (again && r->low[at] <= a->low && a->high <= r->high[at]) return;
    r->low[at] = again ? arn_min_u64(r->low[at], a->low) : a->low;
    r->high[at] = again ? arn_max_u64(r->high[at], a->high) : a->high;
    if (!again || !r->waiting[at]) r->stack[(*depth)++] = at;
    r->asked[at] = r->question;
    r->waiting[at] = true;
}

/* From before op `at`: everything that leads there, or the method's start, when inputs and
 * declared state have their bytes. */
static void go_back(arn_recover *r, asking *a, uint32_t at, uint32_t *depth, bool *open) {
    const arenaut_method *m = &r->program->methods[r->method];
    for (uint32_t i = r->before_start[at]; i < r->before_start[at + 1]; i++) {
        if (r->reached[r->before[i]]) come_by(r, a, r->before[i], depth);
    }
    if (at != 0) return;
    asking start = *a;
    look_at_all(r, &start, m->inputs, m->n_inputs);
    look_at_all(r, &start, r->declared + r->first_declared, r->end_declared - r->first_declared);
    if (start.low < start.high) *open = true;
}

arenaut_status arn_recover_find_holders(arn_recover *r, uint32_t tensor, uint32_t at, bool *open) {
    const arenaut_method *m = &r->program->methods[r->method];
    asking a = {tensor, r->position[tensor], r->position[tensor]};
    uint32_t depth = 0;
    a.high += r->program->tensors[tensor].bytes;
    r->n_found = 0;
    r->question++;
    *open = false;
    go_back(r, &a, at, &depth, open);
    while (depth > 0 && r->work <= ARN_MAX_RECOVER_WORK) {
        const uint32_t i = r->stack[--depth];
        r->waiting[i] = false;
        const arenaut_op *op = &r->program->ops[m->first_op + i];
        a.low = r->low[i];
        a.high = r->high[i];
        r->work++;
        if (op->kind != ARENAUT_OP_MOVE) look_at_all(r, &a, op->outputs, op->n_outputs);
        if (arn_op_kind_touches(op->kind)) look_at_all(r, &a, op->inputs, op->n_inputs);
        if (a.low < a.high) go_back(r, &a, i, &depth, open);
    }
    if (r->work <= ARN_MAX_RECOVER_WORK) return ARENAUT_OK;
    return arn_fail(
        r->err, ARENAUT_UNSUPPORTED, 0,
        "method '%.80s': whose bytes its tensors share takes more than %d steps to find",
        m->name ? m->name : "", ARN_MAX_RECOVER_WORK);
}
