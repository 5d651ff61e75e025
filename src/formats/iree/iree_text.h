/* Scanner of MLIR text, line by line, without a grammar. */
#ifndef ARN_FORMATS_IREE_IREE_TEXT_H
#define ARN_FORMATS_IREE_IREE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/name_tree.h"

typedef struct arn_iree_line {
    const char *text;
    size_t length;
} arn_iree_line;

/* The first place of `what` in the line from `from` on; the line's length if nowhere. */
size_t arn_iree_find(arn_iree_line line, size_t from, const char *what);
static inline bool arn_iree_has(arn_iree_line line, const char *what) {
    return arn_iree_find(line, 0, what) < line.length;
}

/* Nothing but blanks comes at `at` or behind it. */
bool arn_iree_at_end(arn_iree_line line, size_t at);

/* Each takes its text at *at, after blanks, and steps over it; false, with *at unchanged, for other
 * text. */
bool arn_iree_take(arn_iree_line line, size_t *at, const char *what);
bool arn_iree_take_number(arn_iree_line line, size_t *at, uint64_t *number); /* up to 2^63 - 1 */
/* A name behind `mark`, '%' or '@', without that. Names in quotes keep them. */
bool arn_iree_take_name(arn_iree_line line, size_t *at, char mark, arn_name *name);

bool arn_iree_same_name(arn_name a, arn_name b);
arn_name arn_iree_name_of(const char *text);

#endif
