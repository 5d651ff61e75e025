/* kernel_steps_move: kernels that put elements elsewhere and change none: pads, joins, parts,
 * permutations. All walk their output from its first element to its last, but
 * SPACE_TO_DEPTH its input and PACK input by input. A copy by memcpy, as of the runs of
 * CONCATENATION, is one step, and must lie apart from its source or be it. O(elements). */
#include "check/replay/kernel_steps.h"

static bool misfit(arn_walk *walk) {
    return arn_walk_give_up(walk, "its shapes, attributes and constants do not fit together");
}

static bool operands(arn_walk *walk, uint32_t input, arn_operand *in, arn_operand *out) {
    if (!arn_walk_input_operand(walk, input, in) || !arn_walk_output_operand(walk, 0, out))
        return false;
    return in->element == out->element || misfit(walk);
}

/* `n` elements of the input to as many of the output, one by one; places are counted in elements.
 */
static bool move(arn_walk *walk, uint32_t input, uint32_t output, uint64_t from, uint64_t to,
                 uint64_t n, uint64_t element) {
    const arn_walk_run run = {.input = input,
                              .output = output,
                              .from = from * element,
                              .read = element,
                              .to = to * element,
                              .made = element,
                              .n = n};
    return arn_walk_run_steps(walk, &run);
}

static void set_strides(const arn_operand *o, int64_t *strides) {
    int64_t stride = 1;
    for (uint32_t i = o->rank; i-- > 0; stride *= o->dims[i]) strides[i] = stride;
}

/* All turns of the loops: array 0 is the input, array 1 the output. */
static bool move_in_loops(arn_walk *walk, arn_loops *loops, uint64_t element) {
    uint64_t run = 1;
    if (arn_loops_are_empty(loops)) return true;
    if (loops->depth > 0) {
        const uint32_t last = loops->depth - 1;
        const bool dense = loops->stride[0][last] == 1 && loops->stride[1][last] == 1;
        if (dense) run = (uint64_t)loops->count[--loops->depth];
    }
    do {
        if (!move(walk, 0, 0, (uint64_t)loops->at[0], (uint64_t)loops->at[1], run, element))
            return false;
    } while (arn_loops_next(loops));
    return true;
}

/* ---- pads ---- */

/* The paddings before and after each dimension of the input; NULL if they do not fit. */
static const int64_t *find_paddings(const arn_walk *walk, const arn_operand *in,
                                    const arn_operand *out) {
    const int64_t *paddings = arn_walk_values(walk, 1, 2 * in->rank);
    if (!paddings || in->rank != out->rank) return NULL;
    for (uint32_t i = 0; i < in->rank; i++) {
        const int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
        if (before < 0 || after < 0 || in->dims[i] + before + after != out->dims[i]) return NULL;
    }
    return paddings;
}

static void loop_over(const arn_operand *o, uint32_t dims, arn_loops *loops) {
    for (uint32_t i = 0; i < dims; i++) arn_loops_add(loops, o->dims[i], 0, 0);
}

static bool is_padding(const arn_loops *loops, const arn_operand *in, const int64_t *paddings) {
    for (uint32_t i = 0; i < loops->depth; i++) {
        const int64_t at = loops->index[i] - paddings[2 * i];
        if (at < 0 || at >= in->dims[i]) return true;
    }
    return false;
}

/* How many of the innermost dimensions are one run: as many of the last two as go on in memory. */
static uint32_t dimensions_of_run(const arn_operand *in, const int64_t *paddings) {
    if (in->rank == 0) return 0;
    const int64_t *last = paddings + 2 * (in->rank - 1);
    return in->rank > 1 && last[0] == 0 && last[1] == 0 ? 2 : 1;
}

/* A line of the output: padding, a run of the input (by `rows` with memcpy, if it is more than one
 * element), and padding again. All in elements, but for the size of one. */
static bool pad_line(arn_walk *walk, uint64_t from, uint64_t run, uint64_t to, uint64_t before,
                     uint64_t line, uint64_t element) {
    const uint64_t first = to + before, end = first + run;
    const bool copies = walk->rule->order == ARENAUT_KERNEL_ROWS && run != 1;
    return arn_walk_write(walk, 0, to * element, first * element) &&
           (copies ? arn_walk_copy(walk, 0, from * element, 0, first * element, run * element)
                   : move(walk, 0, 0, from, first, run, element)) &&
           arn_walk_write(walk, 0, end * element, (to + line) * element);
}

