#include "support/fuse.h"

#include <stdlib.h>

#include "support/drawn.h"
#include "support/test.h"

enum { EACH = 100 }; /* allocations that are tried one by one, however few of the others are */

static bool burns(fuse *f) {
    f->calls++;
    if (f->blown && f->stays_blown) return true;
    if (f->blown || f->left > 0) {
        if (!f->blown) f->left--;
        return false;
    }
    f->blown = true;
    return true;
}

static void *fuse_allocate(void *context, size_t size) {
    fuse *f = context;
    assert_true(size > 0); /* the contract of arenaut_allocator */
    if (burns(f)) return NULL;
    void *block = malloc(size);
    assert_non_null(block);
    memset(block, 0xA5, size); /* no code may rely on zeroes */
    f->live++;
    return block;
}

static void *fuse_reallocate(void *context, void *block, size_t old_size, size_t new_size) {
    fuse *f = context;
    assert_true(new_size > 0);
    assert_true(block || old_size == 0);
    if (burns(f)) return NULL;
    void *grown = realloc(block, new_size);
    assert_non_null(grown);
    if (!block) f->live++;
    return grown;
}

static void fuse_release(void *context, void *block) {
    fuse *f = context;
    if (!block) return;
    assert_true(f->live > 0);
    f->live--;
    free(block);
}

arenaut_allocator fuse_allocator(fuse *f) {
    const arenaut_allocator allocator = {fuse_allocate, fuse_reallocate, fuse_release, f};
    return allocator;
}

static bool attempt_once(fuse_attempt attempt, void *context, size_t left, bool stays_blown) {
    fuse f = {.left = left, .stays_blown = stays_blown};
    const arenaut_allocator allocator = fuse_allocator(&f);
    const arenaut_status status = attempt(context, &allocator);
    if (f.live != 0) fail_msg("%zu blocks leaked when allocation %zu failed", f.live, left);
    if (status != (f.blown ? ARENAUT_NO_MEMORY : ARENAUT_OK)) {
        fail_msg("allocation %zu failed: status was \"%s\"", left, arenaut_status_text(status));
    }
    return f.blown;
}

void survives_every_allocation_failure(fuse_attempt attempt, void *context) {
    size_t n = 0;
    while (attempt_once(attempt, context, n, false)) {
        attempt_once(attempt, context, n, true);
        n += n < EACH ? 1 : one_of(1);
    }
    assert_true(n > 0); /* an attempt that never allocates proves nothing */
}
