/* Recorder of a tape: every request and release of a run, with its time. The run gets its memory
 * from the heap meanwhile; an event costs a hashed address and an entry in an array. */
#include <arenaut/problem.h>

#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "tape/tape.h"

/* An event keeps the block's number in 31 bits. */
enum { MAX_BLOCKS = INT32_MAX };

static bool note_event(arenaut_tape *tape, uint32_t block, bool release) {
    if (!arn_grow(&tape->allocator, (void **)&tape->events, &tape->event_capacity,
                  (uint64_t)tape->n_events + 1, sizeof *tape->events)) {
        return false;
    }
    tape->events[tape->n_events++] = arn_event(block, release);
    return true;
}

static bool note_block(arenaut_tape *tape, const void *at, uint64_t size, uint64_t align) {
    if (tape->n_blocks == MAX_BLOCKS ||
        !arn_grow(&tape->allocator, (void **)&tape->blocks, &tape->block_capacity,
                  (uint64_t)tape->n_blocks + 1, sizeof *tape->blocks) ||
        !arn_tape_addresses_add(&tape->live, &tape->allocator, at, tape->n_blocks) ||
        !note_event(tape, tape->n_blocks, false)) {
        return false;
    }
    arn_tape_block *block = &tape->blocks[tape->n_blocks++];
    *block = (arn_tape_block){.recorded = {.size = size, .align = align, .first = tape->clock++}};
    atomic_init(&block->out, 0);
    return true;
}

/* The run gets its memory even where there is none left to note it down. */
void *arn_tape_note_request(arenaut_tape *tape, uint64_t size, uint64_t align) {
    void *at = arn_tape_heap_allocate(tape, size, align);
    if (at && !tape->lost) {
        tape->lost = size > ARENAUT_SIZE_MAX || !arn_is_power_of_two(align) ||
                     !note_block(tape, at, size, align);
    }
    return at;
}

/* A release takes no time of its own: several in a row end at the same moment, that of the next
 * request or tick. Blocks from before the recording are not noted. */
void arn_tape_note_release(arenaut_tape *tape, void *block) {
    const uint32_t id = arn_tape_addresses_remove(&tape->live, block);
    if (id == ARENAUT_NONE) return;
    tape->blocks[id].recorded.released = true;
    tape->blocks[id].recorded.end = tape->clock;
    if (!note_event(tape, id, true)) tape->lost = true;
}

void arn_tape_forget_recording(arenaut_tape *tape) {
    ARN_RELEASE(&tape->allocator, tape->blocks, tape->events);
    arn_tape_addresses_free(&tape->live, &tape->allocator);
    tape->blocks = NULL;
    tape->events = NULL;
    tape->n_blocks = tape->block_capacity = tape->n_events = tape->event_capacity = 0;
    tape->clock = 0;
    tape->recorded = tape->lost = false;
}

int64_t arenaut_tape_tick(arenaut_tape *tape) {
    return tape->state == ARN_TAPE_RECORDING ? tape->clock++ : tape->clock;
}

uint32_t arenaut_tape_block_count(const arenaut_tape *tape) { return tape->n_blocks; }

bool arenaut_tape_block_at(const arenaut_tape *tape, uint32_t index, arenaut_tape_block *block) {
    if (index >= tape->n_blocks) return false;
    *block = tape->blocks[index].recorded;
    if (!block->released) block->end = tape->clock + 1;
    return true;
}

uint32_t arenaut_tape_find(const arenaut_tape *tape, const void *address) {
    return arn_tape_addresses_find(&tape->live, address);
}

arenaut_status arenaut_tape_keep(arenaut_tape *tape, uint32_t block, arenaut_error *err) {
    if (block >= tape->n_blocks) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "there is no block %u: %u were recorded",
                        block, tape->n_blocks);
    }
    if (tape->blocks[block].recorded.released) {
        return arn_fail(
            err, ARENAUT_BAD_ARGUMENT, 0,
            "block %u was released within the run: only a block that outlives it can be kept",
            block);
    }
    if (tape->planned) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "the tape is planned: kept blocks are decided");
    }
    tape->blocks[block].recorded.kept = true;
    return ARENAUT_OK;
}

/* The same events at the same times: then sizes are all that can differ. */
static bool same_flow(const arenaut_tape *a, const arenaut_tape *b) {
    if (a->n_events != b->n_events || a->n_blocks != b->n_blocks || a->clock != b->clock) {
        return false;
    }
    for (uint32_t e = 0; e < a->n_events; e++) {
        if (a->events[e] != b->events[e]) return false;
    }
    for (uint32_t k = 0; k < a->n_blocks; k++) {
        const arenaut_tape_block *x = &a->blocks[k].recorded, *y = &b->blocks[k].recorded;
        if (x->first != y->first || x->end != y->end || x->kept != y->kept) return false;
    }
    return true;
}

arenaut_status arenaut_tape_absorb(arenaut_tape *tape, const arenaut_tape *other,
                                   arenaut_error *err) {
    if (!tape->recorded || !other->recorded || tape->planned) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "sizes are taken over between two recordings, before planning");
    }
    if (!same_flow(tape, other)) {
        return arn_fail(err, ARENAUT_REFUSED, 0,
                        "the recordings differ in more than sizes (%u and %u blocks)",
                        tape->n_blocks, other->n_blocks);
    }
    for (uint32_t k = 0; k < tape->n_blocks; k++) {
        arenaut_tape_block *mine = &tape->blocks[k].recorded;
        const arenaut_tape_block *theirs = &other->blocks[k].recorded;
        mine->size = arn_max_u64(mine->size, theirs->size);
        mine->align = arn_max_u64(mine->align, theirs->align);
    }
    return ARENAUT_OK;
}
