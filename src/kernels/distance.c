/* Distances, how far an output may reach into an input: the rules for every op, and the family of
 * each. The families have a file each beside this one. */
#include "kernels/distance.h"

#include "kernels/op_facts.h"
#include "ops/ops.h"

typedef struct family {
    uint32_t first, last; /* positions of the operands; the other inputs are parameters */
    uint32_t outputs;     /* at most */
    bool (*walk)(const arn_pair *pair, arn_reach *reach); /* NULL: no order is known */
} family;

static const family families[ARN_OVERLAP_COUNT] = {
    [ARN_OVERLAP_WINDOW] = {0, 0, 1, arn_window_distance},
    [ARN_OVERLAP_CHANNELS_LAST] = {0, 0, 1, arn_window_distance},
    [ARN_OVERLAP_IMAGE_THIRD] = {2, 2, 1, NULL},
    [ARN_OVERLAP_AT_ONCE] = {0, 0, 1, NULL},
    [ARN_OVERLAP_PLANES] = {0, 0, 2, arn_plane_distance},
    [ARN_OVERLAP_RESIZE] = {0, 0, 1, arn_resize_distance},
    [ARN_OVERLAP_DENSE] = {0, 0, 1, arn_dense_distance},
    [ARN_OVERLAP_UNARY] = {0, 0, 1, arn_unary_distance},
    [ARN_OVERLAP_BINARY] = {0, 1, 1, arn_binary_distance},
    [ARN_OVERLAP_PAD] = {0, 0, 1, arn_pad_distance},
    [ARN_OVERLAP_MIRROR_PAD] = {0, 0, 1, arn_mirror_pad_distance},
    [ARN_OVERLAP_CONCATENATION] = {0, UINT32_MAX, 1, arn_concatenation_distance},
    [ARN_OVERLAP_PACK] = {0, UINT32_MAX, 1, arn_pack_distance},
    [ARN_OVERLAP_SPLIT] = {1, 1, UINT32_MAX, arn_split_distance},
    [ARN_OVERLAP_SPLIT_SIZES] = {0, 0, UINT32_MAX, arn_split_distance},
    [ARN_OVERLAP_SLICE] = {0, 0, 1, arn_slice_distance},
    [ARN_OVERLAP_STRIDED_SLICE] = {0, 0, 1, arn_strided_slice_distance},
    [ARN_OVERLAP_TRANSPOSE] = {0, 0, 1, arn_transpose_distance},
    [ARN_OVERLAP_DEPTH_TO_SPACE] = {0, 0, 1, arn_depth_to_space_distance},
    [ARN_OVERLAP_SPACE_TO_DEPTH] = {0, 0, 1, arn_space_to_depth_distance},
    [ARN_OVERLAP_MATMUL] = {0, 1, 1, arn_matmul_distance},
    [ARN_OVERLAP_MEAN] = {0, 0, 1, arn_mean_distance},
    [ARN_OVERLAP_ARG] = {0, 0, 1, arn_arg_distance},
    [ARN_OVERLAP_SEQUENCE] = {0, 0, 1, arn_sequence_distance},
};

static const arn_op_row *row_of(const arenaut_op *op) {
    const arn_op_row *row = arn_op_row_find(ARN_OPS_TFLITE, op->name);
    return row ? row : arn_op_row_find(ARN_OPS_EXECUTORCH, op->name);
}

static const family *family_of(const arenaut_op *op) {
    const arn_op_row *row = row_of(op);
    return row && row->overlap != ARN_OVERLAP_NONE ? &families[row->overlap] : NULL;
}

/* Whether the op has no more results than its family's kernels make together; a scratch argument
 * stands behind them, and overlaps nothing. */
static bool has_its_outputs(const arenaut_op *op, const family *known, uint32_t output) {
    const uint32_t own = row_of(op)->scratch ? 1 : 0;
    return output < known->outputs && op->n_outputs - own <= known->outputs;
}

uint32_t arn_first_operand(const arenaut_op *op) {
    const family *known = family_of(op);
    return known ? known->first : 0;
}

/* Where nothing is read once something is written, the input may begin anywhere up to its own size
 * below the output; past that they do not touch. Where the input must begin behind the output's
 * end, the distance says nothing. */
static bool settle(const arn_pair *pair, const arn_reach *reach, int64_t *distance) {
    int64_t least = -(int64_t)pair->in->bytes;
    if (reach->distance > least) least = reach->distance;
    if (reach->apart > least) least = reach->apart;
    *distance = least;
    return least < (int64_t)pair->out->bytes;
}

bool arn_kernel_distance(const arenaut_program *program, const arenaut_op *op,
                         const arenaut_kernel_rule *rule, arenaut_overlap *found, bool *in_place,
                         uint64_t *steps_left) {
    const uint32_t output = found->output, input = found->input;
    *in_place = false;
    const family *known = family_of(op);
    const arenaut_tensor *in = arn_op_input(program, op, input);
    const arenaut_tensor *out = arn_op_output(program, op, output);
    if (!known || input < known->first || input > known->last || !in || !out) return false;
    if (!has_its_outputs(op, known, output)) return false;
    bool (*lies_as_known)(const arenaut_tensor *) =
        known == &families[ARN_OVERLAP_CHANNELS_LAST] ? arn_is_channels_last : arn_is_plain;
    if (!lies_as_known(in) || !lies_as_known(out)) return false;
    const arn_pair pair = {
        .program = program,
        .op = op,
        .rule = rule,
        .output = output,
        .input = input,
        .out = out,
        .in = in,
        .out_element = (int64_t)arn_element_bytes(out),
        .in_element = (int64_t)arn_element_bytes(in),
        .steps_left = steps_left,
    };
    arn_reach reach = arn_reach_nothing();
    if (rule->order == ARENAUT_KERNEL_NONE) return false;
    if (rule->order != ARENAUT_KERNEL_ANY && (!known->walk || !known->walk(&pair, &reach))) {
        return false;
    }
    *in_place = reach.distance <= 0 && reach.apart > 0 && !reach.moves;
    return settle(&pair, &reach, &found->distance);
}
