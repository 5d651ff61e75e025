/* Planning an iteration: offsets for the largest sizes seen so far. A plan is made beside
 * the one in force and put in its place when it is whole. */
#include "core/number_set.h"
#include "runtime/iteration.h"

/* Slots [from, to) one behind the other. */
static bool lay_end_to_end(const arenaut_iteration *it, uint32_t from, uint32_t to, size_t *total) {
    size_t end = 0;
    for (uint32_t s = from; s < to; s++) {
        it->next_offset[s] = end;
        if (!arn_runtime_add_sizes(end, it->most[s], &end)) return false;
    }
    *total = end;
    return true;
}

/* Groups one behind the other, each as large as its largest member. */
static bool lay_groups(const arenaut_iteration *it, size_t *total) {
    size_t end = 0;
    for (uint32_t g = 0; g < it->n_groups; g++) it->group_bytes[g] = 0;
    for (uint32_t s = 0; s < it->n_arena; s++) {
        size_t *bytes = &it->group_bytes[it->group[s]];
        if (it->most[s] > *bytes) *bytes = it->most[s];
    }
    for (uint32_t g = 0; g < it->n_groups; g++) { /* from here on: where each begins */
        const size_t bytes = it->group_bytes[g];
        it->group_bytes[g] = end;
        if (!arn_runtime_add_sizes(end, bytes, &end)) return false;
    }
    for (uint32_t s = 0; s < it->n_arena; s++) it->next_offset[s] = it->group_bytes[it->group[s]];
    *total = end;
    return true;
}

/* The planner is a function of the caller's: an answer that puts a value outside the arena is
 * refused and, in checked builds, one that puts two into the same memory. */
static arenaut_status check_answer(const arenaut_iteration *it, size_t arena,
                                   arenaut_fault *fault) {
    for (uint32_t s = 0; s < it->n_arena; s++) {
        const size_t offset = it->next_offset[s], bytes = it->most[s];
        if (bytes == 0) continue;
        if (offset & (it->options.align - 1) || offset > arena || bytes > arena - offset)
            return arn_runtime_fault(fault, ARENAUT_FAULT_PLAN_BAD, it->named[s], offset,
                                     it->options.align);
    }
    return ARENAUT_OK;
}

/* Whether the later of two storages may lie over the earlier one, and does exactly that. */
static bool is_in_place(const arenaut_iteration *it, uint32_t under, uint32_t over) {
    return it->over[over] == under && it->next_offset[under] == it->next_offset[over];
}

static bool is_clash(const arenaut_iteration *it, uint32_t a, uint32_t b) {
    const size_t at_a = it->next_offset[a], at_b = it->next_offset[b];
    return at_a < at_b + it->most[b] && at_b < at_a + it->most[a] && !is_in_place(it, a, b) &&
           !is_in_place(it, b, a);
}

typedef struct sweep {
    const arenaut_iteration *it;
    uint32_t *slot;      /* by offset */
    arn_number_set came; /* places in this order, but for those that are known to be dead */
} sweep;

/* The nearest place whose storage is alive at `step`; the dead on the way there are dropped. */
static uint32_t nearest(sweep *w, uint32_t place, bool below, uint32_t step) {
    for (;;) {
        const uint32_t found =
            below ? arn_number_set_below(&w->came, place) : arn_number_set_above(&w->came, place);
        if (found == ARENAUT_NO_VALUE || w->it->last[w->slot[found]] >= step) return found;
        arn_number_set_take(&w->came, found);
    }
}

/* A storage that s, which comes alive, meets in memory without leave; ARENAUT_NO_VALUE: none. As
 * long as there is none, only neighbours can meet, and with them the other of a pair in place,
 * which begins at the same offset. */
static uint32_t find_overlap(sweep *w, uint32_t s, uint32_t place) {
    const size_t *offset = w->it->next_offset;
    const size_t end = offset[s] + w->it->most[s];
    const uint32_t step = w->it->first[s];
    uint32_t k = nearest(w, place, true, step);
    while (k != ARENAUT_NO_VALUE) {
        const uint32_t other = w->slot[k];
        if (is_clash(w->it, other, s)) return other;
        if (k == 0 || offset[w->slot[k - 1]] < offset[other]) break;
        k = nearest(w, k, true, step);
    }
    k = nearest(w, place, false, step);
    for (; k != ARENAUT_NO_VALUE && offset[w->slot[k]] < end; k = nearest(w, k, false, step)) {
        if (is_clash(w->it, w->slot[k], s)) return w->slot[k];
    }
    return ARENAUT_NO_VALUE;
}

/* Storages that are alive together must lie apart. They come alive one after another. Sums are in
 * the arena, as check_answer has seen. */
