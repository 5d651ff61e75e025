/* Random programs whose results can be computed: every read finds a value, on every path. For the
 * machine that runs programs on the memory that a plan gives them. */
#ifndef SUPPORT_FLOW_PROGRAM_H
#define SUPPORT_FLOW_PROGRAM_H

#include <arenaut/program.h>

/* A valid program, the same for the same seed; the caller frees it. It has entries (one or two),
 * methods that they call, branches, loops, jumps with moves, state of one method and shared by
 * name, views, in-place pairs and updates, explicit allocations, scratch, delegates, several
 * results, devices; or it is a graph before lowering, whose signature says which results are the
 * new values of states.
 *
 * An op's `source` encodes its computation: "ew:DIGITS#N". N is the op; the digits are the inputs
 * that it reads element by element, each before it writes there; others it reads in any order. */
arenaut_program *flow_program(uint64_t seed);

#endif
