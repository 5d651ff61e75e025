/* Lowering small programs, and asking about tensors by name. */
#ifndef SUPPORT_LOWERINGS_H
#define SUPPORT_LOWERINGS_H

#include <arenaut/lowering.h>

/* These fail the test rather than return an error. The caller frees the lowering. */
arenaut_lowering *lower_for(const arenaut_program *program, const arenaut_target *target,
                            const arenaut_lowering_options *options);
/* For the target of this name, with default options. */
arenaut_lowering *lower_program(const arenaut_program *program, const char *target);

void free_lowering(arenaut_lowering *lowering, arenaut_program *program); /* and its program */

/* The buffer that is named like this; ARENAUT_NONE if there is none. */
uint32_t buffer_named(const arenaut_lowering *lowering, const char *name);

/* The buffer's lifetimes are exactly these: "[0,3)" or "[0,2) [5,6)"; "none" if there is no
 * such buffer. */
void expect_life(const arenaut_lowering *lowering, const char *name, const char *expected);

/* `child` may be written over `base`, or over nothing if that is NULL. */
void expect_base(const arenaut_lowering *lowering, const char *child, const char *base);

#endif
