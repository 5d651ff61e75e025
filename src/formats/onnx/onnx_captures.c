/* Captures: a subgraph may name values of the graphs around it. The op that calls it lists them
 * among its inputs, so that the op alone keeps them alive while it runs. */
#include <inttypes.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "formats/onnx/onnx_reader.h"

typedef struct captures {
    arn_onnx *r;
    uint32_t *seen; /* per tensor: 1 + the last op that was found to list it */
    arn_id_list list;
} captures;

static arenaut_status note(captures *c, uint32_t op, uint32_t tensor) {
    if (tensor == ARENAUT_NONE || c->seen[tensor] == op + 1) return ARENAUT_OK;
    const arenaut_program *p = c->r->program;
    c->seen[tensor] = op + 1;
    if (p->tensors[tensor].method == p->ops[op].method && c->r->made_by[tensor] > op) {
        return arn_fail(c->r->err, ARENAUT_BAD_INPUT, 0,
                        "op %" PRIu32 " of method %" PRIu32
                        ": its subgraph uses '%.80s', which is "
                        "made later",
                        op - p->methods[p->ops[op].method].first_op, p->ops[op].method,
                        p->tensors[tensor].name);
    }
    const arenaut_status st = arn_onnx_charge(c->r, 1, 2 * sizeof tensor);
    return st == ARENAUT_OK ? arn_onnx_push(c->r, &c->list, tensor) : st;
}

/* Notes the tensors of other methods in a list of the called method. */
static arenaut_status note_foreign(captures *c, uint32_t op, uint32_t method,
                                   const uint32_t *tensors, uint32_t n) {
    const arenaut_program *p = c->r->program;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < n && st == ARENAUT_OK; i++) {
        if (tensors[i] == ARENAUT_NONE || p->tensors[tensors[i]].method == method) continue;
        st = note(c, op, tensors[i]);
    }
    return st;
}

static arenaut_status gather(captures *c, uint32_t op, uint32_t callee) {
    const arenaut_program *p = c->r->program;
    const arenaut_method *m = &p->methods[callee];
    arenaut_status st = note_foreign(c, op, callee, m->outputs, m->n_outputs);
    for (uint32_t i = m->first_op; i < m->first_op + m->n_ops && st == ARENAUT_OK; i++) {
        st = note_foreign(c, op, callee, p->ops[i].inputs, p->ops[i].n_inputs);
    }
    return st;
}

/* Adds to the op's inputs the captures of its subgraphs, whose own lists are complete. */
static arenaut_status list_for(captures *c, uint32_t at) {
    arenaut_op *op = &c->r->program->ops[at];
    arenaut_status st = ARENAUT_OK;
    c->list.n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) { /* it lists these already */
        if (op->inputs[i] != ARENAUT_NONE) c->seen[op->inputs[i]] = at + 1;
    }
    for (uint32_t i = 0; i < op->n_calls && st == ARENAUT_OK; i++) {
        st = gather(c, at, op->calls[i]);
    }
    if (st != ARENAUT_OK || c->list.n == 0) return st;
    uint32_t *inputs =
        arenaut_program_alloc(c->r->program, ((size_t)op->n_inputs + c->list.n) * sizeof *inputs);
    if (!inputs) return arn_no_memory(c->r->err);
    if (op->n_inputs) memcpy(inputs, op->inputs, op->n_inputs * sizeof *inputs);
    memcpy(inputs + op->n_inputs, c->list.ids, c->list.n * sizeof *inputs);
    op->inputs = inputs;
    op->n_inputs += c->list.n;
    return ARENAUT_OK;
}

arenaut_status arn_onnx_list_captures(arn_onnx *r) {
    const arenaut_program *p = r->program;
    captures c = {.r = r};
    if (p->n_methods == 1) return ARENAUT_OK;
    c.seen = arn_allocate_zeroed(r->allocator, p->n_tensors, sizeof *c.seen);
    arenaut_status st = c.seen ? ARENAUT_OK : arn_no_memory(r->err);
    /* Methods come after those that call them, so from the last to the first. */
    for (uint32_t i = p->n_ops; i-- > 0 && st == ARENAUT_OK;) {
        if (p->ops[i].n_calls > 0) st = list_for(&c, i);
    }
    arn_release(r->allocator, c.seen);
    arn_release(r->allocator, c.list.ids);
    return st;
}
