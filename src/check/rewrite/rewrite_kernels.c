/* Transfer functions on labels: the ops of a rewritten program that do a part of an old one (row
 * and channel tiles, with halo), and those that only move data. Each output element must have, in
 * its window, exactly the elements that some element of the old output had in its own: then it is
 * that element, and the same bits, since one kernel computes both. All other elements are unknown;
 * that is no mistake, as long as nothing uses them. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/rewrite_labels.h"

enum { H = 1, W = 2, C = 3, RANK = 4 };

enum rule { WINDOW, POOL, PADDER, JOINER, BY_ELEMENT };

static const arn_rewrite_row rows[] = {
    {"CONV_2D", WINDOW},
    {"DEPTHWISE_CONV_2D", WINDOW},
    {"AVERAGE_POOL_2D", POOL},
    {"MAX_POOL_2D", POOL},
    {"PAD", PADDER},
    {"PADV2", PADDER},
    {"MIRROR_PAD", PADDER},
    {"CONCATENATION", JOINER},
    {"ADD", BY_ELEMENT},
    {"SUB", BY_ELEMENT},
    {"MUL", BY_ELEMENT},
    {"DIV", BY_ELEMENT},
    {"MINIMUM", BY_ELEMENT},
    {"MAXIMUM", BY_ELEMENT},
    {"SQUARED_DIFFERENCE", BY_ELEMENT},
    {"PRELU", BY_ELEMENT},
    {"RELU", BY_ELEMENT},
    {"RELU6", BY_ELEMENT},
    {"LEAKY_RELU", BY_ELEMENT},
    {"HARD_SWISH", BY_ELEMENT},
    {"LOGISTIC", BY_ELEMENT},
    {"TANH", BY_ELEMENT},
    {"ABS", BY_ELEMENT},
    {"NEG", BY_ELEMENT},
    {"QUANTIZE", BY_ELEMENT},
    {"DEQUANTIZE", BY_ELEMENT},
};

/* ---- windows ---- */

static bool take_number(const arenaut_op *op, const char *name, uint32_t index, int64_t *number) {
    const arenaut_attribute *a = arenaut_op_attribute(op, name);
    if (!a || a->text || a->n_numbers != 2 || a->numbers[index] <= 0) return false;
    *number = a->numbers[index];
    return *number < INT32_MAX;
}

static bool take_stencil(const arn_rewrite_check *c, const arenaut_op *old, bool pool,
                         uint32_t axis, arn_stencil *s) {
    s->spread = 1;
    if (arenaut_op_attribute(old, "dilations") &&
        !take_number(old, "dilations", axis - H, &s->spread))
        return false;
    if (!take_number(old, "strides", axis - H, &s->stride)) return false;
    if (pool) return take_number(old, "filter", axis - H, &s->taps);
    s->taps = c->before->tensors[old->inputs[1]].dims[axis];
    return s->taps > 0 && s->taps < INT32_MAX;
}

/* The output rows of an image of `in` rows by the rules of TFLite, and the rows of padding in
 * front. False if there are none. */
static bool apply_padding(const arenaut_op *op, const arn_stencil *s, int64_t in, int64_t *out,
                          int64_t *front) {
    const arenaut_attribute *padding = arenaut_op_attribute(op, "padding");
    const int64_t span = (s->taps - 1) * s->spread + 1;
    if (!padding || !padding->text) return false;
    if (strcmp(padding->text, "VALID") == 0) {
        *front = 0;
        *out = in < span ? 0 : (in - span) / s->stride + 1;
    } else if (strcmp(padding->text, "SAME") == 0) {
        *out = (in + s->stride - 1) / s->stride;
        const int64_t missing = (*out - 1) * s->stride + span - in;
        *front = missing > 0 ? missing / 2 : 0;
    } else {
        return false;
    }
    return *out > 0;
}

/* Whether any factor times zero is zero: whole numbers, and floating point that is known to be
 * finite, or made of such a constant by an op that only changes its type. */
