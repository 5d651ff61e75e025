/* A list of runs of a program's ops, some of them again, and what is alive at each. Storages have
 * *instances*: the first is what the program has, each further one comes with an op that runs
 * again. An op reads the latest. */
#ifndef ARN_REWRITE_RECOMPUTE_RUNS_H
#define ARN_REWRITE_RECOMPUTE_RUNS_H

#include <arenaut/lowering.h>
#include <arenaut/order.h>
#include <arenaut/program.h>

#include "core/memory.h"

typedef struct arn_run {
    uint32_t op; /* of the program, after its passes */
    uint32_t of; /* it runs again, right before this op's first run; NONE: it runs first */
} arn_run;

/* What does not change with the list. */
typedef struct arn_runs_graph {
    const arenaut_program *program;
    const arenaut_lowering *lowering;
    const arenaut_order_problem *plain; /* sizes of buffers, and which are held */
    bool *changes;                      /* per op: it may write what it reads */
    uint32_t n_instances;               /* at most */
    uint32_t n_runs;                    /* likewise */
} arn_runs_graph;

/* A list and what is known of it. */
typedef struct arn_runs {
    arn_run *list;
    uint32_t n, n_again;
    uint32_t *latest;       /* per tensor: its instance, as far as the list was followed */
    uint32_t *buffer;       /* per instance: of which it is one */
    uint32_t *first, *last; /* per instance: its runs; none: first is NONE */
    uint32_t *first_run;    /* per op: NONE if it does not run */
    uint32_t *n_writes;     /* per tensor, if it is a storage: runs that write there, */
    uint32_t *first_write, *last_write; /* and which; of first runs only */
    uint64_t *load;                     /* per run */
    uint32_t n_instances;               /* as far as the list was followed */
    uint32_t n_made;                    /* in all of it */
    uint64_t peak;
    uint32_t at, n_at; /* the first run with that load, and how many have it */
} arn_runs;

/* All lists are the region's. False if there is no memory. */
bool arn_runs_make(const arn_runs_graph *graph, arn_region *region, arn_runs *runs);

/* NONE: it takes no bytes of the arena. */
static inline uint32_t arn_runs_buffer(const arn_runs_graph *graph, uint32_t tensor) {
    return tensor == ARENAUT_NONE ? tensor : graph->lowering->buffer[tensor];
}

/* Nothing has run; then run by run, of which each makes the latest of what it makes. */
void arn_runs_restart(const arn_runs_graph *graph, arn_runs *runs);
void arn_runs_step(const arn_runs_graph *graph, arn_runs *runs, uint32_t at);

/* Fills in all that is known of a list. */
void arn_runs_measure(const arn_runs_graph *graph, arn_runs *runs);

/* The input that output `output` is another name of, or an update; NONE: it has its own memory. */
uint32_t arn_runs_aliased(const arn_runs_graph *graph, const arenaut_op *op, uint32_t output);

#endif
