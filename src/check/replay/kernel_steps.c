/* kernel_steps: finds the loops of an op's kernel, and has their common parts: arguments,
 * attributes, loops of any depth.
 *
 * Arguments outside of the loops of an operator count as the worst: such inputs are read when all
 * is written, such outputs are written first. */
#include "check/replay/kernel_steps.h"

#include <string.h>

#include "core/checked.h"

/* ---- the walk ---- */

/* Reads and writes of one kernel, on a bit for each byte of the inputs that its outputs overlap. A
 * range costs one look at each 64 bytes of it. */

enum { WORD = 64 };

static uint64_t count_words(const arn_walk_input *input) { return input->bytes / WORD + 1; }

bool arn_walk_begin(arn_walk *walk, arn_region *region) {
    const arenaut_op *op = walk->op;
    uint64_t bytes = 0;
    walk->inputs = arn_region_allocate(region, op->n_inputs, sizeof *walk->inputs);
    if (!walk->inputs) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t tensor = op->inputs[i];
        walk->inputs[i].over = NULL;
        walk->inputs[i].bytes = tensor == ARENAUT_NONE ? 0 : walk->program->tensors[tensor].bytes;
    }
    for (uint32_t i = 0; i < walk->n_pairs; i++) {
        arn_walk_input *input = &walk->inputs[walk->pairs[i].input];
        if (input->over) continue;
        if (!arn_add(bytes, input->bytes, &bytes) || bytes > ARN_WALK_BYTES) {
            walk->end = ARN_WALK_TOO_LONG;
            return true;
        }
        input->over = arn_region_allocate(region, (size_t)count_words(input), sizeof *input->over);
        if (!input->over) return false;
    }
    arn_walk_again(walk);
    return true;
}

void arn_walk_again(arn_walk *walk) {
    for (uint32_t i = 0; i < walk->op->n_inputs; i++) {
        const arn_walk_input *input = &walk->inputs[i];
        const uint64_t words = input->over ? count_words(input) : 0;
        for (uint64_t k = 0; k < words; k++) input->over[k] = 0;
        walk->work += words;
    }
    walk->written = 0;
}

bool arn_walk_give_up(arn_walk *walk, const char *why) {
    walk->end = ARN_WALK_UNKNOWN;
    walk->why = why;
    return false;
}

static bool is_within(arn_walk *walk, uint64_t first, uint64_t end, uint64_t bytes) {
    return (first <= end && end <= bytes) ||
           arn_walk_give_up(walk, "its attributes do not fit its sizes");
}

/* Counts a step on so many bytes. */
static bool charge(arn_walk *walk, uint64_t bytes) {
    walk->work += bytes / WORD + 1;
    if (walk->work <= walk->most) return true;
    walk->end = ARN_WALK_TOO_LONG;
    return false;
}

/* The bits of [first, end) that lie in the word of `first`. */
static uint64_t bits_from(uint64_t first, uint64_t end) {
    const uint64_t low = first % WORD, n = end - first;
    const uint64_t from = UINT64_MAX << low;
    return n >= WORD - low ? from : from & ~(UINT64_MAX << (low + n));
}

/* The first byte in [first, end) that is written over; `end` if there is none. */
static uint64_t find_over(const arn_walk_input *input, uint64_t first, uint64_t end) {
    while (first < end) {
        const uint64_t over = input->over[first / WORD] & bits_from(first, end);
        if (over) return first - first % WORD + arn_lowest_bit(over);
        first += WORD - first % WORD;
    }
    return end;
}

static void mark(arn_walk_input *input, uint64_t first, uint64_t end) {
    while (first < end) {
        input->over[first / WORD] |= bits_from(first, end);
        first += WORD - first % WORD;
    }
}

/* Bytes [*first, *end) of the pair's output, as bytes of its input. False if they are none of it.
 * Sizes and shifts are below 2^63. */
static bool to_input(const arn_walk_pair *pair, uint64_t bytes, uint64_t *first, uint64_t *end) {
    if (pair->shift >= 0) {
        *first += (uint64_t)pair->shift;
        *end += (uint64_t)pair->shift;
    } else {
        const uint64_t down = (uint64_t)-pair->shift;
        *first = *first > down ? *first - down : 0;
        *end = *end > down ? *end - down : 0;
    }
    if (*end > bytes) *end = bytes;
    return *first < *end;
}

