/* Stages of a pipeline, from a program to a verified plan. Each takes the fields that earlier ones
 * filled in, and fills in its own; none calls the pipeline, or a transform. */
#ifndef ARN_STAGES_STAGES_H
#define ARN_STAGES_STAGES_H

#include <arenaut/pipeline.h>

#include "core/budget.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/cost.h"
#include "planners/plan_within.h"

/* Behind the declarations: here nothing searches but within a budget (core/budget.h). */
#if defined __GNUC__
#pragma GCC poison arenaut_plan_make
#endif

/* The tensors and methods of one file, in the program that several make. */
typedef struct arn_file_part {
    uint32_t first_tensor, n_tensors, first_method, n_methods;
} arn_file_part;

/* Progress of a pipeline. */
typedef enum arn_pipeline_reached {
    ARN_PIPELINE_NEW,
    ARN_PIPELINE_READ,
    ARN_PIPELINE_PREPARED,
    ARN_PIPELINE_COMPARED, /* with the baseline */
    ARN_PIPELINE_FAILED,
} arn_pipeline_reached;

/* Fields of a pipeline beyond the public ones; it owns them. */
struct arenaut_pipeline_store {
    arenaut_pipeline pipeline;
    arenaut_allocator allocator;
    arn_pipeline_reached reached;
    bool compared; /* the plan is as the runtime makes it, and a baseline was looked for before */
    arenaut_pipeline_file *files; /* a copy; the bytes are borrowed */
    size_t n_files;
    arn_region lists;            /* fronts of tile groups, and `asked` */
    arenaut_rewrite *split;      /* the tiled program as it was made: passes change a copy */
    struct arn_file_part *parts; /* per file, where several are one program; else NULL */
    const arenaut_target *apart; /* the target where methods have memories of their own; NULL: it
                                  * is the pipeline's, or there is none */
    const arenaut_target
        *runtime;             /* that, if the file's plan is one for it; NULL: the pipeline's */
    arenaut_program *as_read; /* with sizes bound; NULL in a trial, and for a problem */
    uint64_t *op_costs;       /* read from options.recomputing.costs */
    arenaut_remat_certificate *remat_certificate;
    arenaut_scratch_sizes file_scratch; /* of a rewritten program's original; else in the pipeline
                                         */
    bool calls_apart;                   /* plain calls are lowered so */
    arenaut_joining joining;            /* that was found to be best; its list is the next */
    uint32_t *joined;
    uint32_t *asked; /* a sequence of the file's ops that a trial asks for instead of its own, which
                      * has n_asked; NULL: none */
    uint32_t n_asked;
    bool aliases_known; /* of the program; they are recovered from the places in its file */
    bool solved;        /* the baseline is the solution that the file states */
    bool misses_demand; /* the runtime's own plan is not as alignments and pins want it */
    bool aside;         /* a trial: its plans are compared, and not replayed */
    bool gave_up;       /* a rewrite that the file could hold was asked for, and time was short */
    arenaut_problem *overridden;        /* NULL: as lowered or read */
    arenaut_document baseline_document; /* copied anew if overrides changed the program */
    arenaut_lowering *baseline_lowering;
};

static inline const arenaut_allocator *arn_pipeline_allocator(const arenaut_pipeline *p) {
    return &p->store->allocator;
}

/* pipeline_context.c */
/* The result of the document that was read. */
void arn_pipeline_begin_result(arenaut_pipeline *p);
/* BAD_ARGUMENT unless the pipeline has come as far as `least` and no farther than `most`. */
arenaut_status arn_pipeline_expect(const arenaut_pipeline *p, arn_pipeline_reached least,
                                   arn_pipeline_reached most, arenaut_error *err);
/* Remembers how a stage ended. Returns `status`. */
arenaut_status arn_pipeline_reach(arenaut_pipeline *p, arn_pipeline_reached stage,
                                  arenaut_status status);
void arn_pipeline_enter(const arenaut_pipeline *p, arenaut_stage stage);
/* The budget of a stage: so much effort, 0 for the default, until the options' callback says stop.
 */
arn_budget arn_pipeline_budget(const arenaut_pipeline *p, uint64_t effort);
/* Up to 1023 bytes. */
void arn_pipeline_note(const arenaut_pipeline *p, const char *format, ...) ARN_PRINTF(2, 3);
/* BAD_ARGUMENT, with the option that it is about; the text begins with its name. */
arenaut_status arn_pipeline_blame(arenaut_pipeline *p, arenaut_error *err, const char *option,
                                  const char *format, ...) ARN_PRINTF(4, 5);
