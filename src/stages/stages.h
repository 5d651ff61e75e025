/* What the stages of a pipeline share. The order is that of the data; pipeline_run.c has it. */
#ifndef ARN_STAGES_STAGES_H
#define ARN_STAGES_STAGES_H

#include <arenaut/pipeline.h>

#include "core/budget.h"
#include "core/fail.h"
#include "core/memory.h"
#include "ir/cost.h"
#include "planners/plan_within.h"
#include "rewrite/find_within.h"

/* Behind the declarations: here nothing searches but within a budget (core/budget.h). */
#if defined __GNUC__
#pragma GCC poison arenaut_plan_make arenaut_split_find arenaut_order_find arenaut_recompute_find
#endif

/* How far a pipeline has come. */
typedef enum arn_pipeline_reached {
    ARN_PIPELINE_NEW,
    ARN_PIPELINE_READ,
    ARN_PIPELINE_PREPARED,
    ARN_PIPELINE_COMPARED, /* with the baseline */
    ARN_PIPELINE_FAILED,
} arn_pipeline_reached;

/* What a pipeline owns beyond its public fields. */
struct arenaut_pipeline_store {
    arenaut_pipeline pipeline;
    arenaut_allocator allocator;
    arn_pipeline_reached reached;
    bool compared; /* the plan is as the runtime makes it, and a baseline was looked for before */
    arenaut_pipeline_file *files; /* a copy; the bytes are borrowed */
    size_t n_files;
    arenaut_program *read;          /* as it was read, with sizes bound; NULL: a problem */
    const arenaut_program *as_read; /* that, or the one of the pipeline that this one is beside */
    uint64_t *op_costs;             /* read from options.recomputing.costs */
    arenaut_scratch_sizes file_scratch; /* of a rewritten program's original; else in the pipeline
                                         */
    bool calls_apart;                   /* plain calls are lowered so */
    arenaut_joining joining;            /* that was found to be best; its list is the next */
    uint32_t *joined;
    bool aliases_known;                 /* of the program, what its file's places tell is told */
    bool solved;                        /* the baseline is the solution that the file states */
    bool aside;                         /* its plans are only compared: they are not replayed */
    arenaut_problem *overridden;        /* NULL: as lowered or read */
    arenaut_document baseline_document; /* read anew where overrides changed the program */
    arenaut_lowering *baseline_lowering;
};

static inline const arenaut_allocator *arn_pipeline_allocator(const arenaut_pipeline *p) {
    return &p->store->allocator;
}

/* pipeline_context.c */
/* Copies the list of files. */
arenaut_status arn_pipeline_keep_files(arenaut_pipeline *p, const arenaut_pipeline_file *files,
                                       size_t n_files, arenaut_error *err);
/* The result of the document that was read. */
void arn_pipeline_begin_result(arenaut_pipeline *p);
/* BAD_ARGUMENT unless the pipeline has come as far as `least` and no farther than `most`. */
arenaut_status arn_pipeline_expect(const arenaut_pipeline *p, arn_pipeline_reached least,
                                   arn_pipeline_reached most, arenaut_error *err);
/* Remembers how a stage ended. Returns `status`. */
arenaut_status arn_pipeline_reach(arenaut_pipeline *p, arn_pipeline_reached stage,
                                  arenaut_status status);
void arn_pipeline_enter(const arenaut_pipeline *p, arenaut_stage stage);
/* What a stage may spend: so much effort, 0 for the default, until the options' callback says stop.
 */
arn_budget arn_pipeline_budget(const arenaut_pipeline *p, uint64_t effort);
/* Up to 1023 bytes. */
void arn_pipeline_note(const arenaut_pipeline *p, const char *format, ...) ARN_PRINTF(2, 3);
/* BAD_ARGUMENT, with the option that it is about; the text begins with its name. */
arenaut_status arn_pipeline_blame(arenaut_pipeline *p, arenaut_error *err, const char *option,
                                  const char *format, ...) ARN_PRINTF(4, 5);
/* The program as it was read, once more. */
arenaut_status arn_pipeline_copy_as_read(const arenaut_pipeline *p, arenaut_program **out,
                                         arenaut_error *err);
/* The program as it is by now, once more. */
arenaut_status arn_pipeline_copy_program(const arenaut_pipeline *p, arenaut_program **out,
                                         arenaut_error *err);
/* Asks; where the answer is no, a note says that nothing is "split", or what else. */
bool arn_pipeline_has_time(const arenaut_pipeline *p, arn_budget *budget, const char *done);
/* STOPPED, with the reason: there was no time for what was to be found. */
arenaut_status arn_pipeline_stopped(arenaut_error *err);

/* pipeline_run.c */
/* In the place of arenaut_pipeline_read: begins with the program that was read for `other`, which
 * outlives this one. */
