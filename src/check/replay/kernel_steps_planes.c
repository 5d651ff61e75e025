/* kernel_steps_planes: kernels on images that have channels outside, ExecuTorch's convolution and
 * pools:
 *
 *     for n, for c:                                  a plane of each output
 *         for y, for x:
 *             for each input channel that c is made of, for each row of the window:
 *                 read the taps inside the image
 *             write the element of each output
 *
 * A convolution in g groups makes output channel c of the input channels of c's group, a pool of
 * input channel c. Where all that a plane is made of lies apart from it, one look tells. Taps of a
 * row that lie side by side are one read. O(elements of planes that do not lie apart × rows of a
 * window × channels of a group). */
#include "check/replay/kernel_steps.h"

typedef struct side {
    int64_t in, out, window, stride, step, padding;
} side;

typedef struct picture {
    arn_walk *walk;
    side y, x;
    int64_t images, channels; /* of the output */
    int64_t sources;          /* input channels that one of the output is made of */
    int64_t sharing;          /* output channels that are made of the same */
    uint64_t element, made[2];
    uint32_t outputs;
} picture;

/* Positions inside the image that one position of the output reads. */
typedef struct view {
    int64_t first, n;
} view;

static view look(const side *s, int64_t at) {
    const int64_t begin = at * s->stride - s->padding;
    const int64_t outside = begin < 0 ? (-begin + s->step - 1) / s->step : 0;
    const int64_t first = begin + outside * s->step;
    const int64_t inside = first < s->in ? (s->in - 1 - first) / s->step + 1 : 0;
    const int64_t left = outside < s->window ? s->window - outside : 0;
    return (view){first, left < inside ? left : inside};
}

static bool read_taps(const picture *p, uint64_t row, const view *x) {
    const int64_t run = p->x.step == 1 ? x->n : 1;
    for (int64_t i = 0; i < x->n; i += run) {
        const uint64_t at = (row + (uint64_t)(x->first + i * p->x.step)) * p->element;
        if (!arn_walk_read(p->walk, 0, at, at + (uint64_t)run * p->element)) return false;
    }
    return true;
}

/* The window of (y, x) in `sources` planes from `plane` on. */
static bool read_window(const picture *p, int64_t plane, int64_t y, int64_t x) {
    const view rows = look(&p->y, y), columns = look(&p->x, x);
    for (int64_t c = 0; c < p->sources && columns.n > 0 && rows.n > 0; c++) {
        for (int64_t j = 0; j < rows.n; j++) {
            const int64_t row = rows.first + j * p->y.step;
            const uint64_t first = (uint64_t)(((plane + c) * p->y.in + row) * p->x.in);
            if (!read_taps(p, first, &columns)) return false;
        }
    }
    return true;
}

static bool write_elements(const picture *p, uint64_t first, uint64_t end) {
    for (uint32_t k = 0; k < p->outputs; k++) {
        if (!arn_walk_write(p->walk, k, first * p->made[k], end * p->made[k])) return false;
    }
    return true;
}

static bool is_apart(const picture *p, int64_t source, uint64_t first, uint64_t end) {
    const uint64_t image = (uint64_t)(p->y.in * p->x.in) * p->element;
    for (uint32_t k = 0; k < p->outputs; k++) {
        if (!arn_walk_is_apart(p->walk, 0, (uint64_t)source * image,
                               (uint64_t)(source + p->sources) * image, k, first * p->made[k],
                               end * p->made[k]))
            return false;
    }
    return true;
}

static bool walk_picture(const picture *p) {
    const uint64_t area = (uint64_t)(p->y.out * p->x.out);
    for (int64_t plane = 0; plane < p->images * p->channels; plane++) {
        const int64_t source = plane / p->sharing * p->sources;
        const uint64_t first = (uint64_t)plane * area;
        if (is_apart(p, source, first, first + area)) {
            if (!write_elements(p, first, first + area)) return false;
            continue;
        }
        for (uint64_t k = 0; k < area; k++) {
            if (!read_window(p, source, (int64_t)k / p->x.out, (int64_t)k % p->x.out) ||
                !write_elements(p, first + k, first + k + 1))
                return false;
        }
    }
    return true;
}

