/* Normalizations in two passes: which statistic of which image a tensor holds, step by step, until
 * an element is normalized by them as the old op does it. With averages over rows that are all as
 * long, the variance of a group is the mean of the variances of its rows and of the squares of
 * their averages around the group's mean (Chan, Golub & LeVeque 1983). Every step is an op with one
 * meaning; a tensor that no step makes has no label, so that nothing can be read in its place. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/rewrite_norms.h"
#include "core/fail.h"

enum { N, C, H, OF_SIGNALS = 3 };

typedef struct step {
    arn_norm_act act;
    arn_known a, b, made; /* of the operands, NOTHING: there is none; and of the result */
} step;

/* Of statistics alone, by group; where both operands are of one kind they are one tensor. */
static const step steps[] = {
    {ARN_ACT_MEAN, ARN_KNOWN_GROUP_AVERAGES, ARN_KNOWN_NOTHING, ARN_KNOWN_MEAN},
    {ARN_ACT_SUB, ARN_KNOWN_GROUP_AVERAGES, ARN_KNOWN_MEAN, ARN_KNOWN_APART},
    {ARN_ACT_MUL, ARN_KNOWN_APART, ARN_KNOWN_APART, ARN_KNOWN_BETWEEN},
    {ARN_ACT_ADD, ARN_KNOWN_GROUP_SPREADS, ARN_KNOWN_BETWEEN, ARN_KNOWN_MOMENTS},
    {ARN_ACT_MEAN, ARN_KNOWN_MOMENTS, ARN_KNOWN_NOTHING, ARN_KNOWN_VARIANCE},
    {ARN_ACT_ROOT, ARN_KNOWN_PADDED, ARN_KNOWN_NOTHING, ARN_KNOWN_ROOT},
    {ARN_ACT_INVERSE, ARN_KNOWN_ROOT, ARN_KNOWN_NOTHING, ARN_KNOWN_INVERSE},
    {ARN_ACT_MUL, ARN_KNOWN_INVERSE, ARN_KNOWN_CONSTANT, ARN_KNOWN_FACTOR},
};

static arn_known kind_of(const arn_rewrite_check *c, const arenaut_op *op, uint32_t i) {
    const bool there = i < op->n_inputs && op->inputs[i] != ARENAUT_NONE;
    return there ? c->labels[op->inputs[i]].known : ARN_KNOWN_NOTHING;
}

static bool is_constant_list(const arn_rewrite_check *c, uint32_t t) {
    return arn_new_tensor(c, t)->cls == ARENAUT_CONSTANT && arn_new_tensor(c, t)->rank == 1 &&
           arn_new_tensor(c, t)->dtype == ARENAUT_DTYPE_FLOAT32 &&
           c->labels[t].tensor != ARENAUT_NONE;
}

static bool is_signal(const arn_rewrite_check *c, uint32_t t) {
    return c->labels[t].tensor != ARENAUT_NONE && arn_new_tensor(c, t)->rank == OF_SIGNALS;
}

bool arn_rewrite_is_norm_step(const arn_rewrite_check *c, const arenaut_op *op) {
    if (c->rewrite->n_rounded == 0) return false;
    const arn_norm_act act = arn_norm_act_of(c, op);
    return kind_of(c, op, 0) >= ARN_KNOWN_CENTRED || kind_of(c, op, 1) >= ARN_KNOWN_CENTRED ||
           act == ARN_ACT_SUB ||
           (act == ARN_ACT_SHAPE &&
            (arn_label_is_of_rows(c, op->inputs[0]) || is_constant_list(c, op->inputs[0]) ||
             is_signal(c, op->inputs[0])));
}

/* Sizes of an image: of the old one, or of a statistic, whose axes behind H have one element. */
typedef struct sizes {
    uint32_t rank;
    int64_t dims[ARN_LABEL_RANK];
} sizes;

