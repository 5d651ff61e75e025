/* A list of numbers of tensors or ops that grows; readers keep one and empty it for each op. */
#ifndef ARN_CORE_ID_LIST_H
#define ARN_CORE_ID_LIST_H

#include "core/memory.h"

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
