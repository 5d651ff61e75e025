/* kernel_steps_window: kernels that look at a window of an image for each pixel of their output:
 * convolutions, pools, resizing; a fully connected layer is a convolution over as many
 * pixels as it has rows.
 *
 *     for each image, row, column:              one pixel of the output
 *         for each channel of it:
 *             read the window                   a group's channels of each tap inside the image
 *             write the channel
 *
 * Channels are written in groups that read the same channels of the input: all of them in an
 * ordinary convolution, one input channel's in a depthwise one. The orders of libraries differ in
 * how many pixels go together: `block` reads the windows of all before it writes any;
 * `block-reread`, and `rows` with a row of them, look at all windows of the block for each channel,
 * so that only the block's last element is sure to be written after that; and of a maximum, which
 * is kept in the output, not even that. O(pixels × groups × taps), but where the windows of a row
 * or a block lie apart from its output and are whole, one look at each row of them, and where the
 * groups of a pixel stay ahead of its output, one at each tap. */
#include <string.h>

#include "check/replay/kernel_steps.h"

enum { MOST_TAPS = 4 }; /* of a resized axis */

typedef enum resize { NOT, WHOLE_NUMBERS, FLOATS, NEAREST } resize;

/* One direction of an image. */
typedef struct axis {
    int64_t in, out; /* pixels */
    int64_t taps, stride, dilation;
    int64_t before; /* padding */
    resize kind;    /* but for NOT, which pixel a tap reads follows from where the output's lies */
    bool half_pixel_centers, align_corners;
} axis;

typedef struct window {
    arn_walk *walk;
    uint32_t input;
    axis y, x;
    int64_t images;
    int64_t groups;
    uint64_t in_group, out_group; /* bytes of a group in a pixel */
    uint64_t out_channel;         /* bytes of one of its channels */
    bool is_maximum;
    bool is_turned; /* ExecuTorch's: the shape has channels second, attributes are other ones */
} window;

/* ---- taps ---- */

static int64_t at_least_0(int64_t value) { return value < 0 ? 0 : value; }

/* The kernels hold the first of two neighbours against 0 alone, and the second against the end. */
static int64_t at_most_last(const axis *a, int64_t value) {
    return value < a->in ? value : a->in - 1;
}

/* Between which two pixels the output's lies, by the kernel for whole numbers: 10 binary places. */
static void resize_whole(const axis *a, int64_t place, int64_t taps[MOST_TAPS]) {
    const bool corners = a->align_corners && a->out > 1;
    const int64_t in = corners ? a->in - 1 : a->in, out = corners ? a->out - 1 : a->out;
    const int64_t scale = (1024 * in + out / 2) / out;
    const int64_t scaled = place * scale + (a->half_pixel_centers ? scale / 2 - 512 : 0);
    taps[0] = taps[2] = at_least_0(scaled / 1024);
    taps[1] = taps[3] = at_most_last(a, (scaled + 1023) / 1024);
}

/* The same by the kernel for floats. A compiler may round once where there are two operations: both
 * are read. Products of floats are exact as doubles. */
static void resize_float(const axis *a, int64_t place, int64_t taps[MOST_TAPS]) {
    const bool corners = a->align_corners && a->out > 1;
    const float in = (float)(corners ? a->in - 1 : a->in);
    const float scale = in / (float)(corners ? a->out - 1 : a->out);
    const float from = (float)place + 0.5f;
    const float product = a->half_pixel_centers ? from * scale : (float)place * scale;
    const float twice = a->half_pixel_centers ? product - 0.5f : product;
    const float once =
        a->half_pixel_centers ? (float)((double)from * (double)scale - 0.5) : product;
    taps[0] = at_least_0(arn_floor(twice));
    taps[1] = at_most_last(a, -arn_floor(-twice));
    taps[2] = at_least_0(arn_floor(once));
    taps[3] = at_most_last(a, -arn_floor(-once));
}

static int64_t nearest(const axis *a, int64_t place) {
    const bool corners = a->align_corners && a->out > 1;
    const float in = (float)(corners ? a->in - 1 : a->in);
    const float scale = in / (float)(corners ? a->out - 1 : a->out);
    const float scaled = ((float)place + (a->half_pixel_centers ? 0.5f : 0.0f)) * scale;
    const int64_t below = arn_floor(scaled);
    const bool up = a->align_corners && scaled - (float)below >= 0.5f;
    return at_most_last(a, up ? below + 1 : below);
}

