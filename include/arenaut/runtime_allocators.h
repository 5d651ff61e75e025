/* Ready-made device allocators and sources. These are for hosted systems: they use the C
 * library, and load drivers when they are opened, so that nothing is needed to build them.
 * Each struct is the caller's and must stay where it is while it is open or registered.
 *
 *     arenaut_opencl_allocator opencl;
 *     arenaut_planned_memory slot[4];
 *     if (arenaut_opencl_open(&opencl, NULL, slot, 4, &fault) == ARENAUT_OK)
 *         arenaut_device_register(&opencl.hosted.allocator, &fault);
 *
 * Threads: different allocators may be used at once; one of them only by one thread at a
 * time. */
#ifndef ARENAUT_RUNTIME_ALLOCATORS_H
#define ARENAUT_RUNTIME_ALLOCATORS_H

#include <arenaut/runtime_device.h>
#include <arenaut/runtime_iteration.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A memory that init_buffer made. */
typedef struct arenaut_planned_memory {
    void *data;
    size_t size;
    uint32_t memory, index;
} arenaut_planned_memory;

/* The common part of the three: the interface, and the memories that they made, in an array of the
 * caller's (which may be NULL, with a capacity of 0: then init_buffer is refused). */
typedef struct arenaut_hosted_allocator {
    arenaut_device_allocator allocator; /* to be registered */
    arenaut_planned_memory *slot;
    uint32_t capacity, count;
} arenaut_hosted_allocator;

/* The host, with one index, 0. Blocks of 2 MiB and more are aligned to that, and huge pages
 * are asked for where the system has them. */
typedef struct arenaut_host_allocator {
    arenaut_hosted_allocator hosted; /* type ARENAUT_DEVICE_HOST */
} arenaut_host_allocator;

void arenaut_host_open(arenaut_host_allocator *host, arenaut_planned_memory *slot,
                       uint32_t capacity);
/* Every _close frees the memories that init_buffer made, not other allocations. */
void arenaut_host_close(arenaut_host_allocator *host);

/* CUDA, through the driver library, which is loaded here: no toolkit is needed. Addresses are
 * CUdeviceptr values, in the primary context of their device, which the CUDA runtime and the
 * frameworks use too, so kernels of theirs can work on them. */
enum { ARENAUT_CUDA_DEVICES = 16, ARENAUT_CUDA_FUNCTIONS = 11 };
typedef struct arenaut_cuda_allocator {
    arenaut_hosted_allocator hosted; /* type ARENAUT_DEVICE_CUDA */
    void *library;
    void (*function[ARENAUT_CUDA_FUNCTIONS])(void);
    uint32_t n_devices;
    void *context[ARENAUT_CUDA_DEVICES]; /* retained when a device is first used */
} arenaut_cuda_allocator;

/* `library` is a file to load, NULL: libcuda.so.1. DEVICE_LIBRARY if it is not here or lacks a
 * function, DEVICE_FAILED if it has no device or does not work: then nothing is open. */
arenaut_status arenaut_cuda_open(arenaut_cuda_allocator *cuda, const char *library,
                                 arenaut_planned_memory *slot, uint32_t capacity,
                                 arenaut_fault *fault);
void arenaut_cuda_close(arenaut_cuda_allocator *cuda);

/* OpenCL 2.0 and later, through the ICD loader, which is loaded here. Memory is coarse-grained
 * shared virtual memory, since only that has addresses that can be added to: hand them to kernels
 * with clSetKernelArgSVMPointer, in the context of their device (below). Devices without it are
 * left out; indices count the others, over all platforms. */
enum { ARENAUT_OPENCL_DEVICES = 16, ARENAUT_OPENCL_FUNCTIONS = 10 };
typedef struct arenaut_opencl_device {
    void *id, *context, *queue; /* cl_device_id, cl_context, cl_command_queue */
} arenaut_opencl_device;

typedef struct arenaut_opencl_allocator {
    arenaut_hosted_allocator hosted; /* type ARENAUT_DEVICE_OPENCL */
    void *library;
    void (*function[ARENAUT_OPENCL_FUNCTIONS])(void);
    uint32_t n_devices;
    arenaut_opencl_device device[ARENAUT_OPENCL_DEVICES]; /* made when first used */
} arenaut_opencl_allocator;

/* `library` is a file to load, NULL: libOpenCL.so.1. Fails as arenaut_cuda_open does. */
arenaut_status arenaut_opencl_open(arenaut_opencl_allocator *opencl, const char *library,
                                   arenaut_planned_memory *slot, uint32_t capacity,
                                   arenaut_fault *fault);
void arenaut_opencl_close(arenaut_opencl_allocator *opencl);

/* Sources for iterations: the C library's heap, and the same with huge pages as the host
 * allocator asks for them. */
arenaut_source arenaut_heap_source(void);
arenaut_source arenaut_pages_source(void);

/* The memory of a device as a source. Set `device`, leave the rest zero. */
typedef struct arenaut_device_heap {
    arenaut_device device;
    arenaut_device_allocator *allocator; /* owner of the blocks that are out now */
    size_t live;                         /* blocks that are out */
} arenaut_device_heap;

/* `heap` must outlive the source, and belongs to one thread at a time. Its allocator is looked up
 * in the registry when a block is taken while none is out; its blocks go back to it, even if
 * another one is registered by then. Its failures are passed on: DEVICE_ABSENT names a type without
 * an allocator. */
arenaut_source arenaut_device_source(arenaut_device_heap *heap);

#ifdef __cplusplus
}
#endif
#endif
