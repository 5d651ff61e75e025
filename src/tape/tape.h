/* State that the files of the tape share. */
#ifndef ARN_TAPE_TAPE_H
#define ARN_TAPE_TAPE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <arenaut/tape.h>

#include "tape/addresses.h"

typedef struct arn_tape_block {
    arenaut_tape_block recorded;
    uint64_t offset; /* in the arena, if planned */
    bool planned;
    atomic_uint out; /* so many times handed out from the arena, and not released. Counts past
                      * 1 when the caller keeps the block of an earlier run */
} arn_tape_block;

/* An event is a request or a release of a block. */
static inline uint32_t arn_event(uint32_t block, bool release) { return block << 1 | release; }
static inline uint32_t arn_event_block(uint32_t event) { return event >> 1; }
static inline bool arn_event_releases(uint32_t event) { return event & 1; }

typedef enum arn_tape_state { ARN_TAPE_IDLE, ARN_TAPE_RECORDING, ARN_TAPE_PLAYING } arn_tape_state;

struct arenaut_tape {
    arenaut_allocator allocator;
    arenaut_tape_options options;
    arn_tape_state state;

    /* The recording. */
    arn_tape_block *blocks;
    uint32_t n_blocks, block_capacity;
    uint32_t *events;
    uint32_t n_events, event_capacity;
    int64_t clock; /* the time of the next request or tick */
    arn_tape_addresses live;
    bool recorded, lost; /* lost: there was no memory to note all down */

    /* The plan. */
    uint64_t arena, bound, align;
    bool planned;
    unsigned char *base;
    uint32_t *kept; /* the blocks that are kept, for releases between runs */
    uint32_t n_kept;

    /* The run that is played. */
    uint32_t next;
    bool astray;
    char difference[200]; /* the first difference */
    atomic_uint outstanding;
    atomic_uint strays; /* of these, blocks that are not kept: none between runs, normally */
    arenaut_tape_counts counts;
};

/* record.c */
void *arn_tape_note_request(arenaut_tape *tape, uint64_t size, uint64_t align);
void arn_tape_note_release(arenaut_tape *tape, void *block);
void arn_tape_forget_recording(arenaut_tape *tape);

/* play.c */
void *arn_tape_serve(arenaut_tape *tape, uint64_t size, uint64_t align);
void arn_tape_take_back(arenaut_tape *tape, void *block);
void arn_tape_go_astray(arenaut_tape *tape, const char *difference);
arenaut_status arn_tape_end_playing(arenaut_tape *tape, arenaut_error *err);

/* tape_plan.c */
void arn_tape_forget_plan(arenaut_tape *tape);

static inline void *arn_tape_heap_allocate(const arenaut_tape *tape, uint64_t size,
                                           uint64_t align) {
    return tape->options.heap.allocate(tape->options.heap.context, size, align);
}

#endif
