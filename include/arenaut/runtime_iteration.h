/* The iteration planner: memory for an executor that runs the same ops many times, with sizes that
 * become known only when it runs.
 *
 *     arenaut_iteration_init(memory, arenaut_iteration_bytes(n), &config, &it, NULL);
 *     for (;;) {
 *         arenaut_iteration_allocate(it, NULL);            // places all managed values
 *         ... run; arenaut_iteration_resize(it, v, bytes, &data, NULL) for each result ...
 *         arenaut_iteration_deallocate(it, NULL);          // learns sizes, frees all but outputs
 *         ... use the outputs: arenaut_iteration_output(it, v, &storage, NULL) ...
 *         arenaut_iteration_release_outputs(it, NULL);
 *     }
 *
 * In the first run every value takes its memory from the default source, and its size is
 * learned. From then on there is a plan for the largest sizes seen so far: `allocate` makes
 * one buffer and hands out addresses in it. A value that outgrows its place takes memory
 * from the default source for that run; the plan is renewed at the next `allocate`, and only
 * then. Memory is shared by offsets, from a planner that is called back, or by storage
 * groups, as PyTorch's Static Runtime does.
 *
 * Managed outputs live until they are released, all at once or one by one, wherever they lie: in a
 * buffer of their own, or, in the first run and where one outgrew its place, in memory of the
 * default source; running again before that is refused. Unmanaged values are counted, and released
 * through hooks at the end of each run.
 *
 * All memory of its own is the caller's; buffers come from the sources in the config. One iteration
 * belongs to one thread at a time; different ones are independent.
 *
 * Built with ARENAUT_CHECKED (the default but for -DARENAUT_CHECKED=0), `deallocate` looks in every
 * storage for foreign pointers. Unchecked, writing a foreign pointer into a storage that owns
 * nothing loses that pointer, silently. The order of calls is always checked. Callbacks of an
 * iteration (sources, hooks, `place`) may query it, but any call that could change it fails there
 * with BUSY. Addresses of outputs are invalid after their release, addresses of all else after
 * deallocate; a later read finds other content. */
#ifndef ARENAUT_RUNTIME_ITERATION_H
#define ARENAUT_RUNTIME_ITERATION_H

#include <stdbool.h>

#include <arenaut/device.h>
#include <arenaut/runtime_fault.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARENAUT_NO_VALUE UINT32_MAX

/* Sources of memory: the default one for unplanned values, and one for the planned buffers.
 * `allocate` returns NULL if it has none, and may say why in `fault`, which is never NULL; if that
 * stays empty, there was no memory. `release` gets the result of `allocate`, and its size. */
typedef struct arenaut_source {
    void *(*allocate)(void *context, size_t size, size_t align, arenaut_fault *fault);
    void (*release)(void *context, void *block, size_t size);
    void *context;
    arenaut_device device; /* owner of the memory; zeroes: the host */
} arenaut_source;

/* The header of one storage. Executors may point tensors at it. */
typedef struct arenaut_storage {
    void *data;
    size_t bytes;
    const arenaut_source *source; /* where `data` goes back to; NULL: it lies in a planned buffer */
} arenaut_storage;

/* Storage headers in one block of the caller's memory, so that whether a storage is managed
 * is a comparison of addresses. */
typedef struct arenaut_storages {
    arenaut_storage *block; /* NULL: not allocated */
    uint32_t capacity, size;
} arenaut_storages;

static inline bool arenaut_storages_is_allocated(const arenaut_storages *storages) {
    return storages->block != NULL;
}
/* Takes `block`, room for `capacity` headers. STORAGES_MADE if there is one already. */
arenaut_status arenaut_storages_allocate(arenaut_storages *storages, arenaut_storage *block,
                                         uint32_t capacity, arenaut_fault *fault);
