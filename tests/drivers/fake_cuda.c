#include "drivers/fake_cuda.h"

#include <string.h>

#include "support/aligned.h"

enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };

static fake_cuda_state fake_cuda = {.n_devices = 2};

static int initialised, device_of[2] = {0, 1}, users[2];
static void *stack[8];

/* The prototypes are the driver's; who calls them declares them anew. */
int cuInit(unsigned int flags);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int index);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuMemAlloc_v2(unsigned long long *address, size_t size);
int cuMemFree_v2(unsigned long long address);
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size);

fake_cuda_state *fake_cuda_own_state(void) { return &fake_cuda; }

static int break_rule(int answer) {
    fake_cuda.broken_rules++;
    return answer;
}

int cuInit(unsigned int flags) {
    if (flags) return break_rule(INVALID_VALUE);
    if (fake_cuda.fail_init) return fake_cuda.fail_init;
    initialised = 1;
    return 0;
}

int cuDeviceGetCount(int *count) {
    if (!initialised) return break_rule(NOT_INITIALIZED);
    *count = fake_cuda.n_devices;
    return 0;
}

int cuDeviceGet(int *device, int index) {
    if (index < 0 || index >= fake_cuda.n_devices) return break_rule(INVALID_DEVICE);
    *device = index;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    users[device]++;
    fake_cuda.retained++;
    *context = &device_of[device];
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    if (users[device] == 0) return break_rule(INVALID_CONTEXT);
    users[device]--;
    fake_cuda.retained--;
    return 0;
}

int cuCtxPushCurrent_v2(void *context) {
    if (!context || users[*(int *)context] == 0 || fake_cuda.depth == 8)
        return break_rule(INVALID_CONTEXT);
    stack[fake_cuda.depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context) {
    if (fake_cuda.depth == 0) return break_rule(INVALID_CONTEXT);
    *context = stack[--fake_cuda.depth];
    return 0;
}

/* What a call with memory answers before it does anything. */
static int enter(void) {
    const int answer = fake_cuda.fail_next;
    if (fake_cuda.depth == 0) return break_rule(INVALID_CONTEXT);
    fake_cuda.fail_next = 0;
    return answer;
}

int cuMemAlloc_v2(unsigned long long *address, size_t size) {
    const int answer = enter();
    if (answer) return answer;
    if (size == 0) return break_rule(INVALID_VALUE);
    char *block = aligned_take(256, size + 256);
    if (!block) return 2;
    fake_cuda.live++;
    *address = (unsigned long long)(size_t)(fake_cuda.misalign ? block + 16 : block);
    return 0;
}

int cuMemFree_v2(unsigned long long address) {
    const int answer = enter();
    if (answer) return answer;
    if (address == 0 || fake_cuda.live == 0) return break_rule(INVALID_VALUE);
    fake_cuda.live--;
    aligned_give((void *)(size_t)(address & ~255ull));
    return 0;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size) {
    const int answer = enter();
    if (answer) return answer;
    memcpy((void *)(size_t)to, from, size);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size) {
    const int answer = enter();
    if (answer) return answer;
    memcpy(to, (const void *)(size_t)from, size);
    return 0;
}
