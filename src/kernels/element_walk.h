/* Kernels that visit the elements of one tensor in order and, for each, one element of another:
 * permutations, slices, mirrors and repetitions. The other's place is a sum over the axes, each of
 * which contributes a number that depends on its own index only. */
#ifndef ARN_KERNELS_ELEMENT_WALK_H
#define ARN_KERNELS_ELEMENT_WALK_H

#include "kernels/distance.h"

enum { ARN_MOST_AXES = 8 };

/* Index i of an axis stands for place i * step of the other tensor, in elements. Mirrored, it
 * stands for (i - before) * step, folded back into [0, inside). */
typedef struct arn_axis {
    int64_t extent, step;
    int64_t inside, before; /* inside = 0: not mirrored */
    int64_t fold;           /* 1: the edge's element comes twice; 2: once */
} arn_axis;

typedef struct arn_element_walk {
    uint32_t n_axes; /* outermost first */
    arn_axis axis[ARN_MOST_AXES];
    int64_t base;  /* the other's place where all indices are 0 */
    bool copies;   /* the last axis, of step 1, is one run of memcpy, whose source and destination
                    * must be apart */
    bool of_input; /* the walk goes through the input and finds its writes; else through the output,
                    * and finds its reads */
} arn_element_walk;

/* False for other orders than raster, and if it takes more steps than are left. O(steps). */
bool arn_walk_elements(const arn_pair *pair, const arn_element_walk *walk, arn_reach *reach);

/* The distance from one index of an axis to the next in a dense tensor, in elements. */
int64_t arn_dense_step(const arenaut_tensor *tensor, uint32_t axis);

#endif
