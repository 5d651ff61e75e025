/* Sums in two steps: an average over all elements of a channel is that of the averages of its rows,
 * since all rows are as long; and so is the greatest element. A tensor of numbers of rows has no
 * label of its image: nothing but a concatenation and the last step may read it. That takes each
 * row of the image just once. The sum is rounded otherwise than that of the old op, so that the
 * rewrite must say so. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/rewrite_labels.h"
#include "core/fail.h"

enum { C = 1, H = 2, LEAST_RANK = 4 };

bool arn_label_is_of_rows(const arn_rewrite_check *c, uint32_t t) {
    return t != ARENAUT_NONE &&
           (c->labels[t].known == ARN_KNOWN_AVERAGES || c->labels[t].known == ARN_KNOWN_GREATEST ||
            c->labels[t].known == ARN_KNOWN_SPREADS);
}

/* Labels the result as numbers of rows of that image. */
static arenaut_status begin_rows(arn_rewrite_check *c, uint32_t t, uint32_t image, arn_known known,
                                 int64_t *place) {
    const arenaut_tensor *made = arn_new_tensor(c, t), *old = &c->before->tensors[image];
    arn_label *label = &c->labels[t];
    bool fits = label->tensor == ARENAUT_NONE && label->known == ARN_KNOWN_NOTHING &&
                made->cls == ARENAUT_INTERMEDIATE && made->dtype == old->dtype &&
                made->rank == old->rank && made->rank <= ARN_LABEL_RANK &&
                !c->rewrite->tensors[t].same;
    for (uint32_t i = 0; fits && i < made->rank; i++) {
        fits = i == H || made->dims[i] == (i <= C ? old->dims[i] : 1);
    }
    if (!fits) return arn_rewrite_reject(c, "its result has other sizes than rows have numbers");
    label->known = known;
    label->number = image;
    label->place[H] = place;
    return ARENAUT_OK;
}

/* The window has no padding, and goes on row by row. */
static bool is_plain_window(const arenaut_op *op) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        const arenaut_attribute *a = &op->attributes[i];
        const bool strides = strcmp(a->name, "strides") == 0;
        const bool steps = strides && !a->text && a->n_numbers > 0 && a->numbers[0] == 1;
        if (strcmp(a->name, "kernel_shape") == 0 || strcmp(a->name, "count_include_pad") == 0 ||
            steps) {
            continue;
        }
        return false;
    }
    return true;
}

/* A window that is as long as the row along all axes, and one row high. */
static bool is_window_of_rows(const arenaut_op *op, const arenaut_tensor *in) {
    const arenaut_attribute *sides = arenaut_op_attribute(op, "kernel_shape");
    if (!sides || sides->text || sides->n_numbers != in->rank - H || sides->numbers[0] != 1 ||
        !is_plain_window(op)) {
        return false;
    }
    for (uint32_t axis = H + 1; axis < in->rank; axis++) {
        if (sides->numbers[axis - H] != in->dims[axis]) return false;
    }
    return true;
}

/* A mean along just the axes behind that of rows, which stay. */
static bool is_mean_of_rows(const arenaut_op *op, const arenaut_tensor *in) {
    const arenaut_attribute *axes = arenaut_op_attribute(op, "axis");
    const arenaut_attribute *keeps = arenaut_op_attribute(op, "keepdim");
    if (op->n_attributes != 2 || !axes || axes->text || axes->n_numbers != in->rank - H - 1 ||
        !keeps || keeps->text || keeps->n_numbers != 1 || keeps->numbers[0] != 1) {
        return false;
    }
    for (uint32_t i = 0; i < axes->n_numbers; i++) {
        if (axes->numbers[i] != H + 1 + (int64_t)i) return false;
    }
    return true;
}

bool arn_rewrite_reduces_rows(const arenaut_op *op, const arenaut_tensor *in) {
    return in->rank >= LEAST_RANK && in->rank <= ARN_LABEL_RANK && op->n_inputs == 1 &&
           (is_window_of_rows(op, in) || is_mean_of_rows(op, in));
}

