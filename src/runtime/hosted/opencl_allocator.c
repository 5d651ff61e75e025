/* OpenCL's shared virtual memory. Its few types are spelled out here (they are part of a binary
 * interface that does not change), so that no header of theirs is needed. */
#include "runtime/hosted/hosted.h"

typedef int32_t result; /* cl_int; 0 is success */

enum { DEVICE_NOT_FOUND = -1 };
enum { SVM_CAPABILITIES = 0x1053, COARSE_GRAINED = 1, READ_WRITE = 1, BLOCKING = 1 };
static const uint64_t any_device = 0xFFFFFFFF;
enum { LARGEST_TYPE = 128 }; /* bytes: clSVMAlloc aligns to no more than this */
enum { PLATFORMS = 16 };

/* The functions, in the order of `names`. */
enum {
    GET_PLATFORMS,
    GET_DEVICES,
    GET_INFO,
    NEW_CONTEXT,
    FREE_CONTEXT,
    NEW_QUEUE,
    FREE_QUEUE,
    ALLOCATE,
    FREE,
    COPY
};
static const char *const names[ARENAUT_OPENCL_FUNCTIONS] = {
    [GET_PLATFORMS] = "clGetPlatformIDs",
    [GET_DEVICES] = "clGetDeviceIDs",
    [GET_INFO] = "clGetDeviceInfo",
    [NEW_CONTEXT] = "clCreateContext",
    [FREE_CONTEXT] = "clReleaseContext",
    [NEW_QUEUE] = "clCreateCommandQueueWithProperties",
    [FREE_QUEUE] = "clReleaseCommandQueue",
    [ALLOCATE] = "clSVMAlloc",
    [FREE] = "clSVMFree",
    [COPY] = "clEnqueueSVMMemcpy",
};
#define CALL(cl, which, type, types) ((type(*) types)(cl)->function[which])

/* Its errors are negative, and told without the sign. */
static arenaut_status driver_failed(result answer, arenaut_fault *fault) {
    const size_t error = answer < 0 ? (size_t)-answer : (size_t)answer;
    return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_FAILED, ARENAUT_DEVICE_OPENCL, error, 0);
}

/* Device `index`, with its context and queue, which are made when it is first asked for. */
static arenaut_status find_device(arenaut_opencl_allocator *cl, uint32_t index,
                                  arenaut_opencl_device **out, arenaut_fault *fault) {
    result answer = 0;
    if (index >= cl->n_devices)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_INDEX, ARENAUT_DEVICE_OPENCL, index,
                                 cl->n_devices);
    arenaut_opencl_device *device = &cl->device[index];
    if (!device->context) {
        void *const context = CALL(cl, NEW_CONTEXT, void *,
                                   (const intptr_t *, uint32_t, void *const *, void (*)(void),
                                    void *, result *))(NULL, 1, &device->id, NULL, NULL, &answer);
        if (!context) return driver_failed(answer, fault);
        device->queue = CALL(cl, NEW_QUEUE, void *, (void *, void *, const uint64_t *, result *))(
            context, device->id, NULL, &answer);
        if (!device->queue) {
            CALL(cl, FREE_CONTEXT, result, (void *))(context);
            return driver_failed(answer, fault);
        }
        device->context = context;
    }
    *out = device;
    return ARENAUT_OK;
}

static void free_block(const arenaut_opencl_allocator *cl, const arenaut_opencl_device *device,
                       void *block) {
    CALL(cl, FREE, void, (void *, void *))(device->context, block);
}

static arenaut_status cl_allocate(arenaut_device_allocator *self, size_t size, size_t align,
                                  uint32_t index, void **address, arenaut_fault *fault) {
    arenaut_opencl_allocator *cl = (arenaut_opencl_allocator *)self;
    arenaut_opencl_device *device = NULL;
    const arenaut_status status = find_device(cl, index, &device, fault);
    if (status != ARENAUT_OK) return status;
    const uint32_t ask = align < LARGEST_TYPE ? (uint32_t)align : LARGEST_TYPE;
    void *block = CALL(cl, ALLOCATE, void *, (void *, uint64_t, size_t, uint32_t))(
        device->context, READ_WRITE, size + !size, ask);
    if (!block)
        return arn_runtime_fault(fault, ARENAUT_FAULT_NO_MEMORY, ARENAUT_DEVICE_OPENCL, size, 0);
    const uintptr_t at = (uintptr_t)block;
    if (at & (align - 1)) { /* more than it can be asked for, and it did not come by itself */
        free_block(cl, device, block);
        return arn_runtime_fault(fault, ARENAUT_FAULT_POOL_MISALIGNED, ARENAUT_DEVICE_OPENCL,
                                 (size_t)(at & (~at + 1)), align);
    }
    *address = block;
    return ARENAUT_OK;
}

