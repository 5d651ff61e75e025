/* CUDA's memory through the driver API. Its few types are spelled out here (they are part of a
 * binary interface that does not change), so that no header of theirs is needed. */
#include "runtime/hosted/hosted.h"

typedef int result;                        /* CUresult; 0 is success */
typedef int device;                        /* CUdevice */
typedef unsigned long long device_address; /* CUdeviceptr */

enum { OUT_OF_MEMORY = 2, NO_DEVICE = 100 };

/* The functions, in the order of `names`. Where the driver has two versions of one, its header
 * means the second by the name. */
enum { INIT, GET_COUNT, GET_DEVICE, RETAIN, RELEASE, PUSH, POP, ALLOCATE, FREE, COPY_IN, COPY_OUT };
static const char *const names[ARENAUT_CUDA_FUNCTIONS] = {
    [INIT] = "cuInit",
    [GET_COUNT] = "cuDeviceGetCount",
    [GET_DEVICE] = "cuDeviceGet",
    [RETAIN] = "cuDevicePrimaryCtxRetain",
    [RELEASE] = "cuDevicePrimaryCtxRelease_v2",
    [PUSH] = "cuCtxPushCurrent_v2",
    [POP] = "cuCtxPopCurrent_v2",
    [ALLOCATE] = "cuMemAlloc_v2",
    [FREE] = "cuMemFree_v2",
    [COPY_IN] = "cuMemcpyHtoD_v2",
    [COPY_OUT] = "cuMemcpyDtoH_v2",
};
#define CALL(cuda, which, types) ((result(*) types)(cuda)->function[which])

static arenaut_status driver_failed(result answer, size_t size, arenaut_fault *fault) {
    if (answer == OUT_OF_MEMORY)
        return arn_runtime_fault(fault, ARENAUT_FAULT_NO_MEMORY, ARENAUT_DEVICE_CUDA, size, 0);
    return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_FAILED, ARENAUT_DEVICE_CUDA,
                             (size_t)answer, 0);
}

/* Makes the context of device `index` current; leave() undoes that, so that the caller's
 * thread has the context that it had. */
static arenaut_status enter(arenaut_cuda_allocator *cuda, uint32_t index, arenaut_fault *fault) {
    result answer = 0;
    if (index >= cuda->n_devices)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_INDEX, ARENAUT_DEVICE_CUDA, index,
                                 cuda->n_devices);
    if (!cuda->context[index]) {
        device which;
        answer = CALL(cuda, GET_DEVICE, (device *, int))(&which, (int)index);
        if (answer == 0)
            answer = CALL(cuda, RETAIN, (void **, device))(&cuda->context[index], which);
    }
    if (answer == 0) answer = CALL(cuda, PUSH, (void *))(cuda->context[index]);
    return answer == 0 ? ARENAUT_OK : driver_failed(answer, 0, fault);
}

static void leave(arenaut_cuda_allocator *cuda) {
    void *left;
    CALL(cuda, POP, (void **))(&left);
}

static arenaut_status cuda_allocate(arenaut_device_allocator *self, size_t size, size_t align,
                                    uint32_t index, void **address, arenaut_fault *fault) {
    arenaut_cuda_allocator *cuda = (arenaut_cuda_allocator *)self;
    device_address block = 0;
    arenaut_status status = enter(cuda, index, fault);
    if (status != ARENAUT_OK) return status;
    const result answer = CALL(cuda, ALLOCATE, (device_address *, size_t))(&block, size + !size);
    if (answer != 0) {
        status = driver_failed(answer, size, fault);
    } else if (block & (align - 1)) { /* it gives 256, and more is not asked for */
        CALL(cuda, FREE, (device_address))(block);
        status = arn_runtime_fault(fault, ARENAUT_FAULT_POOL_MISALIGNED, ARENAUT_DEVICE_CUDA,
                                   (size_t)(block & (~block + 1)), align);
    } else {
        *address = (void *)(uintptr_t)block;
    }
    leave(cuda);
    return status;
}