bool arn_walk_read(arn_walk *walk, uint32_t input, uint64_t first, uint64_t end) {
    const arn_walk_input *from = &walk->inputs[input];
    if (!is_within(walk, first, end, from->bytes)) return false;
    if (!charge(walk, from->over ? end - first : 0)) return false;
    if (!from->over) return true;
    walk->byte = find_over(from, first, end);
    if (walk->byte == end) return true;
    walk->input = input;
    walk->end = ARN_WALK_CORRUPTS;
    return false;
}

bool arn_walk_write(arn_walk *walk, uint32_t output, uint64_t first, uint64_t end) {
    const uint32_t tensor = walk->op->outputs[output];
    if (!is_within(walk, first, end, walk->program->tensors[tensor].bytes)) return false;
    walk->written += end - first;
    for (uint32_t i = 0; i < walk->n_pairs; i++) {
        const arn_walk_pair *pair = &walk->pairs[i];
        arn_walk_input *input = &walk->inputs[pair->input];
        uint64_t over = first, over_end = end;
        if (!charge(walk, end - first)) return false;
        if (pair->output == output && to_input(pair, input->bytes, &over, &over_end))
            mark(input, over, over_end);
    }
    return true;
}

bool arn_walk_copy(arn_walk *walk, uint32_t input, uint64_t from, uint32_t output, uint64_t to,
                   uint64_t bytes) {
    if (!arn_walk_read(walk, input, from, from + bytes)) return false;
    for (uint32_t i = 0; i < walk->n_pairs; i++) {
        const arn_walk_pair *pair = &walk->pairs[i];
        uint64_t over = to, over_end = to + bytes;
        if (pair->input != input || pair->output != output) continue;
        const bool same = (int64_t)to + pair->shift == (int64_t)from;
        if (same || !to_input(pair, walk->inputs[input].bytes, &over, &over_end)) continue;
        if (over >= from + bytes || over_end <= from) continue;
        walk->end = ARN_WALK_SMEARS;
        walk->input = input;
        walk->byte = from;
        return false;
    }
    return arn_walk_write(walk, output, to, to + bytes);
}

bool arn_walk_is_apart(arn_walk *walk, uint32_t input, uint64_t first, uint64_t end,
                       uint32_t output, uint64_t output_first, uint64_t output_end) {
    const arn_walk_input *from = &walk->inputs[input];
    if (end > from->bytes || !charge(walk, from->over ? end - first : 0)) return false;
    if (!from->over) return true;
    if (find_over(from, first, end) != end) return false;
    for (uint32_t i = 0; i < walk->n_pairs; i++) {
        const arn_walk_pair *pair = &walk->pairs[i];
        uint64_t over = output_first, over_end = output_end;
        if (pair->input != input || pair->output != output) continue;
        if (to_input(pair, from->bytes, &over, &over_end) && over < end && first < over_end)
            return false;
    }
    return true;
}

/* Before step k reads from byte from + k * read on, nothing at or behind byte to + shift + k * made
 * + early of the input is written over. That is no further in every step if it is no further in the
 * first and the last, since both grow evenly. */
static bool is_behind(const arn_walk_pair *pair, const arn_walk_run *run) {
    const int64_t ahead = (int64_t)run->from - (int64_t)(run->to + run->early) - pair->shift;
    const int64_t gain = (int64_t)run->read - (int64_t)run->made;
    return ahead >= 0 && ahead + gain * (int64_t)(run->n - 1) >= 0;
}

bool arn_walk_stays_ahead(arn_walk *walk, const arn_walk_run *run) {
    const arn_walk_input *input = &walk->inputs[run->input];
    const uint64_t first = run->from, end = run->from + run->n * run->read;
    if (run->n == 0 || end > input->bytes) return false;
    if (!charge(walk, input->over ? end - first : 0)) return false;
    if (!input->over) return true;
    if (find_over(input, first, end) != end) return false;
    for (uint32_t i = 0; i < walk->n_pairs; i++) {
        const arn_walk_pair *pair = &walk->pairs[i];
        uint64_t over = run->to, over_end = run->to + run->n * run->made;
        if (pair->input != run->input || pair->output != run->output || is_behind(pair, run))
            continue;
        if (to_input(pair, input->bytes, &over, &over_end) && over < end && first < over_end)
            return false;
    }
    return true;
}