static bool pad(arn_walk *walk) {
    arn_operand in, out;
    arn_loops loops = {.depth = 0};
    uint64_t from = 0, to = 0;
    if (!operands(walk, 0, &in, &out)) return false;
    const int64_t *paddings = find_paddings(walk, &in, &out);
    if (!paddings) return misfit(walk);
    if (walk->rule->order != ARENAUT_KERNEL_RASTER && walk->rule->order != ARENAUT_KERNEL_ROWS)
        return arn_walk_give_up(walk, "its elements are in no such order");
    const uint32_t rank = in.rank, outer = rank - dimensions_of_run(&in, paddings);
    const uint64_t run = arn_operand_count(&in, outer, rank);
    const uint64_t line = arn_operand_count(&out, outer, rank);
    const uint64_t inner = outer + 1 < rank ? arn_operand_count(&in, outer + 1, rank) : 1;
    const uint64_t before = outer < rank ? (uint64_t)paddings[2 * outer] * inner : 0;
    if (out.count == 0) return true;
    loop_over(&out, outer, &loops);
    do {
        const bool blank = is_padding(&loops, &in, paddings);
        const bool right =
            blank ? arn_walk_write(walk, 0, to * out.element, (to + line) * out.element)
                  : pad_line(walk, from, run, to, before, line, out.element);
        if (!right) return false;
        if (!blank) from += run;
        to += line;
    } while (arn_loops_next(&loops));
    return true;
}

/* Which element of a dimension is shown at a place before, in or behind it. `edge` is 1 where the
 * outermost element is not shown twice. */
static int64_t mirrored(int64_t place, int64_t before, int64_t size, int64_t edge) {
    if (place < before) return before - 1 + edge - place;
    if (place < before + size) return place - before;
    return size - 1 - edge - (place - before - size);
}

static bool mirror_pad(arn_walk *walk) {
    arn_operand in, out;
    arn_loops loops = {.depth = 0};
    int64_t strides[ARN_OPERAND_RANK];
    uint64_t to = 0;
    if (!operands(walk, 0, &in, &out)) return false;
    const bool reflect = arn_walk_says(walk, "mode", "REFLECT");
    const int64_t *paddings = find_paddings(walk, &in, &out);
    if (!paddings || (!reflect && !arn_walk_says(walk, "mode", "SYMMETRIC"))) return misfit(walk);
    loop_over(&out, out.rank, &loops);
    set_strides(&in, strides);
    if (out.count == 0) return true;
    do {
        int64_t from = 0;
        for (uint32_t i = 0; i < in.rank; i++) {
            const int64_t at = mirrored(loops.index[i], paddings[2 * i], in.dims[i], reflect);
            if (at < 0 || at >= in.dims[i]) return misfit(walk);
            from += at * strides[i];
        }
        if (!move(walk, 0, 0, (uint64_t)from, to++, 1, out.element)) return false;
    } while (arn_loops_next(&loops));
    return true;
}

/* ---- joins and parts along an axis ---- */

/* The result of a join, and the axis along which its inputs follow each other. */
static bool joined(arn_walk *walk, arn_operand *out, uint32_t *axis) {
    int64_t stated;
    if (!arn_walk_output_operand(walk, 0, out)) return false;
    return (arn_walk_attribute(walk, "axis", 1, &stated) &&
            arn_walk_axis(stated, out->rank, axis)) ||
           arn_walk_give_up(walk, "its axis is not known");
}

static bool concatenate(arn_walk *walk) {
    arn_operand out, in;
    uint32_t axis;
    if (!joined(walk, &out, &axis)) return false;
    const uint64_t outer = arn_operand_count(&out, 0, axis);
    const uint64_t inner = arn_operand_count(&out, axis + 1, out.rank) * out.element;
    uint64_t to = 0;
    for (uint64_t k = 0; k < outer; k++) {
        for (uint32_t i = 0; i < walk->op->n_inputs; i++) {
            if (!arn_walk_input_operand(walk, i, &in)) return false;
            if (in.rank != out.rank || in.element != out.element) return misfit(walk);
            const uint64_t run = (uint64_t)in.dims[axis] * inner;
            if (!arn_walk_copy(walk, i, k * run, 0, to, run)) return false;
            to += run;
        }
    }
    return true;
}

static bool pack(arn_walk *walk) {
    arn_operand out, in;
    uint32_t axis;
    if (!joined(walk, &out, &axis)) return false;
    const uint64_t outer = arn_operand_count(&out, 0, axis);
    const uint64_t run = arn_operand_count(&out, axis + 1, out.rank);
    const uint32_t n = walk->op->n_inputs;
    for (uint32_t i = 0; i < n; i++) {
        if (!arn_walk_input_operand(walk, i, &in)) return false;
        if (in.element != out.element) return misfit(walk);
        for (uint64_t k = 0; k < outer; k++) {
            if (!move(walk, i, 0, k * run, (k * n + i) * run, run, out.element)) return false;
        }
    }
    return true;
}

