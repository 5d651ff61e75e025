/* Transfer functions on labels of ONNX's operators, on images NCHW, signals and volumes: parts of
 * convolutions and pools, each with padding of its own, ops element by element, and Slice and
 * Concat. A Slice may begin at a number that ops compute: then these are followed, too. They come
 * from one element of some tensor: the greatest element of a list of one lies at 0, and sums of
 * known numbers are known. */
#include <string.h>

#include <arenaut/dialect.h>

#include "check/finding.h"
#include "check/rewrite/rewrite_nchw.h"

enum { H = 2, OF_TWO_AXES = 4, MOST_EXACT = 1 << 20 }; /* places in single precision, halves too */

enum rule {
    CONVOLUTION,
    TRANSPOSED,
    POOL,
    PADDER,
    RESIZER,
    SHUFFLER,
    UNSHUFFLER,
    NORMALIZATION,
    JOINER,
    AVERAGE,
    GREATEST,
    SOFTMAX,
    LAYER,
    WHOLE, /* no part of it is followed */
    BY_ELEMENT
};

/* Axes [first, end). */
typedef struct arn_along {
    int64_t first, end;
} arn_along;

static const arn_rewrite_row rows[] = {
    {"Conv", CONVOLUTION},
    {"ConvTranspose", TRANSPOSED},
    {"Pad", PADDER},
    {"Resize", RESIZER},
    {"DepthToSpace", SHUFFLER},
    {"SpaceToDepth", UNSHUFFLER},
    {"MaxPool", POOL},
    {"AveragePool", POOL},
    {"BatchNormalization", NORMALIZATION},
    {"Concat", JOINER},
    {"Softmax", SOFTMAX},
    {"LogSoftmax", SOFTMAX},
    {"LayerNormalization", LAYER},
    {"Reshape", WHOLE},
    {"InstanceNormalization", WHOLE},
    {"GroupNormalization", WHOLE},
    {"GlobalAveragePool", AVERAGE},
    {"ReduceMean", AVERAGE},
    {"GlobalMaxPool", GREATEST},
    {"ReduceMax", GREATEST},
    {"Add", BY_ELEMENT},
    {"Sub", BY_ELEMENT},
    {"Mul", BY_ELEMENT},
    {"Div", BY_ELEMENT},
    {"Pow", BY_ELEMENT},
    {"Max", BY_ELEMENT},
    {"Min", BY_ELEMENT},
    {"Relu", BY_ELEMENT},
    {"Clip", BY_ELEMENT},
    {"LeakyRelu", BY_ELEMENT},
    {"PRelu", BY_ELEMENT},
    {"ThresholdedRelu", BY_ELEMENT},
    {"Sigmoid", BY_ELEMENT},
    {"HardSigmoid", BY_ELEMENT},
    {"HardSwish", BY_ELEMENT},
    {"Tanh", BY_ELEMENT},
    {"Exp", BY_ELEMENT},
    {"Erf", BY_ELEMENT},
    {"Gelu", BY_ELEMENT},
    {"Abs", BY_ELEMENT},
    {"Neg", BY_ELEMENT},
    {"Sqrt", BY_ELEMENT},
    {"Reciprocal", BY_ELEMENT},
    {"Softsign", BY_ELEMENT},
    {"Floor", BY_ELEMENT},
    {"Ceil", BY_ELEMENT},
    {"Round", BY_ELEMENT},
    {"Log", BY_ELEMENT},
    {"Softplus", BY_ELEMENT},
    {"Mish", BY_ELEMENT},
    {"Elu", BY_ELEMENT},
    {"Selu", BY_ELEMENT},
    {"Celu", BY_ELEMENT},
    {"Sin", BY_ELEMENT},
    {"Cos", BY_ELEMENT},
    {"Atan", BY_ELEMENT},
};

/* ---- resizing ---- */

static bool says(const arenaut_op *op, const char *name, const char *otherwise, const char *word) {
    const arenaut_attribute *a = arenaut_op_attribute(op, name);
    return strcmp(a && a->text ? a->text : otherwise, word) == 0;
}

/* Modes in which an element's place has no rounding errors: rows shown several times, and rows
 * between two others where each becomes a power of two. */
