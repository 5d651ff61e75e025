/* The pipeline: one call from the bytes of a file to a checked plan, and back into the file.
 *
 *     file ─ read ─► program ─ prepare ─► problem ─ find_baseline, plan ─► checked plan ─ write ─►
 * file
 *
 * The contract, which everything built on this inherits:
 * - Never unchecked. If arenaut_pipeline_plan returns OK, its plan has passed arenaut_check_plan
 *   and, for a program, arenaut_check_replay. A plan that did not is an error, and is in no result.
 * - Never worse. The baseline is the plan of the file's runtime: that of its own planner, or the
 *   one in the file if the runtime obeys it. arenaut_pipeline_write puts a plan into a model only
 *   if it needs less than the baseline, or the baseline is wrong; the written file has been read
 *   back, and checked, where it states its memories.
 * - Unknown memory (kernels' scratch, results outside of the arena) is never counted as nothing:
 *   such a plan is FEASIBLE, not OPTIMAL.
 *
 * A model's arena, and the model with the plan inside:
 *
 *     arenaut_pipeline *p = NULL;
 *     arenaut_error err;
 *     if (arenaut_pipeline_run(data, size, NULL, NULL, &p, &err) != ARENAUT_OK) {
 *         fprintf(stderr, "%s\n", err.msg);
 *     } else {
 *         printf("now %" PRIu64 ", planned %" PRIu64 "\n", p->figures.now, p->figures.planned);
 *         arenaut_text planned = {0};
 *         if (arenaut_pipeline_write(p, false, arenaut_text_sink(&planned), &err) == ARENAUT_OK) {
 *             ... planned.bytes, planned.size
 *         }
 *         arenaut_text_free(&planned);
 *     }
 *     arenaut_pipeline_free(p);
 *
 * Threads: pipelines may run at once, each in a thread of its own. */
#ifndef ARENAUT_PIPELINE_H
#define ARENAUT_PIPELINE_H

#include <arenaut/check.h>
#include <arenaut/cost.h>
#include <arenaut/format.h>
#include <arenaut/lowering.h>
#include <arenaut/pass.h>
#include <arenaut/planner.h>
#include <arenaut/result.h>
#include <arenaut/rewrite.h>
#include <arenaut/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stages, timed and watched in this order. */
typedef enum arenaut_stage {
    ARENAUT_STAGE_READ,
    ARENAUT_STAGE_LOWER,     /* passes and lowering */
    ARENAUT_STAGE_INCUMBENT, /* the runtime's own planner at work */
    ARENAUT_STAGE_PLAN,      /* the planner asked for at work */
    ARENAUT_STAGE_CHECK,     /* the plan against its problem */
    ARENAUT_STAGE_REPLAY,    /* the program over a shadow of the arena */
    ARENAUT_STAGE_OTHER,     /* none of these: the stage before has ended */
} arenaut_stage;

/* Whether ops may write over an operand. */
typedef enum arenaut_overwrite {
    ARENAUT_OVERWRITE_BY_RULES, /* if there are in_place_rules; the kernels' own then count as well
                                 */
    ARENAUT_OVERWRITE_ON,
    ARENAUT_OVERWRITE_ONLY, /* where in_place_rules say so, and nowhere else */
    ARENAUT_OVERWRITE_OFF,
} arenaut_overwrite;

/* A tensor's own demand. */
typedef struct arenaut_tensor_align {
    const char *tensor;
    uint64_t align; /* a power of two */
} arenaut_tensor_align;

typedef struct arenaut_pin {
    const char *tensor;
    const char *pool;
    arenaut_optional_offset offset; /* left out: anywhere in that pool */
} arenaut_pin;

/* Text of a file that goes with the model; NULL: there is none. */
typedef struct arenaut_side_file {
    const char *text;
    size_t size;
} arenaut_side_file;

/* Tiling of ops ("split", rewrite.h). */
typedef struct arenaut_splitting {
    bool on;
    const arenaut_split_stage *stages; /* NULL: search for them */
    uint32_t n_stages;
    arenaut_split_options
        options;     /* of the search: only its limits of added cost, and its effort */
    uint64_t budget; /* of all reserved bytes: the stages that fit and add the fewest ops are taken;
                        0: the stages that need the fewest bytes */
    uint64_t head, tail; /* of the budget, where head and tail lie in memories of their own: of each
                            at most; 0: they lie in one */
} arenaut_splitting;

