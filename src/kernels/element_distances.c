/* Distances of ops that compute or move elements one by one: with operands of which some are
 * repeated, permutations, padding, joining, cutting. Their common walk comes first. */
#include <string.h>

#include "kernels/distance.h"
#include "kernels/op_facts.h"

/* Kernels that visit the elements of one tensor in order and, for each, one element of another:
 * permutations, slices, mirrors and repetitions. The other's place is a sum over the axes, each of
 * which contributes a number that depends on its own index only. They are walked backwards, as
 * distances are gathered. */

enum { MOST_AXES = 8 };

/* Index i of an axis stands for place i * step of the other tensor, in elements. Mirrored, it
 * stands for (i - before) * step, folded back into [0, inside). */
typedef struct axis_walk {
    int64_t extent, step;
    int64_t inside, before; /* inside = 0: not mirrored */
    int64_t fold;           /* 1: the edge's element comes twice; 2: once */
} axis_walk;

typedef struct element_walk {
    uint32_t n_axes; /* outermost first */
    axis_walk axis[MOST_AXES];
    int64_t base;  /* the other's place where all indices are 0 */
    bool copies;   /* the last axis, of step 1, is one run of memcpy, whose source and destination
                    * must be apart */
    bool of_input; /* the walk goes through the input and finds its writes; else through the output,
                    * and finds its reads */
} element_walk;

/* The distance from one index of an axis to the next in a dense tensor, in elements. */
static int64_t dense_step(const arenaut_tensor *tensor, uint32_t axis) {
    int64_t step = 1;
    for (uint32_t k = axis + 1; k < tensor->rank; k++) step *= tensor->dims[k];
    return step;
}

static int64_t place_on(const axis_walk *axis, int64_t i) {
    if (axis->inside == 0) return i * axis->step;
    int64_t at = i - axis->before;
    if (at < 0) at = axis->fold == 2 ? -at : -at - 1;
    if (at >= axis->inside) at = 2 * axis->inside - axis->fold - at;
    return at * axis->step;
}

typedef struct walker {
    const arn_pair *pair;
    const element_walk *walk;
    uint32_t depth; /* axes above the runs */
    int64_t run;    /* elements of a step */
    int64_t here;   /* elements from here on are done */
    arn_reach *reach;
} walker;

/* One step, which moves a run between `here` and `there`. */
static void step(walker *w, int64_t there) {
    const bool of_input = w->walk->of_input;
    w->here -= w->run;
    const int64_t from = (of_input ? w->here : there) * w->pair->in_element;
    const int64_t end = ((of_input ? there : w->here) + w->run) * w->pair->out_element;
    arn_reach_step(w->reach, end, from);
    if (w->walk->copies) arn_reach_copy(w->reach, end, from, w->run * w->pair->in_element);
}

static void visit(walker *w, uint32_t depth, int64_t there) {
    if (depth == w->depth) {
        step(w, there);
        return;
    }
    const axis_walk *axis = &w->walk->axis[depth];
    for (int64_t i = axis->extent; i-- > 0;) visit(w, depth + 1, there + place_on(axis, i));
}

/* False for other orders than raster, and if it takes more steps than are left. O(steps). */
static bool walk_elements(const arn_pair *pair, const element_walk *walk, arn_reach *reach) {
    walker w = {.pair = pair, .walk = walk, .depth = walk->n_axes, .run = 1, .reach = reach};
    uint64_t steps = arn_element_count(walk->of_input ? pair->in : pair->out);
    if (pair->rule->order != ARENAUT_KERNEL_RASTER) return false;
    if (walk->copies) w.run = walk->axis[--w.depth].extent;
    w.here = (int64_t)steps;
    if (!arn_take_steps(pair, steps / (uint64_t)w.run)) return false;
    visit(&w, 0, walk->base);
    return true;
}

/* Distances of ops that compute element by element: of one operand, or of two of which one may be
 * repeated along some axes, and then is read again and again. O(1), but for repeated operands. */

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
    element_walk walk = {.n_axes = out->rank};
    bool repeated = false;
    if (pair->op->n_inputs != 2 || out->rank > MOST_AXES) return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (!fits(arn_op_input(pair->program, pair->op, i), out)) return false;
    }
    for (uint32_t i = 0; i < out->rank; i++) {
        const int64_t size = size_along(in, out, i);
        walk.axis[i].extent = out->dims[i];
        if (size != 1) walk.axis[i].step = dense_step(in, i - (out->rank - in->rank));
        repeated = repeated || size != out->dims[i];
    }
    return repeated ? walk_elements(pair, &walk, reach) : same_places(pair, reach);
}