bool arn_walk_run_steps(arn_walk *walk, const arn_walk_run *run) {
    if (run->n > 1 && arn_walk_stays_ahead(walk, run))
        return arn_walk_write(walk, run->output, run->to, run->to + run->n * run->made);
    for (uint64_t k = 0; k < run->n; k++) {
        const uint64_t from = run->from + k * run->read, to = run->to + k * run->made;
        if (!arn_walk_read(walk, run->input, from, from + run->read) ||
            !arn_walk_write(walk, run->output, to, to + run->made))
            return false;
    }
    return true;
}

/* ---- the loops ---- */

enum { MOST = 1 << 30 }; /* of a dimension and of an attribute: products of two fit in 63 bits */

/* ---- arguments and attributes ---- */

static bool measure(arn_walk *walk, uint32_t id, bool in_order, arn_operand *o) {
    if (id == ARENAUT_NONE) return arn_walk_give_up(walk, "an argument is left out");
    const arenaut_tensor *t = &walk->program->tensors[id];
    const uint32_t bits = arenaut_dtype_bits(t->dtype);
    const bool packed = bits % 8 != 0; /* several to a byte: of weights, only the shape matters */
    uint64_t bytes;
    if ((in_order && t->strides) || t->lanes || bits == 0 || (packed && t->cls != ARENAUT_CONSTANT))
        return arn_walk_give_up(walk, "an argument is not dense in whole bytes");
    if (t->unsized || t->dynamic || t->dim_exprs || t->rank > ARN_OPERAND_RANK)
        return arn_walk_give_up(walk, "the shape of an argument varies, or is of too high rank");
    o->dtype = t->dtype;
    o->rank = t->rank;
    o->element = packed ? 1 : bits / 8;
    o->count = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0 || t->dims[i] > MOST ||
            !arn_multiply(o->count, (uint64_t)t->dims[i], &o->count))
            return arn_walk_give_up(walk, "a dimension of an argument is not known, or too large");
        o->dims[i] = t->dims[i];
    }
    return packed || (arn_multiply(o->count, o->element, &bytes) && bytes == t->bytes) ||
           arn_walk_give_up(walk, "an argument is not as large as its shape");
}

bool arn_walk_input_operand(arn_walk *walk, uint32_t input, arn_operand *operand) {
    if (input >= walk->op->n_inputs) return arn_walk_give_up(walk, "an input is missing");
    return measure(walk, walk->op->inputs[input], true, operand);
}

bool arn_walk_output_operand(arn_walk *walk, uint32_t output, arn_operand *operand) {
    if (output >= walk->op->n_outputs) return arn_walk_give_up(walk, "an output is missing");
    return measure(walk, walk->op->outputs[output], true, operand);
}

/* Elements side by side in memory are neighbours in a row's pixel, then in its row, and so on;
 * where a dimension has one element, its stride says nothing. */
static bool turn_channels_inside(arn_walk *walk, uint32_t id, arn_operand *o) {
    if (!measure(walk, id, false, o)) return false;
    if (o->rank != 4) return arn_walk_give_up(walk, "an argument is no image");
    const arenaut_tensor *t = &walk->program->tensors[id];
    const int64_t n = o->dims[0], c = o->dims[1], y = o->dims[2], x = o->dims[3];
    const int64_t by_shape[] = {c * y * x, y * x, x, 1};
    const int64_t *has = t->strides ? t->strides : by_shape;
    if ((c > 1 && has[1] != 1) || (x > 1 && has[3] != c) || (y > 1 && has[2] != x * c) ||
        (n > 1 && has[0] != y * x * c))
        return arn_walk_give_up(walk, "an image does not have its channels inside");
    o->dims[1] = y;
    o->dims[2] = x;
    o->dims[3] = c;
    return true;
}

bool arn_walk_input_image(arn_walk *walk, uint32_t input, arn_operand *operand) {
    if (input >= walk->op->n_inputs) return arn_walk_give_up(walk, "an input is missing");
    return turn_channels_inside(walk, walk->op->inputs[input], operand);
}

bool arn_walk_output_image(arn_walk *walk, uint32_t output, arn_operand *operand) {
    if (output >= walk->op->n_outputs) return arn_walk_give_up(walk, "an output is missing");
    return turn_channels_inside(walk, walk->op->outputs[output], operand);
}

uint64_t arn_operand_count(const arn_operand *operand, uint32_t first, uint32_t end) {
    uint64_t count = 1; /* no more than operand->count, unless that is 0 */
    for (uint32_t i = first; i < end && operand->count > 0; i++)
        count *= (uint64_t)operand->dims[i];
    return count;
}

