/* Sizes, places and paddings that are the same in several ops of a draft: one tensor for all, since
 * the runtime keeps something of each. */
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "rewrite/split/draft.h"

static bool is_new_constant(const arn_draft_tensor *tensor) {
    return tensor->origin.tensor == ARENAUT_NONE;
}

static int compare(const arn_draft_tensor *a, const arn_draft_tensor *b) {
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->n_values != b->n_values) return a->n_values < b->n_values ? -1 : 1;
    return memcmp(a->values, b->values, a->n_values * sizeof *a->values);
}

static bool comes_before(const void *context, uint32_t a, uint32_t b) {
    const arn_draft_tensor *tensors = context;
    return compare(&tensors[a], &tensors[b]) < 0;
}

/* Per new tensor: the first that holds the same, itself if none does. Sorting keeps the order of
 * equals. */
static void find_first(const arn_draft *draft, uint32_t *first, uint32_t *ids) {
    uint32_t n = 0;
    for (uint32_t t = 0; t < draft->n_tensors; t++) {
        first[t] = t;
        if (is_new_constant(&draft->tensors[t])) ids[n++] = t;
    }
    arn_sort_ids(ids, n, comes_before, draft->tensors, ids + n);
    for (uint32_t i = 1; i < n; i++) {
        const bool same = compare(&draft->tensors[ids[i - 1]], &draft->tensors[ids[i]]) == 0;
        if (same) first[ids[i]] = first[ids[i - 1]];
    }
}

void arn_draft_share_constants(arn_draft *draft) {
    const arenaut_allocator *allocator = draft->graph->allocator;
    const uint32_t n_before = draft->graph->program->n_tensors;
    uint32_t *first = arn_allocate(allocator, draft->n_tensors, 3 * sizeof *first);
    if (!first) {
        draft->failed = true;
        return;
    }
    find_first(draft, first, first + draft->n_tensors);
    for (uint32_t i = 0; i < draft->n_arguments; i++) {
        uint32_t *argument = &draft->arguments[i];
        if (*argument == ARENAUT_NONE || *argument < n_before) continue;
        *argument = n_before + first[*argument - n_before];
    }
    arn_release(allocator, first);
}