static bool zeroes_vanish(const arn_rewrite_check *c, const arenaut_op *old) {
    const arenaut_program *p = c->before;
    uint32_t weights = old->inputs[1];
    if (p->tensors[weights].dtype < ARENAUT_DTYPE_FLOAT4) return true;
    for (uint32_t i = 0; i < p->n_ops && p->tensors[weights].cls != ARENAUT_CONSTANT; i++) {
        const arenaut_op *op = &p->ops[i];
        if (op->n_outputs != 1 || op->outputs[0] != weights) continue;
        const bool widens = op->name && strcmp(op->name, "DEQUANTIZE") == 0;
        if (!widens || op->n_inputs != 1 || op->inputs[0] == ARENAUT_NONE) return false;
        weights = op->inputs[0];
        break;
    }
    return p->tensors[weights].cls == ARENAUT_CONSTANT && p->tensors[weights].finite;
}

static arenaut_status follow_window_axis(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old, bool pool, uint32_t axis) {
    arn_stencil s;
    const uint32_t input = op->inputs[0], output = op->outputs[0];
    arn_window v = {.check = c, .input = input, .axis = axis, .s = &s};
    int64_t out;
    v.zeroes_count = pool || !zeroes_vanish(c, old);
    v.in = arn_new_tensor(c, input)->dims[axis];
    v.old_in = c->before->tensors[old->inputs[0]].dims[axis];
    if (!take_stencil(c, old, pool, axis, &s) || !apply_padding(op, &s, v.in, &out, &v.front) ||
        !apply_padding(old, &s, v.old_in, &v.old_out, &v.old_front)) {
        return arn_rewrite_reject(c, "the windows of its kernel are not known");
    }
    if (out != arn_new_tensor(c, output)->dims[axis] ||
        v.old_out != c->before->tensors[old->outputs[0]].dims[axis]) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    return arn_label_windows(c, &v, output, out);
}

/* Whether weights and bias lie by output channel along the same axis. */
static bool operands_agree(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old,
                           bool depthwise) {
    const uint32_t image = op->inputs[0], weights = op->inputs[1];
    const uint32_t bias = op->n_inputs > 2 ? op->inputs[2] : ARENAUT_NONE;
    const uint32_t channels = depthwise ? C : 0;
    for (uint32_t axis = 0; axis <= C; axis++) {
        if (axis != channels && !arn_axis_is_whole(c, weights, axis)) return false;
    }
    if (bias != ARENAUT_NONE &&
        (c->labels[bias].tensor != old->inputs[2] || arn_new_tensor(c, bias)->rank != 1 ||
         !arn_labels_agree(c, bias, 0, weights, channels))) {
        return false;
    }
    const bool whole = arn_axis_is_whole(c, weights, channels) && arn_axis_is_whole(c, image, C);
    return depthwise ? whole || arn_labels_agree(c, image, C, weights, C)
                     : arn_axis_is_whole(c, image, C);
}

/* The result's channels are those of the weights. A channel of a depthwise convolution may make
 * several, and one of a convolution in groups sees those of its group; then it is whole. */
static arenaut_status follow_channels(arn_rewrite_check *c, const arenaut_op *op,
                                      const arenaut_op *old) {
    const bool depthwise = strcmp(op->name, "DEPTHWISE_CONV_2D") == 0;
    const uint32_t weights = op->inputs[1], axis = depthwise ? C : 0;
    const arenaut_tensor *made = arn_new_tensor(c, op->outputs[0]);
    const arenaut_tensor *image = &c->before->tensors[old->inputs[0]];
    const arenaut_tensor *kernel = &c->before->tensors[old->inputs[1]];
    if (kernel->dtype != image->dtype) {
        return arn_rewrite_reject(c, "its weights are of another type than its image");
    }
    if (!operands_agree(c, op, old, depthwise)) {
        return arn_rewrite_reject(c, "its weights are not those of its channels");
    }
    /* Which channels of the image an output channel sees may depend on how many there are. */
    const bool several = kernel->dims[C] != image->dims[C];
    if (made->dims[C] != arn_new_tensor(c, weights)->dims[axis] ||
        (several && !arn_axis_is_whole(c, weights, axis))) {
        return arn_rewrite_reject(c, "its result has other channels than its weights");
    }
    int64_t *place = arn_label_axis(c, made->dims[C]);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < made->dims[C]; i++) place[i] = arn_label_place(c, weights, axis, i);
    c->labels[op->outputs[0]].place[C] = place;
    return ARENAUT_OK;
}

