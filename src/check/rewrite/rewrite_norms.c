/* Normalizations in two passes: which statistic of which image a tensor holds, step by step, until
 * an element is normalized by them as the old op does it. With averages over rows that are all as
 * long, the variance of a group is the mean of the variances of its rows and of the squares of
 * their averages around the group's mean (Chan, Golub & LeVeque 1983). Every step is an op with one
 * meaning; a tensor that no step makes has no label, so that nothing can be read in its place. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/rewrite_labels.h"
#include "core/fail.h"

enum { N, C, H, W, RANK };

typedef struct step {
    const char *name;
    arn_known a, b, made; /* of the operands, NOTHING: there is none; and of the result */
} step;

/* Of statistics alone, by group; where both operands are of one kind they are one tensor. */
static const step steps[] = {
    {"GlobalAveragePool", ARN_KNOWN_GROUP_AVERAGES, ARN_KNOWN_NOTHING, ARN_KNOWN_MEAN},
    {"Sub", ARN_KNOWN_GROUP_AVERAGES, ARN_KNOWN_MEAN, ARN_KNOWN_APART},
    {"Mul", ARN_KNOWN_APART, ARN_KNOWN_APART, ARN_KNOWN_BETWEEN},
    {"Add", ARN_KNOWN_GROUP_SPREADS, ARN_KNOWN_BETWEEN, ARN_KNOWN_MOMENTS},
    {"GlobalAveragePool", ARN_KNOWN_MOMENTS, ARN_KNOWN_NOTHING, ARN_KNOWN_VARIANCE},
    {"Sqrt", ARN_KNOWN_PADDED, ARN_KNOWN_NOTHING, ARN_KNOWN_ROOT},
    {"Reciprocal", ARN_KNOWN_ROOT, ARN_KNOWN_NOTHING, ARN_KNOWN_INVERSE},
    {"Mul", ARN_KNOWN_INVERSE, ARN_KNOWN_CONSTANT, ARN_KNOWN_FACTOR},
};

static bool is_named(const arenaut_op *op, const char *name) {
    return op->name && strcmp(op->name, name) == 0;
}

static arn_known kind_of(const arn_rewrite_check *c, const arenaut_op *op, uint32_t i) {
    const bool there = i < op->n_inputs && op->inputs[i] != ARENAUT_NONE;
    return there ? c->labels[op->inputs[i]].known : ARN_KNOWN_NOTHING;
}

static bool is_constant_list(const arn_rewrite_check *c, uint32_t t) {
    return arn_new_tensor(c, t)->cls == ARENAUT_CONSTANT && arn_new_tensor(c, t)->rank == 1 &&
           arn_new_tensor(c, t)->dtype == ARENAUT_DTYPE_FLOAT32 &&
           c->labels[t].tensor != ARENAUT_NONE;
}

bool arn_rewrite_is_norm_step(const arn_rewrite_check *c, const arenaut_op *op) {
    if (c->rewrite->n_rounded == 0) return false;
    return kind_of(c, op, 0) >= ARN_KNOWN_CENTRED || kind_of(c, op, 1) >= ARN_KNOWN_CENTRED ||
           (is_named(op, "Sub") && op->n_inputs == 2) ||
           (is_named(op, "Reshape") && arn_label_is_of_rows(c, op->inputs[0])) ||
           (is_named(op, "Reshape") && is_constant_list(c, op->inputs[0]));
}

/* Gives the result a label, if it is an image of these sizes that nothing has made yet. */
static arenaut_status make(arn_rewrite_check *c, const arenaut_op *op, const int64_t dims[RANK],
                           arn_label label) {
    const uint32_t t = op->outputs[0];
    const arenaut_tensor *made = arn_new_tensor(c, t);
    bool fits = c->labels[t].tensor == ARENAUT_NONE && c->labels[t].known == ARN_KNOWN_NOTHING &&
                (made->cls == ARENAUT_INTERMEDIATE || made->cls == ARENAUT_CONSTANT) &&
                made->dtype == ARENAUT_DTYPE_FLOAT32 && made->rank == RANK &&
                !c->rewrite->tensors[t].same;
    for (uint32_t i = 0; fits && i < RANK; i++) fits = made->dims[i] == dims[i];
    if (!fits) return arn_rewrite_reject(c, "its result has other sizes than it makes");
    c->labels[t] = label;
    c->labels[t].tensor = ARENAUT_NONE;
    return ARENAUT_OK;
}

