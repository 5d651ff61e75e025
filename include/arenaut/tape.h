/* A tape: the allocations of one run, recorded, planned into one arena, and played back.
 *
 * A program that repeats its work requests the same blocks in the same order. A tape notes them
 * down once; from then on each request is answered with its planned address, without a search and
 * without a heap. Any runtime with an allocator hook can use it:
 *
 *     arenaut_tape_record(tape, &err);
 *     run();                          // its hook calls arenaut_tape_allocate and _release
 *     arenaut_tape_end(tape, &err);
 *     arenaut_tape_plan(tape, NULL, &err);
 *     arenaut_tape_bind(tape, memory, arenaut_tape_arena(tape, NULL), &err);
 *     for (;;) {
 *         arenaut_tape_play(tape, &err);
 *         run();
 *         arenaut_tape_end(tape, &err);
 *     }
 *
 * While a tape plays it follows the recording request by request and release by release. The first
 * one that differs ends the playing of that run: from there on the heap answers, or, in strict
 * mode, the request fails. Both are safe, since no block that is out moves.
 *
 * Other memory can be planned together with the blocks: a caller that plans both (say, with
 * runtime_iteration.h) reads the blocks' sizes and lives here, and hands in their places.
 *
 * One thread records or plays at a time; only arenaut_tape_release_elsewhere may be called
 * from others. */
#ifndef ARENAUT_TAPE_H
#define ARENAUT_TAPE_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/planner.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arenaut_tape arenaut_tape;

/* The source of blocks while there is no plan, and of blocks that are in no plan. `align` is a
 * power of two. */
typedef struct arenaut_tape_heap {
    void *(*allocate)(void *context, uint64_t size, uint64_t align); /* NULL: no memory */
    void (*release)(void *context, void *block);                     /* never NULL */
    void *context;
} arenaut_tape_heap;

typedef struct arenaut_tape_options {
    arenaut_tape_heap heap; /* without functions: aligned_alloc and free of the C library */
    uint64_t align;         /* every block's, at least; a power of two; 0 reads as 64 */
    uint64_t min_size;      /* smaller requests go to the heap, unrecorded */
    bool exact;             /* sizes must be those recorded; otherwise they may be smaller */
    bool strict;            /* a request that differs from the recording fails */
} arenaut_tape_options;

/* `options` may be NULL: all zero. Makes an empty tape in *out, which the caller frees. */
arenaut_status arenaut_tape_new(const arenaut_tape_options *options,
                                const arenaut_allocator *allocator, arenaut_tape **out,
                                arenaut_error *err);
/* NULL is fine. Blocks that are still out must not be released to the tape afterwards. */
void arenaut_tape_free(arenaut_tape *tape);

/* Begins a run whose requests are noted down; an earlier recording and plan are dropped. REFUSED
 * during a run, and while blocks of the bound memory are out. */
arenaut_status arenaut_tape_record(arenaut_tape *tape, arenaut_error *err);

/* Begins a run whose requests are answered from the bound memory. REFUSED during a run and
 * where nothing is bound. If an earlier run went astray and left blocks out that the plan
 * needs, the whole run is left to the heap. */
arenaut_status arenaut_tape_play(arenaut_tape *tape, arenaut_error *err);

/* Ends the run. NO_MEMORY if the recording could not be kept (the run itself was served); in strict
 * mode REJECTED, naming the difference, if the run was not the recorded one or stopped early. */
arenaut_status arenaut_tape_end(arenaut_tape *tape, arenaut_error *err);

/* A block of at least `size` bytes; NULL if there is no memory, or in strict mode if the
 * request is not the recorded one. `align`: power of two; 0 reads as 1. Outside runs the heap
 * answers. O(1). */
void *arenaut_tape_allocate(arenaut_tape *tape, uint64_t size, uint64_t align);
/* Any block from arenaut_tape_allocate, or one that the same heap gave otherwise; NULL is
 * fine. O(1) where the run is the recorded one. */
void arenaut_tape_release(arenaut_tape *tape, void *block);
/* The same from another thread, or for a block of a run that is over. */
void arenaut_tape_release_elsewhere(arenaut_tape *tape, void *block);

