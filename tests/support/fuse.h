/* An allocator that fails on demand and counts its blocks. */
#ifndef SUPPORT_FUSE_H
#define SUPPORT_FUSE_H

#include <stdbool.h>
#include <stddef.h>

#include <arenaut/allocator.h>
#include <arenaut/error.h>

typedef struct fuse {
    size_t left;      /* so many allocations succeed, then one fails */
    bool stays_blown; /* all later ones fail too */
    bool blown;       /* one has failed */
    size_t live;      /* blocks handed out and not yet released */
    size_t calls;     /* allocations and reallocations asked for */
} fuse;

/* Borrows `f`, which must outlive all that is taken through it. */
arenaut_allocator fuse_allocator(fuse *f);

/* Runs `attempt` with its first allocation failing, then its second, and so on until it asks for no
 * more; each time once with only that one failing and once with all later ones failing too. Of
 * those behind the first hundred it is about an Nth with ARENAUT_ONE_OF=N (drawn.h). An attempt
 * frees its results and returns its status, which must be NO_MEMORY when a failure was met
 * and OK otherwise; nothing may leak. */
typedef arenaut_status (*fuse_attempt)(void *context, const arenaut_allocator *allocator);
void survives_every_allocation_failure(fuse_attempt attempt, void *context);

#endif
