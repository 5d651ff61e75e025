/* The allocator interface: the caller's source of all memory that the library takes.
 *
 * A call that creates something takes a `const arenaut_allocator *`; NULL means the C library's
 * malloc, realloc and free. The struct is copied, its context is borrowed and must outlive every
 * object created with it. There is no process-wide hook. */
#ifndef ARENAUT_ALLOCATOR_H
#define ARENAUT_ALLOCATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arenaut_allocator {
    /* `size` > 0. Returns memory aligned as malloc's, or NULL. */
    void *(*allocate)(void *context, size_t size);
    /* `block` may be NULL (then old_size is 0). Returns NULL and leaves `block` valid if
     * it cannot. */
    void *(*reallocate)(void *context, void *block, size_t old_size, size_t new_size);
    /* `block` may be NULL. */
    void (*release)(void *context, void *block);
    void *context;
} arenaut_allocator;

#ifdef __cplusplus
}
#endif
#endif