/* Another schedule of the ops ("order", rewrite.h). */
typedef struct arenaut_reordering {
    bool on;
    uint32_t n_ops;                /* of `ops`; 0: as many as the program has */
    const uint32_t *ops;           /* NULL: search for one. With stages of splitting, ops of the
                                    * tiled program as these make it; else the file's */
    arenaut_order_options options; /* of the search */
} arenaut_reordering;

/* Joins written in place, if the pass `slices` runs, as it does for those given here. */
typedef struct arenaut_joining {
    bool chosen; /* false: chosen automatically: all that can be or, with another schedule, the
                  * choice that reserves the fewest bytes */
    const uint32_t *results; /* tensors */
    uint32_t n;
} arenaut_joining;

/* Views that are materialized as copies (rewrite.h). */
typedef struct arenaut_copying {
    const uint32_t *ops; /* of the file, ascending */
    uint32_t n;
} arenaut_copying;

/* Rematerialization of ops ("recompute", rewrite.h). */
typedef struct arenaut_recomputing {
    bool on;
    const uint32_t *ops; /* the schedule, with copies; NULL: search for one */
    uint32_t n_ops;
    arenaut_recompute_options options; /* of the search */
    arenaut_side_file
        costs; /* method,op,nanoseconds; where it is given, options.costs is of no use */
} arenaut_recomputing;

/* The result of rematerialization, in live bytes and nanoseconds. */
typedef struct arenaut_recomputed {
    bool known;                   /* that is, the rest means something */
    uint64_t before, after;       /* peak without and with the copies of ops; if there are none, the
                                   * lowest that was found or the one within the budget */
    uint32_t n_ops;               /* copies of ops; 0: none, since they lower no plan */
    uint64_t bytes, bytes_before; /* written by the copies, and by all ops of the file */
    uint64_t base, added;         /* time of all ops, each once, and of the copies */
    uint64_t bound;     /* no sequence of the ops that keeps `kept` adds less time; checked. 0 if
                         * `floor` is above it, so that there is none */
    uint64_t kept;      /* the budget; if there is none, the lowest peak that the search found,
                         * which ops in another order may go below */
    uint64_t floor;     /* no arena is smaller, whatever is rematerialized; checked */
    const char *device; /* for which time is modelled; NULL: it was given. Static, or borrowed */
    bool fits;          /* the arena keeps the budget, by this sequence or without any */
    /* Of `bound` and `floor`; borrowed. NULL: nothing is proven, and both are 0, since other
     * schedules may have other aliases (docs/recompute.md). */
    const arenaut_remat_certificate *certificate;
} arenaut_recomputed;

/* The result of scheduling, in live bytes, buffers rounded up to their alignment. */
typedef struct arenaut_ordering {
    bool known;                  /* that is, the rest means something */
    uint64_t given, best, bound; /* peak of the given schedule and of the best one found; a lower
                                  * bound for any, 0 if none is known for all choices of joins */
    uint64_t at_ends;            /* no arena is smaller than the live bytes less this */
    uint32_t n_lines;            /* of the proof of the bound, which has been checked */
    uint64_t heuristics[ARENAUT_ORDER_HEURISTIC_COUNT]; /* peaks of the heuristics */
    uint32_t n_joins; /* joins that may be in place or not: `best` and `bound` are over all choices,
                       * `given` and `ways` with all in place; 0: no choice */
    uint32_t n_in_place; /* of these, in the plan */
    uint32_t n_views;    /* views that could be copies with a saving: likewise; `given` and `ways`
                          * are without copies */
    uint32_t n_copied;   /* of these, in the plan */
    uint32_t n_held;     /* ops that keep their order among one another for the only reason that
                          * nothing is known of their operators (see arenaut_op.pure): orders that
                          * keep it are all that is meant */
    bool between_jumps;  /* some ops move only between jumps: these orders are all that is meant */
} arenaut_ordering;

