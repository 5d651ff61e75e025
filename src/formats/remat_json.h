/* The member "rematerialization" of arenaut.plan/1: a certificate. */
#ifndef ARN_FORMATS_REMAT_JSON_H
#define ARN_FORMATS_REMAT_JSON_H

#include <arenaut/rewrite.h>

#include "formats/json_reader.h"
#include "formats/json_writer.h"

/* NULL on failure, of which the reader's status tells. */
arenaut_remat_certificate *arn_remat_json_read(arn_json_reader *r, uint32_t object);
void arn_remat_json_put(arn_writer *w, const arenaut_remat_certificate *c);

#endif
