/* Live ranges of storages, on the time axis of all methods that run: live_ranges.c has its
 * length, and the ranges in methods without jumps, live_flow.c in those whose ops jump or
 * move, with live_moves.c for aliases. */
#ifndef ARN_ANALYSIS_LIVE_RANGES_H
#define ARN_ANALYSIS_LIVE_RANGES_H

#include <arenaut/lowering.h>

#include "core/memory.h"

enum { ARN_MAX_STEPS = 1 << 24 };

/* Facts about a storage, as a bit set. */
enum {
    ARN_NO_BUFFER = 1 << 0,    /* constant, empty, or in memory that is not the arena's */
    ARN_NOT_CONSTANT = 1 << 1, /* at least one of the tensors of its name is no constant */
    ARN_ALWAYS_ALIVE = 1 << 2, /* state, or shared between methods by name */
    ARN_RESULT = 1 << 3,       /* holds an output of a method */
    ARN_ENTRY_INPUT = 1 << 4,
    ARN_ENTRY_OUTPUT = 1 << 5,
    ARN_ALIASED = 1 << 6, /* an alias may point to it: see live_moves.c */
    ARN_RUNS = 1 << 7,    /* belongs to a method that runs, or to no single one */
};

/* Tensors that are one buffer: views with their bases, and state of one name. */
typedef struct arn_storage {
    uint32_t *of;    /* per tensor: the tensor that stands for its storage */
    uint8_t *facts;  /* per such tensor */
    uint64_t *align; /* per such tensor: the largest that its own and its views' users ask for */
} arn_storage;

/* Live ranges of storages, and the events of the steps. */
typedef struct arn_lives {
    uint32_t *start;        /* n_tensors + 1: storage s owns life[start[s] .. start[s + 1]) */
    arenaut_interval *life; /* in order */
    uint32_t n_steps;
    arenaut_step *steps; /* with room for all */
} arn_lives;

/* A life that is over. */
typedef struct arn_life {
    uint32_t storage;
    arenaut_interval life;
} arn_life;

typedef struct arn_life_list {
    arn_life *lives; /* in order of time, for each storage */
    uint32_t n, capacity;
} arn_life_list;

typedef struct arn_live {
    const arenaut_program *program;
    /* Rules of the runtime, as in arenaut_target; `calls_apart` as in arenaut_lowering_options. */
    bool merge_calls, keep_inputs, keep_outputs, calls_apart;
    bool *runs;  /* per method: it is an entry, or called from one */
    bool *apart; /* per method: only plain calls run it, each with lives of its own */
    arn_storage storage;
    arn_lives lives;
    /* Per storage: the one that it was merged into, itself if none; and the next member of the
     * merged ones, round to itself. NULL: none is merged. See live_moves.c. */
    uint32_t *merged_into, *next_merged;
    arn_region *region; /* of the results */
    arenaut_allocator allocator;
    arenaut_error *err;
} arn_live;

/* The number of steps, live->runs and ->apart; UNSUPPORTED past ARN_MAX_STEPS. */
arenaut_status arn_live_count_steps(arn_live *live, uint32_t *n_steps);

/* Fills live->lives, once storages are known; merges some of these. */
arenaut_status arn_live_ranges_find(arn_live *live);

/* Adds the live ranges of storages of a method whose ops jump or move, with its first step
 * `start`. */
arenaut_status arn_live_flow(arn_live *live, uint32_t method, uint32_t start, arn_life_list *lives);
/* False if there is no memory. */
bool arn_live_push(const arn_live *live, arn_life_list *lives, uint32_t storage,
                   arenaut_interval life);

#endif
