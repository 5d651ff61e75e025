/* Distances of ops that compute element by element: of one operand, or of two of which one may be
 * repeated along some axes, and then is read again and again. O(1), but for repeated operands. */
#include "kernels/element_walk.h"
#include "kernels/op_facts.h"

/* Steps of `block` elements at the same place of both tensors: between two steps the kernel has
 * written up to where the next begins to read, scaled by the sizes of the elements. */
static bool same_places(const arn_pair *pair, arn_reach *reach) {
    const arenaut_kernel_rule *rule = pair->rule;
    const int64_t growth = pair->out_element - pair->in_element;
    const int64_t block = rule->order == ARENAUT_KERNEL_RASTER ? 1 : (int64_t)rule->block;
    const int64_t n = (int64_t)arn_element_count(pair->out);
    if (rule->order != ARENAUT_KERNEL_RASTER && rule->order != ARENAUT_KERNEL_BLOCK) return false;
    if (block == 0 || n <= block) return block > 0;
    arn_reach_at_least(reach, block * growth);
    arn_reach_at_least(reach, (n - 1) / block * block * growth);
    return true;
}

bool arn_unary_distance(const arn_pair *pair, arn_reach *reach) {
    return arn_element_count(pair->in) == arn_element_count(pair->out) && same_places(pair, reach);
}

/* The operand's size along an axis of the result; a shorter shape counts from its last axis. */
static int64_t size_along(const arenaut_tensor *in, const arenaut_tensor *out, uint32_t axis) {
    const uint32_t missing = out->rank - in->rank;
    return axis < missing ? 1 : in->dims[axis - missing];
}

/* Whether an operand has the result's shape, or is repeated along some axes to have it. */
static bool fits(const arenaut_tensor *in, const arenaut_tensor *out) {
    if (!in || !arn_has_sizes(in) || in->rank > out->rank) return false;
    for (uint32_t i = 0; i < out->rank; i++) {
        const int64_t size = size_along(in, out, i);
        if (size != 1 && size != out->dims[i]) return false;
    }
    return true;
}

bool arn_binary_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *in = pair->in, *out = pair->out;
    arn_element_walk walk = {.n_axes = out->rank};
    bool repeated = false;
    if (pair->op->n_inputs != 2 || out->rank > ARN_MOST_AXES) return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (!fits(arn_op_input(pair->program, pair->op, i), out)) return false;
    }
    for (uint32_t i = 0; i < out->rank; i++) {
        const int64_t size = size_along(in, out, i);
        walk.axis[i].extent = out->dims[i];
        if (size != 1) walk.axis[i].step = arn_dense_step(in, i - (out->rank - in->rank));
        repeated = repeated || size != out->dims[i];
    }
    return repeated ? arn_walk_elements(pair, &walk, reach) : same_places(pair, reach);
}
