/* Shared parts of the families of distances: the definition, and its computation.
 *
 * A kernel call is a sequence of steps; each first reads bytes of the input, then writes bytes of
 * the output. If the input begins `delta` bytes above the output, a write up to byte w of the
 * output destroys a later read at byte r of the input unless delta >= w - r. So the distance is the
 * largest (end of a step's writes - lowest byte that later steps read), which a walk over the steps
 * from the last to the first finds with one running minimum. */
#ifndef ARN_KERNELS_DISTANCE_H
#define ARN_KERNELS_DISTANCE_H

#include <arenaut/kernels.h>

/* Steps of kernels that are followed for one program: about a second. */
#define ARN_MOST_STEPS (UINT64_C(1) << 28)

typedef struct arn_pair {
    const arenaut_program *program;
    const arenaut_op *op;
    const arenaut_kernel_rule *rule;
    uint32_t output, input;          /* positions in the op's lists */
    const arenaut_tensor *out, *in;  /* plain */
    int64_t out_element, in_element; /* bytes */
    uint64_t *steps_left;            /* that may still be followed */
} arn_pair;

/* Whether so many steps may be followed; they are taken off. */
static inline bool arn_take_steps(const arn_pair *pair, uint64_t steps) {
    if (steps > *pair->steps_left) return false;
    *pair->steps_left -= steps;
    return true;
}

#define ARN_UNREAD INT64_MAX

/* The answer so far: all that comes after the step in question. */
typedef struct arn_reach {
    int64_t lowest;   /* byte of the input that is read; ARN_UNREAD: none is */
    int64_t distance; /* that the order of the steps asks for */
    int64_t apart;    /* that runs of memcpy ask for: they must not overlap their source */
    bool moves;       /* where both begin at one place, some run is not its own source */
} arn_reach;

static inline arn_reach arn_reach_nothing(void) {
    return (arn_reach){ARN_UNREAD, INT64_MIN, INT64_MIN, false};
}

static inline void arn_reach_at_least(arn_reach *reach, int64_t distance) {
    if (distance > reach->distance) reach->distance = distance;
}

/* One step before those seen: it reads from byte `lowest` of the input on (ARN_UNREAD: nothing),
 * then writes up to byte `end` of the output. */
static inline void arn_reach_step(arn_reach *reach, int64_t end, int64_t lowest) {
    if (reach->lowest != ARN_UNREAD) arn_reach_at_least(reach, end - reach->lowest);
    if (lowest < reach->lowest) reach->lowest = lowest;
}

/* A run of bytes of the input, from byte `from` on, is copied to the output, up to byte `end`. */
static inline void arn_reach_copy(arn_reach *reach, int64_t end, int64_t from, int64_t bytes) {
    if (end - from > reach->apart) reach->apart = end - from;
    reach->moves = reach->moves || end - bytes != from;
}

/* How far output pair->output of an op may reach into its input pair->input when its kernel walks
 * as `rule` says: whether it may at all, and the distance (arenaut_overlap) in bytes, not rounded.
 * Runs of bytes that the kernel copies with memcpy stay apart from their source or are the source.
 * Sizes must be known. Takes the steps that it follows off those left. O(pixels of the output),
 * O(elements) for ops that permute elements. Sets *in_place where
 * the two may begin at one place although the distance does not say so: each run of memcpy would
 * be copied onto itself. */
bool arn_kernel_distance(const arenaut_program *program, const arenaut_op *op,
                         const arenaut_kernel_rule *rule, arenaut_overlap *pair, bool *in_place,
                         uint64_t *steps_left);

/* The families: false where nothing is known of this order, or of an op with such arguments. */
bool arn_window_distance(const arn_pair *pair, arn_reach *reach);
bool arn_plane_distance(const arn_pair *pair, arn_reach *reach);
bool arn_resize_distance(const arn_pair *pair, arn_reach *reach);
bool arn_dense_distance(const arn_pair *pair, arn_reach *reach);
bool arn_unary_distance(const arn_pair *pair, arn_reach *reach);
bool arn_binary_distance(const arn_pair *pair, arn_reach *reach);
bool arn_pad_distance(const arn_pair *pair, arn_reach *reach);
bool arn_mirror_pad_distance(const arn_pair *pair, arn_reach *reach);
bool arn_concatenation_distance(const arn_pair *pair, arn_reach *reach);
bool arn_pack_distance(const arn_pair *pair, arn_reach *reach);
bool arn_split_distance(const arn_pair *pair, arn_reach *reach);
bool arn_slice_distance(const arn_pair *pair, arn_reach *reach);
bool arn_strided_slice_distance(const arn_pair *pair, arn_reach *reach);
bool arn_transpose_distance(const arn_pair *pair, arn_reach *reach);
bool arn_depth_to_space_distance(const arn_pair *pair, arn_reach *reach);
bool arn_space_to_depth_distance(const arn_pair *pair, arn_reach *reach);
bool arn_matmul_distance(const arn_pair *pair, arn_reach *reach);
bool arn_mean_distance(const arn_pair *pair, arn_reach *reach);
bool arn_arg_distance(const arn_pair *pair, arn_reach *reach);
bool arn_sequence_distance(const arn_pair *pair, arn_reach *reach);

/* The position of an op's first operand, as opposed to parameters: 0 but for a few. */
uint32_t arn_first_operand(const arenaut_op *op);

#endif
