/* Small problems: written out in a test, or drawn at random. */
#ifndef SUPPORT_PROBLEMS_H
#define SUPPORT_PROBLEMS_H

#include <arenaut/planner.h>
#include <arenaut/problem.h>

#include "support/random.h"

/* A buffer with one lifetime, as in most tests. */
typedef struct box {
    uint64_t size;
    int64_t first, end;
} box;

/* These fail the test rather than return an error. The caller frees the problem. */
arenaut_problem *new_problem(void);
uint32_t add_box(arenaut_problem *problem, uint64_t size, int64_t first, int64_t end);
uint32_t add_buffer(arenaut_problem *problem, const arenaut_buffer *buffer);
/* ADD_BUFFER(problem, .size = 8, LIFE(0, 2), .align = 16): fields that are not named are zero. */
#define ADD_BUFFER(problem, ...) add_buffer(problem, &(const arenaut_buffer){__VA_ARGS__})
#define LIFE(...) LIVES({__VA_ARGS__})
#define LIVES(...)                                        \
    .lifetimes = (const arenaut_interval[]){__VA_ARGS__}, \
    .n_lifetimes = sizeof((const arenaut_interval[]){__VA_ARGS__}) / sizeof(arenaut_interval)
uint32_t add_pool(arenaut_problem *problem, const char *name, uint64_t capacity, uint64_t align);
/* `upper` lies above `lower` so far at least, or they are apart. */
void separate(arenaut_problem *problem, uint32_t upper, uint32_t lower, int64_t distance);
/* Gives the pool another capacity, of which whole multiples of its alignment count. */
void limit_pool(arenaut_problem *problem, uint32_t pool, uint64_t capacity);
void finish(arenaut_problem *problem);
/* new_problem, add_box for each and finish. */
arenaut_problem *problem_of(const box *boxes, size_t n);

typedef struct problem_shape {
    uint32_t max_buffers; /* at least 1 buffer, at most so many */
    uint32_t max_size;    /* bytes; sizes of 0 occur */
    uint32_t max_steps;   /* length of the time axis; empty lifetimes occur */
    uint32_t features;    /* ARENAUT_FEATURE_* that may occur */
} problem_shape;

/* A valid, finished problem. Capacities, pins and reserved ranges are drawn blindly, so it
 * may have no solution. */
arenaut_problem *random_problem(rng *r, const problem_shape *shape);

#endif
