/* What would make the arena smaller, each tried for itself. */
#ifndef TOOL_REMEDIES_H
#define TOOL_REMEDIES_H

#include "job.h"

typedef struct remedy {
    const char *what; /* "results over operands" */
    char flags[48];   /* "--inplace on" */
    uint64_t arena;   /* with it */
    tool_job *job;    /* that found another plan with it; NULL: none, or it was not kept */
} remedy;

enum { MAX_REMEDIES = 16 };

typedef struct remedy_list {
    remedy items[MAX_REMEDIES];
    size_t n;
    bool keeps; /* the jobs, which remedies_free closes */
} remedy_list;

/* Plans again with each flag that may help: in place, inputs and outputs elsewhere and, where
 * it saves anything, each optional pass. Empty for a bare problem, and after an interrupt. */
exit_code find_remedies(const tool_job *job, remedy_list *list);
void remedies_free(remedy_list *list);

/* Lines of the report, and members of the JSON document: the remedies, and what the bound
 * would be without each of the largest buffers at the peak. */
void put_remedies(const arenaut_pipeline *p, const remedy_list *list, arenaut_text *out);
exit_code put_json_remedies(const tool_job *job, const remedy_list *list, arenaut_text *out);

#endif
