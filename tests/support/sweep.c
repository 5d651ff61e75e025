/* See sweep.h. Costs a call of the property for each place; nothing is kept. */
#include "support/sweep.h"

#include <string.h>

#include "support/random.h"
#include "support/require.h"

static size_t end_of(const sweep *s, size_t size) {
    return s->end && s->end < size ? s->end : size;
}

/* A step that comes to one place at least, where none is skipped. */
static size_t step_of(const sweep *s, size_t size) {
    const size_t most = end_of(s, size), step = s->step < most ? s->step : most;
    return step ? step : 1;
}

static void try(const sweep *s, const uint8_t *data, size_t size, sweep_counts *counts) {
    counts->tried++;
    if (!s->property(data, size)) return;
    counts->accepted++;
    if (s->accepted) s->accepted(s->context, data, size);
}

static uint8_t *exact_copy(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    REQUIRE(copy);
    if (size) memcpy(copy, data, size);
    return copy;
}

sweep_counts sweep_cuts(const sweep *s, const uint8_t *data, size_t size) {
    enum { APART = 1024 }; /* inside of skipped bytes one cut is like the next */
    sweep_counts counts = {0, 0};
    rng r = {s->seed};
    const size_t step = step_of(s, size);
    for (size_t cut = rng_below(&r, (uint32_t)step); cut < size; cut += step) {
        if (s->skip && cut > 0 && s->skip[cut] && s->skip[cut - 1] && cut % APART) continue;
        uint8_t *copy = exact_copy(data, cut);
        try(s, copy, cut, &counts);
        free(copy);
    }
    return counts;
}

static void flip_at(const sweep *s, uint8_t *data, size_t size, size_t at, unsigned first,
                    sweep_counts *counts) {
    const unsigned bits = s->bits ? s->bits : 1;
    for (unsigned bit = first; bit < first + bits; bit++) {
        data[at] ^= (uint8_t)(1u << bit % 8);
        try(s, data, size, counts);
        data[at] ^= (uint8_t)(1u << bit % 8);
    }
}

sweep_counts sweep_flips(const sweep *s, uint8_t *data, size_t size) {
    sweep_counts counts = {0, 0};
    rng r = {s->seed};
    const size_t step = step_of(s, size);
    size_t left = rng_below(&r, (uint32_t)step); /* so many bytes until the next one */
    for (size_t at = 0; at < end_of(s, size); at++) {
        if (s->skip && s->skip[at]) continue;
        if (left-- > 0) continue;
        left = step - 1;
        flip_at(s, data, size, at, rng_below(&r, 8), &counts);
    }
    return counts;
}

static uint8_t drawn_byte(rng *r, const uint8_t *data, size_t size) {
    switch (rng_below(r, 3)) {
        case 0: return (uint8_t)rng_next(r);
        case 1: return (uint8_t)rng_below(r, 4);
        default: return data[rng_below(r, (uint32_t)size)];
    }
}

sweep_counts sweep_scatter(const sweep *s, const uint8_t *data, size_t size, size_t times) {
    sweep_counts counts = {0, 0};
    rng r = {s->seed};
    for (size_t i = 0; i < times; i++) {
        uint8_t *copy = exact_copy(data, size);
        for (uint32_t n = 2 + rng_below(&r, 5); n > 0; n--) {
            const size_t at = rng_below(&r, (uint32_t)end_of(s, size));
            copy[at] = drawn_byte(&r, data, size);
        }
        try(s, copy, size, &counts);
        free(copy);
    }
    return counts;
}
