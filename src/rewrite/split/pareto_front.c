/* The Pareto front of tile groups: the choice that keeps least for every bound on live bytes, by
 * the epsilon-constraint method (Haimes et al. 1971). Each step is a shortest path over the ops.
 *
 * Under a bound, an op may stay whole if no more is live at it, and a group may be taken if no more
 * is live while it runs: these are the edges. With limits on added ops and multiplications the path
 * is a resource-constrained one, found by label setting: an op has several labels, none of which
 * dominates another. The next bound is just below the peak of the best path. */
#include "rewrite/split/pareto_front.h"

#include <string.h>

#include "core/checked.h"
#include "core/memory.h"

enum {
    WAYS = 8,            /* remembered for an op, where there are limits */
    MOST_CHOICES = 4096, /* of a front */
};

/* One way to get as far as an op. */
typedef struct way {
    arn_split_price price;
    uint64_t peak;
    uint32_t candidate; /* the last step; ARENAUT_NONE: an op that stays whole */
    uint32_t from;      /* number of the way before it, among all; ARENAUT_NONE: the begin */
} way;

typedef struct walk {
    const arn_split_field *field;
    arn_split_front *front;
    arn_split_filter filter;
    uint32_t most;      /* ways for an op */
    uint32_t *begins;   /* per op: where its candidates begin in `by_first`; one more */
    uint32_t *by_first; /* candidates by their first op */
    way *ways;          /* per op and one more: room for `most` */
    uint32_t *n_ways;   /* per op and one more */
} walk;

static arn_split_price sum_of(const arn_split_price *a, const arn_split_price *b) {
    return (arn_split_price){a->kept + b->kept, a->notes + b->notes, a->macs + b->macs,
                             a->ops + b->ops};
}

/* Cheaper, or as cheap with less to compute. */
static bool is_cheaper(const arn_split_price *a, const arn_split_price *b) {
    if (a->kept != b->kept) return a->kept < b->kept;
    return a->macs != b->macs ? a->macs < b->macs : a->ops < b->ops;
}

static bool is_no_worse(const arn_split_price *a, const arn_split_price *b) {
    return a->kept <= b->kept && a->macs <= b->macs && a->ops <= b->ops;
}

static bool is_allowed(const walk *w, const arn_split_price *price) {
    const arenaut_split_options *o = w->field->options;
    if (w->filter.no_macs && price->macs > 0) return false;
    if (o->max_ops.given && price->ops > (int64_t)o->max_ops.id) return false;
    return price->macs <= 0 || price->macs <= w->field->max_macs;
}

/* A way more to an op, unless it is worse than one that is there; of too many the dearest goes. */
static void add_way(walk *w, uint32_t op, const way *new) {
    way *ways = w->ways + (size_t)op * w->most;
    uint32_t n = 0, dearest = 0;
    for (uint32_t i = 0; i < w->n_ways[op]; i++) {
        const bool settles = w->most == 1 ? !is_cheaper(&new->price, &ways[i].price)
                                          : is_no_worse(&ways[i].price, &new->price);
        if (settles) return;
    }
    for (uint32_t i = 0; i < w->n_ways[op]; i++) {
        if (w->most == 1 || is_no_worse(&new->price, &ways[i].price)) continue;
        ways[n] = ways[i];
        if (is_cheaper(&ways[dearest].price, &ways[n].price)) dearest = n;
        n++;
    }
    if (n < w->most) {
        ways[n++] = *new;
    } else if (is_cheaper(&new->price, &ways[dearest].price)) {
        ways[dearest] = *new;
    }
    w->n_ways[op] = n;
}

/* All steps from one way at an op. */
static void go_on(walk *w, uint32_t op, uint32_t number, uint64_t bound) {
    const arn_split_field *f = w->field;
    const way here = w->ways[number];
    if (f->alive[op] <= bound) {
        way next = here;
        next.peak = arn_max_u64(here.peak, f->alive[op]);
        next.candidate = ARENAUT_NONE;
        next.from = number;
        add_way(w, op + 1, &next);
    }
    for (uint32_t i = w->begins[op]; i < w->begins[op + 1]; i++) {
        const arn_split_candidate *c = &f->candidates[w->by_first[i]];
        if (c->peak > bound || (w->filter.even && arn_split_is_fitted(c->stage.mode))) continue;
        const way next = {sum_of(&here.price, &c->price), arn_max_u64(here.peak, c->peak),
                          w->by_first[i], number};
        if (is_allowed(w, &next.price)) add_way(w, op + c->stage.n_ops, &next);
    }
}