/* Zero-initialised: everything as the format and its runtime have it. The pointers are borrowed
 * until the pipeline is freed. Fields about models mean nothing for a bare problem. */
typedef struct arenaut_pipeline_options {
    const char *path;                  /* the name of the input in results; NULL: "input" */
    const arenaut_format *format;      /* NULL: by content */
    const arenaut_target *target;      /* NULL: by format */
    const arenaut_kernel_set *kernels; /* that the target runs; NULL: the set that the mark of a
                                        * plan in the file names, else the target's own */
    bool unmeasured;                   /* rules of the kernels that were only read count too */
    const char *method;                /* only this entry method; NULL: all */
    const char *passes;                /* added and left out, as in arenaut_passes_run */
    const char *share;         /* "auto", or the names "a,b" of the state that methods, of several
                                * files or of one, share: where the runtime obeys the plan in a file,
                                * they are to work in the same memories, and these are of memory of
                                * their own there (target.joint) */
    arenaut_side_file shapes;  /* a tensor a line: "x,2x3x4" */
    arenaut_side_file scratch; /* columns op, bytes; method, model */
    const char *scratch_model; /* this model's name in its `model` column; NULL: any */
    bool judge_given;          /* a plan in the file is the baseline, even if the runtime ignores
                                * it */

    /* overrides: differences of the planned problem from the runtime's */
    arenaut_overwrite overwrite;
    bool preserve_inputs, exclude_io, overlap; /* as in arenaut_lowering_options */
    const arenaut_in_place_rule *in_place_rules;
    size_t n_in_place_rules;
    const arenaut_align_rule *align_rules;
    uint32_t n_align_rules;
    uint64_t align; /* of every buffer, at least; 0: the target's */
    const arenaut_tensor_align *tensor_aligns;
    size_t n_tensor_aligns;
    arenaut_splitting splitting;
    arenaut_recomputing recomputing;
    arenaut_reordering reordering;
    arenaut_joining joining;
    arenaut_copying copying;
    const arenaut_pool *pools; /* NULL: the target's */
    uint32_t n_pools;
    const arenaut_pin *pins;
    size_t n_pins;
    const arenaut_dim *dims; /* no override: the runtime's problem has these sizes too */
    size_t n_dims;

    bool compact; /* a written model leaves out unreferenced parts, such as weights that were
                   * divided; it cannot be stripped then */
    arenaut_plan_options plan; /* `progress` also watches the incumbent and the searches for
                                * rewrites; less `effort` than usual is less for them, too */
    bool plan_as_made;         /* leave out the runtime's additions to the plan: scratch,
                                * memories */

    /* Called on the way; each may be NULL. A note is no error: "12 tensors have no size …". */
    void *context;
    void (*note)(void *context, const char *text);
    void (*stage)(void *context, arenaut_stage stage); /* as each begins */
    void (*after_pass)(void *context, const arenaut_pass *pass, const arenaut_program *program);
    uint64_t reserved[4]; /* zero; later versions of 1.x take their fields here */
} arenaut_pipeline_options;

/* The plan of the file's runtime. */
typedef struct arenaut_baseline {
    arenaut_plan *plan; /* NULL: not known */
    bool from_file;     /* it is the plan in the file, with open places filled in */
    bool overlaps;      /* it is wrong: `finding` says why, and its size says nothing */
    bool in_place;      /* it is right, by the operands that the kernels may overwrite */
    bool reaches;       /* likewise, and by how far results may reach into operands */
    bool shares;        /* it is right, though buffers lie over one another */
    bool apart;         /* it is right only where each method has memories of its own, though by
                         * options.share they are to work in the same: `finding` says why */
    arenaut_finding finding;
    const arenaut_problem *problem; /* the runtime's own, without overrides */
    const arenaut_lowering *lowering;
    const arenaut_program *program;
} arenaut_baseline;

/* The memories that the file states, and their sizes with the plan in it. */
typedef struct arenaut_memories {
    arenaut_memory *rows; /* by method, then number; NULL: the file states none */
    size_t n;
    bool sized; /* the `planned` sizes are known */
} arenaut_memories;

/* In bytes: sums over pools or, where the file states memories, over those; shared tensors of
 * methods count once. */
