/* What methods do whose ops run inside another op: followed from callees to callers, each once. */
#include "rewrite/order/order_calls.h"

#include "rewrite/order/order_effects.h"

/* Callers first, then the other way round; calls form no cycle. `callers` has room for all. */
static void sort_methods(const arenaut_program *p, uint32_t *callers, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t m = 0; m < p->n_methods; m++) callers[m] = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t k = 0; k < p->ops[i].n_calls; k++) callers[p->ops[i].calls[k]]++;
    }
    for (uint32_t m = p->n_methods; m-- > 0;) {
        if (callers[m] == 0) list[n++] = m;
    }
    for (uint32_t next = 0; next < n; next++) {
        const arenaut_method *method = &p->methods[list[next]];
        for (uint32_t i = method->first_op; i < method->first_op + method->n_ops; i++) {
            for (uint32_t k = p->ops[i].n_calls; k-- > 0;) {
                const uint32_t callee = p->ops[i].calls[k];
                if (--callers[callee] == 0) list[n++] = callee;
            }
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        const uint32_t m = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = m;
    }
}

/* The method that the memory of a tensor is of; NONE: of none, or of all. */
static uint32_t home_of(const arenaut_program *p, uint32_t tensor) {
    return p->tensors[arenaut_program_storage(p, tensor, NULL)].method;
}

static bool is_shared(const arenaut_program *p, const arenaut_op *op, uint32_t tensor) {
    const arenaut_tensor *root = &p->tensors[arenaut_program_storage(p, tensor, NULL)];
    if (root->cls == ARENAUT_CONSTANT) return false;
    if (root->cls == ARENAUT_STATE || root->qualified_name) return true;
    const bool nested = p->methods[op->method].outer != ARENAUT_NONE;
    return root->method != op->method && (!nested || root->method == ARENAUT_NONE);
}

static void look_at(const arenaut_program *p, const arenaut_op *op, arn_order_calls *c) {
    const bool unknown = op->kind == ARENAUT_OP_DELEGATE || arn_order_is_foreign(p, op);
    const bool updates = op->kind == ARENAUT_OP_IN_PLACE || unknown;
    const uint32_t m = op->method;
    c->writes[m] = c->writes[m] || arn_order_calls_any(c->writes, op);
    c->shares[m] = c->shares[m] || arn_order_calls_any(c->shares, op);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const bool reads = i < op->n_inputs;
        const uint32_t t = reads ? op->inputs[i] : op->outputs[i - op->n_inputs];
        if (t == ARENAUT_NONE) continue;
        c->shares[m] = c->shares[m] || is_shared(p, op, t);
        c->writes[m] = c->writes[m] || ((!reads || updates) && home_of(p, t) != m);
    }
}

bool arn_order_calls_find(const arenaut_program *p, arn_region *region, arn_order_calls *calls) {
    const uint32_t n = p->n_methods;
    *calls = (arn_order_calls){0};
    uint32_t *callers = arn_region_allocate(region, n, sizeof *callers);
    calls->callees_first = arn_region_allocate(region, n, sizeof *calls->callees_first);
    calls->writes = arn_region_allocate(region, n, sizeof *calls->writes);
    calls->shares = arn_region_allocate(region, n, sizeof *calls->shares);
    if (!callers || !calls->callees_first || !calls->writes || !calls->shares) {
        return false;
    }
    sort_methods(p, callers, calls->callees_first);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t m = calls->callees_first[k];
        const arenaut_method *method = &p->methods[m];
        calls->writes[m] = calls->shares[m] = false;
        for (uint32_t i = 0; i < method->n_ops; i++) {
            look_at(p, &p->ops[method->first_op + i], calls);
        }
    }
    return true;
}
