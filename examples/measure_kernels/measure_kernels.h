/* Harness for measuring how far a kernel's output may reach into its input: for C programs that
 * call the kernels of a library, on this machine or on a device. Make an mk_call of each call of a
 * kernel and hand it to mk_measure (toy_calls.c is an example). Needs no heap, and of the C library
 * printf and mem*.
 *
 * The program's first argument says how:
 *   trace  the call is made once, its input and output apart, between two stores to a mark; a
 *          recorder of the loads and stores in between (measure.py) finds the distance exactly
 *   scan   the call is made at every distance at which output and input overlap, on random data,
 * and its results are compared with those of both apart; works everywhere, and finds a lower bound:
 * luck may hide a byte that does not matter
 *
 * One line of JSON per call goes to standard output. Define MK_BYTES for larger tensors. */
#ifndef MEASURE_KERNELS_H
#define MEASURE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MK_BYTES
#define MK_BYTES 65536 /* of input, output and the gap between them, together */
#endif

enum { MK_TRIES = 8, MK_ALIGNMENT = 16 };

typedef struct mk_call {
    const char *op; /* members of a JSON object that describes the call; see README.md */
    void (*run)(void *context, const void *input, void *output);
    void *context;
    size_t input_bytes, output_bytes;
    size_t step; /* distances to scan are multiples of it: the element's size */
} mk_call;

typedef struct mk_state {
    bool scans;
    uint32_t random;
    _Alignas(MK_ALIGNMENT) unsigned char memory[MK_BYTES];
    unsigned char expected[MK_BYTES];
} mk_state;

static mk_state mk;
static volatile uint32_t mk_mark; /* written before and after a traced call, and never else */

/* The same numbers on every machine: a linear congruential generator, its upper bits. */
static inline uint32_t mk_bits(void) {
    mk.random = mk.random * UINT32_C(1664525) + UINT32_C(1013904223);
    return mk.random >> 16;
}

static inline int mk_random(int low, int high) { /* low to high, both included */
    return low + (int)(mk_bits() % (uint32_t)(high - low + 1));
}

static inline void mk_fill(void *to, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)to)[i] = (unsigned char)mk_bits();
}

static inline void mk_stop(const char *why) {
    fprintf(stderr, "measure_kernels: %s\n", why);
    exit(2);
}

/* Arguments: [trace|scan [SEED]]. */
static inline void mk_start(int argc, char **argv) {
    mk.scans = argc > 1 && strcmp(argv[1], "scan") == 0;
    if (argc > 1 && !mk.scans && strcmp(argv[1], "trace") != 0) mk_stop("say 'trace' or 'scan'");
    mk.random = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
}

static inline size_t mk_aligned(size_t bytes) {
    return (bytes + MK_ALIGNMENT - 1) / MK_ALIGNMENT * MK_ALIGNMENT;
}

static inline void mk_run_apart(const mk_call *call, uint32_t seed) {
    unsigned char *output = mk.memory + mk_aligned(call->input_bytes);
    mk.random = seed;
    mk_fill(mk.memory, call->input_bytes);
    call->run(call->context, mk.memory, output);
    memcpy(mk.expected, output, call->output_bytes);
}

/* Whether the result is right when the input begins `delta` bytes above the output. */
static inline bool mk_right_at(const mk_call *call, uint32_t seed, long delta) {
    unsigned char *output = mk.memory + (delta < 0 ? -delta : 0);
    unsigned char *input = mk.memory + (delta < 0 ? 0 : delta);
    mk.random = seed;
    mk_fill(input, call->input_bytes);
    call->run(call->context, input, output);
    return memcmp(mk.expected, output, call->output_bytes) == 0;
}

/* The outermost distances that were wrong: `above` for an input above the output, `below` the
 * reverse. Those known to be right further out are not tried again. */
static inline void mk_scan(const mk_call *call) {
    const long step = (long)call->step, most = (long)call->output_bytes - step;
    const long least = step - (long)call->input_bytes;
    long above = least - step, below = most + step;
    uint32_t seed = mk.random;
    for (int try = 0; try < MK_TRIES; try ++, seed = seed * 69069 + 1) {
        mk_run_apart(call, seed);
        for (long delta = most; delta > above; delta -= step) {
            if (!mk_right_at(call, seed, delta)) above = delta;
        }
        for (long delta = least; delta < below; delta += step) {
            if (!mk_right_at(call, seed, delta)) below = delta;
        }
    }
    mk.random = seed;
    printf("{%s, \"bytes\": [%lu, %lu], \"scan\": ", call->op, (unsigned long)call->input_bytes,
           (unsigned long)call->output_bytes);
    if (above < least) {
        printf("\"any\"}\n"); /* right everywhere */
    } else {
        printf("[%ld, %ld]}\n", above + step, step - below);
    }
}

static inline void mk_trace(const mk_call *call) {
    unsigned char *output = mk.memory + mk_aligned(call->input_bytes);
    printf("{%s, \"bytes\": [%lu, %lu], \"at\": [%lu, %lu], \"mark\": %lu}\n", call->op,
           (unsigned long)call->input_bytes, (unsigned long)call->output_bytes,
           (unsigned long)(uintptr_t)mk.memory, (unsigned long)(uintptr_t)output,
           (unsigned long)(uintptr_t)&mk_mark);
    fflush(stdout);
    mk_fill(mk.memory, call->input_bytes);
    mk_mark = 1;
    call->run(call->context, mk.memory, output);
    mk_mark = 0;
}

static inline void mk_measure(const mk_call *call) {
    const size_t bytes = mk_aligned(call->input_bytes) + call->output_bytes;
    if (bytes > MK_BYTES) mk_stop("MK_BYTES is too small");
    if (mk.scans) {
        mk_scan(call);
    } else {
        mk_trace(call);
    }
}

#endif
