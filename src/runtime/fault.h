/* Filling in the caller's arenaut_fault. */
#ifndef ARN_RUNTIME_FAULT_H
#define ARN_RUNTIME_FAULT_H

#include <stdbool.h>

#include <arenaut/runtime_fault.h>

/* Stores the numbers in *fault unless it is NULL, and returns the status that belongs to the
 * reason, so that a failing function can `return arn_runtime_fault(...)`. */
arenaut_status arn_runtime_fault(arenaut_fault *fault, arenaut_fault_reason reason, uint32_t object,
                                 size_t found, size_t allowed);

static inline bool arn_runtime_is_power(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

/* The sum of sizes; false if it exceeds the address space. */
static inline bool arn_runtime_add_sizes(size_t a, size_t b, size_t *sum) {
    if (b > SIZE_MAX - a) return false;
    *sum = a + b;
    return true;
}

/* Rounds up to a multiple of `align`, a power of two. */
static inline bool arn_runtime_round_up(size_t n, size_t align, size_t *rounded) {
    if (!arn_runtime_add_sizes(n, align - 1, rounded)) return false;
    *rounded &= ~(align - 1);
    return true;
}

#endif
