#include "support/spoil.h"

#include "support/test.h"

arenaut_status read_and_free(const char *format, const void *data, size_t size,
                             arenaut_error *err) {
    arenaut_document document;
    const arenaut_status st =
        arenaut_read(data, size, arenaut_format_find(format), NULL, NULL, &document, err);
    if (st == ARENAUT_OK) arenaut_document_free(&document);
    return st;
}

void expect_refusal(const char *format, const void *data, size_t size, const spoil *s,
                    size_t number) {
    arenaut_error err = {ARENAUT_OK, 0, "read without complaint"};
    const arenaut_status st = read_and_free(format, data, size, &err);
    if (st != s->status || err.code != st || !strstr(err.msg, s->told[0]) ||
        !strstr(err.msg, s->told[1]) || (s->told_at && err.at != s->told_at)) {
        fail_msg("case %zu: %s at %zu: %s", number, arenaut_status_text(st), err.at, err.msg);
    }
}
