/* Devices: the registry, buffers, the memory manager, and the devices of methods' memories. */
#include "support/test.h"

#include <arenaut/runtime_memory.h>

#include "support/fake_device.h"
#include "support/faults.h"

enum { TYPE = 3, OTHER = 5 };

static void use(fake_device *device) {
    assert_int_equal(arenaut_device_register(&device->base, NULL), ARENAUT_OK);
}

static void stop_using(fake_device *device) {
    assert_int_equal(device->live, 0);
    assert_int_equal(arenaut_device_unregister(&device->base, NULL), ARENAUT_OK);
}

TEST(a_type_has_one_allocator) {
    fake_device a, b, far;
    arenaut_device_allocator *found = NULL;
    arenaut_fault fault;
    fake_device_init(&a, TYPE, 1);
    fake_device_init(&b, TYPE, 1);
    fake_device_init(&far, ARENAUT_DEVICE_TYPES, 1);
    assert_fault(arenaut_device_find(TYPE, &found, &fault), UNSUPPORTED, DEVICE_ABSENT);
    assert_int_equal(fault.object, TYPE);
    assert_null(found);
    use(&a);
    assert_fault(arenaut_device_register(&b.base, &fault), BAD_ARGUMENT, DEVICE_TAKEN);
    assert_fault(arenaut_device_register(&a.base, &fault), BAD_ARGUMENT, DEVICE_TAKEN);
    assert_fault(arenaut_device_register(&far.base, &fault), BAD_ARGUMENT, DEVICE_TYPE);
    assert_int_equal(fault.allowed, ARENAUT_DEVICE_TYPES);
    assert_fault(arenaut_device_register(NULL, &fault), BAD_ARGUMENT, ARGUMENT);
    assert_fault(arenaut_device_find(ARENAUT_DEVICE_TYPES, &found, &fault), BAD_ARGUMENT,
                 DEVICE_TYPE);
    assert_fine(arenaut_device_find(TYPE, &found, &fault));
    assert_ptr_equal(found, &a.base);
    assert_fault(arenaut_device_unregister(&b.base, &fault), UNSUPPORTED, DEVICE_ABSENT);
    stop_using(&a);
    use(&b);
    stop_using(&b);
}

TEST(an_allocator_must_have_every_function) {
    fake_device whole;
    fake_device_init(&whole, TYPE, 1);
    for (int missing = 0; missing < 6; missing++) {
        arenaut_device_allocator part = whole.base;
        arenaut_fault fault;
        if (missing == 0) part.init_buffer = NULL;
        if (missing == 1) part.address_at = NULL;
        if (missing == 2) part.allocate = NULL;
        if (missing == 3) part.deallocate = NULL;
        if (missing == 4) part.copy_to_device = NULL;
        if (missing == 5) part.copy_to_host = NULL;
        assert_fault(arenaut_device_register(&part, &fault), BAD_ARGUMENT, ALLOCATOR);
    }
}

TEST(a_buffer_frees_what_it_owns_once) {
    fake_device device;
    fake_device_init(&device, TYPE, 2);
    use(&device);
    arenaut_device_buffer a = {0}, b = {0};
    arenaut_fault fault;
    const arenaut_device second = {TYPE, 1}, third = {TYPE, 2};
    arenaut_device_buffer_destroy(NULL);
    arenaut_device_buffer_destroy(&a); /* empty: nothing to free */
    assert_fine(arenaut_device_buffer_create(second, 100, 64, &a, &fault));
    assert_int_equal(device.last_index, 1);
    assert_int_equal(device.last_align, 64);
    assert_int_equal(arenaut_device_buffer_span(&a).size, 100);
    assert_ptr_equal(arenaut_device_buffer_span(&a).data, a.data);
    assert_fault(arenaut_device_buffer_create(second, 8, 8, &a, &fault), BAD_ARGUMENT,
                 BUFFER_IN_USE);
    assert_fault(arenaut_device_buffer_create(third, 8, 8, &b, &fault), BAD_ARGUMENT, DEVICE_INDEX);
    assert_fault(arenaut_device_buffer_create(second, 8, 24, &b, &fault), BAD_ARGUMENT, ALIGNMENT);
    assert_null(b.allocator);

    arenaut_device_buffer_move(&a, &a);
    assert_int_equal(device.live, 1);
    const arenaut_device_buffer before = a;
    arenaut_device_buffer_move(&b, &a);
    assert_null(a.allocator);
    assert_null(a.data);
    assert_int_equal(a.size, 0);
    assert_ptr_equal(b.data, before.data);
    arenaut_device_buffer_destroy(&a); /* moved from: nothing to free */
    assert_int_equal(device.live, 1);
    assert_fine(arenaut_device_buffer_create(second, 50, 8, &a, &fault));
    arenaut_device_buffer_move(&a, &b); /* memory that `a` owned is freed */
    assert_int_equal(device.live, 1);
    assert_ptr_equal(a.data, before.data);
    arenaut_device_buffer_destroy(&a);
    arenaut_device_buffer_destroy(&a);
    stop_using(&device);
}