static bool take_mode(const arenaut_op *op, arn_blocks *b) {
    static const char coordinate[] = "coordinate_transformation_mode", half[] = "half_pixel";
    static const char floor[] = "round_prefer_floor";
    const bool asymmetric = says(op, coordinate, half, "asymmetric");
    const bool halves = says(op, coordinate, half, half);
    if (says(op, "mode", "nearest", "nearest")) {
        const bool prefers = says(op, "nearest_mode", floor, floor);
        return b->up <= 8 && ((halves && prefers) || (asymmetric && prefers && b->up == 2) ||
                              (asymmetric && says(op, "nearest_mode", floor, "floor")));
    }
    b->linear = true;
    b->halves = halves || says(op, coordinate, half, "pytorch_half_pixel");
    return says(op, "mode", "nearest", "linear") && (b->halves || asymmetric) && b->up > 1 &&
           b->up <= 64 && (b->up & (b->up - 1)) == 0;
}

static bool holds_float(const arenaut_tensor *list, uint32_t i, double wanted) {
    double number;
    memcpy(&number, &list->values[i], sizeof number);
    return number == wanted;
}

static bool is_missing(const arenaut_program *program, const arenaut_op *op, uint32_t i) {
    return i >= op->n_inputs || op->inputs[i] == ARENAUT_NONE ||
           (program->tensors[op->inputs[i]].cls == ARENAUT_CONSTANT &&
            program->tensors[op->inputs[i]].bytes == 0);
}

/* These are the scales by which the old op's sizes are whole multiples of its image's. */
static bool are_ratios(const arn_rewrite_check *c, const arenaut_tensor *scales,
                       const arenaut_op *old) {
    const arenaut_tensor *in = &c->before->tensors[old->inputs[0]];
    const arenaut_tensor *out = &c->before->tensors[old->outputs[0]];
    bool are = !is_missing(c->before, old, 3) && is_missing(c->before, old, 2);
    for (uint32_t axis = 0; axis < in->rank && are; axis++) {
        const int64_t times = out->dims[axis] / in->dims[axis];
        are = times * in->dims[axis] == out->dims[axis] && holds_float(scales, axis, (double)times);
    }
    return are;
}

/* The new op scales by the old factors: of heights a whole one. */
static bool scales_alike(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old,
                         int64_t up) {
    int64_t antialias;
    if (!is_missing(c->after, op, 1) || is_missing(c->after, op, 2) ||
        !is_missing(c->after, op, 3) || arenaut_op_attribute(op, "axes") ||
        !arn_nchw_number(op, "antialias", 1, 0, 0, &antialias) || antialias != 0 ||
        !says(op, "keep_aspect_ratio_policy", "stretch", "stretch")) {
        return false;
    }
    const arenaut_tensor *scales = &c->after->tensors[op->inputs[2]];
    if (scales->cls != ARENAUT_CONSTANT || scales->dtype != ARENAUT_DTYPE_FLOAT32 ||
        scales->n_values != c->before->tensors[old->inputs[0]].rank || !scales->values) {
        return false;
    }
    return is_missing(c->before, old, 2) ? are_ratios(c, scales, old)
                                         : arn_label_is_whole(c, op->inputs[2], old->inputs[2]) &&
                                               holds_float(scales, H, (double)up);
}

