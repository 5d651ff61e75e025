/* An iteration with everything around it, and a small executor that writes every result and
 * looks at every operand again before it reads it. */
#ifndef SUPPORT_ITERATION_BENCH_H
#define SUPPORT_ITERATION_BENCH_H

#include <arenaut/runtime_plan.h>

#include "support/memory_source.h"

enum { BENCH_VALUES = 40 };

typedef struct bench {
    arenaut_value value[BENCH_VALUES];
    size_t size[BENCH_VALUES]; /* requests of the executor */
    arenaut_iteration_config config;
    arenaut_iteration_planner planner;
    memory_source memory, arena; /* the default source, and that of planned buffers */
    arenaut_iteration *it;
    void *room;
} bench;

/* n managed values of 100, 200, ... bytes, each alive from its own step to the next one, and
 * a config for them; change what a test is about, then make it. */
void bench_lay_out(bench *b, uint32_t n);
void bench_make(bench *b);
/* Closes the iteration; nothing may be left in either source. */
void bench_finish(bench *b);

/* Between allocate and deallocate: writes each managed value at its first step, finds it
 * whole at every step to its last. */
void bench_execute(bench *b);
void bench_run(bench *b); /* allocate, execute, deallocate */
void bench_release(bench *b);
/* A held output still has the bytes that were written. */
void bench_assert_output(const bench *b, uint32_t v);

#endif
