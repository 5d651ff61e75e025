/* Traces: the requests of a program to its allocator, and the memory that the allocator took from
 * the system meanwhile.
 *
 * A step is one request: buffer k of a trace's problem comes alive at step k, and a release takes
 * no step of its own. Buffers that lie in different streams of a device, or on different devices,
 * are in pools of their own, since an allocator does not hand memory from one to the other.
 *
 * Threads: a trace is only read. */
#ifndef ARENAUT_TRACE_H
#define ARENAUT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>
#include <arenaut/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most bytes at once, and the first step at which there were so many. */
typedef struct arenaut_trace_peak {
    uint64_t bytes;
    int64_t step;
} arenaut_trace_peak;

typedef struct arenaut_trace {
    uint64_t n_events;
    uint32_t n_requests; /* as many as steps */
    uint32_t n_held;     /* blocks that were never released */
    bool has_addresses;  /* of all blocks: the document has the plan that they make */
    /* Per step: bytes in blocks that are out, all pools together; and the most that was reserved
     * until the next request. `reserved` is NULL if the trace does not state it. */
    uint64_t *asked, *reserved;
    arenaut_trace_peak most_asked, most_reserved;
    arenaut_allocator allocator; /* of the arrays and of the trace */
} arenaut_trace;

/* Bytes that PyTorch's caching allocator reserves for the requests of a problem in the order of
 * their lifetimes, as long as memory lasts: blocks of 512 bytes, best fit among the free blocks of
 * a pool, segments of 2 MiB for requests to 1 MiB, of 20 MiB or more for larger ones, which are
 * never given back. `expandable`: one segment that grows by these steps for each of the two kinds
 * (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True). *bytes gets the sum over all pools. REFUSED
 * for an alignment above 512 and if the problem has fixed offsets, edges, relations other than
 * same-base, or reserved ranges; TOO_LARGE; NO_MEMORY. O(n log n), and the number of free blocks at
 * each step. Source: CUDACachingAllocator.cpp. */
arenaut_status arenaut_caching_reserve(const arenaut_problem *problem, bool expandable,
                                       const arenaut_allocator *allocator, uint64_t *bytes,
                                       arenaut_error *err);

#ifdef __cplusplus
}
#endif
#endif
