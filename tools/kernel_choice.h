/* --kernels NAME|FILE: a set of the table, or one that a file describes. */
#ifndef TOOL_KERNEL_CHOICE_H
#define TOOL_KERNEL_CHOICE_H

#include "tool.h"

typedef struct kernel_choice {
    const arenaut_kernel_set *set;
    arenaut_kernel_set *owned; /* a set read from a file; else NULL */
} kernel_choice;

/* The table comes first; "./reference" is a file. Complains about names that are neither, with the
 * nearest name, and about files that cannot be read. kernel_choice_free is always due. */
exit_code choose_kernels(const char *name_or_path, kernel_choice *choice);
/* Refuses kernels of the table, or a target with such, that have no op in common with those of the
 * runtime that the file is for. */
exit_code refuse_other_runtime(const arenaut_pipeline *pipeline);

void kernel_choice_free(kernel_choice *choice);

#endif
