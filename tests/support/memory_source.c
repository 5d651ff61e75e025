#include "support/memory_source.h"

#include "support/aligned.h"
#include "support/test.h"

static void *take(void *context, size_t size, size_t align, arenaut_fault *fault) {
    memory_source *memory = context;
    assert_non_null(fault);
    assert_true(size > 0);
    assert_true(align && (align & (align - 1)) == 0);
    memory->calls++;
    if (memory->left == 0) {
        memory->blown = true;
        memory->left = SIZE_MAX;
        return NULL;
    }
    if (memory->left != SIZE_MAX) memory->left--;
    void *block = aligned_take(align, size);
    assert_non_null(block);
    memset(block, 0xA5, size);
    memory->live++;
    memory->bytes += size;
    return block;
}

static void give(void *context, void *block, size_t size) {
    memory_source *memory = context;
    assert_non_null(block);
    assert_true(memory->live > 0 &&
                memory->bytes >= size); /* a block that was taken, and its size */
    memory->calls++;
    memory->live--;
    memory->bytes -= size;
    aligned_give(block);
}

arenaut_source counting_source(memory_source *memory) {
    const arenaut_source source = {take, give, memory, {0, 0}};
    return source;
}
