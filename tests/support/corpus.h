/* Tests on files outside the repository skip, and say so, where those are absent. */
#ifndef SUPPORT_CORPUS_H
#define SUPPORT_CORPUS_H

#include <stdio.h>

#include "support/test.h"

/* Writes the path of `file`, named relative to TEST_CORPUS, into the array `path`; leaves
 * the test as skipped if there is no such file. */
#define corpus_path_or_skip(path, file)                              \
    do {                                                             \
        snprintf(path, sizeof path, "%s/%s", TEST_CORPUS, file);     \
        FILE *corpus_file = fopen(path, "rb");                       \
        if (!corpus_file) {                                          \
            print_message("[  SKIPPED ] no corpus file %s\n", path); \
            skip();                                                  \
        }                                                            \
        fclose(corpus_file);                                         \
    } while (0)

#endif
