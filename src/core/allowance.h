/* The allowance of a reader: the memory that it may still take. A file may use one of its parts in
 * many places, so a small one can stand for a huge program. All that a reader makes is therefore
 * charged against a multiple of the file's size, which bounds its time too as long as nothing is
 * visited free of charge. */
#ifndef ARN_CORE_ALLOWANCE_H
#define ARN_CORE_ALLOWANCE_H

#include <arenaut/error.h>

#include "core/checked.h"

typedef struct arn_allowance {
    uint64_t left;  /* bytes */
    uint32_t times; /* the file's size, for messages */
    bool limited;   /* the caller's limit, not the file's size, set it */
} arn_allowance;

/* `times` bytes per byte of file and `base` more, but at most `limit` if that is not 0. */
arn_allowance arn_allowance_for(size_t file_size, uint32_t times, uint64_t base, uint64_t limit);

/* False, with nothing taken, if fewer than count * cost bytes are left. */
static inline bool arn_allowance_take(arn_allowance *allowance, uint64_t count, uint64_t cost) {
    uint64_t total;
    if (!arn_multiply(count, cost, &total) || total > allowance->left) return false;
    allowance->left -= total;
    return true;
}

/* TOO_LARGE for the caller's limit; else BAD_INPUT "`place`: `reason` stands for a program more
 * than 64 times its size". */
arenaut_status arn_allowance_spent(const arn_allowance *allowance, const char *place,
                                   const char *reason, arenaut_error *err);

#endif
