/* The load at a step: whether buffers that are alive then fit the pools that they are confined to,
 * with the bytes that are lost to alignments. */
#ifndef ARN_CHECK_PROOF_LOAD_H
#define ARN_CHECK_PROOF_LOAD_H

#include "check/certificate/proof_case.h"

/* Whether the load at `step` of the pools of a set, some of which may be unlimited, exceeds their
 * capacity. Needs no open case. */
arenaut_status arn_proof_is_overloaded(const arn_proof_case *c, uint64_t pools, int64_t step,
                                       bool *over);

/* How many multiples of `grain` there are below `end`, from 0 on. */
uint64_t arn_proof_multiples_below(uint64_t end, uint64_t grain);

/* The least number of multiples of `grain` in `size` bytes from an aligned offset on: as many as in
 * the bytes behind the offset, below which the next multiple is as far off as it can be. */
uint64_t arn_proof_multiples_within(uint64_t size, uint64_t align, uint64_t grain);

#endif
