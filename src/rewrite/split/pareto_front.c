/* The Pareto front of tile groups: the choice that keeps least for every bound on live bytes, by
 * the epsilon-constraint method (Haimes et al. 1971). Each step is a shortest path over the ops.
 *
 * Under a bound, an op may stay whole if no more is live at it, and a group may be taken if no more
 * is live while it runs: these are the edges. With limits on added ops and multiplications the path
 * is a resource-constrained one, found by label setting: an op has several labels, none of which
 * dominates another. The next bound is just below the peak of the best path. */
#include "rewrite/split/tile_groups.h"

#include <string.h>

#include <arenaut/cost.h>

#include "core/checked.h"
#include "core/memory.h"
#include "ir/program.h"

enum {
    LABELS = 8,          /* of an op, if there are limits */
    MOST_CHOICES = 4096, /* of a front */
};

/* A path from the first op to an op. */
typedef struct label {
    arn_tile_price price;
    uint64_t peak;
    uint32_t candidate; /* the last edge; ARENAUT_NONE: an op that stays whole */
    uint32_t from;      /* number of the label before it, among all; ARENAUT_NONE: the begin */
} label;

typedef struct paths {
    const arn_search_space *space;
    arn_tile_front *front;
    arn_tile_filter filter;
    uint32_t most;      /* labels of an op */
    uint32_t *begins;   /* per op: where its candidates begin in `by_first`; one more */
    uint32_t *by_first; /* candidates by their first op */
    label *labels;      /* per op and one more: room for `most` */
    uint32_t *n_labels; /* per op and one more */
} paths;

static arn_tile_price sum_of(const arn_tile_price *a, const arn_tile_price *b) {
    return (arn_tile_price){a->kept + b->kept, a->notes + b->notes,   a->macs + b->macs,
                            a->ops + b->ops,   a->shared + b->shared, a->rounded + b->rounded};
}

/* Its time is in multiplications. Bytes that are kept count from the fewest that there can be,
 * since fewer may be than before. */
static arenaut_cost cost_of(const arn_tile_price *p) {
    return (arenaut_cost){
        .total = (uint64_t)p->kept ^ UINT64_C(1) << 63, .time = p->macs, .ops = p->ops};
}

static bool is_cheaper(const arn_tile_price *a, const arn_tile_price *b) {
    return arenaut_costs_less(cost_of(a), cost_of(b));
}

static bool dominates(const arn_tile_price *a, const arn_tile_price *b) {
    return a->kept <= b->kept && a->macs <= b->macs && a->ops <= b->ops;
}

static bool is_allowed(const paths *w, const arn_tile_price *price) {
    const arenaut_split_options *o = w->space->options;
    if (w->filter.no_macs && price->macs > 0) return false;
    if (o->max_ops.given && price->ops > (int64_t)o->max_ops.id) return false;
    return price->macs <= 0 || price->macs <= w->space->max_macs;
}

/* Adds a label to an op, unless it is dominated; if there are too many, the dearest goes. */
static void add_label(paths *w, uint32_t op, const label *new) {
    label *labels = w->labels + (size_t)op * w->most;
    uint32_t n = 0, dearest = 0;
    for (uint32_t i = 0; i < w->n_labels[op]; i++) {
        const bool settles = w->most == 1 ? !is_cheaper(&new->price, &labels[i].price)
                                          : dominates(&labels[i].price, &new->price);
        if (settles) return;
    }
    for (uint32_t i = 0; i < w->n_labels[op]; i++) {
        if (w->most == 1 || dominates(&new->price, &labels[i].price)) continue;
        labels[n] = labels[i];
        if (is_cheaper(&labels[dearest].price, &labels[n].price)) dearest = n;
        n++;
    }
    if (n < w->most) {
        labels[n++] = *new;
    } else if (is_cheaper(&new->price, &labels[dearest].price)) {
        labels[dearest] = *new;
    }
    w->n_labels[op] = n;
}

