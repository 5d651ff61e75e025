/* A result: all facts about one planned input, for writers and reports.
 *
 * Threads: calls may run at once, also about the same problem, which they only read. */
#ifndef ARENAUT_RESULT_H
#define ARENAUT_RESULT_H

#include <arenaut/lowering.h>
#include <arenaut/plan.h>
#include <arenaut/problem.h>
#include <arenaut/program.h>
#include <arenaut/rewrite.h>
#include <arenaut/target.h>
#include <arenaut/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Knowledge of kernel scratch. */
typedef enum arenaut_scratch_knowledge {
    ARENAUT_SCRATCH_NONE,    /* no op of the program needs any */
    ARENAUT_SCRATCH_GIVEN,   /* sizes were given, and are part of the problem */
    ARENAUT_SCRATCH_UNKNOWN, /* an op of the kernels' list occurs, without sizes */
} arenaut_scratch_knowledge;

/* A memory that the file states for one of its methods (arenaut_given_pool), and its size once the
 * plan is in the file. */
typedef struct arenaut_memory {
    uint32_t method, id; /* as the program counts them, from 0 */
    arenaut_device device;
    uint64_t now, planned; /* bytes */
} arenaut_memory;

/* The ops that a plan is for, where they are others than its model's; NULL: no difference. */
typedef struct arenaut_given_ops {
    const arenaut_split_stage *tiles; /* tile groups */
    uint32_t n_tiles;
    uint32_t n_copied;
    const uint32_t *copied;   /* views that are copies, ascending */
    const uint32_t *schedule; /* ops as the file numbers them, repeated ones more than once; of
                               * tiles: as they are numbered where they are made */
    uint32_t n_schedule;
    uint32_t n_joined;
    const uint32_t *joined; /* tensors whose parts are written in place, in the order of their ops:
                             * all of them, also if that is none; NULL: nothing is known of it */
} arenaut_given_ops;

typedef struct arenaut_result {
    const char *path;   /* as the user named it; never NULL */
    const char *format; /* the name of its format */
    const char *sha256; /* of the file, hexadecimal; NULL if not asked for */
    const void *file;   /* the bytes of the input; NULL where there was no file */
    size_t file_size;
    const arenaut_program *program; /* NULL for a bare problem */
    const arenaut_rewrite *rewrite; /* how that was made of the file's; NULL: it is the file's */
    const arenaut_remat_certificate *rematerialization; /* NULL: not asked for, or not of the ops
                                                         * as the file has them */
    const arenaut_ways_to_split *ways; /* other tilings of it; NULL: not searched for */
    const arenaut_target *target;      /* NULL for a bare problem */
    const arenaut_kernel_set *kernels; /* NULL: for a bare problem, and if not known */
    bool unmeasured;                   /* rules of theirs that were only read counted too */
    const arenaut_lowering *lowering;  /* NULL for a bare problem */
    const arenaut_problem *problem;    /* never NULL */
    const arenaut_plan *plan;          /* NULL before planning */
    const arenaut_plan *baseline;      /* the file's runtime without our plan; NULL if unknown */
    const arenaut_trace *trace;        /* the recording, step by step; NULL: the file is no trace */
    arenaut_scratch_knowledge scratch;
    const arenaut_memory *memories; /* NULL: the file states none, or it is not known. Else the
                                     * arenas of plan and baseline are these */
    size_t n_memories;
    uint64_t behind; /* of the plan's arenas, bytes that no buffer needs: the file's runtime needs
                      * them behind the buffers */
    double seconds;  /* spent planning, as measured by the caller; < 0: not measured */
    uint32_t n_rounded;          /* without `rewrite`: as the plan's file states it */
    arenaut_given_ops given_ops; /* likewise, as arenaut_document or its certificate has it; of a
                                  * program, what is joined in place in it */
    arenaut_given_kernels given_kernels; /* for a bare problem: as the plan's file states them, by a
                                          * name that this build need not know */
} arenaut_result;

/* Ops whose tiles may be rounded otherwise than the whole: not the same bits, if there are any. */
uint32_t arenaut_result_rounded(const arenaut_result *result);

/* The ops that the plan is for, as a plan's file states them. They live as long as the result. */
arenaut_given_ops arenaut_result_ops(const arenaut_result *result);

/* The kernels that the plan stands on, if it lets results lie over operands or reach into them: its
 * figures hold for these alone. NULL: it stands on none. O(buffers). */
const arenaut_kernel_set *arenaut_result_kernels(const arenaut_result *result);

/* Their name, also where a plan's file states no more than that. NULL: it stands on none, or they
 * are not known. O(buffers). */
const char *arenaut_result_kernels_name(const arenaut_result *result);

/* The first step that needs the most memory, and the buffers alive there. A buffer that may be
 * written over another needs no memory of its own where the two meet, as far as it is no larger; a
 * slice needs none while its host is alive; a buffer that may overlap another needs none as far as
 * it does: with one other at a time, so that an arena may even be smaller. */
typedef struct arenaut_peak {
    int64_t step;
    uint64_t live_bytes;   /* the sizes of the buffers alive there, added up */
    uint64_t shared_bytes; /* of these, how many need no memory of their own */
    uint32_t n_live;
    uint32_t *live; /* buffers alive there, largest first; freed with arenaut_peak_free */
} arenaut_peak;

arenaut_status arenaut_peak_find(const arenaut_problem *problem, const arenaut_allocator *allocator,
                                 arenaut_peak *peak, arenaut_error *err);
void arenaut_peak_free(arenaut_peak *peak, const arenaut_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