/* The pixels of one direction that an output's looks at: those of its taps inside the image. */
typedef struct view {
    int64_t n;
    int64_t first, step;       /* evenly spread, */
    int64_t listed[MOST_TAPS]; /* or one by one, of a resized axis */
    bool is_listed;
} view;

static view look(const axis *a, int64_t place) {
    view w = {.n = a->taps, .step = a->dilation, .is_listed = a->kind != NOT};
    if (a->kind == NEAREST) w.listed[0] = nearest(a, place);
    if (a->kind == WHOLE_NUMBERS) resize_whole(a, place, w.listed);
    if (a->kind == FLOATS) resize_float(a, place, w.listed);
    if (w.is_listed) return w;
    w.first = place * a->stride - a->before;
    const int64_t outside = w.first < 0 ? (-w.first + a->dilation - 1) / a->dilation : 0;
    w.first += outside * a->dilation;
    const int64_t inside = w.first < a->in ? (a->in - 1 - w.first) / a->dilation + 1 : 0;
    w.n = outside < a->taps ? a->taps - outside : 0;
    if (w.n > inside) w.n = inside;
    return w;
}

static int64_t at(const view *w, int64_t k) {
    return w->is_listed ? w->listed[k] : w->first + k * w->step;
}

/* ---- pixels ---- */

typedef struct pixel {
    int64_t image;
    view y, x;
} pixel;

static int64_t count_pixels(const window *v) { return v->images * v->y.out * v->x.out; }

static pixel locate(const window *v, int64_t number) {
    const int64_t row = number / v->x.out;
    return (pixel){row / v->y.out, look(&v->y, row % v->y.out), look(&v->x, number % v->x.out)};
}

static uint64_t in_pixel(const window *v) { return (uint64_t)v->groups * v->in_group; }
static uint64_t out_pixel(const window *v) { return (uint64_t)v->groups * v->out_group; }

/* Where row y of an image begins, in pixels. */
static uint64_t row_start(const window *v, int64_t image, int64_t y) {
    return (uint64_t)((image * v->y.in + y) * v->x.in);
}

/* Bytes [offset, offset + bytes) of each pixel that the output's pixel p is made from. */
static bool read_window(const window *v, const pixel *p, uint64_t offset, uint64_t bytes) {
    for (int64_t j = 0; j < p->y.n && p->x.n > 0; j++) {
        const uint64_t row = row_start(v, p->image, at(&p->y, j));
        for (int64_t i = 0; i < p->x.n; i++) {
            const uint64_t first = (row + (uint64_t)at(&p->x, i)) * in_pixel(v) + offset;
            if (!arn_walk_read(v->walk, v->input, first, first + bytes)) return false;
        }
    }
    return true;
}

/* Whether the run, begun at byte `offset` of each tap of pixel p, writes nowhere as far as it still
 * has to read. */
static bool taps_stay_ahead(const window *v, const pixel *p, uint64_t offset, arn_walk_run *run) {
    for (int64_t j = 0; j < p->y.n && p->x.n > 0; j++) {
        const uint64_t row = row_start(v, p->image, at(&p->y, j));
        for (int64_t i = 0; i < p->x.n; i++) {
            run->from = (row + (uint64_t)at(&p->x, i)) * in_pixel(v) + offset;
            if (!arn_walk_stays_ahead(v->walk, run)) return false;
        }
    }
    return true;
}

/* Whether output pixel `number` stays ahead group by group. */
static bool groups_stay_ahead(const window *v, const pixel *p, int64_t number) {
    arn_walk_run run = {.input = v->input,
                        .read = v->in_group,
                        .to = (uint64_t)number * out_pixel(v),
                        .made = v->out_group,
                        .early = v->out_group - v->out_channel,
                        .n = (uint64_t)v->groups};
    return taps_stay_ahead(v, p, 0, &run);
}

/* Whether columns [low, high] of the rows that pixel p looks at are whole, and stay so when output
 * pixels [first, end) are written. */