/* Distances of ops that only move elements: padding, joining, cutting, permuting. If a kernel
 * copies runs by memcpy, their overlap is undefined in C, so these stay apart. O(elements) for
 * permutations, O(arguments) for the rest. */

static bool is_raster(const arn_pair *pair) {
    return pair->rule->order == ARENAUT_KERNEL_RASTER && pair->in_element == pair->out_element;
}

/* An axis as files number it, from the end if negative; false if there is none such. */
static bool settle_axis(int64_t stated, uint32_t rank, uint32_t *axis) {
    const int64_t at = stated < 0 ? stated + rank : stated;
    *axis = (uint32_t)at;
    return at >= 0 && at < rank;
}

/* Elements of all axes before `axis`, and of those from it on. */
static int64_t outer_size(const arenaut_tensor *tensor, uint32_t axis) {
    int64_t size = 1;
    for (uint32_t i = 0; i < axis; i++) size *= tensor->dims[i];
    return size;
}

static int64_t inner_size(const arenaut_tensor *tensor, uint32_t axis) {
    return dense_step(tensor, axis) * tensor->dims[axis];
}

/* ---- padding ---- */

/* The pairs {before, after} of each axis; NULL if they are not known or do not fit. */
static const int64_t *paddings_of(const arn_pair *pair) {
    const arenaut_tensor *in = pair->in, *out = pair->out;
    if (in->rank != out->rank || in->rank == 0 || in->rank > MOST_AXES) return NULL;
    if (pair->in_element != pair->out_element) return NULL;
    const int64_t *pads = arn_op_values(pair->program, pair->op, 1, 2 * in->rank);
    for (uint32_t i = 0; pads && i < in->rank; i++) {
        const int64_t before = pads[2 * i], after = pads[2 * i + 1];
        if (before < 0 || after < 0 || out->dims[i] != before + in->dims[i] + after) return NULL;
    }
    return pads;
}

/* Elements move up by the padding before them, the last one most. In rows, the kernel copies a row
 * of the image, or a pixel if its channels are padded, by memcpy. */
bool arn_pad_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *in = pair->in;
    const int64_t *pads = paddings_of(pair);
    const uint32_t last = in->rank - 1;
    const bool rows = pair->rule->order == ARENAUT_KERNEL_ROWS;
    if (!pads || (!rows && pair->rule->order != ARENAUT_KERNEL_RASTER)) return false;
    int64_t end = 0; /* where the last element comes to lie */
    for (uint32_t i = 0; i <= last; i++) {
        end += (pads[2 * i] + in->dims[i] - 1) * dense_step(pair->out, i);
    }
    if (end == 0 && !rows) return true; /* it is the first and only one */
    const int64_t moved = end + 1 - (int64_t)arn_element_count(in);
    const bool pixels = last == 0 || pads[2 * last] > 0 || pads[2 * last + 1] > 0;
    const int64_t run = pixels ? in->dims[last] : in->dims[last] * in->dims[last - 1];
    const int64_t element = pair->in_element;
    arn_reach_at_least(reach, moved * element);
    if (rows) arn_reach_copy(reach, (moved + run) * element, 0, run * element);
    return true;
}

bool arn_mirror_pad_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *in = pair->in;
    const int64_t *pads = paddings_of(pair);
    const bool reflect = arn_op_text_is(pair->op, "mode", "REFLECT");
    element_walk walk = {.n_axes = in->rank};
    if (!pads || (!reflect && !arn_op_text_is(pair->op, "mode", "SYMMETRIC"))) return false;
    for (uint32_t i = 0; i < in->rank; i++) {
        const int64_t most = in->dims[i] - (reflect ? 1 : 0);
        if (pads[2 * i] > most || pads[2 * i + 1] > most) return false;
        walk.axis[i] = (axis_walk){.extent = pair->out->dims[i],
                                   .step = dense_step(in, i),
                                   .inside = in->dims[i],
                                   .before = pads[2 * i],
                                   .fold = reflect ? 2 : 1};
    }
    return walk_elements(pair, &walk, reach);
}

/* ---- joining and cutting along an axis ---- */

/* Elements of one outer index in parts [0, n) of a list of tensors; -1 if some size is unknown or
 * of another type. */
static int64_t parts_before(const arenaut_program *p, const uint32_t *tensors, uint32_t n,
                            uint32_t axis, const arenaut_tensor *like) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_tensor *part = tensors[i] == ARENAUT_NONE ? NULL : &p->tensors[tensors[i]];
        if (!part || !arn_is_plain(part) || part->dtype != like->dtype) return -1;
        if (part->rank != like->rank) return -1;
        for (uint32_t k = 0; k < like->rank; k++) {
            if (k != axis && part->dims[k] != like->dims[k]) return -1;
        }
        sum += inner_size(part, axis);
        if (sum > inner_size(like, axis)) return -1;
    }
    return sum;
}

