/* The memory manager: the planned memories of a program ("pools"), from any source, and the
 * addresses in them.
 *
 * Programs that live on the host give pools and nothing more. Where pools lie on devices, a sparse
 * table says which: one entry per pool that does not lie on device 0 of the host. Without such a
 * table there is not a byte for it, and no code but the comparison of two tables when a program is
 * put on its memory (arenaut_memory_init_devices and all look-up of devices are in a file of their
 * own).
 *
 * Threads: a memory belongs to one thread at a time; different ones are independent. */
#ifndef ARENAUT_RUNTIME_MEMORY_H
#define ARENAUT_RUNTIME_MEMORY_H

#include <arenaut/runtime_device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pool `pool` lies on `device`, which is not the host's device 0. Tables rise by pool. */
typedef struct arenaut_pool_device {
    uint32_t pool;
    arenaut_device device;
} arenaut_pool_device;

/* Everything is borrowed. Plain data, so it may be const and in flash. */
typedef struct arenaut_memory_manager {
    const arenaut_span *pool;
    uint32_t n_pools;
    uint32_t n_devices;
    const arenaut_pool_device *device; /* NULL: all on the host */
} arenaut_memory_manager;

/* Pools on the host. */
arenaut_memory_manager arenaut_memory_on_host(const arenaut_span *pool, uint32_t n_pools);

/* Pools on devices as the table says; a table that does not rise, names pools that are not
 * there, or device 0 of the host, is refused. n_devices may be 0. */
arenaut_status arenaut_memory_init_devices(arenaut_memory_manager *memory, const arenaut_span *pool,
                                           uint32_t n_pools, const arenaut_pool_device *device,
                                           uint32_t n_devices, arenaut_fault *fault);

/* Whether any pool lies elsewhere than on device 0 of the host. */
static inline bool arenaut_memory_has_device(const arenaut_memory_manager *memory) {
    return memory->n_devices != 0;
}

/* The device of a pool: host, index 0, unless the table says otherwise. POOL. */
arenaut_status arenaut_memory_device(const arenaut_memory_manager *memory, uint32_t pool,
                                     arenaut_device *device, arenaut_fault *fault);

/* The address of `size` bytes at `offset` of a pool. All of them lie in the pool, or it is an
 * error (POOL, OUTSIDE) and *address stays as it was. */
arenaut_status arenaut_memory_address(const arenaut_memory_manager *memory, uint32_t pool,
                                      size_t offset, size_t size, void **address,
                                      arenaut_fault *fault);

/* The requirements on a pool. */
typedef struct arenaut_pool_need {
    size_t bytes;
    size_t align; /* of the pool's start; a power of two */
} arenaut_pool_need;

/* The memories that a method needs, all borrowed: arenaut_static_program_memory makes it of a
 * static program, and so of an exported header or, with arenaut_static_program_read, of a `.pte`, a
 * plan, or any other file with a plan inside. */
typedef struct arenaut_method_memory {
    uint32_t n_buffers;
    uint32_t n_devices;
    const arenaut_pool_need *need;
    const arenaut_pool_device *device; /* NULL: all on the host */
} arenaut_method_memory;

/* The size of memory `index`, and its device: host, index 0, unless the table says otherwise.
 * POOL for an index past the last. */
arenaut_status arenaut_method_buffer_size(const arenaut_method_memory *method, uint32_t index,
                                          size_t *bytes, arenaut_fault *fault);
arenaut_status arenaut_method_buffer_device(const arenaut_method_memory *method, uint32_t index,
                                            arenaut_device *device, arenaut_fault *fault);

/* Whether every memory lies on the device that the method has it on: POOL_COUNT, POOL_DEVICE,
 * POOL_DEVICE_INDEX. arenaut_instance_init checks the same for a static program. */
arenaut_status arenaut_memory_check_devices(const arenaut_memory_manager *memory,
                                            const arenaut_method_memory *method,
                                            arenaut_fault *fault);

/* Allocates every memory of a method through the registry, as large and aligned as it needs, host
 * memories too (which needs an allocator registered for the host), and makes the manager of them.
 * `buffer` and `span` are arrays of n_buffers; the buffers must be empty, and are the caller's to
 * destroy. On failure all of them are freed. */
arenaut_status arenaut_memory_create(const arenaut_method_memory *method,
                                     arenaut_device_buffer *buffer, arenaut_span *span,
                                     arenaut_memory_manager *memory, arenaut_fault *fault);

/* The same with memories that their allocators keep: memory k is made by init_buffer of its
 * device's allocator, and found by address_at. It lives until that allocator is closed, also
 * memories made before a failure. `span` is an array of n_buffers. */
arenaut_status arenaut_memory_init_planned(const arenaut_method_memory *method, arenaut_span *span,
                                           arenaut_memory_manager *memory, arenaut_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