/* The sizes of the old image; false if it has others than a normalization of two axes. */
static bool take_image(const arn_rewrite_check *c, int64_t image, int64_t dims[RANK]) {
    const arenaut_tensor *old = &c->before->tensors[image];
    if (old->rank != RANK || old->dtype != ARENAUT_DTYPE_FLOAT32) return false;
    memcpy(dims, old->dims, RANK * sizeof *dims);
    return true;
}

static bool has_dims(const arn_rewrite_check *c, uint32_t t, const int64_t dims[RANK]) {
    const arenaut_tensor *tensor = arn_new_tensor(c, t);
    return tensor->rank == RANK && memcmp(tensor->dims, dims, RANK * sizeof *dims) == 0;
}

/* ---- shapes ---- */

/* The constant that lists the sizes of the result; false if it does not. */
static bool takes_shape(const arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t list = op->n_inputs == 2 ? op->inputs[1] : ARENAUT_NONE;
    const arenaut_tensor *sizes = list == ARENAUT_NONE ? NULL : arn_new_tensor(c, list);
    const arenaut_tensor *made = arn_new_tensor(c, op->outputs[0]);
    if (!sizes || sizes->cls != ARENAUT_CONSTANT || sizes->dtype != ARENAUT_DTYPE_INT64 ||
        !sizes->values || sizes->n_values != RANK || made->rank != RANK || op->n_attributes > 0) {
        return false;
    }
    for (uint32_t i = 0; i < RANK; i++) {
        if (sizes->values[i] <= 0 || sizes->values[i] != made->dims[i]) return false;
    }
    return true;
}

/* Numbers of all rows of an image, each once, by group. */
static arenaut_status group_rows(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    int64_t image[RANK];
    const uint32_t rows = op->inputs[0];
    const int64_t groups = arn_new_tensor(c, op->outputs[0])->dims[C];
    if (!take_image(c, label.number, image) || label.known == ARN_KNOWN_GREATEST ||
        image[C] % groups != 0 || arn_new_tensor(c, rows)->dims[H] != image[H]) {
        return arn_rewrite_reject(c, "it makes no groups of all rows");
    }
    for (int64_t i = 0; i < image[H]; i++) {
        if (arn_label_place(c, rows, H, i) == i) continue;
        return arn_rewrite_reject(c, "it does not take each row just once");
    }
    const int64_t dims[RANK] = {image[N], groups, image[C] / groups * image[H], 1};
    label.known =
        label.known == ARN_KNOWN_AVERAGES ? ARN_KNOWN_GROUP_AVERAGES : ARN_KNOWN_GROUP_SPREADS;
    label.groups = groups;
    label.place[H] = NULL;
    return make(c, op, dims, label);
}

/* A list of a number for each group. */
static arenaut_status group_constant(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t list = op->inputs[0], old = c->labels[list].tensor;
    const int64_t groups = arn_new_tensor(c, list)->dims[0], dims[RANK] = {1, groups, 1, 1};
    if (!arn_label_is_whole(c, list, old)) {
        return arn_rewrite_reject(c, "it takes a part of a constant");
    }
    return make(
        c, op, dims,
        (arn_label){.known = ARN_KNOWN_CONSTANT, .groups = groups, .scale = old, .number = -1});
}

/* A number for each group, once more for each of its channels. */
static arenaut_status expand(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const int64_t *dims = arn_new_tensor(c, op->outputs[0])->dims;
    const int64_t one[RANK] = {dims[N], label.groups, 1, 1};
    const int64_t shared[RANK] = {1, label.groups, 1, 1};
    const int64_t made[RANK] = {dims[N], label.groups, dims[H], 1};
    if (label.form != ARN_BY_GROUP ||
        !has_dims(c, op->inputs[0], label.known == ARN_KNOWN_CONSTANT ? shared : one)) {
        return arn_rewrite_reject(c, "it repeats no numbers of groups");
    }
    label.form = ARN_EXPANDED;
    return make(c, op, made, label);
}

