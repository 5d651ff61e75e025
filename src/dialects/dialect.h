/* Facts about operators, looked up by name in the table of their dialect. */
#ifndef ARN_DIALECTS_DIALECT_H
#define ARN_DIALECTS_DIALECT_H

#include <arenaut/dialect.h>

/* The dialect's facts about an operator; NULL if nothing. `copy` and `write_back`, which passes
 * make if a dialect has no word for them, are known in every dialect, and without one. O(log n). */
const arenaut_operator *arn_dialect_operator(const arenaut_dialect *dialect, const char *name);

/* The rules of rights to write in place that a row of ops.def stands for, by its column. */
#define ARN_IN_PLACE_NONE(op)
#define ARN_IN_PLACE_FIRST(op) {op, 0, 0, false},
#define ARN_IN_PLACE_SECOND(op) {op, 1, 0, false},
#define ARN_IN_PLACE_BOTH(op) ARN_IN_PLACE_FIRST(op) ARN_IN_PLACE_SECOND(op)
#define ARN_IN_PLACE_LATER(op) ARN_IN_PLACE_SECOND(op){op, 2, 0, false},

#endif
