/* One planned program on the host and two devices: an OpenCL device computes, and a CUDA device
 * keeps a value until it is wanted again.
 *
 *     arenaut export network.program.json --as header -o network.h
 *     cc -I. -Iinclude devices.c -larenaut-runtime -lOpenCL -ldl -o devices
 *     ./devices [CUDA LIBRARY [OPENCL LIBRARY]]
 *
 * Allocators of all three are registered. The memory manager makes each memory of the plan through
 * the allocator of its device; the plan's metadata say which that is, so that nothing here names a
 * device but the calls that open them and the kernels. A copy between two tensors goes by where
 * they lie. Results are compared with the same on the host; copies are counted, as `arenaut plan`
 * does. */
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_program.h>

#include "network.h"

enum { COUNT = 1000, BYTES = COUNT * 4, POOLS = 3 };

/* Places of the program, as network.program.json has them. */
enum { FIRST, SECOND, IMAGE, HIDDEN, MADE, READ, KEPT, IMAGE2, HIDDEN2, MADE2, READ2, BACK, SUM };

static const char source[] =
    "kernel void affine(global const int *x, global int *y) {"
    "    size_t i = get_global_id(0); y[i] = 2 * x[i] + 1; }"
    "kernel void square(global const int *x, global int *y) {"
    "    size_t i = get_global_id(0); y[i] = x[i] * x[i]; }";

typedef struct network {
    arenaut_host_allocator host;
    arenaut_cuda_allocator cuda;
    arenaut_opencl_allocator opencl;
    arenaut_device_buffer buffer[POOLS];
    arenaut_span span[POOLS];
    arenaut_memory_manager memory;
    arenaut_instance instance;
    cl_program code;
    unsigned copies, bytes;
} network;

static void must(arenaut_status status, const arenaut_fault *fault) {
    char text[160];
    if (status == ARENAUT_OK) return;
    fprintf(stderr, "%s\n", arenaut_fault_text(fault, text, sizeof text));
    exit(1);
}

