/* Windows on rows of an image: halos, and crops where an op pads by a rule of its own (fused-layer
 * tiling: Alwani et al. 2016; patch-based inference: MCUNetV2, Lin et al. 2021). Along one axis, of
 * one op; nothing here knows tiles or groups. */
#include "rewrite/split/row_windows.h"

static int64_t floor_divided(int64_t a, int64_t n) { return a / n - (a % n < 0); }

arn_rows arn_rows_with_halo(const arn_tile_window *w, arn_rows made) {
    if (w->up > 1) {
        return (arn_rows){floor_divided(made.begin + w->before - w->filter + w->up, w->up),
                          floor_divided(made.end - 1 + w->before, w->up) + 1};
    }
    return (arn_rows){made.begin * w->stride - w->before,
                      (made.end - 1) * w->stride - w->before + (w->filter - 1) * w->dilation + 1};
}

arn_rows arn_rows_inside(arn_rows r, int64_t height) {
    return (arn_rows){r.begin < 0 ? 0 : r.begin, r.end > height ? height : r.end};
}

static int64_t extent(const arn_tile_window *w) { return (w->filter - 1) * w->dilation + 1; }

/* Rows of padding that the rule SAME puts in front of so many rows of input, and the number of rows
 * of output. */
static int64_t same_front(const arn_tile_window *w, int64_t in, int64_t *out) {
    *out = (in + w->stride - 1) / w->stride;
    const int64_t total = (*out - 1) * w->stride + extent(w) - in;
    return total > 0 ? total / 2 : 0;
}

bool arn_rows_same_pads(const arn_tile_window *w, arn_rows in, arn_rows made) {
    int64_t out;
    const arn_rows all = arn_rows_with_halo(w, made);
    const int64_t front = same_front(w, in.end - in.begin, &out);
    const int64_t behind = (out - 1) * w->stride + extent(w) - front - (in.end - in.begin);
    return out == made.end - made.begin && front == in.begin - all.begin &&
           (behind > 0 ? behind : 0) == all.end - in.end;
}

/* An op that pads these rows of input by itself computes all of `made` right; `run` gets the rows
 * that it computes, the others wrong. */
static bool covers(const arn_tile_window *w, arn_rows in, int64_t height, arn_rows made,
                   arn_rows *run) {
    int64_t out;
    const int64_t first = in.begin - same_front(w, in.end - in.begin, &out) + w->before;
    const arn_rows all = arn_rows_with_halo(w, made);
    if (first < 0 || first % w->stride != 0) return false;
    *run = (arn_rows){first / w->stride, first / w->stride + out};
    return run->begin <= made.begin && run->end >= made.end &&
           (all.begin >= in.begin || in.begin == 0) && (all.end <= in.end || in.end == height);
}

static int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

/* The fewest rows of input with which a cropped op computes `made`. So many rows are padded alike,
 * wherever they lie, and windows begin where those of the whole do for one row in a stride; of
 * these places the last reaches farthest down. */
bool arn_rows_crop(const arn_tile_window *w, int64_t height, arn_rows made, arn_rows *in,
                   arn_rows *run, uint64_t *places) {
    const arn_rows least = arn_rows_inside(arn_rows_with_halo(w, made), height);
    const int64_t below = height - least.end;
    for (int64_t more = 0; more <= least.begin + below; more++) {
        int64_t out;
        ++*places;
        const int64_t rows = least.end - least.begin + more;
        const int64_t first = least.begin - same_front(w, rows, &out) + w->before;
        int64_t above = more > below ? more - below : 0;
        above += modulo(first - above, w->stride);
        if (above > more || above > least.begin) continue;
        *in = (arn_rows){least.begin - above, least.end + more - above};
        if (covers(w, *in, height, made, run)) return true;
    }
    return false;
}

/* The same for an op that pads both edges of its rows alike, or none: at an edge of the image its
 * other edge is padded, too, but where that is another edge of the image. Windows begin where those
 * of the whole do for one row in a stride. */
void arn_rows_mirror(const arn_tile_window *w, int64_t height, arn_rows made, arn_rows *in,
                     arn_rows *run) {
    const arn_rows all = arn_rows_with_halo(w, made);
    const bool above = all.begin < 0, below = height < all.end;
    if (!above && !below) return;
    in->begin = above ? 0 : all.begin / w->stride * w->stride;
    in->end = below ? height : all.end;
    const int64_t rows = (in->end - in->begin + 2 * w->before - extent(w)) / w->stride + 1;
    *run = (arn_rows){in->begin / w->stride, in->begin / w->stride + rows};
}

/* The same for a padding that shows rows of the image in reverse, with the one at its edge or
 * without it: a tile with n rows of it reads n rows, or n + 1, at least, and computes all of these,
 * too. */
void arn_rows_reflect(const arn_tile_window *w, int64_t height, bool repeats_edge, arn_rows made,
                      arn_rows *in, arn_rows *run) {
    const arn_rows all = arn_rows_with_halo(w, made);
    const int64_t edge = repeats_edge ? 0 : 1, above = -all.begin, below = all.end - height;
    *in = arn_rows_inside(all, height);
    if (above > 0 && in->end < above + edge) in->end = above + edge;
    if (below > 0 && in->begin > height - edge - below) in->begin = height - edge - below;
    if (above > 0) in->begin = 0;
    if (below > 0) in->end = height;
    run->begin = above > 0 ? made.begin : in->begin + w->before;
    run->end = below > 0 ? made.end : in->end + w->before;
}