/* Forgets the block, which is the caller's again. Memory that headers own is not released. */
void arenaut_storages_deallocate(arenaut_storages *storages);
/* Adds a header with the size and source of `model`, and no data. STORAGES_FULL. */
arenaut_status arenaut_storages_append(arenaut_storages *storages, const arenaut_storage *model,
                                       arenaut_fault *fault);
/* NULL, and STORAGE in the fault, for an index past the size. */
arenaut_storage *arenaut_storages_at(const arenaut_storages *storages, uint32_t index,
                                     arenaut_fault *fault);

typedef enum arenaut_value_kind {
    ARENAUT_VALUE_EXTERNAL,  /* inputs, constants and their aliases: never touched */
    ARENAUT_VALUE_MANAGED,   /* a result of an out variant: gets a place in the arena */
    ARENAUT_VALUE_OUTPUT,    /* likewise, and returned: gets a place among the outputs */
    ARENAUT_VALUE_UNMANAGED, /* owns memory of its own, given up after each run */
    ARENAUT_VALUE_BORROWED,  /* refers to another value's memory without owning it */
    ARENAUT_VALUE_SCALAR,    /* owns nothing */
} arenaut_value_kind;

/* A value. Its life is the closed interval [first, last] of steps, in the executor's own
 * count: two values whose intervals share a step do not share memory, but where `over`
 * allows it. runtime_graph.h makes these from a graph. */
typedef struct arenaut_value {
    uint8_t kind;     /* arenaut_value_kind */
    uint8_t returned; /* an output of the graph: unmanaged, it belongs to the caller */
    uint32_t first, last;
    uint32_t storage; /* the value whose storage this one lies in (itself a value with one of
                       * its own); ARENAUT_NO_VALUE: it has its own */
    uint32_t over;    /* may be written over that value, whose last step is this one's first;
                       * dropped where it is not, or where a value in this one's storage begins
                       * earlier. ARENAUT_NO_VALUE: over none. Storage groups do not use this */
} arenaut_value;

/* The problem of the planner callback: storages of these sizes and lives. It fills `offset`,
 * multiples of `align`, and *arena; lives that meet must not overlap in memory, but where `over`
 * allows the same offset. Returns any status but OK to give up. */
typedef struct arenaut_placing {
    uint32_t n;
    const size_t *bytes;          /* multiples of `align`; 0: needs no memory */
    const uint32_t *first, *last; /* closed intervals */
    const uint32_t *over;         /* ARENAUT_NO_VALUE: none */
    size_t align;
    size_t *offset;
    size_t *arena;
    const size_t *previous; /* offsets in the plan in force; NULL: there is none */
} arenaut_placing;

typedef arenaut_status (*arenaut_place_fn)(void *context, const arenaut_placing *placing);

typedef enum arenaut_grouping {
    ARENAUT_BY_OFFSETS, /* from the planner in the config: the default */
    ARENAUT_BY_GROUPS,  /* storages whose lives never meet share one group, last in first out */
} arenaut_grouping;

/* Contradictions are refused by name: managing outputs or optimising memory without out variants,
 * outputs in the arena that are not managed, a grouping that is none of the above. */
typedef struct arenaut_iteration_options {
    bool out_variants;     /* off: nothing is managed at all */
    bool manage_outputs;   /* off: outputs come from the default source and are the caller's */
    bool optimise_memory;  /* off: every managed storage has a place of its own */
    bool keep_buffer;      /* the arena stays between runs, unless it must grow */
    bool outputs_in_arena; /* outputs are planned with all else; the arena is then held until
                            * they are released */
    bool fall_back;        /* a run for which a planned buffer cannot be had (NO_MEMORY) takes its
                            * memory from the default source, value by value, as the first one;
                            * off: `allocate` fails */
    bool poison;           /* fills planned buffers with 0x7f when they are given up; refused
                            * where these come from a device (POISON_DEVICE) */
    uint8_t grouping;      /* arenaut_grouping */
    uint16_t slack;        /* in percent: a storage that grows past the largest size seen, once
                            * there is a plan, gets so much more in the next one, so that sizes
                            * that rise all the time do not renew the plan all the time */
    size_t align;          /* of places and sizes, a power of two; 0: 64 */
    uint64_t reserved[4];  /* zero; later versions of 1.x take their fields here */
} arenaut_iteration_options;

