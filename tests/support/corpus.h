/* Tests on models that the repository does not ship skip, and say how to run, where those are
 * absent. One rule says where they are: the environment's ARENAUT_CORPUS, else the CMake option of
 * that name, which is ../shared/corpus beside the checkout if that exists, else empty. */
#ifndef SUPPORT_CORPUS_H
#define SUPPORT_CORPUS_H

#include <stddef.h>

/* The folder; empty if there is none. */
const char *corpus_folder(void);

/* Writes the path of `file`, which is named relative to the folder; leaves the test as skipped if
 * there is no such file. */
void corpus_find(char *path, size_t room, const char *file);

/* The same, for an array. */
#define corpus_path_or_skip(path, file) corpus_find(path, sizeof path, file)

#endif
