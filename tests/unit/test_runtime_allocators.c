/* The ready-made allocators: the host; CUDA on a driver of our own making, and on the real one
 * where there is a GPU; OpenCL on whatever device there is (in CI PoCL, on the processor). */
#include "support/test.h"

#include <stdlib.h>

#include <arenaut/runtime_allocators.h>
#include <arenaut/runtime_memory.h>

#include "drivers/fake_cuda.h"
#include "runtime/hosted/hosted.h"
#include "support/fake_device.h"
#include "support/faults.h"

/* Duties of every allocator, on each of its devices. */
static void use_device(arenaut_hosted_allocator *hosted, uint32_t index) {
    arenaut_device_allocator *a = &hosted->allocator;
    arenaut_device_buffer buffer = {0};
    arenaut_fault fault;
    const arenaut_device device = {(uint16_t)a->type, (uint16_t)index};
    enum { SIZE = 3 << 20 };
    unsigned char *out = malloc(SIZE), *in = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++) out[i] = (unsigned char)(i * 7 + i / 251);

    assert_fine(arenaut_device_register(a, &fault));
    assert_fine(arenaut_device_buffer_create(device, SIZE, 128, &buffer, &fault));
    assert_int_equal((uintptr_t)buffer.data % 128, 0);
    assert_fine(arenaut_device_buffer_write(&buffer, 0, out, SIZE, &fault));
    memset(in, 0, SIZE);
    assert_fine(arenaut_device_buffer_read(&buffer, 0, in, SIZE, &fault));
    assert_memory_equal(in, out, SIZE);
    /* An address in the middle is one that can be copied to and from. */
    assert_fine(arenaut_device_buffer_write(&buffer, 1001, "middle", 6, &fault));
    assert_fine(arenaut_device_buffer_read(&buffer, 1000, in, 8, &fault));
    assert_int_equal(in[0], out[1000]);
    assert_memory_equal(in + 1, "middle", 6);
    assert_int_equal(in[7], out[1007]);
    arenaut_device_buffer_destroy(&buffer);

    assert_fine(arenaut_device_buffer_create(device, 0, 8, &buffer, &fault)); /* no bytes */
    arenaut_device_buffer_destroy(&buffer);
    a->deallocate(a, NULL, index);
    assert_fine(arenaut_device_unregister(a, &fault));
    free(out);
    free(in);
}

/* Planned memories: made once, found by number, bounds checked. */
static void use_memories(arenaut_hosted_allocator *hosted, uint32_t index) {
    arenaut_device_allocator *a = &hosted->allocator;
    arenaut_fault fault;
    void *address = NULL, *base = NULL;
    char back[4] = {0};
    assert_int_equal(hosted->capacity, 2);
    assert_fine(a->init_buffer(a, 1, 4096, index, &fault));
    assert_fault(a->init_buffer(a, 1, 64, index, &fault), BAD_ARGUMENT, MEMORY_TAKEN);
    assert_fine(a->init_buffer(a, 2, 64, index, &fault));
    assert_fault(a->init_buffer(a, 3, 64, index, &fault), BAD_ARGUMENT, MEMORY_COUNT);
    assert_fine(a->address_at(a, 1, 0, 4096, index, &base, &fault));
    assert_fine(a->address_at(a, 1, 4000, 96, index, &address, &fault));
    assert_ptr_equal(address, (char *)base + 4000);
    assert_fine(a->copy_to_device(a, address, "abc", 4, index, &fault));
    assert_fine(a->copy_to_host(a, back, (char *)base + 4000, 4, index, &fault));
    assert_string_equal(back, "abc");
    assert_fault(a->address_at(a, 1, 4000, 97, index, &address, &fault), BAD_ARGUMENT, OUTSIDE);
    assert_fault(a->address_at(a, 1, SIZE_MAX, 2, index, &address, &fault), BAD_ARGUMENT, OUTSIDE);
    assert_fault(a->address_at(a, 9, 0, 1, index, &address, &fault), BAD_ARGUMENT, MEMORY_ABSENT);
}

