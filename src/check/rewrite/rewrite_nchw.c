/* Transfer functions on labels of operators on images NCHW, with one axis behind the channels
 * (signals), two or three (volumes), whose attributes have the forms of ONNX:
 * parts of convolutions and pools, each with padding of its own, of ops that make several rows of
 * one (transposed convolutions, resizing), and of normalizations by channel. */
#include "check/rewrite/rewrite_nchw.h"

#include <string.h>

#include "check/finding.h"

enum { C = 1, H = 2, LEAST_RANK = 3, OF_TWO_AXES = 4 };

bool arn_nchw_number(const arenaut_op *op, const char *name, uint32_t n, uint32_t index,
                     int64_t otherwise, int64_t *number) {
    const arenaut_attribute *a = arenaut_op_attribute(op, name);
    *number = otherwise;
    if (!a) return true;
    if (a->text || a->n_numbers != n) return false;
    *number = a->numbers[index];
    return *number >= 0 && *number < INT32_MAX;
}

bool arn_nchw_has_rank(const arenaut_program *program, uint32_t tensor, uint32_t rank) {
    return tensor != ARENAUT_NONE && program->tensors[tensor].rank == rank;
}

uint32_t arn_nchw_rank(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old) {
    const uint32_t rank = arn_new_tensor(c, op->inputs[0])->rank;
    const bool is_image = rank >= LEAST_RANK && rank <= ARN_LABEL_RANK &&
                          arn_nchw_has_rank(c->before, old->inputs[0], rank) &&
                          arn_nchw_has_rank(c->before, old->outputs[0], rank) &&
                          arn_nchw_has_rank(c->after, op->outputs[0], rank);
    return is_image ? rank : 0;
}

/* ---- windows ---- */

/* The axes that the windows of an op go along. */
static uint32_t axes_of(const arn_rewrite_check *c, const arenaut_op *old) {
    return c->before->tensors[old->inputs[0]].rank - H;
}

/* The window of a convolution or a pool along an axis, by "kernel_shape", "strides", "dilations"
 * and the weights. False if they do not agree. */
static bool stencil_of(const arn_rewrite_check *c, const arenaut_op *old, bool pool, uint32_t axis,
                       arn_stencil *s) {
    const uint32_t k = axis - H, n = axes_of(c, old);
    const int64_t taps = pool ? 0 : c->before->tensors[old->inputs[1]].dims[axis];
    return arn_nchw_number(old, "kernel_shape", n, k, taps, &s->taps) &&
           arn_nchw_number(old, "strides", n, k, 1, &s->stride) &&
           arn_nchw_number(old, "dilations", n, k, 1, &s->spread) && s->taps > 0 && s->stride > 0 &&
           s->spread > 0 && (pool || s->taps == taps);
}

/* One of the axes of an image that has so many. */
typedef struct window_axis {
    uint32_t axis, axes;
} window_axis;

/* Padding in front of and behind an image of `in` rows, by "pads" or "auto_pad". False where ONNX
 * Runtime takes the latter otherwise than the standard has it. */
static bool padding_of(const arenaut_op *op, const arn_stencil *s, window_axis at, int64_t in,
                       int64_t *front, int64_t *behind) {
    const uint32_t k = at.axis - H;
    const arenaut_attribute *named = arenaut_op_attribute(op, "auto_pad");
    *front = *behind = 0;
    if (!named || (named->text && strcmp(named->text, "NOTSET") == 0)) {
        return arn_nchw_number(op, "pads", 2 * at.axes, k, 0, front) &&
               arn_nchw_number(op, "pads", 2 * at.axes, k + at.axes, 0, behind);
    }
    if (!named->text) return false;
    if (strcmp(named->text, "VALID") == 0) return true;
    const bool upper = strcmp(named->text, "SAME_UPPER") == 0;
    const int64_t out = (in + s->stride - 1) / s->stride;
    const int64_t missing = (out - 1) * s->stride + (s->taps - 1) * s->spread + 1 - in;
    const int64_t total = missing > 0 ? missing : 0;
    *front = upper ? total / 2 : total - total / 2;
    *behind = total - *front;
    if (s->spread != 1 || missing < -1) return false;
    return upper || strcmp(named->text, "SAME_LOWER") == 0;
}

/* The output rows of an image of `in` rows; 0 if they are not known. Where a window may end behind
 * the padding, elements there must count as nothing, as in the padding. */
static int64_t count_rows(const arenaut_op *op, const arn_stencil *s, window_axis axis, int64_t in,
                          int64_t *front) {
    int64_t behind, rounds_up, counts_padding;
    if (!padding_of(op, s, axis, in, front, &behind) ||
        !arn_nchw_number(op, "ceil_mode", 1, 0, 0, &rounds_up) ||
        !arn_nchw_number(op, "count_include_pad", 1, 0, 0, &counts_padding)) {
        return 0;
    }
    const int64_t left = in + *front + behind - (s->taps - 1) * s->spread - 1;
    if (left < 0) return 0;
    int64_t out = left / s->stride + 1;
    if (!rounds_up || left % s->stride == 0) return out;
    if (out * s->stride >= in + *front) return out;
    return counts_padding ? 0 : out + 1;
}

