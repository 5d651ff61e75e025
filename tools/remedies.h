/* Remedies that lower the memory, each tried alone. Savings are measured as for the choice of a
 * tiling: by all bytes to reserve, which are the arena and the runtime's data of ops and tensors;
 * by the arena alone if these are not known. */
#ifndef TOOL_REMEDIES_H
#define TOOL_REMEDIES_H

#include "job.h"

typedef struct remedy {
    const char *what;         /* "results over operands" */
    char flags[48];           /* "--inplace on" */
    uint64_t arena;           /* with it */
    uint64_t reserve;         /* with it: the arena and the runtime's own data, if known */
    bool exact;               /* `reserve` is all of it; else the least */
    uint64_t saves;           /* bytes fewer to reserve than without it */
    bool cut_short;           /* time ended a search */
    bool fails;               /* no plan with it was found, and the needs are those without */
    arenaut_ordering order;   /* result about schedules, if tried */
    arenaut_recomputed again; /* likewise, of rematerialization */
    tool_job *job;            /* that found another plan with it; NULL: none, or it was not kept */
} remedy;

/* A rewrite that was not tried. */
typedef struct left_out {
    const char *what, *flag, *why;
} left_out;

/* Flags with which no plan was found. */
typedef struct without_plan {
    const char *what;
    char flags[48];
} without_plan;

enum { MAX_REMEDIES = 16 };

typedef struct remedy_list {
    remedy items[MAX_REMEDIES];
    size_t n;
    bool no_plan;     /* without any: then remedies are flags with which there is one */
    uint64_t reserve; /* without any; 0: there is no plan */
    bool exact;       /* likewise */
    remedy anew;      /* of the program without any, where the file's plan is described */
    bool keeps;       /* the jobs, which remedies_free closes */
    bool interrupted; /* before all was tried */
    bool cut_short;   /* time ended a search */
    left_out left_out[3];
    size_t n_left_out;
    without_plan failed[MAX_REMEDIES];
    size_t n_failed;
} remedy_list;

/* Whether two problems differ in nothing that a plan depends on but pools: then there is no need to
 * plan again. */
bool same_problem(const arenaut_problem *a, const arenaut_problem *b);

/* Plans again with each flag that may help: in place, inputs and outputs elsewhere and, where
 * it saves anything, each optional pass; of a file with a plan, first without any. Empty for a bare
 * problem; an interrupt ends the list. */
exit_code find_remedies(const tool_job *job, remedy_list *list);
/* Adds plans with larger alignments. */
exit_code find_alignments(const tool_job *job, remedy_list *list);
void remedies_free(remedy_list *list);

/* Lines of the report, and members of the JSON document: the remedies, and the bound without each
 * of the largest buffers at the peak. */
void put_remedies(const tool_job *job, const remedy_list *list, arenaut_text *out);
/* Changes of the model that would help, and are no flag. */
void put_model_remedies(const arenaut_pipeline *p, arenaut_text *out);
exit_code put_json_remedies(const tool_job *job, const remedy_list *list, arenaut_text *out);

#endif
