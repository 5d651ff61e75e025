/* Ops by the numbers that the file gives them: a sorted list, as numbers may lie far apart. */
#include "rewrite/order/order_numbers.h"

#include "core/sort.h"

bool arn_order_numbers_find(const arenaut_program *program, uint32_t method, arn_region *region,
                            arn_order_numbers *out) {
    const uint32_t first = program->methods[method].first_op, n = program->methods[method].n_ops;
    *out = (arn_order_numbers){.first = first};
    out->ops = arn_region_allocate(region, n, sizeof *out->ops);
    out->number = arn_region_allocate(region, n, sizeof *out->number);
    uint32_t *scratch = arn_region_allocate(region, n, sizeof *scratch);
    if (!out->ops || !out->number || !scratch) return false;
    for (uint32_t i = 0; i < n; i++) {
        const arenaut_optional_id own = program->ops[first + i].file_index;
        out->number[i] = own.id;
        if (own.given) out->ops[out->n++] = i;
    }
    arn_sort_by_key(out->ops, out->n, out->number, scratch);
    for (uint32_t i = 0; i < out->n; i++) out->ops[i] += first;
    return true;
}

/* The first place in the list whose op has at least this number. */
static uint32_t lower_bound(const arn_order_numbers *numbers, uint64_t number) {
    uint32_t low = 0, high = numbers->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (numbers->number[numbers->ops[middle] - numbers->first] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

uint32_t arn_order_numbers_ops(const arn_order_numbers *numbers, uint32_t number,
                               const uint32_t **ops) {
    const uint32_t begin = lower_bound(numbers, number);
    *ops = numbers->ops + begin;
    return lower_bound(numbers, (uint64_t)number + 1) - begin;
}
