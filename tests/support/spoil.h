/* Files with one number that is wrong: how they must be refused. */
#ifndef SUPPORT_SPOIL_H
#define SUPPORT_SPOIL_H

#include <arenaut/format.h>

typedef struct spoil {
    size_t at; /* the number's place, width, and new value */
    unsigned width;
    uint64_t value;
    arenaut_status status;
    const char *told[2]; /* both are parts of the message */
    size_t told_at;      /* where the error points to; 0: anywhere */
} spoil;

/* Reads bytes and frees the result. */
arenaut_status read_and_free(const char *format, const void *data, size_t size, arenaut_error *err);

/* Fails the test, naming the case, unless the bytes are refused as it says. */
void expect_refusal(const char *format, const void *data, size_t size, const spoil *s,
                    size_t number);

#endif
