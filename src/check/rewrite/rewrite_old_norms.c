/* Normalizations of a program before: which image they normalize, in which groups of channels, and
 * by which constants. */
#include <string.h>

#include "check/rewrite/rewrite_norms.h"
#include "core/checked.h"

enum { N, C, H, GROUPED_RANK = 3 };

static const arenaut_op *maker_of(const arn_rewrite_check *c, uint32_t t) {
    for (uint32_t i = 0; i < c->before->n_ops && t != ARENAUT_NONE; i++) {
        const arenaut_op *op = &c->before->ops[i];
        if (op->n_outputs > 0 && op->outputs[0] == t) return op;
    }
    return NULL;
}

static bool is_named(const arenaut_op *op, const char *name) {
    return op->name && strcmp(op->name, name) == 0;
}

static bool take_number(const arenaut_op *op, const char *name, int64_t *number) {
    const arenaut_attribute *a = arenaut_op_attribute(op, name);
    if (!a || a->text || a->n_numbers != 1) return false;
    *number = a->numbers[0];
    return true;
}

/* The constants of a normalization, which has both or none; false: others. */
static bool take_constants(const arenaut_op *op, arn_old_norm *norm) {
    norm->scale = norm->bias = ARENAUT_NONE;
    if (op->n_inputs == 1) return true;
    if (op->n_inputs != 3 || op->inputs[1] == ARENAUT_NONE || op->inputs[2] == ARENAUT_NONE) {
        return false;
    }
    norm->scale = op->inputs[1];
    norm->bias = op->inputs[2];
    return true;
}

/* ---- ONNX ---- */

/* Its bits; false if they are not known. */
static bool take_epsilon(const arenaut_op *op, int64_t *bits) {
    const double usual = (double)1e-5f;
    memcpy(bits, &usual, sizeof usual);
    return !arenaut_op_attribute(op, "epsilon") || take_number(op, "epsilon", bits);
}

/* The image that an op normalizes by way of a shape in which each group is one axis. */
static bool take_reshaped(const arn_rewrite_check *c, uint32_t read, arn_old_norm *norm) {
    const arenaut_tensor *grouped = &c->before->tensors[read];
    const arenaut_op *shape = maker_of(c, read);
    uint64_t places = 1, grouped_places;
    if (!shape || !is_named(shape, "Reshape") || grouped->rank != GROUPED_RANK ||
        shape->n_inputs == 0 || shape->inputs[0] == ARENAUT_NONE) {
        return false;
    }
    norm->image = shape->inputs[0];
    norm->groups = grouped->dims[C];
    const arenaut_tensor *image = &c->before->tensors[norm->image];
    for (uint32_t i = C; i < image->rank; i++) {
        if (!arn_multiply(places, (uint64_t)image->dims[i], &places)) return false;
    }
    return image->rank > H && grouped->dims[N] == image->dims[N] &&
           arn_multiply((uint64_t)grouped->dims[C], (uint64_t)grouped->dims[H], &grouped_places) &&
           grouped_places == places;
}

static bool take_onnx(const arn_rewrite_check *c, const arenaut_op *op, arn_old_norm *norm) {
    const bool reshaped = is_named(op, "Reshape") && op->n_inputs > 0;
    if (reshaped) op = maker_of(c, op->inputs[0]);
    if (!op || op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE ||
        !take_epsilon(op, &norm->epsilon) || !take_constants(op, norm) ||
        norm->scale == ARENAUT_NONE) {
        return false;
    }
    norm->image = op->inputs[0];
    if (is_named(op, "GroupNormalization")) {
        return !reshaped && take_number(op, "num_groups", &norm->groups);
    }
    const arenaut_tensor *read = &c->before->tensors[norm->image];
    norm->groups = read->rank > C ? read->dims[C] : 0;
    return is_named(op, "InstanceNormalization") &&
           (!reshaped || take_reshaped(c, norm->image, norm));
}

/* ---- PyTorch ---- */

static bool has_number(const arenaut_op *op, const char *name, int64_t expected) {
    int64_t number;
    return take_number(op, name, &number) && number == expected;
}

/* As many images, channels and places as the image has: the native op takes these from its
 * arguments, and might divide the elements otherwise. */
static bool takes_image_as_it_is(const arenaut_op *op, const arenaut_tensor *image) {
    int64_t places;
    if (image->rank <= H || !has_number(op, "N", image->dims[N]) ||
        !has_number(op, "C", image->dims[C]) || !take_number(op, "HxW", &places)) {
        return false;
    }
    for (uint32_t i = H; i < image->rank; i++) {
        if (image->dims[i] <= 0 || places % image->dims[i] != 0) return false;
        places /= image->dims[i];
    }
    return places == 1;
}

static bool take_aten(const arn_rewrite_check *c, const arenaut_op *op, arn_old_norm *norm) {
    static const char usual[] = "1e-05";
    const arenaut_attribute *epsilon = arenaut_op_attribute(op, "eps");
    norm->stated = epsilon ? epsilon->text : usual;
    if (op->n_inputs == 0 || op->inputs[0] == ARENAUT_NONE || !norm->stated ||
        arenaut_op_attribute(op, "operands") || !take_constants(op, norm)) {
        return false;
    }
    norm->image = op->inputs[0];
    const arenaut_tensor *image = &c->before->tensors[norm->image];
    if (is_named(op, "aten::group_norm")) return take_number(op, "num_groups", &norm->groups);
    if (is_named(op, "aten::native_group_norm")) {
        return takes_image_as_it_is(op, image) && take_number(op, "group", &norm->groups);
    }
    norm->groups = image->rank > C ? image->dims[C] : 0;
    return is_named(op, "aten::instance_norm") && has_number(op, "use_input_stats", 1);
}

/* ---- of any dialect ---- */

bool arn_old_norm_of(const arn_rewrite_check *c, uint32_t made, arn_old_norm *norm) {
    const arenaut_op *op = maker_of(c, made);
    *norm = (arn_old_norm){.image = ARENAUT_NONE};
    if (!op || !op->name) return false;
    const bool known =
        strncmp(op->name, "aten::", 6) == 0 ? take_aten(c, op, norm) : take_onnx(c, op, norm);
    if (!known) return false;
    const arenaut_tensor *from = &c->before->tensors[norm->image], *to = &c->before->tensors[made];
    return norm->groups > 0 && from->rank == to->rank && from->dtype == to->dtype &&
           memcmp(from->dims, to->dims, from->rank * sizeof *from->dims) == 0;
}