static bool columns_are_apart(const window *v, const pixel *p, int64_t low, int64_t high,
                              int64_t first, int64_t end) {
    for (int64_t j = 0; j < p->y.n && high >= low; j++) {
        const uint64_t row = row_start(v, p->image, at(&p->y, j));
        if (!arn_walk_is_apart(v->walk, v->input, (row + (uint64_t)low) * in_pixel(v),
                               (row + (uint64_t)high + 1) * in_pixel(v), 0,
                               (uint64_t)first * out_pixel(v), (uint64_t)end * out_pixel(v)))
            return false;
    }
    return true;
}

/* The same of all groups of the pixel's window, each row from its first tap to its last. */
static bool window_is_apart(const window *v, const pixel *p, int64_t first, int64_t end) {
    int64_t low = INT64_MAX, high = -1;
    for (int64_t i = 0; i < p->x.n; i += p->x.is_listed || i + 1 == p->x.n ? 1 : p->x.n - 1) {
        const int64_t x = at(&p->x, i);
        if (x < low) low = x;
        if (x > high) high = x;
    }
    return columns_are_apart(v, p, low, high, first, end);
}

/* ---- blocks of pixels ---- */

static bool write_pixels(const window *v, int64_t first, int64_t end) {
    return arn_walk_write(v->walk, 0, (uint64_t)first * out_pixel(v), (uint64_t)end * out_pixel(v));
}

static bool read_block(const window *v, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; k++) {
        const pixel p = locate(v, k);
        if (!read_window(v, &p, 0, in_pixel(v))) return false;
    }
    return true;
}

static bool block_is_apart(const window *v, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; k++) {
        const pixel p = locate(v, k);
        if (!window_is_apart(v, &p, first, end)) return false;
    }
    return true;
}

/* One pixel, channel by channel. Those of one group read the same, so that the last of its reads
 * finds all that the others would. */
static bool make_pixel(const window *v, int64_t number) {
    const uint64_t start = (uint64_t)number * out_pixel(v);
    const pixel p = locate(v, number);
    if (v->groups > 1 && groups_stay_ahead(v, &p, number))
        return arn_walk_write(v->walk, 0, start, start + out_pixel(v));
    for (int64_t g = 0; g < v->groups; g++) {
        const uint64_t first = start + (uint64_t)g * v->out_group, end = first + v->out_group;
        const uint64_t last = end - v->out_channel;
        if (!arn_walk_write(v->walk, 0, first, last) ||
            !read_window(v, &p, (uint64_t)g * v->in_group, v->in_group) ||
            !arn_walk_write(v->walk, 0, last, end))
            return false;
    }
    return true;
}

static bool make_block(const window *v, int64_t first, int64_t end) {
    const uint64_t end_byte = (uint64_t)end * out_pixel(v);
    const uint64_t last = v->is_maximum ? end_byte : end_byte - v->out_channel;
    switch (v->walk->rule->order) {
        case ARENAUT_KERNEL_RASTER: return make_pixel(v, first);
        case ARENAUT_KERNEL_BLOCK: return read_block(v, first, end) && write_pixels(v, first, end);
        default: /* the last element may be written when all windows have been read for it again */
            return arn_walk_write(v->walk, 0, (uint64_t)first * out_pixel(v), last) &&
                   read_block(v, first, end) && arn_walk_write(v->walk, 0, last, end_byte);
    }
}

/* Whether a row of the output begins at pixel `first` whose blocks, in whatever order, read rows
 * that are whole and stay so while it is written. */
static bool row_is_apart(const window *v, int64_t first, int64_t block) {
    if (first % v->x.out != 0 || v->x.out % block != 0 || v->x.out == block) return false;
    const pixel p = locate(v, first);
    return columns_are_apart(v, &p, 0, v->x.in - 1, first, first + v->x.out);
}

/* The columns whose windows lie inside the image from side to side, [*from, returned). */
static int64_t inner_columns(const axis *a, int64_t *from) {
    const int64_t room = a->in - 1 + a->before - (a->taps - 1) * a->dilation;
    const int64_t end = room < 0 ? 0 : room / a->stride + 1;
    *from = (a->before + a->stride - 1) / a->stride;
    return end < a->out ? end : a->out;
}

