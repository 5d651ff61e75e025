/* Rewriting: the same model as another sequence of ops, which needs less memory.
 *
 * Split: tiles. Some ops run tile by tile, in ops that the runtime has already, so that no tensor
 * between them is ever whole. The results are the same to the last bit: each element is computed
 * from the same numbers by the same kernel; unless the caller allows rounding (n_rounded).
 *
 * Reorder: another schedule of the ops, with a lower peak of live bytes.
 *
 * Copy: materialized views of a part, so that the base of the view can die before their readers
 * run.
 *
 * Recompute: rematerialization. Cheap ops run a second time for late readers, so that their first
 * results can die early.
 *
 * Threads: calls may run at once, also about the same program, which they only read. */
#ifndef ARENAUT_REWRITE_H
#define ARENAUT_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/kernels.h>
#include <arenaut/lowering.h>
#include <arenaut/order.h>
#include <arenaut/planner.h>
#include <arenaut/program.h>
#include <arenaut/rematerialization.h>
#include <arenaut/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tilings of a group of ops; the text is the word in reports and flags. */
#define ARENAUT_SPLIT_MODE_MAP(XX)                                                                \
    XX(CHANNELS, "channels") /* channel tiles: some output channels of a convolution and of the   \
                              * channelwise ops behind it */                                      \
    XX(ROWS, "rows")         /* row tiles; the halo is computed twice */                          \
    XX(KEPT, "kept")         /* row tiles; the next tile's halo is kept in a line buffer */       \
    XX(ROWS_CALLED, "rows+calls") /* row tiles, outlined: those that are alike call one method */ \
    XX(KEPT_CALLED, "kept+calls")                                                                 \
    XX(CROPPED, "cropped") /* row tiles; windows that need padding make some rows more, which are \
                            * left out, instead of being padded */                                \
    XX(KEPT_CROPPED, "kept-cropped")                                                              \
    XX(FITTED, "fitted") /* channel tiles of unequal size, so that each needs the same memory */  \
    XX(FITTED_OVER, "fitted-over") /* the same, if results may lie over operands */

typedef enum arenaut_split_mode {
#define XX(name, text) ARENAUT_SPLIT_##name,
    ARENAUT_SPLIT_MODE_MAP(XX)
#undef XX
        ARENAUT_SPLIT_MODE_COUNT
} arenaut_split_mode;

const char *arenaut_split_mode_name(arenaut_split_mode mode); /* NULL out of range; static */

/* A tile group (a stage in our flags): ops [first_op, first_op + n_ops) of the program before, in
 * so many tiles. */
typedef struct arenaut_split_stage {
    uint32_t first_op, n_ops;
    uint32_t pieces; /* at least 2 */
    arenaut_split_mode mode;
} arenaut_split_stage;

/* Origin of a tensor of the new program. */
typedef struct arenaut_origin {
    uint32_t tensor; /* of the program before, of the same type and quantization. ARENAUT_NONE: a
                      * new constant, whose values are in tensor.values, or a number that new ops
                      * compute */
    bool same;       /* it is that tensor; else, if ops are rematerialized, a copy of it */
    uint32_t axis;   /* of a constant: it has the elements of that tensor from `begin` on along this
                      * axis, as many as dims say. ARENAUT_NONE: its content follows from its op, and
                      * a constant has all elements of the tensor */
    int64_t begin;
} arenaut_origin;

/* A program made of another one. Each of its ops does a part of one op of that, with the same
 * options but for the attributes that differ, or only moves data, or calls one of the methods that
 * were added: a branch whose both branches are that one. Tensors of that which are still there have
 * their numbers; numbers that became free are given to new ones first. */