arenaut_status arn_pipeline_start_from(arenaut_pipeline *p, const arenaut_pipeline *other,
                                       arenaut_error *err);

/* lower_program.c */
/* Leaves only the wanted entry method; the others, and what only they use, are not planned. */
arenaut_status arn_pipeline_choose_method(const arenaut_pipeline *p, arenaut_program *program,
                                          arenaut_error *err);
arenaut_status arn_pipeline_run_passes(const arenaut_pipeline *p, arenaut_program *program,
                                       const char *selection, bool show, arenaut_error *err);
/* Those asked for, with what options.overwrite and options.overlap add. */
arenaut_status arn_pipeline_run_selected_passes(const arenaut_pipeline *p, arenaut_error *err);
/* Lowers the program as the options have it, but for its inputs, which are kept or not. */
arenaut_status arn_pipeline_lower(const arenaut_pipeline *p, bool preserve_inputs,
                                  arenaut_lowering **lowering, arenaut_error *err);
/* Fills in the pipeline's lowering. */
arenaut_status arn_pipeline_lower_program(arenaut_pipeline *p, arenaut_error *err);

/* chosen_kernels.c */
/* Fills in which kernels are planned for: those of the options, else those that the mark of a plan
 * in the file names, else the target's own. */
void arn_pipeline_choose_kernels(arenaut_pipeline *p);
/* The name in that mark, where nobody knows what it stands for; else NULL. */
const char *arn_pipeline_unknown_kernels(const arenaut_pipeline *p);
/* A note where overlap was asked for and nothing can come of it. */
void arn_pipeline_note_overlap(const arenaut_pipeline *p);
/* A note where the plan in the file was made for other kernels than those at hand. */
void arn_pipeline_note_other_kernels(const arenaut_pipeline *p);

/* open_sizes.c */
arenaut_status arn_pipeline_bind_dims(arenaut_pipeline *p, arenaut_program *program,
                                      arenaut_error *err);
/* Of a problem: refuses sizes that its reader does not bind. */
arenaut_status arn_pipeline_check_dims(arenaut_pipeline *p, const arenaut_document *document,
                                       arenaut_error *err);
/* BAD_INPUT, with pipeline->fault, if tensors have no size because inputs' sizes are open. */
arenaut_status arn_pipeline_check_sizes(arenaut_pipeline *p, arenaut_error *err);
/* A note that names tensors without a size, which are not planned. */
void arn_pipeline_note_unsized(const arenaut_pipeline *p);

/* overrides.c */
/* Applies pins, pools, alignments and the capacity to the problem; store->overridden stays NULL if
 * there is nothing to do. */
arenaut_status arn_pipeline_override(arenaut_pipeline *p, arenaut_error *err);
/* Whether anything was asked for that makes the planned problem another than the runtime's. */
bool arn_pipeline_overrides(const arenaut_pipeline_options *o);
/* The options without what was asked of the plan alone: with it inside, a file must be right by
 * these, which have what only the caller knows of the kernels. */
arenaut_pipeline_options arn_pipeline_without_overrides(const arenaut_pipeline_options *o);

/* split_choice.c: puts the split program, which has been checked, in the place of the one that was
 * read, if splitting is asked for and something is gained by it. Scratch sizes go with the ops. */
arenaut_status arn_pipeline_split(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err);

/* recompute_program.c: lets cheap ops run again for late readers, if that is asked for, and less is
 * to be reserved then; pipeline->recomputed says what is known of it. */
arenaut_status arn_pipeline_recompute(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err);

/* reorder_program.c: puts the ops in the best order, if that is asked for, is another one, and less
 * is to be reserved then; pipeline->ordering says what is known of orders. */
arenaut_status arn_pipeline_reorder(arenaut_pipeline *p, arn_budget *budget, arenaut_error *err);

/* find_order.c */
/* The order problems of `given`, which is prepared as p's options say but for the order; the
 * caller's, to be released. */
arenaut_status arn_pipeline_order_problem(const arenaut_pipeline *p, const arenaut_pipeline *given,
                                          arenaut_program_order **problem, arenaut_error *err);
/* The best order that is found, which has passed the checker with what is said of it. */
arenaut_status arn_pipeline_find_order(const arenaut_pipeline *p,
                                       const arenaut_order_problem *problem, arn_budget *budget,
                                       arenaut_order **order, arenaut_error *err);
/* Has each of them solved, the proof checked, and the order taken; adds the lines of the proofs. */
arenaut_status arn_pipeline_find_orders(const arenaut_pipeline *p, arenaut_program_order *problem,
                                        arn_budget *budget, uint32_t *n_lines, arenaut_error *err);

