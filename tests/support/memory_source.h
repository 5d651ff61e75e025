/* A source of memory for iterations that counts, fails on demand, and fills its blocks with bytes
 * that no caller wrote. */
#ifndef SUPPORT_MEMORY_SOURCE_H
#define SUPPORT_MEMORY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <arenaut/runtime_iteration.h>

typedef struct memory_source {
    size_t left;  /* so many allocations succeed, then one fails; SIZE_MAX: none does */
    bool blown;   /* it has failed */
    size_t live;  /* blocks handed out and not yet released */
    size_t bytes; /* in them */
    size_t calls; /* allocations and releases */
} memory_source;

/* Borrows `memory`, which must outlive all that is taken through it. */
arenaut_source counting_source(memory_source *memory);

#endif