static arenaut_status take_apart(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const int64_t *from = arn_new_tensor(c, op->inputs[0])->dims;
    const int64_t made[RANK] = {from[N], from[C] * from[H], 1, 1};
    if (label.form != ARN_EXPANDED) {
        return arn_rewrite_reject(c, "it takes no numbers of channels apart");
    }
    label.form = ARN_BY_CHANNEL;
    return make(c, op, made, label);
}

static arenaut_status follow_shape(arn_rewrite_check *c, const arenaut_op *op) {
    const arn_label label = c->labels[op->inputs[0]];
    const bool is_by_group = label.known == ARN_KNOWN_MEAN || label.known == ARN_KNOWN_INVERSE ||
                             label.known == ARN_KNOWN_FACTOR || label.known == ARN_KNOWN_CONSTANT;
    if (!takes_shape(c, op)) return arn_rewrite_reject(c, "the shape that it makes is not known");
    if (is_named(op, "Expand") && is_by_group) return expand(c, op, label);
    if (is_named(op, "Reshape") && is_by_group) return take_apart(c, op, label);
    if (is_named(op, "Reshape") && arn_label_is_of_rows(c, op->inputs[0])) {
        return group_rows(c, op, label);
    }
    if (is_named(op, "Reshape") && is_constant_list(c, op->inputs[0])) return group_constant(c, op);
    return arn_rewrite_reject(c, "it gives a statistic another shape");
}

/* ---- rows of the image ---- */

/* Sizes of a part of the image with all of its columns and channels. */
static bool take_rows(const arn_rewrite_check *c, uint32_t t, int64_t image, int64_t dims[RANK]) {
    if (!take_image(c, image, dims) || arn_new_tensor(c, t)->rank != RANK) return false;
    dims[H] = arn_new_tensor(c, t)->dims[H];
    return has_dims(c, t, dims);
}

static bool is_rows_of_image(const arn_rewrite_check *c, uint32_t t) {
    return c->labels[t].tensor != ARENAUT_NONE && arn_new_tensor(c, t)->rank == RANK &&
           arn_axis_is_whole(c, t, N) && arn_axis_is_whole(c, t, C) && arn_axis_is_whole(c, t, W);
}

/* Rows of the image less their averages, or less the means of their channels. */
static arenaut_status follow_difference(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t rows = op->inputs[0], by = op->inputs[1];
    const arn_label label = c->labels[by];
    int64_t dims[RANK];
    arn_label made = label;
    if (!is_rows_of_image(c, rows) || label.number != c->labels[rows].tensor ||
        !take_rows(c, rows, label.number, dims)) {
        return arn_rewrite_reject(c, "it is no difference of an image and its averages");
    }
    const int64_t apart[RANK] = {dims[N], dims[C], 1, 1},
                  each[RANK] = {dims[N], dims[C], dims[H], 1};
    if (label.known == ARN_KNOWN_AVERAGES && has_dims(c, by, each) &&
        arn_labels_agree(c, rows, H, by, H)) {
        made.known = ARN_KNOWN_CENTRED;
    } else if (label.known == ARN_KNOWN_MEAN && label.form == ARN_BY_CHANNEL &&
               has_dims(c, by, apart)) {
        made.known = ARN_KNOWN_LESS_MEAN;
        made.form = ARN_BY_GROUP;
    } else {
        return arn_rewrite_reject(c, "it is no difference of an image and its averages");
    }
    int64_t *place = arn_label_axis(c, dims[H]);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < dims[H]; i++) place[i] = arn_label_place(c, rows, H, i);
    made.place[H] = place;
    return make(c, op, dims, made);
}

static arenaut_status follow_squares(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    int64_t dims[RANK];
    if (op->inputs[0] != op->inputs[1] || !take_rows(c, op->inputs[0], label.number, dims)) {
        return arn_rewrite_reject(c, "it squares no differences");
    }
    label.known = ARN_KNOWN_SQUARES;
    return make(c, op, dims, label);
}

