/* Solves a scheduling problem, has the checker follow the proof, and prints the result as JSON.
 *
 *     order_solve [EFFORT] <PROBLEM
 *
 * PROBLEM is text: the numbers of ops, buffers, uses, dependences and rights; then the sizes, the
 * live-in and live-out bits, and the numbers of each use, dependence and right
 * (bench/order_problems.py writes it). */
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

static uint64_t number(void) {
    uint64_t n = 0;
    if (scanf("%" SCNu64, &n) == 1) return n;
    fputs("order_solve: the problem ends early\n", stderr);
    exit(3);
}

static uint32_t small(void) { return (uint32_t)number(); }

static void *room(uint32_t n, size_t size) {
    void *block = calloc((size_t)n + 1, size);
    if (block) return block;
    fputs("order_solve: no memory\n", stderr);
    exit(3);
}

static arenaut_order_problem read_problem(void) {
    arenaut_order_problem p = {.n_ops = small()};
    p.n_buffers = small();
    p.n_uses = small();
    p.n_dependences = small();
    p.n_rights = small();
    uint64_t *size = room(p.n_buffers, sizeof *size);
    uint8_t *boundary = room(p.n_buffers, sizeof *boundary);
    arenaut_order_use *uses = room(p.n_uses, sizeof *uses);
    arenaut_order_dependence *dependences = room(p.n_dependences, sizeof *dependences);
    arenaut_order_right *rights = room(p.n_rights, sizeof *rights);
    for (uint32_t i = 0; i < p.n_buffers; i++) size[i] = number();
    for (uint32_t i = 0; i < p.n_buffers; i++) boundary[i] = (uint8_t)number();
    for (uint32_t i = 0; i < p.n_uses; i++) {
        uses[i].op = small();
        uses[i].buffer = small();
    }
    for (uint32_t i = 0; i < p.n_dependences; i++) {
        dependences[i].op = small();
        dependences[i].first = small();
    }
    for (uint32_t i = 0; i < p.n_rights; i++) {
        rights[i].op = small();
        rights[i].made = small();
        rights[i].over = small();
        rights[i].bytes = size[rights[i].made]; /* those of these problems are of one size */
    }
    p.size = size;
    p.boundary = boundary;
    p.uses = uses;
    p.dependences = dependences;
    p.rights = rights;
    return p;
}

static void free_problem(arenaut_order_problem *p) {
    free((void *)p->size);
    free((void *)p->boundary);
    free((void *)p->uses);
    free((void *)p->dependences);
    free((void *)p->rights);
}

static void print_order(const arenaut_order *o, double found, double checked) {
    printf("{\"peak\": %" PRIu64 ", \"bound\": %" PRIu64 ", \"lines\": %" PRIu32
           ", \"effort\": %" PRIu64 ", \"seconds\": %.4f, \"check_seconds\": %.4f, \"ways\": {",
           o->peak, o->bound, o->n_lines, o->effort, found, checked);
    for (int i = 0; i < ARENAUT_ORDER_HEURISTIC_COUNT; i++) {
        printf("%s\"%s\": %" PRIu64, i == 0 ? "" : ", ",
               arenaut_order_heuristic_name((arenaut_order_heuristic)i), o->heuristics[i]);
    }
    printf("}}\n");
}

int main(int argc, char **argv) {
    const arenaut_order_options options = {argc > 1 ? strtoull(argv[1], NULL, 10) : 0};
    arenaut_order_problem problem = read_problem();
    arenaut_order *order = NULL;
    arenaut_finding finding;
    arenaut_error err = {0};
    const double start = cpu_seconds();
    arenaut_status st = arenaut_order_find(&problem, &options, NULL, &order, &err);
    const double found = cpu_seconds();
    if (st == ARENAUT_OK) st = arenaut_check_order(&problem, order, NULL, &finding, &err);
    if (st == ARENAUT_OK) print_order(order, found - start, cpu_seconds() - found);
    else fprintf(stderr, "order_solve: %s\n", err.msg);
    arenaut_order_free(order);
    free_problem(&problem);
    return st == ARENAUT_OK ? 0 : 1;
}
