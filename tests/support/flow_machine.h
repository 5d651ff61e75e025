/* Holds planning of programs, from passes to plans, against running them. */
#ifndef SUPPORT_FLOW_MACHINE_H
#define SUPPORT_FLOW_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/lowering.h>

/* Counts of its work, so that a test can tell that the machine did not idle. */
typedef struct flow_counts {
    uint64_t programs, lowered, plans, runs;
    uint64_t wrong_plans; /* made by moving one buffer */
    uint64_t wrong_runs;  /* of these, how many ran differently */
    uint64_t rejected;    /* and how many the checker rejected */
} flow_counts;

/* Something to spoil in a lowering before it is planned; NULL: nothing. For tests of the
 * machine itself. */
typedef void (*flow_sabotage)(void *context, arenaut_lowering *lowering);

/* Makes the program of `seed`, takes it through several choices of passes, targets and all
 * planners, and runs each plan on several paths beside the same program with memory of its own for
 * every tensor. The checker must accept the plans, and reject those made wrong wherever they run
 * differently. NULL if all is as it must be; else the fault, freed by the caller. */
char *flow_machine_try(uint64_t seed, flow_sabotage sabotage, void *context, flow_counts *counts);

#endif