typedef struct arenaut_rewrite {
    arenaut_program *program;  /* owned, like all below */
    uint32_t n_tensors, n_ops; /* as it was made; passes may add to it */
    arenaut_origin *tensors;   /* per tensor */
    uint32_t *ops; /* per op: the op of the program before; NONE: it moves data, or calls */
    uint64_t before, after; /* fingerprints of the two programs */
    arenaut_split_stage *stages;
    uint32_t n_stages;
    uint32_t n_ops_before;
    uint64_t macs, macs_before; /* multiplications of the convolutions and matrix products */
    uint32_t n_rounded; /* ops of the program before whose tiles may be rounded otherwise than the
                         * whole: not the same bits. 0: all are within the tile rule */
    uint32_t rounded;   /* the first of them; ARENAUT_NONE: there is none */
    uint32_t *tiles;    /* tiles in another sequence: per op, its number as they are made. NULL: in
                         * that, or there are none */
    uint32_t *copied;   /* ops of the program before, ascending: views that are copies now */
    uint32_t n_copied;
    uint32_t *arguments; /* the inputs, then the outputs, of one op after another, as it was made:
                          * passes change those of the program. NULL: if ops were only
                          * reordered, or views became copies */
} arenaut_rewrite;

/* Whether its ops are tiles; NULL, no rewrite: they are not. */
static inline bool arenaut_rewrite_is_tiled(const arenaut_rewrite *rewrite) {
    return rewrite && rewrite->n_stages > 0;
}

/* Limits of the cost of tiling, and the runtime. Zero-initialised: no limits, as long as the
 * runtime, of which nothing is known, needs less. */
