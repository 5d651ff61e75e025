/* The tape itself: made and freed, runs begun and ended. Requests go to record.c, to play.c or to
 * the heap, depending on the state of the tape. */
#include "tape/tape.h"

#include <stdlib.h>

#include "core/aligned.h"
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"

enum { DEFAULT_ALIGN = 64 };

static void *c_library_allocate(void *context, uint64_t size, uint64_t align) {
    (void)context;
    if (size > SIZE_MAX || align > SIZE_MAX) return NULL;
    return arn_aligned_allocate((size_t)size, (size_t)align);
}

static void c_library_release(void *context, void *block) {
    (void)context;
    arn_aligned_free(block);
}

arenaut_status arenaut_tape_new(const arenaut_tape_options *options,
                                const arenaut_allocator *allocator, arenaut_tape **out,
                                arenaut_error *err) {
    arenaut_tape_options chosen = {{NULL, NULL, NULL}, 0, 0, false, false};
    if (options) chosen = *options;
    if (chosen.align == 0) chosen.align = DEFAULT_ALIGN;
    if (!arn_is_power_of_two(chosen.align)) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0, "alignment %llu is not a power of two",
                        (unsigned long long)chosen.align);
    }
    if (!chosen.heap.allocate != !chosen.heap.release) {
        return arn_fail(err, ARENAUT_BAD_ARGUMENT, 0,
                        "a heap needs both functions, allocate and release, or neither");
    }
    if (!chosen.heap.allocate) {
        chosen.heap = (arenaut_tape_heap){c_library_allocate, c_library_release, NULL};
    }
    arenaut_tape *tape = arn_allocate_zeroed(allocator, 1, sizeof *tape);
    if (!tape) return arn_no_memory(err);
    tape->allocator = arn_allocator_or_default(allocator);
    tape->options = chosen;
    *out = tape;
    return ARENAUT_OK;
}

void arenaut_tape_free(arenaut_tape *tape) {
    if (!tape) return;
    const arenaut_allocator allocator = tape->allocator;
    arn_tape_forget_plan(tape);
    arn_tape_forget_recording(tape);
    arn_release(&allocator, tape);
}

static arenaut_status refuse_during_run(const arenaut_tape *tape, arenaut_error *err) {
    if (tape->state == ARN_TAPE_IDLE) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0, "the tape is %s; end that run first",
                    tape->state == ARN_TAPE_RECORDING ? "recording" : "playing");
}

static arenaut_status refuse_while_out(const arenaut_tape *tape, arenaut_error *err) {
    const uint32_t out = arenaut_tape_outstanding(tape);
    if (out == 0) return ARENAUT_OK;
    return arn_fail(err, ARENAUT_REFUSED, 0,
                    "%u blocks of the bound memory are still out; release them first", out);
}

arenaut_status arenaut_tape_record(arenaut_tape *tape, arenaut_error *err) {
    arenaut_status st = refuse_during_run(tape, err);
    if (st == ARENAUT_OK) st = refuse_while_out(tape, err);
    if (st != ARENAUT_OK) return st;
    arn_tape_forget_plan(tape);
    arn_tape_forget_recording(tape);
    tape->state = ARN_TAPE_RECORDING;
    return ARENAUT_OK;
}

arenaut_status arenaut_tape_play(arenaut_tape *tape, arenaut_error *err) {
    const arenaut_status st = refuse_during_run(tape, err);
    if (st != ARENAUT_OK) return st;
    if (!tape->base) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "nothing can be played: the tape has no %s",
                        tape->planned ? "memory bound" : "plan");
    }
    tape->state = ARN_TAPE_PLAYING;
    tape->next = 0;
    tape->astray = false;
    tape->counts.runs++;
    /* The caller may still use blocks of an earlier run, which this one would overwrite. */
    if (atomic_load(&tape->strays) != 0)
        arn_tape_go_astray(tape, "blocks of an earlier run are out");
    return ARENAUT_OK;
}

arenaut_status arenaut_tape_end(arenaut_tape *tape, arenaut_error *err) {
    const arn_tape_state state = tape->state;
    tape->state = ARN_TAPE_IDLE;
    if (state == ARN_TAPE_PLAYING) return arn_tape_end_playing(tape, err);
    if (state == ARN_TAPE_IDLE) {
        return arn_fail(err, ARENAUT_REFUSED, 0, "there is no run to end: begin one first");
    }
    if (tape->lost) {
        arn_tape_forget_recording(tape);
        return arn_no_memory(err);
    }
    tape->recorded = true;
    return ARENAUT_OK;
}

void *arenaut_tape_allocate(arenaut_tape *tape, uint64_t size, uint64_t align) {
    if (align == 0) align = 1;
    const bool noted = tape->state != ARN_TAPE_IDLE && size != 0 && size >= tape->options.min_size;
    if (!noted) return arn_tape_heap_allocate(tape, size, align);
    return tape->state == ARN_TAPE_PLAYING ? arn_tape_serve(tape, size, align)
                                           : arn_tape_note_request(tape, size, align);
}

void arenaut_tape_release(arenaut_tape *tape, void *block) {
    if (!block) return;
    if (arenaut_tape_owns(tape, block)) {
        if (tape->state == ARN_TAPE_PLAYING) arn_tape_take_back(tape, block);
        else arenaut_tape_release_elsewhere(tape, block);
        return;
    }
    if (tape->state == ARN_TAPE_RECORDING) arn_tape_note_release(tape, block);
    tape->options.heap.release(tape->options.heap.context, block);
}

void arenaut_tape_count(const arenaut_tape *tape, arenaut_tape_counts *counts) {
    *counts = tape->counts;
    counts->blocks = tape->n_blocks;
    counts->kept = tape->n_kept;
}
