/* The Damerau-Levenshtein distance with adjacent swaps, O(length * length) for each word; words
 * are flags and keys, so there are few and they are short. */
#include "core/suggest.h"

#include <string.h>

enum { LONGEST = 31 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Edit distance with swaps, by rows of which the last three are kept. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb) {
    size_t row[3][LONGEST + 1];
    for (size_t k = 0; k <= nb; k++) row[0][k] = k;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3];
        const size_t *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t k = 1; k <= nb; k++) {
            now[k] = least(least(last[k], now[k - 1]) + 1, last[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                now[k] = least(now[k], before[k - 2] + 1);
            }
        }
    }
    return row[na % 3][nb];
}

const char *arn_suggest(const char *text, size_t length, const char *const *words, size_t n) {
    if (length > LONGEST) return NULL;
    const char *best = NULL;
    size_t fewest = length / 3 + 2; /* one edit in a short word, a third of a long one */
    for (size_t i = 0; i < n; i++) {
        const size_t word = strlen(words[i]);
        if (word > LONGEST) continue;
        const size_t edits = distance(text, length, words[i], word);
        if (edits < fewest) {
            fewest = edits;
            best = words[i];
        }
    }
    return best;
}