/* Cuts `input` along the axis that is the constant `axis_input`. */
static bool cut(arn_walk *walk, uint32_t input, uint32_t axis_input) {
    arn_operand in, out;
    uint32_t axis;
    uint64_t from = 0;
    if (!arn_walk_input_operand(walk, input, &in)) return false;
    const int64_t *stated = arn_walk_values(walk, axis_input, 1);
    if (!stated || !arn_walk_axis(*stated, in.rank, &axis))
        return arn_walk_give_up(walk, "its axis is not known");
    const uint64_t outer = arn_operand_count(&in, 0, axis);
    const uint64_t inner = arn_operand_count(&in, axis + 1, in.rank);
    for (uint64_t k = 0; k < outer; k++) {
        for (uint32_t i = 0; i < walk->op->n_outputs; i++) {
            if (!arn_walk_output_operand(walk, i, &out)) return false;
            if (out.rank != in.rank || out.element != in.element) return misfit(walk);
            const uint64_t run = (uint64_t)out.dims[axis] * inner;
            if (!move(walk, input, i, from, k * run, run, in.element)) return false;
            from += run;
        }
    }
    return true;
}

static bool split(arn_walk *walk) { return cut(walk, 1, 0); }
static bool split_by_sizes(arn_walk *walk) { return cut(walk, 0, 2); }

static bool slice(arn_walk *walk) {
    arn_operand in, out;
    arn_loops loops = {.depth = 0};
    int64_t from[ARN_OPERAND_RANK], to[ARN_OPERAND_RANK];
    if (!operands(walk, 0, &in, &out)) return false;
    const int64_t *begin = arn_walk_values(walk, 1, in.rank);
    if (!begin || in.rank != out.rank) return misfit(walk);
    set_strides(&in, from);
    set_strides(&out, to);
    for (uint32_t i = 0; i < in.rank; i++) {
        if (begin[i] < 0 || begin[i] + out.dims[i] > in.dims[i]) return misfit(walk);
        arn_loops_add(&loops, out.dims[i], from[i], to[i]);
        loops.at[0] += begin[i] * from[i];
    }
    return move_in_loops(walk, &loops, out.element);
}

/* ---- slices with strides ---- */

typedef struct stretch {
    int64_t first, stride, count;
} stretch;