/* How the ops of the file compute what they do, whatever their order. */
typedef struct arn_forms {
    arenaut_joining joining;
    arenaut_copying copying;
} arn_forms;
/* Views that may be copies. */
typedef struct arn_copies {
    uint32_t *ops;   /* of the file, ascending */
    uint32_t *whole; /* per op: a number of what it is a part of, from 0 on */
    uint32_t n, n_wholes;
    bool *late;          /* per op: in today's order its part is read when another name of the whole
                          * is read no more */
    arenaut_part *parts; /* that they make */
    uint32_t *whole_of_part, n_parts;
} arn_copies;
/* What there is to choose from. */
typedef struct arn_form_choices {
    arenaut_joining joins; /* their results */
    arn_copies copies;
} arn_form_choices;

/* reorder_forms.c: joins that may be written in place, and views that may be copies, each or not.
 */
/* Reads and prepares the program with its ops where they are, and in these forms. */
arenaut_status arn_pipeline_prepare_formed(const arenaut_pipeline *p, arn_budget *budget,
                                           arn_forms forms, arenaut_pipeline **prepared,
                                           arenaut_error *err);
/* The lists are the region's. */
arenaut_status arn_pipeline_find_forms(const arenaut_pipeline *p, arn_budget *budget,
                                       arn_region *region, arn_form_choices *choices,
                                       arenaut_error *err);
/* What is alive at least in any order, whichever of them is chosen; the bound is 0 where nothing
 * is known. */
arenaut_status arn_pipeline_bound_forms(const arenaut_pipeline *p, arn_budget *budget,
                                        const arn_form_choices *choices, arenaut_ordering *bound,
                                        arenaut_error *err);
/* find_copies.c: those views of the program, which is `given` behind its passes, where all views
 * are names, and no join that may be is in place: what these are (NULL: not known) makes views a
 * choice. */
arenaut_status arn_pipeline_find_copies(const arenaut_pipeline *p, const arenaut_pipeline *given,
                                        const arenaut_joining *joins, arn_region *region,
                                        arn_copies *copies, arenaut_error *err);
/* adopt_rewrite.c */
/* INTERNAL unless it is proven to be the same model as `before`. */
arenaut_status arn_pipeline_check_rewrite(const arenaut_pipeline *p, const arenaut_program *before,
                                          const arenaut_rewrite *rewrite, arenaut_error *err);
/* Rewrites `program`, with a list of its ops, and takes it over if all goes well. */
typedef arenaut_status (*arn_rewriting)(arenaut_program *program, const uint32_t *ops,
                                        uint32_t n_ops, arenaut_rewrite **out, arenaut_error *err);
/* Rewrites a copy of the program, and adopts it. */
arenaut_status arn_pipeline_apply(arenaut_pipeline *p, arn_rewriting rewriting, const uint32_t *ops,
                                  uint32_t n_ops, arenaut_error *err);
/* Makes copies of these views, if there are any. */
arenaut_status arn_pipeline_copy_views(arenaut_pipeline *p, arenaut_copying copying,
                                       arenaut_error *err);
/* Takes a rewrite over as the program, if it passes the checker; else frees it. */
arenaut_status arn_pipeline_adopt(arenaut_pipeline *p, arenaut_rewrite *rewrite,
                                  arenaut_error *err);
/* Reads a rewritten file that was written, and proves again that it is the same model. Does
 * nothing where nothing was rewritten. */
arenaut_status arn_pipeline_check_rewritten(const arenaut_pipeline *p, const arenaut_text *bytes,
                                            arenaut_error *err);

/* plan_aside.c: other pipelines of the same file, as far as it has been rewritten in this one; they
 * do not tell what they do. */
arenaut_pipeline_options arn_pipeline_options_as_is(const arenaut_pipeline *p);
/* Reads and prepares the file with these options; what is searched then has this budget. */
arenaut_status arn_pipeline_prepare_aside(const arenaut_pipeline *p, arn_budget *budget,
                                          const arenaut_pipeline_options *options,
                                          arenaut_pipeline **prepared, arenaut_error *err);
/* What is to be reserved, with what the runtime keeps, where its layout is known. */
typedef struct arn_reserved {
    arn_cost cost;
    uint64_t wide;    /* in the same runtime where pointers have 8 bytes */
    uint64_t kept;    /* of the cost: what a rewrite may add to, but does not change; without the
                       * padding, which may change */
    uint64_t planned; /* of the plan alone */
} arn_reserved;
#define ARN_NOTHING_RESERVED ((arn_reserved){ARN_NO_PLAN, UINT64_MAX, 0, UINT64_MAX})
/* Of the effort that a search on the way to the plan has by default, `whole`, as large a part as
 * the planner's is of its own; but no more than was asked for, unless that is 0. */
