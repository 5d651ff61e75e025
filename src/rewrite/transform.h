/* Transforms: program → program that computes the same, and may need less memory. A row of
 * transforms.def is one of them, and transforms.c the loop over all.
 *
 * A transform proposes candidates. Each is a trial: it is applied to a copy of the pipeline, which
 * the rows behind transform further, and which is lowered and planned. The candidate of the least
 * cost (ir/cost.h) is applied to the pipeline itself, after translation validation. */
#ifndef ARN_REWRITE_TRANSFORM_H
#define ARN_REWRITE_TRANSFORM_H

#include "core/memory.h"
#include "rewrite/find_within.h"
#include "stages/stages.h"

/* Behind the declarations: no transform searches but within a budget (core/budget.h). */
#if defined __GNUC__
#pragma GCC poison arenaut_order_find arenaut_remat_find
#endif

/* A choice for each transform; all zero: the program as it is. The lists are borrowed. */
typedef struct arn_candidate {
    const arenaut_split_stage *groups; /* to be tiled */
    uint32_t n_groups;
    arenaut_copying copying;
    const uint32_t *sequence; /* for arn_recompute */
    uint32_t n_sequence;
    arenaut_joining joining;
    const uint32_t *schedule; /* for arn_reorder */
} arn_candidate;

#define ARN_AS_IS (&(const arn_candidate){0})

/* Bytes to reserve for a trial, with those that the runtime keeps where its layout is known. */
typedef struct arn_reserved {
    arenaut_cost cost;
    uint64_t wide;    /* in the same runtime where pointers have 8 bytes */
    uint64_t kept;    /* of the cost: a transform may add to it, but does not change it; without the
                       * padding, which may change */
    uint64_t planned; /* of the plan alone */
    uint64_t head, tail; /* of the cost, as far as the runtime's layout is known */
} arn_reserved;

/* A search for the best candidate of one transform. */
typedef struct arn_search {
    arenaut_pipeline *pipeline;
    size_t row;         /* of the table */
    arn_region region;  /* of the candidates' lists */
    arn_budget finding; /* of candidates */
    arn_budget trying;  /* of their plans */
    uint64_t most;      /* bytes that a candidate may reserve, */
    uint64_t widest;    /* and in the wide runtime */
    arn_candidate best;
    arn_reserved least; /* of `best`; until a plan is made, more than any reserves */
    uint32_t *asked;    /* the sequence that the last trial asked for, of n_asked ops, or NULL */
    uint32_t n_asked;
    bool keeps_inputs; /* so its trials do, whatever the plan may do in the end */
    bool failed;       /* an error is that of a trial */
} arn_search;

typedef enum arn_request {
    ARN_NOT_REQUESTED,
    ARN_SEARCH_REQUESTED,
    ARN_CHOICE_GIVEN, /* the caller's options have the candidate */
} arn_request;

/* A row. Functions that are NULL have nothing to do. */
typedef struct arn_transform {
    const char *done;   /* in notes, of ops: "nothing is split: ..." */
    bool only_whole;    /* programs that were split stay as they are, */
    bool only_one_file; /* and those that were made of several files */
    uint32_t until;     /* share of the time of all transforms; 0: an equal part of the rest */
    uint32_t finding;   /* of that, the share of finding candidates */
    arn_request (*requested)(const arenaut_pipeline_options *options, arn_candidate *given);
    const char *(*obstacle)(const arenaut_pipeline *pipeline); /* NULL: none; else the reason */
    /* Finds candidates, and tries them: first the program as it is. REFUSED or STOPPED with the
     * reason if none are found; the program stays as it is then. */
    arenaut_status (*propose)(arn_search *search, arenaut_error *err);
    /* Applies its part of a candidate. */
    arenaut_status (*apply)(arenaut_pipeline *pipeline, const arn_candidate *candidate,
                            arenaut_error *err);
    /* Whether files of the format encode it although their runtime plans memory by itself. */
    bool (*encoded_by)(const arenaut_format *format);
    /* Fills in the pipeline's figures of the candidate that was applied. */
    void (*describe)(arenaut_pipeline *pipeline, const arn_candidate *applied);
} arn_transform;

/* Applies what the options ask for, by the rows from `row` on. */
arenaut_status arn_transform_program(arenaut_pipeline *pipeline, size_t row, arenaut_error *err);
/* Whether the options ask for a transform that files of the format encode. */
bool arn_transforms_encoded(const arenaut_pipeline_options *options, const arenaut_format *format);

/* With a part of the effort, as where many plans are compared, or with all of it. */
typedef enum arn_thoroughness { ARN_QUICKLY, ARN_THOROUGHLY } arn_thoroughness;

/* Tries a candidate, which becomes the best if it costs less. Without a plan, or if the budget has
 * ended, *reserved is more than there can be. */
arenaut_status arn_search_try(arn_search *search, const arn_candidate *candidate,
                              arn_thoroughness how, arn_reserved *reserved, arenaut_error *err);
/* The same beside the search, with other options. */
arenaut_status arn_search_measure(arn_search *search, const arenaut_pipeline_options *options,
                                  arn_reserved *reserved, arenaut_error *err);

/* The options of trials: they report nothing, and keep to the joins that were chosen. */
arenaut_pipeline_options arn_trial_options(const arenaut_pipeline *p);
/* A copy of the pipeline with these options, NULL: those of trials, transformed by the candidate
 * alone, and lowered; its searches have this budget. *trial is the caller's even if it fails, and
 * must not outlive `p`. STOPPED if the budget has ended. */
arenaut_status arn_trial_lower(const arenaut_pipeline *p, arn_budget *budget,
                               const arenaut_pipeline_options *options,
                               const arn_candidate *candidate, arenaut_pipeline **trial,
                               arenaut_error *err);
/* The effort of a search on the way to the plan: as large a part of its default, `whole`, as the
 * planner's is of its own; but no more than was asked for, unless that is 0. */
uint64_t arn_transform_effort(const arenaut_pipeline *p, uint64_t asked, uint64_t whole);

/* adopt_rewrite.c */
/* INTERNAL unless the checker proves that the rewrite computes the same as `before`. */
arenaut_status arn_check_rewrite(const arenaut_pipeline *p, const arenaut_program *before,
                                 const arenaut_rewrite *rewrite, arenaut_error *err);
/* Takes a rewrite over as the program, if it passes the checker; else frees it. */
arenaut_status arn_adopt_rewrite(arenaut_pipeline *p, arenaut_rewrite *rewrite, arenaut_error *err);
/* Rewrites `program`, with a list of its ops, and takes it over if all goes well. */
typedef arenaut_status (*arn_rewriting)(arenaut_program *program, const uint32_t *ops,
                                        uint32_t n_ops, arenaut_rewrite **out, arenaut_error *err);
/* Rewrites a copy of the program, and adopts it. */
arenaut_status arn_apply_rewriting(arenaut_pipeline *p, arn_rewriting rewriting,
                                   const uint32_t *ops, uint32_t n_ops, arenaut_error *err);

/* recompute_transform.c: whether another schedule of the file's ops may have other aliases, so that
 * nothing is proven of all schedules. */
bool arn_aliases_are_open(const arenaut_program *file, const arenaut_pipeline_options *options);

/* Adds to the result the proofs about rematerialization, with the schedule; nothing if views are
 * copies too, or if it was not asked for. */
arenaut_status arn_state_rematerialization(arenaut_pipeline *p, arenaut_error *err);

#define TRANSFORM(id) extern const arn_transform arn_transform_##id;
#include "rewrite/transforms.def"
#undef TRANSFORM

#endif
