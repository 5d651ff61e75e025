#include "arenas.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <arenaut/hook.h>

#include "real.h"

/* An arena goes when it was given up and no block of its tape is out; its tape goes when it was
 * retired and none is out. Written under the lock; `first` and `end` are read without it. */
typedef struct arena {
    _Atomic uintptr_t first, end; /* first == 0: the slot is free */
    arenaut_tape *tape;
    bool given_up, retired;
} arena;

static arena arenas[ARENAUT_HOOK_ARENAS];
static atomic_int n_slots; /* slots past this one were never used */
/* Bounds of all arenas, ever: most blocks that are freed lie outside. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static arena *arena_of(const void *block) {
    const uintptr_t at = (uintptr_t)block;
    if (at < atomic_load_explicit(&lowest, memory_order_relaxed) ||
        at >= atomic_load_explicit(&highest, memory_order_relaxed)) {
        return NULL;
    }
    const int n = atomic_load(&n_slots);
    for (int k = 0; k < n; k++) {
        const uintptr_t first = atomic_load(&arenas[k].first);
        const uintptr_t end = atomic_load(&arenas[k].end);
        /* The slot may have got another arena between the two. */
        const bool is_one = first != 0 && atomic_load(&arenas[k].first) == first;
        if (is_one && at >= first && at < end) return &arenas[k];
    }
    return NULL;
}

/* Under the lock. A tape that was not retired goes on without memory. */
static void clear_up(arena *a) {
    if (a->tape && arenaut_tape_outstanding(a->tape) != 0) return;
    if (a->tape && a->retired) {
        arenaut_tape_free(a->tape);
        a->tape = NULL;
    }
    if (!a->given_up) return;
    if (a->tape) arenaut_tape_bind(a->tape, NULL, 0, NULL);
    a->tape = NULL;
    void *memory = (void *)atomic_load(&a->first);
    atomic_store(&a->first, 0);
    real_free(memory);
}

static arena *free_slot(void) {
    for (int k = 0; k < ARENAUT_HOOK_ARENAS; k++) {
        if (atomic_load(&arenas[k].first)) continue;
        if (k >= atomic_load(&n_slots)) atomic_store(&n_slots, k + 1);
        return &arenas[k];
    }
    return NULL;
}

static void widen(uintptr_t first, uintptr_t end) {
    if (first < atomic_load(&lowest)) atomic_store(&lowest, first);
    if (end > atomic_load(&highest)) atomic_store(&highest, end);
}

void *arenaut_hook_arena(size_t size, size_t align) {
    void *memory = NULL;
    const size_t least = align < sizeof(void *) ? sizeof(void *) : align;
    if (real_posix_memalign(&memory, least, size ? size : 1) != 0) return NULL;
    pthread_mutex_lock(&lock);
    arena *a = free_slot();
    if (a) {
        a->tape = NULL;
        a->given_up = a->retired = false;
        atomic_store(&a->end, (uintptr_t)memory + (size ? size : 1));
        atomic_store(&a->first, (uintptr_t)memory);
        widen((uintptr_t)memory, (uintptr_t)memory + (size ? size : 1));
    }
    pthread_mutex_unlock(&lock);
    if (a) return memory;
    real_free(memory);
    return NULL;
}

void arenaut_hook_arena_free(void *memory) {
    pthread_mutex_lock(&lock);
    arena *a = arena_of(memory);
    if (a) {
        a->given_up = true;
        clear_up(a);
    }
    pthread_mutex_unlock(&lock);
}

static arenaut_status refuse(arenaut_error *err, const char *text) {
    if (err) {
        *err = (arenaut_error){.code = ARENAUT_BAD_ARGUMENT};
        for (size_t k = 0; text[k]; k++) err->msg[k] = text[k];
    }
    return ARENAUT_BAD_ARGUMENT;
}

arenaut_status arenaut_hook_bind(arenaut_tape *tape, void *memory, arenaut_error *err) {
    pthread_mutex_lock(&lock);
    arenaut_status st;
    arena *a = memory ? arena_of(memory) : NULL;
    if (!a || a->given_up) {
        st = refuse(err, "the memory is no arena of arenaut_hook_arena");
    } else if (a->tape) {
        st = refuse(err, "the arena has a tape already");
    } else {
        const uintptr_t first = atomic_load(&a->first);
        st = arenaut_tape_bind(tape, memory, atomic_load(&a->end) - first, err);
        if (st == ARENAUT_OK) a->tape = tape;
    }
    pthread_mutex_unlock(&lock);
    return st;
}

void arenaut_hook_retire(arenaut_tape *tape) {
    if (!tape) return;
    pthread_mutex_lock(&lock);
    arena *a = NULL;
    for (int k = 0; k < ARENAUT_HOOK_ARENAS && !a; k++) {
        if (atomic_load(&arenas[k].first) && arenas[k].tape == tape) a = &arenas[k];
    }
    if (a) {
        a->retired = true;
        clear_up(a);
    } else {
        arenaut_tape_free(tape);
    }
    pthread_mutex_unlock(&lock);
}

bool arena_holds(const void *block) { return arena_of(block) != NULL; }

void arena_release(void *block) {
    pthread_mutex_lock(&lock);
    arena *a = arena_of(block);
    if (a && a->tape) {
        arenaut_tape_release_elsewhere(a->tape, block);
        clear_up(a);
    }
    pthread_mutex_unlock(&lock);
}

size_t arena_block_size(const void *block) {
    pthread_mutex_lock(&lock);
    const arena *a = arena_of(block);
    const size_t size = a && a->tape ? (size_t)arenaut_tape_size_at(a->tape, block) : 0;
    pthread_mutex_unlock(&lock);
    return size;
}
