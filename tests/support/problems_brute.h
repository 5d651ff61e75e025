/* Small problems of placing buffers, decided by trying everything. The library's claims are
 * compared with this, so it shares nothing with the library: problems are plain numbers, written
 * down here once more, and the rules are those that arenaut/problem.h states for people.
 *
 * Numbers are small: a search goes through every offset of every buffer. */
#ifndef SUPPORT_PROBLEMS_BRUTE_H
#define SUPPORT_PROBLEMS_BRUTE_H

#include <stdbool.h>

enum {
    BRUTE_BUFFERS = 8,
    BRUTE_LIVES = 3,
    BRUTE_POOLS = 3,
    BRUTE_RANGES = 3,
    BRUTE_EDGES = 10,
    BRUTE_SEPARATIONS = 8,
    BRUTE_NOTHING = -1, /* no buffer, no pool, no offset, no capacity */
};

typedef struct brute_buffer {
    int size, align;
    int n_lives, first[BRUTE_LIVES], end[BRUTE_LIVES]; /* [first, end); empty ones count nothing */
    unsigned pools;                                    /* bit k: it may lie in pool k */
    int uses;                                          /* 0 is 1 */
    int fixed;                                         /* its offset, or NOTHING */
    int same_base;                                     /* a buffer, or NOTHING */
    int inside, delta;                                 /* likewise */
} brute_buffer;

typedef struct brute_problem {
    int n_buffers, n_pools, n_ranges, n_edges;
    brute_buffer buffer[BRUTE_BUFFERS];
    struct {
        int capacity, align;
    } pool[BRUTE_POOLS];
    struct {
        int pool, first, end;
    } range[BRUTE_RANGES]; /* reserved; they may overlap */
    struct {
        int a, b;
    } edge[BRUTE_EDGES];
    int n_separations;
    struct {
        int upper, lower, distance;
    } separation[BRUTE_SEPARATIONS];
    bool tokens;
    bool spills_free; /* only arenas count: no matter what lies in slower pools */
} brute_problem;

typedef struct brute_places {
    int pool[BRUTE_BUFFERS]; /* NOTHING where no memory is needed */
    int offset[BRUTE_BUFFERS];
} brute_places;

/* Buffers of at least one byte for at least one step. */
bool brute_needs_memory(const brute_problem *problem, int buffer);

/* The first rule that the places break, in words; NULL if they are right. */
const char *brute_fault(const brute_problem *problem, const brute_places *places);

/* Where the pool's highest buffer ends, rounded up to the pool's alignment. */
int brute_arena(const brute_problem *problem, const brute_places *places, int pool);

/* Bytes that buffers spill into slower pools than their fastest: size × uses × number of faster
 * ones. */
long brute_spill(const brute_problem *problem, const brute_places *places);

/* The cost: spilled bytes, BRUTE_SPILL for each, which is more than the arenas' sum ever is; then
 * the sum of the arenas. It is monotone in the set of buffers, as the search requires. */
#define BRUTE_SPILL 20000L
long brute_cost(const brute_problem *problem, const brute_places *places);

typedef enum brute_answer { BRUTE_FOUND, BRUTE_IMPOSSIBLE, BRUTE_GAVE_UP } brute_answer;

#define BRUTE_ANY_COST 1000000000L

/* Looks for places that cost less than `below`; BRUTE_ANY_COST: for any at all. Gives up after
 * `tries` offsets, which are counted down there. */
brute_answer brute_search(const brute_problem *problem, long below, long *tries,
                          brute_places *places);

/* The problem of one pool and the buffers that `places` puts there. */
brute_problem brute_one_pool(const brute_problem *problem, const brute_places *places, int pool);

#endif
