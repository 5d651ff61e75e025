/* Calls in a rewritten program: the ops of the method that is called are followed once more for
 * each call, with the labels of that call's arguments. What an earlier call has left is forgotten,
 * so nothing can be read that was not handed over or made in the same call. */
#include "check/finding.h"
#include "check/rewrite/rewrite_labels.h"

bool arn_rewrite_is_call(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_IF && op->n_calls == 2 && op->calls[0] == op->calls[1];
}

/* A copy of all its elements, with what is known of them. */
static arenaut_status copy_label(arn_rewrite_check *c, uint32_t from, uint32_t to) {
    if (from == ARENAUT_NONE || to == ARENAUT_NONE || c->labels[from].tensor == ARENAUT_NONE) {
        return arn_rewrite_reject(c, "it hands over what nothing has made");
    }
    const uint32_t rank = arn_new_tensor(c, from)->rank;
    if (arn_new_tensor(c, to)->rank != rank || arn_new_tensor(c, to)->cls == ARENAUT_CONSTANT ||
        arn_new_tensor(c, to)->cls == ARENAUT_STATE) {
        return arn_rewrite_reject(c, "it copies between tensors of different kinds");
    }
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (arn_new_tensor(c, from)->dims[axis] == arn_new_tensor(c, to)->dims[axis]) continue;
        return arn_rewrite_reject(c, "it copies between tensors of different sizes");
    }
    arenaut_status st = arn_label_begin(c, to, c->labels[from].tensor);
    for (uint32_t axis = 0; axis < rank && axis < ARN_LABEL_RANK && st == ARENAUT_OK; axis++) {
        if (c->labels[from].place[axis]) st = arn_label_copy(c, from, to, axis);
    }
    return st;
}

static void forget(arn_rewrite_check *c, uint32_t method) {
    for (uint32_t t = 0; t < c->after->n_tensors; t++) {
        const arenaut_tensor *tensor = arn_new_tensor(c, t);
        if (tensor->method != method || tensor->cls == ARENAUT_CONSTANT) continue;
        c->labels[t] = (arn_label){.tensor = ARENAUT_NONE};
    }
}

static arenaut_status follow_body(arn_rewrite_check *c, const arenaut_method *body) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < body->n_ops && st == ARENAUT_OK; i++) {
        c->op = body->first_op + i;
        st = arn_rewrite_follow_op(c);
    }
    return st;
}

arenaut_status arn_rewrite_follow_call(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t caller = c->op;
    const arenaut_method *body = &c->after->methods[op->calls[0]];
    const arenaut_tensor *condition =
        op->n_inputs > 0 && op->inputs[0] != ARENAUT_NONE ? arn_new_tensor(c, op->inputs[0]) : NULL;
    if (op->method != 0 || body->entry || body->concurrent || body->n_bindings > 0 ||
        body->outer != ARENAUT_NONE) {
        return arn_rewrite_reject(c, "it calls what cannot be followed");
    }
    if (!condition || condition->cls != ARENAUT_CONSTANT || op->n_inputs - 1 != body->n_inputs ||
        op->n_outputs != body->n_outputs) {
        return arn_rewrite_reject(c, "it does not hand over what the method takes and gives");
    }
    arenaut_status st = ARENAUT_OK;
    forget(c, op->calls[0]);
    for (uint32_t i = 0; i < body->n_inputs && st == ARENAUT_OK; i++) {
        st = copy_label(c, op->inputs[i + 1], body->inputs[i]);
    }
    if (st == ARENAUT_OK) st = follow_body(c, body);
    if (st != ARENAUT_OK) return st;
    c->op = caller;
    for (uint32_t i = 0; i < body->n_outputs && st == ARENAUT_OK; i++) {
        st = copy_label(c, body->outputs[i], op->outputs[i]);
    }
    return st;
}
