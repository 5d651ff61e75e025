/* Tiles of ONNX's reductions and normalizations: softmax and layer norms within each row, averages
 * and maxima over images, and norms of images by groups of channels, also as exporters spell them
 * between two Reshapes. */
#include <string.h>

#include "rewrite/tile_dialects/tile_onnx.h"

enum { CONSTANTS_BY_CHANNEL = 21 }; /* version of GroupNormalization; before, by group */

/* ---- within each row ---- */

/* Sums along other axes than that of rows: a row of the result is made of the same row alone, by a
 * kernel that goes from place to place. */
static bool take_each_row(const arn_tile_graph *graph, const arenaut_op *op, bool reduces,
                          arn_tile_op *out) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    const arenaut_tensor *made = &graph->program->tensors[op->outputs[0]];
    out->kind = ARN_TILE_POOL;
    out->window[ARN_AXIS_H] = out->window[ARN_AXIS_W] = (arn_tile_window){1, 1, 1, 0, 0, 1};
    if (made->rank != image->rank || arn_tile_is_fixed(graph, op->inputs[0])) return false;
    for (uint32_t i = 0; i < image->rank; i++) {
        const bool reduced = reduces && i == ARN_NCHW_C;
        if (made->dims[i] != (reduced ? 1 : image->dims[i])) return false;
    }
    return true;
}

/* The axis of an image that an attribute names, if it is not that of rows; else 0. */
static int64_t axis_of(const arn_tile_graph *graph, const arenaut_op *op) {
    const int64_t rank = arn_tile_input(graph, op, 0)->rank;
    const arenaut_attribute *a = arenaut_op_attribute(op, "axis");
    if (a && (a->text || a->n_numbers != 1)) return 0;
    const int64_t named = a ? a->numbers[0] : -1, axis = named < 0 ? named + rank : named;
    return axis < ARN_NCHW_C || axis >= rank || axis == ARN_NCHW_H ? 0 : axis;
}

bool arn_onnx_take_softmax(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    return op->n_inputs == 1 && axis_of(graph, op) > 0 && take_each_row(graph, op, false, out);
}

/* By all axes from one on, behind that of rows. */
bool arn_onnx_take_layer(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    for (uint32_t i = 1; i < op->n_inputs; i++) {
        if (arn_tile_input(graph, op, i) && !arn_tile_is_fixed(graph, op->inputs[i])) return false;
    }
    return op->n_inputs >= 2 && axis_of(graph, op) > ARN_NCHW_H &&
           take_each_row(graph, op, false, out);
}

/* ---- reductions ---- */

/* Axes of a reduction: an attribute in older versions of the operators, else a constant operand;
 * NULL: neither is known. */
static const int64_t *axes_of(const arn_tile_graph *graph, const arenaut_op *op, uint64_t *n) {
    const arenaut_attribute *a = arenaut_op_attribute(op, "axes");
    const arenaut_tensor *list = arn_tile_input(graph, op, 1);
    const bool stated = list && list->cls == ARENAUT_CONSTANT && list->values;
    if (a ? a->text || list : !stated) return NULL;
    *n = a ? a->n_numbers : list->n_values;
    return a ? a->numbers : list->values;
}

/* Over the channels of each place, which the result has one of. */
bool arn_onnx_take_channels(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    uint64_t n = 0;
    const int64_t *axes = axes_of(graph, op, &n);
    if (!axes || n != 1 || op->n_inputs > 2) return false;
    const int64_t axis = axes[0], rank = arn_tile_input(graph, op, 0)->rank;
    return (axis == ARN_NCHW_C || axis + rank == ARN_NCHW_C) && take_each_row(graph, op, true, out);
}

/* All axes behind the channels. */
static bool reduces_all_axes(const arn_tile_graph *graph, const arenaut_op *op) {
    const arenaut_tensor *image = arn_tile_input(graph, op, 0);
    uint64_t n = 0;
    uint32_t seen = 0;
    const int64_t *axes = axes_of(graph, op, &n);
    if (!image || !axes || n != image->rank - ARN_NCHW_H) return false;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + image->rank : axes[i];
        if (axis < ARN_NCHW_H || axis >= (int64_t)image->rank) return false;
        seen |= 1u << axis;
    }
    return seen == (1u << image->rank) - (1u << ARN_NCHW_H);
}

