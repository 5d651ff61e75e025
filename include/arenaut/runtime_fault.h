/* Faults: failures of the runtime, in numbers.
 *
 * The runtime has no stdio, and a small machine has no room for sentences. So a call that can fail
 * returns an arenaut_status, as everywhere, and stores numbers in the fault that its caller may
 * hand in: the reason, the object, the value found and the value allowed. arenaut_fault_text makes
 * a sentence of them; the table of sentences is linked only where that is called.
 *
 * Threads: a fault belongs to the call that it is given to; the texts never change. */
#ifndef ARENAUT_RUNTIME_FAULT_H
#define ARENAUT_RUNTIME_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include <arenaut/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reason, status, sentence: %o is the object, %f the value found, %a the value allowed. */
#define ARENAUT_FAULT_MAP(XX)                                                                      \
    XX(NONE, OK, "no fault")                                                                       \
    XX(ARGUMENT, BAD_ARGUMENT, "a pointer is missing where one is needed (argument %o)")           \
    XX(NO_MEMORY, NO_MEMORY, "no memory for %f bytes (%o)")                                        \
    XX(BUFFER_MEMORY, NO_MEMORY, "no memory for a planned buffer of %f bytes")                     \
    XX(PLANNER_MEMORY, NO_MEMORY, "the planner ran out of memory")                                 \
    XX(SIZE, TOO_LARGE, "sizes add up past this machine's addresses (at %o)")                      \
    XX(ALIGNMENT, BAD_ARGUMENT, "alignment %f is no power of two (%o)")                            \
    /* devices */                                                                                  \
    XX(DEVICE_TYPE, BAD_ARGUMENT, "device type %o is unknown: types are numbers below %a")         \
    XX(DEVICE_TAKEN, BAD_ARGUMENT, "device type %o already has an allocator")                      \
    XX(DEVICE_ABSENT, UNSUPPORTED, "device type %o has no allocator: register one first")          \
    XX(DEVICE_INDEX, BAD_ARGUMENT, "device type %o has no index %f: there are %a")                 \
    XX(DEVICE_LIBRARY, UNSUPPORTED, "device type %o: its driver library is not here")              \
    XX(DEVICE_FAILED, IO, "device type %o: its driver answered with error %f")                     \
    XX(ALLOCATOR, BAD_ARGUMENT, "the allocator of device type %o lacks a function")                \
    XX(BUFFER_IN_USE, BAD_ARGUMENT, "a buffer of %f bytes would be lost: destroy it first")        \
    XX(COPY, BAD_ARGUMENT, "a copy ends at byte %f of a buffer of %a")                             \
    XX(MEMORY_TAKEN, BAD_ARGUMENT, "memory %o of this device is there already")                    \
    XX(MEMORY_COUNT, BAD_ARGUMENT, "memory %o: this allocator has room for %a memories")           \
    XX(MEMORY_ABSENT, BAD_ARGUMENT, "memory %o of this device was not made")                       \
    /* memory managers and static programs */                                                      \
    XX(POOL, BAD_ARGUMENT, "there is no pool %o: %a are planned")                                  \
    XX(POOL_COUNT, BAD_ARGUMENT, "%f pools are given, the plan has %a")                            \
    XX(POOL_SMALL, BAD_ARGUMENT, "pool %o: %f bytes are given, the plan needs %a")                 \
    XX(POOL_MISALIGNED, BAD_ARGUMENT, "pool %o: its memory must be aligned to %a, not to %f")      \
    XX(POOL_DEVICE, BAD_ARGUMENT, "pool %o: the plan wants it on device type %a, not %f")          \
    XX(POOL_DEVICE_INDEX, BAD_ARGUMENT,                                                            \
       "pool %o: the plan wants it on index %a of its device, not %f")                             \
    XX(OUTSIDE, BAD_ARGUMENT, "pool %o: the bytes asked for end at %f, the pool at %a")            \
    XX(DEVICE_TABLE, BAD_ARGUMENT,                                                                 \
       "entry %o of the device table: pools must rise, exist, and not lie on device 0.0")          \
    XX(OTHER_PROGRAM, BAD_INPUT, "the plan is for another program: fingerprints differ")           \
    XX(PLACE_BAD, BAD_INPUT, "place %o of the plan ends at byte %f of a pool of %a")               \
    XX(PLACE, BAD_ARGUMENT, "there is no place %o: the plan has %a")                               \
    XX(PLACE_ELSEWHERE, BAD_ARGUMENT, "place %o is not in the plan's memory")                      \
    XX(METHOD, BAD_ARGUMENT, "there is no method %o: the program has %a")                          \
    XX(METHOD_ARGUMENT, BAD_ARGUMENT, "there is no argument %f: method %o has %a")                 \
    XX(METHOD_RUNS, BAD_ARGUMENT, "method %o cannot begin: method %f has not ended")               \
    XX(METHOD_IDLE, BAD_ARGUMENT, "no method runs, so none can end")                               \
    /* graphs and iterations */                                                                    \
    XX(OUTPUTS_WITHOUT_VARIANTS, REFUSED, "managing outputs needs out variants: turn them on")     \
    XX(OPTIMISE_WITHOUT_VARIANTS, REFUSED, "optimising memory needs out variants: turn them on")   \
    XX(ARENA_WITHOUT_OUTPUTS, REFUSED, "outputs in the arena must be managed: turn that on")       \
    XX(OFFSETS_WITHOUT_PLANNER, REFUSED, "grouping by offsets needs a planner: none is given")     \
    XX(GROUPING, BAD_ARGUMENT, "grouping %f is unknown: numbers go up to %a")                      \
    XX(POISON_DEVICE, REFUSED, "poison writes from the host, and device type %o is none")          \
    XX(VALUE, BAD_ARGUMENT, "there is no value %o: there are %a")                                  \
    XX(VALUE_KIND, BAD_ARGUMENT, "value %o is not managed, so its memory is not ours")             \
    XX(VALUE_LIFE, BAD_INPUT, "value %o ends at step %f, before it begins at %a")                  \
    XX(VALUE_STORAGE, BAD_INPUT, "value %o names value %f, which has no storage of its own")       \
    XX(VALUE_STORAGE_KIND, BAD_INPUT,                                                              \
       "value %o lies in the storage of value %f: both must be managed, or both outputs")          \
    XX(VALUE_TWICE, BAD_INPUT, "value %o is made by node %f, but it was there before")             \
    XX(NESTED_OUTPUT, REFUSED,                                                                     \
       "output %o is a container: only tensors may be in a list, tuple or dict")                   \
    XX(NODE_INPUT, BAD_INPUT, "node %o would overwrite input %f; it has %a")                       \
    XX(RETURNED_TWICE, BAD_INPUT, "node %o returns a container, but node %f does already")         \
    XX(RETURNED_OTHERS, BAD_INPUT,                                                                 \
       "node %o returns no container of the result's type, or one without output %f")              \
    XX(OUTPUT_TYPE, REFUSED, "output %o is no tensor")                                             \
    XX(OUTPUT_COUNT, BAD_INPUT, "%f outputs are given for a result of at most %a")                 \
    XX(WORKSPACE, BAD_ARGUMENT, "%f bytes are given to work in, %a are needed")                    \
    XX(RUNNING, BAD_ARGUMENT, "the iteration is under way: deallocate first")                      \
    XX(NOT_RUNNING, BAD_ARGUMENT, "the iteration is not under way: allocate first")                \
    XX(OUTPUTS_HELD, BAD_ARGUMENT, "outputs of the last run are held: release them first")         \
    XX(OUTPUTS_RELEASED, BAD_ARGUMENT, "value %o is no output that is held")                       \
    XX(NOTHING_OWNED, BAD_ARGUMENT, "value %o owns no memory that could be taken")                 \
    XX(OVERRUN, BAD_ARGUMENT, "value %o: %f bytes are in a place of %a")                           \
    XX(POINTER_OUTSIDE, BAD_ARGUMENT, "value %o: its storage was pointed elsewhere")               \
    XX(PLAN_BAD, INTERNAL, "the planner put value %o at %f, outside its arena or misaligned (%a)") \
    XX(PLAN_OVERLAP, INTERNAL,                                                                     \
       "the planner put values %o and %f, both alive at step %a, into the same memory")            \
    XX(PLAN_FAILED, REFUSED, "the planner gave up with status %f")                                 \
    XX(STORAGE, BAD_ARGUMENT, "there is no storage %o: there are %a")                              \
    XX(STORAGES_FULL, BAD_ARGUMENT, "the block of storages is full at %a")                         \
    XX(STORAGES_MADE, BAD_ARGUMENT, "the block of storages is allocated already")                  \
    XX(WORKSPACE_MISALIGNED, BAD_ARGUMENT, "the memory to work in must be aligned to %a")          \
    XX(OUTPUT_IN_ARENA, BAD_ARGUMENT,                                                              \
       "output %o would lie in memory that ends with the run: give it memory of its own")          \
    XX(STORAGE_IN_ARENA, BAD_ARGUMENT,                                                             \
       "value %o would lie in bytes of the arena that value %f has: give it memory of its own")    \
    XX(BUSY, BAD_ARGUMENT, "the iteration is at work: its callbacks must not change it")           \
    XX(NODE_KIND, BAD_INPUT, "node %o is of kind %f, which is unknown: numbers go up to %a")       \
    XX(VALUE_TYPE, BAD_INPUT, "value %o is of type %f, which is unknown: numbers go up to %a")

typedef enum arenaut_fault_reason {
#define XX(name, status, text) ARENAUT_FAULT_##name,
    ARENAUT_FAULT_MAP(XX)
#undef XX
        ARENAUT_FAULT_COUNT
} arenaut_fault_reason;

typedef struct arenaut_fault {
    uint32_t reason; /* arenaut_fault_reason */
    uint32_t object; /* the pool, value, place, device type … that it is about */
    size_t found, allowed;
} arenaut_fault;

/* A sentence in `text`, always ended by a NUL if there is room for one; cut if it does not
 * fit. Returns `text`. */
char *arenaut_fault_text(const arenaut_fault *fault, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
