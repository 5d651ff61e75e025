/* Playback of a tape: each request and release must be the one that was recorded next. A request
 * costs a look at one event; only blocks that are kept over runs, or released by other threads, are
 * searched for. */
#include <stdio.h>

#include <arenaut/problem.h>

#include "core/checked.h"
#include "core/fail.h"
#include "tape/tape.h"

bool arenaut_tape_owns(const arenaut_tape *tape, const void *block) {
    /* Integers, because pointers into different objects must not be compared. */
    const uintptr_t at = (uintptr_t)block, base = (uintptr_t)tape->base;
    return tape->base && at >= base && at - base < tape->arena;
}

uint32_t arenaut_tape_outstanding(const arenaut_tape *tape) {
    return atomic_load(&tape->outstanding);
}

/* The first difference ends the playing of the run: from there on nothing comes from the arena, so
 * all blocks handed out stay whole. */
void arn_tape_go_astray(arenaut_tape *tape, const char *difference) {
    if (tape->astray) return;
    tape->astray = true;
    snprintf(tape->difference, sizeof tape->difference, "%s", difference);
}

static void differs_in_request(arenaut_tape *tape, uint64_t size, uint64_t align) {
    char text[sizeof tape->difference];
    const unsigned long long asked = size, aligned = align;
    if (tape->next == tape->n_events) {
        snprintf(text, sizeof text, "one more request, for %llu bytes, after all that was recorded",
                 asked);
    } else if (arn_event_releases(tape->events[tape->next])) {
        snprintf(text, sizeof text, "a request for %llu bytes where block %u was released", asked,
                 arn_event_block(tape->events[tape->next]));
    } else {
        const uint32_t b = arn_event_block(tape->events[tape->next]);
        snprintf(text, sizeof text,
                 "request %u is for %llu bytes aligned to %llu, recorded were %llu aligned to %llu",
                 b, asked, aligned, (unsigned long long)tape->blocks[b].recorded.size,
                 (unsigned long long)tape->blocks[b].recorded.align);
    }
    arn_tape_go_astray(tape, text);
}

/* The block that is asked for, if it is the recorded one; else NULL. */
static arn_tape_block *expected(const arenaut_tape *tape, uint64_t size, uint64_t align) {
    if (tape->next == tape->n_events) return NULL;
    const uint32_t event = tape->events[tape->next];
    if (arn_event_releases(event)) return NULL;
    arn_tape_block *block = &tape->blocks[arn_event_block(event)];
    const bool fits =
        tape->options.exact ? size == block->recorded.size : size <= block->recorded.size;
    return fits && align <= block->recorded.align ? block : NULL;
}

void *arn_tape_serve(arenaut_tape *tape, uint64_t size, uint64_t align) {
    arn_tape_block *block = tape->astray ? NULL : expected(tape, size, align);
    if (!block) {
        if (!tape->astray) differs_in_request(tape, size, align);
        if (tape->options.strict) return NULL;
        tape->counts.fallbacks++;
        return arn_tape_heap_allocate(tape, size, align);
    }
    tape->next++;
    if (!block->planned) {
        tape->counts.heap++;
        return arn_tape_heap_allocate(tape, size, align);
    }
    tape->counts.served++;
    atomic_fetch_add(&block->out, 1);
    atomic_fetch_add(&tape->outstanding, 1);
    if (!block->recorded.kept) atomic_fetch_add(&tape->strays, 1);
    return tape->base + block->offset;
}

/* Whether one more of this block was out; it is no longer. Any thread. */
static bool take_one(arenaut_tape *tape, arn_tape_block *block) {
    unsigned out = atomic_load(&block->out);
    do {
        if (out == 0) return false;
    } while (!atomic_compare_exchange_weak(&block->out, &out, out - 1));
    if (!block->recorded.kept) atomic_fetch_sub(&tape->strays, 1);
    atomic_fetch_sub(&tape->outstanding, 1); /* last: the memory may go away with it */
    return true;
}

static bool is_out_at(const arenaut_tape *tape, uint32_t b, uint64_t offset) {
    const arn_tape_block *block = &tape->blocks[b];
    return block->planned && block->offset == offset && atomic_load(&block->out) != 0;
}

/* A kept block, of this run or an earlier one, that lies at `offset`. */
static uint32_t kept_at(const arenaut_tape *tape, uint64_t offset) {
    for (uint32_t k = 0; k < tape->n_kept; k++) {
        if (is_out_at(tape, tape->kept[k], offset)) return tape->kept[k];
    }
    return ARENAUT_NONE;
}

static uint64_t offset_of(const arenaut_tape *tape, const void *address) {
    return (uint64_t)((const unsigned char *)address - tape->base);
}

uint64_t arenaut_tape_size_at(const arenaut_tape *tape, const void *address) {
    uint64_t size = 0;
    if (!arenaut_tape_owns(tape, address)) return size;
    for (uint32_t b = 0; b < tape->n_blocks; b++) {
        /* Two at one place: one of an earlier run, kept, and one of this. Both have their bytes. */
        if (!is_out_at(tape, b, offset_of(tape, address))) continue;
        size = arn_max_u64(size, tape->blocks[b].recorded.size);
    }
    return size;
}

void arenaut_tape_release_elsewhere(arenaut_tape *tape, void *block) {
    if (!block) return;
    if (!arenaut_tape_owns(tape, block)) {
        tape->options.heap.release(tape->options.heap.context, block);
        return;
    }
    const uint64_t offset = offset_of(tape, block);
    const uint32_t kept = kept_at(tape, offset);
    if (kept != ARENAUT_NONE && take_one(tape, &tape->blocks[kept])) return;
    for (uint32_t b = 0; b < tape->n_blocks; b++) {
        if (is_out_at(tape, b, offset) && take_one(tape, &tape->blocks[b])) return;
    }
}

void arn_tape_take_back(arenaut_tape *tape, void *at) {
    const uint64_t offset = offset_of(tape, at);
    const uint32_t kept = kept_at(tape, offset);
    if (!tape->astray && tape->next < tape->n_events) {
        const uint32_t event = tape->events[tape->next];
        arn_tape_block *block = &tape->blocks[arn_event_block(event)];
        const bool is_next = arn_event_releases(event) && block->offset == offset;
        /* If a kept block of an earlier run had the same place, the two cannot be told apart: then
         * it is not taken for the expected one. */
        if (is_next && kept == ARENAUT_NONE && take_one(tape, block)) {
            tape->next++;
            return;
        }
        if (is_next || kept == ARENAUT_NONE) {
            arn_tape_go_astray(tape, "a block was released at another moment than recorded");
        }
    }
    arenaut_tape_release_elsewhere(tape, at);
}

arenaut_status arn_tape_end_playing(arenaut_tape *tape, arenaut_error *err) {
    if (tape->next != tape->n_events) {
        char text[sizeof tape->difference];
        snprintf(text, sizeof text, "the run ended after %u of %u requests and releases",
                 tape->next, tape->n_events);
        arn_tape_go_astray(tape, text);
    }
    tape->counts.last_astray = tape->astray;
    tape->counts.astray += tape->astray;
    if (!tape->astray || !tape->options.strict) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REJECTED, 0, "not the run that was recorded: %s",
                    tape->difference);
}
