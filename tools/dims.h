/* --dim and --shapes: sizes that a model leaves open. */
#ifndef TOOL_DIMS_H
#define TOOL_DIMS_H

#include "args.h"

/* Gives the program's symbols what --dim says. EXIT_USAGE for a wrong value or an unknown
 * name. */
exit_code bind_dims(const char *path, const tool_options *options, arenaut_program *program);

/* --shapes: sizes of tensors that nothing else tells. */
exit_code read_shapes(const char *file, arenaut_program *program);

/* EXIT_INPUT, naming those that have no value, if tensors have no size for want of them. */
exit_code check_dims(const char *path, const arenaut_program *program);

/* A note that names tensors without a size, which are not planned. */
void note_unsized(const char *path, const arenaut_program *program);

#endif