static sizes column_of(uint32_t rank, int64_t n, int64_t channels, int64_t rows) {
    sizes made = {rank, {n, channels, rows}};
    for (uint32_t i = H + 1; i < rank; i++) made.dims[i] = 1;
    return made;
}

static bool has_sizes(const arn_rewrite_check *c, uint32_t t, const sizes *of) {
    const arenaut_tensor *tensor = arn_new_tensor(c, t);
    return tensor->rank == of->rank &&
           memcmp(tensor->dims, of->dims, of->rank * sizeof *of->dims) == 0;
}

static bool has_column(const arn_rewrite_check *c, uint32_t t, uint32_t rank, int64_t n,
                       int64_t channels, int64_t rows) {
    const sizes of = column_of(rank, n, channels, rows);
    return has_sizes(c, t, &of);
}

/* Gives the result a label, if it is an image of these sizes that nothing has made yet. */
static arenaut_status make(arn_rewrite_check *c, const arenaut_op *op, sizes of, arn_label label) {
    const uint32_t t = op->outputs[0];
    const arenaut_tensor *made = arn_new_tensor(c, t);
    const bool fits = c->labels[t].tensor == ARENAUT_NONE &&
                      c->labels[t].known == ARN_KNOWN_NOTHING &&
                      (made->cls == ARENAUT_INTERMEDIATE || made->cls == ARENAUT_CONSTANT) &&
                      made->dtype == ARENAUT_DTYPE_FLOAT32 && !c->rewrite->tensors[t].same &&
                      has_sizes(c, t, &of);
    if (!fits) return arn_rewrite_reject(c, "its result has other sizes than it makes");
    c->labels[t] = label;
    c->labels[t].tensor = ARENAUT_NONE;
    return ARENAUT_OK;
}

/* The sizes of the old image, or signal; false if it is none. */
static bool take_image(const arn_rewrite_check *c, int64_t image, sizes *of) {
    const arenaut_tensor *old = &c->before->tensors[image];
    if (old->rank < OF_SIGNALS || old->rank > ARN_LABEL_RANK ||
        old->dtype != ARENAUT_DTYPE_FLOAT32) {
        return false;
    }
    of->rank = old->rank;
    memcpy(of->dims, old->dims, old->rank * sizeof *old->dims);
    return true;
}

/* The sizes of a tensor that has a label, and as many axes as an image. */
static sizes sizes_of(const arn_rewrite_check *c, uint32_t t) {
    const arenaut_tensor *tensor = arn_new_tensor(c, t);
    sizes of = {tensor->rank, {0}};
    memcpy(of.dims, tensor->dims, tensor->rank * sizeof *tensor->dims);
    return of;
}

/* Sizes of a part of the image with all of its columns and channels. */
static bool take_rows(const arn_rewrite_check *c, uint32_t t, int64_t image, sizes *of) {
    if (!take_image(c, image, of) || arn_new_tensor(c, t)->rank != of->rank) return false;
    of->dims[H] = arn_new_tensor(c, t)->dims[H];
    return has_sizes(c, t, of);
}

static bool is_rows_of_image(const arn_rewrite_check *c, uint32_t t) {
    const uint32_t rank = arn_new_tensor(c, t)->rank;
    if (c->labels[t].tensor == ARENAUT_NONE || rank < OF_SIGNALS || rank > ARN_LABEL_RANK) {
        return false;
    }
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (axis != H && !arn_axis_is_whole(c, t, axis)) return false;
    }
    return true;
}

/* ---- shapes ---- */

