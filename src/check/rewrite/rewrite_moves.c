/* Ops of a rewritten program that only move data: parts of a tensor, a tensor with padding around
 * it, and parts put together. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/rewrite_labels.h"

/* Whether a tensor holds `n` numbers that the program knows. */
static bool is_list(const arn_rewrite_check *c, uint32_t t, uint32_t n) {
    const arenaut_tensor *tensor = t == ARENAUT_NONE ? NULL : arn_new_tensor(c, t);
    return tensor && tensor->cls == ARENAUT_CONSTANT && tensor->values && tensor->n_values == n &&
           tensor->dtype == ARENAUT_DTYPE_INT32;
}

static arenaut_status follow_slice(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t from = op->inputs[0], to = op->outputs[0];
    const arenaut_tensor *in = arn_new_tensor(c, from), *out = arn_new_tensor(c, to);
    if (op->n_inputs != 3 || !is_list(c, op->inputs[1], in->rank) ||
        !is_list(c, op->inputs[2], in->rank)) {
        return arn_rewrite_reject(c, "where it begins and ends is not known");
    }
    for (uint32_t axis = 0; axis < in->rank; axis++) {
        const int64_t begin = arn_new_tensor(c, op->inputs[1])->values[axis];
        const int64_t size = arn_new_tensor(c, op->inputs[2])->values[axis];
        if (begin < 0 || size <= 0 || begin > in->dims[axis] - size || size != out->dims[axis]) {
            return arn_rewrite_reject(c, "it takes what its operand does not have");
        }
        int64_t *place = arn_label_axis(c, size);
        if (!place) return arn_no_memory(c->err);
        for (int64_t i = 0; i < size; i++) place[i] = arn_label_place(c, from, axis, begin + i);
        c->labels[to].place[axis] = place;
    }
    return ARENAUT_OK;
}

static arenaut_status follow_pad(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t from = op->inputs[0], to = op->outputs[0];
    const arenaut_tensor *in = arn_new_tensor(c, from), *out = arn_new_tensor(c, to);
    if (op->n_inputs != 2 || !is_list(c, op->inputs[1], 2 * in->rank)) {
        return arn_rewrite_reject(c, "how much it pads is not known");
    }
    const int64_t *pads = arn_new_tensor(c, op->inputs[1])->values;
    for (uint32_t axis = 0; axis < in->rank; axis++) {
        const int64_t before = pads[2 * axis], after = pads[2 * axis + 1];
        const int64_t length = in->dims[axis];
        if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX ||
            out->dims[axis] != length + before + after) {
            return arn_rewrite_reject(c, "its result has other sizes than it makes");
        }
        int64_t *place = arn_label_axis(c, out->dims[axis]);
        if (!place) return arn_no_memory(c->err);
        for (int64_t i = 0; i < out->dims[axis]; i++) {
            const bool inside = i >= before && i < before + length;
            place[i] = inside ? arn_label_place(c, from, axis, i - before) : ARN_PLACE_PADDING;
        }
        c->labels[to].place[axis] = place;
    }
    return ARENAUT_OK;
}

/* The axis that parts are put together along: that of the op, counted from the first. */
static bool take_axis(const arenaut_op *op, uint32_t rank, uint32_t *axis) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *a = &op->attributes[i];
        if (strcmp(a->name, "axis") != 0 || a->n_numbers != 1 || a->text) continue;
        if (a->numbers[0] < 0 || a->numbers[0] >= (int64_t)rank) return false;
        *axis = (uint32_t)a->numbers[0];
        return true;
    }
    return false;
}

static arenaut_status put_together(arn_rewrite_check *c, const arenaut_op *op, uint32_t axis) {
    const uint32_t to = op->outputs[0];
    const int64_t length = arn_new_tensor(c, to)->dims[axis];
    int64_t *place = arn_label_axis(c, length), at = 0;
    if (!place) return arn_no_memory(c->err);
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t part = op->inputs[k];
        const int64_t size = arn_new_tensor(c, part)->dims[axis];
        if (size > length - at)
            return arn_rewrite_reject(c, "its parts are longer than its result");
        for (int64_t i = 0; i < size; i++) place[at++] = arn_label_place(c, part, axis, i);
    }
    if (at != length) return arn_rewrite_reject(c, "its parts are shorter than its result");
    c->labels[to].place[axis] = place;
    return ARENAUT_OK;
}

static arenaut_status follow_join(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t first = op->inputs[0], to = op->outputs[0];
    const uint32_t rank = arn_new_tensor(c, first)->rank;
    uint32_t joined;
    if (!take_axis(op, rank, &joined)) return arn_rewrite_reject(c, "its axis is not known");
    for (uint32_t k = 1; k < op->n_inputs; k++) {
        const uint32_t part = op->inputs[k];
        if (part == ARENAUT_NONE || c->labels[part].tensor != c->labels[first].tensor) {
            return arn_rewrite_reject(c, "it puts parts of different tensors together");
        }
        for (uint32_t axis = 0; axis < rank; axis++) {
            if (axis == joined || arn_labels_agree(c, first, axis, part, axis)) continue;
            return arn_rewrite_reject(c, "its parts do not lie side by side");
        }
    }
    arenaut_status st = put_together(c, op, joined);
    for (uint32_t axis = 0; axis < rank && st == ARENAUT_OK; axis++) {
        if (axis != joined) st = arn_label_copy(c, first, to, axis);
    }
    return st;
}

arenaut_status arn_rewrite_follow_move(arn_rewrite_check *c, const arenaut_op *op) {
    static const struct {
        const char *name;
        arenaut_status (*follow)(arn_rewrite_check *, const arenaut_op *);
    } movers[] = {{"SLICE", follow_slice}, {"PAD", follow_pad}, {"CONCATENATION", follow_join}};
    if (op->kind != ARENAUT_OP_OUT || op->n_inputs == 0 || op->n_outputs != 1 ||
        op->inputs[0] == ARENAUT_NONE || op->outputs[0] == ARENAUT_NONE) {
        return arn_rewrite_reject(c, "it moves no data");
    }
    const uint32_t of = c->labels[op->inputs[0]].tensor;
    if (of == ARENAUT_NONE || arn_new_tensor(c, op->inputs[0])->rank > ARN_LABEL_RANK) {
        return arn_rewrite_reject(c, "it moves what nothing has made, or has too many axes");
    }
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
        if (!op->name || strcmp(op->name, movers[i].name) != 0) continue;
        const arenaut_status st = arn_label_begin(c, op->outputs[0], of);
        return st == ARENAUT_OK ? movers[i].follow(c, op) : st;
    }
    return arn_rewrite_reject(c, "it is no op that moves data");
}