typedef struct arenaut_split_options {
    arenaut_optional_id max_ops;       /* that may be added */
    arenaut_optional_id max_macs;      /* percent that may be added */
    const arenaut_target *target;      /* bytes that its runtime keeps of ops and tensors count */
    const arenaut_kernel_set *kernels; /* that it is built with */
    bool overlap;                      /* results may lie over operands as these kernels allow */
    bool in_place;                     /* results may be written over operands of their size */
    bool unmeasured;                   /* their rules that were only read count too */
    bool rounding; /* results may be rounded otherwise than those of the whole: tiles outside of
                    * the tile rule are allowed, and sums of an image in parts */
    const arenaut_kernel_set *run_by; /* ops that ask these kernels for scratch are in no calls:
                                       * the runtime that finds it a place does not know that
                                       * calls keep nothing. NULL: none asks */
    uint64_t effort; /* ops of tile groups that are tried; 0: the default. Fewer find less */
    arenaut_progress_fn progress; /* as in arenaut_plan_options: says when to stop; may be NULL */
    void *progress_context;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_split_options;

/* A choice of tile groups (a way in our reports). */
typedef struct arenaut_split_choice {
    const arenaut_split_stage *stages; /* none: the program as it is */
    uint32_t n_stages;
    uint64_t tensors;   /* peak of live bytes: no plan needs less */
    int64_t kept;       /* bytes more than of the program as it is that the runtime keeps of ops and
                         * tensors */
    uint64_t head;      /* `tensors`, or the runtime's notes while it plans, whichever is more */
    uint32_t ops;       /* that are added */
    uint32_t shared;    /* of `kept`, at most: counted for each of several groups, and kept once */
    uint64_t macs;      /* that are added */
    uint32_t n_rounded; /* ops whose tiles may be rounded otherwise: not the same bits */
} arenaut_split_choice;

/* The Pareto front: choices of which none needs more memory, `head` and `kept` together, and adds
 * more ops and multiplications than another. The first is the program as it is; each next one needs
 * less. */
typedef struct arenaut_split_front {
    arenaut_split_choice *choices;
    uint32_t n_choices;
    arenaut_split_choice *even; /* the same with tiles of equal size alone: if results may lie */
    uint32_t n_even;            /* over operands, a plan may need more than `tensors`, and these
                                 * may then be the better ones */
    uint64_t floor;             /* lower bound of the bytes of tensors of all choices */
    uint32_t floor_op;          /* the op of that bound; ARENAUT_NONE in a program without ops */
    uint64_t effort;            /* spent: the last try may exceed the budget */
} arenaut_split_front;

/* The search of a pipeline, and its result. */
typedef struct arenaut_ways_to_split {
    arenaut_split_front *front; /* NULL: no search */
    uint64_t kept;  /* bytes that the runtime keeps of the program as it is: a choice needs at least
                     * its head, this, and its own `kept` without `shared` */
    uint32_t taken; /* the choice that was taken; ARENAUT_NONE: one beside the front, whose plan
                     * needed less */
    bool fitted; /* by its plan, within the budget, where those that add less did not come; else for
                  * the least memory */
} arenaut_ways_to_split;

/* A device, for modelled costs of ops: its rates per second, and nanoseconds to begin an op. */
typedef struct arenaut_roofline {
    const char *name; /* NULL: none */
    uint64_t operations, bytes, launch;
} arenaut_roofline;

/* "a100", "h100" or "cpu"; NULL for any other name. Their rates are rounded, of dense float32
 * work (on the first two with TF32). */
const arenaut_roofline *arenaut_roofline_find(const char *name);

#define ARENAUT_COST_UNKNOWN UINT64_MAX

/* Limits of rematerialization. Zero-initialised: cheap ops, any number of them, for the lowest
 * peak, and the default effort. */
typedef struct arenaut_recompute_options {
    uint64_t budget; /* bytes alive at once, to be kept at the least cost, by any op that may be
                      * repeated; 0: as few as cheap ops can make it */
    arenaut_optional_id max_ops;  /* that may be added */
    const uint64_t *costs;        /* per op of the file, in nanoseconds, or ARENAUT_COST_UNKNOWN:
                                   * that is modelled. NULL: all are */
    arenaut_roofline device;      /* of modelled costs; operations 0: an "a100" */
    uint64_t effort;              /* ops visited; 0: the default */
    arenaut_progress_fn progress; /* as in arenaut_plan_options: says when to stop; may be NULL */
    void *progress_context;
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_recompute_options;

/* A certificate of rematerialization (rematerialization.h has the argument): why no schedule of a
 * program's ops is faster within a budget, and none needs less. Ops and storages have their numbers
 * in the rematerialization problem of the file's order: ops that touch memory, in
 * that order, and the buffers of the lowering without copies. */
typedef struct arenaut_remat_bound {
    uint64_t value; /* nanoseconds, or bytes */
    uint32_t op;    /* at whose first run one looks; ARENAUT_NONE: nothing is shown */
    uint32_t n_later, later[ARENAUT_REMAT_MOST_LATER]; /* as in arenaut_remat_proof */
    uint64_t byte_price, time_price;
    uint32_t n_flows; /* others are 0 */
    arenaut_remat_flow *flows;
    uint32_t n_cases; /* 0: the flows are of one case, at the prices above; else of several, as in
                       * arenaut_remat_proof */
    arenaut_remat_case *cases;
} arenaut_remat_bound;

typedef struct arenaut_remat_certificate {
    uint64_t budget;         /* live bytes in which no schedule adds less time than `time` */
    uint64_t base, added;    /* nanoseconds of all ops, each once, and of their copies */
    bool any_op;             /* may be repeated; else cheap ones alone */
    bool timed;              /* times were given; what is modelled is so for `device` */
    arenaut_roofline device; /* its name is static, or NULL */
    arenaut_remat_bound time, floor;
    uint32_t n_runs;
    uint32_t *runs; /* the schedule, in ops of the file */
    arenaut_allocator allocator;
} arenaut_remat_certificate;

/* The fastest schedules within some budgets, by any op that may be repeated. */
typedef struct arenaut_curve_point {
    uint32_t percent;      /* of `before` */
    uint64_t budget, peak; /* live bytes */
    uint64_t added, bound; /* nanoseconds; no schedule within the budget adds less than `bound`,
                            * which is 0 if the floor is above the budget */
    uint32_t n_copies;     /* of ops */
    bool fits;             /* a schedule was found; else `peak` is the lowest that was */
} arenaut_curve_point;

typedef struct arenaut_curve_tensor {
    char *name, *op; /* the op that makes it; NULL: none does */
    uint64_t bytes;
} arenaut_curve_tensor;

typedef struct arenaut_recompute_curve {
    uint64_t before, base; /* live bytes at the peak, and nanoseconds, where each op runs once */
    uint64_t floor; /* no schedule has fewer bytes alive at its peak; checked. 0: none proven */
    char *floor_op; /* which has them alive at its first run in any schedule; NULL: none */
    uint32_t n_tensors;
    arenaut_curve_tensor *tensors; /* that are alive then at least, largest first */
    uint32_t n_points;
    arenaut_curve_point *points; /* from the largest budget to the smallest */
    arenaut_allocator allocator;
} arenaut_recompute_curve;

void arenaut_recompute_curve_free(arenaut_recompute_curve *curve); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