/* Numbers of all rows of an image, each once, by group. */
static arenaut_status group_rows(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    sizes image;
    const uint32_t rows = op->inputs[0];
    const int64_t groups = arn_new_tensor(c, op->outputs[0])->dims[C];
    if (!take_image(c, label.number, &image) || label.known == ARN_KNOWN_GREATEST ||
        image.dims[C] % groups != 0) {
        return arn_rewrite_reject(c, "it makes no groups of all rows");
    }
    if (label.block > 0) image.dims[H] /= label.block; /* all as long */
    if (arn_new_tensor(c, rows)->dims[H] != image.dims[H]) {
        return arn_rewrite_reject(c, "it makes no groups of all rows");
    }
    for (int64_t i = 0; i < image.dims[H]; i++) {
        if (arn_label_place(c, rows, H, i) == i) continue;
        return arn_rewrite_reject(c, "it does not take each row just once");
    }
    label.known =
        label.known == ARN_KNOWN_AVERAGES ? ARN_KNOWN_GROUP_AVERAGES : ARN_KNOWN_GROUP_SPREADS;
    label.groups = groups;
    label.scale = ARENAUT_NONE;
    label.place[H] = NULL;
    return make(
        c, op, column_of(image.rank, image.dims[N], groups, image.dims[C] / groups * image.dims[H]),
        label);
}

/* A list of a number for each group. */
static arenaut_status group_constant(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t list = op->inputs[0], old = c->labels[list].tensor;
    const int64_t groups = arn_new_tensor(c, list)->dims[0];
    if (!arn_label_is_whole(c, list, old)) {
        return arn_rewrite_reject(c, "it takes a part of a constant");
    }
    return make(
        c, op, column_of(arn_new_tensor(c, op->outputs[0])->rank, 1, groups, 1),
        (arn_label){.known = ARN_KNOWN_CONSTANT, .groups = groups, .scale = old, .number = -1});
}

/* A number for each group, once more for each of its channels. */
static arenaut_status expand(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const arenaut_tensor *made = arn_new_tensor(c, op->outputs[0]);
    const int64_t shared = label.known == ARN_KNOWN_CONSTANT ? 1 : made->dims[N];
    if (label.form != ARN_BY_GROUP ||
        !has_column(c, op->inputs[0], made->rank, shared, label.groups, 1)) {
        return arn_rewrite_reject(c, "it repeats no numbers of groups");
    }
    label.form = ARN_EXPANDED;
    return make(c, op, column_of(made->rank, made->dims[N], label.groups, made->dims[H]), label);
}

static arenaut_status take_apart(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const arenaut_tensor *from = arn_new_tensor(c, op->inputs[0]);
    if (label.form != ARN_EXPANDED) {
        return arn_rewrite_reject(c, "it takes no numbers of channels apart");
    }
    label.form = ARN_BY_CHANNEL;
    return make(c, op, column_of(from->rank, from->dims[N], from->dims[C] * from->dims[H], 1),
                label);
}

/* Blocks of places of a signal, channel by channel, as rows. */
static arenaut_status cut_blocks(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t from = op->inputs[0], signal = c->labels[from].tensor;
    const int64_t *made = arn_new_tensor(c, op->outputs[0])->dims;
    const arenaut_tensor *places = arn_new_tensor(c, from);
    const int64_t first = arn_label_place(c, from, H, 0), block = made[H];
    sizes all;
    if (!take_image(c, signal, &all) || !is_rows_of_image(c, from) || block <= 0 ||
        all.dims[H] % block != 0 || places->dims[H] % block != 0 || first < 0 ||
        first % block != 0) {
        return arn_rewrite_reject(c, "it makes no blocks of a signal");
    }
    for (int64_t i = 0; i < places->dims[H]; i++) {
        if (arn_label_place(c, from, H, i) == first + i) continue;
        return arn_rewrite_reject(c, "its places do not lie side by side");
    }
    const int64_t n = places->dims[H] / block;
    return make(c, op, column_of(all.rank, all.dims[N], all.dims[C] * n, block),
                (arn_label){.known = ARN_KNOWN_BLOCKS,
                            .number = signal,
                            .block = block,
                            .first = first / block,
                            .scale = ARENAUT_NONE});
}

