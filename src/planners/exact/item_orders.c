/* Nine measures of how hard an item is to place, by size, by length of life and by the load while
 * it is alive. None is best for all problems, so the search draws one for each of its runs. Costs
 * as much as sorting the items. */
#include "planners/exact/packing_search.h"

#include "core/hash.h"
#include "core/sort.h"

/* 64 × log2(x), about: exact at powers of two and linear between them. Products become sums
 * that cannot overflow, and random factors become random terms. */
static int64_t log64(int64_t x) {
    if (x <= 0) return 0;
    int64_t log = 0;
    for (; x >= 128; x >>= 1) log += 64;
    for (; x < 64; x <<= 1) log -= 64;
    return log + 6 * 64 + (x - 64);
}

static int64_t count_cliques(const arn_exact_model *m, uint32_t i) {
    int64_t n = 0;
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        n += m->span[k].end - m->span[k].first;
    }
    return n;
}

static int64_t highest_load(const arn_exact_model *m, uint32_t i) {
    int64_t load = 0;
    for (uint32_t k = m->span_start[i]; k < m->span_start[i + 1]; k++) {
        for (uint32_t c = m->span[k].first; c < m->span[k].end; c++) {
            if (m->load[c] > load) load = m->load[c];
        }
    }
    return load;
}

/* Loads differ little between items, and so they are weighted; the other terms break ties. */
static int64_t key_of(const arn_exact_model *m, uint32_t order, uint32_t i) {
    const int64_t size = log64(m->size[i]), width = log64(m->width[i]);
    switch (order) {
        case 0: return width;
        case 1: return 64 * log64(highest_load(m, i)) + size + width;
        case 2: return 64 * log64(highest_load(m, i)) + width;
        case 3: return size;
        case 4: return size + width;
        case 5: return log64(count_cliques(m, i));
        case 6: return log64(count_cliques(m, i)) + size;
        case 7: return -width;
        default: return -size;
    }
}

void arn_exact_make_keys(const arn_exact_model *m, uint32_t order, int64_t *keys) {
    for (uint32_t i = 0; i < m->n; i++) keys[i] = key_of(m, order, i);
}

void arn_exact_disturb(uint64_t *random, uint32_t noise, int64_t *keys, uint32_t n) {
    if (noise == 0) return;
    for (uint32_t i = 0; i < n; i++) {
        keys[i] += (int64_t)(arn_random_next(random) % (2 * noise + 1)) - (int64_t)noise;
    }
}

static bool larger_key(const void *context, uint32_t a, uint32_t b) {
    const int64_t *keys = context;
    return keys[a] > keys[b];
}

void arn_exact_rank(const int64_t *keys, uint32_t n, uint32_t *scratch, uint32_t *rank) {
    for (uint32_t i = 0; i < n; i++) scratch[i] = i;
    arn_sort_ids(scratch, n, larger_key, keys, scratch + n);
    for (uint32_t k = 0; k < n; k++) rank[scratch[k]] = k;
}
