/* Live ranges in a method with ops that jump or move (live variable analysis): live_flow.c
 * gathers the reads and writes and finds the live range of each variable, live_moves.c handles
 * aliases, and has the list of ranges and the budget of the analysis.
 *
 * Positions count the steps of the method: 0 is its start, op i is at i + 1. Variables are
 * storages, and *aliases*: tensors that others are moved to. An alias has no memory; while it is
 * alive, the memory that it may point to is. */
#ifndef ARN_ANALYSIS_LIVE_FLOW_H
#define ARN_ANALYSIS_LIVE_FLOW_H

#include "analysis/basic_blocks.h"
#include "analysis/live_ranges.h"

enum {
    ARN_MAX_LIVE_RANGES = 1 << 24, /* within one method */
    ARN_MAX_FLOW_WORK = 1 << 26
};

/* A read or write of a variable at a position. An op reads before it writes. */
typedef struct arn_event {
    uint32_t variable; /* a storage; n_tensors + t: tensor t, an alias */
    uint32_t position; /* that of the end is one past the last op's */
    bool writes;       /* all of it, which ends its old value; else: reads */
} arn_event;

/* A stretch of positions at which a storage is alive. */
typedef struct arn_live_range {
    uint32_t storage;
    uint32_t first, end; /* positions */
    bool moved;          /* through an alias */
} arn_live_range;

typedef struct arn_flow {
    arn_live *live;
    const arenaut_method *method;
    uint32_t number; /* of the method */
    arn_region region;
    arn_blocks blocks;
    arn_event *events; /* sorted by variable, then position */
    arn_live_range *ranges;
    uint32_t n_events, event_capacity, n_ranges, range_capacity;
    uint32_t *moves, n_moves; /* ops, sorted by destination */
    bool *own_memory;         /* per move: its destination's own memory is used too */
    bool aliases_are_written; /* by ops that are no moves */
    /* Per block, of the variable looked at; `turn` counts variables, so an entry is set if it has
     * the present turn. */
    uint32_t turn;
    uint32_t *live_out;    /* turn: the value at the end of the block is read after it */
    uint32_t *has_events;  /* turn */
    uint32_t *first_event; /* the first of them */
    uint32_t *passed;      /* the move of which live_moves.c came through here last, plus 1 */
    uint32_t *stack;
    uint64_t work;
    arenaut_status status; /* the first thing that went wrong */
} arn_flow;

/* Adds the ranges in which an alias keeps memory alive, for each move to it. Its events are
 * [begin, end), and this is its turn. */
void arn_live_flow_alias(arn_flow *flow, uint32_t begin, uint32_t end);
/* Makes storages that are moved to one alias the same, where they do not meet before. The ranges
 * are sorted by storage. */
void arn_live_flow_merge(arn_flow *flow);
/* Of the moves to this tensor, the first; n_moves if there is none. */
uint32_t arn_live_first_move(const arn_flow *flow, uint32_t tensor);

void arn_live_flow_add(arn_flow *flow, uint32_t storage, uint32_t first, uint32_t end, bool moved);
/* Counts work; false, with the status set, when there has been too much. */
bool arn_live_flow_work(arn_flow *flow, uint64_t amount);

static inline uint32_t arn_live_destination(const arn_flow *flow, uint32_t move) {
    return flow->live->program->ops[flow->moves[move]].outputs[0];
}

#endif
