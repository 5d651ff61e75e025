/* Sinks: destinations of the bytes of writers and reports, such as a file, a string, a socket.
 *
 * Threads: a sink belongs to the call that it is given to. */
#ifndef ARENAUT_SINK_H
#define ARENAUT_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include <arenaut/allocator.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arenaut_sink {
    /* Takes `size` bytes; false if it cannot, after which it is not called again and
     * the writer returns ARENAUT_IO. */
    bool (*put)(void *context, const void *bytes, size_t size);
    void *context;
} arenaut_sink;

/* A growing string, and a sink into it. Zero-initialise; `bytes` always ends in a NUL
 * that `size` does not count (bytes is NULL before the first put). */
typedef struct arenaut_text {
    char *bytes;
    size_t size, capacity;
    const arenaut_allocator *allocator; /* NULL: the C library */
} arenaut_text;

arenaut_sink arenaut_text_sink(arenaut_text *text);
void arenaut_text_free(arenaut_text *text);

#ifdef __cplusplus
}
#endif
#endif
