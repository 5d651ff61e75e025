/* Normalizations by the statistics of a whole image, in two passes over its rows: the first adds up
 * the statistics, the second normalizes element by element. From each row of the image comes its
 * average and the average of the squares around that, and from those the mean and the variance of
 * each group of channels, as Chan, Golub & LeVeque (1983) add up parts of a sample: no difference
 * of large numbers is in it. All of it is stock arithmetic on images. */
#include "rewrite/split/row_norms.h"

#include <string.h>

#include "rewrite/tile_dialects/tile_dialect.h"

enum { N, C, H };

typedef struct norm {
    arn_draft *draft;
    uint32_t image, scale, bias; /* NONE: it has no such constants */
    uint32_t rank;
    int64_t dims[ARN_IMAGE_RANK]; /* of the image */
    int64_t groups, each;         /* channels of a group */
    int64_t rows, block;          /* of its statistics; the places of each, of a signal */
    double epsilon;
    const char *number;
} norm;

static norm norm_of(arn_draft *draft, uint32_t at) {
    const arn_tile_graph *graph = draft->graph;
    const arenaut_op *op = &graph->program->ops[at];
    const bool scales = op->n_inputs > 1;
    norm it = {.draft = draft,
               .image = graph->image[op->inputs[0]],
               .scale = scales ? op->inputs[1] : ARENAUT_NONE,
               .bias = scales ? op->inputs[2] : ARENAUT_NONE,
               .groups = graph->ops[at].groups,
               .epsilon = graph->ops[at].epsilon,
               .number = graph->ops[at].number};
    const arenaut_tensor *image = &graph->program->tensors[it.image];
    it.rank = image->rank;
    for (uint32_t i = 0; i < it.rank; i++) it.dims[i] = image->dims[i];
    it.each = it.dims[C] / it.groups;
    it.block = graph->ops[at].block;
    it.rows = it.dims[H] / it.block;
    return it;
}

static uint32_t compute(const norm *it, arn_draft_move move, const int64_t *dims, uint32_t a,
                        uint32_t b) {
    const uint32_t both[] = {a, b};
    return arn_draft_compute(it->draft, move, it->image, dims, both, b == ARENAUT_NONE ? 1 : 2);
}

/* Sizes of an image of one column. */
typedef struct column {
    int64_t dims[ARN_IMAGE_RANK];
} column;

static column column_of(int64_t n, int64_t channels, int64_t rows) {
    column made = {{n, channels, rows}};
    for (int i = H + 1; i < ARN_IMAGE_RANK; i++) made.dims[i] = 1;
    return made;
}

/* The same elements in another shape, or repeated to fill it. */
static uint32_t shape(const norm *it, arn_draft_move move, column sizes, uint32_t of) {
    const bool states = it->draft->graph->dialect->states_numbers;
    return compute(it, move, sizes.dims, of,
                   states ? ARENAUT_NONE : arn_draft_numbers(it->draft, sizes.dims, it->rank, 0));
}

/* A number for each group, for each of its channels. */
static uint32_t spread(const norm *it, uint32_t of) {
    const column grouped = column_of(it->dims[N], it->groups, it->each);
    return shape(it, ARN_MOVE_ALIAS, column_of(it->dims[N], it->dims[C], 1),
                 shape(it, ARN_MOVE_EXPAND, grouped, of));
}

static bool has_constants_by_channel(const norm *it) {
    const int64_t length = it->draft->graph->program->tensors[it->scale].dims[0];
    return length == it->dims[C] && length != it->groups;
}

/* The factors of channels are those of their groups times constants of their own. */
static arn_statistics combine_by_channel(const norm *it, uint32_t mean, uint32_t inverse) {
    const column apart = column_of(it->dims[N], it->dims[C], 1), all = column_of(1, it->dims[C], 1);
    const uint32_t scale = shape(it, ARN_MOVE_ALIAS, all, it->scale);
    return (arn_statistics){spread(it, mean),
                            compute(it, ARN_MOVE_MUL, apart.dims, spread(it, inverse), scale),
                            shape(it, ARN_MOVE_ALIAS, all, it->bias)};
}

static uint32_t add_epsilon(const norm *it, column one, uint32_t variance) {
    if (it->number) return arn_draft_raise(it->draft, it->image, variance, it->number);
    return compute(it, ARN_MOVE_ADD, one.dims, variance,
                   arn_draft_reals(it->draft, &it->epsilon, 1));
}

/* The mean of each group, its factor, and its summand, from the averages of rows and of the squares
 * around them. */