/* The averages of the squares of each row. */
static arenaut_status follow_spreads(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const arenaut_attribute *sides = arenaut_op_attribute(op, "kernel_shape");
    int64_t dims[RANK];
    if (op->n_inputs != 1 || op->n_attributes != 1 || !sides || sides->text ||
        sides->n_numbers != 2 || !take_rows(c, op->inputs[0], label.number, dims) ||
        sides->numbers[0] != 1 || sides->numbers[1] != dims[W]) {
        return arn_rewrite_reject(c, "it reduces no rows");
    }
    dims[W] = 1;
    label.known = ARN_KNOWN_SPREADS;
    return make(c, op, dims, label);
}

/* The inverse of each channel's group, times a number of its own. */
static arenaut_status follow_factor(arn_rewrite_check *c, const arenaut_op *op) {
    arn_label label = c->labels[op->inputs[0]];
    const arn_label constant = c->labels[op->inputs[1]];
    int64_t dims[RANK];
    if (!take_image(c, label.number, dims)) return arn_rewrite_reject(c, "its image is not known");
    const int64_t apart[RANK] = {dims[N], dims[C], 1, 1}, each[RANK] = {1, dims[C], 1, 1};
    if (constant.form != ARN_BY_GROUP || constant.groups != dims[C] || label.groups == dims[C] ||
        !has_dims(c, op->inputs[0], apart) || !has_dims(c, op->inputs[1], each)) {
        return arn_rewrite_reject(c, "its factor has no number for each channel");
    }
    label.known = ARN_KNOWN_FACTOR;
    label.scale = constant.scale;
    return make(c, op, apart, label);
}

static arenaut_status follow_scaled(arn_rewrite_check *c, const arenaut_op *op) {
    arn_label label = c->labels[op->inputs[0]];
    const arn_label factor = c->labels[op->inputs[1]];
    int64_t dims[RANK];
    if (factor.form != ARN_BY_CHANNEL || factor.number != label.number ||
        factor.groups != label.groups || !take_rows(c, op->inputs[0], label.number, dims)) {
        return arn_rewrite_reject(c, "its factor is another image's");
    }
    const int64_t apart[RANK] = {dims[N], dims[C], 1, 1};
    if (!has_dims(c, op->inputs[1], apart)) {
        return arn_rewrite_reject(c, "its factor has other sizes");
    }
    label.known = ARN_KNOWN_SCALED;
    label.epsilon = factor.epsilon;
    label.scale = factor.scale;
    return make(c, op, dims, label);
}

/* ---- the old normalization ---- */

static const arenaut_op *maker_of(const arn_rewrite_check *c, uint32_t t) {
    for (uint32_t i = 0; i < c->before->n_ops && t != ARENAUT_NONE; i++) {
        const arenaut_op *op = &c->before->ops[i];
        if (op->n_outputs == 1 && op->outputs[0] == t) return op;
    }
    return NULL;
}

/* Its bits; false if they are not known. */
static bool take_epsilon(const arenaut_op *norm, int64_t *bits) {
    const double usual = (double)1e-5f;
    const arenaut_attribute *a = arenaut_op_attribute(norm, "epsilon");
    if (a && (a->text || a->n_numbers != 1)) return false;
    memcpy(bits, &usual, sizeof usual);
    if (a) *bits = a->numbers[0];
    return true;
}

static bool has_images(const arn_rewrite_check *c, uint32_t from, uint32_t to) {
    const arenaut_tensor *a = &c->before->tensors[from], *b = &c->before->tensors[to];
    return a->rank == RANK && b->rank == RANK &&
           memcmp(a->dims, b->dims, RANK * sizeof *a->dims) == 0;
}

static bool says_groups(const arenaut_op *norm, int64_t groups) {
    const arenaut_attribute *n = arenaut_op_attribute(norm, "num_groups");
    return n && !n->text && n->n_numbers == 1 && n->numbers[0] == groups;
}

/* The image that an op before normalizes in so many groups, maybe by way of a shape in which each
 * group is one axis; NONE: that is not known. */