/* Extends a label along all edges from its op. */
static void extend(paths *w, uint32_t op, uint32_t number, uint64_t bound) {
    const arn_search_space *f = w->space;
    const label here = w->labels[number];
    if (f->live[op] <= bound) {
        label next = here;
        next.peak = arn_max_u64(here.peak, f->live[op]);
        next.candidate = ARENAUT_NONE;
        next.from = number;
        add_label(w, op + 1, &next);
    }
    for (uint32_t i = w->begins[op]; i < w->begins[op + 1]; i++) {
        const arn_tile_candidate *c = &f->candidates[w->by_first[i]];
        if (c->peak > bound || (w->filter.even && arn_tile_is_fitted(c->group.mode))) continue;
        const label next = {sum_of(&here.price, &c->price), arn_max_u64(here.peak, c->peak),
                            w->by_first[i], number};
        if (is_allowed(w, &next.price)) add_label(w, op + c->group.n_ops, &next);
    }
}

/* The cheapest path to the end; NULL: there is none under this bound. */
static const label *shortest_path(paths *w, uint64_t bound) {
    const uint32_t n = w->space->graph->program->n_ops;
    memset(w->n_labels, 0, ((size_t)n + 1) * sizeof *w->n_labels);
    w->labels[0] = (label){.candidate = ARENAUT_NONE, .from = ARENAUT_NONE};
    w->n_labels[0] = 1;
    for (uint32_t op = 0; op < n; op++) {
        for (uint32_t i = 0; i < w->n_labels[op]; i++) extend(w, op, op * w->most + i, bound);
    }
    const label *best = NULL, *last = w->labels + (size_t)n * w->most;
    for (uint32_t i = 0; i < w->n_labels[n]; i++) {
        if (!best || is_cheaper(&last[i].price, &best->price)) best = &last[i];
    }
    return best;
}

/* ---- the front ---- */

static uint64_t sum_with(const arn_search_space *f, uint64_t peak, const arn_tile_price *price) {
    const int64_t notes = f->notes + price->notes;
    const uint64_t head = arn_max_u64(peak, notes > 0 ? (uint64_t)notes : 0);
    return head + (uint64_t)price->kept; /* less may be kept than before */
}

static bool add_choice(paths *w, const label *end) {
    const arenaut_allocator *allocator = w->space->graph->allocator;
    arn_tile_front *front = w->front;
    arn_tile_choice choice = {end->peak, sum_with(w->space, end->peak, &end->price), end->price,
                              front->n_groups, 0};
    for (const label *at = end; at->from != ARENAUT_NONE; at = &w->labels[at->from]) {
        choice.n += at->candidate != ARENAUT_NONE;
    }
    if (!arn_grow(allocator, (void **)&front->choices, &front->capacity, (uint64_t)front->n + 1,
                  sizeof *front->choices) ||
        !arn_grow(allocator, (void **)&front->groups, &front->groups_capacity,
                  (uint64_t)front->n_groups + choice.n, sizeof *front->groups)) {
        return false;
    }
    uint32_t to = front->n_groups += choice.n;
    for (const label *at = end; at->from != ARENAUT_NONE; at = &w->labels[at->from]) {
        if (at->candidate == ARENAUT_NONE) continue;
        front->groups[--to] = w->space->candidates[at->candidate].group;
    }
    front->choices[front->n++] = choice;
    return true;
}

static bool make_room(paths *w) {
    const arenaut_allocator *allocator = w->space->graph->allocator;
    const size_t n = (size_t)w->space->graph->program->n_ops + 1;
    w->begins = arn_allocate_zeroed(allocator, n + 1, sizeof *w->begins);
    w->by_first = arn_allocate(allocator, w->space->n, sizeof *w->by_first);
    w->labels = arn_allocate(allocator, n * w->most, sizeof *w->labels);
    w->n_labels = arn_allocate(allocator, n, sizeof *w->n_labels);
    if (!w->begins || !w->by_first || !w->labels || !w->n_labels) return false;
    for (uint32_t i = 0; i < w->space->n; i++) {
        w->begins[w->space->candidates[i].group.first_op + 1]++;
    }
    for (size_t op = 1; op < n; op++) w->begins[op] += w->begins[op - 1];
    for (uint32_t i = 0; i < w->space->n; i++) {
        w->by_first[w->begins[w->space->candidates[i].group.first_op]++] = i;
    }
    for (size_t op = n; op-- > 1;) w->begins[op] = w->begins[op - 1];
    w->begins[0] = 0;
    return true;
}