static void must_cl(cl_int answer, const char *call) {
    if (answer == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", call, (int)answer);
    exit(1);
}

static int32_t *address_of(const network *n, uint32_t place) {
    arenaut_fault fault;
    arenaut_span span;
    must(arenaut_instance_place(&n->instance, place, &span, &fault), &fault);
    return span.data;
}

/* ---- devices ---- */

static void open_devices(network *n, const char *cuda, const char *opencl) {
    arenaut_fault fault;
    arenaut_host_open(&n->host, NULL, 0);
    must(arenaut_cuda_open(&n->cuda, cuda, NULL, 0, &fault), &fault);
    must(arenaut_opencl_open(&n->opencl, opencl, NULL, 0, &fault), &fault);
    must(arenaut_device_register(&n->host.hosted.allocator, &fault), &fault);
    must(arenaut_device_register(&n->cuda.hosted.allocator, &fault), &fault);
    must(arenaut_device_register(&n->opencl.hosted.allocator, &fault), &fault);
}

/* The memories that the plan's metadata ask for, and the program on them. */
static void make_memory(network *n) {
    const arenaut_method_memory wanted = arenaut_static_program_memory(&network_program);
    arenaut_fault fault;
    must(arenaut_memory_create(&wanted, n->buffer, n->span, &n->memory, &fault), &fault);
    must(arenaut_memory_check_devices(&n->memory, &wanted, &fault), &fault);
    for (uint32_t k = 0; k < wanted.n_buffers; k++) {
        arenaut_device device;
        size_t bytes;
        must(arenaut_method_buffer_device(&wanted, k, &device, &fault), &fault);
        must(arenaut_method_buffer_size(&wanted, k, &bytes, &fault), &fault);
        printf("memory %u: %zu bytes on device %u.%u\n", (unsigned)k, bytes, (unsigned)device.type,
               (unsigned)device.index);
    }
    must(arenaut_instance_init(&n->instance, &network_program, NETWORK_FINGERPRINT, &n->memory,
                               &fault),
         &fault);
}

static void close_devices(network *n) {
    arenaut_fault fault;
    for (int k = 0; k < POOLS; k++) arenaut_device_buffer_destroy(&n->buffer[k]);
    must(arenaut_device_unregister(&n->opencl.hosted.allocator, &fault), &fault);
    must(arenaut_device_unregister(&n->cuda.hosted.allocator, &fault), &fault);
    must(arenaut_device_unregister(&n->host.hosted.allocator, &fault), &fault);
    arenaut_opencl_close(&n->opencl);
    arenaut_cuda_close(&n->cuda);
    arenaut_host_close(&n->host);
}

/* ---- ops ---- */

/* From the host to a device, or back. */
static void copy(network *n, uint32_t from, uint32_t to) {
    const arenaut_place *source_place = &network_places[from], *place = &network_places[to];
    arenaut_device device;
    arenaut_fault fault;
    must(arenaut_instance_device(&n->instance, to, &device, &fault), &fault);
    if (device.type == ARENAUT_DEVICE_HOST) {
        must(arenaut_device_buffer_read(&n->buffer[source_place->pool], source_place->offset,
                                        address_of(n, to), BYTES, &fault),
             &fault);
    } else {
        must(arenaut_device_buffer_write(&n->buffer[place->pool], place->offset,
                                         address_of(n, from), BYTES, &fault),
             &fault);
    }
    n->copies++;
    n->bytes += BYTES;
}

static void build_kernels(network *n) {
    const arenaut_opencl_device *device = &n->opencl.device[0];
    const cl_device_id id = device->id;
    const char *text = source;
    cl_int answer;
    n->code = clCreateProgramWithSource(device->context, 1, &text, NULL, &answer);
    must_cl(answer, "clCreateProgramWithSource");
    must_cl(clBuildProgram(n->code, 1, &id, "", NULL, NULL), "clBuildProgram");
}

/* A kernel on planned memory: its arguments are addresses inside of one allocation. */
static void run_kernel(network *n, const char *name, uint32_t x, uint32_t y) {
    const arenaut_opencl_device *device = &n->opencl.device[0];
    const size_t count = COUNT;
    cl_int answer;
    cl_kernel kernel = clCreateKernel(n->code, name, &answer);
    must_cl(answer, "clCreateKernel");
    must_cl(clSetKernelArgSVMPointer(kernel, 0, address_of(n, x)), "clSetKernelArgSVMPointer");
    must_cl(clSetKernelArgSVMPointer(kernel, 1, address_of(n, y)), "clSetKernelArgSVMPointer");
    must_cl(clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
            "clEnqueueNDRangeKernel");
    must_cl(clFinish(device->queue), "clFinish");
    clReleaseKernel(kernel);
}

static void run_ops(network *n) {
    copy(n, FIRST, IMAGE);
    run_kernel(n, "affine", IMAGE, HIDDEN);
    run_kernel(n, "square", HIDDEN, MADE);
    copy(n, MADE, READ);
    copy(n, READ, KEPT);
    copy(n, SECOND, IMAGE2);
    run_kernel(n, "affine", IMAGE2, HIDDEN2);
    run_kernel(n, "square", HIDDEN2, MADE2);
    copy(n, MADE2, READ2);
    copy(n, KEPT, BACK);
    const int32_t *a = address_of(n, READ2), *b = address_of(n, BACK);
    int32_t *sum = address_of(n, SUM);
    for (int i = 0; i < COUNT; i++) sum[i] = a[i] + b[i];
}

/* ---- the whole ---- */

static int32_t made_of(int32_t x) { return (2 * x + 1) * (2 * x + 1); }

static void call(network *n, int32_t start) {
    arenaut_fault fault;
    arenaut_span x, y, sum;
    must(arenaut_instance_begin(&n->instance, 0, &fault), &fault);
    must(arenaut_instance_input(&n->instance, 0, &x, &fault), &fault);
    must(arenaut_instance_input(&n->instance, 1, &y, &fault), &fault);
    must(arenaut_instance_output(&n->instance, 0, &sum, &fault), &fault);
    for (int i = 0; i < COUNT; i++) {
        ((int32_t *)x.data)[i] = start + i;
        ((int32_t *)y.data)[i] = start - 3 * i;
    }
    run_ops(n);
    for (int i = 0; i < COUNT; i++) {
        if (((const int32_t *)sum.data)[i] == made_of(start + i) + made_of(start - 3 * i)) continue;
        fprintf(stderr, "element %d is wrong\n", i);
        exit(1);
    }
    must(arenaut_instance_end(&n->instance, &fault), &fault);
}

int main(int argc, char **argv) {
    static network n;
    open_devices(&n, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL);
    make_memory(&n);
    build_kernels(&n);
    for (int k = 0; k < 2; k++) call(&n, 100 * k);
    printf("right twice; %u copies of %u bytes a call\n", n.copies / 2, n.bytes / 2);
    clReleaseProgram(n.code);
    close_devices(&n);
    return 0;
}