bool arn_onnx_take_reduction(const arn_tile_graph *graph, const arenaut_op *op, arn_tile_op *out) {
    static const struct {
        const char *name;
        arn_draft_move move;
        bool of_axes;
    } reductions[] = {{"GlobalAveragePool", ARN_MOVE_AVERAGE, false},
                      {"GlobalMaxPool", ARN_MOVE_GREATEST, false},
                      {"ReduceMean", ARN_MOVE_AVERAGE, true},
                      {"ReduceMax", ARN_MOVE_GREATEST, true}};
    for (size_t i = 0; op->name && i < sizeof reductions / sizeof *reductions; i++) {
        if (strcmp(reductions[i].name, op->name) != 0) continue;
        return (!reductions[i].of_axes || reduces_all_axes(graph, op)) &&
               arn_tile_take_reduction(graph, op, reductions[i].move, out);
    }
    return false;
}

/* ---- normalizations ---- */

/* GroupNormalization, or InstanceNormalization, of an image; or the latter of an image whose groups
 * of channels a Reshape has made one axis of, and another one takes apart again: as exporters write
 * the former. */
static const char group_norm[] = "GroupNormalization";

typedef struct norm_ops {
    uint32_t first, itself, last; /* the same op if the shape is not changed */
} norm_ops;

static bool is_named(const arn_tile_graph *graph, uint32_t op, const char *name) {
    return op != ARENAUT_NONE && graph->program->ops[op].name &&
           strcmp(graph->program->ops[op].name, name) == 0;
}

/* The only op that reads a tensor; NONE: there are others. */
static uint32_t only_reader(const arn_tile_graph *graph, uint32_t tensor) {
    const arn_def_use *uses = &graph->uses[tensor];
    return uses->n_uses == 1 && !uses->wanted ? uses->last_use : ARENAUT_NONE;
}

static bool find_norm(const arn_tile_graph *graph, uint32_t at, norm_ops *ops) {
    static const char name[] = "InstanceNormalization", reshape[] = "Reshape";
    const arenaut_op *all = graph->program->ops;
    const bool shapes = is_named(graph, at, reshape), grouped = is_named(graph, at, group_norm);
    if (all[at].n_inputs == 0 || all[at].inputs[0] == ARENAUT_NONE || all[at].n_outputs != 1 ||
        all[at].outputs[0] == ARENAUT_NONE) {
        return false;
    }
    const uint32_t from = arn_tile_def(graph, all[at].inputs[0]);
    const uint32_t reader = only_reader(graph, all[at].outputs[0]);
    ops->itself = !shapes ? at : is_named(graph, from, name) ? from : reader;
    if (!(grouped || is_named(graph, ops->itself, name)) || all[ops->itself].n_inputs != 3 ||
        all[ops->itself].n_outputs != 1 || all[ops->itself].inputs[0] == ARENAUT_NONE ||
        all[ops->itself].outputs[0] == ARENAUT_NONE) {
        return false;
    }
    ops->first = ops->last = ops->itself;
    if (grouped || graph->program->tensors[all[ops->itself].inputs[0]].rank != 3) return !shapes;
    const uint32_t first = arn_tile_def(graph, all[ops->itself].inputs[0]);
    const uint32_t last = only_reader(graph, all[ops->itself].outputs[0]);
    const bool reshaped = is_named(graph, first, reshape) && is_named(graph, last, reshape) &&
                          only_reader(graph, all[first].outputs[0]) == ops->itself &&
                          all[last].inputs[0] == all[ops->itself].outputs[0];
    if (!reshaped) return !shapes; /* a signal */
    ops->first = first;
    ops->last = last;
    return true;
}

/* Groups of channels that it normalizes by. */
static int64_t count_groups(const arn_tile_graph *graph, uint32_t at) {
    const arenaut_op *norm = &graph->program->ops[at];
    return is_named(graph, at, group_norm)
               ? arn_tile_number(norm, "num_groups", ARN_TILE_UNKNOWN)
               : graph->program->tensors[norm->inputs[0]].dims[ARN_NCHW_C];
}