/* The cheapest way to the end; NULL: there is none under this bound. */
static const way *walk_under(walk *w, uint64_t bound) {
    const uint32_t n = w->field->graph->program->n_ops;
    memset(w->n_ways, 0, ((size_t)n + 1) * sizeof *w->n_ways);
    w->ways[0] = (way){.candidate = ARENAUT_NONE, .from = ARENAUT_NONE};
    w->n_ways[0] = 1;
    for (uint32_t op = 0; op < n; op++) {
        for (uint32_t i = 0; i < w->n_ways[op]; i++) go_on(w, op, op * w->most + i, bound);
    }
    const way *best = NULL, *last = w->ways + (size_t)n * w->most;
    for (uint32_t i = 0; i < w->n_ways[n]; i++) {
        if (!best || is_cheaper(&last[i].price, &best->price)) best = &last[i];
    }
    return best;
}

/* ---- the front ---- */

static uint64_t sum_with(const arn_split_field *f, uint64_t peak, const arn_split_price *price) {
    const int64_t notes = f->notes + price->notes;
    const uint64_t head = arn_max_u64(peak, notes > 0 ? (uint64_t)notes : 0);
    return head + (uint64_t)price->kept; /* what is kept may shrink */
}

static bool add_choice(walk *w, const way *end) {
    const arenaut_allocator *allocator = w->field->graph->allocator;
    arn_split_front *front = w->front;
    arn_split_choice choice = {end->peak, sum_with(w->field, end->peak, &end->price), end->price,
                               front->n_stages, 0};
    for (const way *at = end; at->from != ARENAUT_NONE; at = &w->ways[at->from]) {
        choice.n += at->candidate != ARENAUT_NONE;
    }
    if (!arn_grow(allocator, (void **)&front->choices, &front->capacity, (uint64_t)front->n + 1,
                  sizeof *front->choices) ||
        !arn_grow(allocator, (void **)&front->stages, &front->stages_capacity,
                  (uint64_t)front->n_stages + choice.n, sizeof *front->stages)) {
        return false;
    }
    uint32_t to = front->n_stages += choice.n;
    for (const way *at = end; at->from != ARENAUT_NONE; at = &w->ways[at->from]) {
        if (at->candidate == ARENAUT_NONE) continue;
        front->stages[--to] = w->field->candidates[at->candidate].stage;
    }
    front->choices[front->n++] = choice;
    return true;
}

static bool make_room(walk *w) {
    const arenaut_allocator *allocator = w->field->graph->allocator;
    const size_t n = (size_t)w->field->graph->program->n_ops + 1;
    w->begins = arn_allocate_zeroed(allocator, n + 1, sizeof *w->begins);
    w->by_first = arn_allocate(allocator, w->field->n, sizeof *w->by_first);
    w->ways = arn_allocate(allocator, n * w->most, sizeof *w->ways);
    w->n_ways = arn_allocate(allocator, n, sizeof *w->n_ways);
    if (!w->begins || !w->by_first || !w->ways || !w->n_ways) return false;
    for (uint32_t i = 0; i < w->field->n; i++) {
        w->begins[w->field->candidates[i].stage.first_op + 1]++;
    }
    for (size_t op = 1; op < n; op++) w->begins[op] += w->begins[op - 1];
    for (uint32_t i = 0; i < w->field->n; i++) {
        w->by_first[w->begins[w->field->candidates[i].stage.first_op]++] = i;
    }
    for (size_t op = n; op-- > 1;) w->begins[op] = w->begins[op - 1];
    w->begins[0] = 0;
    return true;
}

