/* A torch.export archive on its way through the library: read, passes, lower, plan, check. */
#ifndef SUPPORT_PT2_ROUND_H
#define SUPPORT_PT2_ROUND_H

#include <arenaut/format.h>
#include <arenaut/lowering.h>

#include "support/bytes.h"

typedef struct zip_part {
    const char *name;
    const void *data;
    size_t size;
} zip_part;

/* An archive of stored entries, with 64-bit records where asked. free_bytes is due. */
bytes zip_of(const zip_part *parts, size_t n, bool large);
/* An archive that holds this as its models/model.json. */
bytes pt2_of(const void *json, size_t size);
/* The models/model.json of an archive. */
bytes pt2_json(const bytes *archive);

typedef struct pt2_round {
    arenaut_document document;
    arenaut_lowering *lowering;
    arenaut_plan *plan;
} pt2_round;

/* With the default passes and `selection`. On failure nothing is left to be closed. */
arenaut_status pt2_round_open(const void *data, size_t size, const char *selection,
                              const arenaut_allocator *allocator, pt2_round *round,
                              arenaut_error *err);
void pt2_round_close(pt2_round *round);
/* Checks the plan and replays the program over it; REJECTED with the finding in *err. */
arenaut_status pt2_round_check(const pt2_round *round, arenaut_error *err);

/* What must hold for any bytes: they are refused with a message, or they make a valid program
 * that survives its passes, or is refused by one with a message, and whose plan stands. Aborts,
 * with a line on standard error, if it does not. True if there was a plan. What does not begin as
 * an archive is taken for the model.json of one: its sums keep nearly every change of that out. */
bool pt2_property(const uint8_t *data, size_t size);

#endif