static arenaut_status follow_window_axis(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old, bool pool, uint32_t axis) {
    arn_stencil s;
    const uint32_t input = op->inputs[0], output = op->outputs[0];
    arn_window v = {.check = c, .input = input, .axis = axis, .s = &s, .zeroes_count = true};
    v.in = arn_new_tensor(c, input)->dims[axis];
    v.old_in = c->before->tensors[old->inputs[0]].dims[axis];
    if (!stencil_of(c, old, pool, axis, &s)) {
        return arn_rewrite_reject(c, "the windows of its kernel are not known");
    }
    const window_axis at = {axis, axes_of(c, old)};
    const int64_t out = count_rows(op, &s, at, v.in, &v.front);
    v.old_out = count_rows(old, &s, at, v.old_in, &v.old_front);
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
    return c->labels[image].tensor == old->inputs[0] && arn_nchw_rank(c, op, old) > 0 &&
           arn_axis_is_whole(c, image, C);
}

/* REJECTED unless the op reads a part of the old op's image, and its weights as a whole, and makes
 * all of its channels. */
static arenaut_status reads_parts(arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old,
                                  bool pool) {
    if (!arn_rewrite_reads_image(c, op, old)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    if (pool ? op->n_inputs != 1
             : op->n_inputs < 2 || op->inputs[1] == ARENAUT_NONE ||
                   !arn_nchw_has_rank(c->before, old->inputs[1], arn_nchw_rank(c, op, old)) ||
                   !arn_rewrite_are_whole(c, op, old, 1)) {
        return arn_rewrite_reject(c, "it has other weights than the old op");
    }
    const int64_t channels = c->before->tensors[old->outputs[0]].dims[C];
    if (arn_new_tensor(c, op->outputs[0])->dims[C] != channels) {
        return arn_rewrite_reject(c, "its result has other channels than its weights");
    }
    return ARENAUT_OK;
}

arenaut_status arn_rewrite_follow_nchw(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old, bool pool) {
    arenaut_status st = reads_parts(c, op, old, pool);
    if (st == ARENAUT_OK) st = arn_label_copy(c, op->inputs[0], op->outputs[0], 0);
    for (uint32_t axis = H; st == ARENAUT_OK && axis < arn_nchw_rank(c, op, old); axis++) {
        st = follow_window_axis(c, op, old, pool, axis);
    }
    return st;
}

arenaut_status arn_rewrite_follow_channels(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old) {
    if (!arn_rewrite_reads_image(c, op, old) || !arn_rewrite_are_whole(c, op, old, 1)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t axis = 0; axis < arn_nchw_rank(c, op, old) && st == ARENAUT_OK; axis++) {
        st = arn_label_copy(c, op->inputs[0], op->outputs[0], axis);
    }
    return st;
}

/* ---- margins ---- */

arenaut_status arn_rewrite_follow_margins(arn_rewrite_check *c, const arenaut_op *op,
                                          const arenaut_op *old, arn_margin_kind kind,
                                          const int64_t *pads, const int64_t *old_pads) {
    const uint32_t rank = arn_nchw_rank(c, op, old);
    arenaut_status st = ARENAUT_OK;
    if (!pads || !old_pads || rank == 0 || c->labels[op->inputs[0]].tensor != old->inputs[0] ||
        !arn_rewrite_are_whole(c, op, old, 2)) {
        return arn_rewrite_reject(c, "how much it pads is not known");
    }
    for (uint32_t axis = 0; axis < rank && st == ARENAUT_OK; axis++) {
        const arn_margin new_margin = {pads[axis], pads[rank + axis]};
        const arn_margin old_margin = {old_pads[axis], old_pads[rank + axis]};
        st = arn_rewrite_follow_margin(c, op, old, axis, kind, new_margin, old_margin);
    }
    return st;
}

/* ---- transposed convolutions ---- */

/* A row of the result, counted from the first row that any input is seen by, and the inputs that
 * see it: input i by tap row - i * stride. */
typedef struct up_view {
    const arn_rewrite_check *check;
    uint32_t input, axis;
    const arn_stencil *s;
    int64_t in, front, out;             /* of the new op; `front` rows are cut off */
    int64_t old_in, old_front, old_out; /* of the old one */
} up_view;

/* The input of a tap; OUTSIDE: it sees none. */
static int64_t input_of(const arn_stencil *s, int64_t in, int64_t row, int64_t tap) {
    const int64_t at = row - tap;
    if (at < 0 || at % s->stride != 0 || at / s->stride >= in) return ARN_PLACE_OUTSIDE;
    return at / s->stride;
}

static int64_t place_of_tap(const up_view *v, int64_t row, int64_t tap) {
    const int64_t at = input_of(v->s, v->in, row + v->front, tap);
    return at < 0 ? at : arn_label_place(v->check, v->input, v->axis, at);
}

static int64_t old_row_up(const up_view *v, int64_t row) {
    int64_t old = ARN_PLACE_UNKNOWN;
    for (int64_t tap = 0; tap < v->s->taps && old < 0; tap++) {
        const int64_t place = place_of_tap(v, row, tap);
        if (place >= 0) old = place * v->s->stride + tap - v->old_front;
    }
    if (old < 0 || old >= v->old_out) return ARN_PLACE_UNKNOWN;
    for (int64_t tap = 0; tap < v->s->taps; tap++) {
        const int64_t expected = input_of(v->s, v->old_in, old + v->old_front, tap);
        if (place_of_tap(v, row, tap) != expected) return ARN_PLACE_UNKNOWN;
    }
    return old;
}

/* The rows of the result; 0 if they are not known. */
static int64_t count_rows_up(const arenaut_op *op, const arn_stencil *s, window_axis at, int64_t in,
                             int64_t *front) {
    int64_t behind, extra;
    const arenaut_attribute *named = arenaut_op_attribute(op, "auto_pad");
    if (arenaut_op_attribute(op, "output_shape") ||
        (named && (!named->text || strcmp(named->text, "NOTSET") != 0)))
        return 0;
    if (!padding_of(op, s, at, in, front, &behind) ||
        !arn_nchw_number(op, "output_padding", at.axes, at.axis - H, 0, &extra) || s->spread != 1 ||
        in > INT32_MAX) {
        return 0;
    }
    return (in - 1) * s->stride + s->taps + extra - *front - behind;
}

static arenaut_status follow_up_axis(arn_rewrite_check *c, const arenaut_op *op,
                                     const arenaut_op *old, uint32_t axis) {
    arn_stencil s;
    const uint32_t input = op->inputs[0], output = op->outputs[0];
    up_view v = {.check = c, .input = input, .axis = axis, .s = &s};
    v.in = arn_new_tensor(c, input)->dims[axis];
    v.old_in = c->before->tensors[old->inputs[0]].dims[axis];
    if (!stencil_of(c, old, false, axis, &s)) {
        return arn_rewrite_reject(c, "the windows of its kernel are not known");
    }
    const window_axis at = {axis, axes_of(c, old)};
    v.out = count_rows_up(op, &s, at, v.in, &v.front);
    v.old_out = count_rows_up(old, &s, at, v.old_in, &v.old_front);
    if (v.out <= 0 || v.out != arn_new_tensor(c, output)->dims[axis] ||
        v.old_out != c->before->tensors[old->outputs[0]].dims[axis]) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    int64_t *place = arn_label_axis(c, v.out);
    if (!place) return arn_no_memory(c->err);
    for (int64_t row = 0; row < v.out; row++) place[row] = old_row_up(&v, row);
    c->labels[output].place[axis] = place;
    return ARENAUT_OK;
}

arenaut_status arn_rewrite_follow_transposed(arn_rewrite_check *c, const arenaut_op *op,
                                             const arenaut_op *old) {
    arenaut_status st = reads_parts(c, op, old, false);
    if (st == ARENAUT_OK) st = arn_label_copy(c, op->inputs[0], op->outputs[0], 0);
    for (uint32_t axis = H; st == ARENAUT_OK && axis < arn_nchw_rank(c, op, old); axis++) {
        st = follow_up_axis(c, op, old, axis);
    }
    return st;
}

/* ---- blocks of rows ---- */

/* Two places and how far the element is from the first one, in parts of 2 * up. */
typedef struct between {
    int64_t first, second, part;
} between;

static between look(const arn_blocks *b, int64_t in, int64_t i) {
    if (!b->linear) return (between){i / b->up, i / b->up, i % b->up};
    const int64_t unit = 2 * b->up, last = (in - 1) * unit;
    int64_t at = b->halves ? 2 * i + 1 - b->up : 2 * i;
    at = at < 0 ? 0 : at > last ? last : at;
    const int64_t first = at / unit;
    return (between){first, first + 1 < in ? first + 1 : first, at % unit};
}

/* The old element that is between the same places, in the same way. */
static int64_t old_of(const arn_rewrite_check *c, const arn_blocks *b, uint32_t input,
                      uint32_t axis, int64_t old_in, int64_t i) {
    const between now = look(b, arn_new_tensor(c, input)->dims[axis], i);
    const int64_t first = arn_label_place(c, input, axis, now.first);
    const int64_t second = arn_label_place(c, input, axis, now.second);
    if (first < 0 || second < 0) return ARN_PLACE_UNKNOWN;
    for (int64_t old = (first - 1) * b->up; old < (first + 2) * b->up; old++) {
        if (old < 0 || old >= old_in * b->up || (old - i) % b->up != 0) continue;
        const between then = look(b, old_in, old);
        if (then.first == first && then.second == second && then.part == now.part) return old;
    }
    return ARN_PLACE_UNKNOWN;
}

static arenaut_status follow_block_rows(arn_rewrite_check *c, const arenaut_op *op,
                                        const arenaut_op *old, const arn_blocks *b, uint32_t axis) {
    const uint32_t input = op->inputs[0], output = op->outputs[0];
    const int64_t in = arn_new_tensor(c, input)->dims[axis];
    const int64_t old_in = c->before->tensors[old->inputs[0]].dims[axis];
    const int64_t out = arn_new_tensor(c, output)->dims[axis];
    if (b->up <= 0 || b->up > INT16_MAX || in > INT32_MAX || old_in > INT32_MAX ||
        out != in * b->up || c->before->tensors[old->outputs[0]].dims[axis] != old_in * b->up) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    int64_t *place = arn_label_axis(c, out);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < out; i++) place[i] = old_of(c, b, input, axis, old_in, i);
    c->labels[output].place[axis] = place;
    return ARENAUT_OK;
}

