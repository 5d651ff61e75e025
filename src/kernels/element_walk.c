/* Walking elements backwards, as distances are gathered: see element_walk.h. */
#include "kernels/element_walk.h"

#include "kernels/op_facts.h"

int64_t arn_dense_step(const arenaut_tensor *tensor, uint32_t axis) {
    int64_t step = 1;
    for (uint32_t k = axis + 1; k < tensor->rank; k++) step *= tensor->dims[k];
    return step;
}

static int64_t place_on(const arn_axis *axis, int64_t i) {
    if (axis->inside == 0) return i * axis->step;
    int64_t at = i - axis->before;
    if (at < 0) at = axis->fold == 2 ? -at : -at - 1;
    if (at >= axis->inside) at = 2 * axis->inside - axis->fold - at;
    return at * axis->step;
}

typedef struct walker {
    const arn_pair *pair;
    const arn_element_walk *walk;
    uint32_t depth; /* axes above the runs */
    int64_t run;    /* elements of a step */
    int64_t here;   /* elements from here on are done */
    arn_reach *reach;
} walker;

/* One step, which moves a run between `here` and `there`. */
static void step(walker *w, int64_t there) {
    const bool of_input = w->walk->of_input;
    w->here -= w->run;
    const int64_t from = (of_input ? w->here : there) * w->pair->in_element;
    const int64_t end = ((of_input ? there : w->here) + w->run) * w->pair->out_element;
    arn_reach_step(w->reach, end, from);
    if (w->walk->copies) arn_reach_copy(w->reach, end, from, w->run * w->pair->in_element);
}

static void visit(walker *w, uint32_t depth, int64_t there) {
    if (depth == w->depth) {
        step(w, there);
        return;
    }
    const arn_axis *axis = &w->walk->axis[depth];
    for (int64_t i = axis->extent; i-- > 0;) visit(w, depth + 1, there + place_on(axis, i));
}

bool arn_walk_elements(const arn_pair *pair, const arn_element_walk *walk, arn_reach *reach) {
    walker w = {.pair = pair, .walk = walk, .depth = walk->n_axes, .run = 1, .reach = reach};
    uint64_t steps = arn_element_count(walk->of_input ? pair->in : pair->out);
    if (pair->rule->order != ARENAUT_KERNEL_RASTER) return false;
    if (walk->copies) w.run = walk->axis[--w.depth].extent;
    w.here = (int64_t)steps;
    if (!arn_take_steps(pair, steps / (uint64_t)w.run)) return false;
    visit(&w, 0, walk->base);
    return true;
}