static void no_such_index(arenaut_hosted_allocator *hosted, uint32_t index) {
    arenaut_device_allocator *a = &hosted->allocator;
    arenaut_fault fault;
    void *address = &fault;
    char byte = 0;
    assert_fault(a->allocate(a, 16, 16, index, &address, &fault), BAD_ARGUMENT, DEVICE_INDEX);
    assert_int_equal(fault.found, index);
    assert_fault(a->init_buffer(a, 7, 16, index, &fault), BAD_ARGUMENT, DEVICE_INDEX);
    assert_fault(a->copy_to_device(a, &byte, &byte, 1, index, &fault), BAD_ARGUMENT, DEVICE_INDEX);
    assert_fault(a->copy_to_host(a, &byte, &byte, 1, index, &fault), BAD_ARGUMENT, DEVICE_INDEX);
    assert_ptr_equal(address, &fault);
}

TEST(the_host_has_one_device) {
    arenaut_host_allocator host;
    arenaut_planned_memory slot[2];
    arenaut_host_open(&host, slot, 2);
    use_device(&host.hosted, 0);
    no_such_index(&host.hosted, 1);
    use_memories(&host.hosted, 0);
    arenaut_host_close(&host);
    assert_int_equal(host.hosted.count, 0);
}

TEST(large_blocks_are_aligned_for_huge_pages) {
    arenaut_host_allocator host;
    void *block;
    arenaut_fault fault;
    arenaut_host_open(&host, NULL, 0);
    arenaut_device_allocator *a = &host.hosted.allocator;
    assert_fine(a->allocate(a, 5 << 20, 64, 0, &block, &fault));
    assert_int_equal((uintptr_t)block % (2 << 20), 0);
    memset(block, 1, 5 << 20);
    a->deallocate(a, block, 0);
    assert_fault(a->init_buffer(a, 0, 8, 0, &fault), BAD_ARGUMENT, MEMORY_COUNT);
    assert_fault(a->allocate(a, SIZE_MAX - 8, 64, 0, &block, &fault), NO_MEMORY, NO_MEMORY);
    arenaut_host_close(&host);
}

TEST(sources_hand_out_aligned_memory) {
    arenaut_host_allocator host;
    arenaut_fault fault;
    arenaut_device_heap heap = {.device = {ARENAUT_DEVICE_HOST, 0}};
    const arenaut_source source[] = {arenaut_heap_source(), arenaut_pages_source(),
                                     arenaut_device_source(&heap)};
    assert_null(
        source[2].allocate(source[2].context, 8, 8, &fault)); /* no allocator is registered */
    assert_int_equal(fault.reason, ARENAUT_FAULT_DEVICE_ABSENT);
    arenaut_host_open(&host, NULL, 0);
    assert_fine(arenaut_device_register(&host.hosted.allocator, &fault));
    for (size_t i = 0; i < COUNT_OF(source); i++) {
        for (size_t size = 1; size <= 4 << 20; size *= 8) {
            void *block = source[i].allocate(source[i].context, size, 256, &fault);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % 256, 0);
            memset(block, 1, size);
            source[i].release(source[i].context, block, size);
        }
        assert_null(source[i].allocate(source[i].context, SIZE_MAX - 1, 256, &fault));
    }
    assert_int_equal(heap.live, 0);
    heap.device.index = 3;
    assert_null(source[2].allocate(source[2].context, 8, 8, &fault));
    assert_int_equal(fault.reason, ARENAUT_FAULT_DEVICE_INDEX);
    assert_fine(arenaut_device_unregister(&host.hosted.allocator, &fault));
    arenaut_host_close(&host);
}

