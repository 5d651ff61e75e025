/* Transfer functions on labels of operators on images NCHW whose attributes have the forms of ONNX:
 * parts of convolutions and pools, each with padding of its own, of ops that make several rows of
 * one (transposed convolutions, resizing), and of normalizations by channel. */
#include "check/rewrite/rewrite_nchw.h"

#include <string.h>

#include "check/finding.h"

enum { C = 1, H = 2, W = 3 };

static const arenaut_attribute *find(const arenaut_op *op, const char *name) {
    for (uint32_t i = 0; i < op->n_attributes; i++) {
        if (strcmp(op->attributes[i].name, name) == 0) return &op->attributes[i];
    }
    return NULL;
}

bool arn_nchw_number(const arenaut_op *op, const char *name, uint32_t n, uint32_t index,
                     int64_t otherwise, int64_t *number) {
    const arenaut_attribute *a = find(op, name);
    *number = otherwise;
    if (!a) return true;
    if (a->text || a->n_numbers != n) return false;
    *number = a->numbers[index];
    return *number >= 0 && *number < INT32_MAX;
}

static bool has_rank(const arenaut_program *program, uint32_t tensor, uint32_t rank) {
    return tensor != ARENAUT_NONE && program->tensors[tensor].rank == rank;
}

/* ---- windows ---- */

static bool take_stencil(const arn_rewrite_check *c, const arenaut_op *old, bool pool,
                         uint32_t axis, arn_stencil *s) {
    const uint32_t k = axis - H;
    const int64_t taps = pool ? 0 : c->before->tensors[old->inputs[1]].dims[axis];
    return arn_nchw_number(old, "kernel_shape", 2, k, taps, &s->taps) &&
           arn_nchw_number(old, "strides", 2, k, 1, &s->stride) &&
           arn_nchw_number(old, "dilations", 2, k, 1, &s->spread) && s->taps > 0 && s->stride > 0 &&
           s->spread > 0 && (pool || s->taps == taps);
}

/* Padding in front and behind, of an image of `in` rows. */
static bool take_padding(const arenaut_op *op, const arn_stencil *s, uint32_t axis, int64_t in,
                         int64_t *front, int64_t *behind) {
    const arenaut_attribute *named = find(op, "auto_pad");
    *front = *behind = 0;
    if (!named || (named->text && strcmp(named->text, "NOTSET") == 0)) {
        return arn_nchw_number(op, "pads", 4, axis - H, 0, front) &&
               arn_nchw_number(op, "pads", 4, axis - H + 2, 0, behind);
    }
    if (!named->text) return false;
    if (strcmp(named->text, "VALID") == 0) return true;
    const bool upper = strcmp(named->text, "SAME_UPPER") == 0;
    const int64_t out = (in + s->stride - 1) / s->stride;
    const int64_t missing = (out - 1) * s->stride + (s->taps - 1) * s->spread + 1 - in;
    const int64_t total = missing > 0 ? missing : 0;
    *front = upper ? total / 2 : total - total / 2;
    *behind = total - *front;
    return upper || strcmp(named->text, "SAME_LOWER") == 0;
}

/* The output rows of an image of `in` rows; 0 if they are not known. Where a window may end behind
 * the padding, what it sees there must be nothing, as in the padding. */
static int64_t count_rows(const arenaut_op *op, const arn_stencil *s, uint32_t axis, int64_t in,
                          int64_t *front) {
    int64_t behind, rounds_up, counts_padding;
    if (!take_padding(op, s, axis, in, front, &behind) ||
        !arn_nchw_number(op, "ceil_mode", 1, 0, 0, &rounds_up) ||
        !arn_nchw_number(op, "count_include_pad", 1, 0, 0, &counts_padding)) {
        return 0;
    }
    const int64_t left = in + *front + behind - (s->taps - 1) * s->spread - 1;
    if (left < 0) return 0;
    int64_t out = left / s->stride + 1;
    if (!rounds_up || left % s->stride == 0) return out;
    if (counts_padding) return 0;
    return out * s->stride >= in + *front ? out : out + 1;
}

