/* Ranges of ops that may become a stage, and what can be said of them before any is tried. */
#ifndef ARN_REWRITE_SPLIT_SPLIT_WINDOWS_H
#define ARN_REWRITE_SPLIT_SPLIT_WINDOWS_H

#include "core/budget.h"
#include "rewrite/split/split_front.h"

typedef struct arn_op_window {
    arn_op_range ops;
    uint64_t past;  /* goes past it */
    uint64_t read;  /* from before, and not needed afterwards */
    uint64_t made;  /* results */
    uint64_t whole; /* the most that is alive at one of its ops, with nothing split */
    uint64_t sure;  /* no split of it needs less */
} arn_op_window;

typedef struct arn_split_windows {
    arn_op_window *items;
    uint32_t n, capacity;
    uint64_t floor;    /* no choice of stages needs less */
    uint32_t floor_op; /* where that is */
} arn_split_windows;

/* All windows in which something is gained, those that may need least first; where the budget has
 * ended, some of them, and a floor that means nothing. False if there is no memory. */
bool arn_split_find_windows(const arn_split_field *field, arn_budget *budget,
                            arn_split_windows *windows);
void arn_split_windows_free(arn_split_windows *windows, const arenaut_allocator *allocator);

#endif