static bool has_rank(const arenaut_program *program, uint32_t tensor, uint32_t rank) {
    return tensor != ARENAUT_NONE && program->tensors[tensor].rank == rank;
}

static arenaut_status follow_window(arn_rewrite_check *c, const arenaut_op *op,
                                    const arenaut_op *old, bool pool) {
    const uint32_t image = op->inputs[0];
    if (c->labels[image].tensor != old->inputs[0] || op->n_inputs > 3 ||
        !has_rank(c->after, image, RANK) || !arn_axis_is_whole(c, image, 0) ||
        !has_rank(c->after, op->outputs[0], RANK)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    if (!pool && (op->n_inputs < 2 || op->inputs[1] == ARENAUT_NONE ||
                  c->labels[op->inputs[1]].tensor != old->inputs[1] ||
                  !has_rank(c->before, old->inputs[1], RANK))) {
        return arn_rewrite_reject(c, "it has other weights than the old op");
    }
    arenaut_status st = arn_label_copy(c, image, op->outputs[0], 0);
    if (st == ARENAUT_OK) st = follow_window_axis(c, op, old, pool, H);
    if (st == ARENAUT_OK) st = follow_window_axis(c, op, old, pool, W);
    if (st != ARENAUT_OK) return st;
    return pool ? arn_label_copy(c, image, op->outputs[0], C) : follow_channels(c, op, old);
}

/* ---- padding of the model ---- */

static const int64_t *paddings(const arenaut_program *program, const arenaut_op *op) {
    const arenaut_tensor *t =
        op->n_inputs > 1 && op->inputs[1] != ARENAUT_NONE ? &program->tensors[op->inputs[1]] : NULL;
    return t && t->cls == ARENAUT_CONSTANT && t->values && t->n_values == 2 * RANK ? t->values
                                                                                   : NULL;
}

static bool shows_in_reverse(arn_margin_kind kind) {
    return kind == ARN_MARGIN_REFLECTION || kind == ARN_MARGIN_SYMMETRY;
}

/* An element, and the one that is shown in its stead by a mirror at `edge`: each stands for the
 * other. `beyond` is below 0 on the side in front of the image. */
static int64_t mirrored(arn_margin_kind kind, int64_t edge, int64_t beyond, int64_t at) {
    const int64_t apart = kind == ARN_MARGIN_SYMMETRY ? (beyond < 0 ? -1 : 1) : 0;
    return 2 * edge - at + apart;
}

/* The element of the old image, or past an end of it, with which the margin of the new one shows
 * the same beyond its edge. False if there is none, or it is not known. */
static bool place_beyond(arn_margin_kind kind, int64_t beyond, int64_t from, int64_t old_in,
                         int64_t *old_at) {
    const int64_t old_edge = beyond < 0 ? 0 : old_in - 1;
    *old_at = shows_in_reverse(kind) ? mirrored(kind, old_edge, beyond, from) : from + beyond;
    if (kind == ARN_MARGIN_EDGE) return from == old_edge;
    return shows_in_reverse(kind) || *old_at < 0 || *old_at >= old_in;
}

/* Of an axis of `in` elements that becomes `out`. No more is shown in reverse than is there. */
static bool margin_fits(arn_margin_kind kind, arn_margin margin, int64_t in, int64_t out) {
    const int64_t most = kind == ARN_MARGIN_SYMMETRY ? in : in - 1;
    if (margin.before < 0 || margin.after < 0 || margin.before > out || in <= 0) return false;
    if (out - margin.before - in != margin.after) return false;
    return !shows_in_reverse(kind) || (margin.before <= most && margin.after <= most);
}

arenaut_status arn_rewrite_follow_margin(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old, uint32_t axis, arn_margin_kind kind,
                                         arn_margin margin, arn_margin old_margin) {
    const int64_t in = arn_new_tensor(c, op->inputs[0])->dims[axis];
    const int64_t old_in = c->before->tensors[old->inputs[0]].dims[axis];
    const int64_t out = arn_new_tensor(c, op->outputs[0])->dims[axis];
    if (!margin_fits(kind, margin, in, out)) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    int64_t *place = arn_label_axis(c, out);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < out; i++) {
        const int64_t at = i - margin.before;
        const int64_t edge = at < 0 ? 0 : at >= in ? in - 1 : at, beyond = at - edge;
        const int64_t shown =
            beyond != 0 && shows_in_reverse(kind) ? mirrored(kind, edge, beyond, at) : edge;
        const int64_t from = arn_label_place(c, op->inputs[0], axis, shown);
        int64_t old_at = from;
        const bool known = from >= 0 &&
                           (beyond == 0 || place_beyond(kind, beyond, from, old_in, &old_at)) &&
                           old_at + old_margin.before >= 0 && old_at < old_in + old_margin.after;
        place[i] = known ? old_at + old_margin.before : ARN_PLACE_UNKNOWN;
    }
    c->labels[op->outputs[0]].place[axis] = place;
    return ARENAUT_OK;
}