TEST(a_buffer_names_the_allocator_that_is_missing) {
    arenaut_device_buffer buffer = {0};
    arenaut_fault fault;
    char text[120];
    const arenaut_device nobody = {OTHER, 0};
    assert_fault(arenaut_device_buffer_create(nobody, 8, 8, &buffer, &fault), UNSUPPORTED,
                 DEVICE_ABSENT);
    assert_string_equal(arenaut_fault_text(&fault, text, sizeof text),
                        "device type 5 has no allocator: register one first");
}

TEST(copies_stay_inside_their_buffer) {
    fake_device device;
    fake_device_init(&device, TYPE, 1);
    use(&device);
    arenaut_device_buffer buffer = {0};
    arenaut_fault fault;
    char back[16] = {0};
    const arenaut_device first = {TYPE, 0};
    assert_fine(arenaut_device_buffer_create(first, 16, 8, &buffer, &fault));
    assert_fine(arenaut_device_buffer_write(&buffer, 0, "0123456789abcdef", 16, &fault));
    assert_fine(arenaut_device_buffer_write(&buffer, 12, "wxyz", 4, &fault));
    assert_fine(arenaut_device_buffer_read(&buffer, 10, back, 6, &fault));
    assert_memory_equal(back, "abwxyz", 6);
    const size_t copies = device.copies;
    assert_fault(arenaut_device_buffer_write(&buffer, 12, "vwxyz", 5, &fault), BAD_ARGUMENT, COPY);
    assert_int_equal(fault.found, 17);
    assert_int_equal(fault.allowed, 16);
    assert_fault(arenaut_device_buffer_read(&buffer, 17, back, 0, &fault), BAD_ARGUMENT, COPY);
    assert_fault(arenaut_device_buffer_read(&buffer, 8, back, SIZE_MAX - 4, &fault), BAD_ARGUMENT,
                 COPY);
    assert_fine(arenaut_device_buffer_write(&buffer, 16, back, 0, &fault));
    assert_int_equal(device.copies, copies);
    arenaut_device_buffer_destroy(&buffer);
    assert_fault(arenaut_device_buffer_read(&buffer, 0, back, 1, &fault), BAD_ARGUMENT, COPY);
    stop_using(&device);
}

TEST(memory_on_the_host_needs_no_devices) {
    char fast[64], slow[128];
    const arenaut_span pools[] = {{fast, sizeof fast}, {slow, sizeof slow}, {NULL, 0}};
    const arenaut_memory_manager memory = arenaut_memory_on_host(pools, 3);
    arenaut_fault fault;
    arenaut_device device = {9, 9};
    void *address = NULL;
    assert_false(arenaut_memory_has_device(&memory));
    assert_fine(arenaut_memory_device(&memory, 1, &device, &fault));
    assert_int_equal(device.type, ARENAUT_DEVICE_HOST);
    assert_int_equal(device.index, 0);
    assert_fault(arenaut_memory_device(&memory, 3, &device, &fault), BAD_ARGUMENT, POOL);

    assert_fine(arenaut_memory_address(&memory, 1, 100, 28, &address, &fault));
    assert_ptr_equal(address, slow + 100);
    assert_fine(arenaut_memory_address(&memory, 0, 64, 0, &address, &fault));
    assert_ptr_equal(address, fast + 64);
    assert_fault(arenaut_memory_address(&memory, 0, 65, 0, &address, &fault), BAD_ARGUMENT,
                 OUTSIDE);
    assert_fault(arenaut_memory_address(&memory, 1, 100, 29, &address, &fault), BAD_ARGUMENT,
                 OUTSIDE);
    assert_int_equal(fault.object, 1);
    assert_int_equal(fault.found, 129);
    assert_int_equal(fault.allowed, 128);
    assert_fault(arenaut_memory_address(&memory, 1, 8, SIZE_MAX - 3, &address, &fault),
                 BAD_ARGUMENT, OUTSIDE);
    assert_fault(arenaut_memory_address(&memory, 3, 0, 1, &address, &fault), BAD_ARGUMENT, POOL);
    assert_ptr_equal(address, fast + 64); /* as it was */
    assert_fine(arenaut_memory_address(&memory, 2, 0, 0, &address, &fault));
    assert_null(address);
}