/* Memories that their allocators keep, made from statements of a plan. */
TEST(allocators_keep_planned_memories) {
    const arenaut_pool_need need[] = {{4096, 64}, {100, 16}, {0, 1}};
    const arenaut_pool_device table[] = {{1, {5, 0}}};
    const arenaut_method_memory method = {3, 1, need, table};
    arenaut_planned_memory slot[3], other_slot[1];
    arenaut_host_allocator host, other;
    arenaut_span span[3];
    arenaut_memory_manager memory = {NULL, 77, 0, NULL};
    arenaut_fault fault;
    void *address;
    arenaut_host_open(&host, slot, 3);
    arenaut_host_open(&other, other_slot, 1);
    other.hosted.allocator.type = 5;
    assert_fine(arenaut_device_register(&host.hosted.allocator, &fault));
    assert_fault(arenaut_memory_init_planned(&method, span, &memory, &fault), UNSUPPORTED,
                 DEVICE_ABSENT);
    assert_int_equal(memory.n_pools, 77);
    assert_int_equal(host.hosted.count, 1); /* stays with its allocator */
    arenaut_host_close(&host);
    assert_fine(arenaut_device_register(&other.hosted.allocator, &fault));
    assert_fine(arenaut_memory_init_planned(&method, span, &memory, &fault));
    assert_fine(arenaut_memory_check_devices(&memory, &method, &fault));
    assert_int_equal(host.hosted.count, 2);
    assert_int_equal(other.hosted.count, 1);
    assert_ptr_equal(span[1].data, other_slot[0].data);
    assert_fine(arenaut_memory_address(&memory, 0, 4000, 96, &address, &fault));
    assert_ptr_equal(address, (char *)slot[0].data + 4000);
    assert_fault(arenaut_memory_init_planned(&method, span, &memory, &fault), BAD_ARGUMENT,
                 MEMORY_TAKEN);
    assert_fine(arenaut_device_unregister(&host.hosted.allocator, &fault));
    assert_fine(arenaut_device_unregister(&other.hosted.allocator, &fault));
    arenaut_host_close(&host);
    arenaut_host_close(&other);
}

/* One value whose memory, and whose arena, is that of device 3.1. */
static arenaut_iteration *iterate_on_device(arenaut_device_heap *heap, bool poison, void *room,
                                            size_t size, arenaut_fault *fault) {
    const arenaut_value value = {ARENAUT_VALUE_MANAGED, 0, 0, 0, ARENAUT_NO_VALUE,
                                 ARENAUT_NO_VALUE};
    arenaut_iteration *it = NULL;
    arenaut_iteration_config config = {.value = &value,
                                       .n_values = 1,
                                       .options = arenaut_iteration_defaults(),
                                       .source = arenaut_device_source(heap)};
    config.options.grouping = ARENAUT_BY_GROUPS;
    config.options.poison = poison;
    if (arenaut_iteration_init(room, size, &config, &it, fault) != ARENAUT_OK) return NULL;
    assert_int_equal(arenaut_iteration_learn(it, 0, 256, fault), ARENAUT_OK);
    return it;
}

TEST(an_iteration_passes_on_what_its_device_says) {
    _Alignas(max_align_t) char room[1024];
    arenaut_device_heap heap = {.device = {3, 1}};
    arenaut_fault fault;
    char text[120];
    fake_device device;
    void *data;
    arenaut_iteration *it = iterate_on_device(&heap, false, room, sizeof room, &fault);
    assert_fault(arenaut_iteration_allocate(it, &fault), UNSUPPORTED, DEVICE_ABSENT);
    assert_string_equal(arenaut_fault_text(&fault, text, sizeof text),
                        "device type 3 has no allocator: register one first");
    fake_device_init(&device, 3, 1); /* without an index 1 */
    assert_fine(arenaut_device_register(&device.base, &fault));
    assert_fault(arenaut_iteration_allocate(it, &fault), BAD_ARGUMENT, DEVICE_INDEX);
    assert_false(arenaut_iteration_is_running(it));
    device.indices = 2;
    device.left = 1;
    assert_fine(arenaut_iteration_allocate(it, &fault));
    assert_fault(arenaut_iteration_resize(it, 0, 1000, &data, &fault), NO_MEMORY, NO_MEMORY);
    assert_fine(arenaut_iteration_deallocate(it, &fault));
    assert_int_equal(device.live, 0);
    assert_fine(arenaut_iteration_close(it, &fault));
    assert_fine(arenaut_device_unregister(&device.base, &fault));
    assert_null(iterate_on_device(&heap, true, room, sizeof room, &fault));
    assert_int_equal(fault.reason, ARENAUT_FAULT_POISON_DEVICE);
    assert_int_equal(fault.object, 3);
}