/* The content of a padding; false if a MIRROR_PAD does not state its own. */
static bool take_margin(const arenaut_op *op, arn_margin_kind *kind) {
    *kind = ARN_MARGIN_VALUE;
    if (strcmp(op->name, "MIRROR_PAD") != 0) return true;
    const arenaut_attribute *mode = arenaut_op_attribute(op, "mode");
    if (!mode || !mode->text) return false;
    const bool symmetric = strcmp(mode->text, "SYMMETRIC") == 0;
    *kind = symmetric ? ARN_MARGIN_SYMMETRY : ARN_MARGIN_REFLECTION;
    return symmetric || strcmp(mode->text, "REFLECT") == 0;
}

static arenaut_status follow_padder(arn_rewrite_check *c, const arenaut_op *op,
                                    const arenaut_op *old) {
    arenaut_status st = ARENAUT_OK;
    arn_margin_kind kind, old_kind;
    if (!take_margin(op, &kind) || !take_margin(old, &old_kind) || kind != old_kind) {
        return arn_rewrite_reject(c, "the elements that it pads with are not known");
    }
    if (!paddings(c->after, op) || !paddings(c->before, old) ||
        !has_rank(c->after, op->inputs[0], RANK) || !has_rank(c->after, op->outputs[0], RANK) ||
        c->labels[op->inputs[0]].tensor != old->inputs[0]) {
        return arn_rewrite_reject(c, "how much it pads is not known");
    }
    for (uint32_t i = 2; i < op->n_inputs; i++) {
        if (op->inputs[i] == ARENAUT_NONE ? old->inputs[i] != ARENAUT_NONE
                                          : !arn_label_is_whole(c, op->inputs[i], old->inputs[i])) {
            return arn_rewrite_reject(c, "it pads with another value");
        }
    }
    const int64_t *pads = paddings(c->after, op), *old_pads = paddings(c->before, old);
    for (uint32_t axis = 0; axis < RANK && st == ARENAUT_OK; axis++) {
        const arn_margin margin = {pads[2 * axis], pads[2 * axis + 1]};
        const arn_margin old_margin = {old_pads[2 * axis], old_pads[2 * axis + 1]};
        st = arn_rewrite_follow_margin(c, op, old, axis, kind, margin, old_margin);
    }
    return st;
}

/* ---- element by element ---- */

/* An operand's axis that lies under axis `axis` of the result, from the last backward; NONE: the
 * operand has none there. */
static uint32_t under(uint32_t rank, uint32_t result_rank, uint32_t axis) {
    return axis + rank < result_rank ? ARENAUT_NONE : axis + rank - result_rank;
}

/* The origin of the result's elements along an axis, by the first operand that is as long as the
 * old result; the others must agree, or be repeated along all of it. */