static uint32_t normalized_by(const arn_rewrite_check *c, const arenaut_op *norm, bool reshaped,
                              int64_t groups) {
    const uint32_t from = norm->inputs[0];
    if (from == ARENAUT_NONE) return from;
    const arenaut_tensor *read = &c->before->tensors[from];
    if (is_named(norm, "GroupNormalization"))
        return !reshaped && says_groups(norm, groups) && read->rank == RANK ? from : ARENAUT_NONE;
    if (!reshaped) return read->rank == RANK && read->dims[C] == groups ? from : ARENAUT_NONE;
    const arenaut_op *shape = maker_of(c, from);
    if (!shape || !is_named(shape, "Reshape") || read->rank != 3 || shape->n_inputs == 0 ||
        shape->inputs[0] == ARENAUT_NONE) {
        return ARENAUT_NONE;
    }
    const arenaut_tensor *image = &c->before->tensors[shape->inputs[0]];
    const bool fits = image->rank == RANK && read->dims[N] == image->dims[N] &&
                      read->dims[C] == groups &&
                      read->dims[2] * groups == image->dims[C] * image->dims[H] * image->dims[W];
    return fits ? shape->inputs[0] : ARENAUT_NONE;
}

/* Whether an image is, in the program before, another one normalized as the label says, with this
 * constant added. */
static bool is_norm_of(const arn_rewrite_check *c, uint32_t made, const arn_label *by,
                       uint32_t summand) {
    const arenaut_op *norm = maker_of(c, made);
    const bool reshaped = norm && is_named(norm, "Reshape") && norm->n_inputs > 0;
    int64_t epsilon;
    if (reshaped) norm = maker_of(c, norm->inputs[0]);
    if (!norm || norm->n_inputs != 3 ||
        !(is_named(norm, "InstanceNormalization") || is_named(norm, "GroupNormalization")) ||
        !take_epsilon(norm, &epsilon)) {
        return false;
    }
    const uint32_t from = normalized_by(c, norm, reshaped, by->groups);
    return from != ARENAUT_NONE && (int64_t)from == by->number && has_images(c, from, made) &&
           epsilon == by->epsilon && norm->inputs[1] == by->scale && norm->inputs[2] == summand;
}

/* A constant with a number for each channel, of several in a group, or for each group and spread
 * over its channels. */
static bool adds_to_channels(const arn_rewrite_check *c, uint32_t constant, const arn_label *by,
                             const int64_t dims[RANK]) {
    const arn_label *label = &c->labels[constant];
    const int64_t spread[RANK] = {dims[N], dims[C], 1, 1}, each[RANK] = {1, dims[C], 1, 1};
    if (label->form == ARN_BY_CHANNEL)
        return label->groups == by->groups && has_dims(c, constant, spread);
    return label->form == ARN_BY_GROUP && label->groups == dims[C] && by->groups != dims[C] &&
           has_dims(c, constant, each);
}

/* The last step: the rows of the old result. */
static arenaut_status follow_summand(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t rows = op->inputs[0], t = op->outputs[0];
    const arn_label label = c->labels[rows], summand = c->labels[op->inputs[1]];
    const uint32_t made = c->rewrite->tensors[t].tensor;
    int64_t dims[RANK];
    if (made == ARENAUT_NONE || !take_rows(c, rows, label.number, dims) || !has_dims(c, t, dims)) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    if (!adds_to_channels(c, op->inputs[1], &label, dims) ||
        !is_norm_of(c, made, &label, summand.scale)) {
        return arn_rewrite_reject(c, "it does not normalize as the old op did");
    }
    arenaut_status st = arn_label_begin(c, t, made);
    if (st == ARENAUT_OK) c->labels[t].place[H] = label.place[H];
    return st;
}

/* ---- all steps ---- */

/* Of a variance: a constant, one number. */
static arenaut_status follow_epsilon(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const arenaut_tensor *one = arn_new_tensor(c, op->inputs[1]);
    if (one->cls != ARENAUT_CONSTANT || one->dtype != ARENAUT_DTYPE_FLOAT32 || one->n_values != 1 ||
        !one->values || one->rank > 1 || c->labels[op->inputs[1]].tensor != ARENAUT_NONE) {
        return arn_rewrite_reject(c, "the number that it adds to a variance is not known");
    }
    label.known = ARN_KNOWN_PADDED;
    label.epsilon = one->values[0];
    return make(c, op, arn_new_tensor(c, op->inputs[0])->dims, label);
}

