/* Memory cells of the checker: a storage is cut wherever a view that ops write independently begins
 * or ends. */
#include "check/rewrite/reorder_cells.h"

#include <string.h>

#include "core/sort.h"

#define MOST_CELLS (UINT64_C(1) << 24) /* over all arguments: else one cell per storage */

/* Cut positions, sorted by storage and then by byte. */
typedef struct places {
    uint64_t *bytes;
    uint32_t *storage, *ids;
    uint32_t n;
} places;

/* A view with a known byte range that it covers completely. */
static bool is_piece(const arn_reorder_names *names, uint32_t t) { return names->bytes[t] > 0; }

static bool place_before(const void *context, uint32_t a, uint32_t b) {
    const places *p = context;
    if (p->storage[a] == p->storage[b]) return p->bytes[a] < p->bytes[b];
    return p->storage[a] < p->storage[b];
}

static void note_output(places *list, const arenaut_program *p, const arn_reorder_names *names,
                        uint32_t t) {
    if (t == ARENAUT_NONE || !is_piece(names, t)) return;
    const uint32_t *storage = names->storage;
    const uint64_t begin = names->begin[t], end = begin + names->bytes[t];
    const uint64_t ends[] = {begin, end};
    for (int i = 0; i < 2; i++) {
        if (ends[i] == 0 || ends[i] == p->tensors[storage[t]].bytes) continue;
        list->storage[list->n] = storage[t];
        list->bytes[list->n++] = ends[i];
    }
}

static bool find_places(places *list, const arenaut_program *p, const arn_reorder_names *names,
                        arn_region *region) {
    size_t most = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) most += 2 * (size_t)p->ops[i].n_outputs;
    list->bytes = arn_region_allocate(region, most, sizeof *list->bytes);
    list->storage = arn_region_allocate(region, most, sizeof *list->storage);
    list->ids = arn_region_allocate(region, most, 2 * sizeof *list->ids);
    if (most > UINT32_MAX || !list->bytes || !list->storage || !list->ids) return false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        if (!arenaut_op_kind_touches(op->kind)) continue;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            note_output(list, p, names, op->outputs[k]);
        }
    }
    for (uint32_t i = 0; i < list->n; i++) list->ids[i] = i;
    arn_sort_ids(list->ids, list->n, place_before, list, list->ids + list->n);
    return true;
}

/* Removes duplicates; `begin`: per storage, and the end: its first position. */
static void drop_repeats(places *list, uint32_t *begin, uint32_t n_storages) {
    uint32_t n = 0, s = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const uint32_t id = list->ids[i];
        if (i > 0 && !place_before(list, list->ids[i - 1], id)) continue;
        while (s <= list->storage[id]) begin[s++] = n;
        list->ids[n++] = id;
    }
    while (s <= n_storages) begin[s++] = n;
    list->n = n;
}

/* The number of positions of a storage up to this byte. */
static uint32_t count_places(const places *list, const uint32_t *begin, uint32_t storage,
                             uint64_t bytes) {
    uint32_t none = begin[storage], all = begin[storage + 1];
    while (none < all) {
        const uint32_t i = none + (all - none) / 2;
        if (list->bytes[list->ids[i]] <= bytes) none = i + 1;
        else all = i;
    }
    return none - begin[storage];
}

static void number_cells(arn_reorder_cells *cells, const arenaut_program *p, const places *list,
                         const uint32_t *begin, const arn_reorder_names *names, uint32_t shared) {
    for (uint32_t t = 0; t < p->n_tensors; t++) {
        const uint32_t s = names->storage[t];
        cells->width[t] = begin[t + 1] - begin[t] + 1;
        cells->first[t] = 0;
        cells->n[t] = s == shared ? 1 : begin[s + 1] - begin[s] + 1;
        if (s == shared || !is_piece(names, t)) continue;
        cells->first[t] = count_places(list, begin, s, names->begin[t]);
        const uint32_t last = count_places(list, begin, s, names->begin[t] + names->bytes[t] - 1);
        cells->n[t] = last - cells->first[t] + 1;
    }
    cells->width[p->n_tensors] = 1;
    cells->total = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const arenaut_op *op = &p->ops[i];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs; k++) {
            const uint32_t t = k < op->n_inputs ? op->inputs[k] : op->outputs[k - op->n_inputs];
            if (t != ARENAUT_NONE) cells->total += cells->n[t];
        }
    }
}

bool arn_reorder_cells_find(const arenaut_program *program, const arn_reorder_names *names,
                            uint32_t shared, arn_region *region, arn_reorder_cells *cells) {
    const size_t n = program->n_tensors;
    places list = {0};
    uint32_t *begin = arn_region_allocate(region, n + 1, sizeof *begin);
    cells->first = arn_region_allocate(region, n, sizeof *cells->first);
    cells->n = arn_region_allocate(region, n, sizeof *cells->n);
    cells->width = arn_region_allocate(region, n + 1, sizeof *cells->width);
    if (!begin || !cells->first || !cells->n || !cells->width) return false;
    if (!find_places(&list, program, names, region)) return false;
    drop_repeats(&list, begin, program->n_tensors);
    number_cells(cells, program, &list, begin, names, shared);
    if (list.n == 0 || cells->total <= MOST_CELLS) return true;
    memset(begin, 0, (n + 1) * sizeof *begin);
    number_cells(cells, program, &list, begin, names, shared);
    return true;
}
