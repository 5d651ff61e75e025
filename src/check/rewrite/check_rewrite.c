/* Translation validation of a rewritten program (Pnueli, Siegel & Singerman 1998): every tensor of
 * the new program is labelled, element by element along each axis, with its origin in the old one;
 * ops are followed in their order, and in the end every result must be the old one. The label of an
 * op's result is the transfer function of its operator (rewrite_kernels.c), and a call repeats the
 * ops of its method. Shares no code with the rewrites: it knows only the function of each op. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/check_reorder.h"
#include "check/rewrite/rewrite_labels.h"
#include "ir/program.h"

/* ---- tensors given before any op ---- */

/* A constant cut out of an old one. */
static arenaut_status label_part(arn_rewrite_check *c, uint32_t t) {
    const arenaut_origin *origin = &c->rewrite->tensors[t];
    const arenaut_tensor *part = arn_new_tensor(c, t);
    const arenaut_tensor *old = &c->before->tensors[origin->tensor];
    if (part->cls != ARENAUT_CONSTANT || old->cls != ARENAUT_CONSTANT ||
        origin->axis >= old->rank || old->rank > ARN_LABEL_RANK) {
        return arn_rewrite_reject(c, "a part of a tensor that is no constant stands in it");
    }
    arenaut_status st = arn_label_begin(c, t, origin->tensor);
    if (st != ARENAUT_OK) return st;
    for (uint32_t axis = 0; axis < part->rank; axis++) {
        const int64_t begin = axis == origin->axis ? origin->begin : 0;
        const int64_t length = part->dims[axis];
        if (begin < 0 || begin > old->dims[axis] - length ||
            (axis != origin->axis && length != old->dims[axis])) {
            return arn_rewrite_reject(c, "a part of a constant is not in it");
        }
        int64_t *place = arn_label_axis(c, length);
        if (!place) return arn_no_memory(c->err);
        for (int64_t i = 0; i < length; i++) place[i] = begin + i;
        c->labels[t].place[axis] = place;
    }
    return ARENAUT_OK;
}

/* An op makes it of constants, and passes fold it: its label comes with the op. */
static bool is_made(const arn_rewrite_check *c, uint32_t t) {
    for (uint32_t i = 0; i < c->after->n_ops && !c->rules->by_number; i++) {
        const arenaut_op *op = &c->after->ops[i];
        if (op->n_outputs == 1 && op->outputs[0] == t) return true;
    }
    return false;
}

/* An old constant, in another method; computed tensors come later. */
static arenaut_status label_copy(arn_rewrite_check *c, uint32_t t) {
    const uint32_t before = c->rewrite->tensors[t].tensor;
    if (arn_new_tensor(c, t)->cls == ARENAUT_STATE) {
        return arn_rewrite_reject(c, "it has other state");
    }
    if (arn_new_tensor(c, t)->cls != ARENAUT_CONSTANT || is_made(c, t)) return ARENAUT_OK;
    const arenaut_status st = c->before->tensors[before].cls == ARENAUT_CONSTANT
                                  ? arn_label_begin(c, t, before)
                                  : ARENAUT_REJECTED;
    if (st == ARENAUT_NO_MEMORY) return st;
    if (st == ARENAUT_OK && arn_label_is_whole(c, t, before)) return st;
    return arn_rewrite_reject(c, "a constant is said to be one that it is not");
}

static bool holds_the_same(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->n_values == b->n_values &&
           (a->n_values == 0 || memcmp(a->values, b->values, a->n_values * sizeof *a->values) == 0);
}