static void cuda_deallocate(arenaut_device_allocator *self, void *address, uint32_t index) {
    arenaut_cuda_allocator *cuda = (arenaut_cuda_allocator *)self;
    if (!address || enter(cuda, index, NULL) != ARENAUT_OK) return;
    CALL(cuda, FREE, (device_address))((uintptr_t)address);
    leave(cuda);
}

static arenaut_status cuda_copy_in(arenaut_device_allocator *self, void *to, const void *from,
                                   size_t size, uint32_t index, arenaut_fault *fault) {
    arenaut_cuda_allocator *cuda = (arenaut_cuda_allocator *)self;
    const arenaut_status status = enter(cuda, index, fault);
    if (status != ARENAUT_OK) return status;
    const result answer =
        CALL(cuda, COPY_IN, (device_address, const void *, size_t))((uintptr_t)to, from, size);
    leave(cuda);
    return answer == 0 ? ARENAUT_OK : driver_failed(answer, size, fault);
}

static arenaut_status cuda_copy_out(arenaut_device_allocator *self, void *to, const void *from,
                                    size_t size, uint32_t index, arenaut_fault *fault) {
    arenaut_cuda_allocator *cuda = (arenaut_cuda_allocator *)self;
    const arenaut_status status = enter(cuda, index, fault);
    if (status != ARENAUT_OK) return status;
    const result answer =
        CALL(cuda, COPY_OUT, (void *, device_address, size_t))(to, (uintptr_t)from, size);
    leave(cuda);
    return answer == 0 ? ARENAUT_OK : driver_failed(answer, size, fault);
}

/* How many devices there are, at most as many as there is room for. */
static arenaut_status count_devices(arenaut_cuda_allocator *cuda, arenaut_fault *fault) {
    int count = 0;
    result answer = CALL(cuda, INIT, (unsigned int))(0);
    if (answer == 0) answer = CALL(cuda, GET_COUNT, (int *))(&count);
    if (answer == 0 && count <= 0) answer = NO_DEVICE;
    if (answer != 0) return driver_failed(answer, 0, fault);
    cuda->n_devices = count < ARENAUT_CUDA_DEVICES ? (uint32_t)count : ARENAUT_CUDA_DEVICES;
    return ARENAUT_OK;
}

arenaut_status arenaut_cuda_open(arenaut_cuda_allocator *cuda, const char *library,
                                 arenaut_planned_memory *slot, uint32_t capacity,
                                 arenaut_fault *fault) {
    arenaut_status status;
    *cuda = (arenaut_cuda_allocator){.hosted = {{.type = ARENAUT_DEVICE_CUDA,
                                                 .init_buffer = arn_hosted_init_buffer,
                                                 .address_at = arn_hosted_address_at,
                                                 .allocate = cuda_allocate,
                                                 .deallocate = cuda_deallocate,
                                                 .copy_to_device = cuda_copy_in,
                                                 .copy_to_host = cuda_copy_out},
                                                .slot = slot,
                                                .capacity = capacity}};
    cuda->library = arn_hosted_library_open(library ? library : ARN_CUDA_LIBRARY);
    if (!cuda->library)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_LIBRARY, ARENAUT_DEVICE_CUDA, 0, 0);
    if (arn_hosted_library_find(cuda->library, names, cuda->function, ARENAUT_CUDA_FUNCTIONS))
        status = count_devices(cuda, fault);
    else status = arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_LIBRARY, ARENAUT_DEVICE_CUDA, 0, 0);
    if (status != ARENAUT_OK) {
        arn_hosted_library_close(cuda->library);
        cuda->library = NULL;
    }
    return status;
}

void arenaut_cuda_close(arenaut_cuda_allocator *cuda) {
    if (!cuda->library) return;
    arn_hosted_free(&cuda->hosted);
    for (uint32_t i = 0; i < cuda->n_devices; i++) {
        device which;
        if (!cuda->context[i]) continue;
        if (CALL(cuda, GET_DEVICE, (device *, int))(&which, (int)i) == 0)
            CALL(cuda, RELEASE, (device))(which);
        cuda->context[i] = NULL;
    }
    arn_hosted_library_close(cuda->library);
    cuda->library = NULL;
}
