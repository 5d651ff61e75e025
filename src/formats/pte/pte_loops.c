/* Recognition of loops in a .pte file. A value that a loop gathers row by row, or carries from one
 * round to the next, has its memory from the begin of the loop, with content of no meaning; but the
 * first instruction that touches it works in place, as on an earlier value. Exporters begin each
 * loop with the query of its count, and then copy carried values: the query is made to write the
 * values that the loop builds. Loops of another form are left as they are. */
#include <string.h>

#include "core/fail.h"
#include "formats/pte/pte_reader.h"

/* The instructions [first, end) of a loop, without its last jump, and the query of its count; the
 * instructions between `asks` and `first` copy. */
typedef struct loop {
    uint32_t asks, first, end;
} loop;

static bool is_named(const arenaut_op *op, const char *name) {
    return op->n_outputs > 0 && op->name && strcmp(op->name, name) == 0;
}

static bool copies(const arenaut_op *op) { return is_named(op, "aten::copy_"); }

static bool find_loop(const arenaut_op *ops, uint32_t jump, loop *found) {
    if (ops[jump].kind != ARENAUT_OP_JUMP_FALSE || ops[jump].target > jump) return false;
    *found = (loop){ops[jump].target, ops[jump].target, jump};
    while (found->asks > 0 && copies(&ops[found->asks - 1])) found->asks--;
    if (found->asks-- == 0) return false;
    const arenaut_op *op = &ops[found->asks];
    return op->n_outputs == 0 && op->name && strcmp(op->name, "aten::sym_size.int") == 0;
}

/* Whether op `at` of the loop ends a round by keeping a value: a row, or a carried value, which was
 * copied before the first round as well. */
static bool keeps(const arenaut_op *ops, const loop *l, uint32_t at) {
    if (is_named(&ops[at], "executorch_prim::et_copy_index.tensor")) return true;
    if (!copies(&ops[at])) return false;
    for (uint32_t i = l->asks + 1; i < l->first; i++) {
        if (ops[i].outputs[0] == ops[at].outputs[0]) return true;
    }
    return false;
}

static bool may_begin(const arenaut_tensor *t) {
    return t->cls != ARENAUT_CONSTANT && t->cls != ARENAUT_STATE && t->cls != ARENAUT_INPUT &&
           !t->qualified_name;
}

static arenaut_status begin(arn_pte_reader *r, arenaut_op *ops, const loop *l) {
    r->outputs.n = 0;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = l->first; i < l->end && st == ARENAUT_OK; i++) {
        if (!keeps(ops, l, i) || !may_begin(&r->program->tensors[ops[i].outputs[0]])) continue;
        st = arn_pte_push(r, &r->outputs, ops[i].outputs[0]);
    }
    if (st != ARENAUT_OK || r->outputs.n == 0) return st;
    uint32_t *built = arenaut_program_alloc(r->program, r->outputs.n * sizeof *built);
    if (!built) return arn_no_memory(r->err);
    memcpy(built, r->outputs.ids, r->outputs.n * sizeof *built);
    ops[l->asks].outputs = built;
    ops[l->asks].n_outputs = r->outputs.n;
    return ARENAUT_OK;
}

arenaut_status arn_pte_begin_loops(arn_pte_reader *r) {
    const arenaut_method *m = &r->program->methods[r->method];
    arenaut_op *ops = m->n_ops ? &r->program->ops[m->first_op] : NULL;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < m->n_ops && st == ARENAUT_OK; i++) {
        loop l;
        if (!find_loop(ops, i, &l)) continue;
        st = arn_pte_charge(r, (uint64_t)(l.end - l.first) * (l.first - l.asks), 1);
        if (st == ARENAUT_OK) st = begin(r, ops, &l);
    }
    return st;
}