/* A number of each block, as those of a signal with as many places. */
static arenaut_status line_blocks_up(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    sizes all;
    if (!take_image(c, label.number, &all)) return arn_rewrite_reject(c, "its signal is not known");
    const int64_t n = arn_new_tensor(c, op->inputs[0])->dims[C] / all.dims[C];
    int64_t *place = arn_label_axis(c, n);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < n; i++) place[i] = label.first + i;
    label.known = label.known == ARN_KNOWN_BLOCK_AVERAGES ? ARN_KNOWN_AVERAGES : ARN_KNOWN_SPREADS;
    label.place[H] = place;
    return make(c, op, column_of(all.rank, all.dims[N], all.dims[C], n), label);
}

static arenaut_status follow_shape(arn_rewrite_check *c, const arenaut_op *op, arn_norm_act act) {
    const arn_label label = c->labels[op->inputs[0]];
    const bool is_by_group = label.known == ARN_KNOWN_MEAN || label.known == ARN_KNOWN_INVERSE ||
                             label.known == ARN_KNOWN_FACTOR || label.known == ARN_KNOWN_CONSTANT;
    if (act == ARN_ACT_EXPAND && is_by_group) return expand(c, op, label);
    if (act == ARN_ACT_SHAPE && is_by_group) return take_apart(c, op, label);
    if (act == ARN_ACT_SHAPE && arn_label_is_of_rows(c, op->inputs[0])) {
        return group_rows(c, op, label);
    }
    if (act == ARN_ACT_SHAPE && is_constant_list(c, op->inputs[0])) return group_constant(c, op);
    if (act == ARN_ACT_SHAPE && is_signal(c, op->inputs[0])) return cut_blocks(c, op);
    if (act == ARN_ACT_SHAPE &&
        (label.known == ARN_KNOWN_BLOCK_AVERAGES || label.known == ARN_KNOWN_BLOCK_SPREADS)) {
        return line_blocks_up(c, op, label);
    }
    return arn_rewrite_reject(c, "it gives a statistic another shape");
}

/* ---- rows of the image ---- */

/* Rows of the image less their averages, or less the means of their channels. */
static arenaut_status follow_difference(arn_rewrite_check *c, const arenaut_op *op) {
    const uint32_t rows = op->inputs[0], by = op->inputs[1];
    const arn_label label = c->labels[by];
    sizes of;
    arn_label made = label;
    if (!is_rows_of_image(c, rows) || label.number != c->labels[rows].tensor ||
        !take_rows(c, rows, label.number, &of)) {
        return arn_rewrite_reject(c, "it is no difference of an image and its averages");
    }
    if (label.known == ARN_KNOWN_AVERAGES && label.block == 0 &&
        has_column(c, by, of.rank, of.dims[N], of.dims[C], of.dims[H]) &&
        arn_labels_agree(c, rows, H, by, H)) {
        made.known = ARN_KNOWN_CENTRED;
    } else if (label.known == ARN_KNOWN_MEAN && label.form == ARN_BY_CHANNEL &&
               has_column(c, by, of.rank, of.dims[N], of.dims[C], 1)) {
        made.known = ARN_KNOWN_LESS_MEAN;
        made.form = ARN_BY_GROUP;
    } else {
        return arn_rewrite_reject(c, "it is no difference of an image and its averages");
    }
    int64_t *place = arn_label_axis(c, of.dims[H]);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < of.dims[H]; i++) place[i] = arn_label_place(c, rows, H, i);
    made.place[H] = place;
    return make(c, op, of, made);
}

static arenaut_status follow_squares(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    sizes of;
    if (op->inputs[0] != op->inputs[1] || !take_rows(c, op->inputs[0], label.number, &of)) {
        return arn_rewrite_reject(c, "it squares no differences");
    }
    label.known = ARN_KNOWN_SQUARES;
    return make(c, op, of, label);
}

/* The averages of the squares of each row. */
static arenaut_status follow_spreads(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    sizes of;
    if (!take_rows(c, op->inputs[0], label.number, &of)) {
        return arn_rewrite_reject(c, "it reduces no rows");
    }
    label.known = ARN_KNOWN_SPREADS;
    return make(c, op, column_of(of.rank, of.dims[N], of.dims[C], of.dims[H]), label);
}