static void cl_deallocate(arenaut_device_allocator *self, void *address, uint32_t index) {
    arenaut_opencl_allocator *cl = (arenaut_opencl_allocator *)self;
    arenaut_opencl_device *device = NULL;
    if (address && find_device(cl, index, &device, NULL) == ARENAUT_OK)
        free_block(cl, device, address);
}

/* Both are copies between addresses, of which one is the device's. */
static arenaut_status cl_copy(arenaut_device_allocator *self, void *to, const void *from,
                              size_t size, uint32_t index, arenaut_fault *fault) {
    arenaut_opencl_allocator *cl = (arenaut_opencl_allocator *)self;
    arenaut_opencl_device *device = NULL;
    const arenaut_status status = find_device(cl, index, &device, fault);
    if (status != ARENAUT_OK || size == 0) return status;
    const result answer =
        CALL(cl, COPY, result,
             (void *, uint32_t, void *, const void *, size_t, uint32_t, const void *, void **))(
            device->queue, BLOCKING, to, from, size, 0, NULL, NULL);
    return answer == 0 ? ARENAUT_OK : driver_failed(answer, fault);
}

/* Devices that are older than OpenCL 2.0 do not know the question. */
static bool has_shared_memory(const arenaut_opencl_allocator *cl, void *device) {
    uint64_t capabilities = 0;
    const result answer = CALL(cl, GET_INFO, result, (void *, uint32_t, size_t, void *, size_t *))(
        device, SVM_CAPABILITIES, sizeof capabilities, &capabilities, NULL);
    return answer == 0 && (capabilities & COARSE_GRAINED);
}

static void add_devices(arenaut_opencl_allocator *cl, void *platform) {
    void *device[ARENAUT_OPENCL_DEVICES];
    uint32_t count = 0;
    const result answer =
        CALL(cl, GET_DEVICES, result, (void *, uint64_t, uint32_t, void **, uint32_t *))(
            platform, any_device, ARENAUT_OPENCL_DEVICES, device, &count);
    if (answer != 0) return; /* a platform without devices says so with an error */
    for (uint32_t i = 0; i < count && i < ARENAUT_OPENCL_DEVICES; i++) {
        if (cl->n_devices < ARENAUT_OPENCL_DEVICES && has_shared_memory(cl, device[i]))
            cl->device[cl->n_devices++].id = device[i];
    }
}

static arenaut_status find_devices(arenaut_opencl_allocator *cl, arenaut_fault *fault) {
    void *platform[PLATFORMS];
    uint32_t count = 0;
    const result answer = CALL(cl, GET_PLATFORMS, result, (uint32_t, void **, uint32_t *))(
        PLATFORMS, platform, &count);
    if (answer != 0) return driver_failed(answer, fault);
    for (uint32_t i = 0; i < count && i < PLATFORMS; i++) add_devices(cl, platform[i]);
    return cl->n_devices ? ARENAUT_OK : driver_failed(DEVICE_NOT_FOUND, fault);
}

arenaut_status arenaut_opencl_open(arenaut_opencl_allocator *cl, const char *library,
                                   arenaut_planned_memory *slot, uint32_t capacity,
                                   arenaut_fault *fault) {
    arenaut_status status;
    *cl = (arenaut_opencl_allocator){.hosted = {{.type = ARENAUT_DEVICE_OPENCL,
                                                 .init_buffer = arn_hosted_init_buffer,
                                                 .address_at = arn_hosted_address_at,
                                                 .allocate = cl_allocate,
                                                 .deallocate = cl_deallocate,
                                                 .copy_to_device = cl_copy,
                                                 .copy_to_host = cl_copy},
                                                .slot = slot,
                                                .capacity = capacity}};
    cl->library = arn_hosted_library_open(library ? library : ARN_OPENCL_LIBRARY);
    if (!cl->library)
        return arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_LIBRARY, ARENAUT_DEVICE_OPENCL, 0, 0);
    if (arn_hosted_library_find(cl->library, names, cl->function, ARENAUT_OPENCL_FUNCTIONS))
        status = find_devices(cl, fault);
    else
        status =
            arn_runtime_fault(fault, ARENAUT_FAULT_DEVICE_LIBRARY, ARENAUT_DEVICE_OPENCL, 0, 0);
    if (status != ARENAUT_OK) {
        arn_hosted_library_close(cl->library);
        cl->library = NULL;
    }
    return status;
}

void arenaut_opencl_close(arenaut_opencl_allocator *cl) {
    if (!cl->library) return;
    arn_hosted_free(&cl->hosted);
    for (uint32_t i = 0; i < cl->n_devices; i++) {
        if (!cl->device[i].context) continue;
        CALL(cl, FREE_QUEUE, result, (void *))(cl->device[i].queue);
        CALL(cl, FREE_CONTEXT, result, (void *))(cl->device[i].context);
        cl->device[i].context = NULL;
    }
    arn_hosted_library_close(cl->library);
    cl->library = NULL;
}
