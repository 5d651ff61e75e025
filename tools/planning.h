/* A file that is planned, and the report of `plan`. */
#ifndef TOOL_PLANNING_H
#define TOOL_PLANNING_H

#include "job.h"
#include "one_arena.h"
#include "output.h"
#include "whole_arena.h"

/* One input, from the command line to its outcome. */
typedef struct planning {
    tool_job job;
    const char *output; /* NULL: nothing is written */
    bool judged;        /* a try, of which nothing is said */
    const char *keep;   /* why the file is to stay as it is; NULL: its new plan decides */
    char *renamed;      /* `output`, where it was made here */
    output_kind kind;
    const one_arena *one; /* which it is to share; NULL: none */
    bool stays;           /* the file stays as it is, whether or not anything is written */
    bool wrote;
    bool kept; /* the old content went to the output: the input itself, or the baseline */
    uint64_t written, dead; /* bytes in all, and of these the unreferenced ones */
    const char *more;       /* members of the JSON document that come from elsewhere; NULL: none */
    const char *reason; /* why the new plan was not written; NULL: it was, or was not asked for */
} planning;

/* Reads, plans, checks and, if asked to, writes. */
exit_code planning_make(planning *p, const char *path, const tool_options *options);
/* Refuses the output before the work, if it can be known then that it cannot be written. */
exit_code planning_check_output(planning *p);
/* Why a new plan of this outcome is not written; NULL: it is. */
const char *planning_reason(const arenaut_pipeline *p, arenaut_outcome outcome);

/* Finds `reason`, and complains about a plan that no model can hold. */
exit_code planning_find_reason(planning *p, bool into_model);

/* Has `write` write the baseline, which is right, instead of the new plan, with the memories as
 * they are now. */
exit_code planning_write_baseline(planning *p, exit_code (*write)(planning *p));

/* With the plan on standard output, the summary is a message. */
exit_code planning_report(const planning *p, const tool_options *options, arenaut_text *out);

/* Whether the file stays with the plan that it has: the input was written or, without -o, its plan
 * needs less than the new one. */
bool stays_as_it_is(const planning *p);

/* The content of the output instead of the new plan. */
const char *kept_text(const planning *p);

/* The bytes to reserve for the file as it is after the command. */
reservation what_it_takes(const planning *p);

/* The lines for an issue report: model, bytes, quality, peak, check, output. */
exit_code put_summary(const planning *p, const tool_options *options, arenaut_text *out);

#endif