static arenaut_status follow_element_axis(arn_rewrite_check *c, const arenaut_op *op,
                                          const arenaut_op *old, uint32_t axis) {
    const uint32_t to = op->outputs[0];
    const arenaut_tensor *made = &c->before->tensors[old->outputs[0]];
    int64_t *place = arn_label_axis(c, arn_new_tensor(c, to)->dims[axis]);
    bool known = false;
    if (!place) return arn_no_memory(c->err);
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        const uint32_t from = op->inputs[k];
        if (from == ARENAUT_NONE) continue;
        const arenaut_tensor *in = &c->before->tensors[old->inputs[k]];
        const uint32_t own = under(in->rank, made->rank, axis);
        if (own == ARENAUT_NONE) continue;
        if (in->dims[own] != made->dims[axis]) {
            if (in->dims[own] == 1 && arn_axis_is_whole(c, from, own)) continue;
            return arn_rewrite_reject(c, "an operand is repeated in another way");
        }
        if (arn_new_tensor(c, from)->dims[own] != arn_new_tensor(c, to)->dims[axis]) {
            return arn_rewrite_reject(c, "its operands have other sizes than its result");
        }
        for (int64_t i = 0; i < arn_new_tensor(c, to)->dims[axis]; i++) {
            const int64_t at = arn_label_place(c, from, own, i);
            if (!known) place[i] = at < 0 ? ARN_PLACE_UNKNOWN : at;
            else if (place[i] != at) place[i] = ARN_PLACE_UNKNOWN;
        }
        known = true;
    }
    if (!known) return arn_rewrite_reject(c, "none of its operands is as large as its result");
    c->labels[to].place[axis] = place;
    return ARENAUT_OK;
}

arenaut_status arn_rewrite_follow_elements(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old) {
    const uint32_t rank = c->before->tensors[old->outputs[0]].rank;
    arenaut_status st = ARENAUT_OK;
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE && old->inputs[k] == ARENAUT_NONE) continue;
        if (op->inputs[k] == ARENAUT_NONE || old->inputs[k] == ARENAUT_NONE ||
            c->labels[op->inputs[k]].tensor != old->inputs[k] ||
            c->before->tensors[old->inputs[k]].rank > rank) {
            return arn_rewrite_reject(c, "it does not read the operands of the old op");
        }
    }
    for (uint32_t axis = 0; axis < rank && st == ARENAUT_OK; axis++) {
        st = follow_element_axis(c, op, old, axis);
    }
    return st;
}

/* ---- concatenation of the model ---- */

arenaut_status arn_rewrite_follow_joiner(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old) {
    const arenaut_attribute *a = arenaut_op_attribute(op, "axis");
    const uint32_t first = op->inputs[0], to = op->outputs[0];
    const uint32_t rank = c->before->tensors[old->outputs[0]].rank;
    if (!a || a->n_numbers != 1 || a->text) return arn_rewrite_reject(c, "its axis is not known");
    const int64_t axis = a->numbers[0] < 0 ? a->numbers[0] + rank : a->numbers[0];
    if (axis < 0 || axis >= (int64_t)rank) return arn_rewrite_reject(c, "its axis is not known");
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        if (op->inputs[k] == ARENAUT_NONE || c->labels[op->inputs[k]].tensor != old->inputs[k] ||
            !has_rank(c->after, op->inputs[k], rank) ||
            !arn_axis_is_whole(c, op->inputs[k], (uint32_t)axis)) {
            return arn_rewrite_reject(c, "it does not put together the parts of the old op");
        }
        for (uint32_t i = 0; i < rank; i++) {
            if (i == (uint32_t)axis || arn_labels_agree(c, first, i, op->inputs[k], i)) continue;
            return arn_rewrite_reject(c, "its parts do not lie side by side");
        }
    }
    if (arn_new_tensor(c, to)->dims[axis] != c->before->tensors[old->outputs[0]].dims[axis]) {
        return arn_rewrite_reject(c, "its result is not as long as its parts");
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t i = 0; i < rank && st == ARENAUT_OK; i++) {
        if (i != (uint32_t)axis) st = arn_label_copy(c, first, to, i);
    }
    return st;
}

/* ---- */