const int64_t *arn_walk_values(const arn_walk *walk, uint32_t input, uint32_t n) {
    if (input >= walk->op->n_inputs || walk->op->inputs[input] == ARENAUT_NONE) return NULL;
    const arenaut_tensor *t = &walk->program->tensors[walk->op->inputs[input]];
    if (!t->values || t->n_values != n) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (t->values[i] < -MOST || t->values[i] > MOST) return NULL;
    }
    return t->values;
}

bool arn_walk_attribute(const arn_walk *walk, const char *name, uint32_t n, int64_t *numbers) {
    const arenaut_attribute *a = arenaut_op_attribute(walk->op, name);
    if (!a || a->n_numbers != n) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (a->numbers[i] < -MOST || a->numbers[i] > MOST) return false;
        numbers[i] = a->numbers[i];
    }
    return true;
}

int64_t arn_walk_number(const arn_walk *walk, const char *name, int64_t usual) {
    int64_t number;
    return arn_walk_attribute(walk, name, 1, &number) ? number : usual;
}

bool arn_walk_says(const arn_walk *walk, const char *name, const char *text) {
    const arenaut_attribute *a = arenaut_op_attribute(walk->op, name);
    return a && a->text && strcmp(a->text, text) == 0;
}

bool arn_walk_axis(int64_t axis, uint32_t rank, uint32_t *found) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return false;
    *found = (uint32_t)axis;
    return true;
}

int64_t arn_floor(float value) {
    const int64_t whole = (int64_t)value; /* towards 0 */
    return (float)whole > value ? whole - 1 : whole;
}

/* ---- loops ---- */

void arn_loops_add(arn_loops *loops, int64_t count, int64_t stride, int64_t other_stride) {
    const uint32_t k = loops->depth++;
    loops->count[k] = count;
    loops->stride[0][k] = stride;
    loops->stride[1][k] = other_stride;
    loops->index[k] = 0;
}

bool arn_loops_are_empty(const arn_loops *loops) {
    for (uint32_t k = 0; k < loops->depth; k++) {
        if (loops->count[k] == 0) return true;
    }
    return false;
}

bool arn_loops_next(arn_loops *loops) {
    for (uint32_t k = loops->depth; k-- > 0;) {
        const int64_t back = ++loops->index[k] < loops->count[k] ? 0 : loops->count[k];
        for (int i = 0; i < 2; i++) loops->at[i] += (1 - back) * loops->stride[i][k];
        if (back == 0) return true;
        loops->index[k] = 0;
    }
    return false;
}

/* ---- the walk of an op ---- */

static const arn_kernel_family *find_family(const char *name) {
    static const arn_kernel_family *const tables[] = {arn_window_kernels, arn_plane_kernels,
                                                      arn_element_kernels, arn_moving_kernels,
                                                      arn_matrix_kernels};
    for (size_t i = 0; name && i < sizeof tables / sizeof tables[0]; i++) {
        for (const arn_kernel_family *f = tables[i]; f->op; f++) {
            if (strcmp(f->op, name) == 0) return f;
        }
    }
    return NULL;
}

static bool write_others(arn_walk *walk, const arn_kernel_family *family) {
    const arenaut_op *op = walk->op;
    for (uint32_t i = 1; i < op->n_outputs && !family->all_outputs; i++) {
        if (op->outputs[i] == ARENAUT_NONE) continue;
        if (!arn_walk_write(walk, i, 0, walk->program->tensors[op->outputs[i]].bytes)) return false;
    }
    return true;
}

static bool read_others(arn_walk *walk, const arn_kernel_family *family) {
    for (uint32_t i = 0; i < walk->op->n_inputs && !family->all_inputs; i++) {
        const bool read = i < 32 && (family->inputs >> i & 1);
        if (!read && !arn_walk_read(walk, i, 0, walk->inputs[i].bytes)) return false;
    }
    return true;
}

void arn_kernel_steps(arn_walk *walk) {
    const arenaut_kernel_order order = walk->rule->order;
    if (walk->end != ARN_WALK_RIGHT) return;
    /* Nothing is read once anything is written: nothing can be written over before. */
    if (order == ARENAUT_KERNEL_ANY) return;
    const arn_kernel_family *family = find_family(walk->op->name);
    if (!family) {
        arn_walk_give_up(walk, "the checker has no loops of this operator");
    } else if (order != ARENAUT_KERNEL_RASTER && !family->takes_blocks) {
        arn_walk_give_up(walk, "the checker has the loops of this operator in raster order alone");
    } else if (write_others(walk, family) && family->loops(walk)) {
        read_others(walk, family);
    }
}