/* The inverse of each channel's group, times a number of its own. */
static arenaut_status follow_factor(arn_rewrite_check *c, const arenaut_op *op) {
    arn_label label = c->labels[op->inputs[0]];
    const arn_label constant = c->labels[op->inputs[1]];
    sizes of;
    if (!take_image(c, label.number, &of)) return arn_rewrite_reject(c, "its image is not known");
    const int64_t channels = of.dims[C];
    if (constant.form != ARN_BY_GROUP || constant.groups != channels || label.groups == channels ||
        !has_column(c, op->inputs[0], of.rank, of.dims[N], channels, 1) ||
        !has_column(c, op->inputs[1], of.rank, 1, channels, 1)) {
        return arn_rewrite_reject(c, "its factor has no number for each channel");
    }
    label.known = ARN_KNOWN_FACTOR;
    label.scale = constant.scale;
    return make(c, op, column_of(of.rank, of.dims[N], channels, 1), label);
}

/* ---- the old normalization ---- */

/* Whether an image is, in the program before, another one normalized as the label says, with this
 * constant added, or none. */
static bool is_norm_of(const arn_rewrite_check *c, uint32_t made, const arn_label *by,
                       uint32_t summand) {
    arn_old_norm norm;
    if (!arn_old_norm_of(c, made, &norm) || (int64_t)norm.image != by->number ||
        norm.groups != by->groups || norm.scale != by->scale || norm.bias != summand ||
        !norm.stated != !by->stated) {
        return false;
    }
    return norm.stated ? strcmp(norm.stated, by->stated) == 0 : norm.epsilon == by->epsilon;
}

/* The rows of the old result. */
static arenaut_status finish(arn_rewrite_check *c, const arenaut_op *op, const sizes *of,
                             const arn_label *by, uint32_t summand) {
    const uint32_t t = op->outputs[0], made = c->rewrite->tensors[t].tensor;
    if (made == ARENAUT_NONE || !has_sizes(c, t, of)) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    if (!is_norm_of(c, made, by, summand)) {
        return arn_rewrite_reject(c, "it does not normalize as the old op did");
    }
    const arenaut_status st = arn_label_begin(c, t, made);
    if (st == ARENAUT_OK) c->labels[t].place[H] = by->place[H];
    return st;
}

/* Times the factor, which is the last step where the old op had no constants. */
static arenaut_status follow_scaled(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const arn_label factor = c->labels[op->inputs[1]];
    sizes of;
    if (factor.form != ARN_BY_CHANNEL || factor.number != label.number ||
        factor.groups != label.groups || !take_rows(c, op->inputs[0], label.number, &of)) {
        return arn_rewrite_reject(c, "its factor is another image's");
    }
    if (!has_column(c, op->inputs[1], of.rank, of.dims[N], of.dims[C], 1)) {
        return arn_rewrite_reject(c, "its factor has other sizes");
    }
    label.known = ARN_KNOWN_SCALED;
    label.epsilon = factor.epsilon;
    label.stated = factor.stated;
    label.scale = factor.scale;
    if (factor.known == ARN_KNOWN_INVERSE) return finish(c, op, &of, &label, ARENAUT_NONE);
    return make(c, op, of, label);
}

/* A constant with a number for each channel, of several in a group, or for each group and spread
 * over its channels. */
static bool adds_to_channels(const arn_rewrite_check *c, uint32_t constant, const arn_label *by,
                             const sizes *of) {
    const arn_label *label = &c->labels[constant];
    const int64_t channels = of->dims[C];
    if (label->form == ARN_BY_CHANNEL) {
        return label->groups == by->groups &&
               has_column(c, constant, of->rank, of->dims[N], channels, 1);
    }
    return label->form == ARN_BY_GROUP && label->groups == channels && by->groups != channels &&
           has_column(c, constant, of->rank, 1, channels, 1);
}