/* Whether `n` pixels of a row from `first` on stay ahead in their groups of this number: until one
 * is read, all of those before it are written, and all but the last channel of its own. */
static bool group_stays_ahead(const window *v, int64_t first, int64_t n, int64_t group) {
    const pixel p = locate(v, first);
    arn_walk_run run = {.input = v->input,
                        .read = (uint64_t)v->x.stride * in_pixel(v),
                        .to = (uint64_t)first * out_pixel(v),
                        .made = out_pixel(v),
                        .early = (uint64_t)(group + 1) * v->out_group - v->out_channel,
                        .n = (uint64_t)n};
    return taps_stay_ahead(v, &p, (uint64_t)group * v->in_group, &run);
}

/* Where pixel `first` begins the inner columns of a row, which are made pixel by pixel and stay
 * ahead: the end of them; else `first`. Groups grow evenly: all do if the first and the last do. */
static int64_t end_of_row_ahead(const window *v, int64_t first) {
    int64_t from;
    if (v->walk->rule->order != ARENAUT_KERNEL_RASTER || v->x.kind != NOT) return first;
    const int64_t n = inner_columns(&v->x, &from) - from;
    const bool ahead = first % v->x.out == from && n > 1 && group_stays_ahead(v, first, n, 0) &&
                       group_stays_ahead(v, first, n, v->groups - 1);
    return ahead ? first + n : first;
}

/* Blocks of so many pixels, begun anew after each `period` of them, which is of whole rows. */
static bool walk_blocks(const window *v, int64_t period, int64_t block) {
    const int64_t n = count_pixels(v);
    for (int64_t first = 0, end; first < n; first = end) {
        const int64_t left = period - first % period;
        end = row_is_apart(v, first, block) ? first + v->x.out : end_of_row_ahead(v, first);
        bool whole = end > first;
        if (!whole) {
            end = first + (left < block ? left : block);
            whole = (v->groups > 1 || end - first > 1) && block_is_apart(v, first, end);
        }
        if (!(whole ? write_pixels(v, first, end) : make_block(v, first, end))) return false;
    }
    return true;
}

/* Blocks begin anew with each image, or go on from one to the next: a rule does not say. */
static bool walk_windows(const window *v) {
    const arenaut_kernel_rule *rule = v->walk->rule;
    const int64_t n = count_pixels(v), image = n / v->images;
    int64_t block = rule->block;
    if (rule->order == ARENAUT_KERNEL_RASTER) block = 1;
    if (rule->order == ARENAUT_KERNEL_ROWS) block = v->x.out;
    if (block == 0) return arn_walk_give_up(v->walk, "its rule has no block");
    if (!walk_blocks(v, n, block)) return false;
    if (v->images == 1 || image % block == 0) return true;
    arn_walk_again(v->walk);
    return walk_blocks(v, image, block);
}

/* ---- operators ---- */

static bool misfit(arn_walk *walk) {
    return arn_walk_give_up(walk, "its shapes and attributes do not fit together");
}

/* As many pixels of padding on either side; windows that lie outside have no known behaviour. */
static bool set_padding(window *v) {
    int64_t pads[4];
    if (!arn_walk_attribute(v->walk, "pads", 4, pads))
        return arn_walk_give_up(v->walk, "its padding is not known");
    for (int i = 0; i < 2; i++) {
        axis *a = i == 0 ? &v->y : &v->x;
        a->before = pads[i];
        if (pads[i] < 0 || pads[i] > (a->taps - 1) * a->dilation ||
            (a->out - 1) * a->stride - pads[i] >= a->in)
            return misfit(v->walk);
    }
    return true;
}

/* Strides, dilations and padding, as the op states them. */
static bool set_steps(window *v) {
    int64_t strides[2], dilations[2] = {1, 1};
    const bool same = arn_walk_says(v->walk, "padding", "SAME");
    (void)arn_walk_attribute(v->walk, "dilations", 2, dilations);
    if (!arn_walk_attribute(v->walk, "strides", 2, strides) ||
        (!same && !v->is_turned && !arn_walk_says(v->walk, "padding", "VALID")))
        return arn_walk_give_up(v->walk, "its strides and padding are not known");
    for (int i = 0; i < 2; i++) {
        axis *a = i == 0 ? &v->y : &v->x;
        a->stride = strides[i];
        a->dilation = dilations[i];
        if (a->stride < 1 || a->dilation < 1 || a->taps < 1) return misfit(v->walk);
        const int64_t over = (a->out - 1) * a->stride + (a->taps - 1) * a->dilation + 1 - a->in;
        a->before = same && over > 0 ? over / 2 : 0;
    }
    return !v->is_turned || set_padding(v);
}

