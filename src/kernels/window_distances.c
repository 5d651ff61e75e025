/* Distances of ops that walk an image pixel by pixel: convolutions, pools, resizing, and, as a
 * convolution of 1x1 over rows, the fully connected layer. All that matters of a pixel is the first
 * byte of the input that it needs; where the next row begins, that jumps back. O(output pixels). */
#include <string.h>

#include "kernels/distance.h"
#include "kernels/op_facts.h"

/* The lowest position on one side that output position `at` needs; ARN_UNREAD: none. */
typedef int64_t (*first_read)(const void *axis, int64_t at);

typedef struct image_walk {
    const arn_pair *pair;
    const void *y, *x; /* for `first` */
    first_read first;
    int64_t batches, in_y, in_x, out_y, out_x;
    int64_t in_pixel, out_pixel; /* bytes */
    int64_t groups;              /* of channels, one after another within a pixel */
    bool copies;                 /* a pixel is one run of bytes */
} image_walk;

/* The first byte that output pixel `p` needs. */
static int64_t lowest_byte(const image_walk *walk, int64_t p) {
    const int64_t row = p / walk->out_x, batch = row / walk->out_y;
    const int64_t y = walk->first(walk->y, row % walk->out_y);
    const int64_t x = walk->first(walk->x, p % walk->out_x);
    if (y == ARN_UNREAD || x == ARN_UNREAD) return ARN_UNREAD;
    return ((batch * walk->in_y + y) * walk->in_x + x) * walk->in_pixel;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Distance within a pixel of a kernel that makes it channel after channel, from byte `begin` on,
 * and reads its window from byte `lowest` once for each channel: all but the last channel of a
 * group is written before the group's channels are read for the last time, and all of a group
 * before those of the next are read. Both grow, or shrink, evenly from group to group. */
static void reread_pixel(const image_walk *walk, int64_t begin, int64_t lowest, arn_reach *reach) {
    const int64_t groups = walk->groups, element = walk->pair->out_element;
    const int64_t made = walk->out_pixel / groups, read = walk->in_pixel / groups;
    const int64_t growth = made - read;
    if (made > element) {
        arn_reach_at_least(reach,
                           begin + made - element - lowest + larger(0, (groups - 1) * growth));
    }
    if (groups > 1) {
        arn_reach_at_least(reach, begin + growth - lowest + larger(0, (groups - 2) * growth));
    }
}

/* Pixels [first, end), made together, before those seen. */
static void add_block(const image_walk *walk, int64_t first, int64_t end, arn_reach *reach) {
    const arenaut_kernel_order order = walk->pair->rule->order;
    int64_t lowest = ARN_UNREAD;
    for (int64_t p = first; p < end; p++) {
        const int64_t byte = lowest_byte(walk, p);
        if (byte < lowest) lowest = byte;
    }
    arn_reach_step(reach, end * walk->out_pixel, lowest);
    if (lowest == ARN_UNREAD) return;
    if (walk->copies) {
        arn_reach_copy(reach, end * walk->out_pixel, lowest, walk->in_pixel);
    } else if (order == ARENAUT_KERNEL_RASTER) {
        reread_pixel(walk, first * walk->out_pixel, lowest, reach);
    } else if (order !=
               ARENAUT_KERNEL_BLOCK) { /* of one channel too: it may gather in the output */
        arn_reach_at_least(reach, end * walk->out_pixel - walk->pair->out_element - lowest);
    }
}

/* Blocks of `block` pixels, begun anew after each `period` of them. */
static void add_blocks(const image_walk *walk, int64_t period, int64_t block, arn_reach *reach) {
    const int64_t pixels = walk->batches * walk->out_y * walk->out_x;
    arn_reach found = arn_reach_nothing();
    for (int64_t start = pixels - period; start >= 0; start -= period) {
        int64_t end = start + period;
        while (end > start) {
            const int64_t first = start + (end - start - 1) / block * block;
            add_block(walk, first, end, &found);
            end = first;
        }
    }
    arn_reach_at_least(reach, found.distance);
    reach->apart = found.apart;
    reach->moves = found.moves;
}

/* Some kernels begin their blocks anew with each image and some do not: both are right. */
static bool walk_image(const image_walk *walk, arn_reach *reach) {
    const arenaut_kernel_rule *rule = walk->pair->rule;
    const int64_t image = walk->out_y * walk->out_x;
    const bool blocks =
        rule->order == ARENAUT_KERNEL_BLOCK || rule->order == ARENAUT_KERNEL_BLOCK_REREAD;
    if (blocks && rule->block == 0) return false;
    if (!arn_take_steps(walk->pair, (uint64_t)walk->batches * (uint64_t)image * 2)) return false;
    const int64_t block = blocks                               ? (int64_t)rule->block
                          : rule->order == ARENAUT_KERNEL_ROWS ? walk->out_x
                                                               : 1;
    add_blocks(walk, image, block, reach);
    if (walk->batches > 1 && block > 1) add_blocks(walk, image * walk->batches, block, reach);
    return true;
}

/* ---- windows ---- */

/* The first tap inside the image: with dilation that is not its first row. */
static int64_t first_tap(const void *context, int64_t at) {
    const arn_window_axis *axis = context;
    int64_t start = at * axis->stride - axis->before, tap = 0;
    if (start < 0) tap = (-start + axis->dilation - 1) / axis->dilation;
    start += tap * axis->dilation;
    return tap < axis->taps && start < axis->in ? start : ARN_UNREAD;
}

/* A maximum that is read again is kept in the output: its window's first pixel is copied there. */
static bool keeps_maximum(const arn_pair *pair) {
    const arenaut_kernel_order order = pair->rule->order;
    const char *op = pair->op->name;
    return (strcmp(op, "MAX_POOL_2D") == 0 ||
            strcmp(op, "cortex_m::quantized_max_pool2d.out") == 0) &&
           (order == ARENAUT_KERNEL_BLOCK_REREAD || order == ARENAUT_KERNEL_ROWS);
}

bool arn_window_distance(const arn_pair *pair, arn_reach *reach) {
    arn_windows w;
    if (!arn_op_windows(pair->program, pair->op, &w)) return false;
    const image_walk walk = {
        .pair = pair,
        .y = &w.y,
        .x = &w.x,
        .first = first_tap,
        .batches = w.batches,
        .in_y = w.y.in,
        .in_x = w.x.in,
        .out_y = w.y.out,
        .out_x = w.x.out,
        .in_pixel = w.in_channels * pair->in_element,
        .out_pixel = w.out_channels * pair->out_element,
        .groups = w.groups,
        .copies = keeps_maximum(pair),
    };
    return walk_image(&walk, reach);
}

/* ---- resizing ---- */

enum { MOST_SIDE = 1 << 16 }; /* of an image that is resized: well inside a float's precision */

/* Output position `at` lies at (first + at * step) / parts of the input. */
typedef struct scaled_axis {
    int64_t first, step, parts;
    int64_t in;
    bool exact; /* the kernel's own numbers have no error */
} scaled_axis;

/* The floor of that place. Kernels that reckon in 32-bit floats may end up just below a whole
 * number, or below one that is just above it. */
static int64_t scaled_position(const void *context, int64_t at) {
    const scaled_axis *axis = context;
    const int64_t place = axis->first + at * axis->step;
    if (place <= 0) return 0;
    int64_t whole = place / axis->parts;
    if (!axis->exact && place % axis->parts << 20 < (whole + 2) * axis->parts) whole--;
    if (whole > axis->in - 1) whole = axis->in - 1;
    return whole > 0 ? whole : 0;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

/* In floats: (at + half) * scale, less half for bilinear; the nearest of aligned corners is
 * rounded. A scale whose divisor is a power of two is exact. */
static scaled_axis float_axis(const arenaut_op *op, bool nearest, int64_t in, int64_t out) {
    const bool half = arn_op_flag(op, "half_pixel_centers");
    const bool aligned = arn_op_flag(op, "align_corners");
    int64_t scale = in, parts = out;
    if (aligned && out > 1) {
        scale = in - 1;
        parts = out - 1;
    }
    const int64_t divisor = common_divisor(parts, scale);
    scale /= divisor;
    parts /= divisor;
    scaled_axis axis = {.step = 2 * scale, .parts = 2 * parts, .in = in};
    axis.exact = (parts & (parts - 1)) == 0;
    if (half) axis.first = nearest ? scale : scale - parts;
    if (aligned && nearest) axis.first += parts;
    return axis;
}

/* Quantized bilinear kernels reckon in 1024ths. */
static scaled_axis fixed_axis(const arenaut_op *op, int64_t in, int64_t out) {
    const bool aligned = arn_op_flag(op, "align_corners") && out > 1;
    const int64_t part = aligned ? in - 1 : in, whole = aligned ? out - 1 : out;
    const int64_t scale = (1024 * part + whole / 2) / whole;
    const int64_t first = arn_op_flag(op, "half_pixel_centers") ? scale / 2 - 512 : 0;
    return (scaled_axis){.first = first, .step = scale, .parts = 1024, .in = in, .exact = true};
}

bool arn_resize_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *in = pair->in, *out = pair->out;
    const bool nearest = strcmp(pair->op->name, "RESIZE_NEAREST_NEIGHBOR") == 0;
    if (in->rank != 4 || out->rank != 4 || in->dtype != out->dtype) return false;
    if (in->dims[0] != out->dims[0] || in->dims[3] != out->dims[3]) return false;
    scaled_axis axes[2];
    for (int i = 0; i < 2; i++) {
        const int64_t from = in->dims[1 + i], to = out->dims[1 + i];
        if (from > MOST_SIDE || to > MOST_SIDE) return false;
        axes[i] = nearest || in->dtype == ARENAUT_DTYPE_FLOAT32
                      ? float_axis(pair->op, nearest, from, to)
                      : fixed_axis(pair->op, from, to);
    }
    const image_walk walk = {
        .pair = pair,
        .y = &axes[0],
        .x = &axes[1],
        .first = scaled_position,
        .batches = in->dims[0],
        .in_y = in->dims[1],
        .in_x = in->dims[2],
        .out_y = out->dims[1],
        .out_x = out->dims[2],
        .in_pixel = in->dims[3] * pair->in_element,
        .out_pixel = in->dims[3] * pair->out_element,
        .groups = in->dims[3],
        .copies = nearest,
    };
    return walk_image(&walk, reach);
}

/* ---- fully connected ---- */

static int64_t same_position(const void *axis, int64_t at) {
    (void)axis;
    return at;
}

/* Each row of the input makes one row of the output: pixels of an image of one column. */
bool arn_dense_distance(const arn_pair *pair, arn_reach *reach) {
    const arenaut_tensor *weights = arn_op_input(pair->program, pair->op, 1);
    if (!weights || weights->rank != 2 || !arn_has_sizes(weights)) return false;
    const int64_t units = weights->dims[0], depth = weights->dims[1];
    const int64_t n_in = (int64_t)arn_element_count(pair->in);
    const int64_t n_out = (int64_t)arn_element_count(pair->out);
    const int64_t rows = n_in / depth;
    if (pair->out->rank == 0 || pair->out->dims[pair->out->rank - 1] != units) return false;
    if (n_in % depth != 0 || n_out / units != rows) return false;
    if (pair->rule->order == ARENAUT_KERNEL_ROWS) return false; /* there is no image */
    const image_walk walk = {
        .pair = pair,
        .first = same_position,
        .batches = 1,
        .in_y = rows,
        .in_x = 1,
        .out_y = rows,
        .out_x = 1,
        .in_pixel = depth * pair->in_element,
        .out_pixel = units * pair->out_element,
        .groups = 1,
    };
    return walk_image(&walk, reach);
}