static bool is_same_tensor(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->dtype == b->dtype && a->rank == b->rank && a->bytes == b->bytes && a->cls == b->cls &&
           a->method == b->method && a->view_of == b->view_of && holds_the_same(a, b) &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/* Constants and state are given from the start; results of ops are not. */
static arenaut_status label_given(arn_rewrite_check *c, uint32_t t) {
    const arenaut_origin *origin = &c->rewrite->tensors[t];
    const arenaut_tensor *tensor = arn_new_tensor(c, t);
    if (origin->tensor == ARENAUT_NONE) return ARENAUT_OK;
    if (origin->tensor >= c->before->n_tensors) {
        return arn_rewrite_reject(c, "a tensor comes from one that does not exist");
    }
    if (!origin->same) return origin->axis == ARENAUT_NONE ? label_copy(c, t) : label_part(c, t);
    if ((c->rules->by_number && origin->tensor != t) ||
        !is_same_tensor(tensor, &c->before->tensors[origin->tensor])) {
        return arn_rewrite_reject(c, "a tensor differs from the one that it is said to be");
    }
    const bool given = tensor->cls == ARENAUT_CONSTANT || tensor->cls == ARENAUT_STATE;
    return given ? arn_label_begin(c, t, origin->tensor) : ARENAUT_OK;
}

static arenaut_status check_method(arn_rewrite_check *c) {
    const arenaut_method *new = &c->after->methods[0], *old = &c->before->methods[0];
    if (c->before->n_methods != 1 || old->n_bindings > 0 || new->n_bindings > 0 ||
        new->concurrent || old->concurrent || new->entry != old->entry) {
        return arn_rewrite_reject(c, "it is no single method whose ops run one after another");
    }
    for (uint32_t m = 1; m < c->after->n_methods; m++) {
        if (!c->after->methods[m].entry) continue;
        return arn_rewrite_reject(c, "another method of it can be called from outside");
    }
    if (new->n_inputs != old->n_inputs || new->n_outputs != old->n_outputs) {
        return arn_rewrite_reject(c, "it has other inputs or outputs");
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < new->n_inputs && st == ARENAUT_OK; i++) {
        const uint32_t t = new->inputs[i];
        const arenaut_origin *origin = &c->rewrite->tensors[t];
        if (origin->tensor != old->inputs[i] || !origin->same) {
            return arn_rewrite_reject(c, "it has other inputs");
        }
        if (c->labels[t].tensor == ARENAUT_NONE) st = arn_label_begin(c, t, origin->tensor);
    }
    return st;
}

/* ---- calls ----
 *
 * The ops of a called method are followed once more for each call (inlining), with the labels of
 * that call's arguments. Labels of an earlier call are dropped, so nothing can be read that was not
 * handed over or made in the same call. */

static bool is_call(const arenaut_op *op) {
    return op->kind == ARENAUT_OP_IF && op->n_calls == 2 && op->calls[0] == op->calls[1];
}

/* A copy of all elements of `from`, with their labels. */
static arenaut_status copy_label(arn_rewrite_check *c, uint32_t from, uint32_t to) {
    if (from == ARENAUT_NONE || to == ARENAUT_NONE || c->labels[from].tensor == ARENAUT_NONE) {
        return arn_rewrite_reject(c, "it hands over a tensor that no op has made");
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

static arenaut_status follow_op(arn_rewrite_check *c);

static arenaut_status follow_body(arn_rewrite_check *c, const arenaut_method *body) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < body->n_ops && st == ARENAUT_OK; i++) {
        c->op = body->first_op + i;
        st = follow_op(c);
    }
    return st;
}

static arenaut_status follow_call(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t caller = c->op;
    const arenaut_method *body = &c->after->methods[op->calls[0]];
    const arenaut_tensor *condition =
        op->n_inputs > 0 && op->inputs[0] != ARENAUT_NONE ? arn_new_tensor(c, op->inputs[0]) : NULL;
    if (op->method != 0 || body->entry || body->concurrent || body->n_bindings > 0 ||
        body->outer != ARENAUT_NONE) {
        return arn_rewrite_reject(c, "it calls a method that cannot be followed");
    }
    if (!condition || condition->cls != ARENAUT_CONSTANT || op->n_inputs - 1 != body->n_inputs ||
        op->n_outputs != body->n_outputs) {
        return arn_rewrite_reject(c, "its arguments and results are not those of the method");
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

/* ---- ops ---- */

static bool is_padding(const arenaut_attribute *a) {
    static const char *const names[] = {"padding", "pads", "auto_pad"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (arn_same_text(a->name, names[i])) return true;
    }
    return false;
}

/* The next attribute from `i` on that says nothing of padding, or does. */
static uint32_t next_attribute(const arenaut_op *op, uint32_t i, bool padding) {
    while (i < op->n_attributes && is_padding(&op->attributes[i]) != padding) i++;
    return i;
}

/* Whether two ops have the same attributes in the same sequence, of those about padding, or of the
 * others. */
static bool same_attributes(const arenaut_op *a, const arenaut_op *b, bool padding) {
    uint32_t i = next_attribute(a, 0, padding), k = next_attribute(b, 0, padding);
    while (i < a->n_attributes && k < b->n_attributes) {
        if (!arn_same_attribute(&a->attributes[i], &b->attributes[k])) return false;
        i = next_attribute(a, i + 1, padding);
        k = next_attribute(b, k + 1, padding);
    }
    return i == a->n_attributes && k == b->n_attributes;
}

/* The same op with the same attributes; the padding may be another, since its effect on an image is
 * followed. */
static bool is_same_op(const arenaut_op *a, const arenaut_op *b, bool *repadded) {
    *repadded = !same_attributes(a, b, true);
    return arn_same_text(a->name, b->name) && a->kind == b->kind && a->n_inputs == b->n_inputs &&
           a->n_outputs == b->n_outputs && a->n_calls == 0 && b->n_calls == 0 &&
           same_attributes(a, b, false);
}

static bool reads_the_same(const arn_rewrite_check *c, const arenaut_op *op,
                           const arenaut_op *old) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if ((op->inputs[i] == ARENAUT_NONE) != (old->inputs[i] == ARENAUT_NONE)) return false;
        if (op->inputs[i] == ARENAUT_NONE) continue;
        if (!arn_label_is_whole(c, op->inputs[i], old->inputs[i])) return false;
    }
    return true;
}

/* A constant that an op computes of constants is given before any op runs. */
static bool is_folded(const arn_rewrite_check *c, uint32_t made, uint32_t before) {
    return !c->rules->by_number && c->after->tensors[made].cls == ARENAUT_CONSTANT &&
           arn_label_is_whole(c, made, before);
}

/* The whole of an old op: its results are the old ones, with any function. */
static arenaut_status follow_whole(arn_rewrite_check *c, const arenaut_op *op,
                                   const arenaut_op *old) {
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < op->n_outputs && st == ARENAUT_OK; i++) {
        const uint32_t made = op->outputs[i], before = old->outputs[i];
        if ((made == ARENAUT_NONE) != (before == ARENAUT_NONE)) {
            return arn_rewrite_reject(c, "it has other results");
        }
        if (made == ARENAUT_NONE || c->after->tensors[made].cls == ARENAUT_STATE) continue;
        if (is_folded(c, made, before)) continue;
        st = arn_label_begin(c, made, before);
        if (st == ARENAUT_OK && !arn_label_is_whole(c, made, before)) {
            return arn_rewrite_reject(c, "its result has other sizes");
        }
    }
    return st;
}