/* STOPPED, with the reason: there was no time to find anything. */
arenaut_status arn_pipeline_stopped(arenaut_error *err);
/* Frees the plan that the pipeline had, unless that is it. */
void arn_pipeline_keep_plan(arenaut_pipeline *p, arenaut_plan *plan);
/* The places of a plan and what they add up to; nothing is known of bounds. */
arenaut_status arn_pipeline_copy_plan(const arenaut_pipeline *p, const arenaut_plan *from,
                                      arenaut_plan **out, arenaut_error *err);
arenaut_status arn_pipeline_run_planner(const arenaut_pipeline *p, arenaut_stage stage,
                                        arn_budget *budget, const arenaut_plan_options *options,
                                        const arenaut_problem *problem, arenaut_plan **plan,
                                        arenaut_error *err);
/* The plan that a runtime's `planner` makes of `problem`; it obeys fixed offsets. */
arenaut_status arn_pipeline_run_incumbent(const arenaut_pipeline *p, arn_budget *budget,
                                          const char *planner, const arenaut_problem *problem,
                                          arenaut_plan **plan, arenaut_error *err);

/* lower_program.c */
/* Leaves only the wanted entry method; the others, and tensors that only they use, are not planned.
 */
arenaut_status arn_pipeline_choose_method(const arenaut_pipeline *p, arenaut_program *program,
                                          arenaut_error *err);
/* Whether joins may be written in place. */
bool arn_pipeline_may_join(const arenaut_pipeline *p);
/* Aliases that follow from the places in a file together with the order of its ops; none of a file
 * that states no memories. */
arenaut_status arn_pipeline_recover_aliases(arenaut_program *program, const char *share,
                                            arenaut_error *err);

/* tiled_file.c: gives all tensors the sizes that follow from those of others, if each open size has
 * one value. */
arenaut_status arn_pipeline_fix_sizes(arenaut_program *program, arenaut_error *err);
/* Fills in the tensors of a tiled program that was read from its file, by the arguments of the ops
 * that were made; they are the caller's. It is a claim, and the checker decides. */
arenaut_status arn_pipeline_match_tiles(const arenaut_rewrite *made, arenaut_rewrite *written,
                                        const arenaut_allocator *allocator, arenaut_error *err);
arenaut_status arn_pipeline_run_passes(const arenaut_pipeline *p, arenaut_program *program,
                                       const char *selection, bool show, arenaut_error *err);
/* Lowers the program as the options have it, but for its inputs, which are kept or not. */
arenaut_status arn_pipeline_lower(const arenaut_pipeline *p, bool preserve_inputs,
                                  arenaut_lowering **lowering, arenaut_error *err);
/* Passes, lowering and overrides: fills in the pipeline's lowering and problem. */
arenaut_status arn_pipeline_lower_transformed(arenaut_pipeline *p, arenaut_error *err);
/* Bytes alive at once, each value from its op to its last reader. */
arenaut_status arn_pipeline_measure_alive(const arenaut_pipeline *p, const arenaut_problem *problem,
                                          uint64_t *bytes, arenaut_error *err);

/* Fills in which kernels are planned for: those of the options, else those that the mark of a plan
 * in the file names, else the target's own. */
void arn_pipeline_choose_kernels(arenaut_pipeline *p);
/* The name in that mark, if no such kernels are known; else NULL. */
const char *arn_pipeline_unknown_kernels(const arenaut_pipeline *p);
/* A note if the plan in the file was made for other kernels than those at hand. */
void arn_pipeline_note_other_kernels(const arenaut_pipeline *p);

/* open_sizes.c */
arenaut_status arn_pipeline_bind_dims(arenaut_pipeline *p, arenaut_program *program,
                                      arenaut_error *err);
/* Of a problem: refuses sizes that its reader does not bind. */
arenaut_status arn_pipeline_check_dims(arenaut_pipeline *p, const arenaut_document *document,
                                       arenaut_error *err);
/* BAD_INPUT, with pipeline->fault, if tensors have no size because inputs' sizes are open. */
arenaut_status arn_pipeline_check_sizes(arenaut_pipeline *p, arenaut_error *err);
/* Notes that name tensors without a size, which are not planned, and say where a size may be
 * larger. */
void arn_pipeline_note_sizes(const arenaut_pipeline *p);

/* overrides.c */
/* Applies pins, pools, alignments and the capacity to the problem; store->overridden stays NULL if
 * there is nothing to do. */
arenaut_status arn_pipeline_override(arenaut_pipeline *p, arenaut_error *err);
/* True if options make the planned problem another than the runtime's. */
bool arn_pipeline_overrides(const arenaut_pipeline_options *o);
/* The options without those of the plan alone: with it inside, a file must be right by these, among
 * which are facts about the kernels that only the caller knows. */
