/* A problem with changes: what --pin, --align and --pool ask for, and the questions "what
 * would the runtime do if these offsets were given". */
#ifndef TOOL_EDIT_H
#define TOOL_EDIT_H

#include "args.h"

/* Changes one buffer before it is added to the copy. */
typedef void (*buffer_edit)(void *context, uint32_t id, arenaut_buffer *buffer);

/* Copies `from`, buffer by buffer, so that ids stay. `pools` replaces its pools; NULL keeps
 * them. `edit` may be NULL. */
arenaut_status problem_copy(const arenaut_problem *from, const arenaut_pool *pools,
                            uint32_t n_pools, buffer_edit edit, void *context,
                            arenaut_problem **out, arenaut_error *err);

/* Parses one --pool, whose text it cuts up and the pool's name points into. Returns what is wrong
 * with it, NULL if nothing is. */
const char *pool_problem(char *text, arenaut_pool *pool);

/* Parses --pool. The names point into `options`' own strings where they can; *names holds
 * the rest and is freed with free(). */
exit_code parse_pools(const tool_options *options, arenaut_pool pools[ARENAUT_MAX_POOLS],
                      uint32_t *n_pools, char **names);

/* Applies --align TENSOR=N, --align N (problems only: lowering does it for programs) and
 * --pin and --capacity to `problem`; *edited stays NULL if there is nothing to do. `program` and
 * `lowering` are NULL for a bare problem. */
exit_code apply_edits(const char *path, const tool_options *options, const arenaut_program *program,
                      const arenaut_lowering *lowering, const arenaut_problem *problem,
                      arenaut_problem **edited);

/* The value of a plain --align N, 0 if there is none. EXIT_USAGE if it is no power of two. */
exit_code plain_alignment(const tool_options *options, uint64_t *align);

#endif
