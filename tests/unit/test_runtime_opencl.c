/* A kernel on planned device memory: a static program whose second pool lies on an OpenCL device.
 * Its tensors are addresses in the middle of one allocation, as a plan's offsets must be to a
 * kernel. */
#include "support/test.h"

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_program.h>

#include "runtime/hosted/hosted.h"
#include "support/faults.h"

enum { COUNT = 1000, BYTES = COUNT * 4, AT_X = 64, AT_Y = 4096, AT_Z = 64 };

/* y = 2 x + 1, then z = y · y over x, which is dead by then. */
static const char source[] =
    "kernel void affine(global const int *x, global int *y) {"
    "    size_t i = get_global_id(0); y[i] = 2 * x[i] + 1; }"
    "kernel void square(global const int *x, global int *y) {"
    "    size_t i = get_global_id(0); y[i] = x[i] * x[i]; }";

static const arenaut_pool_need needs[] = {{64, 16}, {8192, 64}};
static const arenaut_place places[] = {{AT_X, BYTES, 1}, {AT_Y, BYTES, 1}, {AT_Z, BYTES, 1}};
static const uint32_t in[] = {0}, out[] = {2};
static const arenaut_static_method methods[] = {{"main", 1, 1, in, out}};
static const arenaut_pool_device devices[] = {{1, {ARENAUT_DEVICE_OPENCL, 0}}};
static const arenaut_static_program program = {11, 2, 3, 1, 1, needs, places, methods, devices};

/* A function of the loaded library. */
#define LOAD(name)                                                                \
    do {                                                                          \
        const char *const called = #name;                                         \
        void (*found)(void);                                                      \
        assert_true(arn_hosted_library_find(opencl.library, &called, &found, 1)); \
        memcpy(&name, &found, sizeof found);                                      \
    } while (0)

/* The compiler behind OpenCL keeps its allocations until the process ends: a leak checker is not to
 * speak of them. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\nleak:libstdc++\n";
}

static arenaut_opencl_allocator opencl; /* not closed: see test_runtime_allocators.c */

static void run_kernel(const char *name, void *x, void *y) {
    void *(*clCreateProgramWithSource)(void *, uint32_t, const char **, const size_t *, int *);
    int (*clBuildProgram)(void *, uint32_t, void *const *, const char *, void (*)(void), void *);
    void *(*clCreateKernel)(void *, const char *, int *);
    int (*clSetKernelArgSVMPointer)(void *, uint32_t, const void *);
    int (*clEnqueueNDRangeKernel)(void *, void *, uint32_t, const size_t *, const size_t *,
                                  const size_t *, uint32_t, const void *, void **);
    int (*clFinish)(void *), (*clReleaseKernel)(void *), (*clReleaseProgram)(void *);
    LOAD(clCreateProgramWithSource);
    LOAD(clBuildProgram);
    LOAD(clCreateKernel);
    LOAD(clSetKernelArgSVMPointer);
    LOAD(clEnqueueNDRangeKernel);
    LOAD(clFinish);
    LOAD(clReleaseKernel);
    LOAD(clReleaseProgram);
    const arenaut_opencl_device *device = &opencl.device[0];
    const char *text = source;
    const size_t count = COUNT;
    int error;
    void *code = clCreateProgramWithSource(device->context, 1, &text, NULL, &error);
    assert_non_null(code);
    assert_int_equal(clBuildProgram(code, 1, &device->id, "", NULL, NULL), 0);
    void *kernel = clCreateKernel(code, name, &error);
    assert_non_null(kernel);
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, x), 0);
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 1, y), 0);
    assert_int_equal(
        clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL), 0);
    assert_int_equal(clFinish(device->queue), 0);
    clReleaseKernel(kernel);
    clReleaseProgram(code);
}

TEST(kernels_work_at_the_offsets_of_a_plan) {
    const arenaut_method_memory method = arenaut_static_program_memory(&program);
    arenaut_host_allocator host;
    arenaut_device_buffer buffer[2] = {{0}};
    arenaut_span span[2], x, y, z;
    arenaut_memory_manager memory;
    arenaut_instance instance;
    arenaut_fault fault;
    char text[120];
    int32_t numbers[COUNT];
    if (arenaut_opencl_open(&opencl, NULL, NULL, 0, &fault) != ARENAUT_OK) {
        print_message("SKIPPED, no OpenCL device to run a kernel on: %s\n",
                      arenaut_fault_text(&fault, text, sizeof text));
        skip();
    }
    arenaut_host_open(&host, NULL, 0);
    assert_fine(arenaut_device_register(&host.hosted.allocator, &fault));
    assert_fine(arenaut_device_register(&opencl.hosted.allocator, &fault));
    assert_fine(arenaut_memory_create(&method, buffer, span, &memory, &fault));
    assert_true(arenaut_memory_has_device(&memory));
    assert_fine(arenaut_memory_check_devices(&memory, &method, &fault));

    assert_fine(arenaut_instance_init(&instance, &program, 11, &memory, &fault));
    assert_fine(arenaut_instance_begin(&instance, 0, &fault));
    assert_fine(arenaut_instance_input(&instance, 0, &x, &fault));
    assert_fine(arenaut_instance_place(&instance, 1, &y, &fault));
    assert_fine(arenaut_instance_output(&instance, 0, &z, &fault));
    assert_ptr_equal(x.data, (char *)buffer[1].data + AT_X);
    for (int i = 0; i < COUNT; i++) numbers[i] = i - 300;
    assert_fine(arenaut_device_buffer_write(&buffer[1], AT_X, numbers, BYTES, &fault));
    run_kernel("affine", x.data, y.data);
    run_kernel("square", y.data, z.data);
    assert_fine(arenaut_device_buffer_read(&buffer[1], AT_Z, numbers, BYTES, &fault));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(numbers[i], (2 * (i - 300) + 1) * (2 * (i - 300) + 1));
    assert_fine(arenaut_instance_end(&instance, &fault));

    for (int i = 0; i < 2; i++) arenaut_device_buffer_destroy(&buffer[i]);
    assert_fine(arenaut_device_unregister(&opencl.hosted.allocator, &fault));
    assert_fine(arenaut_device_unregister(&host.hosted.allocator, &fault));
}
