/* alloc-in-place: turns explicit allocations in place into pairs of the ops that write there.
 *
 * A program may say outright that tensors get their memory in that of another one, which dies at
 * the op that makes them: alloc_in_place(base, [spec, …]). Another op writes there, and keeps the
 * promise of an in-place pair: that it reads each element of the base before it writes there.
 * Whether plans make use of that is up to lowering, as for any pair; a statement that no op can
 * keep is a mistake. */
#include <arenaut/pass.h>

#include "core/fail.h"
#include "core/memory.h"
#include "ir/program.h"
#include "ir/store.h"

/* Arguments looked at, over all ops: a bound on time. */
enum { MAX_WORK = 1 << 28 };

typedef struct granting {
    arenaut_program *program;
    uint32_t *base;          /* per tensor: the one in the memory of which it is to lie; or none */
    arenaut_in_place *pairs; /* of the op at work */
    uint32_t n_pairs, capacity;
    uint64_t work;
    arenaut_error *err;
} granting;

/* "'y' is allocated in the memory of 'x', but WHY". */
static arenaut_status bad(const granting *g, uint32_t tensor, const char *why) {
    char names[2][24];
    return arn_fail(g->err, ARENAUT_BAD_INPUT, 0,
                    "tensor '%.60s' is allocated in the memory of '%.60s', but %s",
                    arenaut_program_tensor_name(g->program, tensor, names[0]),
                    arenaut_program_tensor_name(g->program, g->base[tensor], names[1]), why);
}

static arenaut_status push(granting *g, arenaut_in_place pair) {
    if (!arn_grow(arn_program_allocator(g->program), (void **)&g->pairs, &g->capacity,
                  (uint64_t)g->n_pairs + 1, sizeof *g->pairs)) {
        return arn_no_memory(g->err);
    }
    g->pairs[g->n_pairs++] = pair;
    return ARENAUT_OK;
}

static uint32_t base_of_output(const granting *g, const arenaut_op *op, uint32_t output) {
    const uint32_t t = op->outputs[output];
    return t == ARENAUT_NONE ? ARENAUT_NONE : g->base[t];
}

/* Every place at which the op reads the base. */
static arenaut_status grant(granting *g, const arenaut_op *op, uint32_t output) {
    const uint32_t before = g->n_pairs, base = base_of_output(g, op, output);
    arenaut_status st = ARENAUT_OK;
    g->work += op->n_inputs;
    if (g->work > MAX_WORK) {
        return arn_fail(g->err, ARENAUT_UNSUPPORTED, 0,
                        "allocations in place stand for more than %d arguments of ops", MAX_WORK);
    }
    for (uint32_t i = 0; i < op->n_inputs && st == ARENAUT_OK; i++) {
        if (op->inputs[i] == base) st = push(g, (arenaut_in_place){output, i});
    }
    if (st != ARENAUT_OK) return st;
    if (op->kind != ARENAUT_OP_OUT) {
        return bad(g, op->outputs[output], "its op does not write into given memory");
    }
    if (g->n_pairs == before)
        return bad(g, op->outputs[output], "the op that writes it does not read that");
    return ARENAUT_OK;
}

/* Pairs that the op has already stay; those that are granted anew are not doubled. */
static arenaut_status keep_stated(granting *g, const arenaut_op *op) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_in_place && st == ARENAUT_OK; i++) {
        const arenaut_in_place pair = op->in_place[i];
        const uint32_t base = base_of_output(g, op, pair.output);
        if (base == ARENAUT_NONE || op->inputs[pair.input] != base) st = push(g, pair);
    }
    return st;
}

static arenaut_status store_pairs(granting *g, arenaut_op *op) {
    arenaut_in_place *kept = arenaut_program_alloc(g->program, g->n_pairs * sizeof *kept);
    if (!kept) return arn_no_memory(g->err);
    for (uint32_t i = 0; i < g->n_pairs; i++) kept[i] = g->pairs[i];
    op->in_place = kept;
    op->n_in_place = g->n_pairs;
    return ARENAUT_OK;
}

static arenaut_status visit_writer(granting *g, arenaut_op *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->n_outputs && !any; i++) {
        any = base_of_output(g, op, i) != ARENAUT_NONE;
    }
    if (!any) return ARENAUT_OK;
    g->n_pairs = 0;
    arenaut_status st = keep_stated(g, op);
    for (uint32_t i = 0; i < op->n_outputs && st == ARENAUT_OK; i++) {
        if (base_of_output(g, op, i) != ARENAUT_NONE) st = grant(g, op, i);
    }
    for (uint32_t i = 0; i < op->n_outputs && st == ARENAUT_OK; i++) {
        if (op->outputs[i] != ARENAUT_NONE) g->base[op->outputs[i]] = ARENAUT_NONE;
    }
    return st == ARENAUT_OK ? store_pairs(g, op) : st;
}

static arenaut_status visit_method(granting *g, const arenaut_method *method) {
    /* To no ops at all nothing can be added, not even 0. */
    arenaut_op *ops = method->n_ops ? g->program->ops + method->first_op : NULL;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < method->n_ops && st == ARENAUT_OK; i++) {
        const bool said = ops[i].kind == ARENAUT_OP_ALLOC_IN_PLACE;
        for (uint32_t k = 0; k < ops[i].n_outputs && said; k++) {
            g->base[ops[i].outputs[k]] = ops[i].inputs[0];
        }
        if (arn_op_kind_touches(ops[i].kind)) st = visit_writer(g, &ops[i]);
    }
    for (uint32_t i = 0; i < method->n_ops && st == ARENAUT_OK; i++) {
        const bool said = ops[i].kind == ARENAUT_OP_ALLOC_IN_PLACE;
        for (uint32_t k = 0; k < ops[i].n_outputs && said; k++) {
            const uint32_t t = ops[i].outputs[k];
            if (g->base[t] != ARENAUT_NONE) return bad(g, t, "no op after that writes it");
        }
    }
    return st;
}

static arenaut_status alloc_in_place_run(arenaut_program *p, const arenaut_pass_options *options,
                                         arenaut_error *err) {
    const arenaut_allocator *allocator = arn_program_allocator(p);
    granting g = {.program = p, .err = err};
    (void)options;
    g.base = arn_allocate(allocator, p->n_tensors, sizeof *g.base);
    arenaut_status st = g.base ? ARENAUT_OK : arn_no_memory(err);
    for (uint32_t t = 0; g.base && t < p->n_tensors; t++) g.base[t] = ARENAUT_NONE;
    for (uint32_t m = 0; m < p->n_methods && st == ARENAUT_OK; m++) {
        st = visit_method(&g, &p->methods[m]);
    }
    ARN_RELEASE(allocator, g.base, g.pairs);
    return st;
}

extern const arenaut_pass arn_pass_alloc_in_place;
const arenaut_pass arn_pass_alloc_in_place = {
    .name = "alloc-in-place",
    .summary = "lets ops write where explicit allocations in place say",
    .by_default = true,
    .run = alloc_in_place_run,
};
