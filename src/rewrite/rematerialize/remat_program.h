/* The rematerialization problem of a program, and its runs as runs of the file's ops. */
#ifndef ARN_REWRITE_REMAT_PROGRAM_H
#define ARN_REWRITE_REMAT_PROGRAM_H

#include <arenaut/rematerialization.h>

#include "analysis/def_use.h"
#include "core/memory.h"
#include "rewrite/find_within.h"

typedef struct arn_remat_program {
    const arn_recompute_task *task;
    const arenaut_recompute_options *options;
    arn_region *region;
    const uint64_t *size; /* per buffer */
    const uint8_t *held;
    uint32_t n_buffers;
    uint32_t
        *file_op; /* per op of the program: that of the file, if it stands for that alone; NONE */
    uint32_t
        *number; /* per op of the program: its number in the problem; NONE: it touches nothing */
    uint32_t *op_of; /* and back */
    uint64_t *
        file_cost; /* per op of the file: nanoseconds of a run; 0: it is but a name, or not known */
    bool *stands;  /* per op of the file: an op of the program that touches memory stands for it */
    const arn_def_use *values; /* per tensor: the ops of the program that make, name or read it */
    arenaut_remat_problem problem; /* of the sequences that the search makes */
    arenaut_remat_problem any;     /* of all that compute the same: what is proven is proven of it.
                                    * Its ops and storages are those of the other */
    bool apart;                    /* they are not one */
} arn_remat_program;

/* REFUSED unless the ops are those of one method, without jumps. */
arenaut_status arn_remat_program_check_task(const arn_recompute_task *task, arenaut_error *err);

/* All lists are the region's. Ops have modelled costs where the options have none. */
arenaut_status arn_remat_program_make(const arn_recompute_task *task,
                                      const arenaut_recompute_options *options, arn_region *region,
                                      arn_remat_program *out, arenaut_error *err);

/* Finds the sequence as arn_remat_find does, and has it checked, with bounds of all sequences, and
 * their proofs, which have been checked, too. INTERNAL where they were not right. */
arenaut_status arn_remat_program_solve(const arn_remat_program *p, arn_budget *budget,
                                       uint64_t bytes, const arenaut_allocator *allocator,
                                       arenaut_rematerialization **out, arn_remat_runs *all,
                                       arenaut_error *err);

/* The runs of the problem's ops as a sequence of the file's, with views named again where their
 * storage was made again. *ops is the region's. */
arenaut_status arn_remat_program_ops(const arn_remat_program *p, const uint32_t *runs,
                                     uint32_t n_runs, uint32_t **ops, uint32_t *n_ops,
                                     arenaut_error *err);

#endif
