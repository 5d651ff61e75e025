/* Asking whether to go on, from the middle of long work.
 *
 * Effort is counted where work is done that a search decides on. Much else takes time too,
 * and some of it is quadratic or worse: gathering what stands in the way of a group, building
 * a model, comparing pairs. All such loops count their elementary operations here, and every
 * so many of them the caller is asked. Nothing depends on how often that is but the moment of
 * the stop, so that plans for a given effort stay the same.
 *
 * Once the answer was no it stays no. Whatever was being worked out is then incomplete, and
 * must not be used: neither as a plan nor as a proof. */
#ifndef ARN_PLANNERS_RUN_ASK_H
#define ARN_PLANNERS_RUN_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include <arenaut/planner.h>

/* Operations between two questions: a fraction of a millisecond. */
enum { ARN_ASK_EVERY = 1 << 18 };

typedef struct arn_ask {
    arenaut_verdict (*put)(void *context); /* asks the one that decides, e.g. the meter */
    void *context;
    uint64_t done; /* operations since the last question */
    arenaut_verdict verdict;
} arn_ask;

/* Counts so many operations. False: stop. NULL is never told to. */
static inline bool arn_ask_after(arn_ask *ask, uint64_t operations) {
    if (!ask) return true;
    ask->done += operations;
    if (ask->verdict == ARENAUT_GO_ON && ask->done >= ARN_ASK_EVERY) {
        ask->done = 0;
        ask->verdict = ask->put(ask->context);
    }
    return ask->verdict == ARENAUT_GO_ON;
}

/* Whether the answer was no. */
static inline bool arn_ask_ended(const arn_ask *ask) {
    return ask && ask->verdict != ARENAUT_GO_ON;
}

/* How a plan says what ended it. */
static inline arenaut_stop arn_stop_of(arenaut_verdict verdict) {
    return verdict == ARENAUT_OUT_OF_TIME   ? ARENAUT_STOP_TIME
           : verdict == ARENAUT_INTERRUPTED ? ARENAUT_STOP_INTERRUPT
                                            : ARENAUT_STOP_EFFORT;
}

#endif
