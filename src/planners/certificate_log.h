/* The log of a search that found nothing: a proof in the words of arenaut/certificate.h. */
#ifndef ARN_PLANNERS_CERTIFICATE_LOG_H
#define ARN_PLANNERS_CERTIFICATE_LOG_H

#include <stdbool.h>

#include <arenaut/certificate.h>

typedef struct arn_certificate_log {
    const arenaut_allocator *allocator;
    arenaut_proof_line *line;
    uint32_t n, room;
    bool failed; /* there was no memory for a line, or there are too many */
} arn_certificate_log;

/* Adds a line. Without memory for it, or after too many lines, the log has failed, and stays so.
 * Amortised O(1). */
void arn_certificate_log_add(arn_certificate_log *log, arenaut_proof_rule rule, uint32_t item,
                             uint64_t value);

/* Forgets the lines from `n` on. */
static inline void arn_certificate_log_cut(arn_certificate_log *log, uint32_t n) { log->n = n; }

/* Makes a BRANCH a KEPT, so that a SAME can refer to it. While a proof is made, the value of a
 * BRANCH is the serial number of its node: false if line number `line` is not, or no longer, the
 * BRANCH of node `serial`. O(1). */
bool arn_certificate_log_keep(arn_certificate_log *log, uint32_t line, uint64_t serial);

/* Hands the lines over as a certificate in *out, which the caller frees; serial numbers become 0.
 * NO_MEMORY, also if the log has failed: then its lines are freed. Either way the log is empty
 * afterwards. O(lines). */
arenaut_status arn_certificate_log_finish(arn_certificate_log *log, const arenaut_problem *problem,
                                          uint64_t bound, arenaut_certificate **out,
                                          arenaut_error *err);

/* Frees the lines; the log is empty then. */
void arn_certificate_log_free(arn_certificate_log *log);

#endif
