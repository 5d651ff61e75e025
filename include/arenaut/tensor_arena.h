/* The tensor arena: the size of a micro runtime's arena, from the plan and from the runtime's own
 * memory in it.
 *
 * Threads: calls only read; any number may run at once. */
#ifndef ARENAUT_TENSOR_ARENA_H
#define ARENAUT_TENSOR_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime plans in the place where the tensors will lie. The head is its greatest need there:
 * the plan, or its notes about tensors while it plans. */
typedef struct arenaut_tensor_arena {
    uint64_t tensors; /* of the head: planned, with kernel scratch as far as it is known */
    uint64_t scratch; /* of kernels, at the op with the most; within `tensors` */
    uint64_t notes;   /* of the head: while it plans */
    uint64_t head;    /* the larger one; notes count less the later growth of the tail */
    uint64_t tail;    /* persistent: the interpreter, and the data of kernels */
    uint64_t padding; /* of the tail: bytes that only align its persistent data */
    uint64_t total;   /* both, rounded up to the target's alignment: bytes to reserve, so aligned */
    bool exact;       /* false: kernels ask for scratch, or keep something, of which it is not known
                       * how much, so that these are the least; or the runtime refuses the
                       * program (arenaut_kernel_support_all) */
    uint32_t op;      /* the first such op that keeps something; ARENAUT_NONE: none */
} arenaut_tensor_arena;

/* Of a plan of so many bytes for the result's program, with its kernels, in `target`.
 * BAD_ARGUMENT if the result has no program or the target no layout; TOO_LARGE. `allocator` may
 * be NULL. O(tensors + ops), and the names of variables. */
arenaut_status arenaut_tensor_arena_find(const arenaut_result *result, uint64_t planned,
                                         const arenaut_target *target,
                                         const arenaut_allocator *allocator,
                                         arenaut_tensor_arena *arena, arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