/* Images of the input and of the output; channels are up to the operator. */
static bool set_images(window *v, arn_operand *in, arn_operand *out) {
    const bool known = v->is_turned ? arn_walk_input_image(v->walk, v->input, in) &&
                                          arn_walk_output_image(v->walk, 0, out)
                                    : arn_walk_input_operand(v->walk, v->input, in) &&
                                          arn_walk_output_operand(v->walk, 0, out);
    if (!known) return false;
    if (in->rank != 4 || out->rank != 4 || in->dims[0] != out->dims[0]) return misfit(v->walk);
    v->images = in->dims[0];
    v->y.in = in->dims[1];
    v->y.out = out->dims[1];
    v->x.in = in->dims[2];
    v->x.out = out->dims[2];
    v->out_channel = out->element;
    return true;
}

static bool set_groups(window *v, const arn_operand *in, const arn_operand *out, int64_t groups) {
    if (groups < 1 || in->dims[3] % groups != 0 || out->dims[3] % groups != 0)
        return misfit(v->walk);
    v->groups = groups;
    v->in_group = (uint64_t)(in->dims[3] / groups) * in->element;
    v->out_group = (uint64_t)(out->dims[3] / groups) * out->element;
    return true;
}

static bool is_turned(const arn_walk *walk) {
    return strncmp(walk->op->name, "cortex_m::", 10) == 0;
}

static bool convolve_groups(arn_walk *walk, bool is_depthwise) {
    window v = {.walk = walk, .is_turned = is_turned(walk)};
    arn_operand in, out, filter;
    if (!set_images(&v, &in, &out) || !arn_walk_input_operand(walk, 1, &filter)) return false;
    if (in.count == 0 || out.count == 0) return true;
    const int64_t depth = is_depthwise ? 1 : filter.dims[3];
    if (filter.rank != 4 || depth < 1 || in.dims[3] % depth != 0) return misfit(walk);
    v.y.taps = filter.dims[1];
    v.x.taps = filter.dims[2];
    return set_steps(&v) && set_groups(&v, &in, &out, in.dims[3] / depth) && walk_windows(&v);
}

static bool convolve(arn_walk *walk) { return convolve_groups(walk, false); }
static bool convolve_depthwise(arn_walk *walk) { return convolve_groups(walk, true); }

static bool pool(arn_walk *walk) {
    window v = {.walk = walk, .is_turned = is_turned(walk)};
    v.is_maximum = strcmp(walk->op->name, "MAX_POOL_2D") == 0 ||
                   strcmp(walk->op->name, "cortex_m::quantized_max_pool2d.out") == 0;
    arn_operand in, out;
    int64_t filter[2];
    if (!set_images(&v, &in, &out)) return false;
    if (in.count == 0 || out.count == 0) return true;
    if (!arn_walk_attribute(walk, v.is_turned ? "kernel_shape" : "filter", 2, filter))
        return arn_walk_give_up(walk, "its filter is not known");
    v.y.taps = filter[0];
    v.x.taps = filter[1];
    if (in.dims[3] != out.dims[3]) return misfit(walk);
    return set_steps(&v) && set_groups(&v, &in, &out, in.dims[3]) && walk_windows(&v);
}

/* Images of one depth, resized; `groups` is set to 0 where there is nothing to do. */
static bool set_resize(window *v, bool bilinear) {
    arn_operand in, out;
    if (!set_images(v, &in, &out)) return false;
    v->groups = 0;
    if (in.count == 0 || out.count == 0) return true;
    if (in.dims[3] != out.dims[3] || in.element != out.element) return misfit(v->walk);
    axis like = {.taps = bilinear ? MOST_TAPS : 1, .kind = NEAREST};
    if (bilinear) like.kind = in.dtype == ARENAUT_DTYPE_FLOAT32 ? FLOATS : WHOLE_NUMBERS;
    like.half_pixel_centers = arn_walk_number(v->walk, "half_pixel_centers", 0) != 0;
    like.align_corners = arn_walk_number(v->walk, "align_corners", 0) != 0;
    for (int i = 0; i < 2; i++) {
        axis *a = i == 0 ? &v->y : &v->x;
        like.in = a->in;
        like.out = a->out;
        *a = like;
    }
    return set_groups(v, &in, &out, bilinear ? in.dims[3] : 1);
}

