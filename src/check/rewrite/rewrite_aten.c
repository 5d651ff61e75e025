/* Transfer functions on labels of PyTorch's operators, on images NCHW and signals NCL: parts of
 * convolutions and pools, transposed convolutions and resizing, ops element by element, and
 * slice_copy and cat. */
#include <string.h>

#include "check/finding.h"
#include "check/rewrite/rewrite_nchw.h"

enum { OF_TWO_AXES = 4, MOST_EXACT = 1 << 20 }; /* places in single precision, halves included */

enum rule {
    CONVOLUTION,
    TRANSPOSED,
    POOL,
    PADDER,
    NEAREST,
    LINEAR,
    SHUFFLE,
    UNSHUFFLE,
    NORMALIZATION,
    JOINER,
    AVERAGE,
    WHOLE,
    BY_ELEMENT
};

static const arn_rewrite_row rows[] = {
    {"aten::conv1d", CONVOLUTION},
    {"aten::conv2d", CONVOLUTION},
    {"aten::conv3d", CONVOLUTION},
    {"aten::convolution", CONVOLUTION},
    {"aten::conv_transpose1d", TRANSPOSED},
    {"aten::conv_transpose2d.input", TRANSPOSED},
    {"aten::conv_transpose3d.input", TRANSPOSED},
    {"aten::max_pool1d", POOL},
    {"aten::max_pool2d", POOL},
    {"aten::max_pool3d", POOL},
    {"aten::avg_pool1d", POOL},
    {"aten::avg_pool2d", POOL},
    {"aten::avg_pool3d", POOL},
    {"aten::upsample_nearest1d.vec", NEAREST},
    {"aten::upsample_nearest2d.vec", NEAREST},
    {"aten::upsample_linear1d.vec", LINEAR},
    {"aten::upsample_bilinear2d.vec", LINEAR},
    {"aten::pixel_shuffle", SHUFFLE},
    {"aten::pixel_unshuffle", UNSHUFFLE},
    {"aten::batch_norm", NORMALIZATION},
    {"aten::group_norm", WHOLE},
    {"aten::native_group_norm", WHOLE},
    {"aten::instance_norm", WHOLE},
    {"aten::cat", JOINER},
    {"aten::adaptive_avg_pool2d", AVERAGE},
    {"aten::mean.dim", AVERAGE},
    {"aten::pad", PADDER},
    {"aten::constant_pad_nd", PADDER},
    {"aten::add.Tensor", BY_ELEMENT},
    {"aten::sub.Tensor", BY_ELEMENT},
    {"aten::mul.Tensor", BY_ELEMENT},
    {"aten::div.Tensor", BY_ELEMENT},
    {"aten::relu", BY_ELEMENT},
    {"aten::relu6", BY_ELEMENT},
    {"aten::hardtanh", BY_ELEMENT},
    {"aten::leaky_relu", BY_ELEMENT},
    {"aten::sigmoid", BY_ELEMENT},
    {"aten::silu", BY_ELEMENT},
    {"aten::hardswish", BY_ELEMENT},
    {"aten::hardsigmoid", BY_ELEMENT},
    {"aten::tanh", BY_ELEMENT},
    {"aten::gelu", BY_ELEMENT},
    {"aten::clamp", BY_ELEMENT},
};

static bool has(const arenaut_op *op, const char *name) {
    return arenaut_op_attribute(op, name) != NULL;
}

/* Whether the argument, or its default, is this number. */
static bool is(const arenaut_op *op, const char *name, int64_t otherwise, int64_t expected) {
    int64_t number;
    return arn_nchw_number(op, name, 1, 0, otherwise, &number) && number == expected;
}

/* ---- blocks of rows ---- */

/* By whole factors. The kernel computes places in single precision: they are exact for powers of
 * two, so that they do not depend on where the part lies. */
static arenaut_status follow_resize(arn_rewrite_check *c, const arenaut_op *op,
                                    const arenaut_op *old, bool linear) {
    const uint32_t rank = arn_nchw_rank(c, op, old);
    int64_t up[ARN_LABEL_RANK];
    if (rank == 0) return arn_rewrite_reject(c, "it does not read the image that the old op read");
    for (uint32_t k = 0; k < rank - 2; k++) {
        if (op->n_inputs != 1 || has(op, "output_size") || !has(op, "scales") ||
            !is(op, "align_corners", 0, 0) ||
            !arn_nchw_number(op, "scales", rank - 2, k, 0, &up[k]) || up[k] < 1 ||
            (up[k] & (up[k] - 1)) != 0 ||
            c->before->tensors[old->outputs[0]].dims[2 + k] > MOST_EXACT) {
            return arn_rewrite_reject(c, "the places that it reads are not known");
        }
    }
    return arn_rewrite_follow_blocks(c, op, old, &(arn_blocks){up[0], linear, linear});
}

