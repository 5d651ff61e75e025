/* Windows of a rewritten op along one axis: a row of its output is the row of the old output whose
 * window has the same elements, tap by tap, or unknown. O(rows × taps). */
#include "check/rewrite/rewrite_windows.h"

#include "core/fail.h"

static int64_t tap_place(const arn_window *v, int64_t row, int64_t tap) {
    const int64_t at = row * v->s->stride - v->front + tap * v->s->spread;
    if (at < 0 || at >= v->in) return ARN_PLACE_OUTSIDE;
    const int64_t place = arn_label_place(v->check, v->input, v->axis, at);
    return place == ARN_PLACE_PADDING && !v->zeroes_count ? ARN_PLACE_OUTSIDE : place;
}

static bool sees_same(const arn_window *v, int64_t row, int64_t old_row) {
    for (int64_t tap = 0; tap < v->s->taps; tap++) {
        const int64_t at = old_row * v->s->stride - v->old_front + tap * v->s->spread;
        const int64_t expected = at < 0 || at >= v->old_in ? ARN_PLACE_OUTSIDE : at;
        if (tap_place(v, row, tap) != expected) return false;
    }
    return true;
}

static int64_t old_row_of(const arn_window *v, int64_t row) {
    for (int64_t tap = 0; tap < v->s->taps; tap++) {
        const int64_t place = tap_place(v, row, tap);
        if (place < 0) continue;
        const int64_t shifted = place + v->old_front - tap * v->s->spread;
        const int64_t old_row = shifted / v->s->stride;
        const bool fits = shifted >= 0 && shifted % v->s->stride == 0 && old_row < v->old_out;
        return fits && sees_same(v, row, old_row) ? old_row : ARN_PLACE_UNKNOWN;
    }
    return ARN_PLACE_UNKNOWN; /* its window has no element of the image */
}

arenaut_status arn_label_windows(arn_rewrite_check *c, const arn_window *window, uint32_t result,
                                 int64_t out) {
    int64_t *place = arn_label_axis(c, out);
    if (!place) return arn_no_memory(c->err);
    for (int64_t row = 0; row < out; row++) place[row] = old_row_of(window, row);
    c->labels[result].place[window->axis] = place;
    return ARENAUT_OK;
}
