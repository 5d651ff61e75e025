/* The rules of rights to write in place that a row of ops.def stands for, by its column. */
#ifndef ARN_DIALECTS_IN_PLACE_H
#define ARN_DIALECTS_IN_PLACE_H

#include <arenaut/dialect.h>

#define ARN_IN_PLACE_NONE(op)
#define ARN_IN_PLACE_FIRST(op) {op, 0, 0, false},
#define ARN_IN_PLACE_SECOND(op) {op, 1, 0, false},
#define ARN_IN_PLACE_BOTH(op) ARN_IN_PLACE_FIRST(op) ARN_IN_PLACE_SECOND(op)
#define ARN_IN_PLACE_LATER(op) ARN_IN_PLACE_SECOND(op){op, 2, 0, false},

#endif
