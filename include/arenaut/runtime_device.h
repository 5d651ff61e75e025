/* The device layer: allocators for the memories of devices, a registry of them, and a
 * buffer that owns one allocation.
 *
 * There is no heap: allocators and buffers are structs of the caller. The registry is the
 * runtime's only writable global: one pointer per device type, borrowed. Register before
 * other threads look; after that reading is safe from any thread. */
#ifndef ARENAUT_RUNTIME_DEVICE_H
#define ARENAUT_RUNTIME_DEVICE_H

#include <stdbool.h>

#include <arenaut/device.h>
#include <arenaut/runtime_fault.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stretch of memory, on the host or on a device. */
typedef struct arenaut_span {
    void *data;
    size_t size;
} arenaut_span;

/* Memory of one device type. The struct is the first member of the implementation's own, so `self`
 * leads there. Addresses are the device's own; `address + n` is the address of the n-th byte behind
 * it, on every device. Every function must be there, and none may be called with a NULL address,
 * but deallocate. On failure `fault` (which may be NULL) is filled and outputs stay as they
 * were. */
typedef struct arenaut_device_allocator {
    uint32_t type; /* below ARENAUT_DEVICE_TYPES */
    /* Makes the planned memory `memory`, which lives until the allocator is closed. */
    arenaut_status (*init_buffer)(struct arenaut_device_allocator *self, uint32_t memory,
                                  size_t size, uint32_t index, arenaut_fault *fault);
    /* The address of `size` bytes at `offset` of a memory made by init_buffer. */
    arenaut_status (*address_at)(struct arenaut_device_allocator *self, uint32_t memory,
                                 size_t offset, size_t size, uint32_t index, void **address,
                                 arenaut_fault *fault);
    /* `align` is a power of two. A size of 0 gives an address that can be freed. */
    arenaut_status (*allocate)(struct arenaut_device_allocator *self, size_t size, size_t align,
                               uint32_t index, void **address, arenaut_fault *fault);
    void (*deallocate)(struct arenaut_device_allocator *self, void *address, uint32_t index);
    /* Both are over when they return. */
    arenaut_status (*copy_to_device)(struct arenaut_device_allocator *self, void *to,
                                     const void *from, size_t size, uint32_t index,
                                     arenaut_fault *fault);
    arenaut_status (*copy_to_host)(struct arenaut_device_allocator *self, void *to,
                                   const void *from, size_t size, uint32_t index,
                                   arenaut_fault *fault);
} arenaut_device_allocator;

/* Registers an allocator for its type; it is borrowed until it is taken out again. A type
 * past the table, one that is taken, or an allocator that lacks a function is refused. */
arenaut_status arenaut_device_register(arenaut_device_allocator *allocator, arenaut_fault *fault);
/* Takes it out; DEVICE_ABSENT if it is not the one registered. */
arenaut_status arenaut_device_unregister(arenaut_device_allocator *allocator, arenaut_fault *fault);
/* The allocator of a type, in *out; a type without one is named in the fault. */
arenaut_status arenaut_device_find(uint32_t type, arenaut_device_allocator **out,
                                   arenaut_fault *fault);

/* Owns one allocation. Zero-initialise it, do not copy it: move it. */
typedef struct arenaut_device_buffer {
    void *data;
    size_t size;
    arenaut_device device;
    arenaut_device_allocator *allocator; /* NULL: empty */
} arenaut_device_buffer;

/* Allocates through the registry. *out must be empty, or BUFFER_IN_USE. */
arenaut_status arenaut_device_buffer_create(arenaut_device device, size_t size, size_t align,
                                            arenaut_device_buffer *out, arenaut_fault *fault);
/* Frees its allocation, once; an empty buffer has none. NULL is fine. */
void arenaut_device_buffer_destroy(arenaut_device_buffer *buffer);
/* Destroys *to, hands it the allocation of *from, and leaves *from empty. To itself: nothing. */
void arenaut_device_buffer_move(arenaut_device_buffer *to, arenaut_device_buffer *from);
arenaut_span arenaut_device_buffer_span(const arenaut_device_buffer *buffer);

/* Copies into and out of the buffer at `offset`; COPY if that ends behind it. */
arenaut_status arenaut_device_buffer_write(const arenaut_device_buffer *buffer, size_t offset,
                                           const void *from, size_t size, arenaut_fault *fault);
arenaut_status arenaut_device_buffer_read(const arenaut_device_buffer *buffer, size_t offset,
                                          void *to, size_t size, arenaut_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
