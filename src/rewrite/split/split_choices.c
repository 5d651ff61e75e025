/* The list of choices that a search of stages ends with, from the fronts of its candidates. */
#include "rewrite/split/split_choices.h"

#include <string.h>

#include "core/memory.h"

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

static bool add_choice(const arn_split_front *from, const arn_split_choice *c, found *made,
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
            fits = add_choice(fronts[k], &fronts[k]->choices[i], made, &listed);
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
