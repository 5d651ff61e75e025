/* One input on its way through the library's pipeline, from a path. The command line becomes
 * arenaut_pipeline_options here, and errors of stages become complaints. Verbs take a job as far as
 * they need it, and read what it found in job->pipeline. */
#ifndef TOOL_JOB_H
#define TOOL_JOB_H

#include "args.h"
#include "files.h"
#include "flag_values.h"
#include "kernel_choice.h"
#include "progress.h"

/* The file of a plan that states its ops, for messages, and the member that has their schedule;
 * NULL: none does. */
typedef struct stated_ops {
    const char *path, *schedule;
} stated_ops;

typedef struct tool_job {
    const tool_options *options;
    const char *path; /* for messages; of several files that are one program "a.pt2 + b.pt2" */
    char *label;      /* `path`, where it was made here */
    char *model;      /* its name in a scratch file */
    input_file *inputs;
    size_t n_inputs;
    bool borrowed; /* another job closes the inputs */
    stated_ops ops;
    input_file shapes, scratch, costs;
    kernel_choice kernels;
    flag_values values;         /* memory of the pipeline's options */
    arenaut_pipeline *pipeline; /* NULL: it was not even begun */
    planner_watch watch;
    arenaut_stage stage;
    double planner_seconds;
    bool apart;          /* --pool head=SIZE --pool tail=SIZE: a runtime's arena in two memories */
    uint64_t head, tail; /* their sizes; ARENAUT_UNLIMITED where it is not `apart` */
    bool dumped;         /* by --dump-after */
    exit_code dump_code;
    bool stopped; /* by Ctrl-C */
    char sha256[65];
} tool_job;

/* Each complains and returns the exit code if it fails; job_close is always due. */
exit_code job_read(tool_job *job, const char *path, const tool_options *options);
/* All the files as one program, if they are to be planned as one: --share. */
bool is_merged(const tool_options *options);
exit_code job_read_merged(tool_job *job, const tool_options *options);
exit_code job_prepare(tool_job *job);
exit_code job_find_baseline(tool_job *job);
/* EXIT_NEGATIVE, with pipeline->plan, if there provably is no plan. */
exit_code job_make_plan(tool_job *job);
/* The status of arenaut_pipeline_plan as an exit code. */
exit_code job_judge_plan(tool_job *job, arenaut_status status, const arenaut_error *err);
/* Whether there is a plan, or a proof that there is none, by what the job came to. */
bool job_is_answered(const tool_job *job, exit_code code);
/* prepare, find_baseline and make_plan */
exit_code job_run_read(tool_job *job);
/* The same for all verbs but plan: a file that holds a right plan is described by that one, unless
 * flags ask for another. */
exit_code job_describe(tool_job *job);
/* The same, or a new plan with the rights of the one in the file, where that needs less: size has
 * both. */
exit_code job_describe_or_better(tool_job *job);
/* job_describe after job_read. */
exit_code job_run(tool_job *job, const char *path, const tool_options *options);
/* The code of a verb whose job ends: an interrupt, which is reported if it came before a plan; else
 * `code`. */
exit_code job_end(const tool_job *job, exit_code code);
/* EXIT_INTERRUPT instead of EXIT_FINE, if an interrupt was asked for: the result is incomplete
 * then. */
exit_code job_goes_on(exit_code code);
/* Reads and prepares the files of another job, which stays open meanwhile, with other options and
 * without a word about them. EXIT_INTERRUPT as soon as there was an interrupt. */
exit_code job_prepare_again(tool_job *job, const tool_job *first,
                            const arenaut_pipeline_options *options);
void job_close(tool_job *job);

exit_code check_planner_name(const char *name);

#endif