TEST(the_device_table_is_sparse) {
    char bytes[4][16];
    const arenaut_span pools[] = {{bytes[0], 16}, {bytes[1], 16}, {bytes[2], 16}, {bytes[3], 16}};
    const arenaut_pool_device table[] = {{1, {TYPE, 0}}, {3, {TYPE, 1}}};
    arenaut_memory_manager memory;
    arenaut_device device;
    arenaut_fault fault;
    assert_fine(arenaut_memory_init_devices(&memory, pools, 4, table, 2, &fault));
    assert_true(arenaut_memory_has_device(&memory));
    const uint16_t types[] = {0, TYPE, 0, TYPE}, indices[] = {0, 0, 0, 1};
    for (uint32_t i = 0; i < 4; i++) {
        assert_fine(arenaut_memory_device(&memory, i, &device, &fault));
        assert_int_equal(device.type, types[i]);
        assert_int_equal(device.index, indices[i]);
    }
    const arenaut_pool_device falling[] = {{3, {TYPE, 0}}, {1, {TYPE, 0}}},
                              twice[] = {{1, {TYPE, 0}}, {1, {TYPE, 0}}},
                              host[] = {{1, {ARENAUT_DEVICE_HOST, 0}}}, far[] = {{4, {TYPE, 0}}};
    memory.n_pools = 77;
    assert_fault(arenaut_memory_init_devices(&memory, pools, 4, falling, 2, &fault), BAD_ARGUMENT,
                 DEVICE_TABLE);
    assert_int_equal(fault.object, 1);
    assert_fault(arenaut_memory_init_devices(&memory, pools, 4, twice, 2, &fault), BAD_ARGUMENT,
                 DEVICE_TABLE);
    assert_fault(arenaut_memory_init_devices(&memory, pools, 4, host, 1, &fault), BAD_ARGUMENT,
                 DEVICE_TABLE);
    assert_fault(arenaut_memory_init_devices(&memory, pools, 4, far, 1, &fault), BAD_ARGUMENT,
                 DEVICE_TABLE);
    assert_int_equal(memory.n_pools, 77); /* untouched */
    assert_fine(arenaut_memory_init_devices(&memory, pools, 4, NULL, 0, &fault));
    assert_false(arenaut_memory_has_device(&memory));
}

TEST(a_method_tells_sizes_and_devices) {
    const arenaut_pool_need needs[] = {{100, 64}, {200, 64}, {300, 64}};
    const arenaut_pool_device table[] = {{2, {TYPE, 1}}};
    const arenaut_method_memory plain = {.n_buffers = 3, .need = needs},
                                mixed = {3, 1, needs, table};
    arenaut_device device;
    arenaut_fault fault;
    size_t size = 0;
    for (uint32_t i = 0; i < 3; i++) {
        assert_fine(arenaut_method_buffer_size(&plain, i, &size, &fault));
        assert_int_equal(size, needs[i].bytes);
        assert_fine(arenaut_method_buffer_device(&plain, i, &device, &fault));
        assert_int_equal(device.type, ARENAUT_DEVICE_HOST);
        assert_int_equal(device.index, 0);
    }
    assert_fine(arenaut_method_buffer_device(&mixed, 2, &device, &fault));
    assert_int_equal(device.type, TYPE);
    assert_int_equal(device.index, 1);
    assert_fault(arenaut_method_buffer_size(&plain, 3, &size, &fault), BAD_ARGUMENT, POOL);
    assert_fault(arenaut_method_buffer_device(&plain, 3, &device, &fault), BAD_ARGUMENT, POOL);
    assert_fault(arenaut_method_buffer_device(&plain, UINT32_MAX, &device, &fault), BAD_ARGUMENT,
                 POOL);
}

