/* Suggestions for misspelt words: "Did you mean …?" */
#ifndef ARN_CORE_SUGGEST_H
#define ARN_CORE_SUGGEST_H

#include <stddef.h>

/* The word of `words` that takes the fewest edits (letters added, dropped, changed or
 * swapped with their neighbour) to become `text`; the first among equals. NULL if even that
 * one is too far off to be meant. Words longer than 31 letters are never found. */
const char *arn_suggest(const char *text, size_t length, const char *const *words, size_t n);

#endif
