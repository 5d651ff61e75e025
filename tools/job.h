/* One input on its way: read, passes, lowering, what the runtime does today, a plan, and
 * the checker on it. Verbs take a job as far as they need it. */
#ifndef TOOL_JOB_H
#define TOOL_JOB_H

#include "args.h"
#include "files.h"
#include "rules.h"
#include "setting_flags.h"

/* What the file's runtime does today, obeying the plan in the file if there is one. */
typedef struct todays_plan {
    arenaut_plan *plan; /* NULL: not known */
    bool from_file;     /* the file holds a plan */
    bool overlaps;      /* today's plan is wrong: `finding` says why */
    bool in_place;      /* it is right, by what the kernels may overwrite */
    bool shares;        /* it is right, though buffers lie over one another */
    arenaut_finding finding;
    const arenaut_problem *problem; /* the runtime's own, without the user's wishes */
    const arenaut_lowering *lowering;
    double seconds;            /* that the runtime's own planner took here */
    arenaut_document document; /* read anew where the user's wishes changed the program */
    arenaut_lowering *own_lowering;
} todays_plan;

/* What the file states of its memories: see memories.h. */
typedef struct memory_list {
    arenaut_memory *rows; /* by method, then number; NULL: the file states none */
    size_t n;
    bool sized;                   /* `planned` is known, and the sums are those of the file */
    uint64_t now, planned, bound; /* in sum; what methods share counts once */
    uint64_t behind; /* of `planned`: what no buffer needs, such as room that a delegate reads */
} memory_list;

typedef struct tool_job {
    const tool_options *options;
    input_file input;
    bool borrowed; /* another job closes the input */
    bool
        judge_given; /* the plan that the file states is looked at although its target obeys none */
    const arenaut_program *given_by; /* the places that this program states count, not the file's
                                      * own; NULL: the file's */
    char *together; /* the input is all the files as one program: what they are called; or NULL */
    arenaut_document document;
    const arenaut_target *target; /* NULL for a bare problem */
    arenaut_scratch_sizes scratch;
    op_rules rules;
    planner_settings settings;
    arenaut_lowering *lowering; /* NULL for a bare problem */
    arenaut_problem *edited;    /* with pins and pools; NULL: as lowered or read */
    const arenaut_problem *problem;
    todays_plan today;
    memory_list memories;
    arenaut_plan *plan;
    bool stopped;      /* by Ctrl-C */
    char refusal[320]; /* the planner's */
    char sha256[65];
    arenaut_result result; /* of all this, for writers and reports */
} tool_job;

/* Each complains and returns the exit code if it fails; job_close is always due. */
exit_code job_read(tool_job *job, const char *path,
                   const tool_options *options); /* just the file */
exit_code job_prepare(tool_job *job);            /* passes, lowering, pins */
exit_code job_find_today(tool_job *job);
/* Plans and checks. EXIT_NEGATIVE, with job->plan, if there provably is no plan. */
exit_code job_make_plan(tool_job *job);
/* The same without complaining if the planner cannot express the problem: then *refusal says
 * why, and is NULL otherwise. What the runtime makes of the plan is left out. */
exit_code job_plan_with(tool_job *job, const char **refusal);
/* All of these after job_read. */
exit_code job_run_read(tool_job *job);
/* All of the above. */
exit_code job_run(tool_job *job, const char *path, const tool_options *options);
/* job_read for all the files as one program. */
exit_code job_read_together(tool_job *job, const tool_options *options);
/* job_read on the bytes that another job has read, which stays open meanwhile. */
exit_code job_read_again(tool_job *job, const tool_job *first, const tool_options *options);
/* The same, and all that follows. */
exit_code job_run_again(tool_job *job, const tool_job *first, const tool_options *options);
/* Reads these bytes as if they were the first job's file, and finds what they do today. They
 * are borrowed, as is the path. */
exit_code job_look_at(tool_job *job, const tool_job *first, const void *data, size_t size,
                      const tool_options *options);
void job_close(tool_job *job);

/* --target, or what the format's files are run by. Part of job_prepare. */
exit_code job_choose_target(tool_job *job);

/* Replays the program over tensors placed as `plan` says. EXIT_FINE, EXIT_NEGATIVE with
 * the finding, or an error. */
exit_code replay_plan(const tool_job *job, const arenaut_program *program,
                      const arenaut_lowering *lowering, const arenaut_plan *plan,
                      arenaut_finding *finding);

/* The same with what methods share by name where each of them puts it in the file. */
exit_code replay_file(const tool_job *job, const arenaut_program *program,
                      const arenaut_lowering *lowering, const arenaut_plan *plan,
                      arenaut_finding *finding);

/* What people are told: the sums over pools, or over memories where the file states them.
 * There must be a plan, or for the first a plan of today. */
uint64_t job_bytes_now(const tool_job *job);
uint64_t job_bytes_planned(const tool_job *job);
uint64_t job_bytes_bound(const tool_job *job);
/* The first op whose results may lie outside of the arena (arenaut_find_outside), or NONE. */
uint32_t job_op_outside(const tool_job *job);

/* What a budget is held against: the new plan or, where nothing was asked for that it does
 * not keep, the plan in the file if that needs less. */
uint64_t job_bytes_needed(const tool_job *job);

/* Whether the file says where its tensors lie, and its runtime obeys. */
bool job_holds_plan(const tool_job *job);

/* From now on the places that `planned` states are taken for those of the job's own file.
 * Complains unless both are one program, but for the places. `planned` is borrowed. */
exit_code job_take_given(tool_job *job, const char *path, const arenaut_program *planned);

/* Whether the plan needs less than today, or repairs what is broken today. */
bool job_is_better(const tool_job *job);
bool job_is_larger(const tool_job *job);

/* Looks up --target, --planner, --from, suggesting the nearest name. NULL after a complaint. */
const arenaut_format *named_format(const char *name);
exit_code check_planner_name(const char *name);

#endif
