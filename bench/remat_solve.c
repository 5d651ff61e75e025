/* Finds the fastest sequences of a rematerialization problem within budgets, has the checker follow
 * runs and proofs, and prints the results, a line of JSON each.
 *
 *     remat_solve PERCENT... <PROBLEM
 *
 * PROBLEM is text: how many ops, storages and reads there are; then costs, whether ops run once (1)
 * or not, sizes, makers (-1: none), retained storages, and the numbers of each read
 * (bench/remat_table.py writes it). Budgets are percent of the peak of live bytes if each op runs
 * once.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <arenaut/arenaut.h>

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int64_t number(void) {
    int64_t n = 0;
    if (scanf("%" SCNd64, &n) == 1) return n;
    fputs("remat_solve: the problem ends early\n", stderr);
    exit(3);
}

static void *room(uint32_t n, size_t size) {
    void *block = calloc((size_t)n + 1, size);
    if (block) return block;
    fputs("remat_solve: no memory\n", stderr);
    exit(3);
}

static arenaut_remat_problem read_problem(void) {
    arenaut_remat_problem p = {.n_ops = (uint32_t)number()};
    p.n_storages = (uint32_t)number();
    p.n_reads = (uint32_t)number();
    uint64_t *cost = room(p.n_ops, sizeof *cost), *size = room(p.n_storages, sizeof *size);
    uint32_t *until = room(p.n_ops, sizeof *until), *maker = room(p.n_storages, sizeof *maker);
    uint8_t *held = room(p.n_storages, sizeof *held);
    arenaut_order_use *reads = room(p.n_reads, sizeof *reads);
    for (uint32_t i = 0; i < p.n_ops; i++) cost[i] = (uint64_t)number();
    for (uint32_t i = 0; i < p.n_ops; i++) until[i] = number() ? i : ARENAUT_NONE;
    for (uint32_t i = 0; i < p.n_storages; i++) size[i] = (uint64_t)number();
    for (uint32_t i = 0; i < p.n_storages; i++) maker[i] = (uint32_t)number();
    for (uint32_t i = 0; i < p.n_storages; i++) held[i] = (uint8_t)number();
    for (uint32_t i = 0; i < p.n_reads; i++) {
        reads[i].op = (uint32_t)number();
        reads[i].buffer = (uint32_t)number();
    }
    p.cost = cost;
    p.until = until;
    p.size = size;
    p.maker = maker;
    p.held = held;
    p.reads = reads;
    return p;
}

static arenaut_rematerialization *solve(const arenaut_remat_problem *p, uint64_t budget) {
    const arenaut_remat_options options = {.budget = budget};
    arenaut_rematerialization *r = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    arenaut_status st = arenaut_remat_find(p, &options, NULL, &r, &err);
    if (st == ARENAUT_OK) st = arenaut_check_rematerialization(p, r, NULL, &finding, &err);
    if (st == ARENAUT_OK) return r;
    fprintf(stderr, "remat_solve: %s: %s\n", arenaut_status_text(st), err.msg);
    exit(2);
}

int main(int argc, char **argv) {
    const arenaut_remat_problem p = read_problem();
    arenaut_rematerialization *r = solve(&p, ARENAUT_SIZE_MAX / 4);
    const uint64_t before = r->before;
    arenaut_rematerialization_free(r);
    for (int i = 1; i < argc; i++) {
        const double start = cpu_seconds();
        r = solve(&p, before / 100 * strtoull(argv[i], NULL, 10) +
                          before % 100 * strtoull(argv[i], NULL, 10) / 100);
        printf("{\"percent\": %s, \"ops\": %" PRIu32 ", \"runs\": %" PRIu32 ", \"before\": %" PRIu64
               ", \"budget\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"base\": %" PRIu64
               ", \"added\": %" PRIu64 ", \"bound\": %" PRIu64 ", \"floor\": %" PRIu64
               ", \"fits\": %s, \"effort\": %" PRIu64 ", \"seconds\": %.3f}\n",
               argv[i], p.n_ops, r->n_runs, r->before, r->budget, r->peak, r->base, r->added,
               r->bound, r->floor, r->fits ? "true" : "false", r->effort, cpu_seconds() - start);
        fflush(stdout);
        arenaut_rematerialization_free(r);
    }
    return 0;
}
