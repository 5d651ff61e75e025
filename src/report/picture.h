/* Common parts of pictures of a plan: the time axis, the scale of addresses, and the live bytes of
 * the arenas in each column of the picture; of a trace, also the reserved bytes. */
#ifndef ARN_REPORT_PICTURE_H
#define ARN_REPORT_PICTURE_H

#include <arenaut/report.h>

typedef struct arn_report_picture {
    const arenaut_result *result;
    int64_t first, end; /* steps shown, [first, end) */
    arenaut_peak peak;
    uint32_t columns;
    uint64_t *live;     /* per column: the most bytes alive at any of its steps; shared bytes count
                         * once */
    uint64_t most;      /* of them */
    uint64_t at_peak;   /* the same at the peak's step */
    uint64_t *reserved; /* per column: the most that the trace's allocator held; NULL: not known */
    const arenaut_allocator *allocator;
} arn_report_picture;

/* Of `steps`, the ones at which something may be alive; all of these if it is empty. REFUSED if
 * there are none. */
arenaut_status arn_report_picture_make(const arenaut_result *result, arenaut_interval steps,
                                       uint32_t columns, const arenaut_allocator *allocator,
                                       arn_report_picture *picture, arenaut_error *err);
void arn_report_picture_free(arn_report_picture *picture);

/* `part` of `whole` as a share of `units`, rounded down; part <= whole, whole > 0. */
uint32_t arn_report_scale(uint64_t part, uint64_t whole, uint32_t units);

/* Whether any of these steps is shown. */
static inline bool arn_report_picture_shows(const arn_report_picture *picture,
                                            arenaut_interval life) {
    return life.first < picture->end && life.end > picture->first;
}

/* The place of a step on an axis of `units`. */
uint32_t arn_report_picture_x(const arn_report_picture *picture, int64_t step, uint32_t units);

/* The next number of the form 1, 2 or 5 times a power of ten that is >= n: for ticks. */
uint64_t arn_report_nice_step(uint64_t n);

#endif