static int64_t bound(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* The elements that a strided slice takes of one dimension. A negative stride goes backwards, to an
 * end that may lie before the first element. */
static stretch find_stretch(int64_t size, int64_t begin, int64_t end, int64_t stride,
                            bool whole_begin, bool whole_end, bool shrink) {
    const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
    stretch s = {.stride = stride, .count = 0};
    s.first = whole_begin ? (stride > 0 ? 0 : size - 1)
                          : bound(begin < 0 ? begin + size : begin, low, high);
    if (shrink) {
        s.count = s.first >= 0 && s.first < size;
        return s;
    }
    const int64_t last =
        whole_end ? (stride > 0 ? size : -1) : bound(end < 0 ? end + size : end, low, high);
    const int64_t span = stride > 0 ? last - s.first : s.first - last;
    const int64_t step = stride > 0 ? stride : -stride;
    if (span > 0) s.count = (span + step - 1) / step;
    return s;
}

/* Fills in the loops; false if something is not known. */
static bool loop_over_slice(const arn_walk *walk, const arn_operand *in, arn_loops *loops) {
    const int64_t *begin = arn_walk_values(walk, 1, in->rank);
    const int64_t *end = arn_walk_values(walk, 2, in->rank);
    const int64_t *stride = arn_walk_values(walk, 3, in->rank);
    const int64_t begins = arn_walk_number(walk, "begin_mask", -1);
    const int64_t ends = arn_walk_number(walk, "end_mask", -1);
    const int64_t shrinks = arn_walk_number(walk, "shrink_axis_mask", -1);
    int64_t strides[ARN_OPERAND_RANK];
    if (!begin || !end || !stride || begins < 0 || ends < 0 || shrinks < 0) return false;
    if (arn_walk_number(walk, "ellipsis_mask", 0) != 0 ||
        arn_walk_number(walk, "new_axis_mask", 0) != 0 || arn_walk_number(walk, "offset", 0) != 0)
        return false;
    set_strides(in, strides);
    for (uint32_t i = 0; i < in->rank; i++) {
        if (stride[i] == 0) return false;
        const stretch s = find_stretch(in->dims[i], begin[i], end[i], stride[i], begins >> i & 1,
                                       ends >> i & 1, shrinks >> i & 1);
        arn_loops_add(loops, s.count, s.stride * strides[i], 0);
        loops->at[0] += s.first * strides[i];
    }
    return true;
}

static bool slice_by_strides(arn_walk *walk) {
    arn_operand in, out;
    arn_loops loops = {.depth = 0};
    uint64_t run = 1, to = 0;
    if (!operands(walk, 0, &in, &out)) return false;
    if (in.rank == 0 || !loop_over_slice(walk, &in, &loops)) return misfit(walk);
    if (arn_loops_are_empty(&loops)) return true;
    const bool copies = arn_walk_values(walk, 3, in.rank)[in.rank - 1] == 1;
    if (copies) run = (uint64_t)loops.count[--loops.depth];
    do {
        const uint64_t from = (uint64_t)loops.at[0];
        const bool right =
            copies ? arn_walk_copy(walk, 0, from * in.element, 0, to * in.element, run * in.element)
                   : move(walk, 0, 0, from, to, 1, in.element);
        if (!right) return false;
        to += run;
    } while (arn_loops_next(&loops));
    return to == out.count || misfit(walk);
}

/* ---- permutations ---- */

static bool transpose(arn_walk *walk) {
    arn_operand in, out;
    arn_loops loops = {.depth = 0};
    int64_t from[ARN_OPERAND_RANK], to[ARN_OPERAND_RANK];
    if (!operands(walk, 0, &in, &out)) return false;
    const int64_t *permutation = arn_walk_values(walk, 1, in.rank);
    if (!permutation || in.rank != out.rank) return misfit(walk);
    set_strides(&in, from);
    set_strides(&out, to);
    for (uint32_t i = 0; i < out.rank; i++) {
        const int64_t p = permutation[i];
        if (p < 0 || p >= in.rank || in.dims[p] != out.dims[i]) return misfit(walk);
        arn_loops_add(&loops, out.dims[i], from[p], to[i]);
    }
    return move_in_loops(walk, &loops, out.element);
}

/* Between an image of `deep` channels and one whose sides are `size` times as long. The loops go
 * over the long one's elements; array `deep_array` is the deep one. */
static bool loop_over_blocks(const arn_operand *deep, const arn_operand *wide, int64_t size,
                             arn_loops *loops, int deep_array) {
    if (deep->rank != 4 || wide->rank != 4 || size < 1) return false;
    const int64_t h = deep->dims[1], w = deep->dims[2], c = wide->dims[3];
    if (wide->dims[0] != deep->dims[0] || wide->dims[1] / size != h || wide->dims[1] % size != 0 ||
        wide->dims[2] / size != w || wide->dims[2] % size != 0 || deep->count != wide->count)
        return false;
    const int64_t d = deep->dims[3], row = w * size * c;
    const int64_t count[] = {deep->dims[0], h, size, w, size, c};
    const int64_t in_deep[] = {h * w * d, w * d, size * c, d, c, 1};
    const int64_t in_wide[] = {h * size * row, size * row, row, size * c, c, 1};
    for (int i = 0; i < 6; i++) {
        if (deep_array == 0) arn_loops_add(loops, count[i], in_deep[i], in_wide[i]);
        else arn_loops_add(loops, count[i], in_wide[i], in_deep[i]);
    }
    return true;
}

static bool depth_to_space(arn_walk *walk) {
    arn_operand in, out;
    arn_loops loops = {.depth = 0};
    if (!operands(walk, 0, &in, &out)) return false;
    const int64_t size = arn_walk_number(walk, "block_size", 0);
    if (!loop_over_blocks(&in, &out, size, &loops, 0)) return misfit(walk);
    return move_in_loops(walk, &loops, out.element);
}

static bool space_to_depth(arn_walk *walk) {
    arn_operand in, out;
    arn_loops loops = {.depth = 0};
    if (!operands(walk, 0, &in, &out)) return false;
    const int64_t size = arn_walk_number(walk, "block_size", 0);
    if (!loop_over_blocks(&out, &in, size, &loops, 1)) return misfit(walk);
    return move_in_loops(walk, &loops, out.element);
}

const arn_kernel_family arn_moving_kernels[] = {
    {.op = "CONCATENATION", .loops = concatenate, .all_inputs = true},
    {.op = "DEPTH_TO_SPACE", .loops = depth_to_space, .inputs = 1},
    {.op = "MIRROR_PAD", .loops = mirror_pad, .inputs = 1},
    {.op = "PACK", .loops = pack, .all_inputs = true},
    {.op = "PAD", .loops = pad, .inputs = 1, .takes_blocks = true},
    {.op = "PADV2", .loops = pad, .inputs = 1, .takes_blocks = true},
    {.op = "SLICE", .loops = slice, .inputs = 1},
    {.op = "SPACE_TO_DEPTH", .loops = space_to_depth, .inputs = 1},
    {.op = "SPLIT", .loops = split, .inputs = 2, .all_outputs = true},
    {.op = "SPLIT_V", .loops = split_by_sizes, .inputs = 1, .all_outputs = true},
    {.op = "STRIDED_SLICE", .loops = slice_by_strides, .inputs = 1},
    {.op = "TRANSPOSE", .loops = transpose, .inputs = 1},
    {.op = NULL},
};
