/* How far an output may reach into an input: what holds for every op, and which family each
 * belongs to. The families have a file each beside this one. */
#include "kernels/distance.h"

#include <string.h>

#include "kernels/op_facts.h"

typedef struct family {
    const char *op;
    uint32_t first, last; /* positions of the operands; the other inputs are parameters */
    uint32_t outputs;     /* at most */
    bool (*walk)(const arn_pair *pair, arn_reach *reach); /* NULL: no order is known */
} family;

static const family families[] = {
    {"CONV_2D", 0, 0, 1, arn_window_distance},
    {"DEPTHWISE_CONV_2D", 0, 0, 1, arn_window_distance},
    {"AVERAGE_POOL_2D", 0, 0, 1, arn_window_distance},
    {"MAX_POOL_2D", 0, 0, 1, arn_window_distance},
    {"TRANSPOSE_CONV", 2, 2, 1, NULL},
    {"RESIZE_BILINEAR", 0, 0, 1, arn_resize_distance},
    {"RESIZE_NEAREST_NEIGHBOR", 0, 0, 1, arn_resize_distance},
    {"FULLY_CONNECTED", 0, 0, 1, arn_dense_distance},
    {"RELU", 0, 0, 1, arn_unary_distance},
    {"RELU6", 0, 0, 1, arn_unary_distance},
    {"RELU_N1_TO_1", 0, 0, 1, arn_unary_distance},
    {"ELU", 0, 0, 1, arn_unary_distance},
    {"TANH", 0, 0, 1, arn_unary_distance},
    {"LOGISTIC", 0, 0, 1, arn_unary_distance},
    {"LEAKY_RELU", 0, 0, 1, arn_unary_distance},
    {"HARD_SWISH", 0, 0, 1, arn_unary_distance},
    {"ABS", 0, 0, 1, arn_unary_distance},
    {"NEG", 0, 0, 1, arn_unary_distance},
    {"SQUARE", 0, 0, 1, arn_unary_distance},
    {"SQRT", 0, 0, 1, arn_unary_distance},
    {"RSQRT", 0, 0, 1, arn_unary_distance},
    {"EXP", 0, 0, 1, arn_unary_distance},
    {"LOG", 0, 0, 1, arn_unary_distance},
    {"SIN", 0, 0, 1, arn_unary_distance},
    {"COS", 0, 0, 1, arn_unary_distance},
    {"FLOOR", 0, 0, 1, arn_unary_distance},
    {"CEIL", 0, 0, 1, arn_unary_distance},
    {"ROUND", 0, 0, 1, arn_unary_distance},
    {"LOGICAL_NOT", 0, 0, 1, arn_unary_distance},
    {"QUANTIZE", 0, 0, 1, arn_unary_distance},
    {"DEQUANTIZE", 0, 0, 1, arn_unary_distance},
    {"CAST", 0, 0, 1, arn_unary_distance},
    {"SOFTMAX", 0, 0, 1, arn_unary_distance},
    {"LOG_SOFTMAX", 0, 0, 1, arn_unary_distance},
    {"L2_NORMALIZATION", 0, 0, 1, arn_unary_distance},
    {"ADD", 0, 1, 1, arn_binary_distance},
    {"SUB", 0, 1, 1, arn_binary_distance},
    {"MUL", 0, 1, 1, arn_binary_distance},
    {"DIV", 0, 1, 1, arn_binary_distance},
    {"MINIMUM", 0, 1, 1, arn_binary_distance},
    {"MAXIMUM", 0, 1, 1, arn_binary_distance},
    {"SQUARED_DIFFERENCE", 0, 1, 1, arn_binary_distance},
    {"FLOOR_DIV", 0, 1, 1, arn_binary_distance},
    {"FLOOR_MOD", 0, 1, 1, arn_binary_distance},
    {"LOGICAL_AND", 0, 1, 1, arn_binary_distance},
    {"LOGICAL_OR", 0, 1, 1, arn_binary_distance},
    {"EQUAL", 0, 1, 1, arn_binary_distance},
    {"NOT_EQUAL", 0, 1, 1, arn_binary_distance},
    {"LESS", 0, 1, 1, arn_binary_distance},
    {"LESS_EQUAL", 0, 1, 1, arn_binary_distance},
    {"GREATER", 0, 1, 1, arn_binary_distance},
    {"GREATER_EQUAL", 0, 1, 1, arn_binary_distance},
    {"PRELU", 0, 1, 1, arn_binary_distance},
    {"PAD", 0, 0, 1, arn_pad_distance},
    {"PADV2", 0, 0, 1, arn_pad_distance},
    {"MIRROR_PAD", 0, 0, 1, arn_mirror_pad_distance},
    {"CONCATENATION", 0, UINT32_MAX, 1, arn_concatenation_distance},
    {"PACK", 0, UINT32_MAX, 1, arn_pack_distance},
    {"SPLIT", 1, 1, UINT32_MAX, arn_split_distance},
    {"SPLIT_V", 0, 0, UINT32_MAX, arn_split_distance},
    {"SLICE", 0, 0, 1, arn_slice_distance},
    {"STRIDED_SLICE", 0, 0, 1, arn_strided_slice_distance},
    {"TRANSPOSE", 0, 0, 1, arn_transpose_distance},
    {"DEPTH_TO_SPACE", 0, 0, 1, arn_depth_to_space_distance},
    {"SPACE_TO_DEPTH", 0, 0, 1, arn_space_to_depth_distance},
    {"BATCH_MATMUL", 0, 1, 1, arn_matmul_distance},
    {"MEAN", 0, 0, 1, arn_mean_distance},
    {"ARG_MAX", 0, 0, 1, arn_arg_distance},
    {"ARG_MIN", 0, 0, 1, arn_arg_distance},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 0, 0, 1, arn_sequence_distance},
    {"SVDF", 0, 0, 1, NULL},
};

static const family *family_of(const arenaut_op *op) {
    for (size_t i = 0; op->name && i < sizeof families / sizeof *families; i++) {
        if (strcmp(families[i].op, op->name) == 0) return &families[i];
    }
    return NULL;
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
    if (op->n_outputs > known->outputs) return false;
    if (!arn_is_plain(in) || !arn_is_plain(out)) return false;
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

bool arenaut_kernel_distance(const arenaut_program *program, const arenaut_op *op,
                             const arenaut_kernel_rule *rule, uint32_t output, uint32_t input,
                             int64_t *distance) {
    uint64_t steps = ARN_MOST_STEPS;
    arenaut_overlap pair = {output, input, 0};
    bool in_place;
    const bool known = arn_kernel_distance(program, op, rule, &pair, &in_place, &steps);
    if (known) *distance = pair.distance;
    return known;
}
