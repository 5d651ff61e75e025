/* Lowering: from a program and a target to a problem.
 *
 * Steps: each entry method gets a stretch of the time axis. Its first step is the moment
 * before its first op, when its inputs are filled; then each op gets one step. The ops of
 * methods that an op calls get their steps inside that op's: the caller's step, then for
 * each called method one step for its inputs and one for each of its ops. A method that
 * is called from several places has several stretches.
 *
 * Where the ops of a method jump or move, lives are exact by data-flow: a tensor is alive at the
 * steps of all ops on some path from a write of it to a read, under any name; that can be several
 * lifetimes. Tensors that several paths move to one name are one buffer if they are of one size and
 * nothing else keeps them apart.
 *
 * In a concurrent method a buffer may take another's memory only if every op that touches the other
 * has ended before the first that touches it begins, in any schedule. An op depends on the ops
 * before it in its stream, the ops in its `after`, the writers of its operands, and earlier readers
 * and writers of its results. Where the sequence of the ops alone keeps two lives apart, the
 * problem has a conflict edge.
 *
 * Steps below 0 are for targets whose runtime gives room even to tensors outside of the schedule:
 * one that no op touches is alive at a step of its own there, since it may share its bytes with
 * everything; one that is read but never written is alive from step -1 to its last reader.
 *
 * Threads: any number of arenaut_lower may run at once, also on the same program, which they
 * only read. */
#ifndef ARENAUT_LOWERING_H
#define ARENAUT_LOWERING_H

#include <arenaut/problem.h>
#include <arenaut/program.h>
#include <arenaut/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The event at one step. */
typedef struct arenaut_step {
    uint32_t method;
    uint32_t op; /* ARENAUT_NONE: the start of the method */
} arenaut_step;

typedef struct arenaut_lowering {
    arenaut_problem *problem; /* owned by the lowering */
    uint32_t n_tensors;
    uint32_t *buffer; /* per tensor: its buffer; ARENAUT_NONE if it needs none */
    uint64_t *offset; /* per tensor: bytes from the start of that buffer */
    uint32_t *tensor; /* per buffer: the tensor that names it */
    uint32_t n_steps;
    arenaut_step *steps; /* the event at step k, 0 <= k < n_steps */
    struct arenaut_lowering_store *store;
} arenaut_lowering;

typedef struct arenaut_lowering_options {
    bool preserve_inputs;               /* inputs live until their method ends, for any target */
    bool exclude_io;                    /* entry inputs and outputs are provided by the caller */
    uint64_t align;                     /* 0: the target's; else at least this for every buffer */
    const arenaut_align_rule *op_align; /* the user's, on top of the kernels' */
    uint32_t n_op_align;
    const arenaut_pool *pools; /* NULL: one unlimited pool per device */
    uint32_t n_pools;
    bool overlap; /* overlaps of ops become separations; else they are left unused */
    bool apart; /* methods that only plain calls run, branches with one method for both cases, keep
                 * nothing from one call to the next, and their callers' arguments and results are
                 * alive only while they are copied; for any target. Right if the runtime is given
                 * each place, and finds none itself */
    const arenaut_kernel_set *kernels; /* whose alignments by op count; NULL: none */
    uint64_t reserved[4];              /* zero; later versions of 1.x take their fields here */
} arenaut_lowering_options;

/* Computes lifetimes and makes the problem. Buffers go method by method in the order of their
 * tensors, scratch last. Where methods have arenas of their own, those that neither are entries nor
 * called from one get none. In-place pairs of ops become same-base relations where nothing needs
 * the overwritten buffer any more; likewise overlaps become separations, if the options ask for
 * them. `options` may be NULL. The program is validated first. UNSUPPORTED when calls expand to
 * more than 2^24 steps, for jumps and moves in a method that calls or is called, and where they
 * multiply into too much work; BAD_INPUT, naming the tensor, if a size is still open and `unsized`
 * does not allow that; REFUSED when no pool given is of a tensor's device, and when an op asks for
 * an alignment that a view cannot have where it lies in its buffer, and when methods' memories are
 * more than ARENAUT_MAX_POOLS; else those of a program that is not valid and of
 * arenaut_problem_finish. O(steps + arguments) without jumps. */
arenaut_status arenaut_lower(const arenaut_program *program, const arenaut_target *target,
                             const arenaut_lowering_options *options,
                             const arenaut_allocator *allocator, arenaut_lowering **out,
                             arenaut_error *err);
void arenaut_lowering_free(arenaut_lowering *lowering); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
