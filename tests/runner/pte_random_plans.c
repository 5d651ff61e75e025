/* pte_random_plans: writes a model anew with plans that are valid and otherwise arbitrary.
 *
 *     pte_random_plans MODEL COUNT PREFIX      writes PREFIX0.pte, PREFIX1.pte, …
 *
 * The command only writes plans that are no worse than today's, which share bytes as seldom
 * or as cleverly as its planners do. If lifetimes were too short, one of many arbitrary plans
 * would bring to light what those happen to avoid. Each plan places the buffers in a random
 * order, each at the lowest place that its conflicts leave. Public API only. */
#include <stdio.h>
#include <stdlib.h>

#include <arenaut/arenaut.h>

#include "../../bench/load_file.h"

static void die(const char *what, arenaut_status status, const arenaut_error *err) {
    fprintf(stderr, "pte_random_plans: %s: %s: %s\n", what, arenaut_status_text(status), err->msg);
    exit(3);
}

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void shuffle(uint32_t *items, uint32_t n, uint64_t *state) {
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t other = next_random(state) % i, kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}

static bool alive_together(const arenaut_problem *problem, uint32_t a, uint32_t b) {
    const arenaut_interval *of_a = arenaut_problem_lifetimes(problem, a);
    const arenaut_interval *of_b = arenaut_problem_lifetimes(problem, b);
    for (uint32_t i = 0; i < arenaut_problem_lifetime_count(problem, a); i++) {
        for (uint32_t k = 0; k < arenaut_problem_lifetime_count(problem, b); k++) {
            if (of_a[i].first < of_b[k].end && of_b[k].first < of_a[i].end) return true;
        }
    }
    return false;
}

static bool conflict(const arenaut_problem *problem, uint32_t a, uint32_t b) {
    for (uint32_t k = 0; k < problem->n_conflicts; k++) {
        const arenaut_conflict edge = problem->conflict[k];
        if ((edge.a == a && edge.b == b) || (edge.a == b && edge.b == a)) return true;
    }
    return alive_together(problem, a, b);
}

static uint32_t first_pool(uint64_t pools) {
    uint32_t pool = 0;
    while ((pools >> pool & 1) == 0) pool++;
    return pool;
}

/* Where `buffer` would lie at `offset`: the end of something that is in its way, or 0. */
static uint64_t obstacle_end(const arenaut_problem *problem, const arenaut_plan *plan,
                             uint32_t buffer, uint32_t pool, uint64_t offset) {
    const uint64_t end = offset + problem->size[buffer];
    for (uint32_t k = 0; k < problem->n_reserved; k++) {
        const arenaut_reserved range = problem->reserved[k];
        if (range.pool == pool && range.first < end && offset < range.end) return range.end;
    }
    for (uint32_t other = 0; other < problem->n_buffers; other++) {
        const uint64_t other_end = plan->offset[other] + problem->size[other];
        if (plan->pool[other] == pool && other != buffer && plan->offset[other] < end &&
            offset < other_end && conflict(problem, buffer, other)) {
            return other_end;
        }
    }
    return 0;
}

static void place(const arenaut_problem *problem, arenaut_plan *plan, uint32_t buffer) {
    const uint32_t pool = first_pool(arenaut_problem_pools(problem, buffer));
    const uint64_t align = arenaut_problem_align(problem, buffer);
    uint64_t offset = arenaut_problem_fixed_offset(problem, buffer), blocked;
    if (offset == ARENAUT_UNPLACED) {
        offset = 0;
        while ((blocked = obstacle_end(problem, plan, buffer, pool, offset)) != 0) {
            offset = (blocked + align - 1) / align * align;
        }
    }
    plan->pool[buffer] = pool;
    plan->offset[buffer] = offset;
}

static arenaut_plan *random_plan(const arenaut_problem *problem, uint64_t seed) {
    arenaut_error err;
    arenaut_plan *plan;
    arenaut_finding finding;
    uint64_t state = seed * 2654435761u + 1;
    uint32_t *order = malloc((problem->n_buffers + 1) * sizeof *order);
    arenaut_status st = arenaut_plan_new(problem->n_buffers, problem->n_pools, NULL, &plan, &err);
    if (!order || st != ARENAUT_OK) die("memory", ARENAUT_NO_MEMORY, &err);
    for (uint32_t b = 0; b < problem->n_buffers; b++) order[b] = b;
    shuffle(order, problem->n_buffers, &state);
    /* What cannot move first, since the others have to go round it. */
    for (int fixed = 1; fixed >= 0; fixed--) {
        for (uint32_t i = 0; i < problem->n_buffers; i++) {
            const uint32_t b = order[i];
            const bool is_fixed = arenaut_problem_fixed_offset(problem, b) != ARENAUT_UNPLACED;
            if (is_fixed == (fixed == 1) && arenaut_problem_needs_memory(problem, b)) {
                place(problem, plan, b);
            }
        }
    }
    free(order);
    plan->planner = "random";
    st = arenaut_plan_measure(plan, problem, &err);
    if (st == ARENAUT_OK) st = arenaut_check_plan(problem, plan, NULL, &finding, &err);
    if (st != ARENAUT_OK) die("the plan", st, &err);
    return plan;
}

static void write_plan(const arenaut_pipeline *p, const char *path) {
    arenaut_error err;
    arenaut_text text = {0};
    const arenaut_status st =
        p->document.format->write(&p->result, arenaut_text_sink(&text), NULL, &err);
    if (st != ARENAUT_OK) die(path, st, &err);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text.bytes, 1, text.size, file) != text.size || fclose(file) != 0) {
        perror(path);
        exit(4);
    }
    arenaut_text_free(&text);
}

int main(int argc, char **argv) {
    arenaut_pipeline_file file = {argc == 4 ? argv[1] : "", NULL, 0};
    unsigned char *data = argc == 4 ? load_file(argv[1], &file.size) : NULL;
    if (!data) {
        fprintf(stderr, "usage: pte_random_plans MODEL COUNT PREFIX\n");
        return 2;
    }
    arenaut_error err;
    arenaut_pipeline *p = NULL;
    file.data = data;
    arenaut_status st = arenaut_pipeline_new(NULL, NULL, &p, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_read(p, &file, 1, &err);
    if (st == ARENAUT_OK) st = arenaut_pipeline_prepare(p, &err);
    if (st != ARENAUT_OK) die("preparing", st, &err);
    for (int seed = 0; seed < atoi(argv[2]); seed++) {
        char path[1024];
        snprintf(path, sizeof path, "%s%d.pte", argv[3], seed);
        arenaut_plan *plan = random_plan(p->problem, (uint64_t)seed);
        p->result.plan = plan;
        write_plan(p, path);
        arenaut_plan_free(plan);
    }
    arenaut_pipeline_free(p);
    free(data);
    return 0;
}
