/* A small document that a test prints piece by piece. */
#ifndef SUPPORT_PRINTED_H
#define SUPPORT_PRINTED_H

#include <stdarg.h>
#include <stdio.h>

#include "support/require.h"

typedef struct text {
    char bytes[16384];
    int n; /* of these that are printed */
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    t->n += vsnprintf(t->bytes + t->n, sizeof t->bytes - (size_t)t->n, format, list);
    va_end(list);
    REQUIRE(t->n < (int)sizeof t->bytes);
}

#endif
