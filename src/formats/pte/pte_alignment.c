/* Inference of the alignment that an exporter gave a method's tensors. The file does not state it,
 * but exporters round sizes up to it, and that shows: bytes between one tensor and the next that
 * nothing ever uses. If there are such, and all offsets have a larger common power of two than the
 * runtime needs, it is not by chance. Without them it may well be (a few large tensors are enough),
 * and to keep to it would cost memory. */
#include "core/checked.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/sort.h"
#include "formats/pte/pte_reader.h"

enum {
    GRAIN = 16, /* of the runtime: no smaller alignment counts, and no gap */
    LIMIT = 4096,
};

static bool lies_before(const void *context, uint32_t a, uint32_t b) {
    const arenaut_tensor *tensors = context;
    if (tensors[a].given_pool != tensors[b].given_pool) {
        return tensors[a].given_pool < tensors[b].given_pool;
    }
    return tensors[a].given_offset < tensors[b].given_offset;
}

/* The alignment of the tensors `ids` of one memory, in order; 0: the target's. */
static uint64_t alignment_of(const arenaut_tensor *tensors, const uint32_t *ids, uint32_t n) {
    uint64_t bits = LIMIT, top = 0, largest_gap = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t at = tensors[ids[i]].given_offset;
        uint64_t end;
        if (!arn_align_up(at + tensors[ids[i]].bytes, GRAIN, &end)) return 0;
        bits |= at;
        if (at > top) largest_gap = arn_max_u64(largest_gap, at - top);
        top = arn_max_u64(top, end);
    }
    const uint64_t align = bits & (~bits + 1);
    return align > GRAIN && largest_gap > 0 && largest_gap < align ? align : 0;
}

arenaut_status arn_pte_find_alignment(arn_pte_reader *r, uint32_t first_tensor) {
    arenaut_tensor *tensors = r->program->tensors;
    const uint32_t n_tensors = r->program->n_tensors - first_tensor;
    arenaut_status st = arn_pte_charge(r, n_tensors, 2 * sizeof(uint32_t));
    if (st != ARENAUT_OK) return st;
    uint32_t *ids = arn_allocate(r->allocator, n_tensors, 2 * sizeof *ids);
    if (!ids) return arn_no_memory(r->err);
    uint32_t n = 0;
    for (uint32_t t = first_tensor; t < r->program->n_tensors; t++) {
        if (tensors[t].given_pool != ARENAUT_NONE) ids[n++] = t;
    }
    arn_sort_ids(ids, n, lies_before, tensors, ids + n_tensors);
    for (uint32_t from = 0, to = 0; from < n; from = to) {
        const uint32_t pool = tensors[ids[from]].given_pool;
        while (to < n && tensors[ids[to]].given_pool == pool) to++;
        const uint64_t align = alignment_of(tensors, ids + from, to - from);
        for (uint32_t i = from; i < to; i++) tensors[ids[i]].align = align;
    }
    arn_release(r->allocator, ids);
    return ARENAUT_OK;
}
