/* generate: a seeded planning problem that looks like one step of training, as CSV.
 *
 *     generate [-n BUFFERS] [-s SEED] >problem.csv
 *
 * One op per step, first all forward ops and then their backward steps in reverse. A quarter
 * of the buffers are forward values: made by op i, they live until about the backward step
 * of op i, so that at the turn all of them are alive at once. The others are temporaries of
 * forward and backward ops that live for a few steps. Sizes are mixed, from 64 bytes to
 * 254 KiB, and those of forward values shrink with depth, as they do if early layers
 * see the large images: this keeps the memory fuller than a triangle of equal values would.
 *
 * The default of 1,000,000 buffers has 250,000 alive at the turn. Its figures go to standard
 * error: buffers, steps, most alive at once, most bytes alive at once (the bound),
 * and fill = size × lifetime summed / (bound × steps). The same on every machine. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_bits(void) {
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t random_below(uint64_t limit) { return random_bits() % limit; }

typedef struct buffer {
    uint64_t first, end, size;
} buffer;

/* 64 bytes times a small factor times a power of two, small powers being as likely as large
 * ones: every magnitude occurs, and few sizes occur twice in a row. */
static uint64_t mixed_size(void) {
    const uint64_t factor = 1 + random_below(31);
    return 64 * factor << random_below(8);
}

/* Op `op`'s result, which its own backward step reads, or that of a reader next to it. */
static buffer forward_value(uint64_t op, uint64_t n_ops) {
    const uint64_t near = op + random_below(8);
    const uint64_t reader = near < n_ops ? near : n_ops - 1;
    const uint64_t backward = 2 * n_ops - 1 - reader;
    const uint64_t size = mixed_size();
    const uint64_t shrunk = size - size / 8 * 7 * op / n_ops; /* by eight at the last op */
    return (buffer){op, backward + 1, (shrunk + 63) / 64 * 64};
}

static buffer temporary(uint64_t n_steps) {
    const uint64_t first = random_below(n_steps);
    const uint64_t longest = UINT64_C(1) << random_below(7); /* short ones are common */
    const uint64_t end = first + 1 + random_below(longest);
    return (buffer){first, end < n_steps ? end : n_steps, mixed_size()};
}

/* Sums over steps; false if there is no memory for it. */
static bool tell(const buffer *buffers, uint64_t n, uint64_t n_steps) {
    int64_t *bytes = calloc(n_steps + 1, sizeof *bytes);
    int64_t *count = calloc(n_steps + 1, sizeof *count);
    int64_t live = 0, alive = 0, most_live = 0, most_alive = 0;
    double area = 0;
    for (uint64_t i = 0; bytes && count && i < n; i++) {
        bytes[buffers[i].first] += (int64_t)buffers[i].size;
        bytes[buffers[i].end] -= (int64_t)buffers[i].size;
        count[buffers[i].first]++;
        count[buffers[i].end]--;
        area += (double)buffers[i].size * (double)(buffers[i].end - buffers[i].first);
    }
    for (uint64_t t = 0; bytes && count && t < n_steps; t++) {
        live += bytes[t];
        alive += count[t];
        if (live > most_live) most_live = live;
        if (alive > most_alive) most_alive = alive;
    }
    const bool told = bytes && count;
    free(bytes);
    free(count);
    if (told) {
        fprintf(stderr,
                "{\"buffers\":%" PRIu64 ",\"steps\":%" PRIu64 ",\"most_alive\":%" PRId64
                ",\"bound\":%" PRId64 ",\"fill\":%.3f}\n",
                n, n_steps, most_alive, most_live, area / ((double)most_live * (double)n_steps));
    }
    return told;
}

int main(int argc, char **argv) {
    uint64_t n = 1000000;
    for (int i = 1; i < argc; i += 2) {
        const uint64_t value = i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
        if (strcmp(argv[i], "-s") == 0) random_state = value;
        else n = strcmp(argv[i], "-n") == 0 ? value : 0; /* 0 is refused below */
    }
    if (n < 4 || n > 100000000) {
        fprintf(stderr, "usage: generate [-n BUFFERS] [-s SEED], with 4 to 100,000,000 buffers\n");
        return 2;
    }
    const uint64_t n_ops = n / 4;
    buffer *buffers = malloc(n * sizeof *buffers);
    if (!buffers) return 4;
    for (uint64_t i = 0; i < n; i++) {
        buffers[i] = i < n_ops ? forward_value(i, n_ops) : temporary(2 * n_ops);
    }
    bool fine = tell(buffers, n, 2 * n_ops) && puts("id,lower,upper,size") >= 0;
    for (uint64_t i = 0; fine && i < n; i++) {
        fine = printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", i, buffers[i].first,
                      buffers[i].end, buffers[i].size) > 0;
    }
    free(buffers);
    return fine && fflush(stdout) == 0 ? 0 : 4;
}
