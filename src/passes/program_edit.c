/* Rewriting the list of ops of a whole program: a pass visits each op and puts its replacement;
 * jumps and dependences are then renumbered to follow. O(ops + arguments). */
#include "passes/program_edit.h"

#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/store.h"

/* New positions of ops: per old op, the number of ops put before it was visited. One more at the
 * end. Counted over the whole program. */
typedef struct moves {
    uint32_t *put_before;
} moves;

arenaut_status arn_pass_edit_put(arn_pass_edit *edit, const arenaut_op *op) {
    if (!arn_grow(arn_program_allocator(edit->program), (void **)&edit->ops, &edit->capacity,
                  (uint64_t)edit->n + 1, sizeof *edit->ops)) {
        return arn_no_memory(edit->err);
    }
    edit->ops[edit->n++] = *op;
    return ARENAUT_OK;
}

uint32_t *arn_pass_edit_list(arenaut_program *program, const uint32_t *ids, uint32_t n) {
    uint32_t *copy = arenaut_program_alloc(program, ((size_t)n + 1) * sizeof *copy);
    if (copy && n > 0) memcpy(copy, ids, n * sizeof *copy);
    return copy;
}

/* Renames the targets of an op to their replacements. `first` is the old begin of its method's ops,
 * `begin` the new one. */
static bool follow(arenaut_program *program, arenaut_op *op, const moves *m, uint32_t first,
                   uint32_t begin) {
    if (op->kind == ARENAUT_OP_JUMP || op->kind == ARENAUT_OP_JUMP_FALSE) {
        op->target = m->put_before[first + op->target] - begin;
    }
    if (op->n_after == 0) return true;
    uint32_t *after = arn_pass_edit_list(program, op->after, op->n_after), n = 0;
    if (!after) return false;
    for (uint32_t i = 0; i < op->n_after; i++) {
        const uint32_t old = first + op->after[i];
        /* A removed op is no dependence any more. */
        if (m->put_before[old + 1] > m->put_before[old])
            after[n++] = m->put_before[old + 1] - 1 - begin;
    }
    op->after = after;
    op->n_after = n;
    return true;
}

static arenaut_status visit_method(arn_pass_edit *edit, uint32_t m, arn_pass_edit_visit visit,
                                   arn_pass_edit_leave leave, void *context, moves *moved) {
    const arenaut_method *method = &edit->program->methods[m];
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_ops && st == ARENAUT_OK; i++) {
        moved->put_before[method->first_op + i] = edit->n;
        st = visit(context, edit, method->first_op + i);
    }
    moved->put_before[method->first_op + method->n_ops] = edit->n;
    if (st == ARENAUT_OK && leave) st = leave(context, edit, m);
    return st;
}

/* Per method, where its new ops end. */
static bool follow_all(arn_pass_edit *edit, const moves *moved, const uint32_t *end) {
    uint32_t begin = 0;
    for (uint32_t m = 0; m < edit->program->n_methods; m++) {
        const uint32_t first = edit->program->methods[m].first_op;
        for (uint32_t i = begin; i < end[m]; i++) {
            if (!follow(edit->program, &edit->ops[i], moved, first, begin)) return false;
        }
        begin = end[m];
    }
    return true;
}

static void take_over(arn_pass_edit *edit, const uint32_t *end) {
    arenaut_program *p = edit->program;
    arn_release(arn_program_allocator(p), p->ops);
    p->ops = edit->ops;
    p->n_ops = edit->n;
    p->store->ops = edit->capacity;
    for (uint32_t m = 0; m < p->n_methods; m++) {
        p->methods[m].first_op = m ? end[m - 1] : 0;
        p->methods[m].n_ops = end[m] - p->methods[m].first_op;
    }
}

arenaut_status arn_pass_edit_ops(arenaut_program *program, arn_pass_edit_visit visit,
                                 arn_pass_edit_leave leave, void *context, arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(program);
    arn_pass_edit edit = {.program = program, .err = err};
    moves moved;
    moved.put_before = arn_allocate(allocator, (size_t)program->n_ops + 1, sizeof(uint32_t));
    uint32_t *end = arn_allocate(allocator, program->n_methods, sizeof *end);
    arenaut_status st = moved.put_before && end ? ARENAUT_OK : arn_no_memory(err);
    for (uint32_t m = 0; m < program->n_methods && st == ARENAUT_OK; m++) {
        st = visit_method(&edit, m, visit, leave, context, &moved);
        end[m] = edit.n;
    }
    if (st == ARENAUT_OK && !follow_all(&edit, &moved, end)) st = arn_no_memory(err);
    if (st == ARENAUT_OK) take_over(&edit, end);
    else arn_release(allocator, edit.ops);
    ARN_RELEASE(allocator, moved.put_before, end);
    return st;
}
