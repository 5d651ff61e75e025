/* Labels of tensors of rewritten programs: comparison, copy, and rejection. */
#include "check/rewrite/rewrite_labels.h"

#include <inttypes.h>

#include "check/finding.h"
#include "core/fail.h"

arenaut_status arn_rewrite_reject(arn_rewrite_check *c, const char *why) {
    const char *name = c->op < c->after->n_ops ? c->after->ops[c->op].name : NULL;
    c->finding->rule = ARENAUT_RULE_REWRITE;
    c->finding->op = c->op;
    if (c->op >= c->after->n_ops) {
        return arn_check_reject(c->finding, c->err, "the rewritten program: %s", why);
    }
    return arn_check_reject(c->finding, c->err,
                            "op %" PRIu32 " (%.80s) of the rewritten program: %s", c->op,
                            name ? name : "unnamed", why);
}

int64_t *arn_label_axis(arn_rewrite_check *c, int64_t length) {
    return arn_region_allocate(&c->region, (size_t)length, sizeof(int64_t));
}

/* NULL: element i is the old element i. */
static const int64_t *places(const arn_rewrite_check *c, uint32_t t, uint32_t axis) {
    return axis < ARN_LABEL_RANK ? c->labels[t].place[axis] : NULL;
}

int64_t arn_label_place(const arn_rewrite_check *c, uint32_t t, uint32_t axis, int64_t i) {
    const int64_t *place = places(c, t, axis);
    return place ? place[i] : i;
}

bool arn_axis_is_whole(const arn_rewrite_check *c, uint32_t t, uint32_t axis) {
    const arenaut_tensor *old = &c->before->tensors[c->labels[t].tensor];
    const int64_t length = arn_new_tensor(c, t)->dims[axis];
    const int64_t *place = places(c, t, axis);
    if (length != old->dims[axis]) return false;
    for (int64_t i = 0; place && i < length; i++) {
        if (place[i] != i) return false;
    }
    return true;
}

bool arn_label_is_whole(const arn_rewrite_check *c, uint32_t t, uint32_t before) {
    if (c->labels[t].tensor != before) return false;
    for (uint32_t axis = 0; axis < arn_new_tensor(c, t)->rank; axis++) {
        if (!arn_axis_is_whole(c, t, axis)) return false;
    }
    return true;
}

bool arn_labels_agree(const arn_rewrite_check *c, uint32_t a, uint32_t axis_a, uint32_t b,
                      uint32_t axis_b) {
    const int64_t length = arn_new_tensor(c, a)->dims[axis_a];
    if (length != arn_new_tensor(c, b)->dims[axis_b]) return false;
    const bool known = places(c, a, axis_a) || places(c, b, axis_b);
    for (int64_t i = 0; known && i < length; i++) {
        if (arn_label_place(c, a, axis_a, i) != arn_label_place(c, b, axis_b, i)) return false;
    }
    return true;
}

arenaut_status arn_label_copy(arn_rewrite_check *c, uint32_t from, uint32_t to, uint32_t axis) {
    const int64_t length = arn_new_tensor(c, to)->dims[axis];
    if (length != arn_new_tensor(c, from)->dims[axis]) {
        return arn_rewrite_reject(c, "its result is not as long as its operand");
    }
    int64_t *place = arn_label_axis(c, length);
    if (!place) return arn_no_memory(c->err);
    for (int64_t i = 0; i < length; i++) place[i] = arn_label_place(c, from, axis, i);
    c->labels[to].place[axis] = place;
    return ARENAUT_OK;
}

arenaut_status arn_label_begin(arn_rewrite_check *c, uint32_t t, uint32_t before) {
    const arenaut_tensor *new = arn_new_tensor(c, t), *old = &c->before->tensors[before];
    if (c->labels[t].tensor != ARENAUT_NONE)
        return arn_rewrite_reject(c, "its result exists already");
    if (c->rewrite->tensors[t].tensor != before || new->dtype != old->dtype ||
        new->rank != old->rank) {
        return arn_rewrite_reject(c, "its result is of another type than the old tensor");
    }
    for (uint32_t axis = 0; axis < new->rank; axis++) {
        const bool same = new->dims[axis] == old->dims[axis];
        if (!same && (new->dims[axis] <= 0 || new->rank > ARN_LABEL_RANK)) {
            return arn_rewrite_reject(c, "its result has sizes that cannot be a part's");
        }
    }
    c->labels[t].tensor = before;
    return ARENAUT_OK;
}

/* Windows of a rewritten op along one axis: a row of its output is the row of the old output whose
 * window has the same elements, tap by tap, or unknown. O(rows × taps). */

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
