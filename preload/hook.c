/* malloc's family, as the program sees it. A thread that is in a run asks the tape; a block in an
 * arena goes back to its tape; everything else is the C library's. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/hook.h>

#include "arenas.h"
#include "log.h"
#include "real.h"

/* The run of this thread. Initial-exec, so that looking at it never asks for memory; that is
 * allowed because the library is there from the start. */
typedef struct visit {
    arenaut_tape *tape; /* NULL: in no run */
    unsigned what;
} visit;

static _Thread_local visit here __attribute__((tls_model("initial-exec")));

/* The tape, if it is to be asked, for the length of one request: the tape's own requests meanwhile
 * bypass the hooks. */
static arenaut_tape *ask(unsigned what) { return here.what & what ? here.tape : NULL; }

static void *heap_allocate(void *context, uint64_t size, uint64_t align) {
    (void)context;
    void *block = NULL;
    if (size > SIZE_MAX) return NULL;
    if (align <= sizeof(void *)) return real_malloc((size_t)size);
    return real_posix_memalign(&block, (size_t)align, (size_t)size) == 0 ? block : NULL;
}

static void heap_release(void *context, void *block) {
    (void)context;
    real_free(block);
}

static void *list_allocate(void *context, size_t size) {
    (void)context;
    return real_malloc(size);
}

static void *list_reallocate(void *context, void *block, size_t old_size, size_t new_size) {
    (void)context;
    (void)old_size;
    return real_realloc(block, new_size);
}

const arenaut_allocator *arenaut_hook_allocator(void) {
    static const arenaut_allocator past_the_hooks = {list_allocate, list_reallocate, heap_release,
                                                     NULL};
    return &past_the_hooks;
}

void arenaut_hook_options(arenaut_tape_options *options) {
    options->heap = (arenaut_tape_heap){heap_allocate, heap_release, NULL};
}

arenaut_status arenaut_hook_enter(arenaut_tape *tape, unsigned what) {
    if (here.tape) return ARENAUT_BAD_ARGUMENT;
    here = (visit){tape, what};
    return ARENAUT_OK;
}

void arenaut_hook_leave(void) { here = (visit){NULL, 0}; }

arenaut_status arenaut_hook_play(arenaut_tape *tape, unsigned what, arenaut_error *err) {
    if (here.tape) return ARENAUT_BAD_ARGUMENT;
    const arenaut_status st = arenaut_tape_play(tape, err);
    return st == ARENAUT_OK ? arenaut_hook_enter(tape, what) : st;
}

bool arenaut_hook_end(arenaut_tape *tape) {
    arenaut_hook_leave();
    arenaut_tape_counts counts;
    const arenaut_status st = arenaut_tape_end(tape, NULL);
    arenaut_tape_count(tape, &counts);
    return st == ARENAUT_OK && !counts.last_astray;
}

/* glibc aligns malloc's blocks to two pointers. */
enum { MALLOC_ALIGN = 2 * sizeof(void *) };

void *malloc(size_t size) {
    arenaut_tape *tape = ask(ARENAUT_HOOK_MALLOC);
    if (tape) return arenaut_tape_allocate(tape, size, MALLOC_ALIGN);
    void *block = real_malloc(size);
    log_request(block, size);
    return block;
}

void *calloc(size_t count, size_t size) {
    arenaut_tape *tape = ask(ARENAUT_HOOK_MALLOC);
    if (!tape) {
        void *cleared = real_calloc(count, size);
        if (cleared) log_request(cleared, count * size);
        return cleared;
    }
    if (size && count > SIZE_MAX / size) return NULL;
    void *block = arenaut_tape_allocate(tape, count * size, MALLOC_ALIGN);
    return block ? memset(block, 0, count * size) : NULL;
}

void free(void *block) {
    if (here.tape) {
        arenaut_tape *tape = here.tape;
        if (!arena_holds(block) || arenaut_tape_owns(tape, block)) {
            arenaut_tape_release(tape, block);
            return;
        }
    }
    if (arena_holds(block)) {
        arena_release(block);
    } else {
        log_release(block);
        real_free(block);
    }
}

/* A block that the tape knows, or is to know, moves; all others are the C library's business. */
void *realloc(void *block, size_t size) {
    arenaut_tape *tape = ask(ARENAUT_HOOK_MALLOC);
    const bool in_arena = block && arena_holds(block);
    if (!tape && !in_arena) return log_reallocate(block, size);
    const size_t had = in_arena ? arena_block_size(block)
                       : block  ? real_malloc_usable_size(block)
                                : 0;
    void *moved = malloc(size);
    if (!moved || !block) return moved;
    memcpy(moved, block, had < size ? had : size);
    free(block);
    return moved;
}

int posix_memalign(void **out, size_t align, size_t size) {
    arenaut_tape *tape = ask(ARENAUT_HOOK_ALIGNED);
    if (!tape) {
        const int failure = real_posix_memalign(out, align, size);
        if (failure == 0) log_request(*out, size);
        return failure;
    }
    if (align % sizeof(void *) != 0 || align == 0 || (align & (align - 1)) != 0) return EINVAL;
    void *block = arenaut_tape_allocate(tape, size, align);
    if (!block) return ENOMEM;
    *out = block;
    return 0;
}

void *aligned_alloc(size_t align, size_t size) {
    arenaut_tape *tape = ask(ARENAUT_HOOK_ALIGNED);
    if (tape) return arenaut_tape_allocate(tape, size, align);
    void *block = real_aligned_alloc(align, size);
    log_request(block, size);
    return block;
}

void *memalign(size_t align, size_t size) {
    arenaut_tape *tape = ask(ARENAUT_HOOK_ALIGNED);
    if (tape) return arenaut_tape_allocate(tape, size, align);
    void *block = real_memalign(align, size);
    log_request(block, size);
    return block;
}

size_t malloc_usable_size(void *block) {
    return block && arena_holds(block) ? arena_block_size(block) : real_malloc_usable_size(block);
}
