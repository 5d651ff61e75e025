/* Certificates inside the library: words of their files, the digest that ties one to its problem,
 * and the end of one of rematerialization. */
#ifndef ARN_IR_CERTIFICATE_H
#define ARN_IR_CERTIFICATE_H

#include <arenaut/certificate.h>
#include <arenaut/rewrite.h>

const char *arn_proof_rule_name(arenaut_proof_rule rule); /* NULL out of range; static */

/* A hash of all parts of a problem that a proof can refer to. */
uint64_t arn_problem_digest(const arenaut_problem *problem);

void arn_remat_certificate_free(arenaut_remat_certificate *c); /* NULL is fine */

#endif