static arenaut_status follow_window_axis(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old, bool pool, uint32_t axis) {
    arn_stencil s;
    const uint32_t input = op->inputs[0], output = op->outputs[0];
    arn_window v = {.check = c, .input = input, .axis = axis, .s = &s, .zeroes_count = true};
    v.in = arn_new_tensor(c, input)->dims[axis];
    v.old_in = c->before->tensors[old->inputs[0]].dims[axis];
    if (!take_stencil(c, old, pool, axis, &s)) {
        return arn_rewrite_reject(c, "the windows of its kernel are not known");
    }
    const int64_t out = count_rows(op, &s, axis, v.in, &v.front);
    v.old_out = count_rows(old, &s, axis, v.old_in, &v.old_front);
    if (out <= 0 || out != arn_new_tensor(c, output)->dims[axis] ||
        v.old_out != c->before->tensors[old->outputs[0]].dims[axis]) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    return arn_label_windows(c, &v, output, out);
}

bool arn_rewrite_are_whole(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old,
                           uint32_t first) {
    for (uint32_t i = first; i < op->n_inputs; i++) {
        if ((op->inputs[i] == ARENAUT_NONE) != (old->inputs[i] == ARENAUT_NONE)) return false;
        if (op->inputs[i] == ARENAUT_NONE) continue;
        if (!arn_label_is_whole(c, op->inputs[i], old->inputs[i])) return false;
    }
    return true;
}

bool arn_rewrite_reads_image(const arn_rewrite_check *c, const arenaut_op *op,
                             const arenaut_op *old) {
    const uint32_t image = op->inputs[0];
    return c->labels[image].tensor == old->inputs[0] && has_rank(c->after, image, ARN_LABEL_RANK) &&
           has_rank(c->after, op->outputs[0], ARN_LABEL_RANK) && arn_axis_is_whole(c, image, C);
}

