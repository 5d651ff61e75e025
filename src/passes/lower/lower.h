/* The state that the parts of lowering share: count.c has the length of the schedule, storage.c the
 * storages, walk.c their live ranges (flow.c in methods whose ops jump or move), pools.c their
 * pools, reuse.c the rights to overwrite, streams.c the conflicts of ops that may run at the same
 * time; lowering.c puts them together. */
#ifndef ARN_PASSES_LOWER_H
#define ARN_PASSES_LOWER_H

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
    ARN_ALIASED = 1 << 6, /* an alias may point to it: see moves.c */
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
    arenaut_step *steps; /* lives in the lowering */
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

/* Dependences between the ops of concurrent methods: see streams.c. */
typedef struct arn_order arn_order;

/* The input of every part, and the region of their results. */
typedef struct arn_lower {
    const arenaut_program *program;
    const arenaut_target *target;
    arenaut_lowering_options options;
    arenaut_allocator allocator;
    arn_region scratch; /* gone when the problem is made */
    bool *runs;         /* per method: it is an entry, or called from one */
    bool *apart;        /* per method: only plain calls run it, each with lives of its own */
    arn_storage storage;
    arn_lives lives;
    /* Per storage: the one that it was merged into, itself if none; and the next member of the
     * merged ones, round to itself. NULL: none is merged. See moves.c. */
    uint32_t *merged_into, *next_merged;
    /* Per storage, where the target wants the order of the ops (else NULL): how many are made
     * before it, counted from 1 (0: nothing makes it), and the operand that it is where it is
     * read last. */
    uint32_t *made, *release;
    arn_order *orders; /* of the concurrent methods, one linked to the next */
    uint64_t *pools;   /* per storage: those it may lie in, as a bit set; 0: it needs none */
    arenaut_error *err;
} arn_lower;

arenaut_status arn_lower_storage(arn_lower *lower);
/* The number of steps, lower->runs and ->apart; UNSUPPORTED past ARN_MAX_STEPS. */
arenaut_status arn_lower_count(arn_lower *lower, uint32_t *n_steps);
/* The number of calls that an op makes in the schedule: a plain call names its method twice. */
uint32_t arn_lower_n_calls(const arn_lower *lower, const arenaut_op *op);
/* Fills lower->lives; lives.steps has room for all steps already. */
arenaut_status arn_lower_walk(arn_lower *lower);

/* Whether ops of the method jump or move. */
bool arn_lower_has_flow(const arenaut_program *program, uint32_t method);
/* Adds the lives of storages of such a method, with its first step `start`. */
arenaut_status arn_lower_flow(arn_lower *lower, uint32_t method, uint32_t start,
                              arn_life_list *lives);
/* False if there is no memory. */
bool arn_lower_life_push(const arn_lower *lower, arn_life_list *lives, uint32_t storage,
                         arenaut_interval life);

/* Adds the pools to the problem and fills lower->pools; REFUSED naming a tensor for which
 * there is none. */
arenaut_status arn_lower_pools(arn_lower *lower, arenaut_problem *problem);

/* Finds the dependences of concurrent methods, once storages are known; UNSUPPORTED for methods
 * that do more than compute, or are too large. */
arenaut_status arn_lower_order(arn_lower *lower);
/* Whether all other ops that touch the storage are over when `op` begins, as far as they are of
 * its method and that is concurrent. */
bool arn_lower_ends_with(const arn_lower *lower, uint32_t storage, uint32_t op);
/* Adds edges between buffers of concurrent methods whose lives do not meet in the sequence of
 * the ops, but may meet in another one. */
arenaut_status arn_lower_streams(arn_lower *lower, const uint32_t *buffer_of,
                                 arenaut_problem *problem);

/* base[s]: the storage that s may be written over, or ARENAUT_NONE; each is the base of at
 * most one other. Needs lives and pools. */
arenaut_status arn_lower_reuse(arn_lower *lower, const uint32_t **base);

/* Adds a separation for each overlap of an op that holds for whole buffers. Likewise. */
arenaut_status arn_lower_overlaps(arn_lower *lower, const uint32_t *buffer_of,
                                  arenaut_problem *problem);

/* Whether the successor depends on a value. */
static inline bool arn_lower_is_branch(arenaut_op_kind kind) {
    return kind == ARENAUT_OP_IF || kind == ARENAUT_OP_WHILE || kind == ARENAUT_OP_LOOP ||
           kind == ARENAUT_OP_JUMP_FALSE;
}

static inline bool arn_lower_is_touched(const arn_lower *lower, uint32_t storage) {
    return (lower->storage.facts[storage] & ARN_ALWAYS_ALIVE) ||
           lower->lives.start[storage + 1] > lower->lives.start[storage];
}

/* Whether a tensor stands for a storage that is a buffer of the problem. */
static inline bool arn_lower_has_buffer(const arn_lower *lower, uint32_t tensor) {
    return lower->storage.of[tensor] == tensor && !(lower->storage.facts[tensor] & ARN_NO_BUFFER) &&
           (arn_lower_is_touched(lower, tensor) || !lower->target->skip_untouched);
}

static inline bool arn_lower_keeps_inputs(const arn_lower *lower) {
    return lower->target->keep_inputs || lower->options.preserve_inputs;
}

#endif