arenaut_pipeline_options arn_pipeline_without_overrides(const arenaut_pipeline_options *o);

/* verified_plan.c */
/* `as_in_file`: a buffer that methods share by name lies in the place of each of them in the file.
 */
arenaut_status arn_pipeline_replay(const arenaut_pipeline *p, const arenaut_program *program,
                                   const arenaut_lowering *lowering, const arenaut_plan *plan,
                                   bool as_in_file, arenaut_finding *finding, arenaut_error *err);
/* The plan, or the witness of there being none. */
arenaut_status arn_pipeline_verify(const arenaut_pipeline *p, arenaut_error *err);
/* Plans and checks, by the search alone. */
arenaut_status arn_pipeline_make_plan(arenaut_pipeline *p, arenaut_error *err);

/* deploy_scratch.c */
/* Replaces a plan whose runtime places kernel scratch itself by the plan that the runtime will make
 * of it; one with unknown scratch is never OPTIMAL. */
arenaut_status arn_pipeline_deploy_scratch(arenaut_pipeline *p, arenaut_error *err);

/* True if the plan is no worse than any other, with any amount of scratch for each op. False if
 * that takes too long to tell. */
arenaut_status arn_pipeline_scratch_is_harmless(const arenaut_pipeline *p, bool *harmless,
                                                arenaut_error *err);

/* joint_methods.c: state that methods, of one file or of several, share by name (options.share). */
/* The target that is planned for. */
const arenaut_target *arn_pipeline_choose_target(arenaut_pipeline *p);
/* A note of how state gets names in this format. */
void arn_pipeline_note_naming(const arenaut_pipeline *p, const arenaut_format *format);
/* BAD_ARGUMENT, and that note, if the names of options.share are not those of at least two
 * methods each. */
arenaut_status arn_pipeline_check_shared(arenaut_pipeline *p, const arenaut_program *program,
                                         arenaut_error *err);
/* Finds where, by the places in the file, a pool of the lowering is not one memory in all methods;
 * finding->rule is NONE if all are. */
arenaut_status arn_pipeline_check_joint(const arenaut_pipeline *p, const arenaut_program *program,
                                        const arenaut_lowering *lowering, arenaut_finding *finding,
                                        arenaut_error *err);
/* The result of one of the files that a program was merged of; its lists are the region's. */
arenaut_status arn_pipeline_result_of(const arenaut_pipeline *p, size_t file, arn_region *region,
                                      arenaut_result *result, arenaut_error *err);

/* file_memories.c */
/* In some formats each method has a list of memories, with their sizes, and each tensor a place in
 * one of them: these are allocated, without a plan and with it. */
bool arn_states_memories(const arenaut_program *program);
/* Names of the pools of `plan`, made for `lowering` of `program`, in findings: the user's names, or
 * the numbers of the file's memories. Else NULL entries. */
typedef struct arn_pool_names {
    const char *names[ARENAUT_MAX_POOLS];
    char text[ARENAUT_MAX_POOLS][24];
} arn_pool_names;
arenaut_status arn_pipeline_name_pools(const arenaut_pipeline *p, const arenaut_program *program,
                                       const arenaut_lowering *lowering, const arenaut_plan *plan,
                                       arn_pool_names *names, arenaut_error *err);
/* Replaces the arenas of `plan`, made of the places in the file, by the stated sizes: so much its
 * runtime allocates, and no tensor may reach beyond. */
arenaut_status arn_pipeline_set_given_arenas(const arenaut_pipeline *p, arenaut_plan *plan,
                                             arenaut_error *err);
/* Lists the memories that the file states, and sums those that its runtime allocates. */
arenaut_status arn_pipeline_list_memories(arenaut_pipeline *p, arenaut_error *err);
/* Writes the plan into the file, in memory only, and reads there the size of each memory. Does
 * nothing for a file that states none. */
arenaut_status arn_pipeline_size_memories(arenaut_pipeline *p, arenaut_error *err);
/* The first memory that the plan would let grow although nothing asks for that; NULL: none. */
const arenaut_memory *arn_pipeline_memory_that_grows(const arenaut_pipeline *p);
bool arn_pipeline_some_memory_shrinks(const arenaut_pipeline *p);

/* The result in the file's own format; of each file, where there are several. */
arenaut_status arn_pipeline_write_in_memory(const arenaut_pipeline *p, arenaut_text **files,
                                            arenaut_error *err);
void arn_pipeline_free_written(const arenaut_pipeline *p, arenaut_text *files); /* NULL is fine */

#endif
