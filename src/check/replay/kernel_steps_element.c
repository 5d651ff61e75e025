/* kernel_steps_element: kernels that make one element after the other, from the element at the same
 * place of each operand; an operand of fewer elements is read again and again (broadcast). Rows
 * too, of which a sum or the largest element is sought first: the loop over the row that writes
 * reads each element again before it writes that. O(elements). */
#include "check/replay/kernel_steps.h"

/* How many elements a library makes at once, of which all operands are read before they are
 * written; 0, with the walk given up, if the order is none of elements. */
static uint64_t block_of(arn_walk *walk) {
    if (walk->rule->order == ARENAUT_KERNEL_RASTER) return 1;
    if (walk->rule->order == ARENAUT_KERNEL_BLOCK) return walk->rule->block;
    (void)arn_walk_give_up(walk, "its elements are in no such order");
    return 0;
}

static bool one_operand(arn_walk *walk) {
    arn_operand in, out;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_output_operand(walk, 0, &out))
        return false;
    if (in.count != out.count) return arn_walk_give_up(walk, "its shapes do not fit together");
    const uint64_t block = block_of(walk);
    for (uint64_t k = 0; k < out.count && block > 0; k += block) {
        const uint64_t end = out.count - k < block ? out.count : k + block;
        if (!arn_walk_read(walk, 0, k * in.element, end * in.element) ||
            !arn_walk_write(walk, 0, k * out.element, end * out.element))
            return false;
    }
    return block > 0;
}

/* Strides of an operand in each dimension of the output, in elements: 0 where it is repeated. False
 * if the two do not fit. */
static bool spread(const arn_operand *in, const arn_operand *out, int64_t *strides) {
    int64_t stride = 1;
    if (in->rank > out->rank) return false;
    const uint32_t outer = out->rank - in->rank;
    for (uint32_t i = out->rank; i-- > 0;) {
        const int64_t dim = i < outer ? 1 : in->dims[i - outer];
        if (dim != 1 && dim != out->dims[i]) return false;
        strides[i] = dim == 1 ? 0 : stride;
        stride *= dim;
    }
    return true;
}

static bool two_operands(arn_walk *walk) {
    arn_operand a, b, out;
    int64_t from_a[ARN_OPERAND_RANK], from_b[ARN_OPERAND_RANK];
    arn_loops loops = {.depth = 0};
    if (!arn_walk_input_operand(walk, 0, &a) || !arn_walk_input_operand(walk, 1, &b) ||
        !arn_walk_output_operand(walk, 0, &out))
        return false;
    if (!spread(&a, &out, from_a) || !spread(&b, &out, from_b))
        return arn_walk_give_up(walk, "its shapes do not fit together");
    for (uint32_t i = 0; i < out.rank; i++)
        arn_loops_add(&loops, out.dims[i], from_a[i], from_b[i]);
    const uint64_t block = block_of(walk);
    if (out.count == 0 || block == 0) return block > 0;
    uint64_t k = 0, written = 0;
    do {
        const uint64_t x = (uint64_t)loops.at[0] * a.element, y = (uint64_t)loops.at[1] * b.element;
        if (!arn_walk_read(walk, 0, x, x + a.element) || !arn_walk_read(walk, 1, y, y + b.element))
            return false;
        k++;
        if (k - written < block && k < out.count) continue;
        if (!arn_walk_write(walk, 0, written * out.element, k * out.element)) return false;
        written = k;
    } while (arn_loops_next(&loops));
    return true;
}

/* The bytes as they are, by memcpy. */
static bool rename_bytes(arn_walk *walk) {
    arn_operand in, out;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_output_operand(walk, 0, &out))
        return false;
    return arn_walk_copy(walk, 0, 0, 0, 0, in.count * in.element);
}

#define ONE(name) {.op = name, .loops = one_operand, .inputs = 1, .takes_blocks = true}
#define TWO(name) {.op = name, .loops = two_operands, .inputs = 3, .takes_blocks = true}

const arn_kernel_family arn_element_kernels[] = {
    ONE("ABS"),
    ONE("CAST"),
    ONE("CEIL"),
    ONE("COS"),
    ONE("DEQUANTIZE"),
    ONE("ELU"),
    ONE("EXP"),
    ONE("FLOOR"),
    ONE("HARD_SWISH"),
    ONE("L2_NORMALIZATION"),
    ONE("LEAKY_RELU"),
    ONE("LOG"),
    ONE("LOGICAL_NOT"),
    ONE("LOGISTIC"),
    ONE("LOG_SOFTMAX"),
    ONE("NEG"),
    ONE("QUANTIZE"),
    ONE("RELU"),
    ONE("RELU6"),
    ONE("RELU_N1_TO_1"),
    ONE("ROUND"),
    ONE("RSQRT"),
    ONE("SIN"),
    ONE("SOFTMAX"),
    ONE("SQRT"),
    ONE("SQUARE"),
    ONE("TANH"),
    TWO("ADD"),
    TWO("DIV"),
    TWO("EQUAL"),
    TWO("FLOOR_DIV"),
    TWO("FLOOR_MOD"),
    TWO("GREATER"),
    TWO("GREATER_EQUAL"),
    TWO("LESS"),
    TWO("LESS_EQUAL"),
    TWO("LOGICAL_AND"),
    TWO("LOGICAL_OR"),
    TWO("MAXIMUM"),
    TWO("MINIMUM"),
    TWO("MUL"),
    TWO("NOT_EQUAL"),
    TWO("PRELU"),
    TWO("SQUARED_DIFFERENCE"),
    TWO("SUB"),
    {.op = "EXPAND_DIMS", .loops = rename_bytes, .inputs = 1},
    {.op = "RESHAPE", .loops = rename_bytes, .inputs = 1},
    {.op = "SQUEEZE", .loops = rename_bytes, .inputs = 1},
    {.op = NULL},
};