static bool resize_bilinear(arn_walk *walk) {
    window v = {.walk = walk};
    return set_resize(&v, true) && (v.groups == 0 || walk_windows(&v));
}

/* Pixels are copied as they are, by memcpy. */
static bool resize_nearest(arn_walk *walk) {
    window v = {.walk = walk};
    if (!set_resize(&v, false)) return false;
    if (v.groups == 0) return true;
    if (walk->rule->order != ARENAUT_KERNEL_RASTER) return walk_windows(&v);
    for (int64_t k = 0; k < count_pixels(&v); k++) {
        const pixel p = locate(&v, k);
        const uint64_t from = row_start(&v, p.image, at(&p.y, 0)) + (uint64_t)at(&p.x, 0);
        if (!arn_walk_copy(walk, 0, from * in_pixel(&v), 0, (uint64_t)k * out_pixel(&v),
                           out_pixel(&v)))
            return false;
    }
    return true;
}

static bool connect_fully(arn_walk *walk) {
    window v = {.walk = walk, .groups = 1};
    arn_operand in, out, weights;
    if (!arn_walk_input_operand(walk, 0, &in) || !arn_walk_input_operand(walk, 1, &weights) ||
        !arn_walk_output_operand(walk, 0, &out))
        return false;
    if (in.count == 0 || out.count == 0) return true;
    if (out.rank < 1 || weights.rank < 2) return misfit(walk);
    const uint64_t depth = (uint64_t)weights.dims[weights.rank - 1];
    const uint64_t rows = arn_operand_count(&out, 0, out.rank - 1);
    if (depth == 0 || in.count % depth != 0 || in.count / depth != rows) return misfit(walk);
    const axis one = {.in = 1, .out = 1, .taps = 1, .stride = 1, .dilation = 1};
    v.y = v.x = one;
    v.y.in = v.y.out = (int64_t)rows; /* one image, a column */
    v.images = 1;
    v.in_group = depth * in.element;
    v.out_group = (uint64_t)out.dims[out.rank - 1] * out.element;
    v.out_channel = out.element;
    return walk_windows(&v);
}

const arn_kernel_family arn_window_kernels[] = {
    {.op = "CONV_2D", .loops = convolve, .inputs = 1, .takes_blocks = true},
    {.op = "DEPTHWISE_CONV_2D", .loops = convolve_depthwise, .inputs = 1, .takes_blocks = true},
    {.op = "AVERAGE_POOL_2D", .loops = pool, .inputs = 1, .takes_blocks = true},
    {.op = "MAX_POOL_2D", .loops = pool, .inputs = 1, .takes_blocks = true},
    {.op = "cortex_m::quantized_avg_pool2d.out", .loops = pool, .inputs = 1, .takes_blocks = true},
    {.op = "cortex_m::quantized_conv2d.out", .loops = convolve, .inputs = 1, .takes_blocks = true},
    {.op = "cortex_m::quantized_depthwise_conv2d.out",
     .loops = convolve_depthwise,
     .inputs = 1,
     .takes_blocks = true},
    {.op = "cortex_m::quantized_linear.out",
     .loops = connect_fully,
     .inputs = 1,
     .takes_blocks = true},
    {.op = "cortex_m::quantized_max_pool2d.out", .loops = pool, .inputs = 1, .takes_blocks = true},
    {.op = "FULLY_CONNECTED", .loops = connect_fully, .inputs = 1, .takes_blocks = true},
    {.op = "RESIZE_BILINEAR", .loops = resize_bilinear, .inputs = 1, .takes_blocks = true},
    {.op = "RESIZE_NEAREST_NEIGHBOR", .loops = resize_nearest, .inputs = 1, .takes_blocks = true},
    {.op = NULL},
};
