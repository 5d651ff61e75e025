/* Damaged files: a property of any bytes, tried on a good file that is cut short, has bits flipped,
 * or has some bytes replaced. One driver for all formats; a property is `bool X_property(data,
 * size)` of tests/support/X_round.h, which aborts where the library breaks its word, and says
 * whether the bytes were accepted. */
#ifndef SUPPORT_SWEEP_H
#define SUPPORT_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool (*sweep_property)(const uint8_t *data, size_t size);

/* Zero: every place, one bit of each byte. */
typedef struct sweep {
    sweep_property property;
    /* Called with accepted bytes, for checks beyond the property. NULL: none. */
    void (*accepted)(void *context, const uint8_t *data, size_t size);
    void *context;
    uint64_t seed; /* of all that is drawn */
    size_t step;   /* every so many bytes that are not skipped, from a drawn start; 0 reads as 1 */
    unsigned bits; /* so many bits of each byte, from a drawn one on; 0 reads as 1 */
    const uint8_t *skip; /* nothing is changed in bytes that are marked here; NULL: none are */
    size_t end;          /* nor from here on; 0: the whole file */
} sweep;

typedef struct sweep_counts {
    size_t tried, accepted;
} sweep_counts;

/* The file cut to each length below its own. A cut lies in memory of exactly its size, so that a
 * sanitizer sees a read past it. */
sweep_counts sweep_cuts(const sweep *s, const uint8_t *data, size_t size);

/* One bit at a time; the data are as they were afterwards. */
sweep_counts sweep_flips(const sweep *s, uint8_t *data, size_t size);

/* So many times, up to six bytes at once: drawn ones, small ones, or others of the file. Reaches
 * states that single bits do not. */
sweep_counts sweep_scatter(const sweep *s, const uint8_t *data, size_t size, size_t times);

#endif