static arenaut_status follow_summand(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const uint32_t rows = op->inputs[0];
    const arn_label summand = c->labels[op->inputs[1]];
    sizes of;
    if (!take_rows(c, rows, label.number, &of)) {
        return arn_rewrite_reject(c, "its result has other sizes than it makes");
    }
    if (!adds_to_channels(c, op->inputs[1], &label, &of)) {
        return arn_rewrite_reject(c, "it does not normalize as the old op did");
    }
    return finish(c, op, &of, &label, summand.scale);
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
    return make(c, op, sizes_of(c, op->inputs[0]), label);
}

/* Likewise, as the op states it. */
static arenaut_status follow_raise(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    label.known = ARN_KNOWN_PADDED;
    label.stated = arn_norm_stated(op);
    return make(c, op, sizes_of(c, op->inputs[0]), label);
}

/* The averages of blocks of a signal, or of their squares. */
static arenaut_status follow_block_means(arn_rewrite_check *c, const arenaut_op *op,
                                         arn_label label) {
    const sizes of = sizes_of(c, op->inputs[0]);
    label.known =
        label.known == ARN_KNOWN_BLOCKS ? ARN_KNOWN_BLOCK_AVERAGES : ARN_KNOWN_BLOCK_SPREADS;
    return make(c, op, column_of(of.rank, of.dims[N], of.dims[C], 1), label);
}

/* Blocks less their own averages, or the squares of these. */
static arenaut_status follow_blocks(arn_rewrite_check *c, const arenaut_op *op, arn_label label) {
    const arn_label by = c->labels[op->inputs[1]];
    const sizes of = sizes_of(c, op->inputs[0]);
    const bool squares = label.known == ARN_KNOWN_BLOCKS_CENTRED;
    const bool fits =
        squares ? op->inputs[0] == op->inputs[1]
                : by.number == label.number && by.block == label.block && by.first == label.first &&
                      has_column(c, op->inputs[1], of.rank, of.dims[N], of.dims[C], 1);
    if (!fits) return arn_rewrite_reject(c, "it reads blocks of another part of the signal");
    label.known = squares ? ARN_KNOWN_BLOCK_SQUARES : ARN_KNOWN_BLOCKS_CENTRED;
    return make(c, op, of, label);
}

/* Whether the second operand has an element for each of the first, or is one number for each
 * group: nothing else is repeated. */
static bool are_side_by_side(const arn_rewrite_check *c, const arenaut_op *op) {
    const sizes a = sizes_of(c, op->inputs[0]);
    switch (c->labels[op->inputs[1]].known) {
        case ARN_KNOWN_MEAN: return has_column(c, op->inputs[1], a.rank, a.dims[N], a.dims[C], 1);
        case ARN_KNOWN_CONSTANT: return has_column(c, op->inputs[1], a.rank, 1, a.dims[C], 1);
        default: return has_sizes(c, op->inputs[1], &a);
    }
}

/* Statistics of one image in as many groups, of rows or blocks that are all as long. */
static bool belong_together(const arn_rewrite_check *c, const arenaut_op *op) {
    const arn_label *a = &c->labels[op->inputs[0]], *b = &c->labels[op->inputs[1]];
    const bool constant = b->known == ARN_KNOWN_CONSTANT;
    return a->groups == b->groups &&
           (constant || (a->number == b->number && a->block == b->block)) &&
           a->form == ARN_BY_GROUP && b->form == ARN_BY_GROUP && are_side_by_side(c, op) &&
           (a->known != b->known || op->inputs[0] == op->inputs[1]);
}

/* By group: one number, or one for each row and channel of the group. */
static arenaut_status follow_statistic(arn_rewrite_check *c, const arenaut_op *op, const step *by) {
    arn_label label = c->labels[op->inputs[0]];
    const sizes all = sizes_of(c, op->inputs[0]);
    const bool two = by->b != ARN_KNOWN_NOTHING;
    if (label.form != ARN_BY_GROUP || (two && !belong_together(c, op))) {
        return arn_rewrite_reject(c, "its statistics are of different images");
    }
    if (by->made == ARN_KNOWN_FACTOR) label.scale = c->labels[op->inputs[1]].scale;
    label.known = by->made;
    const bool averages = by->act == ARN_ACT_MEAN;
    return make(c, op, averages ? column_of(all.rank, all.dims[N], all.dims[C], 1) : all, label);
}