static arenaut_status follow_resizer(arn_rewrite_check *c, const arenaut_op *op,
                                     const arenaut_op *old) {
    if (!arn_rewrite_reads_image(c, op, old)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    const int64_t old_in = c->before->tensors[old->inputs[0]].dims[H];
    const int64_t old_out = c->before->tensors[old->outputs[0]].dims[H];
    arn_blocks b = {.up = old_out / old_in};
    if (!take_mode(op, &b) || !scales_alike(c, op, old, b.up) || old_out > MOST_EXACT) {
        return arn_rewrite_reject(c, "how it resizes its image is not known");
    }
    return arn_rewrite_follow_blocks(c, op, old, &b);
}

static arenaut_status follow_shuffler(arn_rewrite_check *c, const arenaut_op *op,
                                      const arenaut_op *old) {
    arn_blocks b = {.up = 0};
    if (op->n_inputs != 1 || arn_nchw_rank(c, op, old) != OF_TWO_AXES ||
        !arn_nchw_number(op, "blocksize", 1, 0, 0, &b.up)) {
        return arn_rewrite_reject(c, "the blocks that it makes are not known");
    }
    return arn_rewrite_follow_blocks(c, op, old, &b);
}

static arenaut_status follow_unshuffler(arn_rewrite_check *c, const arenaut_op *op,
                                        const arenaut_op *old) {
    int64_t down;
    if (!arn_nchw_number(op, "blocksize", 1, 0, 0, &down)) {
        return arn_rewrite_reject(c, "the blocks that it takes are not known");
    }
    return arn_rewrite_follow_unblocks(c, op, old, down);
}

/* ---- padding of the model ---- */

/* In front of and behind each dimension; NULL: it is not known. */
static const int64_t *pads_of(const arenaut_program *program, const arenaut_op *op, uint32_t rank) {
    const arenaut_tensor *t =
        op->n_inputs > 1 && op->inputs[1] != ARENAUT_NONE ? &program->tensors[op->inputs[1]] : NULL;
    const bool known = t && t->cls == ARENAUT_CONSTANT && t->values &&
                       t->n_values == (uint64_t)2 * rank && op->n_inputs <= 3;
    return known ? t->values : NULL;
}

/* False if the mode is another. */
static bool take_margin(const arenaut_op *op, arn_margin_kind *kind) {
    static const char *const modes[] = {[ARN_MARGIN_VALUE] = "constant",
                                        [ARN_MARGIN_EDGE] = "edge",
                                        [ARN_MARGIN_REFLECTION] = "reflect"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        *kind = (arn_margin_kind)i;
        if (says(op, "mode", "constant", modes[i])) return true;
    }
    return false;
}

static arenaut_status follow_padder(arn_rewrite_check *c, const arenaut_op *op,
                                    const arenaut_op *old) {
    arn_margin_kind kind, old_kind;
    if (!take_margin(op, &kind) || !take_margin(old, &old_kind) || kind != old_kind) {
        return arn_rewrite_reject(c, "the elements that it pads with are not known");
    }
    const uint32_t rank = arn_nchw_rank(c, op, old);
    return arn_rewrite_follow_margins(c, op, old, kind, pads_of(c->after, op, rank),
                                      pads_of(c->before, old, rank));
}

/* ---- parts ---- */

static arenaut_status follow_normalization(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old) {
    int64_t training;
    if (!arn_nchw_number(op, "training_mode", 1, 0, 0, &training) || training != 0) {
        return arn_rewrite_reject(c, "it does not normalize the channels of the old op");
    }
    return arn_rewrite_follow_channels(c, op, old);
}

/* Sums along other axes lie where their elements do; those of padding are no padding. */
static arenaut_status place_of_sums(arn_rewrite_check *c, const arenaut_op *old, uint32_t from,
                                    uint32_t to, uint32_t axis) {
    if (c->before->tensors[old->inputs[0]].dims[axis] !=
        c->before->tensors[old->outputs[0]].dims[axis]) {
        return arn_rewrite_reject(c, "the old op makes another number of sums");
    }
    const arenaut_status st = arn_label_copy(c, from, to, axis);
    int64_t *place = c->labels[to].place[axis];
    for (int64_t i = 0; st == ARENAUT_OK && i < arn_new_tensor(c, to)->dims[axis]; i++) {
        if (place[i] < 0) place[i] = ARN_PLACE_UNKNOWN;
    }
    return st;
}

/* An element from all those along some axes, [first, end) of them, at its place along the others:
 * the part has all of them. */
static arenaut_status follow_along(arn_rewrite_check *c, const arenaut_op *op,
                                   const arenaut_op *old, arn_along along) {
    const uint32_t from = op->inputs[0], to = op->outputs[0];
    const uint32_t rank = c->before->tensors[old->inputs[0]].rank;
    const arenaut_tensor *made = arn_new_tensor(c, to);
    if (along.first < 0 || along.first >= along.end || along.end > (int64_t)rank ||
        c->labels[from].tensor != old->inputs[0] || arn_new_tensor(c, from)->rank != rank ||
        made->rank != rank || c->before->tensors[old->outputs[0]].rank != rank ||
        op->n_inputs != old->n_inputs || !arn_rewrite_are_whole(c, op, old, 1)) {
        return arn_rewrite_reject(c, "it does not read the image that the old op read");
    }
    arenaut_status st = ARENAUT_OK;
    for (uint32_t axis = 0; axis < rank && st == ARENAUT_OK; axis++) {
        const bool inside = axis >= along.first && axis < along.end;
        const bool whole = arn_axis_is_whole(c, from, axis) && arn_axis_is_whole(c, to, axis);
        if (inside && !whole) {
            return arn_rewrite_reject(
                c, "it has a part of an axis along which each of its elements is a sum");
        }
        if (!inside) st = place_of_sums(c, old, from, to, axis);
    }
    return st;
}

/* Before this version of the operators, a softmax was by all axes behind the one that it names. */
enum { BY_ONE_AXIS = 13 };

/* The axis that an operator's attribute names, the last one if it names none; -1: not known. */
static int64_t axis_of(const arn_rewrite_check *c, const arenaut_op *old) {
    const arenaut_attribute *a = arenaut_op_attribute(old, "axis");
    const int64_t rank = c->before->tensors[old->inputs[0]].rank;
    if (a && (a->text || a->n_numbers != 1)) return -1;
    const int64_t axis = a ? a->numbers[0] : -1;
    return axis < 0 ? axis + rank : axis;
}

static arenaut_status follow_softmax(arn_rewrite_check *c, const arenaut_op *op,
                                     const arenaut_op *old) {
    const int64_t axis = c->before->dialect_version < BY_ONE_AXIS ? -1 : axis_of(c, old);
    return follow_along(c, op, old, (arn_along){axis, axis + 1});
}

/* By all axes from one on. */
static arenaut_status follow_layer(arn_rewrite_check *c, const arenaut_op *op,
                                   const arenaut_op *old) {
    const int64_t rank = c->before->tensors[old->inputs[0]].rank;
    return follow_along(c, op, old, (arn_along){axis_of(c, old), rank});
}

/* The one axis of a reduction that keeps it, with one element; -1: it is another. */
static int64_t reduced_axis(const arn_rewrite_check *c, const arenaut_op *old) {
    const arenaut_attribute *a = arenaut_op_attribute(old, "axes");
    const arenaut_tensor *image = &c->before->tensors[old->inputs[0]];
    const arenaut_tensor *list = old->n_inputs == 2 && old->inputs[1] != ARENAUT_NONE
                                     ? &c->before->tensors[old->inputs[1]]
                                     : NULL;
    const bool stated = list && list->cls == ARENAUT_CONSTANT && list->values;
    const uint64_t n = a ? a->n_numbers : stated ? list->n_values : 0;
    if (n != 1 || (a && (a->text || old->n_inputs > 1)) ||
        c->before->tensors[old->outputs[0]].rank != image->rank) {
        return -1;
    }
    const int64_t axis = a ? a->numbers[0] : list->values[0];
    return axis < 0 ? axis + image->rank : axis;
}

/* A global pool, or a reduction of all axes behind the channels. */
static bool reduces_channels(const arn_rewrite_check *c, const arenaut_op *old) {
    const arenaut_attribute *a = arenaut_op_attribute(old, "axes");
    const uint32_t rank = c->before->tensors[old->inputs[0]].rank;
    const arenaut_tensor *list = old->n_inputs == 2 && old->inputs[1] != ARENAUT_NONE
                                     ? &c->before->tensors[old->inputs[1]]
                                     : NULL;
    if (strncmp(old->name, "Global", 6) == 0) return old->n_inputs == 1;
    if (old->n_inputs > 2 || (a && (a->text || old->n_inputs > 1)) ||
        (!a && (!list || list->cls != ARENAUT_CONSTANT || !list->values))) {
        return false;
    }
    const int64_t *axes = a ? a->numbers : list->values;
    const uint64_t n = a ? a->n_numbers : list->n_values;
    bool found[ARN_LABEL_RANK] = {false};
    for (uint64_t i = 0; i < n; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis < H || axis >= (int64_t)rank || rank > ARN_LABEL_RANK || found[axis]) return false;
        found[axis] = true;
    }
    return n + H == rank;
}

