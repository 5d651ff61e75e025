/* Certificates of rematerialization, made of a search's proofs: flows without the reads that have
 * none. */
#ifndef ARN_REWRITE_REMAT_CERTIFICATE_H
#define ARN_REWRITE_REMAT_CERTIFICATE_H

#include "rewrite/rematerialize/remat_program.h"

/* *out is the caller's, to be freed with arn_remat_certificate_free; runs and added time are to
 * be filled in. */
arenaut_status arn_remat_certificate_make(const arn_remat_program *program,
                                          const arenaut_rematerialization *found,
                                          const arenaut_allocator *allocator,
                                          arenaut_remat_certificate **out, arenaut_error *err);

#endif
