/* Distances of convolutions and pools on images that have channels outside (ExecuTorch's portable
 * kernels): one plane of the output after another, each element of which is written when its window
 * of the group's input planes has been read.
 *
 *     for each image, group, output channel of the group:      one plane of the output
 *         for each row, column:
 *             read the window in each input plane of the group
 *             write the element
 *
 * The lowest byte that an element needs lies in the group's first plane, so that one plane is like
 * another but for where it begins. Within it a walk from its last element finds the distance; of
 * two planes the second counts by its lowest read, since groups follow one another upwards.
 * O(elements of a plane + planes). */
#include <string.h>

#include "core/checked.h"
#include "kernels/distance.h"
#include "kernels/op_facts.h"

typedef struct axis {
    int64_t in, out, taps, stride, dilation, before;
} axis;

typedef struct planes {
    axis y, x;
    int64_t images, groups, in_channels, out_channels; /* channels of a group */
} planes;

/* The first position that output position `at` reads; ARN_UNREAD: none. */
static int64_t first_read(const axis *a, int64_t at) {
    int64_t start = at * a->stride - a->before;
    if (start < 0) start += (-start + a->dilation - 1) / a->dilation * a->dilation;
    const int64_t end = at * a->stride - a->before + a->taps * a->dilation;
    return start < end && start < a->in ? start : ARN_UNREAD;
}

/* The shape is that of the windows, rounded down or, for pools, up. */
static bool settle_axis(axis *a, int64_t padding) {
    const int64_t counts[] = {a->in, a->out, a->taps, a->stride, a->dilation};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i] < 1 || counts[i] > INT32_MAX) return false;
    }
    if (padding < 0 || padding >= INT32_MAX) return false;
    const int64_t inside = a->in + 2 * padding - (a->taps - 1) * a->dilation - 1;
    a->before = padding;
    return inside >= 0 &&
           (a->out == inside / a->stride + 1 || a->out == (inside + a->stride - 1) / a->stride + 1);
}

static bool take_windows(const arn_pair *pair, planes *p) {
    static const int64_t ones[] = {1, 1};
    const arenaut_op *op = pair->op;
    const arenaut_tensor *weights = arn_op_input(pair->program, op, 1);
    const int64_t *taps = arn_op_numbers(op, "kernel_shape", 2);
    const int64_t *strides = arn_op_numbers(op, "strides", 2);
    const int64_t *pads = arn_op_numbers(op, "pads", 4);
    const int64_t *dilations = arn_op_numbers(op, "dilations", 2);
    if (!strides || !pads || arn_op_flag(op, "transposed")) return false;
    p->groups = pair->in->dims[1];
    if (!taps) {
        if (!weights || weights->rank != 4 || !arn_has_sizes(weights)) return false;
        if (!dilations || !arn_op_number(op, "group", &p->groups)) return false;
        taps = weights->dims + 2;
    } else if (pair->in->dims[1] != pair->out->dims[1]) {
        return false;
    }
    if (!dilations) dilations = ones;
    for (int i = 0; i < 2; i++) {
        axis *a = i == 0 ? &p->y : &p->x;
        a->taps = taps[i];
        a->stride = strides[i];
        a->dilation = dilations[i];
        if (!settle_axis(a, pads[i])) return false;
    }
    return p->groups >= 1;
}

/* All outputs are made element by element together, so they have one shape. */
static bool have_one_shape(const arn_pair *pair) {
    for (uint32_t i = 0; i < pair->op->n_outputs; i++) {
        const uint32_t id = pair->op->outputs[i];
        if (id == ARENAUT_NONE) return false;
        const arenaut_tensor *t = &pair->program->tensors[id];
        if (t->rank != pair->out->rank || !arn_has_sizes(t) ||
            memcmp(t->dims, pair->out->dims, t->rank * sizeof *t->dims) != 0)
            return false;
    }
    return true;
}

static bool set_planes(const arn_pair *pair, planes *p) {
    const arenaut_tensor *in = pair->in, *out = pair->out;
    if (!have_one_shape(pair)) return false;
    if (in->rank != 4 || out->rank != 4 || in->dims[0] != out->dims[0]) return false;
    *p = (planes){.y = {.in = in->dims[2], .out = out->dims[2]},
                  .x = {.in = in->dims[3], .out = out->dims[3]},
                  .images = in->dims[0]};
    if (!take_windows(pair, p)) return false;
    if (in->dims[1] % p->groups != 0 || out->dims[1] % p->groups != 0) return false;
    p->in_channels = in->dims[1] / p->groups;
    p->out_channels = out->dims[1] / p->groups;
    return true;
}

/* One plane, counted from its own first byte and that of the group's first input plane. False if
 * an element reads nothing: kernels may leave it as it is. */
static bool walk_plane(const planes *p, const arn_pair *pair, arn_reach *found) {
    *found = arn_reach_nothing();
    for (int64_t y = p->y.out; y-- > 0;) {
        for (int64_t x = p->x.out; x-- > 0;) {
            const int64_t row = first_read(&p->y, y), column = first_read(&p->x, x);
            if (row == ARN_UNREAD || column == ARN_UNREAD) return false;
            arn_reach_step(found, (y * p->x.out + x + 1) * pair->out_element,
                           (row * p->x.in + column) * pair->in_element);
        }
    }
    return true;
}

/* The checker follows each read of the planes that do not lie apart from what they are made of: one
 * in a group, the last. Taps that lie side by side are one read, by words of bytes. */
static bool can_be_followed(const planes *p, const arn_pair *pair) {
    enum { WORD = 64 };
    const int64_t seen = p->x.taps < p->x.in ? p->x.taps : p->x.in;
    const int64_t taps = p->x.dilation == 1 ? seen * pair->in_element / WORD + 1 : seen;
    const int64_t factors[] = {p->images, p->groups, p->in_channels,
                               p->y.out,  p->x.out,  p->y.taps < p->y.in ? p->y.taps : p->y.in,
                               taps};
    uint64_t steps = 1;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        if (!arn_multiply(steps, (uint64_t)factors[i], &steps)) return false;
    }
    return arn_take_steps(pair, steps);
}

bool arn_plane_distance(const arn_pair *pair, arn_reach *reach) {
    planes p;
    arn_reach one;
    if (pair->rule->order != ARENAUT_KERNEL_RASTER || !set_planes(pair, &p)) return false;
    const int64_t n = p.images * p.groups * p.out_channels, image = p.y.out * p.x.out;
    const int64_t made = image * pair->out_element;
    const int64_t read = p.in_channels * p.y.in * p.x.in * pair->in_element; /* of a group */
    if (!arn_take_steps(pair, (uint64_t)image + (uint64_t)n) || !can_be_followed(&p, pair))
        return false;
    if (!walk_plane(&p, pair, &one)) return false;
    for (int64_t plane = 0; plane < n; plane++) {
        const int64_t begin = plane * made - plane / p.out_channels * read;
        if (one.distance != INT64_MIN) arn_reach_at_least(reach, begin + one.distance);
        if (plane + 1 == n) break;
        arn_reach_at_least(reach,
                           (plane + 1) * made - ((plane + 1) / p.out_channels * read + one.lowest));
    }
    return true;
}