static arenaut_status follow_reduction(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old, arn_known known) {
    const bool is_global = strncmp(old->name, "Global", 6) == 0;
    const int64_t axis = old->inputs[0] == ARENAUT_NONE || is_global ? -1 : reduced_axis(c, old);
    if (axis >= 0 && axis < H) return follow_along(c, op, old, (arn_along){axis, axis + 1});
    if (old->inputs[0] == ARENAUT_NONE || !reduces_channels(c, old) ||
        !arn_rewrite_are_whole(c, op, old, 1)) {
        return arn_rewrite_reject(c, "the axes that it reduces are not known");
    }
    return arn_rewrite_follow_reduction(c, op, old, known);
}

static arenaut_status follow_part(arn_rewrite_check *c, int rule, const arenaut_op *op,
                                  const arenaut_op *old) {
    switch ((enum rule)rule) {
        case CONVOLUTION: return arn_rewrite_follow_nchw(c, op, old, false);
        case POOL: return arn_rewrite_follow_nchw(c, op, old, true);
        case TRANSPOSED: return arn_rewrite_follow_transposed(c, op, old);
        case PADDER: return follow_padder(c, op, old);
        case RESIZER: return follow_resizer(c, op, old);
        case SHUFFLER: return follow_shuffler(c, op, old);
        case UNSHUFFLER: return follow_unshuffler(c, op, old);
        case NORMALIZATION: return follow_normalization(c, op, old);
        case JOINER: return arn_rewrite_follow_joiner(c, op, old);
        case AVERAGE: return follow_reduction(c, op, old, ARN_KNOWN_AVERAGES);
        case GREATEST: return follow_reduction(c, op, old, ARN_KNOWN_GREATEST);
        case SOFTMAX: return follow_softmax(c, op, old);
        case LAYER: return follow_layer(c, op, old);
        case WHOLE: break;
        case BY_ELEMENT: return arn_rewrite_follow_elements(c, op, old);
    }
    return arn_rewrite_reject(c, "the result of a part of it is not known");
}