/* Statistics of one image in as many groups. */
static bool belong_together(const arn_rewrite_check *c, const arenaut_op *op) {
    const arn_label *a = &c->labels[op->inputs[0]], *b = &c->labels[op->inputs[1]];
    return a->groups == b->groups && (a->number == b->number || b->known == ARN_KNOWN_CONSTANT) &&
           a->form == ARN_BY_GROUP && b->form == ARN_BY_GROUP &&
           (a->known != b->known || op->inputs[0] == op->inputs[1]);
}

/* By group: one number, or one for each row and channel of the group. */
static arenaut_status follow_statistic(arn_rewrite_check *c, const arenaut_op *op, const step *by) {
    arn_label label = c->labels[op->inputs[0]];
    const int64_t *dims = arn_new_tensor(c, op->inputs[0])->dims;
    const int64_t one[RANK] = {dims[N], dims[C], 1, 1};
    const bool two = by->b != ARN_KNOWN_NOTHING, pools = is_named(op, "GlobalAveragePool");
    if (op->n_attributes > 0 || op->n_inputs != 1u + two || label.form != ARN_BY_GROUP ||
        (two && !belong_together(c, op))) {
        return arn_rewrite_reject(c, "its statistics are of different images");
    }
    if (by->made == ARN_KNOWN_FACTOR) label.scale = c->labels[op->inputs[1]].scale;
    label.known = by->made;
    return make(c, op, pools ? one : dims, label);
}

static bool is_factor_of_channels(const arn_rewrite_check *c, const arenaut_op *op) {
    return is_named(op, "Mul") && op->n_attributes == 0 && op->n_inputs == 2 &&
           kind_of(c, op, 0) == ARN_KNOWN_INVERSE && kind_of(c, op, 1) == ARN_KNOWN_CONSTANT &&
           c->labels[op->inputs[0]].form == ARN_BY_CHANNEL;
}

static arenaut_status follow_arithmetic(arn_rewrite_check *c, const arenaut_op *op) {
    const arn_known a = kind_of(c, op, 0), b = kind_of(c, op, 1);
    const arn_label label = c->labels[op->inputs[0]];
    if (is_factor_of_channels(c, op)) return follow_factor(c, op);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!is_named(op, steps[i].name) || steps[i].a != a || steps[i].b != b) continue;
        return follow_statistic(c, op, &steps[i]);
    }
    if (op->n_attributes > 0 || op->n_inputs != 2 || op->inputs[1] == ARENAUT_NONE) {
        return arn_rewrite_reject(c, "it is no step of a normalization");
    }
    if (is_named(op, "Sub")) return follow_difference(c, op);
    if (is_named(op, "Mul") && a == ARN_KNOWN_CENTRED) return follow_squares(c, op, label);
    if (is_named(op, "Add") && a == ARN_KNOWN_VARIANCE) return follow_epsilon(c, op, label);
    if (is_named(op, "Mul") && a == ARN_KNOWN_LESS_MEAN && b == ARN_KNOWN_FACTOR) {
        return follow_scaled(c, op);
    }
    if (is_named(op, "Add") && a == ARN_KNOWN_SCALED && b == ARN_KNOWN_CONSTANT) {
        return follow_summand(c, op);
    }
    return arn_rewrite_reject(c, "it is no step of a normalization");
}

arenaut_status arn_rewrite_follow_norm_step(arn_rewrite_check *c, const arenaut_op *op) {
    const arn_label label = c->labels[op->inputs[0]];
    if (is_named(op, "Reshape") || is_named(op, "Expand")) return follow_shape(c, op);
    if (is_named(op, "AveragePool") && label.known == ARN_KNOWN_SQUARES) {
        return follow_spreads(c, op, label);
    }
    if (is_named(op, "Concat") && arn_label_is_of_rows(c, op->inputs[0])) {
        return arn_rewrite_join_rows(c, op);
    }
    return follow_arithmetic(c, op);
}