static arenaut_status follow_part(arn_rewrite_check *c, int rule, const arenaut_op *op,
                                  const arenaut_op *old) {
    switch ((enum rule)rule) {
        case WINDOW:
        case POOL: return follow_window(c, op, old, rule == POOL);
        case PADDER: return follow_padder(c, op, old);
        case JOINER: return arn_rewrite_follow_joiner(c, op, old);
        case BY_ELEMENT: return arn_rewrite_follow_elements(c, op, old);
    }
    return arn_rewrite_reject(c, "the result of a part of it is not known");
}

arenaut_status arn_rewrite_follow_part(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old) {
    const arn_rewrite_row *row = arn_rewrite_row_find(c->rules, op->name);
    if (!row || op->n_outputs != 1 || op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE ||
        op->outputs[0] == ARENAUT_NONE || old->outputs[0] == ARENAUT_NONE) {
        return arn_rewrite_reject(c, "the result of a part of it is not known");
    }
    const arenaut_status st = arn_label_begin(c, op->outputs[0], old->outputs[0]);
    if (st != ARENAUT_OK) return st;
    if (arn_new_tensor(c, op->outputs[0])->rank > ARN_LABEL_RANK) {
        return arn_rewrite_reject(c, "its result has more axes than are followed");
    }
    return c->rules->follow_part(c, row->rule, op, old);
}

/* ---- ops that only move data ---- */

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
            return arn_rewrite_reject(c, "it takes elements outside of its operand");
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

/* The axis of a concatenation: that of the op, counted from the first. */
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

arenaut_status arn_rewrite_follow_join(arn_rewrite_check *c, const arenaut_op *op) {
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

arenaut_status arn_rewrite_begin_move(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t of = c->labels[op->inputs[0]].tensor;
    if (of == ARENAUT_NONE || arn_new_tensor(c, op->inputs[0])->rank > ARN_LABEL_RANK) {
        return arn_rewrite_reject(c, "it moves a tensor that no op has made, or of too many axes");
    }
    return arn_label_begin(c, op->outputs[0], of);
}

static arenaut_status follow_move(arn_rewrite_check *c, const arenaut_op *op) {
    static const struct {
        const char *name;
        arenaut_status (*follow)(arn_rewrite_check *, const arenaut_op *);
    } movers[] = {
        {"SLICE", follow_slice}, {"PAD", follow_pad}, {"CONCATENATION", arn_rewrite_follow_join}};
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
        if (!op->name || strcmp(op->name, movers[i].name) != 0) continue;
        const arenaut_status st = arn_rewrite_begin_move(c, op);
        return st == ARENAUT_OK ? movers[i].follow(c, op) : st;
    }
    return arn_rewrite_reject(c, "it is no op that moves data");
}

arenaut_status arn_rewrite_follow_move(arn_rewrite_check *c, const arenaut_op *op) {
    if (op->kind != c->rules->kind || op->n_inputs == 0 || op->n_outputs != 1 ||
        op->inputs[0] == ARENAUT_NONE || op->outputs[0] == ARENAUT_NONE) {
        return arn_rewrite_reject(c, "it moves no data");
    }
    return c->rules->follow_move(c, op);
}

/* ---- dialects ---- */

static const arn_rewrite_rules tflite = {
    NULL, true, ARENAUT_OP_OUT, rows, sizeof rows / sizeof *rows, follow_part, follow_move};
extern const arn_rewrite_rules arn_rewrite_onnx, arn_rewrite_aten;
static const arn_rewrite_rules *const dialects[] = {&tflite, &arn_rewrite_onnx, &arn_rewrite_aten};

const arn_rewrite_rules *arn_rewrite_rules_find(const char *dialect) {
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        const char *name = dialects[i]->dialect;
        if (name == dialect || (name && dialect && strcmp(name, dialect) == 0)) return dialects[i];
    }
    return NULL;
}

const arn_rewrite_row *arn_rewrite_row_find(const arn_rewrite_rules *rules, const char *name) {
    for (size_t i = 0; name && i < rules->n_rows; i++) {
        if (strcmp(rules->rows[i].name, name) == 0) return &rules->rows[i];
    }
    return NULL;
}