static arenaut_status follow_shuffle(arn_rewrite_check *c, const arenaut_op *op,
                                     const arenaut_op *old) {
    arn_blocks b = {.up = 0};
    if (op->n_inputs != 1 || arn_nchw_rank(c, op, old) != OF_TWO_AXES ||
        !arn_nchw_number(op, "upscale_factor", 1, 0, 0, &b.up)) {
        return arn_rewrite_reject(c, "the size of its blocks is not known");
    }
    return arn_rewrite_follow_blocks(c, op, old, &b);
}

static arenaut_status follow_unshuffle(arn_rewrite_check *c, const arenaut_op *op,
                                       const arenaut_op *old) {
    int64_t down;
    if (!arn_nchw_number(op, "downscale_factor", 1, 0, 0, &down)) {
        return arn_rewrite_reject(c, "the size of its blocks is not known");
    }
    return arn_rewrite_follow_unblocks(c, op, old, down);
}

/* ---- padding of the model ---- */

static const int64_t *pads_of(const arenaut_op *op, uint32_t rank) {
    const arenaut_attribute *pads = arenaut_op_attribute(op, "pads");
    return pads && !pads->text && pads->n_numbers == 2 * rank ? pads->numbers : NULL;
}

/* The mode is the old one: no attribute but the padding differs. */
static arenaut_status follow_padder(arn_rewrite_check *c, const arenaut_op *op,
                                    const arenaut_op *old) {
    static const char *const modes[] = {[ARN_MARGIN_VALUE] = "constant",
                                        [ARN_MARGIN_EDGE] = "replicate",
                                        [ARN_MARGIN_REFLECTION] = "reflect"};
    const arenaut_attribute *mode = arenaut_op_attribute(old, "mode");
    const char *text = mode && mode->text ? mode->text : modes[ARN_MARGIN_VALUE];
    const uint32_t rank = arn_nchw_rank(c, op, old);
    for (size_t i = 0; i < sizeof modes / sizeof *modes && op->n_inputs == 1; i++) {
        if (strcmp(text, modes[i]) != 0) continue;
        return arn_rewrite_follow_margins(c, op, old, (arn_margin_kind)i, pads_of(op, rank),
                                          pads_of(old, rank));
    }
    return arn_rewrite_reject(c, "the elements that it pads with are not known");
}

/* ---- parts ---- */

static arenaut_status follow_convolution(arn_rewrite_check *c, const arenaut_op *op,
                                         const arenaut_op *old) {
    return is(op, "transposed", 0, 0) ? arn_rewrite_follow_nchw(c, op, old, false)
                                      : arn_rewrite_follow_transposed(c, op, old);
}

static arenaut_status follow_normalization(arn_rewrite_check *c, const arenaut_op *op,
                                           const arenaut_op *old) {
    if (!is(op, "training", 1, 0)) {
        return arn_rewrite_reject(c, "it normalizes by all elements of its image");
    }
    return arn_rewrite_follow_channels(c, op, old);
}

/* A pool to one element of each channel. */
static bool pools_all(const arenaut_op *old) {
    int64_t height, width;
    return has(old, "output_size") && arn_nchw_number(old, "output_size", 2, 0, 0, &height) &&
           arn_nchw_number(old, "output_size", 2, 1, 0, &width) && height == 1 && width == 1;
}

/* A mean along just the two axes of an image behind the channels, in numbers of its own type. */
static bool means_all(const arn_rewrite_check *c, const arenaut_op *old) {
    const uint32_t rank = c->before->tensors[old->inputs[0]].rank;
    const arenaut_attribute *axes = arenaut_op_attribute(old, "axis");
    bool found[OF_TWO_AXES] = {false};
    if (rank != OF_TWO_AXES || !axes || axes->text || axes->n_numbers != 2 || has(old, "dtype"))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t axis =
            axes->numbers[i] < 0 ? axes->numbers[i] + OF_TWO_AXES : axes->numbers[i];
        if (axis < 2 || axis >= OF_TWO_AXES || found[axis]) return false;
        found[axis] = true;
    }
    return true;
}