bool arn_tile_front_find(const arn_search_space *space, arn_tile_filter filter,
                         arn_tile_front *front) {
    const arenaut_allocator *allocator = space->graph->allocator;
    const bool limited = space->options->max_ops.given || space->max_macs != INT64_MAX;
    paths w = {.space = space, .front = front, .filter = filter, .most = limited ? LABELS : 1};
    bool fits = make_room(&w);
    uint64_t bound = UINT64_MAX;
    front->n = front->n_groups = 0;
    front->visits = 0;
    while (fits && front->n < MOST_CHOICES) {
        const label *end = shortest_path(&w, bound);
        front->visits += ((uint64_t)space->graph->program->n_ops + space->n) * w.most;
        if (!end) break;
        bound = end->peak;
        fits = add_choice(&w, end);
        if (bound-- == 0) break;
    }
    ARN_RELEASE(allocator, w.begins, w.by_first, w.labels, w.n_labels);
    return fits;
}

void arn_tile_front_free(arn_tile_front *front, const arenaut_allocator *allocator) {
    ARN_RELEASE(allocator, front->choices, front->groups);
}

uint64_t arn_tile_least_sum(const arn_tile_front *front, int64_t kept) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < front->n && front->choices[i].price.kept <= kept; i++) {
        least = arn_min_u64(least, front->choices[i].sum);
    }
    return least;
}

/* ---- the choices of the caller ---- */

typedef struct list {
    arenaut_split_choice *choices;
    uint32_t n;
} list;

static uint64_t needed(const arenaut_split_choice *c) { return c->head + (uint64_t)c->kept; }

/* `b` is nowhere better than `a`. */
static bool is_dominated(const arenaut_split_choice *b, const arenaut_split_choice *a) {
    return needed(a) <= needed(b) && a->ops <= b->ops && a->macs <= b->macs;
}

/* Descending by the bytes that are needed. */
static void insert(list *to, const arenaut_split_choice *choice) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < to->n; i++) {
        if (!is_dominated(&to->choices[i], choice)) to->choices[n++] = to->choices[i];
    }
    uint32_t at = n;
    for (; at > 0 && needed(&to->choices[at - 1]) < needed(choice); at--) {
        to->choices[at] = to->choices[at - 1];
    }
    to->choices[at] = *choice;
    to->n = n + 1;
}

static bool list_choice(const arn_tile_front *from, const arn_tile_choice *c, arn_region *region,
                        list *to) {
    /* Of what each of n groups may share, one has the n-th part at least. */
    const int64_t shared = c->n > 1 ? c->price.shared - c->price.shared / c->n : 0;
    arenaut_split_choice choice = {.n_stages = c->n,
                                   .tensors = c->peak,
                                   .kept = c->price.kept,
                                   .head = c->sum - (uint64_t)c->price.kept,
                                   .ops = (uint32_t)c->price.ops,
                                   .shared = (uint32_t)shared,
                                   .macs = (uint64_t)c->price.macs,
                                   .n_rounded = (uint32_t)c->price.rounded};
    for (uint32_t i = 0; i < to->n; i++) {
        if (is_dominated(&choice, &to->choices[i])) return true;
    }
    arenaut_split_stage *groups = arn_region_allocate(region, c->n, sizeof *groups);
    if (!groups) return false;
    if (c->n > 0) memcpy(groups, from->groups + c->first, c->n * sizeof *groups);
    choice.stages = groups;
    insert(to, &choice);
    return true;
}

bool arn_tile_choices_list(arn_region *region, arenaut_split_front *to, const arn_tile_front *all,
                           const arn_tile_front *no_macs, bool even) {
    const arn_tile_front *const fronts[] = {all, no_macs};
    list listed = {0};
    listed.choices =
        arn_region_allocate(region, (size_t)all->n + no_macs->n + 1, sizeof *listed.choices);
    bool fits = listed.choices != NULL;
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < fronts[k]->n && fits; i++) {
            fits = list_choice(fronts[k], &fronts[k]->choices[i], region, &listed);
        }
    }
    *(even ? &to->even : &to->choices) = listed.choices;
    *(even ? &to->n_even : &to->n_choices) = listed.n;
    return fits;
}
