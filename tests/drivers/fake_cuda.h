/* A CUDA driver that is none: two devices in the host's memory. It holds its callers to the
 * rules of the real one, as far as these can be seen: initialise first, work only in a
 * context that is current, leave the thread's contexts as they were. */
#ifndef DRIVERS_FAKE_CUDA_H
#define DRIVERS_FAKE_CUDA_H

#include <stddef.h>

typedef struct fake_cuda_state {
    int n_devices;
    int fail_init;    /* what cuInit answers */
    int fail_next;    /* what the next call that works with memory answers */
    size_t live;      /* allocations */
    int retained;     /* contexts */
    int depth;        /* of the thread's stack of contexts */
    int misalign;     /* addresses are odd multiples of 16 */
    int broken_rules; /* calls that the real driver would have refused */
} fake_cuda_state;

fake_cuda_state *fake_cuda_own_state(void);

#endif
