/* Sums of state: it is alive at every step, so that no other buffer lies where it does, and a plan
 * may be cut there: without it, the buffers behind it move down by its size, in whole multiples of
 * the largest alignment. All states lie side by side then, and the rest of the largest behind
 * them. */
#include "together.h"

#include <stdlib.h>

#include "tool.h"

typedef struct state {
    uint64_t kept; /* bytes for it in a memory of its own */
    uint64_t cut;  /* that the plan is smaller without it */
    bool any;
} state;

static uint64_t largest_alignment(const arenaut_problem *problem) {
    uint64_t largest = 1;
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        const uint64_t align = arenaut_problem_align(problem, b);
        if (align > largest) largest = align;
    }
    for (uint32_t k = 0; k < problem->n_pools; k++) {
        if (problem->pool[k].align > largest) largest = problem->pool[k].align;
    }
    return largest;
}

/* Where buffers may share bytes, one of them may reach into a state. */
static bool may_share(const arenaut_problem *problem) {
    for (uint32_t b = 0; b < problem->n_buffers; b++) {
        if (arenaut_problem_same_base(problem, b) != ARENAUT_NONE ||
            arenaut_problem_inside(problem, b) != ARENAUT_NONE) {
            return true;
        }
    }
    return problem->n_separations > 0;
}

static void add_buffer(const arenaut_problem *problem, uint32_t b, uint64_t align, state *found) {
    found->cut += problem->size[b] / align * align;
    found->kept += (problem->size[b] + align - 1) / align * align;
}

/* Several states may be names of one buffer. */
static state find_state(const arenaut_pipeline *p, uint64_t planned) {
    const arenaut_program *program = p->document.program;
    state found = {0};
    if (!program || !p->lowering) return found;
    const uint64_t align = largest_alignment(p->problem);
    bool *seen = must_allocate(p->problem->n_buffers, sizeof *seen);
    for (uint32_t t = 0; t < program->n_tensors; t++) {
        if (program->tensors[t].cls != ARENAUT_STATE) continue;
        const uint32_t b = p->lowering->buffer[t];
        found.any = true;
        if (b == ARENAUT_NONE || seen[b]) continue;
        seen[b] = true;
        add_buffer(p->problem, b, align, &found);
    }
    free(seen);
    if (found.kept > 0 && (may_share(p->problem) || found.cut > planned)) {
        found.kept = found.cut = planned;
    }
    return found;
}

static uint64_t sum_of(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static void add(uint64_t whole, uint64_t kept, uint64_t cut, uint64_t *sum, uint64_t *running) {
    *sum = sum_of(*sum, kept);
    const uint64_t rest = whole > cut ? whole - cut : 0; /* the tail may be that of another plan */
    if (rest > *running) *running = rest;
}

exit_code together_add(together *sums, const tool_job *job, uint64_t planned,
                       const reservation *need) {
    const state found = find_state(job->pipeline, planned);
    arenaut_tensor_arena arena = {0}; /* its tail lives as long as the state in it */
    if (found.any && has_whole_arena(job)) {
        const exit_code code = find_whole_arena(job, planned, &arena);
        if (code != EXIT_FINE) return code;
    }
    add(planned, found.kept, found.cut, &sums->kept, &sums->running);
    add(need->bytes, found.kept + arena.tail, found.cut + arena.tail, &sums->kept_reserved,
        &sums->running_reserved.bytes);
    if (need->unknown) sums->running_reserved.unknown = need->unknown;
    sums->running_reserved.apart = need->apart;
    for (int i = 0; i < 2; i++) {
        uint64_t *most = &sums->running_reserved.need[i];
        *most = need->need[i] > *most ? need->need[i] : *most;
        sums->running_reserved.size[i] = need->size[i];
    }
    return EXIT_FINE;
}

uint64_t together_planned(const together *sums) { return sum_of(sums->kept, sums->running); }

reservation together_reserved(const together *sums) {
    reservation all = sums->running_reserved;
    all.bytes = sum_of(all.bytes, sums->kept_reserved);
    return all;
}
