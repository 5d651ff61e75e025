#include "support/document_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arenaut/format.h>

static void demand(bool holds, const char *what, const arenaut_error *err) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, err->msg);
    abort();
}

/* False if the format cannot hold the document. */
static bool write_document(const arenaut_document *document, arenaut_text *text,
                           arenaut_error *err) {
    const arenaut_result result = {.path = "input",
                                   .format = document->format->name,
                                   .program = document->program,
                                   .problem = document->problem,
                                   .plan = document->plan,
                                   .seconds = -1,
                                   .n_rounded = document->n_rounded,
                                   .given_kernels = document->kernels,
                                   .given_ops = document->ops};
    if (!document->format->write || document->format->needs_original) return false;
    const arenaut_status st = document->format->write(&result, arenaut_text_sink(text), NULL, err);
    demand(st == ARENAUT_OK || st == ARENAUT_REFUSED, "accepted but not written", err);
    return st == ARENAUT_OK;
}

bool document_property(const uint8_t *data, size_t size) {
    arenaut_document first = {0}, second = {0};
    arenaut_text once = {0}, twice = {0};
    arenaut_error err = {0};
    if (arenaut_read(data, size, NULL, NULL, NULL, &first, &err) != ARENAUT_OK) {
        demand(err.msg[0] != '\0', "refused without a message", &err);
        return false;
    }
    if (write_document(&first, &once, &err)) {
        const arenaut_status st = arenaut_read((const uint8_t *)once.bytes, once.size, first.format,
                                               NULL, NULL, &second, &err);
        demand(st == ARENAUT_OK, "written but not read", &err);
        demand(write_document(&second, &twice, &err), "written once only", &err);
        demand(once.size == twice.size && memcmp(once.bytes, twice.bytes, once.size) == 0,
               "written differently the second time", &err);
    }
    arenaut_text_free(&once);
    arenaut_text_free(&twice);
    arenaut_document_free(&first);
    arenaut_document_free(&second);
    return true;
}
