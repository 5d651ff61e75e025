/* Sorting without memory and without recursion: heap sort, by key and then by number, so
 * that the order is total. */
#include "runtime/iteration.h"

typedef struct sorting {
    uint32_t *order;
    const uint32_t *step;
    const size_t *offset; /* used where `step` is NULL */
} sorting;

static bool comes_before(const sorting *s, uint32_t a, uint32_t b) {
    if (s->step ? s->step[a] != s->step[b] : s->offset[a] != s->offset[b])
        return s->step ? s->step[a] < s->step[b] : s->offset[a] < s->offset[b];
    return a < b;
}

/* Lets the entry at `root` sink to its place in the heap of the first n. */
static void sink(const sorting *s, uint32_t root, uint32_t n) {
    const uint32_t moving = s->order[root];
    while (root < n / 2) {
        uint32_t child = 2 * root + 1;
        if (child + 1 < n && comes_before(s, s->order[child], s->order[child + 1])) child++;
        if (!comes_before(s, moving, s->order[child])) break;
        s->order[root] = s->order[child];
        root = child;
    }
    s->order[root] = moving;
}

static void sort(const sorting *s, uint32_t n) {
    for (uint32_t i = n / 2; i > 0; i--) sink(s, i - 1, n);
    for (uint32_t end = n; end > 1; end--) {
        const uint32_t largest = s->order[0];
        s->order[0] = s->order[end - 1];
        s->order[end - 1] = largest;
        sink(s, 0, end - 1);
    }
}

void arn_runtime_order_by_step(uint32_t *order, uint32_t n, const uint32_t *key) {
    const sorting s = {order, key, NULL};
    sort(&s, n);
}

void arn_runtime_order_by_offset(uint32_t *order, uint32_t n, const size_t *key) {
    const sorting s = {order, NULL, key};
    sort(&s, n);
}