/* Whether the op has an axis of its result, and its image, as long as the old op has them. */
static bool is_as_long(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old,
                       uint32_t axis) {
    return arn_axis_is_whole(c, op->inputs[0], axis) &&
           arn_new_tensor(c, op->outputs[0])->dims[axis] ==
               c->before->tensors[old->outputs[0]].dims[axis];
}

/* All axes but those of rows and channels are. */
static bool has_whole_rows(const arn_rewrite_check *c, const arenaut_op *op,
                           const arenaut_op *old) {
    bool whole = is_as_long(c, op, old, 0);
    for (uint32_t axis = H + 1; axis < arn_nchw_rank(c, op, old) && whole; axis++) {
        whole = is_as_long(c, op, old, axis);
    }
    return whole;
}

arenaut_status arn_rewrite_follow_blocks(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old, const arn_blocks *b) {
    if (!arn_rewrite_reads_image(c, op, old)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    if (!has_whole_rows(c, op, old) ||
        c->before->tensors[old->outputs[0]].dims[C] != arn_new_tensor(c, op->outputs[0])->dims[C]) {
        return arn_rewrite_reject(c, "it makes blocks of a part of its rows");
    }
    return follow_block_rows(c, op, old, b, H);
}

/* Rows of blocks: a window without gaps or padding. */
arenaut_status arn_rewrite_follow_unblocks(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old, int64_t down) {
    const arn_stencil s = {down, down, 1};
    const uint32_t input = op->inputs[0];
    arn_window v = {.check = c, .input = input, .axis = H, .s = &s, .zeroes_count = true};
    if (!arn_rewrite_reads_image(c, op, old) || arn_nchw_rank(c, op, old) != OF_TWO_AXES ||
        op->n_inputs != 1 || down <= 0) {
        return arn_rewrite_reject(c, "the blocks that it takes are not known");
    }
    v.in = arn_new_tensor(c, input)->dims[H];
    v.old_in = c->before->tensors[old->inputs[0]].dims[H];
    v.old_out = v.old_in / down;
    const int64_t out = arn_new_tensor(c, op->outputs[0])->dims[H];
    if (!has_whole_rows(c, op, old) || !is_as_long(c, op, old, C) || v.in != out * down ||
        v.old_out * down != v.old_in || c->before->tensors[old->outputs[0]].dims[H] != v.old_out) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    return arn_label_windows(c, &v, op->outputs[0], out);
}

arenaut_status arn_rewrite_follow_slice(arn_rewrite_check *c, const arenaut_op *op, int64_t begin,
                                        int64_t end, int64_t axis) {
    const uint32_t from = op->inputs[0], to = op->outputs[0];
    const arenaut_tensor *in = arn_new_tensor(c, from), *out = arn_new_tensor(c, to);
    if (axis < 0 || axis >= in->rank || begin < 0 || end <= begin || end > in->dims[axis] ||
        out->dims[axis] != end - begin) {
        return arn_rewrite_reject(c, "it takes elements outside of its operand");
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < in->rank && st == ARENAUT_OK; i++) {
        if ((int64_t)i != axis) st = arn_label_copy(c, from, to, i);
    }
    int64_t *place = arn_label_axis(c, end - begin);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = begin; i < end; i++) {
        place[i - begin] = arn_label_place(c, from, (uint32_t)axis, i);
    }
    c->labels[to].place[axis] = place;
    return st;
}