/* Taken out of the registry, or replaced, while a block of its is out. */
TEST(a_device_source_remembers_its_allocator) {
    _Alignas(max_align_t) char room[1024];
    arenaut_device_heap heap = {.device = {3, 0}};
    arenaut_fault fault;
    fake_device first, second;
    fake_device_init(&first, 3, 1);
    fake_device_init(&second, 3, 1);
    arenaut_iteration *it = iterate_on_device(&heap, false, room, sizeof room, &fault);
    for (int replaced = 0; replaced < 2; replaced++) {
        assert_fine(arenaut_device_register(&first.base, &fault));
        assert_fine(arenaut_iteration_allocate(it, &fault));
        assert_int_equal(first.live, 1);
        assert_fine(arenaut_device_unregister(&first.base, &fault));
        if (replaced) assert_fine(arenaut_device_register(&second.base, &fault));
        assert_fine(arenaut_iteration_deallocate(it, &fault));
        assert_int_equal(first.live, 0);
        assert_int_equal(second.live, 0);
    }
    assert_fine(arenaut_iteration_allocate(it, &fault)); /* none was out: the one there is now */
    assert_int_equal(second.live, 1);
    assert_fine(arenaut_iteration_deallocate(it, &fault));
    assert_fine(arenaut_device_unregister(&second.base, &fault));
    assert_fine(arenaut_iteration_close(it, &fault));
}

TEST(without_its_library_a_device_is_cleanly_absent) {
    static const char *const wrong[] = {"libarenaut-no-such-driver.so", "libm.so.6"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) { /* not there, and not the driver */
        arenaut_cuda_allocator cuda;
        arenaut_opencl_allocator opencl;
        arenaut_fault fault;
        char text[120];
        assert_fault(arenaut_cuda_open(&cuda, wrong[i], NULL, 0, &fault), UNSUPPORTED,
                     DEVICE_LIBRARY);
        assert_null(cuda.library);
        arenaut_cuda_close(&cuda); /* nothing is open: nothing to do */
        assert_fault(arenaut_opencl_open(&opencl, wrong[i], NULL, 0, &fault), UNSUPPORTED,
                     DEVICE_LIBRARY);
        assert_string_equal(arenaut_fault_text(&fault, text, sizeof text),
                            "device type 2: its driver library is not here");
        arenaut_opencl_close(&opencl);
    }
}

/* The state inside the driver of our own making, which stays loaded. */
static fake_cuda_state *fake_driver(void) {
    static void *library;
    const char *name = "fake_cuda_own_state";
    void (*found)(void);
    fake_cuda_state *(*own_state)(void);
    if (!library) library = arn_hosted_library_open(TEST_FAKE_CUDA);
    if (!library) fail_msg("cannot load %s", TEST_FAKE_CUDA);
    assert_true(arn_hosted_library_find(library, &name, &found, 1));
    memcpy(&own_state, &found, sizeof found);
    return own_state();
}

TEST(cuda_keeps_to_the_rules_of_its_driver) {
    fake_cuda_state *driver = fake_driver();
    arenaut_cuda_allocator cuda;
    arenaut_planned_memory slot[2];
    arenaut_fault fault;
    assert_fine(arenaut_cuda_open(&cuda, TEST_FAKE_CUDA, slot, 2, &fault));
    assert_int_equal(cuda.n_devices, 2);
    assert_int_equal(driver->retained, 0); /* no device was used yet */
    use_device(&cuda.hosted, 0);
    assert_int_equal(driver->retained, 1);
    use_device(&cuda.hosted, 1);
    no_such_index(&cuda.hosted, 2);
    use_memories(&cuda.hosted, 1);
    assert_int_equal(driver->live, 2); /* the planned memories */
    arenaut_cuda_close(&cuda);
    assert_int_equal(driver->live, 0);
    assert_int_equal(driver->retained, 0);
    assert_int_equal(driver->depth, 0);
    assert_int_equal(driver->broken_rules, 0);
}

