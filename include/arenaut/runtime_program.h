/* Static programs: a plan made beforehand, put on memory and run.
 *
 *     #include <arenaut/runtime_program.h>
 *     #include "model.h"                      // arenaut export model.tflite --as header
 *     static _Alignas(MODEL_ARENA_ALIGN) unsigned char arena[MODEL_ARENA_BYTES];
 *
 *     const arenaut_span pool[] = {{arena, sizeof arena}};
 *     const arenaut_memory_manager memory = arenaut_memory_on_host(pool, 1);
 *     arenaut_instance model;
 *     arenaut_instance_init(&model, &model_program, MODEL_FINGERPRINT, &memory, &fault);
 *     arenaut_instance_begin(&model, method, &fault);
 *     arenaut_instance_input(&model, 0, &span, &fault);  ...  fill it, run the kernels
 *     arenaut_instance_end(&model, &fault);
 *
 * A program has several methods over one set of pools. They never run at the same time, so
 * they share memory; state lies where no method puts anything else, and so keeps its bytes
 * between calls. A program is const, and many instances may share it, on memories of their
 * own, from any threads; one instance belongs to one thread at a time. */
#ifndef ARENAUT_RUNTIME_PROGRAM_H
#define ARENAUT_RUNTIME_PROGRAM_H

#include <arenaut/runtime_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARENAUT_NO_POOL UINT32_MAX /* of a place that is not in the plan's memory */
#define ARENAUT_NO_METHOD UINT32_MAX

/* The place of one tensor. */
typedef struct arenaut_place {
    size_t offset, bytes;
    uint32_t pool;
} arenaut_place;

typedef struct arenaut_static_method {
    const char *name; /* may be NULL */
    uint32_t n_inputs, n_outputs;
    const uint32_t *inputs, *outputs; /* places */
} arenaut_static_method;

typedef struct arenaut_static_program {
    uint64_t fingerprint; /* of the program that was planned; 0: unknown */
    uint32_t n_pools, n_places, n_methods, n_devices;
    const arenaut_pool_need *pool;
    const arenaut_place *place;          /* one for each tensor, or each buffer of a problem */
    const arenaut_static_method *method; /* NULL: none are known */
    const arenaut_pool_device *device;   /* of pools elsewhere; NULL: all on the host */
} arenaut_static_program;

/* The memories that a program needs, one for each of its pools; all methods share them. It
 * borrows from the program. */
static inline arenaut_method_memory arenaut_static_program_memory(
    const arenaut_static_program *program) {
    const arenaut_method_memory memory = {program->n_pools, program->n_devices, program->pool,
                                          program->device};
    return memory;
}

typedef struct arenaut_instance {
    const arenaut_static_program *program;
    const arenaut_memory_manager *memory;
    uint32_t running; /* a method, or ARENAUT_NO_METHOD */
} arenaut_instance;

/* Puts a program on memory, both borrowed. `fingerprint` is that of the program that will be
 * run: another plan's is refused; 0 asks for no check. Pools that are too few, too small,
 * misaligned or on another device than the plan's, and places that do not lie in their pools,
 * are refused; nothing is touched. O(pools + places). */
arenaut_status arenaut_instance_init(arenaut_instance *instance,
                                     const arenaut_static_program *program, uint64_t fingerprint,
                                     const arenaut_memory_manager *memory, arenaut_fault *fault);

/* One method at a time: METHOD_RUNS, METHOD_IDLE. */
arenaut_status arenaut_instance_begin(arenaut_instance *instance, uint32_t method,
                                      arenaut_fault *fault);
arenaut_status arenaut_instance_end(arenaut_instance *instance, arenaut_fault *fault);

/* The address of a place. PLACE, or PLACE_ELSEWHERE if it is not in the plan's memory. */
arenaut_status arenaut_instance_place(const arenaut_instance *instance, uint32_t place,
                                      arenaut_span *span, arenaut_fault *fault);
/* The device that a place lies on. PLACE, PLACE_ELSEWHERE. */
arenaut_status arenaut_instance_device(const arenaut_instance *instance, uint32_t place,
                                       arenaut_device *device, arenaut_fault *fault);
/* The address of argument `k` of the running method. METHOD_IDLE, METHOD_ARGUMENT, or as above. */
arenaut_status arenaut_instance_input(const arenaut_instance *instance, uint32_t k,
                                      arenaut_span *span, arenaut_fault *fault);
arenaut_status arenaut_instance_output(const arenaut_instance *instance, uint32_t k,
                                       arenaut_span *span, arenaut_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
