/* A trace of all requests of the process to the C library's heap, as a file that arenaut reads.
 *
 * ARENAUT_TRACE names the file; %p in it becomes the number of the process. Without that only the
 * process that was started with it is recorded, and none that it starts; an exec begins the file
 * anew. ARENAUT_TRACE_MIN: smaller requests are left out. Lines appear when the process ends, or
 * fills a buffer; a process that is killed, or leaves by _exit, loses the last of it. */
#ifndef PRELOAD_LOG_H
#define PRELOAD_LOG_H

#include <stddef.h>

/* After the block was handed out; it may be NULL. */
void log_request(const void *block, size_t size);
/* Before it goes back: afterwards another thread may be given the same address. */
void log_release(const void *block);
/* realloc of the C library, noted down. */
void *log_reallocate(void *block, size_t size);

#endif