TEST(cuda_tells_what_its_driver_answers) {
    fake_cuda_state *driver = fake_driver();
    arenaut_cuda_allocator cuda;
    arenaut_fault fault;
    void *address = NULL;
    char byte = 0;
    driver->fail_init = 999;
    assert_fault(arenaut_cuda_open(&cuda, TEST_FAKE_CUDA, NULL, 0, &fault), IO, DEVICE_FAILED);
    assert_int_equal(fault.found, 999);
    assert_null(cuda.library);
    driver->fail_init = 0;
    driver->n_devices = 0;
    assert_fault(arenaut_cuda_open(&cuda, TEST_FAKE_CUDA, NULL, 0, &fault), IO, DEVICE_FAILED);
    driver->n_devices = 2;
    assert_fine(arenaut_cuda_open(&cuda, TEST_FAKE_CUDA, NULL, 0, &fault));
    arenaut_device_allocator *a = &cuda.hosted.allocator;
    driver->fail_next = 2; /* out of memory */
    assert_fault(a->allocate(a, 64, 64, 0, &address, &fault), NO_MEMORY, NO_MEMORY);
    driver->fail_next = 700;
    assert_fault(a->allocate(a, 64, 64, 0, &address, &fault), IO, DEVICE_FAILED);
    driver->misalign = 1;
    assert_fault(a->allocate(a, 64, 64, 0, &address, &fault), BAD_ARGUMENT, POOL_MISALIGNED);
    driver->misalign = 0;
    assert_null(address);
    assert_int_equal(driver->live, 0);
    assert_fine(a->allocate(a, 64, 256, 0, &address, &fault));
    driver->fail_next = 1;
    assert_fault(a->copy_to_device(a, address, &byte, 1, 0, &fault), IO, DEVICE_FAILED);
    driver->fail_next = 1;
    assert_fault(a->copy_to_host(a, &byte, address, 1, 0, &fault), IO, DEVICE_FAILED);
    a->deallocate(a, address, 0);
    arenaut_cuda_close(&cuda);
    assert_int_equal(driver->live + (size_t)driver->retained + (size_t)driver->depth, 0);
    assert_int_equal(driver->broken_rules, 0);
}

TEST(cuda_works_on_the_gpu_that_is_here) {
    arenaut_cuda_allocator cuda;
    arenaut_planned_memory slot[2];
    arenaut_fault fault;
    char text[120];
    if (arenaut_cuda_open(&cuda, NULL, slot, 2, &fault) != ARENAUT_OK) {
        print_message("SKIPPED, no GPU to test on: %s\n",
                      arenaut_fault_text(&fault, text, sizeof text));
        skip();
    }
    for (uint32_t i = 0; i < cuda.n_devices; i++) use_device(&cuda.hosted, i);
    no_such_index(&cuda.hosted, cuda.n_devices);
    use_memories(&cuda.hosted, 0);
    arenaut_cuda_close(&cuda);
}

TEST(opencl_works_on_the_devices_that_are_here) {
    /* Not closed: the libraries behind it keep memory that they find again only while they
     * are loaded, which a leak checker cannot know. */
    static arenaut_opencl_allocator opencl;
    static arenaut_planned_memory slot[2];
    arenaut_fault fault;
    char text[120];
    if (arenaut_opencl_open(&opencl, NULL, slot, 2, &fault) != ARENAUT_OK) {
        print_message("SKIPPED, no OpenCL device to test on: %s\n",
                      arenaut_fault_text(&fault, text, sizeof text));
        skip();
    }
    for (uint32_t i = 0; i < opencl.n_devices; i++) use_device(&opencl.hosted, i);
    no_such_index(&opencl.hosted, opencl.n_devices);
    use_memories(&opencl.hosted, 0);
}