static bool is_factor_of_channels(const arn_rewrite_check *c, const arenaut_op *op) {
    return kind_of(c, op, 0) == ARN_KNOWN_INVERSE && kind_of(c, op, 1) == ARN_KNOWN_CONSTANT &&
           c->labels[op->inputs[0]].form == ARN_BY_CHANNEL;
}

/* On the image, or its blocks, and with constants. */
static const struct {
    arn_norm_act act;
    arn_known a, b; /* of the operands; NOTHING: another, or none */
    arenaut_status (*follow)(arn_rewrite_check *c, const arenaut_op *op, arn_label label);
} others[] = {
    {ARN_ACT_MUL, ARN_KNOWN_CENTRED, ARN_KNOWN_CENTRED, follow_squares},
    {ARN_ACT_ADD, ARN_KNOWN_VARIANCE, ARN_KNOWN_NOTHING, follow_epsilon},
    {ARN_ACT_RAISE, ARN_KNOWN_VARIANCE, ARN_KNOWN_NOTHING, follow_raise},
    {ARN_ACT_MUL, ARN_KNOWN_LESS_MEAN, ARN_KNOWN_FACTOR, follow_scaled},
    {ARN_ACT_MUL, ARN_KNOWN_LESS_MEAN, ARN_KNOWN_INVERSE, follow_scaled},
    {ARN_ACT_ADD, ARN_KNOWN_SCALED, ARN_KNOWN_CONSTANT, follow_summand},
    {ARN_ACT_MEAN, ARN_KNOWN_BLOCKS, ARN_KNOWN_NOTHING, follow_block_means},
    {ARN_ACT_SUB, ARN_KNOWN_BLOCKS, ARN_KNOWN_BLOCK_AVERAGES, follow_blocks},
    {ARN_ACT_MUL, ARN_KNOWN_BLOCKS_CENTRED, ARN_KNOWN_BLOCKS_CENTRED, follow_blocks},
    {ARN_ACT_MEAN, ARN_KNOWN_BLOCK_SQUARES, ARN_KNOWN_NOTHING, follow_block_means},
};

static arenaut_status follow_arithmetic(arn_rewrite_check *c, const arenaut_op *op,
                                        arn_norm_act act) {
    const arn_known a = kind_of(c, op, 0), b = kind_of(c, op, 1);
    if (act == ARN_ACT_MUL && is_factor_of_channels(c, op)) return follow_factor(c, op);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (act != steps[i].act || steps[i].a != a || steps[i].b != b) continue;
        return follow_statistic(c, op, &steps[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (act != others[i].act || others[i].a != a || others[i].b != b) continue;
        return others[i].follow(c, op, c->labels[op->inputs[0]]);
    }
    return act == ARN_ACT_SUB ? follow_difference(c, op)
                              : arn_rewrite_reject(c, "it is no step of a normalization");
}

arenaut_status arn_rewrite_follow_norm_step(arn_rewrite_check *c, const arenaut_op *op) {
    const arn_norm_act act = arn_norm_act_of(c, op);
    const arn_label label = c->labels[op->inputs[0]];
    if (act == ARN_ACT_NONE) return arn_rewrite_reject(c, "it is no step of a normalization");
    if (act == ARN_ACT_SHAPE || act == ARN_ACT_EXPAND) return follow_shape(c, op, act);
    if (act == ARN_ACT_ROWS && label.known == ARN_KNOWN_SQUARES)
        return follow_spreads(c, op, label);
    if (act == ARN_ACT_JOIN && arn_label_is_of_rows(c, op->inputs[0])) {
        return arn_rewrite_join_rows(c, op);
    }
    return follow_arithmetic(c, op, act);
}
