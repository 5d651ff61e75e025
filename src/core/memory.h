/* Allocation through the caller's allocator, and the region that handles live in. */
#ifndef ARN_CORE_MEMORY_H
#define ARN_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <arenaut/allocator.h>

/* The caller's allocator, or the C library's for NULL. */
arenaut_allocator arn_allocator_or_default(const arenaut_allocator *allocator);

/* `count` elements of `size` bytes; NULL if there is no memory or the product overflows.
 * A count of 0 gives a valid block. The second fills with zero bytes. */
void *arn_allocate(const arenaut_allocator *allocator, size_t count, size_t size);
void *arn_allocate_zeroed(const arenaut_allocator *allocator, size_t count, size_t size);
void arn_release(const arenaut_allocator *allocator, void *block);
/* Releases blocks in their order. */
void arn_release_all(const arenaut_allocator *allocator, void *const *blocks, size_t n);
#define ARN_RELEASE(allocator, ...)                          \
    arn_release_all(allocator, (void *const[]){__VA_ARGS__}, \
                    sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* Makes room for at least `needed` elements in *array, which has room for *capacity, by
 * doubling. False, with everything unchanged, if it cannot. */
bool arn_grow(const arenaut_allocator *allocator, void **array, uint32_t *capacity, uint64_t needed,
              size_t element_size);

/* A region: many small blocks, freed together. ("Arena" in this project is the planned memory, so
 * this one has the textbook's other name.) */
typedef struct arn_region {
    arenaut_allocator allocator;
    struct arn_region_block *last;
} arn_region;

void arn_region_init(arn_region *region, const arenaut_allocator *allocator);
void arn_region_free(arn_region *region);
/* NULL if there is no memory. Aligned as malloc's. */
void *arn_region_allocate(arn_region *region, size_t count, size_t size);

/* An array to be allocated: the address of its pointer, its elements, the bytes of each. */
typedef struct arn_array {
    void *pointer;
    size_t count, size;
} arn_array;
#define ARN_ARRAY(pointer, count) ((arn_array){&(pointer), (count), sizeof *(pointer)})

/* Allocates arrays, all bytes zero, and sets their pointers. False if there is no memory. */
bool arn_region_arrays(arn_region *region, const arn_array *arrays, size_t n);
#define ARN_REGION_ARRAYS(region, ...)                          \
    arn_region_arrays(region, (const arn_array[]){__VA_ARGS__}, \
                      sizeof((const arn_array[]){__VA_ARGS__}) / sizeof(arn_array))

/* A copy with a NUL behind it; NULL if there is no memory. */
char *arn_region_copy_text(arn_region *region, const char *text, size_t length);

/* A list of numbers of tensors or ops that grows; readers keep one and empty it for each op. */
typedef struct arn_id_list {
    uint32_t *ids, n, capacity; /* the owner releases ids */
} arn_id_list;

/* False, with the list unchanged, if there is no memory. */
static inline bool arn_id_list_push(arn_id_list *list, const arenaut_allocator *allocator,
                                    uint32_t id) {
    if (!arn_grow(allocator, (void **)&list->ids, &list->capacity, (uint64_t)list->n + 1,
                  sizeof *list->ids)) {
        return false;
    }
    list->ids[list->n++] = id;
    return true;
}

#endif
