/* The preloaded hook: malloc's family sent to a tape, without touching the program.
 *
 * libarenaut-replay.so is put before the C library with LD_PRELOAD. It changes nothing until a
 * thread says that it records or plays a tape; from then until it says that the run is over, this
 * thread's requests are the tape's. Other threads go on with the heap. The library holds all of
 * arenaut, so a program finds its functions with dlsym(RTLD_DEFAULT, …):
 *
 *     arenaut_hook_options(&options);          // a tape whose heap is the real one
 *     arenaut_tape_new(&options, arenaut_hook_allocator(), &tape, &err);
 *     arenaut_tape_record(tape, &err);
 *     arenaut_hook_enter(tape, ARENAUT_HOOK_ALIGNED);
 *     run();
 *     arenaut_hook_leave();
 *     arenaut_tape_end(tape, &err);
 *     arenaut_tape_plan(tape, NULL, &err);
 *     void *memory = arenaut_hook_arena(arenaut_tape_arena(tape, &align), align);
 *     arenaut_hook_bind(tape, memory, &err);
 *     …                                        // the same again with arenaut_tape_play
 *     arenaut_hook_retire(tape);
 *     arenaut_hook_arena_free(memory);
 *
 * Results that live in the arena may be freed by any thread, at any time: memory and tape stay
 * until the last of them is. */
#ifndef ARENAUT_HOOK_H
#define ARENAUT_HOOK_H

#include <stddef.h>

#include <arenaut/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The requests that go to the tape. */
enum {
    ARENAUT_HOOK_ALIGNED = 1, /* posix_memalign, aligned_alloc, memalign: those for tensors */
    ARENAUT_HOOK_MALLOC = 2,  /* malloc, calloc and realloc too */
};

/* So many arenas can exist at once. */
enum { ARENAUT_HOOK_ARENAS = 256 };

/* The memory of the process as it would be without hooks, for tapes and their lists. */
const arenaut_allocator *arenaut_hook_allocator(void);
/* Fills in a heap that goes past the hooks; leaves the rest of the options alone. */
void arenaut_hook_options(arenaut_tape_options *options);

/* Sends this thread's requests to the tape, which has begun a run, until _leave. BAD_ARGUMENT
 * while this thread is in one. */
arenaut_status arenaut_hook_enter(arenaut_tape *tape, unsigned what);
void arenaut_hook_leave(void);

/* arenaut_tape_play and _enter in one call. */
arenaut_status arenaut_hook_play(arenaut_tape *tape, unsigned what, arenaut_error *err);
/* _leave and arenaut_tape_end in one call; whether the run was the recorded one. */
bool arenaut_hook_end(arenaut_tape *tape);

/* Memory to play in. NULL if there is none, or so many arenas already. */
void *arenaut_hook_arena(size_t size, size_t align);
/* Gives it up: it goes when no block of its tape is out. NULL is fine. */
void arenaut_hook_arena_free(void *arena);

/* Binds a planned tape to an arena, whose only tape it is. BAD_ARGUMENT for memory that is no
 * arena, or has a tape; else as arenaut_tape_bind. */
arenaut_status arenaut_hook_bind(arenaut_tape *tape, void *arena, arenaut_error *err);
/* Takes the tape, and frees it when none of its blocks is out. NULL is fine. */
void arenaut_hook_retire(arenaut_tape *tape);

#ifdef __cplusplus
}
#endif
#endif