/* Out variants, managed outputs, optimised memory and falling back on, all else off. */
arenaut_iteration_options arenaut_iteration_defaults(void);
arenaut_status arenaut_iteration_options_check(const arenaut_iteration_options *options,
                                               arenaut_fault *fault);

/* For values that are not managed, called by `deallocate`. Each may be NULL. */
typedef struct arenaut_value_hooks {
    void (*release)(void *context, uint32_t value); /* release the value's memory */
    void (*forget)(void *context, uint32_t value);  /* be empty, and give up nothing: borrowed */
    void (*retain)(void *context, uint32_t value);  /* own borrowed memory: the value is returned */
    void *context;
} arenaut_value_hooks;

typedef struct arenaut_iteration_config {
    const arenaut_value *value; /* copied */
    uint32_t n_values;
    arenaut_iteration_options options;
    arenaut_source source; /* the default one */
    arenaut_source arena;  /* of planned buffers; without `allocate`: `source` */
    arenaut_place_fn place;
    void *place_context;
    arenaut_value_hooks hooks;
} arenaut_iteration_config;

typedef struct arenaut_iteration arenaut_iteration;

/* The memory to hand to _init for so many values; 0 if that cannot be addressed. */
size_t arenaut_iteration_bytes(uint32_t n_values);

/* Makes an iteration in `memory`, which must be aligned as malloc's, stay where it is and
 * stay unused by others until _close. The config is copied. */
arenaut_status arenaut_iteration_init(void *memory, size_t bytes,
                                      const arenaut_iteration_config *config,
                                      arenaut_iteration **out, arenaut_fault *fault);
/* Gives back every buffer. Refused while a run is under way or outputs are held. Learned sizes and
 * the plan stay, so `allocate` may follow. */
arenaut_status arenaut_iteration_close(arenaut_iteration *it, arenaut_fault *fault);

/* Before a run. RUNNING, OUTPUTS_HELD and any failure of `plan`: then nothing has changed.
 * BUFFER_MEMORY or the source's fault, if there is no memory for a buffer: then no run is under
 * way, but the plan may be a new one, and a kept buffer that was too small is given back. With
 * `fall_back` a run for which there was no memory goes without: nothing has a place in it
 * (arenaut_iteration_buffer is NULL), and the next `allocate` tries again. */
arenaut_status arenaut_iteration_allocate(arenaut_iteration *it, arenaut_fault *fault);
/* After a run: every storage is looked at again, for the model may have swapped it; the largest
 * sizes are kept; all but outputs are released. Every output that has data, or that `resize` was
 * asked for no bytes of, is held from now on. NOT_RUNNING; OUTPUT_IN_ARENA and STORAGE_IN_ARENA for
 * a value whose swapped storage was pointed into the arena; POINTER_OUTSIDE and OVERRUN in checked
 * builds: then nothing has changed. O(values). */
arenaut_status arenaut_iteration_deallocate(arenaut_iteration *it, arenaut_fault *fault);
/* Ends a failed run in any state, for example after POINTER_OUTSIDE: memory that storages own is
 * released, memory that they merely point to is forgotten, no size is learned and no output is
 * held. Hooks are called as by `deallocate`, but nothing is retained: borrowed and returned memory
 * is forgotten, too. NOT_RUNNING. */
arenaut_status arenaut_iteration_abort(arenaut_iteration *it, arenaut_fault *fault);
/* Frees all held outputs. Fine if there are none; RUNNING. */
arenaut_status arenaut_iteration_release_outputs(arenaut_iteration *it, arenaut_fault *fault);
/* Frees one held output: its own memory at once, a planned buffer with the last output in it.
 * Another held output that uses the same storage keeps it. RUNNING, OUTPUTS_RELEASED.
 * O(outputs). */