arenaut_status arn_rewrite_follow_nchw(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old, bool pool) {
    if (!arn_rewrite_reads_image(c, op, old)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    if (pool ? op->n_inputs != 1
             : op->n_inputs < 2 || op->inputs[1] == ARENAUT_NONE ||
                   !has_rank(c->before, old->inputs[1], ARN_LABEL_RANK) ||
                   !arn_rewrite_are_whole(c, op, old, 1)) {
        return arn_rewrite_reject(c, "it has other weights than the old op");
    }
    const int64_t channels = c->before->tensors[old->outputs[0]].dims[C];
    if (arn_new_tensor(c, op->outputs[0])->dims[C] != channels) {
        return arn_rewrite_reject(c, "its result has other channels than its weights");
    }
    arenaut_status st = arn_label_copy(c, op->inputs[0], op->outputs[0], 0);
    if (st == ARENAUT_OK) st = follow_window_axis(c, op, old, pool, H);
    if (st == ARENAUT_OK) st = follow_window_axis(c, op, old, pool, W);
    return st;
}

arenaut_status arn_rewrite_follow_channels(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old) {
    if (!arn_rewrite_reads_image(c, op, old) || !arn_rewrite_are_whole(c, op, old, 1)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t axis = 0; axis < ARN_LABEL_RANK && st == ARENAUT_OK; axis++) {
        st = arn_label_copy(c, op->inputs[0], op->outputs[0], axis);
    }
    return st;
}

/* ---- several rows of one ---- */

/* Along one axis, of the new op; the old one differs in its length alone. */
typedef struct stretching {
    const arn_rewrite_check *check;
    const arn_stretch *s;
    uint32_t input, axis;
    int64_t in, old_in, old_out;
} stretching;

/* The element that tap `tap` of a row of the result sees of `in` in all: its place times the taps
 * between places, and what is left over, is the tap's weight. ARN_PLACE_OUTSIDE: it sees none. */
static int64_t tap_of(const arn_stretch *s, int64_t row, int64_t tap, int64_t in) {
    if (s->linear) { /* between the elements around place (row + 1/2) / up - 1/2, both there */
        const int64_t twice = 2 * row + 1 - s->up, place = twice < 0 ? 0 : twice / (2 * s->up);
        return tap == 0 || place + 1 == in ? place : place + 1;
    }
    const int64_t at = row + s->front - tap;
    if (at < 0 || at % s->up != 0 || at / s->up >= in) return ARN_PLACE_OUTSIDE;
    return at / s->up;
}

/* What a row's weights depend on, besides its taps. */
static int64_t phase_of(const arn_stretch *s, int64_t row) {
    const int64_t twice = 2 * row + 1 - s->up;
    if (s->linear) return twice < 0 ? 0 : twice % (2 * s->up);
    return row % s->up;
}

static bool stretches_same(const stretching *v, int64_t row, int64_t old_row) {
    if (old_row < 0 || old_row >= v->old_out || phase_of(v->s, row) != phase_of(v->s, old_row)) {
        return false;
    }
    for (int64_t tap = 0; tap < v->s->taps; tap++) {
        const int64_t at = tap_of(v->s, row, tap, v->in);
        const int64_t place =
            at < 0 ? ARN_PLACE_OUTSIDE : arn_label_place(v->check, v->input, v->axis, at);
        if (place != tap_of(v->s, old_row, tap, v->old_in)) return false;
    }
    return true;
}

/* The first tap that sees an element tells how far the rows are apart. */
static int64_t stretched_row(const stretching *v, int64_t row) {
    for (int64_t tap = 0; tap < v->s->taps; tap++) {
        const int64_t at = tap_of(v->s, row, tap, v->in);
        if (at < 0) continue;
        const int64_t place = arn_label_place(v->check, v->input, v->axis, at);
        const int64_t old_row = row + (place - at) * v->s->up;
        return place >= 0 && stretches_same(v, row, old_row) ? old_row : ARN_PLACE_UNKNOWN;
    }
    return ARN_PLACE_UNKNOWN;
}

static int64_t count_stretched(const arn_stretch *s, int64_t in) {
    return s->linear ? in * s->up : (in - 1) * s->up + s->taps - 2 * s->front;
}

static arenaut_status follow_stretch_axis(arn_rewrite_check *c, const arenaut_op *op,
                                          const arenaut_op *old, const arn_stretch *s,
                                          uint32_t axis) {
    const stretching v = {.check = c,
                          .s = s,
                          .input = op->inputs[0],
                          .axis = axis,
                          .in = arn_new_tensor(c, op->inputs[0])->dims[axis],
                          .old_in = c->before->tensors[old->inputs[0]].dims[axis],
                          .old_out = c->before->tensors[old->outputs[0]].dims[axis]};
    const int64_t out = arn_new_tensor(c, op->outputs[0])->dims[axis];
    if (s->up <= 0 || s->up > INT16_MAX || s->taps <= 0 || s->taps > INT16_MAX || s->front < 0 ||
        v.in > INT32_MAX || v.old_in > INT32_MAX || out <= 0 || out != count_stretched(s, v.in) ||
        v.old_out != count_stretched(s, v.old_in)) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    int64_t *place = arn_label_axis(c, out);
    if (!place) return arn_no_memory(c->err);
    for (int64_t row = 0; row < out; row++) place[row] = stretched_row(&v, row);
    c->labels[op->outputs[0]].place[axis] = place;
    return ARENAUT_OK;
}

arenaut_status arn_rewrite_follow_stretch(arn_rewrite_check *c, const arenaut_op *op,
                                          const arenaut_op *old, const arn_stretch stretch[2]) {
    if (!arn_rewrite_reads_image(c, op, old) || !arn_rewrite_are_whole(c, op, old, 1)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    if (arn_new_tensor(c, op->outputs[0])->dims[C] != c->before->tensors[old->outputs[0]].dims[C]) {
        return arn_rewrite_reject(c, "its result has other channels than the old one");
    }
    arenaut_status st = arn_label_copy(c, op->inputs[0], op->outputs[0], 0);
    if (st == ARENAUT_OK) st = follow_stretch_axis(c, op, old, &stretch[0], H);
    if (st == ARENAUT_OK) st = follow_stretch_axis(c, op, old, &stretch[1], W);
    return st;
}
