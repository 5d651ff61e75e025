/* Several files that are planned one after another, or as one program, and their sums. */
#ifndef TOOL_PLAN_SEVERAL_H
#define TOOL_PLAN_SEVERAL_H

#include "one_arena.h"
#include "planning.h"

/* Outcomes of several files. */
typedef struct tally {
    uint64_t now, planned;
    together all;  /* of them need this, and all that their runtimes keep there */
    one_arena one; /* the same where their interpreters share an arena: --one-arena */
    size_t n, n_written, n_kept, n_failed;
    bool now_known; /* of all of them */
    bool judged;    /* a try: see planning.h */
} tally;

/* The end of a job that came to `code`: its report, and its part of the sums. Closes the job. */
exit_code tally_add(planning *p, exit_code code, const tool_options *options, tally *sums,
                    arenaut_text *out);
/* A budget decides the exit code, and nothing else: the output is written all the same. */
exit_code tally_judge(const char *about, const tool_options *options, const tally *sums);

exit_code plan_one(const char *path, const char *output, const tool_options *options, tally *sums,
                   arenaut_text *out);

/* Complains if several inputs would be written to one file, or into no folder. */
exit_code refuse_names(const tool_options *options);

/* Several files are one program whose methods never run at the same time: no buffer of one is
 * shared with another, and only state is alive while another one runs. `each`: the options of every
 * file; NULL: `options` are those of all. */
exit_code plan_several(const tool_options *options, const tool_options *each, tally *sums,
                       arenaut_text *out);
/* Several files that share buffers: one program, one layout. */
exit_code plan_merged(const tool_options *options, arenaut_text *out);

#endif
