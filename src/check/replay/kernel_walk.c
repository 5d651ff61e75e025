/* kernel_walk: reads and writes of one kernel, on a bit for each byte of the inputs that its
 * outputs overlap. A range costs one look at each 64 bytes of it. */
#include "check/replay/kernel_walk.h"

#include "core/checked.h"

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
