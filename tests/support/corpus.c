/* The corpus's folder, and the line that a test prints which skips without it:
 * scripts/count_skipped looks for it. */
#include "support/corpus.h"

#include <stdlib.h>

#include "support/test.h"

const char *corpus_folder(void) {
    const char *folder = getenv("ARENAUT_CORPUS");
    return folder ? folder : TEST_CORPUS;
}

void corpus_find(char *path, size_t room, const char *file) {
    const char *folder = corpus_folder();
    snprintf(path, room, "%s/%s", folder, file);
    FILE *found = folder[0] ? fopen(path, "rb") : NULL;
    if (!found) {
        print_message("skipped: set ARENAUT_CORPUS=FOLDER to one with %s\n", file);
        skip();
    }
    fclose(found);
}