/* A number for each of so many groups. */
static bool is_of_groups(const arn_tile_graph *graph, uint32_t tensor, int64_t groups) {
    if (tensor == ARENAUT_NONE) return false;
    const arenaut_tensor *t = &graph->program->tensors[tensor];
    return t->cls == ARENAUT_CONSTANT && t->dtype == ARENAUT_DTYPE_FLOAT32 && t->rank == 1 &&
           t->dims[0] == groups;
}

static bool same_dims(const arenaut_tensor *a, const arenaut_tensor *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/* By group, or by channel. */
static bool has_constants(const arn_tile_graph *graph, const arenaut_op *norm, int64_t groups,
                          int64_t channels) {
    const bool each = strcmp(norm->name, group_norm) == 0 &&
                      graph->program->dialect_version >= CONSTANTS_BY_CHANNEL;
    return is_of_groups(graph, norm->inputs[1], each ? channels : groups) &&
           is_of_groups(graph, norm->inputs[2], each ? channels : groups);
}

/* Sizes of all tensors of the normalization agree. */
static bool norm_fits(const arn_tile_graph *graph, const norm_ops *ops) {
    const arenaut_op *all = graph->program->ops, *it = &all[ops->itself];
    const uint32_t from = all[ops->first].inputs[0], to = all[ops->last].outputs[0];
    if (from == ARENAUT_NONE || !arn_tile_is_image(graph, from) || !arn_tile_is_image(graph, to) ||
        arn_tile_is_fixed(graph, from)) {
        return false;
    }
    const arenaut_tensor *image = &graph->program->tensors[from];
    const arenaut_tensor *read = &graph->program->tensors[it->inputs[0]];
    const arenaut_tensor *made = &graph->program->tensors[it->outputs[0]];
    const int64_t groups = count_groups(graph, ops->itself), channels = image->dims[ARN_NCHW_C];
    const bool grouped = is_named(graph, ops->itself, group_norm);
    int64_t elements = image->dims[0];
    for (uint32_t i = 0; i < read->rank && ops->first != ops->itself; i++) {
        if (read->dims[i] <= 0) return false;
    }
    for (uint32_t i = 1; i < image->rank; i++) elements *= image->dims[i];
    return image->dtype == ARENAUT_DTYPE_FLOAT32 && read->dtype == image->dtype &&
           same_dims(image, &graph->program->tensors[to]) && same_dims(read, made) &&
           read->dims[0] == image->dims[0] && groups > 0 && channels % groups == 0 &&
           (grouped                     ? read->rank == image->rank
            : ops->first == ops->itself ? groups == channels
                                        : read->dims[2] == elements / image->dims[0] / groups) &&
           has_constants(graph, it, groups, channels);
}

bool arn_onnx_take_norm(const arn_tile_graph *graph, uint32_t at, arn_tile_op *out) {
    norm_ops ops;
    if (!find_norm(graph, at, &ops) || !norm_fits(graph, &ops)) return false;
    const arenaut_op *all = graph->program->ops;
    const arenaut_attribute *epsilon = arenaut_op_attribute(&all[ops.itself], "epsilon");
    const arenaut_tensor *image = &graph->program->tensors[all[ops.first].inputs[0]];
    if ((epsilon && (epsilon->text || epsilon->n_numbers != 1)) ||
        !arn_tile_take_norm(image, count_groups(graph, ops.itself), out)) {
        return false;
    }
    out->norm = at == ops.itself ? ARN_NORM_ITSELF : ARN_NORM_SHAPE;
    out->least = at == ops.itself ? ARN_TILE_NEVER : 0;
    out->epsilon = (double)1e-5f;
    if (epsilon) memcpy(&out->epsilon, epsilon->numbers, sizeof out->epsilon);
    out->is_rounded = !graph->rounding;
    if (!graph->rounding) return false;
    graph->image[all[ops.itself].inputs[0]] = all[ops.first].inputs[0];
    graph->image[all[ops.itself].outputs[0]] = all[ops.last].outputs[0];
    return true;
}
