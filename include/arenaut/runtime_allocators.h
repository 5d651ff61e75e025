/* Ready-made device allocators and sources. These are for hosted systems: they use mmap or
 * the C library, and load drivers when they are opened, so that nothing is needed to build
 * them. Each struct is the caller's and must stay where it is while open or registered. */
#ifndef ARENAUT_RUNTIME_ALLOCATORS_H
#define ARENAUT_RUNTIME_ALLOCATORS_H

#include <arenaut/runtime_device.h>
#include <arenaut/runtime_iteration.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A planned memory that an allocator made. */
typedef struct arenaut_planned_memory {
    void *data;
    size_t size;
    uint32_t memory, index;
} arenaut_planned_memory;

/* The memories that init_buffer made: an array of the caller's. */
typedef struct arenaut_planned_memories {
    arenaut_planned_memory *slot;
    uint32_t capacity, count;
} arenaut_planned_memories;

/* The host. Blocks of `huge_from` bytes and more come from the system's pages, huge ones
 * where it offers them (madvise, so it decides); smaller ones from the C library. There is
 * one index, 0. */
typedef struct arenaut_host_allocator {
    arenaut_device_allocator base; /* type ARENAUT_DEVICE_HOST */
    arenaut_planned_memories memories;
} arenaut_host_allocator;

/* `slot` is room for `capacity` memories of init_buffer; may be NULL, with 0. */
void arenaut_host_open(arenaut_host_allocator *host, arenaut_planned_memory *slot,
                       uint32_t capacity);
void arenaut_host_close(arenaut_host_allocator *host); /* frees the memories */

/* CUDA, through the driver library, which is loaded here (no toolkit is needed). Addresses
 * are CUdeviceptr values. The primary context of each device is used, as the CUDA runtime
 * does, so that they work in its kernels. */
enum { ARENAUT_CUDA_DEVICES = 16 };
typedef struct arenaut_cuda_allocator {
    arenaut_device_allocator base; /* type ARENAUT_DEVICE_CUDA */
    arenaut_planned_memories memories;
    struct arenaut_cuda_driver {
        void *library;
        void (*function[13])(void);
    } driver;
    uint32_t n_devices;
    void *context[ARENAUT_CUDA_DEVICES]; /* retained when a device is first used */
} arenaut_cuda_allocator;

/* `library` NULL: libcuda.so.1. DEVICE_LIBRARY if it is not here, DEVICE_FAILED if it finds
 * no device: then nothing is open. */
arenaut_status arenaut_cuda_open(arenaut_cuda_allocator *cuda, const char *library,
                                 arenaut_planned_memory *slot, uint32_t capacity,
                                 arenaut_fault *fault);
void arenaut_cuda_close(arenaut_cuda_allocator *cuda);

/* OpenCL 2.0 and later, through the ICD loader, which is loaded here. Memory is coarse-grained
 * shared virtual memory, since only that has addresses that can be added to: hand them to
 * kernels with clSetKernelArgSVMPointer, with `opencl->context`. Devices without it are left
 * out; index counts those that have it, over all platforms. */
enum { ARENAUT_OPENCL_DEVICES = 16 };
typedef struct arenaut_opencl_allocator {
    arenaut_device_allocator base; /* type ARENAUT_DEVICE_OPENCL */
    arenaut_planned_memories memories;
    struct arenaut_opencl_driver {
        void *library;
        void (*function[11])(void);
    } driver;
    uint32_t n_devices;
    struct arenaut_opencl_device {
        void *device, *context, *queue; /* cl_device_id, cl_context, cl_command_queue */
    } device[ARENAUT_OPENCL_DEVICES];
} arenaut_opencl_allocator;

/* `library` NULL: libOpenCL.so.1. DEVICE_LIBRARY, DEVICE_FAILED as above. */
arenaut_status arenaut_opencl_open(arenaut_opencl_allocator *opencl, const char *library,
                                   arenaut_planned_memory *slot, uint32_t capacity,
                                   arenaut_fault *fault);
void arenaut_opencl_close(arenaut_opencl_allocator *opencl);

/* Sources for iterations: the C library's heap; pages as the host allocator takes them; the
 * memory of a registered device, whose struct is the context and must outlive the source. */
arenaut_source arenaut_heap_source(void);
arenaut_source arenaut_pages_source(void);
arenaut_source arenaut_device_source(arenaut_device *device);

#ifdef __cplusplus
}
#endif
#endif