arenaut_status arenaut_iteration_release_output(arenaut_iteration *it, uint32_t value,
                                                arenaut_fault *fault);
/* Makes the plan now rather than in the next `allocate`, if one is due. RUNNING, OUTPUTS_HELD,
 * SIZE; of the planner that is called back PLANNER_MEMORY, PLAN_FAILED, and PLAN_BAD for places
 * outside its arena; in checked builds also PLAN_OVERLAP for values that are alive together and
 * overlap without leave (O(n log n + pairs alive together)). */
arenaut_status arenaut_iteration_plan(arenaut_iteration *it, arenaut_fault *fault);
/* Forgets the sizes of all runs, and with them the plan, and gives back every buffer: the next run
 * takes its memory from the default source and learns anew, as the first one did, or `learn` gives
 * the sizes. For the time after a run that was far larger than all others. RUNNING, OUTPUTS_HELD.
 * O(values). */
arenaut_status arenaut_iteration_forget(arenaut_iteration *it, arenaut_fault *fault);
/* Manages outputs no longer: from the next run on they are the caller's. RUNNING,
 * OUTPUTS_HELD. */
arenaut_status arenaut_iteration_disable_managed_outputs(arenaut_iteration *it,
                                                         arenaut_fault *fault);

/* During a run: `bytes` for a managed value, in *data; its place if it fits there, else from the
 * default source. Its content is lost if it moves. NOT_RUNNING, VALUE, VALUE_KIND, NO_MEMORY or the
 * source's fault. */
arenaut_status arenaut_iteration_resize(arenaut_iteration *it, uint32_t value, size_t bytes,
                                        void **data, arenaut_fault *fault);
/* For executors that take memory themselves: says that `value` needed so many bytes. At any
 * time; a maximum that grows renews the plan at the next `allocate`. */
arenaut_status arenaut_iteration_learn(arenaut_iteration *it, uint32_t value, size_t bytes,
                                       arenaut_fault *fault);
/* During a run: the model gives `value` another storage, borrowed until `deallocate`, which learns
 * its size, releases its memory and puts the managed one back. That of an output is borrowed until
 * the output is released, and so is its memory if it owns none (`source` NULL); it must not be the
 * managed storage of a value that is no output (OUTPUT_IN_ARENA).
 *
 * A header of the model's own must not point into the arena (STORAGE_IN_ARENA, of an output
 * OUTPUT_IN_ARENA). The managed storage of another value may be used where it lies in the arena if
 * it began to live no later than this value does, and nothing else with bytes there, be it this
 * value's own storage, is alive while this value is: else one would write over the other
 * (STORAGE_IN_ARENA, with the other value in `found`). NOT_RUNNING. O(values). */
arenaut_status arenaut_iteration_swap(arenaut_iteration *it, uint32_t value,
                                      arenaut_storage *storage, arenaut_fault *fault);
/* During a run, or of an output that is held: hands the memory that `value` owns to the caller, to
 * be released through its source; `value`, and any other value of that storage, has none then, and
 * is held no longer. NOTHING_OWNED for memory of a planned buffer, and for borrowed memory of a
 * swapped storage; NOT_RUNNING. */
arenaut_status arenaut_iteration_take(arenaut_iteration *it, uint32_t value, arenaut_storage *out,
                                      arenaut_fault *fault);

/* The storage that a managed value uses now; NULL for others. */
arenaut_storage *arenaut_iteration_storage(const arenaut_iteration *it, uint32_t value);
/* The place and the size of a held output: the bytes that were last asked for in that run (resize),
 * or else those of its storage. `source` is NULL: it stays the iteration's. OUTPUTS_RELEASED if it
 * is not held. */
arenaut_status arenaut_iteration_output(const arenaut_iteration *it, uint32_t value,
                                        arenaut_storage *out, arenaut_fault *fault);

