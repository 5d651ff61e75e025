/* Marks: bytes lost to alignments, beyond the sum of sizes.
 *
 * The *marks* of a grain, a power of two, are its multiples. Buffers that are alive together lie
 * apart, so that no mark lies in two of them, and wherever a buffer lies there are so many marks in
 * it at least. With a grain of 8 there is one in a buffer of 5 bytes at a multiple of 4, but none
 * in one of 4 bytes, and three in one of 17 bytes at a multiple of 8:
 *
 *     address  0       8       16      24
 *     marks    |       |       |       |
 *              [=17 bytes=======]          0, 8, 16
 *                          [==5==]         24, as it cannot begin at 19 (compare dual feasible
 *                                          functions of bin packing: Lueker 1983)
 *
 * So the topmost of a set of buffers starts above as many marks as all others have. */
#ifndef ARN_PLANNERS_BOUNDS_MARKS_H
#define ARN_PLANNERS_BOUNDS_MARKS_H

#include <stdint.h>

#include "core/checked.h"

/* The least number of marks in `size` bytes from a multiple of `align` on. */
static inline uint64_t arn_least_marks(uint64_t size, uint64_t align, uint64_t grain) {
    const uint64_t rest = size & (grain - 1);
    const bool one_more = rest > 0 && (align >= grain || rest > grain - align);
    return size / grain + one_more;
}

/* The lowest end of a buffer that starts above so many marks, of which 0 is the first. */
static inline uint64_t arn_end_above_marks(uint64_t marks, uint64_t grain, uint64_t size,
                                           uint64_t align) {
    const uint64_t above = marks ? (marks - 1) * grain + 1 : 0;
    return arn_aligned(above, align) + size;
}

#endif