static bool all_read_exist(const arn_rewrite_check *c, const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && c->to_make[t]) return false;
        if (t == ARENAUT_NONE || c->labels[t].tensor != ARENAUT_NONE) continue;
        if (c->labels[t].known != ARN_KNOWN_NOTHING) continue;
        if (c->rewrite->tensors[t].tensor != ARENAUT_NONE) return false;
        if (c->after->tensors[t].cls != ARENAUT_CONSTANT) return false;
    }
    return true;
}

static bool holds_state(const arenaut_program *p, const uint32_t *ids, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] != ARENAUT_NONE && p->tensors[ids[i]].cls == ARENAUT_STATE) return true;
    }
    return false;
}

/* Whether no op of either program writes state: all are such as never write their operands. */
static bool keeps_state(const arn_rewrite_check *c) {
    bool keeps = c->rules->kind == ARENAUT_OP_FUNCTIONAL;
    for (uint32_t i = 0; i < c->before->n_ops && keeps; i++) {
        keeps = c->before->ops[i].kind == ARENAUT_OP_FUNCTIONAL;
    }
    for (uint32_t i = 0; i < c->after->n_ops && keeps; i++) {
        keeps = c->after->ops[i].kind == ARENAUT_OP_FUNCTIONAL;
    }
    return keeps;
}

/* Whether an op may have side effects, beyond computing results from earlier ones: then the
 * sequence and the number of its runs count. */
static bool may_have_effects(const arn_rewrite_check *c, const arenaut_program *p,
                             const arenaut_op *op) {
    return !arn_rewrite_row_find(c->rules, op->name) || op->kind != c->rules->kind ||
           (!c->keeps_state && holds_state(p, op->inputs, op->n_inputs)) ||
           holds_state(p, op->outputs, op->n_outputs);
}

/* Ops that may have side effects run once each, in the old sequence. */
static arenaut_status follow_op(arn_rewrite_check *c) {
    const arenaut_op *op = &c->after->ops[c->op];
    const uint32_t before = c->rewrite->ops[c->op];
    bool repadded;
    if (!all_read_exist(c, op))
        return arn_rewrite_reject(c, "it reads a tensor that no op has made");
    if (before == ARENAUT_NONE) {
        if (holds_state(c->after, op->inputs, op->n_inputs)) {
            return arn_rewrite_reject(c, "it copies state, which may change");
        }
        return is_call(op) ? follow_call(c, op) : arn_rewrite_follow_move(c, op);
    }
    if (before >= c->before->n_ops) return arn_rewrite_reject(c, "it does a part of no op");
    const arenaut_op *old = &c->before->ops[before];
    if (!is_same_op(op, old, &repadded)) {
        return arn_rewrite_reject(c, "it is not the op that it does a part of");
    }
    if (may_have_effects(c, c->after, op)) {
        if (before < c->next) return arn_rewrite_reject(c, "it runs twice, or in another sequence");
        while (c->next < before) {
            if (may_have_effects(c, c->before, &c->before->ops[c->next])) {
                return arn_rewrite_reject(c, "an op that runs before it is left out");
            }
            c->next++;
        }
        c->next++;
    }
    if (!repadded && reads_the_same(c, op, old)) return follow_whole(c, op, old);
    return arn_rewrite_follow_part(c, op, old);
}

