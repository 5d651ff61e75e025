/* view_layout: whether one layout is another one of the same elements, so that a reshape can be a
 * view: the dimensions of both are cut into runs of equal products, and the strides within each
 * run must agree. O(ranks). */
#include "core/checked.h"
#include "passes/views/views.h"

/* The stride of dimension `i`, 0 if it does not fit. */
static uint64_t stride_of(const arenaut_tensor *t, uint32_t i) {
    if (t->strides) return (uint64_t)t->strides[i];
    uint64_t stride = 1;
    for (uint32_t k = t->rank; k-- > i + 1;) {
        if (!arn_multiply(stride, (uint64_t)t->dims[k], &stride)) return 0;
    }
    return stride;
}

static bool varies(const arenaut_tensor *t) {
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] < 0) return true;
    }
    return false;
}

static bool same_shape(const arenaut_tensor *a, const arenaut_tensor *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        const uint32_t ea = a->dim_exprs ? a->dim_exprs[i] : ARENAUT_NONE;
        const uint32_t eb = b->dim_exprs ? b->dim_exprs[i] : ARENAUT_NONE;
        if (a->dims[i] != b->dims[i] || ea != eb) return false;
        if (a->dims[i] < 0 && ea == ARENAUT_NONE) return false;
        if (a->strides && b->strides && a->strides[i] != b->strides[i]) return false;
    }
    return (a->strides != NULL) == (b->strides != NULL);
}

static bool is_empty(const arenaut_tensor *t) {
    bool empty = false;
    for (uint32_t i = 0; i < t->rank; i++) empty = empty || t->dims[i] == 0;
    return empty;
}

/* The dimensions of `from` that lie densely in one another, from the last on, are a run of
 * elements at one distance. The dimensions of `to` must fill run after run, none of them
 * reaching over two, and walk each at its distance. */
static bool fills_runs(const arenaut_tensor *from, const arenaut_tensor *to) {
    uint32_t next = to->rank;
    for (uint32_t i = from->rank; i > 0;) {
        const uint64_t step = stride_of(from, i - 1);
        uint64_t run = (uint64_t)from->dims[--i], filled = 1;
        while (i > 0 && (from->dims[i - 1] == 1 || stride_of(from, i - 1) == run * step)) {
            run *= (uint64_t)from->dims[--i];
        }
        while (next > 0 && (filled < run || to->dims[next - 1] == 1)) {
            const uint64_t dim = (uint64_t)to->dims[--next];
            if (dim != 1 && stride_of(to, next) != filled * step) return false;
            filled *= dim;
        }
        if (filled != run) return false;
    }
    while (next > 0 && to->dims[next - 1] == 1) next--;
    return next == 0;
}

bool arn_pass_is_reshaped_view(const arenaut_tensor *from, const arenaut_tensor *to) {
    uint64_t a, b;
    if (same_shape(from, to)) return true;
    if (varies(from) || varies(to)) return !from->strides && !to->strides;
    if (is_empty(from) && is_empty(to)) return true;
    /* Products below stay below these. */
    if (arenaut_dense_bytes(from->dtype, from->dims, from->rank, &a, NULL) != ARENAUT_OK ||
        arenaut_dense_bytes(to->dtype, to->dims, to->rank, &b, NULL) != ARENAUT_OK || a != b) {
        return false;
    }
    return fills_runs(from, to);
}