arenaut_status arn_rewrite_follow_rows(arn_rewrite_check *c, const arenaut_op *op,
                                       arn_known known) {
    const uint32_t from = op->inputs[0];
    const arenaut_tensor *in = arn_new_tensor(c, from), *out = arn_new_tensor(c, op->outputs[0]);
    if (c->rewrite->n_rounded == 0) {
        return arn_rewrite_reject(c, "it adds up an image in parts, which is not said");
    }
    if (c->labels[from].tensor == ARENAUT_NONE || out->rank != in->rank ||
        !arn_rewrite_reduces_rows(op, in) || out->dims[H] != in->dims[H]) {
        return arn_rewrite_reject(c, "it reduces no rows");
    }
    for (uint32_t axis = 0; axis < in->rank; axis++) {
        if (axis == H || arn_axis_is_whole(c, from, axis)) continue;
        return arn_rewrite_reject(c, "it reduces a part of each row");
    }
    int64_t *place = arn_label_axis(c, in->dims[H]);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < in->dims[H]; i++) place[i] = arn_label_place(c, from, H, i);
    return begin_rows(c, op->outputs[0], c->labels[from].tensor, known, place);
}

arenaut_status arn_rewrite_join_rows(arn_rewrite_check *c, const arenaut_op *op) {
    const arenaut_attribute *axis = arenaut_op_attribute(op, "axis");
    const arn_label first = c->labels[op->inputs[0]];
    const int64_t length = arn_new_tensor(c, op->outputs[0])->rank > H
                               ? arn_new_tensor(c, op->outputs[0])->dims[H]
                               : 0;
    int64_t at = 0;
    if (!axis || axis->text || axis->n_numbers != 1 || axis->numbers[0] != H || length <= 0) {
        return arn_rewrite_reject(c, "it joins numbers of rows along another axis");
    }
    int64_t *place = arn_label_axis(c, length);
    if (!place) return arn_no_memory(c->err);
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t part = op->inputs[k];
        if (!arn_label_is_of_rows(c, part) || c->labels[part].known != first.known ||
            c->labels[part].number != first.number || c->labels[part].block != first.block) {
            return arn_rewrite_reject(c, "it joins numbers of rows with other tensors");
        }
        for (int64_t i = 0; i < arn_new_tensor(c, part)->dims[H]; i++) {
            if (at == length) return arn_rewrite_reject(c, "its parts are longer than its result");
            place[at++] = arn_label_place(c, part, H, i);
        }
    }
    if (at != length) return arn_rewrite_reject(c, "its parts are shorter than its result");
    const arenaut_status st =
        begin_rows(c, op->outputs[0], (uint32_t)first.number, first.known, place);
    if (st == ARENAUT_OK) c->labels[op->outputs[0]].block = first.block;
    return st;
}

arenaut_status arn_rewrite_follow_reduction(arn_rewrite_check *c, const arenaut_op *op,
                                            const arenaut_op *old, arn_known known) {
    const uint32_t rows = op->inputs[0];
    const arenaut_tensor *made = arn_new_tensor(c, op->outputs[0]);
    const arenaut_tensor *was = &c->before->tensors[old->outputs[0]];
    if (old->inputs[0] == ARENAUT_NONE || c->labels[rows].known != known ||
        c->labels[rows].number != old->inputs[0] || c->labels[rows].block != 0) {
        return arn_rewrite_reject(c, "it does not reduce the rows of the old op's image");
    }
    const int64_t height = c->before->tensors[old->inputs[0]].dims[H];
    bool all = arn_new_tensor(c, rows)->dims[H] == height;
    for (int64_t i = 0; all && i < height; i++) all = arn_label_place(c, rows, H, i) == i;
    if (!all) return arn_rewrite_reject(c, "it does not take each row just once");
    for (uint32_t i = 0; i < made->rank; i++) {
        if (made->dims[i] == was->dims[i]) continue;
        return arn_rewrite_reject(c, "its result has other sizes");
    }
    return ARENAUT_OK;
}