/* To one element of each channel. */
static arenaut_status follow_average(arn_rewrite_check *c, const arenaut_op *op,
                                     const arenaut_op *old) {
    const bool means = strcmp(old->name, "aten::mean.dim") == 0;
    if (op->n_inputs != 1 || old->inputs[0] == ARENAUT_NONE ||
        !(means ? means_all(c, old) : pools_all(old))) {
        return arn_rewrite_reject(c, "the windows of its kernel are not known");
    }
    return arn_rewrite_follow_reduction(c, op, old, ARN_KNOWN_AVERAGES);
}

/* An operator whose name says for images of how many axes it is reads one without a batch by
 * another rule: then the dimensions are others. */
static bool has_a_batch(const arn_rewrite_check *c, const arenaut_op *op, const arenaut_op *old) {
    static const char *const axes[] = {"1d", "2d", "3d"};
    for (uint32_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        if (strstr(op->name, axes[i])) return arn_nchw_rank(c, op, old) == 2 + i + 1;
    }
    return true;
}

static arenaut_status follow_part(arn_rewrite_check *c, int rule, const arenaut_op *op,
                                  const arenaut_op *old) {
    if (!has_a_batch(c, op, old)) {
        return arn_rewrite_reject(c, "its image has other axes than the operator is for");
    }
    if (rule != NORMALIZATION && has(old, "operands")) { /* by channel, whichever it is */
        return arn_rewrite_reject(c, "which of its operands are its weights is not known");
    }
    switch ((enum rule)rule) {
        case CONVOLUTION: return follow_convolution(c, op, old);
        case TRANSPOSED: return arn_rewrite_follow_transposed(c, op, old);
        case POOL: return arn_rewrite_follow_nchw(c, op, old, true);
        case PADDER: return follow_padder(c, op, old);
        case NEAREST: return follow_resize(c, op, old, false);
        case LINEAR: return follow_resize(c, op, old, true);
        case SHUFFLE: return follow_shuffle(c, op, old);
        case UNSHUFFLE: return follow_unshuffle(c, op, old);
        case NORMALIZATION: return follow_normalization(c, op, old);
        case JOINER: return arn_rewrite_follow_joiner(c, op, old);
        case AVERAGE: return follow_average(c, op, old);
        case WHOLE: break;
        case BY_ELEMENT: return arn_rewrite_follow_elements(c, op, old);
    }
    return arn_rewrite_reject(c, "the result of a part of it is not known");
}

/* ---- ops that move data ---- */

static arenaut_status follow_slice(arn_rewrite_check *c, const arenaut_op *op) {
    int64_t begin, end, axis;
    if (op->n_inputs != 1 || op->n_attributes != 3 || !has(op, "start") || !has(op, "end") ||
        !arn_nchw_number(op, "start", 1, 0, 0, &begin) ||
        !arn_nchw_number(op, "end", 1, 0, 0, &end) || !has(op, "axis") ||
        !arn_nchw_number(op, "axis", 1, 0, 0, &axis)) {
        return arn_rewrite_reject(c, "where it begins and ends is not known");
    }
    return arn_rewrite_follow_slice(c, op, begin, end, axis);
}

static arenaut_status follow_move(arn_rewrite_check *c, const arenaut_op *op) {
    const bool slices = op->name && strcmp(op->name, "aten::slice_copy.Tensor") == 0;
    if (arn_rewrite_is_norm_step(c, op)) return arn_rewrite_follow_norm_step(c, op);
    if (op->name && strcmp(op->name, "aten::mean.dim") == 0) {
        return arn_rewrite_follow_rows(c, op, ARN_KNOWN_AVERAGES);
    }
    if (!slices && (!op->name || strcmp(op->name, "aten::cat") != 0 || op->n_attributes != 1)) {
        return arn_rewrite_reject(c, "it is no op that moves data");
    }
    if (!slices && arn_label_is_of_rows(c, op->inputs[0])) return arn_rewrite_join_rows(c, op);
    const arenaut_status st = arn_rewrite_begin_move(c, op);
    if (st != ARENAUT_OK) return st;
    return slices ? follow_slice(c, op) : arn_rewrite_follow_join(c, op);
}

extern const arn_rewrite_rules arn_rewrite_aten;
const arn_rewrite_rules arn_rewrite_aten = {
    "aten",      true,       ARENAUT_OP_FUNCTIONAL, rows, sizeof rows / sizeof *rows,
    follow_part, follow_move};