static arenaut_status check_results(arn_rewrite_check *c) {
    const arenaut_method *new = &c->after->methods[0], *old = &c->before->methods[0];
    c->op = ARENAUT_NONE;
    for (uint32_t i = c->next; i < c->before->n_ops; i++) {
        if (may_have_effects(c, c->before, &c->before->ops[i])) {
            return arn_rewrite_reject(c, "an op is left out");
        }
    }
    for (uint32_t i = 0; i < new->n_outputs; i++) {
        const uint32_t t = new->outputs[i];
        if ((c->rules->by_number && t != old->outputs[i]) || c->labels[t].tensor == ARENAUT_NONE ||
            !arn_label_is_whole(c, t, old->outputs[i])) {
            return arn_rewrite_reject(c, "a result is not the old one");
        }
    }
    return ARENAUT_OK;
}

/* Constants are known from the beginning, and yet the op that makes one has to run before those
 * that read it. */
static void list_to_make(arn_rewrite_check *c, const arenaut_op *op, bool to_make) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const uint32_t t = op->outputs[i];
        if (t != ARENAUT_NONE && c->after->tensors[t].cls == ARENAUT_CONSTANT) {
            c->to_make[t] = to_make;
        }
    }
}

static arenaut_status follow(arn_rewrite_check *c) {
    const arenaut_method *main = &c->after->methods[0];
    arenaut_status st = ARENAUT_OK;
    c->op = ARENAUT_NONE;
    if (c->rewrite->n_tensors != c->after->n_tensors || c->rewrite->n_ops != c->after->n_ops) {
        return arn_rewrite_reject(c, "it was changed since it was made");
    }
    for (uint32_t t = 0; t < c->after->n_tensors && st == ARENAUT_OK; t++) st = label_given(c, t);
    if (st == ARENAUT_OK) st = check_method(c);
    for (uint32_t i = 0; i < main->n_ops; i++) {
        list_to_make(c, &c->after->ops[main->first_op + i], true);
    }
    for (uint32_t i = 0; i < main->n_ops && st == ARENAUT_OK; i++) {
        c->op = main->first_op + i;
        st = follow_op(c);
        list_to_make(c, &c->after->ops[c->op], false);
    }
    return st == ARENAUT_OK ? check_results(c) : st;
}

arenaut_status arenaut_check_rewrite(const arenaut_program *before, const arenaut_rewrite *rewrite,
                                     const arenaut_allocator *allocator, arenaut_finding *finding,
                                     arenaut_error *err) {
    arn_rewrite_check c = {.before = before,
                           .after = rewrite->program,
                           .rewrite = rewrite,
                           .allocator = allocator,
                           .finding = finding,
                           .err = err};
    *finding = arn_check_no_finding();
    arenaut_status st = arn_program_validate(before, err);
    if (st == ARENAUT_OK) st = arn_program_validate(c.after, err);
    if (st != ARENAUT_OK) return st;
    if (rewrite->n_stages == 0) return arn_check_reorder(before, rewrite, allocator, finding, err);
    c.rules = arn_rewrite_rules_find(before->dialect);
    if (!c.rules || !arn_same_text(before->dialect, c.after->dialect)) {
        c.op = ARENAUT_NONE;
        return arn_rewrite_reject(&c, "its dialect is none whose ops are followed");
    }
    c.keeps_state = keeps_state(&c);
    arn_region_init(&c.region, allocator);
    c.labels = arn_allocate_zeroed(allocator, c.after->n_tensors, sizeof *c.labels);
    c.to_make = arn_allocate_zeroed(allocator, c.after->n_tensors, sizeof *c.to_make);
    for (uint32_t t = 0; c.labels && t < c.after->n_tensors; t++) {
        c.labels[t].tensor = ARENAUT_NONE;
    }
    st = c.labels && c.to_make ? follow(&c) : arn_no_memory(err);
    ARN_RELEASE(allocator, c.labels, c.to_make);
    arn_region_free(&c.region);
    return st;
}
