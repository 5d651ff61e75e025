/* The flags that have values of a form of their own, as options of the library: --pool, --pin,
 * --align, --align-op, --inplace, --inplace-op, --dim and --set. */
#ifndef TOOL_FLAG_VALUES_H
#define TOOL_FLAG_VALUES_H

#include "args.h"

/* The memory that parsed options point into. */
typedef struct flag_values {
    void **blocks;
    size_t n;
} flag_values;

/* Whether the least memory is asked for, whatever is added for it: the budget, if there is one, is
 * not that of this file, or decides the exit code alone. */
bool seeks_least(const tool_options *options);

/* Fills in the fields of these flags. Complains about malformed values; the library reports names
 * that the file does not have. */
exit_code parse_flag_values(const tool_options *options, flag_values *owned,
                            arenaut_pipeline_options *out);
void flag_values_free(flag_values *owned);

/* The name of the memory in "head=DTCM:64K", which only texts show: its length, or 0. */
size_t memory_name(const char *pool, const char **name);

/* Parses one --pool, whose text it cuts up and the pool's name points into. Returns an error text,
 * or NULL. */
const char *pool_problem(char *text, arenaut_pool *pool);

/* Says which rules speak of ops that the program does not have. */
void note_idle_rules(const arenaut_pipeline *pipeline);
/* Likewise of --kernels, but for ops that some set of the table speaks of. */
void note_idle_kernels(const arenaut_pipeline *pipeline);

/* Puts the file's pools into options->pool, as if they came from --pool. */
exit_code read_pools_file(tool_options *options);

#endif