static arn_statistics combine(const norm *it, uint32_t averages, uint32_t squares) {
    const column rows = column_of(it->dims[N], it->groups, it->each * it->rows);
    const column one = column_of(it->dims[N], it->groups, 1), all = column_of(1, it->groups, 1);
    averages = shape(it, ARN_MOVE_ALIAS, rows, averages);
    squares = shape(it, ARN_MOVE_ALIAS, rows, squares);
    const uint32_t mean = compute(it, ARN_MOVE_MEAN, one.dims, averages, ARENAUT_NONE);
    const uint32_t apart = compute(it, ARN_MOVE_SUB, rows.dims, averages, mean);
    const uint32_t between = compute(it, ARN_MOVE_MUL, rows.dims, apart, apart);
    const uint32_t moments = compute(it, ARN_MOVE_ADD, rows.dims, squares, between);
    const uint32_t variance = compute(it, ARN_MOVE_MEAN, one.dims, moments, ARENAUT_NONE);
    const uint32_t padded = add_epsilon(it, one, variance);
    const uint32_t root = compute(it, ARN_MOVE_ROOT, one.dims, padded, ARENAUT_NONE);
    const uint32_t inverse = compute(it, ARN_MOVE_INVERSE, one.dims, root, ARENAUT_NONE);
    if (it->scale == ARENAUT_NONE) {
        return (arn_statistics){spread(it, mean), spread(it, inverse), ARENAUT_NONE};
    }
    if (has_constants_by_channel(it)) return combine_by_channel(it, mean, inverse);
    const uint32_t factor =
        compute(it, ARN_MOVE_MUL, one.dims, inverse, shape(it, ARN_MOVE_ALIAS, all, it->scale));
    const uint32_t summand = shape(it, ARN_MOVE_ALIAS, all, it->bias);
    return (arn_statistics){spread(it, mean), spread(it, factor), spread(it, summand)};
}

/* The averages of some rows, and of the squares around these. */
static void put_rows(const norm *it, uint32_t rows, uint32_t made[2]) {
    int64_t dims[ARN_IMAGE_RANK];
    if (it->draft->failed) return;
    for (uint32_t i = 0; i < it->rank; i++) dims[i] = arn_draft_dims(it->draft, rows)[i];
    made[0] = arn_draft_reduce(it->draft, ARN_MOVE_AVERAGE, rows);
    const uint32_t apart = compute(it, ARN_MOVE_SUB, dims, rows, made[0]);
    const uint32_t squares = compute(it, ARN_MOVE_MUL, dims, apart, apart);
    made[1] = arn_draft_reduce(it->draft, ARN_MOVE_AVERAGE, squares);
}

/* The same of a signal: of blocks of its places, which are rows of another shape. */
static void put_blocks(const norm *it, uint32_t places, uint32_t made[2]) {
    if (it->draft->failed) return;
    const int64_t n = it->dims[N], blocks = arn_draft_dims(it->draft, places)[H] / it->block;
    const column all = column_of(n, it->dims[C] * blocks, it->block);
    const column one = column_of(n, it->dims[C] * blocks, 1);
    const uint32_t rows = shape(it, ARN_MOVE_ALIAS, all, places);
    const uint32_t averages = compute(it, ARN_MOVE_MEAN, one.dims, rows, ARENAUT_NONE);
    const uint32_t apart = compute(it, ARN_MOVE_SUB, all.dims, rows, averages);
    const uint32_t squares = compute(it, ARN_MOVE_MUL, all.dims, apart, apart);
    const uint32_t spreads = compute(it, ARN_MOVE_MEAN, one.dims, squares, ARENAUT_NONE);
    made[0] = shape(it, ARN_MOVE_ALIAS, column_of(n, it->dims[C], blocks), averages);
    made[1] = shape(it, ARN_MOVE_ALIAS, column_of(n, it->dims[C], blocks), spreads);
}

arn_statistics arn_norm_put_statistics(arn_draft *draft, uint32_t at, uint32_t image,
                                       uint32_t n_tiles, uint32_t *parts) {
    const norm it = norm_of(draft, at);
    uint32_t *averages = parts, *squares = parts + n_tiles;
    for (uint32_t tile = 0; tile < n_tiles; tile++) {
        const int64_t begin = it.rows * tile / n_tiles * it.block;
        const int64_t end = it.rows * (tile + 1) / n_tiles * it.block;
        const uint32_t rows = arn_draft_slice(draft, image, begin, end - begin);
        uint32_t made[2] = {0, 0};
        if (it.rank > H + 1) put_rows(&it, rows, made);
        else put_blocks(&it, rows, made);
        averages[tile] = made[0];
        squares[tile] = made[1];
        arn_draft_order_after(draft, made, 2);
    }
    const uint32_t axis = arn_tile_dim(draft->graph, ARN_AXIS_H);
    return combine(&it, arn_draft_join(draft, axis, averages, n_tiles, ARENAUT_NONE, averages[0]),
                   arn_draft_join(draft, axis, squares, n_tiles, ARENAUT_NONE, squares[0]));
}

uint32_t arn_norm_put(arn_draft *draft, uint32_t at, arn_statistics by, uint32_t rows,
                      int64_t n_rows) {
    const norm it = norm_of(draft, at);
    const uint32_t result = draft->graph->image[draft->graph->program->ops[at].outputs[0]];
    const bool sums = by.summand != ARENAUT_NONE;
    int64_t dims[ARN_IMAGE_RANK];
    memcpy(dims, it.dims, sizeof dims);
    dims[H] = n_rows;
    const uint32_t apart[] = {compute(&it, ARN_MOVE_SUB, dims, rows, by.mean), by.factor};
    const uint32_t scaled =
        arn_draft_compute(draft, ARN_MOVE_MUL, sums ? it.image : result, dims, apart, 2);
    if (!sums) return scaled;
    const uint32_t both[] = {scaled, by.summand};
    return arn_draft_compute(draft, ARN_MOVE_ADD, result, dims, both, 2);
}