TEST(memories_are_made_where_the_method_wants_them) {
    const arenaut_pool_need needs[] = {{100, 64}, {200, 64}, {300, 64}};
    const arenaut_pool_device table[] = {{1, {TYPE, 1}}}, elsewhere[] = {{1, {TYPE, 0}}};
    const arenaut_method_memory method = {3, 1, needs, table}, other = {3, 1, needs, elsewhere};
    fake_device host, device;
    arenaut_device_buffer buffer[3] = {{0}};
    arenaut_span span[3];
    arenaut_memory_manager memory;
    arenaut_fault fault;
    fake_device_init(&host, ARENAUT_DEVICE_HOST, 1);
    fake_device_init(&device, TYPE, 2);
    use(&host);
    assert_fault(arenaut_memory_create(&method, buffer, span, &memory, &fault), UNSUPPORTED,
                 DEVICE_ABSENT);
    assert_int_equal(host.live, 0); /* the memory from before already went back */
    use(&device);
    assert_fine(arenaut_memory_create(&method, buffer, span, &memory, &fault));
    assert_int_equal(host.live, 2);
    assert_int_equal(device.live, 1);
    assert_int_equal(device.last_index, 1);
    assert_int_equal(memory.n_pools, 3);
    assert_true(arenaut_memory_has_device(&memory));
    assert_int_equal(span[2].size, 300);
    assert_fine(arenaut_memory_check_devices(&memory, &method, &fault));
    assert_fault(arenaut_memory_check_devices(&memory, &other, &fault), BAD_ARGUMENT,
                 POOL_DEVICE_INDEX);
    assert_int_equal(fault.object, 1);
    assert_int_equal(fault.found, 1);
    assert_int_equal(fault.allowed, 0);
    const arenaut_method_memory on_host = {3, 0, needs, NULL};
    assert_fault(arenaut_memory_check_devices(&memory, &on_host, &fault), BAD_ARGUMENT,
                 POOL_DEVICE);
    memory.n_pools = 2;
    assert_fault(arenaut_memory_check_devices(&memory, &method, &fault), BAD_ARGUMENT, POOL_COUNT);
    for (int i = 0; i < 3; i++) arenaut_device_buffer_destroy(&buffer[i]);

    for (size_t left = 0; left < 3; left++) { /* the n-th allocation fails */
        host.left = left < 2 ? left : SIZE_MAX;
        device.left = left < 2 ? SIZE_MAX : 0;
        assert_fault(arenaut_memory_create(&method, buffer, span, &memory, &fault), NO_MEMORY,
                     NO_MEMORY);
        assert_int_equal(host.live + device.live, 0);
        for (int i = 0; i < 3; i++) assert_null(buffer[i].allocator);
    }
    stop_using(&device);
    stop_using(&host);
}

TEST(faults_are_told_in_sentences) {
    char text[120], small[12];
    const arenaut_fault outside = {ARENAUT_FAULT_OUTSIDE, 1, 4096, 1024}, unknown = {999, 0, 0, 0};
    assert_string_equal(arenaut_fault_text(&outside, text, sizeof text),
                        "pool 1: the bytes asked for end at 4096, the pool at 1024");
    assert_string_equal(arenaut_fault_text(&outside, small, sizeof small), "pool 1: the");
    assert_string_equal(arenaut_fault_text(&unknown, text, sizeof text), "unknown fault");
    memset(small, 'x', sizeof small);
    arenaut_fault_text(&outside, small, 0);
    assert_int_equal(small[0], 'x');
    /* Every sentence ends, and leaves no mark unfilled. */
    for (uint32_t r = 0; r < ARENAUT_FAULT_COUNT; r++) {
        const arenaut_fault fault = {r, UINT32_MAX, SIZE_MAX, SIZE_MAX};
        char long_text[160];
        arenaut_fault_text(&fault, long_text, sizeof long_text);
        assert_true(strlen(long_text) > 5 && strlen(long_text) < sizeof long_text - 1);
        assert_null(strchr(long_text, '%'));
    }
}