static arenaut_status check_overlaps(const arenaut_iteration *it, arenaut_fault *fault) {
    uint32_t *order = it->work[1], *place = it->work[2], n = 0;
    sweep w = {.it = it, .slot = it->work[0]};
    for (uint32_t s = 0; s < it->n_arena; s++) {
        if (it->most[s]) w.slot[n] = order[n] = s, n++;
    }
    arn_runtime_order_by_offset(w.slot, n, it->next_offset, place);
    arn_runtime_order_by_step(order, n, it->first, place);
    for (uint32_t k = 0; k < n; k++) place[w.slot[k]] = k;
    arn_number_set_clear(&w.came, n, (uint32_t *)it->group_bytes);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t s = order[i], met = find_overlap(&w, s, place[s]);
        if (met != ARENAUT_NO_VALUE)
            return arn_runtime_fault(fault, ARENAUT_FAULT_PLAN_OVERLAP, it->named[met],
                                     it->named[s], it->first[s]);
        arn_number_set_put(&w.came, place[s]);
    }
    return ARENAUT_OK;
}

static arenaut_status ask_planner(arenaut_iteration *it, size_t *total, arenaut_fault *fault) {
    const arenaut_placing placing = {.n = it->n_arena,
                                     .bytes = it->most,
                                     .first = it->first,
                                     .last = it->last,
                                     .over = it->over,
                                     .align = it->options.align,
                                     .offset = it->next_offset,
                                     .arena = total,
                                     .previous = it->has_plan ? it->offset : NULL};
    for (uint32_t s = 0; s < it->n_arena; s++) it->next_offset[s] = 0;
    it->busy = true;
    arenaut_status status = it->place(it->place_context, &placing);
    it->busy = false;
    if (status == ARENAUT_NO_MEMORY)
        return arn_runtime_fault(fault, ARENAUT_FAULT_PLANNER_MEMORY, 0, 0, 0);
    if (status != ARENAUT_OK)
        return arn_runtime_fault(fault, ARENAUT_FAULT_PLAN_FAILED, 0, (size_t)status, 0);
    status = check_answer(it, *total, fault);
    if (status == ARENAUT_OK && ARENAUT_CHECKED) status = check_overlaps(it, fault);
    return status;
}

/* How many disjoint stretches of memory the slots of the arena occupy. One without bytes
 * counts as a stretch, since it shares nothing. */
static uint32_t count_stretches(const arenaut_iteration *it) {
    uint32_t *order = it->work[0], stretches = 0;
    size_t end = 0;
    for (uint32_t i = 0; i < it->n_arena; i++) order[i] = i;
    arn_runtime_order_by_offset(order, it->n_arena, it->offset, it->work[1]);
    for (uint32_t i = 0; i < it->n_arena; i++) {
        const uint32_t s = order[i];
        const size_t bytes = it->planned[s];
        if (bytes == 0 || it->offset[s] >= end) stretches++;
        if (bytes && it->offset[s] + bytes > end) end = it->offset[s] + bytes;
    }
    return stretches;
}

/* Storages of groups beyond the first of each. One that no value leads to any more, since outputs
 * are managed no longer, is in none. */
static uint32_t count_joined(const arenaut_iteration *it) {
    uint32_t *members = it->work[0], joined = 0;
    for (uint32_t g = 0; g < it->n_groups; g++) members[g] = 0;
    for (uint32_t s = 0; s < it->n_arena; s++) {
        if (it->slot[it->named[s]] == s && members[it->group[s]]++) joined++;
    }
    return joined;
}

void arn_runtime_count_reused(arenaut_iteration *it) {
    if (!it->options.optimise_memory) return;
    if (it->options.grouping == ARENAUT_BY_GROUPS) it->reused = count_joined(it);
    else it->reused = it->has_plan ? it->n_arena - count_stretches(it) : 0;
}

static void put_in_force(arenaut_iteration *it, size_t arena, size_t outputs) {
    size_t *const old = it->offset;
    it->offset = it->next_offset;
    it->next_offset = old;
    for (uint32_t s = 0; s < it->n_slots; s++) it->planned[s] = it->most[s];
    it->arena_bytes = arena;
    it->output_bytes = outputs;
    it->due = false;
    it->has_plan = true;
    it->plan_number++;
    arn_runtime_count_reused(it);
}

arenaut_status arenaut_iteration_plan(arenaut_iteration *it, arenaut_fault *fault) {
    size_t arena = 0, outputs = 0;
    arenaut_status status = arn_runtime_expect(it, false, fault);
    bool fits;
    if (status != ARENAUT_OK) return status;
    if (it->n_held) return arn_runtime_fault(fault, ARENAUT_FAULT_OUTPUTS_HELD, 0, 0, 0);
    if (!it->due) return ARENAUT_OK;
    if (!it->options.optimise_memory) {
        fits = lay_end_to_end(it, 0, it->n_arena, &arena);
    } else if (it->options.grouping == ARENAUT_BY_GROUPS) {
        fits = lay_groups(it, &arena);
    } else {
        fits = true;
        if (it->n_arena) status = ask_planner(it, &arena, fault);
    }
    if (status != ARENAUT_OK) return status;
    if (!fits || !lay_end_to_end(it, it->n_arena, it->n_slots, &outputs))
        return arn_runtime_fault(fault, ARENAUT_FAULT_SIZE, 0, 0, 0);
    put_in_force(it, arena, outputs);
    return ARENAUT_OK;
}