/* Whether the value's data lies where outputs are planned: not after release, before the first
 * plan, for a value that is no tensor, for a tensor without data, nor where it outgrew its place or
 * was swapped. */
bool arenaut_iteration_is_managed_output(const arenaut_iteration *it, uint32_t value);
/* Whether the value is an output of the last run that was not released yet, wherever it lies. */
bool arenaut_iteration_is_held(const arenaut_iteration *it, uint32_t value);
/* Whether this header is one of the block of managed storages. */
bool arenaut_iteration_is_storage_managed(const arenaut_iteration *it,
                                          const arenaut_storage *storage);
/* Whether this address lies in the arena, [start, end). No buffer: no. */
bool arenaut_iteration_in_buffer(const arenaut_iteration *it, const void *address);
/* The same of the buffer of managed outputs, where these lie apart from the arena. */
bool arenaut_iteration_in_output_buffer(const arenaut_iteration *it, const void *address);

/* Storage groups, numbered from 0; there are none unless `grouping` says so. The group of a
 * value: ARENAUT_NO_GROUP for one that is in none, such as a managed output apart. The members
 * of a group are values (those of one storage all): their number is returned, and as many as
 * there is room for, in `value`, which may be NULL with no room. Its size is that of its largest
 * member in the plan in force, 0 before there is one. O(values). */
#define ARENAUT_NO_GROUP UINT32_MAX
uint32_t arenaut_iteration_group_count(const arenaut_iteration *it);
uint32_t arenaut_iteration_group(const arenaut_iteration *it, uint32_t value);
uint32_t arenaut_iteration_group_members(const arenaut_iteration *it, uint32_t group,
                                         uint32_t *value, uint32_t room);
size_t arenaut_iteration_group_size(const arenaut_iteration *it, uint32_t group);

/* Whether `allocate` was called, and `deallocate` not yet. */
bool arenaut_iteration_is_running(const arenaut_iteration *it);
/* Whether any output is held. */
bool arenaut_iteration_outputs_are_held(const arenaut_iteration *it);

/* The arena while there is one, its size, and the planned offset of a value in it: for a client
 * that re-points all its tensors at once. An offset is ARENAUT_NO_OFFSET for a value without a
 * place there; of an output it counts from the start of the output buffer. */
#define ARENAUT_NO_OFFSET SIZE_MAX
void *arenaut_iteration_buffer(const arenaut_iteration *it);
void *arenaut_iteration_output_buffer(const arenaut_iteration *it);
size_t arenaut_iteration_offset(const arenaut_iteration *it, uint32_t value);
/* The largest size seen of its storage, with its slack, rounded up; 0 if it is not managed. */
size_t arenaut_iteration_size(const arenaut_iteration *it, uint32_t value);
/* Goes up by one with every new plan; 0: there is none yet. */
uint32_t arenaut_iteration_plan_number(const arenaut_iteration *it);

typedef struct arenaut_iteration_figures {
    uint32_t managed; /* tensors with a place in the arena */
    uint32_t reused;  /* storages beyond one per disjoint stretch of the arena; for
                       * groups the sum of (members - 1) */
    uint32_t managed_outputs;
    uint32_t unmanaged_scalars;
    uint32_t unmanaged_non_scalars; /* borrowed ones included, outputs not */
    uint32_t unmanaged;             /* both */
    size_t managed_bytes;           /* of the arena as planned */
    size_t output_bytes;            /* of the output buffer as planned */
    uint32_t overflows;             /* how often, in all runs, a storage outgrew its place */
    size_t overflow_bytes;          /* by how many bytes, together */
    size_t largest_overflow;        /* and at most */
    uint32_t runs_without_buffer;   /* that fell back, since no planned buffer could be had */
} arenaut_iteration_figures;

arenaut_iteration_figures arenaut_iteration_count(const arenaut_iteration *it);

#ifdef __cplusplus
}
#endif
#endif