/* Whether `block` lies in the bound memory. */
bool arenaut_tape_owns(const arenaut_tape *tape, const void *block);
/* The number of blocks of the bound memory that are out. It must live as long as there is one. */
uint32_t arenaut_tape_outstanding(const arenaut_tape *tape);

/* The size recorded of a block of the bound memory that is out and begins at `address`; 0 if
 * there is none. O(n). */
uint64_t arenaut_tape_size_at(const arenaut_tape *tape, const void *address);

/* Marks a moment of the recording, and returns its time. Requests have times of their own, so
 * two ticks in a row differ by exactly 1 when no request came between them. */
int64_t arenaut_tape_tick(arenaut_tape *tape);

/* The recording, block by block in the order of the requests. */
typedef struct arenaut_tape_block {
    uint64_t size, align;
    int64_t first, end; /* [first, end); if it was never released: past all other ends */
    bool released;      /* within the run */
    bool kept;          /* not released, and planned all the same: see arenaut_tape_keep */
} arenaut_tape_block;

uint32_t arenaut_tape_block_count(const arenaut_tape *tape);
/* False, with *block untouched, past the end. */
bool arenaut_tape_block_at(const arenaut_tape *tape, uint32_t index, arenaut_tape_block *block);
/* The block of this recording, not released yet, that begins at `address`; ARENAUT_NONE if
 * there is none. O(1). */
uint32_t arenaut_tape_find(const arenaut_tape *tape, const void *address);

/* A block that outlives its run is not planned, but taken from the heap whenever it is asked
 * for, unless the caller keeps it: then it has its place in the arena past the end of the run,
 * and its bytes stay until the next run begins. Holding it longer, and releasing it during a
 * run, may lead that run astray: at an address that was used twice it is unknown which of the
 * two is meant. BAD_ARGUMENT for a block that was released or does not exist; REFUSED once
 * there is a plan. */
arenaut_status arenaut_tape_keep(arenaut_tape *tape, uint32_t block, arenaut_error *err);

/* Takes over the sizes of `other` where they are larger, if both recorded the same requests and
 * releases in the same order, ticks included, and only sizes differ; then one plan serves the
 * runs of both. REFUSED, with the tape unchanged, if they did not. Before planning. */
arenaut_status arenaut_tape_absorb(arenaut_tape *tape, const arenaut_tape *other,
                                   arenaut_error *err);

/* Plans all blocks into one arena, and checks the plan. REFUSED where nothing was recorded,
 * during a run, and a second time; else the errors of arenaut_plan_make. */
arenaut_status arenaut_tape_plan(arenaut_tape *tape, const arenaut_plan_options *options,
                                 arenaut_error *err);

/* The same with places that the caller has planned, perhaps with other things: an offset per block
 * (ignored for blocks that need none), in an arena of `size` bytes. They are checked. REJECTED if
 * blocks would overlap or lie outside. */
arenaut_status arenaut_tape_place(arenaut_tape *tape, const uint64_t *offsets, uint64_t size,
                                  arenaut_error *err);

/* Bytes of the arena (0 without a plan); *align gets the alignment of its address (may be NULL). */
uint64_t arenaut_tape_arena(const arenaut_tape *tape, uint64_t *align);
/* Bytes that no plan of the same blocks could do without; 0 for places of the caller's. */
uint64_t arenaut_tape_bound(const arenaut_tape *tape);

/* Lends the memory that runs are played in; NULL takes it back. BAD_ARGUMENT if it is too small
 * or misaligned, REFUSED without a plan, during a run, and while blocks of it are out. */
arenaut_status arenaut_tape_bind(arenaut_tape *tape, void *memory, uint64_t size,
                                 arenaut_error *err);

typedef struct arenaut_tape_counts {
    uint32_t blocks;        /* recorded */
    uint32_t planned, kept; /* of these, with a place in the arena; kept past the run's end */
    uint64_t runs;          /* played */
    uint64_t astray;        /* of these, runs that differed from the recording */
    uint64_t served;        /* requests answered from the arena */
    uint64_t heap;          /* requests answered by the heap as planned: blocks that outlive runs */
    uint64_t fallbacks;     /* requests answered by the heap because the run was astray */
    bool last_astray;       /* the last run differed */
} arenaut_tape_counts;

/* O(1). */
void arenaut_tape_count(const arenaut_tape *tape, arenaut_tape_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
