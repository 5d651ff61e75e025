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

/* Kinds of data in the tail, in the order in which they are allocated. */
#define ARENAUT_TAIL_MAP(XX)           \
    XX(BASE, "runtime")                \
    XX(TENSORS, "tensor structs")      \
    XX(NODES, "node and registration") \
    XX(OPTIONS, "parsed options")      \
    XX(KERNELS, "kernel data")         \
    XX(SCRATCH, "scratch handles")     \
    XX(VARIABLES, "variables")         \
    XX(ARGUMENTS, "inputs and outputs")

typedef enum arenaut_tail_kind {
#define ARENAUT_TAIL_KIND(name, text) ARENAUT_TAIL_##name,
    ARENAUT_TAIL_MAP(ARENAUT_TAIL_KIND)
#undef ARENAUT_TAIL_KIND
        ARENAUT_TAIL_KINDS
} arenaut_tail_kind;

const char *arenaut_tail_kind_name(arenaut_tail_kind kind);

/* The runtime plans in the place where the tensors will lie. The head is its greatest need there:
 * the plan, or what it notes about tensors and arguments while it prepares ops and plans. */
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
    uint64_t part[ARENAUT_TAIL_KINDS]; /* of the tail; with `padding`, their sum is the tail */
    uint32_t models;   /* interpreters that share this arena: one of them runs at a time */
    bool apart;        /* head and tail are two memories, each aligned; `total` is the sum of both,
                        * each rounded up */
    uint64_t planning; /* the most that any of them needed while it planned: in the head, if it is
                        * apart, else with the tail as it was by then */
} arenaut_tensor_arena;

/* Of a plan of so many bytes for the result's program, with its kernels, in `target`.
 * BAD_ARGUMENT if the result has no program or the target no layout; TOO_LARGE. `allocator` may
 * be NULL. O(tensors + ops), and the names of variables. */
arenaut_status arenaut_tensor_arena_find(const arenaut_result *result, uint64_t planned,
                                         const arenaut_target *target,
                                         const arenaut_allocator *allocator,
                                         arenaut_tensor_arena *arena, arenaut_error *err);

/* Adds one more interpreter to those of the arena, as a runtime does whose interpreters share an
 * allocator: the head is as large as the largest, the tails follow one another. The first is added
 * to an arena of zeros, or to one in which only `apart` is set. `op` stays that of the first model
 * that has one. As arenaut_tensor_arena_find; after an error the arena is as it was. */
arenaut_status arenaut_tensor_arena_add(const arenaut_result *result, uint64_t planned,
                                        const arenaut_target *target,
                                        const arenaut_allocator *allocator,
                                        arenaut_tensor_arena *arena, arenaut_error *err);

/* Bytes of the tail for one op. */
typedef struct arenaut_op_tail {
    uint64_t node, options; /* its node and registration; its parsed options */
    uint64_t kernel;        /* data of its kernel, as far as it is `known` */
    uint64_t channels;      /* of `kernel`: a multiplier and a shift for each output channel */
    bool known;
} arenaut_op_tail;

/* Of an op of the result's program, in a target with a layout. O(rules). */
arenaut_op_tail arenaut_op_tail_find(const arenaut_result *result, const arenaut_target *target,
                                     uint32_t op);

#ifdef __cplusplus
}
#endif
#endif