/* ---- known numbers ---- */

/* A constant list of whole numbers; NULL: it is none. */
static const arenaut_tensor *take_list(const arn_rewrite_check *c, uint32_t t) {
    const arenaut_tensor *tensor = t == ARENAUT_NONE ? NULL : arn_new_tensor(c, t);
    const bool is_list = tensor && tensor->cls == ARENAUT_CONSTANT && tensor->rank == 1 &&
                         tensor->dtype == ARENAUT_DTYPE_INT64 && tensor->values &&
                         tensor->n_values == (uint64_t)tensor->dims[0];
    return is_list ? tensor : NULL;
}

/* A constant list of one number, or one that ops compute. */
static bool take_known(const arn_rewrite_check *c, uint32_t t, int64_t *number) {
    const arenaut_tensor *tensor = t == ARENAUT_NONE ? NULL : arn_new_tensor(c, t);
    if (!tensor || tensor->dtype != ARENAUT_DTYPE_INT64 || tensor->rank != 1) return false;
    if (tensor->dims[0] != 1) return false;
    if (c->labels[t].known == ARN_KNOWN_NUMBER) {
        *number = c->labels[t].number;
        return true;
    }
    const bool constant = take_list(c, t) != NULL;
    if (constant) *number = tensor->values[0];
    return constant;
}

/* The same, or a computed number without axes. */
static bool take_summand(const arn_rewrite_check *c, uint32_t t, int64_t *number) {
    if (take_known(c, t, number)) return true;
    if (t == ARENAUT_NONE || arn_new_tensor(c, t)->rank != 0) return false;
    *number = c->labels[t].number;
    return c->labels[t].known == ARN_KNOWN_NUMBER;
}

/* The result is a list of so many elements, or for a length of 0 a number without axes, which
 * nothing else has made. */