typedef struct arenaut_figures {
    uint64_t now;     /* of the baseline, if there is one */
    uint64_t planned; /* of the plan */
    uint64_t bound;   /* no plan needs less */
    uint64_t needed;  /* planned or, if nothing was overridden, now where that is less */
} arenaut_figures;

#define ARENAUT_MAX_OPEN_SIZES 8

/* About the error that a stage returned. An error with an `option` begins with its name:
 * "pin: there is no tensor 'x'". */
typedef struct arenaut_pipeline_fault {
    size_t file;         /* the one of several that could not be read */
    const char *option;  /* "dim", "shapes", "scratch", "kernels", "share", "split", "recompute",
                          * "align", "pool", "pin"; else NULL */
    const char *unknown; /* the tensor that does not exist; else NULL */
    const char *open[ARENAUT_MAX_OPEN_SIZES]; /* sizes that need a value, the first few */
    uint32_t n_open;                          /* all of them */
} arenaut_pipeline_fault;

/* A file on its way. All fields are for reading, but for a few that the caller may set: in
 * `options`, scratch and judge_given before prepare, plan and plan_as_made before plan; in
 * `result`, sha256 and seconds. */
typedef struct arenaut_pipeline {
    arenaut_pipeline_options options;
    arenaut_document document;
    const arenaut_target *target;      /* NULL for a bare problem */
    const arenaut_kernel_set *kernels; /* NULL: for a bare problem, and if not known */
    bool unmeasured;                   /* by options, or by the mark that names the kernels */
    const arenaut_rewrite *rewrite;    /* how document.program was made; NULL: as read */
    arenaut_ways_to_split ways;
    arenaut_recomputed recomputed;  /* where that was asked for */
    arenaut_ordering ordering;      /* of its schedule, if reordering is on; with rematerialized ops
                                     * as well */
    arenaut_scratch_sizes scratch;  /* from options.scratch */
    arenaut_lowering *lowering;     /* NULL for a bare problem */
    const arenaut_problem *problem; /* with the overrides */
    uint32_t op_outside;            /* the first op whose results the target may keep outside of
                                     * the arena (arenaut_target.outside); ARENAUT_NONE: none */
    arenaut_baseline baseline;
    arenaut_memories memories;
    arenaut_plan *plan;
    arenaut_figures figures;
    arenaut_result result; /* of all this, for writers and reports */
    arenaut_pipeline_fault fault;
    struct arenaut_pipeline_store *store;
} arenaut_pipeline;

/* All the stages below for one file. On OK *out holds a checked plan, and is the caller's.
 * NO_PLAN: it is proven that none exists; *out has the witness, which has been checked, and is the
 * caller's as well. All other errors are those of the stages, and leave *out as it was. `options`
 * and `allocator` may be NULL; `data` is borrowed as long as it may be written. */
arenaut_status arenaut_pipeline_run(const void *data, size_t size,
                                    const arenaut_pipeline_options *options,
                                    const arenaut_allocator *allocator, arenaut_pipeline **out,
                                    arenaut_error *err);

/* The stages, in their one order: new, read, prepare, find_baseline, plan, write. A pipeline whose
 * stage failed keeps what the earlier ones made, and `fault`; only planning may be tried again,
 * with other options. find_baseline may be left out if nothing is written. BAD_ARGUMENT for a stage
 * out of order. */
arenaut_status arenaut_pipeline_new(const arenaut_pipeline_options *options,
                                    const arenaut_allocator *allocator, arenaut_pipeline **out,
                                    arenaut_error *err);
void arenaut_pipeline_free(arenaut_pipeline *pipeline); /* NULL is fine */

typedef struct arenaut_pipeline_file {
    const char *name; /* "models/prefill.pt2": a merged method is "prefill/forward" */
    const void *data; /* borrowed as long as a stage or a writer is still to come */
    size_t size;
} arenaut_pipeline_file;

/* Reads the file; with options.share, merges several to one program. Fills `document`. Errors of
 * arenaut_read; BAD_ARGUMENT for names to be shared, and for sizes, that the files have not or have
 * otherwise; BAD_INPUT for shared state that differs between files, and for a wrong shape file. */