/* For each outer index, one run of every input after another. */
bool arn_concatenation_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_op *op = pair->op;
    int64_t stated;
    uint32_t axis;
    if (!is_raster(pair) || !arn_op_number(op, "axis", &stated)) return false;
    if (!settle_axis(stated, pair->out->rank, &axis)) return false;
    const int64_t row = inner_size(pair->out, axis), outer = outer_size(pair->out, axis);
    const int64_t all = parts_before(pair->program, op->inputs, op->n_inputs, axis, pair->out);
    const int64_t before = parts_before(pair->program, op->inputs, pair->input, axis, pair->out);
    if (all != row) return false;
    const int64_t run = inner_size(pair->in, axis);
    const int64_t moved = (outer - 1) * (row - run) + before;
    arn_reach_at_least(reach, moved * pair->in_element);
    arn_reach_copy(reach, (moved + run) * pair->in_element, 0, run * pair->in_element);
    return true;
}

/* For each input, one piece for every outer index after another, element by element: all of the
 * inputs before are in place when an input is first read. */
bool arn_pack_distance(const arn_pair *pair, arn_reach *reach) {
    int64_t stated;
    uint32_t axis;
    if (!is_raster(pair) || !arn_op_number(pair->op, "axis", &stated)) return false;
    if (!settle_axis(stated, pair->out->rank, &axis)) return false;
    if (pair->out->dims[axis] != pair->op->n_inputs) return false;
    const int64_t piece = dense_step(pair->out, axis), row = inner_size(pair->out, axis);
    const int64_t outer = outer_size(pair->out, axis);
    if ((int64_t)arn_element_count(pair->in) != outer * piece) return false;
    const int64_t moved = pair->input == 0 ? (outer - 1) * (row - piece)
                                           : (outer - 1) * row + (int64_t)pair->input * piece;
    arn_reach_at_least(reach, moved * pair->in_element);
    return true;
}

/* Element by element, in the order of the input: an output never reaches unread bytes if it begins
 * where its own part does. */
bool arn_split_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_op *op = pair->op;
    const bool by_sizes = strcmp(op->name, "SPLIT_V") == 0;
    const int64_t *stated = arn_op_values(pair->program, op, by_sizes ? 2 : 0, 1);
    uint32_t axis;
    if (!is_raster(pair) || !stated || !settle_axis(*stated, pair->in->rank, &axis)) return false;
    const int64_t row = inner_size(pair->in, axis);
    const int64_t all = parts_before(pair->program, op->outputs, op->n_outputs, axis, pair->in);
    const int64_t before = parts_before(pair->program, op->outputs, pair->output, axis, pair->in);
    if (all != row) return false;
    arn_reach_at_least(reach, -before * pair->in_element);
    return true;
}

/* ---- slices ---- */

/* The slice of each axis: from `begin` on, every `stride`th, `count` of them. */
typedef struct slice {
    int64_t begin, stride, count;
} slice;

static bool walk_slices(const arn_pair *pair, const slice *slices, bool copies, arn_reach *reach) {
    const arenaut_tensor *in = pair->in;
    element_walk walk = {.n_axes = in->rank};
    int64_t taken = 1;
    if (!is_raster(pair)) return false;
    for (uint32_t i = 0; i < in->rank; i++) {
        const slice *s = &slices[i];
        if (s->count < 1 || s->begin < 0 || s->begin >= in->dims[i]) return false;
        const int64_t last = s->begin + (s->count - 1) * s->stride;
        if (last < 0 || last >= in->dims[i]) return false;
        taken *= s->count;
        walk.axis[i] = (axis_walk){.extent = s->count, .step = s->stride * dense_step(in, i)};
        walk.base += s->begin * dense_step(in, i);
    }
    walk.copies = copies;
    return taken == (int64_t)arn_element_count(pair->out) && walk_elements(pair, &walk, reach);
}

/* Element by element. */
bool arn_slice_distance(const arn_pair *pair, arn_reach *reach) {
    const uint32_t rank = pair->in->rank;
    const int64_t *begin = arn_op_values(pair->program, pair->op, 1, rank);
    slice slices[MOST_AXES];
    if (!begin || rank == 0 || rank > MOST_AXES || pair->out->rank != rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        slices[i] = (slice){.begin = begin[i], .stride = 1, .count = pair->out->dims[i]};
    }
    return walk_slices(pair, slices, false, reach);
}

static int64_t clamp(int64_t number, int64_t least, int64_t most) {
    return number < least ? least : number > most ? most : number;
}

