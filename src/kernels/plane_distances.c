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
    if (a->taps < 1 || a->stride < 1 || a->dilation < 1 || padding < 0) return false;
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

static bool set_planes(const arn_pair *pair, planes *p) {
    const arenaut_tensor *in = pair->in, *out = pair->out;
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

bool arn_plane_distance(const arn_pair *pair, arn_reach *reach) {
    planes p;
    arn_reach one;
    if (pair->rule->order != ARENAUT_KERNEL_RASTER || !set_planes(pair, &p)) return false;
    const int64_t n = p.images * p.groups * p.out_channels, image = p.y.out * p.x.out;
    const int64_t made = image * pair->out_element;
    const int64_t read = p.in_channels * p.y.in * p.x.in * pair->in_element; /* of a group */
    if (!arn_take_steps(pair, (uint64_t)image + (uint64_t)n)) return false;
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
