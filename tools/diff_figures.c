/* Figures that two inputs have under one name: of pools, and of methods. */
#include <stdlib.h>
#include <string.h>

#include "diff.h"

/* ---- figures that both sides have, by name ---- */

static void add_figure(figure_list *list, const char *kind, const char *name, int which,
                       uint64_t bytes) {
    size_t i = 0;
    if (!name) name = "";
    while (i < list->n && (strcmp(list->items[i].kind, kind) != 0 ||
                           strcmp(list->items[i].name, name) != 0 || list->items[i].known[which]))
        i++;
    if (i == list->capacity) return; /* there is room for all there can be */
    figure *found = &list->items[i];
    if (i == list->n) *found = (figure){.kind = kind, .name = name};
    if (i == list->n) list->n++;
    found->bytes[which] = bytes;
    found->known[which] = true;
}

typedef struct event {
    int64_t step;
    uint32_t method;
    bool ends;
    uint64_t bytes;
} event;

/* By method and step; at one step, ends come before beginnings. */
static int by_method_then_step(const void *pa, const void *pb) {
    const event *a = pa, *b = pb;
    if (a->method != b->method) return a->method < b->method ? -1 : 1;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (int)b->ends - (int)a->ends;
}

/* The most bytes of each method's own buffers that are alive at once. */
static void add_methods(const side *s, int which, figure_list *list) {
    const arenaut_problem *p = s->result.problem;
    size_t n = 0;
    if (!p->method || p->n_methods < 2) return;
    event *events = must_allocate(2 * (size_t)p->n_lifetimes, sizeof *events);
    for (uint32_t b = 0; b < p->n_buffers; b++) {
        const uint32_t lives = arenaut_problem_lifetime_count(p, b);
        const arenaut_interval *life = arenaut_problem_lifetimes(p, b);
        for (uint32_t i = 0; i < lives && p->method[b] != ARENAUT_NONE; i++) {
            events[n++] = (event){life[i].first, p->method[b], false, p->size[b]};
            events[n++] = (event){life[i].end, p->method[b], true, p->size[b]};
        }
    }
    if (n) qsort(events, n, sizeof *events, by_method_then_step);
    uint64_t live = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        live = events[i].ends ? live - events[i].bytes : live + events[i].bytes;
        if (live > most) most = live;
        if (i + 1 < n && events[i + 1].method == events[i].method) continue;
        add_figure(list, "method", p->method_name[events[i].method], which, most);
        live = most = 0;
    }
    free(events);
}

figure_list diff_figures(const diff *d) {
    figure_list list = {.n = 0};
    for (int i = 0; i < SIDES; i++) {
        const arenaut_problem *p = d->sides[i].result.problem;
        list.capacity += (size_t)p->n_pools + p->n_methods;
    }
    list.items = must_allocate(list.capacity, sizeof *list.items);
    for (int i = 0; i < SIDES; i++) {
        const arenaut_result *r = &d->sides[i].result;
        const bool several = d->sides[BEFORE].result.problem->n_pools > 1 ||
                             d->sides[AFTER].result.problem->n_pools > 1;
        for (uint32_t k = 0; k < r->problem->n_pools && several; k++) {
            add_figure(&list, "pool", r->problem->pool[k].name, i, r->plan->arena[k]);
        }
        add_methods(&d->sides[i], i, &list);
    }
    return list;
}

const char *diff_name(const diff *d, change c, char store[24]) {
    const bool gone = c.after == ARENAUT_NONE;
    const arenaut_result *r = &d->sides[gone ? BEFORE : AFTER].result;
    return arenaut_problem_buffer_name(r->problem, gone ? c.before : c.after, store);
}
