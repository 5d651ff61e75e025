/* State and functions that the files of the iteration planner share. */
#ifndef ARN_RUNTIME_ITERATION_H
#define ARN_RUNTIME_ITERATION_H

#include <arenaut/runtime_iteration.h>

#include "runtime/fault.h"

#ifndef ARENAUT_CHECKED
#define ARENAUT_CHECKED 1
#endif

/* A *slot* is a managed storage: an index into the block of headers and into every column below.
 * Slots of the arena come first, then the outputs' slots, if these lie apart. */
struct arenaut_iteration {
    arenaut_iteration_options options;
    arenaut_source source, arena;
    arenaut_place_fn place;
    void *place_context;
    arenaut_value_hooks hooks;

    uint32_t n_values, n_slots, n_arena; /* slots [0, n_arena) are planned in the arena */

    /* Per value. */
    arenaut_value *value;          /* kind and returned follow from the options */
    uint32_t *slot;                /* ARENAUT_NO_VALUE: not managed */
    arenaut_storage **current;     /* the storage in use: its slot's, unless the model swapped it */
    const arenaut_source **hidden; /* `deallocate` only: see hide_sources */
    size_t *length;    /* of outputs: bytes asked for in this run; of held ones: bytes that
                        * they have. ARN_NO_LENGTH: nothing was asked for, not held */
    uint32_t *outputs; /* the values whose kind is OUTPUT, n_outputs of them */
    uint32_t n_outputs;

    /* Per slot. */
    arenaut_storages storages;
    size_t *most;        /* the largest size seen, rounded up */
    size_t *planned;     /* its value when the plan in force was made */
    size_t *offset;      /* in that plan */
    size_t *next_offset; /* of the plan that is being made */
    uint32_t *first, *last, *over;
    uint32_t *named; /* a value of this slot, for faults */
    uint32_t *group; /* storage groups only */
    size_t *group_bytes;
    uint32_t *work[3];
    uint32_t n_groups;

    void *buffer, *output_buffer;
    size_t buffer_bytes, output_buffer_bytes; /* as allocated */
    size_t arena_bytes, output_bytes;         /* as planned */
    uint32_t plan_number, reused;
    uint32_t overflows;
    size_t overflow_bytes, largest_overflow;
    uint32_t runs_without_buffer;
    uint32_t n_held;                         /* outputs that are not released yet */
    uint32_t held_in_arena, held_in_outputs; /* of them, in a planned buffer */
    bool running, due;
    bool has_plan;      /* there is a plan in force */
    bool placed;        /* this run has the places of that plan */
    bool busy;          /* a function of the caller's is at work: it must not call back */
    bool swapped;       /* in this run a value uses a storage that is not its slot's */
    bool has_unmanaged; /* a value is to be given up through the hooks */
};

#define ARN_NO_LENGTH SIZE_MAX

/* Whether an address lies in [start, start + size). */
static inline bool arn_runtime_lies_in(const void *address, const void *start, size_t size) {
    const uintptr_t at = (uintptr_t)address, first = (uintptr_t)start;
    return start && at >= first && at - first < size;
}

/* BUSY, or unless this is as it should be, RUNNING or NOT_RUNNING. */
arenaut_status arn_runtime_expect(const arenaut_iteration *it, bool running, arenaut_fault *fault);

/* Whether this value is an output of the last run that was not released yet. */
bool arn_runtime_is_held(const arenaut_iteration *it, uint32_t value);
/* Whether this slot is a managed output, wherever it lies. */
bool arn_runtime_slot_is_output(const arenaut_iteration *it, uint32_t slot);
/* Where the plan puts a slot; NULL for no bytes, or no buffer. */
void *arn_runtime_slot_address(const arenaut_iteration *it, uint32_t slot);

/* After a run in which storages were swapped: memory that is not the iteration's own must not lie
 * in the arena, to which it may have been pointed since. */
arenaut_status arn_runtime_check_swapped(const arenaut_iteration *it, arenaut_fault *fault);

/* A value's slot, or a fault: for values that do not exist or are not managed. */
arenaut_status arn_runtime_find_slot(const arenaut_iteration *it, uint32_t value, uint32_t *slot,
                                     arenaut_fault *fault);

/* The same, and the faults of arn_runtime_expect, of a value whose storage is to be changed during
 * a run. */
arenaut_status arn_runtime_find_during_run(const arenaut_iteration *it, uint32_t value,
                                           uint32_t *slot, arenaut_fault *fault);

/* Storage groups over the slots of the arena: fills `group` and n_groups. */
void arn_runtime_assign_groups(arenaut_iteration *it);

/* Counts `reused` anew, of the plan in force and of the storages that some value still has. */
void arn_runtime_count_reused(arenaut_iteration *it);

/* Sorts `order`, which holds n rising numbers, by key, equal keys by number. */
void arn_runtime_order_by_step(uint32_t *order, uint32_t n, const uint32_t *key, uint32_t *scratch);
void arn_runtime_order_by_offset(uint32_t *order, uint32_t n, const size_t *key, uint32_t *scratch);

#endif