arenaut_status arenaut_pipeline_read(arenaut_pipeline *pipeline, const arenaut_pipeline_file *files,
                                     size_t n_files, arenaut_error *err);

/* From now on the places that `planned` states stand for those of the file that was read: whether
 * a plan that another copy of the model holds is right for this one. REJECTED unless both are one
 * program, but for the places. `planned` is borrowed. */
arenaut_status arenaut_pipeline_take_places(arenaut_pipeline *pipeline,
                                            const arenaut_program *planned, arenaut_error *err);

/* Schedules of the program as its file has it within six budgets: 80 to 30 % of its peak or, if
 * that is not all above the floor, six between. With costs and device of options.recomputing. After
 * arenaut_pipeline_prepare; *out is the caller's. REFUSED for a program of several methods, or of
 * several files; STOPPED. */
arenaut_status arenaut_pipeline_find_curve(const arenaut_pipeline *pipeline,
                                           arenaut_recompute_curve **out, arenaut_error *err);

/* Checks a certificate of rematerialization, as a plan JSON states it, against the file, with the
 * costs and the device of the options. After arenaut_pipeline_prepare; the program may be rewritten
 * by then. REJECTED, with the rule PROOF, if times differ or a bound is not shown; REFUSED for a
 * program of several methods. */
arenaut_status arenaut_pipeline_check_rematerialization(
    const arenaut_pipeline *pipeline, const arenaut_remat_certificate *certificate,
    arenaut_finding *finding, arenaut_error *err);

/* Figures of the places that a program states for its tensors. */
typedef struct arenaut_stated_places {
    uint32_t n_placed;                 /* tensors */
    uint64_t bytes;                    /* the highest end in each pool, added up */
    const arenaut_kernel_set *kernels; /* that the replay counted on; NULL: none */
} arenaut_stated_places;

/* Whether the file is a program that states the place of each tensor by itself, after all passes
 * (program JSON): then no runtime fills anything in. After arenaut_pipeline_read. */
bool arenaut_pipeline_states_places(const arenaut_pipeline *pipeline);

/* Whether sizes that vary have more values than were looked at: then tensors may be larger than
 * planned, and a note says so. Of a prepared pipeline; false for a problem. */
bool arenaut_pipeline_samples_sizes(const arenaut_pipeline *pipeline);

/* Replays such a program over just these places, with the options' kernels, else with those that
 * the program names. REJECTED with a finding; else the errors of arenaut_check_replay. */
arenaut_status arenaut_pipeline_check_stated(const arenaut_pipeline *pipeline,
                                             arenaut_stated_places *stated,
                                             arenaut_finding *finding, arenaut_error *err);

/* Transforms, passes, lowering, overrides. Fills `target`, `kernels`, `scratch`, `lowering`,
 * `problem`. BAD_ARGUMENT for options that do not suit the file, BAD_INPUT where a size is open,
 * and the errors of passes and lowering. */
arenaut_status arenaut_pipeline_prepare(arenaut_pipeline *pipeline, arenaut_error *err);

/* The runtime's own plan. An unknown or wrong one is no error. Fills `baseline`, `memories` and
 * figures.now. */
arenaut_status arenaut_pipeline_find_baseline(arenaut_pipeline *pipeline, arenaut_error *err);

/* Plans and checks. Fills `plan` and the other figures; called again, it replaces them. If time or
 * an interrupt ended the search while its plan was larger than the baseline, the result is what the
 * runtime does by itself, with a note: of the program as read, without the rights of the options,
 * from which they are gone then. NO_PLAN as in arenaut_pipeline_run, else the errors of
 * arenaut_plan_make; BAD_INPUT where the program itself is wrong, however its buffers are placed;
 * INTERNAL where our plan did not pass the checks. */
arenaut_status arenaut_pipeline_plan(arenaut_pipeline *pipeline, arenaut_error *err);
/* The cost of that plan: its spill and bytes; modelled nanoseconds of all ops of the program, as
 * the passes have left it, on the device of options.recomputing; and their number. Rewrites add the
 * differences between two of one file. Without a plan its total is ARENAUT_UNPLACED. */
