/* Shared parts of the hosted allocators. */
#ifndef ARN_RUNTIME_HOSTED_H
#define ARN_RUNTIME_HOSTED_H

#include <arenaut/runtime_allocators.h>

#include "runtime/fault.h"

/* init_buffer and address_at over the caller's array; memory comes from the allocator's own
 * `allocate`. `hosted` must be the first member of the allocator. */
arenaut_status arn_hosted_init_buffer(arenaut_device_allocator *self, uint32_t memory, size_t size,
                                      uint32_t index, arenaut_fault *fault);
arenaut_status arn_hosted_address_at(arenaut_device_allocator *self, uint32_t memory, size_t offset,
                                     size_t size, uint32_t index, void **address,
                                     arenaut_fault *fault);
void arn_hosted_free(arenaut_hosted_allocator *hosted);

/* File names of the drivers' libraries. */
#if defined(_WIN32)
#define ARN_CUDA_LIBRARY "nvcuda.dll"
#define ARN_OPENCL_LIBRARY "OpenCL.dll"
#elif defined(__APPLE__)
#define ARN_CUDA_LIBRARY "libcuda.dylib"
#define ARN_OPENCL_LIBRARY "/System/Library/Frameworks/OpenCL.framework/OpenCL"
#else
#define ARN_CUDA_LIBRARY "libcuda.so.1"
#define ARN_OPENCL_LIBRARY "libOpenCL.so.1"
#endif

/* Shared libraries. NULL if there is none of that name; false if any function is missing. */
void *arn_hosted_library_open(const char *name);
bool arn_hosted_library_find(void *library, const char *const *name, void (**function)(void),
                             size_t n);
void arn_hosted_library_close(void *library);

/* Memory of the C library, at any alignment; large blocks with huge pages if asked for. */
void *arn_hosted_heap_allocate(size_t size, size_t align, bool huge_pages);
void arn_hosted_heap_free(void *block);

#endif
