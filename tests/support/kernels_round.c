#include "support/kernels_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/kernels.h>

#include "kernels/kernel_set.h"

static void demand(bool holds, const char *what, const arenaut_error *err) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, err->msg);
    abort();
}

bool kernels_property(const uint8_t *data, size_t size) {
    arenaut_kernel_set *first = NULL, *second = NULL;
    arenaut_text once = {0}, twice = {0};
    arenaut_error err = {0};
    if (arenaut_kernel_set_read((const char *)data, size, NULL, &first, &err) != ARENAUT_OK) {
        demand(err.msg[0] != '\0', "refused without a message", &err);
        return false;
    }
    demand(arenaut_kernel_set_write(first, arenaut_text_sink(&once), &err) == ARENAUT_OK,
           "accepted but not written", &err);
    demand(arenaut_kernel_set_read(once.bytes, once.size, NULL, &second, &err) == ARENAUT_OK,
           "written but not read", &err);
    demand(arn_kernel_set_fingerprint(first) == arn_kernel_set_fingerprint(second),
           "read back as something else", &err);
    demand(arenaut_kernel_set_write(second, arenaut_text_sink(&twice), &err) == ARENAUT_OK,
           "written once only", &err);
    demand(once.size == twice.size && memcmp(once.bytes, twice.bytes, once.size) == 0,
           "written differently the second time", &err);
    arenaut_text_free(&once);
    arenaut_text_free(&twice);
    arenaut_kernel_set_free(first);
    arenaut_kernel_set_free(second);
    return true;
}