uint64_t arn_pipeline_effort(const arenaut_pipeline *p, uint64_t asked, uint64_t whole);
/* With a part of the effort, as where many plans are compared, or with all of it. */
typedef enum arn_thoroughness { ARN_QUICKLY, ARN_THOROUGHLY } arn_thoroughness;
/* With these options; where there is no plan, or the budget has ended, more than there can be. */
arenaut_status arn_pipeline_plan_aside(const arenaut_pipeline *p, arn_budget *budget,
                                       arenaut_pipeline_options options, arn_thoroughness how,
                                       arn_reserved *reserved, arenaut_error *err);

/* written_order.c: what the places in a file, together with the order of its ops, tell of memory
 * that tensors share; nothing of a file that states no memories. Once only: a program whose ops
 * were reordered has no places. */
arenaut_status arn_pipeline_recover_aliases(arenaut_program *program, arenaut_error *err);
/* fills in the tensors of a rewrite whose program was read from a file in another
 * order; they are the caller's, to be released. */
arenaut_status arn_pipeline_match_written(const arenaut_program *before, arenaut_rewrite *written,
                                          const arenaut_allocator *allocator, arenaut_error *err);

/* baseline.c */
/* The plan that a runtime's `planner` makes of `problem`; it obeys fixed offsets. */
arenaut_status arn_pipeline_run_incumbent(const arenaut_pipeline *p, arn_budget *budget,
                                          const char *planner, const arenaut_problem *problem,
                                          arenaut_plan **plan, arenaut_error *err);
/* Whether the file says where its tensors lie, and its runtime obeys. */
bool arn_pipeline_holds_plan(const arenaut_pipeline *p);

/* verify_plan.c */
/* `as_in_file`: what methods share by name lies where each of them puts it in the file. */
arenaut_status arn_pipeline_replay(const arenaut_pipeline *p, const arenaut_program *program,
                                   const arenaut_lowering *lowering, const arenaut_plan *plan,
                                   bool as_in_file, arenaut_finding *finding, arenaut_error *err);
/* The plan, or the witness of there being none. */
arenaut_status arn_pipeline_verify(const arenaut_pipeline *p, arenaut_error *err);

/* deploy_scratch.c: takes the honest view of a plan whose runtime places kernel scratch itself:
 * replaces it by what the runtime will make of it, and never calls it optimal where scratch is
 * unknown. */
arenaut_status arn_pipeline_deploy_scratch(arenaut_pipeline *p, arenaut_error *err);

/* unknown_scratch.c: whether the plan is no worse than any other, however much scratch each op
 * asks for. False where it would take too long to tell. */
arenaut_status arn_pipeline_scratch_is_harmless(const arenaut_pipeline *p, bool *harmless,
                                                arenaut_error *err);

/* file_memories.c: for some formats each method has a list of arenas, with their sizes, and each
 * tensor a place in one of them. What counts there is what the file makes its runtime allocate, now
 * and once the plan is inside. */
bool arn_states_memories(const arenaut_program *program);
/* What findings call the pools of `plan`, made for `lowering` of `program`: the user's names, or
 * the numbers of the file's memories. Else NULL entries. */
typedef struct arn_pool_names {
    const char *names[ARENAUT_MAX_POOLS];
    char text[ARENAUT_MAX_POOLS][24];
} arn_pool_names;
arenaut_status arn_pipeline_name_pools(const arenaut_pipeline *p, const arenaut_program *program,
                                       const arenaut_lowering *lowering, const arenaut_plan *plan,
                                       arn_pool_names *names, arenaut_error *err);
/* Replaces what `plan`, made of the places in the file, needs by what the file states: that is what
 * its runtime allocates, and what nothing may reach beyond. */
arenaut_status arn_pipeline_set_given_arenas(const arenaut_pipeline *p, arenaut_plan *plan,
                                             arenaut_error *err);
/* What the file states, next to what it makes its runtime allocate today. */
arenaut_status arn_pipeline_list_memories(arenaut_pipeline *p, arenaut_error *err);
/* Writes the plan into the file, in memory only, and reads there what it makes of each memory. Does
 * nothing for a file that states none. */
arenaut_status arn_pipeline_size_memories(arenaut_pipeline *p, arenaut_error *err);
/* The first memory that the plan would let grow although nothing asks for that; NULL: none. */
const arenaut_memory *arn_pipeline_memory_that_grows(const arenaut_pipeline *p);
bool arn_pipeline_some_memory_shrinks(const arenaut_pipeline *p);

/* encode_model.c: the result in the file's own format. */
arenaut_status arn_pipeline_write_in_memory(const arenaut_pipeline *p, arenaut_text *bytes,
                                            arenaut_error *err);

#endif
