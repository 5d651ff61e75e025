/* Budget of a proof check: effort and memory for all lines together. */
#ifndef ARN_CHECK_PROOF_METER_H
#define ARN_CHECK_PROOF_METER_H

#include <stdbool.h>

#include <arenaut/certificate.h>
#include <arenaut/check.h>

typedef struct arn_proof_meter {
    uint64_t effort, memory;     /* left */
    bool spent;                  /* one of them was not enough */
    arenaut_allocator source;    /* of the memory */
    arenaut_allocator allocator; /* takes it from there, and counts it */
} arn_proof_meter;

/* Limits of 0 are derived from problem and certificate. False if there is no memory for that. */
bool arn_proof_meter_init(arn_proof_meter *meter, const arenaut_check_limits *limits,
                          const arenaut_problem *problem, const arenaut_certificate *certificate,
                          const arenaut_allocator *allocator);

/* Spends so much effort; false, then and ever after, if that is more than is left. A caller that
 * cannot stop goes on, and the check ends behind its line. No meter: no limit. */
static inline bool arn_proof_charge(arn_proof_meter *meter, uint64_t effort) {
    if (!meter) return true;
    if (effort > meter->effort) meter->spent = true;
    meter->effort = effort > meter->effort ? 0 : meter->effort - effort;
    return !meter->spent;
}

static inline bool arn_proof_is_spent(const arn_proof_meter *meter) {
    return meter && meter->spent;
}

#endif
