/* Polls of the caller's stop callback from the middle of long work.
 *
 * Effort is charged for the work that a search decides on. Much else takes time too, and some of it
 * is quadratic or worse: gathering the spans that interfere with a group, building a model,
 * comparing pairs. All such loops count their elementary operations here, and every so many of them
 * the callback is polled. Nothing depends on how often that is but the moment of the stop, so that
 * plans for a given effort stay the same.
 *
 * Once the answer was no it stays no. Whatever was being worked out is then incomplete, and
 * must not be used: neither as a plan nor as a proof. */
#ifndef ARN_PLANNERS_RUN_POLL_H
#define ARN_PLANNERS_RUN_POLL_H

#include <stdbool.h>
#include <stddef.h>

#include <arenaut/planner.h>

/* Operations between two polls: a fraction of a millisecond. */
enum { ARN_POLL_EVERY = 1 << 18 };

typedef struct arn_poll {
    arenaut_verdict (*callback)(void *context); /* of the part that decides, e.g. the meter */
    void *context;
    uint64_t counted; /* operations since the last poll */
    arenaut_verdict verdict;
} arn_poll;

/* Counts so many operations, and polls when it is time to. False: stop. NULL never stops. */
static inline bool arn_poll_after(arn_poll *poll, uint64_t operations) {
    if (!poll) return true;
    poll->counted += operations;
    if (poll->verdict == ARENAUT_GO_ON && poll->counted >= ARN_POLL_EVERY) {
        poll->counted = 0;
        poll->verdict = poll->callback(poll->context);
    }
    return poll->verdict == ARENAUT_GO_ON;
}

/* Whether the answer was no. */
static inline bool arn_poll_ended(const arn_poll *poll) {
    return poll && poll->verdict != ARENAUT_GO_ON;
}

/* The reason for stopping that a plan reports. */
static inline arenaut_stop arn_stop_of(arenaut_verdict verdict) {
    return verdict == ARENAUT_OUT_OF_TIME   ? ARENAUT_STOP_TIME
           : verdict == ARENAUT_INTERRUPTED ? ARENAUT_STOP_INTERRUPT
                                            : ARENAUT_STOP_EFFORT;
}

#endif