arenaut_cost arenaut_pipeline_cost(const arenaut_pipeline *pipeline);

/* In the place of planning, of a file that holds a right plan: that plan, with the problem and the
 * program that it is of. A search gives its lower bound and, where it finds a smaller plan with the
 * same rights, a note or, with `or_better`, the result. Plans if the file holds no right plan, or
 * the options define another problem than the file's. After find_baseline; the described plan is
 * not written. Errors of arenaut_pipeline_plan. */
arenaut_status arenaut_pipeline_describe(arenaut_pipeline *pipeline, bool or_better,
                                         arenaut_error *err);

/* Replays the program over tensors placed as `plan`, of pipeline->problem, says: OK, or REJECTED
 * with the finding. After prepare, for programs. */
arenaut_status arenaut_pipeline_replay(const arenaut_pipeline *pipeline, const arenaut_plan *plan,
                                       arenaut_finding *finding, arenaut_error *err);

/* Takes a copy of `plan`, of pipeline->problem, for the pipeline's own, and sizes `memories` with
 * it in the file. It is the caller who has checked it. After find_baseline. */
arenaut_status arenaut_pipeline_take_plan(arenaut_pipeline *pipeline, const arenaut_plan *plan,
                                          arenaut_error *err);

/* Whether the new plan may be written, and why not. */
#define ARENAUT_OUTCOME_MAP(XX)                                                            \
    XX(WRITE, "the new plan may be written")                                               \
    XX(IO_ELSEWHERE, "inputs and outputs are planned elsewhere, which no model can say")   \
    XX(NOT_OBEYED, "the runtime obeys no plan inside a model")                             \
    XX(OUTSIDE, "results may lie outside of the arena, as the application decides")        \
    XX(FOREIGN, "the file holds another tool's plan, which is replaced only by force")     \
    XX(MEMORY_GROWS, "a memory of the file would grow")                                    \
    XX(LARGER, "the runtime's own plan needs less")                                        \
    XX(HELD, "the file holds this plan already")                                           \
    XX(NO_SMALLER, "the runtime's own plan needs no more")                                 \
    XX(SCRATCH_UNKNOWN, "with the kernels' scratch, which is unknown, it could need more") \
    XX(POOLS, "the plan is in pools that the runtime does not have")

typedef enum arenaut_outcome {
#define XX(name, text) ARENAUT_OUTCOME_##name,
    ARENAUT_OUTCOME_MAP(XX)
#undef XX
        ARENAUT_OUTCOME_COUNT
} arenaut_outcome;

const char *arenaut_outcome_text(arenaut_outcome outcome); /* NULL out of range; static */

/* Of a plan that was made after find_baseline, and not as_made. `into_model`: is it to be written
 * into the model itself, or elsewhere? `force` replaces another tool's plan, takes the risk of
 * unknown scratch, and writes ops in another order, or again, though the runtime, which plans by
 * itself, needs more for them. */
arenaut_status arenaut_pipeline_outcome(const arenaut_pipeline *pipeline, bool into_model,
                                        bool force, arenaut_outcome *outcome, arenaut_error *err);

/* Writes the model with the plan in it. REFUSED, with nothing written, where the outcome is
 * another than WRITE or the format cannot hold the plan; REJECTED where only some methods were
 * planned and the file would still be wrong; INTERNAL where the written bytes did not pass. */
arenaut_status arenaut_pipeline_write(const arenaut_pipeline *pipeline, bool force,
                                      arenaut_sink sink, arenaut_error *err);
/* The same for each of several files that are read as one program (options.share), where the
 * runtime obeys a plan inside them; `file` counts them as they were read, and all together have
 * been read again and replayed. BAD_ARGUMENT for a file that there is not. As dear as writing all.
 */
arenaut_status arenaut_pipeline_write_file(const arenaut_pipeline *pipeline, size_t file,
                                           bool force, arenaut_sink sink, arenaut_error *err);
/* The number of bytes that options.compact would leave out of a written model; 0 if the format has
 * no such bytes, or they cannot be found. As dear as writing. */
arenaut_status arenaut_pipeline_count_dead(const arenaut_pipeline *pipeline, uint64_t *bytes,
                                           arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