static arenaut_status know(arn_rewrite_check *c, const arenaut_op *op, arenaut_dtype dtype,
                           int64_t length, arn_known known, int64_t number) {
    const uint32_t t = op->outputs[0];
    const arenaut_tensor *made = arn_new_tensor(c, t);
    arn_label *label = &c->labels[t];
    if (c->rewrite->tensors[t].tensor != ARENAUT_NONE || label->tensor != ARENAUT_NONE ||
        label->known != ARN_KNOWN_NOTHING || made->cls != ARENAUT_INTERMEDIATE ||
        made->dtype != dtype || made->rank != (length > 0) ||
        (length > 0 && made->dims[0] != length)) {
        return arn_rewrite_reject(c, "its result is no number of its own");
    }
    label->known = known;
    label->number = number;
    return ARENAUT_OK;
}

/* GatherND of one place. */
static arenaut_status follow_peek(arn_rewrite_check *c, const arenaut_op *op) {
    const arenaut_tensor *from = arn_new_tensor(c, op->inputs[0]);
    const arenaut_tensor *place = op->n_inputs == 2 && op->inputs[1] != ARENAUT_NONE
                                      ? arn_new_tensor(c, op->inputs[1])
                                      : NULL;
    if (!place || op->n_attributes > 0 || place->cls != ARENAUT_CONSTANT || place->rank != 2 ||
        place->dims[0] != 1 || place->n_values != from->rank || !place->values ||
        place->dims[1] != from->rank ||
        (c->labels[op->inputs[0]].tensor == ARENAUT_NONE &&
         !arn_label_is_of_rows(c, op->inputs[0]))) {
        return arn_rewrite_reject(c, "which element it reads is not known");
    }
    for (uint32_t i = 0; i < from->rank; i++) {
        if (place->values[i] < 0 || place->values[i] >= from->dims[i]) {
            return arn_rewrite_reject(c, "it reads an element outside of its operand");
        }
    }
    return know(c, op, from->dtype, 1, ARN_KNOWN_LENGTH, 0);
}

/* Max of elements. */
static arenaut_status follow_any(arn_rewrite_check *c, const arenaut_op *op) {
    const arenaut_dtype dtype = arn_new_tensor(c, op->inputs[0])->dtype;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t t = op->inputs[i];
        if (t != ARENAUT_NONE && c->labels[t].known == ARN_KNOWN_LENGTH &&
            arn_new_tensor(c, t)->dtype == dtype) {
            continue;
        }
        return arn_rewrite_reject(c, "it compares tensors that are no single elements");
    }
    return know(c, op, dtype, 1, ARN_KNOWN_LENGTH, 0);
}

/* ArgMax of a list of one. */
static arenaut_status follow_zero(arn_rewrite_check *c, const arenaut_op *op) {
    int64_t axis;
    if (op->n_inputs != 1 || op->n_attributes > 1 ||
        c->labels[op->inputs[0]].known != ARN_KNOWN_LENGTH ||
        !arn_nchw_number(op, "axis", 1, 0, 0, &axis) || axis != 0) {
        return arn_rewrite_reject(c, "where it finds an element is not known");
    }
    return know(c, op, ARENAUT_DTYPE_INT64, 1, ARN_KNOWN_NUMBER, 0);
}

/* Of two numbers, or of a constant list and 0. */
static arenaut_status follow_sum(arn_rewrite_check *c, const arenaut_op *op) {
    int64_t a, b;
    const bool known = op->n_inputs == 2 && take_summand(c, op->inputs[1], &b);
    const arenaut_tensor *list = known && b == 0 ? take_list(c, op->inputs[0]) : NULL;
    if (list && list->n_values > 1) {
        return know(c, op, ARENAUT_DTYPE_INT64, list->dims[0], ARN_KNOWN_LIST, op->inputs[0]);
    }
    if (!known || !take_known(c, op->inputs[0], &a) || a < 0 || b < 0 || a > INT32_MAX ||
        b > INT32_MAX) {
        return arn_rewrite_reject(c, "the numbers that it adds are not known");
    }
    return know(c, op, ARENAUT_DTYPE_INT64, 1, ARN_KNOWN_NUMBER, a + b);
}

/* Squeeze of a list of one number along its axis. */
static arenaut_status follow_scalar(arn_rewrite_check *c, const arenaut_op *op) {
    int64_t number, axis;
    if (op->n_inputs != 2 || op->n_attributes > 0 || !take_known(c, op->inputs[0], &number) ||
        !take_known(c, op->inputs[1], &axis) || axis != 0) {
        return arn_rewrite_reject(c, "which number it makes is not known");
    }
    return know(c, op, ARENAUT_DTYPE_INT64, 0, ARN_KNOWN_NUMBER, number);
}

