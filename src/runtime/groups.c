/* Storage groups, as Static Runtime assigns them: in the order of steps, a new storage takes over
 * the group that became free last, or opens one; then the storages whose last step this was free
 * theirs. Sizes play no part, which is why offsets need less. */
#include "runtime/iteration.h"

void arn_runtime_assign_groups(arenaut_iteration *it) {
    const uint32_t n = it->n_arena;
    uint32_t *born = it->work[0], *dying = it->work[1], *free_group = it->work[2];
    uint32_t n_free = 0, died = 0;
    for (uint32_t i = 0; i < n; i++) born[i] = dying[i] = i;
    arn_runtime_order_by_step(born, n, it->first, free_group);
    arn_runtime_order_by_step(dying, n, it->last, free_group);
    it->n_groups = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t slot = born[i];
        /* Lifetimes include their last step: a storage that ends at this very step still has its
         * group. */
        while (died < n && it->last[dying[died]] < it->first[slot])
            free_group[n_free++] = it->group[dying[died++]];
        it->group[slot] = n_free ? free_group[--n_free] : it->n_groups++;
    }
}