bool arn_split_find_front(const arn_split_field *field, arn_split_filter filter,
                          arn_split_front *front) {
    const arenaut_allocator *allocator = field->graph->allocator;
    const bool limited = field->options->max_ops.given || field->options->max_macs.given;
    walk w = {.field = field, .front = front, .filter = filter, .most = limited ? WAYS : 1};
    bool fits = make_room(&w);
    uint64_t bound = UINT64_MAX;
    front->n = front->n_stages = 0;
    front->looks = 0;
    while (fits && front->n < MOST_CHOICES) {
        const way *end = walk_under(&w, bound);
        front->looks += ((uint64_t)field->graph->program->n_ops + field->n) * w.most;
        if (!end) break;
        bound = end->peak;
        fits = add_choice(&w, end);
        if (bound-- == 0) break;
    }
    arn_release(allocator, w.begins);
    arn_release(allocator, w.by_first);
    arn_release(allocator, w.ways);
    arn_release(allocator, w.n_ways);
    return fits;
}

void arn_split_front_free(arn_split_front *front, const arenaut_allocator *allocator) {
    arn_release(allocator, front->choices);
    arn_release(allocator, front->stages);
}

uint64_t arn_split_least_sum(const arn_split_front *front, int64_t kept) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < front->n && front->choices[i].price.kept <= kept; i++) {
        least = arn_min_u64(least, front->choices[i].sum);
    }
    return least;
}

/* ---- the choices of the caller ---- */

/* The front is the first member. */
typedef struct found {
    arenaut_split_front front;
    arn_region region;
} found;

typedef struct list {
    arenaut_split_choice *choices;
    uint32_t n;
} list;

arenaut_split_front *arn_split_choices_new(const arenaut_allocator *allocator) {
    found *made = arn_allocate_zeroed(allocator, 1, sizeof *made);
    if (!made) return NULL;
    arn_region_init(&made->region, allocator);
    return &made->front;
}

static uint64_t needed(const arenaut_split_choice *c) { return c->head + (uint64_t)c->kept; }

/* Whether `b` is nowhere better than `a`. */
static bool is_beaten(const arenaut_split_choice *b, const arenaut_split_choice *a) {
    return needed(a) <= needed(b) && a->ops <= b->ops && a->macs <= b->macs;
}

/* Those that need more stand before those that need less. */
static void insert(list *to, const arenaut_split_choice *choice) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < to->n; i++) {
        if (!is_beaten(&to->choices[i], choice)) to->choices[n++] = to->choices[i];
    }
    uint32_t at = n;
    for (; at > 0 && needed(&to->choices[at - 1]) < needed(choice); at--) {
        to->choices[at] = to->choices[at - 1];
    }
    to->choices[at] = *choice;
    to->n = n + 1;
}

static bool list_choice(const arn_split_front *from, const arn_split_choice *c, found *made,
                        list *to) {
    arenaut_split_choice choice = {.n_stages = c->n,
                                   .tensors = c->peak,
                                   .kept = c->price.kept,
                                   .head = c->sum - (uint64_t)c->price.kept,
                                   .ops = (uint32_t)c->price.ops,
                                   .macs = (uint64_t)c->price.macs};
    for (uint32_t i = 0; i < to->n; i++) {
        if (is_beaten(&choice, &to->choices[i])) return true;
    }
    arenaut_split_stage *stages = arn_region_allocate(&made->region, c->n, sizeof *stages);
    if (!stages) return false;
    if (c->n > 0) memcpy(stages, from->stages + c->first, c->n * sizeof *stages);
    choice.stages = stages;
    insert(to, &choice);
    return true;
}

bool arn_split_choices_list(arenaut_split_front *to, const arn_split_front *all,
                            const arn_split_front *no_macs, bool even) {
    const arn_split_front *const fronts[] = {all, no_macs};
    found *made = (found *)to;
    list listed = {0};
    listed.choices =
        arn_region_allocate(&made->region, (size_t)all->n + no_macs->n + 1, sizeof *listed.choices);
    bool fits = listed.choices != NULL;
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < fronts[k]->n && fits; i++) {
            fits = list_choice(fronts[k], &fronts[k]->choices[i], made, &listed);
        }
    }
    *(even ? &to->even : &to->choices) = listed.choices;
    *(even ? &to->n_even : &to->n_choices) = listed.n;
    return fits;
}

void arenaut_split_front_free(arenaut_split_front *front) {
    found *made = (found *)front;
    if (!made) return;
    const arenaut_allocator allocator = made->region.allocator;
    arn_region_free(&made->region);
    arn_release(&allocator, made);
}