/* ---- ops that move data ---- */

static arenaut_status follow_slice(arn_rewrite_check *c, const arenaut_op *op) {
    int64_t begin, end, axis;
    if (op->n_inputs != 4 || !take_known(c, op->inputs[1], &begin) ||
        !take_known(c, op->inputs[2], &end) || !take_known(c, op->inputs[3], &axis)) {
        return arn_rewrite_reject(c, "where it begins and ends is not known");
    }
    return arn_rewrite_follow_slice(c, op, begin, end, axis);
}

/* Reshape to the shape that its operand has. */
static arenaut_status follow_alias(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t shape = op->n_inputs == 2 ? op->inputs[1] : ARENAUT_NONE;
    const bool known = shape != ARENAUT_NONE && c->labels[shape].known == ARN_KNOWN_LIST;
    const arenaut_tensor *image = arn_new_tensor(c, op->inputs[0]);
    const arenaut_tensor *made = arn_new_tensor(c, op->outputs[0]);
    const arenaut_tensor *list =
        known ? arn_new_tensor(c, (uint32_t)c->labels[shape].number) : NULL;
    if (!list || op->n_attributes > 0 || list->n_values != image->rank ||
        made->rank != image->rank) {
        return arn_rewrite_reject(c, "the shape that it makes is not known");
    }
    for (uint32_t axis = 0; axis < image->rank; axis++) {
        if (list->values[axis] <= 0 || list->values[axis] != image->dims[axis] ||
            made->dims[axis] != image->dims[axis]) {
            return arn_rewrite_reject(c, "it makes another shape than its operand has");
        }
    }
    arenaut_status st = arn_rewrite_begin_move(c, op);
    for (uint32_t axis = 0; axis < image->rank && st == ARENAUT_OK; axis++) {
        st = arn_label_copy(c, op->inputs[0], op->outputs[0], axis);
    }
    return st;
}

typedef arenaut_status follow(arn_rewrite_check *c, const arenaut_op *op);

static arenaut_status follow_averages(arn_rewrite_check *c, const arenaut_op *op) {
    return arn_rewrite_follow_rows(c, op, ARN_KNOWN_AVERAGES);
}

static arenaut_status follow_greatest(arn_rewrite_check *c, const arenaut_op *op) {
    return arn_rewrite_follow_rows(c, op, ARN_KNOWN_GREATEST);
}

static arenaut_status follow_move(arn_rewrite_check *c, const arenaut_op *op) {
    static const struct {
        const char *name;
        follow *follow;
    } numbers[] = {{"GatherND", follow_peek},        {"Max", follow_any},
                   {"ArgMax", follow_zero},          {"Add", follow_sum},
                   {"Squeeze", follow_scalar},       {"Reshape", follow_alias},
                   {"AveragePool", follow_averages}, {"MaxPool", follow_greatest}};
    const bool peeks = op->name && strcmp(op->name, "GatherND") == 0;
    if (!peeks && arn_rewrite_is_norm_step(c, op)) return arn_rewrite_follow_norm_step(c, op);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (op->name && strcmp(op->name, numbers[i].name) == 0) return numbers[i].follow(c, op);
    }
    const bool slices = op->name && strcmp(op->name, "Slice") == 0;
    if (!slices && (!op->name || strcmp(op->name, "Concat") != 0)) {
        return arn_rewrite_reject(c, "it is no op that moves data");
    }
    if (!slices && arn_label_is_of_rows(c, op->inputs[0])) return arn_rewrite_join_rows(c, op);
    const arenaut_status st = arn_rewrite_begin_move(c, op);
    if (st != ARENAUT_OK) return st;
    return slices ? follow_slice(c, op) : arn_rewrite_follow_join(c, op);
}

extern const arn_rewrite_rules arn_rewrite_onnx;
const arn_rewrite_rules arn_rewrite_onnx = {
    "onnx", false, ARENAUT_OP_OUT, rows, sizeof rows / sizeof *rows, follow_part, follow_move};