/* One axis of a strided slice: `size` long, from begin to end, masks replacing either. */
static slice slice_of(int64_t size, int64_t begin, int64_t end, int64_t stride, bool open_begin,
                      bool open_end, bool shrunk) {
    const int64_t least = stride > 0 ? 0 : -1, most = stride > 0 ? size : size - 1;
    int64_t first = clamp(begin < 0 ? begin + size : begin, least, most);
    int64_t past = clamp(end < 0 ? end + size : end, least, most);
    if (open_begin) first = stride > 0 ? 0 : size - 1;
    if (open_end) past = stride > 0 ? size : -1;
    if (shrunk) return (slice){.begin = first, .stride = 1, .count = 1};
    const int64_t length = stride > 0 ? past - first : first - past;
    const int64_t pace = stride > 0 ? stride : -stride;
    return (slice){.begin = first, .stride = stride, .count = (length + pace - 1) / pace};
}

/* A last axis of stride 1 is copied by memcpy. */
bool arn_strided_slice_distance(const arn_pair *pair, arn_reach *reach) {
    const uint32_t rank = pair->in->rank;
    int64_t begin_mask, end_mask, shrink_mask;
    slice slices[MOST_AXES];
    const int64_t *parameters[3];
    if (rank == 0 || rank > MOST_AXES) return false;
    for (uint32_t i = 0; i < 3; i++) {
        parameters[i] = arn_op_values(pair->program, pair->op, 1 + i, rank);
        if (!parameters[i]) return false;
    }
    if (!arn_op_number(pair->op, "begin_mask", &begin_mask) ||
        !arn_op_number(pair->op, "end_mask", &end_mask) ||
        !arn_op_number(pair->op, "shrink_axis_mask", &shrink_mask) ||
        arn_op_flag(pair->op, "ellipsis_mask") || arn_op_flag(pair->op, "new_axis_mask") ||
        arn_op_flag(pair->op, "offset")) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t stride = parameters[2][i];
        if (stride == 0) return false;
        slices[i] = slice_of(pair->in->dims[i], parameters[0][i], parameters[1][i], stride,
                             begin_mask >> i & 1, end_mask >> i & 1, shrink_mask >> i & 1);
    }
    return walk_slices(pair, slices, slices[rank - 1].stride == 1, reach);
}

/* ---- permuting ---- */

bool arn_transpose_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *in = pair->in, *out = pair->out;
    const int64_t *order = arn_op_values(pair->program, pair->op, 1, in->rank);
    element_walk walk = {.n_axes = in->rank};
    uint32_t seen = 0;
    if (!is_raster(pair) || !order || out->rank != in->rank || in->rank > MOST_AXES) {
        return false;
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        uint32_t from;
        if (!settle_axis(order[i], in->rank, &from) || in->dims[from] != out->dims[i]) return false;
        walk.axis[i] = (axis_walk){.extent = out->dims[i], .step = dense_step(in, from)};
        seen |= UINT32_C(1) << from;
    }
    return seen == (UINT32_C(1) << in->rank) - 1 && walk_elements(pair, &walk, reach);
}

/* Blocks of `deep` channels against squares of pixels of `flat`: the axes are image, row of blocks,
 * row within, column of blocks, column within, channel, in the order of `flat`, with the steps of
 * `deep`, whose channels are a square's pixels one after another. */
static bool walk_blocks(const arn_pair *pair, const arenaut_tensor *flat,
                        const arenaut_tensor *deep, arn_reach *reach) {
    int64_t block;
    if (!is_raster(pair) || !arn_op_number(pair->op, "block_size", &block) || block < 1)
        return false;
    if (flat->rank != 4 || deep->rank != 4 || flat->dims[0] != deep->dims[0]) return false;
    const int64_t rows = deep->dims[1], columns = deep->dims[2], channels = flat->dims[3];
    if (flat->dims[1] != rows * block || flat->dims[2] != columns * block) return false;
    if (deep->dims[3] / block / block != channels || deep->dims[3] % (block * block) != 0) {
        return false;
    }
    const element_walk walk = {
        .n_axes = 6,
        .axis = {{.extent = flat->dims[0], .step = dense_step(deep, 0)},
                 {.extent = rows, .step = dense_step(deep, 1)},
                 {.extent = block, .step = block * channels},
                 {.extent = columns, .step = dense_step(deep, 2)},
                 {.extent = block, .step = channels},
                 {.extent = channels, .step = 1}},
        .of_input = flat == pair->in,
    };
    return walk_elements(pair, &walk, reach);
}

bool arn_depth_to_space_distance(const arn_pair *pair, arn_reach *reach) {
    return walk_blocks(pair, pair->out, pair->in, reach);
}

bool arn_space_to_depth_distance(const arn_pair *pair, arn_reach *reach) {
    return walk_blocks(pair, pair->in, pair->out, reach);
}