/* ---- operators ---- */

static bool misfit(arn_walk *walk) {
    return arn_walk_give_up(walk, "its shapes and attributes do not fit together");
}

static bool set_side(const picture *p, side *s, int64_t in, int64_t out, int axis) {
    int64_t strides[2], steps[2] = {1, 1}, pads[4];
    (void)arn_walk_attribute(p->walk, "dilations", 2, steps);
    if (!arn_walk_attribute(p->walk, "strides", 2, strides) ||
        !arn_walk_attribute(p->walk, "pads", 4, pads))
        return arn_walk_give_up(p->walk, "its strides and padding are not known");
    s->in = in;
    s->out = out;
    s->stride = strides[axis];
    s->step = steps[axis];
    s->padding = pads[axis] < INT32_MAX ? pads[axis] : INT32_MAX;
    const int64_t counts[] = {in, out, s->window, s->stride, s->step, s->padding + 1};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i] < 1 || counts[i] > INT32_MAX) return misfit(p->walk);
    }
    return true;
}

/* Images of the input and of each output, which have one shape. */
static bool set_picture(picture *p, arn_operand *in, arn_operand *out) {
    const arenaut_op *op = p->walk->op;
    if (!arn_walk_input_operand(p->walk, 0, in)) return false;
    for (uint32_t k = 0; k < op->n_outputs && k < 2; k++) {
        if (!arn_walk_output_operand(p->walk, k, out)) return false;
        if (in->rank != 4 || out->rank != 4 || in->dims[0] != out->dims[0]) return misfit(p->walk);
        if (k > 0 &&
            (out->dims[1] != p->channels || out->dims[2] != p->y.out || out->dims[3] != p->x.out))
            return misfit(p->walk);
        p->made[k] = out->element;
        p->channels = out->dims[1];
        p->y.out = out->dims[2];
        p->x.out = out->dims[3];
    }
    p->outputs = op->n_outputs;
    p->images = in->dims[0];
    p->element = in->element;
    if (op->n_outputs < 1 || op->n_outputs > 2) return misfit(p->walk);
    return set_side(p, &p->y, in->dims[2], p->y.out, 0) &&
           set_side(p, &p->x, in->dims[3], p->x.out, 1);
}

static bool convolve(arn_walk *walk) {
    picture p = {.walk = walk};
    arn_operand in, out, filter;
    const int64_t groups = arn_walk_number(walk, "group", 0);
    if (!arn_walk_input_operand(walk, 1, &filter)) return false;
    if (filter.rank != 4 || groups < 1 || arn_walk_number(walk, "transposed", 1) != 0)
        return misfit(walk);
    p.y.window = filter.dims[2];
    p.x.window = filter.dims[3];
    if (!set_picture(&p, &in, &out)) return false;
    if (in.dims[1] % groups != 0 || p.channels % groups != 0) return misfit(walk);
    if (in.count == 0 || out.count == 0) return true;
    p.sources = in.dims[1] / groups;
    p.sharing = p.channels / groups;
    return walk_picture(&p);
}

static bool pool(arn_walk *walk) {
    picture p = {.walk = walk, .sources = 1, .sharing = 1};
    arn_operand in, out;
    int64_t window[2];
    if (!arn_walk_attribute(walk, "kernel_shape", 2, window))
        return arn_walk_give_up(walk, "its filter is not known");
    p.y.window = window[0];
    p.x.window = window[1];
    if (!set_picture(&p, &in, &out)) return false;
    if (in.dims[1] != p.channels) return misfit(walk);
    return in.count == 0 || out.count == 0 || walk_picture(&p);
}

const arn_kernel_family arn_plane_kernels[] = {
    {.op = "aten::avg_pool2d.out", .loops = pool, .inputs = 1, .all_outputs = true},
    {.op = "aten::convolution.out", .loops = convolve, .inputs = 1, .all_outputs = true},
    {.op = "aten::max_pool2d_with_indices.out", .loops = pool, .inputs = 1, .all_outputs = true},
    {.op = NULL},
};
